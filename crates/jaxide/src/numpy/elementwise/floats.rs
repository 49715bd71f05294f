//! What floats are made of: signs, exponents, neighbours.

use jaxide_core::{DType, Error};

use super::super::arithmetic::{constant, inexact_dtypes, promote_inexact, real_only};
use super::super::{ceil, floor};
use super::choice::where_;
use crate::api::arrays_jvp;
use crate::array::{Array, as_dtype, promote_ranks};
use crate::lax;
use crate::numpy::{broadcast_shapes, broadcast_to, check_broadcast};
use crate::trace::library::library_call;
use crate::trace::{library, raise};

/// How a float is written in bits.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    /// Bits behind the point.
    mantissa: i32,
    /// Bits of the exponent.
    exponent: i32,
}

impl Format {
    fn bits(self) -> i32 {
        1 + self.mantissa + self.exponent
    }

    /// The integer type of as many bits.
    fn integer(self) -> DType {
        match self.bits() {
            16 => DType::I16,
            32 => DType::I32,
            _ => DType::I64,
        }
    }

    /// The largest power of two.
    fn largest_exponent(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The largest finite number.
    pub(crate) fn largest(self) -> f64 {
        (2.0 - 0.5_f64.powi(self.mantissa)) * 2.0_f64.powi(self.largest_exponent())
    }

    /// The smallest positive number.
    fn smallest(self) -> f64 {
        // In two steps: powers of two below the normal numbers are not given by `powi`.
        0.5_f64.powi(self.largest_exponent() - 1) * 0.5_f64.powi(self.mantissa)
    }
}

/// The format of a float of 16, 32 or 64 bits.
///
/// # Panics
/// When `x` is something else.
#[track_caller]
pub(crate) fn format(operation: &str, x: &Array) -> Format {
    let (mantissa, exponent) = match x.dtype() {
        DType::F16 => (10, 5),
        DType::BF16 => (7, 8),
        DType::F32 => (23, 8),
        DType::F64 => (52, 11),
        _ => raise(
            Error::dtype(format!(
                "floats of 16, 32 or 64 bits are needed, and {} is given",
                x.aval()
            ))
            .in_operation(operation),
        ),
    };
    Format { mantissa, exponent }
}

/// Whether the sign is negative, of -0.0 and NaN too.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::signbit(&Array::from([-0.0f32, 0.0, -2.0])).to_bools(), [true, false, true]);
/// ```
#[track_caller]
pub fn signbit(x: &Array) -> Array {
    let _named = crate::trace::named("signbit");
    if x.dtype().is_complex() {
        raise(real_only("signbit", x));
    }
    library("signbit", "", [x], |[x]| {
        if x.dtype().is_integer() {
            return lax::lt(x, &constant(x, 0));
        }
        if x.dtype() == DType::Bool {
            return lax::full(x.shape(), false, DType::Bool);
        }
        let format = format("signbit", x);
        let bits = lax::bitcast_convert_type(x, format.integer());
        let sign = lax::shift_right_arithmetic(&bits, &constant(&bits, format.bits() - 1));
        as_dtype(&sign, DType::Bool, false)
    })
}

/// The absolute value of `x1` with the sign of `x2`.
///
/// # Panics
/// When shapes do not broadcast, or a number is complex.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::copysign(2.0, Array::from([-0.0f32, 3.0])).to_vec::<f32>(), [-2.0, 2.0]);
/// ```
#[track_caller]
pub fn copysign(x1: impl Into<Array>, x2: impl Into<Array>) -> Array {
    let _named = crate::trace::named("copysign");
    sign_copied(&x1.into(), &x2.into())
}

#[track_caller]
fn sign_copied(x1: &Array, x2: &Array) -> Array {
    check_broadcast("copysign", &[x1, x2]);
    refuse_complex("copysign", &[x1, x2]);
    library("copysign", "", [x1, x2], |operands| {
        let [x1, x2] = promote_inexact("copysign", operands);
        let negative = signbit(&x2);
        let opposite = lax::neg(&lax::abs(&x1));
        where_(&negative, &opposite, lax::abs(&x1))
    })
}

#[track_caller]
fn refuse_complex(operation: &str, operands: &[&Array]) {
    if let Some(x) = operands.iter().find(|x| x.dtype().is_complex()) {
        raise(real_only(operation, x));
    }
}

/// The distance from `x` to the next number away from zero, with the sign of `x`.
///
/// # Panics
/// When `x` is complex.
#[track_caller]
pub fn spacing(x: &Array) -> Array {
    let _named = crate::trace::named("spacing");
    refuse_complex("spacing", &[x]);
    let [x] = promote_inexact("spacing", [x]);
    let infinity = constant(&x, f64::INFINITY);
    if x.dtype() == DType::F16 {
        return lax::sub(&lax::nextafter(&x, &infinity), &x);
    }
    let format = format("spacing", &x);
    let distance = lax::sub(&lax::nextafter(&x, &sign_copied(&infinity, &x)), &x);
    let vanishes = lax::eq(&distance, &constant(&distance, 0));
    let smallest = sign_copied(&constant(&x, format.smallest()), &x);
    where_(&vanishes, &smallest, &distance)
}

/// Mantissa in [0.5, 1) and exponent, an `i32`: `x = mantissa * 2^exponent`.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::{Array, numpy};
/// let (mantissa, exponent) = numpy::frexp(&Array::from([6.0f32]));
/// assert_eq!((mantissa.item::<f32>(), exponent.item::<i32>()), (0.75, 3));
/// ```
#[track_caller]
pub fn frexp(x: &Array) -> (Array, Array) {
    let _named = crate::trace::named("frexp");
    refuse_complex("frexp", &[x]);
    let mut parts = library_call("frexp", "", std::slice::from_ref(x), |x| {
        let [x] = inexact_dtypes("frexp", [&x[0]]);
        let (mantissa, exponent) = lax::frexp(&as_dtype(&x, x.dtype(), false));
        vec![mantissa, exponent]
    });
    (parts.remove(0), parts.remove(0))
}

/// `x1 * 2^x2`.
///
/// # Panics
/// When shapes do not broadcast, `x1` is complex, or `x2` no integer.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::ldexp(Array::from([1.5f32]), 3).item::<f32>(), 12.0);
/// ```
#[track_caller]
pub fn ldexp(x1: impl Into<Array>, x2: impl Into<Array>) -> Array {
    let _named = crate::trace::named("ldexp");
    let (x1, x2) = (x1.into(), x2.into());
    check_broadcast("ldexp", &[&x1, &x2]);
    if x1.dtype().is_complex() || x2.dtype().is_inexact() {
        let error = format!(
            "a real number and an integer are needed, and {} and {} are given",
            x1.aval(),
            x2.aval()
        );
        raise(Error::dtype(error).in_operation("ldexp"));
    }
    library("ldexp", "", [&x1, &x2], |[x1, x2]| {
        let [x1] = inexact_dtypes("ldexp", [x1]);
        let x2 = if x2.dtype() == DType::Bool {
            as_dtype(x2, DType::I32, false)
        } else {
            x2.clone()
        };
        let [x1, x2] = promote_ranks("ldexp", [&x1, &x2]);
        let [x1, x2] = to_one_shape("ldexp", [&x1, &x2]);
        let strong = |x: &Array| as_dtype(x, x.dtype(), false);
        lax::ldexp(&strong(&x1), &strong(&x2))
    })
}

/// Operands repeated to their common shape.
#[track_caller]
pub(super) fn to_one_shape<const N: usize>(operation: &str, operands: [&Array; N]) -> [Array; N] {
    let shapes: Vec<&[usize]> = operands.iter().map(|x| x.shape()).collect();
    let shape = broadcast_shapes(operation, &shapes);
    operands.map(|x| broadcast_to(x, &shape))
}

/// Fractional part and whole part, both with the sign of `x`.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::{Array, numpy};
/// let (fraction, whole) = numpy::modf(&Array::from([2.5f32, -1.25]));
/// assert_eq!(fraction.to_vec::<f32>(), [0.5, -0.25]);
/// assert_eq!(whole.to_vec::<f32>(), [2.0, -1.0]);
/// ```
#[track_caller]
pub fn modf(x: &Array) -> (Array, Array) {
    let _named = crate::trace::named("modf");
    refuse_complex("modf", &[x]);
    let mut parts = library_call("modf", "", std::slice::from_ref(x), |x| {
        let [x] = inexact_dtypes("modf", [&x[0]]);
        let whole = where_(lax::ge(&x, &constant(&x, 0)), floor(&x), ceil(&x));
        vec![lax::sub(&x, &whole), whole]
    });
    (parts.remove(0), parts.remove(0))
}

/// Length of the hypotenuse, `sqrt(x1^2 + x2^2)`, without overflow.
///
/// # Panics
/// When shapes do not broadcast, or a number is complex.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::hypot(Array::from([3.0e30f32]), 4.0e30).item::<f32>(), 5.0e30);
/// ```
#[track_caller]
pub fn hypot(x1: impl Into<Array>, x2: impl Into<Array>) -> Array {
    let _named = crate::trace::named("hypot");
    let (x1, x2) = (x1.into(), x2.into());
    check_broadcast("hypot", &[&x1, &x2]);
    refuse_complex("hypot", &[&x1, &x2]);
    library("hypot", "", [&x1, &x2], |operands| {
        let [x1, x2] = promote_inexact("hypot", operands);
        let sides = to_one_shape("hypot", [&x1, &x2]);
        length_and_direction(&sides).swap_remove(0)
    })
}

/// The length, and each side divided by it.
#[track_caller]
fn length_and_direction(sides: &[Array]) -> Vec<Array> {
    arrays_jvp("_hypot", "_hypot_jvp", sides, scaled_length, |x, dx| {
        let results = length_and_direction(x);
        let (length, along) = (&results[0], &results[1..]);
        let dlength = lax::add(&lax::mul(&along[0], &dx[0]), &lax::mul(&along[1], &dx[1]));
        let turned = |side: usize| {
            let own = lax::mul(&along[side], &dlength);
            lax::div(&lax::sub(&dx[side], &own), length)
        };
        let tangents = vec![dlength.clone(), turned(0), turned(1)];
        [results, tangents]
    })
}

/// The length, with sides scaled so that squares neither overflow nor vanish.
#[track_caller]
fn scaled_length(sides: &[Array]) -> Vec<Array> {
    let (x1, x2) = (&sides[0], &sides[1]);
    let format = format("hypot", x1);
    let (a1, a2) = (lax::abs(x1), lax::abs(x2));
    let larger = lax::max(&a1, &a2);
    let smallest_exponent = 1 - format.largest_exponent();
    let shift = (format.mantissa - smallest_exponent + 1).div_euclid(2);
    let high = format.largest_exponent() / 2;
    let power = |exponent: i32| 2.0_f64.powi(exponent);
    let is_high = lax::ge(&larger, &constant(x1, power(high)));
    let is_low = lax::le(&larger, &constant(x1, power(high - shift)));
    let filled = |value: f64| lax::full(x1.shape(), value, x1.dtype());
    let (down, up, one) = (filled(power(-shift)), filled(power(shift)), filled(1.0));
    let scaled = |x: &Array| {
        let reduced = lax::mul(x, &down);
        let raised = lax::select(&is_low, &lax::mul(x, &up), x);
        lax::select(&is_high, &reduced, &raised)
    };
    let (y1, y2) = (scaled(x1), scaled(x2));
    let back = lax::select(&is_high, &up, &lax::select(&is_low, &down, &one));
    let length = lax::sqrt(&lax::add(&lax::square(&y1), &lax::square(&y2)));
    let scaled_back = lax::mul(&length, &back);
    let infinity = filled(f64::INFINITY);
    let infinite = lax::bitwise_or(&lax::eq(&a1, &infinity), &lax::eq(&a2, &infinity));
    let result = lax::select(&infinite, &infinity, &scaled_back);
    vec![result, lax::div(&y1, &length), lax::div(&y2, &length)]
}
