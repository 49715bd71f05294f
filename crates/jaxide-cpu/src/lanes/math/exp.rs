//! The exponential and what is made of it.

use super::expr::{Expr, unary};
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
        // From e^-|x|, which does not overflow.
        let e = exp_of(-x.abs());
        let one = x.constant(1.0);
        (x.lt(0.0).select(e, one) / (e + one)).value
    })
}

/// Hyperbolic sine.
pub fn sinh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // With u = (e^|x| - 1) / 2 this is u + u / (2u + 1), where the quotient is 1/2 long before u overflows.
        let u = quarter_expm1(x.abs()) * 2.0;
        let v = u.constant(1e30).pick_lt(u);
        let result = (u + v / v.fma(2.0, 1.0)).copysign(x);
        own_value_if_tiny(x, result).value
    })
}

/// Hyperbolic cosine.
pub fn cosh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let (p, n) = exp_parts(x.abs());
        let half = (p * 0.5).scale(n);
        (half + half.constant(0.25) / half).value
    })
}

/// Hyperbolic tangent.
pub fn tanh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        if x.by(true, false) {
            // At this limit the quotient is exactly 1.
            let x = x.clamp(-8.9462, 8.9462);
            let s = x * x;
            return (x * s.poly(TANH_P) / s.poly(TANH_Q)).clamp(-1.0, 1.0).value;
        }
        // With m = e^2|x| - 1 this is m / (m + 2); from 20 on it is 1.
        let m = quarter_expm1(x.constant(40.0).pick_lt(x.abs() * 2.0)) * 4.0;
        (m / (m + 2.0)).copysign(x).value
    })
}

/// `e^x`, for use inside other formulas.
pub(super) fn exp_of(x: Expr<'_>) -> Expr<'_> {
    let (p, n) = exp_parts(x);
    p.scale(n)
}

/// `e^x = p * 2^n` with p in [0.7, 1.42], or both zero or both infinite.
pub(super) fn exp_parts(x: Expr<'_>) -> (Expr<'_>, Expr<'_>) {
    let (r, n) = exp_reduce(x.by(x.clamp(-104.5, 90.0), x.clamp(-746.0, 711.0)));
    (exp_minus_one_poly(r) + 1.0, n)
}

/// `x = n ln 2 + r` with integral n and |r| <= ln 2 / 2. The first step is exact.
fn exp_reduce(x: Expr<'_>) -> (Expr<'_>, Expr<'_>) {
    let n = (x * std::f64::consts::LOG2_E).round_even();
    let minus = -n;
    let (high, low) = x.by(
        (0.69314718, -1.9046542e-9),
        (0.6931471805599453, 2.3190468138462996e-17),
    );
    let r = minus.fma(low, minus.fma(high, x));
    (r, n)
}

/// `e^r - 1` for |r| <= ln 2 / 2.
fn exp_minus_one_poly(r: Expr<'_>) -> Expr<'_> {
    (r * r).fma(r.poly(r.by(EXP_F32, EXP_F64)), r)
}

/// `(e^x - 1) / 4`, finite wherever the hyperbolic sine is, infinite beyond its range when multiplied by 2; -0 becomes 0.
fn quarter_expm1(x: Expr<'_>) -> Expr<'_> {
    let (r, n) = exp_reduce(x.by(x.clamp(-30.0, 89.7), x.clamp(-60.0, 710.7)));
    let t = r.constant(0.25).scale(n);
    exp_minus_one_poly(r).fma(t, t - 0.25)
}

fn expm1_of(x: Expr<'_>) -> Expr<'_> {
    own_value_if_tiny(x, quarter_expm1(x) * 4.0)
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

/// tanh(x) / x = P(x²) / Q(x²), |x| <= 9.02, beyond which the result is 1.
const TANH_P: &[f64] = &[
    0.9999999986910564,
    0.1367991505044586,
    0.0038683277492190774,
    2.8007460369952756e-05,
    3.058503069706184e-08,
    -1.2203475391990181e-11,
];
const TANH_Q: &[f64] = &[
    1.0,
    0.47013247110795536,
    0.027245838749404817,
    0.000393863117443787,
    1.2873667696253824e-06,
];
