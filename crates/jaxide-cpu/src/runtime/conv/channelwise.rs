//! Convolutions with one input feature to a group ("depthwise"), in vectors of features.

use super::geometry::Geometry;
use super::padding::Source;
use crate::runtime::matmul::Element;
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::transpose::CopyPlan;
use crate::runtime::{Context, KernelError, PoolBuffer};

/// A planned convolution. Output feature `g * multiplier + m` belongs to input feature `g`.
pub(super) struct Channelwise {
    source: Source,
    /// The weights as `[m, position in the window, g]`.
    weights: CopyPlan,
    /// Where each position of the window is, relative to the window's first.
    taps: Vec<isize>,
    features: usize,
    multiplier: usize,
    /// The place of the first element of the result.
    start: isize,
    /// Output positions: sizes and distances in the left operand and in the result, batch first.
    positions: Vec<(usize, isize, isize)>,
}

/// Features that are summed at a time.
const LANES: usize = 16;

impl Channelwise {
    pub(super) fn new(geometry: &Geometry) -> Self {
        let (rhs, out, window) = (&geometry.rhs, &geometry.out, &geometry.window);
        let source = Source::new(geometry, true);
        let features = window.feature_group_count;
        let multiplier = rhs.shape[0] / features;
        let mut weights = rhs.clone();
        // The output feature becomes [m, g]; the input feature has size 1 and goes.
        weights.shape.splice(0..2, [multiplier, features]);
        weights
            .strides
            .splice(0..2, [rhs.strides[0], rhs.strides[0] * multiplier as isize]);
        let mut order = vec![0];
        order.extend(2..rhs.shape.len());
        order.push(1);
        let taps = (0..geometry.rank()).fold(vec![0], |taps, a| {
            let step = source.strides[a + 2] * window.rhs_dilation[a] as isize;
            taps.iter()
                .flat_map(|&tap| (0..rhs.shape[a + 2] as isize).map(move |k| tap + k * step))
                .collect()
        });
        let mut positions = vec![(out.shape[0], source.strides[0], out.strides[0])];
        positions.extend((0..geometry.rank()).map(|a| {
            let step = source.strides[a + 2] * window.strides[a] as isize;
            (out.shape[a + 2], step, out.strides[a + 2])
        }));
        Self {
            source,
            weights: CopyPlan::new(&weights.permuted(&order)),
            taps,
            features,
            multiplier,
            start: out.offset as isize,
            positions,
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
        let lhs = padded.as_ref().map_or(lhs, PoolBuffer::as_slice);
        let mut weights =
            PoolBuffer::for_elements::<T>(self.multiplier * self.taps.len() * self.features)?;
        self.weights.copy(rhs, weights.as_mut_slice(), context);
        let weights = weights.as_slice::<T>();
        let len = out.len();
        let out = SharedSlice::new(out);
        let count: usize = self.positions.iter().map(|p| p.0).product();
        let features = self.features * self.multiplier;
        let group = (1usize << 15)
            .div_ceil(features * self.taps.len())
            .min(count);
        context.parallel_for(count.div_ceil(group), |chunk| {
            for position in chunk * group..count.min((chunk + 1) * group) {
                let (mut from, mut to, mut rest) = (self.source.offset, self.start, position);
                for &(size, lhs_step, out_step) in self.positions.iter().rev() {
                    from += (rest % size) as isize * lhs_step;
                    to += (rest % size) as isize * out_step;
                    rest /= size;
                }
                let to = to as usize;
                debug_assert!(to + features <= len);
                // SAFETY: positions of the result are disjoint, and their features adjacent.
                let out = unsafe { out.range(to..to + features) };
                for (m, weights) in weights
                    .chunks_exact(self.taps.len() * self.features)
                    .enumerate()
                {
                    sum_features(
                        &lhs[from as usize..],
                        &self.taps,
                        weights,
                        out,
                        (m, self.multiplier),
                    );
                }
            }
        });
        Ok(())
    }
}

for_each_isa! {
    /// The sums of one position for the output features m, m + multiplier, ….
    fn sum_features<T: Element>(x: &[T], taps: &[isize], weights: &[T], out: &mut [T], step: (usize, usize)) = sum_any
}

#[inline(always)]
fn sum_any<T: Element>(
    x: &[T],
    taps: &[isize],
    weights: &[T],
    out: &mut [T],
    (m, multiplier): (usize, usize),
) {
    let features = out.len() / multiplier;
    for first in (0..features).step_by(LANES) {
        let count = LANES.min(features - first);
        let mut sums = [T::ZERO; LANES];
        for (&tap, weights) in taps.iter().zip(weights.chunks_exact(features)) {
            let x = lanes(&x[tap as usize + first..][..count]);
            let w = lanes(&weights[first..first + count]);
            for lane in 0..LANES {
                sums[lane] = sums[lane].plus(x[lane].times(w[lane]));
            }
        }
        if multiplier == 1 {
            out[first..first + count].copy_from_slice(&sums[..count]);
        } else {
            for (g, &sum) in sums[..count].iter().enumerate() {
                out[(first + g) * multiplier + m] = sum;
            }
        }
    }
}

/// Features as a vector, with zeros behind them.
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
