//! Values that parameters of primitives have, and how each kind is written in the text.

mod dimensions;
mod flat_tree;
mod jaxprs;
mod names;
mod python;
mod reference;
mod scalars;
mod words;

use std::fmt;

pub use dimensions::*;
pub use flat_tree::*;
pub use jaxprs::*;
pub use names::*;
pub use python::{PyCall, PyValue};
pub use reference::*;
pub use scalars::{RealNumber, SpelledDType};
pub use words::*;

use crate::jaxpr::ClosedJaxpr;

/// A parameter's value as the printer lays it out and the parser reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// A Python value: one unbreakable text.
    Py(PyValue),
    /// A sub-jaxpr, nested or hoisted.
    Jaxpr(ClosedJaxpr),
    /// A tuple of sub-jaxprs: `branches`.
    Jaxprs(Vec<ClosedJaxpr>),
    /// A named tuple of optional sub-jaxprs, printed through `repr`: `_LinearSolveTuple(matvec={...}, ...)`.
    NamedJaxprs {
        /// The tuple's type.
        name: String,
        /// Field names and their jaxprs; `None` prints `None`.
        fields: Vec<(String, Option<ClosedJaxpr>)>,
    },
}

/// A type that a parameter of a primitive has.
pub trait ParamType: Clone + PartialEq + fmt::Debug {
    /// What the type is called in the reference table.
    const KIND: &'static str;

    /// The value as it is written.
    fn to_value(&self) -> ParamValue;

    /// The value that was written.
    ///
    /// # Errors
    /// What was expected instead, in plain words.
    fn from_value(value: &ParamValue) -> Result<Self, String>;

    /// The value where older text has none; `None` when it must be there.
    fn missing() -> Option<Self> {
        None
    }

    /// The sub-jaxprs in it, in the order in which they are printed.
    fn visit<'a>(&'a self, _visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {}

    /// The sub-jaxprs in it, replaceable.
    fn visit_mut(&mut self, _visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {}
}

/// A parameter type whose text is a plain Python value.
pub trait PyType: Clone + PartialEq + fmt::Debug {
    /// What the type is called in the reference table.
    const KIND: &'static str;

    /// The value as it is written.
    fn to_py(&self) -> PyValue;

    /// The value that was written.
    ///
    /// # Errors
    /// What was expected instead, in plain words.
    fn from_py(value: &PyValue) -> Result<Self, String>;

    /// The value where older text has none; `None` when it must be there.
    fn missing() -> Option<Self> {
        None
    }
}

impl<T: PyType> ParamType for T {
    const KIND: &'static str = T::KIND;

    fn to_value(&self) -> ParamValue {
        ParamValue::Py(self.to_py())
    }

    fn from_value(value: &ParamValue) -> Result<Self, String> {
        match value {
            ParamValue::Py(value) => T::from_py(value),
            _ => Err(format!("{} is expected, and a jaxpr is given", T::KIND)),
        }
    }

    fn missing() -> Option<Self> {
        T::missing()
    }
}

fn expected<T>(kind: &str, got: &PyValue) -> Result<T, String> {
    let mut text = got.to_string();
    if text.len() > 60 {
        let end = (0..=60)
            .rev()
            .find(|&end| text.is_char_boundary(end))
            .unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    Err(format!("{kind} is expected, and `{text}` is given"))
}

fn items(value: &PyValue) -> Result<&[PyValue], String> {
    match value {
        PyValue::Tuple(items) | PyValue::List(items) => Ok(items),
        other => expected("a tuple", other),
    }
}

/// A field of a named tuple.
fn field<'a>(call: &'a PyCall, key: &str) -> Result<&'a PyValue, String> {
    let mut fields = call.fields.iter();
    fields
        .find(|(name, _)| name == key)
        .map(|(_, value)| value)
        .ok_or_else(|| format!("{} needs a field `{key}`", call.name))
}
