//! Graph definitions: a graph of modules without its state.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jaxide::tree::{StaticValue, TreeDef};

use crate::layers::RebuildAny;
use crate::variable::Metadata;
use crate::{Key, KindRef};

/// A static value, shared.
#[derive(Clone)]
pub struct Static(Arc<dyn StaticValue>);

impl Static {
    /// A value as a static one.
    pub fn new(value: impl StaticValue + 'static) -> Self {
        Static(Arc::new(value))
    }

    /// The value as a `T`, if it is one.
    pub fn downcast<T: 'static>(&self) -> Option<&T> {
        (*self.0).as_any().downcast_ref()
    }

    /// The value for downcasting.
    pub fn as_any(&self) -> &dyn Any {
        (*self.0).as_any()
    }
}

impl PartialEq for Static {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.eq_static(&*other.0)
    }
}

impl Eq for Static {}

impl Hash for Static {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash_static(state);
    }
}

impl fmt::Debug for Static {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// What kind of container a node is, which says how it is printed and how its paths are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// A struct with `#[derive(Module)]`.
    Module,
    /// An object whose attributes are named at run time.
    Object,
    /// A [`List`](crate::List).
    List,
    /// A [`Dict`](crate::Dict).
    Dict,
    /// A plain list, tuple or dict that is marked as data.
    Plain,
}

/// The attributes of a derived module: their names in the order of the graph, and in that of the declaration.
pub struct Attributes {
    /// The name of the type.
    pub name: &'static str,
    /// The names of the attributes, sorted.
    pub keys: &'static [&'static str],
    /// For each attribute in the order of declaration, its place in `keys`.
    pub declared: &'static [usize],
}

/// An inner node: a module, a list, a dict.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeDef {
    /// The name of its type.
    pub name: Cow<'static, str>,
    /// What kind of container it is.
    pub style: Style,
    /// The keys of its attributes, in order.
    pub keys: Arc<[Key]>,
    /// For each attribute in the order of declaration, its place in `keys`; empty where that is the same.
    pub(crate) declared: &'static [usize],
    /// Its number, where it may be shared.
    pub index: Option<usize>,
}

/// One place of a [`GraphDef`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Def {
    /// An inner node, whose attributes follow.
    Node(NodeDef),
    /// A variable: its kind, metadata, number, and whether it holds anything.
    Variable {
        /// What it is for.
        kind: KindRef,
        /// What is known of it.
        metadata: Metadata,
        /// Its number.
        index: usize,
        /// Whether it is part of the state.
        present: bool,
    },
    /// A module behind a shared pointer, which follows: its number.
    Shared(usize),
    /// A variable or shared module that was met before: its number.
    Ref(usize),
    /// A module whose type is known at run time only, which follows: how it is rebuilt.
    Any(RebuildAny),
    /// An array.
    Array,
    /// A pytree of arrays.
    Data(TreeDef),
    /// A static value.
    Static(Static),
    /// A value without an array that is marked as data.
    Leaf(Static),
    /// `None`.
    None,
}

/// The structure of a graph of modules, without its state: types, keys, static attributes, and what is shared.
///
/// Graph definitions are compared and hashed; modules with equal ones differ in their state alone. [`crate::split`] gives
/// one, [`crate::merge`] takes one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct GraphDef(pub(crate) Arc<[Def]>);

impl GraphDef {
    /// The places in order, a container before its attributes.
    pub fn nodes(&self) -> &[Def] {
        &self.0
    }
}

impl fmt::Debug for GraphDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::print::graph_def(self))
    }
}

impl fmt::Display for GraphDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::print::graph_def(self))
    }
}
