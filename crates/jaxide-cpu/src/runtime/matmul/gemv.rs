//! Products of a matrix and a vector: bound by reading the matrix once.
//!
//! A matrix whose rows are adjacent in memory is multiplied row by row ([`dot_rows`]); one whose
//! columns are, as a combination of them ([`combine_rows`] of the transposed matrix).

use super::tile::HasKernels;
use super::{Matrix, MatrixMut};
use crate::runtime::simd::{Arithmetic, Simd};
use crate::runtime::{Context, KernelError, PoolBuffer};

/// `y[i] = Σ_p a[i][p] x[p]`, the elements of a row of `a` and of `x` adjacent.
pub(super) struct DotRows<T> {
    pub(super) rows: usize,
    pub(super) depth: usize,
    pub(super) a: *const T,
    pub(super) a_row: isize,
    pub(super) x: *const T,
    pub(super) y: *mut T,
    pub(super) y_step: isize,
}

/// `y[j] = Σ_p x[p] a[p][j]`, the elements of a row of `a`, of `x` and of `y` adjacent.
pub(super) struct CombineRows<T> {
    pub(super) columns: usize,
    pub(super) depth: usize,
    pub(super) a: *const T,
    pub(super) a_row: isize,
    pub(super) x: *const T,
    pub(super) y: *mut T,
}

/// Matrix elements that make a chunk worth a thread's attention.
const CHUNK: usize = 1 << 15;

/// `y = a x` for `m` rows and inner dimension `k`.
///
/// # Safety
/// The matrices are valid for `m × k`, `k × 1` and `m × 1` elements; `y` overlaps neither `a` nor
/// `x`.
pub(super) unsafe fn gemv<T: HasKernels + Arithmetic + bytemuck::Pod + Sync>(
    (m, k): (usize, usize),
    a: Matrix<T>,
    x: Matrix<T>,
    y: MatrixMut<T>,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    let kernels = T::kernels();
    // The vectors are small beside the matrix: copies make their elements adjacent.
    let mut x_copy = PoolBuffer::for_elements::<T>(if x.row == 1 { 0 } else { k })?;
    let x = if x.row == 1 {
        x.pointer
    } else {
        for (p, to) in x_copy.as_mut_slice::<T>().iter_mut().enumerate() {
            // SAFETY: `p < k` is inside the vector.
            *to = unsafe { *x.at(p, 0) };
        }
        x_copy.as_ptr().cast()
    };
    struct Operands<T>(*const T, *const T, *mut T);
    // SAFETY: chunks read `a` and `x` and write disjoint ranges of `y`.
    unsafe impl<T> Sync for Operands<T> {}
    if a.row == 1 && a.column != 1 && m > 1 {
        let mut y_copy = PoolBuffer::for_elements::<T>(if y.row == 1 { 0 } else { m })?;
        let adjacent = if y.row == 1 {
            y.pointer
        } else {
            y_copy.as_mut_ptr().cast()
        };
        // Whole vectors to a chunk, so that only the last has a remainder; and few chunks, since
        // memory is read faster in long rows.
        let width = CHUNK.div_ceil(k).max(m / 8).next_multiple_of(64).min(m);
        let operands = &Operands(a.pointer, x, adjacent);
        context.parallel_for(m.div_ceil(width), |chunk| {
            let first = chunk * width;
            let columns = width.min(m - first);
            // SAFETY: the columns from `first` on are inside the matrix and the result.
            unsafe {
                (kernels.combine_rows)(&CombineRows {
                    columns,
                    depth: k,
                    a: operands.0.add(first),
                    a_row: a.column,
                    x: operands.1,
                    y: operands.2.add(first),
                });
            }
        });
        for (i, &value) in y_copy.as_slice::<T>().iter().enumerate() {
            // SAFETY: the copy has an element for each row of `y`, or none.
            unsafe { *y.at(i, 0) = value };
        }
        return Ok(());
    }
    if a.column != 1 && k > 1 {
        // No direction is adjacent: an ordinary loop is as good as anything.
        for i in 0..m {
            let mut sum = T::ZERO;
            for p in 0..k {
                // SAFETY: `i < m` and `p < k` are inside the operands.
                sum = unsafe { sum.plus((*a.at(i, p)).times(*x.add(p))) };
            }
            // SAFETY: `i < m` is inside the result.
            unsafe { *y.at(i, 0) = sum };
        }
        return Ok(());
    }
    let height = CHUNK.div_ceil(k).min(m);
    let operands = &Operands(a.pointer, x, y.pointer);
    context.parallel_for(m.div_ceil(height), |chunk| {
        let first = chunk * height;
        let rows = height.min(m - first);
        // SAFETY: the rows from `first` on are inside the matrix and the result.
        unsafe {
            (kernels.dot_rows)(&DotRows {
                rows,
                depth: k,
                a: operands.0.offset(first as isize * a.row),
                a_row: a.row,
                x: operands.1,
                y: operands.2.offset(first as isize * y.row),
                y_step: y.row,
            });
        }
    });
    Ok(())
}

