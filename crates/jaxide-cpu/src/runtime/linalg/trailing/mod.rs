//! What reductions to condensed forms do with the part of a matrix that is left: one pass over it.
//!
//! A reflector from either side, or one from both, changes a matrix by a product of rank two, and the next one
//! needs products of the new matrix with vectors. So each row is read and written once for `X -= a bᵀ + c dᵀ`,
//! the sum `qᴴ X` of rows and the products `X y`, two rows at a time (G. W. Howell et al., *Cache efficient
//! bidiagonalization using BLAS 2.5 operators*, 2008).
//!
//! Complex rows are worked on as rows of components: a number times a row is its real part times the row and its
//! imaginary part times i times the row, so that what belongs to columns is there twice.

mod rows;

use std::ops::Range;

use super::scalar::{RealScalar, Scalar};
use crate::runtime::shared::SharedSlice;
use crate::runtime::{Context, KernelError, PoolBuffer};
use rows::{Sums, multiply_complex, multiply_real, update_complex, update_real};

/// Rows that one chunk updates.
const ROWS: usize = 64;

/// Chunks that so many rows are updated in.
fn chunks(rows: usize) -> usize {
    if rows >= 4 * ROWS {
        rows.div_ceil(ROWS)
    } else {
        1
    }
}

/// The vectors of a pass.
pub(super) struct Trailing<T> {
    buffer: PoolBuffer,
    rows: usize,
    columns: usize,
    element: std::marker::PhantomData<T>,
}

/// Parts of [`Trailing`], as they stand in memory: of each row, and of each column.
pub(super) struct Parts<'a, T> {
    /// What a row is updated with.
    pub(super) a: &'a mut [T],
    pub(super) c: &'a mut [T],
    /// The vector that rows are summed with, conjugated.
    pub(super) q: &'a mut [T],
    /// The products of rows with y.
    pub(super) products: &'a mut [T],
    pub(super) b: &'a mut [T],
    pub(super) d: &'a mut [T],
    /// The conjugate of y: products of components with it, and with it times i, are the parts of products.
    pub(super) y: &'a mut [T],
    /// The sum of rows.
    pub(super) sum: &'a mut [T],
}

impl<T: Scalar<Real: RealScalar>> Trailing<T> {
    /// Zeros for a matrix of this shape.
    pub(super) fn new(rows: usize, columns: usize) -> Result<Self, KernelError> {
        let entries = 4 * rows + (7 + 2 * chunks(rows)) * columns;
        let mut buffer = PoolBuffer::for_elements::<T>(entries)?;
        buffer.as_mut_slice::<T>().fill(T::ZERO);
        Ok(Self {
            buffer,
            rows,
            columns,
            element: std::marker::PhantomData,
        })
    }

