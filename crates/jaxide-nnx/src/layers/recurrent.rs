//! Recurrent layers.

use jaxide::nn::initializers::{lecun_normal, orthogonal, zeros};
use jaxide::tree::Pytree;
use jaxide::{Array, DType, lax, nn, numpy};

use super::{Initializer, Linear, LinearOptions, options};
use crate::{Attribute, Module, Rngs};

type Activation = fn(&Array) -> Array;

options! {
    /// What cells take beside their sizes.
    pub struct CellOptions {
        /// What gates are passed through.
        gate_fn: Activation = nn::sigmoid;
        /// What states are passed through.
        activation_fn: Activation = tanh;
        /// What maps of the input are at first.
        kernel_init: Initializer = lecun_normal(()).into();
        /// What maps of the state are at first.
        recurrent_kernel_init: Initializer = modified_orthogonal.into();
        /// What is added at first.
        bias_init: Initializer = zeros.into();
        /// The element type to compute in; by default that of inputs and parameters.
        dtype: Option<DType> = None;
        /// The element type of the parameters.
        param_dtype: DType = DType::F32;
        /// Whether the state is added to what becomes of it; for [`SimpleCell`].
        residual: bool = false;
    }
}

/// Orthogonal matrices, found in 32 bits.
fn modified_orthogonal(key: &Array, shape: &[usize], dtype: DType) -> Array {
    orthogonal(())(key, shape, DType::F32).astype(dtype)
}

fn tanh(x: &Array) -> Array {
    lax::tanh(x)
}

/// A step of a recurrent layer: from a state and an input to a state and an output.
pub trait Cell: Attribute + Pytree<Array> + Clone {
    /// The state between steps.
    type Carry: Pytree<Array>;

    /// The number of features of inputs.
    fn in_features(&self) -> usize;

    /// A state of zeros for inputs of this shape, whose last axis has the features.
    fn initialize_carry(&self, input_shape: &[usize]) -> Self::Carry;

    /// A step.
    ///
    /// # Panics
    /// When shapes do not fit.
    fn step(&self, carry: Self::Carry, x: &Array) -> (Self::Carry, Array);
}

/// Makes a map of inputs or states.
#[track_caller]
fn dense(
    inputs: usize,
    outputs: usize,
    bias: bool,
    recurrent: bool,
    rngs: &Rngs,
    o: &CellOptions,
) -> Linear {
    let kernel_init = if recurrent {
        o.recurrent_kernel_init.clone()
    } else {
        o.kernel_init.clone()
    };
    let mut options = LinearOptions::new()
        .use_bias(bias)
        .dtype(o.dtype)
        .param_dtype(o.param_dtype);
    options.kernel_init = kernel_init;
    options.bias_init = o.bias_init.clone();
    Linear::new(inputs, outputs, rngs, options)
}

fn state(hidden: usize, input_shape: &[usize], dtype: DType) -> Array {
    let batch = &input_shape[..input_shape.len().saturating_sub(1)];
    Array::zeros(&[batch, &[hidden]].concat()[..], dtype)
}

/// Equal parts of the last axis.
fn parts<const N: usize>(x: &Array) -> [Array; N] {
    let parts = numpy::split(x, N, -1);
    std::array::from_fn(|part| parts[part].clone())
}

/// Cells with their fields, constructor and step.
macro_rules! cells {
    ($(
        $(#[$doc:meta])*
        $name:ident { $($field:ident: $recurrent:literal, $bias:literal, $gates:literal;)* }
        $carry:ty: |$zeros:ident| $init:expr;
        |$cell:ident, $state:pat_param, $x:ident| $step:block
    )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, Module)]
        pub struct $name {
            $(
                #[doc = concat!("The map `", stringify!($field), "`.")]
                pub $field: Linear,
            )*
            in_features: usize,
            hidden_features: usize,
            gate_fn: Activation,
            activation_fn: Activation,
            residual: bool,
            param_dtype: DType,
        }

        impl $name {
            /// A cell of these sizes.
            ///
            /// # Panics
            /// When there is no stream for `params`.
            #[track_caller]
            pub fn new(in_features: usize, hidden_features: usize, rngs: &Rngs, options: impl Into<CellOptions>) -> Self {
                let o = options.into();
                $(
                    let inputs = if $recurrent { hidden_features } else { in_features };
                    let $field = dense(inputs, $gates * hidden_features, $bias, $recurrent, rngs, &o);
                )*
                $name {
                    $($field,)*
                    in_features,
                    hidden_features,
                    gate_fn: o.gate_fn,
                    activation_fn: o.activation_fn,
                    residual: o.residual,
                    param_dtype: o.param_dtype,
                }
            }
        }

        impl Cell for $name {
            type Carry = $carry;

            fn in_features(&self) -> usize {
                self.in_features
            }

            fn initialize_carry(&self, input_shape: &[usize]) -> $carry {
                let $zeros = state(self.hidden_features, input_shape, self.param_dtype);
                $init
            }

            #[track_caller]
            fn step(&self, $state: $carry, $x: &Array) -> ($carry, Array) {
                let $cell = self;
                $step
            }
        }
    )* };
}

