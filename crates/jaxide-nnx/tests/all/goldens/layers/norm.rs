//! Normalisation.

use jaxide::Array;
use jaxide_nnx::{
    BatchNorm, BatchNormOptions, Conv, GroupNorm, GroupNormOptions, InstanceNorm, Layer, LayerNorm,
    Linear, NormOptions, RMSNorm, Rngs, SpectralNorm, SpectralNormOptions, WeightNorm,
    WeightNormOptions,
};

use super::{Config, check};
use crate::goldens::case::Case;

fn options(config: &Config<'_>) -> NormOptions {
    NormOptions::new()
        .epsilon(config.number("epsilon", 1e-6))
        .dtype(config.dtype("dtype"))
        .param_dtype(config.param_dtype())
        .use_bias(config.flag("use_bias", true))
        .use_scale(config.flag("use_scale", true))
        .reduction_axes(config.axes("reduction_axes"))
        .feature_axes(config.axes("feature_axes").unwrap_or_else(|| vec![-1]))
        .use_fast_variance(config.flag("use_fast_variance", true))
}

/// A call with a mask where there is one.
fn masked<L>(
    call: impl Fn(&L, &Array, Option<&Array>) -> Array,
) -> impl Fn(&L, &[Array]) -> Vec<Array> {
    move |layer, x| vec![call(layer, &x[0], x.get(1))]
}

pub(super) fn layer(case: &Case, config: &Config<'_>, rngs: &Rngs) {
    let features = config.size("num_features");
    match case.str("layer") {
        "BatchNorm" => {
            let eval = config.0["mode"] == "eval" || config.flag("use_running_average", false);
            let options = BatchNormOptions::new()
                .use_running_average(eval)
                .axis(config.0["axis"].as_i64().unwrap_or(-1))
                .momentum(config.number("momentum", 0.99))
                .epsilon(config.number("epsilon", 1e-5))
                .dtype(config.dtype("dtype"))
                .param_dtype(config.param_dtype())
                .use_bias(config.flag("use_bias", true))
                .use_scale(config.flag("use_scale", true))
                .use_fast_variance(config.flag("use_fast_variance", true));
            let layer = BatchNorm::new(features, rngs, options);
            check(case, layer, masked(BatchNorm::call_masked));
        }
        "LayerNorm" => {
            let layer = LayerNorm::new(features, rngs, options(config));
            check(case, layer, masked(LayerNorm::call_masked));
        }
        "RMSNorm" => {
            let layer = RMSNorm::new(features, rngs, options(config));
            check(case, layer, masked(RMSNorm::call_masked));
        }
        "InstanceNorm" => {
            let layer = InstanceNorm::new(features, rngs, options(config));
            check(case, layer, masked(InstanceNorm::call_masked));
        }
        "GroupNorm" => {
            let group = |key: &str| config.0[key].as_u64().map(|size| size as usize);
            let options = GroupNormOptions::new()
                .num_groups(group("num_groups"))
                .group_size(group("group_size"))
                .epsilon(config.number("epsilon", 1e-6))
                .dtype(config.dtype("dtype"))
                .param_dtype(config.param_dtype())
                .use_bias(config.flag("use_bias", true))
                .use_scale(config.flag("use_scale", true))
                .use_fast_variance(config.flag("use_fast_variance", true));
            let layer = GroupNorm::new(features, rngs, options);
            check(case, layer, masked(GroupNorm::call_masked));
        }
        other => panic!("{other} does not normalise"),
    }
}

/// Layers whose parameters are normalised.
pub(super) fn wrapped(case: &Case, config: &Config<'_>, rngs: &Rngs) {
    match config.0["inner"].as_str() {
        Some("linear") => around(case, config, rngs, Linear::new(3, 4, rngs, ())),
        Some("conv") => around(case, config, rngs, Conv::new(2, 3, [3], rngs, ())),
        other => panic!("{other:?} is no layer"),
    }
}

fn around<L: Layer + Clone>(case: &Case, config: &Config<'_>, rngs: &Rngs, inner: L) {
    if case.str("layer") == "SpectralNorm" {
        let options = SpectralNormOptions::new()
            .n_steps(config.0["n_steps"].as_u64().unwrap_or(1) as usize)
            .update_stats(config.flag("update_stats", true));
        let layer = SpectralNorm::new(inner, rngs, options);
        check(case, layer, |layer, x| vec![layer.call(&x[0])]);
    } else {
        let options = WeightNormOptions::new()
            .feature_axes(config.axes("feature_axes").unwrap_or_else(|| vec![-1]))
            .use_scale(config.flag("use_scale", true));
        let layer = WeightNorm::new(inner, rngs, options);
        check(case, layer, |layer, x| vec![layer.call(&x[0])]);
    }
}
