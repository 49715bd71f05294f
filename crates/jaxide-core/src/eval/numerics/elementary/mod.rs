//! Elementary real functions, for `f64`; narrower dtypes go through
//! [`through_f64`](super::float::through_f64).
//!
//! Most are the pure-Rust port of musl's mathematical library (crate `libm`; errors below 1 to 2
//! ulp of `f64`), used instead of `std` so that every platform gives the same bits. Special values
//! are those of C99 annex F unless a function says otherwise; outside a function's real domain the
//! result is NaN.
//!
//! Only [`integer_pow`] (a fixed order of multiplications) depends on the dtype itself.

mod erf_inv;
mod hyperbolic;
mod integer_pow;

pub use erf_inv::erf_inv;
pub use hyperbolic::{sinh, tanh};
pub use integer_pow::integer_pow;

/// The absolute value; clears the sign of zero and NaN.
pub fn abs(x: f64) -> f64 {
    x.abs()
}

/// e^x.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// 2^x.
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

/// e^x - 1, accurate near zero.
pub fn expm1(x: f64) -> f64 {
    libm::expm1(x)
}

/// The natural logarithm; -∞ at both zeros.
pub fn log(x: f64) -> f64 {
    libm::log(x)
}

/// The logarithm to base 2; -∞ at both zeros.
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// ln(1 + x), accurate near zero; -∞ at -1.
pub fn log1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// The sine; NaN at ±∞.
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// The cosine; NaN at ±∞.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// The tangent; NaN at ±∞.
pub fn tan(x: f64) -> f64 {
    libm::tan(x)
}

/// The arc sine, in [-π/2, π/2].
pub fn asin(x: f64) -> f64 {
    libm::asin(x)
}

/// The arc cosine, in [0, π].
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}

/// The arc tangent, in [-π/2, π/2].
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

/// The angle of the point (x, y) from the positive x axis, in [-π, π].
///
/// Signed zeros and infinities as in C99: `atan2(±0, -0)` is ±π, `atan2(±∞, ∞)` is ±π/4.
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// The hyperbolic cosine.
pub fn cosh(x: f64) -> f64 {
    libm::cosh(x)
}

/// The inverse hyperbolic sine.
pub fn asinh(x: f64) -> f64 {
    libm::asinh(x)
}

/// The inverse hyperbolic cosine; NaN below 1.
pub fn acosh(x: f64) -> f64 {
    // libm's own answer for large negative arguments is a finite number.
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// The inverse hyperbolic tangent; ±∞ at ±1, NaN beyond.
pub fn atanh(x: f64) -> f64 {
    libm::atanh(x)
}

/// The logistic function 1 / (1 + e^-x).
pub fn logistic(x: f64) -> f64 {
    if x.abs() < 1.0 {
        return 0.5 + 0.5 * tanh(0.5 * x);
    }
    let e = exp(-x.abs());
    let sum = 1.0 + e;
    // What the sum has lost, which divides too.
    let lost = (e - (sum - 1.0)) / sum;
    let quotient = if x < 0.0 { e } else { 1.0 } / sum;
    quotient - quotient * lost
}

/// The square root; keeps -0.
pub fn sqrt(x: f64) -> f64 {
    x.sqrt()
}

/// 1 / √x; ±∞ at ±0.
pub fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// The cube root, with the sign of x.
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// The error function 2/√π ∫₀ˣ e^(-t²) dt.
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// 1 - erf(x), accurate in the right tail.
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// x^y with the special values of C99: 1 for `y == 0` or `x == 1` whatever the other (NaN
/// included), 1 for `pow(-1, ±∞)`, NaN for a negative finite x and a finite y that is not whole.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// The remainder x - y·trunc(x / y), exact, with the sign of the dividend.
///
/// NaN for an infinite x or a zero y; x itself for an infinite y.
pub fn rem(x: f64, y: f64) -> f64 {
    x % y
}

/// -1, 0 or 1; keeps the sign of zero and NaN.
pub fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}

/// The larger; NaN if either is, and 0 over -0.
pub fn max(x: f64, y: f64) -> f64 {
    if x.is_nan() || x > y || (x == y && x.is_sign_positive()) {
        x
    } else {
        y
    }
}