/// # Safety
/// The machine has the instruction set of `S`; all elements that the call names are valid.
#[inline(always)]
pub(super) unsafe fn dot_rows<S: Simd>(call: &DotRows<S::Elem>) {
    let mut row = 0;
    // SAFETY: the rows handled are below `rows`.
    unsafe {
        while row + 4 <= call.rows {
            dot_some_rows::<S, 4>(call, row);
            row += 4;
        }
        while row < call.rows {
            dot_some_rows::<S, 1>(call, row);
            row += 1;
        }
    }
}

/// # Safety
/// As [`dot_rows`], for `R` rows from `first` on.
#[inline(always)]
unsafe fn dot_some_rows<S: Simd, const R: usize>(call: &DotRows<S::Elem>, first: usize) {
    // SAFETY: the caller promises the rows; `p` stays below `depth`.
    unsafe {
        // The sums are the same for one row at a time and for several: two interleaved vectors,
        // added up at the end.
        let mut acc = [[S::splat(S::Elem::ZERO); 2]; R];
        let a = call.a.offset(first as isize * call.a_row);
        let mut p = 0;
        while p + 2 * S::LANES <= call.depth {
            let x = [S::load(call.x.add(p)), S::load(call.x.add(p + S::LANES))];
            for (r, acc) in acc.iter_mut().enumerate() {
                let row = a.offset(r as isize * call.a_row).add(p);
                acc[0] = S::load(row).mul_add(x[0], acc[0]);
                acc[1] = S::load(row.add(S::LANES)).mul_add(x[1], acc[1]);
            }
            p += 2 * S::LANES;
        }
        while p < call.depth {
            let count = S::LANES.min(call.depth - p);
            let x = S::load_first(call.x.add(p), count);
            for (r, acc) in acc.iter_mut().enumerate() {
                let row = a.offset(r as isize * call.a_row).add(p);
                acc[0] = S::load_first(row, count).mul_add(x, acc[0]);
            }
            p += S::LANES;
        }
        for (r, acc) in acc.iter().enumerate() {
            *call.y.offset((first + r) as isize * call.y_step) = acc[0].add(acc[1]).sum();
        }
    }
}

/// # Safety
/// The machine has the instruction set of `S`; all elements that the call names are valid.
#[inline(always)]
pub(super) unsafe fn combine_rows<S: Simd>(call: &CombineRows<S::Elem>) {
    // SAFETY: the blocks of rows handled end at `depth`.
    unsafe {
        let mut p = 0;
        while p + 8 <= call.depth {
            combine_some_rows::<S, 8>(call, p);
            p += 8;
        }
        while p < call.depth {
            combine_some_rows::<S, 1>(call, p);
            p += 1;
        }
    }
}

/// Adds `R` rows from `first` on, times their factors; the first block overwrites.
///
/// # Safety
/// As [`combine_rows`].
#[inline(always)]
unsafe fn combine_some_rows<S: Simd, const R: usize>(call: &CombineRows<S::Elem>, first: usize) {
    // SAFETY: the caller promises the rows; columns stay below `columns`.
    unsafe {
        let a = call.a.offset(first as isize * call.a_row);
        let factors: [S; R] = std::array::from_fn(|r| S::splat(*call.x.add(first + r)));
        macro_rules! columns {
            ($j:expr, $load:expr) => {{
                let mut y = if first == 0 {
                    S::splat(S::Elem::ZERO)
                } else {
                    $load(call.y.add($j).cast_const())
                };
                for (r, &factor) in factors.iter().enumerate() {
                    y = factor.mul_add($load(a.offset(r as isize * call.a_row).add($j)), y);
                }
                y
            }};
        }
        let mut j = 0;
        while j + S::LANES <= call.columns {
            columns!(j, |from| S::load(from)).store(call.y.add(j));
            j += S::LANES;
        }
        if j < call.columns {
            let count = call.columns - j;
            columns!(j, |from| S::load_first(from, count)).store_first(call.y.add(j), count);
        }
    }
}
