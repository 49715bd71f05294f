//! Running sums, products, extrema and log-sums of exponentials along an axis.
//!
//! A line of adjacent elements is cut into blocks of fixed length, a block into segments that are
//! scanned side by side, so that the processor always has several independent additions to do. What
//! precedes a segment is combined with its elements afterwards (scan-then-propagate; Blelloch,
//! *Prefix sums and their applications*, 1990). A long line is shared out over threads after a
//! first pass that computes the blocks' totals in the same way, so the result does not depend on
//! how many threads there are. Along other axes than the last, whole rows are combined. Short lines,
//! and those whose rows are short, are scanned beside each other.

pub(crate) mod combine;
mod lines;
mod ordered;

use half::{bf16, f16};
use jaxide_core::DType;
use num_complex::Complex;

use combine::{Combine, LogSumExp, Max, Min, Prod, Stored, Sum};
use lines::beside_each_other;
use ordered::Ordered;

use super::matmul::Convert;
use super::shared::SharedSlice;
use super::simd::for_each_isa;
use super::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

/// What is accumulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CumulativeOp {
    /// Sums; integers wrap around.
    Sum,
    /// Products; integers wrap around.
    Prod,
    /// Largest elements so far; NaN as soon as there is one.
    Max,
    /// Smallest elements so far; NaN as soon as there is one.
    Min,
    /// log Σ exp, for floating-point types.
    LogSumExp,
}

/// The kernel of JAX's `cumsum`, `cumprod`, `cummax`, `cummin` and `cumlogsumexp` on dense arrays.
/// 16-bit floats are added and multiplied in single precision.
pub struct Cumulative {
    op: CumulativeOp,
    dtype: DType,
    shape: Shape,
}

/// An array as `outer × len × inner`, accumulated along the middle.
#[derive(Clone, Copy, Debug)]
struct Shape {
    outer: usize,
    len: usize,
    inner: usize,
    reverse: bool,
}

impl Cumulative {
    /// Accumulation along `axis` of arrays of this shape, from the end if `reverse`.
    ///
    /// # Errors
    /// If the operation is not defined for the element type: log-sums of other than real
    /// floating-point numbers, and extrema of complex numbers along long lines of adjacent ones.
    ///
    /// # Panics
    /// If `axis` is not a dimension.
    pub fn new(
        op: CumulativeOp,
        dtype: DType,
        shape: &[usize],
        axis: usize,
        reverse: bool,
    ) -> Result<Self, KernelError> {
        let shape = Shape {
            outer: shape[..axis].iter().product(),
            len: shape[axis],
            inner: shape[axis + 1..].iter().product(),
            reverse,
        };
        // Where there is a NaN the order of comparisons matters, and segments have their own.
        let cut = shape.inner == 1 && shape.len > SEGMENT;
        let extrema = matches!(op, CumulativeOp::Max | CumulativeOp::Min);
        if function(op, dtype, shape).is_none() || dtype.is_complex() && extrema && cut {
            return Err(KernelError::new(format!(
                "no running {op:?} of elements of type {}",
                dtype.short_name()
            )));
        }
        Ok(Self { op, dtype, shape })
    }
}

impl Kernel for Cumulative {
    fn signature(&self) -> Signature {
        let operand = (
            self.shape.outer * self.shape.len * self.shape.inner,
            self.dtype.size(),
        );
        Signature::of(&[operand], &[operand])
    }

    fn flushes_subnormals(&self) -> bool {
        true
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let function =
            function(self.op, self.dtype, self.shape).expect("checked when the kernel was made");
        function(buffers.input(0), buffers.output(0), self.shape, context)
    }
}

