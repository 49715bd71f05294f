//! The functions of one number, each named once: a row says all that the compiler must know of one.

use crate::lanes::{Builder, Value, math};
use jaxide_core::eval::numerics::{elementary, special};
use jaxide_core::prims::Prim;

/// A formula in lanes, of which all vector widths are made.
type Lanes = fn(&mut Builder, Value) -> Value;

/// A formula in lanes of the two parts of a complex number.
type ComplexLanes = fn(&mut Builder, [Value; 2]) -> [Value; 2];

/// A formula of complex numbers, where there is one.
macro_rules! of_complex_numbers {
    () => {
        None
    };
    ($formula:expr) => {
        Some($formula as ComplexLanes)
    };
}

macro_rules! functions {
    ($($name:ident $cost:literal ($lanes:expr) $real:path $(, $complex_lanes:expr)?;)*) => {
        /// A function of one real number, or one complex number: one variant per primitive.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Function {
            $(#[doc = concat!("`Prim::", stringify!($name), "`.")] $name,)*
        }

        impl Function {
            /// All of them.
            #[cfg(test)]
            pub(crate) const ALL: &[Function] = &[$(Function::$name),*];

            /// The name of its primitive's variant.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Function::$name => stringify!($name),)*
                }
            }

            /// The function of a name.
            pub(crate) fn by_name(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(Function::$name),)*
                    _ => None,
                }
            }

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

            /// Its formula in lanes of `F32` or `F64`, before the result is rounded to a narrower format.
            pub(crate) fn lanes(self) -> Lanes {
                match self {
                    $(Function::$name => $lanes,)*
                }
            }

            /// What it gives for a real number: the interpreter's formula.
            pub(crate) fn real(self) -> fn(f64) -> f64 {
                match self {
                    $(Function::$name => $real,)*
                }
            }

            /// Its formula in lanes of the parts of complex numbers, if it is defined there.
            pub(crate) fn complex_lanes(self) -> Option<ComplexLanes> {
                match self {
                    $(Function::$name => of_complex_numbers!($($complex_lanes)?),)*
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
    // Primitive, cost, lanes, real numbers; the same of complex numbers.
    Exp 16 (math::exp) elementary::exp, math::complex::exp;
    Exp2 16 (math::exp2) elementary::exp2, math::complex::exp2;
    Expm1 24 (math::expm1) elementary::expm1, math::complex::expm1;
    Log 16 (math::log) elementary::log, math::complex::log;
    Log2 16 (math::log2) elementary::log2, math::complex::log2;
    Log1p 24 (math::log1p) elementary::log1p, math::complex::log1p;
    Sqrt 6 (Builder::sqrt) elementary::sqrt, math::complex::sqrt;
    Rsqrt 6 (math::rsqrt) elementary::rsqrt, math::complex::rsqrt;
    Cbrt 24 (math::cbrt) elementary::cbrt, math::complex::cbrt;
    Sin 16 (math::sin) elementary::sin, math::complex::sin;
    Cos 16 (math::cos) elementary::cos, math::complex::cos;
    Tan 24 (math::tan) elementary::tan, math::complex::tan;
    Asin 24 (math::asin) elementary::asin, math::complex::asin;
    Acos 24 (math::acos) elementary::acos, math::complex::acos;
    Atan 24 (math::atan) elementary::atan, math::complex::atan;
    Sinh 24 (math::sinh) elementary::sinh, math::complex::sinh;
    Cosh 24 (math::cosh) elementary::cosh, math::complex::cosh;
    Tanh 16 (math::tanh) elementary::tanh, math::complex::tanh;
    Asinh 24 (math::asinh) elementary::asinh, math::complex::asinh;
    Acosh 24 (math::acosh) elementary::acosh, math::complex::acosh;
    Atanh 24 (math::atanh) elementary::atanh, math::complex::atanh;
    Logistic 16 (math::logistic) elementary::logistic, math::complex::logistic;
    Erf 24 (math::erf) elementary::erf;
    Erfc 24 (math::erfc) elementary::erfc;
    ErfInv 24 (math::erf_inv) elementary::erf_inv;
    Lgamma 60 (math::lgamma) special::lgamma;
    Digamma 60 (math::digamma) special::digamma;
    BesselI0e 24 (math::bessel_i0e) special::bessel_i0e;
    BesselI1e 24 (math::bessel_i1e) special::bessel_i1e;
}

#[allow(
    clippy::single_component_path_imports,
    reason = "a macro has a path through its import alone"
)]
pub(crate) use function_of_one_number;
