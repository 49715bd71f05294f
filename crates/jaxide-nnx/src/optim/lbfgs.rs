//! The method of Broyden, Fletcher, Goldfarb and Shanno with a limited memory: algorithms 7.4 and 7.5 of Nocedal and Wright.

use jaxide::lax::InDim;
use jaxide::tree::{Pytree, Tree};
use jaxide::{Array, DType, Error, lax, numpy};

use super::GradientTransformation;
use super::tree::{self, Arrays, add_scaled, dot, named, next, number, part, select};

/// Differences of parameters and of gradients in the last steps, a row each, and the reciprocals of their products.
#[derive(Clone, Pytree)]
struct Memory {
    params: Arrays,
    updates: Arrays,
    weights: Array,
}

fn row(memory: &Arrays, place: &Array) -> Arrays {
    memory.map(|rows| lax::dynamic_index_in_dim(rows, place, InDim::new().keepdims(false)))
}

fn written(memory: &Arrays, place: &Array, new: &Arrays) -> Arrays {
    tree::zip([memory, new], |[rows, new]| write(rows, place, new))
}

fn write(rows: &Array, place: &Array, new: &Array) -> Array {
    lax::dynamic_update_index_in_dim(rows, &new.astype(rows.dtype()), place, 0)
}

impl Memory {
    fn weight(&self, place: &Array) -> Array {
        lax::dynamic_index_in_dim(&self.weights, place, InDim::new().keepdims(false))
    }

    /// Gradients times the approximate inverse of the Hessian, which begins as `scale` times the identity. `oldest` is the place of
    /// the oldest row.
    fn precondition(&self, updates: Arrays, scale: &Array, oldest: &Array) -> Arrays {
        let size = self.weights.shape()[0];
        let places = numpy::remainder(oldest + lax::iota(DType::I32, [size], 0), size as i64);
        let (updates, alphas) = jaxide::scan_reverse(
            |updates: Arrays, place: Array| {
                let alpha = self.weight(&place) * dot(&row(&self.params, &place), &updates);
                let own = row(&self.updates, &place);
                (add_scaled(&updates, &-&alpha, &own), alpha)
            },
            updates,
            places.clone(),
            None,
        );
        let updates = updates.map(|u| scale.astype(u.dtype()) * u);
        let (updates, _) = jaxide::scan(
            |updates: Arrays, (place, alpha): (Array, Array)| {
                let beta = self.weight(&place) * dot(&row(&self.updates, &place), &updates);
                let own = row(&self.params, &place);
                (add_scaled(&updates, &(alpha - beta), &own), ())
            },
            updates,
            (places, alphas),
            None,
        );
        updates
    }
}

fn difference(x: &Arrays, y: &Arrays) -> Arrays {
    tree::zip([x, y], |[x, y]| x - y)
}

/// The scale of the identity that the approximation begins with: the first step is at most as long as 1.
fn identity_scale(updates: &Arrays, product: &Array, differences: &Arrays, begun: &Array) -> Array {
    let squares = tree::squares(differences);
    let positive = numpy::greater(&squares, 0.0);
    let scale = numpy::where_(positive, product / &squares, 1.0);
    let norm = lax::sqrt(&tree::squares(updates));
    numpy::where_(begun, scale, numpy::minimum(1.0, 1.0 / norm))
}

/// Gradients times an approximation of the inverse of the Hessian, from the last `memory_size` steps (Liu and Nocedal, 1989). Unless
/// `scale_init_precond`, the approximation begins as the identity.
///
/// # Panics
/// When `memory_size` is 0, in `init`.
///
/// ```
/// use jaxide_nnx::optim;
/// use jaxide::Array;
/// let lbfgs = optim::scale_by_lbfgs(3, true);
/// let (x, g) = (Array::from([1.0f32, 1.0]), Array::from([3.0f32, 4.0]));
/// let (updates, _) = lbfgs.update(&g, &lbfgs.init(&x), &x);
/// assert!((optim::global_norm(&updates).item::<f32>() - 1.0).abs() < 1e-6);
/// ```
pub fn scale_by_lbfgs(memory_size: usize, scale_init_precond: bool) -> GradientTransformation {
    let made = |count, params, updates, memory: Memory| {
        let fields = [
            ("count", Tree::Leaf(count)),
            ("params", params),
            ("updates", updates),
            ("diff_params_memory", memory.params),
            ("diff_updates_memory", memory.updates),
            ("weights_memory", Tree::Leaf(memory.weights)),
        ];
        named("ScaleByLBFGSState", fields)
    };
    GradientTransformation::new(
        move |params| {
            if memory_size == 0 {
                let error = Error::parameter("memory_size must be at least 1");
                return Err(error.in_operation("scale_by_lbfgs"));
            }
            let rows = params.map(|p| {
                let shape: Vec<usize> = [memory_size].iter().chain(p.shape()).copied().collect();
                Array::zeros(&shape[..], p.dtype())
            });
            let zeros = tree::zeros_like(params);
            let memory = Memory {
                params: rows.clone(),
                updates: rows,
                weights: Array::zeros([memory_size], DType::F32),
            };
            Ok(made(Array::scalar(0i32), zeros.clone(), zeros, memory))
        },
        move |updates, state, params| {
            let count = number(state, "count")?;
            let begun = numpy::greater(count, 0);
            let fresh = |x: &Arrays| select(&begun, x, &tree::zeros_like(x));
            let of_params = difference(params, part(state, "params")?);
            let of_updates = difference(&updates, part(state, "updates")?);
            let product = dot(&of_updates, &of_params);
            let defined = numpy::logical_and(&begun, numpy::not_equal(&product, 0.0));
            let weight = numpy::where_(defined, 1.0 / &product, 0.0);
            let (of_params, of_updates) = (fresh(&of_params), fresh(&of_updates));
            let size = memory_size as i64;
            let (oldest, newest) = (
                numpy::remainder(count, size),
                numpy::remainder(count - 1, size),
            );
            let memory = Memory {
                params: written(part(state, "diff_params_memory")?, &newest, &of_params),
                updates: written(part(state, "diff_updates_memory")?, &newest, &of_updates),
                weights: write(number(state, "weights_memory")?, &newest, &weight),
            };
            let scale = if scale_init_precond {
                identity_scale(&updates, &product, &of_updates, &begun)
            } else {
                Array::from(1.0)
            };
            let new = memory.precondition(updates.clone(), &scale, &oldest);
            Ok((new, made(next(count), params.clone(), updates, memory)))
        },
    )
}
