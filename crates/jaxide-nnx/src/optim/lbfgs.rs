//! Steps by what gradients say of curvature.

use jaxide::tree::Tree;
use jaxide::{Array, DType, lax, numpy, scan, scan_reverse};

use super::leafwise::next;
use super::linesearch::{ZoomLinesearch, scale_by_zoom_linesearch};
use super::scale::{abs_sq, scale, scale_by_learning_rate};
use super::{
    At, GradientTransformation, Rate, Transform, chain, identity, number, part, parts, zip,
};

/// Steps by an estimate of curvature from the last `memory_size` steps (Liu and Nocedal, 1989), as long as a line search says. Without a
/// rate, the search starts from steps as long as the estimate says.
///
/// ```
/// use jaxide_nnx::optim::{ZoomLinesearch, apply_updates, lbfgs, value_and_grad_from_state};
/// use jaxide::{Array, DType, numpy};
/// let f = |x: Array| (&x.square() * numpy::arange(3, DType::F32) + (x - 1.0).square()).sum();
/// let optimizer = lbfgs(None, 10, true, Some(ZoomLinesearch::default()));
/// let mut x = Array::from([4.0f32, -2.0, 3.0]);
/// let mut state = optimizer.init(&x);
/// for _ in 0..8 {
///     let (value, gradient) = value_and_grad_from_state(f, &x, &state);
///     let (updates, next) = optimizer.update_with(&gradient, &state, &x, &value, f);
///     (x, state) = (apply_updates(&x, &updates), next);
/// }
/// assert!((x - Array::from([1.0f32, 0.5, 1.0 / 3.0])).abs().max().item::<f32>() < 1e-4);
/// ```
pub fn lbfgs(
    rate: Option<Rate>,
    memory_size: usize,
    scale_init_precond: bool,
    search: Option<ZoomLinesearch>,
) -> GradientTransformation {
    chain([
        scale_by_lbfgs(memory_size, scale_init_precond),
        rate.map_or_else(|| scale(-1.0), scale_by_learning_rate),
        search.map_or_else(identity, scale_by_zoom_linesearch),
    ])
}

struct Lbfgs {
    memory_size: usize,
    scale_init_precond: bool,
}

/// Gradients times an estimate of the inverse of the second derivatives. With `scale_init_precond`, the estimate starts from a multiple of
/// the identity that the last step says.
///
/// # Panics
/// When `memory_size` is 0.
#[track_caller]
pub fn scale_by_lbfgs(memory_size: usize, scale_init_precond: bool) -> GradientTransformation {
    assert!(memory_size > 0, "at least one step is remembered");
    GradientTransformation::new(Lbfgs {
        memory_size,
        scale_init_precond,
    })
}

/// The real part of the sum of the products of all elements.
pub(super) fn dot(x: &Tree<Array>, y: &Tree<Array>) -> Array {
    let terms = x.leaves().into_iter().zip(y.leaves());
    let products = terms.map(|(x, y)| numpy::real(&numpy::vdot(x, y, ())));
    products
        .reduce(|x, y| numpy::add(x, y))
        .unwrap_or_else(|| Array::from(0.0f32))
}

/// `x + factor * y`, in the element types of `x`.
pub(super) fn add_scaled(x: &Tree<Array>, factor: &Array, y: &Tree<Array>) -> Tree<Array> {
    zip(&[x, y], |leaves| {
        (leaves[0] + factor * leaves[1]).astype(leaves[0].dtype())
    })
}

/// The element type of numbers about parameters: as many bits as theirs, and at least 32.
pub(super) fn number_dtype(params: &Tree<Array>) -> DType {
    let wide = |leaf: &&Array| matches!(leaf.dtype(), DType::F64 | DType::C128);
    if params.leaves().iter().any(wide) {
        DType::F64
    } else {
        DType::F32
    }
}

fn squared_norm(x: &Tree<Array>) -> Array {
    let sums = x.leaves().into_iter().map(|x| abs_sq(x).sum());
    sums.reduce(|x, y| numpy::add(x, y))
        .unwrap_or_else(|| Array::from(0.0f32))
}

/// What is kept of steps: differences of parameters and of gradients, and the inverse of their products, the newest anywhere.
#[derive(Clone)]
struct Memory {
    params: Tree<Array>,
    updates: Tree<Array>,
    weights: Array,
}

impl Memory {
    /// The differences of one step.
    fn of(&self, place: &Array) -> (Tree<Array>, Tree<Array>) {
        let at = |tree: &Tree<Array>| zip(&[tree], |leaf| leaf[0].index(place));
        (at(&self.params), at(&self.updates))
    }

