//! Lines that are short, or whose rows are, beside each other.

use super::combine::{Combine, Stored};
use super::{CHUNK, Shape, directed};
use crate::runtime::Context;
use crate::runtime::shared::SharedSlice;

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
        match (inner, reverse) {
            (1, false) => scan_lines::<T, O, false>(from, to, len),
            (1, true) => scan_lines::<T, O, true>(from, to, len),
            _ => {
                let planes = from.chunks_exact(plane).zip(to.chunks_exact_mut(plane));
                planes.for_each(|(from, to)| scan_plane::<T, O>(from, to, inner, reverse));
            }
        }
    });
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
    for (from, to) in groups.by_ref().zip(results.by_ref()) {
        let mut from = from.chunks_exact(len);
        let [a, b, c, d] = std::array::from_fn(|_| from.next().unwrap_or_default());
        let mut to = to.chunks_exact_mut(len);
        let [p, q, r, s] = std::array::from_fn(|_| to.next().unwrap_or_default());
        let mut acc = [T::Acc::default(); BESIDE];
        for i in 0..len {
            let at = directed(i, len, REVERSE);
            let x = [a[at].load(), b[at].load(), c[at].load(), d[at].load()];
            acc = if i == 0 {
                x
            } else {
                std::array::from_fn(|k| O::combine(acc[k], x[k]))
            };
            let [w, x, y, z] = acc.map(T::store);
            (p[at], q[at], r[at], s[at]) = (w, x, y, z);
        }
    }
    let rest = groups.remainder().chunks_exact(len);
    for (from, to) in rest.zip(results.into_remainder().chunks_exact_mut(len)) {
        scan_columns::<T, O, 1>(from, to, 0, 1, REVERSE);
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
    let mut acc: Option<[T::Acc; N]> = None;
    let mut row = |from: &[T], to: &mut [T]| {
        let x: [T::Acc; N] = std::array::from_fn(|k| from[first + k].load());
        let next = match acc {
            Some(acc) => std::array::from_fn(|k| O::combine(acc[k], x[k])),
            None => x,
        };
        for (to, x) in to[first..first + N].iter_mut().zip(next) {
            *to = T::store(x);
        }
        acc = Some(next);
    };
    let rows = from.chunks_exact(inner).zip(to.chunks_exact_mut(inner));
    if reverse {
        rows.rev().for_each(|(from, to)| row(from, to));
    } else {
        rows.for_each(|(from, to)| row(from, to));
    }
}
