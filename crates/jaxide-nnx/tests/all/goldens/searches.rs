//! Line searches on functions that are hard to make small.

use std::collections::BTreeMap;

use jaxide::{Array, DType, jit_of, numpy};
use jaxide_nnx::optim::{
    self, ExtraArgs, GradientTransformation, InitialGuess, Lbfgs, ZoomLinesearch, apply_updates,
    lbfgs, scale_by_zoom_linesearch, value_and_grad_from_state,
};
use serde_json::Value;

use super::case::{Case, close, entries};

type Params = BTreeMap<String, Array>;

fn function(name: &str, p: &Params) -> Array {
    let (x, y) = (&p["x"], &p["y"]);
    match name {
        "valley" => ((y - x.square()).square() * 100.0 + (x - 1.0).square()).sum(),
        "bowl" => {
            (Array::from([1.0f64, 10.0, 100.0]) * x.square()).sum() + (y - 3.0).square().sum()
        }
        "steep" => x.exp().sum() + numpy::log1p(&y.square()).sum() + 0.1 * x.square().sum(),
        "cliff" => {
            let root = numpy::sqrt(&(x.square().square() + 1.0));
            root.sum() - numpy::log(&(4.0 - y)).sum() + y.square().sum()
        }
        other => panic!("{other} is no function"),
    }
}

fn search(name: &str) -> GradientTransformation {
    let default = ZoomLinesearch {
        initial_guess_strategy: InitialGuess::One,
        ..ZoomLinesearch::default()
    };
    let of = |search: ZoomLinesearch| {
        lbfgs(Lbfgs {
            linesearch: Some(scale_by_zoom_linesearch(search)),
            ..Lbfgs::default()
        })
    };
    let tries = |max_linesearch_steps: i32| ZoomLinesearch {
        max_linesearch_steps,
        ..default
    };
    match name {
        "default" => of(default),
        "short_memory" => lbfgs(Lbfgs {
            memory_size: 2,
            ..Lbfgs::default()
        }),
        "keep" => of(ZoomLinesearch {
            initial_guess_strategy: InitialGuess::Keep,
            ..tries(8)
        }),
        "bounded" => of(ZoomLinesearch {
            max_learning_rate: Some(0.7),
            ..default
        }),
        "sharp" => of(ZoomLinesearch {
            curv_rtol: 0.1,
            ..tries(15)
        }),
        "armijo" => of(ZoomLinesearch {
            approx_dec_rtol: None,
            ..tries(15)
        }),
        "few" => of(ZoomLinesearch {
            curv_rtol: 1e-4,
            ..tries(2)
        }),
        "gradient" => optim::chain([
            optim::sgd(1.0),
            scale_by_zoom_linesearch(ZoomLinesearch {
                initial_guess_strategy: InitialGuess::Keep,
                ..default
            }),
        ]),
        other => panic!("{other} is no search"),
    }
}

/// The number of lengths that the last search has tried.
fn tries(state: &optim::TransformState) -> i32 {
    let tries = optim::tree::get(state, "num_linesearch_steps").and_then(|tries| tries.as_leaf());
    tries.expect("a search").item()
}

/// How many lengths are tried in each step, and where it ends.
#[test]
fn every_step_of_a_search_is_that_of_optax() {
    for line in include_str!("../../data/searches.jsonl").lines() {
        let case = Case::read(line);
        let (name, transform) = (case.str("function"), search(case.str("name")));
        let tree = |value: &Value| -> Params {
            let entries = entries(value).into_iter();
            entries
                .map(|(path, array)| (path.to_owned(), array))
                .collect()
        };
        let f = |p: Params| function(name, &p);
        let mut params = tree(&case.0["params"]);
        let mut state = transform.init(&params);
        for (number, after) in case.0["params_after"]
            .as_array()
            .expect("steps")
            .iter()
            .enumerate()
        {
            let step = |params: Params, state: optim::TransformState| {
                let (value, grad) = value_and_grad_from_state(&f, &params, &state).expect("known");
                let extra = ExtraArgs {
                    value: &value,
                    grad: &grad,
                    value_fn: &f,
                };
                let (updates, state) =
                    transform.update_with_extra_args(&grad, &state, &params, extra);
                (apply_updates(&params, &updates), state)
            };
            let (next, kept) = jit_of(&step, (params, state));
            assert_eq!(
                tries(&kept),
                case.0["tries"][number].as_i64().expect("a count") as i32,
                "{} {number}",
                case.id()
            );
            for (path, got) in &next {
                close(
                    &format!("{} {path} after {number}", case.id()),
                    got,
                    &after[path],
                    2e-3,
                    1e-4,
                );
            }
            (params, state) = (next, kept);
        }
    }
}

#[test]
fn a_search_without_a_function_says_so() {
    let x = Array::zeros([2], DType::F32);
    let transform = search("default");
    let state = transform.init(&x);
    let update = std::panic::AssertUnwindSafe(|| transform.update(&x, &state, &x));
    let panic = std::panic::catch_unwind(update).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a message");
    assert!(text.contains("update_with_extra_args"), "{text}");
}
