//! Running sums, products, extrema and log-sums of exponentials along an axis.
//!
//! A line of adjacent elements is cut into blocks of fixed length, a block into segments that are
//! scanned side by side, so that the processor always has several independent additions to do. What
//! precedes a segment is combined with its elements afterwards (scan-then-propagate; Blelloch,
//! *Prefix sums and their applications*, 1990). A long line is shared out over threads after a
//! first pass that computes the blocks' totals in the same way, so the result does not depend on
//! how many threads there are. Along other axes than the last, whole rows are combined. Short lines,
//! and those whose rows are short, are scanned beside each other.

use half::{bf16, f16};
use jaxide_core::DType;
use num_complex::Complex;

use super::shared::SharedSlice;
use super::simd::Arithmetic;
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
/// 16-bit floats are accumulated in single precision.
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
    /// If the operation is not defined for the element type: extrema of complex numbers, log-sums
    /// of other than real floating-point numbers.
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
        if function(op, dtype).is_none() {
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

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let function = function(self.op, self.dtype).expect("checked when the kernel was made");
        function(buffers.input(0), buffers.output(0), self.shape, context)
    }
}

/// An accumulation for one operation and element type, on bytes.
type Function = fn(&[u8], &mut [u8], Shape, &Context<'_>) -> Result<(), KernelError>;

fn function(op: CumulativeOp, dtype: DType) -> Option<Function> {
    macro_rules! function {
        ($($dtype:ident $t:ty: $($op:ident)*;)*) => {
            match (dtype, op) {
                $($((DType::$dtype, CumulativeOp::$op) => Some(accumulate::<$t, $op> as Function),)*)*
                _ => None,
            }
        };
    }
    function! {
        F16 f16: Sum Prod Max Min LogSumExp;
        BF16 bf16: Sum Prod Max Min LogSumExp;
        F32 f32: Sum Prod Max Min LogSumExp;
        F64 f64: Sum Prod Max Min LogSumExp;
        C64 Complex<f32>: Sum Prod;
        C128 Complex<f64>: Sum Prod;
        I8 i8: Sum Prod Max Min;
        I16 i16: Sum Prod Max Min;
        I32 i32: Sum Prod Max Min;
        I64 i64: Sum Prod Max Min;
        U8 u8: Sum Prod Max Min;
        U16 u16: Sum Prod Max Min;
        U32 u32: Sum Prod Max Min;
        U64 u64: Sum Prod Max Min;
        Bool u8: Max Min;
    }
}

/// An element in memory, and the type it is accumulated in.
trait Stored: bytemuck::Pod + Send + Sync {
    type Acc: Copy + Default + Send + Sync + bytemuck::Pod;
    fn load(self) -> Self::Acc;
    fn store(acc: Self::Acc) -> Self;
}

macro_rules! stored {
    ($($t:ty)*) => { $(impl Stored for $t {
        type Acc = $t;
        #[inline(always)]
        fn load(self) -> $t {
            self
        }
        #[inline(always)]
        fn store(acc: $t) -> $t {
            acc
        }
    })* };
}
stored!(f32 f64 Complex<f32> Complex<f64> i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! stored_half {
    ($($t:ty)*) => { $(impl Stored for $t {
        type Acc = f32;
        #[inline(always)]
        fn load(self) -> f32 {
            self.to_f32()
        }
        #[inline(always)]
        fn store(acc: f32) -> $t {
            <$t>::from_f32(acc)
        }
    })* };
}
stored_half!(f16 bf16);

/// An associative operation; `a` comes before `b`.
trait Combine<T> {
    fn combine(a: T, b: T) -> T;
}

struct Sum;
struct Prod;
struct Max;
struct Min;
struct LogSumExp;

impl<T: Arithmetic> Combine<T> for Sum {
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        a.plus(b)
    }
}

impl<T: Arithmetic> Combine<T> for Prod {
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        a.times(b)
    }
}

macro_rules! float_extrema {
    ($($t:ty)*) => { $(
        impl Combine<$t> for Max {
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                // NaN stays, and 0 is larger than -0.
                if a > b || a.is_nan() || (a == b && a.is_sign_positive()) { a } else { b }
            }
        }

        impl Combine<$t> for Min {
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                if a < b || a.is_nan() || (a == b && a.is_sign_negative()) { a } else { b }
            }
        }
    )* };
}
float_extrema!(f32 f64);

macro_rules! integer_extrema {
    ($($t:ty)*) => { $(
        impl Combine<$t> for Max {
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                a.max(b)
            }
        }

        impl Combine<$t> for Min {
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                a.min(b)
            }
        }
    )* };
}
integer_extrema!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! log_sum_exp {
    ($($t:ty)*) => { $(impl Combine<$t> for LogSumExp {
        #[inline(always)]
        fn combine(a: $t, b: $t) -> $t {
            let difference = a - b;
            if difference.is_nan() {
                // Equal infinities have no difference, and are their own result.
                return a + b;
            }
            a.max(b) + (-difference.abs()).exp().ln_1p()
        }
    })* };
}
log_sum_exp!(f32 f64);

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
fn block_total<T: Stored, O: Combine<T::Acc>>(from: &[T], reverse: bool) -> T::Acc {
    join::<_, O>(scan_segments::<T, O>(from, reverse, |_, _| {}), from.len())
}

