//! Uniform and normal floats from random bits.

use super::super::elementary::erf_inv;
use super::super::float::{Real, nextafter, through_f64};
use super::Prng;

/// One float uniform in `[low, high)`, as `jax.random.uniform` draws it.
///
/// Random bits fill the mantissa of a number in `[1, 2)`; 1 is subtracted, the result scaled with a
/// fused multiply-add and kept from falling below `low`. A dtype of b bits uses b random bits,
/// except that `bf16` uses 8.
///
/// # Panics
///
/// When `key` is not one key of the implementation.
pub fn uniform<T: Real>(prng: Prng, key: &[u32], low: T, high: T) -> T {
    let bits = 1 + T::EXPONENT_BITS + T::MANTISSA_BITS;
    let drawn = if T::MANTISSA_BITS < 8 { 8 } else { bits };
    let random = prng.bits(key, drawn, 1)[0];
    let mantissa = random >> (drawn - T::MANTISSA_BITS);
    let one = T::round_from(1.0);
    let unit = T::from_bits64(one.to_bits64() | mantissa).to_f64() - 1.0;
    let (low, high) = (low.to_f64(), high.to_f64());
    let span = T::round_from(high - low).to_f64();
    T::round_from(unit.mul_add(span, low).max(low))
}

/// One float of the standard normal distribution, as `jax.random.normal` draws it: `√2 ·
/// erf_inv(u)` for u uniform in (-1, 1).
///
/// # Panics
///
/// When `key` is not one key of the implementation.
pub fn normal<T: Real>(prng: Prng, key: &[u32]) -> T {
    let (one, zero, minus_one) = (T::round_from(1.0), T::round_from(0.0), T::round_from(-1.0));
    let u = uniform(prng, key, nextafter(minus_one, zero), one);
    let sqrt_2 = T::round_from(std::f64::consts::SQRT_2).to_f64();
    T::round_from(sqrt_2 * through_f64(erf_inv, u).to_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    fn unit<T: Real>(key: &[u32]) -> f64 {
        uniform(Prng::Threefry, key, T::round_from(0.0), T::round_from(1.0)).to_f64()
    }

    /// Results of `jax.random.uniform(jax.random.key(7), (), dtype)`.
    #[test]
    fn uniform_of_every_dtype() {
        assert_eq!(unit::<f16>(&[0, 7]), 0.16015625);
        assert_eq!(unit::<bf16>(&[0, 7]), 0.0390625);
        assert_eq!(unit::<f32>(&[0, 7]), 0.6740899085998535);
        assert_eq!(unit::<f64>(&[0, 7]), 0.8441069450823528);
    }

    #[test]
    fn normal_of_every_dtype() {
        let key = [0, 7];
        assert_eq!(normal::<f16>(Prng::Threefry, &key).to_f64(), -0.99267578125);
        assert_eq!(normal::<bf16>(Prng::Threefry, &key).to_f64(), -1.734375);
        // JAX's own value is 0.45123515: its inverse error function is 3 units off there.
        assert_eq!(normal::<f32>(Prng::Threefry, &key), 0.45123506);
        assert!((normal::<f64>(Prng::Threefry, &key) - 1.0114813355590866).abs() < 1e-15);
    }
}
