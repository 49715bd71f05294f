//! Elementwise functions.

use jaxide_core::{DType, Error};

use crate::array::{Array, as_dtype, check_number, promote, promote_ranks, result_dtype};
use crate::lax;
use crate::trace::{library, raise};

/// The element type of arithmetic on `dtype`: truth values are counted in `i32`.
pub(crate) fn numeric(dtype: DType) -> DType {
    if dtype == DType::Bool {
        DType::I32
    } else {
        dtype
    }
}

/// The float or complex element type that numbers of `dtype` have: `f64` of integers of 64 bits.
pub(crate) fn inexact(dtype: DType) -> DType {
    match dtype {
        dtype if dtype.is_inexact() => dtype,
        DType::I64 | DType::U64 => DType::F64,
        _ => DType::F32,
    }
}

/// Operands of fitting ranks with their common element type, changed by `change`.
#[track_caller]
fn promote_to<const N: usize>(
    operation: &str,
    operands: [&Array; N],
    change: fn(DType) -> DType,
) -> [Array; N] {
    let (dtype, weak) = result_dtype(operation, &operands);
    if change(dtype) == dtype {
        return promote(operation, operands);
    }
    for x in operands {
        check_number(operation, x, dtype);
    }
    super::check_broadcast(operation, &operands);
    let converted = operands.map(|x| as_dtype(x, change(dtype), weak));
    promote_ranks(operation, converted.each_ref())
}

/// Operands with a common element type that is at least float.
#[track_caller]
pub(crate) fn promote_inexact<const N: usize>(
    operation: &str,
    operands: [&Array; N],
) -> [Array; N] {
    promote_to(operation, operands, inexact)
}

/// Operands with a common element type that is at least float, of the ranks that they have.
#[track_caller]
pub(crate) fn inexact_dtypes<const N: usize>(operation: &str, operands: [&Array; N]) -> [Array; N] {
    let (dtype, weak) = result_dtype(operation, &operands);
    operands.map(|x| as_dtype(x, inexact(dtype), weak))
}

/// Operands with a common element type that is not `bool`.
#[track_caller]
pub(crate) fn promote_numeric<const N: usize>(
    operation: &str,
    operands: [&Array; N],
) -> [Array; N] {
    promote_to(operation, operands, numeric)
}

/// Functions of two operands.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $promote:ident $function:path;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When shapes do not broadcast, or there is no common element type.
        #[track_caller]
        pub fn $name(x: impl Into<Array>, y: impl Into<Array>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let [x, y] = $promote(stringify!($name), [&x.into(), &y.into()]);
            $function(&x, &y)
        }
    )* };
}

binary! {
    /// Sum; `or` of truth values.
    add promote add_or_or;
    /// Difference.
    subtract promote lax::sub;
    /// Product; `and` of truth values.
    multiply promote mul_or_and;
    /// True quotient: of integers a float.
    divide promote_inexact lax::div;
    /// Angle of the point `(y, x)`, in radians.
    arctan2 promote_inexact lax::atan2;
    /// Larger of two; NaN if either is.
    maximum promote lax::max;
    /// Smaller of two; NaN if either is.
    minimum promote lax::min;
    /// Bitwise or logical and.
    bitwise_and promote lax::bitwise_and;
    /// Bitwise or logical or.
    bitwise_or promote lax::bitwise_or;
    /// Bitwise or logical exclusive or.
    bitwise_xor promote lax::bitwise_xor;
    /// Shift to the left.
    left_shift promote_numeric lax::shift_left;
    /// Shift to the right, keeping the sign of signed integers.
    right_shift promote_numeric shift_right;
    /// `x` to the power `y`, as floats.
    float_power promote_inexact lax::pow;
    /// The number next to `x` towards `y`, of floats.
    nextafter promote_inexact lax::nextafter;
}

#[track_caller]
fn add_or_or(x: &Array, y: &Array) -> Array {
    if x.dtype() == DType::Bool {
        lax::bitwise_or(x, y)
    } else {
        lax::add(x, y)
    }
}

#[track_caller]
fn mul_or_and(x: &Array, y: &Array) -> Array {
    if x.dtype() == DType::Bool {
        lax::bitwise_and(x, y)
    } else {
        lax::mul(x, y)
    }
}

