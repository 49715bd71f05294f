//! Triangular systems.
//!
//! Every variant is forward substitution with a lower triangle once rows are counted from the other
//! end, or rows and columns exchanged, or the whole equation transposed; strides do all of that.
//! Diagonal blocks are solved for several right-hand sides at a time, in the lanes of vectors; the
//! rest is matrix products.

use jaxide_core::eval::numerics::linalg::TriangularSolve as Options;

use super::scalar::Scalar;
use super::side_by_side::{Entries, LANES as BLOCK_LANES, for_blocks, subtract_product};
use super::{conjugated, for_matrices};
use crate::runtime::matmul::{Matrix, MatrixMut, subtract};
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

/// The kernel of `triangular_solve` on batches of dense matrices: solves `op(A) X = B`, or
/// `X op(A) = B`, reading one triangle of A only. A zero on the diagonal gives infinities and NaN.
///
/// Inputs are A (`n × n` each, where n is the size of B on A's side) and B (`rows × columns`).
pub struct TriangularSolve<T> {
    batch: usize,
    rows: usize,
    columns: usize,
    options: Options,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Scalar> TriangularSolve<T> {
    /// Systems with right-hand sides of `rows × columns`.
    pub fn new(batch: usize, rows: usize, columns: usize, options: Options) -> Self {
        Self {
            batch,
            rows,
            columns,
            options,
            element: std::marker::PhantomData,
        }
    }

    fn size(&self) -> usize {
        if self.options.left_side {
            self.rows
        } else {
            self.columns
        }
    }
}

impl<T: Scalar> Kernel for TriangularSolve<T> {
    fn signature(&self) -> Signature {
        let (n, size) = (self.size(), size_of::<T>());
        let b = (self.batch * self.rows * self.columns, size);
        Signature::of(&[(self.batch * n * n, size), b], &[b])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (a, b, out) = (
            buffers.input::<T>(0),
            buffers.input::<T>(1),
            buffers.output::<T>(0),
        );
        out.copy_from_slice(b);
        let (n, len) = (self.size(), self.rows * self.columns);
        if n == 0 || len == 0 {
            return Ok(());
        }
        let Options {
            left_side,
            lower,
            transpose_a,
            conjugate_a,
            unit_diagonal,
        } = self.options;
        let conjugate = if conjugate_a { conjugated(a)? } else { None };
        let a = conjugate.as_ref().map_or(a, PoolBuffer::as_slice);
        // `X op(A) = B` is `op(A)ᵀ Xᵀ = Bᵀ`.
        let mut unknown = Strides::dense(self.columns);
        if !left_side {
            unknown = unknown.transposed();
        }
        let mut triangle = Strides::dense(n);
        let swapped = transpose_a == left_side;
        if swapped {
            triangle = triangle.transposed();
        }
        if lower == swapped {
            // An upper triangle: from the last row to the first.
            triangle = triangle.backward(n, n);
            unknown = unknown.backward(n, 1);
        }
        let out = SharedSlice::new(out);
        let m = len / n;
        let small = if n <= BLOCK { self.batch } else { 0 };
        // Products of complex numbers are no better in lanes, but a few right-hand sides leave most lanes of one system empty.
        let most_bytes = if !T::COMPLEX || m <= FEW { NEAR } else { 0 };
        let done = for_blocks(
            small,
            n * n + len,
            most_bytes,
            n * len,
            context,
            |first, lanes| {
                let a = &a[first * n * n..(first + BLOCK_LANES) * n * n];
                // SAFETY: matrices of the batch are disjoint.
                let x = unsafe { out.range(first * len..(first + BLOCK_LANES) * len) };
                let strides = (triangle, unknown);
                solve_lanes(a, x, strides, (n, m), unit_diagonal, lanes);
            },
        )?;
        for_matrices(self.batch - done, n * len, context, |index| {
            let index = done + index;
            let a = &a[index * n * n..(index + 1) * n * n];
            // SAFETY: matrices of the batch are disjoint.
            let x = unsafe { out.range(index * len..(index + 1) * len) };
            let triangle = Matrix {
                pointer: a.as_ptr().wrapping_add(triangle.start),
                row: triangle.row,
                column: triangle.column,
            };
            let unknown = MatrixMut {
                pointer: x.as_mut_ptr().wrapping_add(unknown.start),
                row: unknown.row,
                column: unknown.column,
            };
            // SAFETY: both views reach the elements of their matrices, which are disjoint.
            unsafe { solve_lower((n, m), triangle, unit_diagonal, unknown, context) }
        })
    }
}

/// Where the entries of a matrix are in its slice.
#[derive(Clone, Copy)]
struct Strides {
    start: usize,
    row: isize,
    column: isize,
}

impl Strides {
    fn dense(columns: usize) -> Self {
        Self {
            start: 0,
            row: columns as isize,
            column: 1,
        }
    }

    fn transposed(self) -> Self {
        Self {
            row: self.column,
            column: self.row,
            ..self
        }
    }

