//! Metrics: averages over many batches, kept in variables, so that compiled functions update them.
//!
//! Several metrics are a struct of them with `#[derive(Module)]`.

use jaxide::{Array, DType, Error, numpy, raise};

use crate::{MetricState, Module, Variable};

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
#[derive(Clone, Debug, Default, Module)]
pub struct Accuracy {
    average: Average,
}

impl Accuracy {
    /// The accuracy of no labels yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes scores `[.., classes]` and labels `[..]` too.
    ///
    /// # Panics
    /// When labels are not integers or do not have the shape of the scores without the last axis, or the metric was made outside
    /// of the innermost trace.
    #[track_caller]
    pub fn update(&self, logits: &Array, labels: &Array) {
        let fits = logits
            .shape()
            .split_last()
            .is_some_and(|(_, front)| front == labels.shape());
        if !fits || !labels.dtype().is_integer() {
            raise(
                Error::shape(format!(
                    "the scores are {} and the labels {}: integers are needed, one for each row of scores",
                    logits.aval(),
                    labels.aval()
                ))
                .in_operation("Accuracy"),
            );
        }
        self.average
            .update(&numpy::equal(numpy::argmax(logits, -1), labels));
    }

    /// The part of labels that are right.
    pub fn compute(&self) -> Array {
        self.average.compute()
    }

    /// Forgets all labels.
    ///
    /// # Panics
    /// When the metric was made outside of the innermost trace.
    #[track_caller]
    pub fn reset(&self) {
        self.average.reset();
    }
}

/// Mean and deviation of all values so far, by Welford's method.
///
/// ```
/// use jaxide_nnx::metrics::Welford;
/// use jaxide::Array;
/// let spread = Welford::new();
/// spread.update(&Array::from([1.0f32, 2.0]));
/// spread.update(&Array::from([3.0f32, 6.0]));
/// let (mean, deviation) = spread.compute();
/// assert_eq!(mean.item::<f32>(), 3.0);
/// assert!((deviation.item::<f32>() - 3.5f32.sqrt()).abs() < 1e-6);
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
            count: zero(DType::F32),
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
        let count = &before + more;
        let delta = values.mean() - self.mean.get();
        let squares = numpy::var(&values, ()) * more;
        self.m2
            .set(self.m2.get() + squares + delta.square() * &before * more / &count);
        self.mean.set(self.mean.get() + &delta * more / &count);
        self.count.set(count);
    }

    /// The mean and the standard deviation.
    pub fn compute(&self) -> (Array, Array) {
        let variance = self.m2.get() / self.count.get();
        (self.mean.get(), numpy::sqrt(&variance))
    }

    /// Forgets all values.
    ///
    /// # Panics
    /// When the metric was made outside of the innermost trace.
    #[track_caller]
    pub fn reset(&self) {
        for variable in [&self.count, &self.mean, &self.m2] {
            variable.set(Array::zeros((), DType::F32));
        }
    }
}

impl Default for Welford {
    fn default() -> Self {
        Self::new()
    }
}
