//! Losses and their gradients: `tests/data/losses.jsonl`.

use jaxide::{Array, DType, grad_of};
use jaxide_nnx::optim::losses::{self, Along, Ctc, TripletMargin};
use serde_json::Value;

use super::case::{Case, array};

fn along(options: &Value) -> Along {
    let axes = options["axis"].as_array().expect("axes");
    let axes: Vec<i64> = axes.iter().filter_map(Value::as_i64).collect();
    let along = Along::new().axis(&axes[..]);
    match &options["where"] {
        Value::Null => along,
        condition => along.where_(array(condition).astype(DType::Bool)),
    }
}

fn ctc(options: &Value) -> Ctc {
    Ctc {
        blank_id: options["blank_id"].as_u64().expect("a class") as usize,
        log_epsilon: options["log_epsilon"].as_f64().expect("a number"),
    }
}

fn loss(name: &str, x: &[Array], options: &Value) -> Array {
    let number = |key: &str, default: f64| options[key].as_f64().unwrap_or(default);
    let epsilon = number("epsilon", 0.0);
    let probs = || losses::ctc_loss_with_forward_probs(&x[0], &x[1], &x[2], &x[3], ctc(options));
    match name {
        "squared_error" => losses::squared_error(&x[0], &x[1]),
        "l2_loss" => losses::l2_loss(&x[0], &x[1]),
        "log_cosh" => losses::log_cosh(&x[0], &x[1]),
        "huber_loss" => losses::huber_loss(&x[0], &x[1], number("delta", 1.0)),
        "hinge_loss" => losses::hinge_loss(&x[0], &x[1]),
        "perceptron_loss" => losses::perceptron_loss(&x[0], &x[1]),
        "sigmoid_binary_cross_entropy" => losses::sigmoid_binary_cross_entropy(&x[0], &x[1]),
        "softmax_cross_entropy" => losses::softmax_cross_entropy(&x[0], &x[1], along(options)),
        "softmax_cross_entropy_with_integer_labels" => {
            losses::softmax_cross_entropy_with_integer_labels(&x[0], &x[1], along(options))
        }
        "kl_divergence" => losses::kl_divergence(&x[0], &x[1], along(options)),
        "kl_divergence_with_log_targets" => {
            losses::kl_divergence_with_log_targets(&x[0], &x[1], along(options))
        }
        "smooth_labels" => losses::smooth_labels(&x[0], number("alpha", 0.0), along(options)),
        "poly_loss_cross_entropy" => {
            losses::poly_loss_cross_entropy(&x[0], &x[1], epsilon, along(options))
        }
        "cosine_similarity" => losses::cosine_similarity(&x[0], &x[1], epsilon, along(options)),
        "cosine_distance" => losses::cosine_distance(&x[0], &x[1], epsilon, along(options)),
        "safe_softmax_cross_entropy" => losses::safe_softmax_cross_entropy(&x[0], &x[1]),
        "multiclass_hinge_loss" => losses::multiclass_hinge_loss(&x[0], &x[1]),
        "multiclass_perceptron_loss" => losses::multiclass_perceptron_loss(&x[0], &x[1]),
        "sigmoid_focal_loss" => {
            let alpha = options["alpha"].as_f64();
            losses::sigmoid_focal_loss(&x[0], &x[1], alpha, number("gamma", 2.0))
        }
        "generalized_kl_divergence" => {
            losses::generalized_kl_divergence(&x[0], &x[1], along(options))
        }
        "ntxent" => losses::ntxent(&x[0], &x[1], number("temperature", 0.07)),
        "triplet_margin_loss" => {
            let default = TripletMargin::default();
            let options = TripletMargin {
                axis: options["axis"].as_i64().unwrap_or(default.axis),
                norm_degree: number("norm_degree", default.norm_degree),
                margin: number("margin", default.margin),
                eps: number("eps", default.eps),
            };
            losses::triplet_margin_loss(&x[0], &x[1], &x[2], options)
        }
        "ctc_loss" => losses::ctc_loss(&x[0], &x[1], &x[2], &x[3], ctc(options)),
        "ctc_phi" => probs().1,
        "ctc_emit" => probs().2,
        other => panic!("{other} is no loss"),
    }
}

fn look_at(case: &Case) {
    let inputs = case.0["inputs"].as_array().expect("arrays");
    let inputs: Vec<Array> = inputs.iter().map(array).collect();
    let (name, options) = (case.str("name"), &case.0["options"]);
    case.close("loss", &loss(name, &inputs, options), &case.0["output"]);
    let weights = array(&case.0["weights"]);
    for gradient in case.0["grads"].as_array().expect("gradients") {
        let place = gradient[0].as_u64().expect("a place") as usize;
        let of = |x: Array| {
            let mut inputs = inputs.clone();
            inputs[place] = x;
            (loss(name, &inputs, options) * &weights).sum()
        };
        let got = grad_of(&of, inputs[place].clone());
        case.close(&format!("gradient by {place}"), &got, &gradient[1]);
    }
}

#[test]
fn values_and_gradients() {
    super::look_at_all(include_str!("../../data/losses.jsonl"), look_at);
}
