//! What reductions to condensed forms do with the part of a matrix that is left: one pass over it.
//!
//! A reflector from either side, or one from both, changes a matrix by a product of rank two, and the next one
//! needs products of the new matrix with vectors. So each row is read and written once for `X -= a bᵀ + c dᵀ`,
//! the sum `qᴴ X` of rows and the products `X y`, two rows at a time (G. W. Howell et al., *Cache efficient
//! bidiagonalization using BLAS 2.5 operators*, 2008).
//!
//! Complex rows are worked on as rows of components: a number times a row is its real part times the row and its
//! imaginary part times i times the row, so that what belongs to columns is there twice.

use std::ops::Range;

use super::scalar::{RealScalar, Scalar};
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Context, KernelError, PoolBuffer};

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

/// Where sums of rows go, of real parts of the factors and of imaginary ones; and the products of rows.
struct Sums<'a, R> {
    along: &'a mut [R],
    across: &'a mut [R],
    products: &'a mut [R],
}

/// Numbers that are worked on together. Loops over them are made vectors, and products of rows need as many sums.
const LANES: usize = 16;
/// Of what is left of a row.
const FEW: usize = 4;

for_each_isa! {
    /// Updates rows of n numbers, from a place in them on.
    fn update_real<R: Scalar>(
        matrix: &mut [R],
        place: (usize, usize),
        factors: &[&[R]; 3],
        columns: &[&[R]; 6],
        to: &mut Sums<'_, R>,
        multiply: bool,
    ) = update_real_any
}

#[inline(always)]
fn update_real_any<R: Scalar>(
    matrix: &mut [R],
    (n, first): (usize, usize),
    [a, c, q]: &[&[R]; 3],
    [b, d, y, ..]: &[&[R]; 6],
    to: &mut Sums<'_, R>,
    multiply: bool,
) {
    let rows = a.len();
    let own = |i: usize| [a[i], c[i], q[i]];
    let mut i = 0;
    while i + 1 < rows {
        let (x, z) = matrix[i * n..(i + 2) * n].split_at_mut(n);
        let (x, z) = (&mut x[first..], &mut z[first..]);
        let (f, g) = (own(i), own(i + 1));
        let sums = &mut *to.along;
        if multiply {
            let products = real_rows::<R, true, true>(x, z, f, g, b, d, y, sums);
            to.products[i..i + 2].copy_from_slice(&products);
        } else {
            real_rows::<R, true, false>(x, z, f, g, b, d, y, sums);
        }
        i += 2;
    }
    if i < rows {
        let (x, f, sums) = (
            &mut matrix[i * n + first..(i + 1) * n],
            own(i),
            &mut *to.along,
        );
        if multiply {
            let products = real_rows::<R, false, true>(x, &mut [], f, f, b, d, y, sums);
            to.products[i] = products[0];
        } else {
            real_rows::<R, false, false>(x, &mut [], f, f, b, d, y, sums);
        }
    }
}

/// One row or two, which share what is read. Each slice is an argument of its own, so that the compiler
/// knows that they are apart.
#[expect(clippy::too_many_arguments, reason = "slices that are apart")]
#[inline(always)]
fn real_rows<R: Scalar, const TWO: bool, const MULTIPLY: bool>(
    x: &mut [R],
    z: &mut [R],
    f: [R; 3],
    g: [R; 3],
    b: &[R],
    d: &[R],
    y: &[R],
    sums: &mut [R],
) -> [R; 2] {
    let mut rows = RealRows::<R, TWO, MULTIPLY> {
        f,
        g,
        products: [[R::ZERO; LANES]; 2],
    };
    let mut at = 0;
    while at + LANES <= x.len() {
        rows.step::<LANES>(at, x, z, [b, d, y], sums);
        at += LANES;
    }
    while at + FEW <= x.len() {
        rows.step::<FEW>(at, x, z, [b, d, y], sums);
        at += FEW;
    }
    while at < x.len() {
        rows.step::<1>(at, x, z, [b, d, y], sums);
        at += 1;
    }
    [total(&rows.products[0]), total(&rows.products[1])]
}

/// What belongs to rows, and the sums of their products.
struct RealRows<R, const TWO: bool, const MULTIPLY: bool> {
    f: [R; 3],
    g: [R; 3],
    products: [[R; LANES]; 2],
}

