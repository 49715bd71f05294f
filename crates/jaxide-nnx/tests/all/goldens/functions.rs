//! Functions without state.

use jaxide::lax::Padding;
use jaxide::{Array, grad_of, nn};
use serde_json::Value;

use super::case::{Case, array, sizes};

fn named(name: &str) -> fn(&Array) -> Array {
    match name {
        "relu" => nn::relu,
        "sigmoid" => nn::sigmoid,
        "tanh" => |x| x.tanh(),
        "silu" => nn::silu,
        "softplus" => nn::softplus,
        "elu" => |x| nn::elu(x, ()),
        "selu" => nn::selu,
        "leaky_relu" => |x| nn::leaky_relu(x, ()),
        "celu" => |x| nn::celu(x, ()),
        "hard_tanh" => nn::hard_tanh,
        "relu6" => nn::relu6,
        "hard_sigmoid" => nn::hard_sigmoid,
        "hard_silu" => nn::hard_silu,
        "log_sigmoid" => nn::log_sigmoid,
        "soft_sign" => nn::soft_sign,
        "identity" => nn::identity,
        "gelu" => |x| nn::gelu(x, ()),
        "gelu_exact" => |x| nn::gelu(x, nn::Gelu::new().approximate(false)),
        "softmax" => |x| nn::softmax(x, ()),
        "log_softmax" => |x| nn::log_softmax(x, ()),
        "standardize" => |x| nn::standardize(x, ()),
        "logsumexp" => |x| nn::logsumexp(x, -1),
        "glu" => |x| nn::glu(x, ()),
        other => panic!("{other} is no function"),
    }
}

pub(super) fn activation(case: &Case) {
    let f = named(case.str("fn"));
    let x = array(&case.0["input"]);
    case.close("output", &f(&x), &case.0["output"]);
    case.close(
        "derivative",
        &grad_of(&|x: Array| f(&x).sum(), x),
        &case.0["grad"],
    );
}

pub(super) fn activation_rows(case: &Case) {
    assert_eq!(case.int("axis"), -1);
    let f = named(case.str("fn"));
    let (x, cotangent) = (array(&case.0["input"]), array(&case.0["cotangent"]));
    case.close("output", &f(&x), &case.0["output"]);
    case.close(
        "gradient",
        &grad_of(&|x: Array| (f(&x) * &cotangent).sum(), x),
        &case.0["grad"],
    );
}

pub(super) fn one_hot(case: &Case) {
    let ids: Vec<i32> = case.0["input"]
        .as_array()
        .expect("ids")
        .iter()
        .filter_map(Value::as_i64)
        .map(|id| id as i32)
        .collect();
    let rows = nn::one_hot(&Array::from(ids), case.int("num_classes") as usize, ());
    case.close("rows", &rows, &case.0["output"]);
}

pub(super) fn pool(case: &Case) {
    let x = array(&case.0["input"]);
    let (window, strides) = (sizes(&case.0["window"]), sizes(&case.0["strides"]));
    let padding = match case.str("padding") {
        "SAME" => Padding::Same,
        "VALID" => Padding::Valid,
        other => panic!("{other} is no padding"),
    };
    let y = match case.str("fn") {
        "max_pool" => jaxide_nnx::max_pool(&x, &window, &strides, padding),
        "avg_pool" => jaxide_nnx::avg_pool(&x, &window, &strides, padding, true),
        other => panic!("{other} is no pooling"),
    };
    case.close("output", &y, &case.0["output"]);
}

pub(super) fn attention(case: &Case) {
    let [query, key, value] = ["query", "key", "value"].map(|name| array(&case.0[name]));
    case.close(
        "output",
        &nn::dot_product_attention(&query, &key, &value, ()),
        &case.0["output"],
    );
}
