//! The types of a call's operands.

use crate::lower::graph::{Graph, ValueId};
use crate::runtime::Signature;
use jaxide_core::{Aval, Cost, DType, Prim, Shape, primitive_cost};

/// An operand: element type and shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Array {
    pub(super) dtype: DType,
    pub(super) shape: Shape,
}

impl Array {
    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The number of bytes.
    fn bytes(&self) -> usize {
        self.len() * self.dtype.size()
    }
}

/// The operands of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operands {
    pub(super) inputs: Vec<Array>,
    pub(super) outputs: Vec<Array>,
}

impl Operands {
    /// Of values of a graph.
    pub(super) fn new(graph: &Graph, args: &[ValueId], results: &[ValueId]) -> Self {
        let arrays = |values: &[ValueId]| {
            let arrays = values.iter().map(|&value| Array {
                dtype: graph.dtype(value),
                shape: Shape::from_slice(graph.shape(value)),
            });
            arrays.collect()
        };
        Operands {
            inputs: arrays(args),
            outputs: arrays(results),
        }
    }

    /// What a primitive costs on them.
    pub(super) fn cost(&self, prim: &Prim) -> Cost {
        let avals = |arrays: &[Array]| -> Vec<Aval> {
            let arrays = arrays.iter();
            arrays
                .map(|array| Aval::new(array.dtype, &array.shape))
                .collect()
        };
        primitive_cost(prim, &avals(&self.inputs), &avals(&self.outputs))
    }

    /// The sizes that a kernel is called with.
    pub(super) fn signature(&self) -> Signature {
        Signature {
            inputs: self.inputs.iter().map(Array::bytes).collect(),
            outputs: self.outputs.iter().map(Array::bytes).collect(),
        }
    }
}
