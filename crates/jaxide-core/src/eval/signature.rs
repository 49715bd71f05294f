//! Primitives by the numbers of their operands and results: what the arms of `meaning` are written with.

use num_complex::Complex;

use super::elementwise::{self, Comparison};
use super::indexing::{self, Combine};
use super::interpreter::{Interpreter, Meaning, Value, Values, tensors};
use super::reduction::{self, Cumulation};
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::ClosedJaxpr;
use crate::prims::{GatherScatterMode, ScatterDimensionNumbers};
use crate::tensor::Tensor;

/// Exactly `N` arrays.
pub(super) fn operands<const N: usize>(inputs: Values) -> Result<[Tensor; N]> {
    tensors(inputs)?.try_into().map_err(|inputs: Vec<Tensor>| {
        Error::new(
            ErrorKind::Arity,
            format!("takes {N} operands, and {} are given", inputs.len()),
        )
    })
}

/// One array and any number more.
pub(super) fn first_and_rest(inputs: Values) -> Result<(Tensor, Vec<Tensor>)> {
    let mut inputs = inputs.into_iter().map(Value::tensor);
    let first = inputs
        .next()
        .ok_or_else(|| Error::new(ErrorKind::Arity, "takes at least one operand"))??;
    Ok((first, inputs.collect::<Result<_>>()?))
}

/// One result.
pub(super) fn one<'a>(result: Result<Tensor>) -> Result<Meaning<'a>> {
    several(result.map(|result| vec![result]))
}

/// Any number of results.
pub(super) fn several<'a>(results: Result<Vec<Tensor>>) -> Result<Meaning<'a>> {
    results.map(Meaning::Arrays)
}

/// The operands are the results.
pub(super) fn unchanged<'a>(inputs: Values) -> Result<Meaning<'a>> {
    several(tensors(inputs))
}

/// One operand, one result.
pub(super) fn unary<'a>(
    inputs: Values,
    f: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Meaning<'a>> {
    let [x] = operands(inputs)?;
    one(f(&x))
}

/// Two operands, one result.
pub(super) fn binary<'a>(
    inputs: Values,
    f: impl FnOnce(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Meaning<'a>> {
    let [x, y] = operands(inputs)?;
    one(f(&x, &y))
}

/// Three operands, one result.
pub(super) fn ternary<'a>(
    inputs: Values,
    f: impl FnOnce(&Tensor, &Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Meaning<'a>> {
    let [x, y, z] = operands(inputs)?;
    one(f(&x, &y, &z))
}

/// One operand, several results.
pub(super) fn unary_several<'a>(
    inputs: Values,
    f: impl FnOnce(&Tensor) -> Result<Vec<Tensor>>,
) -> Result<Meaning<'a>> {
    let [x] = operands(inputs)?;
    several(f(&x))
}

/// One operand and any number more, one result.
pub(super) fn variadic<'a>(
    inputs: Values,
    f: impl FnOnce(&Tensor, &[Tensor]) -> Result<Tensor>,
) -> Result<Meaning<'a>> {
    let (first, rest) = first_and_rest(inputs)?;
    one(f(&first, &rest))
}

/// Any number of operands, one result.
pub(super) fn all<'a>(
    inputs: Values,
    f: impl FnOnce(Vec<Tensor>) -> Result<Tensor>,
) -> Result<Meaning<'a>> {
    one(f(tensors(inputs)?))
}

/// A function that floats and complex numbers have.
pub(super) fn analytic<'a>(
    inputs: Values,
    real: fn(f64) -> f64,
    complex: fn(Complex<f64>) -> Complex<f64>,
) -> Result<Meaning<'a>> {
    unary(inputs, |x| elementwise::analytic(x, real, complex))
}

/// A function that only floats have.
pub(super) fn special<'a>(inputs: Values, f: fn(f64) -> f64) -> Result<Meaning<'a>> {
    unary(inputs, |x| elementwise::special(x, f))
}

/// A function of two arguments that only floats have.
pub(super) fn special2<'a>(inputs: Values, f: fn(f64, f64) -> f64) -> Result<Meaning<'a>> {
    binary(inputs, |x, y| elementwise::special2(x, y, f))
}

/// A comparison under which NaN is unequal to everything.
pub(super) fn compare<'a>(inputs: Values, how: Comparison) -> Result<Meaning<'a>> {
    binary(inputs, |x, y| elementwise::compare(x, y, how))
}

/// A comparison in the total order.
pub(super) fn compare_total<'a>(inputs: Values, how: Comparison) -> Result<Meaning<'a>> {
    binary(inputs, |x, y| elementwise::compare_total(x, y, how))
}

/// Sums and the like of all elements up to each.
pub(super) fn cumulate<'a>(
    inputs: Values,
    how: Cumulation,
    axis: usize,
    reverse: bool,
) -> Result<Meaning<'a>> {
    unary(inputs, |x| reduction::cumulate(x, how, axis, reverse))
}

/// Updates an operand where indices say.
pub(super) fn scatter<'a>(
    inputs: Values,
    numbers: &ScatterDimensionNumbers,
    mode: GatherScatterMode,
    combine: Combine,
) -> Result<Meaning<'a>> {
    let [x, indices, updates] = operands(inputs)?;
    one(indexing::scatter(
        x, &indices, &updates, numbers, mode, combine,
    ))
}

/// What needs the interpreter.
pub(super) fn run<'a>(
    run: impl FnOnce(&mut Interpreter) -> Result<Values> + 'a,
) -> Result<Meaning<'a>> {
    Ok(Meaning::Run(Box::new(run)))
}

/// A call on all operands.
pub(super) fn call(jaxpr: &ClosedJaxpr, inputs: Values) -> Result<Meaning<'_>> {
    run(move |it| it.call(jaxpr, inputs))
}
