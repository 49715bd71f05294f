//! The inverse error function.

use super::{erf, erfc, exp, log, log1p, sqrt};
use std::f64::consts::FRAC_2_SQRT_PI;

/// The inverse of `erf` on [-1, 1]; ±∞ at ±1, NaN outside.
///
/// M. Giles, *Approximating the erfinv function* (GPU Computing Gems, 2010), by polynomials in
/// -ln(1 - x²), and a step of Halley's iteration after it. JAX rounds x² to the dtype, which near ±1
/// costs digits.
pub fn erf_inv(x: f64) -> f64 {
    let a = x.abs();
    if a == 1.0 {
        return x * f64::INFINITY;
    }
    let w = if a < 0.5 {
        -log1p(-(a * a))
    } else {
        -log((1.0 - a) * (1.0 + a))
    };
    let y = a * if w < 6.25 {
        polynomial(&DOUBLE_CENTRE, w - 3.125)
    } else if w < 16.0 {
        polynomial(&DOUBLE_MIDDLE, sqrt(w) - 3.25)
    } else {
        polynomial(&DOUBLE_TAIL, sqrt(w) - 5.0)
    };
    // Near 1 by the complements, where the difference is exact.
    let missing = if a < 0.5 {
        a - erf(y)
    } else {
        erfc(y) - (1.0 - a)
    };
    let newton = missing / (FRAC_2_SQRT_PI * exp(-y * y));
    (y + newton / (1.0 + newton * y)).copysign(x)
}

/// Horner's rule; coefficients from the highest degree down.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |acc, c| acc * x + c)
}

const DOUBLE_CENTRE: [f64; 23] = [
    -3.64441206401782e-21,
    -1.6850591381820166e-19,
    1.28584807152564e-18,
    1.1157877678025181e-17,
    -1.333171662854621e-16,
    2.0972767875968562e-17,
    6.637638134358324e-15,
    -4.054566272975207e-14,
    -8.151934197605472e-14,
    2.6335093153082323e-12,
    -1.2975133253453532e-11,
    -5.415412054294628e-11,
    1.0512122733215323e-09,
    -4.112633980346984e-09,
    -2.9070369957882005e-08,
    4.2347877827932404e-07,
    -1.3654692000834679e-06,
    -1.3882523362786469e-05,
    0.00018673420803405714,
    -0.000740702534166267,
    -0.006033670871430149,
    0.24015818242558962,
    1.6536545626831027,
];

const DOUBLE_MIDDLE: [f64; 19] = [
    2.2137376921775787e-09,
    9.075656193888539e-08,
    -2.7517406297064545e-07,
    1.8239629214389228e-08,
    1.5027403968909828e-06,
    -4.013867526981546e-06,
    2.9234449089955446e-06,
    1.2475304481671779e-05,
    -4.7318229009055734e-05,
    6.828485145957318e-05,
    2.4031110387097894e-05,
    -0.0003550375203628475,
    0.0009532893797373805,
    -0.0016882755560235047,
    0.002491442096107851,
    -0.003751208507569241,
    0.005370914553590064,
    1.0052589676941592,
    3.0838856104922208,
];

const DOUBLE_TAIL: [f64; 17] = [
    -2.7109920616438573e-11,
    -2.555641816996525e-10,
    1.5076572693500548e-09,
    -3.789465440126737e-09,
    7.61570120807834e-09,
    -1.496002662714924e-08,
    2.914795345090108e-08,
    -6.771199775845234e-08,
    2.2900482228026655e-07,
    -9.9298272942317e-07,
    4.526062597223154e-06,
    -1.968177810553167e-05,
    7.599527703001776e-05,
    -0.00021503011930044477,
    -0.00013871931833623122,
    1.0103004648645344,
    4.849906401408584,
];

#[cfg(test)]
mod tests {
    use super::super::super::float::through_f64;
    use super::*;

    /// Correctly rounded values.
    #[test]
    fn values_and_edges() {
        let near = |got: f64, want: f64| {
            assert!((got / want - 1.0).abs() <= 2.0 * f64::EPSILON, "{got}");
        };
        near(erf_inv(0.5), 0.4769362762044699);
        near(erf_inv(-0.9999996323875963), -3.5956429711762025);
        near(erf_inv(1e-300), 8.862269254527581e-301);
        assert_eq!(through_f64(erf_inv, -0.99986786f32), -2.7028656);
        assert_eq!(erf_inv(1.0), f64::INFINITY);
        assert_eq!(erf_inv(-1.0), f64::NEG_INFINITY);
        assert!(erf_inv(1.0000001).is_nan());
        assert!(erf_inv(-0.0).is_sign_negative());
    }
}
