//! The product of two matrices by tiles, blocked for the caches and split over threads.
//!
//! The inner dimension is cut into blocks whose length depends on the shape only, every element of
//! the result is summed by one thread in the order of these blocks, and so the result does not
//! depend on the number of threads.

use std::sync::atomic::{AtomicBool, Ordering};

use super::pack::Panel;
use super::tile::{HasKernels, Kernels, Tile, Update};
use super::{Matrix, MatrixMut};
use crate::runtime::simd::Arithmetic;
use crate::runtime::{Context, KernelError, PoolBuffer};

/// `c = a b`, or `c ± a b`, with `c`'s columns adjacent.
///
/// # Safety
/// The matrices are valid for `m × k`, `k × n` and `m × n` elements; `c` overlaps neither `a` nor
/// `b`.
pub(super) unsafe fn gemm<T: HasKernels + Arithmetic + bytemuck::Pod + Sync>(
    update: Update,
    (m, n, k): (usize, usize, usize),
    a: Matrix<T>,
    b: Matrix<T>,
    c: MatrixMut<T>,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    let kernels = T::kernels();
    let in_place = kernels.reads_in_place && b.column == 1;
    if in_place && m * n * k <= SMALL {
        // SAFETY: promised by the caller.
        unsafe { small(update, (m, n, k), kernels, (&a, &b, &c)) };
        return Ok(());
    }
    let plan = Plan::new((m, n, k), kernels, &a, &b);
    // SAFETY: promised by the caller.
    unsafe {
        Product {
            shape: (m, n, k),
            a,
            b,
            c,
            kernels,
            plan,
            update,
        }
        .run(context)
    }
}

/// Multiply-adds up to which a product is neither planned nor split.
const SMALL: usize = 1 << 13;

/// A small product, its operands read in place.
///
/// # Safety
/// As [`gemm`], with the columns of `b` adjacent.
unsafe fn small<T>(
    update: Update,
    (m, n, k): (usize, usize, usize),
    kernels: &Kernels<T>,
    (a, b, c): (&Matrix<T>, &Matrix<T>, &MatrixMut<T>),
) {
    for column in (0..n).step_by(kernels.columns) {
        let columns = kernels.columns.min(n - column);
        let mut row = 0;
        while row < m {
            let rows = kernels.rows().min(m - row);
            // SAFETY: rows and columns are inside the operands.
            unsafe {
                kernels.tile(rows, columns)(&Tile {
                    depth: k,
                    segments: &[0],
                    a: a.at(row, 0),
                    a_row: a.row,
                    a_step: a.column,
                    b: b.at(0, column),
                    b_step: b.row,
                    c: c.at(row, column),
                    c_row: c.row,
                    columns,
                    b_packed: false,
                    update,
                });
            }
            row += rows;
        }
    }
}

/// How a product is cut up: a function of shapes and strides only.
#[derive(Debug)]
struct Plan {
    /// Blocks of the inner dimension, and of the columns for which the right operand is packed at
    /// once.
    depth_block: usize,
    column_block: usize,
    pack_a: bool,
    pack_b: bool,
    /// Chunks for threads: groups of row panels times groups of column tiles.
    row_chunks: usize,
    column_chunks: usize,
}

/// Elements of the inner dimension that are summed in registers before the result is touched: fewer of those of which fewer panels fit the
/// first-level cache.
const fn longest_block<T>() -> usize {
    if size_of::<T>() <= 8 { 384 } else { 256 }
}

/// Columns of the right operand that are packed at once.
const COLUMN_BLOCK: usize = 4096;
/// Multiply-adds that make a chunk worth a thread's attention, about 5 µs.
pub(super) const CHUNK_WORK: usize = 300_000;

