//! Functions of NumPy that JAX writes as calls of named functions.

use jaxide_core::DType;
use jaxide_core::prims::Polynomial;

use crate::api::vmap_of;
use crate::array::{Array, promote, promote_dtypes};
use crate::control::switch;
use crate::trace::{bind_one, library};
use crate::{lax, numpy};

/// `jnp.where`.
#[track_caller]
pub(super) fn where_(condition: &Array, x: impl Into<Array>, y: impl Into<Array>) -> Array {
    let (x, y) = (x.into(), y.into());
    library("_where", "", [condition, &x, &y], |[condition, x, y]| {
        let [x, y] = promote_dtypes("where", [x, y]);
        let shape = numpy::broadcast_shapes("where", &[condition.shape(), x.shape(), y.shape()]);
        let condition = if condition.ndim() == 0 {
            condition.clone()
        } else {
            numpy::broadcast_to(condition, &shape)
        };
        let x = numpy::broadcast_to(&x, &shape);
        let y = numpy::broadcast_to(&y, &shape);
        if x.size() == 0 {
            x
        } else {
            lax::select(&condition, &x, &y)
        }
    })
}

/// `jnp.remainder`.
#[track_caller]
pub(super) fn remainder(x: &Array, y: impl Into<Array>) -> Array {
    library("remainder", "", [x, &y.into()], |[x, y]| {
        let [x, y] = promote("remainder", [x, y]);
        let zero = Array::from(0);
        let y = if y.dtype().is_integer() {
            let one = Array::from(1).astype(y.dtype());
            where_(&lax::eq(&y, &zero), one, &y)
        } else {
            y
        };
        let truncated = lax::rem(&x, &y);
        let nonzero = lax::ne(&truncated, &zero);
        let signs_differ = lax::ne(&lax::lt(&truncated, &zero), &lax::lt(&y, &zero));
        let moves = lax::bitwise_and(&signs_differ, &nonzero);
        lax::select(&moves, &lax::add(&truncated, &y), &truncated)
    })
}

/// `jnp.round` to whole numbers.
#[track_caller]
pub(super) fn round(x: &Array) -> Array {
    library("round", "", [x], |[x]| {
        lax::round(x, jaxide_core::prims::RoundingMethod::ToNearestEven)
    })
}

/// `jnp.isinf`.
#[track_caller]
pub(super) fn isinf(x: &Array) -> Array {
    library("isinf", "", [x], |[x]| {
        lax::eq(&lax::abs(x), &Array::from(f64::INFINITY))
    })
}

/// `jnp.signbit`.
#[track_caller]
pub(super) fn signbit(x: &Array) -> Array {
    library("signbit", "", [x], |[x]| {
        let (bits, last) = match x.dtype().size() {
            2 => (DType::I16, 15),
            4 => (DType::I32, 31),
            _ => (DType::I64, 63),
        };
        let bits = lax::bitcast_convert_type(x, bits);
        lax::shift_right_arithmetic(&bits, &Array::from(last)).astype(DType::Bool)
    })
}

/// `jnp.clip`.
#[track_caller]
pub(super) fn clip(x: &Array, min: impl Into<Array>, max: impl Into<Array>) -> Array {
    library(
        "clip",
        "",
        [x, &min.into(), &max.into()],
        |[x, min, max]| numpy::minimum(max, &numpy::maximum(min, x)),
    )
}

/// `jnp.select`: for each element the choice of the first condition that holds.
#[track_caller]
pub(super) fn select(conditions: &[Array], choices: &[Array], default: Array) -> Array {
    let mut values = vec![default];
    values.extend_from_slice(choices);
    let refs: Vec<&Array> = values.iter().collect();
    let (dtype, weak) = crate::array::result_dtype("select", &refs);
    let mut conditions = [&[Array::from(false)], conditions].concat();
    let shapes: Vec<&[usize]> = conditions.iter().map(Array::shape).collect();
    let shape = numpy::broadcast_shapes("select", &shapes);
    let values: Vec<Array> = values
        .iter()
        .map(|x| crate::array::as_dtype(x, dtype, weak))
        .collect();
    for condition in &mut conditions {
        *condition = numpy::broadcast_to(condition, &shape);
    }
    let index = lax::argmax(&lax::stack(&conditions, 0), 0, DType::I32);
    let mut shapes: Vec<&[usize]> = values.iter().map(Array::shape).collect();
    shapes.push(&shape);
    let shape = numpy::broadcast_shapes("select", &shapes);
    let index = numpy::broadcast_to(&index, &shape);
    let values: Vec<Array> = values
        .iter()
        .map(|x| numpy::broadcast_to(x, &shape))
        .collect();
    lax::select_n(&index, &values)
}

/// `jnp.polyval`: the polynomial with coefficients `p`, the highest degree first.
#[track_caller]
pub(super) fn polyval(p: &Array, x: &Array) -> Array {
    library("polyval", "", [p, x], |[p, x]| {
        let mut operands = vec![x.clone()];
        let count = p.shape()[0];
        operands.extend((0..count).rev().map(|at| p.index(at)));
        polynomial(&operands, None)
    })
}

/// The polynomial of the first operand with the others as coefficients, the lowest degree first.
#[track_caller]
pub(super) fn polynomial(operands: &[Array], unroll: Option<usize>) -> Array {
    bind_one(Polynomial { unroll }, operands)
}

/// A function of the operands of [`piecewise`].
pub(super) type Piece<'f> = &'f dyn Fn(&[Array]) -> Array;

/// `jnp.piecewise`: what the function of the first condition that holds gives, or else the first function. Functions are applied
/// element by element, so that only the chosen one decides derivatives.
#[track_caller]
pub(super) fn piecewise(operands: &[Array], conditions: &[Array], functions: &[Piece]) -> Array {
    let shapes: Vec<&[usize]> = operands
        .iter()
        .chain(conditions)
        .map(Array::shape)
        .collect();
    let shape = numpy::broadcast_shapes("piecewise", &shapes);
    let mut index = numpy::broadcast_to(&Array::from(0), &shape).astype(DType::I32);
    for (at, condition) in conditions.iter().enumerate().rev() {
        index = where_(condition, Array::from(at as i32 + 1), index);
    }
    let mut all = vec![index];
    all.extend(operands.iter().map(|x| numpy::broadcast_to(x, &shape)));
    elementwise(shape.len(), all, &|operands| {
        let branches: Vec<_> = functions
            .iter()
            .map(|f| move |operands: Vec<Array>| f(&operands))
            .collect();
        switch(operands[0].clone(), branches, operands[1..].to_vec())
    })
}

/// `f` of the elements of operands of equal shape, with `rank` axes.
#[track_caller]
pub(super) fn elementwise(
    rank: usize,
    operands: Vec<Array>,
    f: &dyn Fn(Vec<Array>) -> Array,
) -> Array {
    if rank == 0 {
        return f(operands);
    }
    vmap_of(
        &|operands: Vec<Array>| elementwise(rank - 1, operands, f),
        operands,
    )
}
