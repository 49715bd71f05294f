//! Products of small integers that are summed in 32 bits, by pairs of steps.
//!
//! Processors multiply pairs of 16-bit integers and add both products at once. So both operands are
//! laid out with their contracted dimension innermost, as 16-bit integers, and the product of the
//! arrays of [`Pair`]s is an ordinary one of half the depth.

use std::marker::PhantomData;

use super::dot_general::Order;
use super::{Batch, DotDimensions, MatMul, matmul};
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::{Pair, for_each_isa};
use crate::runtime::transpose::CopyPlan;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature, View};

/// The kernel of a contraction of integers of 8 or 16 bits with a result of `i32`, whose dimensions
/// are those of [`DotGeneral`](super::DotGeneral)'s.
pub struct PairedDot<In> {
    lhs: Operand,
    rhs: Operand,
    product: MatMul,
    types: PhantomData<fn(In)>,
}

/// An operand as rows of the contracted dimension.
struct Operand {
    /// Elements in the buffer of the original.
    elements: usize,
    /// The order in which rows follow one another and are dense, if that is not the original's.
    copy: Option<CopyPlan>,
    rows: usize,
    depth: usize,
}

/// Pairs that one chunk makes.
const CHUNK: usize = 1 << 14;

impl<In> PairedDot<In> {
    /// Plans the contraction of two views.
    ///
    /// # Panics
    /// If the dimension numbers do not fit the shapes, or a view leaves its buffer.
    pub fn new(lhs: &View, rhs: &View, dimensions: &DotDimensions) -> Self {
        lhs.check();
        rhs.check();
        let order = Order::new(lhs, rhs, dimensions);
        let size = |axes: &[usize]| axes.iter().map(|&a| lhs.shape[a]).product::<usize>();
        let (count, k) = (size(&order.lhs_batch), size(&order.lhs_contracting));
        let m = size(&order.lhs_free);
        let n = order.rhs_free.iter().map(|&a| rhs.shape[a]).product();
        let depth = k.div_ceil(2);
        let mut product = MatMul::dense(m, n, depth);
        product.rhs = (1, depth as isize);
        product.batch.push(Batch {
            size: count,
            lhs: (m * depth) as isize,
            rhs: (n * depth) as isize,
            out: (m * n) as isize,
        });
        let rhs_order = [
            &order.rhs_batch[..],
            &order.rhs_free,
            &order.rhs_contracting,
        ]
        .concat();
        Self {
            lhs: Operand::new(&lhs.permuted(&order.left()), count * m, k),
            rhs: Operand::new(&rhs.permuted(&rhs_order), count * n, k),
            product,
            types: PhantomData,
        }
    }

    fn out_len(&self) -> usize {
        self.product.batch[0].size * self.product.m * self.product.n
    }
}

impl<In: Into<i16> + bytemuck::Pod + Send + Sync> Kernel for PairedDot<In> {
    fn signature(&self) -> Signature {
        let bytes = size_of::<In>();
        Signature::of(
            &[(self.lhs.elements, bytes), (self.rhs.elements, bytes)],
            &[(self.out_len(), size_of::<i32>())],
        )
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let out = buffers.output::<Pair>(0).as_mut_ptr();
        let lhs = self.lhs.pairs::<In>(buffers.input(0), context)?;
        let rhs = self.rhs.pairs::<In>(buffers.input(1), context)?;
        let (lhs, rhs) = (lhs.as_slice().as_ptr(), rhs.as_slice().as_ptr());
        // SAFETY: the operands have `rows × depth` pairs each, as the layout says, and the result
        // `out_len` sums, which are no other places than its `i32`.
        unsafe { matmul::<Pair>(&self.product, lhs, rhs, out, context) }
    }
}

impl Operand {
    fn new(view: &View, rows: usize, depth: usize) -> Self {
        let dense = View::dense(&view.shape);
        let in_place = view.strides == dense.strides && view.offset == 0;
        Self {
            elements: view.elements,
            copy: (!in_place).then(|| CopyPlan::new(view)),
            rows,
            depth,
        }
    }

    /// The operand's rows in pairs; a zero follows those of odd length.
    fn pairs<In: Into<i16> + bytemuck::Pod + Send + Sync>(
        &self,
        data: &[In],
        context: &Context<'_>,
    ) -> Result<PoolBuffer, KernelError> {
        let mut copied = PoolBuffer::for_elements::<In>(
            self.copy.as_ref().map_or(0, |_| self.rows * self.depth),
        )?;
        let mut rows = data;
        if let Some(copy) = &self.copy {
            copy.copy(data, copied.as_mut_slice(), context);
            rows = copied.as_slice();
        }
        let width = self.depth.div_ceil(2);
        let mut buffer = PoolBuffer::for_elements::<Pair>(self.rows * width)?;
        let to = SharedSlice::new(buffer.as_mut_slice::<Pair>());
        let group = CHUNK.div_ceil(width.max(1)).min(self.rows.max(1));
        context.parallel_for(self.rows.div_ceil(group), |chunk| {
            let range = chunk * group..self.rows.min((chunk + 1) * group);
            // SAFETY: rows are disjoint.
            let to = unsafe { to.range(range.start * width..range.end * width) };
            widen(
                &rows[range.start * self.depth..range.end * self.depth],
                to,
                self.depth,
            );
        });
        Ok(buffer)
    }
}

for_each_isa! {
    /// Rows of this depth, which is not 0 unless there are none, in pairs.
    fn widen<In: WideningInteger>(from: &[In], to: &mut [Pair], depth: usize) = widen_any
}

/// Integers that fit into 16 bits.
trait WideningInteger: Into<i16> + Copy {}
impl<In: Into<i16> + Copy> WideningInteger for In {}

#[inline(always)]
fn widen_any<In: WideningInteger>(from: &[In], to: &mut [Pair], depth: usize) {
    let pair = |pair: &[In; 2]| Pair::new(pair[0].into(), pair[1].into());
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
        to[depth / 2] = Pair::new(last[0].into(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::simd::Isa;
    use crate::runtime::{KernelCall, ThreadPool};

    /// Numbers of all signs, the extreme ones among them.
    fn sample(index: usize) -> i64 {
        match index % 11 {
            0 => i64::from(i16::MIN),
            5 => i64::from(i16::MAX),
            _ => (index as i64).wrapping_mul(0x1e37_79b9_7f4a_7c15) >> 40,
        }
    }

    /// A batch of products, the contracted dimension of either operand first or last.
    fn check<In: Into<i16> + bytemuck::Pod + Send + Sync>(
        [count, m, n, k]: [usize; 4],
        make: impl Fn(i64) -> In,
    ) {
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
                i32::from(Into::<i16>::into(x[place as usize]))
            };
            let mut want = Vec::new();
            for (index, i, j) in (0..count * m * n).map(|x| (x / (m * n), x / n % m, x % n)) {
                want.push((0..k).fold(0i32, |sum, p| {
                    let product = at(&a, &lhs, lhs_k, index, i, p)
                        .wrapping_mul(at(&b, &rhs, rhs_k, index, j, p));
                    sum.wrapping_add(product)
                }));
            }
            let call = KernelCall::new(PairedDot::<In>::new(&lhs, &rhs, &dimensions));
            let mut got = vec![0i32; want.len()];
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
    fn products_of_small_integers_are_those_of_wide_ones() {
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
                    check(shape, |x| x as i8);
                    check(shape, |x| x as u8);
                    check(shape, |x| x as i16);
                }
            });
        }
    }
}
