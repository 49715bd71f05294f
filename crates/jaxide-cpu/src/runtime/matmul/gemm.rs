//! The product of two matrices by tiles, blocked for the caches and split over threads.
//!
//! The inner dimension is cut into blocks whose length depends on the shape only, every element of
//! the result is summed by one thread in the order of these blocks, and so the result does not
//! depend on the number of threads.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
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
    if kernels.reads_in_place && m * n * k <= SMALL {
        if b.column == 1 {
            // SAFETY: promised by the caller; the columns are inside the operand.
            unsafe {
                let right = |column, _| (b.at(0, column), b.row);
                small(update, (m, n, k), kernels, &a, right, &c);
            }
            return Ok(());
        }
        if k * n.min(kernels.columns) * size_of::<T>() <= TURNED {
            let mut turned = Turned([MaybeUninit::uninit(); TURNED]);
            // SAFETY: promised by the caller; the panel holds so many columns, and each is turned before it is read.
            unsafe {
                let right = |column: usize, columns: usize| {
                    let to = turned.0.as_mut_ptr().cast::<T>();
                    (kernels.pack_right)(&Panel {
                        from: b.at(0, column),
                        across: b.column,
                        along: b.row,
                        count: columns,
                        depth: k,
                        width: columns,
                        to,
                    });
                    (to.cast_const(), columns as isize)
                };
                small(update, (m, n, k), kernels, &a, right, &c);
            }
            return Ok(());
        }
    }
    let plan = Plan::new((m, n, k), kernels, &a, &b, context.threads());
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

/// Bytes of a small product's right operand that are turned at once, on the stack.
const TURNED: usize = 1 << 14;

/// Columns of a right operand that were rows in memory.
#[repr(align(64))]
struct Turned([MaybeUninit<u8>; TURNED]);

/// A small product, its left operand read in place; `right` gives some columns of the other, and the distance of their rows.
///
/// # Safety
/// As [`gemm`]; `right` gives columns that are adjacent.
unsafe fn small<T>(
    update: Update,
    (m, n, k): (usize, usize, usize),
    kernels: &Kernels<T>,
    a: &Matrix<T>,
    mut right: impl FnMut(usize, usize) -> (*const T, isize),
    c: &MatrixMut<T>,
) {
    for column in (0..n).step_by(kernels.columns) {
        let columns = kernels.columns.min(n - column);
        let (b, b_step) = right(column, columns);
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
                    b,
                    b_step,
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
    right: Right,
    /// Chunks for threads: groups of row panels times groups of column tiles.
    row_chunks: usize,
    column_chunks: usize,
}

/// How the right operand is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Right {
    InPlace,
    /// Each chunk packs its columns for itself: what one core has written comes slowly to another whose caches hold all of it.
    PackedByChunk,
    /// Packed once, by all threads.
    PackedTogether,
}

