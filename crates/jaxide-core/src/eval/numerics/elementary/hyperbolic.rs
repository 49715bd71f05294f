//! Hyperbolic functions that the library has with errors of 2 ulp.

use super::exp;

/// The hyperbolic sine.
pub fn sinh(x: f64) -> f64 {
    let a = x.abs();
    if a < 1.0 {
        // x + x³/3! + x⁵/5! + …
        let s = x * x;
        let sum = (1..11).rev().fold(0.0, |sum, k| {
            let n = f64::from(2 * k);
            (1.0 + sum) * s / (n * (n + 1.0))
        });
        return x + x * sum;
    }
    let size = if a < 709.0 {
        let e = exp(a);
        0.5 * (e - 1.0 / e)
    } else {
        // e^a overflows before its half does; 2043 ln 2 is next to a number of double precision.
        const LN_2_TIMES_2043: f64 = 1416.0996898839683;
        let scale = 2f64.powi(1021);
        exp(a - LN_2_TIMES_2043) * scale * scale
    };
    size.copysign(x)
}

/// The hyperbolic tangent; ±1 at ±∞.
pub fn tanh(x: f64) -> f64 {
    let a = x.abs();
    if a < 0.55 {
        // x - (x cosh x - sinh x) / cosh x, both by their series.
        let s = x * x;
        let (mut term, mut difference, mut cosh) = (1.0, 0.0, 1.0);
        for k in 1..10 {
            // s^k / (2k)!
            let n = f64::from(2 * k);
            term *= s / (n * (n - 1.0));
            cosh += term;
            difference += term * (n / (n + 1.0));
        }
        return (a - a * difference / cosh).copysign(x);
    }
    (1.0 - 2.0 / (exp(2.0 * a) + 1.0)).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Correctly rounded values.
    #[test]
    fn values_and_edges() {
        let near = |got: f64, want: f64| assert!((got / want - 1.0).abs() <= f64::EPSILON, "{got}");
        near(sinh(-0.7064149474547179), -0.7666512087832811);
        near(sinh(1.5), 2.1292794550948173);
        near(sinh(710.4), 1.6663642832806496e308);
        near(tanh(0.1600517741911156), 0.15869897495137938);
        near(tanh(-0.6), -0.5370495669980353);
        assert_eq!(sinh(-800.0), f64::NEG_INFINITY);
        assert_eq!((tanh(30.0), tanh(f64::NEG_INFINITY)), (1.0, -1.0));
        assert!(sinh(-0.0).is_sign_negative() && tanh(-0.0).is_sign_negative());
        assert!(sinh(f64::NAN).is_nan() && tanh(f64::NAN).is_nan());
    }
}
