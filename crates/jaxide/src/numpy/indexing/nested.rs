//! Functions of integers as the functions about indices call them: `jit` equations of their own.

use jaxide_core::DType;

use super::gather::literal;
use crate::array::{Array, Repr, as_dtype, promote_dtypes};
use crate::lax;
use crate::numpy;
use crate::trace::library;
use crate::trace::library::library_call;

/// `where` of three arrays.
#[track_caller]
pub(super) fn where_(condition: &Array, x: &Array, y: &Array) -> Array {
    library("_where", "", [condition, x, y], |[condition, x, y]| {
        let [x, y] = promote_dtypes("where", [x, y]);
        if condition.ndim() == 0 {
            let shape = numpy::broadcast_shapes("where", &[x.shape(), y.shape()]);
            let [x, y] = [x, y].map(|x| numpy::broadcast_to(&x, &shape));
            return lax::select(condition, &x, &y);
        }
        let shape = numpy::broadcast_shapes("where", &[condition.shape(), x.shape(), y.shape()]);
        let condition = numpy::broadcast_to(condition, &shape);
        let [x, y] = [x, y].map(|x| numpy::broadcast_to(&x, &shape));
        if x.size() == 0 {
            return x;
        }
        lax::select(&condition, &x, &y)
    })
}

/// Integers moved between numbers.
#[track_caller]
pub(super) fn clip(x: &Array, least: i64, most: i64) -> Array {
    let [least, most] = [least, most].map(|end| literal(end, DType::I32, true));
    library("clip", "", [x, &least, &most], |[x, least, most]| {
        let x = lax::max(&as_dtype(least, x.dtype(), false), x);
        lax::min(&as_dtype(most, x.dtype(), false), &x)
    })
}

/// The quotient of integers, rounded down.
#[track_caller]
pub(crate) fn floor_divide(x: &Array, y: &Array) -> Array {
    library("floor_divide", "", [x, y], |[x, y]| {
        let y = as_dtype(y, x.dtype(), false);
        let quotient = lax::div(x, &y);
        if x.dtype().is_unsigned_integer() {
            return quotient;
        }
        let signs = lax::ne(&lax::sign(x), &lax::sign(&y));
        let rest = lax::ne(&lax::rem(x, &y), &literal(0, x.dtype(), false));
        let below = lax::bitwise_and(&signs, &rest);
        let less = lax::sub(&quotient, &literal(1, x.dtype(), false));
        where_(&below, &less, &quotient)
    })
}

/// The remainder of integers, with the sign of the divisor.
#[track_caller]
pub(super) fn remainder(x: &Array, y: &Array) -> Array {
    library("remainder", "", [x, y], |[x, y]| remainder_of(x, y))
}

/// What [`remainder`] is made of.
#[track_caller]
pub(crate) fn remainder_of(x: &Array, y: &Array) -> Array {
    let dtype = x.dtype();
    let zero = literal(0, dtype, false);
    let y = as_dtype(y, dtype, false);
    let is_zero = lax::eq(&y, &zero);
    let one = lax::full(y.shape(), literal(1, dtype, false), dtype);
    let y = where_(&is_zero, &one, &y);
    let rest = lax::rem(x, &y);
    let some = lax::ne(&rest, &zero);
    let signs = lax::ne(&lax::lt(&rest, &zero), &lax::lt(&y, &zero));
    let moves = lax::bitwise_and(&signs, &some);
    let moved = lax::add(&rest, &y);
    lax::select(&moves, &moved, &rest)
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
    library("argsort", "stable descending", [mask], |[mask]| {
        let places = lax::iota(DType::I32, mask.size(), 0);
        let sorted = lax::sort(&[lax::rev(mask, 0), lax::rev(&places, 0)], 0, 1);
        lax::rev(&sorted[1], 0)
    })
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
