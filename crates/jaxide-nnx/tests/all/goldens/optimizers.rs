//! Optimisers, schedules and losses.

use std::collections::BTreeMap;

use jaxide::{Array, grad_of};
use jaxide_nnx::optim::schedules::{OneCycle, WarmupCosine};
use jaxide_nnx::optim::{self, GradientTransformation, Moments, Rate, RmsProp, losses, schedules};
use serde_json::Value;

use super::case::{Case, array, close, entries};
use super::options;

/// The numbers of a recorded configuration.
struct Hyper<'a>(&'a Value);

impl Hyper<'_> {
    fn number(&self, key: &str) -> f64 {
        self.0[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{key} is no number"))
    }

    fn count(&self, key: &str) -> u32 {
        self.0[key]
            .as_u64()
            .unwrap_or_else(|| panic!("{key} is no count")) as u32
    }

    fn or(&self, key: &str, default: f64) -> f64 {
        self.0[key].as_f64().unwrap_or(default)
    }
}

fn schedule_of(name: &str, h: &Hyper<'_>) -> Rate {
    match name {
        "constant" => schedules::constant(h.number("value")),
        "linear" => schedules::linear(
            h.number("init_value"),
            h.number("end_value"),
            h.count("transition_steps"),
        ),
        "cosine_decay" => schedules::cosine_decay(
            h.number("init_value"),
            h.count("decay_steps"),
            h.or("alpha", 0.0),
            1.0,
        ),
        "exponential_decay" => schedules::exponential_decay(
            h.number("init_value"),
            h.count("transition_steps"),
            h.number("decay_rate"),
            h.0["staircase"].as_bool().unwrap_or(false),
            None,
        ),
        "piecewise_constant" => {
            let scales = h.0["boundaries_and_scales"]
                .as_object()
                .expect("boundaries");
            let scales: Vec<(u32, f64)> = scales
                .iter()
                .map(|(boundary, scale)| {
                    (
                        boundary.parse().expect("a count"),
                        scale.as_f64().expect("a number"),
                    )
                })
                .collect();
            schedules::piecewise_constant(h.number("init_value"), &scales)
        }
        "warmup_cosine" => schedules::warmup_cosine_decay(WarmupCosine {
            init_value: h.number("init_value"),
            peak_value: h.number("peak_value"),
            warmup_steps: h.count("warmup_steps"),
            decay_steps: h.count("decay_steps"),
            end_value: h.or("end_value", 0.0),
            exponent: 1.0,
        }),
        other => panic!("{other} is no schedule"),
    }
}

pub(super) fn schedule(case: &Case) {
    let schedule = schedule_of(case.str("name"), &Hyper(&case.0["hyper"]));
    for (count, expected) in case.0["values"]
        .as_array()
        .expect("values")
        .iter()
        .enumerate()
    {
        let got = f64::from(
            schedule
                .at(count as i32)
                .astype(jaxide::DType::F32)
                .item::<f32>(),
        );
        let expected = expected.as_f64().expect("a number");
        assert!(
            (got - expected).abs() <= 1e-6 + 1e-5 * expected.abs(),
            "{got} after {count} instead of {expected}"
        );
    }
}

fn named(name: &str, h: &Hyper<'_>) -> GradientTransformation {
    let moments = || Moments {
        b1: h.or("b1", 0.9),
        b2: h.or("b2", 0.999),
        eps: h.or("eps", 1e-8),
        ..Moments::default()
    };
    let rate = || h.number("learning_rate");
    let scheduled = || schedule_of(h.0["schedule"].as_str().expect("a schedule"), h);
    match name {
        "sgd" => optim::sgd(rate()),
        "sgd_momentum" => optim::momentum(rate(), h.number("momentum"), false),
        "sgd_nesterov" => optim::momentum(rate(), h.number("momentum"), true),
        "adam" => optim::adam_with(rate(), moments()),
        "adamw" | "adamw_default_decay" => {
            optim::adamw_with(rate(), moments(), h.number("weight_decay"), None)
        }
        "rmsprop" => optim::rmsprop(
            rate(),
            RmsProp {
                decay: h.number("decay"),
                eps: h.number("eps"),
                ..RmsProp::default()
            },
        ),
        "adagrad" => optim::adagrad(
            rate(),
            h.number("initial_accumulator_value"),
            h.number("eps"),
        ),
        "adamax" => optim::adamax(rate()),
        "nadam" => optim::nadam(rate()),
        "lion" => optim::lion(
            rate(),
            h.number("b1"),
            h.number("b2"),
            h.number("weight_decay"),
            None,
        ),
        "clip_global_norm_then_sgd" => optim::chain([
            optim::clip_by_global_norm(h.number("max_norm")),
            optim::sgd(rate()),
        ]),
        "clip_value_then_sgd" => {
            optim::chain([optim::clip(h.number("max_delta")), optim::sgd(rate())])
        }
        "adam_cosine" => optim::adam(scheduled()),
        "sgd_exponential" | "sgd_warmup_cosine" => optim::sgd(scheduled()),
        other => recorded(other),
    }
}

