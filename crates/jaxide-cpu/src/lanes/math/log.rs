//! The logarithm and what is made of it.

use super::expr::{Expr, unary};
use crate::lanes::{Builder, Value};

/// Natural logarithm.
pub fn log(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| log_of(x).value)
}

/// Logarithm to base 2; exact for powers of two.
pub fn log2(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let (m, e) = split(x);
        let (high, low) = x.by(
            (1.4426950, 1.9259629e-8),
            (1.4426950408889634, 2.0355273740931033e-17),
        );
        let l = log1p_reduced(m - 1.0);
        let r = l.fma(high, l.fma(low, e));
        at_the_ends(x, 0.0, r).value
    })
}

/// `log(1 + x)`, accurate near 0.
pub fn log1p(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| log1p_of(x).value)
}

/// Inverse hyperbolic sine.
pub fn asinh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        // log1p(a + a² / (1 + sqrt(1 + a²))), and log a + log 2 where a² would overflow and 1 no longer counts.
        let large = x.by(a.constant(1e9), a.constant(1e17)).lt(a);
        let root = a.fma(a, 1.0).sqrt();
        let small = a + a * (a / (root + 1.0));
        let argument = large.select(a, small);
        let l = log1p_of(argument);
        large
            .select(l + std::f64::consts::LN_2, l)
            .copysign(x)
            .value
    })
}

/// Inverse hyperbolic cosine; NaN below 1.
pub fn acosh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let large = x.by(x.constant(1e9), x.constant(1e17)).lt(x);
        let t = x - 1.0;
        let small = t + t.fma(t, t * 2.0).sqrt();
        let l = log1p_of(large.select(x, small));
        let result = large.select(l + std::f64::consts::LN_2, l);
        x.lt(1.0).select(f64::NAN, result).value
    })
}

/// Inverse hyperbolic tangent; infinite at ±1, NaN beyond.
pub fn atanh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        let one = x.constant(1.0);
        let l = log1p_of((a + a) / (one - a));
        (l * 0.5).copysign(x).value
    })
}

/// `log x`, for use inside other formulas.
pub(super) fn log_of(x: Expr<'_>) -> Expr<'_> {
    let (m, e) = split(x);
    let l = add_exponent(log1p_reduced(m - 1.0), e);
    at_the_ends(x, 0.0, l)
}

/// `log(1 + x)`, for use inside other formulas.
pub(super) fn log1p_of(x: Expr<'_>) -> Expr<'_> {
    let u = x + 1.0;
    let field = exponent_field(u);
    // 1 + x = 2^k (1 + f) with f = 2^-k x + (2^-k - 1), where only the last operation rounds. 2^-k may be subnormal,
    // 2^(2-k) is not.
    let scale = (u.constant(4.0).bits() - field).as_float();
    let f = (x.bits() - field).as_float() + scale.fma(0.25, -1.0);
    let l = add_exponent(log1p_reduced(f), exponent(field));
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
    let field = exponent_field(normal);
    let m = (normal.bits() - field).as_float();
    (
        m,
        exponent(field) + subnormal.select(shift, x.constant(0.0)),
    )
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

/// `log m` plus `e ln 2`.
fn add_exponent<'a>(l: Expr<'a>, e: Expr<'a>) -> Expr<'a> {
    if l.by(true, false) {
        return e.fma(0.69314718, l);
    }
    e.fma(0.6931471805599453, e.fma(2.3190468138462996e-17, l))
}

/// `log(1 + f)` for 1 + f in the range of [`split`].
fn log1p_reduced(f: Expr<'_>) -> Expr<'_> {
    if f.by(true, false) {
        return (f * f).fma(f.poly(LOG_F32), f);
    }
    // With s = f / (2 + f) it is 2 s + s z R(z), z = s², written such that f itself is added last.
    let s = f / (f + 2.0);
    let z = s * s;
    let half = f * f * 0.5;
    f - (half - s * z.fma(z.poly(LOG_F64), half))
}

/// (log(1 + f) - f) / f², |f| <= 1/3.
const LOG_F32: &[f64] = &[
    -0.5,
    0.33333197,
    -0.2499992,
    0.20011432,
    -0.16674455,
    0.13989782,
    -0.122730754,
    0.1405994,
    -0.12490762,
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