#[track_caller]
fn shift_right(x: &Array, y: &Array) -> Array {
    if x.dtype().is_unsigned_integer() {
        lax::shift_right_logical(x, y)
    } else {
        lax::shift_right_arithmetic(x, y)
    }
}

/// Functions of one operand; integers become floats where the function needs them.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident $function:path;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When the element type is not one it is defined for.
        #[track_caller]
        pub fn $name(x: &Array) -> Array {
            let _named = crate::trace::named(stringify!($name));
            unary!(@$kind $name $function, x)
        }
    )* };
    (@same $name:ident $function:path, $x:ident) => {{
        let [x] = promote(stringify!($name), [$x]);
        $function(&x)
    }};
    (@numeric $name:ident $function:path, $x:ident) => {{
        let [x] = promote_numeric(stringify!($name), [$x]);
        $function(&x)
    }};
    (@float $name:ident $function:path, $x:ident) => {{
        let [x] = promote_inexact(stringify!($name), [$x]);
        $function(&x)
    }};
}

unary! {
    /// `-x`.
    negative same lax::neg;
    /// Bitwise or logical negation.
    bitwise_not same lax::bitwise_not;
    /// -1, 0 or 1.
    sign same lax::sign;
    /// `x` itself, of numbers.
    positive same Array::clone;
    /// `x * x`.
    square numeric lax::square;
    /// Sine of radians.
    sin float lax::sin;
    /// Cosine of radians.
    cos float lax::cos;
    /// Tangent of radians.
    tan float lax::tan;
    /// Inverse sine in radians.
    arcsin float lax::asin;
    /// Inverse cosine in radians.
    arccos float lax::acos;
    /// Inverse tangent in radians.
    arctan float lax::atan;
    /// Hyperbolic sine.
    sinh float lax::sinh;
    /// Hyperbolic cosine.
    cosh float lax::cosh;
    /// Hyperbolic tangent.
    tanh float lax::tanh;
    /// Inverse hyperbolic sine.
    arcsinh float lax::asinh;
    /// Inverse hyperbolic tangent.
    arctanh float lax::atanh;
    /// `e^x`.
    exp float lax::exp;
    /// `2^x`.
    exp2 float lax::exp2;
    /// `e^x - 1`, exact near zero.
    expm1 float lax::expm1;
    /// Natural logarithm.
    log float lax::log;
    /// Logarithm to base two.
    log2 float lax::log2;
    /// `log(1 + x)`, exact near zero.
    log1p float lax::log1p;
    /// Square root.
    sqrt float lax::sqrt;
    /// Cube root.
    cbrt float lax::cbrt;
    /// `1 / x`.
    reciprocal float inverse;
    /// Radians of degrees.
    deg2rad float radians_of;
    /// Degrees of radians.
    rad2deg float degrees_of;
    /// Logarithm to base ten.
    log10 float decimal_logarithm;
}

/// A number of the element type of `x`.
#[track_caller]
pub(crate) fn constant(x: &Array, value: impl Into<Array>) -> Array {
    as_dtype(&value.into(), x.dtype(), false)
}

/// Zero, or false, of the element type of `x`.
#[track_caller]
pub(crate) fn zero(x: &Array) -> Array {
    if x.dtype() == DType::Bool {
        Array::from(false)
    } else {
        constant(x, 0)
    }
}

#[track_caller]
fn radians_of(x: &Array) -> Array {
    lax::mul(x, &constant(x, std::f64::consts::PI / 180.0))
}

#[track_caller]
fn degrees_of(x: &Array) -> Array {
    lax::mul(x, &constant(x, 180.0 / std::f64::consts::PI))
}

#[track_caller]
fn decimal_logarithm(x: &Array) -> Array {
    let logarithm = lax::log(x);
    let scaled = |part: &Array| lax::mul(part, &constant(part, std::f64::consts::LOG10_E));
    if x.dtype().is_complex() {
        let (re, im) = (lax::real(&logarithm), lax::imag(&logarithm));
        lax::complex(&scaled(&re), &scaled(&im))
    } else {
        scaled(&logarithm)
    }
}

