//! Means, variances and what else is counted.

use jaxide_core::{DType, Error};

use super::folds::{Fold, fold, summing_type};
use super::{Reduction, max, min, position_type, sum};
use crate::array::{Array, Axes, Numbers, as_dtype};
use crate::lax;
use crate::numpy::arithmetic::{constant, inexact, inexact_dtypes, zero};
use crate::numpy::{broadcast_to, divide, multiply, where_};
use crate::options::options;
use crate::trace::library::library_with;
use crate::trace::{library, raise};

/// Mean along axes, with `dtype`, `keepdims`, `where_`: of integers `f32`, and `f64` of those of 64 bits; of nothing NaN.
///
/// # Panics
/// When an axis is out of range, or a keyword is given that it does not take.
#[track_caller]
pub fn mean(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("mean");
    let options = options
        .into()
        .taking("mean", &["dtype", "keepdims", "where_"]);
    let result = options.dtype.unwrap_or_else(|| inexact(x.dtype()));
    let computed = match options.dtype {
        None => summing_type(result),
        Some(dtype) => dtype,
    };
    mean_in("mean", x, &options, computed, result)
}

/// The mean computed in one element type and given in another.
#[track_caller]
fn mean_in(
    operation: &str,
    x: &Array,
    options: &Reduction,
    computed: DType,
    result: DType,
) -> Array {
    let count = count(operation, x, options, computed);
    let total = fold(Fold::Sum, operation, x, &options.clone().dtype(computed));
    as_dtype(&lax::div(&total, &count), result, false)
}

/// The number of elements that a result is made of: a number of the program, or with a mask an array.
#[track_caller]
fn count(operation: &str, x: &Array, options: &Reduction, dtype: DType) -> Array {
    match &options.where_ {
        None => {
            let axes = options.axes(operation, x);
            let count: usize = axes.iter().map(|&axis| x.shape()[axis]).product();
            as_dtype(&Array::from(count), dtype, false)
        }
        Some(mask) => {
            let mask = broadcast_to(mask, x.shape());
            let plain = Reduction {
                axis: options.axis.clone(),
                keepdims: options.keepdims,
                ..Reduction::new()
            };
            fold(Fold::Sum, operation, &mask, &plain.dtype(dtype))
        }
    }
}

/// The element type in which a variance is computed, and that of the result.
#[track_caller]
pub(super) fn variance_types(operation: &str, x: &Array, dtype: Option<DType>) -> (DType, DType) {
    let (computed, result) = match dtype {
        Some(dtype) => {
            if x.dtype().is_complex() && !dtype.is_complex() {
                let error = format!("the variance of {} has no real `dtype`", x.aval());
                raise(Error::dtype(error).in_operation(operation));
            }
            (dtype, dtype)
        }
        None if x.dtype().is_inexact() => (x.dtype(), x.dtype().real()),
        None => (inexact(x.dtype()), inexact(x.dtype())),
    };
    (summing_type(computed), result)
}

/// Squared modulus.
#[track_caller]
pub(super) fn squared(x: &Array) -> Array {
    if x.dtype().is_complex() {
        lax::real(&lax::mul(x, &lax::conj(x)))
    } else {
        lax::square(x)
    }
}

/// `ddof` or `correction`, one of which may be given.
#[track_caller]
fn correction(operation: &str, options: &Reduction) -> Array {
    match &options.correction {
        None => Array::from(options.ddof),
        Some(_) if options.ddof != 0 => raise(
            Error::parameter("`ddof` and `correction` are the same, and both are given")
                .in_operation(operation),
        ),
        Some(correction) => correction.clone(),
    }
}

const VARIANCE: [&str; 6] = ["dtype", "keepdims", "where_", "ddof", "correction", "mean"];

