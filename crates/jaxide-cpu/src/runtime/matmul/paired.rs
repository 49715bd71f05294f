//! Products by pairs of steps: of small integers that are summed in 32 bits, and of `bf16`.
//!
//! Processors multiply pairs of 16-bit numbers and add both products at once. So both operands are laid out in pairs along their
//! contracted dimension, and the product of the arrays of pairs is an ordinary one of half the depth. Rows of which neighbours
//! make pairs are woven; where the contracted dimension is innermost, numbers of 16 bits are pairs as they lie.

use std::marker::PhantomData;

use half::bf16;

use super::convert::{Convert, convert_all};
use super::dot_general::{DotGeneral, Order};
use super::{Batch, DotDimensions, Element, MatMul, matmul};
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::{BrainPair, Pair, for_each_isa, multiplies_brain_pairs};
use crate::runtime::subnormals::FloatMode;
use crate::runtime::transpose::CopyPlan;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature, View};

/// Elements of which two make a pair.
pub trait PairElement: bytemuck::Pod + Send + Sync {
    /// Two of them, or a sum of their products.
    type Pair: Element;
    /// Such a sum as a number of the same bits.
    type Sum: bytemuck::Pod + Send + Sync;
    /// Whether two that are neighbours are a pair as they lie.
    const ARE_PAIRS: bool;

    /// The pair of these numbers, the first of which lies first in memory.
    fn pair(first: Self, second: Self) -> Self::Pair;
}

macro_rules! integers {
    ($($t:ty)*) => { $(impl PairElement for $t {
        type Pair = Pair;
        type Sum = i32;
        const ARE_PAIRS: bool = size_of::<$t>() == 2;

        #[inline(always)]
        fn pair(first: Self, second: Self) -> Pair {
            Pair::new(first.into(), second.into())
        }
    })* };
}
integers!(i8 u8 i16);

impl PairElement for bf16 {
    type Pair = BrainPair;
    type Sum = f32;
    const ARE_PAIRS: bool = true;

    #[inline(always)]
    fn pair(first: Self, second: Self) -> BrainPair {
        BrainPair::new(first, second)
    }
}

/// The kernel of a contraction whose products are summed by pairs, and whose dimensions are those of [`DotGeneral`]'s.
pub struct PairedDot<In, Out> {
    lhs: Operand,
    rhs: Operand,
    product: MatMul,
    types: PhantomData<fn(In) -> Out>,
}

/// An operand as a batch of matrices with two axes: lines, and the contracted dimension.
struct Operand {
    /// Elements in the buffer of the original.
    elements: usize,
    /// The order in which all is dense and the contracted dimension innermost, where the original has no order that will do.
    copy: Option<CopyPlan>,
    count: usize,
    lines: usize,
    depth: usize,
    /// Whether lines, not the contracted dimension, have neighbours beside one another.
    woven: bool,
}

/// Pairs that one chunk makes.
const CHUNK: usize = 1 << 14;

impl<In, Out> PairedDot<In, Out> {
    /// Plans the contraction of two views.
    ///
    /// # Panics
    /// If the dimension numbers do not fit the shapes, or a view leaves its buffer.
    pub fn new(lhs: &View, rhs: &View, dimensions: &DotDimensions) -> Self {
        lhs.check();
        rhs.check();
        let order = Order::new(lhs, rhs, dimensions);
        let left = [
            &order.lhs_batch[..],
            &order.lhs_free,
            &order.lhs_contracting,
        ];
        let right = [
            &order.rhs_batch[..],
            &order.rhs_free,
            &order.rhs_contracting,
        ];
        let (lhs, rhs) = (Operand::new(lhs, left), Operand::new(rhs, right));
        let mut product = MatMul::dense(lhs.lines, rhs.lines, lhs.pairs());
        product.lhs = lhs.strides();
        let (column, step) = rhs.strides();
        product.rhs = (step, column);
        product.batch.push(Batch {
            size: lhs.count,
            lhs: (lhs.lines * lhs.pairs()) as isize,
            rhs: (rhs.lines * rhs.pairs()) as isize,
            out: (lhs.lines * rhs.lines) as isize,
        });
        Self {
            lhs,
            rhs,
            product,
            types: PhantomData,
        }
    }

    fn out_len(&self) -> usize {
        self.product.batch[0].size * self.product.m * self.product.n
    }
}

