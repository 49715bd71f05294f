//! What several functions of SciPy are made of: polynomials, and cases chosen element by element.

use jaxide_core::DType;
use jaxide_core::prims::Polynomial;

use crate::api::vmap_of;
use crate::array::Array;
use crate::control::switch;
use crate::numpy::{self, where_};
use crate::trace::bind_one;

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
