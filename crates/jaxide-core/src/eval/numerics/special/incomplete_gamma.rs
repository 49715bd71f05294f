//! The regularised incomplete gamma functions and their derivatives by the order.
//!
//! Below [`LARGE_ORDER`] in twice the digits, because the exponents of the density are large, because expansions have many terms, and because
//! those of the derivative cancel.

use super::super::elementary::log;
use super::super::float::Real;
use super::double_double::DoubleDouble;
use super::large_gamma::{LARGE_ORDER, LargeOrder};
use super::lgamma;

/// P(a, x) = 1/Γ(a) ∫₀ˣ t^(a-1) e^-t dt.
///
/// 0 for x = 0 or a = ∞, 1 for x = ∞. NaN for negative arguments, for a = x = 0 and a = x = ∞, and,
/// as in JAX, for a = 0 < x < 1 (where the limit is 1).
pub fn igamma(a: f64, x: f64) -> f64 {
    if outside_domain(a, x) || (a == 0.0 && x < 1.0) {
        f64::NAN
    } else if x == 0.0 || a.is_infinite() {
        0.0
    } else if x.is_infinite() || a == 0.0 {
        1.0
    } else if a >= LARGE_ORDER {
        LargeOrder::new(a, x).lower()
    } else if x >= 1.0 && x > a {
        (one() - upper_fraction(a, x)).value()
    } else {
        lower_series(a, x).value()
    }
}

/// Q(a, x) = 1 - P(a, x), accurate where it is small.
///
/// 1 for x = 0 or a = ∞, 0 for x = ∞ or a = 0. NaN for negative arguments, a = x = 0 and a = x = ∞.
pub fn igammac(a: f64, x: f64) -> f64 {
    if outside_domain(a, x) {
        f64::NAN
    } else if x == 0.0 || a.is_infinite() {
        1.0
    } else if x.is_infinite() || a == 0.0 {
        0.0
    } else if a >= LARGE_ORDER {
        LargeOrder::new(a, x).upper()
    } else if x >= 2.0 && x >= a {
        upper_fraction(a, x).value()
    } else if a < 1.0 {
        upper_of_small_order(a, x)
    } else {
        (one() - lower_series(a, x)).value()
    }
}

/// ∂P(a, x)/∂a.
///
/// 0 for x = 0; NaN for negative x, for a ≤ 0 and for an infinite argument. Zero where x^a e^-x / Γ(a)
/// is below the reciprocal of the largest `f64` (in JAX, of the largest number of the dtype).
pub fn igamma_grad_a<T: Real>(a: T, x: T) -> T {
    let (wide_a, wide_x) = (a.to_f64(), x.to_f64());
    T::round_from(match derivative_case::<f64>(wide_a, wide_x) {
        Case::Fixed(value) => value,
        Case::Large(large) => large.lower_by_order(),
        Case::Expansion { steps: 0, .. } => -0.0,
        Case::Expansion { steps, .. } => {
            let ratio = expansion(wide_a, wide_x, steps);
            (density_times_x(wide_a, wide_x) * ratio).value()
        }
    })
}

/// The derivative by `a` of a Gamma(`a`, 1) sample `x` at fixed randomness: -(∂P/∂a) / (∂P/∂x).
///
/// Domain as in [`igamma_grad_a`]. Where x^a e^-x / Γ(a) is below the reciprocal of the dtype's
/// largest number (`f32` for the 16-bit dtypes), JAX stops before the first step of its expansion;
/// the value there is that leading approximation.
pub fn random_gamma_grad<T: Real>(a: T, x: T) -> T {
    let (wide_a, wide_x) = (a.to_f64(), x.to_f64());
    T::round_from(match derivative_case::<T>(wide_a, wide_x) {
        Case::Fixed(value) => value,
        Case::Large(large) => large.quantile_by_order(),
        Case::Expansion { steps } => (-expansion(wide_a, wide_x, steps) * wide_x.into()).value(),
    })
}

/// Steps after which an expansion is taken as converged; below [`LARGE_ORDER`] fewer suffice.
const MAX_STEPS: u32 = 50_000;