impl<In, Out> Kernel for PairedDot<In, Out>
where
    In: PairElement,
    In::Sum: Convert<Out>,
    Out: bytemuck::Pod + Send + Sync,
{
    fn signature(&self) -> Signature {
        let bytes = size_of::<In>();
        Signature::of(
            &[(self.lhs.elements, bytes), (self.rhs.elements, bytes)],
            &[(self.out_len(), size_of::<Out>())],
        )
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let out = buffers.output::<Out>(0);
        let lhs = self.lhs.prepare::<In>(buffers.input(0), context)?;
        let rhs = self.rhs.prepare::<In>(buffers.input(1), context)?;
        let same = size_of::<Out>() == size_of::<In::Sum>();
        let mut sums = PoolBuffer::for_elements::<In::Sum>(if same { 0 } else { self.out_len() })?;
        let to = if same {
            out.as_mut_ptr().cast::<In::Pair>()
        } else {
            sums.as_mut_ptr().cast()
        };
        // SAFETY: the operands have the pairs that the layout says, and the result `out_len` sums, which are no other places than
        // its numbers.
        unsafe { matmul::<In::Pair>(&self.product, lhs.start(), rhs.start(), to, context)? };
        convert_all(
            sums.as_slice::<In::Sum>(),
            if same { &mut [] } else { out },
            context,
        );
        Ok(())
    }
}

/// An operand's pairs: the array itself, or a buffer of their own.
enum Prepared<'a, In: PairElement> {
    InPlace(&'a [In::Pair]),
    Copied(PoolBuffer),
}

impl<In: PairElement> Prepared<'_, In> {
    fn start(&self) -> *const In::Pair {
        match self {
            Prepared::InPlace(pairs) => pairs.as_ptr(),
            Prepared::Copied(buffer) => buffer.as_slice().as_ptr(),
        }
    }
}

impl Operand {
    /// A view by its axes of a batch, of lines, and of the contracted dimension.
    fn new(view: &View, [batch, lines, inner]: [&[usize]; 3]) -> Self {
        let is_dense = |order: [&[usize]; 3]| {
            let ordered = view.permuted(&order.concat());
            ordered.strides == View::dense(&ordered.shape).strides && ordered.offset == 0
        };
        let size = |axes: &[usize]| axes.iter().map(|&a| view.shape[a]).product::<usize>();
        let in_place = is_dense([batch, lines, inner]);
        let woven = !in_place && is_dense([batch, inner, lines]);
        let ordered = || CopyPlan::new(&view.permuted(&[batch, lines, inner].concat()));
        Self {
            elements: view.elements,
            copy: (!in_place && !woven).then(ordered),
            count: size(batch),
            lines: size(lines),
            depth: size(inner),
            woven,
        }
    }

    /// Pairs along the contracted dimension.
    fn pairs(&self) -> usize {
        self.depth.div_ceil(2)
    }

    /// Distances between lines and between pairs of a line.
    fn strides(&self) -> (isize, isize) {
        if self.woven {
            (1, self.lines as isize)
        } else {
            (self.pairs() as isize, 1)
        }
    }

    /// The operand in pairs; a zero follows the last element of an odd number.
    fn prepare<'a, In: PairElement>(
        &self,
        data: &'a [In],
        context: &Context<'_>,
    ) -> Result<Prepared<'a, In>, KernelError> {
        let rows = self.count * self.lines;
        let mut copied =
            PoolBuffer::for_elements::<In>(self.copy.as_ref().map_or(0, |_| rows * self.depth))?;
        let mut elements = data;
        if let Some(copy) = &self.copy {
            copy.copy(data, copied.as_mut_slice(), context);
            elements = copied.as_slice();
        } else if In::ARE_PAIRS
            && !self.woven
            && self.depth.is_multiple_of(2)
            && let Ok(pairs) = bytemuck::try_cast_slice(data)
        {
            return Ok(Prepared::InPlace(pairs));
        }
        let width = self.pairs();
        let mut buffer = PoolBuffer::for_elements::<In::Pair>(rows * width)?;
        let to = SharedSlice::new(buffer.as_mut_slice::<In::Pair>());
        // Rows of pairs, and of elements, of which those have two or one.
        let (all, long) = if self.woven {
            (self.count * width, self.lines)
        } else {
            (rows, width)
        };
        let group = CHUNK.div_ceil(long.max(1)).min(all.max(1));
        context.parallel_for(all.div_ceil(group), |chunk| {
            let range = chunk * group..all.min((chunk + 1) * group);
            // SAFETY: rows are disjoint.
            let to = unsafe { to.range(range.start * long..range.end * long) };
            if self.woven {
                for (row, to) in range.zip(to.chunks_exact_mut(long.max(1))) {
                    let (matrix, step) = (row / width, row % width * 2);
                    let from = &elements[(matrix * self.depth + step) * long..];
                    let second = if step + 1 < self.depth { long } else { 0 };
                    weave(&from[..long], &from[long.min(second)..][..second], to);
                }
            } else {
                let depth = self.depth;
                join(&elements[range.start * depth..range.end * depth], to, depth);
            }
        });
        Ok(Prepared::Copied(buffer))
    }
}

