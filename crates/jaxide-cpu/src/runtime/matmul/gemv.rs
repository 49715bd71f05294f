//! Products of a matrix and a vector, or a few: bound by reading the matrix once.
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
    pub(super) vectors: Vectors,
}

/// `y[j] = Σ_p x[p] a[p][j]`, the elements of a row of `a`, of `x` and of `y` adjacent.
pub(super) struct CombineRows<T> {
    pub(super) columns: usize,
    pub(super) depth: usize,
    pub(super) a: *const T,
    pub(super) a_row: isize,
    pub(super) x: *const T,
    pub(super) y: *mut T,
    pub(super) vectors: Vectors,
}

/// The vectors that a matrix is multiplied with: their number, and the distances of neighbours in
/// `x` and in `y`.
#[derive(Clone, Copy)]
pub(super) struct Vectors {
    pub(super) count: usize,
    pub(super) x_next: isize,
    pub(super) y_next: isize,
}

/// Bytes of a matrix that make a chunk worth a thread's attention: in less time than a core reads them from its own cache, threads of some machines
/// have not found one another.
const CHUNK: usize = 1 << 18;

/// Columns that a chunk has at least.
const WIDE: usize = 128;

/// The number of rows or columns of `each` elements that a chunk has of `all`: multiples of `unit` if there are several chunks, which are nearly as
/// long as each other.
fn per_chunk<T>(all: usize, each: usize, most: usize, unit: usize) -> usize {
    let bytes = all.saturating_mul(each).saturating_mul(size_of::<T>());
    let chunks = (bytes / CHUNK).clamp(1, most);
    all.div_ceil(chunks).next_multiple_of(unit).min(all)
}

/// `y = a x` for `m` rows, inner dimension `k` and `n` vectors. Several vectors need a matrix with
/// adjacent rows or columns.
///
/// # Safety
/// The matrices are valid for `m × k`, `k × n` and `m × n` elements; `y` overlaps neither `a` nor
/// `x`.
pub(super) unsafe fn gemv<T: HasKernels + Arithmetic + bytemuck::Pod + Sync>(
    (m, n, k): (usize, usize, usize),
    a: Matrix<T>,
    x: Matrix<T>,
    y: MatrixMut<T>,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    let kernels = T::kernels();
    // The vectors are small beside the matrix: copies make their elements adjacent.
    let mut x_copy = PoolBuffer::for_elements::<T>(if x.row == 1 { 0 } else { n * k })?;
    let (x, x_next) = if x.row == 1 {
        (x.pointer, x.column)
    } else {
        for (index, to) in x_copy.as_mut_slice::<T>().iter_mut().enumerate() {
            // SAFETY: `index % k < k` and `index / k < n` are inside the vectors.
            *to = unsafe { *x.at(index % k, index / k) };
        }
        (x_copy.as_ptr().cast(), k as isize)
    };
    struct Operands<T>(*const T, *const T, *mut T);
    // SAFETY: chunks read `a` and `x` and write disjoint ranges of `y`.
    unsafe impl<T> Sync for Operands<T> {}
    if a.row == 1 && a.column != 1 && m > 1 {
        let mut y_copy = PoolBuffer::for_elements::<T>(if y.row == 1 { 0 } else { n * m })?;
        let (adjacent, y_next) = if y.row == 1 {
            (y.pointer, y.column)
        } else {
            (y_copy.as_mut_ptr().cast(), m as isize)
        };
        let vectors = Vectors {
            count: n,
            x_next,
            y_next,
        };
        // Few and wide, since memory is read faster in long rows.
        let width = per_chunk::<T>(m, k, (m / WIDE).clamp(1, 8), 16);
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
                    vectors,
                });
            }
        });
        for (index, &value) in y_copy.as_slice::<T>().iter().enumerate() {
            // SAFETY: the copy has an element for each one of `y`, or none.
            unsafe { *y.at(index % m, index / m) = value };
        }
        return Ok(());
    }
    if a.column != 1 && k > 1 {
        // No direction is adjacent: an ordinary loop is as good as anything.
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let x = x.wrapping_offset(j as isize * x_next);
            let mut sum = T::ZERO;
            for p in 0..k {
                // SAFETY: `i < m`, `j < n` and `p < k` are inside the operands.
                sum = unsafe { sum.plus((*a.at(i, p)).times(*x.add(p))) };
            }
            // SAFETY: `i < m` and `j < n` are inside the result.
            unsafe { *y.at(i, j) = sum };
        }
        return Ok(());
    }
    let vectors = Vectors {
        count: n,
        x_next,
        y_next: y.column,
    };
    let height = per_chunk::<T>(m, k, 64, 4);
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
                vectors,
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
        // Some rows with all vectors, while they are in the first-level cache.
        while row + 4 <= call.rows {
            for vector in 0..call.vectors.count {
                dot_some_rows::<S, 4>(call, row, vector);
            }
            row += 4;
        }
        while row < call.rows {
            for vector in 0..call.vectors.count {
                dot_some_rows::<S, 1>(call, row, vector);
            }
            row += 1;
        }
    }
}

