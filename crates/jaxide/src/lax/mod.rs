//! The primitives as functions: no promotion, operands must fit as the primitive says. Control flow is here too, as in JAX.
//!
//! ```
//! use jaxide::{Array, lax};
//! let y = lax::fori_loop(0, 3, |_, x: Array| x * 2.0, Array::from(1.5f32));
//! assert_eq!(y.item::<f32>(), 12.0);
//! ```

mod call;
mod convolve;
mod elementwise;
mod indexing;
pub mod linalg;
mod parallel;
mod product;
mod reduction;
mod shape;
mod slices;
mod window;

pub use call::*;
pub use convolve::*;
pub use elementwise::*;
pub use indexing::*;
pub use parallel::*;
pub use product::*;
pub use reduction::*;
pub use shape::*;
pub use slices::*;
pub use window::*;

pub use crate::control::{
    associative_scan, cond, fori_loop, map, scan, scan_reverse, switch, while_loop,
};
pub use crate::random::rng_bit_generator;
pub(crate) use call::on_platform;
pub use jaxide_core::prims::{
    ConvDimensionNumbers, RngAlgorithm as RandomAlgorithm, RoundingMethod,
};

pub(crate) use indexing::{dynamic_slice_at, dynamic_update_slice_at};
pub(crate) use reduction::combiner;
pub(crate) use shape::expand_rank;

use indexing::number_like;
