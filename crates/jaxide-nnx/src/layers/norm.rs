//! Normalisation.

use jaxide::nn::initializers::{ones, zeros};
use jaxide::{Array, DType, Error, lax, numpy, raise};

use super::linear::normalize;
use super::{Initializer, options};
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
        /// The element type of the result; by default that of input and parameters.
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

    /// What [`LayerNorm`], [`RMSNorm`] and [`InstanceNorm`] take beside the number of features.
    pub struct NormOptions {
        /// What is added to the variance.
        epsilon: f64 = 1e-6;
        /// The element type of the result; by default that of input and parameters.
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
        /// Whether the variance is computed as the mean of squares less the square of the mean.
        use_fast_variance: bool = true;
    }
}

/// The square of the modulus.
fn abs_sq(x: &Array) -> Array {
    if x.dtype().is_complex() {
        lax::square(&lax::real(x)) + lax::square(&lax::imag(x))
    } else {
        lax::square(x)
    }
}

/// Where statistics are taken.
pub(super) struct Over<'a> {
    pub(super) axes: Vec<usize>,
    pub(super) mask: Option<&'a Array>,
    pub(super) axis_name: Option<&'a str>,
    pub(super) use_mean: bool,
    pub(super) use_fast_variance: bool,
}

impl Over<'_> {
    fn mean(&self, x: &Array) -> Array {
        let axes: Vec<i64> = self.axes.iter().map(|&axis| axis as i64).collect();
        let options = numpy::Reduction::new().axis(&axes[..]);
        let mean = match self.mask {
            Some(mask) => numpy::mean(x, options.where_(mask)),
            None => numpy::mean(x, options),
        };
        match self.axis_name {
            Some(name) => lax::pmean(&mean, name),
            None => mean,
        }
    }

    /// Mean and variance, in 32 bits at least.
    pub(super) fn statistics(&self, x: &Array, dtype: Option<DType>) -> (Array, Array) {
        let dtype = numpy::promote_types(dtype.unwrap_or(x.dtype()), DType::F32);
        let x = x.astype(dtype);
        if !self.use_mean {
            let variance = self.mean(&abs_sq(&x));
            return (numpy::zeros_like(&variance, ()), variance);
        }
        let mean = self.mean(&x);
        let variance = if self.use_fast_variance {
            let squares = self.mean(&abs_sq(&x));
            numpy::maximum(Array::from(0.0), squares - abs_sq(&mean))
        } else {
            let kept: Vec<i64> = self.axes.iter().map(|&axis| axis as i64).collect();
            self.mean(&abs_sq(&(&x - numpy::expand_dims(&mean, &kept[..]))))
        };
        (mean, variance)
    }
}

/// What is done with statistics.
pub(super) struct Affine<'a> {
    pub(super) scale: Option<&'a Variable<Param>>,
    pub(super) bias: Option<&'a Variable<Param>>,
    pub(super) feature_axes: &'a [usize],
    pub(super) epsilon: f64,
    pub(super) dtype: Option<DType>,
}

impl Affine<'_> {
    pub(super) fn apply(
        &self,
        x: &Array,
        mean: &Array,
        variance: &Array,
        reduced: &[usize],
    ) -> Array {
        let mut stats_shape = x.shape().to_vec();
        reduced.iter().for_each(|&axis| stats_shape[axis] = 1);
        let mut feature_shape = vec![1; x.ndim()];
        self.feature_axes
            .iter()
            .for_each(|&axis| feature_shape[axis] = x.shape()[axis]);
        let mut y = x - mean.reshape(&stats_shape[..]);
        let mut factor = lax::rsqrt(&(variance.reshape(&stats_shape[..]) + self.epsilon));
        let mut types = vec![x.clone()];
        if let Some(scale) = self.scale {
            let scale = scale.get().reshape(&feature_shape[..]);
            factor *= &scale;
            types.push(scale);
        }
        y *= factor;
        if let Some(bias) = self.bias {
            let bias = bias.get().reshape(&feature_shape[..]);
            y += &bias;
            types.push(bias);
        }
        let types: Vec<&Array> = types.iter().collect();
        y.astype(self.dtype.unwrap_or_else(|| numpy::result_type(&types)))
    }
}

/// Scale and bias, of which each that is learnt takes a key, the scale first.
pub(super) fn parameters(
    features: usize,
    rngs: &Rngs,
    (use_scale, scale_init): (bool, &Initializer),
    (use_bias, bias_init): (bool, &Initializer),
    dtype: DType,
) -> [Option<Variable<Param>>; 2] {
    let make = |init: &Initializer| Variable::new(init.call(&rngs.params(), &[features], dtype));
    let scale = use_scale.then(|| make(scale_init));
    [scale, use_bias.then(|| make(bias_init))]
}

