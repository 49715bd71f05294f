//! Convolutions with one input feature to a group ("depthwise"), whose sums run over vectors of the result.
//!
//! Where features are adjacent, a vector has features, and of few features several positions along the last axis too, whose weights
//! repeat; each input feature is repeated before where it has several output features. Where positions are adjacent, a vector has
//! positions, and all have one weight.

use super::geometry::Geometry;
use super::padding::Source;
use crate::runtime::matmul::Element;
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::transpose::CopyPlan;
use crate::runtime::{Context, KernelError, PoolBuffer, View};

/// A planned convolution. Output feature `g * multiplier + m` belongs to input feature `g`.
pub(super) struct Channelwise {
    source: Source,
    /// What the source is copied to, if its elements are not adjacent as those of the result are.
    spread: Option<Spread>,
    /// The weights in the order of the taps: those of the features of a tap, or of the taps of a feature, after each other.
    weights: CopyPlan,
    weight_count: usize,
    /// Where each position of the window is, relative to the window's first.
    taps: Vec<isize>,
    /// The first element of the first window, and of the result.
    first: isize,
    start: isize,
    /// Rows of the result: sizes and distances in the left operand and in the result.
    rows: Vec<(usize, isize, isize)>,
    row: Row,
}

/// A copy of the source in which elements lie as those of the result do.
struct Spread {
    copy: CopyPlan,
    len: usize,
}

/// How elements lie in a row.
#[derive(Clone, Copy)]
enum Row {
    /// So many positions of so many adjacent features, of which a piece has some.
    Features {
        features: usize,
        positions: usize,
        piece: usize,
    },
    /// So many adjacent positions of one feature, of which a segment has some; how many segments there are until the next feature's.
    Positions {
        positions: usize,
        segment: usize,
        per_feature: usize,
    },
}

/// Elements that are worked on together.
const LANES: usize = 16;
/// Elements of a piece: several positions are joined where features are fewer.
const PIECE: usize = 4 * LANES;
/// Positions of a segment.
const SEGMENT: usize = 64 * PIECE;
/// Elements of which copies do not matter.
const FEW: usize = 1 << 14;
/// Multiply-adds that are worth a thread's attention.
const CHUNK_WORK: usize = 1 << 15;

impl Channelwise {
    pub(super) fn new(geometry: &Geometry) -> Self {
        if geometry.is_planar() {
            Self::planar(geometry)
        } else {
            Self::features_last(geometry)
        }
    }

    fn planar(geometry: &Geometry) -> Self {
        let (rhs, out, window) = (&geometry.rhs, &geometry.out, &geometry.window);
        let source = Source::new(geometry, false, None);
        let multiplier = rhs.shape[0] / window.feature_group_count;
        let last = geometry.rank() + 1;
        let taps = taps(geometry, |a, k| {
            k * source.strides[a] * window.rhs_dilation[a - 2] as isize
        });
        let across = |a: usize| {
            let step = source.strides[a] * window.strides[a - 2] as isize;
            (out.shape[a], step, out.strides[a])
        };
        let own = out.strides[1];
        let mut rows = vec![
            (
                window.feature_group_count,
                source.strides[1],
                own * multiplier as isize,
            ),
            (multiplier, 0, own),
            (out.shape[0], source.strides[0], out.strides[0]),
        ];
        rows.extend((2..last).map(across));
        let positions = out.shape[last];
        let segment = positions.min(SEGMENT);
        rows.push((
            positions.div_ceil(segment),
            segment as isize,
            segment as isize,
        ));
        let mut order: Vec<usize> = (0..rhs.shape.len()).collect();
        order.swap(0, 1);
        order.rotate_left(1);
        Self {
            spread: None,
            weights: CopyPlan::new(&rhs.permuted(&order)),
            weight_count: rhs.len(),
            first: source.offset,
            start: out.offset as isize,
            row: Row::Positions {
                positions,
                segment,
                per_feature: rows[2..].iter().map(|row| row.0).product(),
            },
            taps,
            rows,
            source,
        }
    }

