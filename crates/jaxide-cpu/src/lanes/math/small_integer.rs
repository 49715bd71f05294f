//! Division of integers of 8 and 16 bits in single precision, which holds them exactly: processors have no division of integers in lanes.

use super::expr::{Expr, binary};
use crate::lanes::{Builder, Ty, UnOp, Value};

/// The quotient towards zero; -1 by zero.
pub fn small_quotient(b: &mut Builder, bits: u32, signed: bool, x: Value, y: Value) -> Value {
    let q = quotient(b, bits, signed, x, y);
    b.select(q.by_zero, q.minus_one, q.value)
}

/// What division leaves, with the sign of `x`; `x` by zero.
pub fn small_remainder(b: &mut Builder, bits: u32, signed: bool, x: Value, y: Value) -> Value {
    let q = quotient(b, bits, signed, x, y);
    let product = b.mul(q.value, y);
    b.sub(x, product)
}

struct Quotient {
    /// Some integer where the divisor is 0.
    value: Value,
    by_zero: Value,
    minus_one: Value,
}

fn quotient(b: &mut Builder, bits: u32, signed: bool, x: Value, y: Value) -> Quotient {
    let [a, d] = [x, y].map(|v| b.un(UnOp::SToF, Ty::F32, v));
    let sum = binary(b, a, d, |a, d| {
        // The last place of the sum with it counts 1, and its last bits are those of an integer.
        nearest(signed, a, d)
            .fma(reciprocal(bits, d), ROUND)
            .bits()
            .value
    });
    let (round, zero, minus_one) = (b.i32(ROUND_BITS), b.i32(0), b.i32(-1));
    Quotient {
        value: b.sub(sum, round),
        by_zero: b.eq(y, zero),
        minus_one,
    }
}

const ROUND: f64 = 12_582_912.0;
const ROUND_BITS: i32 = 0x4b40_0000;

/// The numerator n for which n / d rounded to the nearest integer is a / d truncated: half an integer from a / d towards zero, and so far
/// away from the middle between two that an error below 1 / 2|n| does not count.
fn nearest<'a>(signed: bool, a: Expr<'a>, d: Expr<'a>) -> Expr<'a> {
    if !signed {
        return d.fma(-0.5, a + 0.5);
    }
    let away = d.abs().fma(-0.5, d.constant(0.5));
    a + away.flip(a.sign_bits())
}

/// 1 / d to a two thousandth, or of 16 bits to the last place but two.
fn reciprocal<'a>(bits: u32, d: Expr<'a>) -> Expr<'a> {
    let guess = d.rough_reciprocal();
    let error = |y: Expr<'a>| (-d).fma(y, 1.0);
    let e = error(guess);
    let square = e * e;
    let y = guess.fma(e, guess);
    let y = y.fma(square, y);
    if bits <= 8 {
        return y;
    }
    y.fma(error(y), y)
}
