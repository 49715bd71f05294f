//! The functions of one number, each named once: a row says all that the compiler must know of one.

use crate::lanes::{Builder, Value, math};
use jaxide_core::eval::numerics::{complex, elementary, special};
use jaxide_core::prims::Prim;
use num_complex::Complex;

/// A formula in lanes, of which all vector widths are made.
type Lanes = fn(&mut Builder, Value) -> Value;

/// `library` is said where there is none: the function is then a call of the runtime, which is never fused.
macro_rules! lanes {
    (library) => {
        None
    };
    ($formula:expr) => {
        Some($formula as Lanes)
    };
}

/// A formula of complex numbers, where one is given.
macro_rules! complex_formula {
    () => {
        None
    };
    ($formula:expr) => {
        Some($formula)
    };
}

macro_rules! functions {
    ($($name:ident $cost:literal $lanes:tt $real:path $(, $complex:expr)?;)*) => {
        /// A function of one real number, or one complex number: one variant per primitive.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Function {
            $(#[doc = concat!("`Prim::", stringify!($name), "`.")] $name,)*
        }

        impl Function {
            /// All of them.
            #[cfg(test)]
            pub(crate) const ALL: &[Function] = &[$(Function::$name),*];

            /// The function that a primitive is, if it is one.
            pub(crate) fn of(prim: &Prim) -> Option<Self> {
                $(if matches!(prim, Prim::$name(_)) {
                    return Some(Function::$name);
                })*
                None
            }

            /// How many additions take as long.
            pub(crate) fn cost(self) -> usize {
                match self {
                    $(Function::$name => $cost,)*
                }
            }

            /// Its formula in lanes, before the result is rounded to a narrower format.
            pub(crate) fn lanes(self) -> Option<Lanes> {
                match self {
                    $(Function::$name => lanes! $lanes,)*
                }
            }

            /// What it gives for a real number: the interpreter's formula.
            pub(crate) fn real(self) -> fn(f64) -> f64 {
                match self {
                    $(Function::$name => $real,)*
                }
            }

            /// What it gives for a complex number, if it is defined there.
            pub(crate) fn complex(self) -> Option<fn(Complex<f64>) -> Complex<f64>> {
                match self {
                    $(Function::$name => complex_formula!($($complex)?),)*
                }
            }
        }

        /// The primitives that are such functions, as a pattern.
        macro_rules! function_of_one_number {
            () => {
                $(Prim::$name(_))|*
            };
        }
    };
}

functions! {
    // Primitive, cost, lanes, real numbers, complex numbers.
    Exp 16 (math::exp) elementary::exp, complex::exp;
    Exp2 16 (math::exp2) elementary::exp2, complex::exp2;
    Expm1 24 (math::expm1) elementary::expm1, complex::expm1;
    Log 16 (math::log) elementary::log, complex::log;
    Log2 16 (math::log2) elementary::log2, complex::log2;
    Log1p 24 (math::log1p) elementary::log1p, complex::log1p;
    Sqrt 6 (Builder::sqrt) elementary::sqrt, complex::sqrt;
    Rsqrt 6 (math::rsqrt) elementary::rsqrt, complex::rsqrt;
    Cbrt 24 (math::cbrt) elementary::cbrt, |z| complex::pow(z, (1.0 / 3.0).into());
    Sin 16 (math::sin) elementary::sin, complex::sin;
    Cos 16 (math::cos) elementary::cos, complex::cos;
    Tan 24 (math::tan) elementary::tan, complex::tan;
    Asin 24 (math::asin) elementary::asin, complex::asin;
    Acos 24 (math::acos) elementary::acos, complex::acos;
    Atan 24 (math::atan) elementary::atan, complex::atan;
    Sinh 24 (math::sinh) elementary::sinh, complex::sinh;
    Cosh 24 (math::cosh) elementary::cosh, complex::cosh;
    Tanh 16 (math::tanh) elementary::tanh, complex::tanh;
    Asinh 24 (math::asinh) elementary::asinh, complex::asinh;
    Acosh 24 (math::acosh) elementary::acosh, complex::acosh;
    Atanh 24 (math::atanh) elementary::atanh, complex::atanh;
    Logistic 16 (math::logistic) elementary::logistic, complex::logistic;
    Erf 24 (math::erf) elementary::erf;
    Erfc 24 (math::erfc) elementary::erfc;
    ErfInv 24 (math::erf_inv) elementary::erf_inv;
    Lgamma 60 (math::lgamma) special::lgamma;
    Digamma 60 (math::digamma) special::digamma;
    BesselI0e 60 (library) special::bessel_i0e;
    BesselI1e 60 (library) special::bessel_i1e;
}

#[allow(
    clippy::single_component_path_imports,
    reason = "a macro has a path through its import alone"
)]
pub(crate) use function_of_one_number;