    fn features_last(geometry: &Geometry) -> Self {
        let (rhs, out, window) = (&geometry.rhs, &geometry.out, &geometry.window);
        let groups = window.feature_group_count;
        let (features, multiplier) = (rhs.shape[0], rhs.shape[0] / groups);
        let last = geometry.rank() + 1;
        let few = last > 1 && features < PIECE && out.strides[last] == features as isize;
        // Elements that are as far from each other as windows are brought together, so that those of neighbouring windows are adjacent.
        let together = if few { window.strides[last - 2] } else { 1 };
        let spreads = multiplier > 1 || together > 1;
        let source = Source::new(geometry, true, spreads.then_some(together));
        let mut strides = source.strides.clone();
        let mut beside = 0;
        let spread = spreads.then(|| {
            let size = |a: usize| geometry.padded_size(a - 2);
            let (length, step) = if last > 1 {
                (size(last).next_multiple_of(together), strides[last])
            } else {
                (1, 0)
            };
            let mut shape = vec![geometry.lhs.shape[0]];
            shape.extend((2..last).map(size));
            shape.extend([together, length / together, groups, multiplier]);
            let mut from = vec![strides[0]];
            from.extend((2..last).map(|a| strides[a]));
            from.extend([step, step * together as isize, 1, 0]);
            let view = View {
                offset: 0,
                elements: geometry.lhs.shape[0]
                    * (2..last).map(size).product::<usize>()
                    * length
                    * groups,
                strides: from,
                shape,
            };
            let to = View::dense(&view.shape).strides;
            strides[0] = to[0];
            if last > 2 {
                strides[2..last].copy_from_slice(&to[1..last - 1]);
            }
            let behind = to.len() - 4;
            beside = to[behind];
            if last > 1 {
                strides[last] = to[behind + 1];
            }
            Spread {
                copy: CopyPlan::new(&view),
                len: view.len(),
            }
        });
        let taps = taps(geometry, |a, k| {
            let place = k * window.rhs_dilation[a - 2] as isize;
            if a == last {
                let together = together as isize;
                place / together * strides[a] + place % together * beside
            } else {
                place * strides[a]
            }
        });
        let along = |a: usize| {
            let steps = window.strides[a - 2] / if a == last { together } else { 1 };
            (out.shape[a], strides[a] * steps as isize, out.strides[a])
        };
        let mut rows = vec![(out.shape[0], strides[0], out.strides[0])];
        rows.extend((2..=last).map(along));
        let positions = if few && along(last).1 == features as isize {
            rows.pop().map_or(1, |row| row.0)
        } else {
            1
        };
        // The weights are repeated for each, which takes no more memory than the result if that is not small.
        let fits = (geometry.out.len().max(FEW) / rhs.len().max(1)).max(1);
        let piece = positions.min((PIECE / features).clamp(1, fits));
        let step = (piece * features) as isize;
        rows.push((positions.div_ceil(piece), step, step));
        let mut order: Vec<usize> = (2..rhs.shape.len()).collect();
        order.extend([0, 1]);
        Self {
            first: source.offset,
            source,
            spread,
            weights: CopyPlan::new(&rhs.permuted(&order)),
            weight_count: rhs.len(),
            taps,
            start: out.offset as isize,
            rows,
            row: Row::Features {
                features,
                positions,
                piece,
            },
        }
    }

