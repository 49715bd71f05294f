//! Slices at indices along an axis.

use jaxide_core::prims::{GatherDimensionNumbers, GatherScatterMode};
use jaxide_core::{Dims, Error, Scalar};

use super::at::{IndexMode, optional_scalar};
use super::gather::{Reading, gather, holding, literal};
use super::nested::ravel;
use crate::array::{Array, holds};
use crate::lax;
use crate::numpy::normalize_axis;
use crate::numpy::{remainder, where_};
use crate::options::options;
use crate::trace::{library, raise};

options! {
    /// What [`take`] takes beside the array and the indices; an axis alone is one too.
    pub struct Take {
        /// The axis; by default the array is read as one axis in row-major order.
        axis: Option<i64> = None, |axis: impl Into<Option<i64>>| axis.into();
        /// What becomes of indices out of bounds: [`IndexMode::Fill`] by default, [`IndexMode::Clip`] or [`IndexMode::Wrap`].
        mode: Option<IndexMode> = None, |mode: IndexMode| Some(mode);
        /// A promise that no index is there twice.
        unique_indices: bool = false;
        /// A promise that indices ascend.
        indices_are_sorted: bool = false;
        /// What is read out of bounds: NaN by default, the least signed or largest unsigned integer, or true.
        fill_value: Option<Array> = None, |value: impl Into<Array>| Some(value.into());
    }
}

/// An axis alone as an option.
macro_rules! from_axis {
    ($options:ty, $($ty:ty)*) => { $(
        impl From<$ty> for $options {
            fn from(axis: $ty) -> Self {
                <$options>::new().axis($crate::array::Integer::to_i64(axis))
            }
        }
    )* };
    ($options:ty) => {
        from_axis!($options, i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    };
}
pub(super) use from_axis;

from_axis!(Take);

/// The slices of `x` at indices along an axis, whose place the axes of `indices` take. Slices outside are NaN, or the
/// largest integer, if nothing else is asked for.
///
/// # Panics
/// When there is no such axis or it is empty, `indices` are not integers, or the mode is none of those.
///
/// ```
/// use jaxide::{Array, numpy::{self, IndexMode, Take}};
/// let x = Array::from([[1.0f32, 2.0, 3.0]]);
/// let y = numpy::take(&x, &Array::from([[0, 2]]), 1);
/// assert_eq!((y.shape(), y.to_vec::<f32>()), (&[1, 1, 2][..], vec![1.0, 3.0]));
/// let clipped = numpy::take(&x, [7, -1], Take::new().mode(IndexMode::Clip));
/// assert_eq!(clipped.to_vec::<f32>(), [3.0, 1.0]);
/// ```
#[track_caller]
pub fn take(x: &Array, indices: impl Into<Array>, options: impl Into<Take>) -> Array {
    let _named = crate::trace::named("take");
    take_with(x, &indices.into(), &options.into())
}

/// The function behind [`take`]; `unique` promises that no index is there twice.
#[track_caller]
pub(crate) fn take_rows(x: &Array, indices: &Array, axis: usize, unique: bool) -> Array {
    take_with(x, indices, &Take::from(axis).unique_indices(unique))
}

#[track_caller]
fn take_with(x: &Array, indices: &Array, options: &Take) -> Array {
    const OPERATION: &str = "take";
    let axis = optional_axis(OPERATION, options.axis, x.ndim());
    check_integers(OPERATION, indices);
    let mode = match options.mode {
        None | Some(IndexMode::Fill) => IndexMode::Fill,
        Some(mode @ (IndexMode::Clip | IndexMode::Wrap)) => mode,
        Some(other) => other.refused(OPERATION),
    };
    let reading = Reading {
        mode: Some(match mode {
            IndexMode::Wrap => GatherScatterMode::PromiseInBounds,
            other => other.of_gather(OPERATION),
        }),
        fill_value: optional_scalar(OPERATION, options.fill_value.as_ref()),
        unique_indices: options.unique_indices,
        indices_are_sorted: options.indices_are_sorted,
    };
    let length = axis.map_or(x.size(), |axis| x.shape()[axis]);
    if length == 0 && indices.size() > 0 {
        raise(Error::shape(format!("{} has nothing to index", x.aval())).in_operation(OPERATION));
    }
    let key = format!(
        "{axis:?} {mode:?} {:?} {} {}",
        reading.fill_value.map(written),
        options.unique_indices,
        options.indices_are_sorted
    );
    library("_take", &key, [x, indices], |[x, indices]| {
        let (x, axis) = match axis {
            Some(axis) => (x.clone(), axis),
            None => (ravel(x), 0),
        };
        let indices = match mode {
            IndexMode::Fill => counted(indices, length),
            IndexMode::Wrap => {
                let indices = holding(indices, length);
                remainder(
                    &indices,
                    &literal(length as i64, indices.dtype(), indices.weak_type()),
                )
            }
            _ => indices.clone(),
        };
        rows(&x, &indices, axis, reading)
    })
}

/// The axis counted from the front, if one is named.
#[track_caller]
pub(super) fn optional_axis(operation: &str, axis: Option<i64>, rank: usize) -> Option<usize> {
    let axis = axis?;
    Some(normalize_axis(operation, axis, rank))
}

/// A number with all its digits, to tell one from another.
fn written(value: Scalar) -> String {
    format!("{value:?}")
}

/// Negative indices counted from the front, as `_take` writes it.
#[track_caller]
fn counted(indices: &Array, length: usize) -> Array {
    let indices = if indices.dtype().is_signed_integer() {
        holding(indices, length)
    } else if holds(indices.dtype(), length as i128) {
        indices.clone()
    } else {
        return indices.clone();
    };
    let weak = indices.weak_type();
    let negative = lax::lt(&indices, &literal(0, indices.dtype(), false));
    let moved = lax::add(&indices, &literal(length as i64, indices.dtype(), weak));
    where_(&negative, &moved, &indices)
}

/// Whole slices at indices along an axis.
#[track_caller]
fn rows(x: &Array, indices: &Array, axis: usize, reading: Reading) -> Array {
    if x.shape()[axis] == 0 {
        return x.clone();
    }
    let rank = indices.ndim();
    if indices.size() == 0 {
        let mut shape = x.shape()[..axis].to_vec();
        shape.extend_from_slice(indices.shape());
        shape.extend_from_slice(&x.shape()[axis + 1..]);
        return lax::full(&shape, 0, x.dtype());
    }
    let indices = lax::expand_dims(indices, rank);
    let mut sizes = x.shape().to_vec();
    sizes[axis] = 1;
    let behind = axis + rank..x.ndim() - 1 + rank;
    let numbers = GatherDimensionNumbers {
        offset_dims: (0..axis).chain(behind).collect(),
        collapsed_slice_dims: Dims::from_slice(&[axis]),
        start_index_map: Dims::from_slice(&[axis]),
        ..Default::default()
    };
    gather(x, &indices, numbers, &sizes, reading)
}

/// Indices are integers.
#[track_caller]
pub(super) fn check_integers(operation: &str, indices: &Array) {
    if !indices.dtype().is_integer() {
        raise(
            Error::dtype(format!(
                "an index is an integer, and {} is given",
                indices.aval()
            ))
            .in_operation(operation),
        );
    }
}

impl Array {
    /// The slices at indices along an axis: see [`numpy::take`](crate::numpy::take).
    ///
    /// # Panics
    /// As that does.
    #[track_caller]
    pub fn take(&self, indices: impl Into<Array>, options: impl Into<Take>) -> Array {
        take(self, indices, options)
    }
}