/// Elements of the inner dimension that are summed in registers before the result is touched: fewer of those of which fewer panels fit the
/// first-level cache.
const fn longest_block<T>() -> usize {
    if size_of::<T>() <= 8 { 512 } else { 256 }
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
        threads: usize,
    ) -> Self {
        let depth_block = k.div_ceil(k.div_ceil(longest_block::<T>()));
        let column_block = n.min(COLUMN_BLOCK);
        let row_panels = m.div_ceil(kernels.rows());
        let column_tiles = column_block.div_ceil(kernels.columns);
        // Reading an operand in place saves the copy. One panel of rows does not earn it back; for
        // more, the rows of a tile's columns must lie so close that they stay in the caches, since
        // rows far apart compete for lines and each need a page.
        let bytes = |count: usize| count.saturating_mul(depth_block * size_of::<T>());
        let in_place = kernels.reads_in_place && b.column == 1;
        let pack_b = !in_place || (row_panels > 1 && bytes(b.row.unsigned_abs()) > NEAR);
        let conflicts = (a.row.unsigned_abs() * size_of::<T>()).is_multiple_of(4096) && m > 8;
        let pack_a = column_tiles > 3 && (conflicts || bytes(m) >= CACHE);
        let padded = n.next_multiple_of(kernels.columns);
        let fits = !pack_a && padded * k * size_of::<T>() <= CACHE;
        if pack_b
            && row_panels > FEW_PANELS
            && !fits
            && let Some((row_chunks, column_chunks)) = Self::large(
                m,
                column_tiles,
                bytes(column_tiles * kernels.columns),
                threads,
            )
        {
            return Self {
                depth_block,
                column_block,
                pack_a,
                right: Right::PackedByChunk,
                row_chunks,
                column_chunks,
            };
        }
        let right = match pack_b {
            false => Right::InPlace,
            true if row_panels <= FEW_PANELS => Right::PackedByChunk,
            true if fits => Right::PackedByChunk,
            true => Right::PackedTogether,
        };
        let work = m.saturating_mul(column_block).saturating_mul(k);
        // Each chunk packs its rows anew.
        let wanted = (work / CHUNK_WORK).clamp(1, if pack_a { 32 } else { 64 });
        let (row_chunks, column_chunks) = if right == Right::PackedByChunk {
            // Many rows for each column that is packed.
            let each = match padded * k * size_of::<T>() {
                0..=CACHE => 1,
                _ if pack_a => 8,
                _ => 4,
            };
            let column_chunks = wanted.min(column_tiles.div_ceil(each));
            let row_chunks = wanted.min(8) / column_chunks;
            (row_chunks.clamp(1, row_panels.div_ceil(8)), column_chunks)
        } else {
            let cache_rows = left_rows(kernels, depth_block);
            let row_chunks = m
                .div_ceil(cache_rows)
                .max(wanted.min(row_panels.div_ceil(2)))
                .clamp(1, row_panels);
            let column_chunks = (wanted / row_chunks).clamp(1, column_tiles.div_ceil(4));
            (row_chunks, column_chunks)
        };
        Self {
            depth_block,
            column_block,
            pack_a,
            right,
            row_chunks,
            column_chunks,
        }
    }

    /// Chunks of rows and of columns of a large product: as many columns as stay in a core's own cache for all rows that it multiplies with
    /// them, and as few rows as occupy all threads; twice as many chunks as threads if there are rows for them, so that a thread whose core is
    /// slower does less. None if too few rows are left for each.
    fn large(
        m: usize,
        column_tiles: usize,
        bytes: usize,
        threads: usize,
    ) -> Option<(usize, usize)> {
        let fewest = bytes.div_ceil(CACHE);
        let of = |least: usize| {
            let mut pairs = (1..=m / MANY_ROWS).flat_map(|rows| {
                (fewest..=column_tiles.min(2 * fewest)).map(move |columns| (rows, columns))
            });
            pairs.find(|(rows, columns)| {
                let chunks = rows * columns;
                chunks >= least && (chunks.is_multiple_of(threads) || chunks >= 4 * threads)
            })
        };
        let several = if threads > 1 { 2 * threads } else { 1 };
        of(several).or_else(|| of(1))
    }
}

/// Panels of rows that a chunk has all of, so that no other packs the same columns.
const FEW_PANELS: usize = 16;
/// Steps for which all panels are packed before the next ones are, by the distance of a panel's numbers: where these are neighbours, as many
/// streams as the processor foresees.
fn steps_at_once(across: isize, depth: usize) -> usize {
    if across == 1 { 8 } else { depth.max(1) }
}
/// Bytes over which the rows of a tile's columns may be spread to be read in place: lines so far apart that many sets of a second-level cache
/// hold several of them are evicted before the next panel of rows needs them, and where the third level is slow the product then takes twice
/// as long.
const NEAR: usize = 1 << 19;
/// Bytes of the right operand that are packed at once.
const PACKED: usize = 1 << 22;
/// Bytes that stay in a core's own cache.
const CACHE: usize = 1 << 20;

/// Rows of a chunk that are worth the copy of its columns.
const MANY_ROWS: usize = 256;

/// Rows of the left operand that stay in a core's own cache beside the right one's columns, for a block of so many steps.
fn left_rows<T>(kernels: &Kernels<T>, depth_block: usize) -> usize {
    (CACHE / 4 / size_of::<T>() / depth_block).max(2 * kernels.rows())
}

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

/// Where the columns that are packed together go.
#[derive(Clone, Copy)]
struct Packed<T>(*mut T);

// SAFETY: chunks write disjoint panels, and read when all are written.
unsafe impl<T> Sync for Packed<T> {}

