//! Elements and slices at places, as JAX's indexing writes them.

use std::cell::RefCell;

use jaxide_core::prims::{
    self, GatherDimensionNumbers, GatherScatterMode, NoConsts, OptionalJaxpr, Prim,
    ScatterDimensionNumbers,
};
use jaxide_core::{Aval, Builder, ClosedJaxpr, DType, Dims, Tensor};

use super::broadcast_to;
use super::nested::constant;
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::trace::{OrRaise, bind_one};

/// How old and new elements become one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Set,
    Add,
}

/// Which elements are not zero.
pub(super) fn nonzero_of(value: &Tensor) -> Vec<bool> {
    let nonzero = |at: usize| {
        let scalar = value.scalar_at(at);
        scalar.is_some_and(|scalar| scalar.as_complex() != (0.0, 0.0))
    };
    (0..value.len()).map(nonzero).collect()
}

/// `start..limit` of an axis; all of it is the array itself.
#[track_caller]
pub(super) fn cut(x: &Array, axis: usize, start: usize, limit: usize) -> Array {
    if (start, limit) == (0, x.shape()[axis]) {
        return x.clone();
    }
    let (mut starts, mut limits) = (vec![0; x.ndim()], x.shape().to_vec());
    (starts[axis], limits[axis]) = (start, limit);
    lax::slice(x, &starts, &limits, None)
}

/// The slice at a position of an axis, which disappears.
#[track_caller]
pub(super) fn at(x: &Array, axis: usize, position: usize) -> Array {
    lax::squeeze(&cut(x, axis, position, position + 1), axis)
}

/// A box of `x` at starts that are counted from the front.
#[track_caller]
pub(super) fn box_at(x: &Array, starts: &[Array], sizes: &[usize]) -> Array {
    let operands: Vec<Array> = std::iter::once(x).chain(starts).cloned().collect();
    let slice_sizes = Dims::from_slice(sizes);
    bind_one(prims::DynamicSlice { slice_sizes }, &operands)
}

/// Negative indices counted from the front.
#[track_caller]
fn from_front(index: &Array, length: usize) -> Array {
    let at_least_i32 = |index: &Array| match index.dtype().size() {
        0..4 => as_dtype(index, DType::I32, false),
        _ => index.clone(),
    };
    if index.dtype().is_unsigned_integer() {
        return at_least_i32(index);
    }
    let negative = lax::lt(index, &constant(0, index.dtype()));
    let moved = lax::add(index, &constant(length, index.dtype()));
    at_least_i32(&lax::select(&negative, &moved, index))
}

/// Indices counted from the front, as vectors of the components of an index.
#[track_caller]
fn components(x: &Array, first: usize, indices: &[&Array]) -> Array {
    let rank = indices[0].ndim();
    let from_front: Vec<Array> = indices
        .iter()
        .zip(&x.shape()[first..])
        .map(|(index, &length)| from_front(index, length))
        .collect();
    let columns: Vec<Array> = from_front
        .iter()
        .map(|index| lax::expand_dims(index, rank))
        .collect();
    match columns.as_slice() {
        [one] => one.clone(),
        several => lax::concatenate(several, rank),
    }
}

/// The axes of the result, without those that indices make from `first` on.
fn window(x: &Array, first: usize, indices: &[&Array]) -> Dims {
    let rank = indices[0].ndim();
    let out = x.ndim() - indices.len() + rank;
    (0..out)
        .filter(|axis| !(first..first + rank).contains(axis))
        .collect()
}

/// The shape of `x` with that of the indices in place of the axes from `first` on.
fn indexed(x: &Array, first: usize, indices: &[&Array]) -> Vec<usize> {
    let mut shape = x.shape()[..first].to_vec();
    shape.extend_from_slice(indices[0].shape());
    shape.extend_from_slice(&x.shape()[first + indices.len()..]);
    shape
}

