//! Attention.

use jaxide::{Array, DType, nn, numpy};
use jaxide_nnx::{
    AttentionCall, Initializer, MultiHeadAttention, MultiHeadAttentionOptions, Rngs,
    make_causal_mask,
};

use super::{Config, check};
use crate::goldens::case::Case;

pub(super) fn layer(case: &Case, config: &Config<'_>, rngs: &Rngs) {
    let size = |key: &str| config.0[key].as_u64().map(|size| size as usize);
    let ones = || Initializer::from(nn::initializers::ones);
    let out_init = config.flag("out_ones", false).then(ones);
    let options = MultiHeadAttentionOptions::new()
        .out_kernel_init(out_init.clone())
        .out_bias_init(out_init)
        .num_kv_heads(size("num_kv_heads"))
        .qkv_features(size("qkv_features"))
        .out_features(size("out_features"))
        .in_kv_features(size("in_kv_features"))
        .use_bias(config.flag("use_bias", true))
        .dropout_rate(config.number("dropout_rate", 0.0))
        .broadcast_dropout(config.flag("broadcast_dropout", true))
        .dtype(config.dtype("dtype"))
        .decode(config.flag("decode", false))
        .normalize_qk(config.flag("normalize_qk", false));
    let (heads, features) = (config.size("num_heads"), config.size("in_features"));
    let layer = MultiHeadAttention::new(heads, features, rngs, options);
    let call = AttentionCall::new()
        .is_causal(config.flag("is_causal", false))
        .sow_weights(config.flag("sow_weights", false));
    let causal = config.0["mask"] == "causal";
    let decode = config.flag("decode", false);
    check(case, layer, |layer, x| {
        if decode {
            return step_by_step(layer, &x[0]);
        }
        let mut call = call.clone().keys(x.get(1).cloned());
        if causal {
            call = call.mask(make_causal_mask(&numpy::take(&x[0], 0, -1)));
        }
        vec![layer.call(&x[0], call)]
    });
}

/// One position after the other, in a cache for one more.
fn step_by_step(layer: &MultiHeadAttention, x: &Array) -> Vec<Array> {
    let mut shape = x.shape().to_vec();
    let steps = shape[1] as i64;
    shape[1] += 1;
    layer.init_cache(&shape[..], DType::F32);
    let at = |step: i64| numpy::take(x, Array::from([step]), 1);
    (0..steps).map(|step| layer.call(&at(step), ())).collect()
}