#[track_caller]
pub(super) fn check_features(operation: &str, x: &Array, axis: usize, features: usize) {
    if x.shape().get(axis) != Some(&features) {
        raise(
            Error::shape(format!(
                "axis {axis} of {} must have length {features}",
                x.aval()
            ))
            .in_operation(operation),
        );
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
        let feature = normalize(self.axis, x);
        check_features("BatchNorm", x, feature, self.num_features);
        let reduced: Vec<usize> = (0..x.ndim()).filter(|&axis| axis != feature).collect();
        let (mean, variance) = if self.use_running_average.is_on() {
            (self.mean.get(), self.var.get())
        } else {
            let over = Over {
                axes: reduced.clone(),
                mask,
                axis_name: self.axis_name.as_deref(),
                use_mean: true,
                use_fast_variance: self.use_fast_variance,
            };
            let (mean, variance) = over.statistics(x, self.dtype);
            let mix = |old: Array, new: &Array| self.momentum * old + (1.0 - self.momentum) * new;
            self.mean.set(mix(self.mean.get(), &mean));
            self.var.set(mix(self.var.get(), &variance));
            (mean, variance)
        };
        let affine = Affine {
            scale: self.scale.as_ref(),
            bias: self.bias.as_ref(),
            feature_axes: &[feature],
            epsilon: self.epsilon,
            dtype: self.dtype,
        };
        affine.apply(x, &mean, &variance, &reduced)
    }
}

/// Layers that normalise each example: fields, constructor, and a call of the given body.
macro_rules! norms {
    ($($(#[$doc:meta])* $name:ident { $use_bias:expr; |$self:ident, $x:ident| $over:expr; $use_mean:expr })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, Module)]
        pub struct $name {
            /// `[features]`.
            pub scale: Option<Variable<Param>>,
            /// `[features]`.
            pub bias: Option<Variable<Param>>,
            num_features: usize,
            epsilon: f64,
            dtype: Option<DType>,
            use_fast_variance: bool,
        }

        impl $name {
            /// A layer of so many features.
            ///
            /// # Panics
            /// When there is no stream for `params`.
            #[track_caller]
            pub fn new(num_features: usize, rngs: &Rngs, options: impl Into<NormOptions>) -> Self {
                let o = options.into();
                let [scale, bias] = parameters(
                    num_features,
                    rngs,
                    (o.use_scale, &o.scale_init),
                    (o.use_bias && $use_bias, &o.bias_init),
                    o.param_dtype,
                );
                $name {
                    scale,
                    bias,
                    num_features,
                    epsilon: o.epsilon,
                    dtype: o.dtype,
                    use_fast_variance: o.use_fast_variance,
                }
            }

            /// Normalises `x`, whose last axis has the features.
            ///
            /// # Panics
            /// When `x` has another number of features.
            #[track_caller]
            pub fn call(&self, x: &Array) -> Array {
                self.call_masked(x, None)
            }

            /// The same with statistics over the elements that `mask` selects.
            ///
            /// # Panics
            /// When `x` has another number of features.
            #[track_caller]
            #[observed("call")]
            pub fn call_masked(&self, $x: &Array, mask: Option<&Array>) -> Array {
                let $self = self;
                let feature = $x.ndim().wrapping_sub(1);
                check_features(stringify!($name), $x, feature, self.num_features);
                let axes: Vec<usize> = $over;
                let over = Over {
                    axes: axes.clone(),
                    mask,
                    axis_name: None,
                    use_mean: $use_mean,
                    use_fast_variance: $self.use_fast_variance,
                };
                let (mean, variance) = over.statistics($x, self.dtype);
                let affine = Affine {
                    scale: self.scale.as_ref(),
                    bias: self.bias.as_ref(),
                    feature_axes: &[feature],
                    epsilon: self.epsilon,
                    dtype: self.dtype,
                };
                affine.apply($x, &mean, &variance, &axes)
            }
        }
    )* };
}

norms! {
    /// Normalises the features of each position.
    ///
    /// ```
    /// use jaxide_nnx::{LayerNorm, Rngs};
    /// use jaxide::Array;
    /// let y = LayerNorm::new(2, &Rngs::new(0), ()).call(&Array::from([[1.0f32, 3.0]]));
    /// assert!((y.to_vec::<f32>()[1] - 1.0).abs() < 1e-5);
    /// ```
    LayerNorm { true; |layer, x| vec![feature(x)]; true }
    /// Divides the features of each position by the root of the mean of their squares; there is no bias.
    ///
    /// ```
    /// use jaxide_nnx::{RMSNorm, Rngs};
    /// use jaxide::Array;
    /// let y = RMSNorm::new(2, &Rngs::new(0), ()).call(&Array::from([[1.0f32, 7.0]]));
    /// assert!((y.to_vec::<f32>()[0] - 0.2).abs() < 1e-5);
    /// ```
    RMSNorm { false; |layer, x| vec![feature(x)]; false }
    /// Normalises each feature of each example over the axes between the first and the last.
    ///
    /// ```
    /// use jaxide_nnx::{InstanceNorm, Rngs};
    /// use jaxide::Array;
    /// let y = InstanceNorm::new(1, &Rngs::new(0), ()).call(&Array::from([[[1.0f32], [3.0]]]));
    /// assert!((y.to_vec::<f32>()[1] - 1.0).abs() < 1e-5);
    /// ```
    InstanceNorm { true; |layer, x| (1..feature(x)).collect(); true }
}

/// The last axis.
fn feature(x: &Array) -> usize {
    x.ndim().saturating_sub(1)
}
