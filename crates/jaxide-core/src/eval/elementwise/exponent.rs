//! Taking floats apart into mantissa and exponent, and scaling by powers of two.
//!
//! Both treat subnormal numbers as zero, as their definition in JAX does.

use super::map::{at, common_shape, spread};
use crate::error::Result;
use crate::eval::element::{by_dtype, collect, elements, integers, meaningless};
use crate::eval::numerics::float::Real;
use crate::tensor::Tensor;

/// The mantissa in [0.5, 1) with the sign of `x`, and the exponent as `i32`; `x` itself and 0 for zero, infinity, NaN.
pub(in crate::eval) fn frexp(x: &Tensor) -> Result<Vec<Tensor>> {
    let dtype = x.dtype();
    let mut exponents = Vec::with_capacity(x.len());
    let mantissas = by_dtype!(dtype, T,
        real => collect(x.shape(), dtype, elements::<T>(x)?.iter().map(|&value| {
            let value = flushed::<T>(value.to_f64());
            let (mantissa, exponent) = if value == 0.0 || !value.is_finite() { (value, 0) } else { libm::frexp(value) };
            exponents.push(exponent);
            <T as Real>::round_from(mantissa)
        })),
        other => Err(meaningless(dtype)),
    )?;
    Ok(vec![mantissas, Tensor::from_vec(x.shape(), exponents)?])
}

/// `x * 2**n`.
pub(in crate::eval) fn ldexp(x: &Tensor, n: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype();
    let shape = common_shape(&[x, n])?;
    let (x, n) = (&spread(x, &shape)?, &spread(n, &shape)?);
    let powers: Vec<i32> = integers(n)?.map(|n| n.clamp(-4096, 4096) as i32).collect();
    let count = shape.iter().product();
    by_dtype!(dtype, T,
        real => {
            let values = elements::<T>(x)?;
            let scaled = |i| libm::ldexp(flushed::<T>(at(values, i).to_f64()), at(&powers, i));
            collect(&shape, dtype, (0..count).map(|i| <T as Real>::round_from(flushed::<T>(scaled(i)))))
        },
        other => Err(meaningless(dtype)),
    )
}

/// Zero with the same sign for what would be subnormal in `T`.
fn flushed<T: Real>(value: f64) -> f64 {
    let smallest = libm::ldexp(1.0, 2 - (1 << (T::EXPONENT_BITS - 1)));
    if value.abs() < smallest {
        0.0f64.copysign(value)
    } else {
        value
    }
}
