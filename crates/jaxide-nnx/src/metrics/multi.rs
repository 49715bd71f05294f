//! Several metrics at once.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jaxide::{Array, Error, Result, raise};

use super::{Accuracy, Average, Welford};
use crate::graph::{Flatten, Rebuild, Style};
use crate::layers::RebuildAny;
use crate::{Attribute, Key};

/// What an update is given, by name.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a>(&'a [(&'a str, &'a Array)]);

impl Values<'_> {
    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    }

    /// The value of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn need(&self, name: &str) -> Result<&Array> {
        self.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
            Error::parameter(format!("there is no value `{name}` among {known:?}"))
        })
    }
}

/// What [`MultiMetric`] is made of.
pub trait Metric: Attribute + Send + Sync + 'static {
    /// Takes what it needs of `values`; `name` is its own among the metrics.
    ///
    /// # Errors
    /// When that is not there.
    fn take(&self, name: &str, values: Values<'_>) -> Result<()>;

    /// What is known: one number without a name, or several with theirs.
    fn known(&self) -> Vec<(&'static str, Array)>;

    /// Forgets all.
    fn forget(&self);
}

/// Takes the value that is called as the metric is, or else `values`.
impl Metric for Average {
    fn take(&self, name: &str, values: Values<'_>) -> Result<()> {
        let value = values.get(name).map_or_else(|| values.need("values"), Ok)?;
        match values.get("mask") {
            Some(mask) => self.update_masked(value, mask),
            None => self.update(value),
        }
        Ok(())
    }

    fn known(&self) -> Vec<(&'static str, Array)> {
        vec![("", self.compute())]
    }

    fn forget(&self) {
        self.reset();
    }
}

/// Takes `logits` and `labels`, and `mask` if there is one.
impl Metric for Accuracy {
    fn take(&self, _name: &str, values: Values<'_>) -> Result<()> {
        let (logits, labels) = (values.need("logits")?, values.need("labels")?);
        match values.get("mask") {
            Some(mask) => self.update_masked(logits, labels, mask),
            None => self.update(logits, labels),
        }
        Ok(())
    }

    fn known(&self) -> Vec<(&'static str, Array)> {
        vec![("", self.compute())]
    }

    fn forget(&self) {
        self.reset();
    }
}

/// Takes the value that is called as the metric is, or else `values`.
impl Metric for Welford {
    fn take(&self, name: &str, values: Values<'_>) -> Result<()> {
        self.update(values.get(name).map_or_else(|| values.need("values"), Ok)?);
        Ok(())
    }

    fn known(&self) -> Vec<(&'static str, Array)> {
        let found = self.compute();
        vec![
            ("mean", found.mean),
            ("standard_deviation", found.standard_deviation),
            ("standard_error_of_mean", found.standard_error_of_mean),
        ]
    }

    fn forget(&self) {
        self.reset();
    }
}

/// A metric whose type is forgotten. Clones are the same metric.
#[derive(Clone)]
struct AnyMetric(Arc<dyn Rebuildable>);

/// [`Metric`] for objects.
trait Rebuildable: Send + Sync {
    fn metric(&self) -> &dyn Known;
    fn flatten(&self, to: &mut Flatten);
}

/// The part of [`Metric`] that objects have.
trait Known {
    fn take(&self, name: &str, values: Values<'_>) -> Result<()>;
    fn known(&self) -> Vec<(&'static str, Array)>;
    fn forget(&self);
}

impl<M: Metric> Known for M {
    fn take(&self, name: &str, values: Values<'_>) -> Result<()> {
        Metric::take(self, name, values)
    }

    fn known(&self) -> Vec<(&'static str, Array)> {
        Metric::known(self)
    }

    fn forget(&self) {
        Metric::forget(self);
    }
}

impl<M: Metric> Rebuildable for M {
    fn metric(&self) -> &dyn Known {
        self
    }

    fn flatten(&self, to: &mut Flatten) {
        to.any(RebuildAny::new(TypeId::of::<M>(), |from| {
            Ok(Box::new(AnyMetric(Arc::new(M::rebuild(from)?))))
        }));
        Attribute::flatten(self, to);
    }
}

impl Attribute for AnyMetric {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        self.0.flatten(to);
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        from.any()
    }
}

/// Several metrics with names, which are updated, computed and reset at once, as Flax's `MultiMetric`. Clones are the same metrics.
///
/// ```
/// use jaxide_nnx::{self as nnx, metrics::{Accuracy, Average, MultiMetric}};
/// use jaxide::Array;
/// let metrics = MultiMetric::new().with("accuracy", Accuracy::new()).with("loss", Average::new());
/// let step = nnx::jit(|metrics: MultiMetric, logits: Array, labels: Array, loss: Array| {
///     metrics.update(&[("logits", &logits), ("labels", &labels), ("loss", &loss)]);
/// });
/// step(metrics.clone(), Array::from([[0.0f32, 1.0], [1.0, 0.0]]), Array::from([1, 1]), Array::from(0.25f32));
/// step(metrics.clone(), Array::from([[0.0f32, 1.0], [0.0, 1.0]]), Array::from([1, 1]), Array::from(0.75f32));
/// let found = metrics.compute();
/// assert_eq!((found["accuracy"].item::<f32>(), found["loss"].item::<f32>()), (0.75, 0.5));
/// metrics.reset();
/// ```
#[derive(Clone, Default)]
pub struct MultiMetric(BTreeMap<String, AnyMetric>);

impl MultiMetric {
    /// No metrics yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These metrics, and one more, which replaces another of that name.
    #[must_use]
    pub fn with(mut self, name: &str, metric: impl Metric) -> Self {
        self.0.insert(name.to_owned(), AnyMetric(Arc::new(metric)));
        self
    }

    /// Gives every metric what it needs of values by name.
    ///
    /// # Panics
    /// When a value is missing, or values do not fit a metric, or the metrics were made outside of the innermost trace.
    #[track_caller]
    pub fn update(&self, values: &[(&str, &Array)]) {
        for (name, metric) in &self.0 {
            if let Err(error) = metric.0.metric().take(name, Values(values)) {
                raise(error.in_operation("MultiMetric").at_path(name.clone()));
            }
        }
    }

    /// What is known, by the names of the metrics; of metrics with several numbers by `name/part`.
    pub fn compute(&self) -> BTreeMap<String, Array> {
        let each = self.0.iter().flat_map(|(name, metric)| {
            let known = metric.0.metric().known().into_iter();
            known.map(move |(part, value)| match part {
                "" => (name.clone(), value),
                part => (format!("{name}/{part}"), value),
            })
        });
        each.collect()
    }

    /// Forgets all.
    ///
    /// # Panics
    /// When the metrics were made outside of the innermost trace.
    #[track_caller]
    pub fn reset(&self) {
        for metric in self.0.values() {
            metric.0.metric().forget();
        }
    }
}

impl fmt::Debug for MultiMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Attribute for MultiMetric {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        let keys = self.0.keys().map(|name| Key::from(name.clone())).collect();
        to.node("MultiMetric", Style::Object, keys);
        for (name, metric) in &self.0 {
            to.attribute(name.clone(), metric);
        }
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        let keys = from.node("MultiMetric", Style::Object)?.keys.clone();
        let metrics = keys
            .iter()
            .map(|key| Ok((key.to_string(), from.attribute(key.clone())?)));
        metrics.collect::<Result<_>>().map(MultiMetric)
    }
}

crate::node_types! {
    [] MultiMetric;
}
