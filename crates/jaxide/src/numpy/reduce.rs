//! Reductions.

use jaxide_core::{DType, Error};

use super::arithmetic::{inexact, numeric};
use super::logic::truth;
use super::normalize_axis;
use crate::array::{Array, Axes, Integer, as_dtype, is_wide};
use crate::lax;
use crate::trace::raise;

/// Sums and products of truth values and small integers are taken in 32 bits, as in JAX; `None` of other types.
fn counting_type(dtype: DType) -> Option<DType> {
    match dtype {
        DType::Bool | DType::I8 | DType::I16 => Some(DType::I32),
        DType::U8 | DType::U16 => Some(DType::U32),
        _ => None,
    }
}

/// The element type in which sums of `dtype` are taken: floats of 16 bits overflow and lose digits.
fn summing_type(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}

/// `x` in the element type in which it is summed, and that of the result.
#[track_caller]
fn widened(x: &Array) -> (Array, DType) {
    let result = counting_type(x.dtype()).unwrap_or(x.dtype());
    (as_dtype(x, summing_type(result), false), result)
}

/// Sum along axes. Truth values and integers of fewer than 32 bits are summed in 32 bits, which the result has; `f16` and
/// `bf16` in `f32`.
///
/// # Panics
/// When an axis is out of range.
#[track_caller]
pub fn sum(x: &Array, axes: impl Axes) -> Array {
    let axes = axes.axes("sum", x.ndim());
    let (x, dtype) = widened(x);
    as_dtype(&lax::reduce_sum(&x, &axes), dtype, false)
}

/// Product along axes, in the element types of [`sum`].
///
/// # Panics
/// When an axis is out of range.
#[track_caller]
pub fn prod(x: &Array, axes: impl Axes) -> Array {
    let axes = axes.axes("prod", x.ndim());
    let (x, dtype) = widened(x);
    as_dtype(&lax::reduce_prod(&x, &axes), dtype, false)
}

/// Number of elements that a result of a reduction is made of.
fn count(x: &Array, axes: &[usize]) -> f64 {
    let count: usize = axes.iter().map(|&axis| x.shape()[axis]).product();
    count as f64
}

/// Mean along axes: of integers `f32`, and `f64` of those of 64 bits; of nothing NaN.
///
/// # Panics
/// When an axis is out of range.
#[track_caller]
pub fn mean(x: &Array, axes: impl Axes) -> Array {
    let axes = axes.axes("mean", x.ndim());
    let dtype = inexact(x.dtype());
    as_dtype(&wide_mean(x, &axes, dtype), dtype, false)
}

/// The mean in the element type in which `dtype` is summed.
#[track_caller]
fn wide_mean(x: &Array, axes: &[usize], dtype: DType) -> Array {
    let count = Array::from(count(x, axes));
    let total = lax::reduce_sum(&as_dtype(x, summing_type(dtype), false), axes);
    lax::div(&total, &count)
}

/// Variance along axes: the mean squared distance from the mean, a real number; of nothing NaN.
///
/// # Panics
/// When an axis is out of range.
#[track_caller]
pub fn var(x: &Array, axes: impl Axes) -> Array {
    let axes = axes.axes("var", x.ndim());
    variance(x, &axes)
}

#[track_caller]
fn variance(x: &Array, axes: &[usize]) -> Array {
    let dtype = inexact(x.dtype());
    let x = as_dtype(x, summing_type(dtype), false);
    let center = lax::expand_dims(&wide_mean(&x, axes, dtype), axes);
    let distance = lax::sub(&x, &center);
    let (squared, dtype) = if dtype.is_complex() {
        let squared = lax::real(&lax::mul(&distance, &lax::conj(&distance)));
        let dtype = squared.dtype();
        (squared, dtype)
    } else {
        (lax::square(&distance), dtype)
    };
    let count = count(&x, axes);
    let mean = lax::div(&lax::reduce_sum(&squared, axes), &Array::from(count));
    as_dtype(&mean, dtype, false)
}

/// Standard deviation along axes: the square root of [`var`].
///
/// # Panics
/// When an axis is out of range.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::std(&Array::from([1i64, 3, 5, 7]), ()).item::<f64>(), 5.0f64.sqrt());
/// ```
#[track_caller]
pub fn std(x: &Array, axes: impl Axes) -> Array {
    let axes = axes.axes("std", x.ndim());
    lax::sqrt(&variance(x, &axes))
}

