//! Functions that the correctly rounded library has not, in double precision and by other ways than the code that is measured: their
//! errors, some units of 1e-15, are nothing beside a unit of single precision.

#![allow(clippy::excessive_precision, reason = "digits as they were computed")]

use core_math::{erf, erfc, exp, log, tan};
use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// `1 / (1 + e^-x)`.
pub fn logistic(x: f64) -> f64 {
    let e = exp(-x.abs());
    if x < 0.0 {
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + e)
    }
}

/// `1 - x²`.
pub fn one_minus_square(x: f64) -> f64 {
    let square = x * x;
    if square > 1e16 {
        return -square;
    }
    // Exactly, but for the last sum.
    let (difference, rest) = (1.0 - square, x.mul_add(x, -square));
    let lost = if square < 1.0 {
        (1.0 - difference) - square
    } else {
        1.0 - (difference + square)
    };
    difference + (lost - rest)
}

/// -1, 0 or 1.
pub fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() {
        x
    } else {
        1f64.copysign(x)
    }
}

/// The inverse of `erf`, from it by Newton's iteration.
pub fn erf_inv(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a > 1.0 {
        return f64::NAN;
    }
    if a == 1.0 {
        return x * f64::INFINITY;
    }
    if a < 1e-9 {
        return x / FRAC_2_SQRT_PI;
    }
    // From the asymptotic form, and from below, where the iteration rises without overshooting.
    let tail = 1.0 - a;
    let mut y = if a < 0.5 {
        a / FRAC_2_SQRT_PI
    } else {
        (-log(tail)).sqrt() * 0.5
    };
    for _ in 0..200 {
        let slope = FRAC_2_SQRT_PI * exp(-y * y);
        let missing = if a < 0.5 { a - erf(y) } else { erfc(y) - tail };
        // Halley's form, in which the curvature is exact.
        let newton = missing / slope;
        let step = newton / (1.0 + newton * y);
        y += step;
        if step.abs() <= 1e-16 * y {
            break;
        }
    }
    y.copysign(x)
}

/// The derivative of the logarithm of the gamma function: -∞ at both zeros, NaN at the other poles.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x < 0.0 {
        let whole = x.round();
        if whole == x || x.is_infinite() {
            return f64::NAN;
        }
        // The reduced argument is exact.
        return digamma_positive(1.0 - x) - PI / tan(PI * (x - whole));
    }
    digamma_positive(x)
}

fn digamma_positive(x: f64) -> f64 {
    if (1.4..1.5).contains(&x) {
        // Around the root, which is r + s.
        let (r, s) = (1.4616321449683622, 9.549995429965697e-17);
        let t = (x - r) - s;
        return t * DIGAMMA_AT_ROOT.iter().rev().fold(0.0, |sum, c| sum * t + c);
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 20.0 {
        sum += 1.0 / x;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let series =
        z * (1.0 / 12.0 - z * (1.0 / 120.0 - z * (1.0 / 252.0 - z * (1.0 / 240.0 - z / 132.0))));
    log(x) - 0.5 / x - series - sum
}

/// The larger of the terms of reflection, of which `lgamma` at negative numbers is the difference; between the roots at 1 and 2 a
/// quarter.
pub fn lgamma_terms(x: f64) -> f64 {
    if x < 0.0 {
        let (value, right) = (core_math::lgamma(x), core_math::lgamma(-x));
        (value + right).abs().max(right.abs()).max(1.0)
    } else if x < 3.0 {
        0.25
    } else {
        0.0
    }
}

/// The larger of the terms of reflection, of which `digamma` at negative numbers is the difference.
pub fn digamma_terms(x: f64) -> f64 {
    if x < 0.0 {
        let (value, right) = (digamma(x), digamma(-x));
        (value - right).abs().max(right.abs()).max(PI)
    } else {
        0.0
    }
}

/// `e^-|x| I₀(x)`, by its power series and its asymptotic one.
pub fn bessel_i0e(x: f64) -> f64 {
    bessel(x.abs(), 0.0)
}

/// `e^-|x| I₁(x)`, likewise.
pub fn bessel_i1e(x: f64) -> f64 {
    bessel(x.abs(), 1.0).copysign(x)
}

fn bessel(x: f64, order: f64) -> f64 {
    if x.is_infinite() {
        return 0.0;
    }
    if x < 25.0 {
        let z = 0.25 * x * x;
        let (mut term, mut sum, mut k) = (if order == 0.0 { 1.0 } else { 0.5 * x }, 0.0, 1.0);
        while term > sum * 1e-18 {
            sum += term;
            term *= z / (k * (k + order));
            k += 1.0;
        }
        return sum * exp(-x);
    }
    // DLMF 10.40.1: terms -(4ν² - (2k - 1)²) / (8 k x), until they are nothing.
    let (mut term, mut sum, mut k) = (1.0f64, 1.0, 1.0);
    while term.abs() > 1e-18 && k < 60.0 {
        let odd = 2.0 * k - 1.0;
        term *= -(4.0 * order - odd * odd) / (8.0 * k * x);
        sum += term;
        k += 1.0;
    }
    sum / (2.0 * PI * x).sqrt()
}

/// ψ(r + t) / t in powers of t, r the positive root.
const DIGAMMA_AT_ROOT: [f64; 24] = [
    0.96767224544762117,
    -0.442763168983592106,
    0.258499760955651011,
    -0.163942705442406528,
    0.107824050691262366,
    -0.0721995612564547109,
    0.0488042881641431072,
    -0.0331611264748473593,
    0.0225976482322181047,
    -0.0154247659049489591,
    0.0105387916166121754,
    -0.00720453438635686824,
    0.00492678139572985345,
    -0.00336980165543932808,
    0.00230512632673492784,
    -0.00157693677143019726,
    0.00107882520191629658,
    -0.00073807093899600513,
    0.000504953265834602035,
    -0.0003454680251063077,
    0.000236356015640270528,
    -0.000161706220919748034,
    0.000110633727687474109,
    -0.0000756917958219506592,
];
