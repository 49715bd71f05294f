//! Linear maps.

use jaxide::lax::{self, DotDimensionNumbers};
use jaxide::nn::initializers::{lecun_normal, zeros};
use jaxide::numpy;
use jaxide::{Array, DType, Error, raise};

use super::{Initializer, options, promote};
use crate::{Module, Param, Rngs, Variable, observed};

options! {
    /// What [`Linear`] takes beside its sizes.
    pub struct LinearOptions {
        /// Whether something is added to the product.
        use_bias: bool = true;
        /// The element type to compute in; by default that of inputs and parameters.
        dtype: Option<DType> = None;
        /// The element type of the parameters.
        param_dtype: DType = DType::F32;
        /// What the kernel is at first.
        kernel_init: Initializer = lecun_normal(()).into();
        /// What the bias is at first.
        bias_init: Initializer = zeros.into();
    }

    /// What [`LinearGeneral`] takes beside its sizes.
    pub struct LinearGeneralOptions {
        /// The axes of the input that are mapped, one for each input size.
        axis: Vec<i64> = vec![-1];
        /// The lengths of the first axes of the input, where each of their places has a kernel and a bias of its own.
        batch_axis: Vec<usize> = Vec::new();
        /// Whether something is added to the product.
        use_bias: bool = true;
        /// The element type to compute in; by default that of inputs and parameters.
        dtype: Option<DType> = None;
        /// The element type of the parameters.
        param_dtype: DType = DType::F32;
        /// What the kernel, as a matrix, is at first.
        kernel_init: Initializer = lecun_normal(()).into();
        /// What the bias, as a vector, is at first.
        bias_init: Initializer = zeros.into();
    }

    /// What [`Einsum`] takes beside its subscripts and shapes.
    pub struct EinsumOptions {
        /// The shape of the bias, if there is one.
        bias_shape: Option<Vec<usize>> = None;
        /// The element type to compute in; by default that of inputs and parameters.
        dtype: Option<DType> = None;
        /// The element type of the parameters.
        param_dtype: DType = DType::F32;
        /// What the kernel is at first.
        kernel_init: Initializer = lecun_normal(()).into();
        /// What the bias is at first.
        bias_init: Initializer = zeros.into();
    }
}

/// `x @ kernel + bias` over the last axis, with a kernel `[in, out]`.
///
/// ```
/// use jaxide_nnx::{Linear, LinearOptions, Rngs};
/// use jaxide::{Array, DType};
/// let linear = Linear::new(3, 4, &Rngs::new(0), LinearOptions::new().use_bias(false));
/// assert_eq!(linear.call(&Array::ones([2, 3], DType::F32)).shape(), [2, 4]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Linear {
    /// `[in, out]`.
    pub kernel: Variable<Param>,
    /// `[out]`.
    pub bias: Option<Variable<Param>>,
    pub(super) in_features: usize,
    pub(super) out_features: usize,
    pub(super) dtype: Option<DType>,
}

impl Linear {
    /// A layer of these sizes. It takes a key of `params` for the kernel, and then one for the bias.
    ///
    /// # Panics
    /// When there is no stream for `params`.
    #[track_caller]
    pub fn new(
        in_features: usize,
        out_features: usize,
        rngs: &Rngs,
        options: impl Into<LinearOptions>,
    ) -> Self {
        let options = options.into();
        let kernel = options.kernel_init.call(
            &rngs.params(),
            &[in_features, out_features],
            options.param_dtype,
        );
        let bias = options.use_bias.then(|| {
            Variable::new(options.bias_init.call(
                &rngs.params(),
                &[out_features],
                options.param_dtype,
            ))
        });
        Linear {
            kernel: Variable::new(kernel),
            bias,
            in_features,
            out_features,
            dtype: options.dtype,
        }
    }

    /// The layer of `x`, of shape `[.., in]`: of shape `[.., out]`.
    ///
    /// # Panics
    /// When the last axis of `x` has another length.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        if x.shape().last() != Some(&self.in_features) {
            raise(
                Error::shape(format!(
                    "the last axis of {} must have length {}",
                    x.aval(),
                    self.in_features
                ))
                .in_operation("Linear"),
            );
        }
        let bias = self.bias.as_ref().map(Variable::get);
        let (x, kernel, bias) = with_bias(self.dtype, x, &self.kernel.get(), bias);
        let y = contract(&x, &kernel, [&[x.ndim() - 1], &[0]], 0);
        match bias {
            Some(bias) => y + bias,
            None => y,
        }
    }
}

