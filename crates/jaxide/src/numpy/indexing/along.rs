//! Elements at indices that differ from one line along an axis to the next.

use jaxide_core::prims::GatherDimensionNumbers;
use jaxide_core::{Dims, Error};

use super::at::{IndexMode, Options, optional_scalar};
use super::gather::{Reading, from_front, gather, holding};
use super::index::{Index, Indices};
use super::nested::{ravel, sparse_indices};
use super::take::{check_integers, from_axis};
use super::write::{Update, write};
use crate::array::Array;
use crate::lax;
use crate::numpy::{broadcast_shapes, broadcast_to, check_broadcast_to, normalize_axis};
use crate::options::options;
use crate::trace::{library, raise};

options! {
    /// What [`take_along_axis`] takes beside the array and the indices; an axis alone is one too.
    pub struct TakeAlongAxis {
        /// The axis, the last by default; with `None` the array is read as one axis in row-major order.
        axis: Option<i64> = Some(-1), |axis: impl Into<Option<i64>>| axis.into();
        /// What becomes of indices out of bounds: [`IndexMode::Fill`] by default.
        mode: Option<IndexMode> = None, |mode: IndexMode| Some(mode);
        /// What is read out of bounds: NaN by default, the least signed or largest unsigned integer, or true.
        fill_value: Option<Array> = None, |value: impl Into<Array>| Some(value.into());
        /// Whether negative indices count from the end.
        wrap_negative_indices: bool = true;
    }

    /// What [`put_along_axis`] takes beside the arrays; an axis alone is one too.
    pub struct PutAlongAxis {
        /// The axis; with `None`, the default, the array is one axis in row-major order.
        axis: Option<i64> = None, |axis: impl Into<Option<i64>>| axis.into();
        /// What becomes of indices out of bounds: they are dropped by default.
        mode: Option<IndexMode> = None, |mode: IndexMode| Some(mode);
    }
}

from_axis!(TakeAlongAxis);
from_axis!(PutAlongAxis);

/// For each line of `x` along an axis the elements at the indices of the same line of `indices`: what `argsort` and `argmax`
/// give, as values. Other axes of the two broadcast.
///
/// # Panics
/// When the ranks differ, there is no such axis, other axes do not broadcast, or `indices` are not integers.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// let y = numpy::take_along_axis(&x, [[0, 2], [1, 0]], 1);
/// assert_eq!(y.to_vec::<f32>(), [1.0, 3.0, 5.0, 4.0]);
/// ```
#[track_caller]
pub fn take_along_axis(
    x: &Array,
    indices: impl Into<Array>,
    options: impl Into<TakeAlongAxis>,
) -> Array {
    let _named = crate::trace::named("take_along_axis");
    const OPERATION: &str = "take_along_axis";
    let (indices, options) = (indices.into(), options.into());
    check_integers(OPERATION, &indices);
    let rank = if options.axis.is_some() { x.ndim() } else { 1 };
    if indices.ndim() != rank {
        raise(
            Error::shape(format!(
                "{} is indexed with {}: the ranks must be equal, or without an axis one",
                x.aval(),
                indices.aval()
            ))
            .in_operation(OPERATION),
        );
    }
    let axis = normalize_axis(OPERATION, options.axis.unwrap_or(0), rank);
    let reading = Reading {
        mode: Some(options.mode.unwrap_or(IndexMode::Fill).of_gather(OPERATION)),
        fill_value: optional_scalar(OPERATION, options.fill_value.as_ref()),
        unique_indices: false,
        indices_are_sorted: false,
    };
    let wrap = options.wrap_negative_indices;
    let flat = options.axis.is_none();
    let mut others = if flat {
        vec![x.size()]
    } else {
        x.shape().to_vec()
    };
    others[axis] = 1;
    broadcast_shapes(OPERATION, &[indices.shape(), &others]);
    let key = format!(
        "{:?} {:?} {:?} {wrap}",
        options.axis, reading.mode, reading.fill_value
    );
    library(OPERATION, &key, [x, &indices], |[x, indices]| {
        let x = if flat { ravel(x) } else { x.clone() };
        lines(&x, indices, axis, reading, wrap)
    })
}

