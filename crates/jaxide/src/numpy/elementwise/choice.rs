//! Choosing between numbers.

use jaxide_core::{DType, Error};

use super::super::arithmetic::{constant, inexact_dtypes, real_only};
use super::super::{
    bitwise_or, broadcast_shapes, broadcast_to, check_broadcast, greater, isnan, less, maximum,
    minimum,
};
use super::floats::format;
use crate::array::{Array, promote_dtypes};
use crate::lax;
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::{library, raise};

/// `x` where `condition`, else `y`.
///
/// # Panics
/// When shapes do not broadcast, or `x` and `y` have no common element type.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([-1.0f32, 2.0]);
/// assert_eq!(numpy::where_(x.gt(0), &x, 0).to_vec::<f32>(), [0.0, 2.0]);
/// ```
#[track_caller]
pub fn where_(condition: impl Into<Array>, x: impl Into<Array>, y: impl Into<Array>) -> Array {
    let _named = crate::trace::named("where_");
    let [condition, x, y] = [condition.into(), x.into(), y.into()];
    check_broadcast("where", &[&condition, &x, &y]);
    library("_where", "", [&condition, &x, &y], |[condition, x, y]| {
        chosen(condition, x, y)
    })
}

/// What [`where_`] does.
#[track_caller]
fn chosen(condition: &Array, x: &Array, y: &Array) -> Array {
    let condition = if condition.dtype() == DType::Bool {
        condition.clone()
    } else {
        lax::ne(condition, &constant(condition, 0))
    };
    let [x, y] = promote_dtypes("where", [x, y]);
    if condition.ndim() == 0 {
        let shape = broadcast_shapes("where", &[x.shape(), y.shape()]);
        return selected(
            &condition,
            &broadcast_to(&x, &shape),
            &broadcast_to(&y, &shape),
        );
    }
    let shape = broadcast_shapes("where", &[condition.shape(), x.shape(), y.shape()]);
    let condition = broadcast_to(&condition, &shape);
    selected(
        &condition,
        &broadcast_to(&x, &shape),
        &broadcast_to(&y, &shape),
    )
}

/// Of nothing, nothing is selected.
#[track_caller]
fn selected(condition: &Array, x: &Array, y: &Array) -> Array {
    if x.size() == 0 {
        x.clone()
    } else {
        lax::select(condition, x, y)
    }
}

/// What a bound of [`clip`] can be: a number, an array, or `()` for no bound.
pub trait Bound {
    /// The bound as an array, where there is one.
    fn bound(self) -> Option<Array>;
}

impl<T: Into<Array>> Bound for T {
    fn bound(self) -> Option<Array> {
        Some(self.into())
    }
}

impl Bound for () {
    fn bound(self) -> Option<Array> {
        None
    }
}

/// `x` moved between `min` and `max`, either of which may be `()`: no bound.
///
/// # Panics
/// When shapes do not broadcast, or a number is complex.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([-2.0f32, 0.5, 2.0]);
/// assert_eq!(numpy::clip(&x, -1.0, 1.0).to_vec::<f32>(), [-1.0, 0.5, 1.0]);
/// assert_eq!(numpy::clip(&x, 0.0, ()).to_vec::<f32>(), [0.0, 0.5, 2.0]);
/// ```
#[track_caller]
pub fn clip(x: &Array, min: impl Bound, max: impl Bound) -> Array {
    let _named = crate::trace::named("clip");
    let bounds = [min.bound(), max.bound()];
    let given = [bounds[0].is_some(), bounds[1].is_some()];
    let mut operands = vec![x.clone()];
    operands.extend(bounds.into_iter().flatten());
    if let Some(complex) = operands.iter().find(|x| x.dtype().is_complex()) {
        let error = format!(
            "complex numbers have no order, and {} is given",
            complex.aval()
        );
        raise(Error::dtype(error).in_operation("clip"));
    }
    check_broadcast("clip", &operands.iter().collect::<Vec<_>>());
    let clipped = |x: &[Array]| {
        let mut bounds = x[1..].iter();
        let mut x = x[0].clone();
        if given[0]
            && let Some(min) = bounds.next()
        {
            x = maximum(min, &x);
        }
        if given[1]
            && let Some(max) = bounds.next()
        {
            x = minimum(max, &x);
        }
        vec![x]
    };
    library_call("clip", &format!("{given:?}"), &operands, clipped).remove(0)
}

/// The smaller of two, or the one that is a number beside NaN.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
#[track_caller]
pub fn fmin(x1: impl Into<Array>, x2: impl Into<Array>) -> Array {
    let _named = crate::trace::named("fmin");
    let [x1, x2] = [x1.into(), x2.into()];
    check_broadcast("fmin", &[&x1, &x2]);
    library("fmin", "", [&x1, &x2], |[x1, x2]| {
        where_(bitwise_or(less(x1, x2), isnan(x2)), x1, x2)
    })
}

