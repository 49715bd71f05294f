//! Small whole programs.

use jaxide::{Array, nn};
use jaxide_nnx::{
    self as nnx, BatchNorm, BatchStat, Dropout, Filter, Intermediate, Linear, List, Module,
    Optimizer, Param, Perturbation, RngState, Rngs, Variable, optim,
};
use serde_json::Value;

use super::case::{Case, array, close_state};

#[derive(Clone, Module)]
struct Block {
    linear: Linear,
    bn: BatchNorm,
    dropout: Dropout,
    y_mean: Variable<Intermediate>,
}

#[derive(Clone, Module)]
struct Model {
    blocks: List<Block>,
}

impl Model {
    fn new(layers: usize, dim: usize, rngs: &Rngs) -> Self {
        let block = |_| Block {
            linear: Linear::new(dim, dim, rngs, ()),
            bn: BatchNorm::new(dim, rngs, ()),
            dropout: Dropout::new(0.1, rngs, ()),
            y_mean: Variable::absent(),
        };
        Model {
            blocks: (0..layers).map(block).collect(),
        }
    }

    fn call(&self, x: &Array) -> Array {
        self.blocks.iter().fold(x.clone(), |x, block| {
            let y = nn::relu(&block.dropout.call(&block.bn.call(&block.linear.call(&x))));
            block.y_mean.sow(&y.mean());
            y
        })
    }
}

fn paths(state: &nnx::State) -> Value {
    serde_json::json!(state.paths().map(ToString::to_string).collect::<Vec<_>>())
}

/// Values are noted, at once and in a compiled function.
pub(super) fn sow(case: &Case) {
    for compiled in [false, true] {
        let rngs = Rngs::new(case.int("rngs_seed"));
        let model = Model::new(
            case.int("num_layers") as usize,
            case.int("dim") as usize,
            &rngs,
        );
        for (kind, expected) in case.0["paths"].as_object().expect("paths") {
            let state = match kind.as_str() {
                "Param" => nnx::state(&model, Param),
                "BatchStat" => nnx::state(&model, BatchStat),
                "RngState" => nnx::state(&model, RngState),
                other => panic!("{other} is no kind"),
            };
            assert_eq!(paths(&state.expect("it has a state")), *expected, "{kind}");
        }
        let x = array(&case.0["input"]);
        let output = if compiled {
            nnx::jit(|model: Model, x: Array| model.call(&x))(model.clone(), x)
        } else {
            model.call(&x)
        };
        case.close("output", &output, &case.0["output"]);
        for (path, expected) in case.0["rng_counts_after"].as_object().expect("counts") {
            let state = nnx::state(&model, RngState).expect("it has a state");
            case.close(
                path,
                &state.array(path.as_str()).expect("a count"),
                expected,
            );
        }
        let noted = nnx::pop(&model, Intermediate).expect("it can be taken out");
        let expected = case.0["intermediates"].as_object().expect("values");
        assert_eq!(noted.len(), expected.len());
        for (path, values) in expected {
            let got = noted
                .get(path.as_str())
                .expect("it is noted")
                .arrays()
                .to_vec();
            let values = values.as_array().expect("values");
            assert_eq!(got.len(), values.len(), "{path}");
            for (got, value) in got.iter().zip(values) {
                let (got, value) = (
                    f64::from(got.item::<f32>()),
                    value.as_f64().expect("a number"),
                );
                let (rtol, atol) = (
                    case.0["rtol"].as_f64().unwrap_or(0.0),
                    case.0["atol"].as_f64().unwrap_or(0.0),
                );
                assert!(
                    (got - value).abs() <= atol + rtol * value.abs(),
                    "{path}: {got} instead of {value}"
                );
            }
        }
        assert_eq!(
            without_numbers(&noted.to_string()),
            without_numbers(case.str("printed"))
        );
        let left = nnx::state(&model, Intermediate).expect("it has a state");
        assert_eq!(left.len() as i64, case.int("left_after_pop"));
    }
}

/// The text with each number of an array as `_`: the last digits are rounding.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split("Array(");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.find(',').map_or(part, |comma| &part[comma..]);
        result += "Array(_";
        result += rest;
    }
    result
}

#[derive(Clone, Module)]
struct Perturbed {
    linear1: Linear,
    linear2: Linear,
    xgrad: Variable<Perturbation>,
}