    /// All of them.
    pub(super) fn parts(&mut self) -> Parts<'_, T> {
        let (of_rows, of_columns) = self.buffer.as_mut_slice().split_at_mut(4 * self.rows);
        let [a, c, q, products] = split(of_rows, self.rows);
        let [b, d, y, sum] = split(of_columns, self.columns);
        Parts {
            a,
            c,
            q,
            products,
            b,
            d,
            y,
            sum,
        }
    }

    /// Updates the entries of a dense matrix of this many columns from a row and a column on, and sums the rows, and if
    /// asked for multiplies them. Sums of rows do not depend on the number of threads.
    pub(super) fn pass(
        &mut self,
        matrix: &mut [T],
        (row, column): (usize, usize),
        multiply: bool,
        context: &Context<'_>,
    ) {
        let (rows, n) = (self.rows, self.columns);
        let (of_rows, rest) = self.buffer.as_mut_slice::<T>().split_at_mut(4 * rows);
        let [a, c, q, products] = split(of_rows, rows);
        let (of_columns, rest) = rest.split_at_mut(4 * n);
        let [b, d, y, total] = split(of_columns, n);
        let (turned, sums) = rest.split_at_mut(3 * n);
        if T::COMPLEX {
            for (to, from) in turned.chunks_exact_mut(n).zip([&*b, &*d, &*y]) {
                for (to, &from) in to.iter_mut().zip(from) {
                    *to = times_i(from);
                }
            }
        }
        let [ib, id, iy] = split(turned, n);
        let (count, width) = (rows - row, n - column);
        let chunks = chunks(count);
        let sums = &mut sums[..2 * chunks * width];
        let columns = [&*b, &*d, &*y, &*ib, &*id, &*iy].map(|x| components(&x[column..]));
        let factors = [&*a, &*c, &*q].map(|x| components(&x[row..]));
        {
            let shared = SharedSlice::new(&mut matrix[row * n..]);
            let shared_sums = SharedSlice::new(&mut *sums);
            let products = SharedSlice::new(&mut products[row..]);
            context.parallel_for(chunks, |chunk| {
                let rows = rows_of(chunk, chunks, count);
                // SAFETY: rows, their products and sums belong to one chunk.
                let (matrix, sums, products) = unsafe {
                    (
                        shared.range(rows.start * n..rows.end * n),
                        shared_sums.range(2 * chunk * width..2 * (chunk + 1) * width),
                        products.range(rows.clone()),
                    )
                };
                sums.fill(T::ZERO);
                let (along, across) = sums.split_at_mut(width);
                let mut to = Sums {
                    along: components_mut(along),
                    across: components_mut(across),
                    products: components_mut(products),
                };
                let matrix = components_mut(matrix);
                let size = size_of::<T>() / size_of::<T::Real>();
                let place = (size * n, size * column);
                let factors = factors.map(|x| &x[size * rows.start..size * rows.end]);
                if T::COMPLEX {
                    update_complex(matrix, place, &factors, &columns, &mut to, multiply);
                } else {
                    update_real(matrix, place, &factors, &columns, &mut to, multiply);
                }
            });
        }
        let total = &mut total[column..];
        for (j, total) in total.iter_mut().enumerate() {
            *total = T::ZERO;
            for chunk in 0..chunks {
                *total = *total + sums[2 * chunk * width + j];
                if T::COMPLEX {
                    *total = *total + times_i(sums[(2 * chunk + 1) * width + j]);
                }
            }
        }
    }

    /// Multiplies the entries of a dense matrix of this many columns, from a row and a column on, with y.
    pub(super) fn multiply(
        &mut self,
        matrix: &[T],
        (row, column): (usize, usize),
        context: &Context<'_>,
    ) {
        let (rows, n) = (self.rows, self.columns);
        let (of_rows, rest) = self.buffer.as_mut_slice::<T>().split_at_mut(4 * rows);
        let [.., products] = split::<_, 4>(of_rows, rows);
        let [_, _, y, _, turned] = split(rest, n);
        if T::COMPLEX {
            for (to, &from) in turned.iter_mut().zip(&*y) {
                *to = times_i(from);
            }
        }
        let size = size_of::<T>() / size_of::<T::Real>();
        let vectors = [&*y, &*turned].map(|y| components(&y[column..]));
        let count = rows - row;
        let chunks = chunks(count);
        let products = SharedSlice::new(&mut products[row..]);
        context.parallel_for(chunks, |chunk| {
            let rows = rows_of(chunk, chunks, count);
            // SAFETY: products belong to one chunk.
            let products = components_mut(unsafe { products.range(rows.clone()) });
            let matrix = components(&matrix[(row + rows.start) * n..(row + rows.end) * n]);
            let place = (size * n, size * column);
            if T::COMPLEX {
                multiply_complex(matrix, place, &vectors, products);
            } else {
                multiply_real(matrix, place, vectors[0], products);
            }
        });
    }
}

/// The rows of a chunk.
fn rows_of(chunk: usize, chunks: usize, count: usize) -> Range<usize> {
    if chunks == 1 {
        0..count
    } else {
        chunk * ROWS..count.min((chunk + 1) * ROWS)
    }
}

/// The first N slices of n entries.
fn split<T, const N: usize>(slice: &mut [T], n: usize) -> [&mut [T]; N] {
    let mut rest = slice;
    std::array::from_fn(|_| {
        let (first, others) = std::mem::take(&mut rest).split_at_mut(n);
        rest = others;
        first
    })
}

/// The components of numbers.
fn components<T: Scalar<Real: RealScalar>>(numbers: &[T]) -> &[T::Real] {
    bytemuck::cast_slice(numbers)
}

/// The components of numbers, for writing.
fn components_mut<T: Scalar<Real: RealScalar>>(numbers: &mut [T]) -> &mut [T::Real] {
    bytemuck::cast_slice_mut(numbers)
}

/// `i x`.
fn times_i<T: Scalar>(x: T) -> T {
    T::from_components(-x.im(), x.re())
}
