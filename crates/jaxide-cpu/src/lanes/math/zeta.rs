//! The Hurwitz zeta function and the polygamma functions: in double precision for single, so that the result is rounded once, and for double
//! with terms in two parts. The interpreter's formulas say what happens at the edges, and why.

use super::exp::exp_of;
use super::expr::{Expr, in_double, iterate};
use super::gamma::{digamma_of, lgamma_right};
use super::log::log_of;
use super::power::reciprocal_power;
use super::wide::Wide;
use crate::lanes::{Builder, Ty, UnOp, Value};

/// ζ(x, q).
pub fn zeta(b: &mut Builder, x: Value, q: Value) -> Value {
    let [y] = in_double(b, [x, q], |[x, q]| [hurwitz(x, q).value()]);
    y
}

/// ψ⁽ⁿ⁾(x).
pub fn polygamma(b: &mut Builder, n: Value, x: Value) -> Value {
    polygamma_of(b, n, x, 34.0, None)
}

/// ψ⁽ⁿ⁾(x) of two bfloat16 numbers as `f32`, not yet rounded.
pub fn polygamma_bf16(b: &mut Builder, n: Value, x: Value) -> Value {
    polygamma_of(b, n, x, 34.0, Some(UnOp::RoundBf16))
}

/// ψ⁽ⁿ⁾(x) of two binary16 numbers as `f32`, not yet rounded.
pub fn polygamma_f16(b: &mut Builder, n: Value, x: Value) -> Value {
    polygamma_of(b, n, x, 8.0, Some(UnOp::RoundF16))
}

/// ψ⁽ⁿ⁾(x) of `f64`, or in a format whose largest factorial is that of `largest`, and which `round` rounds an `f32` to.
fn polygamma_of(b: &mut Builder, n: Value, x: Value, largest: f64, round: Option<UnOp>) -> Value {
    let [y] = in_double(b, [n, x], |[n, x]| {
        let zeta = hurwitz(n + 1.0, x);
        let product = if n.from_single {
            with_factorial_single(n, zeta.value(), largest, round)
        } else {
            with_factorial(n, zeta)
        };
        let half = n * 0.5;
        let even = half.trunc().eq(half);
        let derivative = even.select(-product, product);
        let defined = n.trunc().eq(n) & n.constant(0.0).le(n);
        let derivative = defined.select(derivative, n.constant(f64::NAN));
        let zeroth = n.eq(0.0);
        zeroth.rarely(|| [digamma_of(x)], [derivative])
    });
    y
}

/// n! ζ of `f32` and of narrower formats. The factorial overflows with the format, and where it does, or ζ underflows or overflows, the
/// product is that of rounded factors.
fn with_factorial_single<'a>(
    n: Expr<'a>,
    zeta: Expr<'a>,
    largest: f64,
    round: Option<UnOp>,
) -> Expr<'a> {
    let factorial = exp_of(lgamma_right(n + 1.0));
    let in_range = n.le(largest);
    let factorial = in_range.select(factorial, n.constant(f64::INFINITY));
    let rounded = zeta.narrow();
    let rounded = round.map_or(rounded, |round| rounded.un(round, Ty::F32));
    let rounded = rounded.widen();
    let normal = rounded.abs().lt(f64::INFINITY) & !rounded.eq(0.0);
    factorial * (in_range & normal).select(zeta, rounded)
}

/// The same of `f64`.
fn with_factorial<'a>(n: Expr<'a>, zeta: Wide<'a>) -> Expr<'a> {
    let one = n.constant(1.0);
    let in_range = n.le(170.0);
    let (last, zero) = (in_range.select(n, n.constant(0.0)), n.constant(0.0));
    let [_, product, product_low, factorial, factorial_low] = iterate(
        [one, zeta.high, zeta.low, one, zero],
        |[k, ..]| k.le(last),
        |[k, product, product_low, factorial, factorial_low]| {
            let product = Wide::new(product, product_low).times(k);
            let factorial = Wide::new(factorial, factorial_low).times(k);
            [
                k + 1.0,
                product.high,
                product.low,
                factorial.high,
                factorial.low,
            ]
        },
    );
    let product = product + product_low;
    let factorial = in_range.select(factorial + factorial_low, n.constant(f64::INFINITY));
    let rounded = zeta.value();
    let normal = rounded.abs().lt(f64::INFINITY) & n.constant(f64::MIN_POSITIVE).le(rounded.abs());
    let usual = in_range & normal & product.abs().lt(f64::INFINITY);
    usual.select(product, factorial * rounded)
}