/// Variance along axes, with `dtype`, `keepdims`, `where_`, `ddof`, `correction`, `mean`: the mean squared distance from the
/// mean, a real number; of nothing NaN.
///
/// # Panics
/// When an axis is out of range, or a keyword is given that it does not take.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1.0f32, 2.0, 3.0]);
/// assert_eq!(numpy::var(&x, numpy::Reduction::new().ddof(1)).item::<f32>(), 1.0);
/// ```
#[track_caller]
pub fn var(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("var");
    let options = options.into().taking("var", &VARIANCE);
    variance("var", x, &options)
}

#[track_caller]
fn variance(operation: &str, x: &Array, options: &Reduction) -> Array {
    let correction = correction(operation, options);
    let (computed, result) = variance_types(operation, x, options.dtype);
    options.axes(operation, x);
    let key = options.key();
    let optional = [options.where_.clone()];
    // In the order of JAX's keywords, the mean comes first.
    if let Some(mean) = &options.mean {
        return library_with(
            "_var",
            &format!("{key} mean"),
            [x, mean, &correction],
            optional,
            |[x, mean, correction], [mask]| {
                let options = masked(options, mask);
                let x = as_dtype(x, computed, false);
                let mean = as_dtype(mean, computed, false);
                around(operation, &x, &mean, correction, &options, result)
            },
        );
    }
    library_with(
        "_var",
        &key,
        [x, &correction],
        optional,
        |[x, correction], [mask]| {
            let options = masked(options, mask);
            let x = as_dtype(x, computed, false);
            let kept = options.clone().keepdims(true);
            let mean = mean_in(operation, &x, &kept, computed, computed);
            around(operation, &x, &mean, correction, &options, result)
        },
    )
}

/// The axes, `keepdims` and a mask.
fn masked(options: &Reduction, mask: Option<Array>) -> Reduction {
    Reduction {
        axis: options.axis.clone(),
        keepdims: options.keepdims,
        where_: mask,
        ..Reduction::new()
    }
}

/// The mean squared distance from `mean`; NaN where nothing is left of the count.
#[track_caller]
fn around(
    operation: &str,
    x: &Array,
    mean: &Array,
    correction: &Array,
    options: &Reduction,
    result: DType,
) -> Array {
    let distance = squared(&lax::sub(x, mean));
    let dtype = distance.dtype();
    let count = count(operation, x, options, dtype);
    let count = lax::sub(&count, &as_dtype(correction, dtype, false));
    let total = fold(
        Fold::Sum,
        operation,
        &distance,
        &options.clone().dtype(dtype),
    );
    let quotient = as_dtype(&lax::div(&total, &count), result, false);
    where_(lax::gt(&count, &constant(&count, 0)), &quotient, f64::NAN)
}

/// Standard deviation along axes: the square root of [`var`], whose keywords it has.
///
/// # Panics
/// When an axis is out of range, a keyword is given that it does not take, or `dtype` is not inexact.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::std(&Array::from([1i64, 3, 5, 7]), ()).item::<f64>(), 5.0f64.sqrt());
/// ```
#[track_caller]
pub fn std(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("std");
    let options = options.into().taking("std", &VARIANCE);
    if let Some(dtype) = options.dtype
        && !dtype.is_inexact()
    {
        let error = format!("`dtype` is floating-point or complex, and {dtype} is given");
        raise(Error::dtype(error).in_operation("std"));
    }
    variance_types("std", x, options.dtype);
    let correction = correction("std", &options);
    let optional = [options.mean.clone(), options.where_.clone()];
    library_with(
        "_std",
        &options.key(),
        [x, &correction],
        optional,
        |[x, correction], [mean, mask]| {
            let mut own = masked(&options, mask).correction(correction);
            own.dtype = options.dtype;
            own.mean = mean;
            lax::sqrt(&variance("std", x, &own))
        },
    )
}

/// Largest less smallest along axes, with `keepdims`.
///
/// # Panics
/// When an axis is out of range or empty, or a keyword is given that it does not take.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::ptp(&Array::from([3, -1, 2]), ()).item::<i32>(), 4);
/// ```
#[track_caller]
pub fn ptp(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("ptp");
    let options = options.into().taking("ptp", &["keepdims"]);
    options.axes("ptp", x);
    library("_ptp", &options.key(), [x], |[x]| {
        let largest = max(x, options.clone());
        lax::sub(&largest, &min(x, options.clone()))
    })
}

