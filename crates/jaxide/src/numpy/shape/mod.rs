//! Shapes.

mod axes;
mod broadcast;
mod edit;
mod join;
mod order;
mod pad;
mod repeat;
mod reshape;
mod split;

pub use axes::*;
pub use broadcast::*;
pub use edit::*;
pub use join::*;
pub use order::*;
pub use pad::*;
pub use repeat::*;
pub use reshape::*;
pub use split::*;

use jaxide_core::DType;

use crate::array::Array;
use crate::lax;
use crate::trace::library;

pub(crate) use crate::array::normalize_axis;
pub(crate) use broadcast::common_shape as broadcast_shapes;
pub(crate) use broadcast::{check_broadcast, check_broadcast_to, common_shape};

/// One row per number: `dtype` ones where the column is the number, zeros elsewhere.
///
/// # Panics
/// When `x` is not an integer array.
#[track_caller]
pub fn one_hot(x: &Array, classes: usize, dtype: DType) -> Array {
    library("_one_hot", &format!("{classes} {dtype}"), [x], |[x]| {
        let last = x.ndim();
        let mut shape = vec![1; last];
        shape.push(classes);
        let x = lax::expand_dims(x, &[last]);
        let columns = lax::iota(x.dtype(), &shape, last);
        lax::convert_element_type(&super::equal(&x, &columns), dtype)
    })
}
