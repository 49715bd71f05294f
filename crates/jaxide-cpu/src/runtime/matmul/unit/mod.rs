//! Contractions of 16-bit floats and of integers of 8 bits on the matrix unit of the processor, where it has one.
//!
//! The unit multiplies tiles of sixteen rows of 64 bytes. The left operand is read where it lies if its contracted dimension is
//! innermost; what is left of a row behind the last 64 bytes is filled up with zeros elsewhere. The right one is always packed
//! ([`pack`]). Four tiles of sums stay in registers over the whole contracted dimension, so that no sum depends on how the
//! work is cut up.
//!
//! Integers are summed exactly in 32 bits, of which a result of 8 bits is what is left. Truth values are summed as 0 and 1.
//! Products and sums of floats are rounded to `f32`, and take subnormal numbers for zero whatever the thread is set to: so the
//! unit computes for programs that do the same.

mod amx;
mod pack;

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use half::bf16;

use super::dot_general::{Order, contracted};
use super::{DotDimensions, Truth};
use crate::runtime::simd::nearest_bf16;
use crate::runtime::subnormals::FloatMode;
use crate::runtime::transpose::CopyPlan;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature, View};

use amx::{BYTES, Block, BlockFunctions, COLUMNS, ROWS, Tiles};
use pack::{Panel, TILE, first};

/// Elements that the unit multiplies, and the type of their sums.
pub trait UnitElement: bytemuck::Pod + Send + Sync {
    /// `f32`, or `i32`.
    type Sum: bytemuck::Pod + Send + Sync;
}

/// The functions for an element type.
pub trait HasFunctions: UnitElement {
    /// By tiles of rows and of columns.
    const FUNCTIONS: BlockFunctions;
}

/// Sums as elements of a result.
pub trait Finish<Out>: Copy {
    /// The element.
    fn finish(self) -> Out;
}

macro_rules! elements {
    ($($t:ty, $sum:ty, $functions:ident;)*) => { $(
        impl UnitElement for $t {
            type Sum = $sum;
        }
        impl HasFunctions for $t {
            const FUNCTIONS: BlockFunctions = amx::$functions;
        }
    )* };
}
elements! {
    bf16, f32, FLOATS;
    i8, i32, SIGNED;
    u8, i32, UNSIGNED;
    Truth, i32, UNSIGNED;
}

macro_rules! results {
    ($($sum:ty => $out:ty: $finish:expr;)*) => { $(impl Finish<$out> for $sum {
        #[inline(always)]
        fn finish(self) -> $out {
            $finish(self)
        }
    })* };
}
results! {
    f32 => f32: |x| x;
    f32 => bf16: nearest_bf16;
    i32 => i32: |x| x;
    i32 => i8: |x| x as i8;
    i32 => Truth: |x| Truth(u8::from(x != 0));
}

/// A contraction as the unit computes it, and the kernel for processors and programs that it is not for.
pub struct UnitDot<In, Out> {
    plan: Plan,
    otherwise: Box<dyn Kernel>,
    types: PhantomData<fn(In) -> Out>,
}

/// What a contraction takes without the unit.
#[derive(Clone, Copy)]
pub struct Otherwise {
    /// Products that a vector has.
    pub lanes: usize,
    /// Picoseconds that it takes to convert an element and lay it out.
    pub conversion: usize,
}

/// The kernel of a contraction, which is another's without the unit; `None` where the other is as fast.
pub fn unit_dot<In, Out>(
    lhs: &View,
    rhs: &View,
    dimensions: &DotDimensions,
    cost: Otherwise,
    otherwise: impl FnOnce() -> Box<dyn Kernel>,
) -> Option<UnitDot<In, Out>>
where
    In: UnitElement,
{
    let plan = Plan::new(lhs, rhs, dimensions, size_of::<In>());
    (amx::is_available() && plan.is_worth_it(cost)).then(|| UnitDot {
        plan,
        otherwise: otherwise(),
        types: PhantomData,
    })
}

