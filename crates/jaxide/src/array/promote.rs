//! The element type of a result from those of its operands, as `jax.numpy` promotes.
//!
//! Types form a lattice; the result is the smallest that all operands reach. Numbers without a type of their own (weak
//! types) sit below the sized types of their kind, so that they yield to them. Unless an operand has 64 bits, results
//! have at most 32.

use jaxide_core::prims::ConvertElementType;
use jaxide_core::{DType, Error, Literal, Result, Scalar};

use super::{Array, Repr};
use crate::trace::{bind_one, raise};

/// A point of the lattice: an element type, or the weak number of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    Type(DType),
    WeakInt,
    WeakFloat,
    WeakComplex,
}

impl Point {
    fn of(dtype: DType, weak: bool) -> Point {
        match dtype {
            _ if !weak => Point::Type(dtype),
            dtype if dtype.is_integer() => Point::WeakInt,
            dtype if dtype.is_float() => Point::WeakFloat,
            dtype if dtype.is_complex() => Point::WeakComplex,
            dtype => Point::Type(dtype),
        }
    }

    /// The next larger points.
    fn above(self) -> &'static [Point] {
        use DType as D;
        use Point::{Type as T, WeakComplex, WeakFloat, WeakInt};
        match self {
            T(D::Bool) => &[WeakInt],
            WeakInt => &[T(D::U2), T(D::I2), T(D::U4), T(D::I4), T(D::U8), T(D::I8)],
            T(D::U2) => &[T(D::U4), T(D::I4)],
            T(D::U4) => &[T(D::U8), T(D::I8)],
            T(D::I2) => &[T(D::I4)],
            T(D::I4) => &[T(D::I8)],
            T(D::U8) => &[T(D::U16), T(D::I16)],
            T(D::U16) => &[T(D::U32), T(D::I32)],
            T(D::U32) => &[T(D::U64), T(D::I64)],
            T(D::U64) | T(D::I64) => &[WeakFloat],
            T(D::I8) => &[T(D::I16)],
            T(D::I16) => &[T(D::I32)],
            T(D::I32) => &[T(D::I64)],
            WeakFloat => &[
                T(D::F4E2M1Fn),
                T(D::F8E3M4),
                T(D::F8E4M3),
                T(D::F8E4M3B11Fnuz),
                T(D::F8E4M3Fn),
                T(D::F8E4M3Fnuz),
                T(D::F8E5M2),
                T(D::F8E5M2Fnuz),
                T(D::F8E8M0Fnu),
                T(D::BF16),
                T(D::F16),
                WeakComplex,
            ],
            T(D::BF16) | T(D::F16) => &[T(D::F32)],
            T(D::F32) => &[T(D::F64), T(D::C64)],
            T(D::F64) | T(D::C64) => &[T(D::C128)],
            WeakComplex => &[T(D::C64)],
            T(
                D::C128
                | D::Float0
                | D::KeyFry
                | D::KeyRbg
                | D::KeyUnsafeRbg
                | D::F4E2M1Fn
                | D::F8E3M4
                | D::F8E4M3
                | D::F8E4M3B11Fnuz
                | D::F8E4M3Fn
                | D::F8E4M3Fnuz
                | D::F8E5M2
                | D::F8E5M2Fnuz
                | D::F8E8M0Fnu,
            ) => &[],
        }
    }

    /// Everything from here upwards.
    fn reachable(self) -> Vec<Point> {
        let mut out = vec![self];
        let mut next = 0;
        while next < out.len() {
            for &point in out[next].above() {
                if !out.contains(&point) {
                    out.push(point);
                }
            }
            next += 1;
        }
        out
    }
}

/// Whether an element takes 64 bits or more per part.
pub(crate) fn is_wide(dtype: DType) -> bool {
    matches!(dtype, DType::I64 | DType::U64 | DType::F64 | DType::C128)
}