/// How many elements are not zero, with `keepdims`: `i32`, and `i64` beside elements of 64 bits.
///
/// # Panics
/// When an axis is out of range, or a keyword is given that it does not take.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::count_nonzero(&Array::from([3, 0, 2]), ()).item::<i32>(), 2);
/// ```
#[track_caller]
pub fn count_nonzero(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("count_nonzero");
    let options = options.into().taking("count_nonzero", &["keepdims"]);
    options.axes("count_nonzero", x);
    library("count_nonzero", &options.key(), [x], |[x]| {
        let nonzero = lax::ne(x, &zero(x));
        sum(&nonzero, options.clone().dtype(position_type(x)))
    })
}

options! {
    /// What [`average`] takes beside the array; axes alone are one too.
    pub struct Average of axes {
        /// The axes that are combined: all by default.
        axis: Option<Numbers> = None, |axis: impl Axes| axis.numbers();
        /// How much each element counts: of the shape of the array, or of the axes.
        weights: Option<Array> = None, |weights: impl Into<Array>| Some(weights.into());
        /// Whether the axes stay, with length 1.
        keepdims: bool = false;
    }
}

/// Weighted mean along axes.
///
/// # Panics
/// When an axis is out of range, or the shape of the weights does not fit.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1.0f32, 4.0]);
/// assert_eq!(numpy::average(&x, numpy::Average::new().weights([2.0f32, 1.0])).item::<f32>(), 2.0);
/// ```
#[track_caller]
pub fn average(x: &Array, options: impl Into<Average>) -> Array {
    let _named = crate::trace::named("average");
    weighted(x, &options.into()).0
}

/// [`average`], and the sum of the weights: `average(.., returned=True)` of NumPy.
///
/// # Panics
/// As [`average`].
#[track_caller]
pub fn average_returned(x: &Array, options: impl Into<Average>) -> (Array, Array) {
    let _named = crate::trace::named("average_returned");
    let (mean, total) = weighted(x, &options.into());
    let total = broadcast_to(&total, mean.shape());
    (mean, total)
}

/// The weighted mean, and the sum of weights.
#[track_caller]
fn weighted(x: &Array, options: &Average) -> (Array, Array) {
    let plain = Reduction {
        axis: options.axis.clone(),
        keepdims: options.keepdims,
        ..Reduction::new()
    };
    let axes = plain.axes("average", x);
    let Some(weights) = &options.weights else {
        let [x] = inexact_dtypes("average", [x]);
        let average = mean(&x, plain);
        let count: usize = axes.iter().map(|&axis| x.shape()[axis]).product();
        let total = lax::full((), count, average.dtype());
        return (average, total);
    };
    let [x, mut weights] = inexact_dtypes("average", [x, weights]);
    if x.shape() != weights.shape() {
        let lengths: Vec<usize> = axes.iter().map(|&axis| x.shape()[axis]).collect();
        if options.axis.is_none() || weights.shape() != lengths {
            let error = format!(
                "weights {} fit neither {} nor its axes {axes:?}",
                weights.aval(),
                x.aval()
            );
            raise(Error::shape(error).in_operation("average"));
        }
        let mut order: Vec<usize> = (0..axes.len()).collect();
        order.sort_by_key(|&at| axes[at]);
        let shape: Vec<usize> = (0..x.ndim())
            .map(|axis| {
                if axes.contains(&axis) {
                    x.shape()[axis]
                } else {
                    1
                }
            })
            .collect();
        weights = crate::numpy::lookup::reordered(&weights, &order, &shape);
    }
    let total = sum(&weights, plain.clone());
    let products = multiply(&x, &weights);
    (divide(sum(&products, plain), &total), total)
}
