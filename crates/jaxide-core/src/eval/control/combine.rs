//! Reductions and updates by a function of scalars.

use crate::error::Result;
use crate::eval::combiner::{combined, element, gathered, operands_and_starts};
use crate::eval::element::update;
use crate::eval::indexing::scatter_pairs;
use crate::eval::interpreter::{Interpreter, Value, Values, values};
use crate::eval::reduction::Reduction;
use crate::eval::signature::operands;
use crate::jaxpr::ClosedJaxpr;
use crate::prims::{Reduce, Scatter};
use crate::tensor::Tensor;

/// Combines the elements along axes by a function, beginning with the initial values.
///
/// The initial values are promised to be neutral, and XLA relies on it: where there is one element to combine, the
/// result is that element, whatever the initial values are.
pub(in crate::eval) fn reduce(
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
pub(in crate::eval) fn scatter(
    interpreter: &mut Interpreter,
    params: &Scatter,
    function: &ClosedJaxpr,
    inputs: Values,
) -> Result<Values> {
    let [x, indices, updates] = operands(inputs)?;
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
