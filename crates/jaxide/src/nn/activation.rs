//! Activations that are differentiated as they are written.

use jaxide_core::{DType, Error, prims};

use super::{relu6, softplus};
use crate::array::{Array, Integer, normalize_axis};
use crate::numpy::nested::rounded;
use crate::options::options;
use crate::trace::{bind_one, library, raise};
use crate::{lax, numpy};

/// `x` as floats or complex numbers.
#[track_caller]
fn inexact(operation: &str, x: &Array) -> Array {
    let [x] = numpy::promote_inexact(operation, [x]);
    x
}

/// `x` itself.
///
/// # Panics
/// Never.
#[track_caller]
pub fn identity(x: &Array) -> Array {
    let _named = crate::trace::named("identity");
    library("identity", "", [x], |[x]| x.clone())
}

/// `1 / (1 + e^-x)`.
///
/// # Panics
/// When `x` is not floating-point.
#[track_caller]
pub fn sigmoid(x: &Array) -> Array {
    let _named = crate::trace::named("sigmoid");
    lax::logistic(x)
}

/// `x sigmoid(x)`.
///
/// # Panics
/// When `x` is not floating-point.
#[track_caller]
pub fn silu(x: &Array) -> Array {
    let _named = crate::trace::named("silu");
    library("silu", "", [x], |[x]| lax::mul(x, &sigmoid(x)))
}

/// [`silu`] under its other name.
///
/// # Panics
/// When `x` is not floating-point.
#[track_caller]
pub fn swish(x: &Array) -> Array {
    let _named = crate::trace::named("swish");
    silu(x)
}

/// Activations of one operand: each a function by name.
macro_rules! activations {
    ($($(#[$doc:meta])* $name:ident |$x:ident| $body:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// Of integers a float.
        ///
        /// # Panics
        /// When `x` is not a number.
        #[track_caller]
        pub fn $name(x: &Array) -> Array {
            let _named = crate::trace::named(stringify!($name));
            library(stringify!($name), "", [x], |[$x]| $body)
        }
    )* };
}

activations! {
    /// `x / (|x| + 1)`.
    soft_sign |x| numpy::divide(x, &(numpy::abs(x) + 1));
    /// Half of `x + 1` moved between 0 and 2.
    sparse_sigmoid |x| {
        let moved = numpy::add(x, &Array::from(1.0));
        Array::from(0.5) * numpy::clip(&moved, &Array::from(0.0), &Array::from(2.0))
    };
    /// 0 below -1, `x` above 1, and `(x + 1)^2 / 4` between.
    sparse_plus |x| {
        let below = numpy::less_equal(x, &Array::from(-1.0));
        let above = numpy::greater_equal(x, &Array::from(1.0));
        let square = lax::integer_pow(&numpy::add(x, &Array::from(1.0)), 2);
        let between = square / 4.0;
        numpy::where_(&below, &Array::from(0.0), &numpy::where_(&above, x, &between))
    };
    /// `x tanh(softplus(x))`.
    mish |x| numpy::multiply(x, &numpy::tanh(&softplus(x)));
    /// The logarithm of [`sigmoid`], without underflow.
    log_sigmoid |x| lax::neg(&softplus(&numpy::negative(x)));
    /// [`elu`] with the parameters that keep mean and variance: `scale elu(x, alpha)`.
    selu |x| {
        let scaled = elu(x, 1.673_263_242_354_377_2);
        factor(1.050_700_987_355_480_5, &scaled) * scaled
    };
    /// `x` moved between -1 and 1.
    hard_tanh |x| {
        let above = numpy::greater(x, &Array::from(1));
        let below = numpy::less(x, &Array::from(-1));
        let bounded = numpy::where_(&below, &Array::from(-1), x);
        numpy::where_(&above, &Array::from(1), &bounded)
    };
    /// A sixth of [`relu6`] of `x + 3`.
    hard_sigmoid |x| relu6(&numpy::add(x, &Array::from(3.0))) / 6.0;
    /// `x hard_sigmoid(x)`.
    hard_silu |x| numpy::multiply(x, &hard_sigmoid(x));
}

/// [`hard_silu`] under its other name.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn hard_swish(x: &Array) -> Array {
    let _named = crate::trace::named("hard_swish");
    hard_silu(x)
}

