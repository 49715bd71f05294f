//! Products, factorisations and Fourier transforms.
//!
//! For factorisations and solvers the last two axes are the matrix, all others are batch axes.

mod cholesky;
mod determinant;
mod dot;
mod eigen;
mod fft;
mod lu;
mod matrices;
mod packed;
mod pseudo_inverse;
mod qr;
mod ragged;
mod scaled;
mod solve;
mod svd;
mod triangular;
mod tridiagonal;

pub(super) use determinant::{
    determinant_jvp, log_determinant_tangents, small_log_determinant_tangents,
};
pub(crate) use dot::{preferred_type, product_dtype};
pub(super) use pseudo_inverse::pseudo_inverse_tangent;

use smallvec::{SmallVec, smallvec};

use super::elementwise::{arity, not_linear, to_front};
use super::shape::{check_axes, one};
use super::{BatchAxis, Batched, BatchedResults, JvpResult, Prim};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder, Dims};

/// Batch axes, rows and columns of a matrix of floats or complex numbers.
fn matrix(aval: &Aval) -> Result<(&[usize], usize, usize)> {
    if !matches!(
        aval.dtype,
        DType::F32 | DType::F64 | DType::C64 | DType::C128
    ) {
        return Err(Error::dtype(format!(
            "{aval} has element type {}, and f32, f64, c64 or c128 is expected",
            aval.dtype
        )));
    }
    sides(aval)
}

/// Batch axes, rows and columns of a matrix.
fn sides(aval: &Aval) -> Result<(&[usize], usize, usize)> {
    match &aval.shape[..] {
        [batch @ .., rows, columns] => Ok((batch, *rows, *columns)),
        _ => Err(Error::shape(format!("{aval} is not a matrix"))),
    }
}

/// Batch axes and size of a square matrix.
fn square(aval: &Aval) -> Result<(&[usize], usize)> {
    square_sides(matrix(aval)?, aval)
}

/// Batch axes and size, where both sides of `aval` are equal.
fn square_sides<'a>(
    (batch, rows, columns): (&'a [usize], usize, usize),
    aval: &Aval,
) -> Result<(&'a [usize], usize)> {
    if rows != columns {
        return Err(Error::shape(format!("{aval} is not square")));
    }
    Ok((batch, rows))
}

/// `batch` axes followed by `tail`.
fn shaped(dtype: DType, batch: &[usize], tail: &[usize]) -> Aval {
    let shape: Dims = batch.iter().chain(tail).copied().collect();
    Aval::new(dtype, &shape)
}

/// The number of operands.
fn operands_of<const N: usize>(operands: &[Aval]) -> Result<&[Aval; N]> {
    operands.try_into().map_err(|_| arity(N, operands.len()))
}

/// The batch axes of `aval` before its last `trailing` axes, which must have these lengths, and its element type `dtype`.
fn check_like(aval: &Aval, dtype: DType, batch: &[usize], trailing: &[usize]) -> Result<()> {
    let want = shaped(dtype, batch, trailing);
    if aval.dtype == dtype && aval.shape == want.shape {
        return Ok(());
    }
    Err(Error::shape(format!(
        "{want} is expected, and {aval} is given"
    )))
}

/// A subset of eigenvalues or singular values is a range within them.
fn subset_length(subset: Option<(usize, usize)>, all: usize) -> Result<usize> {
    match subset {
        None => Ok(all),
        Some((start, end)) if start <= end && end <= all => Ok(end - start),
        Some((start, end)) => Err(Error::parameter(format!(
            "subset_by_index ({start}, {end}) is not within the {all} values"
        ))),
    }
}

/// Applies a primitive with the mapped axis as the first batch axis of all operands.
fn batch_leading(
    prim: Prim,
    b: &Builder,
    operands: &[Batched],
    axis: &BatchAxis,
) -> Result<BatchedResults> {
    let mapped = operands.iter().any(|operand| operand.dim.is_some());
    let place = |operand: &Batched| {
        if mapped {
            to_front(b, *operand, axis.size)
        } else {
            operand.value
        }
    };
    let atoms: Vec<Atom> = operands.iter().map(place).collect();
    let results = b.emit(prim, &atoms)?;
    Ok(results
        .into_iter()
        .map(|value| Batched {
            value,
            dim: mapped.then_some(0),
        })
        .collect())
}

/// Reports that there is no derivative.
fn no_derivative(name: &'static str) -> Result<JvpResult> {
    Err(Error::no_rule(
        name,
        "jvp",
        "JAX defines no derivative for it",
    ))
}

/// Rules of primitives on matrices: the mapped axis becomes the first batch axis. A row is the primitive, its name, its
/// abstract evaluation and its forward derivative.
macro_rules! factorisations {
    ($($prim:ident $name:literal $eval:expr, $jvp:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let eval: fn(&Self, &[Aval]) -> Result<Avals> = $eval;
                eval(self, operands)
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                let jvp: fn(&Self, &Builder, &[Atom], &[Option<Atom>]) -> Result<JvpResult> = $jvp;
                jvp(self, b, primals, tangents)
            }

            fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
                batch_leading(self.clone().into(), b, operands, axis)
            }

            no_rules! { $name, NOT_LINEAR; transpose }
        }
    )* };
}
use factorisations;