impl Plan {
    fn new<T>(
        (m, n, k): (usize, usize, usize),
        kernels: &Kernels<T>,
        a: &Matrix<T>,
        b: &Matrix<T>,
    ) -> Self {
        let depth_block = k.div_ceil(k.div_ceil(longest_block::<T>()));
        let column_block = n.min(COLUMN_BLOCK);
        let row_panels = m.div_ceil(kernels.rows());
        let column_tiles = column_block.div_ceil(kernels.columns);
        // Reading an operand in place saves the copy. A few panels of rows do not earn it back; for
        // more, the rows of a tile's columns must lie so close that they stay in the first-level
        // cache, since rows far apart compete for its lines and each need a page.
        let bytes = |count: usize| count.saturating_mul(depth_block * size_of::<T>());
        let in_place = kernels.reads_in_place && b.column == 1;
        let pack_b = !in_place || (row_panels > 16 && bytes(b.row.unsigned_abs()) > NEAR);
        let conflicts = (a.row.unsigned_abs() * size_of::<T>()).is_multiple_of(4096) && m > 8;
        let pack_a = column_tiles > 3 && (conflicts || bytes(m) > CACHE);
        let work = m.saturating_mul(column_block).saturating_mul(depth_block);
        let wanted = (work / CHUNK_WORK).clamp(1, 32);
        // A chunk's panels of the left operand should stay in the second-level cache.
        let cache_rows = (CACHE / 4 / size_of::<T>() / depth_block).max(2 * kernels.rows());
        let row_chunks = m
            .div_ceil(cache_rows)
            .max(wanted.min(row_panels.div_ceil(2)))
            .clamp(1, row_panels);
        let column_chunks = (wanted / row_chunks).clamp(1, column_tiles.div_ceil(4));
        Self {
            depth_block,
            column_block,
            pack_a,
            pack_b,
            row_chunks,
            column_chunks,
        }
    }
}

/// Bytes over which the rows of a tile's columns may be spread to be read in place.
const NEAR: usize = 1 << 18;
/// Bytes that stay in a core's own cache.
const CACHE: usize = 1 << 20;

struct Product<'a, T: 'static> {
    shape: (usize, usize, usize),
    a: Matrix<T>,
    b: Matrix<T>,
    c: MatrixMut<T>,
    kernels: &'a Kernels<T>,
    plan: Plan,
    update: Update,
}

// SAFETY: chunks read `a` and `b` and write disjoint ranges of `c`.
unsafe impl<T: Sync> Sync for Product<'_, T> {}

/// Where the right operand's tiles are read from.
#[derive(Clone, Copy)]
enum Columns<T> {
    /// Panels of this many rows, from the packed buffer.
    Packed(*const T),
    InPlace,
}

// SAFETY: read only while the buffer lives.
unsafe impl<T> Sync for Columns<T> {}