fn outside_domain(a: f64, x: f64) -> bool {
    let same_limit = (a == 0.0 && x == 0.0) || (a.is_infinite() && x.is_infinite());
    a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 || same_limit
}

/// How a derivative by the order is to be found.
enum Case {
    Fixed(f64),
    Large(LargeOrder),
    /// The series or the continued fraction, cut off after a number of steps.
    Expansion {
        steps: u32,
    },
}

fn derivative_case<T: Real>(a: f64, x: f64) -> Case {
    if a.is_nan() || x.is_nan() || a <= 0.0 || x < 0.0 {
        return Case::Fixed(f64::NAN);
    }
    if x == 0.0 {
        return Case::Fixed(0.0);
    }
    if a.is_infinite() || x.is_infinite() {
        return Case::Fixed(f64::NAN);
    }
    let log_density = a * log(x) - x - lgamma(a);
    let largest = if T::MANTISSA_BITS > 23 {
        f64::MAX
    } else {
        f64::from(f32::MAX)
    };
    let underflows = log_density < -log(largest);
    if a >= LARGE_ORDER {
        let large = LargeOrder::new(a, x);
        if large.in_range() {
            return Case::Large(large);
        }
    }
    Case::Expansion {
        steps: if underflows { 0 } else { MAX_STEPS },
    }
}

fn one() -> DoubleDouble {
    1.0.into()
}

/// ∂P/∂a divided by x^a e^-x / Γ(a).
fn expansion(a: f64, x: f64, steps: u32) -> DoubleDouble {
    let log_x = DoubleDouble::from(x).log();
    if x > 1.0 && x > a {
        let (fraction, by_a) = continued_fraction(a, x, steps, Until::DerivativeSettles);
        -(fraction * (log_x - DoubleDouble::from(a).digamma()) + by_a)
    } else {
        let (sum, by_a) = series(a, x, steps, Until::DerivativeSettles);
        (sum * (log_x - DoubleDouble::sum(a, 1.0).digamma()) + by_a) / a.into()
    }
}

/// P(a, x) by its power series (DLMF 8.11.4).
fn lower_series(a: f64, x: f64) -> DoubleDouble {
    let (sum, _) = series(a, x, MAX_STEPS, Until::ValueSettles);
    density_times_x_over_a(a, x) * sum
}

/// Q(a, x) by its continued fraction (DLMF 8.9.2).
fn upper_fraction(a: f64, x: f64) -> DoubleDouble {
    let density = density_times_x(a, x);
    // Also where the convergents would overflow.
    if density.value() == 0.0 {
        return density;
    }
    let (fraction, _) = continued_fraction(a, x, MAX_STEPS, Until::ValueSettles);
    density * fraction
}

/// Q(a, x) for a below 1 and x below 2, where it may be small beside P: with u = x^a / Γ(a + 1) it is 1 - u - u Σ a (-x)ⁿ / ((a + n) n!), n ≥ 1
/// (DLMF 8.7.1).
fn upper_of_small_order(a: f64, x: f64) -> f64 {
    let (a, x) = (DoubleDouble::from(a), DoubleDouble::from(x));
    let minus_one = (a * x.log() - log_gamma_1p(a)).expm1();
    let (mut term, mut sum) = (one(), DoubleDouble::from(0.0));
    for n in 1..45 {
        let n = DoubleDouble::from(f64::from(n));
        term = -(term * x / n);
        sum = sum + term * a / (a + n);
    }
    -(minus_one + (one() + minus_one) * sum).value()
}

/// ln Γ(1 + a) for 0 ≤ a < 1, relative to a.
fn log_gamma_1p(a: DoubleDouble) -> DoubleDouble {
    if a.value() > 1e-3 {
        return (one() + a).lgamma();
    }
    // (-1)ⁿ ζ(n) / n from n = 2 on (DLMF 5.7.3), and -γ, which may nearly cancel ln x.
    const MINUS_GAMMA: DoubleDouble = DoubleDouble::new(-0.5772156649015329, 4.942915152430645e-18);
    const SERIES: [f64; 7] = [
        0.8224670334241132,
        -0.40068563438653143,
        0.27058080842778454,
        -0.20738555102867398,
        0.1695571769974082,
        -0.1440498967688461,
        0.12550966952474304,
    ];
    let small = a.value();
    let rest = SERIES.iter().rev().fold(0.0, |sum, c| sum * small + c);
    a * (MINUS_GAMMA + a * rest.into())
}

