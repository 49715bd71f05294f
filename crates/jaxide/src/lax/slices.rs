//! Slices along one axis, and at computed indices.

use jaxide_core::prims::GatherDimensionNumbers;
use jaxide_core::{Dims, Error};

use super::indexing::starts_from_front;
use crate::array::{Array, Axes, Integer, normalize_axis};
use crate::lax;
use crate::options::options;
use crate::trace::{library, raise};

options! {
    /// What functions like [`dynamic_index_in_dim`] take beside the arrays; an axis alone is one too.
    pub struct InDim {
        /// The axis, the first by default.
        axis: i64 = 0, |axis: impl Integer| axis.to_i64();
        /// Whether the axis of an index stays, with length 1.
        keepdims: bool = true;
        /// Whether negative indices count from the end.
        allow_negative_indices: bool = true;
    }
}

macro_rules! from_axis {
    ($($ty:ty)*) => { $(
        impl From<$ty> for InDim {
            fn from(axis: $ty) -> Self {
                InDim::new().axis(axis)
            }
        }
    )* };
}

from_axis!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

/// Starts along all axes for one along an axis: zeros for the others.
#[track_caller]
fn starts(x: &Array, start: &Array, axis: usize, wrap: bool) -> Vec<Array> {
    let zero = lax::number_like(start, 0);
    let mut starts = vec![zero; x.ndim()];
    starts[axis] = start.clone();
    let wraps: Vec<bool> = (0..x.ndim()).map(|at| wrap && at == axis).collect();
    starts_from_front(x, &starts, &wraps)
}

/// `slice_size` elements along an axis from a computed place on, which is moved so that they fit.
///
/// # Panics
/// When there is no such axis, it is shorter, or `start_index` is no integer scalar.
///
/// ```
/// use jaxide::{Array, lax};
/// let x = Array::from([1, 2, 3, 4]);
/// assert_eq!(lax::dynamic_slice_in_dim(&x, -3, 2, 0).to_vec::<i32>(), [2, 3]);
/// ```
#[track_caller]
pub fn dynamic_slice_in_dim(
    x: &Array,
    start_index: impl Into<Array>,
    slice_size: usize,
    options: impl Into<InDim>,
) -> Array {
    let _named = crate::trace::named("dynamic_slice_in_dim");
    let options = options.into();
    let axis = normalize_axis("dynamic_slice_in_dim", options.axis, x.ndim());
    cut(
        x,
        &start_index.into(),
        slice_size,
        axis,
        options.allow_negative_indices,
    )
}

#[track_caller]
fn cut(x: &Array, start: &Array, size: usize, axis: usize, wrap: bool) -> Array {
    let mut sizes = x.shape().to_vec();
    sizes[axis] = size;
    lax::dynamic_slice_at(x, &starts(x, start, axis, wrap), &sizes)
}

/// The slice at a computed index of an axis, which is moved into the axis.
///
/// # Panics
/// When there is no such axis, it is empty, or `index` is no integer scalar.
///
/// ```
/// use jaxide::{Array, lax::{self, InDim}};
/// let x = Array::from([[1, 2], [3, 4]]);
/// let i = Array::from(1);
/// assert_eq!(lax::dynamic_index_in_dim(&x, i, InDim::new().keepdims(false)).to_vec::<i32>(), [3, 4]);
/// ```
#[track_caller]
pub fn dynamic_index_in_dim(
    x: &Array,
    index: impl Into<Array>,
    options: impl Into<InDim>,
) -> Array {
    let _named = crate::trace::named("dynamic_index_in_dim");
    const OPERATION: &str = "dynamic_index_in_dim";
    let options = options.into();
    let axis = normalize_axis(OPERATION, options.axis, x.ndim());
    library(
        OPERATION,
        &format!("{options:?}"),
        [x, &index.into()],
        |[x, index]| {
            let slice = cut(x, index, 1, axis, options.allow_negative_indices);
            if options.keepdims {
                slice
            } else {
                lax::squeeze(&slice, axis)
            }
        },
    )
}

/// `x` with a box overwritten by `update`, which is as long as `x` along all axes but one, from a computed place along that
/// one, which is moved so that it fits.
///
/// # Panics
/// When there is no such axis, the update does not fit, or `start_index` is no integer scalar.
///
/// ```
/// use jaxide::{Array, lax};
/// let x = Array::from([1, 2, 3, 4]);
/// let y = lax::dynamic_update_slice_in_dim(&x, &Array::from([8, 9]), 1, 0);
/// assert_eq!(y.to_vec::<i32>(), [1, 8, 9, 4]);
/// ```
#[track_caller]
pub fn dynamic_update_slice_in_dim(
    x: &Array,
    update: &Array,
    start_index: impl Into<Array>,
    options: impl Into<InDim>,
) -> Array {
    let _named = crate::trace::named("dynamic_update_slice_in_dim");
    let options = options.into();
    let axis = normalize_axis("dynamic_update_slice_in_dim", options.axis, x.ndim());
    let starts = starts(x, &start_index.into(), axis, options.allow_negative_indices);
    lax::dynamic_update_slice_at(x, update, &starts)
}

