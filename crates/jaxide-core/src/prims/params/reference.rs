//! Indices of references.

use smallvec::SmallVec;

use crate::jaxpr::{Aval, Shape};

/// How a reference is indexed along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefIndex {
    /// A run of elements at a fixed place: `1:3`.
    Slice {
        /// First element.
        start: usize,
        /// Number of elements.
        size: usize,
        /// Distance between them.
        stride: usize,
    },
    /// A run of elements that starts at the next index operand: `i:i+2`.
    DynamicSlice {
        /// Number of elements.
        size: usize,
        /// Distance between them.
        stride: usize,
    },
    /// The elements that the next index operand names, a scalar or an array: `i`. The axis disappears, and the axes
    /// of the operand appear.
    Operand,
}

/// One index for each axis of what is indexed.
pub type RefIndexer = SmallVec<[RefIndex; 2]>;

/// The indexers of a reference, each applied to what the one before gives: `[0,:][1:3]`. None is all of it (`[...]`).
pub type RefIndices = SmallVec<[RefIndexer; 1]>;

/// The shape of what an indexer gives of an array of `shape`; `operands` are the types of its index operands.
///
/// All index operands that name elements have one shape, which stands where the first of them is, or in front when
/// there is a slice between them (NumPy's rule).
pub fn indexed_shape(shape: &[usize], indexer: &[RefIndex], operands: &[Aval]) -> Shape {
    let mut operands = operands.iter();
    let mut result = Shape::new();
    let mut indexed: Option<(usize, Shape)> = None;
    let mut positions = Vec::new();
    for (axis, index) in indexer.iter().enumerate().take(shape.len()) {
        match index {
            RefIndex::Slice { size, .. } => result.push(*size),
            RefIndex::DynamicSlice { size, .. } => {
                operands.next();
                result.push(*size);
            }
            RefIndex::Operand => {
                let axes = operands
                    .next()
                    .map(|aval| aval.shape.clone())
                    .unwrap_or_default();
                positions.push(axis);
                indexed.get_or_insert((result.len(), axes));
            }
        }
    }
    if let Some((place, axes)) = indexed {
        let together = positions.windows(2).all(|pair| pair[1] == pair[0] + 1);
        result.insert_many(if together { place } else { 0 }, axes);
    }
    result
}