/// # Safety
/// As [`dot_rows`], for `R` rows from `first` on and one vector.
#[inline(always)]
unsafe fn dot_some_rows<S: Simd, const R: usize>(
    call: &DotRows<S::Elem>,
    first: usize,
    vector: usize,
) {
    // SAFETY: the caller promises the rows and the vector; `p` stays below `depth`.
    unsafe {
        let start = call.x.offset(vector as isize * call.vectors.x_next);
        let result = call.y.offset(vector as isize * call.vectors.y_next);
        // The sums are the same for one row at a time and for several: two interleaved vectors,
        // added up at the end.
        let mut acc = [[S::splat(S::Elem::ZERO); 2]; R];
        let a = call.a.offset(first as isize * call.a_row);
        let mut p = 0;
        while p + 2 * S::LANES <= call.depth {
            let x = [S::load(start.add(p)), S::load(start.add(p + S::LANES))];
            for (r, acc) in acc.iter_mut().enumerate() {
                let row = a.offset(r as isize * call.a_row).add(p);
                acc[0] = x[0].mul_add(S::load(row), acc[0]);
                acc[1] = x[1].mul_add(S::load(row.add(S::LANES)), acc[1]);
            }
            p += 2 * S::LANES;
        }
        while p < call.depth {
            let count = S::LANES.min(call.depth - p);
            let x = S::load_first(start.add(p), count);
            for (r, acc) in acc.iter_mut().enumerate() {
                let row = a.offset(r as isize * call.a_row).add(p);
                acc[0] = x.mul_add(S::load_first(row, count), acc[0]);
            }
            p += S::LANES;
        }
        for (r, acc) in acc.iter().enumerate() {
            *result.offset((first + r) as isize * call.y_step) = acc[0].add(acc[1]).sum();
        }
    }
}

/// # Safety
/// The machine has the instruction set of `S`; all elements that the call names are valid.
#[inline(always)]
pub(super) unsafe fn combine_rows<S: Simd>(call: &CombineRows<S::Elem>) {
    let bytes = (call.depth * size_of::<S::Elem>()).saturating_mul(call.a_row.unsigned_abs());
    if call.vectors.count == 1 && bytes <= NEAR {
        // SAFETY: promised by the caller.
        unsafe { combine_in_registers::<S>(call) };
    } else {
        // SAFETY: promised by the caller.
        unsafe { combine_through_memory::<S>(call) };
    }
}

/// [`combine_rows`] by blocks of rows, whose sums are in memory between them.
///
/// # Safety
/// As [`combine_rows`].
#[inline(always)]
unsafe fn combine_through_memory<S: Simd>(call: &CombineRows<S::Elem>) {
    if call.columns == 0 {
        return;
    }
    // SAFETY: the blocks of rows handled end at `depth`.
    unsafe {
        let mut p = 0;
        while p + 8 <= call.depth {
            for vector in 0..call.vectors.count {
                combine_some_rows::<S, 8>(call, p, vector);
            }
            p += 8;
        }
        while p < call.depth {
            for vector in 0..call.vectors.count {
                combine_some_rows::<S, 1>(call, p, vector);
            }
            p += 1;
        }
    }
}

/// Bytes over which a matrix may be spread to be read in strips of a few vectors: farther apart, and out of the caches, memory is read faster in
/// long rows.
const NEAR: usize = 1 << 20;

