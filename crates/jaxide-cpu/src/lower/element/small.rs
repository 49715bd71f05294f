//! Floats of eight bits and less: codes in memory and in lanes, numbers of 32 bits while something is computed.

use crate::lanes::{Builder, Ty, Value};
use jaxide_core::DType;
use jaxide_core::small_float::{Format, Specials, format};

/// The number that a code stands for.
pub(super) fn decode(b: &mut Builder, dtype: DType, code: Value) -> Value {
    let Some(format) = format(dtype) else {
        return decode_power(b, code);
    };
    let Format {
        exponent,
        mantissa,
        bias,
        specials,
    } = format;
    let sign_bit = 1 << (exponent + mantissa);
    let top = ((1 << exponent) - 1) << mantissa;
    let (low, sign) = (b.i32(sign_bit - 1), b.i32(sign_bit));
    let magnitude = b.and(code, low);
    let negative = b.and(code, sign);
    // The fields lie in those of an f32, whose exponent has another bias.
    let own = shifted_left(b, magnitude, 23 - mantissa);
    let rebias = b.i32((127 - bias) << 23);
    let normal = b.add(own, rebias);
    // A subnormal is so many units behind the least normal number; no number that is subnormal in an f32 comes up.
    let least = b.f32(2f32.powi(1 - bias));
    let least_bits = b.bitcast(least);
    let behind = b.add(own, least_bits);
    let behind = b.bitcast(behind);
    let subnormal = b.sub(behind, least);
    let subnormal = b.bitcast(subnormal);
    let first_normal = b.i32(1 << mantissa);
    let is_subnormal = b.lt(magnitude, first_normal);
    let number = b.select(is_subnormal, subnormal, normal);
    let negative = shifted_left(b, negative, 31 - exponent - mantissa);
    let (infinity, nan) = (b.i32(0x7f80_0000), b.i32(0x7fc0_0000));
    let number = match specials {
        Specials::Ieee => {
            let top = b.i32(top);
            let (is_infinite, is_nan) = (b.eq(magnitude, top), b.gt(magnitude, top));
            let number = b.select(is_infinite, infinity, number);
            b.select(is_nan, nan, number)
        }
        Specials::NanOnly => {
            let is_nan = b.eq(magnitude, low);
            b.select(is_nan, nan, number)
        }
        Specials::Unsigned0 => {
            let is_nan = b.eq(code, sign);
            b.select(is_nan, nan, number)
        }
        Specials::None => number,
    };
    let bits = b.or(number, negative);
    b.bitcast(bits)
}

/// The place of a code in the total order: its bits are a sign and a magnitude, where there is a sign.
pub(super) fn total_key(b: &mut Builder, dtype: DType, code: Value) -> Value {
    if dtype == DType::F8E8M0Fnu {
        return code;
    }
    let sign = 1 << (dtype.bits() - 1);
    let (sign, low, zero) = (b.i32(sign), b.i32(sign - 1), b.i32(0));
    let (negative, magnitude) = (b.and(code, sign), b.and(code, low));
    let turned = b.not(magnitude);
    let positive = b.eq(negative, zero);
    b.select(positive, code, turned)
}

/// The code of the number nearest to `x`, ties to the even code; see [`jaxide_core::small_float::encode`].
pub(super) fn encode(b: &mut Builder, dtype: DType, x: Value) -> Value {
    let Some(format) = format(dtype) else {
        return encode_power(b, x);
    };
    let Format {
        exponent,
        mantissa,
        bias,
        specials,
    } = format;
    let sign_bit = 1 << (exponent + mantissa);
    let top = ((1 << exponent) - 1) << mantissa;
    let (largest, beyond, nan) = match specials {
        Specials::Ieee => (top - 1, top, top | 1 << (mantissa - 1)),
        Specials::NanOnly => (sign_bit - 2, sign_bit - 1, sign_bit - 1),
        Specials::Unsigned0 => (sign_bit - 1, sign_bit, sign_bit),
        Specials::None => (sign_bit - 1, sign_bit - 1, 0),
    };
    let shift = 23 - mantissa;
    let magnitude = b.abs(x);
    let bits = b.bitcast(magnitude);

    // Half a unit less one, and the lowest bit that stays: ties go to the even code.
    let (one, half) = (b.i32(1), b.i32((1 << (shift - 1)) - 1));
    let odd = shifted_right(b, bits, shift);
    let odd = b.and(odd, one);
    let rounded = b.add(bits, half);
    let rounded = b.add(rounded, odd);
    let rounded = shifted_right(b, rounded, shift);
    let offset = b.i32((127 - bias) << mantissa);
    let normal = b.sub(rounded, offset);
    // Below the normal numbers a sum with a number whose units are the steps there rounds as the sum is rounded.
    let steps = b.f32(2f32.powi(24 - bias - mantissa as i32));
    let sum = b.add(magnitude, steps);
    let (sum, steps) = (b.bitcast(sum), b.bitcast(steps));
    let below = b.sub(sum, steps);
    let least_normal = b.f32(2f32.powi(1 - bias));
    let is_below = b.lt(magnitude, least_normal);
    let code = b.select(is_below, below, normal);

    let (largest, beyond, nan) = (b.i32(largest), b.i32(beyond), b.i32(nan));
    let is_beyond = b.gt(code, largest);
    let code = b.select(is_beyond, beyond, code);
    let is_nan = b.is_nan(x);
    let code = b.select(is_nan, nan, code);
    let sign = b.bitcast(x);
    let sign = shifted_right(b, sign, 31);
    let sign = shifted_left(b, sign, exponent + mantissa);
    let signed = b.or(code, sign);
    match specials {
        Specials::Ieee | Specials::NanOnly => return signed,
        // There is no NaN, which becomes -0.
        Specials::None => {
            let zero = b.i32(sign_bit);
            return b.select(is_nan, zero, signed);
        }
        Specials::Unsigned0 => {}
    }
    let zero = b.i32(0);
    let is_zero = b.eq(code, zero);
    b.select(is_zero, zero, signed)
}

