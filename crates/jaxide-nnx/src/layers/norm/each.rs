//! Normalisation of each example.

use jaxide::nn::initializers::{ones, zeros};
use jaxide::{Array, DType, Error, raise};

use super::{Normalization, canonical_axes, parameters};
use crate::layers::{Initializer, options};
use crate::{Module, Param, Rngs, Variable, observed};

options! {
    /// What [`LayerNorm`], [`RMSNorm`] and [`InstanceNorm`] take beside the number of features.
    pub struct NormOptions {
        /// What is added to the variance.
        epsilon: f64 = 1e-6;
        /// The element type of the result; by default that of input and parameters.
        dtype: Option<DType> = None;
        /// The element type of the parameters.
        param_dtype: DType = DType::F32;
        /// Whether a bias is learnt; [`RMSNorm`] has none.
        use_bias: bool = true;
        /// Whether a scale is learnt.
        use_scale: bool = true;
        /// What the bias is at first.
        bias_init: Initializer = zeros.into();
        /// What the scale is at first.
        scale_init: Initializer = ones.into();
        /// The axes over which statistics are taken: the last by default; those of [`InstanceNorm`] follow from the features.
        reduction_axes: Option<Vec<i64>> = None;
        /// The axes of the features, which together have as many elements as the parameters.
        feature_axes: Vec<i64> = vec![-1];
        /// A named axis of `vmap` over which statistics are averaged as well.
        axis_name: Option<String> = None;
        /// Whether the variance is computed as the mean of squares less the square of the mean.
        use_fast_variance: bool = true;
    }
}

/// Layers that normalise each example: fields, constructor, and a call over the given axes.
macro_rules! norms {
    ($($(#[$doc:meta])* $name:ident { bias: $use_bias:expr, mean: $use_mean:expr, |$layer:ident, $x:ident, $features:ident| $axes:expr })*) => { $(
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
            reduction_axes: Option<Vec<i64>>,
            feature_axes: Vec<i64>,
            axis_name: Option<String>,
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
                    reduction_axes: o.reduction_axes,
                    feature_axes: o.feature_axes,
                    axis_name: o.axis_name,
                    use_fast_variance: o.use_fast_variance,
                }
            }

            /// Normalises `x`.
            ///
            /// # Panics
            /// When `x` has no such axes, or another number of features.
            #[track_caller]
            pub fn call(&self, x: &Array) -> Array {
                self.call_masked(x, None)
            }

            /// The same with statistics over the elements that `mask` selects.
            ///
            /// # Panics
            /// As `call`.
            #[track_caller]
            #[observed("call")]
            pub fn call_masked(&self, x: &Array, mask: Option<&Array>) -> Array {
                let how = Normalization {
                    operation: stringify!($name),
                    scale: self.scale.as_ref(),
                    bias: self.bias.as_ref(),
                    num_features: self.num_features,
                    epsilon: self.epsilon,
                    dtype: self.dtype,
                    axis_name: self.axis_name.as_deref(),
                    use_mean: $use_mean,
                    use_fast_variance: self.use_fast_variance,
                };
                let features = canonical_axes(how.operation, &self.feature_axes, x);
                let ($layer, $x, $features) = (self, x, &features);
                let reduced: Vec<usize> = $axes;
                how.over(x, mask, &reduced, &features)
            }

            /// The axes that were stated, or the last.
            #[track_caller]
            fn stated_axes(&self, x: &Array) -> Vec<usize> {
                let axes = self.reduction_axes.as_deref().unwrap_or(&[-1]);
                canonical_axes(stringify!($name), axes, x)
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
    LayerNorm { bias: true, mean: true, |layer, x, _features| layer.stated_axes(x) }
    /// Divides the features of each position by the root of the mean of their squares; there is no bias.
    ///
    /// ```
    /// use jaxide_nnx::{RMSNorm, Rngs};
    /// use jaxide::Array;
    /// let y = RMSNorm::new(2, &Rngs::new(0), ()).call(&Array::from([[1.0f32, 7.0]]));
    /// assert!((y.to_vec::<f32>()[0] - 0.2).abs() < 1e-5);
    /// ```
    RMSNorm { bias: false, mean: false, |layer, x, _features| layer.stated_axes(x) }
    /// Normalises each feature of each example over the axes behind the first that are none of the features.
    ///
    /// ```
    /// use jaxide_nnx::{InstanceNorm, Rngs};
    /// use jaxide::Array;
    /// let y = InstanceNorm::new(1, &Rngs::new(0), ()).call(&Array::from([[[1.0f32], [3.0]]]));
    /// assert!((y.to_vec::<f32>()[1] - 1.0).abs() < 1e-5);
    /// ```
    InstanceNorm { bias: true, mean: true, |layer, x, features| layer.instance_axes(x, features) }
}

impl InstanceNorm {
    #[track_caller]
    fn instance_axes(&self, x: &Array, features: &[usize]) -> Vec<usize> {
        let mistake = |text: &str| -> ! {
            raise(Error::parameter(text).in_operation("InstanceNorm"));
        };
        if features.contains(&0) {
            mistake("the first axis is that of the examples, and cannot be one of the features");
        }
        let axes: Vec<usize> = (1..x.ndim())
            .filter(|axis| !features.contains(axis))
            .collect();
        if self.reduction_axes.is_some() && self.stated_axes(x) != axes {
            mistake("statistics are taken over all axes but the first and those of the features");
        }
        axes
    }
}
