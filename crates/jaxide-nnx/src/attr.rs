//! Values of attributes whose types are known at run time only.

use std::collections::BTreeMap;
use std::fmt;

use jaxide::Array;

use crate::attribute::static_float;
use crate::graph::Static;
use crate::variable::AnyVariable;
use crate::{Kind, Object, Rngs, Variable};

/// A value of an attribute of an [`Object`].
#[derive(Clone)]
pub enum Attr {
    /// `None`.
    None,
    /// An array: data.
    Array(Array),
    /// A number that is data where it is marked so, and else static.
    Number(f64, Static),
    /// What is compared and hashed: static.
    Static(Static),
    /// A variable: data.
    Variable(AnyVariable),
    /// An object: data.
    Object(Object),
    /// Streams of keys: data.
    Rngs(Rngs),
    /// A list of modules and variables, as [`List`](crate::List): data.
    Modules(Vec<Attr>),
    /// A dict of modules and variables, as [`Dict`](crate::Dict): data.
    ModuleDict(BTreeMap<String, Attr>),
    /// A plain list: static, unless it is marked as data.
    List(Vec<Attr>),
    /// A plain tuple: static, unless it is marked as data.
    Tuple(Vec<Attr>),
    /// A plain dict: static, unless it is marked as data.
    Dict(BTreeMap<String, Attr>),
    /// A value that is marked as data, or as static.
    Marked(Status, Box<Attr>),
}

/// Whether an attribute is part of the state, or of the graph definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Of the state.
    Data,
    /// Of the graph definition.
    Static,
}

/// Marks a value as data: an attribute that it is assigned to becomes data.
pub fn data(value: impl Into<Attr>) -> Attr {
    Attr::Marked(Status::Data, Box::new(value.into()))
}

/// Marks a value as static: an attribute that it is assigned to becomes static.
pub fn stat(value: impl Into<Attr>) -> Attr {
    Attr::Marked(Status::Static, Box::new(value.into()))
}

impl Attr {
    /// Whether the value is data by what it is: arrays, variables, objects and lists of modules are.
    pub fn is_data(&self) -> bool {
        match self {
            Attr::Array(_)
            | Attr::Variable(_)
            | Attr::Object(_)
            | Attr::Rngs(_)
            | Attr::Modules(_)
            | Attr::ModuleDict(_) => true,
            Attr::None
            | Attr::Number(..)
            | Attr::Static(_)
            | Attr::List(_)
            | Attr::Tuple(_)
            | Attr::Dict(_)
            | Attr::Marked(..) => false,
        }
    }

    fn children(&self) -> Vec<&Attr> {
        match self {
            Attr::List(items) | Attr::Tuple(items) => items.iter().collect(),
            Attr::Dict(items) => items.values().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the value is or contains data.
    pub(crate) fn has_data(&self) -> bool {
        self.is_data() || self.children().into_iter().any(Attr::has_data)
    }

    /// Whether a marked value is inside of another.
    pub(crate) fn has_mark(&self) -> bool {
        self.children()
            .into_iter()
            .any(|child| matches!(child, Attr::Marked(..)) || child.has_mark())
    }

    /// The name of the type, for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Attr::None => "None",
            Attr::Array(_) => "Array",
            Attr::Number(..) => "number",
            Attr::Static(_) => "static value",
            Attr::Variable(variable) => variable.kind().name(),
            Attr::Object(_) => "Object",
            Attr::Rngs(_) => "Rngs",
            Attr::Modules(_) => "nnx list",
            Attr::ModuleDict(_) => "nnx dict",
            Attr::List(_) => "list",
            Attr::Tuple(_) => "tuple",
            Attr::Dict(_) => "dict",
            Attr::Marked(..) => "marked value",
        }
    }

    /// The value as part of a graph definition, if there is no data in it.
    pub(crate) fn as_static(&self) -> Static {
        match self {
            Attr::Static(value) | Attr::Number(_, value) => value.clone(),
            other => Static::new(format!("{other:?}")),
        }
    }
}

impl fmt::Debug for Attr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attr::None => f.write_str("None"),
            Attr::Static(value) | Attr::Number(_, value) => fmt::Debug::fmt(value, f),
            Attr::List(items) | Attr::Modules(items) => f.debug_list().entries(items).finish(),
            Attr::Tuple(items) => f.debug_set().entries(items).finish(),
            Attr::Dict(items) | Attr::ModuleDict(items) => f.debug_map().entries(items).finish(),
            Attr::Marked(status, value) => write!(f, "{status:?}({value:?})"),
            Attr::Array(array) => fmt::Debug::fmt(array, f),
            Attr::Variable(variable) => fmt::Debug::fmt(variable, f),
            Attr::Object(object) => fmt::Debug::fmt(object, f),
            Attr::Rngs(rngs) => fmt::Debug::fmt(rngs, f),
        }
    }
}

macro_rules! from {
    ($($ty:ty: |$value:ident| $attr:expr;)*) => { $(
        impl From<$ty> for Attr {
            fn from($value: $ty) -> Self {
                $attr
            }
        }
    )* };
}

from! {
    Array: |array| Attr::Array(array);
    Object: |object| Attr::Object(object);
    Rngs: |rngs| Attr::Rngs(rngs);
    AnyVariable: |variable| Attr::Variable(variable);
    i64: |number| Attr::Number(number as f64, Static::new(number));
    f64: |number| Attr::Number(number, static_float(number));
    bool: |value| Attr::Static(Static::new(value));
    &'static str: |text| Attr::Static(Static::new(text.to_owned()));
    String: |text| Attr::Static(Static::new(text));
    fn(&Array) -> Array: |function| Attr::Static(Static::new(function));
    Option<Array>: |array| array.map_or(Attr::None, Attr::Array);
    Vec<Attr>: |items| Attr::List(items);
}

impl<K: Kind> From<Variable<K>> for Attr {
    fn from(variable: Variable<K>) -> Self {
        Attr::Variable(variable.any().clone())
    }
}
