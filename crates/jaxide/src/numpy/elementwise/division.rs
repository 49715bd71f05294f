//! Quotients and remainders.

use jaxide_core::prims::RoundingMethod;
use jaxide_core::{DType, Error};

use super::super::arithmetic::{constant, promote_numeric};
use super::super::{check_broadcast, equal};
use super::choice::where_;
use crate::array::{Array, as_dtype, result_dtype};
use crate::lax;
use crate::trace::library::library_call;
use crate::trace::{library, raise};

/// Divisors that are no zeros: of integers, zeros become ones, whose remainders are zero.
#[track_caller]
fn no_zeros(y: &Array) -> Array {
    if y.dtype().is_integer() {
        let vanishes = equal(y, 0);
        let one = as_dtype(&Array::from(1), y.dtype(), y.weak_type());
        let ones = super::super::broadcast_to(&one, y.shape());
        where_(vanishes, ones, y)
    } else {
        y.clone()
    }
}

/// Remainder with the sign of the dividend, as C's `fmod`. By zero it is zero of integers, and NaN of floats.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
#[track_caller]
pub fn fmod(x: impl Into<Array>, y: impl Into<Array>) -> Array {
    let _named = crate::trace::named("fmod");
    let (x, y) = (x.into(), y.into());
    check_broadcast("fmod", &[&x, &y]);
    library("fmod", "", [&x, &y], |[x, y]| {
        let (dtype, _) = result_dtype("fmod", &[x, y]);
        let divisor = if dtype.is_integer() {
            nonzero_of(y)
        } else {
            y.clone()
        };
        let [x, y] = promote_numeric("fmod", [x, &divisor]);
        lax::rem(&x, &y)
    })
}

/// As [`no_zeros`], of truth values too.
#[track_caller]
fn nonzero_of(y: &Array) -> Array {
    if y.dtype() == DType::Bool {
        let vanishes = lax::eq(y, &Array::from(false));
        let ones = lax::full(y.shape(), true, DType::Bool);
        return where_(vanishes, ones, y);
    }
    no_zeros(y)
}

/// Remainder with the sign of the divisor, as Python's `%`. By zero it is zero of integers, and NaN of floats.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::remainder([-7, 7], 3).to_vec::<i32>(), [2, 1]);
/// ```
#[track_caller]
pub fn remainder(x: impl Into<Array>, y: impl Into<Array>) -> Array {
    let _named = crate::trace::named("remainder");
    remainder_of(&x.into(), &y.into())
}

#[track_caller]
fn remainder_of(x: &Array, y: &Array) -> Array {
    check_broadcast("remainder", &[x, y]);
    library("remainder", "", [x, y], |operands| {
        let [x, y] = promote_numeric("remainder", operands);
        let y = &no_zeros(&y);
        let truncated = lax::rem(&x, y);
        let zero = constant(&truncated, 0);
        let nonzero = lax::ne(&truncated, &zero);
        let signs_differ = lax::ne(&lax::lt(&truncated, &zero), &lax::lt(y, &zero));
        let move_it = lax::bitwise_and(&signs_differ, &nonzero);
        lax::select(&move_it, &lax::add(&truncated, y), &truncated)
    })
}

/// Quotient rounded down, as Python's `//`.
///
/// By zero it is -1 of signed integers (-2 of negative ones), the largest number of unsigned ones, and infinite or NaN of
/// floats.
///
/// # Panics
/// When shapes do not broadcast, there is no common element type, or numbers are complex.
///
/// ```
/// use jaxide::numpy;
/// assert_eq!(numpy::floor_divide([-7, 7], 2).to_vec::<i32>(), [-4, 3]);
/// ```
#[track_caller]
pub fn floor_divide(x: impl Into<Array>, y: impl Into<Array>) -> Array {
    let _named = crate::trace::named("floor_divide");
    floor_quotient(&x.into(), &y.into())
}

#[track_caller]
fn floor_quotient(x: &Array, y: &Array) -> Array {
    check_broadcast("floor_divide", &[x, y]);
    refuse_complex("floor_divide", x, y);
    library("floor_divide", "", [x, y], |operands| {
        let [x, y] = promote_numeric("floor_divide", operands);
        let (x, y) = (&x, &y);
        if x.dtype().is_unsigned_integer() {
            return lax::div(x, y);
        }
        if x.dtype().is_integer() {
            let quotient = lax::div(x, y);
            let signs_differ = lax::ne(&lax::sign(x), &lax::sign(y));
            let remainder = lax::rem(x, y);
            let inexact = lax::ne(&remainder, &constant(&remainder, 0));
            let move_it = lax::bitwise_and(&signs_differ, &inexact);
            let below = lax::sub(&quotient, &Array::from(1));
            return where_(&move_it, &below, &quotient);
        }
        let [quotient, _] = float_divmod(x, y);
        quotient
    })
}

#[track_caller]
fn refuse_complex(operation: &str, x: &Array, y: &Array) {
    if x.dtype().is_complex() || y.dtype().is_complex() {
        let error = Error::dtype("complex numbers have no quotient that is rounded down");
        raise(error.in_operation(operation));
    }
}

/// As CPython divides: a quotient by zero is that of the dividend itself, infinite.
#[track_caller]
fn float_divmod(x: &Array, y: &Array) -> [Array; 2] {
    let truncated = lax::rem(x, y);
    let by_zero = lax::eq(y, &constant(y, 0));
    let exact = where_(&by_zero, x, lax::sub(x, &truncated));
    let quotient = lax::div(&exact, y);
    let nonzero = lax::ne(&truncated, &constant(&truncated, 0));
    let signs_differ = lax::ne(&lax::sign(y), &lax::sign(&truncated));
    let move_it = lax::bitwise_and(&nonzero, &signs_differ);
    let remainder = lax::select(&move_it, &lax::add(&truncated, y), &truncated);
    let below = lax::sub(&quotient, &Array::from(1.0));
    let quotient = lax::select(&move_it, &below, &quotient);
    [
        lax::round(&quotient, RoundingMethod::AwayFromZero),
        remainder,
    ]
}

/// Quotient rounded down and remainder: [`floor_divide`] and [`remainder`].
///
/// # Panics
/// As they do.
///
/// ```
/// use jaxide::numpy;
/// let (quotient, remainder) = numpy::divmod([-7, 7], 2);
/// assert_eq!((quotient.to_vec::<i32>(), remainder.to_vec::<i32>()), (vec![-4, 3], vec![1, 1]));
/// ```
#[track_caller]
pub fn divmod(x: impl Into<Array>, y: impl Into<Array>) -> (Array, Array) {
    let _named = crate::trace::named("divmod");
    let operands = [x.into(), y.into()];
    check_broadcast("divmod", &[&operands[0], &operands[1]]);
    refuse_complex("divmod", &operands[0], &operands[1]);
    let mut results = library_call("divmod", "", &operands, |operands| {
        let [x, y] = promote_numeric("divmod", [&operands[0], &operands[1]]);
        if x.dtype().is_integer() {
            vec![floor_quotient(&x, &y), remainder_of(&x, &y)]
        } else {
            float_divmod(&x, &y).to_vec()
        }
    });
    (results.remove(0), results.remove(0))
}
