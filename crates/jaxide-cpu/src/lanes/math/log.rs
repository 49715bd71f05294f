//! The logarithm and what is made of it.

use super::expr::{Expr, unary};
use super::pair::Pair;
use crate::lanes::{Builder, Value};

/// Natural logarithm.
pub fn log(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let (m, e) = split_normal(x);
        let usual = log_of_parts(m, e);
        let [l] = (!is_normal(x)).rarely(|| [log_of(x)], [usual]);
        l.value
    })
}

/// Logarithm to base 2; exact for powers of two.
pub fn log2(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let (m, e) = split(x);
        let f = m - 1.0;
        let (high, low) = x.by(
            (1.4426950, 1.9259629e-8),
            (1.4426950408889634, 2.0355273740931033e-17),
        );
        let product = Pair::product(f, f.constant(high));
        let sum = Pair::ordered_sum(e, product.high);
        let rest = log1p_rest(f).fma(high, f.fma(low, product.low));
        at_the_ends(x, 0.0, sum.plus(rest).value()).value
    })
}

/// `log(1 + x)`, accurate near 0.
pub fn log1p(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        log1p_plus(x, x.constant(0.0), x.constant(0.0)).value
    })
}

/// Inverse hyperbolic sine.
pub fn asinh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        let s = a * a;
        let near = (a * s).fma(s.poly(a.by(ASINH_F32, ASINH_F64)), a);
        // log v, v = a + sqrt(a² + 1) and 1 / v = sqrt(a² + 1) - a. Where 1 no longer counts beside a², log a + log 2.
        let (large, one) = (a.gt(a.by(1e9, 1e17)), a.constant(1.0));
        let limited = large.select(one, a);
        let root = if a.by(true, false) {
            Pair::exact(limited.fma(limited, 1.0).sqrt())
        } else {
            let square = Pair::product(limited, limited);
            Pair::sum(square.high, one).plus(square.low).sqrt()
        };
        let v = Pair::ordered_sum(root.high, limited).plus(root.low);
        let rest = large.select(0.0, v.low * (root.high - limited));
        let (m, e) = split_normal(large.select(a, v.high));
        let far = log_sum(m - 1.0, rest, large.select(e + 1.0, e));
        let far = a.lt(f64::INFINITY).select(far, a);
        let result = a.lt(a.by(0.7, 0.5)).select(near, far);
        result.flip(x.sign_bits()).value
    })
}

/// Inverse hyperbolic cosine; NaN below 1.
pub fn acosh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // log(1 + u), u = t + sqrt(t² + 2t), t = x - 1, and 1 / (1 + u) = x - sqrt(t² + 2t), which counts until its digits have
        // cancelled. Far out log x + log 2.
        let large = x.gt(x.by(1e9, 1e17));
        let limited = large.select(1.0, x);
        let t = limited - 1.0;
        let root = if x.by(true, false) {
            Pair::exact(t.fma(t, t + t).sqrt())
        } else {
            let square = Pair::product(t, t);
            Pair::sum(t + t, square.high).plus(square.low).sqrt()
        };
        let u = Pair::ordered_sum(root.high, t).plus(root.low);
        let counts = x.lt(x.by(4096.0, 67108864.0));
        let rest = u.low * counts.select(x - root.high, x.constant(0.0));
        let more = large.select(1.0, x.constant(0.0));
        let result = log1p_plus(large.select(x, u.high), rest, more);
        x.lt(1.0).select(f64::NAN, result).value
    })
}

/// Inverse hyperbolic tangent; infinite at ±1, NaN beyond.
pub fn atanh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // Half of log(1 + q), q = 2a / (1 - a) and 1 / (1 + q) = (1 - a) / (1 + a).
        let a = x.abs();
        let d = Pair::ordered_sum(x.constant(1.0), -a);
        let (twice, reciprocal) = (a + a, x.constant(1.0) / d.high);
        let q = twice * reciprocal;
        let rest = (-q).fma(d.high, twice) - q * d.low;
        // 1 / (1 + a) nearly: it matters where a is small, and the rest is in the last place.
        let l = log1p_plus(q, rest * a.fma(-0.5, 1.0), a.constant(0.0));
        (l * 0.5).copysign(x).value
    })
}

/// `log x`, for use inside other formulas.
pub(super) fn log_of(x: Expr<'_>) -> Expr<'_> {
    let (m, e) = split(x);
    at_the_ends(x, 0.0, log_of_parts(m, e))
}

/// `log m + e ln 2`, where they are as from [`split`].
fn log_of_parts<'a>(m: Expr<'a>, e: Expr<'a>) -> Expr<'a> {
    let f = m - 1.0;
    if f.by(true, false) {
        return e.fma(0.69314718, (f * f).fma(f.nested(LOG_F32), f));
    }
    let low = e.fma(2.3190468138462996e-17, f + log1p_rest(f));
    e.fma(0.6931471805599453, low)
}

/// Whether a number is positive, finite and not subnormal: what these are comes to the end of the signed integers when the least of them is added
/// to the bits.
fn is_normal(x: Expr<'_>) -> Expr<'_> {
    let least = x.by(1 << 23, 1 << 52);
    let moved = x.bits() + x.int(least);
    !moved.lt(x.int(2 * least))
}

/// `log(1 + x) + rest + more ln 2`, where `rest` is in the last place and `more` is integral.
fn log1p_plus<'a>(x: Expr<'a>, rest: Expr<'a>, more: Expr<'a>) -> Expr<'a> {
    let u = x + 1.0;
    let field = exponent_field(u);
    // 1 + x = 2^k (1 + f) with f = 2^-k x + (2^-k - 1). 2^-k may be subnormal, 2^(2-k) is not.
    let scale = (u.constant(4.0).bits() - field).as_float();
    let scaled = (x.bits() - field).as_float();
    let f = Pair::ordered_sum(scale.fma(0.25, -1.0), scaled);
    // The derivative of log(1 + f) by its first terms: what f has lost is in the last place.
    let rest = f.low.fma(-f.high, f.low) + rest;
    let l = log_sum(f.high, rest, exponent(field) + more);
    let l = at_the_ends(x, -1.0, l);
    x.eq(0.0).select(x, l)
}

