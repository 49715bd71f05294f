//! Normalisation of groups of features.

use jaxide::nn::initializers::{ones, zeros};
use jaxide::{Array, DType, Error, numpy, raise};

use super::{Normalization, parameters};
use crate::layers::{Initializer, options};
use crate::{Module, Param, Rngs, Variable, observed};

options! {
    /// What [`GroupNorm`] takes beside the number of features.
    pub struct GroupNormOptions {
        /// How many groups there are.
        num_groups: Option<usize> = Some(32);
        /// How many features a group has, instead of the number of groups.
        group_size: Option<usize> = None;
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
        /// A named axis of `vmap` over which statistics are averaged as well.
        axis_name: Option<String> = None;
        /// Whether the variance is computed as the mean of squares less the square of the mean.
        use_fast_variance: bool = true;
    }
}

/// Normalises groups of features of each example, over all other axes but the first.
///
/// ```
/// use jaxide_nnx::{GroupNorm, GroupNormOptions, Rngs};
/// use jaxide::Array;
/// let norm = GroupNorm::new(2, &Rngs::new(0), GroupNormOptions::new().num_groups(1));
/// let y = norm.call(&Array::from([[1.0f32, 3.0]]));
/// assert!((y.to_vec::<f32>()[1] - 1.0).abs() < 1e-5);
/// ```
#[derive(Clone, Debug, Module)]
pub struct GroupNorm {
    /// `[features]`.
    pub scale: Option<Variable<Param>>,
    /// `[features]`.
    pub bias: Option<Variable<Param>>,
    num_features: usize,
    num_groups: usize,
    epsilon: f64,
    dtype: Option<DType>,
    axis_name: Option<String>,
    use_fast_variance: bool,
}

impl GroupNorm {
    /// A layer of so many features.
    ///
    /// # Panics
    /// When groups do not divide the features, both or neither of their number and size are given, or there is no stream for
    /// `params`.
    #[track_caller]
    pub fn new(num_features: usize, rngs: &Rngs, options: impl Into<GroupNormOptions>) -> Self {
        let o = options.into();
        let mistake =
            |text: String| -> ! { raise(Error::parameter(text).in_operation("GroupNorm")) };
        let num_groups = match (o.num_groups, o.group_size) {
            (Some(groups), None) if groups > 0 && num_features.is_multiple_of(groups) => groups,
            (None, Some(size)) if size > 0 && num_features.is_multiple_of(size) => {
                num_features / size
            }
            (Some(groups), None) => mistake(format!(
                "{groups} groups do not divide {num_features} features"
            )),
            (None, Some(size)) => mistake(format!(
                "groups of {size} do not divide {num_features} features"
            )),
            (Some(_), Some(_)) | (None, None) => {
                mistake("either the number of groups or their size must be given".to_owned())
            }
        };
        let [scale, bias] = parameters(
            num_features,
            rngs,
            (o.use_scale, &o.scale_init),
            (o.use_bias, &o.bias_init),
            o.param_dtype,
        );
        GroupNorm {
            scale,
            bias,
            num_features,
            num_groups,
            epsilon: o.epsilon,
            dtype: o.dtype,
            axis_name: o.axis_name,
            use_fast_variance: o.use_fast_variance,
        }
    }

    /// Normalises `x`, whose last axis has the features and whose first the examples.
    ///
    /// # Panics
    /// When `x` has another number of features.
    #[track_caller]
    pub fn call(&self, x: &Array) -> Array {
        self.call_masked(x, None)
    }

    /// [`GroupNorm::call`] with statistics over the elements that `mask` selects, whose last axis has the features too.
    ///
    /// # Panics
    /// As [`GroupNorm::call`], and when the last axis of `mask` is another.
    #[track_caller]
    #[observed("call")]
    pub fn call_masked(&self, x: &Array, mask: Option<&Array>) -> Array {
        let how = Normalization {
            operation: "GroupNorm",
            scale: self.scale.as_ref(),
            bias: self.bias.as_ref(),
            num_features: self.num_features,
            epsilon: self.epsilon,
            dtype: self.dtype,
            axis_name: self.axis_name.as_deref(),
            use_mean: true,
            use_fast_variance: self.use_fast_variance,
        };
        let feature = x.ndim().wrapping_sub(1);
        how.check_features(x, &[feature]);
        let mask = mask.map(|mask| {
            how.check_features(mask, &[mask.ndim().wrapping_sub(1)]);
            self.grouped(mask)
        });
        let (operands, []) = how.promoted(x, []);
        let inner: Vec<usize> = (1..feature).collect();
        let axes = [&inner[..], &[feature + 1]].concat();
        let (mean, variance) = how.statistics(&self.grouped(&operands.x), &axes, mask.as_ref());
        let size = self.num_features / self.num_groups;
        let wide =
            |statistic: &Array| numpy::repeat(statistic, size, numpy::Repeat::new().axis(-1));
        how.apply(
            &operands,
            &wide(&mean),
            &wide(&variance),
            &inner,
            &[feature],
        )
    }

    /// The last axis as two: that of the groups, and that in each.
    fn grouped(&self, x: &Array) -> Array {
        let front = &x.shape()[..x.ndim() - 1];
        let groups = [self.num_groups, self.num_features / self.num_groups];
        x.reshape(&[front, &groups].concat()[..])
    }
}
