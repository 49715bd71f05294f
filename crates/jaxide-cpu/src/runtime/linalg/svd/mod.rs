//! The singular value decomposition.
//!
//! The matrix is reduced to a real bidiagonal one by reflectors from both sides ([`bidiagonal`]). The singular
//! vectors of large ones are found by divide and conquer ([`divide`](super::divide)), those of small ones, and
//! values alone, by implicit QR steps ([`steps`]). The rotations of the steps and then the reflectors are applied to the
//! singular vectors in bulk. A much taller matrix is first reduced to its triangular factor.

mod bidiagonal;
mod steps;

use std::marker::PhantomData;

use super::divide::divide_bidiagonal;
use super::eigh::scaling;
use super::for_matrices;
use super::householder::{BLOCK, Operator, Reflectors};
use super::jacobi::{self, SvdResults, svd_lanes};
use super::phases::{column_phases, turn_columns};
use super::qr;
use super::scalar::{RealScalar, Scalar};
use super::side_by_side::{LANES, for_all};
use crate::runtime::matmul::MatrixMut;
use crate::runtime::shared::SharedSlice;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};
use bidiagonal::reduce;
pub(super) use steps::iterate;

/// The kernel of `svd` on a batch of `m × n` matrices: the singular values in descending order, which
/// are real, and if asked for the left singular vectors in columns (`m × m` with full matrices, else
/// `m × min(m, n)`) and the conjugated right ones in rows (`n × n` or `min(m, n) × n`).
///
/// The (first) entry of largest modulus of each of the first min(m, n) left vectors is real and
/// positive. A matrix that is not finite gives NaN.
pub struct Svd<T> {
    batch: usize,
    m: usize,
    n: usize,
    full_matrices: bool,
    compute_uv: bool,
    element: PhantomData<fn() -> T>,
}

impl<T: Scalar<Real: RealScalar>> Svd<T> {
    /// Singular values of `m × n` matrices.
    pub fn new(batch: usize, m: usize, n: usize, full_matrices: bool, compute_uv: bool) -> Self {
        Self {
            batch,
            m,
            n,
            full_matrices,
            compute_uv,
            element: PhantomData,
        }
    }

    /// The number of left and of right singular vectors.
    fn counts(&self) -> (usize, usize) {
        let rank = self.m.min(self.n);
        if self.full_matrices {
            (self.m, self.n)
        } else {
            (rank, rank)
        }
    }
}

impl<T: Scalar<Real: RealScalar>> Kernel for Svd<T> {
    fn signature(&self) -> Signature {
        let (m, n, size) = (self.m, self.n, size_of::<T>());
        let (left, right) = self.counts();
        let mut outputs = vec![(self.batch * m.min(n), size_of::<T::Real>())];
        if self.compute_uv {
            outputs.extend([
                (self.batch * m * left, size),
                (self.batch * right * n, size),
            ]);
        }
        Signature::of(&[(self.batch * m * n, size)], &outputs)
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (m, n, rank) = (self.m, self.n, self.m.min(self.n));
        let (left, right) = self.counts();
        let a = buffers.input::<T>(0);
        let values = SharedSlice::new(buffers.output::<T::Real>(0));
        let vectors = self.compute_uv.then(|| {
            (
                SharedSlice::new(buffers.output::<T>(1)),
                SharedSlice::new(buffers.output::<T>(2)),
            )
        });
        if jacobi::pays::<T>(self.batch, m, n) && (left, right) == (rank, rank) {
            let entries = jacobi::svd_entries(m, n);
            return for_all(
                self.batch,
                entries,
                20 * m * n * rank,
                context,
                |which, lanes| {
                    let range = |size: usize| which.start * size..which.end * size;
                    // SAFETY: matrices of the batch are disjoint, and so are their values.
                    let s = unsafe { values.range(range(rank)) };
                    // SAFETY: as above.
                    let mut vectors = vectors.as_ref().map(|(u, vt)| unsafe {
                        (u.range(range(m * rank)), vt.range(range(rank * n)))
                    });
                    let mut undone = [false; LANES];
                    let results = SvdResults {
                        values: bytemuck::cast_slice_mut(s),
                        vectors: vectors.as_mut().map(|(u, vt)| (&mut **u, &mut **vt)),
                    };
                    svd_lanes(&a[range(m * n)], (m, n), results, &mut undone, lanes);
                    for (lane, index) in which.enumerate().filter(|&(lane, _)| undone[lane]) {
                        let s = &mut s[lane * rank..(lane + 1) * rank];
                        let vectors = vectors.as_mut().map(|(u, vt)| {
                            (
                                &mut u[lane * m * rank..(lane + 1) * m * rank],
                                &mut vt[lane * rank * n..(lane + 1) * rank * n],
                            )
                        });
                        let a = &a[index * m * n..(index + 1) * m * n];
                        decompose(a, (m, n), (left, right), s, vectors, context)?;
                    }
                    Ok(())
                },
            );
        }
        for_matrices(self.batch, 20 * m * n * rank.max(1), context, |index| {
            let a = &a[index * m * n..(index + 1) * m * n];
            // SAFETY: matrices of the batch are disjoint, and so are their values and vectors.
            let s = unsafe { values.range(index * rank..(index + 1) * rank) };
            // SAFETY: as above.
            let vectors = vectors.as_ref().map(|(u, vt)| unsafe {
                (
                    u.range(index * m * left..(index + 1) * m * left),
                    vt.range(index * right * n..(index + 1) * right * n),
                )
            });
            decompose(a, (m, n), (left, right), s, vectors, context)
        })
    }
}

