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
/// -∞ at both zeros, NaN at the negative whole numbers and at -∞, ∞ at ∞. Around the positive root by
/// its Taylor series; elsewhere shifted up by the recurrence to where the asymptotic series (DLMF
/// 5.11.2) holds; reflected for negative x.
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
    if (1.25..1.75).contains(&x) {
        // The root is the sum of two numbers of double precision.
        let t = (x - ROOT) - 9.549995429965697e-17;
        return t * AT_ROOT.iter().rev().fold(0.0, |sum, c| sum * t + c);
    }
    let mut x = x;
    let mut shift = 0.0;
    while x < 10.0 {
        shift += 1.0 / x;
        x += 1.0;
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
    log(x) - 0.5 / x - series - shift
}

/// The positive root of ψ.
const ROOT: f64 = 1.4616321449683622;

/// ψ(r + t) / t in powers of t, r the root of ψ: its derivatives there.
const AT_ROOT: [f64; 22] = [
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