impl<R: Scalar, const TWO: bool, const MULTIPLY: bool> RealRows<R, TWO, MULTIPLY> {
    /// N numbers from one on.
    #[inline(always)]
    fn step<const N: usize>(
        &mut self,
        at: usize,
        x: &mut [R],
        z: &mut [R],
        columns: [&[R]; 3],
        sums: &mut [R],
    ) {
        let Self { f, g, products } = self;
        let (b, d) = (load::<R, N>(columns[0], at), load::<R, N>(columns[1], at));
        let y = load::<R, N>(columns[2], at);
        let (mut one, mut sum) = (load::<R, N>(x, at), load::<R, N>(sums, at));
        for lane in 0..N {
            one[lane] = one[lane] - (f[0] * b[lane] + f[1] * d[lane]);
            if MULTIPLY {
                products[0][lane] = products[0][lane] + one[lane] * y[lane];
            }
        }
        store(x, at, one);
        if TWO {
            let mut two = load::<R, N>(z, at);
            for lane in 0..N {
                two[lane] = two[lane] - (g[0] * b[lane] + g[1] * d[lane]);
                if MULTIPLY {
                    products[1][lane] = products[1][lane] + two[lane] * y[lane];
                }
                sum[lane] = sum[lane] + (f[2] * one[lane] + g[2] * two[lane]);
            }
            store(z, at, two);
        } else {
            for lane in 0..N {
                sum[lane] = sum[lane] + f[2] * one[lane];
            }
        }
        store(sums, at, sum);
    }
}

#[expect(
    clippy::manual_memcpy,
    reason = "a call of a function, which would not be inlined"
)]
#[inline(always)]
fn load<R: Scalar, const N: usize>(from: &[R], at: usize) -> [R; N] {
    let from = &from[at..at + N];
    let mut lanes = [R::ZERO; N];
    for lane in 0..N {
        lanes[lane] = from[lane];
    }
    lanes
}

#[expect(clippy::manual_memcpy, reason = "as above")]
#[inline(always)]
fn store<R: Scalar, const N: usize>(to: &mut [R], at: usize, lanes: [R; N]) {
    let to = &mut to[at..at + N];
    for lane in 0..N {
        to[lane] = lanes[lane];
    }
}

/// The sum of lanes.
#[inline(always)]
fn total<R: Scalar>(lanes: &[R; LANES]) -> R {
    let mut sum = R::ZERO;
    for &x in lanes {
        sum = sum + x;
    }
    sum
}

for_each_isa! {
    /// As [`update_real`] of components of complex numbers.
    fn update_complex<R: Scalar>(
        matrix: &mut [R],
        place: (usize, usize),
        factors: &[&[R]; 3],
        columns: &[&[R]; 6],
        to: &mut Sums<'_, R>,
        multiply: bool,
    ) = update_complex_any
}

#[inline(always)]
fn update_complex_any<R: Scalar>(
    matrix: &mut [R],
    (n, first): (usize, usize),
    [a, c, q]: &[&[R]; 3],
    columns: &[&[R]; 6],
    to: &mut Sums<'_, R>,
    multiply: bool,
) {
    let rows = a.len() / 2;
    let own = |i: usize| {
        let (re, im) = (2 * i, 2 * i + 1);
        [a[re], a[im], c[re], c[im], q[re], -q[im]]
    };
    let mut i = 0;
    while i + 1 < rows {
        let (x, z) = matrix[i * n..(i + 2) * n].split_at_mut(n);
        let (x, z) = (&mut x[first..], &mut z[first..]);
        let (f, g) = (own(i), own(i + 1));
        let (along, across) = (&mut *to.along, &mut *to.across);
        if multiply {
            let products = complex_rows::<R, true, true>(x, z, f, g, columns, along, across);
            to.products[2 * i..2 * i + 4].copy_from_slice(&products);
        } else {
            complex_rows::<R, true, false>(x, z, f, g, columns, along, across);
        }
        i += 2;
    }
    if i < rows {
        let (x, f) = (&mut matrix[i * n + first..(i + 1) * n], own(i));
        let (along, across) = (&mut *to.along, &mut *to.across);
        if multiply {
            let products = complex_rows::<R, false, true>(x, &mut [], f, f, columns, along, across);
            to.products[2 * i..2 * i + 2].copy_from_slice(&products[..2]);
        } else {
            complex_rows::<R, false, false>(x, &mut [], f, f, columns, along, across);
        }
    }
}

/// As [`real_rows`] of complex numbers, of which products have two parts.
#[inline(always)]
fn complex_rows<R: Scalar, const TWO: bool, const MULTIPLY: bool>(
    x: &mut [R],
    z: &mut [R],
    f: [R; 6],
    g: [R; 6],
    columns: &[&[R]; 6],
    along: &mut [R],
    across: &mut [R],
) -> [R; 4] {
    let mut rows = ComplexRows::<R, TWO, MULTIPLY> {
        f,
        g,
        products: [[R::ZERO; LANES]; 4],
    };
    let mut at = 0;
    while at + LANES <= x.len() {
        rows.step::<LANES>(at, x, z, columns, along, across);
        at += LANES;
    }
    while at + FEW <= x.len() {
        rows.step::<FEW>(at, x, z, columns, along, across);
        at += FEW;
    }
    while at < x.len() {
        rows.step::<1>(at, x, z, columns, along, across);
        at += 1;
    }
    let products = &rows.products;
    [
        total(&products[0]),
        total(&products[1]),
        total(&products[2]),
        total(&products[3]),
    ]
}

/// As [`RealRows`] of complex numbers.
struct ComplexRows<R, const TWO: bool, const MULTIPLY: bool> {
    f: [R; 6],
    g: [R; 6],
    products: [[R; LANES]; 4],
}

