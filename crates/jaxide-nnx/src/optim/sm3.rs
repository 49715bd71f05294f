//! Second moments that need no more memory than the axes of parameters.

use jaxide::tree::Tree;
use jaxide::{Array, lax, numpy};

use super::scale::scale;
use super::{At, GradientTransformation, Transform, chain, part, parts, with_leaves, zip};

/// Steps by bounds of sums of squares along axes (Anil, Gupta, Koren and Singer, 2019), averaged with `momentum`.
pub fn sm3(rate: f64, momentum: f64) -> GradientTransformation {
    chain([scale_by_sm3(momentum, 1.0, 1e-8), scale(-rate)])
}

struct Sm3 {
    b1: f64,
    b2: f64,
    eps: f64,
}

/// Gradients divided by roots of bounds of sums of their squares, averaged with `b1`: a bound for each place of each axis, which is the largest
/// that was met there. `b2` less than 1 forgets.
pub fn scale_by_sm3(b1: f64, b2: f64, eps: f64) -> GradientTransformation {
    GradientTransformation::new(Sm3 { b1, b2, eps })
}

/// The largest along all axes but one.
fn along(x: &Array, axis: usize) -> Array {
    if x.ndim() < 2 {
        return x.clone();
    }
    let others: Vec<i64> = (0..x.ndim())
        .filter(|&other| other != axis)
        .map(|axis| axis as i64)
        .collect();
    numpy::max(x, &others[..])
}

/// The bounds of a parameter, axis by axis; a scalar has one.
fn bounds(x: &Array) -> Tree<Array> {
    Tree::list((0..x.ndim().max(1)).map(|axis| Tree::Leaf(along(x, axis))))
}

impl Sm3 {
    /// The sum of squares that bounds allow, and the square of this gradient.
    fn accumulated(&self, g: &Array, bounds: &[&Array]) -> Array {
        let spread = |(axis, bound): (usize, &&Array)| {
            let mut shape = vec![1; g.ndim()];
            if let Some(length) = shape.get_mut(axis) {
                *length = g.shape()[axis];
            }
            bound.reshape(&shape[..])
        };
        let least = (bounds.iter().enumerate().map(spread))
            .reduce(|x, y| numpy::minimum(x, y))
            .unwrap_or_else(|| numpy::zeros_like(g, ()));
        let share = if self.b2 == 1.0 { 1.0 } else { 1.0 - self.b2 };
        share * lax::square(g) + self.b2 * least
    }
}

impl Transform for Sm3 {
    fn init(&self, params: &Tree<Array>) -> Tree<Array> {
        let zeros = zip(&[params], |p| numpy::zeros_like(p[0], ()));
        let of_leaves = zeros.leaves().into_iter().map(bounds);
        let mu = Tree::list(of_leaves);
        parts("ScaleBySM3State", vec![("mu", mu), ("nu", zeros)])
    }

    fn update(
        &self,
        updates: Tree<Array>,
        state: &Tree<Array>,
        _at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>) {
        let mut mu = Vec::new();
        let mut averages = Vec::new();
        let kept = part(state, 1).leaves();
        for (place, (g, average)) in updates.leaves().into_iter().zip(kept).enumerate() {
            let sum = self.accumulated(g, &part(part(state, 0), place).leaves());
            let root = lax::rsqrt(&(&sum + self.eps));
            let factor = numpy::where_(numpy::greater(&sum, 0.0), root, 0.0).astype(g.dtype());
            averages.push((1.0 - self.b1) * (g * factor) + self.b1 * average);
            mu.push(bounds(&sum));
        }
        let averages = with_leaves(&updates, averages);
        let state = parts(
            "ScaleBySM3State",
            vec![("mu", Tree::list(mu)), ("nu", averages.clone())],
        );
        (averages, state)
    }
}
