//! The inverse error function.

use super::super::float::Real;
use super::{log1p, sqrt};

/// The inverse of `erf` on [-1, 1]; ±∞ at ±1, NaN outside.
///
/// M. Giles, *Approximating the erfinv function* (GPU Computing Gems, 2010), the single-precision
/// polynomials for dtypes up to `f32` and the double-precision ones for `f64`. As in JAX, the
/// argument enters as `w = -ln(1 - x²)` with x² rounded to the dtype (`f32` at least); near ±1 that
/// rounding dominates the error, so it is part of the definition and not hidden by a wider
/// computation.
pub fn erf_inv<T: Real>(x: T) -> T {
    let x = x.to_f64();
    if x.abs() == 1.0 {
        return T::round_from(x * f64::INFINITY);
    }
    if T::MANTISSA_BITS > f32::MANTISSA_BITS {
        let w = -log1p(-(x * x));
        return T::round_from(
            x * if w < 6.25 {
                polynomial(&DOUBLE_CENTRE, w - 3.125)
            } else if w < 16.0 {
                polynomial(&DOUBLE_MIDDLE, sqrt(w) - 3.25)
            } else {
                polynomial(&DOUBLE_TAIL, sqrt(w) - 5.0)
            },
        );
    }
    let square = f64::from((x * x) as f32);
    let w = -log1p(-square);
    T::round_from(
        x * if w < 5.0 {
            polynomial(&SINGLE_CENTRE, w - 2.5)
        } else {
            polynomial(&SINGLE_TAIL, sqrt(w) - 3.0)
        },
    )
}

/// Horner's rule; coefficients from the highest degree down.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |acc, c| acc * x + c)
}

const SINGLE_CENTRE: [f64; 9] = [
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
];

const SINGLE_TAIL: [f64; 9] = [
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
];

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
    use super::*;

    #[test]
    fn inverts_erf() {
        for x in [-0.97, -0.3, 1e-9, 0.5, 0.9, 0.999] {
            let y: f64 = erf_inv(x);
            assert!((libm::erf(y) - x).abs() <= 4e-16, "{x}");
        }
    }

    /// Values of `lax.erf_inv`, which near ±1 are not the correctly rounded ones.
    #[test]
    fn tail_and_edges() {
        let relative = |got: f64, want: f64| ((got - want) / want).abs();
        assert!(relative(erf_inv(-0.99986786f32).into(), -2.7028542) < 2e-7);
        assert!(relative(erf_inv(0.9998728f32).into(), 2.7094982) < 2e-7);
        assert!(relative(erf_inv(-0.9999996323875963f64), -3.5956429711716873) < 1e-15);
        assert_eq!(erf_inv(1.0f32), f32::INFINITY);
        assert_eq!(erf_inv(-1.0f64), f64::NEG_INFINITY);
        assert!(erf_inv(1.0000001f32).is_nan());
        assert!(erf_inv(-0.0f32).is_sign_negative());
    }
}