impl<R: Scalar, const TWO: bool, const MULTIPLY: bool> ComplexRows<R, TWO, MULTIPLY> {
    #[inline(always)]
    fn step<const N: usize>(
        &mut self,
        at: usize,
        x: &mut [R],
        z: &mut [R],
        columns: &[&[R]; 6],
        along: &mut [R],
        across: &mut [R],
    ) {
        let Self { f, g, products } = self;
        let (b, ib) = (load::<R, N>(columns[0], at), load::<R, N>(columns[3], at));
        let (d, id) = (load::<R, N>(columns[1], at), load::<R, N>(columns[4], at));
        let (y, iy) = (load::<R, N>(columns[2], at), load::<R, N>(columns[5], at));
        let mut one = load::<R, N>(x, at);
        let (mut re, mut im) = (load::<R, N>(along, at), load::<R, N>(across, at));
        for lane in 0..N {
            let change = (f[0] * b[lane] + f[1] * ib[lane]) + (f[2] * d[lane] + f[3] * id[lane]);
            one[lane] = one[lane] - change;
            if MULTIPLY {
                products[0][lane] = products[0][lane] + one[lane] * y[lane];
                products[1][lane] = products[1][lane] + one[lane] * iy[lane];
            }
        }
        store(x, at, one);
        if TWO {
            let mut two = load::<R, N>(z, at);
            for lane in 0..N {
                let change =
                    (g[0] * b[lane] + g[1] * ib[lane]) + (g[2] * d[lane] + g[3] * id[lane]);
                two[lane] = two[lane] - change;
                if MULTIPLY {
                    products[2][lane] = products[2][lane] + two[lane] * y[lane];
                    products[3][lane] = products[3][lane] + two[lane] * iy[lane];
                }
                re[lane] = re[lane] + (f[4] * one[lane] + g[4] * two[lane]);
                im[lane] = im[lane] + (f[5] * one[lane] + g[5] * two[lane]);
            }
            store(z, at, two);
        } else {
            for lane in 0..N {
                re[lane] = re[lane] + f[4] * one[lane];
                im[lane] = im[lane] + f[5] * one[lane];
            }
        }
        store(along, at, re);
        store(across, at, im);
    }
}

for_each_isa! {
    /// The products of rows of n numbers, from a place in them on, with a vector.
    fn multiply_real<R: Scalar>(matrix: &[R], place: (usize, usize), y: &[R], products: &mut [R]) = multiply_real_any
}

#[inline(always)]
fn multiply_real_any<R: Scalar>(
    matrix: &[R],
    (n, first): (usize, usize),
    y: &[R],
    products: &mut [R],
) {
    let row = |i: usize| &matrix[i * n + first..(i + 1) * n];
    let count = products.len();
    let mut i = 0;
    while i + 4 <= count {
        let sums = dots([row(i), row(i + 1), row(i + 2), row(i + 3)], [y; 4]);
        products[i..i + 4].copy_from_slice(&sums);
        i += 4;
    }
    while i < count {
        [products[i]] = dots([row(i)], [y]);
        i += 1;
    }
}

for_each_isa! {
    /// As [`multiply_real`] of components of complex numbers; the second vector is the first times i.
    fn multiply_complex<R: Scalar>(
        matrix: &[R],
        place: (usize, usize),
        vectors: &[&[R]; 2],
        products: &mut [R],
    ) = multiply_complex_any
}

#[inline(always)]
fn multiply_complex_any<R: Scalar>(
    matrix: &[R],
    (n, first): (usize, usize),
    &[y, turned]: &[&[R]; 2],
    products: &mut [R],
) {
    let row = |i: usize| &matrix[i * n + first..(i + 1) * n];
    let count = products.len() / 2;
    let mut i = 0;
    while i + 2 <= count {
        let (x, z) = (row(i), row(i + 1));
        let sums = dots([x, x, z, z], [y, turned, y, turned]);
        products[2 * i..2 * i + 4].copy_from_slice(&sums);
        i += 2;
    }
    if i < count {
        let sums = dots([row(i); 2], [y, turned]);
        products[2 * i..].copy_from_slice(&sums);
    }
}

/// Inner products of vectors of the same length, several at once.
#[inline(always)]
fn dots<R: Scalar, const K: usize>(x: [&[R]; K], y: [&[R]; K]) -> [R; K] {
    let len = x[0].len();
    let mut sums = [[R::ZERO; LANES]; K];
    let mut at = 0;
    while at + LANES <= len {
        for k in 0..K {
            let (x, y) = (load::<R, LANES>(x[k], at), load::<R, LANES>(y[k], at));
            for lane in 0..LANES {
                sums[k][lane] = sums[k][lane] + x[lane] * y[lane];
            }
        }
        at += LANES;
    }
    let mut rest = [R::ZERO; K];
    for i in at..len {
        for k in 0..K {
            rest[k] = rest[k] + x[k][i] * y[k][i];
        }
    }
    for k in 0..K {
        rest[k] = rest[k] + total(&sums[k]);
    }
    rest
}
