//! Optimisers as chains of transformations of gradients, in optax's way: they work on any pytree of arrays.
//!
//! ```
//! use jaxide_nnx::optim::{self, apply_updates};
//! use jaxide::Array;
//! let optimizer = optim::chain([optim::clip_by_global_norm(1.0), optim::adam(0.1)]);
//! let params = (Array::from([1.0f32, 2.0]), Array::from(3.0f32));
//! let state = optimizer.init(&params);
//! let gradients = params.clone();
//! let (updates, state) = optimizer.update(&gradients, &state, &params);
//! let params = apply_updates(&params, &updates);
//! assert!((params.1.item::<f32>() - 2.9).abs() < 1e-5);
//! # let _ = state;
//! ```

mod alias;
mod clip;
mod factored;
mod lbfgs;
mod leafwise;
mod linesearch;
pub mod losses;
mod scale;
pub mod schedules;
mod sm3;
mod wrap;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jaxide::tree::{Pytree, Tree};
use jaxide::{Array, Error, numpy, raise, value_and_grad_of};

pub use alias::*;
pub use clip::{adaptive_grad_clip, clip, clip_by_block_rms, clip_by_global_norm, global_norm};
pub use factored::{Adafactor, adafactor, scale_by_factored_rms};
pub use lbfgs::{lbfgs, scale_by_lbfgs};
pub use linesearch::{ZoomLinesearch, scale_by_zoom_linesearch, value_and_grad_from_state};
pub use scale::*;
pub use schedules::Rate;
pub use sm3::{scale_by_sm3, sm3};
pub use wrap::{Mask, apply_if_finite, masked, multi_steps, multi_transform};

/// Where a step begins.
pub(crate) struct At<'a> {
    pub(crate) params: &'a Tree<Array>,
    /// What line searches need; other transformations do not.
    pub(crate) objective: Option<&'a Objective<'a>>,
}

/// The function that is to become small, with what is known of it where a step begins.
pub(crate) struct Objective<'a> {
    pub(crate) value: Array,
    pub(crate) gradient: Tree<Array>,
    /// Value and gradient elsewhere.
    pub(crate) function: &'a (dyn Fn(&Tree<Array>) -> ValueAndGradient + 'a),
}

type ValueAndGradient = (Array, Tree<Array>);

/// What transforms gradients, and keeps a state.
pub(crate) trait Transform: Send + Sync {
    /// The state before the first step.
    fn init(&self, params: &Tree<Array>) -> Tree<Array>;

    /// What becomes of gradients, and the next state.
    fn update(
        &self,
        updates: Tree<Array>,
        state: &Tree<Array>,
        at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>);
}

/// A transformation of gradients with a state: a step of an optimiser, or a whole one. Clones are the same transformation.
#[derive(Clone)]
pub struct GradientTransformation(Arc<dyn Transform>);

/// The state of a transformation: a tree of arrays.
pub type TransformState = Tree<Array>;

impl GradientTransformation {
    pub(crate) fn new(transform: impl Transform + 'static) -> Self {
        GradientTransformation(Arc::new(transform))
    }

    /// The state before the first step.
    pub fn init<P: Pytree<Array>>(&self, params: &P) -> TransformState {
        self.0.init(&Tree::from_value(params))
    }

    /// What becomes of gradients, to be added to parameters, and the next state.
    ///
    /// # Panics
    /// When gradients, state and parameters do not fit each other.
    #[track_caller]
    pub fn update<P: Pytree<Array>>(
        &self,
        gradients: &P,
        state: &TransformState,
        params: &P,
    ) -> (P, TransformState) {
        let at = At {
            params: &Tree::from_value(params),
            objective: None,
        };
        let (updates, state) = self.0.update(Tree::from_value(gradients), state, &at);
        (value(&updates), state)
    }

    /// [`update`](Self::update) for a chain with a line search, which looks for a step along which `f` becomes small enough; `value` is
    /// that of `f` at the parameters, and `gradients` are its gradients there. [`lbfgs`] shows it.
    ///
    /// # Panics
    /// As [`update`](Self::update), and when `f` gives no scalar of floating point.
    #[track_caller]
    pub fn update_with<P: Pytree<Array> + Clone + 'static>(
        &self,
        gradients: &P,
        state: &TransformState,
        params: &P,
        value: &Array,
        f: impl Fn(P) -> Array,
    ) -> (P, TransformState) {
        let function = |params: &Tree<Array>| {
            let (value, gradient) =
                value_and_grad_of(&|params: P| f(params), (self::value::<P>(params),));
            (value, Tree::from_value(&gradient))
        };
        let objective = Objective {
            value: value.clone(),
            gradient: Tree::from_value(gradients),
            function: &function,
        };
        let at = At {
            params: &Tree::from_value(params),
            objective: Some(&objective),
        };
        let (updates, state) = self.0.update(Tree::from_value(gradients), state, &at);
        (self::value(&updates), state)
    }
}

