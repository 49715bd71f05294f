//! Reductions and updates by a function of scalars.

use crate::error::{Error, ErrorKind, Result};
use crate::eval::element::update;
use crate::eval::indexing::scatter_pairs;
use crate::eval::interpreter::{Interpreter, Value, Values, tensors, values};
use crate::eval::reduction::Reduction;
use crate::jaxpr::ClosedJaxpr;
use crate::prims::{Reduce, Scatter};
use crate::tensor::Tensor;

/// Element `position` as a rank-0 array.
pub(in crate::eval) fn element(x: &Tensor, position: usize) -> Result<Tensor> {
    let size = x.dtype().size();
    Tensor::from_bytes(
        &[],
        x.dtype(),
        &x.bytes()[position * size..(position + 1) * size],
    )
}

/// An array of `shape` from rank-0 arrays.
pub(in crate::eval) fn gathered(
    shape: &[usize],
    like: &Tensor,
    elements: &[Tensor],
) -> Result<Tensor> {
    let bytes: Vec<u8> = elements.iter().flat_map(Tensor::bytes).copied().collect();
    Tensor::from_bytes(shape, like.dtype(), &bytes)
}

/// Operands and initial values: the first and the second half of the inputs.
pub(in crate::eval) fn operands_and_starts(inputs: Values) -> Result<(Vec<Tensor>, Vec<Tensor>)> {
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
pub(in crate::eval) fn combined(
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

/// Combines the elements along axes by a function, beginning with the initial values.
///
/// The initial values are promised to be neutral, and XLA relies on it: where there is one element to combine, the
/// result is that element, whatever the initial values are.
pub(super) fn reduce(
    interpreter: &mut Interpreter,
    params: &Reduce,
    inputs: Values,
) -> Result<Values> {
    let (operands, starts) = operands_and_starts(inputs)?;
    let reduction = Reduction::new(operands[0].shape(), &params.dimensions)?;
    if reduction.is_reshape() {
        let results = operands.iter().map(|x| x.reshaped(&reduction.shape));
        return results.map(|x| x.map(Value::Tensor)).collect();
    }
    let mut results: Vec<Vec<Tensor>> = vec![Vec::new(); operands.len()];
    for group in reduction.groups() {
        let mut sums = starts.clone();
        for position in group {
            let elements: Vec<Tensor> = operands
                .iter()
                .map(|x| element(x, position))
                .collect::<Result<_>>()?;
            sums = combined(interpreter, &params.jaxpr, sums, elements)?;
        }
        for (result, sum) in results.iter_mut().zip(sums) {
            result.push(sum);
        }
    }
    let results = results.iter().zip(&operands);
    results
        .map(|(elements, x)| gathered(&reduction.shape, x, elements).map(Value::Tensor))
        .collect()
}

/// Replaces elements by a function of themselves and the updates that meet them.
pub(super) fn scatter(
    interpreter: &mut Interpreter,
    params: &Scatter,
    function: &ClosedJaxpr,
    inputs: Values,
) -> Result<Values> {
    let [x, indices, updates] = crate::eval::operands(inputs)?;
    let pairs = scatter_pairs(
        &x,
        &indices,
        &updates,
        &params.dimension_numbers,
        params.mode,
    )?;
    let mut result = x;
    for (target, source) in pairs {
        let old = element(&result, target)?;
        let new = combined(
            interpreter,
            function,
            vec![old],
            [element(&updates, source)?],
        )?;
        result = update(result, |bytes| {
            let new = new[0].bytes();
            bytes[target * new.len()..(target + 1) * new.len()].copy_from_slice(new);
            Ok(())
        })?;
    }
    Ok(values([result]))
}
