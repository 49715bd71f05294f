//! The floating-point dtypes as bit patterns: widening and rounding, `nextafter`,
//! `reduce_precision`, conversion to integers.

use half::{bf16, f16};

/// A real floating-point dtype: `f16`, `bf16`, `f32` or `f64`.
pub trait Real: Copy + PartialOrd + std::fmt::Debug + Send + Sync + 'static {
    /// Width of the exponent field in bits.
    const EXPONENT_BITS: u32;
    /// Width of the stored mantissa field in bits, the implicit leading one not counted.
    const MANTISSA_BITS: u32;

    /// The same number as `f64`; always exact.
    fn to_f64(self) -> f64;

    /// The nearest number of this dtype, ties to even.
    ///
    /// The 16-bit dtypes are rounded twice, through `f32`, because that is what XLA's CPU backend
    /// computes in.
    fn round_from(x: f64) -> Self;

    /// The bit pattern, zero-extended.
    fn to_bits64(self) -> u64;

    /// The number whose bit pattern is the low bits of `bits`.
    fn from_bits64(bits: u64) -> Self;
}

macro_rules! real {
    ($t:ty, $bits:ty, $exponent:literal, $mantissa:literal, $to:expr, $from:expr) => {
        impl Real for $t {
            const EXPONENT_BITS: u32 = $exponent;
            const MANTISSA_BITS: u32 = $mantissa;

            fn to_f64(self) -> f64 {
                $to(self)
            }

            fn round_from(x: f64) -> Self {
                $from(x)
            }

            fn to_bits64(self) -> u64 {
                self.to_bits().into()
            }

            fn from_bits64(bits: u64) -> Self {
                <$t>::from_bits(bits as $bits)
            }
        }
    };
}

real!(f16, u16, 5, 10, f16::to_f64, |x| f16::from_f32(x as f32));
real!(bf16, u16, 8, 7, bf16::to_f64, |x| bf16::from_f32(x as f32));
real!(f32, u32, 8, 23, f64::from, |x| x as f32);
real!(f64, u64, 11, 52, |x| x, |x| x);

/// Applies a function of `f64` to any float dtype: widen, compute, round once.
///
/// ```
/// use jaxide_core::eval::numerics::{elementary, float::through_f64};
/// assert_eq!(through_f64(elementary::sin, 0.5f32), 0.47942555);
/// ```
pub fn through_f64<T: Real>(f: impl FnOnce(f64) -> f64, x: T) -> T {
    T::round_from(f(x.to_f64()))
}

/// [`through_f64`] for a function of two arguments.
pub fn through_f64_2<T: Real>(f: impl FnOnce(f64, f64) -> f64, x: T, y: T) -> T {
    T::round_from(f(x.to_f64(), y.to_f64()))
}

/// The next representable number of the dtype after `x` in the direction of `y` (IEEE 754
/// `nextafter`).
///
/// `y` when they compare equal (so `nextafter(-0.0, 0.0)` is `0.0`), NaN when either is NaN, and
/// the smallest subnormal with the sign of `y` when `x` is zero. Stepping past the largest finite
/// number gives infinity.
pub fn nextafter<T: Real>(x: T, y: T) -> T {
    let (a, b) = (x.to_f64(), y.to_f64());
    if a.is_nan() || b.is_nan() {
        return T::round_from(f64::NAN);
    }
    if a == b {
        return y;
    }
    if a == 0.0 {
        return T::from_bits64(1 | (y.to_bits64() & sign_bit::<T>()));
    }
    // Sign and magnitude: away from zero is one up in the bit pattern, towards zero one down.
    let away_from_zero = (b > a) == (a > 0.0);
    let bits = x.to_bits64();
    T::from_bits64(if away_from_zero { bits + 1 } else { bits - 1 })
}

/// Rounds to a narrower format with the given field widths, and gives the result in the original
/// dtype.
///
/// Follows the law of XLA's `ReducePrecision`: the mantissa is rounded to nearest, ties to even (a
/// carry may enter the exponent); a result above the narrow format's largest number becomes
/// infinity; one below its smallest *normal* number becomes zero, both with the sign kept. NaN
/// stays NaN. Widths at least as large as the dtype's own change nothing.
///
/// # Panics
///
/// When `exponent_bits` is zero: a format needs an exponent.
pub fn reduce_precision<T: Real>(x: T, exponent_bits: u32, mantissa_bits: u32) -> T {
    assert!(
        exponent_bits > 0,
        "reduce_precision: exponent_bits must be at least 1"
    );
    let sign = x.to_bits64() & sign_bit::<T>();
    let infinity = ((1u64 << T::EXPONENT_BITS) - 1) << T::MANTISSA_BITS;
    let mut magnitude = x.to_bits64() & !sign_bit::<T>();
    if magnitude > infinity {
        return x;
    }
    if mantissa_bits < T::MANTISSA_BITS {
        let dropped = T::MANTISSA_BITS - mantissa_bits;
        let last_kept = (magnitude >> dropped) & 1;
        magnitude += (1 << (dropped - 1)) - 1 + last_kept;
        magnitude &= !((1 << dropped) - 1);
    }
    if exponent_bits < T::EXPONENT_BITS {
        let bias = (1u64 << (T::EXPONENT_BITS - 1)) - 1;
        let narrow_bias = (1u64 << (exponent_bits - 1)) - 1;
        let exponent = magnitude >> T::MANTISSA_BITS;
        if exponent > bias + narrow_bias {
            magnitude = infinity;
        } else if exponent <= bias - narrow_bias {
            magnitude = 0;
        }
    }
    T::from_bits64(sign | magnitude)
}

