//! Element types: what they hold, and which follows from which.

use jaxide_core::{DType, Error};

use crate::array::{Array, common_dtype, result_dtype};
use crate::trace::raise;

/// The ratio of a circle's circumference to its diameter: `pi` of NumPy.
pub const PI: f64 = std::f64::consts::PI;
/// The base of natural logarithms: `e` of NumPy.
pub const E: f64 = std::f64::consts::E;
/// The limit of the harmonic series less the logarithm: `euler_gamma` of NumPy.
pub const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;
/// `inf` of NumPy.
pub const INF: f64 = f64::INFINITY;
/// `nan` of NumPy.
pub const NAN: f64 = f64::NAN;

/// The element type that arrays have in common: that of a result of all of them.
///
/// # Panics
/// When there is none, or no array.
///
/// ```
/// use jaxide::{Array, DType, numpy};
/// let (x, n) = (Array::from([1.0f32]), Array::from([1]));
/// assert_eq!(numpy::result_type(&[&x, &n]), DType::F32);
/// assert_eq!(numpy::result_type(&[&n, &Array::from(2.5)]), DType::F32);
/// ```
#[track_caller]
pub fn result_type(arrays: &[&Array]) -> DType {
    let _named = crate::trace::named("result_type");
    if arrays.is_empty() {
        raise(Error::parameter("there are no arrays").in_operation("result_type"));
    }
    result_dtype("result_type", arrays).0
}

/// The smallest element type that holds what two hold, as JAX promotes.
///
/// # Panics
/// When there is none.
///
/// ```
/// use jaxide::{DType, numpy};
/// assert_eq!(numpy::promote_types(DType::I8, DType::U8), DType::I16);
/// assert_eq!(numpy::promote_types(DType::I32, DType::BF16), DType::BF16);
/// ```
#[track_caller]
pub fn promote_types(a: DType, b: DType) -> DType {
    let _named = crate::trace::named("promote_types");
    common_dtype(a, b).unwrap_or_else(|| {
        raise(
            Error::dtype(format!("there is no common element type of {a} and {b}"))
                .in_operation("promote_types"),
        )
    })
}

/// Kinds of element types, for [`issubdtype`] and [`isdtype`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Truth values.
    Bool,
    /// Integers with a sign.
    SignedInteger,
    /// Integers without a sign.
    UnsignedInteger,
    /// Integers.
    Integer,
    /// Real numbers that are no integers.
    Floating,
    /// Complex numbers.
    ComplexFloating,
    /// Numbers that are no integers.
    Inexact,
    /// Numbers.
    Number,
}

/// Whether an element type is of a kind.
///
/// ```
/// use jaxide::{DType, numpy::{self, Kind}};
/// assert!(numpy::issubdtype(DType::BF16, Kind::Floating));
/// assert!(!numpy::issubdtype(DType::Bool, Kind::Number));
/// ```
#[must_use]
pub fn issubdtype(dtype: DType, kind: Kind) -> bool {
    match kind {
        Kind::Bool => dtype == DType::Bool,
        Kind::SignedInteger => dtype.is_signed_integer(),
        Kind::UnsignedInteger => dtype.is_unsigned_integer(),
        Kind::Integer => dtype.is_integer(),
        Kind::Floating => dtype.is_float(),
        Kind::ComplexFloating => dtype.is_complex(),
        Kind::Inexact => dtype.is_inexact(),
        Kind::Number => dtype.is_integer() || dtype.is_inexact(),
    }
}

/// Whether an element type is of one of some kinds.
#[must_use]
pub fn isdtype(dtype: DType, kinds: &[Kind]) -> bool {
    kinds.iter().any(|&kind| issubdtype(dtype, kind))
}

/// Which conversions [`can_cast`] allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Casting {
    /// None.
    No,
    /// Those that keep every value.
    #[default]
    Safe,
    /// Those, and to smaller types of the same kind.
    SameKind,
    /// All.
    Unsafe,
}

impl From<()> for Casting {
    fn from((): ()) -> Self {
        Casting::Safe
    }
}

/// Whether numbers of one element type may be converted to another, as NumPy says; safely by default.
///
/// ```
/// use jaxide::{DType, numpy::{self, Casting}};
/// assert!(numpy::can_cast(DType::I16, DType::F32, ()));
/// assert!(!numpy::can_cast(DType::I32, DType::F32, ()));
/// assert!(numpy::can_cast(DType::F64, DType::F32, Casting::SameKind));
/// ```
#[must_use]
pub fn can_cast(from: DType, to: DType, casting: impl Into<Casting>) -> bool {
    match casting.into() {
        Casting::No => from == to,
        Casting::Safe => keeps(from, to),
        Casting::SameKind => {
            keeps(from, to)
                || rank(from).is_some_and(|own| rank(to).is_some_and(|other| own <= other))
        }
        Casting::Unsafe => true,
    }
}