cells! {
    /// Long short-term memory, with a map for each gate; the state is `(c, h)`.
    ///
    /// ```
    /// use jaxide_nnx::{Cell, LSTMCell, Rngs};
    /// use jaxide::{Array, DType};
    /// let cell = LSTMCell::new(3, 4, &Rngs::new(0), ());
    /// let x = Array::ones([2, 3], DType::F32);
    /// let ((c, h), y) = cell.step(cell.initialize_carry(x.shape()), &x);
    /// assert_eq!((c.shape(), h.shape(), y.shape()), (&[2, 4][..], &[2, 4][..], &[2, 4][..]));
    /// ```
    LSTMCell {
        ii: false, false, 1; if_: false, false, 1; ig: false, false, 1; io: false, false, 1;
        hi: true, true, 1; hf: true, true, 1; hg: true, true, 1; ho: true, true, 1;
    }
    (Array, Array): |zeros| (zeros.clone(), zeros);
    |cell, (c, h), x| {
        let gate = |of_x: &Linear, of_h: &Linear| of_x.call(x) + of_h.call(&h);
        let i = (cell.gate_fn)(&gate(&cell.ii, &cell.hi));
        let f = (cell.gate_fn)(&gate(&cell.if_, &cell.hf));
        let g = (cell.activation_fn)(&gate(&cell.ig, &cell.hg));
        let o = (cell.gate_fn)(&gate(&cell.io, &cell.ho));
        let c = f * c + i * g;
        let h = o * (cell.activation_fn)(&c);
        ((c, h.clone()), h)
    }

    /// [`LSTMCell`] with one map of inputs and one of states for all gates; the state is `(c, h)`.
    OptimizedLSTMCell { dense_i: false, false, 4; dense_h: true, true, 4; }
    (Array, Array): |zeros| (zeros.clone(), zeros);
    |cell, (c, h), x| {
        let [i, f, g, o] = parts(&(cell.dense_i.call(x) + cell.dense_h.call(&h)));
        let (i, f, o) = ((cell.gate_fn)(&i), (cell.gate_fn)(&f), (cell.gate_fn)(&o));
        let c = f * c + i * (cell.activation_fn)(&g);
        let h = o * (cell.activation_fn)(&c);
        ((c, h.clone()), h)
    }

    /// A gated recurrent unit, whose state is its output.
    GRUCell { dense_i: false, true, 3; dense_h: true, false, 3; }
    Array: |zeros| zeros;
    |cell, h, x| {
        let [x_r, x_z, x_n] = parts(&cell.dense_i.call(x));
        let [h_r, h_z, h_n] = parts(&cell.dense_h.call(&h));
        let r = (cell.gate_fn)(&(x_r + h_r));
        let z = (cell.gate_fn)(&(x_z + h_z));
        let n = (cell.activation_fn)(&(x_n + r * h_n));
        let h: Array = (1.0 - &z) * n + z * h;
        (h.clone(), h)
    }

    /// A map of input and state and an activation, whose state is its output.
    SimpleCell { dense_h: true, false, 1; dense_i: false, true, 1; }
    Array: |zeros| zeros;
    |cell, h, x| {
        let mut next = cell.dense_i.call(x) + cell.dense_h.call(&h);
        if cell.residual {
            next += h;
        }
        let h = (cell.activation_fn)(&next);
        (h.clone(), h)
    }
}
