//! An optimiser with its state in variables.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jaxide::tree::{Tree, TreeDef};
use jaxide::{Array, DType, Error, Result, numpy, raise};

use crate::graph::{Flatten, Rebuild, Style};
use crate::optim::{ExtraArgs, GradientTransformation, apply_updates};
use crate::{Attribute, Dict, Filter, OptState, State, Variable};

/// A transformation of gradients with its state, and what of a model it updates.
///
/// ```
/// use jaxide_nnx::{self as nnx, Linear, Optimizer, Param, Rngs, optim};
/// use jaxide::Array;
/// let model = Linear::new(1, 1, &Rngs::new(0), ());
/// let optimizer = Optimizer::new(&model, optim::momentum(0.1, 0.9, false), Param)?;
/// let gradient = nnx::grad(|model: Linear, x: Array| model.call(&x).sum())(model.clone(), Array::from([1.0f32]));
/// optimizer.update(&model, &gradient);
/// assert_eq!(model.bias.as_ref().unwrap().get().to_vec::<f32>(), [-0.1]);
/// assert_eq!(optimizer.step.get().item::<u32>(), 1);
/// # Ok::<(), nnx::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Optimizer {
    /// How many steps were made.
    pub step: Variable<OptState>,
    opt_state: Dict<Variable<OptState>>,
    structure: TreeDef,
    how: How,
}

/// What does not change: the transformation, and what it is for. Two are equal when they are the same.
#[derive(Clone)]
struct How(Arc<(GradientTransformation, Filter)>);

impl PartialEq for How {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for How {}

impl Hash for How {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.1, f)
    }
}

impl Optimizer {
    /// An optimiser of what `wrt` selects of a model.
    ///
    /// # Errors
    /// None that a single filter can make.
    pub fn new(
        model: &impl Attribute,
        transform: GradientTransformation,
        wrt: impl Into<Filter>,
    ) -> Result<Self> {
        let wrt = wrt.into();
        let params = crate::state(model, wrt.clone())?;
        let state = transform.init(&params);
        let structure = state.structure();
        let names = structure.key_paths();
        let variables: BTreeMap<String, Variable<OptState>> = names
            .iter()
            .zip(state.leaves())
            .map(|(path, leaf)| (path.simple("."), Variable::new(leaf.clone())))
            .collect();
        Ok(Optimizer {
            step: Variable::new(Array::zeros((), DType::U32)),
            opt_state: Dict(variables),
            structure,
            how: How(Arc::new((transform, wrt))),
        })
    }

    /// The state of the transformation, by the paths of its arrays: hyperparameters that are injected are
    /// `opt_state()["hyperparams.learning_rate"]` and may be set.
    ///
    /// ```
    /// use jaxide_nnx::{Linear, Optimizer, Param, Rngs, optim};
    /// let model = Linear::new(1, 1, &Rngs::new(0), ());
    /// let sgd = optim::inject_hyperparams([("learning_rate", 0.1.into())], |h| optim::sgd(h.rate("learning_rate")));
    /// let optimizer = Optimizer::new(&model, sgd, Param)?;
    /// optimizer.opt_state()["hyperparams.learning_rate"].set(0.5f32);
    /// # Ok::<(), jaxide_nnx::Error>(())
    /// ```
    pub fn opt_state(&self) -> &Dict<Variable<OptState>> {
        &self.opt_state
    }

    fn state(&self) -> Result<Tree<Array>> {
        let leaves = self.structure.key_paths();
        let leaves: Vec<Array> = leaves
            .iter()
            .map(|path| self.opt_state[&path.simple(".")].get())
            .collect();
        Ok(self.structure.unflatten(leaves)?)
    }

    /// A step against a gradient, which [`grad`](crate::grad) gave for the same model: model and state change.
    ///
    /// # Panics
    /// When the gradient is not that of what the optimiser updates, or model or optimiser were made outside of the innermost trace.
    #[track_caller]
    pub fn update(&self, model: &impl Attribute, gradient: &State) {
        if let Err(error) = self.try_update(model, gradient, None) {
            raise(error.in_operation("Optimizer::update"));
        }
    }

