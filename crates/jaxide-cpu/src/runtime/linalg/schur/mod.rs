//! The Schur decomposition, in double precision and rounded once at the end.
//!
//! The matrix is reduced to Hessenberg form by reflectors, and that is made triangular by the shifted
//! steps of [`jaxide_core::eval::numerics::linalg`]: double ones in real arithmetic ([`real`]), single
//! ones in complex arithmetic ([`complex`]). What is multiplied into the unitary factor is kept
//! transposed, so that all but the updates of columns of the matrix itself run along rows.

mod complex;
mod real;

use std::marker::PhantomData;

use num_complex::Complex;

use super::for_matrices;
use super::hessenberg::reduce;
use super::householder::apply_to_rows;
use super::scalar::{RealScalar, Scalar};
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::Arithmetic;
use crate::runtime::{Buffers, Context, Kernel, KernelError, OutOfMemory, PoolBuffer, Signature};

/// QR steps that one eigenvalue may take.
const MAX_STEPS: usize = 60;

/// 2⁸⁰⁰: what numbers whose squares vanish are multiplied by.
const FAR_UP: f64 = f64::from_bits((1023 + 800) << 52);

/// What matrices are brought to Schur form in: `f64` or `Complex<f64>`.
pub trait Iterate: Scalar<Real = f64> {
    /// Brings an upper Hessenberg matrix of n rows to Schur form by similarity, and multiplies the
    /// matrix whose transpose is `z` by the transformation; without `z`, which is empty then, only the
    /// form is wanted. False if the iteration does not converge.
    fn iterate(h: &mut [Self], z: &mut [Self], n: usize) -> Result<bool, OutOfMemory>;
}

impl Iterate for f64 {
    fn iterate(h: &mut [Self], z: &mut [Self], n: usize) -> Result<bool, OutOfMemory> {
        Ok(real::iterate(h, z, n))
    }
}

impl Iterate for Complex<f64> {
    fn iterate(h: &mut [Self], z: &mut [Self], n: usize) -> Result<bool, OutOfMemory> {
        complex::iterate(h, z, n)
    }
}

/// The kernel of `schur` on a batch of `n × n` matrices: the Schur form T, and with vectors the unitary
/// Z of `A = Z T Zᴴ`. T is upper triangular, but for the 2 × 2 blocks in LAPACK's standard form that
/// conjugate pairs of eigenvalues of real matrices have. A matrix that is not finite gives NaN.
pub struct Schur<T> {
    batch: usize,
    n: usize,
    vectors: bool,
    element: PhantomData<fn() -> T>,
}

impl<T: Scalar<Wide: Iterate>> Schur<T> {
    /// Forms of `n × n` matrices.
    pub fn new(batch: usize, n: usize, vectors: bool) -> Self {
        Self {
            batch,
            n,
            vectors,
            element: PhantomData,
        }
    }
}

impl<T: Scalar<Wide: Iterate>> Kernel for Schur<T> {
    fn signature(&self) -> Signature {
        let a = (self.batch * self.n * self.n, size_of::<T>());
        Signature::of(&[a], &vec![a; 1 + usize::from(self.vectors)])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let n = self.n;
        if n == 0 {
            return Ok(());
        }
        let a = buffers.input::<T>(0);
        let forms = SharedSlice::new(buffers.output::<T>(0));
        let unitary = self
            .vectors
            .then(|| SharedSlice::new(buffers.output::<T>(1)));
        for_matrices(self.batch, 15 * n * n * n, context, |index| {
            let range = index * n * n..(index + 1) * n * n;
            // SAFETY: matrices of the batch are disjoint.
            let form = unsafe { forms.range(range.clone()) };
            // SAFETY: as above.
            let vectors = unitary.as_ref().map(|z| unsafe { z.range(range.clone()) });
            let found = decompose(&a[range], n, self.vectors, context)?;
            let Some(found) = found else {
                form.fill(T::NAN);
                vectors.into_iter().for_each(|z| z.fill(T::NAN));
                return Ok(());
            };
            for (to, &x) in form.iter_mut().zip(found.form()) {
                *to = T::round_from(x);
            }
            if let Some(vectors) = vectors {
                let z = found.vectors();
                for (i, row) in vectors.chunks_exact_mut(n).enumerate() {
                    for (j, to) in row.iter_mut().enumerate() {
                        *to = T::round_from(z[j * n + i]);
                    }
                }
            }
            Ok(())
        })
    }
}

