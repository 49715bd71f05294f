//! Losses, one for each example.

mod sequences;

use jaxide::{Array, nn, numpy};

pub use sequences::{ctc_loss, ctc_loss_with_forward_probs};

/// Half the square of the difference.
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::Array;
/// assert_eq!(losses::l2_loss(&Array::from([3.0f32]), &Array::from([1.0f32])).to_vec::<f32>(), [2.0]);
/// ```
pub fn l2_loss(predictions: &Array, targets: &Array) -> Array {
    0.5 * squared_error(predictions, targets)
}

/// The square of the difference.
pub fn squared_error(predictions: &Array, targets: &Array) -> Array {
    (predictions - targets).square()
}

/// [`l2_loss`] where the difference is at most `delta`, and along a straight line elsewhere.
pub fn huber_loss(predictions: &Array, targets: &Array, delta: f64) -> Array {
    let errors = numpy::abs(&(predictions - targets));
    let quadratic = numpy::minimum(&errors, delta);
    let linear = errors - &quadratic;
    0.5 * quadratic.square() + delta * linear
}

/// How far `targets`, which are -1 or 1, times the scores stay below 1.
pub fn hinge_loss(scores: &Array, targets: &Array) -> Array {
    numpy::maximum(0.0, 1.0 - scores * targets)
}

/// The cross entropy of each element, of which labels between 0 and 1 say how true it is.
pub fn sigmoid_binary_cross_entropy(logits: &Array, labels: &Array) -> Array {
    let (yes, no) = (nn::log_sigmoid(logits), nn::log_sigmoid(&-logits));
    -labels * yes - (1.0 - labels) * no
}

/// The cross entropy of chances along the last axis and labels that are chances too.
pub fn softmax_cross_entropy(logits: &Array, labels: &Array) -> Array {
    -(labels * nn::log_softmax(logits, ())).sum_axes(-1)
}

/// The cross entropy of chances along the last axis and labels that are places on it.
pub fn softmax_cross_entropy_with_integer_labels(logits: &Array, labels: &Array) -> Array {
    let of_label = numpy::take_along_axis(logits, &numpy::expand_dims(labels, -1), -1);
    nn::logsumexp(logits, -1) - of_label.squeeze(-1)
}

/// The divergence of chances from targets along the last axis, both given; predictions by their logarithms.
pub fn kl_divergence(log_predictions: &Array, targets: &Array) -> Array {
    let zero = numpy::equal(targets, 0.0);
    let inside = numpy::where_(&zero, 1.0, targets);
    let terms = targets * (numpy::log(&inside) - log_predictions);
    numpy::where_(zero, 0.0, terms).sum_axes(-1)
}

/// [`kl_divergence`] of targets that are given by their logarithms too.
pub fn kl_divergence_with_log_targets(log_predictions: &Array, log_targets: &Array) -> Array {
    (numpy::exp(log_targets) * (log_targets - log_predictions)).sum_axes(-1)
}

/// The cosine of the angle between vectors along the last axis, whose squares count as at least `epsilon`.
///
/// ```
/// use jaxide_nnx::optim::losses::cosine_similarity;
/// use jaxide::Array;
/// let (x, y) = (Array::from([3.0f32, 4.0]), Array::from([0.0f32, 2.0]));
/// assert!((cosine_similarity(&x, &y, 0.0).item::<f32>() - 0.8).abs() < 1e-6);
/// ```
pub fn cosine_similarity(predictions: &Array, targets: &Array, epsilon: f64) -> Array {
    let unit = |x: &Array| {
        let squares = numpy::sum(&x.square(), numpy::Reduction::new().axis(-1).keepdims(true));
        x / numpy::sqrt(&numpy::maximum(squares, epsilon))
    };
    (unit(predictions) * unit(targets)).sum_axes(-1)
}

/// 1 less [`cosine_similarity`].
pub fn cosine_distance(predictions: &Array, targets: &Array, epsilon: f64) -> Array {
    1.0 - cosine_similarity(predictions, targets, epsilon)
}

/// The logarithm of the hyperbolic cosine of the difference: its square where it is small, and its absolute value where it is large.
pub fn log_cosh(predictions: &Array, targets: &Array) -> Array {
    let errors = predictions - targets;
    numpy::logaddexp(&errors, -&errors) - std::f64::consts::LN_2
}

/// How far `targets`, which are -1 or 1, times the scores stay below 0.
pub fn perceptron_loss(scores: &Array, targets: &Array) -> Array {
    numpy::maximum(0.0, -scores * targets)
}

/// Chances along the last axis of which a part `alpha` is given to all classes alike.
pub fn smooth_labels(labels: &Array, alpha: f64) -> Array {
    let classes = labels.shape().last().copied().unwrap_or(1);
    (1.0 - alpha) * labels + alpha / classes as f64
}

/// How much less than `margin` farther anchors are from negatives than from positives, vectors along the last axis; distances are those of
/// the norm of `degree`, and `eps` is added under roots.
///
/// ```
/// use jaxide_nnx::optim::losses::triplet_margin_loss;
/// use jaxide::Array;
/// let [anchor, near, far] = [[0.0f32, 0.0], [0.0, 1.0], [3.0, 0.0]].map(Array::from);
/// assert_eq!(triplet_margin_loss(&anchor, &near, &far, 2.0, 1.0, 0.0).item::<f32>(), 0.0);
/// assert_eq!(triplet_margin_loss(&anchor, &far, &near, 2.0, 1.0, 0.0).item::<f32>(), 3.0);
/// ```
pub fn triplet_margin_loss(
    anchors: &Array,
    positives: &Array,
    negatives: &Array,
    degree: f64,
    margin: f64,
    eps: f64,
) -> Array {
    let power = |x: &Array, exponent: f64| -> Array {
        if exponent == 2.0 {
            x.square()
        } else {
            numpy::power(x, exponent)
        }
    };
    let distance = |other: &Array| {
        power(
            &(power(&(anchors - other), degree).sum_axes(-1) + eps),
            1.0 / degree,
        )
    };
    numpy::maximum(distance(positives) - distance(negatives) + margin, 0.0)
}
