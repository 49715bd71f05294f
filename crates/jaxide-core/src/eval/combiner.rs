//! Functions of scalars that primitives combine elements by.

use super::interpreter::{Interpreter, Values, tensors, values};
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::ClosedJaxpr;
use crate::tensor::Tensor;

/// Element `position` as a rank-0 array.
pub(super) fn element(x: &Tensor, position: usize) -> Result<Tensor> {
    let size = x.dtype().size();
    Tensor::from_bytes(
        &[],
        x.dtype(),
        &x.bytes()[position * size..(position + 1) * size],
    )
}

/// An array of `shape` from rank-0 arrays.
pub(super) fn gathered(shape: &[usize], like: &Tensor, elements: &[Tensor]) -> Result<Tensor> {
    let bytes: Vec<u8> = elements.iter().flat_map(Tensor::bytes).copied().collect();
    Tensor::from_bytes(shape, like.dtype(), &bytes)
}

/// Operands and initial values: the first and the second half of the inputs.
pub(super) fn operands_and_starts(inputs: Values) -> Result<(Vec<Tensor>, Vec<Tensor>)> {
    let mut operands = tensors(inputs)?;
    let starts = operands.split_off(operands.len() / 2);
    let Some(first) = operands.first() else {
        return Err(Error::new(
            ErrorKind::Arity,
            "takes operands and as many initial values",
        ));
    };
    let fits = starts.len() == operands.len()
        && operands
            .iter()
            .all(|operand| operand.shape() == first.shape())
        && starts.iter().all(|start| start.shape().is_empty());
    if !fits {
        return Err(Error::shape(
            "takes operands of one shape and as many scalar initial values",
        ));
    }
    Ok((operands, starts))
}

/// Applies a function of two sets of scalars.
pub(super) fn combined(
    interpreter: &mut Interpreter,
    function: &ClosedJaxpr,
    left: Vec<Tensor>,
    right: impl IntoIterator<Item = Tensor>,
) -> Result<Vec<Tensor>> {
    let count = left.len();
    let results = interpreter.call(function, values(left.into_iter().chain(right)))?;
    if results.len() != count {
        return Err(Error::new(
            ErrorKind::Arity,
            format!("the function gives {} results, not {count}", results.len()),
        ));
    }
    tensors(results)
}