impl Perturbed {
    fn call(&self, x: &Array) -> Array {
        self.linear2
            .call(&self.xgrad.perturb(&nn::gelu(&self.linear1.call(x), ())))
    }
}

/// Gradients of values on the way, in a compiled training step.
pub(super) fn perturb(case: &Case) {
    let rngs = Rngs::new(case.int("rngs_seed"));
    let model = Perturbed {
        linear1: Linear::new(2, 3, &rngs, ()),
        linear2: Linear::new(3, 4, &rngs, ()),
        xgrad: Variable::absent(),
    };
    let state = |filter: Filter| nnx::state(&model, filter).expect("it has a state");
    close_state(case, "parameter", &state(Param.into()), &case.0["params"]);
    let (x, y) = (array(&case.0["x"]), array(&case.0["y"]));
    model.call(&x);
    close_state(
        case,
        "perturbation",
        &state(Perturbation.into()),
        &case.0["perturbation_before"],
    );
    assert_eq!(
        state(Perturbation.into()).to_string(),
        case.str("printed_perturbation")
    );
    let transform = match case.str("optimizer") {
        "sgd(0.1)" => optim::sgd(0.1),
        "adam(0.01)" => optim::adam(0.01),
        other => panic!("{other} is no optimiser"),
    };
    let optimizer = Optimizer::new(&model, transform, Param).expect("it has parameters");
    let step = nnx::jit(
        |model: Perturbed, optimizer: Optimizer, x: Array, y: Array| {
            let loss = move |model: Perturbed, x: Array| (model.call(&x) - &y).square().mean();
            let (value, both) =
                nnx::value_and_grad(loss).wrt(Filter::any((Param, Perturbation)))(model.clone(), x);
            let (gradient, inner) = both
                .split((Param, Perturbation))
                .expect("both are selected");
            optimizer.update(&model, &gradient);
            (value, gradient, inner)
        },
    );
    for expected in case.0["steps"].as_array().expect("steps") {
        let (value, gradient, inner) = step(model.clone(), optimizer.clone(), x.clone(), y.clone());
        let recorded = expected["loss"].as_f64().expect("a number");
        let value = f64::from(value.item::<f32>());
        assert!(
            (value - recorded).abs() <= 5e-5 * recorded,
            "the loss is {value} instead of {recorded}"
        );
        close_state(case, "gradient", &gradient, &expected["param_grads"]);
        case.close(
            "inner gradient",
            &inner.array("xgrad").expect("it is there"),
            &expected["xgrad"],
        );
        close_state(
            case,
            "parameter",
            &state(Param.into()),
            &expected["params_after"],
        );
    }
    assert_eq!(
        i64::from(optimizer.step.get().item::<u32>()),
        case.int("optimizer_step_count")
    );
}

#[derive(Clone, Module)]
struct Regression {
    l1: Linear,
    l2: Linear,
}

/// A model that learns a function.
pub(super) fn train(case: &Case) {
    let rngs = Rngs::new(case.int("rngs_seed"));
    let model = Regression {
        l1: Linear::new(1, 8, &rngs, ()),
        l2: Linear::new(8, 1, &rngs, ()),
    };
    close_state(
        case,
        "parameter",
        &nnx::state(&model, Param).expect("it has a state"),
        &case.0["params"],
    );
    let optimizer = Optimizer::new(&model, optim::adam(0.01), Param).expect("it has parameters");
    let step = nnx::jit(
        |model: Regression, optimizer: Optimizer, x: Array, y: Array| {
            let loss = |model: Regression, x: Array| {
                (model.l2.call(&nn::relu(&model.l1.call(&x))) - &y)
                    .square()
                    .mean()
            };
            let (value, gradient) = nnx::value_and_grad_of(&loss, (model.clone(), x));
            optimizer.update(&model, &gradient);
            value
        },
    );
    let (x, y) = (array(&case.0["inputs"]), array(&case.0["targets"]));
    for recorded in case.0["losses"].as_array().expect("losses") {
        let value =
            f64::from(step(model.clone(), optimizer.clone(), x.clone(), y.clone()).item::<f32>());
        let recorded = recorded.as_f64().expect("a number");
        assert!(
            (value - recorded).abs() <= 1e-4 + 2e-3 * recorded,
            "the loss is {value} instead of {recorded}"
        );
    }
    close_state(
        case,
        "parameter",
        &nnx::state(&model, Param).expect("it has a state"),
        &case.0["params_after"],
    );
}