/// The larger of two, or the one that is a number beside NaN.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
///
/// ```
/// use jaxide::{Array, numpy};
/// let y = numpy::fmax(Array::from([1.0f32, f32::NAN]), 2.0);
/// assert_eq!(y.to_vec::<f32>(), [2.0, 2.0]);
/// ```
#[track_caller]
pub fn fmax(x1: impl Into<Array>, x2: impl Into<Array>) -> Array {
    let _named = crate::trace::named("fmax");
    let [x1, x2] = [x1.into(), x2.into()];
    check_broadcast("fmax", &[&x1, &x2]);
    library("fmax", "", [&x1, &x2], |[x1, x2]| {
        where_(bitwise_or(greater(x1, x2), isnan(x2)), x1, x2)
    })
}

/// Zero of negative numbers, one of positive ones, and `x2` of zero; NaN of NaN.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
///
/// ```
/// use jaxide::{Array, numpy};
/// let y = numpy::heaviside(Array::from([-2.0f32, 0.0, 3.0]), 0.5);
/// assert_eq!(y.to_vec::<f32>(), [0.0, 0.5, 1.0]);
/// ```
#[track_caller]
pub fn heaviside(x1: impl Into<Array>, x2: impl Into<Array>) -> Array {
    let _named = crate::trace::named("heaviside");
    let [x1, x2] = [x1.into(), x2.into()];
    check_broadcast("heaviside", &[&x1, &x2]);
    if let Some(x) = [&x1, &x2].into_iter().find(|x| x.dtype().is_complex()) {
        raise(real_only("heaviside", x));
    }
    library("heaviside", "", [&x1, &x2], |x| {
        let [x1, x2] = inexact_dtypes("heaviside", x);
        let (zero, one) = (constant(&x1, 0), constant(&x1, 1));
        let negative = lax::lt(&x1, &zero);
        let positive = lax::gt(&x1, &zero);
        let at_zero = where_(&isnan(&x1), &x1, &x2);
        where_(&negative, &zero, &where_(&positive, &one, &at_zero))
    })
}

options! {
    /// What [`nan_to_num`] takes beside the array.
    pub struct NanToNum {
        /// What stands for NaN: zero by default.
        nan: Option<Array> = None, |nan: impl Into<Array>| Some(nan.into());
        /// What stands for positive infinity: the largest number by default.
        posinf: Option<Array> = None, |posinf: impl Into<Array>| Some(posinf.into());
        /// What stands for negative infinity: the number furthest below zero by default.
        neginf: Option<Array> = None, |neginf: impl Into<Array>| Some(neginf.into());
    }
}

/// `x` with numbers in place of NaN and infinities, by parts of complex numbers.
///
/// # Panics
/// When a number given for them does not broadcast.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([f32::NAN, f32::INFINITY]);
/// assert_eq!(numpy::nan_to_num(&x, ()).to_vec::<f32>(), [0.0, f32::MAX]);
/// assert_eq!(numpy::nan_to_num(&x, numpy::NanToNum::new().nan(1).posinf(9)).to_vec::<f32>(), [1.0, 9.0]);
/// ```
#[track_caller]
pub fn nan_to_num(x: &Array, options: impl Into<NanToNum>) -> Array {
    let _named = crate::trace::named("nan_to_num");
    let options = options.into();
    // In the order of JAX's keywords.
    let bounds = [options.nan, options.neginf, options.posinf];
    let given = bounds.each_ref().map(Option::is_some);
    let mut operands = vec![x.clone()];
    operands.extend(bounds.into_iter().flatten());
    replaced(&operands, given)
}

/// `x`, and those of what stands for NaN, negative and positive infinity that are given.
#[track_caller]
fn replaced(operands: &[Array], given: [bool; 3]) -> Array {
    library_call("nan_to_num", &format!("{given:?}"), operands, |operands| {
        let x = &operands[0];
        if x.dtype().is_complex() {
            // The default for NaN is given to the parts.
            let mut own = operands.to_vec();
            if !given[0] {
                own.insert(1, Array::from(0.0));
            }
            let mut part = |part: Array| {
                own[0] = part;
                replaced(&own, [true, given[1], given[2]])
            };
            let re = part(lax::real(x));
            return vec![lax::complex(&re, &part(lax::imag(x)))];
        }
        if !x.dtype().is_float() {
            return vec![x.clone()];
        }
        let mut numbers = operands[1..].iter();
        let mut next = |given: bool, default: f64| {
            let number = if given { numbers.next().cloned() } else { None };
            number.unwrap_or_else(|| Array::from(default))
        };
        let largest = format("nan_to_num", x).largest();
        let (nan, neginf, posinf) = (
            next(given[0], 0.0),
            next(given[1], -largest),
            next(given[2], largest),
        );
        let undefined = isnan(x);
        let x = where_(undefined, constant(x, nan), x);
        let infinite = lax::eq(&x, &constant(&x, f64::INFINITY));
        let x = where_(infinite, constant(&x, posinf), &x);
        let infinite = lax::eq(&x, &constant(&x, f64::NEG_INFINITY));
        vec![where_(infinite, constant(&x, neginf), &x)]
    })
    .remove(0)
}