    fn remember(&mut self, place: &Array, step: &Memory) {
        let set = |all: &Tree<Array>, one: &Tree<Array>| {
            zip(&[all, one], |leaves| leaves[0].at(place).set(leaves[1]))
        };
        self.params = set(&self.params, &step.params);
        self.updates = set(&self.updates, &step.updates);
        self.weights = self.weights.at(place).set(&step.weights);
    }

    /// `gradient` times the estimate, in two loops over steps: newest first, and oldest first.
    fn precondition(&self, gradient: &Tree<Array>, order: &Array, identity: &Array) -> Tree<Array> {
        let (vector, alphas) = scan_reverse(
            |vector: Tree<Array>, place: Array| {
                let (params, updates) = self.of(&place);
                let alpha = self.weights.index(&place) * dot(&params, &vector);
                (add_scaled(&vector, &-&alpha, &updates), alpha)
            },
            gradient.clone(),
            order.clone(),
            None,
        );
        let scaled = zip(&[&vector], |leaf| {
            (identity * leaf[0]).astype(leaf[0].dtype())
        });
        let (vector, ()) = scan(
            |vector: Tree<Array>, (place, alpha): (Array, Array)| {
                let (params, updates) = self.of(&place);
                let beta = self.weights.index(&place) * dot(&updates, &vector);
                (add_scaled(&vector, &(alpha - beta), &params), ())
            },
            scaled,
            (order.clone(), alphas),
            None,
        );
        vector
    }
}

impl Lbfgs {
    /// What the last step was, nothing before the first.
    fn last_step(updates: &Tree<Array>, state: &Tree<Array>, at: &At<'_>, later: &Array) -> Memory {
        let difference = |new: &Tree<Array>, old: &Tree<Array>| {
            zip(&[new, old], |leaves| {
                let difference = leaves[0] - leaves[1];
                numpy::where_(later, &difference, numpy::zeros_like(&difference, ()))
            })
        };
        let (params, updates) = (
            difference(at.params, part(state, 1)),
            difference(updates, part(state, 2)),
        );
        let product = dot(&updates, &params);
        let none = numpy::equal(&product, 0.0);
        let weights = numpy::where_(&none, 0.0, 1.0 / numpy::where_(&none, 1.0, &product));
        Memory {
            params,
            updates,
            weights: weights.astype(product.dtype()),
        }
    }

    /// The multiple of the identity that the estimate starts from.
    fn identity(&self, gradient: &Tree<Array>, step: &Memory, later: &Array) -> Array {
        if !self.scale_init_precond {
            return Array::from(1.0);
        }
        let (product, length) = (
            dot(&step.updates, &step.params),
            squared_norm(&step.updates),
        );
        let some = numpy::greater(&length, 0.0);
        let scale = numpy::where_(&some, product / numpy::where_(&some, &length, 1.0), 1.0);
        let first = numpy::minimum(1.0, 1.0 / lax::sqrt(&squared_norm(gradient)));
        numpy::where_(later, scale, first)
    }
}

impl Transform for Lbfgs {
    fn init(&self, params: &Tree<Array>) -> Tree<Array> {
        let zeros = || zip(&[params], |p| numpy::zeros_like(p[0], ()));
        let memory = || {
            zip(&[params], |p| {
                let shape = [&[self.memory_size], p[0].shape()].concat();
                Array::zeros(&shape[..], p[0].dtype())
            })
        };
        let memory = Memory {
            params: memory(),
            updates: memory(),
            weights: Array::zeros([self.memory_size], number_dtype(params)),
        };
        state(Array::zeros((), DType::I32), zeros(), zeros(), memory)
    }

    fn update(
        &self,
        updates: Tree<Array>,
        before: &Tree<Array>,
        at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>) {
        let (count, size) = (number(before, 0), self.memory_size as i64);
        let later = numpy::greater(&count, 0);
        let mut memory = Memory {
            params: part(before, 3).clone(),
            updates: part(before, 4).clone(),
            weights: number(before, 5),
        };
        let step = Self::last_step(&updates, before, at, &later);
        memory.remember(&numpy::remainder(&count - 1, size), &step);
        let identity = self.identity(&updates, &step, &later);
        let order = numpy::remainder(numpy::arange(size, DType::I32) + &count, size);
        let new = memory.precondition(&updates, &order, &identity);
        (new, state(next(&count), at.params.clone(), updates, memory))
    }
}

fn state(count: Array, params: Tree<Array>, updates: Tree<Array>, memory: Memory) -> Tree<Array> {
    parts(
        "ScaleByLBFGSState",
        vec![
            ("count", Tree::Leaf(count)),
            ("params", params),
            ("updates", updates),
            ("diff_params_memory", memory.params),
            ("diff_updates_memory", memory.updates),
            ("weights_memory", Tree::Leaf(memory.weights)),
        ],
    )
}
