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
use smallvec::SmallVec;
use std::ops::RangeInclusive;

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

/// A row of the result: its index along each axis of rows, and where it begins in the left operand and in the result.
struct RowPlace {
    indices: SmallVec<[usize; 6]>,
    from: isize,
    to: isize,
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
const CHUNK_WORK: usize = 1 << 17;

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
        let per_feature = rows[2..].iter().map(|row| row.0).product();
        rows.retain(|row| row.0 != 1);
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
                per_feature,
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
        rows.retain(|row| row.0 != 1);
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

    fn place_of(&self, row: usize) -> RowPlace {
        let mut place = RowPlace {
            indices: SmallVec::from_elem(0, self.rows.len()),
            from: self.first,
            to: self.start,
        };
        let mut rest = row;
        for (index, &(size, lhs_step, out_step)) in place.indices.iter_mut().zip(&self.rows).rev() {
            *index = rest % size;
            place.from += *index as isize * lhs_step;
            place.to += *index as isize * out_step;
            rest /= size;
        }
        place
    }

    /// The next row.
    fn advance(&self, place: &mut RowPlace) {
        for (index, &(size, lhs_step, out_step)) in place.indices.iter_mut().zip(&self.rows).rev() {
            *index += 1;
            place.from += lhs_step;
            place.to += out_step;
            if *index < size {
                break;
            }
            *index = 0;
            place.from -= size as isize * lhs_step;
            place.to -= size as isize * out_step;
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
        let (least, most) = (self.taps.iter().min(), self.taps.iter().max());
        let reach = least.copied().unwrap_or(0)..=most.copied().unwrap_or(0);
        let len = out.len();
        let out = SharedSlice::new(out);
        let count: usize = self.rows.iter().map(|row| row.0).product();
        let group = CHUNK_WORK
            .div_ceil((elements * self.taps.len()).max(1))
            .min(count);
        context.parallel_for(count.div_ceil(group), |chunk| {
            let mut place = self.place_of(chunk * group);
            for index in chunk * group..count.min((chunk + 1) * group) {
                let (from, to) = (place.from, place.to as usize);
                self.advance(&mut place);
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
                        let terms = Terms::new(
                            (lhs, from),
                            (&self.taps, &reach),
                            (wide, elements),
                            out.len(),
                        );
                        sum_features(terms, out);
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
                        let terms =
                            Terms::new((lhs, from), (&self.taps, &reach), (weights, 1), out.len());
                        sum_positions(terms, out);
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

/// What the sums of a row are of: elements from `from` on, and from each tap after it.
#[derive(Clone, Copy)]
struct Terms<'a, T> {
    x: &'a [T],
    from: isize,
    taps: &'a [isize],
    weights: &'a [T],
    /// How many weights there are for each tap: those of all elements, or one.
    width: usize,
}

impl<'a, T: Element> Terms<'a, T> {
    /// Checks once what is read for a row of so many elements; `reach` is from the first tap to the last.
    fn new(
        (x, from): (&'a [T], isize),
        (taps, reach): (&'a [isize], &RangeInclusive<isize>),
        (weights, width): (&'a [T], usize),
        row: usize,
    ) -> Self {
        let (first, last) = (from + reach.start(), from + reach.end());
        assert!(
            first >= 0 && last as usize + row <= x.len(),
            "windows are inside the array"
        );
        assert!(weights.len() >= taps.len() * width && (width == 1 || width >= row));
        Terms {
            x,
            from,
            taps,
            weights,
            width,
        }
    }
}

for_each_isa! {
    /// The sums of a row, of which each element has a weight of its own for each tap.
    fn sum_features<T: Element>(terms: Terms<'_, T>, out: &mut [T]) = sum_features_any
}

for_each_isa! {
    /// The sums of a row, whose elements have the same weights.
    fn sum_positions<T: Element>(terms: Terms<'_, T>, out: &mut [T]) = sum_positions_any
}

#[inline(always)]
fn sum_features_any<T: Element>(terms: Terms<'_, T>, out: &mut [T]) {
    sum_row::<T, true>(terms, out);
}

#[inline(always)]
fn sum_positions_any<T: Element>(terms: Terms<'_, T>, out: &mut [T]) {
    sum_row::<T, false>(terms, out);
}

/// Four vectors at once, none of which waits for the others' sums. The last ones are made of elements that may be there already.
#[inline(always)]
fn sum_row<T: Element, const OWN: bool>(terms: Terms<'_, T>, out: &mut [T]) {
    let Some(last) = out.len().checked_sub(LANES) else {
        return sum_short_row::<T, OWN>(terms, out);
    };
    let mut at = 0;
    while at + PIECE <= out.len() {
        let places = [at, at + LANES, at + 2 * LANES, at + 3 * LANES];
        // SAFETY: vectors from there on end in the row.
        unsafe { sum_piece::<T, OWN>(terms, places, out) };
        at += PIECE;
    }
    let place = |k: usize| last.min(at + k * LANES);
    let left = out.len() - at;
    // SAFETY: as above.
    unsafe {
        if left > 2 * LANES {
            sum_piece::<T, OWN>(terms, [place(0), place(1), place(2), place(3)], out);
        } else if left > LANES {
            sum_two::<T, OWN>(terms, [place(0), place(1)], out);
        } else if left > 0 {
            sum_two::<T, OWN>(terms, [last, last], out);
        }
    }
}

/// Defines the sums of the vectors at some places.
macro_rules! vector_sums {
    ($name:ident: $count:literal, $($sum:ident $k:literal),*) => {
        /// # Safety
        /// Vectors from these places on end in the row that the terms were made for, and in `out`.
        #[inline(always)]
        unsafe fn $name<T: Element, const OWN: bool>(
            terms: Terms<'_, T>,
            places: [usize; $count],
            out: &mut [T],
        ) {
            let Terms { x, from, taps, weights, width } = terms;
            $(let mut $sum = [T::ZERO; LANES];)*
            for t in 0..taps.len() {
                let x = x.as_ptr().wrapping_offset(from + taps[t]);
                let weight = weights.as_ptr().wrapping_add(t * width);
                // SAFETY: the terms are inside for a whole row, and a vector ends in it.
                let vector = |of: *const T, place: usize| unsafe {
                    of.add(place).cast::<[T; LANES]>().read_unaligned()
                };
                // SAFETY: there is a weight for each tap.
                let one = || [unsafe { *weight }; LANES];
                let weight = |place: usize| if OWN { vector(weight, place) } else { one() };
                $($sum = plus_products($sum, vector(x, places[$k]), weight(places[$k]));)*
            }
            let out = out.as_mut_ptr();
            // SAFETY: vectors from these places on end in the result.
            unsafe { $(out.add(places[$k]).cast::<[T; LANES]>().write_unaligned($sum);)* }
        }
    };
}

vector_sums!(sum_piece: 4, a 0, b 1, c 2, d 3);
vector_sums!(sum_two: 2, a 0, b 1);

/// A row that is shorter than a vector.
#[inline(always)]
fn sum_short_row<T: Element, const OWN: bool>(terms: Terms<'_, T>, out: &mut [T]) {
    let Terms {
        x,
        from,
        taps,
        weights,
        width,
    } = terms;
    let count = out.len();
    let mut sums = [T::ZERO; LANES];
    for t in 0..taps.len() {
        let x = &x[(from + taps[t]) as usize..];
        let w = if OWN {
            lanes(&weights[t * width..][..count])
        } else {
            [weights[t]; LANES]
        };
        // Elements behind the row are summed up for nothing.
        let x = x
            .first_chunk()
            .copied()
            .unwrap_or_else(|| lanes(&x[..count]));
        sums = plus_products(sums, x, w);
    }
    out.copy_from_slice(&sums[..count]);
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
