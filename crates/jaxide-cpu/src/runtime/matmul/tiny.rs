//! Batches of products of a few numbers each, side by side: one product in each lane.

use super::{Batch, Element, MatMul};
use crate::runtime::Context;
use crate::runtime::simd::for_each_isa;

/// Products in a block.
const LANES: usize = 16;
/// Elements of both operands and of the result up to which moving them into lanes costs less than a
/// tile for each product.
const MOST_ELEMENTS: usize = 32;
/// Blocks that make a chunk worth a thread's attention.
const GROUP: usize = 64;

/// Products along the innermost dimension of a batch, and the addresses of the first.
struct Block<'a, T> {
    layout: &'a MatMul,
    along: Batch,
    count: usize,
    lhs: *const T,
    rhs: *const T,
    out: *mut T,
}

/// Computes a batch of tiny products; false, and nothing, where they are too large or too few.
///
/// # Safety
/// As [`super::matmul`].
pub(super) unsafe fn products<T: Element>(
    layout: &MatMul,
    lhs: *const T,
    rhs: *const T,
    out: *mut T,
    context: &Context<'_>,
) -> bool {
    let (m, n, k) = (layout.m, layout.n, layout.k);
    let Some((&along, outer)) = layout.batch.split_last() else {
        return false;
    };
    let elements = [(m, k), (k, n), (m, n)].map(|(a, b)| a.saturating_mul(b));
    if along.size < LANES || elements.iter().sum::<usize>() > MOST_ELEMENTS {
        return false;
    }
    struct Arrays<T>(*const T, *const T, *mut T);
    // SAFETY: the blocks read the operands and write disjoint elements of the result.
    unsafe impl<T> Sync for Arrays<T> {}
    let arrays = &Arrays(lhs, rhs, out);
    let blocks = along.size.div_ceil(LANES);
    let count = outer.iter().map(|b| b.size).product::<usize>() * blocks;
    context.parallel_for(count.div_ceil(GROUP), |chunk| {
        for index in chunk * GROUP..count.min((chunk + 1) * GROUP) {
            let first = index % blocks * LANES;
            let (mut lhs, mut rhs, mut out) = (0, 0, 0);
            let mut add = |i: usize, dimension: &Batch| {
                lhs += i as isize * dimension.lhs;
                rhs += i as isize * dimension.rhs;
                out += i as isize * dimension.out;
            };
            add(first, &along);
            let mut rest = index / blocks;
            for dimension in outer.iter().rev() {
                add(rest % dimension.size, dimension);
                rest /= dimension.size;
            }
            block(&Block {
                layout,
                along,
                count: LANES.min(along.size - first),
                lhs: arrays.0.wrapping_offset(lhs),
                rhs: arrays.1.wrapping_offset(rhs),
                out: arrays.2.wrapping_offset(out),
            });
        }
    });
    true
}

for_each_isa! {
    /// The products of a block, whose addresses are valid.
    fn block<T: Element>(block: &Block<'_, T>) = block_any
}

#[inline(always)]
fn block_any<T: Element>(block: &Block<'_, T>) {
    let MatMul {
        m,
        n,
        k,
        lhs,
        rhs,
        out,
        ..
    } = *block.layout;
    let mut left = [[T::ZERO; LANES]; MOST_ELEMENTS];
    let mut right = [[T::ZERO; LANES]; MOST_ELEMENTS];
    let place = |(row, column): (isize, isize), i: usize, j: usize, lane: usize, step: isize| {
        i as isize * row + j as isize * column + lane as isize * step
    };
    for i in 0..m {
        for p in 0..k {
            for (lane, to) in left[i * k + p][..block.count].iter_mut().enumerate() {
                // SAFETY: the element is one of the left operand of a product of the block.
                *to = unsafe { *block.lhs.offset(place(lhs, i, p, lane, block.along.lhs)) };
            }
        }
    }
    for p in 0..k {
        for j in 0..n {
            for (lane, to) in right[p * n + j][..block.count].iter_mut().enumerate() {
                // SAFETY: as above, of the right operand.
                *to = unsafe { *block.rhs.offset(place(rhs, p, j, lane, block.along.rhs)) };
            }
        }
    }
    for i in 0..m {
        for j in 0..n {
            let mut sums = [T::ZERO; LANES];
            for p in 0..k {
                let (a, b) = (&left[i * k + p], &right[p * n + j]);
                for lane in 0..LANES {
                    sums[lane] = sums[lane].plus(a[lane].times(b[lane]));
                }
            }
            for (lane, &sum) in sums[..block.count].iter().enumerate() {
                // SAFETY: as above, of the result.
                unsafe { *block.out.offset(place(out, i, j, lane, block.along.out)) = sum };
            }
        }
    }
}
