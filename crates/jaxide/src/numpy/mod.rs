//! NumPy's functions, with JAX's promotion: operands of different element types and shapes are made to fit.

pub(crate) mod alone;
mod arithmetic;
mod create;
mod elementwise;
pub mod fft;
mod indexing;
pub mod linalg;
mod logic;
pub(crate) mod lookup;
pub(crate) mod nested;
pub(crate) mod parts;
mod place;
mod product;
mod reductions;
mod rounding;
mod sequence;
mod sets;
mod shape;
mod sorting;
mod types;

pub use arithmetic::*;
pub use create::*;
pub use elementwise::*;
pub use indexing::*;
pub use logic::*;
pub use product::*;
pub use reductions::*;
pub use rounding::*;
pub use sequence::*;
pub use sets::*;
pub use shape::*;
pub use sorting::*;
pub use types::*;

pub(crate) use arithmetic::promote_inexact;
