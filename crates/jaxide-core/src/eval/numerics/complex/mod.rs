//! Complex functions, for `Complex<f64>`; `c64` goes through [`through_c128`].
//!
//! Values are accurate in the modulus of the result, away from overflow mostly in each part.
//! Special values are those of C99 annex G except where JAX decides otherwise:
//!
//! * On a branch cut the functions `sqrt`, `asin`, `acos`, `acosh`, `asinh` take -0 for 0, so that
//!   the cut belongs to the side of positive imaginary (for `asinh` positive real) parts. `log`,
//!   `log1p`, `atanh`, `atan` distinguish the zeros.
//! * An infinite part beside a NaN does not always hide the NaN; each function says so.

mod exponential;
mod inverse;
mod power;
mod trigonometric;

pub use exponential::{exp, exp2, expm1, log, log1p, log2, logistic};
pub use inverse::{acos, acosh, asin, asinh, atan, atan2, atanh};
pub use power::{pow, rsqrt, sqrt};
pub use trigonometric::{cos, cosh, sin, sinh, tan, tanh};

use super::float::Real;
use num_complex::Complex;

/// A complex number of the working precision.
pub type C128 = Complex<f64>;

/// Applies a function of `c128` to a complex number over any float dtype: widen, compute, round
/// each part once.
pub fn through_c128<T: Real>(f: impl FnOnce(C128) -> C128, z: Complex<T>) -> Complex<T> {
    round_from(f(widen(z)))
}

/// [`through_c128`] for a function of two arguments.
pub fn through_c128_2<T: Real>(
    f: impl FnOnce(C128, C128) -> C128,
    z: Complex<T>,
    w: Complex<T>,
) -> Complex<T> {
    round_from(f(widen(z), widen(w)))
}

/// The same number with `f64` parts.
pub fn widen<T: Real>(z: Complex<T>) -> C128 {
    C128::new(z.re.to_f64(), z.im.to_f64())
}

/// The number with each part rounded to the dtype.
pub fn round_from<T: Real>(z: C128) -> Complex<T> {
    Complex::new(T::round_from(z.re), T::round_from(z.im))
}

/// The modulus, without undue overflow; ∞ when a part is infinite, also beside a NaN.
pub fn abs(z: C128) -> f64 {
    libm::hypot(z.re, z.im)
}

/// z / |z|, and z itself for zero. NaN where an infinite part would be divided by ∞.
pub fn sign(z: C128) -> C128 {
    if z.re == 0.0 && z.im == 0.0 {
        return z;
    }
    // Scaled first, so that the modulus of a subnormal or huge number has all its digits.
    let scaled = z * power_of_two_scale(z.re.abs().max(z.im.abs()));
    scaled / abs(scaled)
}

/// z², with the real part as a product of sum and difference.
pub fn square(z: C128) -> C128 {
    let balanced = z.re.abs() == z.im.abs() && z.re.is_finite();
    let re = if balanced {
        0.0
    } else {
        (z.re - z.im) * (z.re + z.im)
    };
    C128::new(re, 2.0 * (z.re * z.im))
}

/// z · w, part by part; an infinity times a number with a zero part gives NaN.
pub fn mul(z: C128, w: C128) -> C128 {
    C128::new(z.re * w.re - z.im * w.im, z.re * w.im + z.im * w.re)
}

/// z / w by the algorithm of C99 annex G: the divisor is scaled by a power of two against overflow,
/// and NaNs that stand for an infinity or a zero are recovered.
pub fn div(z: C128, w: C128) -> C128 {
    let largest = w.re.abs().max(w.im.abs());
    let scale = if largest.is_finite() {
        power_of_two_scale(largest)
    } else {
        1.0
    };
    let (c, d) = (w.re * scale, w.im * scale);
    let denominator = c * c + d * d;
    let re = (z.re * c + z.im * d) / denominator * scale;
    let im = (z.im * c - z.re * d) / denominator * scale;
    if !(re.is_nan() && im.is_nan()) {
        return C128::new(re, im);
    }
    let unit = |x: f64| f64::from(u8::from(x.is_infinite())).copysign(x);
    if denominator == 0.0 && !(z.re.is_nan() && z.im.is_nan()) {
        let infinity = f64::INFINITY.copysign(c);
        C128::new(infinity * z.re, infinity * z.im)
    } else if (z.re.is_infinite() || z.im.is_infinite()) && c.is_finite() && d.is_finite() {
        let (a, b) = (unit(z.re), unit(z.im));
        C128::new(
            f64::INFINITY * (a * c + b * d),
            f64::INFINITY * (b * c - a * d),
        )
    } else if largest.is_infinite() && z.re.is_finite() && z.im.is_finite() {
        let (c, d) = (unit(c), unit(d));
        C128::new(0.0 * (z.re * c + z.im * d), 0.0 * (z.im * c - z.re * d))
    } else {
        C128::new(re, im)
    }
}

/// 1 / z.
pub fn reciprocal(z: C128) -> C128 {
    div(C128::new(1.0, 0.0), z)
}

/// The power of two that brings a finite positive x near 1; 1 for zero, ∞ and NaN.
fn power_of_two_scale(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return 1.0;
    }
    // Kept away from the ends of the exponent range, so that the scale itself is normal.
    libm::exp2(f64::from(-libm::ilogb(x).clamp(-1000, 1000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    fn c(re: f64, im: f64) -> C128 {
        C128::new(re, im)
    }

    #[test]
    fn extreme_moduli() {
        assert_eq!(abs(c(3e300, 4e300)), 5e300);
        assert_eq!(abs(c(NAN, -INF)), INF);
        assert!((sign(c(3e-320, 4e-320)) - c(0.6, 0.8)).norm() < 1e-3);
        assert!((sign(c(1.5e308, -1.5e308)) - c(0.5f64.sqrt(), -0.5f64.sqrt())).norm() < 1e-15);
        assert!(sign(c(-0.0, 0.0)).re.is_sign_negative());
        assert!(sign(c(INF, 1.0)).re.is_nan());
        assert_eq!(square(c(1.5e308, -1.5e308)), c(0.0, -INF));
    }

    /// Results of `lax.div`.
    #[test]
    fn division() {
        assert!((div(c(1.0, 2.0), c(3e300, -4e300)) * 1e300 - c(-0.2, 0.4)).norm() < 1e-15);
        assert_eq!(div(c(1e-300, 0.0), c(1e-300, 1e-300)), c(0.5, -0.5));
        assert_eq!(div(c(1.0, 1.0), c(INF, 2.0)), c(0.0, 0.0));
        assert_eq!(div(c(1.0, 0.0), c(NAN, INF)), c(0.0, 0.0));
        assert_eq!(div(c(INF, 1.0), c(1.0, 1.0)), c(INF, -INF));
        let by_zero = reciprocal(c(-0.0, 0.0));
        assert!(by_zero.re == -INF && by_zero.im.is_nan());
    }
}
