//! Linear maps and embeddings.

use jaxide_nnx::{
    AnyLayer, Einsum, EinsumOptions, Embed, EmbedOptions, Linear, LinearGeneral,
    LinearGeneralOptions, LinearOptions, LoRA, LoRALinear, LoRAOptions, Rngs,
};

use super::{Config, check};
use crate::goldens::case::Case;

pub(super) fn layer(case: &Case, config: &Config<'_>, rngs: &Rngs) {
    let inputs = || config.size("in_features");
    let outputs = || config.size("out_features");
    match case.str("layer") {
        "Linear" => {
            let options = LinearOptions::new()
                .use_bias(config.flag("use_bias", true))
                .dtype(config.dtype("dtype"))
                .param_dtype(config.param_dtype());
            let layer = Linear::new(inputs(), outputs(), rngs, options);
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "LinearGeneral" => {
            let options = LinearGeneralOptions::new()
                .axis(config.axes("axis").expect("axes"))
                .batch_axis(config.sizes("batch_axis"))
                .use_bias(config.flag("use_bias", true));
            let (inputs, outputs) = (config.sizes("in_features"), config.sizes("out_features"));
            let layer = LinearGeneral::new(inputs, outputs, rngs, options);
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "Einsum" => {
            let options = EinsumOptions::new().bias_shape(config.sizes("bias_shape"));
            let text = config.0["einsum_str"].as_str().expect("subscripts");
            let layer = Einsum::new(text, config.sizes("kernel_shape"), rngs, options);
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "LoRA" => {
            let mut options = LoRAOptions::new();
            if config.flag("base", false) {
                // Each of the two has the same streams anew.
                let base = Linear::new(inputs(), outputs(), &Rngs::new(0), ());
                options = options.base_module(AnyLayer::new(base));
            }
            let layer = LoRA::new(inputs(), config.size("lora_rank"), outputs(), rngs, options);
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "LoRALinear" => {
            let rank = config.size("lora_rank");
            let layer = LoRALinear::new(inputs(), outputs(), rank, rngs, ());
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "Embed" => {
            let options = EmbedOptions::new().param_dtype(config.param_dtype());
            let (rows, features) = (config.size("num_embeddings"), config.size("features"));
            let layer = Embed::new(rows, features, rngs, options);
            let attends = config.0["method"] == "attend";
            check(case, layer, |layer, x| {
                vec![if attends {
                    layer.attend(&x[0])
                } else {
                    layer.call(&x[0])
                }]
            });
        }
        other => panic!("{other} is no linear map"),
    }
}
