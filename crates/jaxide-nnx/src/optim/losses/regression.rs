//! Losses of numbers and vectors.

use jaxide::{Array, Error, lax, numpy, raise};

use super::Along;

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
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::Array;
/// let loss = losses::huber_loss(&Array::from([1.0f32, 3.0]), &Array::from([0.0f32, 0.0]), 1.0);
/// assert_eq!(loss.to_vec::<f32>(), [0.5, 2.5]);
/// ```
pub fn huber_loss(predictions: &Array, targets: &Array, delta: f64) -> Array {
    let errors = numpy::abs(&(predictions - targets));
    let quadratic = numpy::minimum(&errors, delta);
    let linear = errors - &quadratic;
    0.5 * quadratic.square() + delta * linear
}

/// The logarithm of the hyperbolic cosine of the difference: near 0 as [`l2_loss`], and along straight lines far from it.
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::Array;
/// let loss = losses::log_cosh(&Array::from([0.0f32]), &Array::from([200.0f32]));
/// assert!((loss.item::<f32>() - (200.0 - 2f32.ln())).abs() < 1e-4);
/// ```
pub fn log_cosh(predictions: &Array, targets: &Array) -> Array {
    let errors = predictions - targets;
    numpy::logaddexp(&errors, &-&errors) - std::f64::consts::LN_2
}

/// The cosine of the angle between vectors, the squares of whose lengths count as at least `epsilon`.
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::Array;
/// let (x, y) = (Array::from([3.0f32, 4.0]), Array::from([4.0f32, 3.0]));
/// assert!((losses::cosine_similarity(&x, &y, 0.0, ()).item::<f32>() - 0.96).abs() < 1e-6);
/// ```
pub fn cosine_similarity(
    predictions: &Array,
    targets: &Array,
    epsilon: f64,
    along: impl Into<Along>,
) -> Array {
    let along = along.into();
    let unit = |x: &Array| {
        let squares = along.sum(&x.square(), true);
        x / numpy::sqrt(&numpy::maximum(squares, epsilon))
    };
    along.sum(&(unit(predictions) * unit(targets)), false)
}

/// 1 less [`cosine_similarity`].
pub fn cosine_distance(
    predictions: &Array,
    targets: &Array,
    epsilon: f64,
    along: impl Into<Along>,
) -> Array {
    1.0 - cosine_similarity(predictions, targets, epsilon, along)
}

/// What [`triplet_margin_loss`] takes.
#[derive(Clone, Copy, Debug)]
pub struct TripletMargin {
    /// The axis of vectors.
    pub axis: i64,
    /// Of which powers distances are made.
    pub norm_degree: f64,
    /// By how much negatives have to be farther.
    pub margin: f64,
    /// What is added to sums of powers.
    pub eps: f64,
}

impl Default for TripletMargin {
    fn default() -> Self {
        TripletMargin {
            axis: -1,
            norm_degree: 2.0,
            margin: 1.0,
            eps: 1e-6,
        }
    }
}

/// How far anchors are from what is like them, less how far they are from what is not, and a margin (Schroff et al., 2015).
///
/// ```
/// use jaxide_nnx::optim::losses::{TripletMargin, triplet_margin_loss};
/// use jaxide::Array;
/// let (anchor, near, far) = (Array::from([0.0f32]), Array::from([1.0f32]), Array::from([1.5f32]));
/// let loss = triplet_margin_loss(&anchor, &near, &far, TripletMargin::default());
/// assert!((loss.item::<f32>() - 0.5).abs() < 1e-5);
/// ```
pub fn triplet_margin_loss(
    anchors: &Array,
    positives: &Array,
    negatives: &Array,
    o: TripletMargin,
) -> Array {
    let power = |x: &Array, exponent: f64| -> Array {
        // A power with an integer exponent has a gradient at negative numbers.
        match exponent.fract() {
            0.0 => numpy::power(x, exponent as i64),
            _ => numpy::power(x, exponent),
        }
    };
    let distance = |others: &Array| {
        let sums = power(&(anchors - others), o.norm_degree).sum_axes(o.axis);
        power(&(sums + o.eps), 1.0 / o.norm_degree)
    };
    numpy::maximum(distance(positives) - distance(negatives) + o.margin, 0.0)
}

/// The normalised cross entropy, scaled by a temperature, of finding those with the same label by the directions of their embeddings
/// `[batch, features]` (Chen et al., 2020): one number.
///
/// ```
/// use jaxide_nnx::optim::losses;
/// use jaxide::Array;
/// let embeddings = Array::from([[1.0f32, 0.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]]);
/// let [right, wrong] = [[0, 0, 1, 1], [0, 1, 0, 1]].map(|labels| losses::ntxent(&embeddings, &Array::from(labels), 0.5));
/// assert!(right.item::<f32>() < wrong.item::<f32>());
/// ```
///
/// # Panics
/// When there are not as many labels as embeddings.
#[track_caller]
pub fn ntxent(embeddings: &Array, labels: &Array, temperature: f64) -> Array {
    let (&[batch, _], &[count]) = (embeddings.shape(), labels.shape()) else {
        raise(
            Error::shape(format!(
                "the embeddings are {} and the labels {}: [batch, features] and [batch] are needed",
                embeddings.aval(),
                labels.aval()
            ))
            .in_operation("ntxent"),
        );
    };
    if batch != count {
        raise(
            Error::shape(format!("there are {batch} embeddings and {count} labels"))
                .in_operation("ntxent"),
        );
    }
    let eps = numpy::finfo(embeddings.dtype()).eps;
    let [rows, columns] = [0, 1].map(|axis| numpy::expand_dims(embeddings, axis));
    let similar = cosine_similarity(&rows, &columns, eps, ()) / temperature;
    let [rows, columns] = [0, 1].map(|axis| numpy::expand_dims(labels, axis));
    let same = numpy::equal(rows, columns);
    let itself = numpy::eye(batch, ()).astype(jaxide::DType::Bool);
    let matches = numpy::logical_and(&same, numpy::logical_not(&itself));
    let of = |chosen: &Array| numpy::where_(chosen, &similar, f64::NEG_INFINITY);
    let (of_others, of_matches) = (of(&numpy::logical_not(&same)), of(&matches));
    let last = || numpy::Reduction::new().axis(1).keepdims(true);
    let most = numpy::maximum(
        numpy::max(&of_others, last()),
        numpy::max(&of_matches, last()),
    );
    let most = lax::stop_gradient(&most);
    let others = numpy::sum(&numpy::exp(&(of_others - &most)), last());
    let shifted = of_matches - most;
    let log_chances = &shifted - numpy::log(&(others + numpy::exp(&shifted)));
    let count = matches.astype(jaxide::DType::I32).sum();
    -numpy::where_(&matches, log_chances, 0.0).sum() / count
}
