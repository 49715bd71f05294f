//! Exponentials and logarithms.

use super::super::elementary as real;
use super::{C128, abs, div};
use std::f64::consts::LN_2;

/// What `LN_2` misses of ln 2.
const LN_2_REST: f64 = 2.3190468138462996e-17;

/// e^z.
///
/// The imaginary part of a real number's exponential is zero, also at ±∞ and NaN; otherwise an
/// infinite or NaN imaginary part makes the result NaN (where annex G has 0 for a real part -∞).
pub fn exp(z: C128) -> C128 {
    if z.im == 0.0 {
        return C128::new(real::exp(z.re), z.im);
    }
    // e^x in two factors: it may overflow where its product with a small sine does not.
    let half = real::exp(0.5 * z.re);
    let part = |cis: f64| {
        if z.re.abs() < 700.0 {
            real::exp(z.re) * cis
        } else {
            half * cis * half
        }
    };
    C128::new(part(real::cos(z.im)), part(real::sin(z.im)))
}

/// 2^z. NaN where a part is infinite and the product with the complex number ln 2 is.
pub fn exp2(z: C128) -> C128 {
    if !z.is_finite() {
        return exp(super::mul(z, C128::new(LN_2, 0.0)));
    }
    if z.im == 0.0 {
        return C128::new(real::exp2(z.re), z.im);
    }
    // The angle y ln 2 in two parts.
    let angle = z.im * LN_2;
    let rest = z.im.mul_add(LN_2, -angle) + z.im * LN_2_REST;
    let (sine, cosine) = (real::sin(angle), real::cos(angle));
    let (small, near_one) = (real::sin(rest), real::cos(rest));
    // In two factors, the first a whole power: 2^x may overflow where its product with a small sine does not.
    let whole = (0.5 * z.re).clamp(-600.0, 600.0).round();
    let (first, second) = (real::exp2(whole), real::exp2(z.re - whole));
    let part = |cis: f64| second * cis * first;
    C128::new(
        part(cosine * near_one - sine * small),
        part(sine * near_one + cosine * small),
    )
}

/// e^z - 1, accurate near zero.
pub fn expm1(z: C128) -> C128 {
    if z.im == 0.0 {
        return C128::new(real::expm1(z.re), z.im);
    }
    // e^x cos y - 1 = (e^x - 1) cos y - 2 sin²(y/2).
    let sine = real::sin(0.5 * z.im);
    let re = real::expm1(z.re) * real::cos(z.im) - 2.0 * sine * sine;
    if z.re < 700.0 {
        C128::new(re, exp(z).im)
    } else {
        exp(z)
    }
}

/// 1 / (1 + e^-z).
pub fn logistic(z: C128) -> C128 {
    let one = C128::new(1.0, 0.0);
    if z.re >= 0.0 {
        div(one, one + exp(-z))
    } else {
        let e = exp(z);
        div(e, one + e)
    }
}

/// The principal logarithm ln |z| + i arg z, arg in [-π, π]; the sign of a zero imaginary part
/// tells the sides of the cut along the negative reals.
pub fn log(z: C128) -> C128 {
    C128::new(log_abs(z.re, z.im), real::atan2(z.im, z.re))
}

/// [`log`] divided by ln 2.
pub fn log2(z: C128) -> C128 {
    log(z) * std::f64::consts::LOG2_E
}

/// ln(1 + z), accurate near zero; the cut is along the reals below -1.
pub fn log1p(z: C128) -> C128 {
    let im = real::atan2(z.im, 1.0 + z.re);
    let (x, y) = (z.re.abs(), z.im.abs());
    if x.is_nan() || y.is_nan() {
        return C128::new(f64::NAN, f64::NAN);
    }
    let re = if x.max(y) < 4.0 {
        // |1 + z|² - 1 = 2x + x² + y².
        let excess = sum_of_squares_and(z.re, z.im, 2.0 * z.re);
        if excess > -0.5 {
            0.5 * real::log1p(excess)
        } else {
            log_abs(1.0 + z.re, z.im)
        }
    } else {
        log_abs(1.0 + z.re, z.im)
    };
    C128::new(re, im)
}

