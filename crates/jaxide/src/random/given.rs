//! What samplers are given: single keys, shapes that parameters broadcast to, element types.

use jaxide_core::{DType, Error};

use super::number;
use crate::array::{Array, Numbers, as_dtype, lengths, result_dtype};
use crate::numpy::{broadcast_shapes, check_broadcast_to};
use crate::random::wrap_key_data;
use crate::trace::raise;

/// One key. The words of a key stand for it.
#[track_caller]
pub(super) fn single(operation: &str, key: &Array) -> Array {
    let key = if key.dtype() == DType::U32 && key.shape().last() == Some(&2) {
        wrap_key_data(key)
    } else {
        key.clone()
    };
    if !key.dtype().is_key() {
        let error = Error::dtype(format!("a key is needed, and {} is given", key.aval()));
        raise(error.in_operation(operation));
    }
    if key.ndim() > 0 {
        let error = Error::shape(format!("one key is needed, and {} is given", key.aval()));
        raise(
            error
                .in_operation(operation)
                .note("map over keys with `vmap`"),
        );
    }
    key
}

/// The shape that is given, to which the parameters must broadcast, or the one to which they broadcast together.
#[track_caller]
pub(super) fn sampled_shape(
    operation: &str,
    given: Option<&Numbers>,
    parameters: &[&[usize]],
) -> Vec<usize> {
    let Some(given) = given else {
        return broadcast_shapes(operation, parameters);
    };
    let shape = lengths(operation, &given[..]).to_vec();
    for parameter in parameters {
        check_broadcast_to(operation, parameter, &shape);
    }
    shape
}

/// The element type of float samples.
#[track_caller]
pub(super) fn float_type(operation: &str, dtype: impl Into<Option<DType>>) -> DType {
    let dtype = dtype.into().unwrap_or(DType::F32);
    if !dtype.is_float() {
        let error = format!("samples are floats, and {dtype} is asked for");
        raise(Error::dtype(error).in_operation(operation));
    }
    dtype
}

/// The element type of counted samples.
#[track_caller]
pub(super) fn integer_type(operation: &str, dtype: impl Into<Option<DType>>) -> DType {
    let dtype = dtype.into().unwrap_or(DType::I32);
    if !dtype.is_integer() {
        let error = format!("samples are integers, and {dtype} is asked for");
        raise(Error::dtype(error).in_operation(operation));
    }
    dtype
}

/// Parameters must not lose anything in the element type of the samples.
#[track_caller]
pub(super) fn check_safe(operation: &str, dtype: DType, parameters: &[&Array]) {
    let sample = number(0.0, dtype);
    for parameter in parameters {
        if result_dtype(operation, &[parameter, &sample]).0 != dtype {
            let error = format!("{} does not fit samples of {dtype}", parameter.aval());
            raise(Error::dtype(error).in_operation(operation));
        }
    }
}

/// Operands with their common element type, which is float or complex. Ranks stay.
#[track_caller]
pub(super) fn inexact<const N: usize>(operation: &str, operands: [&Array; N]) -> [Array; N] {
    let (dtype, weak) = result_dtype(operation, &operands);
    let dtype = match dtype {
        dtype if dtype.is_inexact() => dtype,
        DType::I64 | DType::U64 => DType::F64,
        _ => DType::F32,
    };
    operands.map(|x| as_dtype(x, dtype, weak))
}
