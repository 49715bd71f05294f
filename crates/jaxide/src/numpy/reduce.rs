//! Reductions.

use jaxide_core::DType;

use super::normalize_axis;
use crate::array::{Array, Axes, Integer};
use crate::lax;

/// Truth values and small integers are summed as `i32`, as JAX does.
#[track_caller]
fn widened(x: &Array) -> Array {
    match x.dtype() {
        DType::Bool | DType::I8 | DType::I16 => lax::convert_element_type(x, DType::I32),
        DType::U8 | DType::U16 => lax::convert_element_type(x, DType::U32),
        _ => x.clone(),
    }
}

/// Sum along axes.
///
/// # Panics
/// When an axis is out of range.
#[track_caller]
pub fn sum(x: &Array, axes: impl Axes) -> Array {
    let x = widened(x);
    let half = matches!(x.dtype(), DType::F16 | DType::BF16);
    let axes = axes.axes("sum", x.ndim());
    if half {
        return lax::convert_element_type(
            &lax::reduce_sum(&lax::convert_element_type(&x, DType::F32), &axes),
            x.dtype(),
        );
    }
    lax::reduce_sum(&x, &axes)
}

/// Product along axes.
///
/// # Panics
/// When an axis is out of range.
#[track_caller]
pub fn prod(x: &Array, axes: impl Axes) -> Array {
    let x = widened(x);
    let axes = axes.axes("prod", x.ndim());
    lax::reduce_prod(&x, &axes)
}

/// Mean along axes; of integers a float.
///
/// # Panics
/// When an axis is out of range.
#[track_caller]
pub fn mean(x: &Array, axes: impl Axes) -> Array {
    let axes = axes.axes("mean", x.ndim());
    let count: usize = axes.iter().map(|&axis| x.shape()[axis]).product();
    let x = if x.dtype().is_inexact() {
        x.clone()
    } else {
        lax::convert_element_type(x, DType::F32)
    };
    let total = sum(&x, axes.as_slice());
    lax::div(&total, &Array::from(count as f64))
}

/// Variance along axes: the mean squared distance from the mean.
///
/// # Panics
/// When an axis is out of range.
#[track_caller]
pub fn var(x: &Array, axes: impl Axes) -> Array {
    let axes = axes.axes("var", x.ndim());
    let x = if x.dtype().is_inexact() {
        x.clone()
    } else {
        lax::convert_element_type(x, DType::F32)
    };
    let center = lax::expand_dims(&mean(&x, axes.as_slice()), &axes);
    let distance = super::subtract(&x, &center);
    mean(&lax::square(&distance), axes.as_slice())
}

/// Extrema and truth along axes.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $function:path;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When an axis is out of range, or the element type is not one it is defined for.
        #[track_caller]
        pub fn $name(x: &Array, axes: impl Axes) -> Array {
            let axes = axes.axes(stringify!($name), x.ndim());
            $function(x, &axes)
        }
    )* };
}

reductions! {
    /// Largest along axes; NaN if any is.
    max lax::reduce_max;
    /// Smallest along axes; NaN if any is.
    min lax::reduce_min;
    /// Whether all are true.
    all lax::reduce_and;
    /// Whether any is true.
    any lax::reduce_or;
}

/// Index of the first largest element along an axis.
///
/// # Panics
/// When the axis is empty or out of range.
#[track_caller]
pub fn argmax(x: &Array, axis: impl Integer) -> Array {
    lax::argmax(x, normalize_axis("argmax", axis, x.ndim()), DType::I32)
}

/// Index of the first smallest element along an axis.
///
/// # Panics
/// When the axis is empty or out of range.
#[track_caller]
pub fn argmin(x: &Array, axis: impl Integer) -> Array {
    lax::argmin(x, normalize_axis("argmin", axis, x.ndim()), DType::I32)
}

/// Running sum along an axis.
///
/// # Panics
/// When the axis is out of range.
#[track_caller]
pub fn cumsum(x: &Array, axis: impl Integer) -> Array {
    lax::cumsum(&widened(x), normalize_axis("cumsum", axis, x.ndim()), false)
}

/// `x` sorted along an axis.
///
/// # Panics
/// When the axis is out of range.
#[track_caller]
pub fn sort(x: &Array, axis: impl Integer) -> Array {
    lax::sort(
        std::slice::from_ref(x),
        normalize_axis("sort", axis, x.ndim()),
        1,
    )[0]
    .clone()
}

/// The positions that sort `x` along an axis, equal elements in their order.
///
/// # Panics
/// When the axis is out of range.
#[track_caller]
pub fn argsort(x: &Array, axis: impl Integer) -> Array {
    let axis = normalize_axis("argsort", axis, x.ndim());
    let positions = lax::iota(DType::I32, x.shape(), axis);
    lax::sort(&[x.clone(), positions], axis, 1)[1].clone()
}
