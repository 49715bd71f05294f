//! The gamma function's logarithm and its derivative, by Lanczos' sum with g = 7 and nine terms, as XLA computes them.
//!
//! Errors are absolute near the zeros at 1 and 2 (lgamma) and 1.4616 (digamma), and near the poles of negative arguments.

use super::expr::{Expr, unary};
use super::log::{log_of, log1p_of};
use super::trig::{cos_of, sin_of};
use crate::lanes::{Builder, Value};
use std::f64::consts::PI;

/// Logarithm of the absolute value of the gamma function; infinite at its poles.
pub fn lgamma(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let reflect = x.lt(0.5);
        let z = reflect.select(-x, x - 1.0);
        let (t, log_t) = base(z);
        let half_log_two_pi = (2.0 * PI).ln() * 0.5;
        let l = (z + 0.5 - t / log_t).fma(log_t, half_log_two_pi) + log_of(sum(z, |c, d| c / d));
        // log|Γ(x)| = log π - log|sin πx| - log|Γ(1 - x)|
        let a = x.abs();
        let fraction = a - a.floor();
        let fraction = fraction
            .gt(0.5)
            .select(fraction.constant(1.0) - fraction, fraction);
        let log_sine = log_of(sin_of(fraction * PI));
        let finite = log_sine.abs().lt(f64::INFINITY);
        let reflected = finite.select(log_sine.constant(PI.ln()) - log_sine - l, -log_sine);
        let result = reflect.select(reflected, l);
        a.eq(f64::INFINITY).select(f64::INFINITY, result).value
    })
}

/// Derivative of `log Γ`; NaN at its poles.
pub fn digamma(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let reflect = x.lt(0.5);
        let z = reflect.select(-x, x - 1.0);
        let (t, log_t) = base(z);
        let denominator = sum(z, |c, d| c / d);
        let numerator = sum(z, |c, d| -(c / (d * d))) - LANCZOS_BASE;
        let y = log_t + numerator / denominator - t.constant(LANCZOS_G) / t;
        // ψ(x) = ψ(1 - x) - π cot πx, from the nearest integer, where the sign of x cancels.
        let reduced = x + (x + 0.5).floor().abs();
        let angle = reduced * PI;
        let reflected = y - cos_of(angle) * PI / sin_of(angle);
        let result = reflect.select(reflected, y);
        let pole = x.le(0.0) & x.eq(x.floor());
        pole.select(f64::NAN, result).value
    })
}

/// t = z + g + 1/2 and its logarithm.
fn base(z: Expr<'_>) -> (Expr<'_>, Expr<'_>) {
    let shift = LANCZOS_G + 0.5;
    (z + shift, log1p_of(z * (1.0 / shift)) + shift.ln())
}

/// The base coefficient plus the sum of `term(c_i, z + i)`.
fn sum<'a>(z: Expr<'a>, term: impl Fn(Expr<'a>, Expr<'a>) -> Expr<'a>) -> Expr<'a> {
    LANCZOS
        .iter()
        .enumerate()
        .fold(z.constant(LANCZOS_BASE), |sum, (k, &c)| {
            sum + term(z.constant(c), z + (k + 1) as f64)
        })
}

const LANCZOS_G: f64 = 7.0;
const LANCZOS_BASE: f64 = 0.99999999999980993227684700473478;
const LANCZOS: &[f64] = &[
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
];
