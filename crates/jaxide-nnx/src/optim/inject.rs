//! Hyperparameters in the state, where they can be read and set.

use std::collections::BTreeMap;
use std::sync::Arc;

use jaxide::tree::Tree;
use jaxide::{Array, DType, Error, Result, numpy, raise};

use super::tree::{Arrays, named, next, number, part};
use super::{GradientTransformation, Rate};

/// The values of hyperparameters in a step, by name.
#[derive(Clone, Debug)]
pub struct Hyperparams(BTreeMap<String, Array>);

impl Hyperparams {
    /// A hyperparameter, for an optimiser.
    ///
    /// # Panics
    /// When there is none of that name.
    #[track_caller]
    pub fn rate(&self, name: &str) -> Rate {
        match self.0.get(name) {
            Some(value) => Rate::Value(value.clone()),
            None => {
                let names: Vec<&str> = self.0.keys().map(String::as_str).collect();
                let message = format!("there is no hyperparameter {name}, but {names:?}");
                raise(Error::parameter(message).in_operation("inject_hyperparams"))
            }
        }
    }
}

/// What is injected, and what is made of it.
struct Injected {
    rates: BTreeMap<String, Rate>,
    factory: Box<Factory>,
}

type Factory = dyn Fn(&Hyperparams) -> GradientTransformation + Send + Sync;

impl Injected {
    fn schedules(&self) -> impl Iterator<Item = (&String, &Rate)> {
        let mut rates = self.rates.iter().collect::<Vec<_>>();
        rates.retain(|(_, rate)| matches!(rate, Rate::Schedule(_)));
        rates.into_iter()
    }

    /// The state, with the counts of schedules made from those before, if there were any.
    fn state(
        &self,
        count: Array,
        values: Hyperparams,
        counts: impl Fn(&str) -> Result<Array>,
        inner: Arrays,
    ) -> Result<Arrays> {
        let counts = self.schedules().map(|(name, _)| {
            let count = Tree::Leaf(counts(name)?);
            Ok((
                name.clone(),
                named("WrappedScheduleState", [("count", count)]),
            ))
        });
        let values = values.0.into_iter().map(|(k, v)| (k, Tree::Leaf(v)));
        let fields = [
            ("count", Tree::Leaf(count)),
            ("hyperparams", Tree::dict(values)?),
            (
                "hyperparams_states",
                Tree::dict(counts.collect::<Result<Vec<_>>>()?)?,
            ),
            ("inner_state", inner),
        ];
        Ok(named("InjectStatefulHyperparamsState", fields))
    }

    fn begin(&self, params: &Arrays) -> Result<Arrays> {
        let dtype = common(params);
        let zero = Array::scalar(0i32);
        let values = self.rates.iter().map(|(name, rate)| {
            let value = match rate {
                Rate::Value(value) => value.clone(),
                Rate::Constant(_) | Rate::Schedule(_) => rate.at(&zero).astype(dtype),
            };
            (name.clone(), value)
        });
        let values = Hyperparams(values.collect());
        let inner = (self.factory)(&values).begin(params)?;
        self.state(zero.clone(), values, |_| Ok(zero.clone()), inner)
    }

    fn values(&self, state: &Arrays, dtype: DType) -> Result<Hyperparams> {
        let (kept, counts) = (
            part(state, "hyperparams")?,
            part(state, "hyperparams_states")?,
        );
        let values = self.rates.iter().map(|(name, rate)| {
            let value = match rate {
                Rate::Schedule(_) => rate.at(number(part(counts, name)?, "count")?).astype(dtype),
                Rate::Constant(_) | Rate::Value(_) => number(kept, name)?.clone(),
            };
            Ok((name.clone(), value))
        });
        Ok(Hyperparams(values.collect::<Result<_>>()?))
    }
}

/// The element type in which all parameters fit.
fn common(params: &Arrays) -> DType {
    let leaves = params.leaves();
    if leaves.is_empty() {
        DType::F32
    } else {
        numpy::result_type(&leaves)
    }
}

/// A transformation whose learning rates, or other numbers that may be schedules, are a part of its state, under `hyperparams`:
/// there they are what the last step took, and numbers that are no schedules can be [set](super::tree::set).
///
/// ```
/// use jaxide_nnx::optim::{self, schedules, tree};
/// use jaxide::Array;
/// let optimizer = optim::inject_hyperparams(
///     [("learning_rate", schedules::linear(1.0, 0.0, 2)), ("weight_decay", 0.1.into())],
///     |h| optim::adamw(h.rate("learning_rate"), h.rate("weight_decay"), None),
/// );
/// let x = Array::from([1.0f32]);
/// let mut state = optimizer.init(&x);
/// for rate in [1.0, 0.5, 0.0] {
///     state = optimizer.update(&x, &state, &x).1;
///     let found = tree::get(&state, "learning_rate").and_then(|rate| rate.as_leaf());
///     assert_eq!(found.unwrap().item::<f32>(), rate);
/// }
/// ```
pub fn inject_hyperparams<'a>(
    hyperparams: impl IntoIterator<Item = (&'a str, Rate)>,
    inner_factory: impl Fn(&Hyperparams) -> GradientTransformation + Send + Sync + 'static,
) -> GradientTransformation {
    let rates = hyperparams.into_iter();
    let injected = Arc::new(Injected {
        rates: rates.map(|(name, rate)| (name.to_owned(), rate)).collect(),
        factory: Box::new(inner_factory),
    });
    let first = injected.clone();
    GradientTransformation::given(
        move |params| first.begin(params),
        move |updates, state, given| {
            let values = injected.values(state, common(given.params))?;
            let inner = (injected.factory)(&values);
            let (updates, inner) = inner.step(updates, part(state, "inner_state")?, given)?;
            let count = next(number(state, "count")?);
            let counts = part(state, "hyperparams_states")?;
            let counts = |name: &str| Ok(next(number(part(counts, name)?, "count")?));
            Ok((updates, injected.state(count, values, counts, inner)?))
        },
    )
}
