//! Factorisations and solves of dense matrices, over batches.
//!
//! The meaning, the packed forms and the signs are those of
//! [`jaxide_core::eval::numerics::linalg`], which follows LAPACK as JAX does on CPU. The
//! factorisations that programs lean on ([`Cholesky`], [`Lu`], [`Qr`] and its steps, [`Eigh`],
//! [`Svd`], [`TriangularSolve`], [`Hessenberg`], [`Tridiagonal`]) are computed in the precision of their
//! operands, most of them by blocks on the matrix products of [`super::matmul`]; [`Schur`] and [`Eig`]
//! compute in double precision; the others are computed one matrix at a time by the
//! reference numerics ([`spectral`]).
//!
//! Matrices are row-major and the leading dimensions of every operand are one batch. Nothing here
//! panics on any entries: a factorisation that fails gives NaN.

mod cholesky;
mod divide;
mod eig;
mod eigh;
mod hessenberg;
mod householder;
mod jacobi;
mod lu;
mod phases;
mod qr;
mod qr_lanes;
mod rotations;
mod scalar;
mod schur;
mod side_by_side;
mod spectral;
mod svd;
mod trailing;
mod triangular;
mod tridiagonal;
mod tridiagonal_lanes;

use std::sync::OnceLock;

use super::{Context, KernelError, PoolBuffer};

pub use cholesky::Cholesky;
pub use eig::Eig;
pub use eigh::Eigh;
pub use hessenberg::Hessenberg;
pub use lu::Lu;
pub use qr::{Geqrf, HouseholderProduct, Ormqr, Qr};
pub use scalar::{RealScalar, Scalar};
pub use schur::{Iterate, Schur};
pub use spectral::{TridiagonalSolve, cholesky_update, geqp3, lu_pivots_to_permutation};
pub use svd::Svd;
pub use triangular::TriangularSolve;
pub use tridiagonal::Tridiagonal;

/// Multiply-adds that make a chunk worth a thread's attention.
const CHUNK_WORK: usize = 1 << 17;

/// Runs `body` for each matrix of a batch, each taking about `work` multiply-adds. Large matrices
/// are left to split their own work.
fn for_matrices(
    batch: usize,
    work: usize,
    context: &Context<'_>,
    body: impl Fn(usize) -> Result<(), KernelError> + Sync,
) -> Result<(), KernelError> {
    if batch <= 1 || work > 64 * CHUNK_WORK {
        return (0..batch).try_for_each(body);
    }
    let group = CHUNK_WORK.div_ceil(work.max(1)).min(batch);
    let error = OnceLock::new();
    context.parallel_for(batch.div_ceil(group), |chunk| {
        if let Err(e) = (chunk * group..batch.min((chunk + 1) * group)).try_for_each(&body) {
            let _ = error.set(e);
        }
    });
    error.into_inner().map_or(Ok(()), Err)
}

/// The conjugates of complex numbers; nothing for real ones.
fn conjugated<T: Scalar>(numbers: &[T]) -> Result<Option<PoolBuffer>, KernelError> {
    if !T::COMPLEX {
        return Ok(None);
    }
    let mut buffer = PoolBuffer::for_elements::<T>(numbers.len())?;
    for (to, from) in buffer.as_mut_slice::<T>().iter_mut().zip(numbers) {
        *to = from.conj();
    }
    Ok(Some(buffer))
}

#[cfg(test)]
mod batches;
#[cfg(test)]
mod forms;
#[cfg(test)]
mod tests;
