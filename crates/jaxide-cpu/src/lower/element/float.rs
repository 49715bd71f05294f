//! Real floating-point numbers.

use super::super::graph::MapOp;
use super::{Format, bits, round};
use crate::lanes::{Builder, Ty, UnOp, Value};

/// Operations whose result is a float of the same format, or a mask.
pub(super) fn float(b: &mut Builder, op: MapOp, format: Format, x: &[Value]) -> Option<Value> {
    let exact = matches!(
        op,
        MapOp::Neg
            | MapOp::Abs
            | MapOp::Sign
            | MapOp::Floor
            | MapOp::Ceil
            | MapOp::RoundAway
            | MapOp::RoundEven
            | MapOp::Max
            | MapOp::Min
            | MapOp::Clamp
            | MapOp::Real
            | MapOp::Conj
    );
    let v = arithmetic(b, op, format, x).or_else(|| compare(b, op, x))?;
    Some(if exact || b.ty(v) == Ty::Mask {
        v
    } else {
        round(b, format, v)
    })
}

fn arithmetic(b: &mut Builder, op: MapOp, format: Format, x: &[Value]) -> Option<Value> {
    let ty = format.ty();
    Some(match (op, x) {
        (MapOp::Neg, &[x]) => b.neg(x),
        (MapOp::Abs, &[x]) => b.abs(x),
        (MapOp::Sign, &[x]) => sign(b, x),
        (MapOp::Floor, &[x]) => b.floor(x),
        (MapOp::Ceil, &[x]) => b.ceil(x),
        (MapOp::RoundEven, &[x]) => b.round_even(x),
        (MapOp::RoundAway, &[x]) => round_away(b, x),
        (MapOp::Real | MapOp::Conj, &[x]) => x,
        (MapOp::Square, &[x]) => b.mul(x, x),
        (MapOp::OneMinusSquare, &[x]) => {
            let one = b.float(ty, 1.0);
            let (plus, minus) = (b.add(one, x), b.sub(one, x));
            let (plus, minus) = (round(b, format, plus), round(b, format, minus));
            b.mul(plus, minus)
        }
        (MapOp::IntegerPow(n), &[x]) => power(b, format, x, n),
        (MapOp::Add, &[x, y]) => b.add(x, y),
        (MapOp::Sub, &[x, y]) => b.sub(x, y),
        (MapOp::Mul, &[x, y]) => b.mul(x, y),
        (MapOp::Div, &[x, y]) => b.div(x, y),
        (MapOp::Max, &[x, y]) => b.max(x, y),
        (MapOp::Min, &[x, y]) => b.min(x, y),
        (MapOp::Clamp, &[low, x, high]) => {
            let v = b.max(x, low);
            b.min(v, high)
        }
        (MapOp::NextAfter, &[x, y]) => bits::next_after(b, format, x, y),
        (MapOp::ReducePrecision { exponent, mantissa }, &[x]) => {
            bits::reduce_precision(b, format, exponent, mantissa, x)?
        }
        _ => return super::function::function(b, op, format, x),
    })
}

fn compare(b: &mut Builder, op: MapOp, x: &[Value]) -> Option<Value> {
    Some(match (op, x) {
        (MapOp::IsFinite, &[x]) => {
            let size = b.abs(x);
            let infinity = b.float(b.ty(x), f64::INFINITY);
            b.lt(size, infinity)
        }
        (MapOp::Eq, &[x, y]) => b.eq(x, y),
        (MapOp::Ne, &[x, y]) => b.ne(x, y),
        (MapOp::Lt, &[x, y]) => b.lt(x, y),
        (MapOp::Le, &[x, y]) => b.le(x, y),
        (MapOp::Gt, &[x, y]) => b.gt(x, y),
        (MapOp::Ge, &[x, y]) => b.ge(x, y),
        (MapOp::EqTotal, &[x, y]) => {
            let (x, y) = (bits::total_order(b, x), bits::total_order(b, y));
            b.eq(x, y)
        }
        (MapOp::LtTotal, &[x, y]) => {
            let (x, y) = (bits::total_order(b, x), bits::total_order(b, y));
            b.lt(x, y)
        }
        (MapOp::LeTotal, &[x, y]) => {
            let (x, y) = (bits::total_order(b, x), bits::total_order(b, y));
            b.le(x, y)
        }
        _ => return None,
    })
}

/// -1, 0 or 1; zero keeps its sign and NaN stays.
fn sign(b: &mut Builder, x: Value) -> Value {
    let ty = b.ty(x);
    let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
    let signed_one = b.copysign(one, x);
    let less = b.lt(x, zero);
    let greater = b.gt(x, zero);
    let some = b.or(less, greater);
    b.select(some, signed_one, x)
}

/// The nearest integer, halves away from zero.
fn round_away(b: &mut Builder, x: Value) -> Value {
    let ty = b.ty(x);
    let whole = b.un(UnOp::Trunc, ty, x);
    // Exact: both have the same exponent range, and the difference is below one.
    let rest = b.sub(x, whole);
    let rest = b.abs(rest);
    let (half, one, zero) = (b.float(ty, 0.5), b.float(ty, 1.0), b.float(ty, 0.0));
    let up = b.ge(rest, half);
    let step = b.select(up, one, zero);
    let step = b.copysign(step, x);
    let sum = b.add(whole, step);
    b.copysign(sum, x)
}

/// By the binary digits of the exponent from the lowest; a negative exponent divides one by the power.
fn power(b: &mut Builder, format: Format, x: Value, n: i64) -> Value {
    let mut rest = n.unsigned_abs();
    let mut square = x;
    let mut product = None;
    while rest > 0 {
        if rest & 1 == 1 {
            product = Some(match product {
                None => square,
                Some(p) => {
                    let v = b.mul(p, square);
                    round(b, format, v)
                }
            });
        }
        rest >>= 1;
        if rest > 0 {
            let v = b.mul(square, square);
            square = round(b, format, v);
        }
    }
    let one = b.float(format.ty(), 1.0);
    match product {
        None => one,
        Some(p) if n < 0 => b.div(one, p),
        Some(p) => p,
    }
}
