//! Windows of many elements combined in steps, each of which combines few.
//!
//! A window along several axes is combined along one axis after the other, and one of `a * b` places along an axis in two steps: the
//! windows of `a` neighbours, at every place, and of those `b` that are `a` places apart. What is left over, less than `a` places, is
//! added at the end. So a window of 64 places takes 16 operations for each result, where each element is read by all its windows.

use super::super::{Combine, Op, ValueId, WindowSpec};
use super::Build;
use jaxide_core::Dims;
use smallvec::SmallVec;

/// Places of a window that one step combines at most, where there are several steps.
const MOST: usize = 8;
/// What an array in between costs, in operations for each of its elements: it is written and read.
const BETWEEN: f64 = 4.0;
/// What beginning a loop costs, in operations for one element.
const LOOP: f64 = 1600.0;

/// A window along one axis.
#[derive(Clone, Copy)]
struct Line {
    axis: usize,
    size: usize,
    stride: usize,
    dilation: usize,
    low: i64,
    /// How many elements there are along the axis, without padding.
    own: usize,
    /// How many results there are along it.
    count: usize,
    /// How many such lines there are.
    lines: f64,
}

impl Line {
    fn of(window: &WindowSpec, own: &[usize], shape: &[usize], axis: usize) -> Line {
        Line {
            axis,
            size: window.size[axis],
            stride: window.stride[axis],
            dilation: window.dilation[axis],
            low: window.low[axis],
            own: own[axis],
            count: shape[axis],
            lines: (0..shape.len())
                .filter(|&other| other != axis)
                .map(|other| shape[other] as f64)
                .product(),
        }
    }

    /// The first of two steps, where it combines `part` places.
    fn first(self, part: usize) -> Line {
        let apart = self.dilation.saturating_mul(part);
        let steps = self.count.saturating_sub(1).saturating_mul(self.stride);
        let inside = (self.size / part - 1).saturating_mul(apart);
        Line {
            size: part,
            stride: 1,
            count: steps.saturating_add(inside).saturating_add(1),
            ..self
        }
    }

    /// The second step.
    fn second(self, part: usize) -> Line {
        Line {
            size: self.size / part,
            dilation: self.dilation * part,
            low: 0,
            own: self.first(part).count,
            ..self
        }
    }

    /// What two steps leave over.
    fn rest(self, part: usize) -> Option<Line> {
        let done = self.size - self.size % part;
        (done < self.size).then(|| Line {
            size: self.size - done,
            low: (self.low).saturating_sub_unsigned(done.saturating_mul(self.dilation) as u64),
            ..self
        })
    }

    /// The operations for each result, and how many places the first of two steps combines if that takes fewer than one step. What is between
    /// the steps is never much larger than what is given and what is asked for, however much padding there is.
    fn cost(self) -> (f64, Option<usize>) {
        let at_once = (self.size as f64, None);
        let most = self.own.saturating_add(self.count).saturating_mul(2);
        (2..=MOST.min(self.size / 2))
            .map(|part| (part, self.first(part)))
            .filter(|(_, first)| first.count <= most)
            .map(|(part, first)| {
                let count = self.count.max(1) as f64;
                let copies = first.count as f64 / count;
                let second = self.second(part).bound();
                let rest = (self.size % part) as f64;
                let first = copies * (part as f64 + BETWEEN) + LOOP / (count * self.lines);
                (first + second + rest, Some(part))
            })
            .fold(
                at_once,
                |best, next| if next.0 < best.0 { next } else { best },
            )
    }

    /// About [`Self::cost`], without asking what the further steps are.
    fn bound(self) -> f64 {
        let steps = f64::from(self.size.ilog2()) / 3.0;
        (steps * (MOST as f64 + BETWEEN)).min(self.size as f64)
    }

    fn window(self, rank: usize) -> WindowSpec {
        let ones = || -> Dims { (0..rank).map(|_| 1).collect() };
        let mut window = WindowSpec {
            size: ones(),
            stride: ones(),
            dilation: ones(),
            base_dilation: ones(),
            low: (0..rank).map(|_| 0).collect(),
        };
        window.size[self.axis] = self.size;
        window.stride[self.axis] = self.stride;
        window.dilation[self.axis] = self.dilation;
        window.low[self.axis] = self.low;
        window
    }
}

impl Build {
    /// Windows combined, in as many steps as take the fewest operations. `shape` is the result's.
    pub(super) fn windows(
        &mut self,
        combine: Combine,
        x: ValueId,
        window: &WindowSpec,
        shape: &[usize],
    ) -> ValueId {
        // Padding is neutral, but for complex numbers: beside NaN it is not.
        let splits = !self.scope.dtype(x).is_complex()
            && window.base_dilation.iter().all(|&step| step == 1)
            && shape.iter().all(|&length| length > 0);
        let own = self.scope.shape(x);
        let mut lines: SmallVec<[Line; 4]> = (0..shape.len())
            .map(|axis| Line::of(window, &own, shape, axis))
            .filter(|line| {
                let moves = line.stride != 1 || line.low != 0 || line.count != own[line.axis];
                line.size != 1 || moves
            })
            .collect();
        // What makes the array shorter comes first.
        lines.sort_by_key(|line| std::cmp::Reverse(line.stride));
        let mut lengths: SmallVec<[f64; 4]> = own.iter().map(|&length| length as f64).collect();
        let results: f64 = shape.iter().map(|&length| length as f64).product();
        let places: f64 = window.size.iter().map(|&size| size as f64).product();
        let mut in_steps = -BETWEEN * results - LOOP;
        for line in &lines {
            lengths[line.axis] = line.count as f64;
            in_steps += lengths.iter().product::<f64>() * (line.cost().0 + BETWEEN) + LOOP;
        }
        if !splits || in_steps >= places * results {
            return self.windows_at_once(combine, x, window.clone(), shape);
        }
        let mut result = x;
        for line in lines {
            result = self.line(combine, result, line);
        }
        result
    }

    /// Windows combined along one axis.
    fn line(&mut self, combine: Combine, x: ValueId, line: Line) -> ValueId {
        let mut shape: Dims = self.scope.shape(x);
        let rank = shape.len();
        shape[line.axis] = line.count;
        let (_, Some(part)) = line.cost() else {
            return self.windows_at_once(combine, x, line.window(rank), &shape);
        };
        let parts = self.line(combine, x, line.first(part));
        let most = self.line(combine, parts, line.second(part));
        let Some(rest) = line.rest(part) else {
            return most;
        };
        let rest = self.windows_at_once(combine, x, rest.window(rank), &shape);
        match combine.map() {
            Some(op) => self.map(op, &[most, rest], self.scope.dtype(x)),
            None => rest,
        }
    }

    fn windows_at_once(
        &mut self,
        combine: Combine,
        x: ValueId,
        window: WindowSpec,
        shape: &[usize],
    ) -> ValueId {
        let dtype = self.scope.dtype(x);
        let window = Box::new(window);
        let op = Op::ReduceWindow { combine, window };
        self.scope.one(op, &[x], dtype, shape)
    }
}