/// Operands in one element type.
pub(super) fn with_bias(
    dtype: Option<DType>,
    x: &Array,
    kernel: &Array,
    bias: Option<Array>,
) -> (Array, Array, Option<Array>) {
    match bias {
        Some(bias) => {
            let [x, kernel, bias] = promote(dtype, [x, kernel, &bias]);
            (x, kernel, Some(bias))
        }
        None => {
            let [x, kernel] = promote(dtype, [x, kernel]);
            (x, kernel, None)
        }
    }
}

/// The product over these axes of both operands, of whose first axes so many are common.
#[track_caller]
fn contract(x: &Array, y: &Array, axes: [&[usize]; 2], batch: usize) -> Array {
    let numbers = DotDimensionNumbers {
        lhs_contracting: axes[0].iter().copied().collect(),
        rhs_contracting: axes[1].iter().copied().collect(),
        lhs_batch: (0..batch).collect(),
        rhs_batch: (0..batch).collect(),
    };
    lax::dot_general(x, y, numbers, None, None)
}

/// A linear map of several axes to several axes, with a kernel `[batch.., in.., out..]`.
///
/// ```
/// use jaxide_nnx::{LinearGeneral, LinearGeneralOptions, Rngs};
/// use jaxide::{Array, DType};
/// let options = LinearGeneralOptions::new().axis([1, -1]);
/// let layer = LinearGeneral::new([2, 3], [4, 5], &Rngs::new(0), options);
/// assert_eq!(layer.call(&Array::ones([16, 2, 3], DType::F32)).shape(), [16, 4, 5]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct LinearGeneral {
    /// `[batch.., in.., out..]`.
    pub kernel: Variable<Param>,
    /// `[batch.., out..]`.
    pub bias: Option<Variable<Param>>,
    in_features: Vec<usize>,
    out_features: Vec<usize>,
    axis: Vec<i64>,
    batch_axis: Vec<usize>,
    dtype: Option<DType>,
}

impl LinearGeneral {
    /// A layer of these sizes. It takes keys of `params` as [`Linear::new`] does.
    ///
    /// # Panics
    /// When there are not as many axes as input sizes, or there is no stream for `params`.
    #[track_caller]
    pub fn new(
        in_features: impl Into<Vec<usize>>,
        out_features: impl Into<Vec<usize>>,
        rngs: &Rngs,
        options: impl Into<LinearGeneralOptions>,
    ) -> Self {
        let (in_features, out_features, options) =
            (in_features.into(), out_features.into(), options.into());
        if in_features.len() != options.axis.len() {
            raise(
                Error::parameter(format!(
                    "the input sizes {in_features:?} are not as many as the axes {:?}",
                    options.axis
                ))
                .in_operation("LinearGeneral"),
            );
        }
        let batch: usize = options.batch_axis.iter().product();
        let inputs: usize = in_features.iter().product();
        let outputs: usize = out_features.iter().product();
        let shape = [&options.batch_axis[..], &in_features, &out_features].concat();
        let kernel = options
            .kernel_init
            .call(
                &rngs.params(),
                &[batch * inputs, outputs],
                options.param_dtype,
            )
            .reshape(&shape[..]);
        let bias = options.use_bias.then(|| {
            let (init, dtype) = (&options.bias_init, options.param_dtype);
            let bias = init.call(&rngs.params(), &[batch * outputs], dtype);
            Variable::new(bias.reshape(&[&options.batch_axis[..], &out_features].concat()[..]))
        });
        LinearGeneral {
            kernel: Variable::new(kernel),
            bias,
            in_features,
            out_features,
            axis: options.axis,
            batch_axis: options.batch_axis,
            dtype: options.dtype,
        }
    }

