//! The shapes of a convolution.

use super::Window;
use crate::runtime::View;

/// Positions that make a vector worth while.
const FEWEST_POSITIONS: usize = 12;

/// Operands and result with their dimensions in the order batch (output feature), feature (input
/// feature), spatial ones.
pub(super) struct Geometry {
    pub(super) lhs: View,
    pub(super) rhs: View,
    pub(super) out: View,
    pub(super) window: Window,
}

impl Geometry {
    /// # Panics
    /// If shapes, window and groups do not fit together, or a view leaves its buffer.
    pub(super) fn new(lhs: &View, rhs: &View, window: &Window, out_spec: &[usize]) -> Self {
        lhs.check();
        rhs.check();
        let rank = window.strides.len();
        let lengths = [
            window.padding.len(),
            window.lhs_dilation.len(),
            window.rhs_dilation.len(),
        ];
        let fits = lengths == [rank; 3]
            && [lhs.shape.len(), rhs.shape.len(), out_spec.len()] == [rank + 2; 3];
        assert!(
            fits,
            "{window:?} over {:?} and {:?} into {out_spec:?}",
            lhs.shape, rhs.shape
        );
        let (features, batches) = (window.feature_group_count, window.batch_group_count);
        let positive = |list: &[usize]| list.iter().all(|&x| x > 0);
        assert!(
            features > 0
                && batches > 0
                && (features == 1 || batches == 1)
                && lhs.shape[0].is_multiple_of(batches)
                && rhs.shape[0].is_multiple_of(features * batches)
                && lhs.shape[1] == rhs.shape[1] * features
                && positive(&window.strides)
                && positive(&window.lhs_dilation)
                && positive(&window.rhs_dilation),
            "{window:?} does not fit {:?} and {:?}",
            lhs.shape,
            rhs.shape
        );
        let mut sizes = vec![lhs.shape[0] / batches, rhs.shape[0]];
        sizes.extend((0..rank).map(|a| output_size(window, a, lhs.shape[a + 2], rhs.shape[a + 2])));
        let mut shape = vec![0; rank + 2];
        out_spec
            .iter()
            .zip(&sizes)
            .for_each(|(&place, &size)| shape[place] = size);
        let out = View::dense(&shape).permuted(out_spec);
        Self {
            lhs: lhs.clone(),
            rhs: rhs.clone(),
            out,
            window: window.clone(),
        }
    }

    /// The number of spatial dimensions.
    pub(super) fn rank(&self) -> usize {
        self.window.strides.len()
    }

    /// Groups of either kind: each has its own output features.
    pub(super) fn groups(&self) -> usize {
        self.window.feature_group_count * self.window.batch_group_count
    }

    /// Products that are summed for one element of the result.
    pub(super) fn depth(&self) -> usize {
        self.rhs.shape[1..].iter().product()
    }

    /// Whether each group has one input feature and few output features, so that matrix products
    /// would be almost empty.
    pub(super) fn is_channelwise(&self) -> bool {
        let features = self.window.feature_group_count;
        // Of one group the taps may be as many as positions are elsewhere, as of the gradient of weights; and several output features
        // of the only input feature are the columns of a product, unless positions are adjacent.
        let alone = self.window.batch_group_count > 1 || !self.has_adjacent_positions();
        (features > 1 || !alone) && self.rhs.shape[1] == 1 && self.rhs.shape[0] / features < 8
    }

    /// Whether a convolution with one input feature to a group has adjacent positions along its last axis.
    pub(super) fn is_planar(&self) -> bool {
        self.is_channelwise() && self.has_adjacent_positions()
    }

    /// Whether positions along the last axis are adjacent, enough for a vector, in the operand as in the result.
    fn has_adjacent_positions(&self) -> bool {
        let last = self.rank() + 1;
        last > 1
            && self.out.shape[last] >= FEWEST_POSITIONS
            && (self.lhs.strides[last], self.out.strides[last]) == (1, 1)
            && self.window.strides[last - 2] == 1
            && self.window.lhs_dilation[last - 2] == 1
    }

    /// A dense array for the result with the features last, in the order of dimensions used here.
    pub(super) fn features_last(&self) -> View {
        let mut order = vec![0];
        order.extend(2..self.rank() + 2);
        order.push(1);
        let shape: Vec<usize> = order.iter().map(|&a| self.out.shape[a]).collect();
        let mut back = vec![0, self.rank() + 1];
        back.extend(1..=self.rank());
        View::dense(&shape).permuted(&back)
    }

