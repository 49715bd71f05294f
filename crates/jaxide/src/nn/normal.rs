//! Sums of exponentials, and what is divided by sums: softmax and standardisation.

use jaxide_core::{DType, Error};

use crate::array::{Array, AsShape, Axes, Numbers, as_dtype, result_dtype};
use crate::numpy::nested;
use crate::options::options;
use crate::trace::{library, raise};
use crate::{lax, numpy};

options! {
    /// What [`softmax`] and [`log_softmax`] take beside their operand; an axis alone, or several, is one too. It is the last by default.
    pub struct Softmax by axes {
        /// Which elements count, as truth values that broadcast to the operand: all by default.
        where_: Option<Array> = None, |where_: impl Into<Array>| Some(where_.into());
    }

    /// What [`logsumexp`] takes beside its operand; an axis alone, or several, is one too. All axes are reduced by default.
    pub struct LogSumExp by axes {
        /// Factors of the exponentials.
        b: Option<Array> = None, |b: impl Into<Array>| Some(b.into());
        /// Whether reduced axes stay with length 1.
        keepdims: bool = false;
        /// Which elements count: all by default.
        where_: Option<Array> = None, |where_: impl Into<Array>| Some(where_.into());
    }

    /// What [`logmeanexp`] takes beside its operand; an axis alone, or several, is one too. All axes are reduced by default.
    pub struct LogMeanExp by axes {
        /// Which elements count: all by default.
        where_: Option<Array> = None, |where_: impl Into<Array>| Some(where_.into());
        /// Whether reduced axes stay with length 1.
        keepdims: bool = false;
    }

    /// What [`standardize`] takes beside its operand; an axis alone, or several, is one too. It is the last by default.
    pub struct Standardize by axes {
        /// The mean, if it is known.
        mean: Option<Array> = None, |mean: impl Into<Array>| Some(mean.into());
        /// The variance, if it is known.
        variance: Option<Array> = None, |variance: impl Into<Array>| Some(variance.into());
        /// What is added to the variance: 1e-5 by default.
        epsilon: Option<f64> = None, |epsilon: f64| Some(epsilon);
        /// Which elements count: all by default.
        where_: Option<Array> = None, |where_: impl Into<Array>| Some(where_.into());
        /// How the variance is computed.
        algorithm: Variance = Variance::Fast;
    }
}

/// How a variance is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variance {
    /// The mean of squares less the square of the mean.
    #[default]
    Fast,
    /// The mean of squares of what is left without the mean.
    Stable,
}

/// The axes counted from the front, or what there is without.
#[track_caller]
fn axes_or(operation: &str, x: &Array, given: Option<&Numbers>, default: &[i64]) -> Vec<usize> {
    match given {
        Some(axes) => axes[..].axes(operation, x.ndim()),
        None => default.axes(operation, x.ndim()),
    }
}

fn all(x: &Array) -> Vec<i64> {
    (0..x.ndim() as i64).collect()
}

/// The element type in which sums are taken.
fn wide(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        dtype => dtype,
    }
}

/// A condition must broadcast to the operand.
#[track_caller]
fn checked<'a>(operation: &str, x: &Array, where_: Option<&'a Array>) -> Option<&'a Array> {
    let condition = where_?;
    numpy::check_broadcast_to(operation, condition.shape(), x.shape());
    if condition.dtype() != DType::Bool {
        let error = format!("a condition is bool, and {} is given", condition.aval());
        raise(Error::dtype(error).in_operation(operation));
    }
    Some(condition)
}

/// `x` without the axes, or with length 1 there.
fn reduced(x: Array, axes: &[usize], keepdims: bool) -> Array {
    if keepdims {
        lax::expand_dims(&x, axes)
    } else {
        x
    }
}

/// The sum over axes, of halves in `f32`.
fn sum(x: &Array, axes: &[usize], keepdims: bool, where_: Option<&Array>) -> Array {
    let computed = as_dtype(x, wide(x.dtype()), false);
    let counted = match where_ {
        Some(condition) => numpy::where_(condition, &computed, &zero(computed.dtype())),
        None => computed,
    };
    let sum = reduced(lax::reduce_sum(&counted, axes), axes, keepdims);
    as_dtype(&sum, x.dtype(), false)
}

fn zero(dtype: DType) -> Array {
    as_dtype(&Array::from(0.0), dtype, false)
}