/// Converts to a signed integer of `bits` bits (1 to 64): truncates towards zero, saturates, NaN
/// gives 0.
///
/// # Panics
///
/// When `bits` is not in 1..=64.
pub fn to_signed(x: f64, bits: u32) -> i64 {
    assert!((1..=64).contains(&bits), "to_signed: {bits} bits");
    let max = i64::MAX >> (64 - bits);
    (x as i64).clamp(-max - 1, max)
}

/// Converts to an unsigned integer of `bits` bits (1 to 64): truncates towards zero, saturates, NaN
/// gives 0.
///
/// # Panics
///
/// When `bits` is not in 1..=64.
pub fn to_unsigned(x: f64, bits: u32) -> u64 {
    assert!((1..=64).contains(&bits), "to_unsigned: {bits} bits");
    (x as u64).min(u64::MAX >> (64 - bits))
}

fn sign_bit<T: Real>() -> u64 {
    1 << (T::EXPONENT_BITS + T::MANTISSA_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextafter_steps_one_bit() {
        assert_eq!(nextafter(1.0f32, 2.0), 1.0 + f32::EPSILON);
        assert_eq!(nextafter(1.0f32, 0.0), 1.0 - f32::EPSILON / 2.0);
        assert_eq!(nextafter(-1.0f64, -2.0), -1.0 - f64::EPSILON);
        assert_eq!(nextafter(0.0f32, -1.0), -f32::from_bits(1));
        assert_eq!(nextafter(-0.0f32, 1.0), f32::from_bits(1));
        assert_eq!(nextafter(f32::MAX, f32::INFINITY), f32::INFINITY);
        assert_eq!(nextafter(f32::INFINITY, 0.0), f32::MAX);
        assert_eq!(
            nextafter(f16::from_f32(1.0), f16::from_f32(3.0)).to_f64(),
            1.0009765625
        );
        assert_eq!(
            nextafter(bf16::from_f32(1.0), bf16::from_f32(3.0)).to_f64(),
            1.0078125
        );
        assert!(nextafter(1.0f32, f32::NAN).is_nan());
        assert!(nextafter(0.0f64, -0.0).is_sign_negative());
    }

    /// Values that JAX gives for the `float8_e5m2`-like and `float16`-like formats.
    #[test]
    fn reduce_precision_rounds_to_even_and_flushes() {
        let e5m2 = |x: f32| reduce_precision(x, 5, 2);
        assert_eq!(e5m2(1.125), 1.0);
        assert_eq!(e5m2(1.375), 1.5);
        assert_eq!(e5m2(-61440.0), f32::NEG_INFINITY);
        assert_eq!(e5m2(57344.0), 57344.0);
        assert_eq!(e5m2(6.1e-5), 6.1035156e-5);
        assert_eq!(e5m2(5.0e-5), 0.0);
        assert!(e5m2(-5.0e-5).is_sign_negative());
        assert!(e5m2(f32::NAN).is_nan());
        assert!(reduce_precision(f32::NAN, 5, 0).is_nan());
        assert_eq!(reduce_precision(1.6f32, 5, 0), 2.0);
        assert_eq!(reduce_precision(0.1f64, 11, 52), 0.1);
        assert_eq!(reduce_precision(f16::from_f32(3.3), 5, 3).to_f64(), 3.25);
    }

    #[test]
    fn integers_saturate_and_nan_is_zero() {
        assert_eq!(to_signed(300.7, 8), 127);
        assert_eq!(to_signed(-300.7, 8), -128);
        assert_eq!(to_signed(-0.9, 32), 0);
        assert_eq!(to_signed(f64::NAN, 64), 0);
        assert_eq!(to_signed(1e20, 64), i64::MAX);
        assert_eq!(to_signed(9.0, 4), 7);
        assert_eq!(to_unsigned(-3.0, 16), 0);
        assert_eq!(to_unsigned(1e20, 64), u64::MAX);
        assert_eq!(to_unsigned(99.0, 4), 15);
    }
}
