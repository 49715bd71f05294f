//! The numbers that matrices are made of.

use std::ops::{Add, Mul, Neg, Sub};

use jaxide_core::eval::numerics::linalg::{Entry, Field};
use num_complex::Complex;

use crate::runtime::matmul::Element;

/// `f32`, `f64`, and complex numbers over them.
pub trait Scalar:
    Element
    + Entry
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// One.
    const ONE: Self;
    /// Not a number, in both components.
    const NAN: Self;
    /// Whether the type is a complex one.
    const COMPLEX: bool;
    /// The smallest normal number over the distance from 1 to the next: smaller ones, divided by each
    /// other, may have lost digits.
    const TINY: f64;

    /// The complex conjugate.
    fn conj(self) -> Self;
    /// The real part.
    fn re(self) -> f64;
    /// The imaginary part.
    fn im(self) -> f64;
    /// The nearest number with these components; the second is ignored by real types.
    fn from_components(re: f64, im: f64) -> Self;
    /// |re| + |im|, by which LAPACK chooses pivots.
    fn abs1(self) -> f64;
    /// Divides all numbers by one; complex ones by multiplication with its reciprocal.
    fn divide(numbers: &mut [Self], divisor: Self);
    /// What [`divide`](Self::divide) makes of one number.
    fn divided(self, divisor: Self) -> Self;

    /// Squared modulus, without overflow for single precision.
    #[inline(always)]
    fn abs_square(self) -> f64 {
        self.re() * self.re() + self.im() * self.im()
    }
}

/// `f32` and `f64`.
pub trait RealScalar: Scalar<Real = Self> {
    /// `self * factor + term`, rounded once; a call of a function where the instruction set has no such instruction.
    fn times_plus(self, factor: Self, term: Self) -> Self;
}

impl RealScalar for f32 {
    #[inline(always)]
    fn times_plus(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
}

impl RealScalar for f64 {
    #[inline(always)]
    fn times_plus(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
}

macro_rules! scalars {
    ($($real:ty)*) => { $(
        impl Scalar for $real {
            const ONE: Self = 1.0;
            const NAN: Self = <$real>::NAN;
            const COMPLEX: bool = false;
            const TINY: f64 = (<$real>::MIN_POSITIVE / <$real>::EPSILON) as f64;

            #[inline(always)]
            fn conj(self) -> Self {
                self
            }
            #[inline(always)]
            fn re(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn im(self) -> f64 {
                0.0
            }
            #[inline(always)]
            fn from_components(re: f64, _: f64) -> Self {
                re as $real
            }
            #[inline(always)]
            fn abs1(self) -> f64 {
                f64::from(self.abs())
            }
            #[inline(always)]
            fn divide(numbers: &mut [Self], divisor: Self) {
                for x in numbers {
                    *x /= divisor;
                }
            }
            #[inline(always)]
            fn divided(self, divisor: Self) -> Self {
                self / divisor
            }
        }

        impl Scalar for Complex<$real> {
            const ONE: Self = Complex { re: 1.0, im: 0.0 };
            const NAN: Self = Complex { re: <$real>::NAN, im: <$real>::NAN };
            const COMPLEX: bool = true;
            const TINY: f64 = (<$real>::MIN_POSITIVE / <$real>::EPSILON) as f64;

            #[inline(always)]
            fn conj(self) -> Self {
                Complex { re: self.re, im: -self.im }
            }
            #[inline(always)]
            fn re(self) -> f64 {
                f64::from(self.re)
            }
            #[inline(always)]
            fn im(self) -> f64 {
                f64::from(self.im)
            }
            #[inline(always)]
            fn from_components(re: f64, im: f64) -> Self {
                Complex { re: re as $real, im: im as $real }
            }
            #[inline(always)]
            fn abs1(self) -> f64 {
                f64::from(self.re.abs()) + f64::from(self.im.abs())
            }
            #[inline(always)]
            fn divide(numbers: &mut [Self], divisor: Self) {
                let by = Self::round_from(reciprocal(divisor.widen()));
                for x in numbers {
                    // Written out: what `num_complex` has is not always inlined.
                    let re = x.re * by.re - x.im * by.im;
                    x.im = x.re * by.im + x.im * by.re;
                    x.re = re;
                }
            }
            #[inline(always)]
            fn divided(self, divisor: Self) -> Self {
                let mut number = [self];
                Self::divide(&mut number, divisor);
                number[0]
            }
        }
    )* };
}
scalars!(f32 f64);

/// Whether the type has single precision.
pub(super) fn is_single<T: Scalar<Real: RealScalar>>() -> bool {
    size_of::<T::Real>() == size_of::<f32>()
}

/// 1/z, without overflow on the way.
#[inline(always)]
pub(super) fn reciprocal(z: Complex<f64>) -> Complex<f64> {
    let square = z.norm_sqr();
    // Nothing that numbers of common sizes mislead, and one division.
    if (1e-280..1e280).contains(&square) {
        let scale = 1.0 / square;
        Complex::new(z.re * scale, -z.im * scale)
    } else {
        Complex::new(1.0, 0.0).over(z)
    }
}
