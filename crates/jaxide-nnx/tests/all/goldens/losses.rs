//! Losses and their gradients.

use jaxide::{Array, grad_of};
use jaxide_nnx::optim::losses;

use super::case::{Case, array};

fn apply(name: &str, a: &[Array]) -> Array {
    match name {
        "l2_loss" => losses::l2_loss(&a[0], &a[1]),
        "squared_error" => losses::squared_error(&a[0], &a[1]),
        "huber_loss" => losses::huber_loss(&a[0], &a[1], 0.7),
        "log_cosh" => losses::log_cosh(&a[0], &a[1]),
        "hinge_loss" => losses::hinge_loss(&a[0], &a[1]),
        "perceptron_loss" => losses::perceptron_loss(&a[0], &a[1]),
        "sigmoid_binary_cross_entropy" => losses::sigmoid_binary_cross_entropy(&a[0], &a[1]),
        "softmax_cross_entropy" => losses::softmax_cross_entropy(&a[0], &a[1]),
        "softmax_cross_entropy_with_integer_labels" => {
            losses::softmax_cross_entropy_with_integer_labels(&a[0], &a[1])
        }
        "kl_divergence" => losses::kl_divergence(&a[0], &a[1]),
        "kl_divergence_with_log_targets" => losses::kl_divergence_with_log_targets(&a[0], &a[1]),
        "cosine_similarity" => losses::cosine_similarity(&a[0], &a[1], 1e-3),
        "cosine_distance" => losses::cosine_distance(&a[0], &a[1], 0.0),
        "smooth_labels" => losses::smooth_labels(&a[0], 0.1),
        "triplet_margin_loss" => losses::triplet_margin_loss(&a[0], &a[1], &a[2], 2.0, 1.0, 1e-6),
        "triplet_margin_loss_4" => losses::triplet_margin_loss(&a[0], &a[1], &a[2], 4.0, 0.5, 1e-6),
        "ctc_loss" => losses::ctc_loss(&a[0], &a[1], &a[2], &a[3], 0),
        "ctc_loss_blank_1" => losses::ctc_loss(&a[0], &a[1], &a[2], &a[3], 1),
        other => panic!("{other} is no loss"),
    }
}

/// Values, and gradients of weighted sums by the first argument.
#[test]
fn losses_and_gradients_are_those_of_optax() {
    for (number, line) in include_str!("../../data/losses.jsonl").lines().enumerate() {
        let case = Case::read(line);
        let what = |part: &str| format!("{} {number}: {part}", case.id());
        let args: Vec<Array> = case.0["args"]
            .as_array()
            .expect("arguments")
            .iter()
            .map(array)
            .collect();
        let f = |first: Array| apply(case.str("name"), &[&[first], &args[1..]].concat());
        case.close(&what("value"), &f(args[0].clone()), &case.0["output"]);
        let weights = array(&case.0["weights"]);
        let gradient = grad_of(&|first: Array| (&weights * f(first)).sum(), args[0].clone());
        case.close(&what("gradient"), &gradient, &case.0["gradient"]);
    }
}
