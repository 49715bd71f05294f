//! The regularised incomplete beta function.

use super::super::elementary::{exp, log, log1p, sqrt};
use super::double_double::DoubleDouble;
use super::gamma::{minus_log1p, stirling_tail};
use super::lgamma;
use std::f64::consts::PI;

/// I_x(a, b) = 1/B(a, b) ∫₀ˣ t^(a-1) (1 - t)^(b-1) dt.
///
/// The continued fraction DLMF 8.17.22 by Lentz's method, on the side where it converges quickly, in twice the digits: the exponents of
/// the density are large and cancel. It takes as many steps as the root of the smaller parameter, and where that is large
/// the integral is summed instead. a = 0 or b = ∞ put all mass at 0 (1 unless x = 0), b = 0 or a = ∞ all at 1 (0 unless x = 1). NaN
/// for negative a or b, for x outside [0, 1], and where both rules would apply.
pub fn regularized_incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    let mass_at_zero = a == 0.0 || b == f64::INFINITY;
    let mass_at_one = b == 0.0 || a == f64::INFINITY;
    let in_domain = a >= 0.0 && b >= 0.0 && (0.0..=1.0).contains(&x);
    if !in_domain || (mass_at_zero && mass_at_one) {
        return f64::NAN;
    }
    if mass_at_zero || mass_at_one {
        let reached = if mass_at_zero { x > 0.0 } else { x == 1.0 };
        return if reached { 1.0 } else { 0.0 };
    }
    if x == 0.0 || x == 1.0 {
        return x;
    }
    let y = DoubleDouble::sum(1.0, -x);
    let (near, far) = (DoubleDouble::from(x), y);
    if x < (a + 1.0) / (a + b + 2.0) {
        (density(a, b, near, far) * tail(a, b, near, far)).value()
    } else {
        let upper = density(b, a, far, near) * tail(b, a, far, near);
        (DoubleDouble::from(1.0) - upper).value()
    }
}

/// I_x(a, b) in units of the density.
fn tail(a: f64, b: f64, x: DoubleDouble, y: DoubleDouble) -> DoubleDouble {
    if a.min(b) > MOST_OF_THE_FRACTION {
        tail_of_large(a, b, x, y).into()
    } else {
        continued_fraction(a, b, x)
    }
}

/// The smaller parameter up to which the continued fraction is used: a few thousand steps.
const MOST_OF_THE_FRACTION: f64 = 1e7;

/// The same as an integral: a / y ∫₀¹ (1 - v)^(a-1) (1 + x v / y)^(b-1) dv, which is t = x (1 - v) in the definition.
///
/// The integrand falls like exp(-s v - k² v² / 2), with nothing left where v is no longer small. The trapezoidal rule sums it
/// in u, where v is exp(u - exp(-u)) of the width: errors fall faster than any power of the step.
fn tail_of_large(a: f64, b: f64, x: DoubleDouble, y: DoubleDouble) -> f64 {
    const STEP: f64 = 1.0 / 16.0;
    let (a_less, b_less) = (a - 1.0, b - 1.0);
    let ratio = (x / y).value();
    let slope = (DoubleDouble::sum(a, -1.0) - DoubleDouble::sum(b, -1.0) * x / y).value();
    let width = 1.0 / slope.abs().max(sqrt(a_less + b_less * ratio * ratio));
    let mut sum = 0.0;
    for step in -64..96 {
        let u = f64::from(step) * STEP;
        let shrink = exp(-u);
        let v = exp(u - shrink) * width;
        if v >= 1.0 {
            break;
        }
        let curved = a_less * minus_log1p(-v) + b_less * minus_log1p(ratio * v);
        sum += exp(-slope * v - curved) * v * (1.0 + shrink);
    }
    sum * STEP * a / y.value()
}

/// x^a y^b / (a B(a, b)) for y = 1 - x.
fn density(a: f64, b: f64, x: DoubleDouble, y: DoubleDouble) -> DoubleDouble {
    if a.max(b) > MOST_OF_MANY_DIGITS {
        return density_of_large(a, b, x, y).into();
    }
    // a B(a, b) = Γ(a + 1) Γ(b) / Γ(a + b).
    let numerator = x.log() * a.into() + y.log() * b.into() + DoubleDouble::sum(a, b).lgamma();
    let denominator = DoubleDouble::sum(a, 1.0).lgamma() + DoubleDouble::from(b).lgamma();
    (numerator - denominator).exp()
}

/// The parameter up to which the terms of the density's logarithm may cancel in twice the digits.
const MOST_OF_MANY_DIGITS: f64 = 1e12;

/// The same where a or b is large, without terms that cancel.
fn density_of_large(a: f64, b: f64, x: DoubleDouble, y: DoubleDouble) -> f64 {
    // What is left of x b - y a is small beside either.
    let deviation = (x * b.into() - y * a.into()).value();
    let (x, y) = (x.value(), y.value());
    // The larger of x and y carries the rounding of 1 - x or 1 - y in its logarithm otherwise.
    let log_x = if x > 0.5 { log1p(-y) } else { log(x) };
    let log_y = if y > 0.5 { log1p(-x) } else { log(y) };
    if a >= 10.0 && b >= 10.0 {
        // With the means x₀ = a / (a + b), y₀ = b / (a + b) the linear terms cancel: a ln(x/x₀) + b
        // ln(y/y₀) = -a φ(x/x₀ - 1) - b φ(y/y₀ - 1) with φ(t) = t - ln(1 + t).
        let n = a + b;
        let exponent = -a * minus_log1p(deviation / a) - b * minus_log1p(-deviation / b);
        let tails = stirling_tail(a) + stirling_tail(b) - stirling_tail(n);
        return exp(exponent - tails) * sqrt(b / (2.0 * PI * a * n));
    }
    // a B(a, b), by the quotient of the gamma functions of large arguments.
    let log_beta = if a < b {
        lgamma(a + 1.0) + log_gamma_ratio(b, a)
    } else {
        log(a) + lgamma(b) + log_gamma_ratio(a, b)
    };
    exp(a * log_x + b * log_y - log_beta)
}

