//! States of optimisers, and ten steps of them: `tests/data/states.jsonl`.

use std::collections::BTreeMap;

use jaxide::{Array, numpy, value_and_grad_of};
use jaxide_nnx::optim::schedules::{OneCycle, WarmupCosine};
use jaxide_nnx::optim::{
    self, Adafactor, ExtraArgs, Factored, GradientTransformation, InitialGuess, Lbfgs, Mask, Rate,
    RmsProp, TransformState, ZoomLinesearch, schedules,
};
use serde_json::Value;

use super::case::{Case, entries};

type Params = BTreeMap<String, Array>;

fn tree(value: &Value) -> Params {
    let entries = entries(value).into_iter();
    entries.map(|(path, x)| (path.to_owned(), x)).collect()
}

fn function(name: &str, p: &Params) -> Array {
    let sum = |f: &dyn Fn(&Array) -> Array| {
        let terms = p.values().map(|x| f(x).sum());
        terms.reduce(|x, y| x + y).expect("there are parameters")
    };
    match name {
        "quadratic" => sum(&|x| {
            let weights = numpy::arange(x.size() as i64, ()).astype(jaxide::DType::F32) + 1.0;
            weights.reshape(x.shape()) * (x - 0.5).square()
        }),
        "quartic" => sum(&|x| x.square().square() - 2.0 * x.square() + 0.3 * x),
        "rosenbrock" => {
            let x = p.values().next().expect("there is a parameter");
            let (from, to) = (x.index(jaxide::idx![..-1]), x.index(jaxide::idx![1..]));
            let rest: Array = 1.0 - &from;
            let bend: Array = 10.0 * (to - from.square()).square();
            (bend + rest.square()).sum()
        }
        other => panic!("{other} is no function"),
    }
}

fn matrix() -> Mask {
    (|path: &jaxide_nnx::Path, _: &Array| path.to_string() == "w").into()
}

fn factored(least: usize) -> Factored {
    Factored {
        min_dim_size_to_factor: least,
        ..Factored::default()
    }
}

fn adafactor(name: &str) -> Adafactor {
    let own = |moments| Adafactor {
        learning_rate: Some(0.1.into()),
        moments,
        ..Adafactor::default()
    };
    match name {
        "adafactor" => own(factored(128)),
        "adafactor_factored" => own(factored(2)),
        "adafactor_cubes" => own(Factored {
            decay_rate: 0.6,
            epsilon: 1e-6,
            ..factored(3)
        }),
        "adafactor_all" => Adafactor {
            multiply_by_parameter_scale: false,
            clipping_threshold: Some(0.5),
            momentum: Some(0.9),
            weight_decay_rate: Some(0.01.into()),
            ..own(Factored {
                step_offset: -2,
                ..factored(2)
            })
        },
        "adafactor_plain" => Adafactor {
            learning_rate: None,
            clipping_threshold: None,
            ..own(Factored {
                factored: false,
                ..factored(128)
            })
        },
        other => panic!("{other} is no optimiser"),
    }
}

fn lbfgs(name: &str) -> Lbfgs {
    let memory = |memory_size| Lbfgs {
        memory_size,
        ..Lbfgs::default()
    };
    let fixed = |rate: f64, size| Lbfgs {
        learning_rate: rate.into(),
        linesearch: None,
        ..memory(size)
    };
    match name {
        "lbfgs" => Lbfgs::default(),
        "lbfgs_rosenbrock" => memory(3),
        "lbfgs_unscaled" => Lbfgs {
            scale_init_precond: false,
            ..memory(2)
        },
        "lbfgs_fixed" => fixed(0.1, 4),
        "lbfgs_no_search" => fixed(0.05, 10),
        other => panic!("{other} is no optimiser"),
    }
}

fn zoom(name: &str) -> ZoomLinesearch {
    let steps = |max_linesearch_steps| ZoomLinesearch {
        max_linesearch_steps,
        ..ZoomLinesearch::default()
    };
    match name {
        "zoom_keep" => steps(15),
        "zoom_one" => ZoomLinesearch {
            curv_rtol: 0.1,
            initial_guess_strategy: InitialGuess::One,
            ..steps(15)
        },
        "zoom_least" => ZoomLinesearch {
            max_learning_rate: Some(0.1),
            approx_dec_rtol: None,
            increase_factor: 3.0,
            ..steps(3)
        },
        other => panic!("{other} is no line search"),
    }
}

fn cycle(numbers: [f64; 4], warmup_steps: u32, decay_steps: u32) -> WarmupCosine {
    let [init_value, peak_value, end_value, exponent] = numbers;
    WarmupCosine {
        init_value,
        peak_value,
        warmup_steps,
        decay_steps,
        end_value,
        exponent,
    }
}

fn schedule(name: &str) -> Rate {
    let one_cycle = |pct_start, pct_final| OneCycle {
        pct_start,
        pct_final,
        div_factor: 10.0,
        final_div_factor: 100.0,
    };
    match name {
        "sgdr" => schedules::sgdr([
            cycle([0.0, 0.5, 0.1, 1.0], 2, 4),
            cycle([0.1, 0.3, 0.0, 2.0], 1, 5),
        ]),
        "polynomial" => schedules::polynomial(0.5, 0.1, 2.0, 5).transition_begin(2),
        "exponential" => schedules::exponential_decay(0.5, 2, 0.5, true, 0.1).transition_begin(1),
        "warmup_exponential" => {
            let decay = schedules::exponential_decay(0.5, 2, 0.7, false, None);
            schedules::warmup_exponential_decay(0.0, 0.5, 3, decay)
        }
        "warmup_constant" => schedules::warmup_constant(0.0, 0.5, 4),
        "piecewise_constant" => schedules::piecewise_constant(0.5, &[(3, 0.5), (6, 0.1)]),
        "interpolate" => schedules::piecewise_interpolate(0.5, &[(3, 0.5), (6, 2.0)], true),
        "linear_onecycle" => schedules::linear_onecycle(10, 0.5, one_cycle(0.2, 0.6)),
        "cosine_onecycle" => schedules::cosine_onecycle(10, 0.5, one_cycle(0.4, 0.85)),
        "join" => {
            let falls = schedules::cosine_decay(0.5, 5, 0.1, 2.0);
            schedules::join([schedules::constant(0.2), falls], &[4])
        }
        other => panic!("{other} is no schedule"),
    }
}

