//! The reduction of Hermitian matrices to real tridiagonal form by reflectors.

use std::marker::PhantomData;

use super::for_matrices;
use super::householder::reflector;
use super::scalar::{RealScalar, Scalar};
use super::trailing::{Parts, Pass, Trailing};
use crate::runtime::shared::SharedSlice;
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
    #[inline(always)]
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
            let mut buffer = PoolBuffer::for_elements::<T>(2 * n * n)?;
            let (h, reflectors) = buffer.as_mut_slice::<T>().split_at_mut(n * n);
            below_diagonal(n, |i, j| h[j * n + i] = a[self.place(i, j)].conj());
            for i in 0..n {
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
            reduce(h, n, condensed, context)?;
            packed.copy_from_slice(a);
            for k in 0..n {
                packed[self.place(k, k)] = T::from_components(d[k], 0.0);
                if k < off {
                    packed[self.place(k + 1, k)] = T::from_components(e[k], 0.0);
                }
            }
            below_diagonal(n, |i, k| {
                if i > k + 1 {
                    packed[self.place(i, k)] = reflectors[k * n + i];
                }
            });
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

/// Calls a function with each row and column below the diagonal, those of a tile after each other, so that both a matrix and its
/// transpose are walked along their rows.
#[inline(always)]
fn below_diagonal(n: usize, mut entry: impl FnMut(usize, usize)) {
    const TILE: usize = 16;
    for rows in (0..n).step_by(TILE) {
        for columns in (0..=rows).step_by(TILE) {
            for i in rows..n.min(rows + TILE) {
                for j in columns..i.min(columns + TILE) {
                    entry(i, j);
                }
            }
        }
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

/// Matrices of no more rows are reduced by plain loops: what passes in vectors are prepared with takes longer than all else.
const FEW_ROWS: usize = 32;

/// Reduces a Hermitian matrix, whose entries on and above the diagonal are read and overwritten.
pub(super) fn reduce<T: Scalar<Real: RealScalar>>(
    h: &mut [T],
    n: usize,
    to: Condensed<'_, T>,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    if n <= FEW_ROWS {
        reduce_few(h, n, to);
        return Ok(());
    }
    let Condensed {
        reflectors,
        taus,
        d,
        e,
    } = to;
    // The last update is H -= v wᴴ + w vᴴ.
    let mut trailing = Trailing::<T>::new(n, n)?;
    for k in 0..n {
        // Row k with the last update.
        let Parts {
            a: v,
            c: w,
            b,
            d: b_w,
            ..
        } = trailing.parts();
        let row = &mut h[k * n..(k + 1) * n];
        for j in k..n {
            row[j] = row[j] - (v[k] * b[j] + w[k] * b_w[j]);
        }
        d[k] = row[k].re();
        if k + 1 == n {
            break;
        }
        // Column k below the diagonal.
        let first = k + 1;
        let next = &mut reflectors[k * n + first..(k + 1) * n];
        for (to, from) in next.iter_mut().zip(&row[first..]) {
            *to = from.conj();
        }
        let tau = reflector(next);
        e[k] = next[0].re();
        next[0] = T::ONE;
        taus[k] = tau;
        let Parts { q, y, .. } = trailing.parts();
        for ((q, y), &v) in q[first..].iter_mut().zip(&mut y[first..]).zip(&*next) {
            (*q, *y) = (v, v.conj());
        }
        trailing.pass(h, (first, first), Pass::Triangle, context);
        // w = τ H v - ½ τ (xᴴ v) v with x = τ H v, of which the products of rows have what is on and above the diagonal, and
        // the sums of rows the conjugate of what is below it.
        let Parts {
            a: v,
            c: w,
            b,
            d: b_w,
            sum: x,
            products,
            ..
        } = trailing.parts();
        let mut overlap = T::ZERO;
        let products = products[first..].iter();
        for ((x, &product), &v) in x[first..].iter_mut().zip(products).zip(&*next) {
            *x = tau * (product + x.conj());
            overlap = overlap + x.conj() * v;
        }
        let alpha = -(T::from_components(0.5, 0.0) * tau * overlap);
        for (i, &y) in (first..).zip(&*next) {
            let z = x[i] + alpha * y;
            (v[i], w[i]) = (y, z);
            (b[i], b_w[i]) = (z.conj(), y.conj());
        }
    }
    Ok(())
}

/// The same of a matrix of few rows: each update is made at once.
fn reduce_few<T: Scalar<Real: RealScalar>>(h: &mut [T], n: usize, to: Condensed<'_, T>) {
    let mut x = [T::ZERO; FEW_ROWS];
    for k in 0..n {
        to.d[k] = h[k * n + k].re();
        let first = k + 1;
        if first == n {
            break;
        }
        let v = &mut to.reflectors[k * n..][..n];
        for j in first..n {
            v[j] = h[k * n + j].conj();
        }
        let tau = reflector(&mut v[first..]);
        to.e[k] = v[first].re();
        v[first] = T::ONE;
        to.taus[k] = tau;
        // x = τ H v and its product with v.
        let mut overlap = T::ZERO;
        for i in first..n {
            let mut sum = T::ZERO;
            for j in first..i {
                sum = sum + h[j * n + i].conj() * v[j];
            }
            for j in i..n {
                sum = sum + h[i * n + j] * v[j];
            }
            x[i] = tau * sum;
            overlap = overlap + x[i].conj() * v[i];
        }
        // w = x - ½ τ (xᴴ v) v, and H -= v wᴴ + w vᴴ.
        let alpha = T::from_components(0.5, 0.0) * tau * overlap;
        for i in first..n {
            x[i] = x[i] - alpha * v[i];
        }
        for i in first..n {
            for j in i..n {
                h[i * n + j] = h[i * n + j] - (v[i] * x[j].conj() + x[i] * v[j].conj());
            }
        }
    }
}