    /// The layer of `x`: the mapped axes are gone, and those of the result stand last.
    ///
    /// # Panics
    /// When the mapped axes of `x`, or the first ones that were stated, have other lengths.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        let mut axes: Vec<usize> = self.axis.iter().map(|&axis| normalize(axis, x)).collect();
        axes.sort_unstable();
        let lengths: Vec<usize> = axes
            .iter()
            .filter_map(|&axis| x.shape().get(axis).copied())
            .collect();
        if lengths != self.in_features {
            raise(
                Error::shape(format!(
                    "the axes {:?} of {} must have the lengths {:?}",
                    self.axis,
                    x.aval(),
                    self.in_features
                ))
                .in_operation("LinearGeneral"),
            );
        }
        let batch = self.batch_axis.len();
        if !x.shape().starts_with(&self.batch_axis) || axes.iter().any(|&axis| axis < batch) {
            raise(
                Error::shape(format!(
                    "the first axes of {} must have the lengths {:?}, and stand before those that are mapped",
                    x.aval(),
                    self.batch_axis
                ))
                .in_operation("LinearGeneral"),
            );
        }
        let bias = self.bias.as_ref().map(Variable::get);
        let (x, kernel, bias) = with_bias(self.dtype, x, &self.kernel.get(), bias);
        let of_kernel: Vec<usize> = (batch..batch + axes.len()).collect();
        let y = contract(&x, &kernel, [&axes, &of_kernel], batch);
        match bias {
            Some(bias) => {
                let between = vec![1; x.ndim() - axes.len() - batch];
                let shape = [&self.batch_axis[..], &between, &self.out_features].concat();
                y + bias.reshape(&shape[..])
            }
            None => y,
        }
    }
}

/// An axis from the front; one that does not exist stays outside.
pub(super) fn normalize(axis: i64, x: &Array) -> usize {
    let axis = if axis < 0 {
        axis + x.ndim() as i64
    } else {
        axis
    };
    usize::try_from(axis).unwrap_or(usize::MAX)
}

/// An `einsum` of an input and a kernel, and a bias.
///
/// ```
/// use jaxide_nnx::{Einsum, EinsumOptions, Rngs};
/// use jaxide::{Array, DType};
/// let options = EinsumOptions::new().bias_shape(vec![2, 4]);
/// let layer = Einsum::new("nta,hab->nthb", [2, 3, 4], &Rngs::new(0), options);
/// assert_eq!(layer.call(&Array::ones([5, 6, 3], DType::F32)).shape(), [5, 6, 2, 4]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Einsum {
    /// The second operand.
    pub kernel: Variable<Param>,
    /// What is added.
    pub bias: Option<Variable<Param>>,
    einsum_str: String,
    kernel_shape: Vec<usize>,
    bias_shape: Option<Vec<usize>>,
    dtype: Option<DType>,
}

impl Einsum {
    /// A layer of these subscripts, `input,kernel->output`.
    ///
    /// # Panics
    /// When the subscripts are not those of two operands, or there is no stream for `params`.
    #[track_caller]
    pub fn new(
        einsum_str: &str,
        kernel_shape: impl Into<Vec<usize>>,
        rngs: &Rngs,
        options: impl Into<EinsumOptions>,
    ) -> Self {
        let (kernel_shape, options) = (kernel_shape.into(), options.into());
        if einsum_str.matches(',').count() != 1 || !einsum_str.contains("->") {
            raise(
                Error::parameter(format!(
                    "`{einsum_str}` does not have the form `input,kernel->output`"
                ))
                .in_operation("Einsum"),
            );
        }
        let kernel = options
            .kernel_init
            .call(&rngs.params(), &kernel_shape, options.param_dtype);
        let bias = options.bias_shape.as_ref().map(|shape| {
            Variable::new(
                options
                    .bias_init
                    .call(&rngs.params(), shape, options.param_dtype),
            )
        });
        Einsum {
            kernel: Variable::new(kernel),
            bias,
            einsum_str: einsum_str.replace(' ', ""),
            kernel_shape,
            bias_shape: options.bias_shape,
            dtype: options.dtype,
        }
    }

    /// The layer of `x`.
    ///
    /// # Panics
    /// When `x` does not fit the subscripts.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        let bias = self.bias.as_ref().map(Variable::get);
        let (x, kernel, bias) = with_bias(self.dtype, x, &self.kernel.get(), bias);
        let y = numpy::einsum(&self.einsum_str, &[x, kernel], ());
        match bias {
            Some(bias) => y + bias.reshape(&self.broadcasted_bias_shape()[..]),
            None => y,
        }
    }

    /// The shape of the bias with axes of length 1 where the result has axes that the kernel has not.
    fn broadcasted_bias_shape(&self) -> Vec<usize> {
        let (operands, result) = self
            .einsum_str
            .split_once("->")
            .unwrap_or((&self.einsum_str, ""));
        let kernel = operands.split_once(',').map_or("", |(_, kernel)| kernel);
        result
            .chars()
            .map(|c| {
                kernel
                    .chars()
                    .position(|k| k == c)
                    .map_or(1, |place| self.kernel_shape[place])
            })
            .collect()
    }
}
