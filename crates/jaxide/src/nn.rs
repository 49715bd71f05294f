//! Functions of neural networks, as in `jax.nn`.

use jaxide_core::Scalar;

use crate::array::{Array, Integer};
use crate::numpy::{self, normalize_axis};
use crate::trace::library;
use crate::{custom_jvp, lax};

pub use crate::numpy::one_hot;

/// `max(x, 0)`, whose derivative at 0 is 0.
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::{Array, grad, nn};
/// let slope = grad(|x: Array| nn::relu(&x).sum());
/// assert_eq!(slope(Array::from([-1.0f32, 0.0, 2.0])).to_vec::<f32>(), [0.0, 0.0, 1.0]);
/// ```
#[track_caller]
pub fn relu(x: &Array) -> Array {
    fn relu(x: Array) -> Array {
        library("relu", "", [&x], |[x]| numpy::maximum(x, &Array::from(0)))
    }
    let rectified = custom_jvp(relu, |(x,): (Array,), (tangent,): (Array,)| {
        let y = crate::nn::relu(&x);
        let positive = lax::gt(&x, &Array::from(0));
        let zeros = numpy::full_like(&tangent, 0);
        (y, lax::select(&positive, &tangent, &zeros))
    });
    rectified(x.clone())
}

/// `1 / (1 + e^-x)`.
///
/// # Panics
/// When `x` is not floating-point.
#[track_caller]
pub fn sigmoid(x: &Array) -> Array {
    lax::logistic(x)
}

/// `x sigmoid(x)`.
///
/// # Panics
/// When `x` is not floating-point.
#[track_caller]
pub fn silu(x: &Array) -> Array {
    library("silu", "", [x], |[x]| lax::mul(x, &sigmoid(x)))
}

/// `x` times the distribution function of the normal distribution at `x`, by the approximation with `tanh`.
///
/// # Panics
/// When `x` is not floating-point.
///
/// ```
/// use jaxide::{Array, nn};
/// assert_eq!(nn::gelu(&Array::from([-20.0f32, 0.0, 20.0])).to_vec::<f32>(), [0.0, 0.0, 20.0]);
/// ```
#[track_caller]
pub fn gelu(x: &Array) -> Array {
    // JAX rounds these numbers to the element type before it writes them down.
    let rounded = |value: f64| {
        let bytes = Scalar::Float(value).to_bytes(x.dtype()).ok();
        let exact = bytes.and_then(|bytes| Scalar::from_bytes(x.dtype(), &bytes)?.as_f64());
        Array::from(exact.unwrap_or(value))
    };
    let cubic = x + rounded(0.044715) * lax::integer_pow(x, 3);
    let inner = rounded((2.0 / std::f64::consts::PI).sqrt()) * cubic;
    x * (0.5 * (1.0 + inner.tanh()))
}

/// Exponentials along an axis, divided by their sum.
///
/// # Panics
/// When there is no such axis.
#[track_caller]
pub fn softmax(x: &Array, axis: impl Integer) -> Array {
    let axis = normalize_axis("softmax", axis, x.ndim());
    let exponentials = lax::exp(&below_largest(x, axis));
    let sum = lax::reduce_sum(&exponentials, &[axis]);
    lax::div(&exponentials, &lax::expand_dims(&sum, &[axis]))
}

/// The logarithm of [`softmax`], without overflow.
///
/// # Panics
/// When there is no such axis.
///
/// ```
/// use jaxide::{Array, nn};
/// let p = nn::log_softmax(&Array::from([[1000.0f32, 1000.0]]), -1).exp();
/// assert_eq!(p.to_vec::<f32>(), [0.5, 0.5]);
/// ```
#[track_caller]
pub fn log_softmax(x: &Array, axis: impl Integer) -> Array {
    let axis = normalize_axis("log_softmax", axis, x.ndim());
    library("log_softmax", &axis.to_string(), [x], |[x]| {
        let x = below_largest(x, axis);
        let sum = lax::reduce_sum(&lax::exp(&x), &[axis]);
        lax::sub(&x, &lax::log(&lax::expand_dims(&sum, &[axis])))
    })
}

/// `x` less its largest element along an axis, as a constant for derivatives.
fn below_largest(x: &Array, axis: usize) -> Array {
    let largest = lax::max(
        &Array::from(f64::NEG_INFINITY),
        &lax::reduce_max(x, &[axis]),
    );
    let largest = lax::stop_gradient(&lax::expand_dims(&largest, &[axis]));
    lax::sub(x, &largest)
}
