//! Functions of complex numbers, pairs of a real and an imaginary part, in double precision: of `f32` parts the results are rounded
//! once. Formulas and special values are the interpreter's, which says where they come from.

mod exponential;
mod inverse;
mod power;
mod trigonometric;

pub use exponential::{exp, exp2, expm1, log, log1p, log2, logistic};
pub use inverse::{acos, acosh, asin, asinh, atan, atan2, atanh};
pub use power::{abs, cbrt, div, pow, rsqrt, sign, sqrt};
pub use trigonometric::{cos, cosh, sin, sinh, tan, tanh};

use super::expr::{Expr, in_double};
use super::pair::Pair;
use super::power::reciprocal_root_of_single;
use std::ops::{Add, Neg};

/// A complex number; the parts are doubles.
#[derive(Clone, Copy)]
struct Complex<'a> {
    re: Expr<'a>,
    im: Expr<'a>,
}

impl<'a> Complex<'a> {
    fn new(re: Expr<'a>, im: Expr<'a>) -> Self {
        Complex { re, im }
    }

    /// A constant.
    fn constant(self, re: f64, im: f64) -> Self {
        Complex::new(self.re.constant(re), self.im.constant(im))
    }

    /// y + ix for x + iy.
    fn exchanged(self) -> Self {
        Complex::new(self.im, self.re)
    }

    fn scale(self, factor: Expr<'a>) -> Self {
        Complex::new(self.re * factor, self.im * factor)
    }

    /// The product part by part.
    fn times(self, other: Self) -> Self {
        Complex::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }

    /// The larger size of the parts; that of a NaN beside another number is not said.
    fn largest(self) -> Expr<'a> {
        let (x, y) = (self.re.abs(), self.im.abs());
        x.gt(y).select(x, y)
    }

    fn is_infinite(self) -> Expr<'a> {
        self.re.is_infinite() | self.im.is_infinite()
    }

    fn is_nan(self) -> Expr<'a> {
        self.re.is_nan() | self.im.is_nan()
    }

    fn is_zero(self) -> Expr<'a> {
        self.re.eq(0.0) & self.im.eq(0.0)
    }

    /// The sum of the squares in two parts, of a number away from the ends of the exponent range.
    fn squared_modulus(self) -> Pair<'a> {
        let (x, y) = (self.re.abs(), self.im.abs());
        let (larger, smaller) = (x.gt(y).select(x, y), x.gt(y).select(y, x));
        let (a, b) = (
            Pair::product(larger, larger),
            Pair::product(smaller, smaller),
        );
        a.plus_pair(b)
    }

    /// The number times 2^-exponent, for which squares are in range; the exponent is -600, 0 or 600.
    fn in_range(self) -> (Self, Expr<'a>) {
        if self.re.from_single {
            return (self, self.re.constant(0.0));
        }
        let size = self.largest();
        let (high, low) = (size.gt(1e140), size.lt(1e-140));
        let choose = |of_high: f64, of_low: f64, other: f64| {
            high.select(of_high, low.select(of_low, size.constant(other)))
        };
        let factor = choose(2f64.powi(-600), 2f64.powi(600), 1.0);
        (self.scale(factor), choose(600.0, -600.0, 0.0))
    }

    /// The sum of the squares of parts of single precision, which no double is too small or too large for.
    fn square_of_single(self) -> Expr<'a> {
        self.re.fma(self.re, self.im * self.im)
    }

    /// The modulus as far as single precision has digits, if the parts are of it: that of a number on the unit circle may differ from 1.
    fn modulus_to_round(self) -> Expr<'a> {
        if !self.re.from_single {
            return self.modulus();
        }
        let square = self.square_of_single();
        let size = square * reciprocal_root_of_single(square);
        self.is_infinite().select(f64::INFINITY, size)
    }

    /// The modulus, without undue overflow; infinite when a part is, also beside a NaN.
    fn modulus(self) -> Expr<'a> {
        if self.re.from_single {
            let square = self.square_of_single();
            return self.is_infinite().select(f64::INFINITY, square.sqrt());
        }
        let (near, exponent) = self.in_range();
        let size = near.squared_modulus().sqrt().value();
        let size = size * size.constant(1.0).scale(exponent);
        let size = self.is_zero().select(0.0, size);
        self.is_infinite().select(f64::INFINITY, size)
    }
}

impl<'a> Add<f64> for Complex<'a> {
    type Output = Complex<'a>;

    fn add(self, real: f64) -> Complex<'a> {
        Complex::new(self.re + real, self.im)
    }
}

impl<'a> Add for Complex<'a> {
    type Output = Complex<'a>;

    fn add(self, other: Complex<'a>) -> Complex<'a> {
        Complex::new(self.re + other.re, self.im + other.im)
    }
}

impl<'a> Neg for Complex<'a> {
    type Output = Complex<'a>;

    fn neg(self) -> Complex<'a> {
        Complex::new(-self.re, -self.im)
    }
}

/// `if mask { a } else { b }` of both parts.
fn select<'a>(mask: Expr<'a>, a: Complex<'a>, b: Complex<'a>) -> Complex<'a> {
    Complex::new(mask.select(a.re, b.re), mask.select(a.im, b.im))
}

/// Functions of one complex number from formulas of the same names.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident $formula:path;)*) => { $(
        $(#[$doc])*
        pub fn $name(b: &mut Builder, z: [Value; 2]) -> [Value; 2] {
            in_double(b, z, |[re, im]| {
                let w = $formula(Complex::new(re, im));
                [w.re, w.im]
            })
        }
    )* };
}

use functions;
