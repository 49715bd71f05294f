//! The reduction of general matrices to Hessenberg form.

use std::marker::PhantomData;

use super::for_matrices;
use super::householder::reflector;
use super::scalar::Scalar;
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

/// The kernel of `hessenberg` on a batch of `n × n` matrices: H on and above the first diagonal below
/// the main one, with the reflectors below it, and their n - 1 factors τ.
pub struct Hessenberg<T> {
    batch: usize,
    n: usize,
    element: PhantomData<fn() -> T>,
}

impl<T: Scalar> Hessenberg<T> {
    /// Forms of `n × n` matrices.
    pub fn new(batch: usize, n: usize) -> Self {
        Self {
            batch,
            n,
            element: PhantomData,
        }
    }
}

impl<T: Scalar> Kernel for Hessenberg<T> {
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
            let mut work = PoolBuffer::for_elements::<T>(2 * n)?;
            let (v, w) = work.as_mut_slice::<T>().split_at_mut(n);
            for (k, to) in (1..n).zip(taus) {
                let v = &mut v[..n - k];
                for (i, x) in v.iter_mut().enumerate() {
                    *x = a[(k + i) * n + k - 1];
                }
                *to = reflector(v);
                let beta = std::mem::replace(&mut v[0], T::ONE);
                step(a, (n, k), v, &mut w[..n - k], *to);
                v[0] = beta;
                for (i, &x) in v.iter().enumerate() {
                    a[(k + i) * n + k - 1] = x;
                }
            }
            Ok(())
        })
    }
}

for_each_isa! {
    /// Applies `H = I - τ v vᴴ`, of rows and columns from k on, from the right, and its adjoint from
    /// the left; `w` is working memory as long as v.
    pub(super) fn step<T: Scalar>(a: &mut [T], shape: (usize, usize), v: &[T], w: &mut [T], tau: T) = step_any
}

#[inline(always)]
fn step_any<T: Scalar>(a: &mut [T], (n, k): (usize, usize), v: &[T], w: &mut [T], tau: T) {
    const LANES: usize = 16;
    w.fill(T::ZERO);
    for (i, row) in a.chunks_exact_mut(n).enumerate() {
        let row = &mut row[k..];
        let mut sums = [T::ZERO; LANES];
        let (chunks, rest) = row.as_chunks::<LANES>();
        let (v_chunks, v_rest) = v.as_chunks::<LANES>();
        for (x, y) in chunks.iter().zip(v_chunks) {
            for lane in 0..LANES {
                sums[lane] = sums[lane] + x[lane] * y[lane];
            }
        }
        let along = rest
            .iter()
            .zip(v_rest)
            .fold(T::ZERO, |sum, (&x, &y)| sum + x * y);
        let factor = tau * sums.into_iter().fold(along, |sum, x| sum + x);
        for (x, &v) in row.iter_mut().zip(v) {
            *x = *x - factor * v.conj();
        }
        // The products with the columns, of rows that are now as they are to be.
        if i >= k {
            let factor = v[i - k].conj();
            for (sum, &x) in w.iter_mut().zip(&*row) {
                *sum = *sum + factor * x;
            }
        }
    }
    for (i, row) in a.chunks_exact_mut(n).skip(k).enumerate() {
        let factor = tau.conj() * v[i];
        for (x, &y) in row[k..].iter_mut().zip(&*w) {
            *x = *x - factor * y;
        }
    }
}
