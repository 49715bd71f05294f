//! Lines that are short, or whose rows are, beside each other.

use super::combine::{Combine, Stored};
use super::{CHUNK, SHORT_ROW, Shape, directed};
use crate::runtime::Context;
use crate::runtime::matmul::Convert;
use crate::runtime::shared::SharedSlice;
use std::ops::Range;

/// Accumulates along lines that are short, or near each other, a few at a time, so that the processor
/// has several independent combinations to do. Each line is combined element by element.
pub(super) fn beside_each_other<T: Stored, O: Combine<T::Acc>>(
    from: &[T],
    to: &mut [T],
    shape: Shape,
    context: &Context<'_>,
) {
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
        let lengths = [len, inner];
        if T::WIDENED {
            const FEW: usize = 512;
            if from.len() <= FEW {
                scan_widened::<T, O, FEW>(from, to, lengths, reverse);
            } else {
                scan_widened::<T, O, 2048>(from, to, lengths, reverse);
            }
        } else {
            scan_planes::<T, O>(from, to, lengths, reverse);
        }
    });
}

/// Accumulates along planes of `len` rows of `inner` elements that stand behind each other.
#[inline(always)]
fn scan_planes<T: Stored, O: Combine<T::Acc>>(
    from: &[T],
    to: &mut [T],
    [len, inner]: [usize; 2],
    reverse: bool,
) {
    match (inner, reverse) {
        (1, false) => scan_lines::<T, O, false>(from, to, len),
        (1, true) => scan_lines::<T, O, true>(from, to, len),
        _ => {
            let plane = len * inner;
            for first in (0..from.len()).step_by(plane) {
                let plane = first..first + plane;
                scan_plane::<T, O>(&from[plane.clone()], &mut to[plane], inner, reverse);
            }
        }
    }
}

/// The same by blocks of at most so many elements, each of which is widened, accumulated along and rounded as a whole, since that takes vectors.
#[inline(never)]
fn scan_widened<T: Stored, O: Combine<T::Acc>, const BLOCK: usize>(
    from: &[T],
    to: &mut [T],
    [len, inner]: [usize; 2],
    reverse: bool,
) {
    let mut wide = [T::Acc::default(); BLOCK];
    let mut results = [T::Acc::default(); BLOCK];
    let plane = len * inner;
    let mut scan =
        |range: Range<usize>, len: usize, before: Option<&[T::Acc]>| -> [T::Acc; SHORT_ROW] {
            let (wide, results) = (&mut wide[..range.len()], &mut results[..range.len()]);
            T::convert(&from[range.clone()], wide);
            let row = |i: usize| directed(i, len, reverse) * inner;
            for (x, &before) in wide[row(0)..].iter_mut().zip(before.unwrap_or_default()) {
                *x = O::combine(before, *x);
            }
            scan_planes::<T::Acc, O>(wide, results, [len, inner], reverse);
            T::Acc::convert(results, &mut to[range]);
            let mut last = [T::Acc::default(); SHORT_ROW];
            last[..inner].copy_from_slice(&results[row(len - 1)..][..inner]);
            last
        };
    if plane <= BLOCK {
        for first in (0..from.len()).step_by(BLOCK / plane * plane) {
            scan(
                first..from.len().min(first + BLOCK / plane * plane),
                len,
                None,
            );
        }
        return;
    }
    // A part of the rows of a plane after the other.
    let rows = BLOCK / inner;
    for first in (0..from.len()).step_by(plane) {
        let mut before: Option<[T::Acc; SHORT_ROW]> = None;
        for done in (0..len).step_by(rows) {
            let count = rows.min(len - done);
            let start = if reverse { len - done - count } else { done };
            let start = first + start * inner;
            let range = start..start + count * inner;
            before = Some(scan(range, count, before.as_ref().map(|row| &row[..inner])));
        }
    }
}

/// Accumulates along each of the lines of `len` elements that stand behind each other.
#[inline(always)]
fn scan_lines<T: Stored, O: Combine<T::Acc>, const REVERSE: bool>(
    from: &[T],
    to: &mut [T],
    len: usize,
) {
    /// As many lines as there are registers for.
    const BESIDE: usize = 4;
    let mut groups = from.chunks_exact(BESIDE * len);
    let mut results = to.chunks_exact_mut(BESIDE * len);
    // Written out: closures of arrays and adapters of iterators are not always inlined.
    for (from, to) in groups.by_ref().zip(results.by_ref()) {
        let (a, from) = from.split_at(len);
        let (b, from) = from.split_at(len);
        let (c, d) = from.split_at(len);
        let (p, to) = to.split_at_mut(len);
        let (q, to) = to.split_at_mut(len);
        let (r, s) = to.split_at_mut(len);
        let d = &d[..len];
        let s = &mut s[..len];
        let at = directed(0, len, REVERSE);
        let mut acc = (a[at].load(), b[at].load(), c[at].load(), d[at].load());
        (p[at], q[at], r[at], s[at]) = (a[at], b[at], c[at], d[at]);
        for i in 1..len {
            let at = directed(i, len, REVERSE);
            acc.0 = O::combine(acc.0, a[at].load());
            acc.1 = O::combine(acc.1, b[at].load());
            acc.2 = O::combine(acc.2, c[at].load());
            acc.3 = O::combine(acc.3, d[at].load());
            p[at] = T::store(acc.0);
            q[at] = T::store(acc.1);
            r[at] = T::store(acc.2);
            s[at] = T::store(acc.3);
        }
    }
    let (from, to) = (groups.remainder(), results.into_remainder());
    for first in (0..from.len()).step_by(len) {
        let line = first..first + len;
        scan_columns::<T, O, 1>(&from[line.clone()], &mut to[line], 0, 1, REVERSE);
    }
}

/// Accumulates along the columns of one plane, whose rows have `inner` elements.
fn scan_plane<T: Stored, O: Combine<T::Acc>>(
    from: &[T],
    to: &mut [T],
    inner: usize,
    reverse: bool,
) {
    let mut first = 0;
    while first < inner {
        let columns = match inner - first {
            8.. => 8,
            4.. => 4,
            few => few,
        };
        match columns {
            8 => scan_columns::<T, O, 8>(from, to, first, inner, reverse),
            4 => scan_columns::<T, O, 4>(from, to, first, inner, reverse),
            3 => scan_columns::<T, O, 3>(from, to, first, inner, reverse),
            2 => scan_columns::<T, O, 2>(from, to, first, inner, reverse),
            _ => scan_columns::<T, O, 1>(from, to, first, inner, reverse),
        }
        first += columns;
    }
}

/// Accumulates along `N` neighbouring columns of a plane, from column `first` on.
#[inline(always)]
fn scan_columns<T: Stored, O: Combine<T::Acc>, const N: usize>(
    from: &[T],
    to: &mut [T],
    first: usize,
    inner: usize,
    reverse: bool,
) {
    let len = from.len() / inner;
    let mut acc = [T::Acc::default(); N];
    for i in 0..len {
        let start = directed(i, len, reverse) * inner + first;
        let (from, to) = (&from[start..start + N], &mut to[start..start + N]);
        for k in 0..N {
            let x = from[k].load();
            acc[k] = if i == 0 { x } else { O::combine(acc[k], x) };
            to[k] = T::store(acc[k]);
        }
    }
}
