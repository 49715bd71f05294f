//! Losses of chances.

use jaxide::{Array, nn, numpy};

use super::Along;

/// How far `targets`, which are -1 or 1, times the scores stay below 1.
pub fn hinge_loss(scores: &Array, targets: &Array) -> Array {
    numpy::maximum(0.0, 1.0 - scores * targets)
}

/// How far `targets`, which are -1 or 1, times the scores stay below 0.
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::Array;
/// let loss = losses::perceptron_loss(&Array::from([2.0f32, -3.0]), &Array::from([1.0f32, 1.0]));
/// assert_eq!(loss.to_vec::<f32>(), [0.0, 3.0]);
/// ```
pub fn perceptron_loss(scores: &Array, targets: &Array) -> Array {
    numpy::maximum(0.0, -(scores * targets))
}

/// The cross entropy of each element, of which labels between 0 and 1 say how true it is.
pub fn sigmoid_binary_cross_entropy(logits: &Array, labels: &Array) -> Array {
    let labels = labels.astype(logits.dtype());
    let (yes, no) = (nn::log_sigmoid(logits), nn::log_sigmoid(&-logits));
    -&labels * yes - (1.0 - labels) * no
}

/// The cross entropy of chances and labels that are chances too.
#[track_caller]
pub fn softmax_cross_entropy(logits: &Array, labels: &Array, along: impl Into<Along>) -> Array {
    let along = along.into().beside("softmax_cross_entropy", logits);
    -along.sum(&(labels * nn::log_softmax(logits, along.softmax())), false)
}

/// [`softmax_cross_entropy`] along the last axis, which is finite where a logit is minus infinity and its label 0.
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::Array;
/// let (logits, labels) = (Array::from([0.0f32, 0.0, f32::NEG_INFINITY]), Array::from([1.0f32, 0.0, 0.0]));
/// assert_eq!(losses::safe_softmax_cross_entropy(&logits, &labels).item::<f32>(), 2f32.ln());
/// ```
pub fn safe_softmax_cross_entropy(logits: &Array, labels: &Array) -> Array {
    fn weighted(logs: &Array, labels: &Array) -> Array {
        numpy::where_(numpy::equal(labels, 0.0), 0.0, labels * logs)
    }
    let terms = jaxide::custom_jvp(
        |logits: Array, labels: Array| weighted(&nn::log_softmax(&logits, ()), &labels),
        |(logits, labels): (Array, Array), (t, of_labels): (Array, Array)| {
            let logs = nn::log_softmax(&logits, ());
            let last = numpy::Reduction::new().axis(-1).keepdims(true);
            let mean = numpy::sum(&(&t * nn::softmax(&logits, ())), last);
            let tangent = &labels * t - &labels * mean + of_labels * &logs;
            (weighted(&logs, &labels), tangent)
        },
    );
    -terms(logits.clone(), labels.clone()).sum_axes(-1)
}

/// [`sigmoid_binary_cross_entropy`] that weighs what is known little: times the chance of being wrong to the power `gamma`, and
/// with `alpha`, times that for what is true and the rest for what is not (Lin et al., 2017).
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::Array;
/// let loss = losses::sigmoid_focal_loss(&Array::from([0.0f32]), &Array::from([1.0f32]), 0.25, 2.0);
/// assert!((loss.to_vec::<f32>()[0] - 0.25 * 0.25 * 2f32.ln()).abs() < 1e-6);
/// ```
pub fn sigmoid_focal_loss(
    logits: &Array,
    labels: &Array,
    alpha: impl Into<Option<f64>>,
    gamma: f64,
) -> Array {
    let labels = &labels.astype(logits.dtype());
    let (yes, no) = (nn::log_sigmoid(logits), nn::log_sigmoid(&-logits));
    let not: Array = 1.0 - labels;
    let weights = numpy::stack(&[not.clone(), labels.clone()], -1);
    let wrong = nn::LogSumExp::new().axis(-1).b(weights);
    let wrong = nn::logsumexp(&numpy::stack(&[yes, no], -1), wrong);
    let loss = sigmoid_binary_cross_entropy(logits, labels) * numpy::exp(&(gamma * wrong));
    match alpha.into() {
        Some(alpha) => (alpha * labels + (1.0 - alpha) * not) * loss,
        None => loss,
    }
}

/// The score of a label, which is a place along the last axis.
fn score_of(scores: &Array, labels: &Array) -> Array {
    let classes = scores.shape().last().copied().unwrap_or(0);
    (scores * nn::one_hot(labels, classes, ()).astype(scores.dtype())).sum_axes(-1)
}

/// How far the score of the label is from being larger by 1 than all others, which stand along the last axis.
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::Array;
/// let loss = losses::multiclass_hinge_loss(&Array::from([[2.0f32, 1.5]]), &Array::from([0]));
/// assert_eq!(loss.to_vec::<f32>(), [0.5]);
/// ```
pub fn multiclass_hinge_loss(scores: &Array, labels: &Array) -> Array {
    let classes = scores.shape().last().copied().unwrap_or(0);
    let margins = scores + 1.0 - nn::one_hot(labels, classes, ()).astype(scores.dtype());
    numpy::max(&margins, -1) - score_of(scores, labels)
}

/// How far the score of the label is from being the largest along the last axis.
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::Array;
/// let loss = losses::multiclass_perceptron_loss(&Array::from([[2.0f32, 3.5]]), &Array::from([0]));
/// assert_eq!(loss.to_vec::<f32>(), [1.5]);
/// ```
pub fn multiclass_perceptron_loss(scores: &Array, labels: &Array) -> Array {
    numpy::max(scores, -1) - score_of(scores, labels)
}

