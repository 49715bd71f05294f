//! The logarithm of the gamma function, its derivative, and the pieces that the incomplete
//! functions share.

use super::super::elementary::{log, log1p, tan};
use std::f64::consts::PI;

/// ln |Γ(x)|; ∞ at the poles 0, -1, -2, … and at ±∞.
pub fn lgamma(x: f64) -> f64 {
    // The library reflects here, which loses digits.
    if -0.5 < x && x < 0.0 {
        return libm::lgamma(1.0 + x) - log(-x);
    }
    libm::lgamma(x)
}

/// ψ(x) = Γ'(x) / Γ(x).
///
/// -∞ at both zeros, NaN at the negative whole numbers and at -∞, ∞ at ∞. In [1, 3) by its
/// root and a polynomial, above 10 by the asymptotic series (DLMF 5.11.2); in between shifted by the
/// recurrence, reflected below -½.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x < -0.5 {
        // The reduced argument is exact, which π·x would not be.
        let reduced = x - x.round_ties_even();
        if reduced == 0.0 || x.is_infinite() {
            return f64::NAN;
        }
        return digamma(-x) - 1.0 / x - PI / tan(PI * reduced);
    }
    if x < 1.0 {
        return digamma(x + 1.0) - 1.0 / x;
    }
    let mut x = x;
    let mut shift = 0.0;
    while (3.0..10.0).contains(&x) {
        x -= 1.0;
        shift += 1.0 / x;
    }
    if x < 3.0 {
        // The root is the sum of two numbers of double precision.
        let from_root = (x - ROOT) - 9.549995429965697e-17;
        let sum = DIGAMMA_AROUND_2
            .iter()
            .rev()
            .fold(0.0, |sum, c| sum * (x - 2.0) + c);
        return from_root * sum + shift;
    }
    // B₂ₖ / 2k, highest k first.
    const SERIES: [f64; 7] = [
        1.0 / 12.0,
        -691.0 / 32760.0,
        1.0 / 132.0,
        -1.0 / 240.0,
        1.0 / 252.0,
        -1.0 / 120.0,
        1.0 / 12.0,
    ];
    let square = 1.0 / (x * x);
    let series = SERIES.iter().fold(0.0, |acc, c| acc * square + c) * square;
    log(x) - (0.5 / x + series)
}

/// The positive root of ψ.
const ROOT: f64 = 1.4616321449683622;

/// ψ(2 + t) / (2 + t - r) in powers of t, lowest first, r the root of ψ: minimax for |t| ≤ 1.
pub const DIGAMMA_AROUND_2: [f64; 29] = [
    0.7853075386041053,
    -0.26073895468300085,
    0.10899991701762388,
    -0.049551032917749205,
    0.023447309597808948,
    -0.011338432550155382,
    0.005552254169969941,
    -0.002739572944997685,
    0.0013581422030101771,
    -0.0006753126889027662,
    0.0003364323046812081,
    -0.00016781989652064026,
    8.377992884859155e-05,
    -4.182447343897822e-05,
    2.089105890633343e-05,
    -1.0510745529497928e-05,
    5.269792255486969e-06,
    -2.4759028684973677e-06,
    1.2108408525596718e-06,
    -8.61020083364191e-07,
    4.624202767703381e-07,
    6.086258372762713e-08,
    -5.650885832872322e-08,
    -2.0254396796893709e-07,
    1.1523162621121104e-07,
    6.23598402161154e-08,
    -3.5589472192814815e-08,
    -1.910943085888515e-08,
    1.0177548708520354e-08,
];

/// lnΓ(x) - ((x - ½) ln x - x + ½ ln 2π) for x ≥ 10: the tail of Stirling's series (DLMF 5.11.1).
pub(super) fn stirling_tail(x: f64) -> f64 {
    // B₂ₖ / (2k (2k - 1)), highest k first.
    const SERIES: [f64; 8] = [
        -3617.0 / 122400.0,
        1.0 / 156.0,
        -691.0 / 360360.0,
        1.0 / 1188.0,
        -1.0 / 1680.0,
        1.0 / 1260.0,
        -1.0 / 360.0,
        1.0 / 12.0,
    ];
    let square = 1.0 / (x * x);
    SERIES.iter().fold(0.0, |acc, c| acc * square + c) / x
}

/// t - ln(1 + t), without cancellation near zero.
pub(super) fn minus_log1p(t: f64) -> f64 {
    if !(-0.5..=0.5).contains(&t) {
        return t - log1p(t);
    }
    // With r = t / (2 + t): ln(1 + t) = 2 (r + r³/3 + r⁵/5 + …) and t - 2r = t·r.
    let r = t / (2.0 + t);
    let square = r * r;
    let odd = (1..24)
        .rev()
        .fold(0.0, |acc, k| acc * square + 1.0 / f64::from(2 * k + 1));
    r * (t - 2.0 * square * odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!(
            (got - want).abs() <= tolerance * want.abs().max(1e-3),
            "{got} is not {want}"
        );
    }

    /// Correctly rounded values.
    #[test]
    fn lgamma_values_and_poles() {
        close(lgamma(0.5), 0.5723649429247001, 1e-15);
        close(lgamma(171.5), 709.1431630309282, 1e-15);
        close(lgamma(-2.5), -0.05624371649767405, 1e-14);
        for pole in [
            0.0,
            -0.0,
            -1.0,
            -20.0,
            -1e20,
            f64::NEG_INFINITY,
            f64::INFINITY,
        ] {
            assert_eq!(lgamma(pole), f64::INFINITY);
        }
    }

    #[test]
    fn digamma_values_and_poles() {
        close(digamma(1.0), -0.5772156649015329, 1e-15);
        close(digamma(0.001), -1000.5755719318103, 1e-15);
        close(digamma(-10.1), 12.030052248548309, 1e-14);
        close(digamma(-0.5), 0.03648997397857652, 1e-13);
        close(digamma(171.5), 5.141664981434, 1e-15);
        close(digamma(-1e-30), 1e30, 1e-15);
        assert_eq!(digamma(-0.0), f64::NEG_INFINITY);
        assert!(digamma(-3.0).is_nan() && digamma(f64::NEG_INFINITY).is_nan());
        assert_eq!(digamma(f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn shared_pieces() {
        close(stirling_tail(10.0), 0.00833056343336287, 1e-15);
        close(minus_log1p(1e-8), 4.999999966666667e-17, 1e-15);
        close(minus_log1p(-0.4), 0.11082562376599068, 1e-15);
        close(minus_log1p(3.0), 1.6137056388801094, 1e-15);
    }
}