/// [`combine_rows`] for one vector: as many columns at a time as registers hold sums of, the same sums in the same order.
///
/// # Safety
/// As [`combine_rows`].
#[inline(always)]
unsafe fn combine_in_registers<S: Simd>(call: &CombineRows<S::Elem>) {
    let mut column = 0;
    macro_rules! strips {
        ($($count:literal)*) => {
            $(while (call.columns - column).div_ceil(S::LANES) >= $count {
                let columns = ($count * S::LANES).min(call.columns - column);
                // SAFETY: the columns of the strip are inside the matrix.
                unsafe { combine_strip::<S, $count>(call, column, columns) };
                column += columns;
            })*
        };
    }
    // Machines with registers of 64 bytes have 32 of them.
    if size_of::<S>() == 64 {
        strips!(16);
    }
    strips!(8 6 4);
    // Sums of fewer vectors would wait for one another, and those of blocks of rows do not.
    // SAFETY: what is left is inside the matrix and the result.
    unsafe {
        combine_through_memory::<S>(&CombineRows {
            columns: call.columns - column,
            a: call.a.add(column),
            y: call.y.add(column),
            ..*call
        });
    }
}

/// The sums of so many vectors of columns from `first` on, the last of which may have fewer.
///
/// # Safety
/// As [`combine_rows`]; the columns are inside the matrix.
#[inline(always)]
unsafe fn combine_strip<S: Simd, const N: usize>(
    call: &CombineRows<S::Elem>,
    first: usize,
    columns: usize,
) {
    let last = columns - (N - 1) * S::LANES;
    // SAFETY: promised by the caller.
    unsafe {
        let mut sums = [S::splat(S::Elem::ZERO); N];
        let mut row = call.a.add(first);
        macro_rules! rows {
            ($load_last:expr) => {
                for p in 0..call.depth {
                    let factor = S::splat(*call.x.add(p));
                    for (j, sum) in sums.iter_mut().enumerate() {
                        let from = row.add(j * S::LANES);
                        let loaded = if j + 1 < N {
                            S::load(from)
                        } else {
                            $load_last(from)
                        };
                        *sum = factor.mul_add(loaded, *sum);
                    }
                    row = row.wrapping_offset(call.a_row);
                }
            };
        }
        if last == S::LANES {
            rows!(|from| S::load(from));
        } else {
            rows!(|from| S::load_first(from, last));
        }
        let to = call.y.add(first);
        for (j, sum) in sums.into_iter().enumerate() {
            if j + 1 < N || last == S::LANES {
                sum.store(to.add(j * S::LANES));
            } else {
                sum.store_first(to.add(j * S::LANES), last);
            }
        }
    }
}

/// Adds `R` rows from `first` on, times the factors of one vector; the first block overwrites.
///
/// # Safety
/// As [`combine_rows`].
#[inline(always)]
unsafe fn combine_some_rows<S: Simd, const R: usize>(
    call: &CombineRows<S::Elem>,
    first: usize,
    vector: usize,
) {
    // SAFETY: the caller promises the rows and the vector; columns stay below `columns`.
    unsafe {
        let start = call.x.offset(vector as isize * call.vectors.x_next);
        let result = call.y.offset(vector as isize * call.vectors.y_next);
        let a = call.a.offset(first as isize * call.a_row);
        // Closures of `from_fn` are not always inlined.
        let mut factors = [S::splat(S::Elem::ZERO); R];
        for (r, factor) in factors.iter_mut().enumerate() {
            *factor = S::splat(*start.add(first + r));
        }
        macro_rules! columns {
            ($j:expr, $load:expr) => {{
                let mut y = if first == 0 {
                    S::splat(S::Elem::ZERO)
                } else {
                    $load(result.add($j).cast_const())
                };
                for (r, &factor) in factors.iter().enumerate() {
                    y = factor.mul_add($load(a.offset(r as isize * call.a_row).add($j)), y);
                }
                y
            }};
        }
        let mut j = 0;
        while j + S::LANES <= call.columns {
            columns!(j, |from| S::load(from)).store(result.add(j));
            j += S::LANES;
        }
        if j < call.columns {
            let count = call.columns - j;
            columns!(j, |from| S::load_first(from, count)).store_first(result.add(j), count);
        }
    }
}
