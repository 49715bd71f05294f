//! Tridiagonal systems of a batch side by side.
//!
//! Elimination waits for a quotient in each row. Several systems wait together: one in each lane, by the operations of one system alone, so that
//! a system has the same bits wherever it stands.

use std::ops::Range;

use super::scalar::Scalar;
use super::side_by_side::{Entries, LANES, for_all};
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Context, KernelError};

/// Bytes of a block up to which it stays in a core's own cache.
const NEAR: usize = 1 << 19;

/// The numbers of rows and of right-hand sides.
pub(super) type Shape = (usize, usize);

/// Numbers of working memory for each system: of each row the inverse of its pivot, what stands behind that in two places, and the right-hand
/// sides.
fn entries((n, k): Shape) -> usize {
    n * (3 + k)
}

/// Whether systems of real numbers are better solved side by side.
pub(super) fn are_many<T: Scalar>(batch: usize, shape: Shape) -> bool {
    let bytes = entries(shape).saturating_mul(size_of::<Entries<f64>>());
    !T::COMPLEX && batch > 1 && bytes <= NEAR
}

/// Solves all systems of a batch, the numbers of which are in `diagonals` (the lower, the main and the upper one) and `b`.
pub(super) fn solve<T: Scalar>(
    diagonals: [&[T]; 3],
    b: &[T],
    x: &mut [T],
    (n, k): Shape,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    if n * k == 0 {
        return Ok(());
    }
    let batch = b.len() / (n * k);
    let x = SharedSlice::new(x);
    let work = 8 * n * (k + 1);
    for_all::<f64>(batch, entries((n, k)), work, context, |which, memory| {
        let range = |size: usize| Range {
            start: which.start * size,
            end: which.end * size,
        };
        // SAFETY: systems of a batch are disjoint.
        let x = unsafe { x.range(range(n * k)) };
        let diagonals = diagonals.map(|diagonal| &diagonal[range(n)]);
        solve_block(diagonals, &b[range(n * k)], x, (n, k), memory);
        Ok(())
    })
}

for_each_isa! {
    /// Solves up to [`LANES`] systems.
    fn solve_block<T: Scalar>(
        diagonals: [&[T]; 3],
        b: &[T],
        x: &mut [T],
        shape: Shape,
        memory: &mut [Entries<f64>],
    ) = solve_block_any
}

#[inline(always)]
fn solve_block_any<T: Scalar>(
    [lower, diagonal, upper]: [&[T]; 3],
    b: &[T],
    x: &mut [T],
    (n, k): Shape,
    memory: &mut [Entries<f64>],
) {
    let (rows, sides) = memory.split_at_mut(3 * n);
    let count = x.len() / (n * k);
    // Lanes that are left over have the last system as well.
    let place = |lane: usize, size: usize| lane.min(count - 1) * size;
    let row = |numbers: &[T], i: usize| {
        let mut entries = Entries::ZERO;
        for lane in 0..LANES {
            entries[lane] = numbers[place(lane, n) + i].re();
        }
        entries
    };
    for (i, side) in sides.iter_mut().enumerate() {
        for lane in 0..LANES {
            side[lane] = b[place(lane, n * k) + i].re();
        }
    }
    let zero = Entries::<f64>::ZERO;
    let mut pivot = row(diagonal, 0);
    let mut next = if n > 1 { row(upper, 0) } else { zero };
    // Not zero where a pivot was.
    let mut singular = zero;
    for i in 1..n {
        let (below, own) = (row(lower, i), row(diagonal, i));
        let behind = if i + 1 < n { row(upper, i) } else { zero };
        let above = pivot;
        // Rows are exchanged where the entry below is larger.
        let pick = |lane: usize, exchanged: f64, otherwise: f64| {
            if below[lane].abs() > above[lane].abs() {
                exchanged
            } else {
                otherwise
            }
        };
        let mut factor = zero;
        let [inverse, first, second, ..] = &mut rows[3 * (i - 1)..] else {
            return;
        };
        for lane in 0..LANES {
            let larger = pick(lane, below[lane], above[lane]);
            let smaller = pick(lane, above[lane], below[lane]);
            singular[lane] = if larger == 0.0 { 1.0 } else { singular[lane] };
            inverse[lane] = 1.0 / larger;
            factor[lane] = smaller * inverse[lane];
        }
        for lane in 0..LANES {
            let kept = pick(lane, own[lane], next[lane]);
            let other = pick(lane, next[lane], own[lane]);
            first[lane] = kept;
            second[lane] = pick(lane, behind[lane], 0.0);
            pivot[lane] = other - factor[lane] * kept;
            next[lane] = pick(lane, -factor[lane] * behind[lane], behind[lane]);
        }
        let (upper_sides, lower_sides) = sides[(i - 1) * k..(i + 1) * k].split_at_mut(k);
        for (a, b) in upper_sides.iter_mut().zip(lower_sides) {
            for lane in 0..LANES {
                let kept = pick(lane, b[lane], a[lane]);
                let other = pick(lane, a[lane], b[lane]);
                a[lane] = kept;
                b[lane] = other - factor[lane] * kept;
            }
        }
    }
    let [inverse, first, second] = &mut rows[3 * (n - 1)..] else {
        return;
    };
    (*first, *second) = (zero, zero);
    for lane in 0..LANES {
        singular[lane] = if pivot[lane] == 0.0 {
            1.0
        } else {
            singular[lane]
        };
        inverse[lane] = 1.0 / pivot[lane];
    }
    for i in (0..n).rev() {
        let [inverse, first, second] = [rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]];
        let (own, after) = sides[i * k..].split_at_mut(k);
        for (j, side) in own.iter_mut().enumerate() {
            let mut rest = *side;
            if i + 2 < n {
                for lane in 0..LANES {
                    rest[lane] -= second[lane] * after[j + k][lane];
                }
            }
            if i + 1 < n {
                for lane in 0..LANES {
                    rest[lane] -= first[lane] * after[j][lane];
                }
            }
            for lane in 0..LANES {
                side[lane] = rest[lane] * inverse[lane];
            }
        }
    }
    for (lane, x) in x.chunks_exact_mut(n * k).enumerate() {
        for (x, side) in x.iter_mut().zip(&*sides) {
            *x = if singular[lane] != 0.0 {
                T::NAN
            } else {
                T::from_components(side[lane], 0.0)
            };
        }
    }
}
