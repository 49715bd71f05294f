//! Dropout.

use jaxide::{Array, random};
use jaxide_nnx::{Dropout, DropoutOptions, Module, Rngs};
use serde_json::Value;

use super::case::{Case, array};

pub(super) fn dropout(case: &Case) {
    let config = &case.0["config"];
    let dims: Vec<i64> = config["broadcast_dims"]
        .as_array()
        .expect("axes")
        .iter()
        .filter_map(Value::as_i64)
        .collect();
    let rngs = Rngs::empty().with(
        "dropout",
        case.0["rngs"]["dropout"].as_i64().expect("a seed"),
    );
    let options = DropoutOptions::new().broadcast_dims(dims);
    let layer = Dropout::new(config["rate"].as_f64().expect("a rate"), &rngs, options);
    let key = |key: &Array| serde_json::json!(random::key_data(key).to_vec::<u32>());
    assert_eq!(key(&layer.rngs.key().get()), case.0["layer_stream_key"]);
    let x = array(&case.0["input"]);
    for output in case.0["outputs"].as_array().expect("arrays") {
        case.close("output", &layer.call(&x), output);
    }
    assert_eq!(
        i64::from(layer.rngs.count().get().item::<u32>()),
        case.int("count_after")
    );
    for (call, expected) in case.0["key_of_call"]
        .as_array()
        .expect("keys")
        .iter()
        .enumerate()
    {
        assert_eq!(
            key(&random::fold_in(&layer.rngs.key().get(), call as i64)),
            *expected
        );
    }
    layer.eval();
    case.close(
        "output of evaluation",
        &layer.call(&x),
        &case.0["eval_output"],
    );
}
