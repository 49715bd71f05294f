//! Static values: the part of a container that is structure, not data.

use std::any::Any;
use std::fmt::{self, Debug, Write};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::repr;

/// A value that belongs to the structure of a tree: a width, an activation, a name.
///
/// Every type that is `Eq + Hash + Debug + Clone + Send + Sync + 'static` is one; there is nothing to
/// implement. Floats and arrays are not: two programs that differ in them could not be told apart by a
/// cache.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a static field of a pytree",
    label = "not a static value",
    note = "static values are compared and hashed: they need `Eq + Hash + Debug + Clone + Send + Sync + 'static`",
    note = "floats, arrays and other data belong in a field without `#[pytree(static)]`"
)]
pub trait StaticValue: Debug + Send + Sync {
    /// The value, for downcasting.
    fn as_any(&self) -> &dyn Any;
    /// Whether `other` is of the same type and equal.
    fn eq_static(&self, other: &dyn StaticValue) -> bool;
    /// Hashes the value.
    fn hash_static(&self, state: &mut dyn Hasher);
    /// A shared copy.
    fn to_shared(&self) -> Arc<dyn StaticValue>;
}

impl<T: Eq + Hash + Debug + Clone + Send + Sync + 'static> StaticValue for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn eq_static(&self, other: &dyn StaticValue) -> bool {
        other.as_any().downcast_ref::<T>() == Some(self)
    }
    fn hash_static(&self, mut state: &mut dyn Hasher) {
        self.hash(&mut state);
    }
    fn to_shared(&self) -> Arc<dyn StaticValue> {
        Arc::new(self.clone())
    }
}

/// The static values of one container, shared by every treedef that has it.
#[derive(Clone, Default)]
pub(crate) struct Statics(Option<Arc<[Arc<dyn StaticValue>]>>);

impl Statics {
    pub(crate) fn new(values: &[&dyn StaticValue]) -> Self {
        Statics((!values.is_empty()).then(|| values.iter().map(|v| v.to_shared()).collect()))
    }

    pub(crate) fn from_shared(values: Vec<Arc<dyn StaticValue>>) -> Self {
        Statics((!values.is_empty()).then(|| values.into()))
    }

    pub(crate) fn values(&self) -> &[Arc<dyn StaticValue>] {
        self.0.as_deref().unwrap_or_default()
    }

    pub(crate) fn matches(&self, values: &[&dyn StaticValue]) -> bool {
        let mine = self.values();
        mine.len() == values.len() && mine.iter().zip(values).all(|(a, b)| a.eq_static(*b))
    }
}

impl PartialEq for Statics {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Arc<dyn StaticValue>, &Arc<dyn StaticValue>)| (**a).eq_static(&**b);
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => {
                Arc::ptr_eq(a, b) || (a.len() == b.len() && a.iter().zip(b.iter()).all(same))
            }
            (None, None) => true,
            _ => false,
        }
    }
}

/// Writes a static value as Python would print its counterpart: strings in single quotes, `True` and `False`,
/// what is in a `Some` by itself; anything else as its `Debug`.
pub(crate) fn write_repr(out: &mut impl Write, value: &dyn StaticValue) -> fmt::Result {
    repr::write_debug(out, &format!("{value:?}"))
}

/// Writes a static value as Python's `str`: as [`write_repr`], but a string without quotes.
pub(crate) fn write_plain(out: &mut impl Write, value: &dyn StaticValue) -> fmt::Result {
    match text(value.as_any()) {
        Some(text) => out.write_str(text),
        None => write_repr(out, value),
    }
}

fn text(any: &dyn Any) -> Option<&str> {
    any.downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| any.downcast_ref::<&'static str>().copied())
}
