//! Elementwise primitives: one element of the result from one element of each operand.

mod bits;
mod compare;
mod convert;
mod exponent;
mod map;
mod select;

use num_complex::Complex;

pub(super) use bits::{
    and, clz, not, or, population_count, shift_left, shift_right_arithmetic, shift_right_logical,
    xor,
};
pub(super) use compare::{Comparison, clamp, compare, compare_total, max, min};
pub(super) use convert::{bitcast_convert_type, convert_element_type};
pub(super) use exponent::{frexp, ldexp};
pub(super) use map::{common_shape, spread};
pub(super) use select::select_n;

use super::element::{by_dtype, decode, elements, encode, meaningless};
use super::numerics::elementary;
use super::numerics::float::{self, Real};
use super::numerics::integer::Int;
use super::numerics::{self, complex};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::prims::RoundingMethod;
use crate::tensor::Tensor;
use map::{
    ComplexFn, ComplexFn2, RealFn, RealFn2, complex2, inexact, integer, integer2, map, map2, real,
    real2, real3, same_dtype,
};

/// A function that floats and complex numbers have.
pub(super) fn analytic(x: &Tensor, f: RealFn, g: ComplexFn) -> Result<Tensor> {
    inexact(x, f, g)
}

/// A function that only floats have.
pub(super) fn special(x: &Tensor, f: RealFn) -> Result<Tensor> {
    real(x, f)
}

/// A function of two arguments that only floats have.
pub(super) fn special2(x: &Tensor, y: &Tensor, f: RealFn2) -> Result<Tensor> {
    real2(x, y, f)
}

/// A function of three arguments that only floats have.
pub(super) fn special3(
    x: &Tensor,
    y: &Tensor,
    z: &Tensor,
    f: fn(f64, f64, f64) -> f64,
) -> Result<Tensor> {
    real3(x, y, z, f)
}

/// A function of two arguments that floats and complex numbers have.
fn inexact2(x: &Tensor, y: &Tensor, f: RealFn2, g: ComplexFn2) -> Result<Tensor> {
    if x.dtype().is_complex() {
        complex2(x, y, g)
    } else {
        real2(x, y, f)
    }
}

/// `-x`.
pub(super) fn neg(x: &Tensor) -> Result<Tensor> {
    integer!(x, Int::neg, other => inexact(x, |a| -a, |a| -a))
}

/// -1, 0 or 1; `z/|z|` for complex numbers.
pub(super) fn sign(x: &Tensor) -> Result<Tensor> {
    integer!(x, Int::sign, other => inexact(x, elementary::sign, complex::sign))
}

/// The absolute value, real for complex numbers.
pub(super) fn abs(x: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype();
    integer!(x, Int::abs, other => by_dtype!(dtype, T,
        complex => map::<Complex<T>, T>(x, dtype.real(), &|z| Real::round_from(complex::abs(complex::widen(z)))),
        other => real(x, elementary::abs),
    ))
}

/// Whether neither infinite nor NaN.
pub(super) fn is_finite(x: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype();
    by_dtype!(dtype, T,
        int => map::<T, u8>(x, DType::Bool, &|_| 1),
        small => map::<u8, u8>(x, DType::Bool, &|a| decode(dtype, a).is_finite().into()),
        real => map::<T, u8>(x, DType::Bool, &|a| a.to_f64().is_finite().into()),
        complex => map::<Complex<T>, u8>(x, DType::Bool, &|a| a.is_finite().into()),
        other => Err(meaningless(dtype)),
    )
}

/// The derivative of `igamma` in `a`.
pub(super) fn igamma_grad_a(a: &Tensor, x: &Tensor) -> Result<Tensor> {
    let dtype = same_dtype(a, x)?;
    by_dtype!(dtype, T,
        small => map2::<u8, u8>(a, x, dtype, &|a, x| {
            encode(dtype, numerics::special::igamma_grad_a(decode(dtype, a) as f32, decode(dtype, x) as f32).into())
        }),
        real => map2::<T, T>(a, x, dtype, &numerics::special::igamma_grad_a),
        other => Err(meaningless(dtype)),
    )
}

/// The polygamma function of order `m`.
pub(super) fn polygamma(m: &Tensor, x: &Tensor) -> Result<Tensor> {
    let dtype = same_dtype(m, x)?;
    by_dtype!(dtype, T,
        small => map2::<u8, u8>(m, x, dtype, &|a, x| {
            encode(dtype, numerics::special::polygamma(decode(dtype, a) as f32, decode(dtype, x) as f32).into())
        }),
        real => map2::<T, T>(m, x, dtype, &numerics::special::polygamma),
        other => Err(meaningless(dtype)),
    )
}

