//! What a transformation of gradients is, and how several are one.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jaxide::tree::{Pytree, Tree};
use jaxide::{Array, Error, Result, numpy, raise};

use super::tree::{self, Arrays};

type Init = dyn Fn(&Arrays) -> Result<Arrays> + Send + Sync;
type Update = dyn Fn(Arrays, &Arrays, Given<'_>) -> Result<(Arrays, Arrays)> + Send + Sync;

struct Functions {
    init: Box<Init>,
    update: Box<Update>,
}

/// A transformation of gradients with a state: a step of an optimiser, or a whole one. Clones are the same transformation.
#[derive(Clone)]
pub struct GradientTransformation(Arc<Functions>);

/// The state of a transformation: a tree of arrays.
pub type TransformState = Tree<Array>;

/// What some transformations need beside gradients: line searches do.
#[derive(Clone, Copy)]
pub struct ExtraArgs<'a, P> {
    /// The value of the function at the parameters.
    pub value: &'a Array,
    /// Its gradient there.
    pub grad: &'a P,
    /// The function.
    pub value_fn: &'a dyn Fn(P) -> Array,
}

/// [`ExtraArgs`] of any pytree.
pub(super) struct Extra<'a> {
    pub(super) value: &'a Array,
    pub(super) grad: Arrays,
    pub(super) value_fn: &'a dyn Fn(Arrays) -> Array,
}

/// What an update is given beside gradients and its state.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) params: &'a Arrays,
    pub(super) extra: Option<&'a Extra<'a>>,
}

impl GradientTransformation {
    /// A transformation of two functions: the state before the first step, from parameters; and updates and the next state, from
    /// gradients, the state and parameters. Trees of updates have the structure of parameters.
    ///
    /// ```
    /// use jaxide_nnx::optim::{GradientTransformation, sgd, chain};
    /// use jaxide::Array;
    /// let halve = GradientTransformation::new(
    ///     |_params| Ok(jaxide::tree::Tree::none()),
    ///     |gradients, state, _params| Ok((gradients.map(|g| 0.5 * g), state.clone())),
    /// );
    /// let optimizer = chain([halve, sgd(1.0)]);
    /// let x = Array::from([2.0f32]);
    /// let (updates, _) = optimizer.update(&x, &optimizer.init(&x), &x);
    /// assert_eq!(updates.to_vec::<f32>(), [-1.0]);
    /// ```
    pub fn new(
        init: impl Fn(&Tree<Array>) -> Result<Tree<Array>> + Send + Sync + 'static,
        update: impl Fn(Tree<Array>, &Tree<Array>, &Tree<Array>) -> Result<(Tree<Array>, Tree<Array>)>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self::given(init, move |updates, state, given| {
            update(updates, state, given.params)
        })
    }