/// The decomposition of one matrix, of any shape.
fn decompose<T: Scalar<Real: RealScalar>>(
    a: &[T],
    (m, n): (usize, usize),
    (left, right): (usize, usize),
    values: &mut [T::Real],
    vectors: Option<(&mut [T], &mut [T])>,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    let wide = m < n;
    let (rows, columns) = if wide { (n, m) } else { (m, n) };
    let (tall_left, _) = if wide { (right, left) } else { (left, right) };
    let mut buffer = PoolBuffer::for_elements::<T>(m * n)?;
    let matrix = buffer.as_mut_slice::<T>();
    if wide {
        // The adjoint is tall, and has the same values and exchanged vectors.
        for (i, row) in a.chunks_exact(n).enumerate() {
            row.iter()
                .enumerate()
                .for_each(|(j, x)| matrix[j * m + i] = x.conj());
        }
    } else {
        matrix.copy_from_slice(a);
    }
    let Some((u, vt)) = vectors else {
        if !tall(matrix, (rows, columns), values, None, context)? {
            values.fill(T::Real::NAN);
        }
        return Ok(());
    };
    // Left vectors of the tall matrix in columns, and its right ones in columns.
    let mut found = PoolBuffer::for_elements::<T>(rows * tall_left + columns * columns)?;
    let (tall_u, tall_v) = found.as_mut_slice::<T>().split_at_mut(rows * tall_left);
    let vectors = Vectors {
        u: &mut *tall_u,
        left: tall_left,
        v: &mut *tall_v,
    };
    if !tall(matrix, (rows, columns), values, Some(vectors), context)? {
        values.fill(T::Real::NAN);
        u.fill(T::NAN);
        vt.fill(T::NAN);
        return Ok(());
    }
    let adjoint = |from: &[T], width: usize, to: &mut [T]| {
        let height = from.len().checked_div(width).unwrap_or(0);
        for i in 0..height {
            (0..width).for_each(|j| to[j * height + i] = from[i * width + j].conj());
        }
    };
    if wide {
        u.copy_from_slice(tall_v);
        adjoint(tall_u, tall_left, vt);
    } else {
        u.copy_from_slice(tall_u);
        adjoint(tall_v, columns, vt);
    }
    let phases = column_phases(u, left, values.len());
    turn_columns(u, left, &phases);
    for (row, phase) in vt.chunks_exact_mut(n.max(1)).zip(&phases) {
        row.iter_mut().for_each(|x| *x = *x * phase.conj());
    }
    Ok(())
}

/// Where the singular vectors of a tall matrix go: `left` left ones, and the right ones, in columns.
struct Vectors<'a, T> {
    u: &'a mut [T],
    left: usize,
    v: &'a mut [T],
}

/// The decomposition of a matrix with m ≥ n, which is overwritten; false if it is not finite or the
/// iteration does not converge.
fn tall<T: Scalar<Real: RealScalar>>(
    a: &mut [T],
    (m, n): (usize, usize),
    values: &mut [T::Real],
    mut vectors: Option<Vectors<'_, T>>,
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let largest = a
        .iter()
        .map(|x| x.abs1())
        .fold(0.0, |x: f64, y| if y.is_nan() { y } else { x.max(y) });
    if !a.iter().all(|x| x.abs1().is_finite()) {
        return Ok(false);
    }
    if n == 0 {
        if let Some(Vectors { u, left, .. }) = vectors {
            identity(u, left);
        }
        return Ok(true);
    }
    let scale = scaling::<T>(largest);
    if scale != 1.0 {
        let factor = T::from_components(1.0 / scale, 0.0);
        a.iter_mut().for_each(|x| *x = *x * factor);
    }
    if m >= 2 * n {
        // A = Q R: the left vectors of R, continued by the unit matrix, times Q.
        let mut taus = vec![T::ZERO; n];
        qr::factor(a, (m, n), &mut taus, context)?;
        let mut buffer = PoolBuffer::for_elements::<T>(2 * n * n)?;
        let (r, small_u) = buffer.as_mut_slice::<T>().split_at_mut(n * n);
        for (i, (to, from)) in r.chunks_exact_mut(n).zip(a.chunks_exact(n)).enumerate() {
            to[..i].fill(T::ZERO);
            to[i..].copy_from_slice(&from[i..]);
        }
        let inner = vectors.as_mut().map(|vectors| Vectors {
            u: &mut *small_u,
            left: n,
            v: &mut *vectors.v,
        });
        if !square(r, (n, n), values, inner, scale, context)? {
            return Ok(false);
        }
        if let Some(Vectors { u, left, .. }) = vectors {
            identity(u, left);
            for (to, from) in u.chunks_exact_mut(left).zip(small_u.chunks_exact(n)) {
                to[..n].copy_from_slice(from);
            }
            apply_packed(a, (m, n), &taus, u, left, context)?;
        }
        return Ok(true);
    }
    square(a, (m, n), values, vectors, scale, context)
}