/// The largest over axes, minus infinity or the smallest number where there is none.
fn largest(x: &Array, axes: &[usize], keepdims: bool, where_: Option<&Array>) -> Array {
    // Minus infinity as NumPy converts it.
    let least = match x.dtype() {
        dtype @ (DType::I32 | DType::I64) => Array::from(numpy::iinfo(dtype).min as i64),
        dtype if dtype.is_integer() => Array::from(0),
        _ => Array::from(f64::NEG_INFINITY),
    };
    let least = as_dtype(&least, x.dtype(), false);
    let counted = match where_ {
        Some(condition) => numpy::where_(condition, x, &least),
        None => x.clone(),
    };
    let largest = lax::max(&least, &lax::reduce_max(&counted, axes));
    reduced(largest, axes, keepdims)
}

/// How many elements count.
fn count(x: &Array, axes: &[usize], keepdims: bool, where_: Option<&Array>, dtype: DType) -> Array {
    match where_ {
        None => {
            let count: usize = axes.iter().map(|&axis| x.shape()[axis]).product();
            as_dtype(&Array::from(count as f64), dtype, false)
        }
        Some(condition) => {
            let condition = numpy::broadcast_to(condition, x.shape());
            let ones = as_dtype(&as_dtype(&condition, DType::I32, false), dtype, false);
            reduced(lax::reduce_sum(&ones, axes), axes, keepdims)
        }
    }
}

fn mean(x: &Array, axes: &[usize], where_: Option<&Array>) -> Array {
    let dtype = if x.dtype().is_inexact() {
        x.dtype()
    } else {
        DType::F32
    };
    let computed = wide(dtype);
    let x = &match x.dtype() {
        DType::Bool => as_dtype(x, DType::I32, false),
        _ => x.clone(),
    };
    let count = count(x, axes, true, where_, computed);
    let sum = sum(&as_dtype(x, computed, false), axes, true, where_);
    as_dtype(&lax::div(&sum, &count), dtype, false)
}

/// `x`, as floats if it is of integers whose differences need not fit their type.
#[track_caller]
fn subtractable(operation: &str, x: &Array) -> Array {
    match x.dtype() {
        DType::I32 | DType::I64 => x.clone(),
        DType::Bool => {
            let error = format!("numbers are needed, and {} is given", x.aval());
            raise(Error::dtype(error).in_operation(operation))
        }
        _ => inexact(operation, x),
    }
}

/// `x` as floats or complex numbers.
#[track_caller]
fn inexact(operation: &str, x: &Array) -> Array {
    let [x] = numpy::promote_inexact(operation, [x]);
    x
}

/// Exponentials along axes, divided by their sum: the last axis with `()`. Of integers a float.
///
/// # Panics
/// When there is no such axis, or `x` is not a number.
///
/// ```
/// use jaxide::{Array, nn};
/// let x = Array::from([[1000.0f32, 1000.0, 0.0]]);
/// assert_eq!(nn::softmax(&x, -1).to_vec::<f32>(), [0.5, 0.5, 0.0]);
/// let last_counts = nn::Softmax::new().where_([false, false, true]);
/// assert_eq!(nn::softmax(&x, last_counts).to_vec::<f32>(), [0.0, 0.0, 1.0]);
/// ```
#[track_caller]
pub fn softmax(x: &Array, options: impl Into<Softmax>) -> Array {
    let _named = crate::trace::named("softmax");
    let Softmax { axis, where_ } = options.into();
    let axes = &axes_or("softmax", x, axis.as_ref(), &[-1])[..];
    let where_ = checked("softmax", x, where_.as_ref());
    let x = &subtractable("softmax", x);
    let largest = largest(x, axes, true, where_);
    let safe = match where_ {
        Some(condition) => numpy::where_(condition, x, &Array::from(f64::NEG_INFINITY)),
        None => x.clone(),
    };
    let exponentials = numpy::exp(&(safe - lax::stop_gradient(&largest)));
    let result = &exponentials / sum(&exponentials, axes, true, where_);
    match where_ {
        Some(condition) => numpy::where_(condition, &result, &Array::from(0)),
        None => result,
    }
}

/// The logarithm of [`softmax`], without overflow: along the last axis with `()`. Of integers a float.
///
/// # Panics
/// When there is no such axis, or `x` is not a number.
///
/// ```
/// use jaxide::{Array, nn};
/// let p = nn::log_softmax(&Array::from([[1000.0f32, 1000.0]]), -1).exp();
/// assert_eq!(p.to_vec::<f32>(), [0.5, 0.5]);
/// ```
#[track_caller]
pub fn log_softmax(x: &Array, options: impl Into<Softmax>) -> Array {
    let _named = crate::trace::named("log_softmax");
    let Softmax { axis, where_ } = options.into();
    let axes = &axes_or("log_softmax", x, axis.as_ref(), &[-1])[..];
    checked("log_softmax", x, where_.as_ref());
    let compute = |x: &Array, where_: Option<&Array>| {
        let x = &subtractable("log_softmax", x);
        let least = Array::from(f64::NEG_INFINITY);
        let largest = largest(x, axes, true, where_);
        let safe = match where_ {
            Some(condition) => numpy::where_(condition, x, &least),
            None => x.clone(),
        };
        let shifted = safe - lax::stop_gradient(&largest);
        let sum = sum(&numpy::exp(&shifted), axes, true, where_);
        let result = shifted - lax::log(&sum);
        match where_ {
            Some(condition) => numpy::where_(condition, &result, &least),
            None => result,
        }
    };
    called(
        "log_softmax",
        &format!("{axes:?}"),
        x,
        where_.as_ref(),
        compute,
    )
}