/// An accumulation for one operation and element type, on bytes.
type Function = fn(&[u8], &mut [u8], Shape, &Context<'_>) -> Result<(), KernelError>;

fn function(op: CumulativeOp, dtype: DType, shape: Shape) -> Option<Function> {
    macro_rules! function {
        ($($dtype:ident $t:ty: $($op:ident)*;)*) => {
            match (dtype, op) {
                $($((DType::$dtype, CumulativeOp::$op) => Some(accumulate::<$t, $op> as Function),)*)*
                _ => None,
            }
        };
    }
    // Elements of a row do not wait for each other.
    let in_rows = if shape.inner > 1 {
        function! {
            F32 f32: Max Min;
            F64 f64: Max Min;
        }
    } else {
        None
    };
    in_rows.or(function! {
        F16 f16: Sum Prod LogSumExp;
        F16 Ordered<f16, true>: Max;
        F16 Ordered<f16, false>: Min;
        BF16 bf16: Sum Prod LogSumExp;
        BF16 Ordered<bf16, true>: Max;
        BF16 Ordered<bf16, false>: Min;
        F32 f32: Sum Prod LogSumExp;
        F32 Ordered<f32, true>: Max;
        F32 Ordered<f32, false>: Min;
        F64 f64: Sum Prod LogSumExp;
        F64 Ordered<f64, true>: Max;
        F64 Ordered<f64, false>: Min;
        C64 Complex<f32>: Sum Prod Max Min;
        C128 Complex<f64>: Sum Prod Max Min;
        I8 i8: Sum Prod Max Min;
        I16 i16: Sum Prod Max Min;
        I32 i32: Sum Prod Max Min;
        I64 i64: Sum Prod Max Min;
        U8 u8: Sum Prod Max Min;
        U16 u16: Sum Prod Max Min;
        U32 u32: Sum Prod Max Min;
        U64 u64: Sum Prod Max Min;
        Bool u8: Max Min;
    })
}

/// Segments of a block, scanned side by side, and their length.
const SEGMENTS: usize = 8;
const SEGMENT: usize = 256;
const BLOCK: usize = SEGMENTS * SEGMENT;

/// Elements that make a chunk worth a thread's attention.
const CHUNK: usize = 1 << 13;

/// Rows of fewer elements are too short to be combined as a whole.
const SHORT_ROW: usize = 32;

fn accumulate<T: Stored, O: Combine<T::Acc>>(
    from: &[u8],
    to: &mut [u8],
    shape: Shape,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    let (from, to) = (
        bytemuck::cast_slice::<u8, T>(from),
        bytemuck::cast_slice_mut::<u8, T>(to),
    );
    if to.is_empty() {
        return Ok(());
    }
    if shape.inner == 1 && shape.len <= SEGMENT || (2..SHORT_ROW).contains(&shape.inner) {
        beside_each_other::<T, O>(from, to, shape, context);
        return Ok(());
    }
    if shape.inner > 1 {
        rows::<T, O>(from, to, shape, context);
        return Ok(());
    }
    let len = shape.len;
    let blocks = len.div_ceil(BLOCK);
    // Block `b` of a line counts from the line's first element in the direction of accumulation.
    let place = |line: usize, block: usize| {
        let (start, end) = (block * BLOCK, len.min((block + 1) * BLOCK));
        let (start, end) = if shape.reverse {
            (len - end, len - start)
        } else {
            (start, end)
        };
        line * len + start..line * len + end
    };
    let to = SharedSlice::new(to);
    let scan_block = |line: usize, block: usize, before: Option<T::Acc>| {
        let range = place(line, block);
        // SAFETY: blocks are disjoint, and no other call has this one.
        let to = unsafe { to.range(range.clone()) };
        scan::<T, O>(&from[range], to, shape.reverse, before)
    };
    let append = |before: Option<T::Acc>, total: T::Acc| {
        before.map_or(total, |before| O::combine(before, total))
    };
    if shape.outer > 1 || blocks < 4 {
        let group = CHUNK.div_ceil(len).min(shape.outer);
        context.parallel_for(shape.outer.div_ceil(group), |chunk| {
            for line in chunk * group..shape.outer.min((chunk + 1) * group) {
                let mut before = None;
                for block in 0..blocks {
                    before = Some(append(before, scan_block(line, block, before)));
                }
            }
        });
        return Ok(());
    }
    // One long line: first the totals of all blocks but the last, then the blocks.
    let mut totals = PoolBuffer::for_elements::<T::Acc>(blocks)?;
    let totals = totals.as_mut_slice::<T::Acc>();
    let group = CHUNK / BLOCK;
    let chunks = blocks.div_ceil(group);
    let shared = SharedSlice::new(totals);
    context.parallel_for(chunks, |chunk| {
        for block in chunk * group..blocks.min((chunk + 1) * group) {
            let value = block_total::<T, O>(&from[place(0, block)], shape.reverse);
            // SAFETY: no other chunk has this block.
            unsafe { shared.range(block..block + 1)[0] = value };
        }
    });
    let mut before = None;
    for total in totals.iter_mut() {
        before = Some(append(before, *total));
        *total = before.unwrap_or(*total);
    }
    let totals = &*totals;
    context.parallel_for(chunks, |chunk| {
        for block in chunk * group..blocks.min((chunk + 1) * group) {
            scan_block(0, block, block.checked_sub(1).map(|last| totals[last]));
        }
    });
    Ok(())
}

/// Element `i` of a block in the direction of accumulation.
#[inline(always)]
fn directed(i: usize, len: usize, reverse: bool) -> usize {
    if reverse { len - 1 - i } else { i }
}

/// The segments' running results, without what precedes them; calls `put(i, result)` for each
/// element and returns the segments' totals (the first `len.div_ceil(SEGMENT)` of them).
#[inline(always)]
fn scan_segments<T: Stored, O: Combine<T::Acc>>(
    from: &[T],
    reverse: bool,
    mut put: impl FnMut(usize, T::Acc),
) -> [T::Acc; SEGMENTS] {
    let len = from.len();
    let element = |i: usize| from[directed(i, len, reverse)].load();
    let mut acc = [T::Acc::default(); SEGMENTS];
    let full = len / SEGMENT;
    if full == SEGMENTS {
        for (segment, acc) in acc.iter_mut().enumerate() {
            *acc = element(segment * SEGMENT);
            put(segment * SEGMENT, *acc);
        }
        for i in 1..SEGMENT {
            for (segment, acc) in acc.iter_mut().enumerate() {
                *acc = O::combine(*acc, element(segment * SEGMENT + i));
                put(segment * SEGMENT + i, *acc);
            }
        }
        return acc;
    }
    for (segment, acc) in acc.iter_mut().enumerate().take(len.div_ceil(SEGMENT)) {
        let start = segment * SEGMENT;
        *acc = element(start);
        put(start, *acc);
        for i in start + 1..len.min(start + SEGMENT) {
            *acc = O::combine(*acc, element(i));
            put(i, *acc);
        }
    }
    acc
}

/// Joins the totals of the segments of `len` elements.
fn join<A: Copy, O: Combine<A>>(totals: [A; SEGMENTS], len: usize) -> A {
    totals[1..len.div_ceil(SEGMENT)]
        .iter()
        .fold(totals[0], |sum, &total| O::combine(sum, total))
}

/// The total of one block, computed as [`scan`] computes it.
#[inline(never)]
fn block_total<T: Stored, O: Combine<T::Acc>>(from: &[T], reverse: bool) -> T::Acc {
    if T::WIDENED {
        let mut wide = [T::Acc::default(); BLOCK];
        let wide = &mut wide[..from.len()];
        T::convert(from, wide);
        return block_total::<T::Acc, O>(wide, reverse);
    }
    join::<_, O>(scan_segments::<T, O>(from, reverse, |_, _| {}), from.len())
}

/// Scans one block after what precedes it, and returns the block's own total.
#[inline(never)]
fn scan<T: Stored, O: Combine<T::Acc>>(
    from: &[T],
    to: &mut [T],
    reverse: bool,
    before: Option<T::Acc>,
) -> T::Acc {
    let len = from.len();
    let mut local = [T::Acc::default(); BLOCK];
    if T::WIDENED {
        // As wholes, since that takes vectors.
        let mut results = [T::Acc::default(); BLOCK];
        let (wide, results) = (&mut local[..len], &mut results[..len]);
        T::convert(from, wide);
        let total = scan::<T::Acc, O>(wide, results, reverse, before);
        T::Acc::convert(results, to);
        return total;
    }
    let totals = scan_segments::<T, O>(from, reverse, |i, x| local[i] = x);
    let mut before_segment = before;
    for (segment, local) in local[..len].chunks(SEGMENT).enumerate() {
        let start = directed(segment * SEGMENT, len, reverse);
        let to = if reverse {
            &mut to[start + 1 - local.len()..=start]
        } else {
            &mut to[start..start + local.len()]
        };
        let put = |(to, x): (&mut T, &T::Acc)| {
            *to = T::store(before_segment.map_or(*x, |b| O::combine(b, *x)))
        };
        if reverse {
            to.iter_mut().rev().zip(local).for_each(put);
        } else {
            to.iter_mut().zip(local).for_each(put);
        }
        // What precedes the next segment: all of the block so far, after what precedes the block.
        let own = join::<_, O>(totals, (segment + 1) * SEGMENT);
        before_segment = Some(before.map_or(own, |b| O::combine(b, own)));
    }
    join::<_, O>(totals, len)
}

for_each_isa! {
    /// Combines a row with what precedes it.
    fn combine_row<T: Stored, O: Combine<T::Acc>>(acc: &mut [T::Acc], from: &[T], to: &mut [T]) = combine_row_with_any
}

#[inline(always)]
fn combine_row_with_any<T: Stored, O: Combine<T::Acc>>(
    acc: &mut [T::Acc],
    from: &[T],
    to: &mut [T],
) {
    for ((acc, x), to) in acc.iter_mut().zip(from).zip(to) {
        *acc = O::combine(*acc, x.load());
        *to = T::store(*acc);
    }
}

/// Accumulates along an axis that is not the last: row by row, for columns shared out over threads.
fn rows<T: Stored, O: Combine<T::Acc>>(
    from: &[T],
    to: &mut [T],
    shape: Shape,
    context: &Context<'_>,
) {
    let to = SharedSlice::new(to);
    // Columns whose results fit a small array; the same for every number of threads.
    const COLUMNS: usize = 512;
    let groups = shape.inner.div_ceil(COLUMNS);
    let units = shape.outer * groups;
    let per_chunk = CHUNK.div_ceil(shape.len * COLUMNS.min(shape.inner));
    context.parallel_for(units.div_ceil(per_chunk), |chunk| {
        for unit in chunk * per_chunk..units.min((chunk + 1) * per_chunk) {
            let (plane, first) = (unit / groups, unit % groups * COLUMNS);
            let columns = COLUMNS.min(shape.inner - first);
            let mut acc = [T::Acc::default(); COLUMNS];
            let acc = &mut acc[..columns];
            for i in 0..shape.len {
                let row = plane * shape.len + directed(i, shape.len, shape.reverse);
                let start = row * shape.inner + first;
                // SAFETY: these columns of the row are inside the array, and no other unit has
                // them.
                let to = unsafe { to.range(start..start + columns) };
                let from = &from[start..start + columns];
                if i == 0 {
                    T::convert(from, acc);
                    to.copy_from_slice(from);
                } else {
                    combine_row::<T, O>(acc, from, to);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests;