/// A batch of products of matrices.
struct Plan {
    count: usize,
    m: usize,
    n: usize,
    k: usize,
    element: usize,
    left: Operand,
    right: Operand,
    /// Whether columns of the right operand, not its rows, have their elements adjacent.
    in_columns: bool,
}

/// Where an operand's lines of adjacent elements are: distances in elements.
struct Operand {
    copy: Option<CopyPlan>,
    offset: usize,
    batch: isize,
    line: isize,
}

impl Operand {
    /// An operand in which the inner axes lie as one of adjacent elements, and the others as one axis each.
    fn in_place(view: &View, [batch, lines, inner]: [&[usize]; 3]) -> Option<Self> {
        let step = |axes: &[usize]| contracted(view, axes.iter().copied());
        if step(inner)? != 1 {
            return None;
        }
        Some(Self {
            copy: None,
            offset: view.offset,
            batch: step(batch)?,
            line: step(lines)?,
        })
    }

    fn copied(view: &View, [batch, lines, inner]: [&[usize]; 3]) -> Self {
        let size = |axes: &[usize]| axes.iter().map(|&a| view.shape[a]).product::<usize>();
        Self {
            copy: Some(CopyPlan::new(
                &view.permuted(&[batch, lines, inner].concat()),
            )),
            offset: 0,
            batch: (size(lines) * size(inner)) as isize,
            line: size(inner) as isize,
        }
    }

    /// The elements in a copy, if that is needed, which lives as long as the buffer.
    fn prepare<In: UnitElement>(
        &self,
        data: &[In],
        copied: &mut PoolBuffer,
        context: &Context<'_>,
    ) -> Result<*const u8, KernelError> {
        let Some(copy) = &self.copy else {
            return Ok(data.as_ptr().wrapping_add(self.offset).cast());
        };
        *copied = PoolBuffer::for_elements::<In>(copy.len())?;
        copy.copy(data, copied.as_mut_slice(), context);
        Ok(copied.as_ptr())
    }
}

/// Rows and columns of a block.
const SIDE: usize = 2 * ROWS;
/// Products of tiles that make a chunk worth a thread's attention, about 5 µs.
const CHUNK: usize = 800;
/// Bytes of the left operand that stay in a core's own cache while columns pass.
const CACHE: usize = 1 << 19;

impl Plan {
    fn new(lhs: &View, rhs: &View, dimensions: &DotDimensions, element: usize) -> Self {
        lhs.check();
        rhs.check();
        let order = Order::new(lhs, rhs, dimensions);
        let size = |view: &View, axes: &[usize]| axes.iter().map(|&a| view.shape[a]).product();
        let left = [
            &order.lhs_batch[..],
            &order.lhs_free,
            &order.lhs_contracting,
        ];
        let columns = [
            &order.rhs_batch[..],
            &order.rhs_free,
            &order.rhs_contracting,
        ];
        let rows = [
            &order.rhs_batch[..],
            &order.rhs_contracting,
            &order.rhs_free,
        ];
        let in_columns = Operand::in_place(rhs, columns);
        Self {
            count: size(lhs, &order.lhs_batch),
            m: size(lhs, &order.lhs_free),
            n: size(rhs, &order.rhs_free),
            k: size(lhs, &order.lhs_contracting),
            element,
            left: Operand::in_place(lhs, left).unwrap_or_else(|| Operand::copied(lhs, left)),
            in_columns: in_columns.is_some(),
            right: in_columns
                .or_else(|| Operand::in_place(rhs, rows))
                .unwrap_or_else(|| Operand::copied(rhs, rows)),
        }
    }

    fn out_len(&self) -> usize {
        self.count * self.m * self.n
    }