for_each_isa! {
    /// Rows of this depth, which is not 0 unless there are none, in pairs.
    fn join<In: PairElement>(from: &[In], to: &mut [In::Pair], depth: usize) = join_any
}

#[inline(always)]
fn join_any<In: PairElement>(from: &[In], to: &mut [In::Pair], depth: usize) {
    let pair = |pair: &[In; 2]| In::pair(pair[0], pair[1]);
    if depth.is_multiple_of(2) {
        for (to, from) in to.iter_mut().zip(from.as_chunks().0) {
            *to = pair(from);
        }
        return;
    }
    let rows = from
        .chunks_exact(depth)
        .zip(to.chunks_exact_mut(depth / 2 + 1));
    for (from, to) in rows {
        let (pairs, last) = from.as_chunks();
        for (to, from) in to.iter_mut().zip(pairs) {
            *to = pair(from);
        }
        to[depth / 2] = In::pair(last[0], In::zeroed());
    }
}

for_each_isa! {
    /// Pairs of what two rows have at the same place; an empty second row is one of zeros.
    fn weave<In: PairElement>(first: &[In], second: &[In], to: &mut [In::Pair]) = weave_any
}

#[inline(always)]
fn weave_any<In: PairElement>(first: &[In], second: &[In], to: &mut [In::Pair]) {
    if second.is_empty() {
        for (to, &first) in to.iter_mut().zip(first) {
            *to = In::pair(first, In::zeroed());
        }
        return;
    }
    for ((to, &first), &second) in to.iter_mut().zip(first).zip(second) {
        *to = In::pair(first, second);
    }
}

/// The kernel of a contraction of `bf16` with sums in `f32`.
///
/// Processors that multiply pairs of them take subnormal numbers for zero whatever the thread is set to: so they compute by pairs
/// for programs that do the same.
pub struct BrainDot<Out> {
    /// Where the processor has the instruction, and products have more than a few terms.
    paired: Option<PairedDot<bf16, Out>>,
    otherwise: DotGeneral<bf16, f32, Out>,
}

impl<Out> BrainDot<Out> {
    /// Plans the contraction of two views.
    ///
    /// # Panics
    /// As [`DotGeneral::new`].
    pub fn new(lhs: &View, rhs: &View, dimensions: &DotDimensions) -> Self {
        let otherwise = DotGeneral::new(lhs, rhs, dimensions);
        let is_fast = multiplies_brain_pairs() && !otherwise.is_tiny();
        Self {
            paired: is_fast.then(|| PairedDot::new(lhs, rhs, dimensions)),
            otherwise,
        }
    }
}

