//! Metrics: averages over many batches, kept in variables, so that compiled functions update them.
//!
//! Several metrics are a struct of them with `#[derive(Module)]`, or a [`MultiMetric`].

mod multi;

use jaxide::{Array, DType, Error, numpy, raise};

use crate::{MetricState, Module, Variable};

pub use multi::{Metric, MultiMetric, Values};

fn zero(dtype: DType) -> Variable<MetricState> {
    Variable::new(Array::zeros((), dtype))
}

/// The mean of all values so far.
///
/// ```
/// use jaxide_nnx::{self as nnx, metrics::Average};
/// use jaxide::Array;
/// let average = Average::new();
/// let update = nnx::jit(|average: Average, x: Array| average.update(&x));
/// update(average.clone(), Array::from([1.0f32, 2.0]));
/// update(average.clone(), Array::from([6.0f32, 3.0]));
/// assert_eq!(average.compute().item::<f32>(), 3.0);
/// average.reset();
/// assert!(average.compute().item::<f32>().is_nan());
/// ```
#[derive(Clone, Debug, Module)]
pub struct Average {
    /// The sum of all values.
    pub total: Variable<MetricState>,
    /// How many there are.
    pub count: Variable<MetricState>,
}

impl Average {
    /// The mean of no values yet.
    #[must_use]
    pub fn new() -> Self {
        Average {
            total: zero(DType::F32),
            count: zero(DType::I32),
        }
    }

    /// Takes the elements of `values` too.
    ///
    /// # Panics
    /// When the metric was made outside of the innermost trace.
    #[track_caller]
    pub fn update(&self, values: &Array) {
        let sum = values.astype(DType::F32).sum();
        self.total.set(self.total.get() + sum);
        let more = i32::try_from(values.size()).unwrap_or(i32::MAX);
        self.count.set(self.count.get() + Array::scalar(more));
    }

    /// Takes the elements of `values` too where `mask`, of the same shape, is true.
    ///
    /// # Panics
    /// When the shapes do not broadcast, or the metric was made outside of the innermost trace.
    #[track_caller]
    pub fn update_masked(&self, values: &Array, mask: &Array) {
        let kept = values.astype(DType::F32) * mask.astype(DType::F32);
        self.total.set(self.total.get() + kept.sum());
        let more = mask.astype(DType::I32).sum();
        self.count.set(self.count.get() + more);
    }

    /// The mean, which is not a number as long as there are no values.
    pub fn compute(&self) -> Array {
        self.total.get() / self.count.get()
    }

    /// Forgets all values.
    ///
    /// # Panics
    /// When the metric was made outside of the innermost trace.
    #[track_caller]
    pub fn reset(&self) {
        self.total.set(Array::zeros((), DType::F32));
        self.count.set(Array::zeros((), DType::I32));
    }
}

impl Default for Average {
    fn default() -> Self {
        Self::new()
    }
}

/// The part of labels that are where scores are highest.
///
/// ```
/// use jaxide_nnx::metrics::Accuracy;
/// use jaxide::Array;
/// let accuracy = Accuracy::new();
/// accuracy.update(&Array::from([[0.1f32, 0.9], [0.7, 0.3]]), &Array::from([1, 1]));
/// assert_eq!(accuracy.compute().item::<f32>(), 0.5);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Accuracy {
    /// How many labels are right.
    pub total: Variable<MetricState>,
    /// How many there are.
    pub count: Variable<MetricState>,
    threshold: Option<f64>,
}

impl Default for Accuracy {
    fn default() -> Self {
        Self::new()
    }
}

impl Accuracy {
    /// The accuracy of no labels yet.
    #[must_use]
    pub fn new() -> Self {
        let Average { total, count } = Average::new();
        Accuracy {
            total,
            count,
            threshold: None,
        }
    }

    /// The accuracy of labels of two classes, of which the second is meant by scores from `threshold` on.
    ///
    /// ```
    /// use jaxide_nnx::metrics::Accuracy;
    /// use jaxide::Array;
    /// let accuracy = Accuracy::with_threshold(0.5);
    /// accuracy.update(&Array::from([0.1f32, 0.5, 0.9]), &Array::from([0, 1, 0]));
    /// assert!((accuracy.compute().item::<f32>() - 2.0 / 3.0).abs() < 1e-6);
    /// ```
    #[must_use]
    pub fn with_threshold(threshold: f64) -> Self {
        Accuracy {
            threshold: Some(threshold),
            ..Self::new()
        }
    }

    /// The same variables as those of a mean.
    fn average(&self) -> Average {
        Average {
            total: self.total.clone(),
            count: self.count.clone(),
        }
    }