    /// Whether the unit is faster than other kernels. All numbers are rough ones, of picoseconds on one machine.
    fn is_worth_it(&self, Otherwise { lanes, conversion }: Otherwise) -> bool {
        let (m, n, k) = (self.m, self.n, self.k);
        if self.out_len() == 0 || k == 0 {
            return false;
        }
        let sum = |terms: &[[usize; 3]]| {
            let products = terms
                .iter()
                .map(|[a, b, c]| a.saturating_mul(*b).saturating_mul(*c));
            products.fold(0usize, usize::saturating_add)
        };
        let (steps, columns) = (self.steps(), n.div_ceil(COLUMNS));
        let rest = usize::from(!(k * self.element).is_multiple_of(BYTES));
        let unit = sum(&[
            [70_000, 1, 1],
            [6_000 * steps, m.div_ceil(ROWS), columns],
            [25_000, steps, columns],
            [2_500, m, rest],
            [60_000, m.div_ceil(SIDE), self.panels()],
        ]);
        let vectors = if m.min(n) == 1 {
            m.saturating_mul(n).saturating_mul(k).div_ceil(lanes)
        } else {
            m.saturating_mul(k).saturating_mul(n.div_ceil(lanes))
        };
        let others = sum(&[
            [50_000, 1, 1],
            [220, vectors, 1],
            [conversion, m, k],
            [conversion, k, n],
            [conversion, m, n],
        ]);
        unit.saturating_mul(self.count).saturating_add(200_000) < others.saturating_mul(self.count)
    }

    /// Steps of 64 bytes, the last of which may be shorter.
    fn steps(&self) -> usize {
        (self.k * self.element).div_ceil(BYTES)
    }

    fn panels(&self) -> usize {
        self.n.div_ceil(SIDE)
    }

    /// Bytes of a packed right operand.
    fn packed(&self) -> usize {
        self.n.div_ceil(COLUMNS) * self.steps() * TILE
    }

    /// Packs right operands.
    fn pack(&self, right: *const u8, packed: &mut PoolBuffer, context: &Context<'_>) {
        struct Pointers(*const u8, *mut u8);
        // SAFETY: chunks read the operand and write disjoint panels.
        unsafe impl Sync for Pointers {}
        let pointers = &Pointers(right, packed.as_mut_ptr());
        let panels = self.panels();
        let group = (CHUNK * 64)
            .div_ceil(self.steps() * TILE)
            .min(self.count * panels);
        context.parallel_for((self.count * panels).div_ceil(group), |chunk| {
            for index in chunk * group..(self.count * panels).min((chunk + 1) * group) {
                let (batch, first) = (index / panels, index % panels * SIDE);
                let element = self.element as isize;
                let across = if self.in_columns { self.right.line } else { 1 };
                let from = (batch as isize * self.right.batch + first as isize * across) * element;
                let to = batch * self.packed() + first / COLUMNS * self.steps() * TILE;
                let panel = Panel {
                    from: pointers.0.wrapping_offset(from),
                    stride: self.right.line * element,
                    columns: SIDE.min(self.n - first),
                    depth: self.k,
                    to: pointers.1.wrapping_add(to),
                };
                // SAFETY: machines with the unit have the instructions; columns and steps are those of the operand.
                unsafe {
                    match (self.in_columns, self.element) {
                        (true, _) => pack::pack_columns(&panel, self.element),
                        (false, 1) => pack::pack_rows::<1>(&panel),
                        (false, _) => pack::pack_rows::<2>(&panel),
                    }
                }
            }
        });
    }
}

/// The arrays of a call.
struct Arrays<Out> {
    left: *const u8,
    packed: *const u8,
    out: *mut Out,
}

// SAFETY: chunks read the operands and write disjoint blocks of the result.
unsafe impl<Out> Sync for Arrays<Out> {}

