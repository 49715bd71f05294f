//! Primitives that are not JAX's own: those of other libraries, and those that only JAX's kernels print.
//!
//! Of such a primitive nothing is known but its text. Its equation is read and printed back as it was written, and can be
//! drawn, counted, moved and removed like any other; what needs its meaning is refused by name.

use std::hash::{Hash, Hasher};

use super::*;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::parse::spelling::nearest;
use crate::jaxpr::{Atom, Aval, AvalKind, Builder, ClosedJaxpr};

/// A primitive whose name is none of the table's.
///
/// ```
/// let text = "{ lambda ; a:f32[2]. let b:f32[2] = bend[angle=3 how=(1, 'x')] a in (b,) }";
/// let jaxpr = jaxide_core::parse(text)?;
/// assert_eq!(jaxpr.to_string(), text);
///
/// let x = jaxide_core::Tensor::from_vec(&[2], vec![1.0f32, 2.0]).unwrap();
/// let error = jaxide_core::eval::eval(&jaxpr, &[x]).unwrap_err();
/// assert_eq!(error.operation(), Some("primitive `bend`"));
/// # Ok::<(), jaxide_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Foreign {
    /// The name in the text.
    pub name: String,
    /// Its parameters in the order in which they were written.
    pub params: Vec<(String, ForeignValue)>,
    /// The parameters in the order in which JAX found their jaxprs: by number.
    pub order: Vec<usize>,
    /// Types of the results, as they were written.
    pub results: Vec<Aval>,
    /// Whether it is there for what it does and not for its results: it has none, or references or tokens are among its
    /// operands and results.
    pub effect: bool,
}

/// The same text with the same jaxprs: the order in which they were found follows from the text around.
impl PartialEq for Foreign {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.params, &self.results) == (&other.name, &other.params, &other.results)
            && self.effect == other.effect
    }
}

impl Hash for Foreign {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, &self.params, &self.results, self.effect).hash(state);
    }
}

/// The value of a parameter whose meaning is not known.
#[derive(Clone, Debug)]
pub enum ForeignValue {
    /// The text, as it was written. The jaxprs in it are those that are hoisted all the same.
    Text {
        /// The text.
        text: String,
        /// Jaxprs in it.
        jaxprs: Vec<ClosedJaxpr>,
    },
    /// A jaxpr, written in place or hoisted.
    Jaxpr(ClosedJaxpr),
    /// A tuple of jaxprs.
    Jaxprs(Vec<ClosedJaxpr>),
}

/// The lines of a text without their indentation, which depends on where the equation stands.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(str::trim_ascii_start)
}

/// Jaxprs in a text follow from it.
impl PartialEq for ForeignValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (ForeignValue::Text { text, .. }, ForeignValue::Text { text: other, .. }) => {
                lines(text).eq(lines(other))
            }
            (ForeignValue::Jaxpr(jaxpr), ForeignValue::Jaxpr(other)) => jaxpr == other,
            (ForeignValue::Jaxprs(jaxprs), ForeignValue::Jaxprs(others)) => jaxprs == others,
            (
                ForeignValue::Text { .. } | ForeignValue::Jaxpr(_) | ForeignValue::Jaxprs(_),
                ForeignValue::Text { .. } | ForeignValue::Jaxpr(_) | ForeignValue::Jaxprs(_),
            ) => false,
        }
    }
}

impl Hash for ForeignValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            ForeignValue::Text { text, .. } => lines(text).for_each(|line| line.hash(state)),
            ForeignValue::Jaxpr(jaxpr) => jaxpr.hash(state),
            ForeignValue::Jaxprs(jaxprs) => jaxprs.hash(state),
        }
    }
}

impl Foreign {
    /// Whether it is one of JAX's after all, with parameters that belong to an element type which is not.
    pub fn is_known(&self) -> bool {
        Prim::ALL.iter().any(|info| info.name == self.name)
    }

