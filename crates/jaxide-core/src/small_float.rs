//! Floats of eight bits and less: their values and the nearest one to a number.
//!
//! The formats are those of the `ml_dtypes` project: `fn` has no infinities, `uz` no negative zero
//! (its code is the only NaN), `fnu` neither sign nor zero.

use crate::dtype::DType;

/// What the codes at the top of the range mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// The highest exponent holds infinity and NaN.
    Ieee,
    /// All ones is NaN, there is no infinity.
    NanOnly,
    /// The code of negative zero is NaN, there is no infinity.
    Unsigned0,
    /// Every code is a number.
    None,
}

/// The fields of a code from the top: a sign bit, the exponent, the mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the mantissa.
    pub mantissa: u32,
    /// What is taken from the exponent.
    pub bias: i32,
    /// What is no number.
    pub specials: Specials,
}

/// The fields of a small float; `None` for other types, and for the powers of two (`e8m0fnu`), which are an exponent
/// without sign and mantissa.
pub fn format(dtype: DType) -> Option<Format> {
    let (exponent, mantissa, bias, specials) = match dtype {
        DType::F4E2M1Fn => (2, 1, 1, Specials::None),
        DType::F8E3M4 => (3, 4, 3, Specials::Ieee),
        DType::F8E4M3 => (4, 3, 7, Specials::Ieee),
        DType::F8E4M3B11Fnuz => (4, 3, 11, Specials::Unsigned0),
        DType::F8E4M3Fn => (4, 3, 7, Specials::NanOnly),
        DType::F8E4M3Fnuz => (4, 3, 8, Specials::Unsigned0),
        DType::F8E5M2 => (5, 2, 15, Specials::Ieee),
        DType::F8E5M2Fnuz => (5, 2, 16, Specials::Unsigned0),
        _ => return None,
    };
    Some(Format {
        exponent,
        mantissa,
        bias,
        specials,
    })
}

/// A number of the 4-bit format as conversion to integers takes it: the largest ones, 6 and -6, saturate.
///
/// XLA finds what is out of range by comparing with the integers' bounds in the float's own format. This format has no
/// infinity, so that the bounds become 6 and -6 there.
pub fn for_integers(value: f64) -> f64 {
    if value.abs() < 6.0 {
        value
    } else {
        value * f64::INFINITY
    }
}

/// The least and the greatest number of a type, infinities included; `None` when `dtype` is not a small float.
///
/// ```
/// use jaxide_core::{DType, small_float::extremes};
/// assert_eq!(extremes(DType::F8E4M3Fn), Some((-448.0, 448.0)));
/// assert_eq!(extremes(DType::F8E5M2), Some((f64::NEG_INFINITY, f64::INFINITY)));
/// ```
pub fn extremes(dtype: DType) -> Option<(f64, f64)> {
    // Of a type of fewer bits, the others are not read.
    let codes = 0..=u8::MAX;
    let numbers = codes.filter_map(|code| decode(dtype, code).filter(|number| !number.is_nan()));
    numbers.fold(None, |range, number| {
        let (least, greatest) = range.unwrap_or((number, number));
        Some((number.min(least), number.max(greatest)))
    })
}

/// The number a code stands for; `None` when `dtype` is not a small float.
pub fn decode(dtype: DType, code: u8) -> Option<f64> {
    if dtype == DType::F8E8M0Fnu {
        return Some(if code == 0xff {
            f64::NAN
        } else {
            2f64.powi(i32::from(code) - 127)
        });
    }
    let Format {
        exponent,
        mantissa,
        bias,
        specials,
    } = format(dtype)?;
    let code = u32::from(code);
    let sign_bit = 1 << (exponent + mantissa);
    let magnitude = code & (sign_bit - 1);
    let sign = if code & sign_bit != 0 { -1.0 } else { 1.0 };
    let (exp, man) = (magnitude >> mantissa, magnitude & ((1 << mantissa) - 1));
    let top = (1 << exponent) - 1;
    match specials {
        Specials::Ieee if exp == top => {
            return Some(if man == 0 {
                sign * f64::INFINITY
            } else {
                f64::NAN
            });
        }
        Specials::NanOnly if magnitude == sign_bit - 1 => return Some(f64::NAN),
        Specials::Unsigned0 if code == sign_bit => return Some(f64::NAN),
        _ => {}
    }
    let (significand, power) = if exp == 0 {
        (man, 1 - bias)
    } else {
        (man | 1 << mantissa, exp as i32 - bias)
    };
    Some(sign * f64::from(significand) * 2f64.powi(power - mantissa as i32))
}

