//! Elementwise functions.

use jaxide_core::DType;
use jaxide_core::prims::RoundingMethod;

use crate::array::{Array, as_dtype, promote, result_dtype};
use crate::lax;

/// Operands with a common element type that is at least float.
#[track_caller]
fn promote_inexact<const N: usize>(operation: &str, operands: [&Array; N]) -> [Array; N] {
    let (dtype, weak) = result_dtype(operation, &operands);
    let operands = promote(operation, operands);
    if dtype.is_inexact() {
        return operands;
    }
    let float = if matches!(dtype, DType::I64 | DType::U64) {
        DType::F64
    } else {
        DType::F32
    };
    operands.map(|x| as_dtype(&x, float, weak))
}

/// Functions of two operands.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $promote:ident $function:path;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When shapes do not broadcast, or there is no common element type.
        #[track_caller]
        pub fn $name(x: &Array, y: &Array) -> Array {
            let [x, y] = $promote(stringify!($name), [x, y]);
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
    /// Whether equal.
    equal promote lax::eq;
    /// Whether different.
    not_equal promote lax::ne;
    /// Whether less.
    less promote lax::lt;
    /// Whether less or equal.
    less_equal promote lax::le;
    /// Whether greater.
    greater promote lax::gt;
    /// Whether greater or equal.
    greater_equal promote lax::ge;
    /// Bitwise or logical and.
    bitwise_and promote lax::bitwise_and;
    /// Bitwise or logical or.
    bitwise_or promote lax::bitwise_or;
    /// Bitwise or logical exclusive or.
    bitwise_xor promote lax::bitwise_xor;
    /// Shift to the left.
    left_shift promote lax::shift_left;
    /// Shift to the right, keeping the sign of signed integers.
    right_shift promote shift_right;
    /// Remainder with the sign of the divisor, as Python's `%`.
    remainder promote floor_remainder;
    /// Quotient rounded down, as Python's `//`.
    floor_divide promote floor_quotient;
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

/// The truncated remainder, moved to the sign of the divisor.
#[track_caller]
fn floor_remainder(x: &Array, y: &Array) -> Array {
    let truncated = lax::rem(x, y);
    let zero = Array::from(0);
    let nonzero = lax::ne(&truncated, &zero);
    let signs_differ = lax::ne(&lax::lt(&truncated, &zero), &lax::lt(y, &zero));
    let moved = lax::add(&truncated, y);
    where_(
        &lax::bitwise_and(&signs_differ, &nonzero),
        &moved,
        &truncated,
    )
}

#[track_caller]
fn floor_quotient(x: &Array, y: &Array) -> Array {
    if x.dtype().is_unsigned_integer() {
        return lax::div(x, y);
    }
    if x.dtype().is_integer() {
        let quotient = lax::div(x, y);
        let signs_differ = lax::ne(&lax::sign(x), &lax::sign(y));
        let inexact = lax::ne(&lax::rem(x, y), &Array::from(0));
        let below = lax::sub(&quotient, &Array::from(1));
        return where_(
            &lax::bitwise_and(&signs_differ, &inexact),
            &below,
            &quotient,
        );
    }
    let remainder = floor_remainder(x, y);
    lax::round(
        &lax::div(&lax::sub(x, &remainder), y),
        RoundingMethod::AwayFromZero,
    )
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
            unary!(@$kind $name $function, x)
        }
    )* };
    (@same $name:ident $function:path, $x:ident) => { $function($x) };
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
    /// `x * x`.
    square same lax::square;
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
    /// Inverse hyperbolic cosine.
    arccosh float lax::acosh;
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
    /// Largest integer not above.
    floor float lax::floor;
    /// Smallest integer not below.
    ceil float lax::ceil;
    /// Whether neither infinite nor NaN.
    isfinite float lax::is_finite;
}

/// Absolute value; a real result for complex numbers.
///
/// # Panics
/// When `x` has no absolute value (random keys).
#[track_caller]
pub fn abs(x: &Array) -> Array {
    if x.dtype() == DType::Bool || x.dtype().is_unsigned_integer() {
        x.clone()
    } else {
        lax::abs(x)
    }
}

/// Whether NaN.
///
/// # Panics
/// When `x` is not a number.
#[track_caller]
pub fn isnan(x: &Array) -> Array {
    lax::ne(x, x)
}

/// `x` to the power `y`; a bare integer exponent multiplies repeatedly.
///
/// # Panics
/// When shapes do not broadcast, or an integer is raised to a negative number.
#[track_caller]
pub fn power(x: &Array, y: &Array) -> Array {
    let [x, y] = promote("power", [x, y]);
    if x.dtype().is_inexact() {
        return lax::pow(&x, &y);
    }
    integer_power(&x, &y)
}

/// Integer power by squaring, a fixed number of steps for all bits of the exponent.
#[track_caller]
fn integer_power(x: &Array, y: &Array) -> Array {
    let one = Array::from(1);
    let mut result = full_like(x, 1);
    let (mut base, mut exponent) = (x.clone(), y.clone());
    for _ in 0..6 {
        let odd = lax::eq(&lax::bitwise_and(&exponent, &one), &one);
        result = where_(&odd, &lax::mul(&result, &base), &result);
        base = lax::mul(&base, &base);
        exponent = lax::shift_right_logical(&exponent, &one);
    }
    result
}

/// `x` moved between `min` and `max`.
///
/// # Panics
/// When shapes do not broadcast.
#[track_caller]
pub fn clip(x: &Array, min: impl Into<Array>, max: impl Into<Array>) -> Array {
    minimum(&max.into(), &maximum(&min.into(), x))
}

/// `x` where `condition`, else `y`.
///
/// # Panics
/// When shapes do not broadcast.
#[track_caller]
pub fn where_(condition: &Array, x: &Array, y: &Array) -> Array {
    let condition = if condition.dtype() == DType::Bool {
        condition.clone()
    } else {
        not_equal(condition, &Array::from(0))
    };
    let [x, y] = crate::array::promote_dtypes("where", [x, y]);
    let shape = super::broadcast_shapes("where", &[condition.shape(), x.shape(), y.shape()]);
    let (x, y) = (
        super::broadcast_to(&x, &shape),
        super::broadcast_to(&y, &shape),
    );
    let condition = if condition.ndim() == 0 {
        condition
    } else {
        super::broadcast_to(&condition, &shape)
    };
    lax::select(&condition, &x, &y)
}

/// An array like `x` filled with a number.
///
/// # Panics
/// Never for arrays that exist.
#[track_caller]
pub fn full_like(x: &Array, value: impl Into<Array>) -> Array {
    lax::full(x.shape(), value, x.dtype())
}
