//! The QR factorisation, and products with its orthogonal factor.

use jaxide_core::eval::numerics::linalg as reference;

use super::for_matrices;
use super::householder::{BLOCK, FEW_ENTRIES, Operator, Reflectors, apply_to_rows, eliminate};
use super::qr_lanes::{self, factor_lanes};
use super::scalar::{RealScalar, Scalar};
use super::side_by_side::for_all;
use crate::runtime::matmul::MatrixMut;
use crate::runtime::shared::SharedSlice;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

/// The kernel of `geqrf` on a batch of `m × n` matrices: R on and above the diagonal with the
/// reflectors below it, and their min(m, n) factors τ.
pub struct Geqrf<T> {
    batch: usize,
    m: usize,
    n: usize,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Scalar<Real: RealScalar>> Geqrf<T> {
    /// Factors of `m × n` matrices.
    pub fn new(batch: usize, m: usize, n: usize) -> Self {
        Self {
            batch,
            m,
            n,
            element: std::marker::PhantomData,
        }
    }
}

impl<T: Scalar<Real: RealScalar>> Kernel for Geqrf<T> {
    fn signature(&self) -> Signature {
        let (a, rank, size) = (
            self.batch * self.m * self.n,
            self.m.min(self.n),
            size_of::<T>(),
        );
        Signature::of(&[(a, size)], &[(a, size), (self.batch * rank, size)])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (len, rank) = (self.m * self.n, self.m.min(self.n));
        let out = buffers.output::<T>(0);
        out.copy_from_slice(buffers.input(0));
        let (out, taus) = (
            SharedSlice::new(out),
            SharedSlice::new(buffers.output::<T>(1)),
        );
        for_matrices(self.batch, len * rank, context, |index| {
            // SAFETY: matrices of the batch are disjoint, and so are their factors.
            let (a, taus) = unsafe {
                (
                    out.range(index * len..(index + 1) * len),
                    taus.range(index * rank..(index + 1) * rank),
                )
            };
            factor(a, (self.m, self.n), taus, context)
        })
    }
}

/// The kernel of `householder_product` on a batch: the first n columns of the product of the k
/// reflectors below the diagonal of `m × n` matrices, given with their factors τ.
pub struct HouseholderProduct<T> {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Scalar<Real: RealScalar>> HouseholderProduct<T> {
    /// Products of k reflectors in `m × n` matrices.
    ///
    /// # Panics
    /// Unless k ≤ n ≤ m.
    pub fn new(batch: usize, m: usize, n: usize, k: usize) -> Self {
        assert!(k <= n && n <= m, "{k} reflectors in a matrix of {m} × {n}");
        Self {
            batch,
            m,
            n,
            k,
            element: std::marker::PhantomData,
        }
    }
}

impl<T: Scalar<Real: RealScalar>> Kernel for HouseholderProduct<T> {
    fn signature(&self) -> Signature {
        let (a, size) = (self.batch * self.m * self.n, size_of::<T>());
        Signature::of(&[(a, size), (self.batch * self.k, size)], &[(a, size)])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (a, taus) = (buffers.input::<T>(0), buffers.input::<T>(1));
        let (len, k) = (self.m * self.n, self.k);
        let out = SharedSlice::new(buffers.output::<T>(0));
        for_matrices(self.batch, len * k, context, |index| {
            // SAFETY: matrices of the batch are disjoint.
            let q = unsafe { out.range(index * len..(index + 1) * len) };
            let taus = &taus[index * k..(index + 1) * k];
            leading_columns(
                &a[index * len..(index + 1) * len],
                (self.m, self.n),
                taus,
                q,
                self.n,
                context,
            )
        })
    }
}

/// The kernel of `ormqr` on a batch: products of matrices C (`rows × columns`) with the product Q
/// of the k reflectors below the diagonal of `m × n` matrices. m is the size of C on Q's side.
pub struct Ormqr<T> {
    batch: usize,
    n: usize,
    k: usize,
    rows: usize,
    columns: usize,
    left: bool,
    transpose: bool,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Scalar<Real: RealScalar>> Ormqr<T> {
    /// `Q C` if `left`, `C Q` else, with the adjoint of Q if `transpose`; the matrices of
    /// reflectors have n columns, of which the first k hold them.
    ///
    /// # Panics
    /// If k exceeds the size of those matrices.
    pub fn new(
        batch: usize,
        (n, k): (usize, usize),
        (rows, columns): (usize, usize),
        left: bool,
        transpose: bool,
    ) -> Self {
        let m = if left { rows } else { columns };
        assert!(k <= n && k <= m, "{k} reflectors in a matrix of {m} × {n}");
        Self {
            batch,
            n,
            k,
            rows,
            columns,
            left,
            transpose,
            element: std::marker::PhantomData,
        }
    }

    fn m(&self) -> usize {
        if self.left { self.rows } else { self.columns }
    }
}

impl<T: Scalar<Real: RealScalar>> Kernel for Ormqr<T> {
    fn signature(&self) -> Signature {
        let size = size_of::<T>();
        let c = (self.batch * self.rows * self.columns, size);
        Signature::of(
            &[
                (self.batch * self.m() * self.n, size),
                (self.batch * self.k, size),
                c,
            ],
            &[c],
        )
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (a, taus, out) = (
            buffers.input::<T>(0),
            buffers.input::<T>(1),
            buffers.output::<T>(0),
        );
        out.copy_from_slice(buffers.input(2));
        let (m, k, len) = (self.m(), self.k, self.rows * self.columns);
        if len == 0 {
            return Ok(());
        }
        // `C Q` is the transpose of `Qᵀ Cᵀ`. Q itself begins with the last block of reflectors, its
        // transpose and its adjoint with the first one.
        let (operator, backwards) = match (self.left, self.transpose) {
            (true, false) => (Operator::Plain, true),
            (true, true) => (Operator::Adjoint, false),
            (false, false) => (Operator::Transpose, false),
            (false, true) => (Operator::Conjugate, true),
        };
        let out = SharedSlice::new(out);
        for_matrices(self.batch, len * k, context, |index| {
            let a = &a[index * m * self.n..(index + 1) * m * self.n];
            let taus = &taus[index * k..(index + 1) * k];
            // SAFETY: matrices of the batch are disjoint.
            let c = unsafe { out.range(index * len..(index + 1) * len) };
            let view = MatrixMut {
                pointer: c.as_mut_ptr(),
                row: self.columns as isize,
                column: 1,
            };
            let (view, across) = if self.left {
                (view, self.columns)
            } else {
                (view.transposed(), self.rows)
            };
            let blocks = k.div_ceil(BLOCK);
            for step in 0..blocks {
                let start = if backwards { blocks - 1 - step } else { step } * BLOCK;
                let taus = &taus[start..k.min(start + BLOCK)];
                let block = packed_block(a, (m, self.n), start, taus)?;
                // SAFETY: the rows from `start` on, all columns.
                unsafe {
                    let rows = MatrixMut {
                        pointer: view.at(start, 0),
                        ..view
                    };
                    block.apply(operator, rows, across, context)?;
                }
            }
            Ok(())
        })
    }
}

/// The kernel of `qr` on a batch of `m × n` matrices: Q and R, and with pivoting the columns of A
/// in the order in which R has them, as `i32`. With full matrices Q is `m × m` and R `m × n`, else
/// their common dimension is min(m, n).
pub struct Qr<T> {
    batch: usize,
    m: usize,
    n: usize,
    full_matrices: bool,
    pivoting: bool,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Scalar<Real: RealScalar>> Qr<T> {
    /// Factors of `m × n` matrices.
    pub fn new(batch: usize, m: usize, n: usize, full_matrices: bool, pivoting: bool) -> Self {
        Self {
            batch,
            m,
            n,
            full_matrices,
            pivoting,
            element: std::marker::PhantomData,
        }
    }

    /// The common dimension of Q and R.
    fn k(&self) -> usize {
        if self.full_matrices {
            self.m
        } else {
            self.m.min(self.n)
        }
    }
}

impl<T: Scalar<Real: RealScalar>> Kernel for Qr<T> {
    fn signature(&self) -> Signature {
        let (m, n, k, size) = (self.m, self.n, self.k(), size_of::<T>());
        let mut signature = Signature::of(
            &[(self.batch * m * n, size)],
            &[(self.batch * m * k, size), (self.batch * k * n, size)],
        );
        if self.pivoting {
            signature.outputs.push(self.batch * n * size_of::<i32>());
        }
        signature
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (m, n, k, rank) = (self.m, self.n, self.k(), self.m.min(self.n));
        let a = buffers.input::<T>(0);
        let (q, r) = (
            SharedSlice::new(buffers.output::<T>(0)),
            SharedSlice::new(buffers.output::<T>(1)),
        );
        let pivots = self
            .pivoting
            .then(|| SharedSlice::new(buffers.output::<i32>(2)));
        if !self.pivoting
            && let Some(entries) = qr_lanes::entries::<T>(self.batch, (m, n, k))
        {
            return for_all(
                self.batch,
                entries,
                2 * m * n * k,
                context,
                |which, lanes| {
                    let range = |size: usize| which.start * size..which.end * size;
                    // SAFETY: matrices of the batch are disjoint.
                    let (q, r) = unsafe { (q.range(range(m * k)), r.range(range(k * n))) };
                    factor_lanes(&a[range(m * n)], (m, n, k), q, r, lanes);
                    Ok(())
                },
            );
        }
        for_matrices(self.batch, m * n * rank, context, |index| {
            let a = &a[index * m * n..(index + 1) * m * n];
            // SAFETY: matrices of the batch are disjoint.
            let (q, r) = unsafe {
                (
                    q.range(index * m * k..(index + 1) * m * k),
                    r.range(index * k * n..(index + 1) * k * n),
                )
            };
            if let Some(pivots) = &pivots {
                // SAFETY: as above.
                let order = unsafe { pivots.range(index * n..(index + 1) * n) };
                let factors = reference::qr(a, m, n, self.full_matrices, true);
                q.copy_from_slice(&factors.q);
                r.copy_from_slice(&factors.r);
                order.copy_from_slice(&factors.pivots.unwrap_or_default());
                return Ok(());
            }
            let mut buffer = PoolBuffer::for_elements::<T>(m * n + rank)?;
            let (packed, taus) = buffer.as_mut_slice::<T>().split_at_mut(m * n);
            packed.copy_from_slice(a);
            factor(packed, (m, n), taus, context)?;
            if n > 0 {
                for (i, (to, from)) in r
                    .chunks_exact_mut(n)
                    .zip(packed.chunks_exact(n))
                    .enumerate()
                {
                    let below = i.min(n);
                    to[..below].fill(T::ZERO);
                    to[below..].copy_from_slice(&from[below..]);
                }
            }
            leading_columns(packed, (m, n), taus, q, k, context)
        })
    }
}

/// Factors `m × n` entries in place: blocks of columns, each applied to all columns after it.
pub(super) fn factor<T: Scalar<Real: RealScalar>>(
    a: &mut [T],
    (m, n): (usize, usize),
    taus: &mut [T],
    context: &Context<'_>,
) -> Result<(), KernelError> {
    let mut buffer = PoolBuffer::for_elements::<T>(m * BLOCK.min(n) + m)?;
    for start in (0..taus.len()).step_by(BLOCK) {
        let taus_len = taus.len();
        let taus = &mut taus[start..taus_len.min(start + BLOCK)];
        let (rows, count) = (m - start, taus.len());
        // A transposed copy, in which columns are adjacent.
        let (columns, turned) = buffer.as_mut_slice::<T>().split_at_mut(m * BLOCK.min(n));
        let columns = &mut columns[..count * rows];
        for i in 0..rows {
            for (j, &x) in a[(start + i) * n + start..][..count].iter().enumerate() {
                columns[j * rows + i] = x;
            }
        }
        eliminate(columns, rows, taus, turned);
        for i in 0..rows {
            for (j, x) in a[(start + i) * n + start..][..count].iter_mut().enumerate() {
                *x = columns[j * rows + i];
            }
        }
        let end = start + count;
        if end < n {
            let block = Reflectors::new(columns, rows, taus)?;
            let rest = MatrixMut {
                pointer: a[start * n + end..].as_mut_ptr(),
                row: n as isize,
                column: 1,
            };
            // SAFETY: the rows from `start` and the columns from `end` on.
            unsafe { block.apply(Operator::Adjoint, rest, n - end, context)? };
        }
    }
    Ok(())
}

/// The block of reflectors in the columns of a packed matrix from `start` on.
pub(super) fn packed_block<T: Scalar<Real: RealScalar>>(
    packed: &[T],
    (m, n): (usize, usize),
    start: usize,
    taus: &[T],
) -> Result<Reflectors<T>, KernelError> {
    let rows = m - start;
    let mut buffer = PoolBuffer::for_elements::<T>(taus.len() * rows)?;
    let columns = buffer.as_mut_slice::<T>();
    for i in 0..rows {
        for (j, &x) in packed[(start + i) * n + start..][..taus.len()]
            .iter()
            .enumerate()
        {
            columns[j * rows + i] = x;
        }
    }
    Reflectors::new(columns, rows, taus)
}

/// The first `k` columns of the product of packed reflectors.
fn leading_columns<T: Scalar<Real: RealScalar>>(
    packed: &[T],
    (m, n): (usize, usize),
    taus: &[T],
    q: &mut [T],
    k: usize,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    if q.is_empty() {
        return Ok(());
    }
    if taus.len() <= BLOCK && m * taus.len() <= FEW_ENTRIES {
        return few_columns(packed, (m, n), taus, q, k);
    }
    q.fill(T::ZERO);
    for i in 0..m.min(k) {
        q[i * k + i] = T::ONE;
    }
    let blocks = taus.len().div_ceil(BLOCK);
    for block in (0..blocks).rev() {
        let start = block * BLOCK;
        let reflectors = packed_block(
            packed,
            (m, n),
            start,
            &taus[start..taus.len().min(start + BLOCK)],
        )?;
        // Rows and columns before `start` are still those of the identity.
        let rest = MatrixMut {
            pointer: q[start * k + start..].as_mut_ptr(),
            row: k as isize,
            column: 1,
        };
        // SAFETY: the rows and columns from `start` on.
        unsafe { reflectors.apply(Operator::Plain, rest, k - start, context)? };
    }
    Ok(())
}

/// The same of few reflectors, one after another, of which each changes the columns from its own on.
fn few_columns<T: Scalar<Real: RealScalar>>(
    packed: &[T],
    (m, n): (usize, usize),
    taus: &[T],
    q: &mut [T],
    k: usize,
) -> Result<(), KernelError> {
    let mut buffer = PoolBuffer::for_elements::<T>(k * m + 2 * m)?;
    let (columns, others) = buffer.as_mut_slice::<T>().split_at_mut(k * m);
    let (vector, turned) = others.split_at_mut(m);
    columns.fill(T::ZERO);
    for i in 0..m.min(k) {
        columns[i * m + i] = T::ONE;
    }
    for (i, &tau) in taus.iter().enumerate().rev() {
        let v = &mut vector[..m - i];
        v[0] = T::ONE;
        for (j, x) in v.iter_mut().enumerate().skip(1) {
            *x = packed[(i + j) * n + i];
        }
        apply_to_rows(v, tau, &mut columns[i * m..], m, turned);
    }
    for (i, row) in q.chunks_exact_mut(k).enumerate() {
        for (j, x) in row.iter_mut().enumerate() {
            *x = columns[j * m + i];
        }
    }
    Ok(())
}
