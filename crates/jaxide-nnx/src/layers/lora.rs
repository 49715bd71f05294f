//! Low-rank adaptation.

use jaxide::nn::initializers::{he_uniform, zeros};
use jaxide::{Array, DType, Error, numpy, raise};

use super::{AnyLayer, Initializer, Linear, LinearOptions, common_dtype, options};
use crate::{LoRAParam, Module, Param, Rngs, Variable, observed};

options! {
    /// What [`LoRA`] takes beside its sizes.
    pub struct LoRAOptions {
        /// A layer whose result is added.
        base_module: Option<AnyLayer> = None;
        /// The element type to compute in; by default that of inputs and parameters.
        dtype: Option<DType> = None;
        /// The element type of the parameters.
        param_dtype: DType = DType::F32;
        /// What the first matrix is at first.
        a_initializer: Initializer = he_uniform(()).into();
        /// What the second matrix is at first.
        b_initializer: Initializer = zeros.into();
    }

    /// What [`LoRALinear`] takes beside its sizes.
    pub struct LoRALinearOptions {
        /// What the linear layer takes.
        linear: LinearOptions = LinearOptions::new();
        /// What the adaptation takes.
        lora: LoRAOptions = LoRAOptions::new();
    }
}

/// `x @ a @ b`, with a first matrix `[in, rank]` and a second `[rank, out]`, and the result of another layer added if there is one.
///
/// ```
/// use jaxide_nnx::{AnyLayer, Linear, LoRA, LoRAOptions, LoRAParam, Rngs};
/// use jaxide::{Array, DType};
/// let rngs = Rngs::new(0);
/// let base = AnyLayer::new(Linear::new(3, 4, &rngs, ()));
/// let layer = LoRA::new(3, 2, 4, &rngs, LoRAOptions::new().base_module(base));
/// assert_eq!(layer.call(&Array::ones([16, 3], DType::F32)).shape(), [16, 4]);
/// assert_eq!(jaxide_nnx::state(&layer, LoRAParam)?.len(), 2);
/// # Ok::<(), jaxide_nnx::Error>(())
/// ```
#[derive(Clone, Debug, Module)]
pub struct LoRA {
    /// The first matrix, `[in, rank]`.
    pub lora_a: Variable<LoRAParam>,
    /// The second matrix, `[rank, out]`.
    pub lora_b: Variable<LoRAParam>,
    /// The layer whose result is added.
    pub base_module: Option<AnyLayer>,
    in_features: usize,
    dtype: Option<DType>,
}

impl LoRA {
    /// A layer of these sizes. It takes a key of `params` for each matrix.
    ///
    /// # Panics
    /// When there is no stream for `params`.
    #[track_caller]
    pub fn new(
        in_features: usize,
        lora_rank: usize,
        out_features: usize,
        rngs: &Rngs,
        options: impl Into<LoRAOptions>,
    ) -> Self {
        let o = options.into();
        let make = |init: &Initializer, shape: [usize; 2]| {
            Variable::new(init.call(&rngs.params(), &shape, o.param_dtype))
        };
        LoRA {
            lora_a: make(&o.a_initializer, [in_features, lora_rank]),
            lora_b: make(&o.b_initializer, [lora_rank, out_features]),
            base_module: o.base_module,
            in_features,
            dtype: o.dtype,
        }
    }

    /// The layer of `x`, of shape `[.., in]`: of shape `[.., out]`.
    ///
    /// # Panics
    /// When the last axis of `x` has another length.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        const OPERATION: &str = "LoRA";
        if x.shape().last() != Some(&self.in_features) {
            raise(
                Error::shape(format!(
                    "the last axis of {} must have length {}",
                    x.aval(),
                    self.in_features
                ))
                .in_operation(OPERATION),
            );
        }
        let (a, b) = (self.lora_a.get(), self.lora_b.get());
        let dtype = common_dtype(OPERATION, self.dtype, &[x, &a, &b]);
        let [x, a, b] = [x, &a, &b].map(|array| array.astype(dtype));
        let y = numpy::matmul(&numpy::matmul(&x, &a), &b);
        match &self.base_module {
            Some(base) => y + base.call(&x),
            None => y,
        }
    }
}

/// A [`Linear`] layer with a [`LoRA`] added, whose other state has the paths of that of `Linear`.
///
/// ```
/// use jaxide_nnx::{Linear, LoRALinear, Rngs};
/// let adapted = LoRALinear::new(3, 4, 2, &Rngs::new(0), ());
/// let linear = Linear::new(3, 4, &Rngs::new(0), ());
/// assert_eq!(adapted.kernel.get().to_vec::<f32>(), linear.kernel.get().to_vec::<f32>());
/// assert_eq!(adapted.lora.lora_a.get().shape(), [3, 2]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct LoRALinear {
    /// `[in, out]`.
    pub kernel: Variable<Param>,
    /// `[out]`.
    pub bias: Option<Variable<Param>>,
    /// The adaptation.
    pub lora: LoRA,
    in_features: usize,
    out_features: usize,
    dtype: Option<DType>,
}

impl LoRALinear {
    /// A layer of these sizes. It takes the keys of [`Linear::new`], and then those of [`LoRA::new`].
    ///
    /// # Panics
    /// When there is no stream for `params`.
    #[track_caller]
    pub fn new(
        in_features: usize,
        out_features: usize,
        lora_rank: usize,
        rngs: &Rngs,
        options: impl Into<LoRALinearOptions>,
    ) -> Self {
        let o = options.into();
        let dtype = o.linear.dtype;
        let linear = Linear::new(in_features, out_features, rngs, o.linear);
        LoRALinear {
            kernel: linear.kernel,
            bias: linear.bias,
            lora: LoRA::new(in_features, lora_rank, out_features, rngs, o.lora),
            in_features,
            out_features,
            dtype,
        }
    }

    /// The layer of `x`, of shape `[.., in]`: of shape `[.., out]`.
    ///
    /// # Panics
    /// When the last axis of `x` has another length.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        let linear = Linear {
            kernel: self.kernel.clone(),
            bias: self.bias.clone(),
            in_features: self.in_features,
            out_features: self.out_features,
            dtype: self.dtype,
        };
        linear.call(x) + self.lora.call(x)
    }
}
