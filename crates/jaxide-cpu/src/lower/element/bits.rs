//! Operations on the bits of floats.

use super::Format;
use crate::lanes::{Builder, Ty, Value};

/// Exponent and mantissa bits.
fn layout(format: Format) -> (u32, u32) {
    match format {
        Format::F16 => (5, 10),
        Format::Bf16 => (8, 7),
        Format::F32 => (8, 23),
        Format::F64 => (11, 52),
    }
}

/// An integer that orders as the total order of floats does: -NaN, -inf, …, -0, 0, …, inf, NaN.
pub(super) fn total_order(b: &mut Builder, x: Value) -> Value {
    let ty = b.ty(x).as_int();
    let bits = b.bitcast(x);
    let last = b.int(ty, i64::from(ty.bits()) - 1);
    let one = b.int(ty, 1);
    let fill = b.shr_s(bits, last);
    let flip = b.shr_u(fill, one);
    b.xor(bits, flip)
}

/// The next number after `x` towards `y`. Those of 16 bits are in an `f32`, whose steps are shorter.
pub(super) fn next_after(b: &mut Builder, format: Format, x: Value, y: Value) -> Value {
    let ty = format.ty();
    let int = ty.as_int();
    let (_, mantissa) = layout(format);
    let own_mantissa = if ty == Ty::F32 { 23 } else { 52 };
    let step = 1i64 << (own_mantissa - mantissa);
    let (zero, nan) = (b.float(ty, 0.0), b.float(ty, f64::NAN));
    // Sign and magnitude: away from zero is one step up in the bits.
    let (up, positive) = (b.gt(y, x), b.gt(x, zero));
    let differ = b.xor(up, positive);
    let (minus, plus) = (b.int(int, -step), b.int(int, step));
    let by = b.select(differ, minus, plus);
    let bits = b.bitcast(x);
    let stepped = b.add(bits, by);
    let stepped = b.bitcast(stepped);
    let (stepped, least) = if format == Format::F16 {
        let least = b.float(ty, 2f64.powi(-24));
        (half_step(b, [x, stepped], up, least), least)
    } else {
        let least = b.bitcast(plus);
        (stepped, least)
    };
    let from_zero = b.copysign(least, y);
    let x_zero = b.eq(x, zero);
    let result = b.select(x_zero, from_zero, stepped);
    let equal = b.eq(x, y);
    let result = b.select(equal, y, result);
    let (x_nan, y_nan) = (b.is_nan(x), b.is_nan(y));
    let either = b.or(x_nan, y_nan);
    b.select(either, nan, result)
}

/// The next binary16 after `x`, which is `stepped` between the numbers that are subnormal there and the largest.
fn half_step(b: &mut Builder, [x, stepped]: [Value; 2], up: Value, least: Value) -> Value {
    let down = b.neg(least);
    let step = b.select(up, least, down);
    let moved = b.add(x, step);
    let moved = b.copysign(moved, x);
    let (size, least_normal) = (b.abs(x), b.f32(2f32.powi(-14)));
    let is_small = b.le(size, least_normal);
    let result = b.select(is_small, moved, stepped);
    let (largest, infinity) = (b.f32(65504.0), b.f32(f32::INFINITY));
    let from_infinity = b.eq(size, infinity);
    let end = b.select(from_infinity, largest, infinity);
    let end = b.copysign(end, x);
    let size = b.abs(result);
    let is_beyond = b.gt(size, largest);
    b.select(is_beyond, end, result)
}

/// The bits of `rounded`, but for a size that is subnormal as binary16: its mantissa counts in units of one size, and so do fewer bits of it.
fn half_subnormal_rounded(
    b: &mut Builder,
    original: Value,
    rounded: Value,
    mantissa: u32,
) -> Value {
    let size = b.bitcast(original);
    // The sum's last place is one unit, and both numbers are even multiples of it.
    let shift = b.f32(1.5 * 2f32.powi(23 - 14 - mantissa.cast_signed()));
    let sum = b.add(size, shift);
    let units = b.sub(sum, shift);
    let units = b.bitcast(units);
    let least_normal = b.f32(2f32.powi(-14));
    let is_subnormal = b.lt(size, least_normal);
    b.select(is_subnormal, units, rounded)
}

/// Rounds to fewer exponent and mantissa bits, as XLA's `ReducePrecision`; `None` for no exponent bits.
pub(super) fn reduce_precision(
    b: &mut Builder,
    format: Format,
    exponent: u32,
    mantissa: u32,
    x: Value,
) -> Option<Value> {
    if exponent == 0 {
        return None;
    }
    let (own_exponent, own_mantissa) = layout(format);
    // A bf16 is an f32 whose low mantissa bits are zero, and so is an f16.
    let (exponent_field, mantissa_field) = if format == Format::F64 {
        (11, 52)
    } else {
        (8, 23)
    };
    let ty = format.ty();
    let int = ty.as_int();
    let minimum = if ty == Ty::F32 {
        i64::from(i32::MIN)
    } else {
        i64::MIN
    };
    let bits = b.bitcast(x);
    let sign_mask = b.int(int, minimum);
    let sign = b.and(bits, sign_mask);
    let rest = b.not(sign_mask);
    let mut magnitude = b.and(bits, rest);
    let infinity = b.int(int, ((1i64 << exponent_field) - 1) << mantissa_field);
    let original = magnitude;
    if mantissa < own_mantissa {
        let dropped = i64::from(mantissa_field - mantissa);
        let (shift, one) = (b.int(int, dropped), b.int(int, 1));
        let last = b.shr_u(magnitude, shift);
        let last = b.and(last, one);
        let half = b.int(int, (1 << (dropped - 1)) - 1);
        let add = b.add(half, last);
        let rounded = b.add(magnitude, add);
        let keep = b.int(int, !((1i64 << dropped) - 1));
        magnitude = b.and(rounded, keep);
        if format == Format::F16 {
            magnitude = half_subnormal_rounded(b, original, magnitude, mantissa);
        }
    }
    let bias = (1i64 << (exponent_field - 1)) - 1;
    if exponent < own_exponent {
        let narrow = (1i64 << (exponent - 1)) - 1;
        let shift = b.int(int, mantissa_field.into());
        let field = b.shr_u(magnitude, shift);
        let (top, low, zero) = (
            b.int(int, bias + narrow),
            b.int(int, bias - narrow),
            b.int(int, 0),
        );
        let (over, under) = (b.gt(field, top), b.le(field, low));
        let clipped = b.select(under, zero, magnitude);
        magnitude = b.select(over, infinity, clipped);
    } else if format == Format::F16 {
        let beyond = b.int(int, (bias + 16) << mantissa_field);
        let over = b.ge(magnitude, beyond);
        magnitude = b.select(over, infinity, magnitude);
    }
    let is_nan = b.gt(original, infinity);
    let result = b.or(sign, magnitude);
    let result = b.select(is_nan, bits, result);
    Some(b.bitcast(result))
}
