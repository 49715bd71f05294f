//! Normalisation over a batch.

use jaxide::nn::initializers::{ones, zeros};
use jaxide::{Array, DType};

use super::{Normalization, canonical_axes, other_axes, parameters};
use crate::layers::{Initializer, options};
use crate::{BatchStat, Module, Param, Rngs, Switch, Variable, observed};

options! {
    /// What [`BatchNorm`] takes beside the number of features.
    pub struct BatchNormOptions {
        /// Whether the running statistics are used instead of those of the batch.
        use_running_average: bool = false;
        /// The axis of the features.
        axis: i64 = -1;
        /// How much of the running statistics a call keeps.
        momentum: f64 = 0.99;
        /// What is added to the variance.
        epsilon: f64 = 1e-5;
        /// The element type of the result; by default that of input, parameters and statistics.
        dtype: Option<DType> = None;
        /// The element type of the parameters.
        param_dtype: DType = DType::F32;
        /// Whether a bias is learnt.
        use_bias: bool = true;
        /// Whether a scale is learnt.
        use_scale: bool = true;
        /// What the bias is at first.
        bias_init: Initializer = zeros.into();
        /// What the scale is at first.
        scale_init: Initializer = ones.into();
        /// A named axis of `vmap` over which statistics are averaged as well.
        axis_name: Option<String> = None;
        /// Whether the variance is computed as the mean of squares less the square of the mean.
        use_fast_variance: bool = true;
    }
}

/// Normalises features over a batch, and keeps running statistics for evaluation.
///
/// ```
/// use jaxide_nnx::{BatchNorm, Module, Rngs};
/// use jaxide::Array;
/// let norm = BatchNorm::new(1, &Rngs::new(0), ());
/// let x = Array::from([[1.0f32], [3.0]]);
/// norm.call(&x);
/// assert!((norm.mean.get().to_vec::<f32>()[0] - 0.02).abs() < 1e-6);
/// norm.eval();
/// assert!((norm.call(&x).to_vec::<f32>()[0] - 0.98).abs() < 1e-2);
/// ```
#[derive(Clone, Debug, Module)]
pub struct BatchNorm {
    /// The running mean, `[features]`.
    pub mean: Variable<BatchStat>,
    /// The running variance, `[features]`.
    pub var: Variable<BatchStat>,
    /// `[features]`.
    pub scale: Option<Variable<Param>>,
    /// `[features]`.
    pub bias: Option<Variable<Param>>,
    num_features: usize,
    use_running_average: Switch,
    axis: i64,
    momentum: f64,
    epsilon: f64,
    dtype: Option<DType>,
    axis_name: Option<String>,
    use_fast_variance: bool,
}

impl BatchNorm {
    /// A layer of so many features.
    ///
    /// # Panics
    /// When there is no stream for `params`.
    #[track_caller]
    pub fn new(num_features: usize, rngs: &Rngs, options: impl Into<BatchNormOptions>) -> Self {
        let o = options.into();
        let [scale, bias] = parameters(
            num_features,
            rngs,
            (o.use_scale, &o.scale_init),
            (o.use_bias, &o.bias_init),
            o.param_dtype,
        );
        BatchNorm {
            mean: Variable::new(Array::zeros([num_features], DType::F32)),
            var: Variable::new(Array::ones([num_features], DType::F32)),
            scale,
            bias,
            num_features,
            use_running_average: Switch::new(o.use_running_average),
            axis: o.axis,
            momentum: o.momentum,
            epsilon: o.epsilon,
            dtype: o.dtype,
            axis_name: o.axis_name,
            use_fast_variance: o.use_fast_variance,
        }
    }

    /// Normalises `x`, and in training updates the running statistics.
    ///
    /// # Panics
    /// When `x` has another number of features, or the layer was made outside of the innermost trace and trains.
    #[track_caller]
    pub fn call(&self, x: &Array) -> Array {
        self.call_masked(x, None)
    }

    /// [`BatchNorm::call`] with statistics over the elements that `mask` selects.
    ///
    /// # Panics
    /// As [`BatchNorm::call`].
    #[track_caller]
    #[observed("call")]
    pub fn call_masked(&self, x: &Array, mask: Option<&Array>) -> Array {
        let how = Normalization {
            operation: "BatchNorm",
            scale: self.scale.as_ref(),
            bias: self.bias.as_ref(),
            num_features: self.num_features,
            epsilon: self.epsilon,
            dtype: self.dtype,
            axis_name: self.axis_name.as_deref(),
            use_mean: true,
            use_fast_variance: self.use_fast_variance,
        };
        let features = canonical_axes(how.operation, &[self.axis], x);
        how.check_features(x, &features);
        let reduced = other_axes(x.ndim(), &features);
        let (operands, running) = how.promoted(x, [self.mean.get(), self.var.get()]);
        let [mean, variance] = if self.use_running_average.is_on() {
            running
        } else {
            let (mean, variance) = how.statistics(&operands.x, &reduced, mask);
            let mix = |old: Array, new: &Array| self.momentum * old + (1.0 - self.momentum) * new;
            self.mean.set(mix(self.mean.get(), &mean));
            self.var.set(mix(self.var.get(), &variance));
            [mean, variance]
        };
        how.apply(&operands, &mean, &variance, &reduced, &features)
    }
}