/// Inverse hyperbolic cosine, with a real part that is not negative.
///
/// # Panics
/// When the element type is not one it is defined for.
#[track_caller]
pub fn arccosh(x: &Array) -> Array {
    let _named = crate::trace::named("arccosh");
    library("arccosh", "", [x], |operand| {
        let [x] = promote_inexact("arccosh", operand);
        let y = lax::acosh(&x);
        if y.dtype().is_complex() {
            let negative = lax::lt(&lax::real(&y), &Array::from(0));
            super::where_(&negative, &lax::neg(&y), &y)
        } else {
            y
        }
    })
}

/// Other names of functions of one operand.
macro_rules! same {
    ($($alias:ident $name:ident;)*) => { $(
        #[doc = concat!("The same as [`", stringify!($name), "`].")]
        ///
        /// # Panics
        /// When the element type is not one it is defined for.
        #[track_caller]
        pub fn $alias(x: &Array) -> Array {
            let _named = crate::trace::named(stringify!($alias));
            $name(x)
        }
    )* };
}

same! {
    acos arccos;
    acosh arccosh;
    asin arcsin;
    asinh arcsinh;
    atan arctan;
    atanh arctanh;
    absolute abs;
    bitwise_invert bitwise_not;
    invert bitwise_not;
    degrees rad2deg;
    radians deg2rad;
    conj conjugate;
}

/// Other names of functions of two operands.
macro_rules! same_of_two {
    ($($alias:ident $name:path;)*) => { $(
        #[doc = concat!("The same as [`", stringify!($name), "`].")]
        ///
        /// # Panics
        /// When shapes do not broadcast, or there is no common element type.
        #[track_caller]
        pub fn $alias(x: impl Into<Array>, y: impl Into<Array>) -> Array {
            let _named = crate::trace::named(stringify!($alias));
            $name(x, y)
        }
    )* };
}

same_of_two! {
    atan2 arctan2;
    bitwise_left_shift left_shift;
    bitwise_right_shift right_shift;
    true_divide divide;
    mod_ super::remainder;
    pow super::power;
}

/// Complex conjugate; other numbers as they are.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn conjugate(x: &Array) -> Array {
    let _named = crate::trace::named("conjugate");
    if x.dtype().is_complex() {
        lax::conj(x)
    } else {
        x.clone()
    }
}

/// Real part; other numbers as they are.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn real(x: &Array) -> Array {
    let _named = crate::trace::named("real");
    if x.dtype().is_complex() {
        lax::real(x)
    } else {
        x.clone()
    }
}

/// Imaginary part, which is zero of numbers that are not complex.
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::imag(&Array::from([1.5f32, 2.0])).to_vec::<f32>(), [0.0, 0.0]);
/// ```
#[track_caller]
pub fn imag(x: &Array) -> Array {
    let _named = crate::trace::named("imag");
    if x.dtype().is_complex() {
        lax::imag(x)
    } else {
        zeros_of(x)
    }
}

/// Zeros of the type of `x`, weakness included.
#[track_caller]
fn zeros_of(x: &Array) -> Array {
    let zero = as_dtype(&Array::from(0), x.dtype(), x.weak_type());
    super::broadcast_to(&zero, x.shape())
}

/// Absolute value as a float, of real numbers.
///
/// # Panics
/// When `x` is complex.
#[track_caller]
pub fn fabs(x: &Array) -> Array {
    let _named = crate::trace::named("fabs");
    if x.dtype().is_complex() {
        raise(real_only("fabs", x));
    }
    let [x] = promote_inexact("fabs", [x]);
    lax::abs(&x)
}

/// That a function is not defined for complex numbers.
pub(crate) fn real_only(operation: &str, x: &Array) -> Error {
    Error::dtype(format!(
        "real numbers are needed, and {} is given",
        x.aval()
    ))
    .in_operation(operation)
}

#[track_caller]
fn inverse(x: &Array) -> Array {
    lax::integer_pow(x, -1)
}

/// Absolute value; a real result for complex numbers.
///
/// # Panics
/// When `x` has no absolute value (random keys).
#[track_caller]
pub fn abs(x: &Array) -> Array {
    let _named = crate::trace::named("abs");
    if x.dtype() == DType::Bool || x.dtype().is_unsigned_integer() {
        x.clone()
    } else {
        lax::abs(x)
    }
}