/// Euler–Maclaurin summation: ten terms, then twelve corrections. In double precision for a result of that precision, terms are sums of two
/// numbers.
fn hurwitz<'a>(x: Expr<'a>, q: Expr<'a>) -> Wide<'a> {
    let (zero, infinity, nan) = (
        x.constant(0.0),
        x.constant(f64::INFINITY),
        x.constant(f64::NAN),
    );
    let half = x * 0.5;
    let finite = x.abs().lt(f64::INFINITY);
    let (whole, even) = (x.trunc().eq(x), finite & half.trunc().eq(half));
    let single = x.from_single;
    let shifted = |by: f64| {
        if single {
            Wide::from(q + by)
        } else {
            Wide::sum(q, q.constant(by))
        }
    };
    let power = |base: Wide<'a>| {
        let below = base.high.lt(0.0);
        let size = if single {
            Wide::from(exp_of(-(log_of(base.high.abs()) * x)))
        } else {
            // From there on the result is 0, 1 or infinite.
            let limited = x.constant(1e290).pick_lt(x);
            reciprocal_power(Wide::select(below, -base, base), limited)
        };
        Wide::select(below & !even, -size, size)
    };
    let add = |a: Wide<'a>, b: Wide<'a>| {
        if single {
            // Left of zero terms may cancel each other, so that what rounding leaves is kept.
            let sum = Wide::sum(a.high, b.high);
            Wide::new(sum.high, sum.low + a.low)
        } else {
            a + b
        }
    };
    let mut terms = Wide::from(zero);
    // The first term that overflows is the result.
    let mut overflow = x.lt(x);
    let mut overflown = zero;
    for k in 0..10 {
        let term = power(shifted(f64::from(k)));
        let here = term.high.abs().eq(f64::INFINITY) & !overflow;
        overflown = here.select(term.high, overflown);
        overflow = overflow | here;
        terms = add(terms, term);
    }
    let terms = if single {
        Wide::from(terms.value())
    } else {
        terms
    };
    let first_left_out = shifted(10.0);
    let (wide, last) = (first_left_out.high, power(first_left_out));
    let inverse_square = x.constant(1.0) / (wide * wide);
    // The corrections with 1 / a² and the factors of x, from the last.
    let mut corrections = x.constant(1.0 / CORRECTIONS[0]);
    for (k, c) in (0..11).rev().zip(&CORRECTIONS[1..]) {
        let n = f64::from(2 * (k + 1));
        corrections = corrections * ((x + (n - 1.0)) * (x + n) * inverse_square);
        corrections = corrections + 1.0 / c;
    }
    let corrections = (x / wide).fma(corrections, 0.5);
    let sum = if single {
        Wide::from(terms.value() + last.high * (wide / (x - 1.0) + corrections))
    } else {
        let integral = first_left_out.over(Wide::sum(x, x.constant(-1.0)));
        add(terms, last * integral.plus(corrections))
    };
    let sum = Wide::select(last.high.eq(0.0), terms, sum);
    let sum = Wide::select(overflow, Wide::from(overflown), sum);
    let defined = x.constant(1.0).le(x) & finite & q.abs().lt(f64::INFINITY);
    let left = q.le(0.0);
    let defined = defined & (!left | whole);
    let result = Wide::select(defined, sum, nan.into());
    let pole = left & q.floor().eq(q);
    let at_pole = even.select(infinity, nan);
    let result = Wide::select(pole, at_pole.into(), result);
    Wide::select(x.eq(1.0), infinity.into(), result)
}

/// (2k)! / B₂ₖ, highest k first.
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
