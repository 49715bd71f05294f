//! Equations that the reference interpreter runs.
//!
//! Loops combine elements by functions that have a form per element. Where such a function calls the library (a series, a sort), which
//! works on arrays in memory, the whole equation is left to the interpreter: rare, and never wrong.

use super::operands::{Array, Operands};
use super::routine::routine;
use crate::runtime::{KernelCall, KernelError};
use jaxide_core::{Aval, Builder, Prim, Result, Tensor, eval};

/// The equation of `prim` on operands of these types.
pub(super) fn interpreted(operands: &Operands, prim: impl Into<Prim>) -> Result<Box<KernelCall>> {
    let b = Builder::new();
    let aval = |array: &Array| b.input(Aval::new(array.dtype, &array.shape));
    let args: Vec<_> = operands.inputs.iter().map(aval).collect();
    let results = b.emit(prim, &args)?;
    let program = b.finish(&results)?;
    let inputs = operands.inputs.clone();
    let failed = |error: jaxide_core::Error| KernelError::new(error.to_string());
    Ok(routine(operands, move |buffers, _| {
        let arrays = inputs
            .iter()
            .enumerate()
            .map(|(k, input)| Tensor::from_bytes(&input.shape, input.dtype, buffers.input(k)))
            .collect::<Result<Vec<_>>>()
            .map_err(failed)?;
        let results = eval::eval(&program, &arrays).map_err(failed)?;
        for (k, result) in results.iter().enumerate() {
            buffers.output::<u8>(k).copy_from_slice(result.bytes());
        }
        Ok(())
    }))
}
