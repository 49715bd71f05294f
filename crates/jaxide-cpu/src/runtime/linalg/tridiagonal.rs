//! The reduction of Hermitian matrices to real tridiagonal form by reflectors.

use std::marker::PhantomData;
use std::ops::Range;

use super::for_matrices;
use super::householder::reflector;
use super::scalar::{RealScalar, Scalar};
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

/// The kernel of `tridiagonal` on a batch of Hermitian `n × n` matrices, of which one triangle is
/// read: the packed form, the diagonal, the off-diagonal and the factors τ.
///
/// The upper triangle is that of a matrix whose rows and columns are in the opposite order, read as
/// the lower one: reflectors then begin with the last column.
pub struct Tridiagonal<T> {
    batch: usize,
    n: usize,
    lower: bool,
    element: PhantomData<fn() -> T>,
}

impl<T: Scalar<Real: RealScalar>> Tridiagonal<T> {
    /// Forms of `n × n` matrices, from the lower triangle or the upper one.
    pub fn new(batch: usize, n: usize, lower: bool) -> Self {
        Self {
            batch,
            n,
            lower,
            element: PhantomData,
        }
    }

    /// Where entry (i, j) of the lower triangle that is reduced stands in the matrix.
    fn place(&self, i: usize, j: usize) -> usize {
        let n = self.n;
        if self.lower {
            i * n + j
        } else {
            (n - 1 - i) * n + n - 1 - j
        }
    }
}

impl<T: Scalar<Real: RealScalar>> Kernel for Tridiagonal<T> {
    fn signature(&self) -> Signature {
        let (batch, n) = (self.batch, self.n);
        let (size, real) = (size_of::<T>(), size_of::<T::Real>());
        let (a, off) = ((batch * n * n, size), batch * n.saturating_sub(1));
        Signature::of(&[a], &[a, (batch * n, real), (off, real), (off, size)])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (n, off) = (self.n, self.n.saturating_sub(1));
        if n == 0 {
            return Ok(());
        }
        let a = buffers.input::<T>(0);
        let packed = SharedSlice::new(buffers.output::<T>(0));
        let diagonals = SharedSlice::new(buffers.output::<T::Real>(1));
        let off_diagonals = SharedSlice::new(buffers.output::<T::Real>(2));
        let factors = SharedSlice::new(buffers.output::<T>(3));
        for_matrices(self.batch, 2 * n * n * n, context, |index| {
            let a = &a[index * n * n..(index + 1) * n * n];
            let range = |size: usize| index * size..(index + 1) * size;
            // SAFETY: matrices of the batch are disjoint, and so are their other results.
            let (packed, diagonal, off_diagonal, taus) = unsafe {
                (
                    packed.range(range(n * n)),
                    diagonals.range(range(n)),
                    off_diagonals.range(range(off)),
                    factors.range(range(off)),
                )
            };
            let mut buffer = PoolBuffer::for_elements::<T>(2 * n * n + working_memory(n))?;
            let (h, rest) = buffer.as_mut_slice::<T>().split_at_mut(n * n);
            let (reflectors, work) = rest.split_at_mut(n * n);
            for i in 0..n {
                for j in 0..i {
                    let entry = a[self.place(i, j)];
                    (h[i * n + j], h[j * n + i]) = (entry, entry.conj());
                }
                h[i * n + i] = T::from_components(a[self.place(i, i)].re(), 0.0);
            }
            let mut reals = PoolBuffer::for_elements::<f64>(2 * n)?;
            let (d, e) = reals.as_mut_slice::<f64>().split_at_mut(n);
            let condensed = Condensed {
                reflectors: &mut *reflectors,
                taus: &mut *taus,
                d: &mut *d,
                e: &mut *e,
            };
            reduce(h, n, condensed, work, context);
            packed.copy_from_slice(a);
            for k in 0..n {
                packed[self.place(k, k)] = T::from_components(d[k], 0.0);
                if k < off {
                    packed[self.place(k + 1, k)] = T::from_components(e[k], 0.0);
                }
                for i in k + 2..n {
                    packed[self.place(i, k)] = reflectors[k * n + i];
                }
            }
            if !self.lower {
                d.reverse();
                e[..off].reverse();
                taus.reverse();
            }
            for (to, &x) in diagonal.iter_mut().zip(&*d) {
                *to = T::Real::from_components(x, 0.0);
            }
            for (to, &x) in off_diagonal.iter_mut().zip(&*e) {
                *to = T::Real::from_components(x, 0.0);
            }
            Ok(())
        })
    }
}

