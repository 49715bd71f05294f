//! Choosing between functions.

use crate::error::{Error, ErrorKind, Result};
use crate::eval::element::integers;
use crate::eval::interpreter::{Interpreter, Values};
use crate::jaxpr::ClosedJaxpr;
use crate::prims::{Opaque, PyValue};
use crate::tensor::Tensor;

/// The branch that the first operand selects, applied to the others; an index out of range selects the nearest.
pub(in crate::eval) fn cond(
    interpreter: &mut Interpreter,
    branches: &[ClosedJaxpr],
    inputs: Values,
) -> Result<Values> {
    let mut inputs = inputs.into_iter();
    let selector = inputs
        .next()
        .ok_or_else(|| Error::new(ErrorKind::Arity, "the index is missing"))?
        .tensor()?;
    let index = match (selector.shape(), branches.len().checked_sub(1)) {
        ([], Some(last)) => integers(&selector)?
            .next()
            .unwrap_or(0)
            .clamp(0, last as i128) as usize,
        ([], None) => return Err(Error::parameter("there are no branches")),
        _ => {
            return Err(Error::shape(format!(
                "the index is {}, not a scalar",
                selector.aval()
            )));
        }
    };
    interpreter.call(&branches[index], inputs.collect())
}

/// The index of the tuple of platforms that has `cpu`, else of the default, `None`.
pub(in crate::eval) fn platform_index(platforms: &Opaque) -> Result<Tensor> {
    let unknown = || {
        Error::parameter(format!(
            "platforms are {}, without cpu or a default",
            platforms.0
        ))
    };
    let PyValue::Tuple(choices) = &platforms.0 else {
        return Err(unknown());
    };
    let names_cpu = |choice: &PyValue| match choice {
        PyValue::Tuple(names) => names.iter().any(|name| name.to_string() == "cpu"),
        _ => false,
    };
    let index = choices
        .iter()
        .position(names_cpu)
        .or_else(|| choices.iter().position(|choice| *choice == PyValue::None))
        .ok_or_else(unknown)?;
    Ok(Tensor::scalar(index as i32))
}