/// x^a e^-x / Γ(a).
fn density_times_x(a: f64, x: f64) -> DoubleDouble {
    density_times_x_over_a(a, x) * a.into()
}

/// x^a e^-x / Γ(a + 1), which is about 1 for small a and x.
fn density_times_x_over_a(a: f64, x: f64) -> DoubleDouble {
    let log_x = DoubleDouble::from(x).log();
    let log_gamma = DoubleDouble::sum(a, 1.0).lgamma();
    (log_x * a.into() - x.into() - log_gamma).exp()
}

/// What must have settled before an expansion stops.
#[derive(Clone, Copy, PartialEq)]
enum Until {
    ValueSettles,
    DerivativeSettles,
}

/// The change of a sum or fraction, relative to it, that no longer counts.
const SETTLED: f64 = 1e-19;

/// Σ xⁿ / ((a + 1) … (a + n)) and its derivative by a.
fn series(a: f64, x: f64, steps: u32, until: Until) -> (DoubleDouble, DoubleDouble) {
    let (mut term, mut term_by_a) = (one(), DoubleDouble::from(0.0));
    let (mut sum, mut sum_by_a) = (term, term_by_a);
    let x = DoubleDouble::from(x);
    let mut r = DoubleDouble::from(a);
    for _ in 0..steps {
        r = r + one();
        let factor = x / r;
        if until == Until::DerivativeSettles {
            term_by_a = (term_by_a - term / r) * factor;
            sum_by_a = sum_by_a + term_by_a;
        }
        term = term * factor;
        sum = sum + term;
        let (change, whole) = match until {
            Until::ValueSettles => (term, sum),
            Until::DerivativeSettles => (term_by_a, sum_by_a),
        };
        if change.is_within(SETTLED, whole) || change.is_nan() {
            break;
        }
    }
    (sum, sum_by_a)
}

