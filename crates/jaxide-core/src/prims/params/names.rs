//! Names, values without meaning here, and rules known by name.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{PyType, PyValue, expected, items};
use crate::jaxpr::ClosedJaxpr;

/// A name: of a function, an axis, an implementation. Bare at the top level, quoted in tuples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub Arc<str>);

impl Name {
    /// The name `text`.
    pub fn new(text: &str) -> Self {
        Name(text.into())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PyType for Name {
    const KIND: &'static str = "name";

    fn to_py(&self) -> PyValue {
        PyValue::Str(self.0.to_string())
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Tuple(_) | PyValue::List(_) => expected("a name", value),
            other => Ok(Name(other.to_string().into())),
        }
    }
}

/// A mesh or `vmap` axis by name, or an axis of the array by number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AxisName {
    /// A named axis.
    Named(Name),
    /// An axis of the operand.
    Positional(usize),
}

impl PyType for AxisName {
    const KIND: &'static str = "axis";

    fn to_py(&self) -> PyValue {
        match self {
            AxisName::Named(name) => name.to_py(),
            AxisName::Positional(axis) => axis.to_py(),
        }
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Scalar(_) => usize::from_py(value).map(AxisName::Positional),
            other => Name::from_py(other).map(AxisName::Named),
        }
    }
}

/// Axis names of a collective: `i` or `('i', 'j')`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AxisNames {
    /// One name, written bare.
    One(Name),
    /// A tuple.
    Many(Vec<Name>),
}

impl AxisNames {
    /// The names as a slice.
    pub fn names(&self) -> &[Name] {
        match self {
            AxisNames::One(name) => std::slice::from_ref(name),
            AxisNames::Many(names) => names,
        }
    }
}

impl PyType for AxisNames {
    const KIND: &'static str = "axis names";

    fn to_py(&self) -> PyValue {
        match self {
            AxisNames::One(name) => name.to_py(),
            AxisNames::Many(names) => names.to_py(),
        }
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Tuple(_) | PyValue::List(_) => Vec::from_py(value).map(AxisNames::Many),
            other => Name::from_py(other).map(AxisNames::One),
        }
    }
}

/// A value without meaning here, kept as it was written: shardings, policies, function reprs.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Opaque(pub PyValue);

impl Default for Opaque {
    fn default() -> Self {
        Opaque(PyValue::None)
    }
}

impl Opaque {
    /// The value `None`.
    pub fn none() -> Self {
        Self::default()
    }
}

impl PyType for Opaque {
    const KIND: &'static str = "opaque";

    fn to_py(&self) -> PyValue {
        self.0.clone()
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        Ok(Opaque(value.clone()))
    }

    fn missing() -> Option<Self> {
        Some(Self::none())
    }
}

/// The empty tuple: constants of a combiner, of which there are never any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoConsts;

impl PyType for NoConsts {
    const KIND: &'static str = "()";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(Vec::new())
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        if items(value)?.is_empty() {
            Ok(NoConsts)
        } else {
            expected("an empty tuple", value)
        }
    }

    fn missing() -> Option<Self> {
        Some(NoConsts)
    }
}

/// A derivative rule given as a function: printed by name only, so text read back has none.
///
/// `make` gives the rule's jaxpr; what its inputs and results are is said at the primitive that holds it.
#[derive(Clone, Default)]
pub struct Rule {
    /// The printed name.
    pub name: Name,
    /// The rule for a mask of inputs that are perturbed; `None` when read from text.
    pub make: Option<Arc<RuleFn>>,
}

/// The function behind a [`Rule`].
pub type RuleFn = dyn Fn(&[bool]) -> crate::error::Result<ClosedJaxpr> + Send + Sync;

/// The same name and the same function object.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && match (&self.make, &other.make) {
                (None, None) => true,
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (Some(_), None) | (None, Some(_)) => false,
            }
    }
}

impl Hash for Rule {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.name)
    }
}

impl PyType for Rule {
    const KIND: &'static str = "rule name";

    fn to_py(&self) -> PyValue {
        PyValue::Word(self.name.to_string())
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        Ok(Rule {
            name: Name(value.to_string().into()),
            make: None,
        })
    }

    fn missing() -> Option<Self> {
        Some(Self::default())
    }
}