    /// A transformation whose update sees all that was given.
    pub(super) fn given(
        init: impl Fn(&Arrays) -> Result<Arrays> + Send + Sync + 'static,
        update: impl Fn(Arrays, &Arrays, Given<'_>) -> Result<(Arrays, Arrays)> + Send + Sync + 'static,
    ) -> Self {
        GradientTransformation(Arc::new(Functions {
            init: Box::new(init),
            update: Box::new(update),
        }))
    }

    pub(super) fn begin(&self, params: &Arrays) -> Result<Arrays> {
        (self.0.init)(params)
    }

    pub(super) fn step(
        &self,
        updates: Arrays,
        state: &Arrays,
        given: Given<'_>,
    ) -> Result<(Arrays, Arrays)> {
        (self.0.update)(updates, state, given)
    }

    /// The state before the first step.
    ///
    /// # Panics
    /// When a parameter has a label without a transformation.
    #[track_caller]
    pub fn init<P: Pytree<Array>>(&self, params: &P) -> TransformState {
        match self.begin(&Tree::from_value(params)) {
            Ok(state) => state,
            Err(error) => raise(error.in_operation("GradientTransformation::init")),
        }
    }

    /// What becomes of gradients, to be added to parameters, and the next state.
    ///
    /// # Panics
    /// When gradients, state and parameters do not fit each other, or a part needs [`ExtraArgs`].
    #[track_caller]
    pub fn update<P: Pytree<Array>>(
        &self,
        gradients: &P,
        state: &TransformState,
        params: &P,
    ) -> (P, TransformState) {
        match self.try_update(gradients, state, params, None) {
            Ok(result) => result,
            Err(error) => raise(error.in_operation("GradientTransformation::update")),
        }
    }

    /// [`update`](Self::update) with what line searches need.
    ///
    /// # Panics
    /// As [`update`](Self::update).
    ///
    /// ```
    /// use jaxide_nnx::optim::{self, ExtraArgs};
    /// use jaxide::{Array, value_and_grad_of};
    /// let f = |x: Array| (&x * &x).sum();
    /// let optimizer = optim::lbfgs(optim::Lbfgs::default());
    /// let mut x = Array::from([1.0f32, 2.0, 3.0]);
    /// let mut state = optimizer.init(&x);
    /// for _ in 0..3 {
    ///     let (value, grad) = value_and_grad_of(&f, x.clone());
    ///     let extra = ExtraArgs { value: &value, grad: &grad, value_fn: &f };
    ///     let (updates, next) = optimizer.update_with_extra_args(&grad, &state, &x, extra);
    ///     (x, state) = (optim::apply_updates(&x, &updates), next);
    /// }
    /// assert!(f(x).item::<f32>() < 1e-10);
    /// ```
    #[track_caller]
    pub fn update_with_extra_args<P: Pytree<Array>>(
        &self,
        gradients: &P,
        state: &TransformState,
        params: &P,
        extra: ExtraArgs<'_, P>,
    ) -> (P, TransformState) {
        match self.try_update(gradients, state, params, Some(extra)) {
            Ok(result) => result,
            Err(error) => {
                raise(error.in_operation("GradientTransformation::update_with_extra_args"))
            }
        }
    }

    /// [`update`](Self::update) with or without extra arguments, and mistakes as errors.
    pub(crate) fn try_update<P: Pytree<Array>>(
        &self,
        gradients: &P,
        state: &TransformState,
        params: &P,
        extra: Option<ExtraArgs<'_, P>>,
    ) -> Result<(P, TransformState)> {
        let params = Tree::from_value(params);
        let updates = Tree::from_value(gradients);
        tree::check_alike(&params, &updates, "gradient")?;
        let typed;
        let extra = match extra {
            Some(extra) => {
                let grad = Tree::from_value(extra.grad);
                tree::check_alike(&params, &grad, "gradient in the extra arguments")?;
                typed = move |params: Arrays| match params.to_value() {
                    Ok(params) => (extra.value_fn)(params),
                    Err(error) => raise(Error::from(error)),
                };
                Some(Extra {
                    value: extra.value,
                    grad,
                    value_fn: &typed,
                })
            }
            None => None,
        };
        let given = Given {
            params: &params,
            extra: extra.as_ref(),
        };
        let (updates, state) = self.step(updates, state, given)?;
        Ok((updates.to_value()?, state))
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
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for GradientTransformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GradientTransformation")
    }
}

/// The tree of `f` of the leaves of two values of one structure.
#[track_caller]
fn combined<P: Pytree<Array>>(
    operation: &str,
    x: &P,
    y: &P,
    f: impl Fn(&Array, &Array) -> Array,
) -> P {
    let (x, y) = (Tree::from_value(x), Tree::from_value(y));
    let result = tree::check_alike(&x, &y, "other tree")
        .and_then(|()| Ok(tree::zip([&x, &y], |[x, y]| f(x, y)).to_value()?));
    match result {
        Ok(value) => value,
        Err(error) => raise(error.in_operation(operation)),
    }
}

/// Parameters with updates added, in their own element types.
///
/// # Panics
/// When their structures differ.
#[track_caller]
pub fn apply_updates<P: Pytree<Array>>(params: &P, updates: &P) -> P {
    combined("apply_updates", params, updates, |p, u| {
        numpy::add(p, u).astype(p.dtype())
    })
}

/// An exponential average of parameters: `step_size` of new ones, and the rest of old ones.
///
/// # Panics
/// When their structures differ.
///
/// ```
/// use jaxide_nnx::optim::incremental_update;
/// use jaxide::Array;
/// let average = incremental_update(&Array::from([1.0f32]), &Array::from([3.0f32]), 0.25);
/// assert_eq!(average.to_vec::<f32>(), [2.5]);
/// ```
#[track_caller]
pub fn incremental_update<P: Pytree<Array>>(new_tensors: &P, old_tensors: &P, step_size: f64) -> P {
    combined(
        "incremental_update",
        new_tensors,
        old_tensors,
        |new, old| step_size * new + (1.0 - step_size) * old,
    )
}

/// One transformation after the other.
///
/// ```
/// use jaxide_nnx::optim;
/// let optimizer = optim::chain([optim::clip(1.0), optim::sgd(0.5)]);
/// let x = jaxide::Array::from([4.0f32]);
/// let (updates, _) = optimizer.update(&x, &optimizer.init(&x), &x);
/// assert_eq!(updates.to_vec::<f32>(), [-0.5]);
/// ```
pub fn chain(
    transforms: impl IntoIterator<Item = GradientTransformation>,
) -> GradientTransformation {
    let links: Arc<[GradientTransformation]> = transforms.into_iter().collect();
    let first = links.clone();
    GradientTransformation::given(
        move |params| {
            let states: Result<Vec<_>> = first.iter().map(|link| link.begin(params)).collect();
            Ok(Tree::tuple(states?))
        },
        move |mut updates, state, given| {
            let mut states = Vec::with_capacity(links.len());
            for (place, link) in links.iter().enumerate() {
                let state = state.children().get(place).ok_or_else(tree::foreign)?;
                let (next, state) = link.step(updates, state, given)?;
                updates = next;
                states.push(state);
            }
            Ok((updates, Tree::tuple(states)))
        },
    )
}

/// A transformation of whole trees of gradients without a state; it sees the parameters too.
pub(super) fn stateless(
    update: impl Fn(Arrays, &Arrays) -> Arrays + Send + Sync + 'static,
) -> GradientTransformation {
    GradientTransformation::new(
        |_params| Ok(tree::named("EmptyState", [])),
        move |updates, state, params| Ok((update(updates, params), state.clone())),
    )
}

/// What leaves gradients as they are.
pub fn identity() -> GradientTransformation {
    stateless(|updates, _| updates)
}

/// Zeros instead of gradients, so that parameters stay as they are: for a part of them, by [`multi_transform`](super::multi_transform).
///
/// ```
/// use jaxide_nnx::optim;
/// let x = jaxide::Array::from([4.0f32]);
/// let frozen = optim::set_to_zero();
/// assert_eq!(frozen.update(&x, &frozen.init(&x), &x).0.to_vec::<f32>(), [0.0]);
/// ```
pub fn set_to_zero() -> GradientTransformation {
    stateless(|updates, _| tree::zeros_like(&updates))
}
