//! Parameters of length one, times scales that are learnt.

use jaxide::nn::initializers::ones;
use jaxide::{Array, DType, Error, raise, random};

use super::{canonical_axes, l2_normalized, other_axes};
use crate::layers::{Initializer, Layer, common_dtype, options, parameters_of, set_parameters};
use crate::{Dict, Filter, Module, Param, Path, Rngs, Variable, observed};

options! {
    /// What [`WeightNorm`] takes beside its layer.
    pub struct WeightNormOptions {
        /// The axes that are normalised apart: none for all elements together.
        feature_axes: Vec<i64> = vec![-1];
        /// Whether a scale is learnt for each feature.
        use_scale: bool = true;
        /// What the scales are at first.
        scale_init: Initializer = ones.into();
        /// What is added to the squares of lengths.
        epsilon: f64 = 1e-12;
        /// The element type of the parameters afterwards; by default that of parameters and scales.
        dtype: Option<DType> = None;
        /// The element type of the scales.
        param_dtype: DType = DType::F32;
        /// Which parameters are normalised.
        variable_filter: Filter = Filter::path_contains("kernel");
    }
}

/// Gives the parameters of a layer length one for each feature, times a scale that is learnt, before each call.
///
/// Scales have the paths of their parameters, with points between the keys: `scales/kernel`.
///
/// ```
/// use jaxide_nnx::{Linear, Rngs, WeightNorm};
/// use jaxide::{Array, DType};
/// let rngs = Rngs::new(0);
/// let layer = WeightNorm::new(Linear::new(3, 4, &rngs, ()), &rngs, ());
/// layer.call(&Array::ones([1, 3], DType::F32));
/// let lengths = layer.layer_instance.kernel.get().square().sum_axes(0);
/// assert!((lengths - 1.0).abs().max().item::<f32>() < 1e-5);
/// ```
#[derive(Clone, Debug, Module)]
pub struct WeightNorm<L: Layer> {
    /// The layer, whose parameters are changed.
    pub layer_instance: L,
    /// The scales of each parameter, of the lengths of the feature axes.
    pub scales: Option<Dict<Variable<Param>>>,
    /// The parameters that are normalised, by their paths with points.
    normalized: Vec<String>,
    feature_axes: Vec<i64>,
    epsilon: f64,
    dtype: Option<DType>,
}

const OPERATION: &str = "WeightNorm";

impl<L: Layer> WeightNorm<L> {
    /// Wraps a layer. What the scales are at first takes no key of `params` away from what is made later.
    ///
    /// # Panics
    /// When a parameter that is selected has no such axes, or there is no stream for `params`.
    #[track_caller]
    pub fn new(layer: L, rngs: &Rngs, options: impl Into<WeightNormOptions>) -> Self {
        let o = options.into();
        let selected = Filter::all((Param, o.variable_filter));
        let parameters = parameters_of(&layer, &selected);
        let scale = |(place, (path, parameter)): (usize, &(Path, Array))| {
            let axes = canonical_axes(OPERATION, &o.feature_axes, parameter);
            let shape: Vec<usize> = axes.iter().map(|&axis| parameter.shape()[axis]).collect();
            let key = random::fold_in(&rngs.found("params").key().get(), place as i64);
            let scale = o.scale_init.call(&key, &shape, o.param_dtype);
            (path.dotted(), Variable::new(scale))
        };
        WeightNorm {
            scales: o
                .use_scale
                .then(|| parameters.iter().enumerate().map(scale).collect()),
            normalized: parameters.iter().map(|(path, _)| path.dotted()).collect(),
            layer_instance: layer,
            feature_axes: o.feature_axes,
            epsilon: o.epsilon,
            dtype: o.dtype,
        }
    }

    /// The layer of `x`, after its parameters were normalised.
    ///
    /// # Panics
    /// When the layer was made outside of the innermost trace, has other parameters than before, or panics.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        let parameters = parameters_of(&self.layer_instance, &Param.into());
        let known = |path: &Path| self.normalized.contains(&path.dotted());
        if parameters.iter().filter(|(path, _)| known(path)).count() != self.normalized.len() {
            raise(
                Error::parameter(format!(
                    "the layer had the parameters {:?} when it was wrapped, and has them no more",
                    self.normalized
                ))
                .in_operation(OPERATION),
            );
        }
        let normalized = parameters.into_iter().filter_map(|(path, parameter)| {
            known(&path).then(|| {
                let value = self.scaled(&path, &parameter);
                (path, value)
            })
        });
        set_parameters(OPERATION, &self.layer_instance, normalized);
        self.layer_instance.apply(x)
    }

    #[track_caller]
    fn scaled(&self, path: &Path, parameter: &Array) -> Array {
        let features = canonical_axes(OPERATION, &self.feature_axes, parameter);
        let reduced = other_axes(parameter.ndim(), &features);
        let unit = l2_normalized(parameter, &reduced, self.epsilon);
        let scale = self
            .scales
            .as_ref()
            .and_then(|scales| scales.get(&path.dotted()));
        match scale {
            None => unit.astype(common_dtype(OPERATION, self.dtype, &[parameter])),
            Some(scale) => {
                let mut shape = vec![1; parameter.ndim()];
                features
                    .iter()
                    .for_each(|&axis| shape[axis] = parameter.shape()[axis]);
                let scale = scale.get().reshape(&shape[..]);
                let dtype = common_dtype(OPERATION, self.dtype, &[parameter, &scale]);
                (unit * scale).astype(dtype)
            }
        }
    }
}

impl<L: Layer> Layer for WeightNorm<L> {
    #[track_caller]
    fn apply(&self, x: &Array) -> Array {
        self.call(x)
    }
}
