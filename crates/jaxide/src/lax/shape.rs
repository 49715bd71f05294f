//! Moving elements: broadcasting, reshaping, joining, cutting, padding.

use jaxide_core::prims::{self, Opaque};
use jaxide_core::{DType, Dims};

use crate::array::{Array, AsShape, Axes, Integer, as_dtype, lengths, normalize_axis};
use crate::trace::{bind, bind_one};

pub(super) fn dims(values: &[usize]) -> Dims {
    Dims::from_slice(values)
}

/// Numbers 0, 1, 2, ... along axis `dimension` of `shape`.
///
/// # Panics
/// When there is no such axis, or `dtype` does not count.
#[track_caller]
pub fn iota(dtype: DType, shape: impl AsShape, dimension: impl Integer) -> Array {
    let shape = lengths("iota", &shape);
    let dimension = normalize_axis("iota", dimension, shape.len());
    bind_one(
        prims::Iota {
            dimension,
            dtype,
            shape,
            sharding: Opaque::none(),
        },
        &[],
    )
}

/// An array of `shape` filled with a number, converted to `dtype`.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn full(shape: impl AsShape, value: impl Into<Array>, dtype: DType) -> Array {
    let value = as_dtype(&value.into(), dtype, false);
    broadcast_in_dim(&value, shape, &[])
}

/// `x` with its axes at `broadcast_dimensions` of `shape`, repeated along the others.
///
/// # Panics
/// When a length is neither 1 nor the one in `shape`.
#[track_caller]
pub fn broadcast_in_dim(x: &Array, shape: impl AsShape, broadcast_dimensions: impl Axes) -> Array {
    let shape = lengths("broadcast_in_dim", &shape);
    let broadcast_dimensions = broadcast_dimensions.axes("broadcast_in_dim", shape.len());
    if x.shape() == &shape[..] && broadcast_dimensions.len() == shape.len() {
        return x.clone();
    }
    let prim = prims::BroadcastInDim {
        broadcast_dimensions: dims(&broadcast_dimensions),
        shape,
    };
    bind_one(prim, std::slice::from_ref(x))
}

/// `x` with axes of length 1 inserted: `axes` are those of the result.
///
/// # Panics
/// When an axis is out of range or named twice.
#[track_caller]
pub fn expand_dims(x: &Array, axes: impl Axes) -> Array {
    let rank = x.ndim() + axes.numbers().map_or(0, |numbers| numbers.len());
    let axes = axes.axes("expand_dims", rank);
    let mut lengths = x.shape().iter();
    let shape: Vec<usize> = (0..rank)
        .map(|axis| {
            if axes.contains(&axis) {
                1
            } else {
                lengths.next().copied().unwrap_or(1)
            }
        })
        .collect();
    let kept: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
    broadcast_in_dim(x, &shape, &kept)
}

/// `x` with axes of length 1 in front up to `rank`.
#[track_caller]
pub(crate) fn expand_rank(x: &Array, rank: usize) -> Array {
    let missing: Vec<usize> = (0..rank.saturating_sub(x.ndim())).collect();
    expand_dims(x, &missing)
}

/// The same elements in row-major order under another shape.
///
/// # Panics
/// When the numbers of elements differ.
#[track_caller]
pub fn reshape(x: &Array, shape: impl AsShape) -> Array {
    let shape = lengths("reshape", &shape);
    if !shape.is_empty() && x.shape() == &shape[..] {
        return x.clone();
    }
    let prim = prims::Reshape {
        dimensions: None,
        new_sizes: shape,
        sharding: Opaque::none(),
    };
    bind_one(prim, std::slice::from_ref(x))
}

/// `x` with its axes in another order; with `()` in reverse order.
///
/// # Panics
/// When `permutation` does not name every axis once.
#[track_caller]
pub fn transpose(x: &Array, permutation: impl Axes) -> Array {
    let permutation = match permutation.numbers() {
        Some(_) => permutation.axes("transpose", x.ndim()),
        None => (0..x.ndim()).rev().collect(),
    };
    if permutation.len() == x.ndim() && permutation.iter().copied().eq(0..permutation.len()) {
        return x.clone();
    }
    bind_one(
        prims::Transpose {
            permutation: dims(&permutation),
        },
        std::slice::from_ref(x),
    )
}

/// `x` without axes of length 1: those that are named, or all with `()`.
///
/// # Panics
/// When such an axis is longer.
#[track_caller]
pub fn squeeze(x: &Array, dimensions: impl Axes) -> Array {
    let dimensions = match dimensions.numbers() {
        Some(_) => dimensions.axes("squeeze", x.ndim()),
        None => (0..x.ndim()).filter(|&axis| x.shape()[axis] == 1).collect(),
    };
    if dimensions.is_empty() {
        return x.clone();
    }
    bind_one(
        prims::Squeeze {
            dimensions: dims(&dimensions),
        },
        std::slice::from_ref(x),
    )
}

