//! Integers and truth values.

use super::super::graph::MapOp;
use super::{int_less, int_less_equal, wrap};
use crate::lanes::{BinOp, Builder, Ty, UnOp, Value, math};

fn ty(bits: u32) -> Ty {
    if bits == 64 { Ty::I64 } else { Ty::I32 }
}

/// Whether integers of so many bits are divided by this one in single precision: a constant divides by multiplication.
fn small(b: &Builder, bits: u32, by: Value) -> bool {
    bits < 32 && b.as_const(by).is_none()
}

/// An operation whose operands are integers of `bits` bits; comparisons give masks.
pub(super) fn integer(
    b: &mut Builder,
    op: MapOp,
    bits: u32,
    signed: bool,
    x: &[Value],
) -> Option<Value> {
    let narrow = |b: &mut Builder, v| Some(wrap(b, bits, signed, v));
    match (op, x) {
        (MapOp::Neg, &[x]) => {
            let v = b.neg(x);
            narrow(b, v)
        }
        (MapOp::Abs, &[x]) if signed => {
            let v = b.abs(x);
            narrow(b, v)
        }
        (MapOp::Abs, &[x]) => Some(x),
        (MapOp::Sign, &[x]) => Some(sign(b, bits, signed, x)),
        (MapOp::Not, &[x]) => {
            let v = b.not(x);
            narrow(b, v)
        }
        (MapOp::Square, &[x]) => {
            let v = b.mul(x, x);
            narrow(b, v)
        }
        (MapOp::OneMinusSquare, &[x]) => {
            let one = b.int(ty(bits), 1);
            let (plus, minus) = (b.add(one, x), b.sub(one, x));
            let v = b.mul(plus, minus);
            narrow(b, v)
        }
        (MapOp::IntegerPow(n), &[x]) => Some(power(b, bits, signed, x, n)),
        (MapOp::Popcount, &[x]) => {
            // As XLA counts: of the eight bits in which narrower integers lie.
            let v = unsigned(b, bits.max(8), x);
            let count = b.un(UnOp::Popcount, ty(bits), v);
            Some(wrap(b, bits, signed, count))
        }
        (MapOp::Clz, &[x]) => {
            let v = unsigned(b, bits, x);
            let count = b.un(UnOp::Clz, ty(bits), v);
            let spare = b.int(ty(bits), i64::from(32u32.saturating_sub(bits)));
            let v = b.sub(count, spare);
            narrow(b, v)
        }
        (MapOp::IsFinite, &[_]) => Some(b.mask(true)),
        (
            MapOp::Floor
            | MapOp::Ceil
            | MapOp::RoundAway
            | MapOp::RoundEven
            | MapOp::Real
            | MapOp::Conj,
            &[x],
        ) => Some(x),
        (MapOp::Add, &[x, y]) => {
            let v = b.add(x, y);
            narrow(b, v)
        }
        (MapOp::Sub, &[x, y]) => {
            let v = b.sub(x, y);
            narrow(b, v)
        }
        (MapOp::Mul, &[x, y]) => {
            let v = b.mul(x, y);
            narrow(b, v)
        }
        (MapOp::MulHi, &[x, y]) => Some(mul_high(b, bits, signed, x, y)),
        (MapOp::Div, &[x, y]) => {
            let v = if small(b, bits, y) {
                math::small_quotient(b, bits, signed, x, y)
            } else {
                b.bin(if signed { BinOp::DivS } else { BinOp::DivU }, x, y)
            };
            narrow(b, v)
        }
        (MapOp::Rem, &[x, y]) => {
            let v = if small(b, bits, y) {
                math::small_remainder(b, bits, signed, x, y)
            } else {
                b.bin(if signed { BinOp::RemS } else { BinOp::RemU }, x, y)
            };
            narrow(b, v)
        }
        (MapOp::Max, &[x, y]) => Some(b.bin(if signed { BinOp::MaxS } else { BinOp::MaxU }, x, y)),
        (MapOp::Min, &[x, y]) => Some(b.bin(if signed { BinOp::MinS } else { BinOp::MinU }, x, y)),
        (MapOp::And, &[x, y]) => Some(b.and(x, y)),
        (MapOp::Or, &[x, y]) => Some(b.or(x, y)),
        (MapOp::Xor, &[x, y]) => Some(b.xor(x, y)),
        (MapOp::ShiftLeft, &[x, y]) => {
            let v = b.shl(x, y);
            narrow(b, v)
        }
        (MapOp::ShiftRightArithmetic, &[x, y]) => {
            // An unsigned operand is shifted as if it were signed.
            let x = if signed { x } else { wrap(b, bits, true, x) };
            let v = b.shr_s(x, y);
            narrow(b, v)
        }
        (MapOp::ShiftRightLogical, &[x, y]) => {
            let x = unsigned(b, bits, x);
            let v = b.shr_u(x, y);
            narrow(b, v)
        }
        (MapOp::Eq | MapOp::EqTotal, &[x, y]) => Some(b.eq(x, y)),
        (MapOp::Ne, &[x, y]) => Some(b.ne(x, y)),
        (MapOp::Lt | MapOp::LtTotal, &[x, y]) => Some(int_less(b, signed, x, y)),
        (MapOp::Le | MapOp::LeTotal, &[x, y]) => Some(int_less_equal(b, signed, x, y)),
        (MapOp::Gt, &[x, y]) => Some(int_less(b, signed, y, x)),
        (MapOp::Ge, &[x, y]) => Some(int_less_equal(b, signed, y, x)),
        (MapOp::Clamp, &[low, x, high]) => {
            let (max, min) = if signed {
                (BinOp::MaxS, BinOp::MinS)
            } else {
                (BinOp::MaxU, BinOp::MinU)
            };
            let v = b.bin(max, x, low);
            Some(b.bin(min, v, high))
        }
        _ => None,
    }
}

