//! The gamma function's logarithm and its derivative: polynomials between the roots, the recurrence around them, the asymptotic series far
//! out, and reflection on the left.
//!
//! Errors are relative to the result for positive arguments, at the roots too; for negative ones, relative to the terms that cancel.

use super::expr::{Expr, unary};
use super::log::{log_pair, split};
use super::pair::{Pair, select};
use super::trig::{cosine_reduced, sine_reduced, tan_reduced};
use crate::lanes::{Builder, Value};
use jaxide_core::eval::numerics::special::DIGAMMA_AROUND_2;
use std::f64::consts::{FRAC_1_PI, PI};

/// Logarithm of the absolute value of the gamma function; infinite at its poles.
pub fn lgamma(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        let left = x.lt(-0.5);
        let right = lgamma_right(left.select(a, x));
        let [result] = left.rarely(
            || {
                // log|Γ(x)| = log(π / |x sin πx|) - log Γ(|x|)
                let (angle, far) = angle_from_integer(a);
                let sine = select(far, cosine_reduced(angle), sine_reduced(angle));
                let sine = sine.normal();
                let d = Pair::product(a, sine.high).plus(a * sine.low);
                let quotient = pi(a).over(d);
                let (m, e) = split(quotient.high);
                // What the quotient lacks enters with the derivative.
                let rest = quotient.low * (d.high * FRAC_1_PI);
                let l = log_pair(m - 1.0, e).plus(rest);
                let result = Pair::sum(l.high, -right).plus(l.low).value();
                let pole = sine.high.eq(0.0) | a.eq(f64::INFINITY);
                [pole.select(f64::INFINITY, result)]
            },
            [right],
        );
        result.value
    })
}

/// Derivative of `log Γ`; -∞ at both zeros, NaN at the other poles.
pub fn digamma(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| digamma_of(x).value)
}