    pub(super) fn run<T: Element>(
        &self,
        lhs: &[T],
        rhs: &[T],
        out: &mut [T],
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let padded = self.source.copy(lhs, context)?;
        let mut lhs = padded.as_ref().map_or(lhs, PoolBuffer::as_slice);
        let spread_len = self.spread.as_ref().map_or(0, |spread| spread.len);
        let mut buffer = PoolBuffer::for_elements::<T>(spread_len)?;
        if let Some(spread) = &self.spread {
            spread.copy.copy(lhs, buffer.as_mut_slice(), context);
            lhs = buffer.as_slice();
        }
        let (repeated, elements) = match self.row {
            Row::Features {
                features, piece, ..
            } => (piece, piece * features),
            Row::Positions { segment, .. } => (1, segment),
        };
        let mut weights = PoolBuffer::for_elements::<T>((1 + repeated) * self.weight_count)?;
        let (weights, wide) = weights.as_mut_slice::<T>().split_at_mut(self.weight_count);
        self.weights.copy(rhs, weights, context);
        let per_tap = self.weight_count / self.taps.len();
        for (to, from) in wide
            .chunks_exact_mut(per_tap * repeated)
            .zip(weights.chunks_exact(per_tap))
        {
            to.chunks_exact_mut(per_tap)
                .for_each(|to| to.copy_from_slice(from));
        }
        let len = out.len();
        let out = SharedSlice::new(out);
        let count: usize = self.rows.iter().map(|row| row.0).product();
        let group = CHUNK_WORK
            .div_ceil((elements * self.taps.len()).max(1))
            .min(count);
        context.parallel_for(count.div_ceil(group), |chunk| {
            for index in chunk * group..count.min((chunk + 1) * group) {
                let (mut from, mut to, mut rest) = (self.first, self.start, index);
                for &(size, lhs_step, out_step) in self.rows.iter().rev() {
                    from += (rest % size) as isize * lhs_step;
                    to += (rest % size) as isize * out_step;
                    rest /= size;
                }
                let to = to as usize;
                let row = |length: usize| {
                    debug_assert!(to + length <= len);
                    // SAFETY: rows of the result are disjoint, and the elements of each adjacent.
                    unsafe { out.range(to..to + length) }
                };
                match self.row {
                    Row::Features {
                        features,
                        positions,
                        piece,
                    } => {
                        let before = index % positions.div_ceil(piece) * piece;
                        let out = row(piece.min(positions - before) * features);
                        sum_features(lhs, from, &self.taps, wide, elements, out);
                    }
                    Row::Positions {
                        positions,
                        segment,
                        per_feature,
                    } => {
                        let first = index / per_feature * self.taps.len();
                        let weights = &weights[first..first + self.taps.len()];
                        let before = index % positions.div_ceil(segment) * segment;
                        let out = row(segment.min(positions - before));
                        sum_positions(lhs, from, &self.taps, weights, out);
                    }
                }
            }
        });
        Ok(())
    }
}

/// The place of each position of the window, of which one along an axis gives a distance.
fn taps(geometry: &Geometry, place: impl Fn(usize, isize) -> isize) -> Vec<isize> {
    (2..geometry.rhs.shape.len()).fold(vec![0], |taps, a| {
        let all = 0..geometry.rhs.shape[a] as isize;
        let along: Vec<isize> = all.map(|k| place(a, k)).collect();
        let taps = taps.iter();
        taps.flat_map(|&tap| along.iter().map(move |&step| tap + step))
            .collect()
    })
}

for_each_isa! {
    /// The sums of a row, of which each element has a weight for each tap: `width` after those of the tap before.
    fn sum_features<T: Element>(
        x: &[T],
        from: isize,
        taps: &[isize],
        weights: &[T],
        width: usize,
        out: &mut [T],
    ) = sum_features_any
}