/// `x * x`.
pub(super) fn square(x: &Tensor) -> Result<Tensor> {
    integer!(x, |a| Int::mul(a, a), other => inexact(x, |a| a * a, complex::square))
}

/// `1 - x*x`, as `(1 - x)(1 + x)`.
pub(super) fn one_minus_square(x: &Tensor) -> Result<Tensor> {
    integer!(x, |a| Int::mul(Int::sub(1, a), Int::add(1, a)),
        other => inexact(x, |a| (1.0 - a) * (1.0 + a), |z| (1.0 - z) * (1.0 + z)))
}

/// The bits of a byte that an integer of 2 or 4 bits repeats its sign in, or leaves zero.
fn unused_bits(dtype: DType) -> u32 {
    (dtype.size() * 8 - dtype.bits()) as u32
}

/// `x` to a fixed integer power, by repeated multiplication.
pub(super) fn integer_pow(x: &Tensor, y: i64) -> Result<Tensor> {
    let dtype = x.dtype();
    let unused = unused_bits(dtype);
    // A power that overflows has no reciprocal but zero: narrow types are multiplied in single precision.
    let single = dtype.bits() <= 32;
    let over = |a: f64, b: f64| {
        let overflows = single && (b as f32).is_infinite();
        a / if overflows {
            f64::INFINITY.copysign(b)
        } else {
            b
        }
    };
    let real_power = |a: f64| elementary::integer_pow(a, y, 1.0, |a, b| a * b, over);
    by_dtype!(dtype, T,
        int => map::<T, T>(x, dtype, &|a| elementary::integer_pow(a, y, 1, |a, b| (a.mul(b) << unused) >> unused, Int::div)),
        small => map::<u8, u8>(x, dtype, &|a| encode(dtype, real_power(decode(dtype, a)))),
        real => map::<T, T>(x, dtype, &|a| Real::round_from(real_power(a.to_f64()))),
        complex => map::<Complex<T>, Complex<T>>(x, dtype, &|z| {
            let one = Complex::new(1.0, 0.0);
            // Every product is rounded: where one overflows, its parts are infinite or NaN in that type.
            let mul = |a, b| complex::widen(complex::round_from::<T>(complex::mul(a, b)));
            let power = elementary::integer_pow(complex::widen(z), y, one, mul, complex::div);
            complex::round_from(power)
        }),
        other => Err(meaningless(dtype)),
    )
}

/// The nearest whole number.
pub(super) fn round(x: &Tensor, method: RoundingMethod) -> Result<Tensor> {
    real(
        x,
        match method {
            RoundingMethod::AwayFromZero => elementary::round_half_away,
            RoundingMethod::ToNearestEven => elementary::round_half_even,
        },
    )
}

/// Rounds to a narrower format.
pub(super) fn reduce_precision(
    x: &Tensor,
    exponent_bits: u32,
    mantissa_bits: u32,
) -> Result<Tensor> {
    if exponent_bits == 0 {
        return Err(Error::parameter("exponent_bits must be at least 1"));
    }
    let dtype = x.dtype();
    by_dtype!(dtype, T,
        small => map::<u8, u8>(x, dtype, &|a| {
            encode(dtype, float::reduce_precision(decode(dtype, a), exponent_bits, mantissa_bits))
        }),
        real => map::<T, T>(x, dtype, &|a| float::reduce_precision(a, exponent_bits, mantissa_bits)),
        other => Err(meaningless(dtype)),
    )
}

/// The real part.
pub(super) fn real_part(x: &Tensor) -> Result<Tensor> {
    by_dtype!(x.dtype(), T,
        complex => map::<Complex<T>, T>(x, x.dtype().real(), &|z| z.re),
        other => Err(meaningless(x.dtype())),
    )
}

/// The imaginary part.
pub(super) fn imaginary_part(x: &Tensor) -> Result<Tensor> {
    by_dtype!(x.dtype(), T,
        complex => map::<Complex<T>, T>(x, x.dtype().real(), &|z| z.im),
        other => Err(meaningless(x.dtype())),
    )
}

