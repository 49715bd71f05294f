//! Functions of complex numbers.

use super::{Function, binary, holds, ternary, unary};
use crate::lower::graph::MapOp;
use crate::lower::library::elements::C128;
use jaxide_core::DType;
use jaxide_core::eval::numerics::{complex, elementary};
use num_complex::Complex;
use std::cmp::Ordering;

/// Real numbers of complex ones.
pub(super) fn part(op: MapOp) -> Option<Function<C128, f64>> {
    match op {
        MapOp::Abs => unary(complex::abs),
        MapOp::Real => unary(|z: C128| z.re),
        MapOp::Imag => unary(|z: C128| z.im),
        _ => None,
    }
}

/// Truth values.
pub(super) fn predicate(op: MapOp) -> Option<Function<C128, i128>> {
    match op {
        MapOp::IsFinite => unary(|z: C128| z.is_finite().into()),
        MapOp::Eq | MapOp::Ne | MapOp::Lt | MapOp::Le | MapOp::Gt | MapOp::Ge => {
            binary(move |x, y| holds(op, order(x, y)).into())
        }
        MapOp::EqTotal | MapOp::LtTotal | MapOp::LeTotal => binary(move |x: C128, y: C128| {
            holds(op, Some(x.re.total_cmp(&y.re).then(x.im.total_cmp(&y.im)))).into()
        }),
        _ => None,
    }
}

/// Real part first; unordered when NaN decides.
fn order(x: C128, y: C128) -> Option<Ordering> {
    match x.re.partial_cmp(&y.re) {
        Some(Ordering::Equal) => x.im.partial_cmp(&y.im),
        other => other,
    }
}

fn larger(x: C128, y: C128) -> C128 {
    if order(x, y) == Some(Ordering::Greater) {
        x
    } else {
        y
    }
}

fn smaller(x: C128, y: C128) -> C128 {
    if order(x, y) == Some(Ordering::Less) {
        x
    } else {
        y
    }
}

/// Functions computed in `f64` parts; `dtype` is the type that arguments and results have.
pub(super) fn function(op: MapOp, dtype: DType) -> Option<Function<C128, C128>> {
    match op {
        MapOp::Neg => unary(|z: C128| -z),
        MapOp::Sign => unary(complex::sign),
        MapOp::Function(function) => unary(function.complex()?),
        MapOp::Square => unary(complex::square),
        MapOp::OneMinusSquare => unary(|z: C128| (1.0 - z) * (1.0 + z)),
        MapOp::Conj => unary(|z: C128| z.conj()),
        MapOp::IntegerPow(y) => unary(move |z: C128| {
            // Every product is rounded: where one overflows, its parts are infinite or NaN in that type.
            let mul = |a, b| {
                let product = complex::mul(a, b);
                if dtype == DType::C64 {
                    complex::widen(complex::round_from::<f32>(product))
                } else {
                    product
                }
            };
            elementary::integer_pow(z, y, Complex::new(1.0, 0.0), mul, complex::div)
        }),
        MapOp::Add => binary(|x: C128, y| x + y),
        MapOp::Sub => binary(|x: C128, y| x - y),
        MapOp::Mul => binary(complex::mul),
        MapOp::Div => binary(complex::div),
        MapOp::Pow => binary(complex::pow),
        MapOp::Atan2 => binary(complex::atan2),
        MapOp::Max => binary(larger),
        MapOp::Min => binary(smaller),
        MapOp::Clamp => ternary(|low, x, high| smaller(larger(x, low), high)),
        // Without meaning for complex numbers, or with other results.
        MapOp::Abs
        | MapOp::Real
        | MapOp::Imag
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
        | MapOp::Floor
        | MapOp::Ceil
        | MapOp::RoundAway
        | MapOp::RoundEven
        | MapOp::Not
        | MapOp::Popcount
        | MapOp::Clz
        | MapOp::ReducePrecision { .. }
        | MapOp::MulHi
        | MapOp::Rem
        | MapOp::NextAfter
        | MapOp::Complex
        | MapOp::And
        | MapOp::Or
        | MapOp::Xor
        | MapOp::ShiftLeft
        | MapOp::ShiftRightArithmetic
        | MapOp::ShiftRightLogical
        | MapOp::Igamma
        | MapOp::Igammac
        | MapOp::IgammaGradA
        | MapOp::Polygamma
        | MapOp::Zeta
        | MapOp::RegularizedIncompleteBeta
        | MapOp::Select
        | MapOp::Convert
        | MapOp::Bitcast
        | MapOp::Threefry { .. }
        | MapOp::KeyFromWords
        | MapOp::KeyWord(_) => None,
    }
}
