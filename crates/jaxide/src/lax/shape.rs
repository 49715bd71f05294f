//! Moving elements: broadcasting, reshaping, joining, cutting, padding.

use jaxide_core::prims::{self, Opaque};
use jaxide_core::{DType, Dims, Error};

use crate::array::{Array, AsShape, Axes, Integer, as_dtype, lengths, normalize_axis};
use crate::options::options;
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
    let _named = crate::trace::named("iota");
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
    let _named = crate::trace::named("full");
    let value = as_dtype(&value.into(), dtype, false);
    broadcast_in_dim(&value, shape, &[])
}

/// `x` with its axes at `broadcast_dimensions` of `shape`, repeated along the others.
///
/// # Panics
/// When a length is neither 1 nor the one in `shape`.
#[track_caller]
pub fn broadcast_in_dim(x: &Array, shape: impl AsShape, broadcast_dimensions: impl Axes) -> Array {
    let _named = crate::trace::named("broadcast_in_dim");
    let shape = lengths("broadcast_in_dim", &shape);
    let broadcast_dimensions = broadcast_dimensions.axes("broadcast_in_dim", shape.len());
    let same = x.shape() == &shape[..] && broadcast_dimensions.len() == shape.len();
    if same && !crate::trace::keeps_broadcasts() {
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
    let _named = crate::trace::named("expand_dims");
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
    let _named = crate::trace::named("reshape");
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
    let _named = crate::trace::named("transpose");
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
    let _named = crate::trace::named("squeeze");
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
    let _named = crate::trace::named("slice");
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
    let _named = crate::trace::named("slice_in_dim");
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
    let _named = crate::trace::named("pad");
    let value = value.into();
    let value = if value.weak_type() {
        as_dtype(&value, x.dtype(), false)
    } else {
        value
    };
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
    let _named = crate::trace::named("rev");
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
    let _named = crate::trace::named("concatenate");
    // One array is itself, whatever the axis.
    if let [alone] = operands {
        return alone.clone();
    }
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
    let _named = crate::trace::named("stack");
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
    let _named = crate::trace::named("unstack");
    let axis = normalize_axis("unstack", axis, x.ndim());
    bind(prims::Unstack { axis }, std::slice::from_ref(x)).into_vec()
}

/// `x` cut along an axis into parts of the given lengths.
///
/// # Panics
/// When they do not add up.
#[track_caller]
pub fn split(x: &Array, sizes: impl AsShape, axis: impl Integer) -> Vec<Array> {
    let _named = crate::trace::named("split");
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
    let _named = crate::trace::named("empty");
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
    let _named = crate::trace::named("tile");
    let reps = lengths("tile", &reps);
    bind_one(prims::Tile { reps }, std::slice::from_ref(x))
}

/// `x` repeated along new axes in front, of the given lengths.
///
/// # Panics
/// When a length is negative.
///
/// ```
/// use jaxide::{Array, lax};
/// assert_eq!(lax::broadcast(&Array::from([1, 2]), [2]).to_vec::<i32>(), [1, 2, 1, 2]);
/// ```
#[track_caller]
pub fn broadcast(x: &Array, sizes: impl AsShape) -> Array {
    let _named = crate::trace::named("broadcast");
    let sizes = lengths("broadcast", &sizes);
    if sizes.is_empty() {
        return x.clone();
    }
    let places: Vec<usize> = (sizes.len()..sizes.len() + x.ndim()).collect();
    let shape: Vec<usize> = sizes.iter().chain(x.shape()).copied().collect();
    broadcast_in_dim(x, &shape, &places)
}

/// `x` repeated to the shape of another array: axes are added in front, and axes of length 1 repeated.
///
/// # Panics
/// When `x` does not broadcast to it.
#[track_caller]
pub fn broadcast_like(x: &Array, like: &Array) -> Array {
    let _named = crate::trace::named("broadcast_like");
    crate::numpy::broadcast_to(x, like.shape())
}

/// The shape that all shapes broadcast to: lengths are compared from the last one, and must be equal or 1.
///
/// # Panics
/// When there is none.
///
/// ```
/// use jaxide::lax;
/// assert_eq!(lax::broadcast_shapes(&[&[2, 1], &[3]]), [2, 3]);
/// ```
#[track_caller]
pub fn broadcast_shapes(shapes: &[&[usize]]) -> Vec<usize> {
    let _named = crate::trace::named("broadcast_shapes");
    crate::numpy::broadcast_shapes("broadcast_shapes", shapes)
}

/// `x` with axes of length 1 in front, so that there are `rank`.
///
/// # Panics
/// When it has more.
#[track_caller]
pub fn broadcast_to_rank(x: &Array, rank: usize) -> Array {
    let _named = crate::trace::named("broadcast_to_rank");
    let Some(missing) = rank.checked_sub(x.ndim()) else {
        crate::trace::raise(
            Error::shape(format!("{} has more than {rank} axes", x.aval()))
                .in_operation("broadcast_to_rank"),
        )
    };
    broadcast(x, vec![1; missing])
}

/// Numbers 0, 1, 2, ... along axis `dimension` of `shape`: the same as [`iota`].
///
/// # Panics
/// When there is no such axis, or `dtype` does not count.
#[track_caller]
pub fn broadcasted_iota(dtype: DType, shape: impl AsShape, dimension: impl Integer) -> Array {
    let _named = crate::trace::named("broadcasted_iota");
    iota(dtype, shape, dimension)
}

/// `x` with the axes from `start_dimension` to before `stop_dimension` as one; negative numbers count from the last axis.
///
/// # Panics
/// When the first is behind the second.
///
/// ```
/// use jaxide::{Array, DType, lax};
/// let x = Array::zeros([2, 3, 4], DType::F32);
/// assert_eq!(lax::collapse(&x, 0, 2).shape(), [6, 4]);
/// assert_eq!(lax::collapse(&x, 1, None).shape(), [2, 12]);
/// ```
#[track_caller]
pub fn collapse(x: &Array, start_dimension: i64, stop_dimension: impl Into<Option<i64>>) -> Array {
    let _named = crate::trace::named("collapse");
    let rank = x.ndim() as i64;
    let place =
        |at: i64| (if at < 0 { at.saturating_add(rank) } else { at }).clamp(0, rank) as usize;
    let low = place(start_dimension);
    let high = place(stop_dimension.into().unwrap_or(rank));
    if high < low {
        crate::trace::raise(
            Error::parameter(format!("axes {low}..{high} of {} are no range", x.aval()))
                .in_operation("collapse"),
        );
    }
    let shape = x.shape();
    let mut collapsed = shape[..low].to_vec();
    collapsed.push(shape[low..high].iter().product());
    collapsed.extend_from_slice(&shape[high..]);
    reshape(x, &collapsed)
}

options! {
    /// What [`full_like`] takes beside the array and the value; an element type alone is one too.
    pub struct FullLike {
        /// The element type, by default that of the array.
        dtype: Option<DType> = None, |dtype: DType| Some(dtype);
        /// The shape, by default that of the array.
        shape: Option<Dims> = None, |shape: impl AsShape| Some(lengths("full_like", &shape));
    }
}

impl From<DType> for FullLike {
    fn from(dtype: DType) -> Self {
        FullLike::new().dtype(dtype)
    }
}

/// An array like another, filled with a number.
///
/// # Panics
/// When the array is too large to hold.
///
/// ```
/// use jaxide::{Array, DType, lax};
/// let x = Array::from([1.0f32, 2.0]);
/// assert_eq!(lax::full_like(&x, 7, DType::I32).to_vec::<i32>(), [7, 7]);
/// ```
#[track_caller]
pub fn full_like(x: &Array, fill_value: impl Into<Array>, options: impl Into<FullLike>) -> Array {
    let _named = crate::trace::named("full_like");
    let FullLike { dtype, shape } = options.into();
    let weak = dtype.is_none() && x.weak_type();
    let value = as_dtype(&fill_value.into(), dtype.unwrap_or(x.dtype()), weak);
    let shape = shape.unwrap_or_else(|| dims(x.shape()));
    broadcast_in_dim(&value, &shape, &[])
}

/// The lengths of a shape as a vector of integers.
///
/// # Panics
/// When a length is negative.
#[track_caller]
pub fn shape_as_value(shape: impl AsShape) -> Array {
    let _named = crate::trace::named("shape_as_value");
    let shape = lengths("shape_as_value", &shape);
    if shape.is_empty() {
        return full([0], 0, DType::I32);
    }
    let fits: Option<Vec<i32>> = shape.iter().map(|&n| i32::try_from(n).ok()).collect();
    match fits {
        Some(lengths) => Array::from(lengths),
        None => Array::from(shape.iter().map(|&n| n as i64).collect::<Vec<i64>>()),
    }
}
