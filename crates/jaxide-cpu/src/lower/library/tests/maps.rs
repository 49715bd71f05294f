//! Functions of elements, exactly as the interpreter has them.

use super::{Numbers, check_map};
use crate::lower::functions::Function;
use crate::lower::graph::MapOp;
use jaxide_core::parse;
use jaxide_core::prims::{self, Prim, RoundingMethod};
use jaxide_core::{DType, Tensor, eval};

/// Complex numbers are computed in lanes.
const FLOATS: [DType; 7] = [
    DType::F8E4M3Fn,
    DType::F8E5M2,
    DType::F4E2M1Fn,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

/// Numbers, and the special values among them.
fn samples(numbers: &mut Numbers, dtype: DType, count: usize) -> Tensor {
    let x = numbers.array(dtype, &[count]);
    let special = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        1.0,
        -1.0,
        30.0,
        1e-30,
        -7.0,
    ];
    let mut bytes = x.bytes().to_vec();
    let mut converted = vec![0; special.len() * dtype.size()];
    super::super::elements::convert(
        DType::F64,
        bytemuck::cast_slice(&special),
        dtype,
        &mut converted,
    );
    let shift = (numbers.next() % 7) as usize * dtype.size();
    bytes[shift..shift + converted.len()].copy_from_slice(&converted);
    Tensor::from_bytes(&[count], dtype, &bytes).unwrap()
}

/// Checks an operation on all floating-point types that the interpreter has it for.
fn check_floats(op: MapOp, prim: impl Into<Prim>, arity: usize) {
    let prim = prim.into();
    let mut numbers = Numbers(arity as u64);
    let mut types = 0;
    for dtype in FLOATS {
        let inputs: Vec<Tensor> = (0..arity)
            .map(|_| samples(&mut numbers, dtype, 600))
            .collect();
        if eval::eval_eqn(&prim, &inputs).is_ok() {
            check_map(op, prim.clone(), &inputs);
            types += 1;
        }
    }
    assert!(types >= 2, "{op:?} has a meaning for floats");
}

#[test]
fn functions_of_one_argument() {
    let away = prims::Round {
        rounding_method: RoundingMethod::AwayFromZero,
    };
    let even = prims::Round {
        rounding_method: RoundingMethod::ToNearestEven,
    };
    let cases: Vec<(MapOp, Prim)> = vec![
        (MapOp::Neg, prims::Neg.into()),
        (MapOp::Sign, prims::Sign.into()),
        (MapOp::Abs, prims::Abs.into()),
        (MapOp::Floor, prims::Floor.into()),
        (MapOp::Ceil, prims::Ceil.into()),
        (MapOp::RoundAway, away.into()),
        (MapOp::RoundEven, even.into()),
        (MapOp::IsFinite, prims::IsFinite.into()),
        (MapOp::Square, prims::Square.into()),
        (MapOp::OneMinusSquare, prims::OneMinusSquare.into()),
        (MapOp::IntegerPow(3), prims::IntegerPow { y: 3 }.into()),
        (MapOp::IntegerPow(-2), prims::IntegerPow { y: -2 }.into()),
        (
            MapOp::ReducePrecision {
                exponent: 4,
                mantissa: 3,
            },
            prims::ReducePrecision {
                exponent_bits: 4,
                mantissa_bits: 3,
            }
            .into(),
        ),
    ];
    for (op, prim) in cases {
        check_floats(op, prim, 1);
    }
    for &function in Function::ALL {
        let names = Prim::ALL.iter().map(|prim| prim.name);
        let prims = names.filter_map(|name| {
            let text = format!("{{ lambda ; a:f32[]. let b:f32[] = {name} a in (b,) }}");
            Some(parse(&text).ok()?.jaxpr.eqns[0].prim.clone())
        });
        let mut prims = prims.filter(|prim| Function::of(prim) == Some(function));
        let prim = prims.next().expect("a primitive per function");
        check_floats(MapOp::Function(function), prim, 1);
    }
}