/// Kinds in the order in which one may become the other.
fn rank(dtype: DType) -> Option<u8> {
    match dtype {
        DType::Bool => Some(0),
        dtype if dtype.is_unsigned_integer() => Some(1),
        dtype if dtype.is_signed_integer() => Some(2),
        dtype if dtype.is_float() => Some(3),
        dtype if dtype.is_complex() => Some(4),
        _ => None,
    }
}

/// Whether every value of one type is one of the other.
fn keeps(from: DType, to: DType) -> bool {
    let bits = |dtype: DType| 8 * dtype.size() as u32;
    let digits = |dtype: DType| finfo(dtype).nmant + 1;
    let range = |dtype: DType| finfo(dtype).max;
    match (rank(from), rank(to)) {
        _ if from == to => true,
        (Some(0), Some(_)) => true,
        (Some(1), Some(1)) | (Some(2), Some(2)) => bits(from) <= bits(to),
        (Some(1), Some(2)) => bits(from) < bits(to),
        // NumPy lets integers of 64 bits become floats of as many.
        (Some(1 | 2), Some(3 | 4)) => {
            bits(from) <= digits(to).max(1) || (bits(from) == 64 && digits(to) >= 53)
        }
        (Some(3 | 4), Some(3 | 4)) => {
            rank(from) <= rank(to) && digits(from) <= digits(to) && range(from) <= range(to)
        }
        _ => false,
    }
}

/// What a float type holds: see [`finfo`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatInfo {
    /// Number of bits.
    pub bits: u32,
    /// The distance from 1 to the next larger number.
    pub eps: f64,
    /// The distance from 1 to the next smaller number.
    pub epsneg: f64,
    /// The largest number.
    pub max: f64,
    /// The smallest number: the largest, negated.
    pub min: f64,
    /// The smallest positive number that is not subnormal: `tiny`.
    pub smallest_normal: f64,
    /// The smallest positive number.
    pub smallest_subnormal: f64,
    /// Number of bits of the fraction.
    pub nmant: u32,
    /// Number of bits of the exponent.
    pub nexp: u32,
    /// Number of decimal digits that are kept.
    pub precision: u32,
}

/// What a float type holds; of a complex type, what its parts hold.
///
/// # Panics
/// When `dtype` is none of 16, 32 or 64 bits per part.
///
/// ```
/// use jaxide::{DType, numpy};
/// assert_eq!(numpy::finfo(DType::F32).eps, f64::from(f32::EPSILON));
/// assert_eq!(numpy::finfo(DType::F16).max, 65504.0);
/// ```
#[track_caller]
#[must_use]
pub fn finfo(dtype: DType) -> FloatInfo {
    let _named = crate::trace::named("finfo");
    let (bits, nmant) = match dtype {
        DType::F16 => (16, 10),
        DType::BF16 => (16, 7),
        DType::F32 | DType::C64 => (32, 23),
        DType::F64 | DType::C128 => (64, 52),
        other => raise(
            Error::dtype(format!("{other} is no float type of 16, 32 or 64 bits"))
                .in_operation("finfo"),
        ),
    };
    let nexp: u32 = bits - 1 - nmant;
    let bias = (1i32 << (nexp - 1)) - 1;
    let power = |exponent: i32| 2f64.powi(exponent);
    let fraction = nmant as i32;
    let max = (2.0 - power(-fraction)) * power(bias);
    FloatInfo {
        bits,
        eps: power(-fraction),
        epsneg: power(-fraction - 1),
        max,
        min: -max,
        smallest_normal: power(1 - bias),
        // `powi` of so small a number is zero.
        smallest_subnormal: power(1 - bias) * power(-fraction),
        nmant,
        nexp,
        precision: (f64::from(nmant) * std::f64::consts::LOG10_2) as u32,
    }
}

/// What an integer type holds: see [`iinfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerInfo {
    /// Number of bits.
    pub bits: u32,
    /// The largest number.
    pub max: i128,
    /// The smallest number.
    pub min: i128,
}

/// What an integer type holds.
///
/// # Panics
/// When `dtype` is none.
///
/// ```
/// use jaxide::{DType, numpy};
/// assert_eq!(numpy::iinfo(DType::I8).min, -128);
/// ```
#[track_caller]
#[must_use]
pub fn iinfo(dtype: DType) -> IntegerInfo {
    let _named = crate::trace::named("iinfo");
    let bits: u32 = match dtype {
        DType::I2 | DType::U2 => 2,
        DType::I4 | DType::U4 => 4,
        dtype if dtype.is_integer() => 8 * dtype.size() as u32,
        other => raise(Error::dtype(format!("{other} is no integer type")).in_operation("iinfo")),
    };
    let (min, max) = if dtype.is_signed_integer() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    IntegerInfo { bits, max, min }
}

/// An array as the text that is its representation, as NumPy prints it: `{:?}`.
#[must_use]
pub fn array_repr(x: &Array) -> String {
    format!("{x:?}")
}

/// The elements of an array as text, as NumPy prints them: `{}`.
#[must_use]
pub fn array_str(x: &Array) -> String {
    format!("{x}")
}