/// ln |x + iy|, accurate where the modulus is near 1.
fn log_abs(x: f64, y: f64) -> f64 {
    let modulus = abs(C128::new(x, y));
    if (0.5..2.0).contains(&modulus) {
        return 0.5 * real::log1p(sum_of_squares_and(x, y, -1.0));
    }
    if modulus.is_infinite() && x.is_finite() && y.is_finite() {
        return real::log(abs(C128::new(0.5 * x, 0.5 * y))) + LN_2;
    }
    real::log(modulus)
}

/// x² + y² + t for moderate arguments, in twice the precision, so that a cancellation between the
/// terms leaves a full number of digits.
fn sum_of_squares_and(x: f64, y: f64, t: f64) -> f64 {
    let exact_square = |v: f64| (v * v, v.mul_add(v, -(v * v)));
    let exact_sum = |a: f64, b: f64| {
        let sum = a + b;
        let b_part = sum - a;
        (sum, (a - (sum - b_part)) + (b - b_part))
    };
    let ((x2, x2_low), (y2, y2_low)) = (exact_square(x), exact_square(y));
    let (sum, low) = exact_sum(t, x2.max(y2));
    let (sum, lower) = exact_sum(sum, x2.min(y2));
    sum + (low + lower + x2_low + y2_low)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    fn c(re: f64, im: f64) -> C128 {
        C128::new(re, im)
    }

    fn close(got: C128, want: C128) {
        assert!(
            (got - want).norm() <= 1e-15 * want.norm(),
            "{got} is not {want}"
        );
    }

    #[test]
    fn exponentials() {
        close(
            exp(c(1.0, -2.0)),
            c(-1.1312043837568138, -2.471726672004819),
        );
        let half_overflowed = exp(c(710.0, std::f64::consts::FRAC_PI_2));
        assert!((half_overflowed.re / 1.3679272698459396e292 - 1.0).abs() < 1e-15);
        assert_eq!(half_overflowed.im, INF);
        close(expm1(c(1e-10, 1e-10)), c(1e-10, 1.0000000001e-10));
        close(
            logistic(c(1.0, -2.0)),
            c(1.0214153641721806, -0.4034387060815424),
        );
        close(logistic(c(-1000.0, 1.0)), c(0.0, 0.0));
    }

    #[test]
    fn exponentials_at_infinity() {
        assert_eq!(exp(c(INF, 0.0)), c(INF, 0.0));
        assert_eq!(exp(c(-INF, 2.0)), c(0.0, 0.0));
        assert!(exp(c(-INF, INF)).re.is_nan());
        assert_eq!(expm1(c(-INF, 1.0)), c(-1.0, 0.0));
        assert_eq!(logistic(c(INF, 1.0)), c(1.0, 0.0));
        assert!(exp2(c(INF, 1.0)).re.is_nan());
        close(exp2(c(10.0, 0.0)), c(1024.0, 0.0));
        close(
            exp2(c(1.0, 1e10)),
            c(0.16641190798487174, -1.9930647447789633),
        );
    }

    #[test]
    fn logarithms() {
        close(log(c(-2.0, -0.0)), c(LN_2, -std::f64::consts::PI));
        close(log(c(0.6, 0.8)), c(0.0, 0.9272952180016123));
        close(
            log(c(1.5e308, 1.5e308)),
            c(709.9482473405542, std::f64::consts::FRAC_PI_4),
        );
        close(log1p(c(1e-10, 0.0)), c(9.9999999995e-11, 0.0));
        close(log1p(c(0.0, 1e-10)), c(5e-21, 1e-10));
        close(
            log1p(c(-2.0, 1.0)),
            c(0.34657359027997264, 2.356194490192345),
        );
        assert_eq!(log(c(0.0, 0.0)).re, -INF);
        assert_eq!(log1p(c(-1.0, 0.0)).re, -INF);
    }
}
