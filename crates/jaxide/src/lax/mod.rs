//! The primitives as functions: no promotion, operands must fit as the primitive says.

mod call;
mod elementwise;
mod indexing;
pub mod linalg;
mod parallel;
mod product;
mod reduction;
mod shape;
mod window;

pub use call::*;
pub use elementwise::*;
pub use indexing::*;
pub use parallel::*;
pub use product::*;
pub use reduction::*;
pub use shape::*;
pub use window::*;

pub(crate) use shape::expand_rank;
