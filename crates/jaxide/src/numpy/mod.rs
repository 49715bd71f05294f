//! NumPy's functions, with JAX's promotion: operands of different element types and shapes are made to fit.

mod arithmetic;
mod create;
mod indexing;
mod logic;
mod product;
mod reduce;
mod rounding;
mod shape;

pub use arithmetic::*;
pub use create::*;
pub use indexing::*;
pub use logic::*;
pub use product::*;
pub use reduce::*;
pub use rounding::*;
pub use shape::*;