#[inline(always)]
fn sum_features_any<T: Element>(
    x: &[T],
    from: isize,
    taps: &[isize],
    weights: &[T],
    width: usize,
    out: &mut [T],
) {
    let mut at = 0;
    while at + PIECE <= out.len() {
        let [mut a, mut b, mut c, mut d] = [[T::ZERO; LANES]; PIECE / LANES];
        for t in 0..taps.len() {
            let x = &x[(from + taps[t]) as usize + at..][..PIECE];
            let w = &weights[t * width + at..][..PIECE];
            a = plus_products(a, lanes(x), lanes(w));
            b = plus_products(b, lanes(&x[LANES..]), lanes(&w[LANES..]));
            c = plus_products(c, lanes(&x[2 * LANES..]), lanes(&w[2 * LANES..]));
            d = plus_products(d, lanes(&x[3 * LANES..]), lanes(&w[3 * LANES..]));
        }
        store_all(&mut out[at..], [a, b, c, d]);
        at += PIECE;
    }
    // What is left is a vector, of which some elements may be there already. Its length is no variable, which would keep the sums in memory.
    while at < out.len() && out.len() >= LANES {
        let mut sums = [T::ZERO; LANES];
        at = at.min(out.len() - LANES);
        for t in 0..taps.len() {
            let x = lanes(&x[(from + taps[t]) as usize + at..][..LANES]);
            let w = lanes(&weights[t * width + at..][..LANES]);
            sums = plus_products(sums, x, w);
        }
        out[at..at + LANES].copy_from_slice(&sums);
        at += LANES;
    }
    // Or there are some elements only.
    if at < out.len() {
        let mut sums = [T::ZERO; LANES];
        let count = out.len();
        for t in 0..taps.len() {
            let x = lanes(&x[(from + taps[t]) as usize..][..count]);
            let w = lanes(&weights[t * width..][..count]);
            sums = plus_products(sums, x, w);
        }
        out.copy_from_slice(&sums[..count]);
    }
}

for_each_isa! {
    /// The sums of a row, whose elements have the same weights.
    fn sum_positions<T: Element>(x: &[T], from: isize, taps: &[isize], weights: &[T], out: &mut [T]) = sum_positions_any
}

#[inline(always)]
fn sum_positions_any<T: Element>(
    x: &[T],
    from: isize,
    taps: &[isize],
    weights: &[T],
    out: &mut [T],
) {
    let mut at = 0;
    while at + PIECE <= out.len() {
        let [mut a, mut b, mut c, mut d] = [[T::ZERO; LANES]; PIECE / LANES];
        for t in 0..taps.len() {
            let x = &x[(from + taps[t]) as usize + at..][..PIECE];
            let w = [weights[t]; LANES];
            a = plus_products(a, lanes(x), w);
            b = plus_products(b, lanes(&x[LANES..]), w);
            c = plus_products(c, lanes(&x[2 * LANES..]), w);
            d = plus_products(d, lanes(&x[3 * LANES..]), w);
        }
        store_all(&mut out[at..], [a, b, c, d]);
        at += PIECE;
    }
    while at < out.len() {
        let mut sums = [T::ZERO; LANES];
        let count = LANES.min(out.len());
        at = at.min(out.len() - count);
        for t in 0..taps.len() {
            let x = lanes(&x[(from + taps[t]) as usize + at..][..count]);
            sums = plus_products(sums, x, [weights[t]; LANES]);
        }
        out[at..at + count].copy_from_slice(&sums[..count]);
        at += count;
    }
}

/// Vectors of sums go from one to the next by value, each with a loop of its own: of a loop over several of them the compiler makes
/// vectors across these, whose elements it gathers one by one.
#[inline(always)]
fn plus_products<T: Element>(mut sums: [T; LANES], x: [T; LANES], w: [T; LANES]) -> [T; LANES] {
    for lane in 0..LANES {
        sums[lane] = sums[lane].plus(x[lane].times(w[lane]));
    }
    sums
}

#[inline(always)]
fn store_all<T: Copy>(out: &mut [T], sums: [[T; LANES]; PIECE / LANES]) {
    out[..LANES].copy_from_slice(&sums[0]);
    out[LANES..2 * LANES].copy_from_slice(&sums[1]);
    out[2 * LANES..3 * LANES].copy_from_slice(&sums[2]);
    out[3 * LANES..PIECE].copy_from_slice(&sums[3]);
}

/// Elements as a vector, with zeros behind them.
#[inline(always)]
fn lanes<T: Element>(x: &[T]) -> [T; LANES] {
    match x.first_chunk() {
        Some(whole) => *whole,
        None => {
            let mut lanes = [T::ZERO; LANES];
            for (lane, &x) in lanes.iter_mut().zip(x) {
                *lane = x;
            }
            lanes
        }
    }
}
