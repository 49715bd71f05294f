//! What functions here do with their operands: promotion, constants beside them, and terms of tangents.

use jaxide_core::{DType, Error, Literal, Result, Scalar, Tensor};

use crate::array::{Array, Repr};
use crate::numpy::{self, promote_inexact};
use crate::trace::library::library_call;
use crate::trace::{OrRaise, raise};

/// Operands of fitting ranks with their common element type, at least float.
///
/// # Panics
/// When there is none, or shapes do not broadcast.
#[track_caller]
pub(super) fn inexact<const N: usize>(operation: &str, operands: [Array; N]) -> [Array; N] {
    promote_inexact(operation, operands.each_ref())
}

/// Operands as they are.
pub(super) fn as_given<const N: usize>(_operation: &str, operands: [Array; N]) -> [Array; N] {
    operands
}

/// Whether both are the same number of the program.
pub(super) fn is_same_number(x: &Array, y: &Array) -> bool {
    matches!((&x.0, &y.0), (Repr::Number(x), Repr::Number(y)) if x == y)
}

/// A call of a function of the library, of which some operands are constants inside it.
#[track_caller]
pub(super) fn called<const N: usize>(
    name: &str,
    of: &str,
    operands: [&Array; N],
    inside: [bool; N],
    body: impl Fn([Array; N]) -> Array,
) -> Array {
    let given = (0..N).filter(|&index| !inside[index]);
    let given: Vec<Array> = given.map(|index| operands[index].clone()).collect();
    let mut results = library_call(name, &format!("{of} {inside:?}"), &given, |own| {
        let mut own = own.iter();
        let all = std::array::from_fn(|index| {
            let given = if inside[index] { None } else { own.next() };
            given.unwrap_or(operands[index]).clone()
        });
        vec![body(all)]
    });
    results.remove(0)
}

/// As [`inexact`], of what is not complex.
///
/// # Panics
/// When an operand is complex too.
#[track_caller]
pub(super) fn floats<const N: usize>(operation: &str, operands: [Array; N]) -> [Array; N] {
    if let Some(complex) = operands.iter().find(|x| x.dtype().is_complex()) {
        let error = format!(
            "it is not defined for complex numbers, and {} is given",
            complex.aval()
        );
        raise(Error::dtype(error).in_operation(operation));
    }
    inexact(operation, operands)
}

/// Only `f32` and `f64` have such a function.
///
/// # Panics
/// When `x` is of another element type.
#[track_caller]
pub(super) fn check_f32_or_f64(operation: &str, x: &Array) {
    if !matches!(x.dtype(), DType::F32 | DType::F64) {
        let error = format!("it is defined for f32 and f64, and {} is given", x.aval());
        raise(
            Error::dtype(error)
                .in_operation(operation)
                .note("convert it with `astype`"),
        );
    }
}

/// A number with the element type of `x`, and rounded to it.
pub(super) fn constant(x: &Array, value: f64) -> Array {
    let dtype = x.dtype();
    let scalar = if dtype.is_complex() {
        Scalar::Complex(value, 0.0)
    } else {
        Scalar::Float(value)
    };
    let bytes = scalar.to_bytes(dtype).ok();
    let rounded = bytes.and_then(|bytes| Scalar::from_bytes(dtype, &bytes));
    Array(Repr::Number(Literal {
        value: rounded.unwrap_or(scalar),
        dtype,
        weak_type: x.weak_type() && x.ndim() == 0,
    }))
}

/// An array like `x`, filled with a number; a weak scalar of a weak one.
pub(super) fn filled(x: &Array, value: f64) -> Array {
    if x.ndim() == 0 {
        constant(x, value)
    } else {
        numpy::full_like(x, value)
    }
}

/// An array of numbers with element type `dtype`.
///
/// # Panics
/// When that is no type of numbers.
#[track_caller]
pub(super) fn numbers(values: &[f64], dtype: DType) -> Array {
    let scalar = |&value: &f64| {
        if dtype.is_complex() {
            Scalar::Complex(value, 0.0)
        } else {
            Scalar::Float(value)
        }
    };
    let bytes: Result<Vec<_>> = values
        .iter()
        .map(|value| scalar(value).to_bytes(dtype))
        .collect();
    let bytes = bytes.or_raise().concat();
    Array::from(Tensor::from_bytes(&[values.len()], dtype, &bytes).or_raise())
}

/// The distance from 1 to the next larger number of an element type.
pub(super) fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        DType::F64 | DType::C128 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    }
}

/// The largest number of an element type.
pub(super) fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 65504.0,
        DType::BF16 => 3.389_531_389_251_535_5e38,
        DType::F64 | DType::C128 => f64::MAX,
        _ => f64::from(f32::MAX),
    }
}

/// The smallest positive normal number of an element type.
pub(super) fn smallest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-14),
        DType::F64 | DType::C128 => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    }
}

/// The tangent of `result`: the sum of tangents of operands times the slopes in them. Integers have none.
#[track_caller]
pub(super) fn tangent_of(result: &Array, terms: &[(&Array, &dyn Fn() -> Array)]) -> Array {
    let mut sum: Option<Array> = None;
    for (tangent, slope) in terms {
        if tangent.dtype() == DType::Float0 {
            continue;
        }
        let term = slope() * *tangent;
        sum = Some(match sum {
            Some(sum) => sum + term,
            None => term,
        });
    }
    let sum = sum.unwrap_or_else(|| numpy::full_like(result, 0.0));
    numpy::broadcast_to(&sum, result.shape()).astype(result.dtype())
}