    /// The first of these rows last, and the first of these columns.
    fn backward(self, rows: usize, columns: usize) -> Self {
        let flipped = |stride: isize, count: usize| if count > 1 { -stride } else { stride };
        let (row, column) = (flipped(self.row, rows), flipped(self.column, columns));
        let last_row = (rows - 1) * self.row.unsigned_abs();
        let last_column = (columns - 1) * self.column.unsigned_abs();
        Self {
            start: self.start + last_row + last_column,
            row,
            column,
        }
    }

    #[inline(always)]
    fn at(self, i: usize, j: usize) -> usize {
        self.start
            .wrapping_add_signed(i as isize * self.row + j as isize * self.column)
    }
}

for_each_isa! {
    /// Solves the `n × m` systems of a block side by side, in place.
    fn solve_lanes<T: Scalar>(
        a: &[T],
        x: &mut [T],
        strides: (Strides, Strides),
        shape: (usize, usize),
        unit_diagonal: bool,
        lanes: &mut [Entries<T>],
    ) = solve_lanes_any
}

#[inline(always)]
fn solve_lanes_any<T: Scalar>(
    a: &[T],
    x: &mut [T],
    (triangle, unknown): (Strides, Strides),
    (n, m): (usize, usize),
    unit_diagonal: bool,
    lanes: &mut [Entries<T>],
) {
    let (l, rows) = lanes.split_at_mut(n * n);
    for i in 0..n {
        for j in 0..=i {
            let place = triangle.at(i, j);
            let entries = &mut l[i * n + j];
            for lane in 0..BLOCK_LANES {
                entries[lane] = a[lane * n * n + place];
            }
        }
        for j in 0..m {
            let place = unknown.at(i, j);
            let entries = &mut rows[i * m + j];
            for lane in 0..BLOCK_LANES {
                entries[lane] = x[lane * n * m + place];
            }
        }
    }
    for j in 0..n {
        let (solved, rest) = rows.split_at_mut((j + 1) * m);
        let pivots = &mut solved[j * m..];
        if !unit_diagonal {
            let divisor = l[j * n + j];
            for pivot in pivots.iter_mut() {
                for lane in 0..BLOCK_LANES {
                    pivot[lane] = pivot[lane].divided(divisor[lane]);
                }
            }
        }
        for (i, row) in rest.chunks_exact_mut(m).enumerate() {
            let factor = l[(j + 1 + i) * n + j];
            for (x, pivot) in row.iter_mut().zip(&*pivots) {
                subtract_product(x, &factor, pivot);
            }
        }
    }
    for i in 0..n {
        for j in 0..m {
            let (place, from) = (unknown.at(i, j), &rows[i * m + j]);
            for lane in 0..BLOCK_LANES {
                x[lane * n * m + place] = from[lane];
            }
        }
    }
}

/// Bytes of a system up to which systems are solved side by side: a block of them is read once.
const NEAR: usize = 12 << 10;
/// Right-hand sides that leave vectors half empty.
const FEW: usize = 4;

/// Rows of a diagonal block, and right-hand sides solved at a time.
const BLOCK: usize = 32;
const LANES: usize = 16;

/// Solves `L X = B` in place for `n × m` unknowns, by forward substitution: the upper half of the unknowns, the lower right-hand sides updated with
/// them, the rest. So most of the work is in products of large matrices, which read what they update few times.
///
/// # Safety
/// The lower triangle of `l` and all of `x` are valid; they do not overlap.
pub(super) unsafe fn solve_lower<T: Scalar>(
    (n, m): (usize, usize),
    l: Matrix<T>,
    unit_diagonal: bool,
    x: MatrixMut<T>,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    if n <= BLOCK {
        // SAFETY: the caller's promise.
        return unsafe { solve_block((n, m), l, unit_diagonal, x, context) };
    }
    let half = (n / 2).next_multiple_of(BLOCK);
    // SAFETY: the triangles before and after row `half`, and the rectangle below the first; the rows of `x` before `half` are read, or written, by
    // one call at a time, and those from it on as well.
    unsafe {
        let below = Matrix {
            pointer: l.at(half, 0),
            ..l
        };
        let last = Matrix {
            pointer: l.at(half, half),
            ..l
        };
        let solved = Matrix {
            pointer: x.at(0, 0).cast_const(),
            row: x.row,
            column: x.column,
        };
        let rest = MatrixMut {
            pointer: x.at(half, 0),
            ..x
        };
        solve_lower((half, m), l, unit_diagonal, x, context)?;
        subtract((n - half, m, half), below, solved, rest, context)?;
        solve_lower((n - half, m), last, unit_diagonal, rest, context)
    }
}

/// As [`solve_lower`], for at most [`BLOCK`] rows.
///
/// # Safety
/// As [`solve_lower`].
unsafe fn solve_block<T: Scalar>(
    (n, m): (usize, usize),
    l: Matrix<T>,
    unit_diagonal: bool,
    x: MatrixMut<T>,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    struct Shared<T>(MatrixMut<T>);
    // SAFETY: chunks write disjoint columns.
    unsafe impl<T> Sync for Shared<T> {}
    let mut block = [T::ZERO; BLOCK * BLOCK];
    let block = &mut block[..n * n];
    // One right-hand side is solved by columns, several by rows.
    let (row, column) = if m == 1 { (1, n) } else { (n, 1) };
    for i in 0..n {
        for j in 0..=i {
            // SAFETY: row and column lie in the lower triangle.
            block[i * row + j * column] = unsafe { *l.at(i, j) };
        }
    }
    let block = &*block;
    if m == 1 {
        let mut part = [T::ZERO; BLOCK];
        // SAFETY: rows of the block are inside `x`.
        unsafe {
            for (i, to) in part[..n].iter_mut().enumerate() {
                *to = *x.at(i, 0);
            }
            substitute_one(block, unit_diagonal, &mut part[..n]);
            for (i, &from) in part[..n].iter().enumerate() {
                *x.at(i, 0) = from;
            }
        }
        return Ok(());
    }
    // Groups of columns worth a thread's attention.
    let group = LANES * (1usize << 15).div_ceil(n * n * LANES);
    let shared = &Shared(x);
    context.parallel_for(m.div_ceil(group), |chunk| {
        let x = shared.0;
        for first in (chunk * group..m.min((chunk + 1) * group)).step_by(LANES) {
            let count = LANES.min(m - first);
            let mut lanes = [[T::ZERO; LANES]; BLOCK];
            // SAFETY: rows of the block and these columns are inside `x`, and no other chunk has these columns.
            unsafe {
                for (i, row) in lanes[..n].iter_mut().enumerate() {
                    let from = x.at(i, first);
                    if x.column == 1 {
                        std::ptr::copy_nonoverlapping(from, row.as_mut_ptr(), count);
                        continue;
                    }
                    for (j, to) in row[..count].iter_mut().enumerate() {
                        *to = *from.wrapping_offset(j as isize * x.column);
                    }
                }
                substitute(block, n, unit_diagonal, &mut lanes[..n]);
                for (i, row) in lanes[..n].iter().enumerate() {
                    let to = x.at(i, first);
                    if x.column == 1 {
                        std::ptr::copy_nonoverlapping(row.as_ptr(), to, count);
                        continue;
                    }
                    for (j, &from) in row[..count].iter().enumerate() {
                        *to.wrapping_offset(j as isize * x.column) = from;
                    }
                }
            }
        }
    });
    Ok(())
}

for_each_isa! {
    /// Forward substitution with one small dense triangle, each lane a right-hand side.
    fn substitute<T: Scalar>(l: &[T], size: usize, unit_diagonal: bool, x: &mut [[T; LANES]]) = substitute_any
}

for_each_isa! {
    /// Forward substitution with one small dense triangle, given by columns, and one right-hand side.
    fn substitute_one<T: Scalar>(l: &[T], unit_diagonal: bool, x: &mut [T]) = substitute_one_any
}

#[inline(always)]
fn substitute_one_any<T: Scalar>(l: &[T], unit_diagonal: bool, x: &mut [T]) {
    let size = x.len();
    for j in 0..size {
        let column = &l[j * size..(j + 1) * size];
        if !unit_diagonal {
            x[j] = x[j].divided(column[j]);
        }
        let (pivot, rest) = (x[j], &mut x[j + 1..]);
        let factors = &column[j + 1..][..rest.len()];
        for i in 0..rest.len() {
            rest[i] = rest[i] - factors[i] * pivot;
        }
    }
}

/// Rows whose products are subtracted from another one at a time.
const AT_ONCE: usize = 4;

#[inline(always)]
fn substitute_any<T: Scalar>(l: &[T], size: usize, unit_diagonal: bool, x: &mut [[T; LANES]]) {
    for start in (0..size).step_by(AT_ONCE) {
        let end = size.min(start + AT_ONCE);
        for j in start..end {
            if !unit_diagonal {
                T::divide(&mut x[j], l[j * size + j]);
            }
            let pivot = x[j];
            for i in j + 1..end {
                subtract_multiple(&mut x[i], l[i * size + j], &pivot);
            }
        }
        let (solved, rest) = x.split_at_mut(end);
        if end - start < AT_ONCE {
            return;
        }
        let pivots: [[T; LANES]; AT_ONCE] = std::array::from_fn(|k| solved[start + k]);
        for (i, to) in rest.iter_mut().enumerate() {
            let factors = &l[(end + i) * size + start..][..AT_ONCE];
            let mut row = *to;
            for k in 0..AT_ONCE {
                subtract_multiple(&mut row, factors[k], &pivots[k]);
            }
            *to = row;
        }
    }
}

#[inline(always)]
fn subtract_multiple<T: Scalar>(row: &mut [T; LANES], factor: T, pivot: &[T; LANES]) {
    for lane in 0..LANES {
        row[lane] = row[lane] - factor * pivot[lane];
    }
}
