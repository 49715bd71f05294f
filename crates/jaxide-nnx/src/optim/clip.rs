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

/// The norm of each unit: over the axes that were stated, or those that lead into it.
fn unitwise(x: &Array, axis: Option<&[i64]>) -> Array {
    let leading: Vec<i64> = match x.ndim() {
        0 | 1 => (0..x.ndim() as i64).collect(),
        2 | 3 => vec![0],
        n => (0..n as i64 - 1).collect(),
    };
    if axis.is_none() && x.shape().iter().filter(|&&length| length > 1).count() <= 1 {
        return lax::sqrt(&abs_sq(x).sum()).broadcast_to(x.shape());
    }
    let options = numpy::Reduction::new().axis(axis.unwrap_or(&leading));
    let sums = numpy::sum(&abs_sq(x), options.keepdims(true));
    lax::sqrt(&sums).broadcast_to(x.shape())
}

/// The gradient of each unit at most `clipping` times as long as its parameters, which count as at least `eps` long (Brock et al.,
/// 2021). Units stand along the last axis; of arrays with three axes, along the last two.
pub fn adaptive_grad_clip(clipping: f64, eps: f64) -> GradientTransformation {
    adaptive(clipping, eps, None)
}

/// [`adaptive_grad_clip`] whose units reach along the stated axes.
///
/// ```
/// use jaxide_nnx::optim;
/// use jaxide::Array;
/// let (x, g) = (Array::from([[3.0f32, 4.0], [0.6, 0.8]]), Array::from([[6.0f32, 8.0], [6.0, 8.0]]));
/// let clip = optim::adaptive_grad_clip_along(1.0, 1e-3, [1]);
/// assert_eq!(clip.update(&g, &clip.init(&x), &x).0.to_vec::<f32>(), [3.0, 4.0, 0.6, 0.8]);
/// ```
pub fn adaptive_grad_clip_along(
    clipping: f64,
    eps: f64,
    axis: impl Into<Vec<i64>>,
) -> GradientTransformation {
    adaptive(clipping, eps, Some(axis.into()))
}

fn adaptive(clipping: f64, eps: f64, axis: Option<Vec<i64>>) -> GradientTransformation {
    stateless_leafwise(move |leaf| {
        let norm = |x: &Array| unitwise(x, axis.as_deref());
        let (of_g, most) = (norm(leaf.g), clipping * numpy::maximum(norm(leaf.p), eps));
        let clipped = leaf.g * (&most / numpy::maximum(&of_g, 1e-6));
        numpy::where_(numpy::less(of_g, most), leaf.g, clipped)
    })
}
