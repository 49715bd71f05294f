//! The formats of real numbers as bits, and errors in their units.

use half::{bf16, f16};
use jaxide_core::DType;

/// A format of real numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// 5 bits of exponent, 10 of mantissa.
    F16,
    /// 8 bits of exponent, 7 of mantissa.
    Bf16,
    /// 8 bits of exponent, 23 of mantissa.
    F32,
    /// 11 bits of exponent, 52 of mantissa.
    F64,
}

impl Format {
    /// Every format, the narrow ones first.
    pub const ALL: [Format; 4] = [Format::F16, Format::Bf16, Format::F32, Format::F64];

    /// The type of arrays.
    pub fn dtype(self) -> DType {
        match self {
            Format::F16 => DType::F16,
            Format::Bf16 => DType::BF16,
            Format::F32 => DType::F32,
            Format::F64 => DType::F64,
        }
    }

    /// The name in texts and tables.
    pub fn name(self) -> &'static str {
        match self {
            Format::F16 => "f16",
            Format::Bf16 => "bf16",
            Format::F32 => "f32",
            Format::F64 => "f64",
        }
    }

    /// How many bytes a number has.
    pub fn size(self) -> usize {
        match self {
            Format::F16 | Format::Bf16 => 2,
            Format::F32 => 4,
            Format::F64 => 8,
        }
    }

    /// How many bits of a mantissa are stored.
    fn mantissa(self) -> i32 {
        match self {
            Format::F16 => 10,
            Format::Bf16 => 7,
            Format::F32 => 23,
            Format::F64 => 52,
        }
    }

    /// The exponents of the smallest normal number, and of the first power of two that is too large.
    fn exponents(self) -> (i32, i32) {
        match self {
            Format::F16 => (-14, 16),
            Format::Bf16 | Format::F32 => (-126, 128),
            Format::F64 => (-1022, 1024),
        }
    }

    /// The number with these bits.
    pub fn decode(self, bits: u64) -> f64 {
        match self {
            Format::F16 => f16::from_bits(bits as u16).to_f64(),
            Format::Bf16 => bf16::from_bits(bits as u16).to_f64(),
            Format::F32 => f64::from(f32::from_bits(bits as u32)),
            Format::F64 => f64::from_bits(bits),
        }
    }

    /// The bits of the nearest number.
    pub fn encode(self, x: f64) -> u64 {
        match self {
            Format::F16 => u64::from(f16::from_f64(x).to_bits()),
            Format::Bf16 => u64::from(bf16::from_f64(x).to_bits()),
            Format::F32 => u64::from((x as f32).to_bits()),
            Format::F64 => x.to_bits(),
        }
    }

    /// Whether a number is beside zero, and smaller than those of full precision.
    pub fn is_subnormal(self, x: f64) -> bool {
        x != 0.0 && x.abs() < power_of_two(self.exponents().0)
    }

    /// The distance of neighbouring numbers of this format at `x`, which is that of the smallest normal ones below them.
    pub fn ulp(self, x: f64) -> f64 {
        let exponent = exponent(x).clamp(self.exponents().0, self.exponents().1 - 1);
        let place = exponent - self.mantissa();
        // 2^-1074 has no normal form; products of two powers have all.
        power_of_two(place / 2) * power_of_two(place - place / 2)
    }

    /// How far `got` is from `exact` in [`Format::ulp`] of the latter, or of `floor` where that is larger.
    ///
    /// Zero where both are NaN. Infinite where only one is, where an infinity should be finite or a finite number infinite by more than
    /// rounding explains, and where the sign of a zero or infinity is wrong: `exact` has to say what rounds to which, and so is `rest` beyond its
    /// last place.
    pub fn error(self, got: u64, exact: f64, rest: f64, floor: f64) -> f64 {
        let got_bits = got;
        let got = self.decode(got);
        if got.is_nan() || exact.is_nan() {
            return if got.is_nan() && exact.is_nan() {
                0.0
            } else {
                f64::INFINITY
            };
        }
        let rounded = self.encode(exact);
        if got_bits == rounded && rest == 0.0 {
            // Within half a unit; the caller wants more than that only where it is wrong.
            return if self == Format::F64 || got.is_infinite() || got == exact {
                0.0
            } else {
                (got - exact).abs() / self.ulp(exact.abs().max(floor))
            };
        }
        if exact.is_infinite() {
            return f64::INFINITY;
        }
        if exact == 0.0 && got == 0.0 {
            return f64::INFINITY;
        }
        let unit = self.ulp(exact.abs().max(floor));
        if got.is_finite() {
            return ((got - exact) - rest).abs() / unit;
        }
        // An infinity stands for the power of two behind the largest number.
        let limit = power_of_two(self.exponents().1 - 1);
        ((limit.copysign(got) - exact * 0.5) - rest * 0.5).abs() / unit * 2.0
    }
}

/// The exponent of the leading bit.
fn exponent(x: f64) -> i32 {
    if x == 0.0 {
        return i32::MIN;
    }
    let x = x.abs();
    if x < f64::MIN_POSITIVE {
        return exponent(x * 2f64.powi(60)) - 60;
    }
    (x.to_bits() >> 52) as i32 - 1023
}

fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!(Format::F32.ulp(1.0), f64::from(f32::EPSILON));
        assert_eq!(Format::F32.ulp(1.99), f64::from(f32::EPSILON));
        assert_eq!(Format::F32.ulp(0.0), f64::from(f32::from_bits(1)));
        assert_eq!(Format::F64.ulp(0.0), f64::from_bits(1));
        assert_eq!(Format::F64.ulp(f64::MIN_POSITIVE * 0.3), f64::from_bits(1));
        assert_eq!(Format::F64.ulp(f64::MAX), 2f64.powi(971));
        assert_eq!(Format::F16.ulp(1e-9), 2f64.powi(-24));
    }

    #[test]
    fn errors() {
        let one = Format::F32.encode(1.0);
        assert_eq!(Format::F32.error(one, 1.0, 0.0, 0.0), 0.0);
        assert_eq!(Format::F32.error(one + 1, 1.0, 0.0, 0.0), 1.0);
        assert_eq!(
            Format::F32.error(one + 1, 1.0 + 2f64.powi(-24), 0.0, 0.0),
            0.5
        );
        assert_eq!(
            Format::F64.error(1f64.to_bits(), 1.0, 2f64.powi(-54), 0.0),
            0.25
        );
        assert_eq!(Format::F32.error(one, f64::NAN, 0.0, 0.0), f64::INFINITY);
        let minus_zero = Format::F32.encode(-0.0);
        assert_eq!(Format::F32.error(minus_zero, 0.0, 0.0, 0.0), f64::INFINITY);
        assert_eq!(
            Format::F32.error(minus_zero, -1e-60, 0.0, 0.0),
            1e-60 / 2f64.powi(-149)
        );
        let infinity = Format::F32.encode(f64::INFINITY);
        assert_eq!(
            Format::F32.error(infinity, f64::from(f32::MAX), 0.0, 0.0),
            1.0
        );
        assert_eq!(
            Format::F32.error(infinity, 2.0, 0.0, 0.0),
            2f64.powi(128) / 2f64.powi(-22) - 2f64.powi(23)
        );
        // Roots: units of the floor.
        assert_eq!(Format::F32.error(one, 1.0 + 2f64.powi(-20), 0.0, 8.0), 1.0);
    }
}