options! {
    /// What [`elu`] and [`celu`] take beside their operand; a number or an array alone is one too.
    pub struct Elu {
        /// The limit below zero: 1 by default.
        alpha: Option<Array> = None, |alpha: impl Into<Array>| Some(alpha.into());
    }

    /// What [`leaky_relu`] takes beside its operand; a number or an array alone is one too.
    pub struct LeakyRelu {
        /// The slope below zero: 0.01 by default.
        negative_slope: Option<Array> = None, |slope: impl Into<Array>| Some(slope.into());
    }

    /// What [`squareplus`] takes beside its operand; a number or an array alone is one too.
    pub struct Squareplus {
        /// How smooth the function is: 4 by default.
        b: Option<Array> = None, |b: impl Into<Array>| Some(b.into());
    }

    /// What [`gelu`] takes beside its operand; a truth value alone is one too.
    pub struct Gelu {
        /// Whether the approximation with `tanh` is taken.
        approximate: bool = true;
    }

    /// What [`glu`] takes beside its operand; an axis alone is one too.
    pub struct Glu {
        /// The axis that is halved.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
    }

    /// What [`one_hot`] takes beside the numbers and their count; an element type alone is one too.
    pub struct OneHot {
        /// The element type.
        dtype: DType = DType::F32;
        /// Where the axis of the numbers is in the result.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
    }
}

/// A parameter given alone.
macro_rules! alone {
    ($($name:ident $field:ident;)*) => { $(
        impl<T: Into<Array>> From<T> for $name {
            fn from($field: T) -> Self {
                $name::new().$field($field)
            }
        }
    )* };
}

alone! {
    Elu alpha;
    LeakyRelu negative_slope;
    Squareplus b;
}

impl From<bool> for Gelu {
    fn from(approximate: bool) -> Self {
        Gelu::new().approximate(approximate)
    }
}

impl<I: Integer> From<I> for Glu {
    fn from(axis: I) -> Self {
        Glu::new().axis(axis)
    }
}

impl From<DType> for OneHot {
    fn from(dtype: DType) -> Self {
        OneHot::new().dtype(dtype)
    }
}

/// A factor of `x`: where that is an array of floats, the number is rounded to its type.
fn factor(value: f64, x: &Array) -> Array {
    if x.dtype().is_inexact() && !x.weak_type() {
        rounded(value, x.dtype())
    } else {
        Array::from(value)
    }
}

/// A function of an operand and a parameter, which is an operand of the call only where it is given.
#[track_caller]
fn with_parameter(
    name: &str,
    x: &Array,
    parameter: Option<Array>,
    default: impl Fn(&Array) -> Array,
    f: impl Fn(&Array, &Array) -> Array,
) -> Array {
    match parameter {
        None => library(name, "default", [x], |[x]| f(x, &default(x))),
        Some(parameter) => library(name, "given", [x, &parameter], |[x, y]| f(x, y)),
    }
}

/// `x` above zero, `alpha (e^x - 1)` below; `alpha` is 1 by default.
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::{Array, nn};
/// let x = Array::from([-100.0f32, 0.0, 2.0]);
/// assert_eq!(nn::elu(&x, ()).to_vec::<f32>(), [-1.0, 0.0, 2.0]);
/// assert_eq!(nn::elu(&x, 0.5).to_vec::<f32>(), [-0.5, 0.0, 2.0]);
/// ```
#[track_caller]
pub fn elu(x: &Array, options: impl Into<Elu>) -> Array {
    let _named = crate::trace::named("elu");
    with_parameter(
        "elu",
        x,
        options.into().alpha,
        |_| Array::from(1.0),
        |x, alpha| {
            let zero = &Array::from(0);
            let positive = numpy::greater(x, zero);
            // The exponential of what is not used must not overflow.
            let again = numpy::greater(x, zero);
            let negative = numpy::where_(&again, &Array::from(0.0), x);
            let exponential = numpy::multiply(alpha, &numpy::expm1(&negative));
            numpy::where_(&positive, x, &exponential)
        },
    )
}

/// `max(x, 0) + alpha (e^(min(x, 0) / alpha) - 1)`, whose slope at 0 is 1 for any `alpha`, which is 1 by default.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn celu(x: &Array, options: impl Into<Elu>) -> Array {
    let _named = crate::trace::named("celu");
    with_parameter(
        "celu",
        x,
        options.into().alpha,
        |_| Array::from(1.0),
        |x, alpha| {
            let zero = &Array::from(0.0);
            let above = numpy::maximum(x, zero);
            let below = numpy::divide(&numpy::minimum(x, zero), alpha);
            numpy::add(&above, &numpy::multiply(alpha, &numpy::expm1(&below)))
        },
    )
}