#[test]
fn functions_of_two_and_three_arguments() {
    let cases: Vec<(MapOp, Prim, usize)> = vec![
        (MapOp::Add, prims::Add.into(), 2),
        (MapOp::Sub, prims::Sub.into(), 2),
        (MapOp::Mul, prims::Mul { out_dtype: None }.into(), 2),
        (MapOp::Div, prims::Div.into(), 2),
        (MapOp::Rem, prims::Rem.into(), 2),
        (MapOp::Max, prims::Max.into(), 2),
        (MapOp::Min, prims::Min.into(), 2),
        (MapOp::Pow, prims::Pow.into(), 2),
        (MapOp::Atan2, prims::Atan2.into(), 2),
        (MapOp::NextAfter, prims::NextAfter.into(), 2),
        (MapOp::Eq, prims::Equal.into(), 2),
        (MapOp::Ne, prims::NotEqual.into(), 2),
        (MapOp::Lt, prims::Less.into(), 2),
        (MapOp::Le, prims::LessEqual.into(), 2),
        (MapOp::Gt, prims::Greater.into(), 2),
        (MapOp::Ge, prims::GreaterEqual.into(), 2),
        (MapOp::EqTotal, prims::EqualTotal.into(), 2),
        (MapOp::LtTotal, prims::LessTotal.into(), 2),
        (MapOp::LeTotal, prims::LessEqualTotal.into(), 2),
        (MapOp::Igamma, prims::Igamma.into(), 2),
        (MapOp::Igammac, prims::Igammac.into(), 2),
        (MapOp::IgammaGradA, prims::IgammaGradA.into(), 2),
        (MapOp::Polygamma, prims::Polygamma.into(), 2),
        (MapOp::Zeta, prims::Zeta.into(), 2),
        (
            MapOp::RegularizedIncompleteBeta,
            prims::RegularizedIncompleteBeta.into(),
            3,
        ),
        (MapOp::Clamp, prims::Clamp.into(), 3),
    ];
    for (op, prim, arity) in cases {
        check_floats(op, prim, arity);
    }
}

#[test]
fn powers_with_integers() {
    let mut numbers = Numbers(5);
    for base in [DType::I4, DType::U8, DType::I32] {
        for exponent in [DType::I32, DType::U8] {
            let inputs = [numbers.array(base, &[40]), numbers.array(exponent, &[40])];
            check_map(MapOp::Pow, prims::Pow, &inputs);
        }
    }
    for y in [0, 3, -1] {
        check_map(
            MapOp::IntegerPow(y),
            prims::IntegerPow { y },
            &[numbers.array(DType::I16, &[9])],
        );
    }
}

#[test]
fn conversions() {
    let mut numbers = Numbers(6);
    let keyless = |dtype: &&DType| !dtype.is_key() && **dtype != DType::Float0;
    for &from in DType::ALL.iter().filter(keyless) {
        let x = if from.is_float() {
            samples(&mut numbers, from, 30)
        } else {
            numbers.array(from, &[30])
        };
        for &new_dtype in DType::ALL.iter().filter(keyless) {
            let convert = prims::ConvertElementType {
                new_dtype,
                weak_type: false,
            };
            check_map(MapOp::Convert, convert, std::slice::from_ref(&x));
        }
    }
}

#[test]
fn the_same_bits() {
    let mut numbers = Numbers(7);
    for (from, new_dtype) in [
        (DType::F16, DType::U16),
        (DType::I16, DType::BF16),
        (DType::U8, DType::F8E4M3Fn),
    ] {
        check_map(
            MapOp::Bitcast,
            prims::BitcastConvertType { new_dtype },
            &[numbers.array(from, &[11])],
        );
    }
}

#[test]
fn no_elements() {
    for dtype in FLOATS {
        check_map(
            MapOp::Function(Function::Exp),
            prims::Exp { accuracy: None },
            &[Tensor::zeros(&[3, 0], dtype).unwrap()],
        );
    }
}