impl<T: HasKernels + Arithmetic + bytemuck::Pod + Sync> Product<'_, T> {
    /// # Safety
    /// As [`gemm`].
    unsafe fn run(&self, context: &Context<'_>) -> Result<(), KernelError> {
        let (_, n, k) = self.shape;
        let width = self.kernels.columns;
        let (depth_block, column_block) = (self.plan.depth_block, self.plan.column_block);
        let packed_len = if self.plan.pack_b {
            column_block.next_multiple_of(width) * depth_block
        } else {
            0
        };
        let mut packed = PoolBuffer::for_elements::<T>(packed_len)?;
        let packed = packed.as_mut_ptr().cast::<T>();
        let failed = AtomicBool::new(false);
        for column in (0..n).step_by(column_block) {
            let columns = column_block.min(n - column);
            for start in (0..k).step_by(depth_block) {
                let depth = depth_block.min(k - start);
                let source = if self.plan.pack_b {
                    // SAFETY: the buffer holds `column_block` padded columns of `depth_block`
                    // elements.
                    unsafe {
                        self.pack_columns(
                            context,
                            column..column + columns,
                            start..start + depth,
                            packed,
                        )
                    };
                    Columns::Packed(packed.cast_const())
                } else {
                    Columns::InPlace
                };
                let source = &source;
                let chunks = self.plan.row_chunks * self.plan.column_chunks;
                context.parallel_for(chunks, |chunk| {
                    // SAFETY: promised by the caller; each chunk has its own range of `c`.
                    let done = unsafe {
                        self.chunk(
                            chunk,
                            column..column + columns,
                            start..start + depth,
                            *source,
                        )
                    };
                    if done.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                });
            }
        }
        if failed.into_inner() {
            Err(KernelError::new("out of memory while packing a matrix"))
        } else {
            Ok(())
        }
    }

    /// Packs `columns` of the right operand for the steps `depth`.
    unsafe fn pack_columns(
        &self,
        context: &Context<'_>,
        columns: std::ops::Range<usize>,
        depth: std::ops::Range<usize>,
        to: *mut T,
    ) {
        struct Target<T>(*mut T);
        // SAFETY: chunks write disjoint panels.
        unsafe impl<T> Sync for Target<T> {}
        let target = &Target(to);
        let width = self.kernels.columns;
        let panels = columns.len().div_ceil(width);
        let per_chunk = (1usize << 16).div_ceil(width * depth.len()).min(panels);
        context.parallel_for(panels.div_ceil(per_chunk), |chunk| {
            for panel in chunk * per_chunk..panels.min((chunk + 1) * per_chunk) {
                let first = columns.start + panel * width;
                let count = width.min(columns.end - first);
                // SAFETY: columns and steps are inside the operand, the panel inside the buffer.
                unsafe {
                    (self.kernels.pack_right)(&Panel {
                        from: self.b.at(depth.start, first),
                        across: self.b.column,
                        along: self.b.row,
                        count,
                        depth: depth.len(),
                        width,
                        to: target.0.add(panel * width * depth.len()),
                    });
                }
            }
        });
    }

    /// Computes one chunk of the result for one block of columns and of the inner dimension.
    unsafe fn chunk(
        &self,
        chunk: usize,
        columns: std::ops::Range<usize>,
        depth: std::ops::Range<usize>,
        source: Columns<T>,
    ) -> Result<(), KernelError> {
        let m = self.shape.0;
        let width = self.kernels.columns;
        let first = |count: usize, chunks: usize, index: usize| count * index / chunks;
        let (row_chunk, column_chunk) = (
            chunk / self.plan.column_chunks,
            chunk % self.plan.column_chunks,
        );
        let panels = m.div_ceil(self.kernels.rows());
        let panels = first(panels, self.plan.row_chunks, row_chunk)
            ..first(panels, self.plan.row_chunks, row_chunk + 1);
        let tiles = columns.len().div_ceil(width);
        let tiles = first(tiles, self.plan.column_chunks, column_chunk)
            ..first(tiles, self.plan.column_chunks, column_chunk + 1);
        // Panels of nearly equal height waste no registers on a small remainder.
        let all_panels = m.div_ceil(self.kernels.rows());
        let row = |panel: usize| m * panel / all_panels;
        let first_row = row(panels.start);
        let packed_rows = if self.plan.pack_a {
            row(panels.end) - first_row
        } else {
            0
        };
        let mut packed = PoolBuffer::for_elements::<T>(packed_rows * depth.len())?;
        let packed = packed.as_mut_ptr().cast::<T>();
        // SAFETY: rows, columns and steps are inside the operands; the packed panels inside their
        // buffers.
        unsafe {
            if self.plan.pack_a {
                for panel in panels.clone() {
                    let (start, rows) = (row(panel), row(panel + 1) - row(panel));
                    (self.kernels.pack_left)(&Panel {
                        from: self.a.at(start, depth.start),
                        across: self.a.row,
                        along: self.a.column,
                        count: rows,
                        depth: depth.len(),
                        width: rows,
                        to: packed.add((start - first_row) * depth.len()),
                    });
                }
            }
            for index in tiles {
                let column = columns.start + index * width;
                let count = width.min(columns.end - column);
                let (b, b_step) = match source {
                    Columns::Packed(panels) => {
                        (panels.add(index * width * depth.len()), width as isize)
                    }
                    Columns::InPlace => (self.b.at(depth.start, column), self.b.row),
                };
                for panel in panels.clone() {
                    let (start, rows) = (row(panel), row(panel + 1) - row(panel));
                    let (a, a_row, a_step) = if self.plan.pack_a {
                        (
                            packed.add((start - first_row) * depth.len()).cast_const(),
                            1,
                            rows as isize,
                        )
                    } else {
                        (self.a.at(start, depth.start), self.a.row, self.a.column)
                    };
                    let tile = Tile {
                        depth: depth.len(),
                        segments: &[0],
                        a,
                        a_row,
                        a_step,
                        b,
                        b_step,
                        c: self.c.at(start, column),
                        c_row: self.c.row,
                        columns: count,
                        b_packed: matches!(source, Columns::Packed(_)),
                        update: if depth.start > 0 && self.update == Update::Set {
                            Update::Add
                        } else {
                            self.update
                        },
                    };
                    self.kernels.tile(rows, count)(&tile);
                }
            }
        }
        Ok(())
    }
}
