//! Arcus functions.

use super::expr::{Expr, binary, unary};
use crate::lanes::{BinOp, Builder, Value};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Inverse sine, in [-π/2, π/2]; NaN beyond ±1.
pub fn asin(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let (near_one, p) = asin_core(x.abs());
        near_one
            .select(p.fma(-2.0, FRAC_PI_2) + pi_rest(p) * 0.5, p)
            .copysign(x)
            .value
    })
}

/// Inverse cosine, in [0, π]; NaN beyond ±1.
pub fn acos(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let (near_one, p) = asin_core(x.abs());
        let negative = x.lt(0.0);
        let twice = p + p;
        let outer = negative.select(pi_minus(twice), twice);
        let inner = x.constant(FRAC_PI_2) - (p.copysign(x) - pi_rest(x) * 0.5);
        near_one.select(outer, inner).value
    })
}

/// Inverse tangent, in [-π/2, π/2].
pub fn atan(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        let one = x.constant(1.0);
        let above = one.lt(a);
        let angle = atan_of_ratio(above.select(one, a), above.select(a, one));
        above.select(half_pi_minus(angle), angle).copysign(x).value
    })
}

/// The angle of the point (x, y), in [-π, π]; operands in the order y, x.
pub fn atan2(b: &mut Builder, y: Value, x: Value) -> Value {
    binary(b, y, x, |y, x| {
        let (ay, ax) = (y.abs(), x.abs());
        // As if they were finite where both are infinite, and zero over one where both are zero.
        let (low, high) = (ay.bin(BinOp::Min, ax), ay.bin(BinOp::Max, ax));
        let one = x.constant(1.0);
        let infinite = low.eq(f64::INFINITY);
        let low = infinite.select(one, low);
        let high = (infinite | high.eq(0.0)).select(one, high);
        let angle = atan_of_ratio(low, high);
        let angle = ax.lt(ay).select(half_pi_minus(angle), angle);
        let left = x.bits().lt(x.int(0));
        left.select(pi_minus(angle), angle).copysign(y).value
    })
}

/// Whether `a` > 1/2, and asin a or, there, asin sqrt((1 - a) / 2), which is π/4 - asin(a) / 2.
fn asin_core(a: Expr<'_>) -> (Expr<'_>, Expr<'_>) {
    let near_one = a.gt(0.5);
    let z = near_one.select(a.fma(-0.5, 0.5), a * a);
    let root = near_one.select(z.sqrt(), a);
    (
        near_one,
        (root * z).fma(z.poly(a.by(ASIN_F32, ASIN_F64)), root),
    )
}

/// atan(n / d) for 0 <= n <= d, d not 0 or infinite.
fn atan_of_ratio<'a>(n: Expr<'a>, d: Expr<'a>) -> Expr<'a> {
    if n.by(true, false) {
        let t = n / d;
        let s = t * t;
        return (t * s).fma(s.poly(ATAN_F32), t);
    }
    // Above tan π/8: atan t = π/4 + atan((t - 1) / (t + 1)), from the operands themselves.
    let above = (d * 0.414_213_562_373_095_03).lt(n);
    let t = above.select(n - d, n) / above.select(n + d, d);
    let s = t * t;
    let rest = above.select(pi_rest(n) * 0.25, n.constant(0.0));
    let angle = (t * s).fma(s.poly(ATAN_F64), rest) + t;
    above.select(angle + FRAC_PI_4, angle)
}

/// What the float nearest to π misses of it.
fn pi_rest(x: Expr<'_>) -> Expr<'_> {
    x.constant(x.by(-8.742277657347586e-08, 1.2246467991473532e-16))
}

fn pi_minus(x: Expr<'_>) -> Expr<'_> {
    x.constant(PI) - (x - pi_rest(x))
}

fn half_pi_minus(x: Expr<'_>) -> Expr<'_> {
    x.constant(FRAC_PI_2) - (x - pi_rest(x) * 0.5)
}

/// (asin(r) / r - 1) / s, s = r² <= 1/4.
const ASIN_F32: &[f64] = &[
    0.16666752,
    0.074953064,
    0.045469772,
    0.024180774,
    0.042166412,
];
const ASIN_F64: &[f64] = &[
    0.16666666666665403,
    0.07500000000338594,
    0.04464285682693384,
    0.030381959197465013,
    0.02237175653944551,
    0.017359728341088416,
    0.013884995610246365,
    0.012170828102681,
    0.006520817615889007,
    0.019548280816047762,
    -0.016256296678258047,
    0.031934649424152216,
];

/// (atan(t) / t - 1) / s, s = t²; t <= 1 and t <= tan π/8.
const ATAN_F32: &[f64] = &[
    -0.333333,
    0.1999853,
    -0.14264014,
    0.10950861,
    -0.08399208,
    0.05787887,
    -0.031093534,
    0.010866272,
    -0.0017821451,
];
const ATAN_F64: &[f64] = &[
    -0.333333333333332,
    0.19999999999953766,
    -0.14285714280212017,
    0.11111110784138356,
    -0.09090897774889288,
    0.07692060481165984,
    -0.0666310664333959,
    0.05847905064288764,
    -0.05039361871082937,
    0.038065669719075185,
    -0.01790805868729651,
];