/// Scans one block after what precedes it, and returns the block's own total.
fn scan<T: Stored, O: Combine<T::Acc>>(
    from: &[T],
    to: &mut [T],
    reverse: bool,
    before: Option<T::Acc>,
) -> T::Acc {
    let len = from.len();
    let mut local = [T::Acc::default(); BLOCK];
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

/// Accumulates along lines that are short, or near each other, eight at a time, so that the processor
/// has several independent combinations to do. Each line is combined element by element.
fn beside_each_other<T: Stored, O: Combine<T::Acc>>(
    from: &[T],
    to: &mut [T],
    shape: Shape,
    context: &Context<'_>,
) {
    const BESIDE: usize = 8;
    let Shape {
        outer,
        len,
        inner,
        reverse,
    } = shape;
    let plane = len * inner;
    let planes = CHUNK.div_ceil(plane).min(outer);
    let to = SharedSlice::new(to);
    context.parallel_for(outer.div_ceil(planes), |chunk| {
        let range = chunk * planes * plane..outer.min((chunk + 1) * planes) * plane;
        let from = &from[range.clone()];
        // SAFETY: the planes of a chunk are inside the array, and no other chunk has them.
        let to = unsafe { to.range(range) };
        let lines = to.len() / len;
        let first = |line: usize| {
            let start = line / inner * plane + line % inner;
            start + directed(0, len, reverse) * inner
        };
        let step = if reverse {
            inner.wrapping_neg()
        } else {
            inner
        };
        let whole = lines / BESIDE * BESIDE;
        for line in (0..whole).step_by(BESIDE) {
            let starts: [usize; BESIDE] = std::array::from_fn(|k| first(line + k));
            scan_lines::<T, O, BESIDE>(from, to, starts, len, step);
        }
        for line in whole..lines {
            scan_lines::<T, O, 1>(from, to, [first(line)], len, step);
        }
    });
}

/// Lines of `len` elements that begin at these places, and go on `step` elements further, which wraps around.
#[inline(always)]
fn scan_lines<T: Stored, O: Combine<T::Acc>, const N: usize>(
    from: &[T],
    to: &mut [T],
    mut at: [usize; N],
    len: usize,
    step: usize,
) {
    let from = &from[..to.len()];
    let mut acc = at.map(|at| {
        let acc = from[at].load();
        to[at] = T::store(acc);
        acc
    });
    for _ in 1..len {
        for (at, acc) in at.iter_mut().zip(&mut acc) {
            *at = at.wrapping_add(step);
            *acc = O::combine(*acc, from[*at].load());
            to[*at] = T::store(*acc);
        }
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
                for ((acc, &x), to) in acc.iter_mut().zip(&from[start..start + columns]).zip(to) {
                    *acc = if i == 0 {
                        x.load()
                    } else {
                        O::combine(*acc, x.load())
                    };
                    *to = T::store(*acc);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{KernelCall, ThreadPool};

    fn run<T: bytemuck::Pod>(kernel: Cumulative, input: &[T], context: &Context<'_>) -> Vec<T> {
        let mut out = vec![T::zeroed(); input.len()];
        let outputs = &mut [bytemuck::cast_slice_mut(&mut out)];
        KernelCall::new(kernel)
            .call(&[bytemuck::cast_slice(input)], outputs, context)
            .unwrap();
        out
    }

    /// Checks an operation against its definition, along every axis and in both directions.
    #[track_caller]
    fn check<T: bytemuck::Pod + std::fmt::Debug>(
        op: CumulativeOp,
        dtype: DType,
        value: impl Fn(usize) -> T,
        combine: impl Fn(T, T) -> T,
        same: impl Fn(&T, &T) -> bool,
    ) {
        for shape in [
            &[0][..],
            &[1],
            &[7],
            &[2500],
            &[9000],
            &[3, 300],
            &[2, 5, 3],
            &[4, 0, 2],
            &[3, 20, 700],
            &[9, SEGMENT],
            &[9, SEGMENT + 1],
            &[1029, 8],
            &[300, 5, SHORT_ROW - 1],
            &[5, 3, SHORT_ROW],
            &[700, 3],
        ] {
            let input: Vec<T> = (0..shape.iter().product()).map(&value).collect();
            for (axis, &len) in shape.iter().enumerate() {
                let stride: usize = shape[axis + 1..].iter().product();
                for reverse in [false, true] {
                    let mut expected = input.clone();
                    for n in 0..input.len() {
                        let i = directed(n, input.len(), reverse);
                        if directed(i / stride % len, len, reverse) > 0 {
                            let before = if reverse { i + stride } else { i - stride };
                            expected[i] = combine(expected[before], input[i]);
                        }
                    }
                    let kernel = Cumulative::new(op, dtype, shape, axis, reverse).unwrap();
                    let got = run(kernel, &input, &Context::default());
                    let differs = got.iter().zip(&expected).position(|(g, e)| !same(g, e));
                    assert_eq!(differs, None, "{op:?} {dtype:?} {shape:?} {axis} {reverse}");
                }
            }
        }
    }

    fn near(a: &f64, b: &f64) -> bool {
        a == b || (a - b).abs() <= 1e-11 * b.abs().max(1.0) || (a.is_nan() && b.is_nan())
    }

    #[test]
    fn sums_and_products() {
        check(
            CumulativeOp::Sum,
            DType::I32,
            |i| (i % 2000) as i32 * 999_991,
            i32::wrapping_add,
            |a, b| a == b,
        );
        check(
            CumulativeOp::Prod,
            DType::U8,
            |i| (i % 7) as u8 | 1,
            u8::wrapping_mul,
            |a, b| a == b,
        );
        check(
            CumulativeOp::Sum,
            DType::F64,
            |i| (i as f64).sin(),
            |a, b| a + b,
            near,
        );
        check(
            CumulativeOp::Prod,
            DType::F64,
            |i| 1.0 + (i as f64).sin() * 1e-3,
            |a, b| a * b,
            near,
        );
        let complex = |i: usize| Complex::from_polar(1.0, i as f64);
        check(
            CumulativeOp::Prod,
            DType::C128,
            complex,
            |a, b| a * b,
            |a, b| (a - b).norm() < 1e-10,
        );
        check(
            CumulativeOp::Sum,
            DType::C128,
            complex,
            |a, b| a + b,
            |a, b| (a - b).norm() < 1e-10,
        );
    }

    #[test]
    fn extrema_pass_nan_on() {
        let value = |i: usize| {
            if i % 611 == 610 {
                f64::NAN
            } else {
                (i as f64 * 0.77).sin()
            }
        };
        let max = |a: f64, b: f64| {
            if a.is_nan() || b.is_nan() {
                f64::NAN
            } else {
                a.max(b)
            }
        };
        let min = |a: f64, b: f64| {
            if a.is_nan() || b.is_nan() {
                f64::NAN
            } else {
                a.min(b)
            }
        };
        check(CumulativeOp::Max, DType::F64, value, max, near);
        check(CumulativeOp::Min, DType::F64, value, min, near);
        check(
            CumulativeOp::Max,
            DType::I16,
            |i| (i * 7919 % 1000) as i16,
            |a, b| a.max(b),
            |a, b| a == b,
        );
        check(
            CumulativeOp::Min,
            DType::Bool,
            |i| u8::from(i % 90 != 89),
            |a, b| a & b,
            |a, b| a == b,
        );
    }

    #[test]
    fn logs_of_sums_of_exponentials() {
        let combine = |a: f64, b: f64| {
            if a == b {
                a + 2f64.ln()
            } else {
                a.max(b) + (-(a - b).abs()).exp().ln_1p()
            }
        };
        check(
            CumulativeOp::LogSumExp,
            DType::F64,
            |i| (i as f64).cos() * 9.0,
            combine,
            near,
        );
        let infinite = [
            f32::NEG_INFINITY,
            f32::NEG_INFINITY,
            0.0,
            f32::INFINITY,
            f32::INFINITY,
            1.0,
            f32::NAN,
            1.0,
        ];
        let kernel = Cumulative::new(CumulativeOp::LogSumExp, DType::F32, &[8], 0, false).unwrap();
        let got = run(kernel, &infinite, &Context::default());
        assert_eq!(
            got[..6],
            [
                f32::NEG_INFINITY,
                f32::NEG_INFINITY,
                0.0,
                f32::INFINITY,
                f32::INFINITY,
                f32::INFINITY
            ]
        );
        assert!(got[6].is_nan() && got[7].is_nan());
    }

    #[test]
    fn sixteen_bit_floats_are_summed_in_single_precision() {
        let kernel = Cumulative::new(CumulativeOp::Sum, DType::BF16, &[1000], 0, false).unwrap();
        let got = run(kernel, &[bf16::from_f32(1.0); 1000], &Context::default());
        assert!(
            got.iter()
                .zip(1..)
                .all(|(&x, i)| x == bf16::from_f32(i as f32))
        );
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let pool = ThreadPool::new(4);
        let input: Vec<f32> = (0..100_000).map(|i| (i as f32 * 0.37).sin()).collect();
        for reverse in [false, true] {
            let results: Vec<Vec<f32>> = [1, 2, 4]
                .iter()
                .map(|&threads| {
                    let kernel =
                        Cumulative::new(CumulativeOp::Sum, DType::F32, &[100_000], 0, reverse)
                            .unwrap();
                    run(kernel, &input, &Context::new(&pool, threads))
                })
                .collect();
            assert!(results[0] == results[1] && results[0] == results[2]);
        }
    }

    #[test]
    fn undefined_operations_are_refused() {
        assert!(Cumulative::new(CumulativeOp::Max, DType::C64, &[3], 0, false).is_err());
        assert!(Cumulative::new(CumulativeOp::LogSumExp, DType::I32, &[3], 0, false).is_err());
    }
}