/// A box of `x`: from `start` to before `limit`, every `strides`-th element.
///
/// # Panics
/// When the box is not within `x`.
#[track_caller]
pub fn slice(
    x: &Array,
    start: impl AsShape,
    limit: impl AsShape,
    strides: Option<&[usize]>,
) -> Array {
    let prim = prims::Slice {
        limit_indices: lengths("slice", &limit),
        start_indices: lengths("slice", &start),
        strides: strides.map(dims),
    };
    bind_one(prim, std::slice::from_ref(x))
}

/// Elements `start..limit` along one axis, every `stride`-th.
///
/// # Panics
/// When the range is not within the axis.
#[track_caller]
pub fn slice_in_dim(
    x: &Array,
    start: usize,
    limit: usize,
    stride: usize,
    axis: impl Integer,
) -> Array {
    let axis = normalize_axis("slice_in_dim", axis, x.ndim());
    let mut starts = vec![0; x.ndim()];
    let mut limits = x.shape().to_vec();
    let mut strides = vec![1; x.ndim()];
    (starts[axis], limits[axis], strides[axis]) = (start, limit, stride);
    slice(x, &starts, &limits, Some(&strides))
}

/// `x` padded with `value`: low, high and interior padding by axis; negative padding removes elements.
///
/// # Panics
/// When a length would be negative, or the element types differ.
#[track_caller]
pub fn pad(x: &Array, value: impl Into<Array>, config: &[(i64, i64, i64)]) -> Array {
    let value = as_dtype(&value.into(), x.dtype(), false);
    bind_one(
        prims::Pad {
            padding_config: config.to_vec(),
        },
        &[x.clone(), value],
    )
}

/// `x` with axes reversed.
///
/// # Panics
/// When an axis is out of range or named twice.
#[track_caller]
pub fn rev(x: &Array, dimensions: impl Axes) -> Array {
    bind_one(
        prims::Rev {
            dimensions: dims(&dimensions.axes("rev", x.ndim())),
        },
        std::slice::from_ref(x),
    )
}

/// Arrays joined along an axis.
///
/// # Panics
/// When other axes or element types differ, or there are no arrays.
#[track_caller]
pub fn concatenate(operands: &[Array], dimension: impl Integer) -> Array {
    let rank = operands.first().map_or(1, Array::ndim);
    let dimension = normalize_axis("concatenate", dimension, rank);
    bind_one(prims::Concatenate { dimension }, operands)
}

/// Arrays joined along a new axis.
///
/// # Panics
/// When shapes or element types differ, or there are no arrays.
#[track_caller]
pub fn stack(operands: &[Array], axis: impl Integer) -> Array {
    let rank = operands.first().map_or(0, Array::ndim);
    let axis = normalize_axis("stack", axis, rank + 1);
    bind_one(prims::Stack { axis }, operands)
}

/// The slices of `x` along an axis, which disappears.
///
/// # Panics
/// When there is no such axis.
#[track_caller]
pub fn unstack(x: &Array, axis: impl Integer) -> Vec<Array> {
    let axis = normalize_axis("unstack", axis, x.ndim());
    bind(prims::Unstack { axis }, std::slice::from_ref(x)).into_vec()
}

/// `x` cut along an axis into parts of the given lengths.
///
/// # Panics
/// When they do not add up.
#[track_caller]
pub fn split(x: &Array, sizes: impl AsShape, axis: impl Integer) -> Vec<Array> {
    let axis = normalize_axis("split", axis, x.ndim());
    bind(
        prims::Split {
            axis,
            sizes: lengths("split", &sizes),
        },
        std::slice::from_ref(x),
    )
    .into_vec()
}

/// An array whose contents never matter; zeros here.
///
/// # Panics
/// When it is too large to hold.
#[track_caller]
pub fn empty(shape: impl AsShape, dtype: DType) -> Array {
    let prim = prims::Empty {
        dtype,
        memory_space: Opaque(prims::PyValue::Word("MemorySpace.Device".to_owned())),
        shape: lengths("empty", &shape),
    };
    bind_one(prim, &[])
}

/// `x` repeated along its axes.
///
/// # Panics
/// When there are not as many repetitions as axes.
#[track_caller]
pub fn tile(x: &Array, reps: impl AsShape) -> Array {
    let reps = lengths("tile", &reps);
    bind_one(prims::Tile { reps }, std::slice::from_ref(x))
}