/// A Schur form of n × n entries, and behind it the transpose of the unitary factor.
pub(super) struct Decomposition<F> {
    buffer: PoolBuffer,
    entries: usize,
    element: PhantomData<F>,
}

impl<F: Scalar> Decomposition<F> {
    pub(super) fn form(&self) -> &[F] {
        &self.buffer.as_slice()[..self.entries]
    }

    /// The vectors in rows, not conjugated.
    pub(super) fn vectors(&self) -> &[F] {
        &self.buffer.as_slice()[self.entries..]
    }
}

/// The decomposition in double precision, with the unitary factor if it is wanted; none of a matrix that
/// is not finite, or if the iteration does not converge.
pub(super) fn decompose<T: Scalar<Wide: Iterate>>(
    a: &[T],
    n: usize,
    vectors: bool,
    context: &Context<'_>,
) -> Result<Option<Decomposition<T::Wide>>, KernelError> {
    let mut largest: f64 = 0.0;
    for x in a {
        if !(x.re().is_finite() && x.im().is_finite()) {
            return Ok(None);
        }
        largest = largest.max(x.re().abs()).max(x.im().abs());
    }
    // Shifts are quadratic in the entries: scaled by a power of two against overflow.
    let exponent = if largest > 0.0 {
        ((largest.to_bits() >> 52) as i64 - 1023).clamp(-1000, 1000)
    } else {
        0
    };
    let power = |exponent: i64| f64::from_bits(((1023 + exponent) as u64) << 52);
    let count = if vectors { 2 * n * n } else { n * n };
    let mut buffer = PoolBuffer::for_elements::<T::Wide>(count)?;
    let (h, z) = buffer.as_mut_slice::<T::Wide>().split_at_mut(n * n);
    for (to, &x) in h.iter_mut().zip(a) {
        *to = scaled(x.widen(), power(-exponent));
    }
    let off = n.saturating_sub(1);
    let mut work = PoolBuffer::for_elements::<T::Wide>(off + 2 * n)?;
    let (taus, work) = work.as_mut_slice::<T::Wide>().split_at_mut(off);
    reduce(h, n, taus, context)?;
    if vectors {
        accumulate(h, n, taus, z, work);
    }
    for i in 2..n {
        h[i * n..i * n + i - 1].fill(T::Wide::ZERO);
    }
    if !T::Wide::iterate(h, z, n)? {
        return Ok(None);
    }
    h.iter_mut().for_each(|x| *x = scaled(*x, power(exponent)));
    Ok(Some(Decomposition {
        buffer,
        entries: n * n,
        element: PhantomData,
    }))
}

fn scaled<F: Scalar>(x: F, factor: f64) -> F {
    F::from_components(x.re() * factor, x.im() * factor)
}

/// The transpose of the product of the reflectors of a packed Hessenberg form.
fn accumulate<F: Scalar<Real: RealScalar>>(
    packed: &[F],
    n: usize,
    taus: &[F],
    z: &mut [F],
    work: &mut [F],
) {
    z.fill(F::ZERO);
    (0..n).for_each(|i| z[i * n + i] = F::ONE);
    for (k, &tau) in taus.iter().enumerate().rev() {
        let first = k + 1;
        let (v, turned) = work.split_at_mut(n);
        let v = &mut v[..n - first];
        v[0] = F::ONE;
        for (i, x) in v.iter_mut().enumerate().skip(1) {
            *x = packed[(first + i) * n + k];
        }
        // Rows and columns before the first are still those of the unit matrix.
        apply_to_rows(v, tau, &mut z[first * n..], n, turned);
    }
}
