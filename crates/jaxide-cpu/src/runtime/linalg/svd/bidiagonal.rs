//! The reduction to bidiagonal form by reflectors from both sides.

use super::super::householder::reflector;
use super::super::scalar::{RealScalar, Scalar};
use super::super::trailing::{Parts, Pass, Trailing};
use crate::runtime::{Context, KernelError, PoolBuffer};

/// A reduction `A = Q B Pᴴ` to real upper bidiagonal form. The reflectors of Q stay below the diagonal
/// of A.
pub(super) struct Bidiagonal<T> {
    pub(super) d: Vec<f64>,
    pub(super) e: Vec<f64>,
    pub(super) left_taus: Vec<T>,
    /// The reflectors of P in rows of n entries, of which the k-th begins at entry k + 1.
    pub(super) right: PoolBuffer,
    pub(super) right_taus: Vec<T>,
}

/// One pass over the trailing matrix for each column applies the last reflectors of both sides and multiplies the next
/// left one with the result, and one that only reads it multiplies the next right one.
pub(super) fn reduce<T: Scalar<Real: RealScalar>>(
    matrix: &mut [T],
    (m, n): (usize, usize),
    context: &Context<'_>,
) -> Result<Bidiagonal<T>, KernelError> {
    let mut right = PoolBuffer::for_elements::<T>(n * n)?;
    let reflectors = right.as_mut_slice::<T>();
    let (mut d, mut e) = (vec![0.0; n], vec![0.0; n]);
    let (mut left_taus, mut right_taus) = (vec![T::ZERO; n], vec![T::ZERO; n.saturating_sub(1)]);
    // The last update is A -= v zᵀ + x uᴴ.
    let mut trailing = Trailing::<T>::new(m, n)?;
    for k in 0..n {
        // Column k with the last update, and the left reflector.
        let Parts {
            a: v,
            b: z,
            c: x,
            d: u,
            q,
            ..
        } = trailing.parts();
        let next = &mut q[k..];
        for (i, to) in (k..m).zip(&mut *next) {
            *to = matrix[i * n + k] - (v[i] * z[k] + x[i] * u[k]);
        }
        let tau = reflector(next);
        left_taus[k] = tau;
        d[k] = next[0].re();
        for (i, &x) in (k..m).zip(&*next) {
            matrix[i * n + k] = x;
        }
        next[0] = T::ONE;
        if k + 1 == n {
            break;
        }
        let first = k + 1;
        trailing.pass(matrix, (k, first), Pass::Sum, context);
        // Row k with that reflector, and the right one that eliminates it.
        let Parts {
            a: v,
            b: z,
            d: u,
            q,
            y,
            sum,
            ..
        } = trailing.parts();
        let next = &mut reflectors[k * n + first..(k + 1) * n];
        for (to, j) in next.iter_mut().zip(first..n) {
            z[j] = tau.conj() * sum[j];
            *to = (matrix[k * n + j] - z[j]).conj();
        }
        v[k..].copy_from_slice(&q[k..]);
        let right_tau = reflector(next);
        right_taus[k] = right_tau;
        e[k] = next[0].re();
        next[0] = T::ONE;
        let mut overlap = T::ZERO;
        for (j, &own) in (first..n).zip(&*next) {
            u[j] = own.conj();
            y[j] = own.conj();
            overlap = overlap + z[j] * own;
        }
        // τ A u, of the matrix with the left reflector.
        trailing.multiply(matrix, (first, first), context);
        let Parts {
            a: v,
            c: x,
            products,
            ..
        } = trailing.parts();
        for i in first..m {
            x[i] = right_tau * (products[i] - v[i] * overlap);
        }
    }
    Ok(Bidiagonal {
        d,
        e,
        left_taus,
        right,
        right_taus,
    })
}
