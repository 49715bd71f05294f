//! An exponential average of a model.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jaxide::{Array, Error, Result, raise};

use crate::graph::{Pytree, clone, state, update};
use crate::{Attribute, Entry, Filter, Module, State, Value};

/// An exponential average of the variables of a model, which evaluates better than the last ones: `decay` of what was kept, and the rest of
/// what is new. It is a module, so that a compiled step updates it.
///
/// ```
/// use jaxide_nnx::{self as nnx, Ema, Linear, Param, Rngs};
/// use jaxide::{Array, DType};
/// let model = Linear::new(1, 1, &Rngs::new(0), ());
/// let ema = Ema::new(&model, 0.75, Param)?;
/// let step = nnx::jit(|model: Linear, ema: Ema<Linear>| {
///     model.kernel.set(Array::zeros([1, 1], DType::F32));
///     ema.update(&model);
/// });
/// let before = model.kernel.get().item::<f32>();
/// step(model.clone(), ema.clone());
/// assert_eq!(ema.apply_to(&model)?.kernel.get().item::<f32>(), 0.75 * before);
/// # Ok::<(), nnx::Error>(())
/// ```
#[derive(Clone, Debug, Module)]
pub struct Ema<M: Pytree<Array> + Clone> {
    /// The averages: a model of its own.
    pub params: M,
    decay: f64,
    #[nnx(static)]
    only: Selected,
}

/// Which variables are averaged. Two are equal when they are the same.
#[derive(Clone)]
struct Selected(Arc<Filter>);

impl PartialEq for Selected {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Selected {}

impl Hash for Selected {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for Selected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<M: Attribute + Pytree<Array> + Clone> Ema<M> {
    /// Averages of what `only` selects of a model, `..` for all, which are its values at first.
    ///
    /// # Errors
    /// When a module behind an `Arc` contains itself.
    pub fn new(model: &M, decay: f64, only: impl Into<Filter>) -> Result<Self> {
        Ok(Ema {
            params: clone(model)?,
            decay,
            only: Selected(Arc::new(only.into())),
        })
    }

    fn selected(&self, model: &M) -> Result<State> {
        let variables = Filter::predicate(|_, entry| entry.kind().is_some());
        state(model, Filter::all(((*self.only.0).clone(), variables)))
    }

    /// Takes the values of a model of the same structure in.
    ///
    /// # Panics
    /// When the model has other variables, or the averages were made outside of the innermost trace.
    #[track_caller]
    pub fn update(&self, model: &M) {
        if let Err(error) = self.try_update(model) {
            raise(error.in_operation("Ema::update"));
        }
    }

    fn try_update(&self, model: &M) -> Result<()> {
        let (kept, new) = (self.selected(&self.params)?, self.selected(model)?);
        let mut mixed = State::default();
        for (path, entry) in kept.entries() {
            let new = new.array(path.clone())?;
            let [old] = entry.arrays() else {
                continue;
            };
            if old.shape() != new.shape() {
                let message = format!("the average is {} and the value {}", old.aval(), new.aval());
                return Err(Error::shape(message).at_path(path.to_string()));
            }
            // Keys and counts have no mean: the last ones stay.
            let array = if old.dtype().is_inexact() {
                (self.decay * old + (1.0 - self.decay) * new).astype(old.dtype())
            } else {
                new
            };
            if let Entry::Variable { kind, metadata, .. } = entry {
                let value = Value::Array(array);
                let (kind, metadata) = (*kind, metadata.clone());
                mixed.insert(
                    path.clone(),
                    Entry::Variable {
                        kind,
                        metadata,
                        value,
                    },
                );
            }
        }
        update(&self.params, mixed)
    }

    /// A copy of a model with the averages in the place of what they are of.
    ///
    /// # Errors
    /// When the model has another structure.
    pub fn apply_to(&self, model: &M) -> Result<M> {
        let copy = clone(model)?;
        update(&copy, self.selected(&self.params)?)?;
        Ok(copy)
    }
}
