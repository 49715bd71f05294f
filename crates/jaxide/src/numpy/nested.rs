//! Functions that others are made of, as JAX writes them inside of those: calls of named functions.

use jaxide_core::prims::{RoundingMethod, SearchSide};
use jaxide_core::{DType, Scalar};

use super::arithmetic::{numeric, promote_inexact, promote_numeric};
use super::{broadcast_to, common_shape};
use crate::array::{Array, Repr, as_dtype, promote_dtypes};
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

/// `where` as a call.
#[track_caller]
pub(crate) fn choose(condition: &Array, x: &Array, y: &Array) -> Array {
    library("_where", "", [condition, x, y], |[condition, x, y]| {
        let condition = if condition.dtype() == DType::Bool {
            condition.clone()
        } else {
            lax::ne(condition, &constant(0, condition.dtype()))
        };
        let [x, y] = promote_dtypes("where", [x, y]);
        let shape = common_shape("where", &[condition.shape(), x.shape(), y.shape()]);
        let condition = if condition.ndim() == 0 {
            condition
        } else {
            broadcast_to(&condition, &shape)
        };
        let (x, y) = (broadcast_to(&x, &shape), broadcast_to(&y, &shape));
        if x.size() == 0 {
            return x;
        }
        lax::select(&condition, &x, &y)
    })
}

/// `remainder` as a call.
#[track_caller]
pub(crate) fn remainder(x: &Array, y: &Array) -> Array {
    library("remainder", "", [x, y], |[x, y]| {
        let [x, y] = promote_numeric("remainder", [x, y]);
        let zero = constant(0, x.dtype());
        let y = if y.dtype().is_integer() {
            let ones = if y.ndim() == 0 {
                constant(1, y.dtype())
            } else {
                lax::full(y.shape(), 1, y.dtype())
            };
            choose(&lax::eq(&y, &zero), &ones, &y)
        } else {
            y
        };
        let truncated = lax::rem(&x, &y);
        let nonzero = lax::ne(&truncated, &zero);
        let signs_differ = lax::ne(&lax::lt(&truncated, &zero), &lax::lt(&y, &zero));
        let moves = lax::bitwise_and(&signs_differ, &nonzero);
        lax::select(&moves, &lax::add(&truncated, &y), &truncated)
    })
}

/// `floor_divide` of signed integers as a call.
#[track_caller]
pub(crate) fn floor_quotient(x: &Array, y: &Array) -> Array {
    library("floor_divide", "", [x, y], |[x, y]| {
        let [x, y] = promote_numeric("floor_divide", [x, y]);
        if x.dtype().is_unsigned_integer() {
            return lax::div(&x, &y);
        }
        let quotient = lax::div(&x, &y);
        let signs_differ = lax::ne(&lax::sign(&x), &lax::sign(&y));
        let inexact = lax::ne(&lax::rem(&x, &y), &constant(0, x.dtype()));
        let below = lax::bitwise_and(&signs_differ, &inexact);
        choose(&below, &lax::sub(&quotient, &Array::from(1)), &quotient)
    })
}

/// `clip` as a call.
#[track_caller]
pub(crate) fn clip(x: &Array, min: &Array, max: &Array) -> Array {
    library("clip", "", [x, min, max], |[x, min, max]| {
        super::minimum(max, &super::maximum(min, x))
    })
}

/// `cumsum` as a call.
#[track_caller]
pub(crate) fn cumsum(x: &Array, axis: usize) -> Array {
    library("cumsum", &axis.to_string(), [x], |[x]| {
        lax::cumsum(&as_dtype(x, numeric(x.dtype()), false), axis, false)
    })
}

/// `sort` of a vector as a call.
#[track_caller]
pub(crate) fn sort(x: &Array) -> Array {
    library("sort", "", [x], |[x]| {
        lax::sort(std::slice::from_ref(x), 0, 1)[0].clone()
    })
}

/// `argsort` of a vector as a call.
#[track_caller]
pub(crate) fn argsort(x: &Array) -> Array {
    library("argsort", "", [x], |[x]| {
        let positions = lax::iota(super::position_type(x), x.shape(), 0);
        lax::sort(&[x.clone(), positions], 0, 1)[1].clone()
    })
}

/// `searchsorted` from the right as a call.
#[track_caller]
pub(crate) fn searchsorted_right(sorted: &Array, query: &Array) -> Array {
    library("searchsorted", "right", [sorted, query], |operands| {
        let [sorted, query] = promote_dtypes("searchsorted", operands);
        lax::searchsorted(&sorted, &query, SearchSide::Right)
    })
}

/// `round` as a call.
#[track_caller]
pub(crate) fn round(x: &Array) -> Array {
    library("round", "0", [x], |[x]| {
        if x.dtype().is_integer() {
            x.clone()
        } else {
            lax::round(x, RoundingMethod::ToNearestEven)
        }
    })
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