/// Fills a matrix of this width with ones on the diagonal and zeros.
fn identity<T: Scalar<Real: RealScalar>>(a: &mut [T], width: usize) {
    a.fill(T::ZERO);
    a.iter_mut()
        .step_by(width + 1)
        .take(width)
        .for_each(|x| *x = T::ONE);
}

/// Multiplies `width` columns by the reflectors below the diagonal of a packed matrix.
fn apply_packed<T: Scalar<Real: RealScalar>>(
    packed: &[T],
    (m, n): (usize, usize),
    taus: &[T],
    c: &mut [T],
    width: usize,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    for start in (0..taus.len()).step_by(BLOCK).rev() {
        let block = qr::packed_block(
            packed,
            (m, n),
            start,
            &taus[start..taus.len().min(start + BLOCK)],
        )?;
        let rows = MatrixMut {
            pointer: c[start * width..].as_mut_ptr(),
            row: width as isize,
            column: 1,
        };
        // SAFETY: the rows from `start` on, all columns.
        unsafe { block.apply(Operator::Plain, rows, width, context)? };
    }
    Ok(())
}

/// The decomposition of a matrix with m ≥ n ≥ 1 that has been divided by `scale`.
fn square<T: Scalar<Real: RealScalar>>(
    a: &mut [T],
    (m, n): (usize, usize),
    values: &mut [T::Real],
    vectors: Option<Vectors<'_, T>>,
    scale: f64,
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let mut bidiagonal = reduce(a, (m, n), context)?;
    let wanted = if vectors.is_some() { n } else { 0 };
    // Singular vectors of the bidiagonal matrix, in rows.
    let mut rows = PoolBuffer::for_elements::<T::Real>(2 * wanted * n)?;
    let (left_rows, right_rows) = rows.as_mut_slice::<T::Real>().split_at_mut(wanted * n);
    let (d, e) = (&mut bidiagonal.d, &mut bidiagonal.e);
    if !singular_vectors(d, e, left_rows, right_rows, context)? {
        return Ok(false);
    }
    let d = &*d;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| d[j].abs().total_cmp(&d[i].abs()));
    for (value, &from) in values.iter_mut().zip(&order) {
        *value = T::Real::from_components(d[from].abs() * scale, 0.0);
    }
    let Some(Vectors { u, left, v }) = vectors else {
        return Ok(true);
    };
    identity(u, left);
    for (j, &from) in order.iter().enumerate() {
        for i in 0..n {
            u[i * left + j] = T::from_components(left_rows[from * n + i].re(), 0.0);
            let sign = if d[from] < 0.0 { -1.0 } else { 1.0 };
            v[i * n + j] = T::from_components(sign * right_rows[from * n + i].re(), 0.0);
        }
    }
    apply_packed(a, (m, n), &bidiagonal.left_taus, u, left, context)?;
    // The right reflectors, in rows, k beginning at entry k + 1.
    let taus = &bidiagonal.right_taus;
    for start in (0..taus.len()).step_by(BLOCK).rev() {
        let (len, count) = (n - 1 - start, BLOCK.min(taus.len() - start));
        let mut packed = PoolBuffer::for_elements::<T>(count * len)?;
        for (k, to) in packed.as_mut_slice::<T>().chunks_exact_mut(len).enumerate() {
            to.copy_from_slice(
                &bidiagonal.right.as_slice()[(start + k) * n + start + 1..(start + k + 1) * n],
            );
        }
        let block = Reflectors::new(packed.as_slice(), len, &taus[start..start + count])?;
        let rest = MatrixMut {
            pointer: v[(start + 1) * n..].as_mut_ptr(),
            row: n as isize,
            column: 1,
        };
        // SAFETY: the rows from `start + 1` on, all columns.
        unsafe { block.apply(Operator::Plain, rest, n, context)? };
    }
    Ok(true)
}

/// Matrices of more rows are divided, if their vectors are wanted.
const DIVIDED: usize = 48;

/// Turns an upper bidiagonal matrix into its singular values, in `d`, of either sign, and fills rows with its
/// left and right singular vectors, unless they are empty; false if a value does not converge.
fn singular_vectors<R: RealScalar>(
    d: &mut [f64],
    e: &mut [f64],
    left: &mut [R],
    right: &mut [R],
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let n = d.len();
    if n > DIVIDED && !left.is_empty() {
        let before = d.to_vec();
        if divide_bidiagonal(d, e, left, right, context)? {
            return Ok(true);
        }
        d.copy_from_slice(&before);
    }
    if !left.is_empty() {
        identity(left, n);
        identity(right, n);
    }
    iterate(d, e, left, right, 0.0, context)
}
