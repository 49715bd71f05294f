//! Sums of exponentials.

use crate::array::{Array, Axes, Numbers};
use crate::numpy::where_;
use crate::options::options;
use crate::scipy::operands::{constant, inexact};

use crate::{lax, nn, numpy};

options! {
    /// What [`logsumexp`] takes beside its operand.
    pub struct LogSumExp {
        /// Along which axes: all of them by default.
        axis: Option<Numbers> = None, |axis: impl Axes| axis.numbers();
        /// Factors of the exponentials.
        b: Option<Array> = None, |b: impl Into<Array>| Some(b.into());
        /// Whether the axes stay, with length 1.
        keepdims: bool = false;
        /// Which elements count.
        where_: Option<Array> = None, |where_: impl Into<Array>| Some(where_.into());
    }
}

/// Logarithm of the sum of exponentials, without overflow. With factors whose sum is negative it is NaN.
///
/// # Panics
/// When there is no such axis, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special::{self, LogSumExp};
/// let x = [[1000.0f32, 1000.0], [0.0, f32::NEG_INFINITY]];
/// let y = special::logsumexp(x, LogSumExp::new().axis([1]));
/// assert_eq!(y.to_vec::<f32>(), [1000.0 + 2f32.ln(), 0.0]);
/// ```
#[track_caller]
pub fn logsumexp(a: impl Into<Array>, options: impl Into<LogSumExp>) -> Array {
    let _named = crate::trace::named("logsumexp");
    let options = options.into();
    let has_factors = options.b.is_some();
    let (log, sign) = log_and_sign(a.into(), options, false);
    if has_factors && !log.dtype().is_complex() {
        let nan = constant(&log, f64::NAN);
        return where_(&sign.lt(0), nan, log);
    }
    log
}

/// [`logsumexp`] of the absolute value of the sum, and the sign of the sum: `return_sign=True` of JAX.
///
/// # Panics
/// As [`logsumexp`].
///
/// ```
/// use jaxide::scipy::special::{self, LogSumExp};
/// let (log, sign) = special::logsumexp_with_sign([0.0f32, 0.0], LogSumExp::new().b([1.0f32, -2.0]));
/// assert_eq!((log.item::<f32>(), sign.item::<f32>()), (0.0, -1.0));
/// ```
#[track_caller]
pub fn logsumexp_with_sign(a: impl Into<Array>, options: impl Into<LogSumExp>) -> (Array, Array) {
    let _named = crate::trace::named("logsumexp_with_sign");
    log_and_sign(a.into(), options.into(), true)
}

#[track_caller]
fn log_and_sign(a: Array, options: LogSumExp, with_sign: bool) -> (Array, Array) {
    let LogSumExp {
        axis,
        b,
        keepdims,
        where_: counted,
    } = options;
    let a = match &counted {
        Some(counted) => where_(counted, a, 0),
        None => a,
    };
    let (a, b) = match b {
        Some(b) => {
            let [a, b] = inexact("logsumexp", [a, b]);
            (where_(&b.not_equal(0), a, f64::NEG_INFINITY), Some(b))
        }
        None => {
            let [a] = inexact("logsumexp", [a]);
            (a, None)
        }
    };
    let axes: Vec<usize> = match &axis {
        None => (0..a.ndim()).collect(),
        Some(axis) => axis
            .iter()
            .map(|&axis| numpy::normalize_axis("logsumexp", axis, a.ndim()))
            .collect(),
    };
    let real = if a.dtype().is_complex() {
        lax::real(&a)
    } else {
        a.clone()
    };
    let low = f64::NEG_INFINITY;
    let counted_real = match &counted {
        Some(counted) => where_(counted, &real, constant(&real, low)),
        None => real,
    };
    let largest = numpy::maximum(&Array::from(low), &lax::reduce_max(&counted_real, &axes));
    let wide = |x: &Array| {
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        lax::expand_dims(x, &sorted)
    };
    let largest = if keepdims { wide(&largest) } else { largest };
    let finite = numpy::isfinite(&largest);
    let zeros = numpy::full_like(&largest, 0);
    let largest = lax::stop_gradient(&lax::select(&finite, &largest, &zeros));
    let subtracted = if keepdims {
        largest.clone()
    } else {
        wide(&largest)
    };
    let mut terms = lax::exp(&lax::sub(&a, &subtracted.astype(a.dtype())));
    if let Some(b) = &b {
        terms = numpy::multiply(&terms, b);
    }
    let mut summed = numpy::Reduction::new().axis(&axes[..]);
    summed.where_ = counted;
    let sum = numpy::sum(&terms, summed);
    let sum = if keepdims { wide(&sum) } else { sum };
    let sign = lax::sign(&sum);
    let sum = if with_sign || !a.dtype().is_complex() {
        sum.abs()
    } else {
        sum
    };
    let log = lax::add(&lax::log(&sum), &largest.astype(sum.dtype()));
    (log, sign)
}

options! {
    /// What [`softmax`] and [`log_softmax`] take beside their operand.
    pub struct Softmax {
        /// Along which axes: all of them by default.
        axis: Option<Numbers> = None, |axis: impl Axes| axis.numbers();
    }
}

#[track_caller]
fn axes_of(operation: &str, x: &Array, options: Softmax) -> Vec<usize> {
    match options.axis {
        None => (0..x.ndim()).collect(),
        Some(axis) => axis
            .iter()
            .map(|&axis| numpy::normalize_axis(operation, axis, x.ndim()))
            .collect(),
    }
}

/// Exponentials divided by their sum. Unlike [`nn::softmax`](crate::nn::softmax), along all axes by default.
///
/// # Panics
/// When there is no such axis.
///
/// ```
/// use jaxide::scipy::special::{self, Softmax};
/// let p = special::softmax([[0.0f32, 0.0], [0.0, 0.0]], ());
/// assert_eq!(p.to_vec::<f32>(), [0.25; 4]);
/// let p = special::softmax([[0.0f32, 0.0], [0.0, 0.0]], Softmax::new().axis([0]));
/// assert_eq!(p.to_vec::<f32>(), [0.5; 4]);
/// ```
#[track_caller]
pub fn softmax(x: impl Into<Array>, options: impl Into<Softmax>) -> Array {
    let _named = crate::trace::named("softmax");
    let x = x.into();
    let axes = axes_of("softmax", &x, options.into());
    nn::softmax(&x, &axes[..])
}

/// The logarithm of [`softmax`], without overflow.
///
/// # Panics
/// When there is no such axis.
///
/// ```
/// use jaxide::scipy::special;
/// let p = special::log_softmax([1000.0f32, 1000.0], ());
/// assert_eq!(p.to_vec::<f32>(), [-(2f32.ln()); 2]);
/// ```
#[track_caller]
pub fn log_softmax(x: impl Into<Array>, options: impl Into<Softmax>) -> Array {
    let _named = crate::trace::named("log_softmax");
    let x = x.into();
    let axes = axes_of("log_softmax", &x, options.into());
    nn::log_softmax(&x, &axes[..])
}
