//! Small matrices of a batch side by side, one in each lane of vectors.
//!
//! A matrix of a few rows does not fill vectors, and calls cost more than its arithmetic. So blocks of
//! [`LANES`] matrices are laid out with their first entries together, then their second ones, and
//! factored together. The operations are those of one matrix alone, in the same order, so that results
//! have the same bits wherever a matrix stands in its batch.

use std::ops::{Deref, DerefMut, Range};

use bytemuck::{Pod, Zeroable};

use super::scalar::Scalar;
use super::{PoolBuffer, for_matrices};
use crate::runtime::{Context, KernelError};

/// Matrices in a block.
pub(super) const LANES: usize = 16;

/// Bytes of a matrix up to which a block of them stays in the first-level cache.
pub(super) const NEAR: usize = 1 << 11;

/// One entry of each matrix, aligned as the widest vectors are.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Entries<T>(pub(super) [T; LANES]);

impl<T: Scalar> Entries<T> {
    pub(super) const ZERO: Self = Self([T::ZERO; LANES]);

    /// The complex conjugates.
    #[inline(always)]
    pub(super) fn conj(mut self) -> Self {
        if T::COMPLEX {
            for x in &mut self.0 {
                *x = x.conj();
            }
        }
        self
    }
}

impl<T> Deref for Entries<T> {
    type Target = [T; LANES];

    #[inline(always)]
    fn deref(&self) -> &[T; LANES] {
        &self.0
    }
}

impl<T> DerefMut for Entries<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T; LANES] {
        &mut self.0
    }
}

// SAFETY: an array of numbers, all of which may be zero.
unsafe impl<T: Scalar> Zeroable for Entries<T> {}
// SAFETY: an array of plain numbers; scalars have four bytes or more, so that sixteen of them fill
// the alignment and nothing is left between or behind them.
unsafe impl<T: Scalar> Pod for Entries<T> {}

/// Runs `block(first matrix, working memory)` for each whole block of a batch whose matrices have
/// `entries` entries in all and take about `work` multiply-adds; returns the number of matrices in
/// these blocks. There are none where matrices have more than `most_bytes`: they are too large to
/// gain.
pub(super) fn for_blocks<T: Scalar>(
    batch: usize,
    entries: usize,
    most_bytes: usize,
    work: usize,
    context: &Context<'_>,
    block: impl Fn(usize, &mut [Entries<T>]) + Sync,
) -> Result<usize, KernelError> {
    let blocks = if entries * size_of::<T>() <= most_bytes {
        batch / LANES
    } else {
        0
    };
    // Moving an entry takes as long as a few multiply-adds.
    let work = (LANES * (work + 4 * entries)).max(1);
    for_matrices(blocks, work, context, |index| {
        let mut buffer = PoolBuffer::for_elements::<Entries<T>>(entries)?;
        block(index * LANES, buffer.as_mut_slice());
        Ok(())
    })?;
    Ok(blocks * LANES)
}

/// Runs `block(matrices of it, working memory)` for all matrices of a batch in blocks, the last of
/// which may have fewer than [`LANES`].
pub(super) fn for_all<T: Scalar>(
    batch: usize,
    entries: usize,
    work: usize,
    context: &Context<'_>,
    block: impl Fn(Range<usize>, &mut [Entries<T>]) -> Result<(), KernelError> + Sync,
) -> Result<(), KernelError> {
    let work = (LANES * (work + 4 * entries)).max(1);
    for_matrices(batch.div_ceil(LANES), work, context, |index| {
        let mut buffer = PoolBuffer::for_elements::<Entries<T>>(entries)?;
        let first = index * LANES;
        block(first..batch.min(first + LANES), buffer.as_mut_slice())
    })
}