/// The type of at most 32 bits in place of one of 64.
fn narrowed(dtype: DType) -> DType {
    match dtype {
        DType::I64 => DType::I32,
        DType::U64 => DType::U32,
        DType::F64 => DType::F32,
        DType::C128 => DType::C64,
        other => other,
    }
}

/// The common element type of strong and weak types, and whether it is weak itself; `None` when there is none.
fn join(types: &[(DType, bool)]) -> Option<(DType, bool)> {
    let mut wide = types.iter().any(|&(dtype, weak)| !weak && is_wide(dtype));
    let mut common: Option<Vec<Point>> = None;
    for &(dtype, weak) in types {
        let reachable = Point::of(dtype, weak).reachable();
        common = Some(match common {
            None => reachable,
            Some(points) => points
                .into_iter()
                .filter(|point| reachable.contains(point))
                .collect(),
        });
    }
    let points = common?;
    let least = *points
        .iter()
        .find(|point| points.iter().all(|other| point.reachable().contains(other)))?;
    // Weak numbers of 64 bits keep them when nothing stronger decides.
    let all_weak = types
        .iter()
        .all(|&(dtype, weak)| weak || dtype == DType::Bool);
    wide |= all_weak && types.iter().any(|&(dtype, weak)| weak && is_wide(dtype));
    let sized = |narrow, wide_type| if wide { wide_type } else { narrow };
    Some(match least {
        Point::WeakInt => (sized(DType::I32, DType::I64), true),
        Point::WeakFloat => (sized(DType::F32, DType::F64), true),
        Point::WeakComplex => (sized(DType::C64, DType::C128), true),
        Point::Type(dtype) => (if wide { dtype } else { narrowed(dtype) }, false),
    })
}

/// The common element type of arrays, and whether it is weak.
///
/// # Panics
/// When there is none; the message names `operation` and the types.
#[track_caller]
pub(crate) fn result_dtype(operation: &str, operands: &[&Array]) -> (DType, bool) {
    let first = operands
        .first()
        .map(|array| (array.dtype(), array.weak_type()));
    if let Some((dtype, weak)) = first
        && operands
            .iter()
            .all(|array| array.dtype() == dtype && array.weak_type() == weak)
    {
        return (dtype, weak && dtype != DType::Bool);
    }
    let types: Vec<(DType, bool)> = operands
        .iter()
        .map(|array| (array.dtype(), array.weak_type()))
        .collect();
    join(&types).unwrap_or_else(|| {
        let names: Vec<&str> = types.iter().map(|(dtype, _)| dtype.short_name()).collect();
        let error = Error::dtype(format!(
            "there is no common element type of {}",
            names.join(" and ")
        ));
        raise(
            error
                .in_operation(operation)
                .note("convert one of them with `astype`"),
        )
    })
}

/// The common element type of two element types; `None` when there is none.
pub(crate) fn common_dtype(a: DType, b: DType) -> Option<DType> {
    // As where JAX has types of 64 bits: those that follow are not narrowed.
    let wide = is_wide(a) || is_wide(b);
    let (dtype, weak) = join(&[(a, false), (b, false)])?;
    Some(match dtype {
        DType::F32 if wide && weak => DType::F64,
        dtype => dtype,
    })
}

/// `x` with element type `dtype` and the given weakness. A number of the program that becomes strong is rounded.
#[track_caller]
pub(crate) fn as_dtype(x: &Array, dtype: DType, weak: bool) -> Array {
    let converted = as_dtype_exactly(x, dtype, weak);
    match converted.0 {
        Repr::Number(literal) if !weak => Array(Repr::Number(Literal {
            value: rounded(literal.value, dtype),
            ..literal
        })),
        _ => converted,
    }
}

/// The number that is kept in an element type.
fn rounded(value: Scalar, dtype: DType) -> Scalar {
    match value {
        Scalar::Float(_) | Scalar::Complex(..) => {
            let bytes = value.to_bytes(dtype).ok();
            bytes
                .and_then(|bytes| Scalar::from_bytes(dtype, &bytes))
                .unwrap_or(value)
        }
        _ => value,
    }
}

