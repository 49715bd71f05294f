//! Layers, with Flax's names, parameters and numbers.
//!
//! A constructor takes sizes, the streams of keys, and last what Flax takes by keyword: `()` for all defaults. `call` applies a layer;
//! what a layer changes (statistics, counts of keys) stands in its variables.

mod attention;
mod conv;
mod embed;
mod group_norm;
mod linear;
mod norm;
mod options;
mod pool;
mod prelu;
mod recurrent;
mod sequential;
mod stochastic;

pub use attention::{
    AttentionCall, MultiHeadAttention, MultiHeadAttentionOptions, causal_mask, combine_masks,
    padding_mask,
};
pub use conv::{Conv, ConvOptions, ConvPadding, ConvTranspose, ConvTransposeOptions};
pub use embed::{Embed, EmbedOptions};
pub use group_norm::{GroupNorm, GroupNormOptions};
pub use linear::{
    Einsum, EinsumOptions, Linear, LinearGeneral, LinearGeneralOptions, LinearOptions,
};
pub use norm::{BatchNorm, BatchNormOptions, InstanceNorm, LayerNorm, NormOptions, RMSNorm};
pub use options::Initializer;
pub(crate) use options::options;
pub use pool::{avg_pool, max_pool, min_pool};
pub use prelu::PReLU;
pub use recurrent::{
    Bidirectional, Cell, CellOptions, GRUCell, LSTMCell, OptimizedLSTMCell, RNN, RNNOptions,
    SimpleCell,
};
pub(crate) use sequential::RebuildLayer;
pub use sequential::{AnyLayer, Layer, Sequential};
pub use stochastic::{Dropout, DropoutOptions};

use jaxide::{Array, DType, numpy};

/// Arrays in the element type that a layer computes in: what it was told, or that of all of them together.
pub(crate) fn promote<const N: usize>(dtype: Option<DType>, arrays: [&Array; N]) -> [Array; N] {
    let dtype = dtype.unwrap_or_else(|| numpy::result_type(&arrays));
    arrays.map(|array| array.astype(dtype))
}