/// ln(Γ(b) / Γ(a + b)) for large b, without cancellation.
fn log_gamma_ratio(b: f64, a: f64) -> f64 {
    let n = a + b;
    -(b - 0.5) * log1p(a / b) - a * log(n) + a + stirling_tail(b) - stirling_tail(n)
}

/// The continued fraction of I_x(a, b) · a B(a, b) / (x^a (1 - x)^b), by the modified Lentz method.
fn continued_fraction(a: f64, b: f64, x: DoubleDouble) -> DoubleDouble {
    /// Enough for [`MOST_OF_THE_FRACTION`]; JAX stops at 600.
    const MAX_STEPS: u32 = 20_000;
    const SMALL: f64 = 1e-300;
    let away_from_zero = |v: DoubleDouble| {
        if v.abs().value() < SMALL {
            DoubleDouble::from(SMALL)
        } else {
            v
        }
    };
    let one = DoubleDouble::from(1.0);
    let sum = DoubleDouble::sum(a, b);
    let (a, b) = (DoubleDouble::from(a), DoubleDouble::from(b));
    let (mut c, mut d, mut h) = (one, DoubleDouble::from(0.0), one);
    let mut settled = false;
    for step in 1..MAX_STEPS {
        let m = f64::from(step / 2);
        let (whole, twice) = (DoubleDouble::from(m), a + (2.0 * m).into());
        let numerator = if step % 2 == 0 {
            whole * (b - whole) * x / ((twice - one) * twice)
        } else {
            -((a + whole) * (sum + whole) * x / (twice * (twice + one)))
        };
        c = away_from_zero(one + numerator / c);
        d = one / away_from_zero(one + numerator * d);
        let factor = c * d;
        h = h * factor;
        // Where one parameter is large every second factor is near 1 long before the others are.
        let settles = (factor - one).is_within(1e-19, one);
        if (settles && settled) || factor.is_nan() {
            break;
        }
        settled = settles;
    }
    one / h
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64) {
        assert!(
            (got - want).abs() <= 1e-13 * want.abs(),
            "{got} is not {want}"
        );
    }

    /// Correctly rounded values.
    #[test]
    fn values_on_both_sides() {
        close(
            regularized_incomplete_beta(0.5, 0.5, 0.3),
            0.36901011956554536,
        );
        close(
            regularized_incomplete_beta(0.5, 1.0, 0.9),
            0.9486832980505138,
        );
        close(regularized_incomplete_beta(2.0, 2.0, 0.75), 0.84375);
        close(
            regularized_incomplete_beta(50.0, 30.0, 0.6),
            0.3170571539691119,
        );
        close(
            regularized_incomplete_beta(3.0, 1000.0, 0.004),
            0.7636536215610514,
        );
        close(
            regularized_incomplete_beta(2000.0, 3000.0, 0.41),
            0.9252621262083042,
        );
    }

    /// Values of 50 digits by quadrature, on both sides of where the integral takes over and where the density does.
    #[test]
    fn large_parameters() {
        for (a, b, x, want) in [
            (9.9e6, 9.9e6, 0.499775267, 0.022750265993094533),
            (1.1e7, 1.1e7, 0.499786799, 0.022_749_984_607_106_62),
            (1.1e7, 3e9, 0.00365492057, 0.9331764189023095),
            (4e9, 1e7, 0.997506431, 0.598_512_380_119_606),
            (2e12, 5e11, 0.7999987350889359, 2.8666285543854465e-7),
            (3e15, 1e13, 0.9966777440103193, 0.998650105706988),
        ] {
            let got = regularized_incomplete_beta(a, b, x);
            assert!(
                (got - want).abs() <= 2e-13 * want,
                "{a} {b} {x}: {got} is not {want}"
            );
        }
        for power in 0..16 {
            let a = 10f64.powi(power);
            close(regularized_incomplete_beta(a, a, 0.5), 0.5);
        }
    }

    #[test]
    fn edges() {
        let inf = f64::INFINITY;
        let edge = regularized_incomplete_beta;
        assert_eq!((edge(2.0, 3.0, 0.0), edge(2.0, 3.0, 1.0)), (0.0, 1.0));
        assert_eq!((edge(0.0, 3.0, 0.5), edge(0.0, 3.0, 0.0)), (1.0, 0.0));
        assert_eq!((edge(inf, 3.0, 0.5), edge(inf, 3.0, 1.0)), (0.0, 1.0));
        for (a, b, x) in [
            (0.0, 0.0, 0.5),
            (inf, inf, 0.5),
            (1.0, 1.0, 1.5),
            (-1.0, 1.0, 0.5),
        ] {
            assert!(edge(a, b, x).is_nan(), "{a} {b} {x}");
        }
    }
}