    /// [`update`](Self::update) with what line searches need; the function takes the state that is updated.
    ///
    /// # Panics
    /// As [`update`](Self::update).
    ///
    /// ```
    /// use jaxide_nnx::{self as nnx, Linear, Optimizer, Param, Rngs, State, optim::{self, ExtraArgs, Lbfgs}};
    /// use jaxide::Array;
    /// let model = Linear::new(1, 1, &Rngs::new(0), ());
    /// let optimizer = Optimizer::new(&model, optim::lbfgs(Lbfgs::default()), Param)?;
    /// let (x, y) = (Array::from([[1.0f32], [2.0]]), Array::from([[3.0f32], [5.0]]));
    /// let loss = |model: Linear| (model.call(&x) - &y).square().mean();
    /// let (definition, _) = nnx::split(&model, ..)?;
    /// let value_fn = |state: State| loss(nnx::merge(&definition, state).unwrap());
    /// for _ in 0..10 {
    ///     let (value, grad) = nnx::value_and_grad_of(&loss, model.clone());
    ///     let extra = ExtraArgs { value: &value, grad: &grad, value_fn: &value_fn };
    ///     optimizer.update_with_extra_args(&model, &grad, extra);
    /// }
    /// assert!(loss(model).item::<f32>() < 1e-6);
    /// # Ok::<(), nnx::Error>(())
    /// ```
    #[track_caller]
    pub fn update_with_extra_args(
        &self,
        model: &impl Attribute,
        gradient: &State,
        extra: ExtraArgs<'_, State>,
    ) {
        if let Err(error) = self.try_update(model, gradient, Some(extra)) {
            raise(error.in_operation("Optimizer::update_with_extra_args"));
        }
    }

    fn try_update(
        &self,
        model: &impl Attribute,
        gradient: &State,
        extra: Option<ExtraArgs<'_, State>>,
    ) -> Result<()> {
        let (transform, wrt) = &*self.how.0;
        let params = crate::state(model, wrt.clone())?;
        if let Some(path) = params
            .paths()
            .find(|path| !gradient.entries.contains_key(*path))
        {
            return Err(
                Error::parameter("the gradient has no such entry").at_path(path.to_string())
            );
        }
        if let Some(path) = gradient
            .paths()
            .find(|path| !params.entries.contains_key(*path))
        {
            return Err(
                Error::parameter("the optimiser updates no such entry").at_path(path.to_string())
            );
        }
        // Before the model is changed.
        self.step.any().check_trace()?;
        for (name, variable) in self.opt_state.iter() {
            let at = |error: Error| error.at_path(format!("opt_state/{name}"));
            variable.any().check_trace().map_err(at)?;
        }
        let (updates, state) = transform.try_update(gradient, &self.state()?, &params, extra)?;
        crate::update(model, apply_updates(&params, &updates))?;
        for (path, leaf) in self.structure.key_paths().iter().zip(state.leaves()) {
            self.opt_state[&path.simple(".")].set(leaf.clone());
        }
        self.step
            .set(numpy::add(&self.step.get(), Array::scalar(1u32)));
        Ok(())
    }
}

impl Attribute for Optimizer {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        let keys = vec![
            "how".into(),
            "opt_state".into(),
            "step".into(),
            "structure".into(),
        ];
        to.node("Optimizer", Style::Object, keys);
        to.fixed("how", &self.how);
        to.attribute("opt_state", &self.opt_state);
        to.attribute("step", &self.step);
        to.fixed("structure", &self.structure);
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        from.node("Optimizer", Style::Object)?;
        let how = from.fixed("how")?;
        let opt_state = from.attribute("opt_state")?;
        let step = from.attribute("step")?;
        let structure = from.fixed("structure")?;
        Ok(Optimizer {
            step,
            opt_state,
            structure,
            how,
        })
    }
}

crate::node_types! {
    [] Optimizer;
}
