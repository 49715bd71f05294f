//! Second moments as the largest along each axis.

use jaxide::tree::Tree;
use jaxide::{Array, Error, Result, lax, numpy};

use super::GradientTransformation;
use super::scale::moment;
use super::tree::{self, Arrays, named, part};

/// For each axis zeros along it.
fn first(params: &Arrays) -> Result<Arrays> {
    for (path, p) in params.structure().key_paths().iter().zip(params.leaves()) {
        let error = if p.dtype().is_complex() {
            Error::dtype("the parameter is complex")
        } else if p.ndim() == 0 {
            Error::shape("the parameter has no axis along which moments are kept")
        } else {
            continue;
        };
        return Err(error.in_operation("scale_by_sm3").at_path(path.to_string()));
    }
    Ok(tree::expand(params, &mut |p| {
        let lengths = p.shape().iter();
        Tree::list(lengths.map(|&length| Tree::Leaf(Array::zeros([length], p.dtype()))))
    }))
}

/// The least of what is kept for the axes, as an array of a shape.
fn bound(kept: &[&Array], shape: &[usize]) -> Option<Array> {
    let along = kept.iter().enumerate().map(|(axis, kept)| {
        let mut lengths = vec![1; shape.len()];
        lengths[axis] = shape[axis];
        kept.reshape(&lengths[..])
    });
    along.reduce(|x, y| numpy::minimum(&x, &y))
}

/// The largest along an axis.
fn largest(x: &Array, axis: usize) -> Array {
    let others: Vec<i64> = (0..x.ndim() as i64).filter(|&i| i != axis as i64).collect();
    if others.is_empty() {
        return x.clone();
    }
    numpy::max(x, &others[..])
}

/// Gradients divided by the root of a bound of the sum of their squares, of which only the largest along each axis are kept
/// (Anil et al., 2019), and averaged.
///
/// # Panics
/// When a parameter is complex or has no axis, in `init`.
///
/// ```
/// use jaxide_nnx::optim;
/// let x = jaxide::Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let optimizer = optim::scale_by_sm3(0.0, 1.0, 0.0);
/// assert_eq!(optimizer.update(&x, &optimizer.init(&x), &x).0.to_vec::<f32>(), [1.0; 4]);
/// ```
pub fn scale_by_sm3(b1: f64, b2: f64, eps: f64) -> GradientTransformation {
    let made = |mu, nu| named("ScaleBySM3State", [("mu", mu), ("nu", nu)]);
    let new = if b2 == 1.0 { 1.0 } else { 1.0 - b2 };
    GradientTransformation::new(
        move |params| Ok(made(first(params)?, tree::zeros_like(params))),
        move |updates, state, _params| {
            let mut kept = part(state, "mu")?.leaves().into_iter();
            let mut sums = Vec::new();
            for g in updates.leaves() {
                let own: Vec<&Array> = kept.by_ref().take(g.ndim()).collect();
                let bound = bound(&own, g.shape()).ok_or_else(tree::foreign)?;
                sums.push(new * lax::square(g) + b2 * bound);
            }
            let sums = tree::with_leaves(&updates, sums);
            let scaled = tree::zip([&updates, &sums], |[g, sum]| {
                let root = numpy::where_(numpy::greater(sum, 0.0), lax::rsqrt(&(sum + eps)), 0.0);
                g * root
            });
            let nu = tree::zip([&scaled, part(state, "nu")?], |[g, kept]| {
                moment(g, kept, b1, 1).astype(kept.dtype())
            });
            let mu = tree::expand(&sums, &mut |sum| {
                Tree::list((0..sum.ndim()).map(|axis| Tree::Leaf(largest(sum, axis))))
            });
            Ok((nu.clone(), made(mu, nu)))
        },
    )
}