    /// Takes scores `[.., classes]` and labels `[..]` too; with a threshold, both have one shape.
    ///
    /// # Panics
    /// When labels are not integers or do not fit the scores, or the metric was made outside of the innermost trace.
    #[track_caller]
    pub fn update(&self, logits: &Array, labels: &Array) {
        self.average().update(&self.right(logits, labels));
    }

    /// [`Accuracy::update`] of the labels where `mask`, of the same shape, is true.
    ///
    /// # Panics
    /// As [`Accuracy::update`].
    #[track_caller]
    pub fn update_masked(&self, logits: &Array, labels: &Array, mask: &Array) {
        self.average()
            .update_masked(&self.right(logits, labels), mask);
    }

    /// Which labels are right.
    #[track_caller]
    fn right(&self, logits: &Array, labels: &Array) -> Array {
        let front = match self.threshold {
            Some(_) => Some(logits.shape()),
            None => logits.shape().split_last().map(|(_, front)| front),
        };
        if front != Some(labels.shape()) || !labels.dtype().is_integer() {
            raise(
                Error::shape(format!(
                    "the scores are {} and the labels {}: integers are needed, one for each {}",
                    logits.aval(),
                    labels.aval(),
                    self.threshold.map_or("row of scores", |_| "score"),
                ))
                .in_operation("Accuracy"),
            );
        }
        match self.threshold {
            Some(threshold) => numpy::equal(
                numpy::greater_equal(logits, threshold),
                numpy::greater(labels, 0),
            ),
            None => numpy::equal(numpy::argmax(logits, -1), labels),
        }
    }

    /// The part of labels that are right.
    pub fn compute(&self) -> Array {
        self.average().compute()
    }

    /// Forgets all labels.
    ///
    /// # Panics
    /// When the metric was made outside of the innermost trace.
    #[track_caller]
    pub fn reset(&self) {
        self.average().reset();
    }
}

/// What [`Welford`] knows of its values.
#[derive(Clone, Debug, Module)]
pub struct Statistics {
    /// The mean.
    pub mean: Array,
    /// The standard deviation of the mean: that of the values by the root of their number.
    pub standard_error_of_mean: Array,
    /// The standard deviation of the values.
    pub standard_deviation: Array,
}

/// Mean and deviation of all values so far, by Welford's method.
///
/// ```
/// use jaxide_nnx::metrics::Welford;
/// use jaxide::Array;
/// let spread = Welford::new();
/// spread.update(&Array::from([1.0f32, 2.0]));
/// spread.update(&Array::from([3.0f32, 6.0]));
/// let found = spread.compute();
/// assert_eq!(found.mean.item::<f32>(), 3.0);
/// assert!((found.standard_deviation.item::<f32>() - 3.5f32.sqrt()).abs() < 1e-6);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Welford {
    /// How many values there are.
    pub count: Variable<MetricState>,
    /// Their mean.
    pub mean: Variable<MetricState>,
    /// The sum of the squares of their distances from it.
    pub m2: Variable<MetricState>,
}

impl Welford {
    /// Of no values yet.
    #[must_use]
    pub fn new() -> Self {
        Welford {
            count: zero(DType::I32),
            mean: zero(DType::F32),
            m2: zero(DType::F32),
        }
    }

    /// Takes the elements of `values` too.
    ///
    /// # Panics
    /// When the metric was made outside of the innermost trace.
    #[track_caller]
    pub fn update(&self, values: &Array) {
        let values = values.astype(DType::F32);
        let (before, more) = (self.count.get(), values.size() as f64);
        let count = &before + Array::scalar(i32::try_from(values.size()).unwrap_or(i32::MAX));
        let before = before.astype(DType::F32);
        let delta = values.mean() - self.mean.get();
        let squares = numpy::var(&values, ()) * more;
        self.m2
            .set(self.m2.get() + squares + delta.square() * &before * more / &count);
        self.mean.set(self.mean.get() + &delta * more / &count);
        self.count.set(count);
    }

    /// What is known of the values.
    pub fn compute(&self) -> Statistics {
        let count = self.count.get();
        let standard_deviation = numpy::sqrt(&(self.m2.get() / &count));
        Statistics {
            mean: self.mean.get(),
            standard_error_of_mean: &standard_deviation / numpy::sqrt(&count.astype(DType::F32)),
            standard_deviation,
        }
    }

    /// Forgets all values.
    ///
    /// # Panics
    /// When the metric was made outside of the innermost trace.
    #[track_caller]
    pub fn reset(&self) {
        self.count.set(Array::zeros((), DType::I32));
        for variable in [&self.mean, &self.m2] {
            variable.set(Array::zeros((), DType::F32));
        }
    }
}

impl Default for Welford {
    fn default() -> Self {
        Self::new()
    }
}
