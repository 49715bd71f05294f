//! Batches of products of a few numbers each, side by side: one product in each lane.

use super::{Batch, Element, MatMul};
use crate::runtime::Context;
use crate::runtime::simd::for_each_isa;

/// Products in a block.
const LANES: usize = 16;
/// Elements of both operands and of the result up to which moving them into lanes costs less than a
/// tile for each product.
const MOST_ELEMENTS: usize = 32;
/// Elements of a matrix that is multiplied by one vector, each of which is moved and used once.
const MOST_FOR_VECTOR: usize = 128;
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

/// Whether a batch is of tiny products, and of enough.
pub(super) fn are_tiny(layout: &MatMul) -> bool {
    let (m, n, k) = (layout.m, layout.n, layout.k);
    let Some(along) = layout.batch.last() else {
        return false;
    };
    let elements = [(m, k), (k, n), (m, n)].map(|(a, b)| a.saturating_mul(b));
    let few = elements.iter().sum::<usize>() <= MOST_ELEMENTS;
    let vector = n == 1 && k <= MOST_ELEMENTS && elements[0] <= MOST_FOR_VECTOR;
    along.size >= LANES && n > 0 && (few || vector)
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
    let Some((&along, outer)) = layout.batch.split_last().filter(|_| are_tiny(layout)) else {
        return false;
    };
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
    let place =
        |(row, column): (isize, isize), i: usize, j: usize| i as isize * row + j as isize * column;
    let mut right = [[T::ZERO; LANES]; MOST_ELEMENTS];
    for p in 0..k {
        for j in 0..n {
            let from = block.rhs.wrapping_offset(place(rhs, p, j));
            // SAFETY: the elements are those of the right operands of the block's products.
            right[p * n + j] = unsafe { gather(from, block.along.rhs, block.count) };
        }
    }
    for i in 0..m {
        let left = |p: usize| {
            let from = block.lhs.wrapping_offset(place(lhs, i, p));
            // SAFETY: as above, of the left operands.
            unsafe { gather(from, block.along.lhs, block.count) }
        };
        let store = |j: usize, sums: &[T; LANES]| {
            let to = block.out.wrapping_offset(place(out, i, j));
            for (lane, &sum) in sums[..block.count].iter().enumerate() {
                // SAFETY: as above, of the results.
                unsafe { *to.offset(lane as isize * block.along.out) = sum };
            }
        };
        if n == 1 {
            let mut sums = [T::ZERO; LANES];
            for (p, b) in right[..k].iter().enumerate() {
                add_products(&left(p), b, &mut sums);
            }
            store(0, &sums);
            continue;
        }
        let mut sums = [[T::ZERO; LANES]; MOST_ELEMENTS];
        for (p, right) in right[..k * n].chunks_exact(n).enumerate() {
            let a = left(p);
            for (b, sums) in right.iter().zip(&mut sums) {
                add_products(&a, b, sums);
            }
        }
        for (j, sums) in sums[..n].iter().enumerate() {
            store(j, sums);
        }
    }
}

#[inline(always)]
fn add_products<T: Element>(a: &[T; LANES], b: &[T; LANES], sums: &mut [T; LANES]) {
    for lane in 0..LANES {
        sums[lane] = sums[lane].plus(a[lane].times(b[lane]));
    }
}

/// So many elements at this distance from each other.
///
/// # Safety
/// They are valid.
#[inline(always)]
unsafe fn gather<T: Element>(from: *const T, step: isize, count: usize) -> [T; LANES] {
    let mut lanes = [T::ZERO; LANES];
    if count == LANES {
        for (lane, to) in lanes.iter_mut().enumerate() {
            // SAFETY: the caller says so.
            *to = unsafe { *from.offset(lane as isize * step) };
        }
    } else {
        for (lane, to) in lanes[..count].iter_mut().enumerate() {
            // SAFETY: as above.
            *to = unsafe { *from.offset(lane as isize * step) };
        }
    }
    lanes
}