fn named(name: &str) -> GradientTransformation {
    let rmsprop = |options| optim::rmsprop(0.1, options);
    match name {
        "sm3" => optim::sm3(0.1, 0.9),
        "sm3_momentum" => optim::sm3(0.05, 0.5),
        "sm3_decay" => optim::chain([optim::scale_by_sm3(0.8, 0.9, 1e-6), optim::scale(-0.1)]),
        "momentum" => optim::momentum(0.1, 0.9, true),
        "sgd" => optim::sgd(0.1),
        "adam" => optim::adam(0.1),
        "nadamw" => optim::nadamw(0.1, 0.01, None),
        "amsgrad" => optim::amsgrad(0.1),
        "adamax" => optim::adamax(0.1),
        "rmsprop" => rmsprop(RmsProp {
            momentum: Some(0.9),
            ..RmsProp::default()
        }),
        "rmsprop_centered" => rmsprop(RmsProp {
            centered: true,
            initial_scale: 1.0,
            eps_in_sqrt: false,
            ..RmsProp::default()
        }),
        "adagrad" => optim::adagrad(0.1, 0.1, 1e-7),
        "adadelta" => optim::adadelta(0.5, 0.9, 1e-6),
        "lion" => optim::lion(0.1, 0.9, 0.99, 1e-3, None),
        "lamb" => optim::lamb(0.1, 0.1, None),
        "lars" => optim::lars(0.1, 0.1, 0.9, None),
        "clip_by_block_rms" => optim::chain([optim::clip_by_block_rms(0.5), optim::sgd(0.1)]),
        "adamw_mask" => optim::adamw(0.05, 0.1, Some(matrix())),
        "adamw_schedule" => optim::adamw(0.05, schedules::linear(0.1, 0.0, 5), None),
        "masked" => optim::masked(optim::adam(0.1), matrix()),
        "partition" => optim::partition(
            [
                ("a", optim::adam(0.1)),
                ("s", optim::momentum(0.2, 0.5, false)),
                ("z", optim::set_to_zero()),
            ],
            |path, _| match path.to_string().as_str() {
                "w" => "a".to_owned(),
                "b" => "s".to_owned(),
                _ => "z".to_owned(),
            },
        ),
        "multi_steps" => optim::multi_steps(optim::adam(0.05), 3),
        "apply_if_finite" => optim::apply_if_finite(optim::adam(0.05), 2),
        "inject" => optim::inject_hyperparams(
            [
                ("learning_rate", schedules::linear(0.1, 0.0, 8)),
                ("weight_decay", 0.1.into()),
            ],
            |h| optim::adamw(h.rate("learning_rate"), h.rate("weight_decay"), None),
        ),
        other => {
            if let Some(name) = other.strip_prefix("schedule_") {
                optim::sgd(schedule(name))
            } else if other.starts_with("adafactor") {
                optim::adafactor(adafactor(other))
            } else if other.starts_with("lbfgs") {
                optim::lbfgs(lbfgs(other))
            } else {
                let search = optim::scale_by_zoom_linesearch(zoom(other));
                optim::chain([optim::sgd(1.0), search])
            }
        }
    }
}

#[track_caller]
fn same_state(case: &Case, state: &TransformState, expected: &Value) {
    let expected = expected.as_array().expect("a state");
    let paths: Vec<String> = state
        .structure()
        .key_paths()
        .iter()
        .map(ToString::to_string)
        .collect();
    let recorded: Vec<&str> = expected
        .iter()
        .map(|leaf| leaf[0].as_str().expect("a path"))
        .collect();
    assert_eq!(paths, recorded);
    for (leaf, expected) in state.leaves().into_iter().zip(expected) {
        case.close(&expected[0].to_string(), leaf, &expected[1]);
    }
}

fn look_at(case: &Case) {
    let transform = named(case.str("name"));
    let mut params = tree(&case.0["params"]);
    let mut state = transform.init(&params);
    assert_eq!(state.structure().to_string(), case.str("treedef"));
    same_state(case, &state, &case.0["state_before"]);
    for (step, expected) in case.0["params_after"]
        .as_array()
        .expect("steps")
        .iter()
        .enumerate()
    {
        let (updates, next) = match case.0["function"].as_str() {
            Some(name) => {
                let f = |p: Params| function(name, &p);
                let (value, grad) = value_and_grad_of(&f, (params.clone(),));
                let extra = ExtraArgs {
                    value: &value,
                    grad: &grad,
                    value_fn: &f,
                };
                transform.update_with_extra_args(&grad, &state, &params, extra)
            }
            None => transform.update(&tree(&case.0["grads"][step]), &state, &params),
        };
        params = optim::apply_updates(&params, &updates);
        state = next;
        for (path, got) in &params {
            case.close(&format!("{path} after step {step}"), got, &expected[path]);
        }
    }
    assert_eq!(state.structure().to_string(), case.str("treedef"));
    same_state(case, &state, &case.0["state_after"]);
}

#[test]
fn states_and_steps() {
    let text = include_str!("../../data/states.jsonl");
    super::look_at_all(text, look_at);
}