/// The powers of two, which have neither zero nor sign.
fn decode_power(b: &mut Builder, code: Value) -> Value {
    let (zero, last) = (b.i32(0), b.i32(0xff));
    let (least, nan) = (b.i32(0x0040_0000), b.i32(0x7fc0_0000));
    let bits = shifted_left(b, code, 23);
    let is_least = b.eq(code, zero);
    let bits = b.select(is_least, least, bits);
    let is_nan = b.eq(code, last);
    let bits = b.select(is_nan, nan, bits);
    b.bitcast(bits)
}

/// The nearest power of two, ties up; NaN for what is not positive.
fn encode_power(b: &mut Builder, x: Value) -> Value {
    let bits = b.bitcast(x);
    let (half, zero, nan) = (b.i32(0x0040_0000), b.i32(0), b.i32(0xff));
    let rounded = b.add(bits, half);
    let rounded = shifted_right(b, rounded, 23);
    let second = b.i32(0x0060_0000);
    let is_least = b.lt(bits, second);
    let code = b.select(is_least, zero, rounded);
    // Of the bits, since the least power is subnormal in an f32.
    let none = b.i32(0);
    let is_positive = b.gt(bits, none);
    let code = b.select(is_positive, code, nan);
    let is_nan = b.is_nan(x);
    b.select(is_nan, nan, code)
}

fn shifted_left(b: &mut Builder, x: Value, by: u32) -> Value {
    let by = b.constant(Ty::I32, by.into());
    b.shl(x, by)
}

fn shifted_right(b: &mut Builder, x: Value, by: u32) -> Value {
    let by = b.constant(Ty::I32, by.into());
    b.shr_u(x, by)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Access, Addr, MemTy, Memory};
    use jaxide_core::small_float;

    const SMALL: [DType; 9] = [
        DType::F4E2M1Fn,
        DType::F8E3M4,
        DType::F8E4M3,
        DType::F8E4M3B11Fnuz,
        DType::F8E4M3Fn,
        DType::F8E4M3Fnuz,
        DType::F8E5M2,
        DType::F8E5M2Fnuz,
        DType::F8E8M0Fnu,
    ];

    fn run(f: impl FnOnce(&mut Builder, Value) -> Value, from: Ty, x: u32) -> u32 {
        let mut b = Builder::new("small");
        let [read, written] = [Access::ReadOnly, Access::ReadWrite].map(|access| b.pointer(access));
        let from = if from == Ty::F32 {
            MemTy::F32
        } else {
            MemTy::I32
        };
        let x_of_lane = b.load(from, Addr::uniform(read));
        let result = f(&mut b, x_of_lane);
        let to = if b.ty(result) == Ty::F32 {
            MemTy::F32
        } else {
            MemTy::I32
        };
        b.store(to, Addr::contiguous(written, to), result);
        let body = b.finish().unwrap();
        let (mut x, mut y) = (x.to_le_bytes(), [0; 4]);
        let mut regions = [&mut x[..], &mut y[..]];
        body.eval(&mut Memory::new(&mut regions), &[], 0, 1)
            .unwrap();
        u32::from_le_bytes(y)
    }

    #[test]
    fn codes_are_decoded() {
        for dtype in SMALL {
            for code in 0..1u32 << dtype.bits() {
                let got = f32::from_bits(run(|b, x| decode(b, dtype, x), Ty::I32, code));
                let want = small_float::decode(dtype, code as u8).unwrap() as f32;
                let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                assert!(same, "{dtype} {code}: {got} is not {want}");
            }
        }
    }

    /// Every number that a format has, what lies halfway between neighbours, and what lies beside both.
    #[test]
    fn numbers_are_rounded_to_codes() {
        for dtype in SMALL {
            let mut numbers = vec![f32::NAN, f32::INFINITY, 1e-45, 1e30, 3e38, 0.0];
            let codes = 0..=(1u32 << dtype.bits()) - 1;
            let values: Vec<f32> = codes
                .map(|code| small_float::decode(dtype, code as u8).unwrap() as f32)
                .collect();
            for pair in values.windows(2) {
                let middle = ((f64::from(pair[0]) + f64::from(pair[1])) / 2.0) as f32;
                numbers.extend([pair[0], middle, middle.next_up(), middle.next_down()]);
            }
            for number in numbers.into_iter().flat_map(|number| [number, -number]) {
                let got = run(|b, x| encode(b, dtype, x), Ty::F32, number.to_bits());
                let want = small_float::encode(dtype, number.into()).unwrap();
                let both_nan =
                    number.is_nan() && small_float::decode(dtype, got as u8).unwrap().is_nan();
                assert!(
                    got == u32::from(want) || both_nan,
                    "{dtype} {number}: {got} is not {want}"
                );
            }
        }
    }
}
