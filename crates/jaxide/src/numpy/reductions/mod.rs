//! Combining along axes.

mod covariance;
mod extrema;
mod folds;
mod histogram;
mod moments;
mod nan;
mod options;
mod quantile;
mod running;

pub use covariance::*;
pub use extrema::*;
pub use folds::*;
pub use histogram::*;
pub use moments::*;
pub use nan::*;
pub use options::*;
pub use quantile::*;
pub use running::*;

pub(crate) use options::one_axis;

use jaxide_core::DType;

use crate::array::{Array, is_wide};

/// The element type of positions and counts beside `x`: `i64` beside elements of 64 bits, as where JAX has those types.
pub(crate) fn position_type(x: &Array) -> DType {
    if is_wide(x.dtype()) {
        DType::I64
    } else {
        DType::I32
    }
}