    /// The known primitive that may have been meant, when a name is near.
    pub fn meant(&self) -> Option<&'static str> {
        let known = Prim::ALL.iter().map(|info| info.name);
        nearest(&self.name, known).filter(|near| *near != self.name)
    }

    /// The parameter `name`, with which JAX names hoisted jaxprs.
    pub(crate) fn function_name(&self) -> Option<&str> {
        self.params.iter().find_map(|(key, value)| match value {
            ForeignValue::Text { text, .. } if key == "name" && text != "None" => {
                Some(text.as_str())
            }
            ForeignValue::Text { .. } | ForeignValue::Jaxpr(_) | ForeignValue::Jaxprs(_) => None,
        })
    }

    /// Words among its texts that stand where a jaxpr may be named.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let texts = self.params.iter().filter_map(|(key, value)| match value {
            ForeignValue::Text { text, .. } if key != "name" => Some(text.as_str()),
            ForeignValue::Text { .. } | ForeignValue::Jaxpr(_) | ForeignValue::Jaxprs(_) => None,
        });
        texts.flat_map(|text| {
            let tuple = text
                .strip_prefix('(')
                .and_then(|text| text.strip_suffix(')'));
            tuple.unwrap_or(text).split_ascii_whitespace()
        })
    }

    /// That it cannot be `done` (run, compiled, ...), with the primitive that may have been meant.
    pub fn refused(&self, done: &str) -> Error {
        self.refusal(ErrorKind::Unsupported, &format!("it cannot be {done}"))
    }

    fn no_rule(&self, rule: &str) -> Error {
        self.refusal(ErrorKind::NoRule, &format!("it has no {rule} rule"))
    }

    fn refusal(&self, kind: ErrorKind, what: &str) -> Error {
        let why = if self.is_known() {
            "it makes values of a type that is not known here, only its text is kept"
        } else {
            "it is no primitive that is known here, only its text is kept"
        };
        let message = format!("{what}: {why}");
        let error = Error::new(kind, message).in_operation(&format!("primitive `{}`", self.name));
        match self.meant() {
            Some(near) => error.note(format!("did you mean `{near}`?")),
            None => error,
        }
    }
}

/// What the table generates for the primitives in it.
impl Foreign {
    pub(super) fn write(&self) -> Vec<(&str, ParamValue)> {
        let value = |value: &ForeignValue| match value {
            ForeignValue::Text { text, .. } => ParamValue::Py(PyValue::Opaque(text.clone())),
            ForeignValue::Jaxpr(jaxpr) => ParamValue::Jaxpr(jaxpr.clone()),
            ForeignValue::Jaxprs(jaxprs) => ParamValue::Jaxprs(jaxprs.clone()),
        };
        self.params
            .iter()
            .map(|(key, param)| (key.as_str(), value(param)))
            .collect()
    }

    pub(super) fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {
        for (_, value) in self
            .order
            .iter()
            .filter_map(|&index| self.params.get(index))
        {
            match value {
                ForeignValue::Jaxpr(jaxpr) => visitor(jaxpr),
                ForeignValue::Text { jaxprs, .. } | ForeignValue::Jaxprs(jaxprs) => {
                    jaxprs.iter().for_each(&mut *visitor);
                }
            }
        }
    }

    pub(super) fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {
        for &index in &self.order {
            let Some((_, value)) = self.params.get_mut(index) else {
                continue;
            };
            match value {
                ForeignValue::Jaxpr(jaxpr) => visitor(jaxpr),
                ForeignValue::Text { jaxprs, .. } | ForeignValue::Jaxprs(jaxprs) => {
                    jaxprs.iter_mut().for_each(&mut *visitor);
                }
            }
        }
    }
}

impl From<Foreign> for Prim {
    fn from(foreign: Foreign) -> Prim {
        Prim::Foreign(Box::new(foreign))
    }
}

/// Everything that needs a meaning is refused. An equation that a transformation does not touch (no operand has a
/// tangent, is mapped, or is unknown) stays as it is.
impl Primitive for Foreign {
    /// The types that were written are believed.
    fn abstract_eval(&self, _operands: &[Aval]) -> Result<Avals> {
        Ok(self.results.iter().cloned().collect())
    }

    fn complete(&mut self, operands: &[Aval], results: &[Aval]) {
        self.results = results.to_vec();
        let is_state = |aval: &Aval| matches!(aval.kind, AvalKind::Ref | AvalKind::Token);
        self.effect = results.is_empty() || operands.iter().chain(results).any(is_state);
    }

    fn jvp(
        &self,
        _b: &Builder,
        _primals: &[Atom],
        _tangents: &[Option<Atom>],
    ) -> Result<JvpResult> {
        Err(self.no_rule("jvp"))
    }

    fn batch(
        &self,
        _b: &Builder,
        _operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        Err(self.no_rule("batching"))
    }

    fn transpose(
        &self,
        _b: &Builder,
        _cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        Err(self.no_rule("transpose"))
    }

    fn has_effect(&self) -> bool {
        self.effect
    }

    fn makes_reference(&self) -> bool {
        self.results.iter().any(|aval| aval.kind == AvalKind::Ref)
    }

    /// Every word of its parameters: it may communicate along an axis of that name.
    fn axis_names(&self) -> Vec<Name> {
        let texts = self.params.iter().filter_map(|(_, value)| match value {
            ForeignValue::Text { text, .. } => Some(text),
            ForeignValue::Jaxpr(_) | ForeignValue::Jaxprs(_) => None,
        });
        texts
            .flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_')))
            .filter(|word| !word.is_empty())
            .map(Name::new)
            .collect()
    }
}
