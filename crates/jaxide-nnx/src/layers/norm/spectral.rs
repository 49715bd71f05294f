//! Parameters divided by their largest singular value.

use jaxide::nn::initializers::{normal, ones};
use jaxide::{Array, DType, Error, lax, numpy, raise};

use super::l2_normalized;
use crate::layers::{Layer, common_dtype, options, parameters_of, set_parameters};
use crate::{BatchStat, Dict, Module, Param, Path, Rngs, Switch, Variable, observed};

options! {
    /// What [`SpectralNorm`] takes beside its layer.
    pub struct SpectralNormOptions {
        /// How many steps of the power iteration a call takes.
        n_steps: usize = 1;
        /// What is added to the squares of norms.
        epsilon: f64 = 1e-12;
        /// The element type of the parameters afterwards; by default that of parameters and statistics.
        dtype: Option<DType> = None;
        /// The element type of the statistics.
        param_dtype: DType = DType::F32;
        /// Whether parameters of more than two axes are a mistake, instead of matrices of their last axis.
        error_on_non_matrix: bool = false;
        /// Whether a call notes the vectors that its iteration ends with, for the next one.
        update_stats: bool = true;
    }
}

/// What is known of the largest singular value of a parameter.
#[derive(Clone, Debug, Module)]
pub struct SpectralStats {
    /// A vector that tends to the right singular one, `[1, columns]`.
    pub u: Variable<BatchStat>,
    /// The singular value.
    pub sigma: Variable<BatchStat>,
}

/// Divides the parameters of a layer that have two axes or more by their largest singular value, before each call. The value is
/// found by power iteration, whose vectors are kept from call to call; evaluation leaves them as they are.
///
/// Statistics have the paths of their parameters, with points between the keys: `batch_stats/kernel/u`.
///
/// ```
/// use jaxide_nnx::{Linear, Param, Rngs, SpectralNorm, SpectralNormOptions};
/// use jaxide::{Array, DType, numpy};
/// let rngs = Rngs::new(0);
/// let layer = SpectralNorm::new(Linear::new(3, 4, &rngs, ()), &rngs, SpectralNormOptions::new().n_steps(20_usize));
/// layer.call(&Array::ones([1, 3], DType::F32));
/// let values = numpy::linalg::svdvals(&layer.layer_instance.kernel.get());
/// assert!((values.max().item::<f32>() - 1.0).abs() < 1e-4);
/// ```
#[derive(Clone, Debug, Module)]
pub struct SpectralNorm<L: Layer> {
    /// The layer, whose parameters are changed.
    pub layer_instance: L,
    /// The statistics of each parameter.
    pub batch_stats: Dict<SpectralStats>,
    n_steps: usize,
    epsilon: f64,
    dtype: Option<DType>,
    error_on_non_matrix: bool,
    use_running_average: Switch,
}

const OPERATION: &str = "SpectralNorm";

impl<L: Layer> SpectralNorm<L> {
    /// Wraps a layer. Each parameter of two axes or more takes a key of `params`.
    ///
    /// # Panics
    /// When a parameter has more than two axes and that is a mistake, or there is no stream for `params`.
    #[track_caller]
    pub fn new(layer: L, rngs: &Rngs, options: impl Into<SpectralNormOptions>) -> Self {
        let o = options.into();
        let mut made = SpectralNorm {
            layer_instance: layer,
            batch_stats: Dict::default(),
            n_steps: o.n_steps,
            epsilon: o.epsilon,
            dtype: o.dtype,
            error_on_non_matrix: o.error_on_non_matrix,
            use_running_average: Switch::new(!o.update_stats),
        };
        for (path, parameter) in parameters_of(&made.layer_instance, &Param.into()) {
            let Some(matrix) = made.as_matrix(&path, &parameter) else {
                continue;
            };
            let shape = [1, matrix.shape()[1]];
            let stats = SpectralStats {
                u: Variable::new(normal(0.01)(&rngs.params(), &shape, o.param_dtype)),
                sigma: Variable::new(ones(&Array::zeros((), DType::U32), &[], o.param_dtype)),
            };
            made.batch_stats.insert(path.dotted(), stats);
        }
        made
    }

    /// The parameter as a matrix of its last axis, if it is to be normalised.
    #[track_caller]
    fn as_matrix(&self, path: &Path, parameter: &Array) -> Option<Array> {
        if parameter.ndim() <= 1 || self.n_steps == 0 {
            return None;
        }
        if parameter.ndim() > 2 && self.error_on_non_matrix {
            raise(
                Error::shape(format!("{} is no matrix", parameter.aval()))
                    .in_operation(OPERATION)
                    .at_path(path.to_string()),
            );
        }
        let (columns, rows) = parameter.shape().split_last()?;
        Some(parameter.reshape([rows.iter().product(), *columns]))
    }

    /// The layer of `x`, after its parameters were divided.
    ///
    /// # Panics
    /// When the layer was made outside of the innermost trace, has other parameters than before, or panics.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        let parameters = parameters_of(&self.layer_instance, &Param.into());
        let divided = parameters.into_iter().filter_map(|(path, parameter)| {
            let matrix = self.as_matrix(&path, &parameter)?;
            let stats = self.stats(&path);
            let divided = self.divided(&matrix, stats);
            Some((path, divided.reshape(parameter.shape())))
        });
        set_parameters(OPERATION, &self.layer_instance, divided);
        self.layer_instance.apply(x)
    }

    #[track_caller]
    fn stats(&self, path: &Path) -> &SpectralStats {
        match self.batch_stats.get(&path.dotted()) {
            Some(stats) => stats,
            None => raise(
                Error::parameter("the layer has a parameter that it had not when it was wrapped")
                    .in_operation(OPERATION)
                    .at_path(path.to_string()),
            ),
        }
    }

    #[track_caller]
    fn divided(&self, matrix: &Array, stats: &SpectralStats) -> Array {
        let normalized = |x: &Array| l2_normalized(x, &[0, 1], self.epsilon);
        let mut u = stats.u.get();
        let mut v = u.clone();
        for _ in 0..self.n_steps {
            v = normalized(&numpy::matmul(&u, &matrix.t()));
            u = normalized(&numpy::matmul(&v, matrix));
        }
        let (u, v) = (lax::stop_gradient(&u), lax::stop_gradient(&v));
        let sigma = numpy::matmul(&numpy::matmul(&v, matrix), &u.t()).reshape(());
        let divisor = numpy::where_(numpy::not_equal(&sigma, 0.0), &sigma, 1.0);
        let divided = matrix / divisor;
        if !self.use_running_average.is_on() {
            stats.u.set(u.clone());
            stats.sigma.set(sigma.clone());
        }
        let dtype = common_dtype(OPERATION, self.dtype, &[&divided, &u, &v, &sigma]);
        divided.astype(dtype)
    }
}

impl<L: Layer> Layer for SpectralNorm<L> {
    #[track_caller]
    fn apply(&self, x: &Array) -> Array {
        self.call(x)
    }
}
