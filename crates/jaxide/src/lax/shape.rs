//! Moving elements: broadcasting, reshaping, joining, cutting, padding; reductions and products.

use jaxide_core::prims::{self, DotDimensionNumbers, DotPrecision, Opaque};
use jaxide_core::{DType, Dims, Scalar};
use smallvec::SmallVec;

use crate::array::{Array, as_dtype};
use crate::trace::{bind, bind_one};

fn dims(values: &[usize]) -> Dims {
    Dims::from_slice(values)
}

/// Numbers 0, 1, 2, ... along axis `dimension` of `shape`.
///
/// # Panics
/// When there is no such axis, or `dtype` does not count.
#[track_caller]
pub fn iota(dtype: DType, shape: &[usize], dimension: usize) -> Array {
    bind_one(
        prims::Iota {
            dimension,
            dtype,
            shape: dims(shape),
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
pub fn full(shape: &[usize], value: impl Into<Array>, dtype: DType) -> Array {
    let value = as_dtype(&value.into(), dtype, false);
    broadcast_in_dim(&value, shape, &[])
}

/// `x` with its axes at `broadcast_dimensions` of `shape`, repeated along the others.
///
/// # Panics
/// When a length is neither 1 nor the one in `shape`.
#[track_caller]
pub fn broadcast_in_dim(x: &Array, shape: &[usize], broadcast_dimensions: &[usize]) -> Array {
    if x.shape() == shape && broadcast_dimensions.len() == shape.len() {
        return x.clone();
    }
    let prim = prims::BroadcastInDim {
        broadcast_dimensions: dims(broadcast_dimensions),
        shape: dims(shape),
    };
    bind_one(prim, std::slice::from_ref(x))
}

/// `x` with axes of length 1 inserted: `axes` are those of the result.
///
/// # Panics
/// When an axis is out of range or named twice.
#[track_caller]
pub fn expand_dims(x: &Array, axes: &[usize]) -> Array {
    let rank = x.ndim() + axes.len();
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
pub fn reshape(x: &Array, shape: &[usize]) -> Array {
    if !shape.is_empty() && x.shape() == shape {
        return x.clone();
    }
    let prim = prims::Reshape {
        dimensions: None,
        new_sizes: dims(shape),
        sharding: Opaque::none(),
    };
    bind_one(prim, std::slice::from_ref(x))
}

/// `x` with its axes in another order.
///
/// # Panics
/// When `permutation` does not name every axis once.
#[track_caller]
pub fn transpose(x: &Array, permutation: &[usize]) -> Array {
    if permutation.len() == x.ndim() && permutation.iter().copied().eq(0..permutation.len()) {
        return x.clone();
    }
    bind_one(
        prims::Transpose {
            permutation: dims(permutation),
        },
        std::slice::from_ref(x),
    )
}

/// `x` without axes of length 1.
///
/// # Panics
/// When such an axis is longer.
#[track_caller]
pub fn squeeze(x: &Array, dimensions: &[usize]) -> Array {
    if dimensions.is_empty() {
        return x.clone();
    }
    bind_one(
        prims::Squeeze {
            dimensions: dims(dimensions),
        },
        std::slice::from_ref(x),
    )
}

/// A box of `x`: from `start` to before `limit`, every `strides`-th element.
///
/// # Panics
/// When the box is not within `x`.
#[track_caller]
pub fn slice(x: &Array, start: &[usize], limit: &[usize], strides: Option<&[usize]>) -> Array {
    let prim = prims::Slice {
        limit_indices: dims(limit),
        start_indices: dims(start),
        strides: strides.map(dims),
    };
    bind_one(prim, std::slice::from_ref(x))
}

/// Elements `start..limit` along one axis, every `stride`-th.
///
/// # Panics
/// When the range is not within the axis.
#[track_caller]
pub fn slice_in_dim(x: &Array, start: usize, limit: usize, stride: usize, axis: usize) -> Array {
    let mut starts = vec![0; x.ndim()];
    let mut limits = x.shape().to_vec();
    let mut strides = vec![1; x.ndim()];
    if axis < x.ndim() {
        (starts[axis], limits[axis], strides[axis]) = (start, limit, stride);
    }
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
pub fn rev(x: &Array, dimensions: &[usize]) -> Array {
    bind_one(
        prims::Rev {
            dimensions: dims(dimensions),
        },
        std::slice::from_ref(x),
    )
}

/// Arrays joined along an axis.
///
/// # Panics
/// When other axes or element types differ, or there are no arrays.
#[track_caller]
pub fn concatenate(operands: &[Array], dimension: usize) -> Array {
    bind_one(prims::Concatenate { dimension }, operands)
}

/// Arrays joined along a new axis.
///
/// # Panics
/// When shapes or element types differ, or there are no arrays.
#[track_caller]
pub fn stack(operands: &[Array], axis: usize) -> Array {
    bind_one(prims::Stack { axis }, operands)
}

/// The slices of `x` along an axis, which disappears.
///
/// # Panics
/// When there is no such axis.
#[track_caller]
pub fn unstack(x: &Array, axis: usize) -> Vec<Array> {
    bind(prims::Unstack { axis }, std::slice::from_ref(x)).into_vec()
}

/// `x` cut along an axis into parts of the given lengths.
///
/// # Panics
/// When they do not add up.
#[track_caller]
pub fn split(x: &Array, sizes: &[usize], axis: usize) -> Vec<Array> {
    bind(
        prims::Split {
            axis,
            sizes: dims(sizes),
        },
        std::slice::from_ref(x),
    )
    .into_vec()
}

/// A box of lengths `sizes` whose start, a scalar per axis, is moved so that it fits.
///
/// # Panics
/// When starts are not integer scalars of one type, or a length is too large.
#[track_caller]
pub fn dynamic_slice(x: &Array, starts: &[Array], sizes: &[usize]) -> Array {
    let mut operands = vec![x.clone()];
    operands.extend(starts.iter().map(strong));
    bind_one(
        prims::DynamicSlice {
            slice_sizes: dims(sizes),
        },
        &operands,
    )
}

/// `x` with a box overwritten by `update`; the start, a scalar per axis, is moved so that it fits.
///
/// # Panics
/// When starts are not integer scalars of one type, or the update does not fit.
#[track_caller]
pub fn dynamic_update_slice(x: &Array, update: &Array, starts: &[Array]) -> Array {
    let mut operands = vec![x.clone(), update.clone()];
    operands.extend(starts.iter().map(strong));
    bind_one(prims::DynamicUpdateSlice, &operands)
}

/// A number of the program with its own element type.
#[track_caller]
fn strong(x: &Array) -> Array {
    as_dtype(x, x.dtype(), false)
}

/// Reductions along axes.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident |$axes:ident| $prim:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When an axis is out of range or named twice, or the element type is not one it is defined for.
        #[track_caller]
        pub fn $name(x: &Array, axes: &[usize]) -> Array {
            let $axes = dims(axes);
            bind_one($prim, std::slice::from_ref(x))
        }
    )* };
}

reductions! {
    /// Sum along axes.
    reduce_sum |axes| prims::ReduceSum { axes, out_sharding: Opaque::none() };
    /// Product along axes.
    reduce_prod |axes| prims::ReduceProd { axes };
    /// Largest along axes; NaN if any is.
    reduce_max |axes| prims::ReduceMax { axes, out_sharding: Opaque::none() };
    /// Smallest along axes; NaN if any is.
    reduce_min |axes| prims::ReduceMin { axes, out_sharding: Opaque::none() };
    /// And along axes.
    reduce_and |axes| prims::ReduceAnd { axes };
    /// Or along axes.
    reduce_or |axes| prims::ReduceOr { axes };
    /// Exclusive or along axes.
    reduce_xor |axes| prims::ReduceXor { axes };
}

/// Index of the first largest element along an axis.
///
/// # Panics
/// When the axis is empty or out of range.
#[track_caller]
pub fn argmax(x: &Array, axis: usize, index_dtype: DType) -> Array {
    bind_one(
        prims::Argmax {
            axes: dims(&[axis]),
            index_dtype,
        },
        std::slice::from_ref(x),
    )
}

/// Index of the first smallest element along an axis.
///
/// # Panics
/// When the axis is empty or out of range.
#[track_caller]
pub fn argmin(x: &Array, axis: usize, index_dtype: DType) -> Array {
    bind_one(
        prims::Argmin {
            axes: dims(&[axis]),
            index_dtype,
        },
        std::slice::from_ref(x),
    )
}

/// Running combinations along an axis, from the end when `reverse`.
macro_rules! cumulative {
    ($($(#[$doc:meta])* $name:ident $prim:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When the axis is out of range.
        #[track_caller]
        pub fn $name(x: &Array, axis: usize, reverse: bool) -> Array {
            bind_one(prims::$prim { axis, reverse }, std::slice::from_ref(x))
        }
    )* };
}

cumulative! {
    /// Running sum.
    cumsum Cumsum;
    /// Running product.
    cumprod Cumprod;
    /// Running maximum.
    cummax Cummax;
    /// Running minimum.
    cummin Cummin;
    /// Running logarithm of the sum of exponentials.
    cumlogsumexp Cumlogsumexp;
}

/// Arrays sorted along an axis by the first `num_keys` of them, elements at equal keys in their order.
///
/// # Panics
/// When shapes differ or the axis is out of range.
#[track_caller]
pub fn sort(operands: &[Array], dimension: usize, num_keys: usize) -> SmallVec<[Array; 1]> {
    bind(
        prims::Sort {
            dimension,
            is_stable: true,
            num_keys,
        },
        operands,
    )
}

/// The `k` largest elements along the last axis, and their indices.
///
/// # Panics
/// When there are fewer.
#[track_caller]
pub fn top_k(x: &Array, k: usize) -> (Array, Array) {
    let axis = x.ndim().saturating_sub(1);
    let results = bind(
        prims::TopK {
            axis,
            is_stable: true,
            k,
        },
        std::slice::from_ref(x),
    );
    (results[0].clone(), results[1].clone())
}

/// The product of arrays over contracted axes, batch axes in step: batch axes, then the others of `lhs`, then of `rhs`.
///
/// # Panics
/// When lengths do not fit.
#[track_caller]
pub fn dot_general(
    lhs: &Array,
    rhs: &Array,
    dimension_numbers: DotDimensionNumbers,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Array {
    let prim = prims::DotGeneral {
        dimension_numbers,
        out_sharding: None,
        precision,
        preferred_element_type,
    };
    bind_one(prim, &[lhs.clone(), rhs.clone()])
}

/// Windows of `x` at indices; see [`prims::GatherDimensionNumbers`].
///
/// # Panics
/// When the dimension numbers do not fit.
#[track_caller]
pub fn gather(
    x: &Array,
    indices: &Array,
    dimension_numbers: prims::GatherDimensionNumbers,
    slice_sizes: &[usize],
    mode: prims::GatherScatterMode,
    fill_value: Option<Scalar>,
) -> Array {
    let prim = prims::Gather {
        dimension_numbers,
        fill_value,
        indices_are_sorted: false,
        mode,
        slice_sizes: dims(slice_sizes),
        unique_indices: false,
    };
    bind_one(prim, &[x.clone(), indices.clone()])
}
