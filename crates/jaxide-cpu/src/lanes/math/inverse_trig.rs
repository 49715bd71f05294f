//! Arcus functions.

use super::expr::{Expr, binary, unary};
use super::pair::{Pair, select};
use crate::lanes::{BinOp, Builder, Value};
use std::f64::consts::FRAC_PI_4;

/// Inverse sine, in [-π/2, π/2]; NaN beyond ±1.
pub fn asin(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        let (near_one, root, rest) = asin_core(a);
        // π/2 - 2 (root + rest), or root + rest.
        let (high, low) = half_pi(x);
        let most = root.fma(-2.0, high);
        let lost = root.fma(-2.0, most.constant(high) - most);
        let far = most + rest.fma(-2.0, lost + low);
        near_one.select(far, root + rest).flip(x.sign_bits()).value
    })
}

/// Inverse cosine, in [0, π]; NaN beyond ±1.
pub fn acos(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let (near_one, root, rest) = asin_core(x.abs());
        // 2p, π - 2p or π/2 ∓ p with p = root + rest: so many times π/2, and so many times p.
        let (high, low) = half_pi(x);
        let two = x.constant(2.0);
        let quarters = near_one.select(x.lt(0.0).select(two, x.constant(0.0)), x.constant(1.0));
        let factor = near_one.select(two, x.constant(-1.0)).flip(x.sign_bits());
        let start = quarters * high;
        let most = factor.fma(root, start);
        let lost = factor.fma(root, start - most);
        (most + factor.fma(rest, quarters.fma(low, lost))).value
    })
}

/// Inverse tangent, in [-π/2, π/2].
pub fn atan(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // Where the result is π/2 by a margin the reciprocal is still a normal number.
        let a = x.constant(1152921504606846976.0).pick_lt(x.abs());
        let result = if x.by(true, false) {
            atan_single(a)
        } else {
            atan_double(a)
        };
        result.flip(x.sign_bits()).value
    })
}

