//! Powers.

use jaxide_core::prims;
use jaxide_core::{Error, Scalar};

use super::super::arithmetic::promote_numeric;
use super::where_;
use crate::array::{Array, Repr, as_dtype, promote, promote_ranks, result_dtype};
use crate::lax;
use crate::trace::{bind_one, raise, tracing};

/// `x` to the power `y`. A bare integer exponent multiplies repeatedly. Of integer arrays, what is raised to a negative number
/// is not defined beyond `x` of 0 and 1, as in JAX.
///
/// # Panics
/// When shapes do not broadcast, or an integer is raised to a negative number of the program.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([2.0f32, -3.0]);
/// assert_eq!(numpy::power(&x, -1).to_vec::<f32>(), [0.5, -1.0 / 3.0]);
/// assert_eq!(numpy::power(&x, 2.0).to_vec::<f32>(), [4.0, 9.0]);
/// ```
#[track_caller]
pub fn power(x: impl Into<Array>, y: impl Into<Array>) -> Array {
    let _named = crate::trace::named("power");
    raised(&x.into(), &y.into())
}

#[track_caller]
fn raised(x: &Array, y: &Array) -> Array {
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
        if tracing() {
            // JAX promotes the exponent before it decides this, and records the conversion.
            as_dtype(&y, dtype, weak);
        }
        return bind_one(prims::Pow, &[x, y]);
    }
    let [x, y] = promote("power", [x, y]);
    lax::pow(&x, &y)
}

/// Integer power by squaring, a fixed number of steps: more overflow for every base that is not 0, 1 or -1.
#[track_caller]
fn integer_power(x: &Array, y: &Array) -> Array {
    let strong = |value: i64| as_dtype(&Array::from(value), x.dtype(), false);
    let (zero, one) = (strong(0), strong(1));
    let vanishes = lax::bitwise_and(&lax::eq(x, &zero), &lax::ne(y, &zero));
    let mut result = where_(&vanishes, &zero, &one);
    let (mut base, mut exponent) = (x.clone(), y.clone());
    for _ in 0..6 {
        let odd = lax::bitwise_and(&exponent, &one);
        result = where_(&odd, &lax::mul(&result, &base), &result);
        base = lax::mul(&base, &base);
        exponent = lax::shift_right_logical(&exponent, &one);
    }
    result
}
