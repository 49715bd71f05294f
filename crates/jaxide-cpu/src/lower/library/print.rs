//! Printing while running.

use super::operands::Operands;
use super::routine::routine;
use crate::runtime::{KernelCall, KernelError};
use jaxide_core::Tensor;
use jaxide_core::prims::DebugPrint;

pub(super) fn debug_print(operands: &Operands, params: &DebugPrint) -> Box<KernelCall> {
    let (format, inputs) = (params.fmt.clone(), operands.inputs.clone());
    routine(operands, move |buffers, context| {
        let arrays = inputs
            .iter()
            .enumerate()
            .map(|(k, input)| Tensor::from_bytes(&input.shape, input.dtype, buffers.input(k)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| KernelError::new(error.to_string()))?;
        context.print(&format.0, &arrays);
        Ok(())
    })
}