/// Where the parts of a reduced matrix of n rows go.
pub(super) struct Condensed<'a, T> {
    /// The vectors of the reflectors, in rows of n entries of which the k-th begins at entry k + 1.
    pub(super) reflectors: &'a mut [T],
    /// The factors of the first n - 1 reflectors.
    pub(super) taus: &'a mut [T],
    /// The diagonal, n entries.
    pub(super) d: &'a mut [f64],
    /// The off-diagonal, of which the first n - 1 entries are written.
    pub(super) e: &'a mut [f64],
}

/// Entries of working memory that [`reduce`] needs.
pub(super) fn working_memory(n: usize) -> usize {
    (7 + 2 * chunks(n)) * n
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

/// Reduces a full Hermitian matrix, which is overwritten.
///
/// One pass over the trailing matrix for each reflector: the two-sided update with the last one, and
/// at the same time the product with the next. Complex rows are worked on as rows of components, with
/// vectors and the same times i.
pub(super) fn reduce<T: Scalar<Real: RealScalar>>(
    h: &mut [T],
    n: usize,
    to: Condensed<'_, T>,
    work: &mut [T],
    context: &Context<'_>,
) {
    let Condensed {
        reflectors,
        taus,
        d,
        e,
    } = to;
    // The last update is H -= v wᴴ + w vᴴ; these are v and w, their conjugates, and those times i.
    let (v, rest) = work.split_at_mut(n);
    let (w, rest) = rest.split_at_mut(n);
    let (v_conj, rest) = rest.split_at_mut(n);
    let (w_conj, rest) = rest.split_at_mut(n);
    let (v_turned, rest) = rest.split_at_mut(n);
    let (w_turned, rest) = rest.split_at_mut(n);
    let (product, sums) = rest.split_at_mut(n);
    for list in [
        &mut *v,
        &mut *w,
        &mut *v_conj,
        &mut *w_conj,
        &mut *v_turned,
        &mut *w_turned,
    ] {
        list.fill(T::ZERO);
    }
    for k in 0..n {
        // Row k with the last update.
        let row = &mut h[k * n + k..(k + 1) * n];
        subtract_outer(row, v[k], w[k], &w_conj[k..], &v_conj[k..]);
        d[k] = row[0].re();
        if k + 1 == n {
            break;
        }
        // Column k below the diagonal.
        let next = &mut reflectors[k * n..(k + 1) * n];
        for (to, from) in next[k + 1..].iter_mut().zip(&row[1..]) {
            *to = from.conj();
        }
        let tau = reflector(&mut next[k + 1..]);
        e[k] = next[k + 1].re();
        next[k + 1] = T::ONE;
        taus[k] = tau;
        let next = &next[k + 1..];
        let first = k + 1;
        let count = n - first;
        let chunks = chunks(count);
        let trailing = SharedSlice::new(&mut h[first * n..]);
        let shared = SharedSlice::new(&mut sums[..2 * chunks * count]);
        let update = Update {
            factors: [&v[first..], &w[first..], next].map(|x| components(x)),
            conj: [&w_conj[first..], &v_conj[first..]].map(|x| components(x)),
            turned: [&w_turned[first..], &v_turned[first..]].map(|x| components(x)),
        };
        let update = &update;
        context.parallel_for(chunks, |chunk| {
            let rows = if chunks == 1 {
                0..count
            } else {
                chunk * ROWS..count.min((chunk + 1) * ROWS)
            };
            // SAFETY: rows and sums belong to one chunk.
            let (matrix, sums) = unsafe {
                (
                    trailing.range(rows.start * n..rows.end * n),
                    shared.range(2 * chunk * count..2 * (chunk + 1) * count),
                )
            };
            sums.fill(T::ZERO);
            let (along, across) = sums.split_at_mut(count);
            let (along, across) = (components_mut(along), components_mut(across));
            let matrix = components_mut(matrix);
            if T::COMPLEX {
                update_complex(matrix, (2 * n, 2 * first), rows, update, along, across);
            } else {
                update_real(matrix, (n, first), rows, update, along);
            }
        });
        // w = τ H v - ½ τ (xᴴ v) v with x = τ H v. The rows are those of the transpose of H, which is its
        // conjugate.
        let x = &mut product[..count];
        for (j, x) in x.iter_mut().enumerate() {
            let mut sum = T::ZERO;
            for chunk in 0..chunks {
                sum = sum + sums[2 * chunk * count + j];
                if T::COMPLEX {
                    sum = sum + times_i(sums[(2 * chunk + 1) * count + j]);
                }
            }
            *x = tau * sum.conj();
        }
        let overlap = x
            .iter()
            .zip(next)
            .fold(T::ZERO, |sum, (&x, &v)| sum + x.conj() * v);
        let alpha = -(T::from_components(0.5, 0.0) * tau * overlap);
        for (i, (&x, &y)) in x.iter().zip(next).enumerate() {
            let z = x + alpha * y;
            (v[first + i], w[first + i]) = (y, z);
            (v_conj[first + i], w_conj[first + i]) = (y.conj(), z.conj());
            if T::COMPLEX {
                v_turned[first + i] = times_i(y.conj());
                w_turned[first + i] = times_i(z.conj());
            }
        }
    }
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

/// What rows are updated with, in components: of v, w and the next vector for each row; and of the
/// conjugates of w and v, themselves and times i, for each column.
struct Update<'a, R> {
    factors: [&'a [R]; 3],
    conj: [&'a [R]; 2],
    turned: [&'a [R]; 2],
}

for_each_isa! {
    /// `x -= a b + c d` with vectors b and d.
    fn subtract_outer<T: Scalar>(x: &mut [T], a: T, c: T, b: &[T], d: &[T]) = subtract_outer_any
}

#[inline(always)]
fn subtract_outer_any<T: Scalar>(x: &mut [T], a: T, c: T, b: &[T], d: &[T]) {
    for ((x, &b), &d) in x.iter_mut().zip(b).zip(d) {
        *x = *x - (a * b + c * d);
    }
}

for_each_isa! {
    /// Updates rows of n numbers, from one on, and adds each, times its entry of the next vector, to sums.
    fn update_real<R: Scalar>(
        matrix: &mut [R],
        place: (usize, usize),
        rows: Range<usize>,
        update: &Update<'_, R>,
        sums: &mut [R],
    ) = update_real_any
}

#[inline(always)]
fn update_real_any<R: Scalar>(
    matrix: &mut [R],
    (n, first): (usize, usize),
    rows: Range<usize>,
    update: &Update<'_, R>,
    sums: &mut [R],
) {
    let [a, c, y] = update.factors;
    let [b, d] = update.conj;
    let mut i = rows.start;
    while i + 1 < rows.end {
        let at = (i - rows.start) * n;
        let (x, z) = matrix[at..at + 2 * n].split_at_mut(n);
        two_real(
            &mut x[first..],
            &mut z[first..],
            [a[i], c[i], y[i], a[i + 1], c[i + 1], y[i + 1]],
            b,
            d,
            sums,
        );
        i += 2;
    }
    if i < rows.end {
        let at = (i - rows.start) * n;
        one_real(
            &mut matrix[at + first..at + n],
            [a[i], c[i], y[i]],
            b,
            d,
            sums,
        );
    }
}

/// Two rows at once, which share what is read. Each slice is an argument of its own, so that the compiler
/// knows that they are apart.
#[inline(always)]
fn two_real<R: Scalar>(
    x: &mut [R],
    z: &mut [R],
    [a, c, y, e, f, g]: [R; 6],
    b: &[R],
    d: &[R],
    sums: &mut [R],
) {
    let count = sums.len();
    let (x, z, b, d) = (&mut x[..count], &mut z[..count], &b[..count], &d[..count]);
    for j in 0..count {
        let one = x[j] - (a * b[j] + c * d[j]);
        let two = z[j] - (e * b[j] + f * d[j]);
        x[j] = one;
        z[j] = two;
        sums[j] = sums[j] + (y * one + g * two);
    }
}

/// As [`two_real`] for one row.
#[inline(always)]
fn one_real<R: Scalar>(x: &mut [R], [a, c, y]: [R; 3], b: &[R], d: &[R], sums: &mut [R]) {
    let count = sums.len();
    let (x, b, d) = (&mut x[..count], &b[..count], &d[..count]);
    for j in 0..count {
        let one = x[j] - (a * b[j] + c * d[j]);
        x[j] = one;
        sums[j] = sums[j] + y * one;
    }
}

for_each_isa! {
    /// Updates rows of complex numbers, and adds each, times the parts of the conjugate of its entry of the
    /// next vector, to sums for real and for imaginary parts.
    fn update_complex<R: Scalar>(
        matrix: &mut [R],
        place: (usize, usize),
        rows: Range<usize>,
        update: &Update<'_, R>,
        along: &mut [R],
        across: &mut [R],
    ) = update_complex_any
}

#[inline(always)]
fn update_complex_any<R: Scalar>(
    matrix: &mut [R],
    (n, first): (usize, usize),
    rows: Range<usize>,
    update: &Update<'_, R>,
    along: &mut [R],
    across: &mut [R],
) {
    let [v, w, next] = update.factors;
    let ([b, d], [ib, id]) = (update.conj, update.turned);
    let own = |i: usize| {
        let (re, im) = (2 * i, 2 * i + 1);
        [v[re], v[im], w[re], w[im], next[re], -next[im]]
    };
    let mut i = rows.start;
    while i + 1 < rows.end {
        let at = (i - rows.start) * n;
        let (x, z) = matrix[at..at + 2 * n].split_at_mut(n);
        let (x, z) = (&mut x[first..], &mut z[first..]);
        two_complex(x, z, own(i), own(i + 1), b, ib, d, id, along, across);
        i += 2;
    }
    if i < rows.end {
        let at = (i - rows.start) * n;
        let x = &mut matrix[at + first..at + n];
        one_complex(x, own(i), b, ib, d, id, along, across);
    }
}

/// As [`two_real`] of complex numbers.
#[expect(clippy::too_many_arguments, reason = "slices that are apart")]
#[inline(always)]
fn two_complex<R: Scalar>(
    x: &mut [R],
    z: &mut [R],
    f: [R; 6],
    g: [R; 6],
    b: &[R],
    ib: &[R],
    d: &[R],
    id: &[R],
    along: &mut [R],
    across: &mut [R],
) {
    let count = x.len();
    let (z, along, across) = (&mut z[..count], &mut along[..count], &mut across[..count]);
    let (b, ib, d, id) = (&b[..count], &ib[..count], &d[..count], &id[..count]);
    for j in 0..count {
        let (b, ib, d, id) = (b[j], ib[j], d[j], id[j]);
        let one = x[j] - ((f[0] * b + f[1] * ib) + (f[2] * d + f[3] * id));
        let two = z[j] - ((g[0] * b + g[1] * ib) + (g[2] * d + g[3] * id));
        x[j] = one;
        z[j] = two;
        along[j] = along[j] + (f[4] * one + g[4] * two);
        across[j] = across[j] + (f[5] * one + g[5] * two);
    }
}

/// As [`two_complex`] for one row.
#[expect(clippy::too_many_arguments, reason = "slices that are apart")]
#[inline(always)]
fn one_complex<R: Scalar>(
    x: &mut [R],
    f: [R; 6],
    b: &[R],
    ib: &[R],
    d: &[R],
    id: &[R],
    along: &mut [R],
    across: &mut [R],
) {
    let count = x.len();
    let (along, across) = (&mut along[..count], &mut across[..count]);
    let (b, ib, d, id) = (&b[..count], &ib[..count], &d[..count], &id[..count]);
    for j in 0..count {
        let one = x[j] - ((f[0] * b[j] + f[1] * ib[j]) + (f[2] * d[j] + f[3] * id[j]));
        x[j] = one;
        along[j] = along[j] + f[4] * one;
        across[j] = across[j] + f[5] * one;
    }
}
