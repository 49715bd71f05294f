//! References and their indices.

use super::Lower;
use super::jaxpr::Scope;
use crate::jaxpr::parse::diagnostic::Mistake;
use crate::jaxpr::parse::syntax::{IndexNode, OperandNode, RefNode};
use crate::jaxpr::{Atoms, Aval, AvalKind};
use crate::prims::{RefIndex, RefIndexer, RefIndices, indexed_shape};

impl<'p> Lower<'_, '_, '_, 'p> {
    /// Operands of a reference (the reference, the value written, index operands), its indices, and the type of what
    /// they give.
    pub(super) fn reference(
        &mut self,
        scope: &mut Scope<'p>,
        node: &RefNode<'p>,
        value: Option<&OperandNode<'p>>,
    ) -> Option<(Atoms, RefIndices, Aval)> {
        let reference = self.variable(scope, node.name)?;
        let mut inputs = Atoms::from_slice(&[reference]);
        if let Some(value) = value {
            inputs.push(self.operand(scope, value)?);
        }
        let aval = scope.jaxpr.aval(reference);
        if aval.kind != AvalKind::Ref {
            self.report(
                Mistake::new(
                    node.name.span(),
                    format!("`{}` is indexed and is not a reference", node.name.text),
                )
                .label(format!("its type is {aval}")),
            );
            return None;
        }
        let mut shape = aval.shape.clone();
        let mut indices = RefIndices::new();
        for axes in &node.indexers {
            if axes.len() != shape.len() {
                self.report(Mistake::new(
                    node.name.span(),
                    format!(
                        "{} indices are given for the {} axes of `{}`",
                        axes.len(),
                        shape.len(),
                        node.name.text
                    ),
                ));
                return None;
            }
            let mut indexer = RefIndexer::new();
            let mut avals = Vec::new();
            for (axis, &dim) in axes.iter().zip(&shape) {
                indexer.push(match axis {
                    IndexNode::At(operand) => {
                        let atom = self.operand(scope, operand)?;
                        inputs.push(atom);
                        avals.push(scope.jaxpr.aval(atom));
                        RefIndex::Operand
                    }
                    IndexNode::DynamicSlice {
                        start,
                        size,
                        stride,
                        ..
                    } => {
                        let atom = self.variable(scope, *start)?;
                        inputs.push(atom);
                        avals.push(scope.jaxpr.aval(atom));
                        RefIndex::DynamicSlice {
                            size: *size,
                            stride: *stride,
                        }
                    }
                    IndexNode::Slice { start, end, stride } => {
                        let (start, end) = (start.unwrap_or(0), end.unwrap_or(dim));
                        let Some(size) = end.checked_sub(start) else {
                            let span = node.name.span();
                            self.report(Mistake::new(
                                span,
                                format!("the slice {start}:{end} ends before it starts"),
                            ));
                            return None;
                        };
                        RefIndex::Slice {
                            start,
                            size,
                            stride: *stride,
                        }
                    }
                });
            }
            shape = indexed_shape(&shape, &indexer, &avals);
            indices.push(indexer);
        }
        let result = Aval {
            kind: AvalKind::Array,
            ..aval.with_shape(&shape)
        };
        Some((inputs, indices, result))
    }
}