impl<T: HasKernels + Arithmetic + bytemuck::Pod + Sync> Product<'_, T> {
    /// # Safety
    /// As [`gemm`].
    unsafe fn run(&self, context: &Context<'_>) -> Result<(), KernelError> {
        let (_, n, k) = self.shape;
        let column_block = self.plan.column_block;
        // Threads wait for one another once for all that is packed, and not at all where nothing is.
        let together = self.plan.right == Right::PackedTogether;
        let steps = if together {
            let block = self.padded(column_block) * self.plan.depth_block;
            (PACKED / (block * size_of::<T>()).max(1)).max(1) * self.plan.depth_block
        } else {
            k
        };
        let packed_len = if together {
            self.padded(column_block) * steps.min(k)
        } else {
            0
        };
        let mut packed = PoolBuffer::for_elements::<T>(packed_len)?;
        let packed = packed.as_mut_ptr().cast::<T>();
        let failed = AtomicBool::new(false);
        for column in (0..n).step_by(column_block) {
            let columns = column..n.min(column + column_block);
            for start in (0..k).step_by(steps) {
                let steps = start..k.min(start + steps);
                let packed = Packed(packed);
                if together {
                    // SAFETY: the buffer holds so many steps of `column_block` padded columns.
                    unsafe { self.pack_together(context, columns.clone(), steps.clone(), packed) };
                }
                let packed = &packed;
                let chunks = self.plan.row_chunks * self.plan.column_chunks;
                context.parallel_for(chunks, |chunk| {
                    // SAFETY: promised by the caller; each chunk has its own range of `c`.
                    let done =
                        unsafe { self.chunk(chunk, columns.clone(), steps.clone(), *packed) };
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

    /// So many columns with those that fill up the last panel.
    fn padded(&self, columns: usize) -> usize {
        columns.next_multiple_of(self.kernels.columns)
    }

    /// The blocks of the inner dimension of which `steps`, which begin at one, consist.
    fn blocks(&self, steps: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let block = self.plan.depth_block;
        (steps.start..steps.end)
            .step_by(block)
            .map(move |start| start..steps.end.min(start + block))
    }

    /// Packs `columns` of the right operand for `steps`: panel by panel for each block of these.
    unsafe fn pack_together(
        &self,
        context: &Context<'_>,
        columns: Range<usize>,
        steps: Range<usize>,
        to: Packed<T>,
    ) {
        let to = &to;
        let width = self.kernels.columns;
        let padded = self.padded(columns.len());
        let panels = padded / width;
        let per_chunk = (1usize << 16).div_ceil(width * steps.len()).min(panels);
        context.parallel_for(panels.div_ceil(per_chunk), |chunk| {
            let panels = chunk * per_chunk..panels.min((chunk + 1) * per_chunk);
            for depth in self.blocks(steps.clone()) {
                // SAFETY: columns and steps are inside the operand, the panels inside the buffer.
                unsafe {
                    let block = to.0.add((depth.start - steps.start) * padded);
                    let place = block.add(panels.start * width * depth.len());
                    self.pack_panels(panels.clone(), columns.clone(), depth, place);
                }
            }
        });
    }

    /// Packs those `panels` of which `columns` of the right operand consist for one block of steps.
    unsafe fn pack_panels(
        &self,
        panels: Range<usize>,
        columns: Range<usize>,
        depth: Range<usize>,
        to: *mut T,
    ) {
        let width = self.kernels.columns;
        let at_once = steps_at_once(self.b.column, depth.len());
        for start in (0..depth.len()).step_by(at_once) {
            for (index, panel) in panels.clone().enumerate() {
                let first = columns.start + panel * width;
                // SAFETY: columns and steps are inside the operand, the panel inside the buffer.
                unsafe {
                    (self.kernels.pack_right)(&Panel {
                        from: self.b.at(depth.start + start, first),
                        across: self.b.column,
                        along: self.b.row,
                        count: width.min(columns.end - first),
                        depth: at_once.min(depth.len() - start),
                        width,
                        to: to.add((index * depth.len() + start) * width),
                    });
                }
            }
        }
    }

    /// Computes one chunk of the result for one block of columns and `steps` of the inner dimension.
    unsafe fn chunk(
        &self,
        chunk: usize,
        columns: Range<usize>,
        steps: Range<usize>,
        together: Packed<T>,
    ) -> Result<(), KernelError> {
        let width = self.kernels.columns;
        let first = |count: usize, chunks: usize, index: usize| count * index / chunks;
        let (row_chunk, column_chunk) = (
            chunk / self.plan.column_chunks,
            chunk % self.plan.column_chunks,
        );
        let panels = first(self.panels(), self.plan.row_chunks, row_chunk)
            ..first(self.panels(), self.plan.row_chunks, row_chunk + 1);
        let tiles = columns.len().div_ceil(width);
        let tiles = first(tiles, self.plan.column_chunks, column_chunk)
            ..first(tiles, self.plan.column_chunks, column_chunk + 1);
        // Panels that are packed at once should stay in the second-level cache.
        let (at_once, packed_rows) = if self.plan.pack_a {
            let rows = left_rows(self.kernels, self.plan.depth_block);
            let at_once = (rows / self.kernels.rows()).min(panels.len());
            (at_once, at_once * self.kernels.rows())
        } else {
            (panels.len(), 0)
        };
        let at_once = at_once.max(1);
        let packed_columns = match self.plan.right {
            Right::PackedByChunk => tiles.len() * width,
            Right::InPlace | Right::PackedTogether => 0,
        };
        let longest = self.plan.depth_block.min(steps.len());
        let mut packed = PoolBuffer::for_elements::<T>((packed_rows + packed_columns) * longest)?;
        let packed = packed.as_mut_ptr().cast::<T>();
        for depth in self.blocks(steps.clone()) {
            // SAFETY: columns and steps are inside the operand, the panels inside their buffers.
            let right = unsafe {
                match self.plan.right {
                    Right::InPlace => ptr::null(),
                    Right::PackedByChunk => {
                        let to = packed.add(packed_rows * longest);
                        self.pack_panels(tiles.clone(), columns.clone(), depth.clone(), to);
                        to.cast_const()
                    }
                    Right::PackedTogether => {
                        let block = (depth.start - steps.start) * self.padded(columns.len());
                        let place = block + tiles.start * width * depth.len();
                        together.0.add(place).cast_const()
                    }
                }
            };
            for start in panels.clone().step_by(at_once) {
                let block = Block {
                    panels: start..panels.end.min(start + at_once),
                    tiles: tiles.clone(),
                    columns: columns.clone(),
                    depth: depth.clone(),
                };
                // SAFETY: the buffer holds so many panels; the rest is the caller's promise.
                unsafe { self.block(&block, packed, right) };
            }
        }
        Ok(())
    }

    /// Computes a block of the result; `left` is where its panels are packed, `right` what is packed of its columns.
    unsafe fn block(&self, block: &Block, left: *mut T, right: *const T) {
        let Block {
            panels,
            tiles,
            columns,
            depth,
        } = block;
        let width = self.kernels.columns;
        let (first_row, _) = self.rows(panels.start);
        // SAFETY: rows, columns and steps are inside the operands; the packed panels inside their
        // buffers.
        unsafe {
            if self.plan.pack_a {
                let steps = steps_at_once(self.a.row, depth.len());
                for step in (0..depth.len()).step_by(steps) {
                    for panel in panels.clone() {
                        let (start, rows) = self.rows(panel);
                        (self.kernels.pack_left)(&Panel {
                            from: self.a.at(start, depth.start + step),
                            across: self.a.row,
                            along: self.a.column,
                            count: rows,
                            depth: steps.min(depth.len() - step),
                            width: rows,
                            to: left.add((start - first_row) * depth.len() + step * rows),
                        });
                    }
                }
            }
            for (index, place) in tiles.clone().enumerate() {
                let column = columns.start + place * width;
                let count = width.min(columns.end - column);
                let (b, b_step) = match self.plan.right {
                    Right::InPlace => (self.b.at(depth.start, column), self.b.row),
                    Right::PackedByChunk | Right::PackedTogether => {
                        (right.add(index * width * depth.len()), width as isize)
                    }
                };
                for panel in panels.clone() {
                    let (start, rows) = self.rows(panel);
                    let (a, a_row, a_step) = if self.plan.pack_a {
                        let packed = left.add((start - first_row) * depth.len());
                        (packed.cast_const(), 1, rows as isize)
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
                        b_packed: self.plan.right != Right::InPlace,
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
    }

    /// Panels of which all rows consist.
    fn panels(&self) -> usize {
        self.shape.0.div_ceil(self.kernels.rows())
    }

    /// The first row of a panel, and how many it has: panels of nearly equal height waste no registers on a small remainder.
    fn rows(&self, panel: usize) -> (usize, usize) {
        let first = |panel| self.shape.0 * panel / self.panels();
        (first(panel), first(panel + 1) - first(panel))
    }
}

/// What a chunk computes at once: some of its panels of rows times its tiles among `columns`, for a block of steps.
struct Block {
    panels: Range<usize>,
    tiles: Range<usize>,
    columns: Range<usize>,
    depth: Range<usize>,
}