/// As [`as_dtype`], with all digits of a number of the program.
#[track_caller]
pub(crate) fn as_dtype_exactly(x: &Array, dtype: DType, weak: bool) -> Array {
    if x.dtype() == dtype && x.weak_type() == weak {
        return x.clone();
    }
    if let Repr::Number(literal) = x.0
        && let Some(value) = convert_number(literal.value, dtype)
    {
        if !fits(literal, dtype) {
            raise(does_not_fit(literal, dtype));
        }
        return Array(Repr::Number(Literal {
            value,
            dtype,
            weak_type: weak,
        }));
    }
    bind_one(
        ConvertElementType {
            new_dtype: dtype,
            weak_type: weak,
        },
        std::slice::from_ref(x),
    )
}

/// A number of the program as a literal of another element type, its digits kept; `None` when it would lose something.
fn convert_number(value: Scalar, dtype: DType) -> Option<Scalar> {
    if dtype.is_float() {
        return value.as_f64().map(Scalar::Float);
    }
    if dtype.is_complex() {
        // JAX rounds complex numbers before it writes them down, and leaves real ones as they are.
        let (re, im) = value.as_complex();
        let rounded = |part: f64| match dtype {
            DType::C64 => f64::from(part as f32),
            _ => part,
        };
        return Some(Scalar::Complex(rounded(re), rounded(im)));
    }
    match value {
        Scalar::Int(_) | Scalar::UInt(_) | Scalar::Bool(_) if dtype.is_integer() => {
            let bytes = Scalar::from_integer(value.as_integer()?)?
                .to_bytes(dtype)
                .ok()?;
            Scalar::from_bytes(dtype, &bytes)
        }
        Scalar::Bool(_) if dtype == DType::Bool => Some(value),
        _ => None,
    }
}

/// Whether an integer of the program fits its own element type or the one it takes. One that fits its own wraps in a
/// narrower one, as numbers of Python do in JAX; floats round.
fn fits(number: Literal, dtype: DType) -> bool {
    let (Scalar::Int(_) | Scalar::UInt(_), Some(value)) = (number.value, number.value.as_integer())
    else {
        return true;
    };
    !dtype.is_integer()
        || [number.dtype, dtype]
            .iter()
            .any(|&dtype| !dtype.is_integer() || holds(dtype, value))
}

/// Whether an integer type holds a value.
pub(crate) fn holds(dtype: DType, value: i128) -> bool {
    let read = |scalar: Scalar| {
        let bytes = scalar.to_bytes(dtype).ok()?;
        Scalar::from_bytes(dtype, &bytes)?.as_integer()
    };
    Scalar::from_integer(value).and_then(read) == Some(value)
}

/// A number of the program that has kept its own element type, which must hold it.
///
/// # Errors
/// When it does not.
pub(crate) fn fitting(number: Literal) -> Result<Literal> {
    if fits(number, number.dtype) {
        Ok(number)
    } else {
        Err(does_not_fit(number, number.dtype))
    }
}

fn does_not_fit(number: Literal, dtype: DType) -> Error {
    Error::dtype(format!("the number {} does not fit {dtype}", number.value))
        .note("give one of the operands a wider element type with `astype`")
}

/// A number of the program must fit the element type that an operation takes it to.
///
/// # Panics
/// When it fits neither that nor its own.
#[track_caller]
pub(crate) fn check_number(operation: &str, x: &Array, dtype: DType) {
    if let Repr::Number(literal) = x.0
        && !fits(literal, dtype)
    {
        raise(does_not_fit(literal, dtype).in_operation(operation));
    }
}

