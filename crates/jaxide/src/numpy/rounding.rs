//! Rounding: of integers, nothing is rounded.

use jaxide_core::prims::RoundingMethod;
use jaxide_core::{DType, Error};

use super::arithmetic::{constant, inexact};
use super::where_;
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::options::options;
use crate::trace::{library, raise};

/// Functions that leave integers and truth values as they are.
macro_rules! roundings {
    ($($(#[$doc:meta])* $name:ident $function:path;)*) => { $(
        $(#[$doc])*
        /// Integers and truth values stay as they are.
        ///
        /// # Panics
        /// When `x` is complex.
        #[track_caller]
        pub fn $name(x: &Array) -> Array {
            let _named = crate::trace::named(stringify!($name));
            if x.dtype().is_integer() || x.dtype() == DType::Bool {
                x.clone()
            } else {
                $function(x)
            }
        }
    )* };
}

roundings! {
    /// Largest integer not above.
    floor lax::floor;
    /// Smallest integer not below.
    ceil lax::ceil;
}

/// Nearest integer towards zero. Integers and truth values stay as they are.
///
/// # Panics
/// When `x` is complex.
#[track_caller]
pub fn trunc(x: &Array) -> Array {
    let _named = crate::trace::named("trunc");
    library("trunc", "", [x], |[x]| {
        if !x.dtype().is_inexact() {
            return x.clone();
        }
        let negative = lax::lt(x, &constant(x, 0));
        where_(negative, lax::ceil(x), lax::floor(x))
    })
}

/// Nearest integer towards zero: the same as [`trunc`].
///
/// # Panics
/// When `x` is complex.
#[track_caller]
pub fn fix(x: &Array) -> Array {
    let _named = crate::trace::named("fix");
    trunc(x)
}

/// Nearest integer, halves to the even one, as a float; complex numbers by parts.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn rint(x: &Array) -> Array {
    let _named = crate::trace::named("rint");
    library("rint", "", [x], |[x]| {
        if x.dtype().is_complex() {
            return lax::complex(&rint(&lax::real(x)), &rint(&lax::imag(x)));
        }
        if x.dtype().is_float() {
            lax::round(x, RoundingMethod::ToNearestEven)
        } else {
            as_dtype(x, inexact(x.dtype()), false)
        }
    })
}

options! {
    /// What [`round`] takes beside the array; a number of decimals alone is one too.
    pub struct Round {
        /// Digits behind the point: none by default; negative ones count before it.
        decimals: i32 = 0;
    }
}

impl From<i32> for Round {
    fn from(decimals: i32) -> Self {
        Round::new().decimals(decimals)
    }
}

/// Nearest number with so many decimals, halves to the even one; complex numbers by parts. Integers stay as they are.
///
/// # Panics
/// When `x` is not a number, or integers are rounded to tens.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1.25f32, -0.5]);
/// assert_eq!(numpy::round(&x, ()).to_vec::<f32>(), [1.0, -0.0]);
/// assert_eq!(numpy::round(&x, 1).to_vec::<f32>(), [1.2, -0.5]);
/// ```
#[track_caller]
pub fn round(x: &Array, options: impl Into<Round>) -> Array {
    let _named = crate::trace::named("round");
    rounded(x, options.into().decimals)
}

/// The same as [`round`].
///
/// # Panics
/// As [`round`].
#[track_caller]
pub fn around(x: &Array, options: impl Into<Round>) -> Array {
    let _named = crate::trace::named("around");
    let Round { decimals } = options.into();
    library("around", &decimals.to_string(), [x], |[x]| {
        rounded(x, decimals)
    })
}

#[track_caller]
fn rounded(x: &Array, decimals: i32) -> Array {
    if x.dtype().is_integer() && decimals < 0 {
        let error = format!(
            "integers are not rounded to tens, and {} is given",
            x.aval()
        );
        raise(Error::dtype(error).in_operation("round"));
    }
    library("round", &decimals.to_string(), [x], |[x]| {
        if x.dtype().is_integer() {
            return x.clone();
        }
        if !x.dtype().is_inexact() {
            return lax::round(x, RoundingMethod::ToNearestEven);
        }
        let largest = match x.dtype() {
            DType::F16 => 4.816,
            DType::F64 | DType::C128 => 308.25,
            _ => 38.53,
        };
        if f64::from(decimals) > largest {
            return x.clone();
        }
        if x.dtype().is_complex() {
            let re = rounded_float(&lax::real(x), decimals);
            return lax::complex(&re, &rounded_float(&lax::imag(x), decimals));
        }
        rounded_float(x, decimals)
    })
}

#[track_caller]
fn rounded_float(x: &Array, decimals: i32) -> Array {
    if decimals == 0 {
        return lax::round(x, RoundingMethod::ToNearestEven);
    }
    let dtype = x.dtype();
    let x = match dtype {
        DType::F16 => as_dtype(x, DType::F32, false),
        _ => x.clone(),
    };
    let factor = constant(&x, 10.0_f64.powi(decimals));
    let moved = lax::round(&lax::mul(&x, &factor), RoundingMethod::ToNearestEven);
    let weak = x.weak_type() && dtype != DType::F16;
    as_dtype(&lax::div(&moved, &factor), dtype, weak)
}
