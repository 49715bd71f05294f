//! Functions that are one primitive.

use crate::array::Array;
use crate::lax;
use crate::scipy::operands::{constant, floats, inexact};

/// Functions of promoted operands that are a primitive of `lax`.
macro_rules! primitives {
    ($($(#[$doc:meta])* $name:ident($($operand:ident),*) $promote:ident $function:path;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When there is no common element type that has the function, or shapes do not broadcast.
        #[track_caller]
        pub fn $name($($operand: impl Into<Array>),*) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let [$($operand),*] = $promote(stringify!($name), [$($operand.into()),*]);
            $function($(&$operand),*)
        }
    )* };
}

primitives! {
    /// Logarithm of the absolute value of the gamma function.
    ///
    /// ```
    /// use jaxide::scipy::special;
    /// assert_eq!(special::gammaln([1.0f32, 2.0]).to_vec::<f32>(), [0.0, 0.0]);
    /// ```
    gammaln(x) inexact lax::lgamma;
    /// The derivative of [`gammaln`].
    digamma(x) inexact lax::digamma;
    /// Regularised lower incomplete gamma function `P(a, x)`.
    gammainc(a, x) inexact lax::igamma;
    /// Regularised upper incomplete gamma function `Q(a, x) = 1 - P(a, x)`.
    gammaincc(a, x) inexact lax::igammac;
    /// Regularised incomplete beta function: the integral of `t^(a - 1) (1 - t)^(b - 1)` from 0 to `x`, divided by that to 1.
    ///
    /// ```
    /// use jaxide::scipy::special;
    /// assert_eq!(special::betainc(1.0, 1.0, 0.25).item::<f32>(), 0.25);
    /// ```
    betainc(a, b, x) floats lax::betainc;
    /// Error function.
    erf(x) inexact lax::erf;
    /// `1 - erf(x)`, exact where that is small.
    erfc(x) inexact lax::erfc;
    /// The inverse of [`erf`].
    erfinv(x) inexact lax::erf_inv;
    /// `1 / (1 + e^-x)`, the inverse of [`logit`](super::logit).
    expit(x) inexact lax::logistic;
    /// Modified Bessel function of the first kind of order 0, times `e^-|x|`.
    i0e(x) inexact lax::bessel_i0e;
    /// Modified Bessel function of the first kind of order 1, times `e^-|x|`.
    i1e(x) inexact lax::bessel_i1e;
}

/// Derivative of order `n` of [`digamma`], for integers `n`.
///
/// # Panics
/// When `n` is not an integer, or `x` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// let trigamma = special::polygamma(1, 1.0).item::<f32>();
/// assert!((trigamma - 1.6449341).abs() < 1e-5);
/// ```
#[track_caller]
pub fn polygamma(n: impl Into<Array>, x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("polygamma");
    let n = n.into();
    if !n.dtype().is_integer() {
        let error = format!("the order must be an integer, and {} is given", n.aval());
        crate::trace::raise(jaxide_core::Error::dtype(error).in_operation("polygamma"));
    }
    let [n, x] = floats("polygamma", [n, x.into()]);
    lax::polygamma(&n, &x)
}

/// Distribution function of the standard normal distribution, without promotion and checks.
#[track_caller]
pub(super) fn normal_distribution(x: &Array) -> Array {
    let half_sqrt = constant(x, 0.5 * std::f64::consts::SQRT_2);
    let w = x * &half_sqrt;
    let z = lax::abs(&w);
    let near = z.lt(&half_sqrt);
    let inner = 1.0 + lax::erf(&w);
    let positive = w.gt(0.0);
    let upper = 2.0 - lax::erfc(&z);
    let outer = lax::select(&positive, &upper, &lax::erfc(&z));
    0.5 * lax::select(&near, &inner, &outer)
}
