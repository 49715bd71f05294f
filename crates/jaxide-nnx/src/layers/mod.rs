//! Layers, with Flax's names, parameters and numbers.
//!
//! A constructor takes sizes, the streams of keys, and last what Flax takes by keyword: `()` for all defaults. `call` applies a layer;
//! what a layer changes (statistics, counts of keys) stands in its variables.

mod attention;
mod conv;
mod embed;
mod linear;
mod lora;
mod masks;
mod norm;
mod options;
mod parameters;
mod pool;
mod prelu;
mod recurrent;
mod rnn;
mod sequential;
mod stochastic;

pub use attention::{AttentionCall, MultiHeadAttention, MultiHeadAttentionOptions};
pub use conv::{Conv, ConvOptions, ConvPadding, ConvTranspose, ConvTransposeOptions};
pub use embed::{Embed, EmbedOptions};
pub use linear::{
    Einsum, EinsumOptions, Linear, LinearGeneral, LinearGeneralOptions, LinearOptions,
};
pub use lora::{LoRA, LoRALinear, LoRALinearOptions, LoRAOptions};
pub use masks::{combine_masks, make_attention_mask, make_attention_mask_with, make_causal_mask};
pub use norm::{
    BatchNorm, BatchNormOptions, GroupNorm, GroupNormOptions, InstanceNorm, LayerNorm, NormOptions,
    RMSNorm, SpectralNorm, SpectralNormOptions, SpectralStats, WeightNorm, WeightNormOptions,
};
pub use options::Initializer;
pub(crate) use options::options;
pub(crate) use parameters::{parameters_of, set_parameters};
pub use pool::{avg_pool, max_pool, min_pool};
pub use prelu::PReLU;
pub use recurrent::{Cell, CellOptions, GRUCell, LSTMCell, OptimizedLSTMCell, SimpleCell};
pub use rnn::{Bidirectional, BidirectionalOptions, RNN, RNNCall, RNNOptions};
pub(crate) use sequential::RebuildAny;
pub use sequential::{AnyLayer, Layer, Sequential};
pub use stochastic::{Dropout, DropoutOptions};

use jaxide::{Array, DType, Error, numpy, raise};

/// The element type that a layer computes in: what it was told, or that of all operands together, with a point in any case.
#[track_caller]
pub(crate) fn common_dtype(operation: &str, dtype: Option<DType>, operands: &[&Array]) -> DType {
    if let Some(dtype) = dtype.filter(|dtype| !dtype.is_inexact()) {
        raise(Error::dtype(format!("a layer cannot compute in {dtype:?}")).in_operation(operation));
    }
    dtype.unwrap_or_else(|| {
        let dtype = numpy::result_type(operands);
        if dtype.is_inexact() {
            dtype
        } else {
            numpy::promote_types(DType::F32, dtype)
        }
    })
}

/// Arrays in the element type that a layer computes in: what it was told, or that of all of them together.
pub(crate) fn promote<const N: usize>(dtype: Option<DType>, arrays: [&Array; N]) -> [Array; N] {
    let dtype = dtype.unwrap_or_else(|| numpy::result_type(&arrays));
    arrays.map(|array| array.astype(dtype))
}
