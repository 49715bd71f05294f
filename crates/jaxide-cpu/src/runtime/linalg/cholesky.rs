//! The Cholesky factorisation.

use super::scalar::Scalar;
use super::side_by_side::{Entries, LANES, for_blocks, gather, scatter, subtract_product};
use super::triangular::solve_lower;
use super::{conjugated, for_matrices};
use crate::runtime::matmul::{Matrix, MatrixMut, subtract};
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

/// The kernel of `cholesky`: the lower triangular L with `A = L Lᴴ` for each matrix of a batch.
///
/// The strictly upper triangle of A is not read, that of L is zero. A matrix that is not positive
/// definite gives NaN in every entry.
pub struct Cholesky<T> {
    batch: usize,
    n: usize,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Scalar> Cholesky<T> {
    /// Factors of `n × n` matrices.
    pub fn new(batch: usize, n: usize) -> Self {
        Self {
            batch,
            n,
            element: std::marker::PhantomData,
        }
    }
}

impl<T: Scalar> Kernel for Cholesky<T> {
    fn signature(&self) -> Signature {
        let operand = (self.batch * self.n * self.n, size_of::<T>());
        Signature::of(&[operand], &[operand])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (a, out) = (buffers.input::<T>(0), buffers.output::<T>(0));
        let n = self.n;
        if n == 0 {
            return Ok(());
        }
        let out = SharedSlice::new(out);
        let (entries, work) = (n * n, n * n * n / 3);
        let done = for_blocks(self.batch, entries, work, context, |first, lanes| {
            let range = first * n * n..(first + LANES) * n * n;
            // SAFETY: matrices of the batch are disjoint.
            let l = unsafe { out.range(range.clone()) };
            factor_lanes(&a[range], l, n, lanes);
        })?;
        for_matrices(self.batch - done, work, context, |index| {
            let index = done + index;
            let range = index * n * n..(index + 1) * n * n;
            // SAFETY: matrices of the batch are disjoint.
            let l = unsafe { out.range(range.clone()) };
            for (i, (to, from)) in l
                .chunks_exact_mut(n)
                .zip(a[range].chunks_exact(n))
                .enumerate()
            {
                to[..=i].copy_from_slice(&from[..=i]);
                to[i + 1..].fill(T::ZERO);
            }
            if !factor(l, n, context)? {
                l.fill(T::NAN);
            }
            Ok(())
        })
    }
}

/// Columns that are factored at a time.
const BLOCK: usize = 64;

/// Factors the lower triangle in place, the upper one being zero; false if it is not positive
/// definite. Block columns from left to right, each updated at once with all columns before it.
fn factor<T: Scalar>(l: &mut [T], n: usize, context: &Context<'_>) -> Result<bool, KernelError> {
    let mut columns = PoolBuffer::for_elements::<T>(n * BLOCK.min(n))?;
    for start in (0..n).step_by(BLOCK) {
        let size = BLOCK.min(n - start);
        let rows = n - start;
        let columns = &mut columns.as_mut_slice::<T>()[..rows * size];
        let place = |row: usize| (start + row) * n + start;
        for (i, to) in columns.chunks_exact_mut(size).enumerate() {
            to.copy_from_slice(&l[place(i)..place(i) + size]);
        }
        if start > 0 {
            let left = &l[start * n..];
            let conjugate = conjugated(&left[..size * n])?;
            let adjoint = conjugate.as_ref().map_or(left, PoolBuffer::as_slice);
            let a = Matrix {
                pointer: left.as_ptr(),
                row: n as isize,
                column: 1,
            };
            let b = Matrix {
                pointer: adjoint.as_ptr(),
                row: 1,
                column: n as isize,
            };
            let c = MatrixMut {
                pointer: columns.as_mut_ptr(),
                row: size as isize,
                column: 1,
            };
            // SAFETY: `rows` rows and `start` columns of `l`, as many of the first `size` of these
            // rows, and the separate buffer of `rows × size`.
            unsafe { subtract((rows, size, start), a, b, c, context)? };
        }
        let (diagonal, below) = columns.split_at_mut(size * size);
        let mut positive = false;
        factor_block(diagonal, size, &mut positive);
        if !positive {
            return Ok(false);
        }
        let conjugate = conjugated(diagonal)?;
        let triangle = conjugate.as_ref().map_or(&*diagonal, PoolBuffer::as_slice);
        let triangle = Matrix {
            pointer: triangle.as_ptr(),
            row: size as isize,
            column: 1,
        };
        let unknown = MatrixMut {
            pointer: below.as_mut_ptr(),
            row: 1,
            column: size as isize,
        };
        // SAFETY: `X Dᴴ = B`, transposed: the conjugate of the diagonal block and the rows below
        // it.
        unsafe { solve_lower((size, rows - size), triangle, false, unknown, context)? };
        for (i, from) in columns.chunks_exact(size).enumerate() {
            let count = size.min(i + 1);
            l[place(i)..place(i) + count].copy_from_slice(&from[..count]);
        }
    }
    Ok(true)
}

for_each_isa! {
    /// Factors one small dense matrix in place; its upper triangle is left as it is.
    fn factor_block<T: Scalar>(a: &mut [T], n: usize, positive: &mut bool) = factor_block_any
}

#[inline(always)]
fn factor_block_any<T: Scalar>(a: &mut [T], n: usize, positive: &mut bool) {
    let mut column = [T::ZERO; BLOCK];
    for j in 0..n {
        let pivot = a[j * n + j].re();
        if pivot.is_nan() || pivot <= 0.0 {
            *positive = false;
            return;
        }
        let root = T::from_components(pivot.sqrt(), 0.0);
        a[j * n + j] = root;
        for i in j + 1..n {
            column[i] = a[i * n + j];
        }
        T::divide(&mut column[j + 1..n], root);
        for i in j + 1..n {
            let factor = column[i];
            let row = &mut a[i * n..=i * n + i];
            row[j] = factor;
            for (x, &y) in row[j + 1..].iter_mut().zip(&column[j + 1..=i]) {
                *x = *x - factor * y.conj();
            }
        }
    }
    *positive = true;
}

for_each_isa! {
    /// Factors matrices of a block side by side.
    fn factor_lanes<T: Scalar>(a: &[T], l: &mut [T], n: usize, lanes: &mut [Entries<T>]) = factor_lanes_any
}

#[inline(always)]
fn factor_lanes_any<T: Scalar>(a: &[T], l: &mut [T], n: usize, lanes: &mut [Entries<T>]) {
    gather(a, lanes);
    let mut positive = [true; LANES];
    for j in 0..n {
        let mut root = lanes[j * n + j];
        for (root, positive) in root.iter_mut().zip(&mut positive) {
            let pivot = root.re();
            // Not the negation of `<=`: NaN is not positive.
            *positive &= pivot > 0.0;
            *root = T::from_components(pivot.sqrt(), 0.0);
        }
        lanes[j * n + j] = root;
        for i in j + 1..n {
            for (x, &root) in lanes[i * n + j].iter_mut().zip(&root) {
                *x = x.divided(root);
            }
            let factor = lanes[i * n + j];
            for k in j + 1..=i {
                let other = lanes[k * n + j].map(T::conj);
                subtract_product(&mut lanes[i * n + k], &factor, &other);
            }
        }
    }
    scatter(lanes, l);
    for (l, positive) in l.chunks_exact_mut(n * n).zip(positive) {
        if positive {
            for (i, row) in l.chunks_exact_mut(n).enumerate() {
                row[i + 1..].fill(T::ZERO);
            }
        } else {
            l.fill(T::NAN);
        }
    }
}