/// The logarithm `l`, or what it is where its argument `x` reaches the pole or passes it, is infinite or NaN.
fn at_the_ends<'a>(x: Expr<'a>, pole: f64, l: Expr<'a>) -> Expr<'a> {
    let l = x.lt(f64::INFINITY).select(l, x);
    let l = x.lt(pole).select(f64::NAN, l);
    x.eq(pole).select(f64::NEG_INFINITY, l)
}

/// `x = m 2^e` with m in [2/3, 4/3) or [sqrt 1/2, sqrt 2), for positive x.
pub(super) fn split(x: Expr<'_>) -> (Expr<'_>, Expr<'_>) {
    let (smallest, factor, shift) = x.by(
        (f64::from(f32::MIN_POSITIVE), 8388608.0, -23.0),
        (f64::MIN_POSITIVE, 4503599627370496.0, -52.0),
    );
    let subnormal = x.lt(smallest);
    let normal = subnormal.select(x * factor, x);
    let (m, e) = split_normal(normal);
    (m, e + subnormal.select(shift, x.constant(0.0)))
}

/// As [`split`], of normal numbers.
fn split_normal(x: Expr<'_>) -> (Expr<'_>, Expr<'_>) {
    let field = exponent_field(x);
    ((x.bits() - field).as_float(), exponent(field))
}

/// The exponent of a float in its place among the bits, such that a mantissa near 1 remains when it is subtracted.
fn exponent_field(x: Expr<'_>) -> Expr<'_> {
    // The lowest mantissa is 2/3 and sqrt 1/2.
    let low = x.int(x.by(0x3f2a_aaab, 0x3fe6_a09e_667f_3bcd));
    let field = x.int(x.by(-1 << 23, -1 << 52));
    (x.bits() - low) & field
}

/// An [`exponent_field`] as a float.
fn exponent(field: Expr<'_>) -> Expr<'_> {
    if field.by(true, false) {
        return field.to_float() * (1.0 / 8388608.0);
    }
    // Few machines convert 64-bit integers. The exponent, made positive, becomes the low bits of a float whose last
    // place counts 1.
    let positive = (field + field.int(2048 << 52)).shr_u(field.int(52));
    let two_to_52 = positive.int(4503599627370496.0f64.to_bits() as i64);
    (positive | two_to_52).as_float() - (4503599627370496.0 + 2048.0)
}

/// `log(1 + f) + rest + e ln 2`, for integral `e`, 1 + f in the range of [`split`] and a `rest` in the last place.
fn log_sum<'a>(f: Expr<'a>, rest: Expr<'a>, e: Expr<'a>) -> Expr<'a> {
    if f.by(true, false) {
        return e.fma(0.69314718, (f * f).fma(f.nested(LOG_F32), rest) + f);
    }
    log_pair(f, e).plus(rest).value()
}

/// `log(1 + f)` plus `e ln 2`, for integral `e` and 1 + f in the range of [`split`].
pub(super) fn log_pair<'a>(f: Expr<'a>, e: Expr<'a>) -> Pair<'a> {
    // The first part of ln 2 has so few digits that its products with exponents are exact.
    let (high, low) = f.by(
        (0.693359375, -2.1219444e-4),
        (0.6931471803691238, 1.9082149292705877e-10),
    );
    Pair::ordered_sum(e * high, f).plus(e.fma(low, log1p_rest(f)))
}

/// `log(1 + f) - f` for 1 + f in the range of [`split`].
fn log1p_rest(f: Expr<'_>) -> Expr<'_> {
    if f.by(true, false) {
        let square = f * f;
        return square.fma(f * f.poly(&LOG_F32[1..]), square * LOG_F32[0]);
    }
    // With s = f / (2 + f) the logarithm is 2 s + s z R(z), z = s².
    let s = f / (f + 2.0);
    let z = s * s;
    let half = f * f * 0.5;
    s * z.fma(z.poly(LOG_F64), half) - half
}

/// (log(1 + f) - f) / f², |f| <= 1/3.
const LOG_F32: &[f64] = &[
    -0.5,
    0.33333334,
    -0.24999943,
    0.19999713,
    -0.16673382,
    0.1430204,
    -0.12287486,
    0.10771697,
    -0.12428733,
    0.119723104,
];

/// (log((1 + s) / (1 - s)) / s - 2) / z, z = s² <= 0.1716².
const LOG_F64: &[f64] = &[
    0.6666666666666734,
    0.39999999999416286,
    0.2857142874216076,
    0.22222198587191447,
    0.18183563964224597,
    0.15314052247144821,
    0.14795996522672206,
];

/// (asinh(x) / x - 1) / s, s = x² <= 0.49 and 1/4.
const ASINH_F32: &[f64] = &[
    -0.16666667,
    0.07499993,
    -0.04463279,
    0.030208144,
    -0.021113578,
    0.012667442,
    -0.0043304744,
];
const ASINH_F64: &[f64] = &[
    -0.1666666666666569,
    0.07499999999770234,
    -0.04464285695476974,
    0.03038193674447358,
    -0.022371975214786056,
    0.01734998705253314,
    -0.013937109668104427,
    0.011364857653998021,
    -0.008908806953780074,
    0.005794200776724599,
    -0.002184353728197469,
];