/// `x` with the slice at a computed index of an axis overwritten; the index is moved into the axis. `update` has the axis with
/// length 1, or does not have it.
///
/// # Panics
/// When there is no such axis, the update does not fit, or `index` is no integer scalar.
#[track_caller]
pub fn dynamic_update_index_in_dim(
    x: &Array,
    update: &Array,
    index: impl Into<Array>,
    options: impl Into<InDim>,
) -> Array {
    let _named = crate::trace::named("dynamic_update_index_in_dim");
    const OPERATION: &str = "dynamic_update_index_in_dim";
    let options = options.into();
    let axis = normalize_axis(OPERATION, options.axis, x.ndim());
    let operands = [x, update, &index.into()];
    library(
        OPERATION,
        &format!("{options:?}"),
        operands,
        |[x, update, index]| {
            let update = if update.ndim() == x.ndim() {
                update.clone()
            } else {
                lax::expand_dims(update, axis)
            };
            let starts = starts(x, index, axis, options.allow_negative_indices);
            lax::dynamic_update_slice_at(x, &update, &starts)
        },
    )
}

/// The slice at a known index of an axis; negative ones count from the end.
///
/// # Panics
/// When there is no such axis, or the index is not in it.
///
/// ```
/// use jaxide::{Array, lax};
/// let x = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(lax::index_in_dim(&x, -1, 1).to_vec::<i32>(), [2, 4]);
/// ```
#[track_caller]
pub fn index_in_dim(x: &Array, index: impl Integer, options: impl Into<InDim>) -> Array {
    let _named = crate::trace::named("index_in_dim");
    const OPERATION: &str = "index_in_dim";
    let options = options.into();
    let axis = normalize_axis(OPERATION, options.axis, x.ndim());
    let length = x.shape()[axis];
    let given = index.to_i64();
    let at = if given < 0 {
        given.saturating_add(length as i64)
    } else {
        given
    };
    let Some(at) = usize::try_from(at).ok().filter(|&at| at < length) else {
        raise(
            Error::parameter(format!("{given} is not in axis {axis} of {}", x.aval()))
                .in_operation(OPERATION),
        )
    };
    let slice = lax::slice_in_dim(x, at, at + 1, 1, axis);
    if options.keepdims {
        slice
    } else {
        lax::squeeze(&slice, axis)
    }
}

/// The slices of `src` at indices along axes, a vector of indices for each; they are counted around.
///
/// # Panics
/// When there are not as many vectors as axes, or they are not integers of one length and type.
///
/// ```
/// use jaxide::{Array, lax};
/// let x = Array::from([[1, 2], [3, 4]]);
/// let taken = lax::index_take(&x, &[Array::from([0, 1, 3]), Array::from([1, 0, -1])], (0, 1));
/// assert_eq!(taken.to_vec::<i32>(), [2, 3, 4]);
/// ```
#[track_caller]
pub fn index_take(src: &Array, idxs: &[Array], axes: impl Axes) -> Array {
    let _named = crate::trace::named("index_take");
    const OPERATION: &str = "index_take";
    let axes = axes.axes(OPERATION, src.ndim());
    let fits = |index: &Array| {
        index.ndim() == 1 && index.dtype().is_integer() && index.aval() == idxs[0].aval()
    };
    if idxs.is_empty() || idxs.len() != axes.len() || !idxs.iter().all(fits) {
        raise(
            Error::shape(format!(
                "{} vectors of indices are given for {} axes of {}",
                idxs.len(),
                axes.len(),
                src.aval()
            ))
            .in_operation(OPERATION)
            .note("there is a vector of integers for each axis, and all have one type"),
        );
    }
    let mut columns = Vec::with_capacity(idxs.len());
    for index in idxs {
        columns.push(lax::expand_dims(index, 1));
    }
    let indices = match &columns[..] {
        [one] => one.clone(),
        several => lax::concatenate(several, 1),
    };
    let lengths: Vec<i32> = axes.iter().map(|&axis| src.shape()[axis] as i32).collect();
    let lengths = crate::array::as_dtype(&Array::from(lengths), indices.dtype(), false);
    let around = lax::expand_dims(&lengths, 0);
    let indices = crate::numpy::remainder(&indices, &around);
    let mut sizes = src.shape().to_vec();
    for &axis in &axes {
        sizes[axis] = 1;
    }
    let numbers = GatherDimensionNumbers {
        offset_dims: (1..=src.ndim() - axes.len()).collect(),
        collapsed_slice_dims: Dims::from_slice(&axes),
        start_index_map: Dims::from_slice(&axes),
        ..Default::default()
    };
    lax::gather(src, &indices, numbers, &sizes, (), None)
}
