//! Dimension numbers: which axes of the operands mean what.

use super::{PyType, PyValue, expected, field};
use crate::jaxpr::Dims;

/// A struct that prints as a named tuple.
macro_rules! named_tuple {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty,)* }

        impl PyType for $name {
            const KIND: &'static str = stringify!($name);

            fn to_py(&self) -> PyValue {
                let fields = vec![$((stringify!($field).to_owned(), self.$field.to_py()),)*];
                PyValue::call(stringify!($name), Vec::new(), fields)
            }

            fn from_py(value: &PyValue) -> Result<Self, String> {
                match value {
                    PyValue::Call(call) if call.name == stringify!($name) && call.args.is_empty() => {
                        Ok($name { $($field: <$ty>::from_py(field(call, stringify!($field))?)
                            .map_err(|error| format!("{}: {error}", stringify!($field)))?,)* })
                    }
                    other => expected(stringify!($name), other),
                }
            }
        }
    };
}

named_tuple! {
    /// Which axes of operand, indices and result mean what in `gather`.
    GatherDimensionNumbers {
        /// Axes of the result that run over the window.
        offset_dims: Dims,
        /// Axes of the operand with window length 1 that the result does not have.
        collapsed_slice_dims: Dims,
        /// The axis of the operand that each index component moves along.
        start_index_map: Dims,
        /// Axes of the operand that are batched together with the indices.
        operand_batching_dims: Dims,
        /// Axes of the indices that are batched together with the operand.
        start_indices_batching_dims: Dims,
    }
}

named_tuple! {
    /// Which axes of operand, indices and updates mean what in `scatter`.
    ScatterDimensionNumbers {
        /// Axes of the updates that run over the window.
        update_window_dims: Dims,
        /// Axes of the operand that the window does not have.
        inserted_window_dims: Dims,
        /// The axis of the operand that each index component moves along.
        scatter_dims_to_operand_dims: Dims,
        /// Axes of the operand that are batched together with the indices.
        operand_batching_dims: Dims,
        /// Axes of the indices that are batched together with the operand.
        scatter_indices_batching_dims: Dims,
    }
}

named_tuple! {
    /// Which axes of a convolution's operands are batch, feature and space, in this order.
    ConvDimensionNumbers {
        /// Batch, feature, space of the left operand.
        lhs_spec: Dims,
        /// Output feature, input feature, space of the kernel.
        rhs_spec: Dims,
        /// Batch, feature, space of the result.
        out_spec: Dims,
    }
}

named_tuple! {
    /// Which axes of a ragged product mean what.
    RaggedDotDimensionNumbers {
        /// As in `dot_general`, with tuples.
        dot_dimension_numbers: ((Dims, Dims), (Dims, Dims)),
        /// The ragged axis of the left operand.
        lhs_ragged_dimensions: Dims,
        /// The group axis of the right operand.
        rhs_group_dimensions: Dims,
    }
}

/// Contracting and batch axes of a product, printed with lists: `(([1], [0]), ([], []))`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DotDimensionNumbers {
    /// Contracted axes of the left operand.
    pub lhs_contracting: Dims,
    /// Contracted axes of the right operand.
    pub rhs_contracting: Dims,
    /// Batch axes of the left operand.
    pub lhs_batch: Dims,
    /// Batch axes of the right operand.
    pub rhs_batch: Dims,
}

impl PyType for DotDimensionNumbers {
    const KIND: &'static str = "(([int], [int]), ([int], [int]))";

    fn to_py(&self) -> PyValue {
        let list = |dims: &Dims| PyValue::List(dims.iter().map(PyType::to_py).collect());
        PyValue::Tuple(vec![
            PyValue::Tuple(vec![
                list(&self.lhs_contracting),
                list(&self.rhs_contracting),
            ]),
            PyValue::Tuple(vec![list(&self.lhs_batch), list(&self.rhs_batch)]),
        ])
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        let ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)) =
            <((Dims, Dims), (Dims, Dims))>::from_py(value)?;
        Ok(DotDimensionNumbers {
            lhs_contracting,
            rhs_contracting,
            lhs_batch,
            rhs_batch,
        })
    }
}
