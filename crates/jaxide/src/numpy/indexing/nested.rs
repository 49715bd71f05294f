//! Functions of integers as the functions about indices call them: `jit` equations of their own.

use jaxide_core::DType;

use super::gather::literal;
use crate::array::{Array, Repr, as_dtype};
use crate::lax;
use crate::numpy::{self, floor_divide, remainder};
use crate::trace::library;
use crate::trace::library::library_call;

/// Integers moved between numbers.
#[track_caller]
pub(super) fn clip(x: &Array, least: i64, most: i64) -> Array {
    let [least, most] = [least, most].map(|end| literal(end, DType::I32, true));
    numpy::clip(x, least, most)
}

/// Quotient and remainder of integers by a number.
#[track_caller]
pub(super) fn divmod(x: &Array, y: i64) -> (Array, Array) {
    let y = literal(y, DType::I32, true);
    let results = library_call("divmod", "", &[x.clone(), y], |operands| {
        let y = as_dtype(&operands[1], operands[0].dtype(), false);
        vec![floor_divide(&operands[0], &y), remainder(&operands[0], &y)]
    });
    (results[0].clone(), results[1].clone())
}

/// Indices that sort truth values, true ones first and otherwise in their order.
#[track_caller]
pub(super) fn true_first(mask: &Array) -> Array {
    numpy::argsort(mask, numpy::Sort::new().descending(true))
}

/// Arrays with at least so many axes, 1 or 2, those that are missing in front.
#[track_caller]
pub(super) fn at_least(x: &Array, rank: usize) -> Array {
    let name = if rank == 1 {
        "atleast_1d"
    } else {
        "atleast_2d"
    };
    library(name, "", [x], |[x]| {
        let missing = rank.saturating_sub(x.ndim());
        let places: Vec<usize> = (0..missing).collect();
        lax::expand_dims(x, &places)
    })
}

/// The lower or the upper triangle of a matrix from a diagonal on, zeros elsewhere.
#[track_caller]
pub(super) fn triangle(x: &Array, k: i64, lower: bool) -> Array {
    let name = if lower { "tril" } else { "triu" };
    library(name, &k.to_string(), [x], |[x]| {
        let shape = x.shape();
        let offset = if lower { k } else { k - 1 };
        let rows = lax::add(
            &lax::iota(DType::I32, shape, 0),
            &literal(offset, DType::I32, false),
        );
        let below = lax::ge(&rows, &lax::iota(DType::I32, shape, 1));
        let zeros = lax::full(shape, 0, x.dtype());
        if lower {
            lax::select(&below, x, &zeros)
        } else {
            lax::select(&below, &zeros, x)
        }
    })
}

/// One axis.
#[track_caller]
pub(super) fn ravel(x: &Array) -> Array {
    lax::reshape(x, x.size())
}

/// `x` repeated and cut to a length.
#[track_caller]
pub(super) fn tiled(x: &Array, size: usize) -> Array {
    let mut x = x.clone();
    if x.size() < size {
        x = lax::tile(&x, size.div_ceil(x.size().max(1)));
    }
    if x.size() > size {
        x = x.slice(..size);
    }
    x
}

/// The indices of each axis of a shape, along that axis; the others have length 1.
#[track_caller]
pub(super) fn sparse_indices(shape: &[usize]) -> Vec<Array> {
    let along = |axis: usize| {
        let mut own = vec![1; shape.len()];
        own[axis] = shape[axis];
        lax::broadcast_in_dim(&lax::iota(DType::I32, shape[axis], 0), &own, axis)
    };
    (0..shape.len()).map(along).collect()
}

/// A number of the program as JAX's `array` makes one: with an equation of its own.
#[track_caller]
pub(super) fn copied(value: &Array, dtype: DType) -> Array {
    let copy = match value.0 {
        Repr::Number(_) => lax::copy(value),
        _ => value.clone(),
    };
    as_dtype(&copy, dtype, false)
}