/// Optimisers of `tests/data/optimizers.jsonl`, with optax's own numbers.
fn recorded(name: &str) -> GradientTransformation {
    let of_matrix = |path: &jaxide_nnx::Path, _: &Array| path.to_string() == "w";
    match name {
        "amsgrad" => optim::amsgrad(0.05),
        "adadelta" => optim::adadelta(0.5, 0.9, 1e-6),
        "radam" => optim::radam(0.05),
        "lamb" => optim::lamb(0.05, 0.01, None),
        "lars" => optim::lars(0.5, 0.01, 0.9, None),
        "rmsprop_centered_momentum" => optim::rmsprop(
            0.01,
            RmsProp {
                centered: true,
                momentum: Some(0.9),
                nesterov: true,
                ..RmsProp::default()
            },
        ),
        "adamw_mask" => optim::adamw(0.05, 0.1, Some(of_matrix.into())),
        "sign_sgd" => optim::sign_sgd(0.1),
        "adaptive_grad_clip" => {
            optim::chain([optim::adaptive_grad_clip(0.1, 1e-3), optim::sgd(0.1)])
        }
        "multi_steps" => optim::multi_steps(optim::adam(0.05), 3),
        "apply_if_finite" => optim::apply_if_finite(optim::adam(0.05), 2),
        "ema" => optim::chain([optim::ema(0.9, true), optim::sgd(0.1)]),
        "multi_transform" => optim::multi_transform(
            [
                ("a", optim::adam(0.1)),
                ("s", optim::momentum(0.2, 0.5, false)),
            ],
            |path, _| if path.to_string() == "w" { "a" } else { "s" }.to_owned(),
        ),
        "linear_onecycle" => optim::sgd(schedules::linear_onecycle(10, 0.5, OneCycle::default())),
        "cosine_onecycle" => optim::sgd(schedules::cosine_onecycle(10, 0.5, OneCycle::default())),
        other => match other.strip_prefix("options_") {
            Some(name) => options::of(name),
            None => panic!("{other} is no optimiser"),
        },
    }
}

pub(super) fn optimizer(case: &Case) {
    let transform = named(case.str("name"), &Hyper(&case.0["hyper"]));
    let tree = |value: &Value| -> BTreeMap<String, Array> {
        entries(value)
            .into_iter()
            .map(|(path, array)| (path.to_owned(), array))
            .collect()
    };
    let mut params = tree(&case.0["params"]);
    let mut state = transform.init(&params);
    let after = case.0["params_after"].as_array().expect("steps");
    for (step, (gradient, expected)) in case.0["grads"]
        .as_array()
        .expect("gradients")
        .iter()
        .zip(after)
        .enumerate()
    {
        let (updates, next) = transform.update(&tree(gradient), &state, &params);
        assert_eq!(
            next.structure(),
            state.structure(),
            "the structure of the state"
        );
        params = optim::apply_updates(&params, &updates);
        state = next;
        for (path, got) in &params {
            case.close(&format!("{path} after step {step}"), got, &expected[path]);
        }
    }
}

/// Ten steps of the optimisers that the other cases do not have.
#[test]
fn ten_steps() {
    let text = include_str!("../../data/optimizers.jsonl");
    for case in text.lines().map(Case::read) {
        println!("{}", case.id());
        optimizer(&case);
    }
}

pub(super) fn loss(case: &Case) {
    let f = |logits: &Array, labels: &Array| match case.str("fn") {
        "softmax_cross_entropy_with_integer_labels" => {
            losses::softmax_cross_entropy_with_integer_labels(logits, labels, ())
        }
        "sigmoid_binary_cross_entropy" => losses::sigmoid_binary_cross_entropy(logits, labels),
        "l2_loss" => losses::l2_loss(logits, labels),
        "squared_error" => losses::squared_error(logits, labels),
        "huber_loss" => losses::huber_loss(logits, labels, 1.0),
        other => panic!("{other} is no loss"),
    };
    let (logits, labels) = (array(&case.0["logits"]), array(&case.0["labels"]));
    case.close("loss", &f(&logits, &labels), &case.0["output"]);
    let gradient = grad_of(&|logits: Array| f(&logits, &labels).mean(), logits);
    close("gradient", &gradient, &case.0["grad_of_mean"], 1e-5, 1e-6);
}
