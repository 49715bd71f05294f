//! Combining the elements of windows.

use super::{Slide, Sliding};
use crate::error::Result;
use crate::eval::combiner::{combined, element, gathered, operands_and_starts};
use crate::eval::interpreter::{Interpreter, Value, Values};
use crate::jaxpr::ClosedJaxpr;
use crate::tensor::Tensor;

/// Reduces each window by a reduction of whole arrays; padding does not take part.
pub(in crate::eval) fn reduce_window(
    x: &Tensor,
    slides: &[Slide],
    reduce: fn(&Tensor, &[usize]) -> Result<Tensor>,
) -> Result<Tensor> {
    let sliding = Sliding::new(x.shape(), slides)?;
    let size = x.dtype().size();
    let mut results = Vec::new();
    for window in sliding.windows() {
        let bytes: Vec<u8> = window
            .iter()
            .flat_map(|&at| &x.bytes()[at * size..(at + 1) * size])
            .copied()
            .collect();
        let elements = Tensor::from_bytes(&[window.len()], x.dtype(), &bytes)?;
        results.push(reduce(&elements, &[0])?);
    }
    gathered(&sliding.shape, x, &results)
}

/// Combines each window by a function of scalars, beginning with the initial values.
pub(in crate::eval) fn reduce_window_by(
    interpreter: &mut Interpreter,
    function: &ClosedJaxpr,
    slides: &[Slide],
    inputs: Values,
) -> Result<Values> {
    let (operands, starts) = operands_and_starts(inputs)?;
    let sliding = Sliding::new(operands[0].shape(), slides)?;
    let mut results: Vec<Vec<Tensor>> = vec![Vec::new(); operands.len()];
    for window in sliding.windows() {
        let mut sums = starts.clone();
        for position in window {
            let elements: Vec<Tensor> = operands
                .iter()
                .map(|x| element(x, position))
                .collect::<Result<_>>()?;
            sums = combined(interpreter, function, sums, elements)?;
        }
        for (result, sum) in results.iter_mut().zip(sums) {
            result.push(sum);
        }
    }
    results
        .iter()
        .zip(&operands)
        .map(|(elements, x)| gathered(&sliding.shape, x, elements).map(Value::Tensor))
        .collect()
}
