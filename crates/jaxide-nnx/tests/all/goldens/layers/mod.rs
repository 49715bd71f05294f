//! Layers: forward values, gradients, statistics.

mod attention;
mod conv;
mod linear;
mod norm;
mod plain;
mod recurrent;

use jaxide::{Array, DType, grad_of, nn};
use jaxide_nnx::{
    self as nnx, BatchNorm, BatchNormOptions, BatchStat, Cache, Conv, Embed, Entry, Filter,
    GRUCell, Intermediate, LayerNorm, Linear, List, Module, MultiHeadAttention, PReLU, Param, RNN,
    Rngs, Sequential, State,
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
    let state = |module: &M, filter: Filter| nnx::state(module, filter).expect("it has a state");
    if case.0["fresh"].is_object() {
        let made = state(&module, Param.into());
        close_state(case, "made with", &made, &case.0["fresh"]);
        let made = state(&module, BatchStat.into());
        close_state(case, "made with", &made, &case.0["batch_stats"]);
    }
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
    let copy = |module: &M| nnx::clone(module).expect("it can be copied");
    let (fresh, held) = (copy(&module), copy(&module));
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
    let of_inputs = grad_of(&|varied: Vec<Array>| loss(copy(&held), varied), varied);
    for (&place, gradient) in float.iter().zip(&of_inputs) {
        case.close(
            &format!("gradient of input {place}"),
            gradient,
            &case.0["input_grads"][place.to_string()],
        );
    }
    // Of `grad_of`, which carries what changes back.
    if case.0["batch_stats_after"].is_object() {
        let stats = state(&module, BatchStat.into());
        close_state(case, "statistics", &stats, &case.0["batch_stats_after"]);
    }
    if case.0["state_after"].is_object() {
        let wraps = matches!(case.str("layer"), "SpectralNorm" | "WeightNorm");
        let param = if wraps { Param.into() } else { Filter::Nothing };
        let changing = Filter::any((BatchStat, Cache, Intermediate, param));
        close_state(
            case,
            "state",
            &state(&module, changing),
            &case.0["state_after"],
        );
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

    /// Axes, of which one may stand alone, if there are any.
    fn axes(&self, key: &str) -> Option<Vec<i64>> {
        let axes = self.0[key].as_array()?;
        Some(axes.iter().filter_map(Value::as_i64).collect())
    }

    fn dtype(&self, key: &str) -> Option<DType> {
        match self.0[key].as_str()? {
            "bfloat16" => Some(DType::BF16),
            "float16" => Some(DType::F16),
            other => panic!("{other} is not recorded"),
        }
    }

    fn param_dtype(&self) -> DType {
        self.dtype("param_dtype").unwrap_or(DType::F32)
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
    match case.str("layer") {
        "Linear" | "LinearGeneral" | "Einsum" | "LoRA" | "LoRALinear" | "Embed" => {
            linear::layer(case, &config, rngs);
        }
        "Conv" | "ConvTranspose" => conv::layer(case, &config, rngs),
        "BatchNorm" | "LayerNorm" | "RMSNorm" | "InstanceNorm" | "GroupNorm" => {
            norm::layer(case, &config, rngs);
        }
        "SpectralNorm" | "WeightNorm" => norm::wrapped(case, &config, rngs),
        "LSTMCell" | "OptimizedLSTMCell" | "GRUCell" | "SimpleCell" | "RNN" | "RNN(GRUCell)"
        | "Bidirectional" => recurrent::layer(case, &config, rngs),
        "Pool" | "Dropout" | "Masks" => plain::layer(case, &config, rngs),
        "PReLU" if config.0["negative_slope"].is_number() => plain::layer(case, &config, rngs),
        "MultiHeadAttention" => attention::layer(case, &config, rngs),
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
        "Sequential" if config.0["layers"] == "rnn, attention" => {
            // Each of the two has the same streams anew.
            let model = Sequential::new()
                .then(RNN::new(GRUCell::new(2, 3, rngs, ()), ()))
                .then(MultiHeadAttention::new(1, 3, &Rngs::new(0), ()));
            check(case, model, |model, x| vec![model.call(&x[0])]);
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
    let text = include_str!("../../../data/layers.jsonl");
    super::run(text.lines().map(Case::read).collect());
}
