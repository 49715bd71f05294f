//! Reading and writing at indices, as functions of this folder do: the equations of JAX's `x[i]` and `x.at[i].set(v)`.

use jaxide_core::prims::{
    self, GatherDimensionNumbers, GatherScatterMode, NoConsts, Opaque, OptionalJaxpr,
    ScatterDimensionNumbers,
};
use jaxide_core::{Dims, Scalar};

use crate::array::{Array, as_dtype};
use crate::lax;
use crate::trace::{bind_one, library};

/// Negative indices counted from the front.
#[track_caller]
pub(crate) fn from_front(index: &Array, length: usize) -> Array {
    if index.dtype().is_unsigned_integer() {
        return index.clone();
    }
    let number = |value: usize| as_dtype(&Array::from(value), index.dtype(), false);
    let negative = lax::lt(index, &number(0));
    let moved = lax::add(index, &number(length));
    lax::select(&negative, &moved, index)
}

/// The slices of `x` along its first axis: `x[indices]`. Indices lie inside.
#[track_caller]
pub(crate) fn rows(x: &Array, indices: &Array) -> Array {
    gathered(x, indices, GatherScatterMode::PromiseInBounds, None)
}

/// The same, with `fill` for what lies outside.
#[track_caller]
pub(crate) fn rows_or(x: &Array, indices: &Array, fill: i64) -> Array {
    let fill = Some(Scalar::Int(fill));
    gathered(x, indices, GatherScatterMode::FillOrDrop, fill)
}

#[track_caller]
fn gathered(x: &Array, indices: &Array, mode: GatherScatterMode, fill: Option<Scalar>) -> Array {
    let rank = indices.ndim();
    let indices = from_front(indices, x.shape()[0]);
    let indices = lax::expand_dims(&indices, &[rank]);
    let mut sizes = x.shape().to_vec();
    sizes[0] = 1;
    let numbers = GatherDimensionNumbers {
        offset_dims: (rank..rank + x.ndim() - 1).collect(),
        collapsed_slice_dims: Dims::from_slice(&[0]),
        start_index_map: Dims::from_slice(&[0]),
        ..Default::default()
    };
    lax::gather(x, &indices, numbers, &sizes, mode, fill)
}

/// The elements of `x` at an index for each axis: `x[i, j, ..]`, of arrays of one shape, or of scalars. Indices lie inside.
#[track_caller]
pub(crate) fn points(x: &Array, indices: &[Array]) -> Array {
    let rank = indices.first().map_or(0, Array::ndim);
    let lengths = x.shape().iter();
    let indices: Vec<Array> = indices
        .iter()
        .zip(lengths)
        .map(|(index, &length)| from_front(index, length))
        .collect();
    if rank == 0 {
        let ones = vec![1usize; x.ndim()];
        let axes: Vec<usize> = (0..x.ndim()).collect();
        return lax::squeeze(&lax::dynamic_slice_at(x, &indices, &ones), &axes);
    }
    let parts: Vec<Array> = indices
        .iter()
        .map(|index| lax::expand_dims(index, &[rank]))
        .collect();
    let indices = match &parts[..] {
        [one] => one.clone(),
        parts => lax::concatenate(parts, rank),
    };
    let all: Dims = (0..x.ndim()).collect();
    let numbers = GatherDimensionNumbers {
        collapsed_slice_dims: all.clone(),
        start_index_map: all,
        ..Default::default()
    };
    let ones = vec![1usize; x.ndim()];
    let mode = GatherScatterMode::PromiseInBounds;
    lax::gather(x, &indices, numbers, &ones, mode, None)
}

/// `x` with its elements from `start` on along the first axis replaced: `x.at[start:].set(values)`.
#[track_caller]
pub(crate) fn set_from(x: &Array, start: usize, values: &Array) -> Array {
    let numbers = ScatterDimensionNumbers {
        update_window_dims: (0..x.ndim()).collect(),
        scatter_dims_to_operand_dims: Dims::from_slice(&[0]),
        ..Default::default()
    };
    let index = lax::full(1, start, jaxide_core::DType::I32);
    let prim = prims::Scatter {
        dimension_numbers: numbers,
        indices_are_sorted: true,
        mode: GatherScatterMode::FillOrDrop,
        unique_indices: true,
        update_consts: NoConsts,
        update_jaxpr: OptionalJaxpr(None),
    };
    let values = as_dtype(values, x.dtype(), false);
    bind_one(prim, &[x.clone(), index, values])
}

/// How slices of the first axis lie in a scatter.
fn first_axis() -> ScatterDimensionNumbers {
    ScatterDimensionNumbers {
        inserted_window_dims: Dims::from_slice(&[0]),
        scatter_dims_to_operand_dims: Dims::from_slice(&[0]),
        ..Default::default()
    }
}

/// A vector with elements at indices replaced: `x.at[indices].set(values)`.
#[track_caller]
pub(crate) fn set_at(x: &Array, indices: &Array, values: &Array) -> Array {
    let indices = from_front(indices, x.shape()[0]);
    let indices = lax::expand_dims(&indices, &[indices.ndim()]);
    let mode = GatherScatterMode::FillOrDrop;
    lax::scatter(
        x,
        &indices,
        &as_dtype(values, x.dtype(), false),
        first_axis(),
        mode,
    )
}

/// A vector with `values`, which broadcast, added at indices: `x.at[indices].add(values)`. What lies outside is dropped.
#[track_caller]
pub(crate) fn add_at(x: &Array, indices: &Array, values: &Array) -> Array {
    let indices = from_front(indices, x.shape()[0]);
    let shape = indices.shape().to_vec();
    let indices = lax::expand_dims(&indices, &[shape.len()]);
    let values = super::broadcast_to(values, &shape);
    let mode = GatherScatterMode::FillOrDrop;
    lax::scatter_add(x, &indices, &values, first_axis(), mode)
}

/// The same elements under another shape, the axes read in an order.
#[track_caller]
pub(crate) fn reordered(x: &Array, order: &[usize], shape: &[usize]) -> Array {
    if order.iter().copied().eq(0..order.len()) {
        return lax::reshape(x, shape);
    }
    let prim = prims::Reshape {
        dimensions: Some(order.iter().copied().collect()),
        new_sizes: shape.iter().copied().collect(),
        sharding: Opaque::none(),
    };
    bind_one(prim, std::slice::from_ref(x))
}

/// The element of a vector at a place that is known.
#[track_caller]
pub(crate) fn element(x: &Array, at: usize) -> Array {
    lax::squeeze(&part(x, at, at + 1), &[0])
}

/// A part of the first axis.
#[track_caller]
pub(crate) fn part(x: &Array, start: usize, limit: usize) -> Array {
    if (start, limit) == (0, x.shape()[0]) {
        return x.clone();
    }
    let mut starts = vec![0; x.ndim()];
    let mut limits = x.shape().to_vec();
    (starts[0], limits[0]) = (start, limit);
    lax::slice(x, &starts, &limits, None)
}

/// Differences of neighbours in a vector.
#[track_caller]
pub(crate) fn differences(x: &Array) -> Array {
    library("diff", "", [x], |[x]| {
        let length = x.shape()[0];
        let later = part(x, 1, length);
        lax::sub(&later, &part(x, 0, length - 1))
    })
}