impl<In, Out> Kernel for UnitDot<In, Out>
where
    In: HasFunctions,
    In::Sum: Finish<Out>,
    Out: bytemuck::Pod + Send + Sync,
{
    fn signature(&self) -> Signature {
        self.otherwise.signature()
    }

    fn flushes_subnormals(&self) -> bool {
        self.otherwise.flushes_subnormals()
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let mode = FloatMode::current();
        let keeps_subnormals =
            TypeId::of::<In::Sum>() == TypeId::of::<f32>() && mode != mode.flushing();
        if keeps_subnormals || !amx::is_available() {
            return self.otherwise.run(buffers, context);
        }
        let plan = &self.plan;
        let out = buffers.output::<Out>(0);
        assert_eq!(out.len(), plan.out_len(), "a result of all blocks");
        let arrays = Arrays {
            left: std::ptr::null(),
            packed: std::ptr::null(),
            out: out.as_mut_ptr(),
        };
        let (mut left, mut right) = (PoolBuffer::new(0)?, PoolBuffer::new(0)?);
        let mut packed = PoolBuffer::new(plan.count * plan.packed())?;
        let right = plan
            .right
            .prepare::<In>(buffers.input(1), &mut right, context)?;
        plan.pack(right, &mut packed, context);
        let arrays = &Arrays {
            left: plan
                .left
                .prepare::<In>(buffers.input(0), &mut left, context)?,
            packed: packed.as_ptr(),
            ..arrays
        };
        let blocks = plan.m.div_ceil(SIDE);
        let panels = plan.panels();
        let wanted = (blocks * panels * plan.steps() * 4 * plan.count / CHUNK).clamp(1, 32);
        // Groups of blocks whose rows stay in the cache, and of panels, of each product.
        let high = (CACHE / (SIDE * plan.k * plan.element)).max(1);
        let rows = blocks
            .div_ceil(high)
            .max((wanted / plan.count).min(blocks))
            .max(1);
        let columns = (wanted / plan.count / rows).clamp(1, panels);
        let units = plan.count * rows * columns;
        let group = units.div_ceil(wanted.max(rows * columns));
        let failed = AtomicBool::new(false);
        context.parallel_for(units.div_ceil(group), |chunk| {
            // SAFETY: the unit is there; this thread has no other tiles while it works for this chunk.
            let mut tiles = unsafe { Tiles::new() };
            for unit in chunk * group..units.min((chunk + 1) * group) {
                let part = |index: usize, parts: usize, all: usize| {
                    all * index / parts..all * (index + 1) / parts
                };
                let blocks = part(unit / columns % rows, rows, blocks);
                let rows_of_unit = blocks.start * SIDE..plan.m.min(blocks.end * SIDE);
                let panels = part(unit % columns, columns, panels);
                let batch = unit / columns / rows;
                if self
                    .blocks(arrays, batch, rows_of_unit, panels, &mut tiles)
                    .is_err()
                {
                    failed.store(true, Ordering::Relaxed);
                }
            }
        });
        if failed.into_inner() {
            return Err(KernelError::new("out of memory while filling up rows"));
        }
        Ok(())
    }
}

/// Sums of a block on their way to the result.
#[repr(align(64))]
struct Sums<S>([[S; SIDE]; SIDE]);

