//! Primitives that are not JAX's own.

use super::Lower;
use crate::jaxpr::ClosedJaxpr;
use crate::jaxpr::parse::syntax::{JaxprRef, ParamNode, ValueNode, Word};
use crate::prims::{Foreign, ForeignValue, Prim, PyValue};

/// The parameter that names a function. It is text even where a definition has the same name, as it often does.
pub(super) const FUNCTION_NAME: &str = "name";

impl<'p> Lower<'_, '_, '_, 'p> {
    /// The primitive with its parameters as they are written; `None` when a jaxpr in them has a mistake.
    pub(super) fn foreign(&mut self, word: Word<'p>, params: &[ParamNode<'p>]) -> Option<Prim> {
        let params: Vec<Option<(String, ForeignValue)>> = params
            .iter()
            .map(|param| Some((param.key.text.to_owned(), self.foreign_value(param)?)))
            .collect();
        let foreign = Foreign {
            name: word.text.to_owned(),
            params: params.into_iter().collect::<Option<_>>()?,
            results: Vec::new(),
            effect: false,
        };
        Some(foreign.into())
    }

    fn foreign_value(&mut self, param: &ParamNode<'p>) -> Option<ForeignValue> {
        let text = || ForeignValue::Text(param.text.to_owned());
        match &param.value {
            ValueNode::Py(PyValue::Opaque(name))
                if param.key.text != FUNCTION_NAME && self.names.contains_key(name.as_str()) =>
            {
                self.named(name, param.span.clone())
                    .map(ForeignValue::Jaxpr)
            }
            ValueNode::Py(_) | ValueNode::Programs { .. } => Some(text()),
            ValueNode::Jaxpr(node) => self.inline(node).map(ForeignValue::Jaxpr),
            ValueNode::Jaxprs(refs) => {
                let is_known = |jaxpr: &JaxprRef<'_>| match jaxpr {
                    JaxprRef::Inline(_) => true,
                    JaxprRef::Name(word) => self.names.contains_key(word.text),
                };
                if !refs.iter().all(is_known) {
                    return Some(text());
                }
                let jaxprs: Vec<Option<ClosedJaxpr>> = refs
                    .iter()
                    .map(|jaxpr| match jaxpr {
                        JaxprRef::Inline(node) => self.inline(node),
                        JaxprRef::Name(word) => self.named(word.text, word.span()),
                    })
                    .collect();
                let jaxprs = jaxprs.into_iter().collect::<Option<_>>()?;
                Some(ForeignValue::Jaxprs(jaxprs))
            }
        }
    }
}
