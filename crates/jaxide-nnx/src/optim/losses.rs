//! Losses, one for each example.

use jaxide::{Array, nn, numpy};

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

/// The cosine of the angle between vectors along the last axis, whose lengths are at least `epsilon`.
pub fn cosine_similarity(predictions: &Array, targets: &Array, epsilon: f64) -> Array {
    let unit = |x: &Array| {
        let squares = numpy::sum(&x.square(), numpy::Reduction::new().axis(-1).keepdims(true));
        let norm = numpy::sqrt(&numpy::where_(numpy::equal(&squares, 0.0), 1.0, &squares));
        let norm = numpy::where_(numpy::equal(squares, 0.0), 0.0, norm);
        x / numpy::maximum(norm, epsilon)
    };
    (unit(predictions) * unit(targets)).sum_axes(-1)
}

/// 1 less [`cosine_similarity`].
pub fn cosine_distance(predictions: &Array, targets: &Array, epsilon: f64) -> Array {
    1.0 - cosine_similarity(predictions, targets, epsilon)
}