/// A call by name of an operand and perhaps a condition.
#[track_caller]
fn called(
    name: &str,
    of: &str,
    x: &Array,
    where_: Option<&Array>,
    compute: impl Fn(&Array, Option<&Array>) -> Array,
) -> Array {
    match where_ {
        None => library(name, of, [x], |[x]| compute(x, None)),
        Some(condition) => library(name, of, [x, condition], |[x, condition]| {
            compute(x, Some(condition))
        }),
    }
}

/// The logarithm of the sum of exponentials over axes, without overflow: over all axes with `()`. It is NaN where factors make the sum
/// negative; see [`logsumexp_with_sign`].
///
/// # Panics
/// When there is no such axis, or shapes do not broadcast.
///
/// ```
/// use jaxide::{Array, nn};
/// let x = Array::from([1000.0f32, 1000.0]);
/// assert_eq!(nn::logsumexp(&x, ()).item::<f32>(), 1000.0 + 2.0f32.ln());
/// let weighted = nn::logsumexp(&x, nn::LogSumExp::new().b([0.5f32, 0.5]));
/// assert_eq!(weighted.item::<f32>(), 1000.0);
/// ```
#[track_caller]
pub fn logsumexp(x: &Array, options: impl Into<LogSumExp>) -> Array {
    let _named = crate::trace::named("logsumexp");
    let options = options.into();
    let weighted = options.b.is_some();
    let (out, sign) = log_of_sum("logsumexp", x, options, false);
    if !weighted || out.dtype().is_complex() {
        return out;
    }
    let negative = lax::lt(&sign, &zero(sign.dtype()));
    let nan = as_dtype(&Array::from(f64::NAN), out.dtype(), false);
    numpy::where_(&negative, &nan, &out)
}

/// The logarithm of the modulus of the sum of exponentials, and the sign of the sum: JAX's `logsumexp` with `return_sign`.
///
/// # Panics
/// As [`logsumexp`].
///
/// ```
/// use jaxide::{Array, nn};
/// let b = nn::LogSumExp::new().b([1.0f32, -2.0]);
/// let (log, sign) = nn::logsumexp_with_sign(&Array::from([0.0f32, 0.0]), b);
/// assert_eq!((log.item::<f32>(), sign.item::<f32>()), (0.0, -1.0));
/// ```
#[track_caller]
pub fn logsumexp_with_sign(x: &Array, options: impl Into<LogSumExp>) -> (Array, Array) {
    let _named = crate::trace::named("logsumexp_with_sign");
    log_of_sum("logsumexp", x, options.into(), true)
}

#[track_caller]
fn log_of_sum(operation: &str, x: &Array, options: LogSumExp, signed: bool) -> (Array, Array) {
    let LogSumExp {
        axis,
        b,
        keepdims,
        where_,
    } = options;
    let x = match checked(operation, x, where_.as_ref()) {
        Some(condition) => numpy::where_(condition, x, &Array::from(0)),
        None => x.clone(),
    };
    let where_ = where_.as_ref();
    let (x, b) = match b {
        None => (inexact(operation, &x), None),
        Some(b) => {
            let [x, b] = numpy::promote_inexact(operation, [&x, &b]);
            let some = lax::ne(&b, &zero(b.dtype()));
            let x = numpy::where_(&some, &x, &Array::from(f64::NEG_INFINITY));
            (x, Some(b))
        }
    };
    let axes = &axes_or(operation, &x, axis.as_ref(), &all(&x))[..];
    let real = match x.dtype().is_complex() {
        true => lax::real(&x),
        false => x.clone(),
    };
    let largest = largest(&real, axes, keepdims, where_);
    let finite = lax::is_finite(&largest);
    let zeros = lax::full(largest.shape(), 0.0, largest.dtype());
    let largest = lax::stop_gradient(&lax::select(&finite, &largest, &zeros));
    let beside = match keepdims {
        true => largest.clone(),
        false => lax::expand_dims(&largest, axes),
    };
    let mut exponentials = lax::exp(&lax::sub(&x, &as_dtype(&beside, x.dtype(), false)));
    if let Some(b) = b {
        exponentials = numpy::multiply(&exponentials, &b);
    }
    let mut sum = sum(&exponentials, axes, keepdims, where_);
    let sign = lax::sign(&sum);
    if signed || !x.dtype().is_complex() {
        sum = lax::abs(&sum);
    }
    let log = lax::log(&sum);
    let out = lax::add(&log, &as_dtype(&largest, sum.dtype(), false));
    (out, sign)
}

