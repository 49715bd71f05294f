//! Functions of sequences: differences, interpolation, convolution, polynomials, and functions that are applied along axes.

mod apply;
mod convolve;
mod difference;
mod fit;
mod interpolate;
mod least_squares;
mod piecewise;
mod polynomial;

pub use apply::*;
pub use convolve::*;
pub use difference::*;
pub use fit::*;
pub use interpolate::*;
pub use piecewise::*;
pub use polynomial::*;