/// Lays matrices of `to.len()` entries that follow one another side by side; the last of them is in
/// all lanes that are left.
#[inline(always)]
pub(super) fn gather<T: Scalar>(from: &[T], to: &mut [Entries<T>]) {
    let len = to.len();
    let last = (from.len() / len.max(1)).saturating_sub(1);
    let matrices: [&[T]; LANES] = std::array::from_fn(|lane| &from[lane.min(last) * len..][..len]);
    for (i, to) in to.iter_mut().enumerate() {
        for lane in 0..LANES {
            to[lane] = matrices[lane][i];
        }
    }
}

/// The inverse of [`gather`].
#[inline(always)]
pub(super) fn scatter<T: Scalar>(from: &[Entries<T>], to: &mut [T]) {
    let len = from.len();
    for (lane, to) in to.chunks_exact_mut(len).enumerate() {
        for (to, from) in to.iter_mut().zip(from) {
            *to = from[lane];
        }
    }
}

/// `x -= a b` in each lane.
#[inline(always)]
pub(super) fn subtract_product<T: Scalar>(x: &mut Entries<T>, a: &Entries<T>, b: &Entries<T>) {
    // No instruction, but loops around this one are not made vectors of several entries, which would be gathered lane by lane.
    std::hint::black_box(());
    let (mut new, a, b) = (*x, *a, *b);
    for lane in 0..LANES {
        new[lane] = new[lane] - a[lane] * b[lane];
    }
    *x = new;
}

#[cfg(test)]
mod tests {
    use jaxide_core::eval::numerics::linalg::TriangularSolve as Options;
    use num_complex::Complex;

    use super::*;
    use crate::runtime::linalg::{Cholesky, Lu, RealScalar, TriangularSolve, TridiagonalSolve};
    use crate::runtime::simd::Isa;
    use crate::runtime::{Kernel, KernelCall, ThreadPool};

    /// Two blocks and some matrices behind them.
    const BATCH: usize = 2 * LANES + 3;

    fn entry<T: Scalar>(i: usize) -> T {
        let part = |i: usize| ((i as f64 + 0.5) * 12.9898).sin() * 437.585 % 1.0;
        T::from_components(part(2 * i), part(2 * i + 1))
    }

