//! Functions of NumPy as JAX writes them inside other functions: calls by name.

use jaxide_core::{DType, Scalar};

use crate::array::{Array, promote, promote_dtypes};
use crate::lax;
use crate::numpy::{broadcast_shapes, broadcast_to};
use crate::trace::library;

/// `x` where `condition`, else `y`: the call `_where`.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
#[track_caller]
pub(crate) fn where_(condition: &Array, x: &Array, y: &Array) -> Array {
    library("_where", "", [condition, x, y], |[condition, x, y]| {
        let [x, y] = promote_dtypes("where", [x, y]);
        if condition.ndim() == 0 {
            let shape = broadcast_shapes("where", &[x.shape(), y.shape()]);
            return lax::select(
                condition,
                &broadcast_to(&x, &shape),
                &broadcast_to(&y, &shape),
            );
        }
        let shape = broadcast_shapes("where", &[condition.shape(), x.shape(), y.shape()]);
        let condition = broadcast_to(condition, &shape);
        lax::select(
            &condition,
            &broadcast_to(&x, &shape),
            &broadcast_to(&y, &shape),
        )
    })
}

/// `x` moved between `min` and `max`: the call `clip`.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
#[track_caller]
pub(crate) fn clip(x: &Array, min: &Array, max: &Array) -> Array {
    library("clip", "", [x, min, max], |[x, min, max]| {
        let [min, x] = promote("clip", [min, x]);
        let above = lax::max(&min, &x);
        let [max, above] = promote("clip", [max, &above]);
        lax::min(&max, &above)
    })
}

/// The call `clip` with its bounds by name, which are in alphabetical order then.
///
/// # Panics
/// As [`clip`].
#[track_caller]
pub(crate) fn clip_by_name(x: &Array, min: &Array, max: &Array) -> Array {
    library("clip", "by name", [x, max, min], |[x, max, min]| {
        let [min, x] = promote("clip", [min, x]);
        let above = lax::max(&min, &x);
        let [max, above] = promote("clip", [max, &above]);
        lax::min(&max, &above)
    })
}

/// Whether floats are infinite: the call `isinf`.
#[track_caller]
pub(crate) fn isinf(x: &Array) -> Array {
    library("isinf", "", [x], |[x]| {
        lax::eq(&lax::abs(x), &Array::from(f64::INFINITY))
    })
}

/// A number without a type of its own, as JAX writes it beside arrays of an element type: rounded to it.
pub(crate) fn rounded(value: f64, dtype: DType) -> Array {
    let bytes = Scalar::Float(value).to_bytes(dtype).ok();
    let exact = bytes.and_then(|bytes| Scalar::from_bytes(dtype, &bytes)?.as_f64());
    Array::from(exact.unwrap_or(value))
}
