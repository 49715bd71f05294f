//! Exponentially scaled modified Bessel functions of the first kind.
//!
//! Power series up to 8; beyond, the Chebyshev expansions of Cephes (S. L. Moshier) in 32/x - 2 of √x
//! times the function.

use super::super::elementary::exp;

/// e^-|x| I₀(x).
pub fn bessel_i0e(x: f64) -> f64 {
    let x = x.abs();
    if x <= 8.0 {
        power_series(x, 0.0) * exp(-x)
    } else {
        chebyshev(&I0E_LARGE, 32.0 / x - 2.0) / x.sqrt()
    }
}

/// e^-|x| I₁(x); odd.
pub fn bessel_i1e(x: f64) -> f64 {
    let z = x.abs();
    let magnitude = if z <= 8.0 {
        power_series(z, 1.0) * exp(-z) * (0.5 * z)
    } else {
        chebyshev(&I1E_LARGE, 32.0 / z - 2.0) / z.sqrt()
    };
    magnitude.copysign(x)
}

/// Σ (x²/4)^k / (k! (k + n)!) for n = 0 and 1, x ≤ 8: sums and terms in two parts, because the largest terms come
/// late.
fn power_series(x: f64, order: f64) -> f64 {
    let z = 0.25 * x * x;
    let z_rest = (0.5 * x).mul_add(0.5 * x, -z);
    // Horner's rule: 1 + z / (k (k + n)) times what follows.
    let (mut sum, mut rest) = (1.0f64, 0.0f64);
    for k in (1..=36).rev() {
        let k = f64::from(k);
        let divisor = k * (k + order);
        let product = sum * z;
        let product_rest = sum.mul_add(z, -product) + (sum * z_rest + rest * z);
        let quotient = product / divisor;
        let quotient_rest = ((-quotient).mul_add(divisor, product) + product_rest) / divisor;
        let total = 1.0 + quotient;
        let (large, small) = if quotient > 1.0 {
            (quotient, 1.0)
        } else {
            (1.0, quotient)
        };
        (sum, rest) = (total, (small - (total - large)) + quotient_rest);
    }
    sum + rest
}

/// Clenshaw's recurrence; coefficients from the highest degree down, the last one counted half.
fn chebyshev(coefficients: &[f64], x: f64) -> f64 {
    let (mut b0, mut b1, mut b2) = (0.0, 0.0, 0.0);
    for c in coefficients {
        (b2, b1) = (b1, b0);
        b0 = x * b1 - b2 + c;
    }
    0.5 * (b0 - b2)
}

const I0E_LARGE: [f64; 25] = [
    -7.233180487874754e-18,
    -4.830504485944182e-18,
    4.46562142029676e-17,
    3.461222867697461e-17,
    -2.8276239805165836e-16,
    -3.425485619677219e-16,
    1.7725601330565263e-15,
    3.8116806693526224e-15,
    -9.554846698828307e-15,
    -4.150569347287222e-14,
    1.54008621752141e-14,
    3.8527783827421426e-13,
    7.180124451383666e-13,
    -1.7941785315068062e-12,
    -1.3215811840447713e-11,
    -3.1499165279632416e-11,
    1.1889147107846439e-11,
    4.94060238822497e-10,
    3.3962320257083865e-09,
    2.266668990498178e-08,
    2.0489185894690638e-07,
    2.8913705208347567e-06,
    6.889758346916825e-05,
    0.0033691164782556943,
    0.8044904110141088,
];

const I1E_LARGE: [f64; 25] = [
    7.517296310842105e-18,
    4.414348323071708e-18,
    -4.6503053684893586e-17,
    -3.209525921993424e-17,
    2.96262899764595e-16,
    3.3082023109209285e-16,
    -1.8803547755107825e-15,
    -3.8144030724370075e-15,
    1.0420276984128802e-14,
    4.272440016711951e-14,
    -2.1015418427726643e-14,
    -4.0835511110921974e-13,
    -7.198551776245908e-13,
    2.0356285441470896e-12,
    1.4125807436613782e-11,
    3.2526035830154884e-11,
    -1.8974958123505413e-11,
    -5.589743462196584e-10,
    -3.835380385964237e-09,
    -2.6314688468895196e-08,
    -2.512236237870209e-07,
    -3.882564808877691e-06,
    -0.00011058893876262371,
    -0.009761097491361469,
    0.7785762350182801,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Correctly rounded values.
    #[test]
    fn both_expansions() {
        let close =
            |got: f64, want: f64| assert!((got - want).abs() <= 1e-15 * want.abs(), "{got}");
        close(bessel_i0e(1.0), 0.46575960759364043);
        close(bessel_i0e(-20.5), 0.08866442901574525);
        close(bessel_i1e(-1.0), -0.2079104153497085);
        close(bessel_i1e(20.0), 0.08750622218328866);
        close(bessel_i1e(1e-30), 5e-31);
        assert_eq!(bessel_i0e(f64::INFINITY), 0.0);
        assert!(bessel_i1e(-0.0).is_sign_negative());
        assert!(bessel_i1e(f64::NAN).is_nan());
    }
}