/// The complex conjugate; a real operand becomes complex.
pub(super) fn conj(x: &Tensor) -> Result<Tensor> {
    match x.dtype().complex() {
        Some(dtype) if !x.dtype().is_complex() => convert_element_type(x, dtype),
        Some(_) => map::complex(x, |z| z.conj()),
        None => Err(meaningless(x.dtype())),
    }
}

/// A complex number from its parts.
pub(super) fn make_complex(re: &Tensor, im: &Tensor) -> Result<Tensor> {
    let dtype = same_dtype(re, im)?;
    match dtype {
        DType::F32 => map2::<f32, Complex<f32>>(re, im, DType::C64, &Complex::new),
        DType::F64 => map2::<f64, Complex<f64>>(re, im, DType::C128, &Complex::new),
        other => Err(meaningless(other)),
    }
}

/// `x + y`; of truth values, whether either holds.
pub(super) fn add(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    match x.dtype() {
        DType::Float0 => return Ok(x.clone()),
        DType::Bool => return or(x, y),
        _ => {}
    }
    integer2!(x, y, Int::add, other => inexact2(x, y, |a, b| a + b, |a, b| a + b))
}

/// `x - y`.
pub(super) fn sub(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    integer2!(x, y, Int::sub, other => inexact2(x, y, |a, b| a - b, |a, b| a - b))
}

/// `x * y`, as elements of `out_dtype` where one is given.
pub(super) fn mul(x: &Tensor, y: &Tensor, out_dtype: Option<DType>) -> Result<Tensor> {
    if let Some(dtype) = out_dtype {
        return mul(
            &convert_element_type(x, dtype)?,
            &convert_element_type(y, dtype)?,
            None,
        );
    }
    integer2!(x, y, Int::mul, other => inexact2(x, y, |a, b| a * b, complex::mul))
}

/// The upper half of the product.
pub(super) fn mulhi(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let bits = x.dtype().bits() as u32;
    integer2!(x, y, |a, b| Int::mulhi(a, b, bits))
}

/// `x / y`; integers truncate.
pub(super) fn div(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    integer2!(x, y, Int::div, other => inexact2(x, y, |a, b| a / b, complex::div))
}

/// The remainder with the sign of the dividend.
pub(super) fn rem(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    integer2!(x, y, Int::rem, other => real2(x, y, elementary::rem))
}

/// `x` to the power `y`. An integer `y` beside other numbers is first converted to their type.
pub(super) fn pow(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    if y.dtype().is_inexact() {
        return inexact2(x, y, elementary::pow, complex::pow);
    }
    let dtype = x.dtype();
    if dtype.is_inexact() {
        return pow(x, &convert_element_type(y, dtype)?);
    }
    let unused = unused_bits(dtype);
    let shape = common_shape(&[x, y])?;
    let (x, y) = (&spread(x, &shape)?, &spread(y, &shape)?);
    let exponents: Vec<i64> = super::element::integers(y)?.map(|v| v as i64).collect();
    let count: usize = shape.iter().product();
    by_dtype!(dtype, T,
        int => {
            let bases = elements::<T>(x)?;
            let mul = |a: T, b| (a.mul(b) << unused) >> unused;
            let power = |i| {
                let (base, exponent) = (map::at(bases, i), map::at(&exponents, i));
                elementary::integer_pow(base, exponent, 1, mul, Int::div)
            };
            super::element::collect(&shape, dtype, (0..count).map(power))
        },
        other => Err(meaningless(dtype)),
    )
}

/// The angle of the point `(y, x)`.
pub(super) fn atan2(y: &Tensor, x: &Tensor) -> Result<Tensor> {
    inexact2(y, x, elementary::atan2, complex::atan2)
}

/// The next number after `x` towards `y`.
pub(super) fn nextafter(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let dtype = same_dtype(x, y)?;
    by_dtype!(dtype, T,
        real => map2::<T, T>(x, y, dtype, &float::nextafter),
        other => Err(meaningless(dtype)),
    )
}

/// The polynomial of `x` with `coefficients`, lowest degree first, by Horner's rule.
pub(super) fn polynomial(x: &Tensor, coefficients: &[Tensor]) -> Result<Tensor> {
    let Some((highest, rest)) = coefficients.split_last() else {
        return Err(Error::new(
            crate::error::ErrorKind::Arity,
            "at least one coefficient is needed",
        ));
    };
    let mut sum = highest.clone();
    for coefficient in rest.iter().rev() {
        sum = add(&mul(&sum, x, None)?, coefficient)?;
    }
    Ok(sum)
}
