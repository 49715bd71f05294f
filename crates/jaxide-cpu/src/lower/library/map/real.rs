//! Functions of real numbers.

use super::{Function, binary, holds, ternary, unary};
use crate::lower::graph::MapOp;
use crate::lower::library::elements::by_dtype;
use jaxide_core::DType;
use jaxide_core::eval::numerics::float::{self, Real};
use jaxide_core::eval::numerics::{elementary, special};

/// Truth values of a number or of two.
pub(super) fn predicate(op: MapOp) -> Option<Function<f64, i128>> {
    match op {
        MapOp::IsFinite => unary(|x: f64| x.is_finite().into()),
        MapOp::Eq | MapOp::Ne | MapOp::Lt | MapOp::Le | MapOp::Gt | MapOp::Ge => {
            binary(move |x: f64, y: f64| holds(op, x.partial_cmp(&y)).into())
        }
        MapOp::EqTotal | MapOp::LtTotal | MapOp::LeTotal => {
            binary(move |x: f64, y| holds(op, Some(x.total_cmp(&y))).into())
        }
        _ => None,
    }
}

/// Functions computed in `f64`; `dtype` is the type that arguments and results have.
pub(super) fn function(op: MapOp, dtype: DType) -> Option<Function<f64, f64>> {
    match op {
        MapOp::Neg => unary(|x: f64| -x),
        MapOp::Sign => unary(elementary::sign),
        MapOp::Abs => unary(elementary::abs),
        MapOp::Floor => unary(elementary::floor),
        MapOp::Ceil => unary(elementary::ceil),
        MapOp::RoundAway => unary(elementary::round_half_away),
        MapOp::RoundEven => unary(elementary::round_half_even),
        MapOp::Function(function) => unary(function.real()),
        MapOp::Square => unary(|x: f64| x * x),
        MapOp::OneMinusSquare => unary(|x: f64| (1.0 - x) * (1.0 + x)),
        MapOp::Conj | MapOp::Real => unary(|x: f64| x),
        MapOp::Imag => unary(|_: f64| 0.0),
        MapOp::IntegerPow(y) => {
            unary(move |x: f64| elementary::integer_pow(x, y, 1.0, |a, b| a * b, |a, b| a / b))
        }
        MapOp::ReducePrecision { exponent: 0, .. } => None,
        MapOp::ReducePrecision { exponent, mantissa } => {
            reduce_precision(dtype, exponent, mantissa)
        }
        MapOp::Add => binary(|x: f64, y| x + y),
        MapOp::Sub => binary(|x: f64, y| x - y),
        MapOp::Mul => binary(|x: f64, y| x * y),
        MapOp::Div => binary(|x: f64, y| x / y),
        MapOp::Rem => binary(elementary::rem),
        MapOp::Max => binary(elementary::max),
        MapOp::Min => binary(elementary::min),
        MapOp::Pow => binary(elementary::pow),
        MapOp::Atan2 => binary(elementary::atan2),
        MapOp::NextAfter => typed(dtype, Typed::NextAfter),
        MapOp::Igamma => binary(special::igamma),
        MapOp::Igammac => binary(special::igammac),
        MapOp::IgammaGradA => typed(dtype, Typed::IgammaGradA),
        MapOp::Polygamma => typed(dtype, Typed::Polygamma),
        MapOp::Zeta => binary(special::zeta),
        MapOp::RegularizedIncompleteBeta => ternary(special::regularized_incomplete_beta),
        MapOp::Clamp => ternary(|low, x, high| elementary::min(elementary::max(x, low), high)),
        // Of integers, of complex numbers, of keys, or with truth values as results.
        MapOp::Not
        | MapOp::Popcount
        | MapOp::Clz
        | MapOp::MulHi
        | MapOp::Complex
        | MapOp::And
        | MapOp::Or
        | MapOp::Xor
        | MapOp::ShiftLeft
        | MapOp::ShiftRightArithmetic
        | MapOp::ShiftRightLogical
        | MapOp::IsFinite
        | MapOp::Eq
        | MapOp::Ne
        | MapOp::Lt
        | MapOp::Le
        | MapOp::Gt
        | MapOp::Ge
        | MapOp::EqTotal
        | MapOp::LtTotal
        | MapOp::LeTotal
        | MapOp::Select
        | MapOp::Convert
        | MapOp::Bitcast
        | MapOp::Threefry { .. }
        | MapOp::KeyFromWords
        | MapOp::KeyWord(_) => None,
    }
}

fn reduce_precision(dtype: DType, exponent: u32, mantissa: u32) -> Option<Function<f64, f64>> {
    by_dtype!(dtype, T,
        int => None,
        small => unary(move |x: f64| float::reduce_precision(x, exponent, mantissa)),
        real => unary(move |x| float::reduce_precision(<T as Real>::round_from(x), exponent, mantissa).to_f64()),
        complex => None,
        other => None,
    )
}

/// Functions of two numbers whose meaning depends on the type.
#[derive(Clone, Copy)]
enum Typed {
    NextAfter,
    IgammaGradA,
    Polygamma,
}

fn typed(dtype: DType, which: Typed) -> Option<Function<f64, f64>> {
    by_dtype!(dtype, T,
        int => None,
        small => {
            let f: fn(f32, f32) -> f32 = match which {
                Typed::NextAfter => return None,
                Typed::IgammaGradA => special::igamma_grad_a,
                Typed::Polygamma => special::polygamma,
            };
            binary(move |x, y| f(x as f32, y as f32).into())
        },
        real => {
            let f: fn(T, T) -> T = match which {
                Typed::NextAfter => float::nextafter,
                Typed::IgammaGradA => special::igamma_grad_a,
                Typed::Polygamma => special::polygamma,
            };
            binary(move |x, y| f(Real::round_from(x), Real::round_from(y)).to_f64())
        },
        complex => None,
        other => None,
    )
}
