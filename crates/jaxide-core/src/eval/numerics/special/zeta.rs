//! The Hurwitz zeta function and the polygamma functions.

use super::super::float::Real;
use super::digamma;
use super::double_double::DoubleDouble;

/// ζ(x, q) = Σ (q + k)^-x over k ≥ 0.
///
/// Euler–Maclaurin summation as in Cephes: ten terms, then twelve corrections, the terms in twice the digits. ∞ for x = 1; NaN for
/// x < 1; for q ≤ 0, x must be whole (NaN otherwise), and a whole q is a pole: ∞ for even x, NaN
/// for odd. NaN at infinite arguments, except that q = -∞ counts as whole.
///
/// For q below -9 the corrections start at a negative number, where they do not converge; the value
/// there is JAX's, which is far from ζ.
pub fn zeta(x: f64, q: f64) -> f64 {
    zeta_sum(x, q).value()
}

fn zeta_sum(x: f64, q: f64) -> DoubleDouble {
    let fixed = |value: f64| DoubleDouble::new(value, 0.0);
    if x == 1.0 {
        return fixed(f64::INFINITY);
    }
    if q <= 0.0 && q.floor() == q {
        let even = x.is_finite() && x % 2.0 == 0.0;
        return fixed(if even { f64::INFINITY } else { f64::NAN });
    }
    if x.is_nan() || x < 1.0 || x.is_infinite() || (q <= 0.0 && x.floor() != x) {
        return fixed(f64::NAN);
    }
    if q.is_infinite() {
        return fixed(f64::NAN);
    }
    let mut terms = fixed(0.0);
    for k in 0..10 {
        let term = power(DoubleDouble::sum(q, f64::from(k)), x);
        if term.value().is_infinite() {
            return term;
        }
        terms = terms + term;
    }
    let wide = DoubleDouble::sum(q, 10.0);
    let (a, last) = (wide.value(), power(wide, x));
    if last.value() == 0.0 {
        return terms;
    }
    // (2k)! / B₂ₖ, highest k first.
    const CORRECTIONS: [f64; 12] = [
        -7.166165256175667e+18,
        1.8152105401943546e+17,
        -4597978722407473.0,
        116467828143500.67,
        -2950130727918.164,
        7.47242496e10,
        -1892437580.3183792,
        47900160.0,
        -1209600.0,
        30240.0,
        -720.0,
        12.0,
    ];
    let inverse_square = 1.0 / (a * a);
    let mut corrections = 0.0;
    for (k, c) in (0..12).rev().zip(CORRECTIONS) {
        corrections += 1.0 / c;
        if k > 0 {
            let n = f64::from(2 * k);
            corrections *= (x + (n - 1.0)) * (x + n) * inverse_square;
        }
    }
    let corrections = 0.5 + x / a * corrections;
    terms + last * (wide / DoubleDouble::sum(x, -1.0) + corrections.into())
}

/// base^-x for a whole x where the base is negative.
fn power(base: DoubleDouble, x: f64) -> DoubleDouble {
    // From there on the result is 0, 1 or infinite.
    let limited = x.min(1e290);
    let size = (-(base.abs().log() * limited.into())).exp();
    if base.value() < 0.0 && x % 2.0 != 0.0 {
        -size
    } else {
        size
    }
}

/// ψ⁽ⁿ⁾(x), the nth derivative of ψ: `digamma` for n = 0, otherwise (-1)ⁿ⁺¹ n! ζ(n + 1, x).
///
/// NaN unless n is a whole number ≥ 0. The factorial overflows with the dtype, as in JAX, so that
/// ∞·0 gives NaN where the product itself would be representable.
pub fn polygamma<T: Real>(n: T, x: T) -> T {
    let (n, x) = (n.to_f64(), x.to_f64());
    if n == 0.0 {
        return T::round_from(digamma(x));
    }
    if n.is_nan() || n < 0.0 || n.floor() != n {
        return T::round_from(f64::NAN);
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    let factorial = libm::tgamma(n + 1.0);
    let in_range = T::round_from(factorial).to_f64().is_finite();
    let factorial = if in_range { factorial } else { f64::INFINITY };
    let zeta = zeta_sum(n + 1.0, x);
    let rounded = T::round_from(zeta.value()).to_f64();
    if in_range && rounded.is_normal() {
        let product = (1..=n as u32).fold(zeta, |product, k| product * f64::from(k).into());
        if product.value().is_finite() {
            return T::round_from(sign * product.value());
        }
    }
    T::round_from(sign * factorial * rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64) {
        assert!(
            (got - want).abs() <= 3e-15 * want.abs(),
            "{got} is not {want}"
        );
    }

    #[test]
    fn zeta_values() {
        close(zeta(2.0, 1.0), std::f64::consts::PI.powi(2) / 6.0);
        close(zeta(1.5, 1.0), 2.612375348685488);
        close(zeta(2.0, -0.5), 8.934802200544679);
        close(zeta(3.0, -0.5), 0.41439832211715993);
        close(zeta(40.0, 1.0), 1.0000000000009095);
        assert_eq!(zeta(1e30, 1.0), 1.0);
    }

    /// Poles and domain of `lax.zeta`.
    #[test]
    fn zeta_edges() {
        let inf = f64::INFINITY;
        assert_eq!(zeta(1.0, f64::NAN), inf);
        assert_eq!(zeta(-2.0, -1.0), inf);
        assert_eq!(zeta(2.0, -inf), inf);
        for (x, q) in [
            (3.0, 0.0),
            (0.5, 2.0),
            (1.5, -0.5),
            (2.0, inf),
            (inf, 1.0),
            (f64::NAN, 1.0),
        ] {
            assert!(zeta(x, q).is_nan(), "{x} {q}");
        }
    }

    /// JAX's value, outside the range of the expansion.
    #[test]
    fn zeta_far_left() {
        close(zeta(2.0, -10.5), 2854289648047.3677);
    }

    #[test]
    fn polygamma_values() {
        close(polygamma(1.0, 1.0), 1.6449340668482264);
        close(polygamma(2.0, 2.5), -0.2362040516417274);
        close(polygamma(3.0, 10.0), 0.0023199013042898684);
        assert_eq!(polygamma(0.0f32, 0.5), -1.96351);
        assert_eq!(polygamma(100.0f32, 1.0), f32::NEG_INFINITY);
        assert!(polygamma(100.0f32, 3.0).is_nan());
        assert!(polygamma(0.5, 1.0f64).is_nan() && polygamma(-1.0, 1.0f64).is_nan());
    }
}
