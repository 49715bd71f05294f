//! Layers: forward values, gradients, statistics.

use jaxide::{Array, grad_of, nn, numpy};
use jaxide_nnx::{
    self as nnx, AttentionCall, BatchNorm, BatchNormOptions, BatchStat, Bidirectional, Cell,
    CellOptions, Conv, ConvOptions, ConvPadding, ConvTranspose, ConvTransposeOptions, Einsum,
    EinsumOptions, Embed, Entry, GRUCell, GroupNorm, GroupNormOptions, InstanceNorm, LSTMCell,
    LayerNorm, Linear, LinearGeneral, LinearGeneralOptions, LinearOptions, List, Module,
    MultiHeadAttention, MultiHeadAttentionOptions, NormOptions, OptimizedLSTMCell, PReLU, Param,
    RMSNorm, RNN, RNNOptions, Rngs, Sequential, SimpleCell, State, causal_mask,
};
use serde_json::Value;

use super::case::{Case, array, close_state, sizes};

/// Gives a module recorded values.
fn set(module: &impl Module, values: &Value, kind: impl Fn(&Array) -> Entry) {
    let mut state = State::default();
    if let Some(values) = values.as_object() {
        for (path, value) in values {
            state.insert(path.as_str(), kind(&array(value)));
        }
    }
    nnx::update(module, state).expect("the module has these variables");
}

fn entry(value: &Array) -> Entry {
    Entry::Array {
        array: value.clone(),
        number: false,
    }
}

/// Looks at a layer: outputs, gradients of parameters and inputs, statistics.
fn check<M: Module + Clone + 'static>(
    case: &Case,
    module: M,
    call: impl Fn(&M, &[Array]) -> Vec<Array>,
) {
    set(&module, &case.0["params"], entry);
    set(&module, &case.0["batch_stats"], entry);
    let list = |key: &str| -> Vec<Array> {
        case.0[key]
            .as_array()
            .expect("arrays")
            .iter()
            .map(array)
            .collect()
    };
    let (inputs, cotangents) = (list("inputs"), list("cotangents"));
    let fresh: M = nnx::clone(&module).expect("it can be copied");
    let outputs = call(&fresh, &inputs);
    for (place, (got, expected)) in outputs
        .iter()
        .zip(case.0["outputs"].as_array().expect("arrays"))
        .enumerate()
    {
        case.close(&format!("output {place}"), got, expected);
    }
    // The same compiled: the module changes through the compiled function.
    let float: Vec<usize> = (0..inputs.len())
        .filter(|&place| inputs[place].dtype().is_inexact())
        .collect();
    let loss = |module: M, varied: Vec<Array>| {
        let mut all = inputs.clone();
        for (&place, array) in float.iter().zip(varied) {
            all[place] = array;
        }
        let outputs = call(&module, &all);
        let terms = outputs.iter().zip(&cotangents).map(|(y, c)| (y * c).sum());
        terms.reduce(|x, y| x + y).expect("there is an output")
    };
    let varied: Vec<Array> = float.iter().map(|&place| inputs[place].clone()).collect();
    let of_params = nnx::grad_of(&loss, (module.clone(), varied.clone()));
    close_state(case, "gradient of", &of_params, &case.0["param_grads"]);
    let held: M = nnx::clone(&module).expect("it can be copied");
    let of_inputs = grad_of(
        &|varied: Vec<Array>| loss(nnx::clone(&held).expect("it can be copied"), varied),
        varied,
    );
    for (&place, gradient) in float.iter().zip(&of_inputs) {
        case.close(
            &format!("gradient of input {place}"),
            gradient,
            &case.0["input_grads"][place.to_string()],
        );
    }
    if case.0["batch_stats_after"].is_object() {
        // Of `grad_of`, which carries what changes back.
        let stats = nnx::state(&module, BatchStat).expect("it has a state");
        close_state(case, "statistics", &stats, &case.0["batch_stats_after"]);
    }
}

/// Arguments of the recorded configuration.
struct Config<'a>(&'a Value);

