//! The Hurwitz zeta function and the polygamma functions in single precision: computed in double precision, so that the result is rounded
//! once. The interpreter's formulas say what happens at the edges, and why.

use super::exp::exp_of;
use super::expr::{Expr, in_double};
use super::gamma::{digamma_of, lgamma_right};
use super::log::log_of;
use crate::lanes::{Builder, Ty, UnOp, Value};

/// ζ(x, q) of two `f32`.
pub fn zeta(b: &mut Builder, x: Value, q: Value) -> Value {
    let [y] = in_double(b, [x, q], |[x, q]| [hurwitz(x, q)]);
    y
}

/// ψ⁽ⁿ⁾(x) of two `f32`.
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

/// ψ⁽ⁿ⁾(x) in a format whose largest factorial is that of `largest`, and which `round` rounds an `f32` to.
fn polygamma_of(b: &mut Builder, n: Value, x: Value, largest: f64, round: Option<UnOp>) -> Value {
    let [y] = in_double(b, [n, x], |[n, x]| {
        let zeta = hurwitz(n + 1.0, x);
        // The factorial overflows with the type, and where it does, or ζ underflows or overflows, the product is that of rounded factors.
        let factorial = exp_of(lgamma_right(n + 1.0));
        let in_range = n.le(largest);
        let factorial = in_range.select(factorial, n.constant(f64::INFINITY));
        let rounded = zeta.narrow();
        let rounded = round.map_or(rounded, |round| rounded.un(round, Ty::F32));
        let rounded = rounded.widen();
        let normal = rounded.abs().lt(f64::INFINITY) & !rounded.eq(0.0);
        let product = factorial * (in_range & normal).select(zeta, rounded);
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

/// Euler–Maclaurin summation: ten terms, then twelve corrections.
fn hurwitz<'a>(x: Expr<'a>, q: Expr<'a>) -> Expr<'a> {
    let (zero, infinity, nan) = (
        x.constant(0.0),
        x.constant(f64::INFINITY),
        x.constant(f64::NAN),
    );
    let half = x * 0.5;
    let finite = x.abs().lt(f64::INFINITY);
    let (whole, even) = (x.trunc().eq(x), finite & half.trunc().eq(half));
    let power = |base: Expr<'a>| {
        let size = exp_of(-(log_of(base.abs()) * x));
        let negative = base.lt(0.0) & !even;
        negative.select(-size, size)
    };
    let (mut terms, mut rest) = (zero, zero);
    // The first term that overflows is the result.
    let mut overflow = x.lt(x);
    let mut overflown = zero;
    for k in 0..10 {
        let term = power(q + f64::from(k));
        let here = term.abs().eq(f64::INFINITY) & !overflow;
        overflown = here.select(term, overflown);
        overflow = overflow | here;
        // Left of zero terms may cancel each other, so that what rounding leaves is kept.
        let sum = terms + term;
        let added = sum - terms;
        rest = rest + ((terms - (sum - added)) + (term - added));
        terms = sum;
    }
    let terms = terms + rest;
    let wide = q + 10.0;
    let last = power(wide);
    let inverse_square = x.constant(1.0) / (wide * wide);
    // The corrections with 1 / a² and the factors of x, from the last.
    let mut corrections = x.constant(1.0 / CORRECTIONS[0]);
    for (k, c) in (0..11).rev().zip(&CORRECTIONS[1..]) {
        let n = f64::from(2 * (k + 1));
        corrections = corrections * ((x + (n - 1.0)) * (x + n) * inverse_square);
        corrections = corrections + 1.0 / c;
    }
    let corrections = (x / wide).fma(corrections, 0.5);
    let sum = terms + last * (wide / (x - 1.0) + corrections);
    let sum = last.eq(0.0).select(terms, sum);
    let sum = overflow.select(overflown, sum);
    let defined = x.constant(1.0).le(x) & finite & q.abs().lt(f64::INFINITY);
    let left = q.le(0.0);
    let defined = defined & (!left | whole);
    let result = defined.select(sum, nan);
    let pole = left & q.floor().eq(q);
    let at_pole = even.select(infinity, nan);
    let result = pole.select(at_pole, result);
    x.eq(1.0).select(infinity, result)
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
