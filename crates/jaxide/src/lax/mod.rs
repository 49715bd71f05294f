//! The primitives as functions: no promotion, operands must fit as the primitive says.

mod elementwise;
mod shape;

pub use elementwise::*;
pub use shape::*;

pub(crate) use shape::expand_rank;