impl Config<'_> {
    fn size(&self, key: &str) -> usize {
        self.0[key]
            .as_u64()
            .unwrap_or_else(|| panic!("{key} is no size")) as usize
    }

    fn flag(&self, key: &str, default: bool) -> bool {
        self.0[key].as_bool().unwrap_or(default)
    }

    fn number(&self, key: &str, default: f64) -> f64 {
        self.0[key].as_f64().unwrap_or(default)
    }

    /// Sizes, of which one may stand alone, or none.
    fn sizes(&self, key: &str) -> Vec<usize> {
        match &self.0[key] {
            Value::Null => Vec::new(),
            Value::Number(one) => vec![one.as_u64().expect("a size") as usize],
            list => sizes(list),
        }
    }

    fn padding(&self) -> ConvPadding {
        match &self.0["padding"] {
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
                let pair = |pair: &Value| {
                    (
                        pair[0].as_i64().expect("a size"),
                        pair[1].as_i64().expect("a size"),
                    )
                };
                ConvPadding::Explicit(pairs.as_array().expect("pairs").iter().map(pair).collect())
            }
        }
    }
}

#[derive(Clone, Module)]
struct Mlp {
    layers: List<Linear>,
    activation: fn(&Array) -> Array,
}

#[derive(Clone, Module)]
struct Block {
    linear: Linear,
    bn: BatchNorm,
}