/// An integer of the program must fit an integer type, even if it could wrap.
///
/// # Panics
/// When it does not.
#[track_caller]
pub(crate) fn check_fits(operation: &str, x: &Array, dtype: DType) {
    if let Repr::Number(literal) = x.0
        && literal
            .value
            .as_integer()
            .is_some_and(|value| !holds(dtype, value))
    {
        raise(does_not_fit(literal, dtype).in_operation(operation));
    }
}

/// Operands with their common element type, which stays weak when all are.
///
/// # Panics
/// When there is none.
#[track_caller]
pub(crate) fn promote_dtypes<const N: usize>(operation: &str, operands: [&Array; N]) -> [Array; N] {
    let (dtype, weak) = result_dtype(operation, &operands);
    for x in operands {
        check_number(operation, x, dtype);
    }
    operands.map(|x| as_dtype(x, dtype, weak))
}

/// Operands with their common element type, and with axes of length 1 added in front where ranks differ. Scalars stay
/// as they are beside operands of one rank.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
#[track_caller]
pub(crate) fn promote<const N: usize>(operation: &str, operands: [&Array; N]) -> [Array; N] {
    crate::numpy::check_broadcast(operation, &operands);
    with_equal_ranks(promote_dtypes(operation, operands))
}

/// Operands with axes of length 1 added in front where ranks differ. Scalars stay as they are.
///
/// # Panics
/// When shapes do not broadcast.
#[track_caller]
pub(crate) fn promote_ranks<const N: usize>(operation: &str, operands: [&Array; N]) -> [Array; N] {
    crate::numpy::check_broadcast(operation, &operands);
    with_equal_ranks(operands.map(Array::clone))
}

#[track_caller]
fn with_equal_ranks<const N: usize>(operands: [Array; N]) -> [Array; N] {
    let rank = operands.iter().map(Array::ndim).max().unwrap_or(0);
    // Scalars fit everything; where other ranks differ, JAX gives them the common one too.
    let equal = operands.iter().all(|x| x.ndim() == 0 || x.ndim() == rank);
    if equal {
        return operands;
    }
    operands.map(|x| {
        if x.ndim() == rank {
            x
        } else {
            crate::lax::expand_rank(&x, rank)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected results are what `jnp.promote_types` and sums of weak numbers give.
    #[test]
    fn types_join_as_in_jax() {
        use DType as D;
        let strong = |a, b| join(&[(a, false), (b, false)]);
        assert_eq!(strong(D::I32, D::F32), Some((D::F32, false)));
        assert_eq!(strong(D::I8, D::U8), Some((D::I16, false)));
        assert_eq!(strong(D::I32, D::U32), Some((D::I32, false)));
        assert_eq!(strong(D::I64, D::U32), Some((D::I64, false)));
        assert_eq!(strong(D::I64, D::U64), Some((D::F64, true)));
        assert_eq!(strong(D::BF16, D::F16), Some((D::F32, false)));
        assert_eq!(strong(D::I32, D::F16), Some((D::F16, false)));
        assert_eq!(strong(D::F64, D::C64), Some((D::C128, false)));
        assert_eq!(strong(D::Bool, D::U8), Some((D::U8, false)));
        assert_eq!(strong(D::F32, D::KeyFry), None);
        assert_eq!(
            join(&[(D::I32, false), (D::F32, true)]),
            Some((D::F32, true))
        );
        assert_eq!(
            join(&[(D::I64, false), (D::F32, true)]),
            Some((D::F64, true))
        );
        assert_eq!(
            join(&[(D::F16, false), (D::F32, true)]),
            Some((D::F16, false))
        );
        assert_eq!(
            join(&[(D::I8, false), (D::I32, true)]),
            Some((D::I8, false))
        );
        assert_eq!(
            join(&[(D::F32, false), (D::C64, true)]),
            Some((D::C64, false))
        );
        assert_eq!(
            join(&[(D::I32, true), (D::F32, true)]),
            Some((D::F32, true))
        );
    }
}