/// Extrema along axes.
macro_rules! extrema {
    ($($(#[$doc:meta])* $name:ident $function:path;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When an axis is out of range, or a result would be that of no elements.
        #[track_caller]
        pub fn $name(x: &Array, axes: impl Axes) -> Array {
            let axes = axes.axes(stringify!($name), x.ndim());
            if let Some(&axis) = axes.iter().find(|&&axis| x.shape().get(axis) == Some(&0)) {
                raise(no_elements(stringify!($name), x, axis));
            }
            $function(&as_dtype(x, x.dtype(), false), &axes)
        }
    )* };
}

extrema! {
    /// Largest along axes; NaN if any is. Complex numbers are ordered by their real parts, then by their imaginary parts.
    max lax::reduce_max;
    /// Smallest along axes; NaN if any is. Complex numbers are ordered by their real parts, then by their imaginary parts.
    min lax::reduce_min;
}

/// No element is the largest of none.
fn no_elements(operation: &str, x: &Array, axis: usize) -> Error {
    Error::shape(format!(
        "the zero-size {} has no {operation} along axis {axis}",
        x.aval()
    ))
    .in_operation(operation)
}

/// Whether all are true: not zero.
///
/// # Panics
/// When an axis is out of range.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert!(numpy::all(&Array::from([1, 2]), ()).truth());
/// ```
#[track_caller]
pub fn all(x: &Array, axes: impl Axes) -> Array {
    let axes = axes.axes("all", x.ndim());
    lax::reduce_and(&truth(x), &axes)
}

/// Whether any is true: not zero.
///
/// # Panics
/// When an axis is out of range.
#[track_caller]
pub fn any(x: &Array, axes: impl Axes) -> Array {
    let axes = axes.axes("any", x.ndim());
    lax::reduce_or(&truth(x), &axes)
}

/// The element type of positions in `x`: `i64` beside elements of 64 bits, as where JAX has those types.
pub(crate) fn position_type(x: &Array) -> DType {
    if is_wide(x.dtype()) {
        DType::I64
    } else {
        DType::I32
    }
}

/// The axis counted from the front, along which something is found.
#[track_caller]
fn searched_axis(operation: &str, x: &Array, axis: impl Integer) -> usize {
    let axis = normalize_axis(operation, axis, x.ndim());
    if x.shape()[axis] == 0 {
        raise(no_elements(operation, x, axis));
    }
    axis
}

/// Index of the first largest element along an axis: `i32`, and `i64` beside elements of 64 bits.
///
/// # Panics
/// When the axis is empty or out of range.
#[track_caller]
pub fn argmax(x: &Array, axis: impl Integer) -> Array {
    lax::argmax(x, searched_axis("argmax", x, axis), position_type(x))
}

/// Index of the first smallest element along an axis: `i32`, and `i64` beside elements of 64 bits.
///
/// # Panics
/// When the axis is empty or out of range.
#[track_caller]
pub fn argmin(x: &Array, axis: impl Integer) -> Array {
    lax::argmin(x, searched_axis("argmin", x, axis), position_type(x))
}

/// Running combinations along an axis.
macro_rules! running {
    ($($(#[$doc:meta])* $name:ident $function:path;)*) => { $(
        $(#[$doc])*
        /// Truth values are counted in `i32`; other types stay.
        ///
        /// # Panics
        /// When the axis is out of range.
        #[track_caller]
        pub fn $name(x: &Array, axis: impl Integer) -> Array {
            let axis = normalize_axis(stringify!($name), axis, x.ndim());
            $function(&as_dtype(x, numeric(x.dtype()), false), axis, false)
        }
    )* };
}

running! {
    /// Running sum along an axis.
    cumsum lax::cumsum;
    /// Running product along an axis.
    cumprod lax::cumprod;
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

/// The positions that sort `x` along an axis, equal elements in their order: `i32`, and `i64` beside elements of 64 bits.
///
/// # Panics
/// When the axis is out of range.
#[track_caller]
pub fn argsort(x: &Array, axis: impl Integer) -> Array {
    let axis = normalize_axis("argsort", axis, x.ndim());
    let positions = lax::iota(position_type(x), x.shape(), axis);
    lax::sort(&[x.clone(), positions], axis, 1)[1].clone()
}