/// atan a for a >= 0: of t = a or, above 1, as π/2 + atan t, t = -1 / a.
fn atan_single(a: Expr<'_>) -> Expr<'_> {
    let one = a.constant(1.0);
    let above = one.lt(a);
    let (n, d) = (above.select(-1.0, a), above.select(a, one));
    let t = n / d;
    // What the quotient has lost counts above 1, where it is -t times the residue; there next to 1 the derivative is about 0.6.
    let residue = (-t).fma(d, n);
    let (high, low) = half_pi(a);
    let zero = a.constant(0.0);
    let (start, start_low) = (above.select(high, zero), above.select(low, zero));
    let start_low = (-residue).fma(t * 0.6, start_low);
    // t K + t Q(t²) with K in the middle, so that the second term and its roundings are small.
    let most = t.fma(ATAN_MIDDLE, start);
    let lost = t.fma(ATAN_MIDDLE, start - most);
    most + t.fma((t * t).nested(ATAN_F32), start_low + lost)
}

/// The same in double precision, where a polynomial up to 1 would be too long.
fn atan_double(a: Expr<'_>) -> Expr<'_> {
    let one = a.constant(1.0);
    // atan a, π/4 + atan((a - 1) / (a + 1)) or π/2 + atan(-1 / a).
    let (middle, far) = (a.gt(TAN_EIGHTH), a.gt(1.0 / TAN_EIGHTH));
    let n = select(middle, Pair::ordered_sum(-one, a), Pair::exact(a));
    let d = select(middle, Pair::ordered_sum(one, a), Pair::exact(one));
    let n = select(far, Pair::exact(-one), n);
    let d = select(far, Pair::exact(a), d);
    let start = far.select(2.0, middle.select(1.0, a.constant(0.0)));
    let angle = atan_reduced(n.over(d), ATAN_F64);
    quarters_times(start).plus_pair(angle).value()
}

/// The angle of the point (x, y), in [-π, π]; operands in the order y, x.
pub fn atan2(b: &mut Builder, y: Value, x: Value) -> Value {
    binary(b, y, x, |y, x| {
        let (ay, ax) = (y.abs(), x.abs());
        let (low, high) = (ay.bin(BinOp::Min, ax), ay.bin(BinOp::Max, ax));
        // As if they were one where both are infinite, and zero over one where one is or both are zero.
        let (zero, one) = (x.constant(0.0), x.constant(1.0));
        let infinite = high.eq(f64::INFINITY);
        let both = low.eq(f64::INFINITY);
        let low = infinite.select(both.select(1.0, zero), low);
        let high = (infinite | high.eq(0.0)).select(one, high);
        // Away from overflow and underflow.
        let ((above, down), (below, up)) = x.by(
            (
                (2f64.powi(100), 2f64.powi(-64)),
                (2f64.powi(-60), 2f64.powi(80)),
            ),
            (
                (2f64.powi(1000), 2f64.powi(-600)),
                (2f64.powi(-500), 2f64.powi(600)),
            ),
        );
        let factor = high.lt(below).select(up, high.gt(above).select(down, one));
        let (low, high) = (low * factor, high * factor);
        // Above tan π/8: atan t = π/4 + atan((t - 1) / (t + 1)), from the operands themselves.
        let middle = (high * TAN_EIGHTH).lt(low);
        let n = select(middle, Pair::ordered_sum(-high, low), Pair::exact(low));
        let d = select(middle, Pair::ordered_sum(high, low), Pair::exact(high));
        let angle = atan_reduced(n.over(d), x.by(ATAN_EIGHTH_F32, ATAN_F64));
        // π/2 less that where y is the larger, and π less that on the left.
        let start = middle.select(one, zero);
        let (steep, left) = (ax.lt(ay), x.sign_bits());
        let start = steep.select(start.constant(2.0) - start, start);
        let start = left
            .eq(left.int(0))
            .select(start, start.constant(4.0) - start);
        let sign = left ^ steep.select(x.sign_mask(), left.int(0));
        let result = quarters_times(start).plus_pair(angle.flip(sign));
        result.value().copysign(y).value
    })
}

/// Whether `a` > 1/2, and asin a or, there, asin sqrt((1 - a) / 2), which is π/4 - asin(a) / 2, in two parts.
fn asin_core(a: Expr<'_>) -> (Expr<'_>, Expr<'_>, Expr<'_>) {
    let near_one = a.gt(0.5);
    let z = near_one.select(a.fma(-0.5, 0.5), a * a);
    let sqrt = z.sqrt();
    // What the square root has lost is the residue divided by twice the root.
    let lost = (-sqrt).fma(sqrt, z) * (sqrt.rough_reciprocal() * 0.5);
    let root = near_one.select(sqrt, a);
    let lost = near_one.select(lost, a.constant(0.0));
    let rest = (root * z).fma(z.poly(a.by(ASIN_F32, ASIN_F64)), lost);
    (near_one, root, rest)
}

/// atan t for |t| <= tan π/8.
fn atan_reduced<'a>(t: Pair<'a>, coefficients: &[f64]) -> Pair<'a> {
    let s = t.high * t.high;
    let tail = (t.high * s) * s.poly(coefficients);
    t.plus(tail)
}

/// π/2, rounded to the type of `like` and what that misses.
fn half_pi(like: Expr<'_>) -> (f64, f64) {
    like.by(
        (1.5707963705062866, -4.371138828673793e-08),
        (std::f64::consts::FRAC_PI_2, 6.123233995736766e-17),
    )
}

/// `n` quarters of π, for n from 0 to 4.
fn quarters_times(n: Expr<'_>) -> Pair<'_> {
    let (high, low) = n.by(
        (0.7853981852531433, -2.1855694143368964e-08),
        (FRAC_PI_4, 3.061616997868383e-17),
    );
    let product = Pair::product(n, n.constant(high));
    product.plus(n * low)
}

/// The tangent of π/8.
const TAN_EIGHTH: f64 = 0.414_213_562_373_095_03;

/// (asin(r) / r - 1) / s, s = r² <= 1/4.
const ASIN_F32: &[f64] = &[
    0.16666673,
    0.07498762,
    0.045020174,
    0.026433537,
    0.038328044,
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

/// atan(t) / t - 57/64 in powers of t², |t| <= 1.
const ATAN_MIDDLE: f64 = 0.890625;
const ATAN_F32: &[f64] = &[
    0.109375,
    -0.33333302,
    0.19998628,
    -0.14265124,
    0.10956919,
    -0.08417489,
    0.058200177,
    -0.03142097,
    0.011045591,
    -0.0018229623,
];

/// (atan(t) / t - 1) / s, s = t², |t| <= tan π/8.
const ATAN_EIGHTH_F32: &[f64] = &[-0.33333316, 0.1999853, -0.1424443, 0.10599488, -0.060908984];
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