impl PartialEq for GradientTransformation {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for GradientTransformation {}

impl Hash for GradientTransformation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).cast::<()>().hash(state);
    }
}

impl fmt::Debug for GradientTransformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GradientTransformation")
    }
}

#[track_caller]
fn value<P: Pytree<Array>>(tree: &Tree<Array>) -> P {
    match tree.to_value() {
        Ok(value) => value,
        Err(error) => raise(Error::from(error).in_operation("update")),
    }
}

/// Parameters with updates added, in their own element types.
///
/// # Panics
/// When their structures differ.
#[track_caller]
pub fn apply_updates<P: Pytree<Array>>(params: &P, updates: &P) -> P {
    let (params, updates) = (Tree::from_value(params), Tree::from_value(updates));
    value(&zip(&[&params, &updates], |leaves| {
        numpy::add(leaves[0], leaves[1]).astype(leaves[0].dtype())
    }))
}

/// The new parameters and a part of the old ones: `step_size` of `new` and the rest of `old`, for averages of parameters over many steps.
///
/// ```
/// use jaxide_nnx::optim::incremental_update;
/// use jaxide::Array;
/// let average = incremental_update(&Array::from([4.0f32]), &Array::from([0.0f32]), 0.25);
/// assert_eq!(average.to_vec::<f32>(), [1.0]);
/// ```
///
/// # Panics
/// When their structures differ.
#[track_caller]
pub fn incremental_update<P: Pytree<Array>>(new: &P, old: &P, step_size: f64) -> P {
    let (new, old) = (Tree::from_value(new), Tree::from_value(old));
    value(&zip(&[&new, &old], |leaves| {
        step_size * leaves[0] + (1.0 - step_size) * leaves[1]
    }))
}

/// The tree of `f` of the leaves of trees of one structure.
#[track_caller]
pub(crate) fn zip(trees: &[&Tree<Array>], mut f: impl FnMut(&[&Array]) -> Array) -> Tree<Array> {
    let columns: Vec<Vec<&Array>> = trees.iter().map(|tree| tree.leaves()).collect();
    let count = columns[0].len();
    if let Some(other) = columns.iter().find(|column| column.len() != count) {
        raise(
            Error::shape(format!(
                "there are {count} gradients, and {} parameters or moments",
                other.len()
            ))
            .in_operation("update"),
        );
    }
    let leaves: Vec<Array> = (0..count)
        .map(|row| f(&columns.iter().map(|column| column[row]).collect::<Vec<_>>()))
        .collect();
    with_leaves(trees[0], leaves)
}

/// A tree of the same structure with other leaves.
#[track_caller]
pub(crate) fn with_leaves(tree: &Tree<Array>, leaves: Vec<Array>) -> Tree<Array> {
    match tree.structure().unflatten(leaves) {
        Ok(tree) => tree,
        Err(error) => raise(Error::from(error).in_operation("update")),
    }
}

/// A state with named parts.
pub(crate) fn parts(name: &'static str, fields: Vec<(&'static str, Tree<Array>)>) -> Tree<Array> {
    Tree::structure_of(name, fields, Vec::new())
}

/// Part `place` of a state.
#[track_caller]
pub(crate) fn part(state: &Tree<Array>, place: usize) -> &Tree<Array> {
    match state.children().get(place) {
        Some(part) => part,
        None => raise(
            Error::parameter("the state is that of another transformation").in_operation("update"),
        ),
    }
}

/// The one array of a state's part.
#[track_caller]
pub(crate) fn number(state: &Tree<Array>, place: usize) -> Array {
    match part(state, place).as_leaf() {
        Some(array) => array.clone(),
        None => raise(
            Error::parameter("the state is that of another transformation").in_operation("update"),
        ),
    }
}

/// One transformation after the other.
struct Chain(Vec<GradientTransformation>);

impl Transform for Chain {
    fn init(&self, params: &Tree<Array>) -> Tree<Array> {
        Tree::tuple(self.0.iter().map(|transform| transform.0.init(params)))
    }

    fn update(
        &self,
        updates: Tree<Array>,
        state: &Tree<Array>,
        at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>) {
        let (mut updates, mut states) = (updates, Vec::new());
        for (place, transform) in self.0.iter().enumerate() {
            let (next, state) = transform.0.update(updates, part(state, place), at);
            updates = next;
            states.push(state);
        }
        (updates, Tree::tuple(states))
    }
}

/// One transformation after the other.
pub fn chain(
    transforms: impl IntoIterator<Item = GradientTransformation>,
) -> GradientTransformation {
    GradientTransformation::new(Chain(transforms.into_iter().collect()))
}

/// What leaves gradients as they are.
pub fn identity() -> GradientTransformation {
    chain([])
}