#[track_caller]
fn lines(x: &Array, indices: &Array, axis: usize, reading: Reading, wrap: bool) -> Array {
    let length = x.shape()[axis];
    let mut others = x.shape().to_vec();
    others[axis] = 1;
    let shape = broadcast_shapes("take_along_axis", &[indices.shape(), &others]);
    if length == 0 {
        return lax::full(&shape, 0, x.dtype());
    }
    let indices = if wrap {
        from_front(&widened(indices, length), length, false)
    } else {
        indices.clone()
    };
    let own = indices.shape().to_vec();
    let mut batch: Vec<usize> = (0..x.ndim())
        .filter(|&at| at == axis || own[at] != 1)
        .map(|at| shape[at])
        .collect();
    batch.push(1);
    let starts = lax::reshape(&indices, &batch);
    let mut numbers = GatherDimensionNumbers::default();
    let (mut sizes, mut squeezed) = (Vec::new(), Vec::new());
    // The axis of the array when those of length 1 are gone, and that of the indices.
    let (mut to, mut from) = (0, 0);
    for at in 0..x.ndim() {
        if at == axis {
            sizes.push(1);
            numbers.start_index_map.push(to);
            numbers.collapsed_slice_dims.push(to);
            (to, from) = (to + 1, from + 1);
        } else if own[at] == 1 {
            numbers.offset_dims.push(at);
            sizes.push(others[at]);
            to += 1;
        } else if others[at] == 1 {
            squeezed.push(at);
            from += 1;
        } else {
            sizes.push(others[at].min(1));
            numbers.operand_batching_dims.push(to);
            numbers.start_indices_batching_dims.push(from);
            (to, from) = (to + 1, from + 1);
        }
    }
    let x = lax::squeeze(x, &squeezed);
    gather(&x, &starts, numbers, &sizes, reading)
}

/// Indices of 8 and 16 bits as `i32`, and unsigned ones too, so that negative ones can be told.
#[track_caller]
fn widened(indices: &Array, length: usize) -> Array {
    let narrow = indices.dtype().size() < 4 || indices.dtype() == jaxide_core::DType::U32;
    let indices = if narrow {
        crate::array::as_dtype(indices, jaxide_core::DType::I32, false)
    } else {
        indices.clone()
    };
    if indices.dtype().is_unsigned_integer() {
        indices
    } else {
        holding(&indices, length)
    }
}

/// `x` with the elements at indices along an axis replaced: for each line of `x` at the indices of the same line of
/// `indices`. Other axes of the two, and `values`, broadcast.
///
/// # Panics
/// When the ranks differ, there is no such axis, shapes do not broadcast, or `indices` are not integers.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[10, 30, 20], [60, 40, 50]]);
/// let y = numpy::put_along_axis(&x, [[1], [0]], 99, 1);
/// assert_eq!(y.to_vec::<i32>(), [10, 99, 20, 99, 40, 50]);
/// ```
#[track_caller]
pub fn put_along_axis(
    x: &Array,
    indices: impl Into<Array>,
    values: impl Into<Array>,
    options: impl Into<PutAlongAxis>,
) -> Array {
    let _named = crate::trace::named("put_along_axis");
    const OPERATION: &str = "put_along_axis";
    let (indices, values, options) = (indices.into(), values.into(), options.into());
    check_integers(OPERATION, &indices);
    let rank = if options.axis.is_some() { x.ndim() } else { 1 };
    if indices.ndim() != rank {
        raise(
            Error::shape(format!(
                "{} is indexed with {}: the ranks must be equal, or without an axis one",
                x.aval(),
                indices.aval()
            ))
            .in_operation(OPERATION),
        );
    }
    let axis = normalize_axis(OPERATION, options.axis.unwrap_or(0), rank);
    check_broadcast_to(OPERATION, values.shape(), indices.shape());
    let key = format!("{:?} {:?}", options.axis, options.mode);
    library(
        OPERATION,
        &key,
        [x, &indices, &values],
        |[x, indices, values]| {
            let flat = if options.axis.is_some() {
                x.clone()
            } else {
                ravel(x)
            };
            let values = broadcast_to(values, indices.shape());
            let mut places = sparse_indices(flat.shape());
            places[axis] = indices.clone();
            let places: Vec<Index> = places.into_iter().map(Index::Array).collect();
            let how = Options {
                mode: options.mode,
                ..Options::default()
            };
            let written = write(
                OPERATION,
                &flat,
                &Indices::from(places),
                Update::Set,
                &values,
                how,
            );
            lax::reshape(&written, Dims::from_slice(x.shape()))
        },
    )
}
