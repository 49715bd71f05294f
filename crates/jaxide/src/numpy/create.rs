//! Arrays from nothing.

use jaxide_core::DType;

use crate::array::{Array, AsShape};
use crate::lax;

/// Zeros.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn zeros(shape: impl AsShape, dtype: DType) -> Array {
    lax::full(shape, 0, dtype)
}

/// Ones.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn ones(shape: impl AsShape, dtype: DType) -> Array {
    lax::full(shape, 1, dtype)
}

/// Numbers 0, 1, 2, ... up to before `end`.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn arange(end: usize, dtype: DType) -> Array {
    lax::iota(dtype, &[end], 0)
}

/// `count` numbers from `start` to `end`, both included, evenly spaced, as `f32`.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn linspace(start: f64, end: f64, count: usize) -> Array {
    let steps = count.saturating_sub(1).max(1) as f64;
    let at = |index: usize| {
        if index + 1 == count && count > 1 {
            end
        } else {
            start + (end - start) * index as f64 / steps
        }
    };
    Array::from(
        (0..count)
            .map(|index| at(index) as f32)
            .collect::<Vec<f32>>(),
    )
}

/// The identity matrix.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn eye(n: usize, dtype: DType) -> Array {
    let rows = lax::iota(DType::I32, &[n, n], 0);
    let columns = lax::iota(DType::I32, &[n, n], 1);
    lax::convert_element_type(&lax::eq(&rows, &columns), dtype)
}
