//! Primitives that are not JAX's own.

use std::sync::Arc;

use super::{Lower, State, program_at};
use crate::jaxpr::ClosedJaxpr;
use crate::jaxpr::parse::cursor::DEEPEST_JAXPR;
use crate::jaxpr::parse::syntax::{JaxprRef, ParamNode, Program, ValueNode, Word};
use crate::prims::{Foreign, ForeignValue, Prim};

/// The parameter that names a function. It is text even where a definition has the same name, as it often does.
pub(super) const FUNCTION_NAME: &str = "name";

impl<'p> Lower<'_, '_, '_, 'p> {
    /// The primitive with its parameters as they are written; `None` when a jaxpr in them has a mistake.
    pub(super) fn foreign(&mut self, word: Word<'p>, params: &[ParamNode<'p>]) -> Option<Prim> {
        let params: Vec<Option<(String, ForeignValue)>> = params
            .iter()
            .map(|param| Some((param.key.text.to_owned(), self.foreign_value(param)?)))
            .collect();
        let params: Vec<(String, ForeignValue)> = params.into_iter().collect::<Option<_>>()?;
        let foreign = Foreign {
            name: word.text.to_owned(),
            order: self.order_of(&params),
            params,
            results: Vec::new(),
            effect: false,
        };
        Some(foreign.into())
    }

    fn foreign_value(&mut self, param: &ParamNode<'p>) -> Option<ForeignValue> {
        let text = |jaxprs| ForeignValue::Text {
            text: param.text.text.to_owned(),
            jaxprs,
        };
        let name = param.value.word().filter(|name| self.is_name(name));
        if let Some(name) = name.filter(|_| param.key.text != FUNCTION_NAME) {
            let named = self.named(name, param.text.span());
            return named.map(ForeignValue::Jaxpr);
        }
        match &param.value {
            ValueNode::Py(_) | ValueNode::Programs(_) => Some(text(Vec::new())),
            ValueNode::Text(programs) => Some(text(self.hoisted(programs))),
            ValueNode::Jaxpr(node) => self.inline(node).map(ForeignValue::Jaxpr),
            ValueNode::Jaxprs(refs) => {
                let is_known = |jaxpr: &JaxprRef<'_>| match jaxpr {
                    JaxprRef::Inline(_) => true,
                    JaxprRef::Name(word) => self.is_name(word.text),
                };
                if !refs.iter().all(is_known) {
                    return Some(text(Vec::new()));
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

    /// Whether a word names a definition.
    fn is_name(&self, word: &str) -> bool {
        self.names.contains_key(word) && !self.is_text(word)
    }

    /// The jaxprs of programs inside text, where definitions around it tell that JAX found them.
    fn hoisted(&mut self, programs: &[Program<'p>]) -> Vec<ClosedJaxpr> {
        let depth = self.depth + 1;
        if depth >= DEEPEST_JAXPR || self.program.definitions.is_empty() {
            return Vec::new();
        }
        // A mistake in them is none of the text around them.
        let mistakes = self.context.mistakes.len();
        self.context.outside.push(std::mem::take(&mut self.known));
        let jaxprs: Vec<ClosedJaxpr> = programs
            .iter()
            .filter_map(|program| {
                let closed = program_at(self.context, program, depth)?;
                (self.context.mistakes.len() == mistakes).then_some(closed)
            })
            .collect();
        self.known = self.context.outside.pop().unwrap_or_default();
        self.context.mistakes.truncate(mistakes);
        jaxprs
    }

    /// In which order JAX found the jaxprs of these parameters, as far as the order of definitions tells.
    fn order_of(&self, params: &[(String, ForeignValue)]) -> Vec<usize> {
        let definition = |jaxpr: &ClosedJaxpr| {
            self.definitions.iter().position(|state| match state {
                State::Read(definition) => Arc::ptr_eq(&definition.jaxpr, &jaxpr.jaxpr),
                State::Unread | State::Reading | State::Failed => false,
            })
        };
        let first = |value: &ForeignValue| match value {
            ForeignValue::Jaxpr(jaxpr) => definition(jaxpr),
            ForeignValue::Text { jaxprs, .. } | ForeignValue::Jaxprs(jaxprs) => {
                jaxprs.iter().find_map(definition)
            }
        };
        let mut order: Vec<usize> = (0..params.len()).collect();
        let defined: Vec<Option<usize>> = params.iter().map(|(_, value)| first(value)).collect();
        let places: Vec<usize> = (0..params.len())
            .filter(|&index| defined[index].is_some())
            .collect();
        let mut sorted = places.clone();
        sorted.sort_by_key(|&index| defined[index]);
        for (&place, &index) in places.iter().zip(&sorted) {
            order[place] = index;
        }
        order
    }
}
