//! Gradients that are not too large.

use jaxide::tree::{Pytree, Tree};
use jaxide::{Array, lax, numpy};

use super::leafwise::stateless;
use super::scale::abs_sq;
use super::{At, GradientTransformation, Transform, zip};

/// Elements between `-max_delta` and `max_delta`.
pub fn clip(max_delta: f64) -> GradientTransformation {
    stateless(move |g, _| numpy::clip(g, -max_delta, max_delta))
}

/// The gradient of each parameter divided so that the root of the mean of its squares is at most `threshold`.
pub fn clip_by_block_rms(threshold: f64) -> GradientTransformation {
    stateless(move |g, _| {
        let rms = lax::sqrt(&abs_sq(g).mean());
        g / numpy::maximum(1.0, rms / threshold)
    })
}

/// The root of the sum of the squares of all elements.
pub fn global_norm<P: Pytree<Array>>(tree: &P) -> Array {
    norm(&Tree::from_value(tree))
}

fn norm(tree: &Tree<Array>) -> Array {
    let sums = tree.leaves().into_iter().map(|leaf| abs_sq(leaf).sum());
    lax::sqrt(
        &sums
            .reduce(|x, y| numpy::add(&x, &y))
            .unwrap_or_else(|| Array::scalar(0.0f32)),
    )
}

struct ByGlobalNorm(f64);

impl Transform for ByGlobalNorm {
    fn init(&self, _params: &Tree<Array>) -> Tree<Array> {
        Tree::tuple([])
    }

    fn update(
        &self,
        updates: Tree<Array>,
        state: &Tree<Array>,
        _at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>) {
        let norm = norm(&updates);
        let small = numpy::less(&norm, self.0);
        let clipped = zip(&[&updates], |g| {
            numpy::where_(&small, g[0], g[0] / norm.astype(g[0].dtype()) * self.0)
        });
        (clipped, state.clone())
    }
}

/// Gradients with a common factor, so that the root of the sum of all squares is at most `max_norm`.
pub fn clip_by_global_norm(max_norm: f64) -> GradientTransformation {
    GradientTransformation::new(ByGlobalNorm(max_norm))
}

/// The norm of each unit: over the axes that lead into it.
fn unitwise(x: &Array) -> Array {
    let axes: Vec<usize> = match x.ndim() {
        0 | 1 => (0..x.ndim()).collect(),
        2 | 3 => vec![0],
        n => (0..n - 1).collect(),
    };
    if x.shape().iter().filter(|&&length| length > 1).count() <= 1 {
        return lax::sqrt(&abs_sq(x).sum()).broadcast_to(x.shape());
    }
    let axes: Vec<i64> = axes.into_iter().map(|axis| axis as i64).collect();
    let sums = numpy::sum(
        &abs_sq(x),
        numpy::Reduction::new().axis(&axes[..]).keepdims(true),
    );
    lax::sqrt(&sums).broadcast_to(x.shape())
}

/// The gradient of each unit at most `clipping` times as long as its parameters (Brock et al., 2021).
pub fn adaptive_grad_clip(clipping: f64, eps: f64) -> GradientTransformation {
    stateless(move |g, p| {
        let (of_g, of_p) = (unitwise(g), unitwise(p));
        let most = clipping * numpy::maximum(of_p, eps);
        let clipped = g * (&most / numpy::maximum(&of_g, 1e-6));
        numpy::where_(numpy::less(of_g, most), g, clipped)
    })
}