/// The continued fraction of Γ(a, x) / (x^a e^-x) and its derivative by a, by the recurrence of its
/// convergents as in Cephes.
fn continued_fraction(a: f64, x: f64, steps: u32, until: Until) -> (DoubleDouble, DoubleDouble) {
    type Dual = (DoubleDouble, DoubleDouble);
    let (zero, x) = (DoubleDouble::from(0.0), DoubleDouble::from(x));
    let derivative = until == Until::DerivativeSettles;
    // Each convergent is p/q; the pairs are the values and their derivatives by a.
    let mut y = DoubleDouble::sum(1.0, -a);
    let mut z = x + y + one();
    let (mut p2, mut q2) = ((one(), zero), (x, zero));
    let (mut p1, mut q1) = ((x + one(), zero), (z * x, -x));
    let quotient = |p: Dual, q: Dual| {
        let value = p.0 / q.0;
        let by_a = if derivative {
            (p.1 - value * q.1) / q.0
        } else {
            zero
        };
        (value, by_a)
    };
    let mut result = quotient(p1, q1);
    for step in 1..=steps {
        let c = DoubleDouble::from(f64::from(step));
        y = y + one();
        z = z + 2.0.into();
        let product = y * c;
        let advance = |one: Dual, two: Dual| {
            let value = one.0 * z - two.0 * product;
            let by_a = if derivative {
                one.1 * z - one.0 - two.1 * product + two.0 * c
            } else {
                zero
            };
            (value, by_a)
        };
        let (p, q) = (advance(p1, p2), advance(q1, q2));
        ((p2, q2), (p1, q1)) = ((p1, q1), (p, q));
        if q.0.value() != 0.0 {
            let next = quotient(p, q);
            let (change, whole) = match until {
                Until::ValueSettles => (next.0 - result.0, next.0),
                Until::DerivativeSettles => (next.1 - result.1, next.1),
            };
            result = next;
            if change.is_within(SETTLED, whole) || change.is_nan() {
                break;
            }
        }
        if p.0.abs().value() > 1e16 {
            let down = 2f64.powi(-52);
            for pair in [&mut p2, &mut q2, &mut p1, &mut q1] {
                *pair = (pair.0.scale(down), pair.1.scale(down));
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!(
            (got - want).abs() <= tolerance * want.abs(),
            "{got} is not {want}"
        );
    }

    /// Correctly rounded values.
    #[test]
    fn values() {
        close(igamma(0.5, 0.25), 0.5204998778130465, 1e-15);
        close(igammac(2.5, 3.0), 0.3062189184132784, 1e-14);
        close(igamma(100.0, 90.0), 0.15822098918643017, 1e-14);
        close(igammac(30.0, 40.0), 0.043228682151735566, 1e-14);
        close(igamma(1000.0, 1010.0), 0.6276789447369947, 1e-14);
        close(igamma(1e-3, 1e-3), 0.9936876467088603, 1e-15);
    }

    #[test]
    fn edges() {
        assert_eq!(
            [igamma(2.0, 0.0), igamma(INF, 2.0), igamma(2.0, INF)],
            [0.0, 0.0, 1.0]
        );
        assert_eq!(
            [igammac(2.0, 0.0), igammac(INF, 2.0), igammac(0.0, 2.0)],
            [1.0, 1.0, 0.0]
        );
        assert_eq!(igamma(0.0, 2.0), 1.0);
        for (a, x) in [
            (0.0, 0.0),
            (INF, INF),
            (-1.0, 1.0),
            (1.0, -1.0),
            (f64::NAN, 1.0),
        ] {
            assert!(igamma(a, x).is_nan() && igammac(a, x).is_nan(), "{a} {x}");
        }
        assert_eq!(igamma_grad_a(2.0, 0.0), 0.0);
        for (a, x) in [
            (0.0, 1.0),
            (1.0, -1.0),
            (INF, 1.0),
            (1.0, INF),
            (1.0, f64::NAN),
        ] {
            assert!(
                igamma_grad_a(a, x).is_nan() && random_gamma_grad(a, x).is_nan(),
                "{a} {x}"
            );
        }
    }

    /// Values of `lax.igamma_grad_a` and `lax.random_gamma_grad`.
    #[test]
    fn derivatives() {
        close(igamma_grad_a(2.5, 3.0), -0.22754855, 2e-8);
        close(random_gamma_grad(0.5, 1.0), 1.87824728, 2e-9);
        close(random_gamma_grad(100.0, 1000.0), 2.56206546, 2e-9);
    }

    /// In single precision the expansion is not started here, and the leading term differs.
    #[test]
    fn single_precision_underflow() {
        close(random_gamma_grad(1000.0, 500.0), 0.6932608932124326, 1e-13);
        close(random_gamma_grad(1000.0f32, 500.0).into(), 0.34682345, 5e-7);
        assert_eq!(igamma_grad_a(1000.0f32, 500.0), 0.0);
    }

    /// The asymptotic expansion meets the convergent ones, whose prefactor is right to 1e-13 there.
    #[test]
    fn large_orders_are_continuous() {
        let below = LARGE_ORDER * (1.0 - 1e-16);
        for deviations in [-3.0, -0.1, 0.0, 0.5, 4.0] {
            let x = LARGE_ORDER + 1e3 * deviations;
            close(igamma(LARGE_ORDER, x), igamma(below, x), 1e-12);
            close(igammac(LARGE_ORDER, x), igammac(below, x), 1e-12);
            let (above, below) = (
                random_gamma_grad(LARGE_ORDER, x),
                random_gamma_grad(below, x),
            );
            close(above, below, 1e-9);
        }
        close(igamma(1e16, 1e16), 0.5 + 1.3298076e-9, 1e-15);
        assert_eq!(igammac(1e9, 2e9), 0.0);
    }
}