/// `x[.., i, j, ..]`: the slices at indices of axes from `first` on, all of one shape, which takes the place of the axes.
#[track_caller]
pub(super) fn elements_at(x: &Array, first: usize, indices: &[&Array]) -> Array {
    let axes: Dims = (first..first + indices.len()).collect();
    let mut sizes = Dims::from_slice(x.shape());
    axes.iter().for_each(|&axis| sizes[axis] = 1);
    let numbers = GatherDimensionNumbers {
        offset_dims: window(x, first, indices),
        collapsed_slice_dims: axes.clone(),
        start_index_map: axes,
        ..Default::default()
    };
    let shape = indexed(x, first, indices);
    if indices[0].ndim() == 0 && x.ndim() == 1 {
        let start = from_front(indices[0], x.size());
        return lax::squeeze(&box_at(x, &[start], &[1]), 0);
    }
    let places = components(x, first, indices);
    if shape.contains(&0) {
        return lax::full(&shape, 0, x.dtype());
    }
    lax::gather(
        x,
        &places,
        numbers,
        &sizes,
        GatherScatterMode::PromiseInBounds,
        None,
    )
}

/// `x` with the slices at indices changed: those that [`elements_at`] reads.
#[track_caller]
pub(super) fn with_elements(
    x: &Array,
    first: usize,
    indices: &[&Array],
    value: &Array,
    way: Way,
) -> Array {
    let axes: Dims = (first..first + indices.len()).collect();
    let shape = indexed(x, first, indices);
    let value = as_dtype(value, x.dtype(), false);
    let numbers = ScatterDimensionNumbers {
        update_window_dims: window(x, first, indices),
        inserted_window_dims: axes.clone(),
        scatter_dims_to_operand_dims: axes,
        ..Default::default()
    };
    let places = components(x, first, indices);
    if indices[0].size() == 0 {
        return x.clone();
    }
    let strong = as_dtype(x, x.dtype(), false);
    let value = broadcast_to(&value, &shape);
    let changed = scatter(way, false, numbers, &[strong, places, value]);
    as_dtype(&changed, x.dtype(), x.weak_type())
}

/// `x` with a range of the first axis changed, from `start` on; `slice` is of one element of the axis, without it, when its
/// rank is lower.
#[track_caller]
pub(super) fn with_range(x: &Array, start: usize, slice: &Array, way: Way) -> Array {
    let single = slice.ndim() < x.ndim();
    let numbers = ScatterDimensionNumbers {
        update_window_dims: (0..slice.ndim()).collect(),
        inserted_window_dims: (0..usize::from(single)).collect(),
        scatter_dims_to_operand_dims: Dims::from_slice(&[0]),
        ..Default::default()
    };
    let place = lax::full([1], start, DType::I32);
    scatter(way, true, numbers, &[x.clone(), place, slice.clone()])
}

/// One scatter equation; `one` when there is one place.
#[track_caller]
fn scatter(
    way: Way,
    one: bool,
    dimension_numbers: ScatterDimensionNumbers,
    operands: &[Array],
) -> Array {
    let dtype = operands[0].dtype();
    let mode = GatherScatterMode::FillOrDrop;
    let prim: Prim = match way {
        Way::Set => prims::Scatter {
            dimension_numbers,
            indices_are_sorted: one,
            mode,
            unique_indices: one,
            update_consts: NoConsts,
            update_jaxpr: OptionalJaxpr(None),
        }
        .into(),
        Way::Add => prims::ScatterAdd {
            dimension_numbers,
            indices_are_sorted: one,
            mode,
            unique_indices: one,
            update_consts: NoConsts,
            update_jaxpr: OptionalJaxpr(Some(sum_of_scalars(dtype))),
        }
        .into(),
    };
    bind_one(prim, operands)
}

/// The sum of two scalars as a jaxpr: one for each element type, which a program that uses it twice shows once.
#[track_caller]
fn sum_of_scalars(dtype: DType) -> ClosedJaxpr {
    thread_local! {
        static KNOWN: RefCell<Vec<(DType, ClosedJaxpr)>> = const { RefCell::new(Vec::new()) };
    }
    let known = KNOWN.with_borrow(|known| {
        let own = known.iter().find(|(own, _)| *own == dtype);
        own.map(|(_, jaxpr)| jaxpr.clone())
    });
    known.unwrap_or_else(|| {
        let b = Builder::new();
        let scalars = [b.input(Aval::scalar(dtype)), b.input(Aval::scalar(dtype))];
        let sum = b.emit(prims::Add, &scalars);
        let jaxpr = sum.and_then(|results| b.finish(&results)).or_raise();
        KNOWN.with_borrow_mut(|known| known.push((dtype, jaxpr.clone())));
        jaxpr
    })
}