/// [`digamma`], for use inside other formulas.
pub(super) fn digamma_of(x: Expr<'_>) -> Expr<'_> {
    let a = x.abs();
    let left = x.lt(-0.5);
    let right = digamma_right(left.select(a, x));
    let [result] = left.rarely(
        || {
            // ψ(x) = ψ(-x) - 1/x - π cot πx
            let (angle, far) = angle_from_integer(a);
            let cotangent = tan_reduced(angle, !far);
            let fraction = a - a.round_even();
            let pi = pi(a);
            let product = Pair::product(cotangent.high, pi.high);
            let rest = cotangent
                .high
                .fma(pi.low, cotangent.low.fma(pi.high, product.low));
            let product = Pair::new(product.high, rest).flip(fraction.sign_bits());
            let sum = Pair::sum(right, product.high).plus(product.low);
            let result = sum.plus(a.constant(1.0) / a).value();
            let pole = fraction.eq(0.0);
            [pole.select(f64::NAN, result)]
        },
        [right],
    );
    x.eq(0.0).select(f64::NEG_INFINITY, result)
}

/// π |a - n| for the integer n next to `a` or, where the second value holds, π/2 less that; both are at most π/4.
fn angle_from_integer(a: Expr<'_>) -> (Pair<'_>, Expr<'_>) {
    let fraction = (a - a.round_even()).abs();
    let far = fraction.gt(0.25);
    let fraction = far.select(fraction.constant(0.5) - fraction, fraction);
    let pi = pi(a);
    let angle = Pair::product(fraction, pi.high);
    (angle.plus(fraction * pi.low), far)
}

fn pi(like: Expr<'_>) -> Pair<'_> {
    Pair::constant(like, PI, 1.2246467991473532e-16)
}

/// log Γ(z) for z >= -1/2.
pub(super) fn lgamma_right(z: Expr<'_>) -> Expr<'_> {
    let (one, zero) = (z.constant(1.0), z.constant(0.0));
    // Γ(z) = Γ(2 + t) p or Γ(2 + t) / p, t in [-3/4, 1/4), by the factors in between.
    let steps = (z - 0.25).floor();
    let t = z - (steps + 1.0);
    let above = (1..7).fold(one, |p, j| {
        let j = f64::from(j);
        p * steps.gt(j).select(z - j, one)
    });
    let divides = steps.lt(1.0);
    let below = z * steps.lt(0.0).select(z + 1.0, one);
    let p = divides.select(below, above).abs();
    let large = z.constant(8.25).le(z);
    let (m, e) = split(large.select(z, p));
    let l = log_pair(m - 1.0, e);
    // Next to 1 the first term of log z = t - … joins the polynomial, with which it cancels.
    let q = t.poly(t.by(LGAMMA_F32, LGAMMA_F64));
    let near_one = divides & steps.eq(0.0) & e.eq(0.0);
    let signed = l.flip(divides.select(l.high.sign_mask(), l.high.int(0)));
    let q = near_one.select(q - 1.0, q);
    let high = near_one.select(zero, signed.high);
    let small = high + t.fma(q, signed.low);
    // (z - 1/2) (log z - 1) + log(2π) / 2 - 1/2 + …, by a factor so that no part overflows alone.
    let (small_factor, factor_back) = (2f64.powi(-10), 2f64.powi(10));
    let w = z * small_factor - 0.5 * small_factor;
    let factor = Pair::ordered_sum(l.high, -one).plus(l.low);
    let product = Pair::product(w, factor.high);
    let y = one / z;
    let rest = (y * y)
        .poly(y.by(STIRLING_F32, STIRLING_F64))
        .fma(y, 0.41893853320467274);
    let low = rest.fma(small_factor, w.fma(factor.low, product.low));
    let far = (product.high + low) * factor_back;
    let result = large.select(far, small);
    // The pole at 0, infinity and NaN.
    let usual = z.lt(f64::INFINITY) & p.gt(0.0);
    usual.select(result, z + f64::INFINITY)
}

/// ψ(z) for z >= -1/2.
fn digamma_right(z: Expr<'_>) -> Expr<'_> {
    let one = z.constant(1.0);
    // ψ(z) = ψ(2 + t) + n / d, t in [-1, 1), where n / d is the sum of the reciprocals in between.
    let steps = z.floor();
    let (below, twice) = (steps.lt(1.0), steps.lt(0.0));
    let next = z + 1.0;
    let n = twice.select(-(z + next), -one);
    let d = twice.select(z * next, z);
    let base = below.select(twice.select(z + 2.0, next), z);
    let (n, d) = (below.select(n, z.constant(0.0)), below.select(d, one));
    // Above 3, where double precision needs it.
    let (n, d, base) = if z.by(true, false) {
        (n, d, base)
    } else {
        let (first, second) = (z - 1.0, z - 2.0);
        let (above, far) = (z.constant(3.0).le(z), z.constant(4.0).le(z));
        let n = above.select(far.select(first + second, one), n);
        let d = above.select(far.select(first * second, first), d);
        (n, d, above.select(far.select(second, first), base))
    };
    let t = base - 2.0;
    let large = z.constant(z.by(3.0, 5.0)).le(z);
    let quotient = large.select(one, n) / large.select(z, d);
    // ψ by its root r.
    let root = Pair::constant(z, 1.4616321449683622, 9.549995429965697e-17);
    let from_root = t - (root.high - 2.0);
    // What z + 1 has lost, by the derivative, which is nearly linear.
    let lost = below.select(z - (next - 1.0), z.constant(0.0)) * z.fma(-0.95, 1.6);
    let polynomial = if z.by(true, false) {
        t.nested(DIGAMMA_F32)
    } else {
        t.poly(&DIGAMMA_AROUND_2)
    };
    let lost = (-polynomial).fma(root.low, lost);
    // Next to 1 the quotient is twice the result and its rounding error a whole unit; 1 / d is -n / d there.
    let lost = if z.by(true, false) {
        d.gt(0.25)
            .select(quotient.fma(quotient.fma(d, -n), lost), lost)
    } else {
        lost
    };
    let small = from_root.fma(polynomial, lost) + quotient;
    // log z - 1/2z - 1/12z² + …
    let (m, e) = split(z);
    let l = log_pair(m - 1.0, e);
    let square = quotient * quotient;
    let series = square.poly(z.by(PSI_F32, PSI_F64));
    let far = l.plus(-square.fma(series, quotient * 0.5)).value();
    let result = large.select(far, small);
    z.lt(f64::INFINITY).select(result, z)
}

/// log Γ(2 + t) / t, -3/4 <= t <= 1/4.
const LGAMMA_F32: &[f64] = &[
    0.42278433,
    0.32246703,
    -0.067351714,
    0.020581974,
    -0.007398484,
    0.0028458594,
    -0.0011493707,
    0.0009139938,
    0.000470121,
    0.0005436316,
];
const LGAMMA_F64: &[f64] = &[
    0.42278433509846713,
    0.32246703342411326,
    -0.06735230105319646,
    0.020580808427770367,
    -0.007385551028860881,
    0.0028905103320101167,
    -0.0011927538997335396,
    0.0005096694837589254,
    -0.0002231552065056156,
    9.945771645362404e-05,
    -4.491741225997182e-05,
    2.0522455562200062e-05,
    -9.508011574282339e-06,
    4.085655102316043e-06,
    -2.2104256612270157e-06,
    2.144000320844049e-06,
    3.0326647631891005e-06,
    4.711379639992626e-06,
    2.938106832359322e-06,
    9.658164379043326e-07,
];

/// (log Γ(z) - (z - 1/2) (log z - 1) - log(2π) / 2 + 1/2) z in powers of 1/z², z >= 8.25.
const STIRLING_F32: &[f64] = &[0.083333336, -0.002778254, 0.0008071892];
const STIRLING_F64: &[f64] = &[
    0.08333333333333318,
    -0.002777777777470267,
    0.0007936506231924096,
    -0.0005951975728213717,
    0.0008370355405993899,
    -0.001648638594952827,
];

/// ψ(2 + t) / (2 + t - r), r the root, |t| <= 1, for single precision.
const DIGAMMA_F32: &[f64] = &[
    0.7853075,
    -0.26073897,
    0.10899977,
    -0.04955039,
    0.023453742,
    -0.011346179,
    0.0055048186,
    -0.002700318,
    0.0015021181,
    -0.0007731984,
    0.00012964565,
    -4.3711116e-05,
    0.00021561359,
    -0.000114125774,
];

/// (log z - 1/2z - ψ(z)) z² in powers of 1/z², z >= 3 and z >= 5.
const PSI_F32: &[f64] = &[
    0.083333336,
    -0.00833357,
    0.0039755367,
    -0.0042446614,
    0.007383053,
    -0.01091643,
];
const PSI_F64: &[f64] = &[
    0.08333333333333333,
    -0.008333333333327636,
    0.003968253965632372,
    -0.004166666039211433,
    0.007575667645699355,
    -0.02108447020000777,
    0.08281301858297906,
    -0.42073245720470565,
    2.366629934362745,
    -11.371439005686668,
    30.621249556423734,
];