/// The axes of classes behind the others, as one.
fn classes_last(x: &Array, axes: &[usize]) -> Array {
    let others = (0..x.ndim()).filter(|axis| !axes.contains(axis));
    let order: Vec<i64> = others
        .chain(axes.iter().copied())
        .map(|axis| axis as i64)
        .collect();
    let moved = numpy::transpose(x, &order[..]);
    let mut lengths: Vec<i64> = x.shape().iter().map(|&length| length as i64).collect();
    lengths = order.iter().map(|&axis| lengths[axis as usize]).collect();
    lengths.truncate(x.ndim() - axes.len());
    lengths.push(-1);
    moved.reshape(&lengths[..])
}

/// The cross entropy of chances and labels that are places along their axis; of several axes, places in all of them.
#[track_caller]
pub fn softmax_cross_entropy_with_integer_labels(
    logits: &Array,
    labels: &Array,
    along: impl Into<Along>,
) -> Array {
    let operation = "softmax_cross_entropy_with_integer_labels";
    let along = along.into().beside(operation, logits);
    let axes = jaxide::Axes::axes(&&along.axis[..], operation, logits.ndim());
    let condition = along.where_.as_ref();
    let condition = condition.map(|c| classes_last(&c.broadcast_to(logits.shape()), &axes));
    let logits = &classes_last(logits, &axes);
    let of_label = numpy::take_along_axis(logits, &numpy::expand_dims(labels, -1), -1).squeeze(-1);
    let last = nn::LogSumExp::new().axis(-1);
    match condition {
        Some(condition) => {
            let loss = nn::logsumexp(logits, last.where_(&condition)) - of_label;
            numpy::where_(numpy::any(&condition, -1), loss, 0.0)
        }
        None => nn::logsumexp(logits, last) - of_label,
    }
}

/// [`softmax_cross_entropy`] and `epsilon` times the chances of what is not true (Leng et al., 2022).
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::Array;
/// let (logits, labels) = (Array::from([0.0f32, 0.0]), Array::from([1.0f32, 0.0]));
/// let loss = losses::poly_loss_cross_entropy(&logits, &labels, 2.0, ());
/// assert!((loss.item::<f32>() - (2f32.ln() + 1.0)).abs() < 1e-6);
/// ```
pub fn poly_loss_cross_entropy(
    logits: &Array,
    labels: &Array,
    epsilon: f64,
    along: impl Into<Along>,
) -> Array {
    let along = along.into();
    let wrong: Array = 1.0 - nn::softmax(logits, along.softmax());
    let wrong = along.sum(&(labels * wrong), false);
    softmax_cross_entropy(logits, labels, along) + epsilon * wrong
}

/// The divergence of chances from targets, both given; predictions by their logarithms.
pub fn kl_divergence(log_predictions: &Array, targets: &Array, along: impl Into<Along>) -> Array {
    let zero = numpy::equal(targets, 0.0);
    let inside = numpy::where_(&zero, 1.0, targets);
    let terms = targets * (numpy::log(&inside) - log_predictions);
    along.into().sum(&terms, false)
}

/// [`kl_divergence`] of targets that are given by their logarithms too.
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::{Array, numpy};
/// let (log_p, q) = (numpy::log(&Array::from([0.5f32, 0.5])), Array::from([0.25f32, 0.75]));
/// let (one, other) = (losses::kl_divergence(&log_p, &q, ()), losses::kl_divergence_with_log_targets(&log_p, &numpy::log(&q), ()));
/// assert!((one.item::<f32>() - other.item::<f32>()).abs() < 1e-6);
/// ```
pub fn kl_divergence_with_log_targets(
    log_predictions: &Array,
    log_targets: &Array,
    along: impl Into<Along>,
) -> Array {
    let terms = numpy::exp(log_targets) * (log_targets - log_predictions);
    along.into().sum(&terms, false)
}

/// [`kl_divergence`] of what need not sum to 1: with the difference of the sums.
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::{Array, numpy};
/// let (p, q) = (Array::from([2.0f32, 1.0]), Array::from([1.0f32, 1.0]));
/// let loss = losses::generalized_kl_divergence(&numpy::log(&p), &q, ());
/// assert!((loss.item::<f32>() - (1.0 - 2f32.ln())).abs() < 1e-6);
/// ```
pub fn generalized_kl_divergence(
    log_predictions: &Array,
    targets: &Array,
    along: impl Into<Along>,
) -> Array {
    let along = along.into();
    let more = along.sum(&(numpy::exp(log_predictions) - targets), false);
    kl_divergence(log_predictions, targets, along) + more
}

/// Labels that are chances, of which a part `alpha` is shared out among all classes.
///
/// ```
/// use jaxide_nnx::optim::losses;
/// let labels = jaxide::Array::from([1.0f32, 0.0]);
/// assert_eq!(losses::smooth_labels(&labels, 0.5, ()).to_vec::<f32>(), [0.75, 0.25]);
/// ```
pub fn smooth_labels(labels: &Array, alpha: f64, along: impl Into<Along>) -> Array {
    let along = along.into();
    let classes = match &along.where_ {
        Some(condition) => {
            let counted = Along {
                where_: None,
                ..along.clone()
            };
            counted.sum(&condition.astype(labels.dtype()), true)
        }
        None => {
            let axes = jaxide::Axes::axes(&&along.axis[..], "smooth_labels", labels.ndim());
            let count: usize = axes.iter().map(|&axis| labels.shape()[axis]).product();
            Array::from(count as f64)
        }
    };
    (1.0 - alpha) * labels + alpha / classes
}
