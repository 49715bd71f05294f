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
        let done = for_blocks(
            self.batch,
            entries,
            MOST_BYTES,
            work,
            context,
            |first, lanes| {
                let range = first * n * n..(first + LANES) * n * n;
                // SAFETY: matrices of the batch are disjoint.
                let l = unsafe { out.range(range.clone()) };
                factor_lanes(&a[range], l, n, lanes);
            },
        )?;
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

/// Bytes of a matrix up to which factors are computed side by side.
const MOST_BYTES: usize = 1 << 14;
/// Columns that are factored at a time.
const BLOCK: usize = 64;
/// Entries of a row that are updated together.
const CHUNK: usize = 16;

/// Factors the lower triangle in place, the upper one being zero; false if it is not positive
/// definite. Block columns from left to right, each updated at once with all columns before it.
fn factor<T: Scalar>(l: &mut [T], n: usize, context: &Context<'_>) -> Result<bool, KernelError> {
    let mut columns = PoolBuffer::for_elements::<T>(n * BLOCK.min(n.next_multiple_of(CHUNK)))?;
    for start in (0..n).step_by(BLOCK) {
        let size = BLOCK.min(n - start);
        let rows = n - start;
        // Rows of whole chunks, in which what lies behind the columns means nothing.
        let width = size.next_multiple_of(CHUNK);
        let columns = &mut columns.as_mut_slice::<T>()[..rows * width];
        let place = |row: usize| (start + row) * n + start;
        for (i, to) in columns.chunks_exact_mut(width).enumerate() {
            to[..size].copy_from_slice(&l[place(i)..place(i) + size]);
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
                row: width as isize,
                column: 1,
            };
            // SAFETY: `rows` rows and `start` columns of `l`, as many of the first `size` of these
            // rows, and the separate buffer of `rows × size`.
            unsafe { subtract((rows, size, start), a, b, c, context)? };
        }
        let (diagonal, below) = columns.split_at_mut(size * width);
        let mut positive = false;
        factor_block(diagonal, (size, width), &mut positive);
        if !positive {
            return Ok(false);
        }
        let conjugate = conjugated(diagonal)?;
        let triangle = conjugate.as_ref().map_or(&*diagonal, PoolBuffer::as_slice);
        let triangle = Matrix {
            pointer: triangle.as_ptr(),
            row: width as isize,
            column: 1,
        };
        let unknown = MatrixMut {
            pointer: below.as_mut_ptr(),
            row: 1,
            column: width as isize,
        };
        // SAFETY: `X Dᴴ = B`, transposed: the conjugate of the diagonal block and the rows below
        // it.
        unsafe { solve_lower((size, rows - size), triangle, false, unknown, context)? };
        for (i, from) in columns.chunks_exact(width).enumerate() {
            let count = size.min(i + 1);
            l[place(i)..place(i) + count].copy_from_slice(&from[..count]);
        }
    }
    Ok(true)
}

for_each_isa! {
    /// Factors `n × n` entries in place, in rows of a width that is a multiple of [`CHUNK`]; what the
    /// upper triangle holds then means nothing.
    fn factor_block<T: Scalar>(a: &mut [T], shape: (usize, usize), positive: &mut bool) = factor_block_any
}

#[inline(always)]
fn factor_block_any<T: Scalar>(a: &mut [T], (n, width): (usize, usize), positive: &mut bool) {
    let mut column = [T::ZERO; BLOCK];
    for j in 0..n {
        let pivot = a[j * width + j].re();
        if pivot.is_nan() || pivot <= 0.0 {
            *positive = false;
            return;
        }
        let root = T::from_components(pivot.sqrt(), 0.0);
        a[j * width + j] = root;
        for i in j + 1..n {
            column[i] = a[i * width + j];
        }
        T::divide(&mut column[j + 1..n], root);
        // Whole chunks are updated, whatever their last entries are: those before the column are
        // multiplied by zeros, those behind the diagonal are not read.
        column[j] = T::ZERO;
        let (first, columns) = ((j + 1) / CHUNK, column.as_chunks::<CHUNK>().0);
        for i in j + 1..n {
            let factor = column[i];
            let row = &mut a[i * width..][..width];
            let chunks = row.as_chunks_mut::<CHUNK>().0;
            for chunk in first..=i / CHUNK {
                let (mut new, y) = (chunks[chunk], columns[chunk]);
                for lane in 0..CHUNK {
                    new[lane] = new[lane] - factor * y[lane].conj();
                }
                chunks[chunk] = new;
            }
            // Last, so that no vector is read from where a part of it was just written.
            row[j] = factor;
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
        let root = &mut lanes[j * n + j];
        for (root, positive) in root.iter_mut().zip(&mut positive) {
            let pivot = root.re();
            // Not the negation of `<=`: NaN is not positive.
            *positive &= pivot > 0.0;
            *root = T::from_components(pivot.sqrt(), 0.0);
        }
        let root = *root;
        for i in j + 1..n {
            let (above, row) = lanes.split_at_mut(i * n);
            let mut factor = row[j];
            for (x, &root) in factor.iter_mut().zip(root.iter()) {
                *x = x.divided(root);
            }
            row[j] = factor;
            let others = above[j..].iter().step_by(n).skip(j + 1);
            for (x, other) in row[j + 1..i].iter_mut().zip(others) {
                subtract_product(x, &factor, &other.conj());
            }
            subtract_product(&mut row[i], &factor, &factor.conj());
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
