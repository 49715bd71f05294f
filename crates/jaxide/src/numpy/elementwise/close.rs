//! Whether arrays are equal, or nearly so.

use jaxide_core::DType;

use super::super::arithmetic::promote_inexact;
use super::super::{all, check_broadcast, equal, isfinite, isnan};
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::options::options;
use crate::trace::library;
use crate::trace::library::library_call;

options! {
    /// What [`isclose`] and [`allclose`] take beside the arrays.
    pub struct Close {
        /// How far apart numbers may be, relative to the second: 1e-5 by default.
        rtol: Option<Array> = None, |rtol: impl Into<Array>| Some(rtol.into());
        /// How far apart they may be beside that: 1e-8 by default.
        atol: Option<Array> = None, |atol: impl Into<Array>| Some(atol.into());
        /// Whether NaN is close to NaN.
        equal_nan: bool = false;
    }

    /// What [`array_equal`] takes beside the arrays.
    pub struct ArrayEqual {
        /// Whether NaN is equal to NaN.
        equal_nan: bool = false;
    }
}

const RTOL: f64 = 1e-5;
const ATOL: f64 = 1e-8;

/// Whether numbers are equal, or no further apart than `atol + rtol * |b|`.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
///
/// ```
/// use jaxide::{Array, numpy};
/// let (x, y) = (Array::from([1.0f32, 100.0]), Array::from([1.0f32, 101.0]));
/// assert_eq!(numpy::isclose(&x, &y, ()).to_bools(), [true, false]);
/// assert_eq!(numpy::isclose(&x, &y, numpy::Close::new().rtol(0.1)).to_bools(), [true, true]);
/// ```
#[track_caller]
pub fn isclose(a: impl Into<Array>, b: impl Into<Array>, options: impl Into<Close>) -> Array {
    let _named = crate::trace::named("isclose");
    let (operands, given, equal_nan) =
        close_operands("isclose", [a.into(), b.into()], options.into());
    let key = format!("{given:?} {equal_nan}");
    let close = |x: &[Array]| {
        let (rtol, atol) = tolerances(x, given);
        vec![nearly_equal([&x[0], &x[1]], [&rtol, &atol], equal_nan)]
    };
    library_call("isclose", &key, &operands, close).remove(0)
}

/// Whether all numbers are close: see [`isclose`].
///
/// # Panics
/// As [`isclose`].
///
/// ```
/// use jaxide::numpy;
/// assert!(numpy::allclose([1.0, 2.0], [1.0, 2.000001], ()).truth());
/// ```
#[track_caller]
pub fn allclose(a: impl Into<Array>, b: impl Into<Array>, options: impl Into<Close>) -> Array {
    let _named = crate::trace::named("allclose");
    let (operands, given, equal_nan) =
        close_operands("allclose", [a.into(), b.into()], options.into());
    let key = format!("{given:?} {equal_nan}");
    let close = |x: &[Array]| {
        let (rtol, atol) = tolerances(x, given);
        let key = format!("tolerances {equal_nan}");
        let close = library(
            "isclose",
            &key,
            [&x[0], &x[1], &rtol, &atol],
            |[a, b, rtol, atol]| nearly_equal([a, b], [rtol, atol], equal_nan),
        );
        vec![all(&close, ())]
    };
    library_call("allclose", &key, &operands, close).remove(0)
}

/// The operands in the order in which JAX's call has them, which of the tolerances are among them, and `equal_nan`.
#[track_caller]
fn close_operands(
    operation: &str,
    arrays: [Array; 2],
    options: Close,
) -> (Vec<Array>, [bool; 2], bool) {
    check_broadcast(operation, &[&arrays[0], &arrays[1]]);
    let given = [options.atol.is_some(), options.rtol.is_some()];
    let mut operands = arrays.to_vec();
    operands.extend(options.atol);
    operands.extend(options.rtol);
    (operands, given, options.equal_nan)
}

/// The tolerances behind the arrays, or the defaults.
fn tolerances(operands: &[Array], [atol, rtol]: [bool; 2]) -> (Array, Array) {
    let mut given = operands[2..].iter().cloned();
    let atol = if atol { given.next() } else { None };
    let rtol = if rtol { given.next() } else { None };
    (
        rtol.unwrap_or_else(|| Array::from(RTOL)),
        atol.unwrap_or_else(|| Array::from(ATOL)),
    )
}

#[track_caller]
fn nearly_equal(operands: [&Array; 2], [rtol, atol]: [&Array; 2], equal_nan: bool) -> Array {
    let [a, b] = promote_inexact("isclose", operands);
    let dtype = a.dtype().real();
    let (rtol, atol) = (as_dtype(rtol, dtype, false), as_dtype(atol, dtype, false));
    let both_nan = lax::bitwise_and(&isnan(&a), &isnan(&b));
    let finite = isfinite(&b);
    let distance = lax::abs(&lax::sub(&a, &b));
    let allowed = lax::add(&atol, &lax::mul(&rtol, &lax::abs(&b)));
    let near = lax::le(&distance, &allowed);
    let equal = lax::eq(&a, &b);
    let close = lax::bitwise_or(&equal, &lax::bitwise_and(&finite, &near));
    if equal_nan {
        lax::bitwise_or(&close, &both_nan)
    } else {
        close
    }
}

/// Whether shapes and all elements are equal.
///
/// # Panics
/// When there is no common element type.
///
/// ```
/// use jaxide::numpy;
/// assert!(numpy::array_equal([1, 2], [1, 2], ()).truth());
/// assert!(!numpy::array_equal([1, 2], [1, 3], ()).truth());
/// assert!(numpy::array_equal([f32::NAN], [f32::NAN], numpy::ArrayEqual::new().equal_nan(true)).truth());
/// ```
#[track_caller]
pub fn array_equal(
    a1: impl Into<Array>,
    a2: impl Into<Array>,
    options: impl Into<ArrayEqual>,
) -> Array {
    let _named = crate::trace::named("array_equal");
    let (x, y) = (a1.into(), a2.into());
    if x.shape() != y.shape() {
        return lax::full((), false, DType::Bool);
    }
    let mut same = equal(&x, &y);
    if options.into().equal_nan {
        same = lax::bitwise_or(&same, &lax::bitwise_and(&isnan(&x), &isnan(&y)));
    }
    all(&same, ())
}

/// Whether all elements are equal where shapes broadcast; false where they do not.
///
/// # Panics
/// When there is no common element type.
#[track_caller]
pub fn array_equiv(a1: impl Into<Array>, a2: impl Into<Array>) -> Array {
    let _named = crate::trace::named("array_equiv");
    let (x, y) = (a1.into(), a2.into());
    let fits = |(x, y): (&usize, &usize)| x == y || *x == 1 || *y == 1;
    let mut pairs = x.shape().iter().rev().zip(y.shape().iter().rev());
    if !pairs.all(fits) {
        return lax::full((), false, DType::Bool);
    }
    all(&equal(&x, &y), ())
}
