//! The LU factorisation with partial pivoting.

use super::for_matrices;
use super::scalar::Scalar;
use super::side_by_side::{Entries, LANES, NEAR, for_blocks, gather, scatter, subtract_product};
use super::triangular::solve_lower;
use crate::runtime::matmul::{Matrix, MatrixMut, subtract};
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

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
        // Side by side are matrices whose columns are factored one by one.
        let small = if rank <= BASE { self.batch } else { 0 };
        let done = for_blocks(small, m * n, NEAR, m * n * rank, context, |first, lanes| {
            // SAFETY: matrices of the batch are disjoint, and so are their pivots and orders.
            let (a, pivots, permutations) = unsafe {
                (
                    out.range(first * m * n..(first + LANES) * m * n),
                    pivots.range(first * rank..(first + LANES) * rank),
                    permutations.range(first * m..(first + LANES) * m),
                )
            };
            factor_lanes(a, (m, n), pivots, lanes);
            for lane in 0..LANES {
                let pivots = &pivots[lane * rank..][..rank];
                permute(pivots, &mut permutations[lane * m..][..m]);
            }
        })?;
        for_matrices(self.batch - done, m * n * rank, context, |index| {
            let index = done + index;
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
            permute(pivots, permutation);
            Ok(())
        })
    }
}

/// The order of rows after exchanging each with its pivot.
fn permute(pivots: &[i32], order: &mut [i32]) {
    for (i, row) in order.iter_mut().enumerate() {
        *row = i as i32;
    }
    for (i, &pivot) in pivots.iter().enumerate() {
        order.swap(i, pivot as usize);
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

for_each_isa! {
    /// Factors `m × n` matrices of a block side by side, in place.
    fn factor_lanes<T: Scalar>(a: &mut [T], shape: (usize, usize), pivots: &mut [i32], lanes: &mut [Entries<T>]) =
        factor_lanes_any
}

#[inline(always)]
fn factor_lanes_any<T: Scalar>(
    a: &mut [T],
    (m, n): (usize, usize),
    pivots: &mut [i32],
    lanes: &mut [Entries<T>],
) {
    gather(a, lanes);
    let rank = m.min(n);
    for k in 0..rank {
        let mut largest = lanes[k * n + k].map(T::abs1);
        let mut pivot = [k as i32; LANES];
        for i in k + 1..m {
            for (lane, x) in lanes[i * n + k].iter().enumerate() {
                let size = x.abs1();
                let is_larger = size > largest[lane];
                largest[lane] = if is_larger { size } else { largest[lane] };
                pivot[lane] = if is_larger { i as i32 } else { pivot[lane] };
            }
        }
        for (lane, &pivot) in pivot.iter().enumerate() {
            pivots[lane * rank + k] = pivot;
            let row = pivot as usize;
            if row != k {
                for j in 0..n {
                    let (upper, lower) = (lanes[k * n + j][lane], lanes[row * n + j][lane]);
                    (lanes[k * n + j][lane], lanes[row * n + j][lane]) = (lower, upper);
                }
            }
        }
        let divisor = lanes[k * n + k];
        let divides = divisor.map(|x| x != T::ZERO);
        let (done, below) = lanes.split_at_mut((k + 1) * n);
        let upper = &done[k * n..];
        for row in below.chunks_exact_mut(n) {
            let (before, rest) = row.split_at_mut(k + 1);
            let factor = &mut before[k];
            for lane in 0..LANES {
                let quotient = factor[lane].divided(divisor[lane]);
                factor[lane] = if divides[lane] {
                    quotient
                } else {
                    factor[lane]
                };
            }
            for (j, (x, y)) in rest.iter_mut().zip(&upper[k + 1..]).enumerate() {
                let mut new = *x;
                subtract_product(&mut new, factor, y);
                // Columns behind the last pivot are updated in any case, as in `update_right`.
                let updated = k + 1 + j >= rank;
                for lane in 0..LANES {
                    x[lane] = if updated || divides[lane] {
                        new[lane]
                    } else {
                        x[lane]
                    };
                }
            }
        }
    }
    scatter(lanes, a);
}