/// The smaller; NaN if either is, and -0 over 0.
pub fn min(x: f64, y: f64) -> f64 {
    if x.is_nan() || x < y || (x == y && x.is_sign_negative()) {
        x
    } else {
        y
    }
}

/// The largest whole number not above x; keeps -0.
pub fn floor(x: f64) -> f64 {
    x.floor()
}

/// The smallest whole number not below x; keeps -0 and gives it for (-1, 0).
pub fn ceil(x: f64) -> f64 {
    x.ceil()
}

/// The nearest whole number, halves away from zero (`rounding_method` 0).
pub fn round_half_away(x: f64) -> f64 {
    x.round()
}

/// The nearest whole number, halves to the even one (`rounding_method` 1).
pub fn round_half_even(x: f64) -> f64 {
    x.round_ties_even()
}

#[cfg(test)]
mod tests {
    use super::super::float::{through_f64, through_f64_2};
    use super::*;
    use half::bf16;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn float32_results_are_the_rounded_double_results() {
        // Checked against correctly rounded values.
        assert_eq!(through_f64(sin, 1.0e20f32), 0.6565767);
        assert_eq!(through_f64(tan, 1.5707964f32), -2.2877332e7);
        assert_eq!(through_f64(exp, 88.7f32), 3.3259768e38);
        assert_eq!(through_f64(exp, 89.0f32), f32::INFINITY);
        assert_eq!(through_f64(expm1, -1e-10f32), -1e-10);
        assert_eq!(through_f64(cbrt, -27.0f32), -3.0);
        assert_eq!(through_f64(erfc, 9.0f32), 4.1370317e-37);
        assert_eq!(through_f64_2(pow, 10.0f32, -38.0), 1e-38);
    }

    #[test]
    fn special_values() {
        assert_eq!(pow(f64::NAN, 0.0), 1.0);
        assert_eq!(pow(1.0, f64::NAN), 1.0);
        assert_eq!(pow(-1.0, INF), 1.0);
        assert!(pow(-2.0, 0.5).is_nan());
        assert_eq!(pow(-0.0, -3.0), -INF);
        assert_eq!(atan2(-0.0, -0.0), -std::f64::consts::PI);
        assert_eq!(atan2(INF, -INF), 0.75 * std::f64::consts::PI);
        assert_eq!(rem(-7.0, 3.0), -1.0);
        assert_eq!(rem(7.0, -INF), 7.0);
        assert!(rem(7.0, 0.0).is_nan() && rem(INF, 2.0).is_nan());
        assert!(sign(-0.0).is_sign_negative() && sign(f64::NAN).is_nan());
        assert_eq!(logistic(-INF), 0.0);
        assert_eq!(atanh(-1.0), -INF);
        assert!(acosh(-83761.516).is_nan());
        assert_eq!(rsqrt(-0.0), -INF);
        assert!(max(f64::NAN, 1.0).is_nan() && max(1.0, f64::NAN).is_nan());
        assert!(max(-0.0, 0.0).is_sign_positive() && min(0.0, -0.0).is_sign_negative());
    }

    #[test]
    fn rounding_of_halves() {
        for (x, away, even) in [
            (0.5, 1.0, 0.0),
            (1.5, 2.0, 2.0),
            (-2.5, -3.0, -2.0),
            (0.49999999999999994, 0.0, 0.0),
        ] {
            assert_eq!((round_half_away(x), round_half_even(x)), (away, even));
        }
        assert!(round_half_even(-0.2).is_sign_negative());
    }

    #[test]
    fn exp2_is_exact_for_whole_numbers() {
        let want = 2f64.powf(f64::from(123.67759f32)) as f32;
        assert_eq!(through_f64(exp2, 123.67759f32), want);
        assert_eq!(exp2(709.0), 2f64.powi(709));
        assert_eq!(exp2(-1074.0), f64::from_bits(1));
        assert_eq!(through_f64(exp2, bf16::from_f32(6.0)).to_f32(), 64.0);
    }
}
