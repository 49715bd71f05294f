//! Normalisation: what the layers have in common.

mod batch;
mod each;
mod group;
mod spectral;
mod weight;

pub use batch::{BatchNorm, BatchNormOptions};
pub use each::{InstanceNorm, LayerNorm, NormOptions, RMSNorm};
pub use group::{GroupNorm, GroupNormOptions};
pub use spectral::{SpectralNorm, SpectralNormOptions, SpectralStats};
pub use weight::{WeightNorm, WeightNormOptions};

use jaxide::{Array, DType, Error, lax, numpy, raise};

use super::linear::normalize;
use super::{Initializer, common_dtype};
use crate::{Param, Rngs, Variable};

/// How a layer normalises.
pub(super) struct Normalization<'a> {
    pub(super) operation: &'static str,
    pub(super) scale: Option<&'a Variable<Param>>,
    pub(super) bias: Option<&'a Variable<Param>>,
    pub(super) num_features: usize,
    pub(super) epsilon: f64,
    pub(super) dtype: Option<DType>,
    pub(super) axis_name: Option<&'a str>,
    pub(super) use_mean: bool,
    pub(super) use_fast_variance: bool,
}

/// An input and the parameters of a layer, in one element type.
pub(super) struct Operands {
    pub(super) x: Array,
    scale: Option<Array>,
    bias: Option<Array>,
}

impl Normalization<'_> {
    /// The input, the parameters and further statistics in the element type that the layer computes in.
    #[track_caller]
    pub(super) fn promoted<const N: usize>(
        &self,
        x: &Array,
        statistics: [Array; N],
    ) -> (Operands, [Array; N]) {
        let parameter = |variable: Option<&Variable<Param>>| variable.map(Variable::get);
        let (scale, bias) = (parameter(self.scale), parameter(self.bias));
        let all: Vec<&Array> = [x]
            .into_iter()
            .chain(&statistics)
            .chain(&scale)
            .chain(&bias)
            .collect();
        let dtype = common_dtype(self.operation, self.dtype, &all);
        let operands = Operands {
            x: x.astype(dtype),
            scale: scale.map(|scale| scale.astype(dtype)),
            bias: bias.map(|bias| bias.astype(dtype)),
        };
        (operands, statistics.map(|array| array.astype(dtype)))
    }

    /// Normalises with statistics over `reduced`, of the elements that `mask` selects.
    #[track_caller]
    pub(super) fn over(
        &self,
        x: &Array,
        mask: Option<&Array>,
        reduced: &[usize],
        features: &[usize],
    ) -> Array {
        self.check_features(x, features);
        let (operands, []) = self.promoted(x, []);
        let (mean, variance) = self.statistics(&operands.x, reduced, mask);
        self.apply(&operands, &mean, &variance, reduced, features)
    }

    /// Looks whether the axes of the features have as many elements as the parameters.
    #[track_caller]
    pub(super) fn check_features(&self, x: &Array, features: &[usize]) {
        let lengths: Option<Vec<usize>> = features
            .iter()
            .map(|&axis| x.shape().get(axis).copied())
            .collect();
        if lengths.map(|lengths| lengths.iter().product()) != Some(self.num_features) {
            let axes = match features {
                [axis] => format!("axis {axis}"),
                axes => format!("the axes {axes:?}"),
            };
            raise(
                Error::shape(format!(
                    "{axes} of {} must have length {}",
                    x.aval(),
                    self.num_features
                ))
                .in_operation(self.operation),
            );
        }
    }

    fn mean(&self, x: &Array, axes: &[i64], mask: Option<&Array>) -> Array {
        let options = numpy::Reduction::new().axis(axes);
        let mean = match mask {
            Some(mask) => numpy::mean(x, options.where_(mask)),
            None => numpy::mean(x, options),
        };
        match self.axis_name {
            Some(name) => lax::pmean(&mean, name),
            None => mean,
        }
    }

    /// Mean and variance, in 32 bits at least.
    pub(super) fn statistics(
        &self,
        x: &Array,
        axes: &[usize],
        mask: Option<&Array>,
    ) -> (Array, Array) {
        let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        let dtype = numpy::promote_types(self.dtype.unwrap_or(x.dtype()), DType::F32);
        let x = x.astype(dtype);
        if !self.use_mean {
            let variance = self.mean(&abs_sq(&x), &axes, mask);
            return (numpy::zeros_like(&variance, ()), variance);
        }
        let mean = self.mean(&x, &axes, mask);
        let variance = if self.use_fast_variance {
            let squares = self.mean(&abs_sq(&x), &axes, mask);
            numpy::maximum(Array::from(0.0), squares - abs_sq(&mean))
        } else {
            let distance = &x - numpy::expand_dims(&mean, &axes[..]);
            self.mean(&abs_sq(&distance), &axes, mask)
        };
        (mean, variance)
    }

    /// What is left when the mean is gone and the variance is one, scaled and shifted.
    pub(super) fn apply(
        &self,
        operands: &Operands,
        mean: &Array,
        variance: &Array,
        reduced: &[usize],
        features: &[usize],
    ) -> Array {
        let x = &operands.x;
        let mut stats_shape = x.shape().to_vec();
        reduced.iter().for_each(|&axis| stats_shape[axis] = 1);
        let mut feature_shape = vec![1; x.ndim()];
        features
            .iter()
            .for_each(|&axis| feature_shape[axis] = x.shape()[axis]);
        let mut y = x - mean.reshape(&stats_shape[..]);
        let mut factor = lax::rsqrt(&(variance.reshape(&stats_shape[..]) + self.epsilon));
        if let Some(scale) = &operands.scale {
            factor *= scale.reshape(&feature_shape[..]);
        }
        y *= factor;
        if let Some(bias) = &operands.bias {
            y += bias.reshape(&feature_shape[..]);
        }
        y.astype(x.dtype())
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

/// `x` divided by the root of the sum of its squares over these axes.
fn l2_normalized(x: &Array, axes: &[usize], epsilon: f64) -> Array {
    let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
    let options = numpy::Reduction::new().axis(&axes[..]).keepdims(true);
    x * lax::rsqrt(&(numpy::sum(&(x * x), options) + epsilon))
}

/// Axes from the front, each once, in ascending order.
#[track_caller]
pub(super) fn canonical_axes(operation: &str, axes: &[i64], x: &Array) -> Vec<usize> {
    let mut found: Vec<usize> = axes.iter().map(|&axis| normalize(axis, x)).collect();
    found.sort_unstable();
    found.dedup();
    if found.last().is_some_and(|&last| last >= x.ndim()) {
        raise(Error::shape(format!("{} has no axes {axes:?}", x.aval())).in_operation(operation));
    }
    found
}

/// The axes that are not among these.
pub(super) fn other_axes(ndim: usize, axes: &[usize]) -> Vec<usize> {
    (0..ndim).filter(|axis| !axes.contains(axis)).collect()
}

/// Scale and bias, of which each that is learnt takes a key, the scale first.
#[track_caller]
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