/// Truth values.
pub(super) fn boolean(b: &mut Builder, op: MapOp, x: &[Value]) -> Option<Value> {
    match (op, x) {
        (MapOp::Not, &[x]) => Some(b.not(x)),
        (MapOp::Real | MapOp::Abs, &[x]) => Some(x),
        (MapOp::And | MapOp::Min | MapOp::Mul, &[x, y]) => Some(b.and(x, y)),
        (MapOp::Or | MapOp::Max | MapOp::Add, &[x, y]) => Some(b.or(x, y)),
        (MapOp::Xor | MapOp::Ne, &[x, y]) => Some(b.xor(x, y)),
        (MapOp::Eq | MapOp::EqTotal, &[x, y]) => {
            let v = b.xor(x, y);
            Some(b.not(v))
        }
        (MapOp::Lt | MapOp::LtTotal, &[x, y]) => {
            let v = b.not(x);
            Some(b.and(v, y))
        }
        (MapOp::Le | MapOp::LeTotal, &[x, y]) => {
            let v = b.not(x);
            Some(b.or(v, y))
        }
        (MapOp::Gt, &[x, y]) => {
            let v = b.not(y);
            Some(b.and(v, x))
        }
        (MapOp::Ge, &[x, y]) => {
            let v = b.not(y);
            Some(b.or(v, x))
        }
        (MapOp::Clamp, &[low, x, high]) => {
            let v = b.or(x, low);
            Some(b.and(v, high))
        }
        _ => None,
    }
}

/// The zero-extended form.
fn unsigned(b: &mut Builder, bits: u32, x: Value) -> Value {
    wrap(b, bits, false, x)
}

fn sign(b: &mut Builder, bits: u32, signed: bool, x: Value) -> Value {
    let (zero, one) = (b.int(ty(bits), 0), b.int(ty(bits), 1));
    if signed {
        let minus = b.int(ty(bits), -1);
        let (positive, negative) = (b.gt(x, zero), b.lt(x, zero));
        let v = b.select(negative, minus, zero);
        b.select(positive, one, v)
    } else {
        let some = b.ne(x, zero);
        b.select(some, one, zero)
    }
}

/// By the binary digits of the exponent from the lowest; a negative exponent divides one by the power.
fn power(b: &mut Builder, bits: u32, signed: bool, x: Value, n: i64) -> Value {
    let mut rest = n.unsigned_abs();
    let mut square = x;
    let mut product = None;
    while rest > 0 {
        if rest & 1 == 1 {
            product = Some(product.map_or(square, |p| b.mul(p, square)));
        }
        rest >>= 1;
        if rest > 0 {
            square = b.mul(square, square);
        }
    }
    let one = b.int(ty(bits), 1);
    let v = product.unwrap_or(one);
    let v = wrap(b, bits, signed, v);
    if n >= 0 {
        return v;
    }
    let v = b.bin(if signed { BinOp::DivS } else { BinOp::DivU }, one, v);
    wrap(b, bits, signed, v)
}

fn mul_high(b: &mut Builder, bits: u32, signed: bool, x: Value, y: Value) -> Value {
    if bits >= 32 {
        return b.bin(if signed { BinOp::MulHiS } else { BinOp::MulHiU }, x, y);
    }
    let product = b.mul(x, y);
    let shift = b.i32(bits as i32);
    let high = if signed {
        b.shr_s(product, shift)
    } else {
        b.shr_u(product, shift)
    };
    wrap(b, bits, signed, high)
}
