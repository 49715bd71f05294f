//! Primitives and their parameters.

use super::foreign::FUNCTION_NAME;
use super::{Lower, State, program_at};
use crate::jaxpr::parse::cursor::DEEPEST_JAXPR;
use crate::jaxpr::parse::diagnostic::Mistake;
use crate::jaxpr::parse::legacy;
use crate::jaxpr::parse::syntax::{JaxprNode, JaxprRef, ParamNode, Span, ValueNode, Word};
use crate::jaxpr::{Aval, ClosedJaxpr};
use crate::prims::{ParamValue, Prim, PyValue};

/// Whether the values of a parameter are jaxprs, so that a word there is the name of one; or may be, where nothing is known
/// of its primitive.
pub(super) fn is_jaxpr(prim: &str, key: &str) -> bool {
    let Some(info) = legacy::info(prim) else {
        return key != FUNCTION_NAME;
    };
    let key = legacy::current_key(info, key);
    info.params
        .iter()
        .any(|param| param.name == key && is_jaxpr_kind(param.kind))
}

fn is_jaxpr_kind(kind: &str) -> bool {
    kind == "jaxpr" || kind == "jaxpr or None" || kind == "(jaxpr ...)"
}

impl<'p> Lower<'_, '_, '_, 'p> {
    /// The primitive with its parameters.
    pub(super) fn prim(
        &mut self,
        word: Word<'p>,
        params: &[ParamNode<'p>],
        operands: usize,
        results: &[Aval],
    ) -> Option<Prim> {
        let Some(info) = legacy::info(word.text) else {
            return self.foreign(word, params);
        };
        let mut values = Vec::new();
        let mut failed = false;
        for param in params {
            let key = legacy::current_key(info, param.key.text);
            let known = info.params.iter().find(|known| known.name == key);
            let Some(kind) = known.map(|known| known.kind) else {
                // Ignored, unless older text says with it what is said otherwise today.
                if let ValueNode::Py(value) = &param.value {
                    values.push((key.to_owned(), ParamValue::Py((**value).clone())));
                }
                continue;
            };
            if values.iter().any(|(name, _)| name == key) {
                let word = param.key;
                self.report(Mistake::new(
                    word.span(),
                    format!("the parameter `{}` is given twice", word.text),
                ));
                failed = true;
                continue;
            }
            match self.value(param, kind) {
                Some(value) => values.push((key.to_owned(), value)),
                None => failed = true,
            }
        }
        if failed {
            return None;
        }
        if let Err(message) = legacy::modernise(info, &mut values, operands, results.len()) {
            self.report(Mistake::new(
                word.span(),
                format!("{}: {message}", info.name),
            ));
            return None;
        }
        match Prim::read(info.name, &values)? {
            Ok(prim) => Some(prim),
            // A type that is not JAX's own has parameters of its own.
            Err(_) if results.iter().any(Aval::is_opaque) => self.foreign(word, params),
            Err(error) => {
                let span = params
                    .iter()
                    .find(|param| param.key.text == error.name)
                    .map(|param| param.text.span());
                let mistake = Mistake::new(
                    span.unwrap_or(word.span()),
                    format!("{}: parameter `{}`", info.name, error.name),
                );
                self.report(mistake.label(error.message));
                None
            }
        }
    }

    fn value(&mut self, param: &ParamNode<'p>, kind: &str) -> Option<ParamValue> {
        if is_jaxpr_kind(kind)
            && let Some(name) = param.value.word()
        {
            return self.named(name, param.text.span()).map(ParamValue::Jaxpr);
        }
        match &param.value {
            ValueNode::Py(value) => Some(ParamValue::Py((**value).clone())),
            ValueNode::Text(_) => Some(ParamValue::Py(PyValue::Opaque(param.text.text.to_owned()))),
            ValueNode::Jaxpr(node) => self.inline(node).map(ParamValue::Jaxpr),
            ValueNode::Jaxprs(refs) => {
                let jaxprs: Vec<Option<ClosedJaxpr>> = refs
                    .iter()
                    .map(|jaxpr| match jaxpr {
                        JaxprRef::Inline(node) => self.inline(node),
                        JaxprRef::Name(word) => self.named(word.text, word.span()),
                    })
                    .collect();
                jaxprs
                    .into_iter()
                    .collect::<Option<_>>()
                    .map(ParamValue::Jaxprs)
            }
            ValueNode::Programs(programs) => {
                let depth = self.depth + 1;
                if depth >= DEEPEST_JAXPR {
                    self.context.too_deep(param.text.span());
                    return None;
                }
                self.context.outside.push(std::mem::take(&mut self.known));
                let fields: Vec<_> = programs
                    .fields
                    .iter()
                    .map(|(key, program)| {
                        let jaxpr = match program {
                            Some(program) => Some(program_at(self.context, program, depth)?),
                            None => None,
                        };
                        Some(((*key).to_owned(), jaxpr))
                    })
                    .collect();
                self.known = self.context.outside.pop().unwrap_or_default();
                let fields = fields.into_iter().collect::<Option<_>>()?;
                Some(ParamValue::NamedJaxprs {
                    name: programs.name.to_owned(),
                    fields,
                })
            }
        }
    }

    /// A jaxpr that is written in place.
    pub(super) fn inline(&self, node: &JaxprNode<'p>) -> Option<ClosedJaxpr> {
        self.inner.get(&std::ptr::from_ref(node)).cloned()
    }

    /// The jaxpr that a definition gives a name.
    pub(super) fn named(&mut self, name: &str, span: Span) -> Option<ClosedJaxpr> {
        if let Some(&index) = self.names.get(name) {
            // What is missing has been reported.
            return match &self.definitions[index] {
                State::Read(closed) => Some(closed.clone()),
                State::Unread | State::Reading | State::Failed => None,
            };
        }
        let mistake = Mistake::new(span, format!("no jaxpr `{name}` is defined"));
        let known = self.names.keys().copied();
        let mistake = match self.context.suggest(name, known) {
            Some(near) => mistake.label(format!("did you mean `{near}`?")),
            None => mistake.label(format!("there is no `let {name} = ...`")),
        };
        self.report(mistake);
        None
    }
}
