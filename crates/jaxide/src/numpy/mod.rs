//! NumPy's functions, with JAX's promotion: operands of different element types and shapes are made to fit.

mod arithmetic;
mod create;
mod indexing;
mod reduce;
mod shape;

pub use arithmetic::*;
pub use create::*;
pub use indexing::*;
pub use reduce::*;
pub use shape::*;