    /// The convolution as several into parts of a result that lies like `out`, none of which has
    /// gaps in its left operand.
    ///
    /// Neighbouring positions of the result see different elements of the window where the left
    /// operand has gaps, and those that see the same ones are an ordinary convolution.
    pub(super) fn phases(&self, out: View) -> Phases {
        Phases {
            along: (0..self.rank()).map(|a| self.phases_along(a)).collect(),
            whole: Self {
                lhs: self.lhs.clone(),
                rhs: self.rhs.clone(),
                out,
                window: self.window.clone(),
            },
        }
    }

    /// The phases along a spatial dimension in which windows see anything of it.
    fn phases_along(&self, axis: usize) -> Vec<Phase> {
        let window = &self.window;
        let dilation = window.lhs_dilation[axis];
        let (stride, step) = (window.strides[axis], window.rhs_dilation[axis]);
        let period = dilation / gcd(stride, dilation);
        let tap_step = dilation / gcd(step, dilation);
        let (outputs, taps) = (self.out.shape[axis + 2], self.rhs.shape[axis + 2]);
        let first_tap = |first: usize| {
            let place = |tap: usize| (first * stride + tap * step) as i64 - window.padding[axis].0;
            (0..tap_step.min(taps))
                .map(|tap| (tap, place(tap)))
                .find(|(_, place)| place % dilation as i64 == 0)
        };
        (0..period.min(outputs))
            .filter_map(|first| {
                let (tap, place) = first_tap(first)?;
                Some(Phase {
                    first,
                    period,
                    outputs: (outputs - first).div_ceil(period),
                    tap,
                    tap_step,
                    taps: (taps - tap).div_ceil(tap_step),
                    before: -place / dilation as i64,
                })
            })
            .collect()
    }

    /// Becomes one phase along a spatial dimension of this convolution.
    fn take_phase(&mut self, axis: usize, phase: &Phase) {
        self.rhs
            .take_every(axis + 2, phase.tap, phase.tap_step, phase.taps);
        self.out
            .take_every(axis + 2, phase.first, phase.period, phase.outputs);
        let window = &mut self.window;
        let dilation = std::mem::replace(&mut window.lhs_dilation[axis], 1);
        window.strides[axis] = window.strides[axis] * phase.period / dilation;
        window.rhs_dilation[axis] = window.rhs_dilation[axis] * phase.tap_step / dilation;
        window.padding[axis].0 = phase.before;
    }

    /// The range of the padded left operand that windows touch along a spatial dimension.
    pub(super) fn padded_size(&self, axis: usize) -> usize {
        let window = (self.rhs.shape[axis + 2] - 1) * self.window.rhs_dilation[axis] + 1;
        (self.out.shape[axis + 2] - 1) * self.window.strides[axis] + window
    }
}

/// Every `period`-th position of the result from `first` on along a spatial dimension, and what its
/// windows see: every `tap_step`-th element of the window from `tap` on, over the left operand
/// without gaps behind `before` zeros.
struct Phase {
    first: usize,
    period: usize,
    outputs: usize,
    tap: usize,
    tap_step: usize,
    taps: usize,
    before: i64,
}

/// A convolution in parts, one for each choice of a phase along each spatial dimension.
pub(super) struct Phases {
    whole: Geometry,
    along: Vec<Vec<Phase>>,
}

impl Phases {
    /// The number of parts.
    pub(super) fn count(&self) -> usize {
        self.along.iter().map(Vec::len).product()
    }

    /// Whether the parts make all of the result; what is left sees nothing of the window.
    pub(super) fn are_complete(&self) -> bool {
        let outputs = |phases: &Vec<Phase>| phases.iter().map(|p| p.outputs).sum::<usize>();
        let sizes = &self.whole.out.shape[2..];
        (self.along.iter().zip(sizes)).all(|(phases, &size)| outputs(phases) == size)
    }

    /// One part.
    pub(super) fn part(&self, mut index: usize) -> Geometry {
        let whole = &self.whole;
        let mut part = Geometry {
            lhs: whole.lhs.clone(),
            rhs: whole.rhs.clone(),
            out: whole.out.clone(),
            window: whole.window.clone(),
        };
        for (axis, phases) in self.along.iter().enumerate() {
            part.take_phase(axis, &phases[index % phases.len()]);
            index /= phases.len();
        }
        part
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The size of the result along a spatial dimension.
fn output_size(window: &Window, axis: usize, lhs: usize, rhs: usize) -> usize {
    let dilated = |size: usize, dilation: usize| {
        if size == 0 {
            0
        } else {
            (size as i64 - 1) * dilation as i64 + 1
        }
    };
    let (before, after) = window.padding[axis];
    let padded = dilated(lhs, window.lhs_dilation[axis])
        .saturating_add(before)
        .saturating_add(after);
    let free = padded - dilated(rhs, window.rhs_dilation[axis]);
    if free < 0 {
        0
    } else {
        free as usize / window.strides[axis] + 1
    }
}