impl<In, Out> UnitDot<In, Out>
where
    In: HasFunctions,
    In::Sum: Finish<Out>,
    Out: bytemuck::Pod,
{
    /// The blocks of these rows and panels of one product.
    fn blocks(
        &self,
        arrays: &Arrays<Out>,
        batch: usize,
        rows: Range<usize>,
        panels: Range<usize>,
        tiles: &mut Tiles,
    ) -> Result<(), KernelError> {
        let plan = &self.plan;
        let bytes = plan.k * plan.element;
        let (steps, rest) = (bytes / BYTES, bytes % BYTES);
        let line = plan.left.line * plan.element as isize;
        let left = |row: usize| {
            let batch = batch as isize * plan.left.batch * plan.element as isize;
            arrays.left.wrapping_offset(batch + row as isize * line)
        };
        let mut ends = PoolBuffer::new(if rest > 0 { rows.len() * BYTES } else { 0 })?;
        if rest > 0 {
            let to = ends.as_mut_ptr();
            for row in rows.clone() {
                // SAFETY: a row has `bytes`, the last `rest` of which are behind whole steps; the buffer has 64 for each row.
                unsafe {
                    let to = to.add((row - rows.start) * BYTES);
                    end_of_row(left(row).add(steps * BYTES), rest, to);
                }
            }
        }
        let mut sums = Sums([[<In::Sum as bytemuck::Zeroable>::zeroed(); SIDE]; SIDE]);
        let in_place = TypeId::of::<Out>() == TypeId::of::<In::Sum>();
        for panel in panels {
            let column = panel * SIDE;
            let columns = SIDE.min(plan.n - column);
            let place = batch * plan.packed() + column / COLUMNS * plan.steps() * TILE;
            for row in rows.clone().step_by(SIDE) {
                let height = SIDE.min(rows.end - row);
                tiles.shape(height);
                let end = |row: usize| {
                    if rest == 0 {
                        std::ptr::null()
                    } else {
                        ends.as_ptr().wrapping_add((row - rows.start) * BYTES)
                    }
                };
                let result = arrays
                    .out
                    .wrapping_add((batch * plan.m + row) * plan.n + column);
                let direct = in_place && columns.is_multiple_of(COLUMNS);
                let (to, to_row) = if direct {
                    (result.cast::<u8>(), plan.n * size_of::<Out>())
                } else {
                    (sums.0.as_mut_ptr().cast(), SIDE * size_of::<In::Sum>())
                };
                let second = row + ROWS;
                let block = Block {
                    left: [left(row), left(second)],
                    left_row: line,
                    steps,
                    rest: [end(row), end(second)],
                    right: arrays.packed.wrapping_add(place),
                    out: [to, to.wrapping_add(ROWS * to_row)],
                    out_row: to_row as isize,
                };
                let function =
                    In::FUNCTIONS[usize::from(height > ROWS)][usize::from(columns > COLUMNS)];
                // SAFETY: the tiles have the shape for `height` rows; rows, steps and columns are inside the operands, and the
                // result, or the block of sums, has as many.
                unsafe {
                    function(&block);
                    if !direct {
                        finish(&sums.0, result, plan.n, height, columns);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Copies the last bytes of a row, with zeros behind them.
///
/// # Safety
/// There are so many bytes, and 64 in the target.
#[inline(always)]
unsafe fn end_of_row(from: *const u8, count: usize, to: *mut u8) {
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn masked(from: *const u8, count: usize, to: *mut u8) {
        use std::arch::x86_64::*;
        // SAFETY: the mask leaves out what is behind the bytes.
        unsafe {
            let bytes = _mm512_maskz_loadu_epi8(first(count), from.cast());
            _mm512_storeu_si512(to.cast(), bytes);
        }
    }
    // SAFETY: machines with the unit have the instructions; the rest is the caller's promise.
    unsafe { masked(from, count, to) }
}

/// Writes sums as elements of the result, whose rows are so far apart.
///
/// # Safety
/// The machine has AVX-512; the result has so many rows and columns.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
unsafe fn finish<S: Finish<Out>, Out>(
    sums: &[[S; SIDE]; SIDE],
    to: *mut Out,
    to_row: usize,
    rows: usize,
    columns: usize,
) {
    // Rows of whole tiles are loops of known length, which become vectors.
    macro_rules! whole {
        ($columns:expr) => {
            for (i, sums) in sums[..rows].iter().enumerate() {
                let to = to
                    .wrapping_add(i * to_row)
                    .cast::<[MaybeUninit<Out>; $columns]>();
                // SAFETY: the result has the row.
                let to = unsafe { &mut *to };
                for (to, sum) in to.iter_mut().zip(sums) {
                    to.write(sum.finish());
                }
            }
        };
    }
    match columns {
        COLUMNS => whole!(COLUMNS),
        SIDE => whole!(SIDE),
        _ => {
            for (i, sums) in sums[..rows].iter().enumerate() {
                let to = to.wrapping_add(i * to_row);
                for (j, sum) in sums[..columns].iter().enumerate() {
                    // SAFETY: the result has the element.
                    unsafe { to.add(j).write(sum.finish()) };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
