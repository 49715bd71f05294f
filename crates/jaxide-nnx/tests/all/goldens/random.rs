//! Streams of keys, and initialisers.

use jaxide::nn::initializers as init;
use jaxide::{Array, DType, random};
use jaxide_nnx::{Initializer, Rngs};

use super::case::{Case, array, close, numbers, sizes};

fn rngs(case: &Case) -> Rngs {
    match case.0["streams"].as_object() {
        Some(streams) => streams.iter().fold(Rngs::empty(), |rngs, (name, seed)| {
            rngs.with(name, seed.as_i64().expect("a seed"))
        }),
        None => Rngs::new(case.int("seed")),
    }
}

pub(super) fn stream(case: &Case) {
    let rngs = rngs(case);
    let calls = case.0["calls"].as_array().expect("calls");
    let keys = case.0["expect"]["keys"].as_array().expect("keys");
    assert_eq!(calls.len(), keys.len());
    for (call, key) in calls.iter().zip(keys) {
        let got = random::key_data(&rngs.make(call.as_str().expect("a stream")));
        let words: Vec<u64> = got.to_vec::<u32>().into_iter().map(u64::from).collect();
        assert_eq!(serde_json::json!(words), *key);
    }
}

pub(super) fn method(case: &Case) {
    let rngs = Rngs::new(case.int("seed"));
    let mut last = Array::from(0.0f32);
    for call in case.0["calls"].as_array().expect("calls") {
        match call.as_str().expect("a call") {
            "uniform (3,)" => last = rngs.uniform([3]),
            "normal (3,)" => last = rngs.normal([3]),
            "params" => last = rngs.params(),
            other => panic!("{other} is no method"),
        }
    }
    let expected = &case.0["expect"];
    if case.0["exact"].as_bool() == Some(true) {
        let bits: Vec<u64> = last
            .to_vec::<f32>()
            .into_iter()
            .map(|x| u64::from(x.to_bits()))
            .collect();
        assert_eq!(serde_json::json!(bits), expected["bits"]);
    } else {
        case.close("the result", &last, expected);
    }
}

fn named(name: &str) -> Initializer {
    match name {
        "lecun_normal" => init::lecun_normal(()).into(),
        "lecun_uniform" => init::lecun_uniform(()).into(),
        "glorot_normal" => init::glorot_normal(()).into(),
        "glorot_uniform" => init::glorot_uniform(()).into(),
        "he_normal" => init::he_normal(()).into(),
        "he_uniform" => init::he_uniform(()).into(),
        "normal_0.01" => init::normal(0.01).into(),
        "uniform_0.01" => init::uniform(0.01).into(),
        "truncated_normal_0.5" => init::truncated_normal(0.5).into(),
        "zeros" => init::zeros.into(),
        "ones" => init::ones.into(),
        "constant_0.3" => init::constant(0.3).into(),
        "orthogonal" => init::orthogonal(()).into(),
        other => panic!("{other} is no initialiser"),
    }
}

fn values(case: &Case, seed: i64) -> Array {
    named(case.str("name")).call(&random::key(seed), &sizes(&case.0["shape"]), DType::F32)
}

pub(super) fn initializer(case: &Case) {
    case.close("values", &values(case, case.int("seed")), &case.0["values"]);
}

pub(super) fn initializer_moments(case: &Case) {
    let x = numbers(&values(case, case.int("seed")));
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let var = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64;
    let extreme = |f: fn(f64, f64) -> f64| x.iter().copied().reduce(f).expect("there are values");
    let (rtol, atol) = (1e-4, 1e-5);
    for (name, got) in [
        ("mean", mean),
        ("var", var),
        ("min", extreme(f64::min)),
        ("max", extreme(f64::max)),
    ] {
        let expected = case.0[name].as_f64().expect("a number");
        assert!(
            (got - expected).abs() <= atol + rtol * expected.abs(),
            "{name} is {got} instead of {expected}"
        );
    }
}

pub(super) fn initializer_fact(case: &Case) {
    let x = values(case, 0);
    let gram = if x.shape()[0] >= x.shape()[1] {
        x.t().dot(&x)
    } else {
        x.dot(&x.t())
    };
    assert_eq!(gram.shape(), array(&case.0["gram"]).shape());
    close("the Gram matrix", &gram, &case.0["gram"], 1e-5, 1e-5);
}