/// The code of the number nearest to `value`, ties to the even code; `None` when `dtype` is not a small float.
///
/// Beyond the range the result is infinity where there is one, else NaN, else the largest number.
pub fn encode(dtype: DType, value: f64) -> Option<u8> {
    if dtype == DType::F8E8M0Fnu {
        // There is neither zero nor sign, and ties go up.
        if value.is_nan() || value <= 0.0 || value >= 2f64.powi(127) * 1.5 {
            return Some(0xff);
        }
        return (0..=0xfeu8).find(|&code| value < 2f64.powi(i32::from(code) - 127) * 1.5);
    }
    let Format {
        exponent,
        mantissa,
        specials,
        ..
    } = format(dtype)?;
    let sign_bit = 1u8 << (exponent + mantissa);
    let negative = value.is_sign_negative();
    let top = ((1u8 << exponent) - 1) << mantissa;
    let (largest, beyond) = match specials {
        Specials::Ieee => (top - 1, top),
        Specials::NanOnly => (sign_bit - 2, sign_bit - 1),
        Specials::Unsigned0 => (sign_bit - 1, sign_bit),
        Specials::None => (sign_bit - 1, sign_bit - 1),
    };
    let signed = |code: u8| match specials {
        Specials::Unsigned0 if code == 0 || code == sign_bit => code,
        _ if negative => code | sign_bit,
        _ => code,
    };
    if value.is_nan() {
        return Some(match specials {
            Specials::Ieee => signed(top | 1 << (mantissa - 1)),
            Specials::NanOnly => signed(sign_bit - 1),
            Specials::Unsigned0 => sign_bit,
            // As XLA has it, whatever the sign of the NaN.
            Specials::None => sign_bit,
        });
    }
    let magnitude = value.abs();
    let half_step = (decode(dtype, largest)? - decode(dtype, largest - 1)?) / 2.0;
    let limit = decode(dtype, largest)? + half_step;
    if magnitude > limit || (magnitude == limit && largest & 1 == 1) {
        return Some(signed(beyond));
    }
    (0..=largest)
        .min_by(|&a, &b| nearer(dtype, magnitude, a, b))
        .map(signed)
}

/// Orders codes by distance to `value`, an even code before an odd one at the same distance.
fn nearer(dtype: DType, value: f64, a: u8, b: u8) -> std::cmp::Ordering {
    let distance =
        |code| decode(dtype, code).map_or(f64::INFINITY, |number| (number - value).abs());
    distance(a)
        .total_cmp(&distance(b))
        .then((a & 1).cmp(&(b & 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_the_round_trip() {
        for &dtype in DType::ALL {
            for code in 0..=u8::MAX {
                let Some(value) = decode(dtype, code) else {
                    continue;
                };
                if value.is_nan() || (dtype == DType::F4E2M1Fn && code > 15) {
                    continue;
                }
                assert_eq!(
                    decode(dtype, encode(dtype, value).unwrap()),
                    Some(value),
                    "{dtype} {code}"
                );
            }
        }
    }

    #[test]
    fn rounding_is_to_nearest_even_and_overflow_follows_the_format() {
        assert_eq!(encode(DType::F8E4M3Fn, 1.0625), Some(0x38));
        assert_eq!(encode(DType::F8E4M3Fn, 1.1875), Some(0x3a));
        assert_eq!(encode(DType::F8E4M3Fn, 1e9), Some(0x7f));
        assert_eq!(encode(DType::F8E5M2, -1e9), Some(0xfc));
        assert_eq!(encode(DType::F4E2M1Fn, 100.0), Some(0x7));
    }
}