    /// The results of a kernel, each in bytes.
    fn run<K: Kernel + 'static>(kernel: K, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
        let call = KernelCall::new(kernel);
        let sizes = call.signature().outputs.clone();
        let mut out: Vec<Vec<u128>> = sizes.iter().map(|b| vec![0; b.div_ceil(16)]).collect();
        let mut slices: Vec<&mut [u8]> = out
            .iter_mut()
            .zip(&sizes)
            .map(|(out, &bytes)| &mut bytemuck::cast_slice_mut(out)[..bytes])
            .collect();
        // On this thread, where the instruction set is assumed.
        let context = Context::new(ThreadPool::global(), 1);
        call.call(inputs, &mut slices, &context).unwrap();
        slices.into_iter().map(|out| out.to_vec()).collect()
    }

    /// Checks that every matrix of a batch has the results that it has alone. Bits are compared, except
    /// those of NaN.
    fn check<T: Scalar, K: Kernel + 'static>(make: impl Fn(usize) -> K, inputs: &[Vec<T>]) {
        let bytes: Vec<&[u8]> = inputs.iter().map(|x| bytemuck::cast_slice(x)).collect();
        let all = run(make(BATCH), &bytes);
        for index in 0..BATCH {
            let one: Vec<Vec<T>> = inputs
                .iter()
                .map(|x| x[x.len() / BATCH * index..x.len() / BATCH * (index + 1)].to_vec())
                .collect();
            let bytes: Vec<&[u8]> = one.iter().map(|x| bytemuck::cast_slice(x)).collect();
            for (k, (one, all)) in run(make(1), &bytes).iter().zip(&all).enumerate() {
                let all = &all[one.len() * index..one.len() * (index + 1)];
                if k > 0 {
                    assert_eq!(one, all, "pivots of matrix {index}");
                    continue;
                }
                let numbers = |bytes: &[u8]| -> Vec<T> {
                    let entries = bytes.chunks_exact(size_of::<T>());
                    entries.map(bytemuck::pod_read_unaligned).collect()
                };
                for (x, y) in numbers(one).into_iter().zip(numbers(all)) {
                    let bits = |x: f64| if x.is_nan() { 0 } else { x.to_bits() };
                    let bits = |x: T| (bits(x.re()), bits(x.im()));
                    assert_eq!(
                        bits(x),
                        bits(y),
                        "matrix {index}: {x:?} alone, {y:?} in the batch"
                    );
                }
            }
        }
    }

    fn check_type<T: Scalar<Real: RealScalar>>() {
        for n in [1, 2, 3, 8, 11, 15, 16, 17, 22, 23] {
            let mut a: Vec<T> = (0..BATCH * n * n).map(entry).collect();
            for (index, a) in a.chunks_exact_mut(n * n).enumerate() {
                for i in 0..n {
                    let diagonal = T::from_components(n as f64 + 1.0, 0.0);
                    a[i * n + i] = a[i * n + i] + diagonal;
                }
                // Some that are not positive definite, singular, or no numbers.
                match index % 7 {
                    2 => a[n * n - 1] = T::from_components(-1.0, 0.0),
                    3 => a.fill(T::ZERO),
                    4 => a[n * n / 2] = T::NAN,
                    5 => a[0] = T::ZERO,
                    _ => {}
                }
            }
            let b: Vec<T> = (0..BATCH * n * 3).map(|i| entry(i + 777)).collect();
            check(
                |batch| Cholesky::<T>::new(batch, n),
                std::slice::from_ref(&a),
            );
            check(|batch| Lu::<T>::new(batch, n, n), std::slice::from_ref(&a));
            check(|batch| Lu::<T>::new(batch, n, 3), std::slice::from_ref(&b));
            check(|batch| Lu::<T>::new(batch, 3, n), std::slice::from_ref(&b));
            for flags in 0..16 {
                let options = Options {
                    left_side: flags & 1 > 0,
                    lower: flags & 2 > 0,
                    transpose_a: flags & 4 > 0,
                    conjugate_a: flags & 4 > 0,
                    unit_diagonal: flags & 8 > 0,
                };
                let (rows, columns) = if options.left_side { (n, 3) } else { (3, n) };
                let make = |batch| TriangularSolve::<T>::new(batch, rows, columns, options);
                check(make, &[a.clone(), b.clone()]);
            }
            check_tridiagonal(n, &a);
        }
    }

    /// Rows are exchanged or not, pivots are zero or no numbers.
    fn check_tridiagonal<T: Scalar<Real: RealScalar>>(n: usize, a: &[T]) {
        let diagonal = |salt: usize| -> Vec<T> {
            let mut entries: Vec<T> = (0..BATCH * n).map(|i| entry(i + salt)).collect();
            for (index, entries) in entries.chunks_exact_mut(n).enumerate() {
                match (index + salt) % 7 {
                    2 => entries[n / 2] = T::ZERO,
                    3 => entries.fill(T::ZERO),
                    4 => entries[n - 1] = a[n * n / 2 + 4 * n * n],
                    _ => {}
                }
            }
            entries
        };
        for (k, salt) in [(1, 0), (1, 1), (3, 2), (0, 3)] {
            let diagonals = [5, 6, 7].map(|more| diagonal(salt + more));
            let b: Vec<T> = (0..BATCH * n * k).map(|i| entry(i + 99)).collect();
            let [lower, main, upper] = diagonals;
            let make = |batch| TridiagonalSolve::<T>::new(batch, n, k, false);
            check(make, &[lower, main, upper, b]);
        }
    }

    #[test]
    fn every_matrix_of_a_batch_has_the_results_that_it_has_alone() {
        for isa in Isa::available() {
            isa.assumed_in(|| {
                check_type::<f32>();
                check_type::<f64>();
            });
        }
        check_type::<Complex<f32>>();
        check_type::<Complex<f64>>();
    }
}
