//! Rounding: of integers, nothing is rounded.

use jaxide_core::DType;
use jaxide_core::prims::RoundingMethod;

use super::arithmetic::inexact;
use super::where_;
use crate::array::{Array, as_dtype};
use crate::lax;

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
    /// Nearest integer towards zero.
    trunc towards_zero;
}

#[track_caller]
fn towards_zero(x: &Array) -> Array {
    where_(&lax::lt(x, &Array::from(0)), &lax::ceil(x), &lax::floor(x))
}

/// Nearest integer, halves to the even one, as a float; complex numbers by parts.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn rint(x: &Array) -> Array {
    if x.dtype().is_inexact() {
        nearest(x)
    } else {
        as_dtype(x, inexact(x.dtype()), false)
    }
}

/// Nearest integer, halves to the even one; complex numbers by parts. Integers stay as they are.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn round(x: &Array) -> Array {
    if x.dtype().is_integer() {
        x.clone()
    } else {
        nearest(x)
    }
}

#[track_caller]
fn nearest(x: &Array) -> Array {
    if x.dtype().is_complex() {
        return lax::complex(&nearest(&lax::real(x)), &nearest(&lax::imag(x)));
    }
    lax::round(x, RoundingMethod::ToNearestEven)
}
