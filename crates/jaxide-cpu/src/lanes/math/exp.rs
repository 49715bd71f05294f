//! The exponential, and what is made of it.

use super::expr::{Expr, unary};
use super::pair::{Pair, select};
use crate::lanes::{Builder, Value};

/// `e^x`.
pub fn exp(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| exp_of(x).value)
}

/// `2^x`.
pub fn exp2(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // Where the result is zero or infinite by a margin; NaN passes.
        let x = x.by(x.clamp(-151.0, 129.0), x.clamp(-1076.0, 1025.0));
        let n = x.round_even();
        let r = x - n;
        let p = r.poly(r.by(EXP2_F32, EXP2_F64)).fma(r, 1.0);
        p.scale(n).value
    })
}

/// `e^x - 1`, accurate near 0.
pub fn expm1(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| expm1_of(x).value)
}

/// `1 / (1 + e^-x)`.
pub fn logistic(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // From e^-|x|, which does not overflow: 1 / (1 + e) or e / (1 + e).
        let (p, n) = exp_pair(-x.abs());
        let p = p.normal();
        let one = x.constant(1.0);
        let d = Pair::ordered_sum(one, p.high.scale(n));
        let negative = x.lt(0.0);
        let numerator = select(negative, p, Pair::exact(one));
        let n = negative.select(n, x.constant(0.0));
        numerator.over(d).value().scale(n).value
    })
}

/// Hyperbolic sine.
pub fn sinh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        let s = x * x;
        let near = (x * s).fma(s.poly(x.by(SINH_F32, SINH_F64)), x);
        // With u = (e^|x| - 1) / 2 this is u + u / (2u + 1), where the quotient is 1/2 long before u overflows.
        let u = quarter_expm1(a).normal().times(2.0);
        let v = a.constant(1e30).pick_lt(u.high);
        let far = u.plus(v / v.fma(2.0, 1.0)).value().copysign(x);
        a.lt(1.0).select(near, far).value
    })
}

/// Hyperbolic cosine.
pub fn cosh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // A quarter of it, with e^|x| / 8 in two parts.
        let (p, n) = exp_pair(x.abs());
        let p = p.normal();
        let power = x.constant(0.125).scale(n);
        let high = p.high * power;
        let low = p.low.fma(power, x.constant(1.0 / 64.0) / high);
        ((high + low) * 4.0).value
    })
}

/// Hyperbolic tangent.
pub fn tanh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // With m = e^2|x| - 1 this is m / (m + 2); from 20 on it is 1.
        let twice = x.constant(40.0).pick_lt(x.abs() * 2.0);
        let m = scaled_expm1(twice, 1.0).normal();
        let d = Pair::sum(m.high, x.constant(2.0)).plus(m.low);
        let result = m.over(d).value().copysign(x);
        own_value_if_tiny(x, result).value
    })
}

/// `e^x`, for use inside other formulas.
pub(super) fn exp_of(x: Expr<'_>) -> Expr<'_> {
    let (p, n) = exp_parts(x);
    p.scale(n)
}

/// `e^x = p * 2^n` with p in [0.7, 1.42], or both zero or both infinite.
pub(super) fn exp_parts(x: Expr<'_>) -> (Expr<'_>, Expr<'_>) {
    let (_, r, n) = exp_reduce(exp_limited(x));
    let p = (r * r).fma(exp_rest(r), r);
    (p + 1.0, n)
}

/// As [`exp_parts`], p in two parts of which the lower is below 0.1.
pub(super) fn exp_pair(x: Expr<'_>) -> (Pair<'_>, Expr<'_>) {
    let (first, r, n) = exp_reduce(exp_limited(x));
    let tail = (r * r).fma(exp_rest(r), lost(first, r, n));
    (Pair::ordered_sum(r.constant(1.0), r).plus(tail), n)
}

/// Where the exponential is zero or infinite by a margin; NaN passes.
fn exp_limited(x: Expr<'_>) -> Expr<'_> {
    x.by(x.clamp(-104.5, 90.0), x.clamp(-746.0, 711.0))
}

/// `x = n ln 2 + r` with integral n and |r| <= ln 2 / 2, as the exact first step, r and n.
fn exp_reduce(x: Expr<'_>) -> (Expr<'_>, Expr<'_>, Expr<'_>) {
    let n = (x * std::f64::consts::LOG2_E).round_even();
    let first = (-n).fma(x.by(0.69314718, 0.6931471805599453), x);
    (first, (-n).fma(ln_2_rest(x), first), n)
}

/// What the second step of [`exp_reduce`] has lost.
fn lost<'a>(first: Expr<'a>, r: Expr<'a>, n: Expr<'a>) -> Expr<'a> {
    (-n).fma(ln_2_rest(r), first - r)
}