/// `x` above zero, `negative_slope x` below; the slope is 0.01 by default.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn leaky_relu(x: &Array, options: impl Into<LeakyRelu>) -> Array {
    let _named = crate::trace::named("leaky_relu");
    let slope = options.into().negative_slope;
    with_parameter(
        "leaky_relu",
        x,
        slope,
        |x| factor(0.01, x),
        |x, slope| {
            let positive = numpy::greater_equal(x, &Array::from(0));
            numpy::where_(&positive, x, &numpy::multiply(slope, x))
        },
    )
}

/// `(x + sqrt(x^2 + b)) / 2`, where `b` is 4 by default.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn squareplus(x: &Array, options: impl Into<Squareplus>) -> Array {
    let _named = crate::trace::named("squareplus");
    with_parameter(
        "squareplus",
        x,
        options.into().b,
        |_| Array::from(4),
        |x, b| {
            let root = numpy::sqrt(&numpy::add(&numpy::square(x), b));
            numpy::divide(&numpy::add(x, &root), &Array::from(2))
        },
    )
}

/// `x` times the distribution function of the normal distribution at `x`: by the approximation with `tanh`, or by the error function.
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::{Array, nn};
/// let x = Array::from([-20.0f32, 0.0, 20.0]);
/// assert_eq!(nn::gelu(&x, ()).to_vec::<f32>(), [0.0, 0.0, 20.0]);
/// assert_eq!(nn::gelu(&x, false).to_vec::<f32>(), [0.0, 0.0, 20.0]);
/// ```
#[track_caller]
pub fn gelu(x: &Array, options: impl Into<Gelu>) -> Array {
    let _named = crate::trace::named("gelu");
    let Gelu { approximate } = options.into();
    let x = &inexact("gelu", x);
    let c = |value: f64| rounded(value, x.dtype());
    if approximate {
        let cubic = x + c(0.044715) * lax::integer_pow(x, 3);
        let inner = c((2.0 / std::f64::consts::PI).sqrt()) * cubic;
        return x * (0.5 * (1.0 + inner.tanh()));
    }
    let half = c(0.5) * x;
    let product = half * lax::erfc(&(lax::neg(x) * c(std::f64::consts::FRAC_1_SQRT_2)));
    bind_one(prims::CopyArray, &[product])
}

/// The first half of `x` along an axis times the sigmoid of the second.
///
/// # Panics
/// When the axis is out of range, or its length is odd.
///
/// ```
/// use jaxide::{Array, nn};
/// assert_eq!(nn::glu(&Array::from([2.0f32, 4.0, 0.0, 0.0]), ()).to_vec::<f32>(), [1.0, 2.0]);
/// ```
#[track_caller]
pub fn glu(x: &Array, options: impl Into<Glu>) -> Array {
    let _named = crate::trace::named("glu");
    let axis = normalize_axis("glu", options.into().axis, x.ndim());
    let length = x.shape()[axis];
    if length % 2 == 1 {
        let error = format!("axis {axis} of {} has no halves", x.aval());
        raise(Error::shape(error).in_operation("glu"));
    }
    library("glu", &axis.to_string(), [x], |[x]| {
        let halves = lax::split(x, &[length / 2; 2], axis);
        &halves[0] * sigmoid(&halves[1])
    })
}

/// Ones where the place along a new axis is the number, zeros elsewhere; a row of zeros for numbers that are negative or too large.
///
/// # Panics
/// When there is no such axis.
///
/// ```
/// use jaxide::{Array, DType, nn};
/// let x = Array::from([2, 0]);
/// assert_eq!(nn::one_hot(&x, 3, DType::I32).to_vec::<i32>(), [0, 0, 1, 1, 0, 0]);
/// assert_eq!(nn::one_hot(&x, 3, nn::OneHot::new().axis(0)).shape(), [3, 2]);
/// ```
#[track_caller]
pub fn one_hot(x: &Array, num_classes: usize, options: impl Into<OneHot>) -> Array {
    let _named = crate::trace::named("one_hot");
    let OneHot { dtype, axis } = options.into();
    let axis = normalize_axis("one_hot", axis, x.ndim() + 1);
    library(
        "_one_hot",
        &format!("{num_classes} {dtype} {axis}"),
        [x],
        |[x]| {
            let mut shape = vec![1; x.ndim() + 1];
            shape[axis] = num_classes;
            let x = lax::expand_dims(x, &[axis]);
            let places = lax::iota(x.dtype(), &shape, axis);
            lax::convert_element_type(&numpy::equal(&x, &places), dtype)
        },
    )
}
