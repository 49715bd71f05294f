//! Comparisons, truth, and what kind of number something is.

use jaxide_core::DType;

use super::arithmetic::full_like;
use crate::array::{Array, as_dtype, promote};
use crate::lax;

/// Functions of two operands that give truth values. (Not through pointers to functions, which forget the caller's line.)
macro_rules! relations {
    ($($(#[$doc:meta])* $name:ident $kind:ident $function:path;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When shapes do not broadcast, or there is no common element type.
        #[track_caller]
        pub fn $name(x: &Array, y: &Array) -> Array {
            let [x, y] = promote(stringify!($name), [x, y]);
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
        let (x_re, y_re) = (lax::real(&$x), lax::real(&$y));
        let (x_im, y_im) = (lax::imag(&$x), lax::imag(&$y));
        lax::select(
            &lax::eq(&x_re, &y_re),
            &$function(&x_im, &y_im),
            &$function(&x_re, &y_re),
        )
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
    as_dtype(x, DType::Bool, false)
}

/// Whether zero.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn logical_not(x: &Array) -> Array {
    lax::bitwise_not(&truth(x))
}

/// Whether NaN.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn isnan(x: &Array) -> Array {
    lax::ne(x, x)
}

/// Whether neither infinite nor NaN: a complex number when neither of its parts is.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn isfinite(x: &Array) -> Array {
    if x.dtype().is_complex() {
        let (re, im) = (lax::real(x), lax::imag(x));
        return lax::bitwise_and(&lax::is_finite(&re), &lax::is_finite(&im));
    }
    if x.dtype().is_float() {
        lax::is_finite(x)
    } else {
        full_like(&truth(x), true)
    }
}

/// Whether infinite: a complex number when one of its parts is.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn isinf(x: &Array) -> Array {
    if x.dtype().is_complex() {
        let (re, im) = (lax::real(x), lax::imag(x));
        return lax::bitwise_or(&infinite(&re), &infinite(&im));
    }
    if x.dtype().is_float() {
        infinite(x)
    } else {
        full_like(&truth(x), false)
    }
}

/// Whether a float is infinite.
#[track_caller]
fn infinite(x: &Array) -> Array {
    lax::eq(&lax::abs(x), &Array::from(f64::INFINITY))
}