fn ln_2_rest(x: Expr<'_>) -> f64 {
    x.by(-1.9046542e-9, 2.3190468138462996e-17)
}

/// `(e^r - 1 - r) / r²` for |r| <= ln 2 / 2.
fn exp_rest(r: Expr<'_>) -> Expr<'_> {
    r.poly(r.by(EXP_F32, EXP_F64))
}

/// `(e^x - 1) / 4`, finite wherever the hyperbolic sine is, infinite beyond its range when multiplied by 2; -0 becomes 0.
fn quarter_expm1(x: Expr<'_>) -> Pair<'_> {
    scaled_expm1(x.by(x.clamp(-30.0, 89.7), x.clamp(-60.0, 710.7)), 0.25)
}

/// `(e^x - 1) c` for a power of two c, where that does not overflow; -0 becomes 0.
fn scaled_expm1(x: Expr<'_>, c: f64) -> Pair<'_> {
    let (first, r, n) = exp_reduce(x);
    let t = r.constant(c).scale(n);
    // t e^r - c, the largest parts added exactly; t r is exact.
    let start = t - c;
    let start_rest = (t - start) - c;
    let tail = (r * r).fma(exp_rest(r), lost(first, r, n));
    let sum = Pair::ordered_sum(start, t * r);
    Pair::new(sum.high, t.fma(tail, sum.low + start_rest))
}

fn expm1_of(x: Expr<'_>) -> Expr<'_> {
    own_value_if_tiny(x, quarter_expm1(x).value() * 4.0)
}

/// `x` itself where x² is nothing beside it: the formula loses the last bits of subnormals and the sign of zero there.
fn own_value_if_tiny<'a>(x: Expr<'a>, result: Expr<'a>) -> Expr<'a> {
    x.abs().lt(x.constant(x.by(1e-10, 1e-20))).select(x, result)
}

/// (e^r - 1 - r) / r², |r| <= ln 2 / 2, relative to e^r.
const EXP_F32: &[f64] = &[
    0.49999994,
    0.16666517,
    0.041668106,
    0.008369131,
    0.0013836432,
];
const EXP_F64: &[f64] = &[
    0.5000000000000011,
    0.1666666666666643,
    0.04166666666652566,
    0.008333333333479664,
    0.001388888894492433,
    0.00019841269546316855,
    2.4801491678591262e-05,
    2.755754096912559e-06,
    2.763078761192526e-07,
    2.501857589751853e-08,
];

/// (2^r - 1) / r, |r| <= 1/2, relative to 2^r.
const EXP2_F32: &[f64] = &[
    0.69314724,
    0.24022655,
    0.055502728,
    0.009617065,
    0.0013417924,
    0.00015821359,
];
const EXP2_F64: &[f64] = &[
    0.6931471805599453,
    0.2402265069591007,
    0.05550410866482338,
    0.009618129107630224,
    0.001333355814603347,
    0.0001540353038890964,
    1.5252734167053788e-05,
    1.3215491309461035e-06,
    1.0177934049638336e-07,
    7.053168472288809e-09,
    4.4725751856416385e-10,
    2.7844519652940625e-11,
];

/// (sinh(x) / x - 1) / s, s = x² <= 1.
const SINH_F32: &[f64] = &[0.16666667, 0.008333315, 0.00019841666, 2.7899841e-06];
const SINH_F64: &[f64] = &[
    0.16666666666666669,
    0.008333333333332969,
    0.0001984126984153284,
    2.7557319129808488e-06,
    2.5052126949646087e-08,
    1.6056993222626063e-10,
    7.766116353768402e-13,
];
