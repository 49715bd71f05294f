//! Functions that others are made of and that NumPy has not, or not with these arguments: calls of named functions.

use jaxide_core::{DType, Scalar};

use super::arithmetic::promote_inexact;
use crate::array::{Array, Repr, as_dtype, promote};
use crate::trace::library;
use crate::trace::library::library_call;
use crate::{custom_jvp, lax};

/// A number as a constant of an element type, rounded to it as JAX rounds before it writes it down.
#[track_caller]
pub(crate) fn constant(value: impl Into<Array>, dtype: DType) -> Array {
    let value = as_dtype(&value.into(), dtype, false);
    let Repr::Number(mut literal) = value.0 else {
        return value;
    };
    let bytes = literal.value.to_bytes(dtype).ok();
    literal.value = bytes
        .and_then(|bytes| Scalar::from_bytes(dtype, &bytes))
        .unwrap_or(literal.value);
    Array(Repr::Number(literal))
}

/// The modified Bessel function of order zero as a call.
#[track_caller]
pub(crate) fn i0(x: &Array) -> Array {
    fn i0_impl(x: Array) -> Array {
        let size = lax::abs(&x);
        lax::mul(&lax::exp(&size), &lax::bessel_i0e(&size))
    }
    fn i0_impl_jvp((x,): (Array,), (tangent,): (Array,)) -> (Array, Array) {
        let growth = lax::exp(&lax::abs(&x));
        let slope = lax::mul(&growth, &lax::bessel_i1e(&x));
        (i0_impl(x), lax::mul(&tangent, &slope))
    }
    library("i0", "", [x], |[x]| {
        let [x] = promote_inexact("i0", [x]);
        custom_jvp(i0_impl, i0_impl_jvp)(x)
    })
}

/// [`library_call`] of a function of any number of operands with one result.
#[track_caller]
pub(crate) fn named(
    name: &str,
    parameters: &str,
    operands: &[Array],
    f: impl FnOnce(&[Array]) -> Array,
) -> Array {
    library_call(name, parameters, operands, |operands| vec![f(operands)]).swap_remove(0)
}

/// The call `clip` with its bounds by name, which are in alphabetical order then.
///
/// # Panics
/// As [`clip`].
#[track_caller]
pub(crate) fn clip_by_name(x: &Array, min: &Array, max: &Array) -> Array {
    library("clip", "by name", [x, max, min], |[x, max, min]| {
        let [min, x] = promote("clip", [min, x]);
        let above = lax::max(&min, &x);
        let [max, above] = promote("clip", [max, &above]);
        lax::min(&max, &above)
    })
}

/// A number without a type of its own, as JAX writes it beside arrays of an element type: rounded to it, if the type has fractions.
pub(crate) fn rounded(value: f64, dtype: DType) -> Array {
    if !dtype.is_inexact() {
        return Array::from(value);
    }
    let bytes = Scalar::Float(value).to_bytes(dtype).ok();
    let exact = bytes.and_then(|bytes| Scalar::from_bytes(dtype, &bytes)?.as_f64());
    Array::from(exact.unwrap_or(value))
}
