//! Comparisons, truth, and what kind of number something is.

use jaxide_core::DType;

use super::arithmetic::{constant, imag, real_only};
use crate::array::{Array, promote};
use crate::lax;
use crate::trace::{library, raise};

/// Functions of two operands that give truth values. (Not through pointers to functions, which forget the caller's line.)
macro_rules! relations {
    ($($(#[$doc:meta])* $name:ident $kind:ident $function:path;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When shapes do not broadcast, or there is no common element type.
        #[track_caller]
        pub fn $name(x: impl Into<Array>, y: impl Into<Array>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let [x, y] = promote(stringify!($name), [&x.into(), &y.into()]);
            relations!(@$kind $function, x, y)
        }
    )* };
    (@equality $function:path, $x:ident, $y:ident) => { $function(&$x, &$y) };
    (@truth $function:path, $x:ident, $y:ident) => { $function(&truth(&$x), &truth(&$y)) };
    (@order $function:path, $x:ident, $y:ident) => {{
        if !$x.dtype().is_complex() {
            return $function(&$x, &$y);
        }
        // In lexicographic order.
        let same = lax::eq(&lax::real(&$x), &lax::real(&$y));
        let by_imaginary = $function(&lax::imag(&$x), &lax::imag(&$y));
        let by_real = $function(&lax::real(&$x), &lax::real(&$y));
        lax::select(&same, &by_imaginary, &by_real)
    }};
}

relations! {
    /// Whether equal.
    equal equality lax::eq;
    /// Whether different.
    not_equal equality lax::ne;
    /// Whether less; complex numbers are compared by their real parts, and by their imaginary parts where those are equal.
    less order lax::lt;
    /// Whether less or equal; complex numbers as in [`less`].
    less_equal order lax::le;
    /// Whether greater; complex numbers as in [`less`].
    greater order lax::gt;
    /// Whether greater or equal; complex numbers as in [`less`].
    greater_equal order lax::ge;
    /// Whether both are true: not zero.
    logical_and truth lax::bitwise_and;
    /// Whether one is true: not zero.
    logical_or truth lax::bitwise_or;
    /// Whether exactly one is true: not zero.
    logical_xor truth lax::bitwise_xor;
}

/// Whether not zero.
#[track_caller]
pub(super) fn truth(x: &Array) -> Array {
    if x.dtype() == DType::Bool {
        x.clone()
    } else {
        lax::ne(x, &constant(x, 0))
    }
}

/// Whether zero.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn logical_not(x: &Array) -> Array {
    let _named = crate::trace::named("logical_not");
    lax::bitwise_not(&truth(x))
}

/// Whether NaN.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn isnan(x: &Array) -> Array {
    let _named = crate::trace::named("isnan");
    lax::ne(x, x)
}

/// Whether neither infinite nor NaN: a complex number when neither of its parts is.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn isfinite(x: &Array) -> Array {
    let _named = crate::trace::named("isfinite");
    if x.dtype().is_complex() {
        let re = lax::is_finite(&lax::real(x));
        return lax::bitwise_and(&re, &lax::is_finite(&lax::imag(x)));
    }
    if x.dtype().is_float() {
        lax::is_finite(x)
    } else {
        lax::full(x.shape(), true, DType::Bool)
    }
}

/// Whether infinite: a complex number when one of its parts is.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn isinf(x: &Array) -> Array {
    let _named = crate::trace::named("isinf");
    library("isinf", "", [x], |[x]| {
        if x.dtype().is_complex() {
            let (re, im) = (lax::real(x), lax::imag(x));
            lax::bitwise_or(&infinite(&re), &infinite(&im))
        } else if x.dtype().is_float() {
            infinite(x)
        } else {
            lax::full(x.shape(), false, DType::Bool)
        }
    })
}

/// Whether a float is infinite.
#[track_caller]
fn infinite(x: &Array) -> Array {
    lax::eq(&lax::abs(x), &constant(x, f64::INFINITY))
}

/// Whether a float is this infinity.
#[track_caller]
fn is_infinity(operation: &str, x: &Array, infinity: f64) -> Array {
    if x.dtype().is_complex() {
        raise(real_only(operation, x));
    }
    if x.dtype().is_float() {
        lax::eq(x, &constant(x, infinity))
    } else {
        lax::full(x.shape(), false, DType::Bool)
    }
}

/// Whether positive infinity.
///
/// # Panics
/// When `x` is complex.
#[track_caller]
pub fn isposinf(x: &Array) -> Array {
    let _named = crate::trace::named("isposinf");
    is_infinity("isposinf", x, f64::INFINITY)
}

/// Whether negative infinity.
///
/// # Panics
/// When `x` is complex.
#[track_caller]
pub fn isneginf(x: &Array) -> Array {
    let _named = crate::trace::named("isneginf");
    is_infinity("isneginf", x, f64::NEG_INFINITY)
}

/// Whether the imaginary part is not zero.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn iscomplex(x: &Array) -> Array {
    let _named = crate::trace::named("iscomplex");
    library("iscomplex", "", [x], |[x]| {
        let part = imag(x);
        lax::ne(&part, &constant(&part, 0))
    })
}

/// Whether the imaginary part is zero.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn isreal(x: &Array) -> Array {
    let _named = crate::trace::named("isreal");
    library("isreal", "", [x], |[x]| {
        let part = imag(x);
        lax::eq(&part, &constant(&part, 0))
    })
}

/// Whether the element type is complex.
#[must_use]
pub fn iscomplexobj(x: &Array) -> bool {
    x.dtype().is_complex()
}

/// Whether the element type is not complex.
#[must_use]
pub fn isrealobj(x: &Array) -> bool {
    !x.dtype().is_complex()
}
