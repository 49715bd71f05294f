//! The LU factorisation with partial pivoting.

use super::for_matrices;
use super::scalar::Scalar;
use super::triangular::solve_lower;
use crate::runtime::matmul::{Matrix, MatrixMut, subtract};
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

use jaxide_core::eval::numerics::linalg as reference;

/// The kernel of `lu` on a batch of `m × n` matrices. The results are the factors in one array (the
/// ones on L's diagonal are not stored), the row with which each row was exchanged, counted from 0,
/// and the rows of A in the order in which the factors have them; the last two as `i32`.
///
/// Pivots are the entries with the largest |re| + |im|, the first of equal ones, as in LAPACK.
pub struct Lu<T> {
    batch: usize,
    m: usize,
    n: usize,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Scalar> Lu<T> {
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

impl<T: Scalar> Kernel for Lu<T> {
    fn signature(&self) -> Signature {
        let (m, n) = (self.m, self.n);
        let a = (self.batch * m * n, size_of::<T>());
        Signature::of(&[a], &[a, (self.batch * m.min(n), 4), (self.batch * m, 4)])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (m, n) = (self.m, self.n);
        let rank = m.min(n);
        let out = buffers.output::<T>(0);
        out.copy_from_slice(buffers.input(0));
        let (out, pivots) = (
            SharedSlice::new(out),
            SharedSlice::new(buffers.output::<i32>(1)),
        );
        let permutations = SharedSlice::new(buffers.output::<i32>(2));
        for_matrices(self.batch, m * n * rank, context, |index| {
            // SAFETY: matrices of the batch are disjoint, and so are their pivots and orders.
            let (a, pivots, permutation) = unsafe {
                (
                    out.range(index * m * n..(index + 1) * m * n),
                    pivots.range(index * rank..(index + 1) * rank),
                    permutations.range(index * m..(index + 1) * m),
                )
            };
            if rank > 0 {
                let view = MatrixMut {
                    pointer: a.as_mut_ptr(),
                    row: n as isize,
                    column: 1,
                };
                // SAFETY: the view is of the whole matrix.
                unsafe { factor(view, (m, n), pivots, context)? };
            }
            permutation.copy_from_slice(&reference::lu_pivots_to_permutation(pivots, m));
            Ok(())
        })
    }
}

/// Columns that are factored one by one.
const BASE: usize = 16;

/// Factors `m × n` entries in place: the left half of the columns, the right one updated with it,
/// the rest of that (S. Toledo, *Locality of reference in LU decomposition with partial pivoting*,
/// 1997). `pivots` are counted from the first row.
///
/// # Safety
/// All entries of the view are valid, and its columns are adjacent.
unsafe fn factor<T: Scalar>(
    a: MatrixMut<T>,
    (m, n): (usize, usize),
    pivots: &mut [i32],
    context: &Context<'_>,
) -> Result<(), KernelError> {
    let rank = m.min(n);
    if rank <= BASE {
        // SAFETY: the first `rank` columns of the view.
        unsafe { factor_columns(a, (m, rank), pivots)? };
        if rank < n {
            // SAFETY: the columns after them.
            unsafe { update_right(a, (m, n), rank, pivots, context)? };
        }
        return Ok(());
    }
    let left = (rank / 2).next_multiple_of(BASE).min(rank - 1);
    // SAFETY: blocks of the view, each read or written by one call at a time.
    unsafe {
        factor(a, (m, left), &mut pivots[..left], context)?;
        update_right(a, (m, n), left, &pivots[..left], context)?;
        let rest = MatrixMut {
            pointer: a.at(left, left),
            ..a
        };
        factor(rest, (m - left, n - left), &mut pivots[left..], context)?;
        for (i, pivot) in pivots.iter_mut().enumerate().skip(left) {
            *pivot += left as i32;
            swap_rows(a, (i, *pivot as usize), 0..left);
        }
    }
    Ok(())
}

/// Exchanges rows of the columns from `left` on, and updates them with the factored columns before.
///
/// # Safety
/// As [`factor`].
unsafe fn update_right<T: Scalar>(
    a: MatrixMut<T>,
    (m, n): (usize, usize),
    left: usize,
    pivots: &[i32],
    context: &Context<'_>,
) -> Result<(), KernelError> {
    // SAFETY: the columns before `left` are read, those from it on written.
    unsafe {
        for (i, &pivot) in pivots.iter().enumerate() {
            swap_rows(a, (i, pivot as usize), left..n);
        }
        let read = |i: usize, j: usize| Matrix {
            pointer: a.at(i, j).cast_const(),
            row: a.row,
            column: a.column,
        };
        let upper = MatrixMut {
            pointer: a.at(0, left),
            ..a
        };
        solve_lower((left, n - left), read(0, 0), true, upper, context)?;
        if left < m {
            let rest = MatrixMut {
                pointer: a.at(left, left),
                ..a
            };
            subtract(
                (m - left, n - left, left),
                read(left, 0),
                read(0, left),
                rest,
                context,
            )?;
        }
    }
    Ok(())
}

/// # Safety
/// Both rows and the columns are inside the view, whose columns are adjacent.
unsafe fn swap_rows<T: Scalar>(
    a: MatrixMut<T>,
    (i, j): (usize, usize),
    columns: std::ops::Range<usize>,
) {
    if i != j && !columns.is_empty() {
        // SAFETY: two different rows do not overlap.
        unsafe {
            std::ptr::swap_nonoverlapping(
                a.at(i, columns.start),
                a.at(j, columns.start),
                columns.len(),
            )
        };
    }
}

/// Factors a few columns, in a transposed copy so that columns are adjacent.
///
/// # Safety
/// All entries of the view are valid.
unsafe fn factor_columns<T: Scalar>(
    a: MatrixMut<T>,
    (m, n): (usize, usize),
    pivots: &mut [i32],
) -> Result<(), KernelError> {
    let mut buffer = PoolBuffer::for_elements::<T>(m * n)?;
    let columns = buffer.as_mut_slice::<T>();
    // SAFETY: rows and columns are inside the view.
    unsafe {
        for i in 0..m {
            for j in 0..n {
                columns[j * m + i] = *a.at(i, j);
            }
        }
        eliminate(columns, m, pivots);
        for i in 0..m {
            for j in 0..n {
                *a.at(i, j) = columns[j * m + i];
            }
        }
    }
    Ok(())
}

for_each_isa! {
    /// Gaussian elimination on columns of `m` entries, one after another.
    fn eliminate<T: Scalar>(columns: &mut [T], m: usize, pivots: &mut [i32]) = eliminate_any
}

#[inline(always)]
fn eliminate_any<T: Scalar>(columns: &mut [T], m: usize, pivots: &mut [i32]) {
    for (k, to) in pivots.iter_mut().enumerate() {
        let (done, rest) = columns.split_at_mut((k + 1) * m);
        let column = &mut done[k * m..];
        let mut largest = column[k].abs1();
        let mut pivot = k;
        for (i, x) in column.iter().enumerate().skip(k + 1) {
            if x.abs1() > largest {
                (largest, pivot) = (x.abs1(), i);
            }
        }
        *to = pivot as i32;
        column.swap(k, pivot);
        if pivot != k {
            done[..k * m]
                .chunks_exact_mut(m)
                .chain(rest.chunks_exact_mut(m))
                .for_each(|column| column.swap(k, pivot));
        }
        let column = &mut done[k * m..];
        if column[k] == T::ZERO {
            continue;
        }
        let divisor = column[k];
        T::divide(&mut column[k + 1..], divisor);
        let factors = &column[k + 1..];
        for other in rest.chunks_exact_mut(m) {
            let factor = other[k];
            for (x, &y) in other[k + 1..].iter_mut().zip(factors) {
                *x = *x - factor * y;
            }
        }
    }
}
