//! Convolutions.

use jaxide_nnx::{Conv, ConvOptions, ConvPadding, ConvTranspose, ConvTransposeOptions, Rngs};
use serde_json::Value;

use super::{Config, check};
use crate::goldens::case::{Case, array};

fn padding(config: &Config<'_>) -> ConvPadding {
    match &config.0["padding"] {
        Value::Null => ConvPadding::Same,
        Value::String(name) => match name.as_str() {
            "SAME" => ConvPadding::Same,
            "VALID" => ConvPadding::Valid,
            "CAUSAL" => ConvPadding::Causal,
            "CIRCULAR" => ConvPadding::Circular,
            "REFLECT" => ConvPadding::Reflect,
            other => panic!("{other} is no padding"),
        },
        pairs => {
            let size = |size: &Value| size.as_i64().expect("a size");
            let pairs = pairs.as_array().expect("pairs").iter();
            ConvPadding::Explicit(pairs.map(|pair| (size(&pair[0]), size(&pair[1]))).collect())
        }
    }
}

pub(super) fn layer(case: &Case, config: &Config<'_>, rngs: &Rngs) {
    let (inputs, outputs) = (config.size("in"), config.size("out"));
    let window = config.sizes("kernel_size");
    let mask = (!config.0["mask"].is_null()).then(|| array(&config.0["mask"]));
    match case.str("layer") {
        "Conv" => {
            let options = ConvOptions::new()
                .strides(config.sizes("strides"))
                .padding(padding(config))
                .kernel_dilation(config.sizes("kernel_dilation"))
                .input_dilation(config.sizes("input_dilation"))
                .feature_group_count(config.0["feature_group_count"].as_u64().unwrap_or(1) as usize)
                .mask(mask)
                .dtype(config.dtype("dtype"))
                .use_bias(config.flag("use_bias", true));
            let layer = Conv::new(inputs, outputs, window, rngs, options);
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "ConvTranspose" => {
            let options = ConvTransposeOptions::new()
                .strides(config.sizes("strides"))
                .padding(padding(config))
                .kernel_dilation(config.sizes("kernel_dilation"))
                .mask(mask)
                .use_bias(config.flag("use_bias", true))
                .transpose_kernel(config.flag("transpose_kernel", false));
            let layer = ConvTranspose::new(inputs, outputs, window, rngs, options);
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        other => panic!("{other} is no convolution"),
    }
}
