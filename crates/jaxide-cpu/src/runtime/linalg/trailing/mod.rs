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
use rows::{Sums, update_complex, update_real};
pub(super) use rows::{dots, multiply_complex, multiply_real};

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Updates, and sums the rows.
    Sum,
    /// And multiplies the rows.
    Multiply,
    /// The same with the entries on and above the diagonal only, where it begins at a row and the column of the same number.
    Triangle,
}

/// Takes slices of so many entries off the front of one. No closures of arrays, which are calls that cost more than what small
/// matrices need.
macro_rules! split {
    ($slice:expr, $n:expr => $($part:ident)+) => {
        let rest: &mut [_] = $slice;
        $(let ($part, rest) = rest.split_at_mut($n);)+
        let _ = rest;
    };
}

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
        split!(of_rows, self.rows => a c q products);
        split!(of_columns, self.columns => b d y sum);
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

    /// Updates the entries of a dense matrix of this many columns from a row and a column on. Sums of rows do not depend on the
    /// number of threads.
    pub(super) fn pass(
        &mut self,
        matrix: &mut [T],
        (row, column): (usize, usize),
        pass: Pass,
        context: &Context<'_>,
    ) {
        let (rows, n) = (self.rows, self.columns);
        let (of_rows, rest) = self.buffer.as_mut_slice::<T>().split_at_mut(4 * rows);
        split!(of_rows, rows => a c q products);
        let (of_columns, rest) = rest.split_at_mut(4 * n);
        split!(of_columns, n => b d y total);
        let (turned, sums) = rest.split_at_mut(3 * n);
        if T::COMPLEX {
            for (to, from) in turned.chunks_exact_mut(n).zip([&*b, &*d, &*y]) {
                for (to, &from) in to.iter_mut().zip(from) {
                    *to = times_i(from);
                }
            }
        }
        split!(turned, n => ib id iy);
        let (count, width) = (rows - row, n - column);
        let chunks = chunks(count);
        let sums = &mut sums[..2 * chunks * width];
        let columns = [
            components(&b[column..]),
            components(&d[column..]),
            components(&y[column..]),
            components(&ib[column..]),
            components(&id[column..]),
            components(&iy[column..]),
        ];
        let factors = [
            components(&a[row..]),
            components(&c[row..]),
            components(&q[row..]),
        ];
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
                let before = (row + rows.start) * n;
                let place = (size * n, size * column, size * before);
                let of_rows = |x: usize| &factors[x][size * rows.start..size * rows.end];
                let factors = [of_rows(0), of_rows(1), of_rows(2)];
                let diagonal = (pass == Pass::Triangle).then_some(size * rows.start);
                let way = (pass != Pass::Sum, diagonal);
                if T::COMPLEX {
                    update_complex(matrix, place, &factors, &columns, &mut to, way);
                } else {
                    update_real(matrix, place, &factors, &columns, &mut to, way);
                }
                if pass == Pass::Triangle {
                    let corners = Corners::<T> {
                        matrix: bytemuck::cast_slice_mut(matrix),
                        n,
                        first: column,
                        rows: rows.clone(),
                    };
                    corners.update(
                        factors.map(bytemuck::cast_slice),
                        columns.map(bytemuck::cast_slice),
                        bytemuck::cast_slice_mut(to.along),
                        bytemuck::cast_slice_mut(to.products),
                    );
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
        let products = &mut of_rows[3 * rows..];
        split!(&mut rest[2 * n..], n => y _sum turned);
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

/// The entries of a triangle that pairs of rows do not have in common: those on the diagonal, and the one beside the first of each pair.
struct Corners<'a, T> {
    /// Rows of n entries.
    matrix: &'a mut [T],
    n: usize,
    /// The column that the pass begins at.
    first: usize,
    /// Which rows of the pass these are.
    rows: Range<usize>,
}

impl<T: Scalar> Corners<'_, T> {
    /// What a pass does, entry by entry.
    fn update(
        self,
        [a, c, q]: [&[T]; 3],
        [b, d, y, ..]: [&[T]; 6],
        sums: &mut [T],
        products: &mut [T],
    ) {
        let Self {
            matrix,
            n,
            first,
            rows,
        } = self;
        for k in 0..rows.len() {
            let diagonal = rows.start + k;
            let row = &mut matrix[k * n + first..(k + 1) * n];
            let mut entry = |j: usize| {
                let x = row[j] - (a[k] * b[j] + c[k] * d[j]);
                row[j] = x;
                x
            };
            // The products of a pair's rows with what is behind are there.
            let mut product = products[k];
            // What is given of y is its conjugate.
            product = product + entry(diagonal) * y[diagonal].conj();
            if k % 2 == 0 && k + 1 < rows.len() {
                let x = entry(diagonal + 1);
                product = product + x * y[diagonal + 1].conj();
                sums[diagonal + 1] = sums[diagonal + 1] + q[k].conj() * x;
            }
            products[k] = product;
        }
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

/// The components of numbers.
pub(super) fn components<T: Scalar<Real: RealScalar>>(numbers: &[T]) -> &[T::Real] {
    bytemuck::cast_slice(numbers)
}

/// The components of numbers, for writing.
pub(super) fn components_mut<T: Scalar<Real: RealScalar>>(numbers: &mut [T]) -> &mut [T::Real] {
    bytemuck::cast_slice_mut(numbers)
}

/// `i x`.
pub(super) fn times_i<T: Scalar>(x: T) -> T {
    T::from_components(-x.im(), x.re())
}