pub(super) fn layer(case: &Case) {
    let config = Config(&case.0["config"]);
    let rngs = &Rngs::new(0);
    let features = || config.size("num_features");
    let recurrent = || (config.size("in_features"), config.size("hidden_features"));
    let options = CellOptions::new().residual(config.flag("residual", false));
    match case.str("layer") {
        "Linear" => {
            let options = LinearOptions::new().use_bias(config.flag("use_bias", true));
            let layer = Linear::new(
                config.size("in_features"),
                config.size("out_features"),
                rngs,
                options,
            );
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "LinearGeneral" => {
            let axis: Vec<i64> = config.0["axis"]
                .as_array()
                .expect("axes")
                .iter()
                .filter_map(Value::as_i64)
                .collect();
            let options = LinearGeneralOptions::new().axis(axis);
            let layer = LinearGeneral::new(
                config.sizes("in_features"),
                config.sizes("out_features"),
                rngs,
                options,
            );
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "Einsum" => {
            let options = EinsumOptions::new().bias_shape(config.sizes("bias_shape"));
            let text = config.0["einsum_str"].as_str().expect("subscripts");
            let layer = Einsum::new(text, config.sizes("kernel_shape"), rngs, options);
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "BatchNorm" => {
            let options = BatchNormOptions::new()
                .use_running_average(config.0["mode"] == "eval")
                .momentum(config.number("momentum", 0.99))
                .epsilon(config.number("epsilon", 1e-5))
                .use_bias(config.flag("use_bias", true))
                .use_scale(config.flag("use_scale", true))
                .use_fast_variance(config.flag("use_fast_variance", true));
            check(
                case,
                BatchNorm::new(features(), rngs, options),
                |layer, x| vec![layer.call(&x[0])],
            );
        }
        "LayerNorm" => {
            let layer = LayerNorm::new(features(), rngs, norm(&config));
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "RMSNorm" => {
            let layer = RMSNorm::new(features(), rngs, norm(&config));
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "GroupNorm" => {
            let group = |key: &str| config.0[key].as_u64().map(|size| size as usize);
            let options = GroupNormOptions::new()
                .num_groups(group("num_groups"))
                .group_size(group("group_size"));
            check(
                case,
                GroupNorm::new(features(), rngs, options),
                |layer, x| vec![layer.call(&x[0])],
            );
        }
        "Embed" => {
            let layer = Embed::new(
                config.size("num_embeddings"),
                config.size("features"),
                rngs,
                (),
            );
            let attends = config.0["method"] == "attend";
            check(case, layer, |layer, x| {
                vec![if attends {
                    layer.attend(&x[0])
                } else {
                    layer.call(&x[0])
                }]
            });
        }
        "Conv" => {
            let options = ConvOptions::new()
                .strides(config.sizes("strides"))
                .padding(config.padding())
                .kernel_dilation(config.sizes("kernel_dilation"))
                .input_dilation(config.sizes("input_dilation"))
                .feature_group_count(config.0["feature_group_count"].as_u64().unwrap_or(1) as usize)
                .use_bias(config.flag("use_bias", true));
            let layer = Conv::new(
                config.size("in"),
                config.size("out"),
                config.sizes("kernel_size"),
                rngs,
                options,
            );
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "ConvTranspose" => {
            let options = ConvTransposeOptions::new()
                .strides(config.sizes("strides"))
                .padding(config.padding())
                .transpose_kernel(config.flag("transpose_kernel", false));
            let kernel = config.sizes("kernel_size");
            let layer =
                ConvTranspose::new(config.size("in"), config.size("out"), kernel, rngs, options);
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "LSTMCell" => {
            let (inputs, hidden) = recurrent();
            check(
                case,
                LSTMCell::new(inputs, hidden, rngs, options),
                |cell, x| {
                    let ((c, h), y) = cell.step((x[0].clone(), x[1].clone()), &x[2]);
                    vec![c, h, y]
                },
            );
        }
        "OptimizedLSTMCell" => {
            let (inputs, hidden) = recurrent();
            check(
                case,
                OptimizedLSTMCell::new(inputs, hidden, rngs, options),
                |cell, x| {
                    let ((c, h), y) = cell.step((x[0].clone(), x[1].clone()), &x[2]);
                    vec![c, h, y]
                },
            );
        }
        "GRUCell" => {
            let (inputs, hidden) = recurrent();
            check(case, GRUCell::new(inputs, hidden, rngs, options), step);
        }
        "SimpleCell" => {
            let (inputs, hidden) = recurrent();
            check(case, SimpleCell::new(inputs, hidden, rngs, options), step);
        }
        "InstanceNorm" => {
            let layer = InstanceNorm::new(features(), rngs, norm(&config));
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "RNN" => {
            let (inputs, hidden) = recurrent();
            let options = RNNOptions::new()
                .reverse(config.flag("reverse", false))
                .keep_order(config.flag("keep_order", false));
            let rnn = RNN::new(SimpleCell::new(inputs, hidden, rngs, ()), options);
            check(case, rnn, |rnn, x| vec![rnn.call(&x[0])]);
        }
        "Bidirectional" => {
            let (inputs, hidden) = recurrent();
            let cell = || GRUCell::new(inputs, hidden, rngs, ());
            let both = Bidirectional::new(cell(), cell(), ());
            check(case, both, |both, x| vec![both.call(&x[0])]);
        }
        "RNN(GRUCell)" => {
            let (inputs, hidden) = recurrent();
            let options = RNNOptions::new().time_major(config.flag("time_major", false));
            let rnn = RNN::new(GRUCell::new(inputs, hidden, rngs, ()), options);
            check(case, rnn, |rnn, x| vec![rnn.call(&x[0])]);
        }
        "MultiHeadAttention" => {
            let size = |key: &str| config.0[key].as_u64().map(|size| size as usize);
            let options = MultiHeadAttentionOptions::new()
                .num_kv_heads(size("num_kv_heads"))
                .qkv_features(size("qkv_features"))
                .out_features(size("out_features"))
                .use_bias(config.flag("use_bias", true))
                .normalize_qk(config.flag("normalize_qk", false));
            let (heads, features) = (config.size("num_heads"), config.size("in_features"));
            let is_causal = config.flag("is_causal", false);
            let layer = MultiHeadAttention::new(heads, features, rngs, options);
            let causal = config.0["mask"] == "causal";
            check(case, layer, |layer, x| {
                let mut options = AttentionCall::new().is_causal(is_causal);
                if causal {
                    options = options.mask(numpy::expand_dims(&causal_mask(x[0].shape()[1]), 0));
                }
                if let Some(keys) = x.get(1) {
                    options = options.keys(keys.clone());
                }
                vec![layer.call(&x[0], options)]
            });
        }
        "MLP" => {
            let dims = config.sizes("dims");
            let layers = dims
                .windows(2)
                .map(|pair| Linear::new(pair[0], pair[1], rngs, ()))
                .collect();
            let activation: fn(&Array) -> Array =
                match config.0["activation"].as_str().expect("a function") {
                    "relu" => nn::relu,
                    "gelu" => |x| nn::gelu(x, ()),
                    "tanh" => |x| x.tanh(),
                    other => panic!("{other} is no activation"),
                };
            check(case, Mlp { layers, activation }, |mlp, x| {
                let (last, front) = mlp.layers.split_last().expect("there is a layer");
                let hidden = front
                    .iter()
                    .fold(x[0].clone(), |x, layer| (mlp.activation)(&layer.call(&x)));
                vec![last.call(&hidden)]
            });
        }
        "Block(relu(bn(linear)))" => {
            let (inputs, outputs) = (config.size("din"), config.size("dout"));
            let block = Block {
                linear: Linear::new(inputs, outputs, rngs, ()),
                bn: BatchNorm::new(outputs, rngs, ()),
            };
            check(case, block, |block, x| {
                vec![nn::relu(&block.bn.call(&block.linear.call(&x[0])))]
            });
        }
        "Sequential" => {
            let model = Sequential::new()
                .then(Linear::new(3, 4, rngs, ()))
                .then(nn::relu as fn(&Array) -> Array)
                .then(LayerNorm::new(4, rngs, ()))
                .then(Linear::new(4, 1, rngs, ()));
            check(case, model, |model, x| vec![model.call(&x[0])]);
        }
        "PReLU" => check(case, PReLU::new(0.01), |layer, x| vec![layer.call(&x[0])]),
        other => panic!("{other} is no layer"),
    }
}

fn step<C: Cell<Carry = Array>>(cell: &C, x: &[Array]) -> Vec<Array> {
    let (h, y) = cell.step(x[0].clone(), &x[1]);
    vec![h, y]
}

fn norm(config: &Config<'_>) -> NormOptions {
    NormOptions::new()
        .epsilon(config.number("epsilon", 1e-6))
        .use_bias(config.flag("use_bias", true))
        .use_scale(config.flag("use_scale", true))
}

pub(super) fn batch_norm_steps(case: &Case) {
    let config = Config(&case.0["config"]);
    let options = BatchNormOptions::new()
        .momentum(config.number("momentum", 0.0))
        .epsilon(config.number("epsilon", 0.0));
    let norm = BatchNorm::new(config.size("num_features"), &Rngs::new(0), options);
    let train = nnx::jit(|norm: BatchNorm, x: Array| norm.call(&x));
    for step in case.0["steps"].as_array().expect("steps") {
        case.close(
            "output",
            &train(norm.clone(), array(&step["input"])),
            &step["output"],
        );
        case.close("mean", &norm.mean.get(), &step["mean"]);
        case.close("variance", &norm.var.get(), &step["var"]);
    }
    assert_eq!(norm.eval(), 1);
    let last = &case.0["then_eval"];
    case.close(
        "output of evaluation",
        &train(norm.clone(), array(&last["input"])),
        &last["output"],
    );
}

pub(super) fn fresh(case: &Case) {
    #[derive(Clone, Module)]
    struct Two {
        first: Linear,
        second: Linear,
    }
    let rngs = Rngs::new(case.int("rngs_seed"));
    let state = match case.str("layer") {
        "Linear(2,3)" => nnx::state(&Linear::new(2, 3, &rngs, ()), Param),
        "Embed(4,2)" => nnx::state(&Embed::new(4, 2, &rngs, ()), Param),
        "Conv(1,2,(3,))" => nnx::state(&Conv::new(1, 2, [3], &rngs, ()), Param),
        "Linear(2,3) then Linear(3,4), one Rngs" => {
            let two = Two {
                first: Linear::new(2, 3, &rngs, ()),
                second: Linear::new(3, 4, &rngs, ()),
            };
            nnx::state(&two, Param)
        }
        other => panic!("{other} is no layer"),
    };
    close_state(
        case,
        "parameter",
        &state.expect("it has a state"),
        &case.0["params"],
    );
    if let Some(count) = case.0["params_stream_count_after"].as_i64() {
        let stream = rngs.stream("params").expect("there is a default");
        assert_eq!(i64::from(stream.count().get().item::<u32>()), count);
    }
}

/// Layers and options that the other cases do not have.
#[test]
fn further_layers() {
    let text = include_str!("../../data/layers.jsonl");
    for case in text.lines().map(Case::read) {
        println!("{}", case.id());
        layer(&case);
    }
}