impl<Out> Kernel for BrainDot<Out>
where
    f32: Convert<Out>,
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
        match &self.paired {
            Some(paired) if mode == mode.flushing() => paired.run(buffers, context),
            _ => self.otherwise.run(buffers, context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::simd::Isa;
    use crate::runtime::{KernelCall, ThreadPool};
    use bytemuck::Zeroable;

    /// Numbers of all signs, the extreme ones among them.
    fn sample(index: usize) -> i64 {
        match index % 11 {
            0 => i64::from(i16::MIN),
            5 => i64::from(i16::MAX),
            _ => (index as i64).wrapping_mul(0x1e37_79b9_7f4a_7c15) >> 40,
        }
    }

    /// A batch of products, the contracted dimension of either operand first or last.
    fn check<In: PairElement>(
        [count, m, n, k]: [usize; 4],
        make: impl Fn(i64) -> In,
        number: impl Fn(In) -> i32,
        finish: impl Fn(i32) -> In::Sum,
    ) where
        In::Sum: Convert<In::Sum> + PartialEq + std::fmt::Debug,
    {
        let a: Vec<In> = (0..count * m * k).map(|i| make(sample(i))).collect();
        let b: Vec<In> = (0..count * n * k).map(|i| make(sample(i + 7))).collect();
        for first in 0..4 {
            let view = |rows: usize, first: bool| {
                if first {
                    (View::dense(&[count, k, rows]), 1)
                } else {
                    (View::dense(&[count, rows, k]), 2)
                }
            };
            let ((lhs, lhs_k), (rhs, rhs_k)) = (view(m, first & 1 > 0), view(n, first & 2 > 0));
            let dimensions = DotDimensions {
                lhs_contracting: vec![lhs_k],
                rhs_contracting: vec![rhs_k],
                lhs_batch: vec![0],
                rhs_batch: vec![0],
            };
            let at = |x: &[In], view: &View, axis: usize, index: usize, i: usize, p: usize| {
                let (row, step) = (view.strides[3 - axis], view.strides[axis]);
                let place = index as isize * view.strides[0] + i as isize * row + p as isize * step;
                number(x[place as usize])
            };
            let mut want = Vec::new();
            for (index, i, j) in (0..count * m * n).map(|x| (x / (m * n), x / n % m, x % n)) {
                let sum = (0..k).fold(0i32, |sum, p| {
                    let product = at(&a, &lhs, lhs_k, index, i, p)
                        .wrapping_mul(at(&b, &rhs, rhs_k, index, j, p));
                    sum.wrapping_add(product)
                });
                want.push(finish(sum));
            }
            let call = KernelCall::new(PairedDot::<In, In::Sum>::new(&lhs, &rhs, &dimensions));
            let mut got = vec![In::Sum::zeroed(); want.len()];
            // On this thread, where the instruction set is assumed.
            let context = Context::new(ThreadPool::global(), 1);
            call.call(
                &[bytemuck::cast_slice(&a), bytemuck::cast_slice(&b)],
                &mut [bytemuck::cast_slice_mut(&mut got)],
                &context,
            )
            .unwrap();
            assert_eq!(got, want, "{lhs:?} {rhs:?}");
        }
    }

    #[test]
    fn products_of_pairs_are_those_of_wide_numbers() {
        let shapes = [
            [1, 1, 1, 1],
            [1, 3, 5, 2],
            [2, 14, 32, 3],
            [1, 15, 33, 64],
            [1, 13, 31, 65],
            [3, 29, 17, 7],
            [40, 3, 3, 3],
            [5, 8, 1, 8],
            [2, 1, 40, 21],
            [1, 40, 70, 300],
            [1, 2, 2, 9000],
            [1, 3, 4, 0],
        ];
        for isa in Isa::available() {
            isa.assumed_in(|| {
                for shape in shapes {
                    check(shape, |x| x as i8, i32::from, |x| x);
                    check(shape, |x| x as u8, i32::from, |x| x);
                    check(shape, |x| x as i16, i32::from, |x| x);
                    // All sums are exact.
                    let small = |x| bf16::from_f32((x & 31) as f32 - 16.0);
                    check(shape, small, |x| x.to_f32() as i32, |x| x as f32);
                }
            });
        }
    }
    #[test]
    fn subnormal_numbers_are_kept_where_programs_keep_them() {
        // 200 times 2⁻¹³⁰ · 1, which are subnormal.
        let view = View::dense(&[200, 200]);
        let dimensions = DotDimensions {
            lhs_contracting: vec![1],
            rhs_contracting: vec![0],
            ..Default::default()
        };
        let a = vec![bf16::from_f32(2f32.powi(-130)); 200 * 200];
        let b = vec![bf16::ONE; 200 * 200];
        let call = KernelCall::new(BrainDot::<f32>::new(&view, &view, &dimensions));
        let run = || {
            let mut out = vec![0f32; 200 * 200];
            let context = Context::new(ThreadPool::global(), 2);
            let inputs = [bytemuck::cast_slice(&a), bytemuck::cast_slice(&b)];
            call.call(&inputs, &mut [bytemuck::cast_slice_mut(&mut out)], &context)
                .unwrap();
            out
        };
        let sum = 200.0 * 2f32.powi(-130);
        assert!(
            FloatMode::current()
                .keeping()
                .during(run)
                .iter()
                .all(|&x| x == sum)
        );
        if multiplies_brain_pairs() {
            assert!(
                FloatMode::current()
                    .flushing()
                    .during(run)
                    .iter()
                    .all(|&x| x == 0.0)
            );
        }
    }
}
