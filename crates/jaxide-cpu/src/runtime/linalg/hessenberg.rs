//! The reduction of general matrices to Hessenberg form.

use std::marker::PhantomData;

use super::for_matrices;
use super::householder::reflector;
use super::scalar::{RealScalar, Scalar};
use super::trailing::{Parts, Pass, Trailing};
use crate::runtime::shared::SharedSlice;
use crate::runtime::{Buffers, Context, Kernel, KernelError, Signature};

/// The kernel of `hessenberg` on a batch of `n × n` matrices: H on and above the first diagonal below
/// the main one, with the reflectors below it, and their n - 1 factors τ.
pub struct Hessenberg<T> {
    batch: usize,
    n: usize,
    element: PhantomData<fn() -> T>,
}

impl<T: Scalar<Real: RealScalar>> Hessenberg<T> {
    /// Forms of `n × n` matrices.
    pub fn new(batch: usize, n: usize) -> Self {
        Self {
            batch,
            n,
            element: PhantomData,
        }
    }
}

impl<T: Scalar<Real: RealScalar>> Kernel for Hessenberg<T> {
    fn signature(&self) -> Signature {
        let (size, taus) = (size_of::<T>(), self.n.saturating_sub(1));
        let a = (self.batch * self.n * self.n, size);
        Signature::of(&[a], &[a, (self.batch * taus, size)])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (n, count) = (self.n, self.n.saturating_sub(1));
        let out = buffers.output::<T>(0);
        out.copy_from_slice(buffers.input(0));
        let (out, taus) = (
            SharedSlice::new(out),
            SharedSlice::new(buffers.output::<T>(1)),
        );
        for_matrices(self.batch, 4 * n * n * n, context, |index| {
            // SAFETY: matrices of the batch are disjoint, and so are their factors.
            let (a, taus) = unsafe {
                (
                    out.range(index * n * n..(index + 1) * n * n),
                    taus.range(index * count..(index + 1) * count),
                )
            };
            reduce(a, n, taus, context)
        })
    }
}

/// Reduces a matrix in place to packed Hessenberg form.
///
/// A reflector H = I - τ v vᴴ from the right, and its adjoint from the left, make A to `A - x vᴴ - v zᵀ`, with
/// `x = τ A v` and `zᵀ = τ̄ (vᴴ A - (vᴴ x) vᴴ)`.
pub(super) fn reduce<T: Scalar<Real: RealScalar>>(
    a: &mut [T],
    n: usize,
    taus: &mut [T],
    context: &Context<'_>,
) -> Result<(), KernelError> {
    let mut trailing = Trailing::<T>::new(n, n)?;
    for k in 1..n {
        // Column k - 1 with the last update.
        let Parts {
            a: x,
            c: v,
            q,
            b,
            d: z,
            y,
            ..
        } = trailing.parts();
        let column = k - 1;
        for i in 0..n {
            let entry = &mut a[i * n + column];
            *entry = *entry - (x[i] * b[column] + v[i] * z[column]);
        }
        let next = &mut q[k..];
        for (i, to) in (k..n).zip(&mut *next) {
            *to = a[i * n + column];
        }
        let tau = reflector(next);
        taus[column] = tau;
        for (i, &from) in (k..n).zip(&*next) {
            a[i * n + column] = from;
        }
        next[0] = T::ONE;
        q[column] = T::ZERO;
        for j in k..n {
            y[j] = q[j].conj();
        }
        trailing.pass(a, (0, k), Pass::Multiply, context);
        let Parts {
            a: x,
            c: v,
            q,
            products,
            b,
            d: z,
            sum,
            ..
        } = trailing.parts();
        let mut overlap = T::ZERO;
        for i in 0..n {
            x[i] = tau * products[i];
            overlap = overlap + q[i].conj() * x[i];
            v[i] = q[i];
        }
        for j in k..n {
            b[j] = q[j].conj();
            z[j] = tau.conj() * (sum[j] - overlap * b[j]);
        }
    }
    let Parts {
        a: x,
        c: v,
        b,
        d: z,
        ..
    } = trailing.parts();
    if n > 0 {
        for i in 0..n {
            let entry = &mut a[i * n + n - 1];
            *entry = *entry - (x[i] * b[n - 1] + v[i] * z[n - 1]);
        }
    }
    Ok(())
}
