//! Elementwise functions.

use jaxide_core::prims::{self, RoundingMethod};
use jaxide_core::{DType, Error, Scalar};

use crate::array::{Array, Repr, as_dtype, check_number, promote, promote_ranks, result_dtype};
use crate::lax;
use crate::trace::{bind_one, raise};

/// The element type of arithmetic on `dtype`: truth values are counted in `i32`.
pub(super) fn numeric(dtype: DType) -> DType {
    if dtype == DType::Bool {
        DType::I32
    } else {
        dtype
    }
}

/// The float or complex element type that numbers of `dtype` have: `f64` of integers of 64 bits.
pub(super) fn inexact(dtype: DType) -> DType {
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
    promote_ranks(operation, operands).map(|x| as_dtype(&x, change(dtype), weak))
}

/// Operands with a common element type that is at least float.
#[track_caller]
pub(super) fn promote_inexact<const N: usize>(
    operation: &str,
    operands: [&Array; N],
) -> [Array; N] {
    promote_to(operation, operands, inexact)
}

/// Operands with a common element type that is not `bool`.
#[track_caller]
pub(super) fn promote_numeric<const N: usize>(
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
    /// Remainder with the sign of the divisor, as Python's `%`.
    ///
    /// By zero it is zero of integers, and NaN of floats.
    remainder promote_numeric floor_remainder;
    /// Quotient rounded down, as Python's `//`.
    ///
    /// By zero it is -1 of signed integers (-2 of negative ones), the largest number of unsigned ones, and infinite or NaN of floats.
    floor_divide promote_numeric floor_quotient;
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

/// Divisors that are no zeros: of integers, zeros become ones, whose remainders are zero.
#[track_caller]
fn no_zeros(y: &Array) -> Array {
    if y.dtype().is_integer() {
        let one = as_dtype(&Array::from(1), y.dtype(), y.weak_type());
        where_(&lax::eq(y, &Array::from(0)), &one, y)
    } else {
        y.clone()
    }
}

/// Remainder with the sign of the dividend, as C's `fmod`. By zero it is zero of integers, and NaN of floats.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
#[track_caller]
pub fn fmod(x: &Array, y: &Array) -> Array {
    let (dtype, _) = result_dtype("fmod", &[x, y]);
    let [x, y] = promote_numeric("fmod", [x, y]);
    let divisor = if dtype == DType::Bool {
        y
    } else {
        no_zeros(&y)
    };
    lax::rem(&x, &divisor)
}

/// The truncated remainder, moved to the sign of the divisor.
#[track_caller]
fn floor_remainder(x: &Array, y: &Array) -> Array {
    let y = &no_zeros(y);
    let truncated = lax::rem(x, y);
    let zero = Array::from(0);
    let nonzero = lax::ne(&truncated, &zero);
    let signs_differ = lax::ne(&lax::lt(&truncated, &zero), &lax::lt(y, &zero));
    let moved = lax::add(&truncated, y);
    lax::select(
        &lax::bitwise_and(&signs_differ, &nonzero),
        &moved,
        &truncated,
    )
}

#[track_caller]
fn floor_quotient(x: &Array, y: &Array) -> Array {
    let dtype = x.dtype();
    if dtype.is_unsigned_integer() {
        return lax::div(x, y);
    }
    if dtype.is_integer() {
        let quotient = lax::div(x, y);
        let signs_differ = lax::ne(&lax::sign(x), &lax::sign(y));
        let inexact = lax::ne(&lax::rem(x, y), &Array::from(0));
        let below = lax::sub(&quotient, &Array::from(1));
        return lax::select(
            &lax::bitwise_and(&signs_differ, &inexact),
            &below,
            &quotient,
        );
    }
    if dtype.is_complex() {
        let error = Error::dtype("complex numbers have no quotient that is rounded down");
        raise(error.in_operation("floor_divide"));
    }
    // As CPython divides: a quotient by zero is that of the dividend itself, infinite.
    let zero = Array::from(0);
    let truncated = lax::rem(x, y);
    let exact = where_(&lax::eq(y, &zero), x, &lax::sub(x, &truncated));
    let quotient = lax::div(&exact, y);
    let nonzero = lax::ne(&truncated, &zero);
    let signs_differ = lax::ne(&lax::sign(y), &lax::sign(&truncated));
    let below = lax::sub(&quotient, &Array::from(1));
    let quotient = lax::select(
        &lax::bitwise_and(&nonzero, &signs_differ),
        &below,
        &quotient,
    );
    lax::round(&quotient, RoundingMethod::AwayFromZero)
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
    /// `1 / x`.
    reciprocal float inverse;
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
    if x.dtype() == DType::Bool || x.dtype().is_unsigned_integer() {
        x.clone()
    } else {
        lax::abs(x)
    }
}

/// `x` to the power `y`. A bare integer exponent multiplies repeatedly. Of integer arrays, what is raised to a negative number
/// is not defined beyond `x` of 0 and 1, as in JAX.
///
/// # Panics
/// When shapes do not broadcast, or an integer is raised to a negative number of the program.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([2.0f32, -3.0]);
/// assert_eq!(numpy::power(&x, &Array::from(-1)).to_vec::<f32>(), [0.5, -1.0 / 3.0]);
/// assert_eq!(numpy::power(&x, &Array::from(2.0)).to_vec::<f32>(), [4.0, 9.0]);
/// ```
#[track_caller]
pub fn power(x: &Array, y: &Array) -> Array {
    if let Repr::Number(exponent) = y.0
        && let Scalar::Int(_) | Scalar::UInt(_) | Scalar::Bool(_) = exponent.value
    {
        let [x] = promote_numeric("power", [x]);
        let whole = exponent.value.as_integer().map(i64::try_from);
        let Some(Ok(exponent)) = whole else {
            raise(
                Error::parameter(format!("the exponent {} is too large", exponent.value))
                    .in_operation("power"),
            )
        };
        lax::check_exponent("power", &x, exponent);
        return lax::integer_pow(&x, exponent);
    }
    let (dtype, weak) = result_dtype("power", &[x, y]);
    if !dtype.is_inexact() {
        let [x, y] = promote_numeric("power", [x, y]);
        return integer_power(&x, &y);
    }
    if x.dtype().is_inexact() && y.dtype().is_integer() {
        // The exponent stays an integer: at zero, the derivative in `x` exists.
        let [x, y] = promote_ranks("power", [x, y]);
        let x = if x.weak_type() {
            as_dtype(&x, dtype, weak)
        } else {
            x
        };
        return bind_one(prims::Pow, &[x, y]);
    }
    let [x, y] = promote("power", [x, y]);
    lax::pow(&x, &y)
}

/// Integer power by squaring, a fixed number of steps: more overflow for every base that is not 0, 1 or -1.
#[track_caller]
fn integer_power(x: &Array, y: &Array) -> Array {
    let (zero, one) = (Array::from(0), Array::from(1));
    let vanishes = lax::bitwise_and(&lax::eq(x, &zero), &lax::ne(y, &zero));
    let strong = |value: &Array| as_dtype(value, x.dtype(), false);
    let mut result = where_(&vanishes, &strong(&zero), &strong(&one));
    let (mut base, mut exponent) = (x.clone(), y.clone());
    for _ in 0..6 {
        let odd = lax::bitwise_and(&exponent, &one);
        result = where_(&odd, &lax::mul(&result, &base), &result);
        base = lax::mul(&base, &base);
        exponent = lax::shift_right_logical(&exponent, &one);
    }
    result
}

/// `x` moved between `min` and `max`.
///
/// # Panics
/// When shapes do not broadcast, or a number is complex.
#[track_caller]
pub fn clip(x: &Array, min: impl Into<Array>, max: impl Into<Array>) -> Array {
    let (min, max) = (min.into(), max.into());
    if let Some(complex) = [x, &min, &max].iter().find(|x| x.dtype().is_complex()) {
        let error = format!(
            "complex numbers have no order, and {} is given",
            complex.aval()
        );
        raise(Error::dtype(error).in_operation("clip"));
    }
    minimum(&max, &maximum(&min, x))
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
        super::not_equal(condition, &Array::from(0))
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
