//! Limits of the floating-point types, those of the parts for complex ones.

use crate::dtype::DType;

/// The distance from 1 to the next larger number.
pub(crate) fn epsilon(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F64 => f64::EPSILON,
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        _ => f64::from(f32::EPSILON),
    }
}

/// The largest finite number.
pub(crate) fn largest(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F64 => f64::MAX,
        DType::F16 => 65504.0,
        DType::BF16 => 2f64.powi(127) * (2.0 - epsilon(DType::BF16)),
        _ => f64::from(f32::MAX),
    }
}

/// The smallest positive number with a full mantissa.
pub(crate) fn smallest_normal(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F64 => f64::MIN_POSITIVE,
        DType::F16 => 2f64.powi(-14),
        _ => f64::from(f32::MIN_POSITIVE),
    }
}