/// The logarithm of the mean of exponentials over axes, without overflow: over all axes with `()`.
///
/// # Panics
/// As [`logsumexp`].
///
/// ```
/// use jaxide::{Array, nn};
/// assert_eq!(nn::logmeanexp(&Array::from([1000.0f32, 1000.0]), ()).item::<f32>(), 1000.0);
/// ```
#[track_caller]
pub fn logmeanexp(x: &Array, options: impl Into<LogMeanExp>) -> Array {
    let _named = crate::trace::named("logmeanexp");
    let LogMeanExp {
        axis,
        where_,
        keepdims,
    } = options.into();
    let axes = axes_or("logmeanexp", x, axis.as_ref(), &all(x));
    checked("logmeanexp", x, where_.as_ref());
    let compute = |x: &Array, where_: Option<&Array>| {
        let options = LogSumExp {
            axis: Some(axes.lengths()),
            b: None,
            keepdims,
            where_: where_.cloned(),
        };
        let (log, _) = log_of_sum("logmeanexp", x, options, false);
        let count = count(x, &axes, keepdims, where_, log.dtype());
        log - lax::log(&count)
    };
    let of = format!("{axes:?} {keepdims}");
    called("logmeanexp", &of, x, where_.as_ref(), compute)
}

/// `x` less its mean, divided by its standard deviation: along the last axis with `()`.
///
/// # Panics
/// When there is no such axis, or shapes do not broadcast.
///
/// ```
/// use jaxide::{Array, nn};
/// let x = nn::standardize(&Array::from([1.0f32, 3.0]), nn::Standardize::new().epsilon(0.0));
/// assert_eq!(x.to_vec::<f32>(), [-1.0, 1.0]);
/// ```
#[track_caller]
pub fn standardize(x: &Array, options: impl Into<Standardize>) -> Array {
    let _named = crate::trace::named("standardize");
    let Standardize {
        axis,
        mean: given_mean,
        variance: given_variance,
        epsilon,
        where_,
        algorithm,
    } = options.into();
    let axes = &axes_or("standardize", x, axis.as_ref(), &[-1])[..];
    checked("standardize", x, where_.as_ref());
    let optional = [given_mean, given_variance, epsilon.map(Array::from), where_];
    let present = optional.each_ref().map(Option::is_some);
    let optional = optional.into_iter().flatten();
    let operands: Vec<Array> = std::iter::once(x.clone()).chain(optional).collect();
    let of = format!("{axes:?} {algorithm:?} {present:?}");
    let compute = |operands: &[Array]| {
        let mut operands = operands.iter();
        let x = operands.next().unwrap_or(x);
        let mut next = present.map(|present| present.then(|| operands.next()).flatten());
        let where_ = next[3].take();
        let center = match next[0] {
            Some(mean) => mean.clone(),
            None => mean(x, axes, where_),
        };
        let variance = match (next[1], algorithm) {
            (Some(variance), _) => variance.clone(),
            (None, Variance::Stable) => {
                mean(&numpy::square(&numpy::subtract(x, &center)), axes, where_)
            }
            (None, Variance::Fast) if x.dtype().is_complex() => {
                let error = format!(
                    "the variance of complex numbers is computed by `Variance::Stable`, and {} is given",
                    x.aval()
                );
                raise(Error::dtype(error).in_operation("standardize"))
            }
            (None, Variance::Fast) => {
                let squares = mean(&numpy::square(x), axes, where_);
                let variance = squares - numpy::square(&center);
                library(
                    "clip",
                    "at least",
                    [&variance, &Array::from(0)],
                    |[x, least]| {
                        let (dtype, weak) = result_dtype("clip", &[x, least]);
                        lax::max(&as_dtype(least, dtype, weak), x)
                    },
                )
            }
        };
        let centered = numpy::subtract(x, &center);
        let epsilon = match next[2] {
            Some(epsilon) => epsilon.clone(),
            None => nested::rounded(1e-5, variance.dtype()),
        };
        vec![centered * lax::rsqrt(&numpy::add(&variance, &epsilon))]
    };
    crate::trace::library::library_call("standardize", &of, &operands, compute).remove(0)
}
