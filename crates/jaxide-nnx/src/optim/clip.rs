//! Gradients that are not too large.

use jaxide::tree::{Pytree, Tree};
use jaxide::{Array, lax, numpy};

use super::GradientTransformation;
use super::leafwise::stateless_leafwise;
use super::scale::abs_sq;
use super::transform::stateless;
use super::tree;

/// Elements between `-max_delta` and `max_delta`.
pub fn clip(max_delta: f64) -> GradientTransformation {
    stateless_leafwise(move |leaf| numpy::clip(leaf.g, -max_delta, max_delta))
}

/// Each gradient divided, so that the root of the mean of its squares is at most `threshold`.
///
/// ```
/// use jaxide_nnx::optim;
/// let x = jaxide::Array::from([6.0f32, 6.0]);
/// let clip = optim::clip_by_block_rms(2.0);
/// assert_eq!(clip.update(&x, &clip.init(&x), &x).0.to_vec::<f32>(), [2.0, 2.0]);
/// ```
pub fn clip_by_block_rms(threshold: f64) -> GradientTransformation {
    stateless_leafwise(move |leaf| {
        let rms = lax::sqrt(&abs_sq(leaf.g).mean());
        leaf.g / numpy::maximum(1.0, rms / threshold)
    })
}

/// The root of the sum of the squares of all elements.
///
/// ```
/// use jaxide_nnx::optim;
/// use jaxide::Array;
/// assert_eq!(optim::global_norm(&(Array::from([3.0f32]), Array::from(4.0f32))).item::<f32>(), 5.0);
/// ```
pub fn global_norm<P: Pytree<Array>>(tree: &P) -> Array {
    lax::sqrt(&tree::squares(&Tree::from_value(tree)))
}

/// Gradients with a common factor, so that the root of the sum of all squares is at most `max_norm`.
pub fn clip_by_global_norm(max_norm: f64) -> GradientTransformation {
    stateless(move |updates, _| {
        let norm = lax::sqrt(&tree::squares(&updates));
        let small = numpy::less(&norm, max_norm);
        updates.map(|g| numpy::where_(&small, g, g / norm.astype(g.dtype()) * max_norm))
    })
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
    stateless_leafwise(move |leaf| {
        let (of_g, of_p) = (unitwise(leaf.g), unitwise(leaf.p));
        let most = clipping * numpy::maximum(of_p, eps);
        let clipped = leaf.g * (&most / numpy::maximum(&of_g, 1e-6));
        numpy::where_(numpy::less(of_g, most), leaf.g, clipped)
    })
}
