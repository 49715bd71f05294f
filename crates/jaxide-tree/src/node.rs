//! What kind of container a node of a treedef is.

use std::borrow::Cow;
use std::fmt::{self, Debug, Write};
use std::hash::{Hash, Hasher};
use std::ptr;
use std::sync::Arc;

use crate::key::write_list;
use crate::statics::{self, StaticValue, Statics};
use crate::{DictKey, Key, KeyEntry, repr};

/// The kind of an inner node, with all that is not its children: keys, type, static values.
#[derive(Clone, PartialEq)]
pub enum Head {
    /// `None`: a node without children.
    None,
    /// A tuple.
    Tuple,
    /// A list: `Vec`, array, slice.
    List,
    /// A map that is visited in the sorted order of its keys.
    Dict(Arc<[Key]>),
    /// A map that keeps its own order, which is part of the structure.
    OrderedDict(Arc<[Key]>),
    /// A struct, an enum variant or any other container with a type of its own.
    Struct(StructHead),
}

impl Eq for Head {}

/// The type and the static values of a [`Head::Struct`].
#[derive(Clone, PartialEq)]
pub struct StructHead {
    pub(crate) ty: TypeRef,
    pub(crate) statics: Statics,
}

impl Eq for StructHead {}

/// The type of a container, as a treedef names and compares it.
///
/// `#[derive(Pytree)]` makes one `static` per struct or variant. Its address is the type's identity, so two
/// structs of one name stay two types, and a generic struct is one type whatever its parameters: a
/// `Linear<Array>` and a `Linear<Axis>` have equal treedefs.
pub struct NodeType {
    name: Cow<'static, str>,
    module: Cow<'static, str>,
    style: NodeStyle,
    children: ChildKeys,
}

/// How a treedef prints a container, and what its static values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeStyle {
    /// A struct with any number of static fields: `CustomNode(Linear[(2, 3)], [*, *])`.
    Struct,
    /// A tuple with named fields and nothing static: `CustomNode(namedtuple[Point], [*, *])`.
    NamedTuple,
    /// A container with one static value, or none: `CustomNode(Tagged[t], [*, *])`.
    Custom,
}

/// How the children of a container are named in key paths.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChildKeys {
    /// By field: `.w`.
    Attrs(Cow<'static, [Cow<'static, str>]>),
    /// By key: `['left']`.
    Items(Cow<'static, [Key]>),
    /// By place in a sequence: `[0]`.
    Seq,
    /// Not at all: `[<flat index 0>]`.
    Flat,
}

impl NodeType {
    /// A type whose name and children are known to the program, for a `static`.
    ///
    /// ```
    /// use jaxide_tree::{ChildKeys, NodeStyle, NodeType};
    ///
    /// static RING: NodeType = NodeType::new("Ring", module_path!(), NodeStyle::Custom, ChildKeys::Seq);
    /// ```
    pub const fn new(
        name: &'static str,
        module: &'static str,
        style: NodeStyle,
        children: ChildKeys,
    ) -> Self {
        NodeType {
            name: Cow::Borrowed(name),
            module: Cow::Borrowed(module),
            style,
            children,
        }
    }

    /// A type made at run time. Two of them are the same type when their names and styles are equal.
    pub fn dynamic(
        name: impl Into<Cow<'static, str>>,
        module: impl Into<Cow<'static, str>>,
        style: NodeStyle,
        children: ChildKeys,
    ) -> Self {
        NodeType {
            name: name.into(),
            module: module.into(),
            style,
            children,
        }
    }

    /// The name, without its module.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The module the type is from.
    pub fn module(&self) -> &str {
        &self.module
    }

    /// How the type prints.
    pub fn style(&self) -> NodeStyle {
        self.style
    }

    /// How the children are named.
    pub fn children(&self) -> &ChildKeys {
        &self.children
    }
}

impl Debug for NodeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// A reference to a [`NodeType`]: of the program, or made at run time.
#[derive(Clone, Debug)]
pub enum TypeRef {
    /// A `static` of the program.
    Static(&'static NodeType),
    /// A type made at run time.
    Shared(Arc<NodeType>),
    /// A pattern in a prefix tree: any type of that name with those children, whatever its static values.
    Named(Arc<NodeType>),
}

impl TypeRef {
    /// The type referred to.
    pub fn get(&self) -> &NodeType {
        match self {
            TypeRef::Static(ty) => ty,
            TypeRef::Shared(ty) | TypeRef::Named(ty) => ty,
        }
    }

    /// Whether both are the same type, perhaps with differently named children.
    pub(crate) fn same_type(&self, other: &TypeRef) -> bool {
        match (self, other) {
            (TypeRef::Static(a), TypeRef::Static(b)) => ptr::eq(*a, *b),
            (TypeRef::Shared(a), TypeRef::Shared(b)) | (TypeRef::Named(a), TypeRef::Named(b)) => {
                Arc::ptr_eq(a, b) || (a.name == b.name && a.style == b.style)
            }
            _ => false,
        }
    }

    /// Whether this type, in a prefix, stands for `other` in the full tree, perhaps with other children.
    pub(crate) fn stands_for(&self, other: &TypeRef) -> bool {
        match self {
            TypeRef::Named(pattern) => pattern.name == other.get().name,
            ty => ty.same_type(other),
        }
    }
}

impl PartialEq for TypeRef {
    fn eq(&self, other: &Self) -> bool {
        self.same_type(other) && self.get().children == other.get().children
    }
}

impl Eq for TypeRef {}

impl StructHead {
    /// Whether this is the type `ty` of the program with those static values.
    pub(crate) fn is_of(&self, ty: &'static NodeType, statics: &[&dyn StaticValue]) -> bool {
        matches!(self.ty, TypeRef::Static(known) if ptr::eq(known, ty))
            && self.statics.matches(statics)
    }

    /// The type of the container.
    pub fn node_type(&self) -> &NodeType {
        self.ty.get()
    }

    /// The static values, in the order of the container's fields.
    pub fn statics(&self) -> &[Arc<dyn StaticValue>] {
        self.statics.values()
    }
}

impl Head {
    /// The head of a container of type `ty` made at run time.
    pub fn dynamic(ty: impl Into<Arc<NodeType>>, statics: Vec<Arc<dyn StaticValue>>) -> Self {
        let ty = TypeRef::Shared(ty.into());
        Head::Struct(StructHead {
            ty,
            statics: Statics::from_shared(statics),
        })
    }

    /// The head of a pattern for structs of any type with this name and these fields.
    pub(crate) fn pattern(name: &'static str, fields: Vec<Cow<'static, str>>) -> Self {
        let ty = NodeType::new(name, "", NodeStyle::Struct, ChildKeys::Attrs(fields.into()));
        Head::Struct(StructHead {
            ty: TypeRef::Named(ty.into()),
            statics: Statics::default(),
        })
    }

    /// Whether this head, in a prefix, stands for `full` in the full tree: it is equal to it, or a pattern
    /// that it fits.
    pub(crate) fn admits(&self, full: &Head) -> bool {
        match (self, full) {
            (
                Head::Struct(StructHead {
                    ty: TypeRef::Named(pattern),
                    ..
                }),
                Head::Struct(full),
            ) => {
                let ty = full.node_type();
                pattern.name == ty.name && pattern.children == ty.children
            }
            (head, full) => head == full,
        }
    }

    /// Whether this is a container of the type of `full`, or a pattern for it, whatever the keys and static
    /// values.
    pub(crate) fn admits_type(&self, full: &Head) -> bool {
        match (self, full) {
            (Head::Struct(a), Head::Struct(b)) => a.ty.stands_for(&b.ty),
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }

    /// Whether this is a pattern, made for a prefix.
    pub(crate) fn is_pattern(&self) -> bool {
        matches!(
            self,
            Head::Struct(StructHead {
                ty: TypeRef::Named(_),
                ..
            })
        )
    }

    /// The name of the container's type: `list`, `dict`, `Linear`.
    pub fn type_name(&self) -> &str {
        match self {
            Head::None => "NoneType",
            Head::Tuple => "tuple",
            Head::List => "list",
            Head::Dict(_) => "dict",
            Head::OrderedDict(_) => "OrderedDict",
            Head::Struct(s) => s.node_type().name(),
        }
    }

    /// The entry that leads to child `index` in a key path.
    pub fn entry(&self, index: usize) -> KeyEntry {
        match self {
            Head::None | Head::Tuple | Head::List => KeyEntry::Seq(index),
            Head::Dict(keys) | Head::OrderedDict(keys) => KeyEntry::Dict(keys[index].clone()),
            Head::Struct(s) => match s.node_type().children() {
                ChildKeys::Attrs(names) => KeyEntry::Attr(names[index].clone()),
                ChildKeys::Items(keys) => KeyEntry::Dict(keys[index].clone()),
                ChildKeys::Seq => KeyEntry::Seq(index),
                ChildKeys::Flat => KeyEntry::Flat(index),
            },
        }
    }

    /// How many children such a node has, where the head fixes it.
    pub fn arity(&self) -> Option<usize> {
        match self {
            Head::None => Some(0),
            Head::Tuple | Head::List => None,
            Head::Dict(keys) | Head::OrderedDict(keys) => Some(keys.len()),
            Head::Struct(s) => match s.node_type().children() {
                ChildKeys::Attrs(names) => Some(names.len()),
                ChildKeys::Items(keys) => Some(keys.len()),
                ChildKeys::Seq | ChildKeys::Flat => None,
            },
        }
    }

    /// The metadata as text, as error messages show it: the keys of a map, the static values of a struct.
    pub fn metadata(&self) -> String {
        let mut out = String::new();
        self.write_metadata(&mut out)
            .expect("a string takes any text");
        out
    }

    pub(crate) fn write_metadata(&self, out: &mut impl Write) -> fmt::Result {
        match self {
            Head::None | Head::Tuple | Head::List => out.write_str("None"),
            Head::Dict(keys) | Head::OrderedDict(keys) => {
                repr::write_tuple(out, keys.iter(), |out, key| write!(out, "{key}"))
            }
            Head::Struct(s) => match (s.node_type().style(), s.statics()) {
                (NodeStyle::Struct, statics) => {
                    repr::write_tuple(out, statics.iter(), |out, value| {
                        statics::write_repr(out, &**value)
                    })
                }
                (NodeStyle::NamedTuple | NodeStyle::Custom, []) => out.write_str("None"),
                (NodeStyle::NamedTuple | NodeStyle::Custom, [aux, ..]) => {
                    statics::write_plain(out, &**aux)
                }
            },
        }
    }

    /// What stands between `CustomNode(` and the children in today's text, if anything does.
    pub(crate) fn write_custom(&self, out: &mut impl Write) -> fmt::Result {
        match self {
            Head::Struct(s) if s.node_type().style() == NodeStyle::NamedTuple => {
                write!(out, "namedtuple[{}]", s.node_type().name())
            }
            head => {
                write!(out, "{}[", head.type_name())?;
                head.write_metadata(out)?;
                out.write_char(']')
            }
        }
    }

    /// The node's part in the text of older releases.
    pub(crate) fn write_legacy(&self, out: &mut impl Write) -> fmt::Result {
        match self {
            Head::None => out.write_str("None"),
            Head::Tuple | Head::List => out.write_str(self.type_name()),
            Head::Dict(keys) => {
                out.write_str("dict[")?;
                write_list(out, keys)?;
                out.write_char(']')
            }
            Head::OrderedDict(_) => {
                out.write_str("<class 'collections.OrderedDict'>[")?;
                self.write_metadata(out)?;
                out.write_char(']')
            }
            Head::Struct(s) => {
                let ty = s.node_type();
                if ty.style() == NodeStyle::NamedTuple {
                    return write!(out, "namedtuple[<class '{}.{}'>]", ty.module(), ty.name());
                }
                write!(out, "<class '{}.{}'>[", ty.module(), ty.name())?;
                self.write_metadata(out)?;
                out.write_char(']')
            }
        }
    }

    /// Hashes what [`hash_none`] and its siblings hash for the same node.
    pub(crate) fn hash_with<H: Hasher>(&self, len: usize, state: &mut H) {
        match self {
            Head::None => hash_none(state),
            Head::Tuple => hash_tuple(len, state),
            Head::List => hash_list(len, state),
            Head::Dict(keys) => hash_dict(false, keys.iter(), state),
            Head::OrderedDict(keys) => hash_dict(true, keys.iter(), state),
            Head::Struct(s) => {
                hash_type(&s.ty, len, state);
                s.statics()
                    .iter()
                    .for_each(|value| value.hash_static(state));
            }
        }
    }
}

impl Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Head::None | Head::Tuple | Head::List => f.write_str(self.type_name()),
            head => head.write_custom(f),
        }
    }
}

impl Debug for StructHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&Head::Struct(self.clone()), f)
    }
}

pub(crate) fn hash_none<H: Hasher>(state: &mut H) {
    state.write_u8(1);
}

pub(crate) fn hash_tuple<H: Hasher>(len: usize, state: &mut H) {
    state.write_u8(2);
    state.write_usize(len);
}

pub(crate) fn hash_list<H: Hasher>(len: usize, state: &mut H) {
    state.write_u8(3);
    state.write_usize(len);
}

pub(crate) fn hash_dict<'k, K: DictKey + 'k, H: Hasher>(
    ordered: bool,
    keys: impl ExactSizeIterator<Item = &'k K>,
    state: &mut H,
) {
    state.write_u8(if ordered { 5 } else { 4 });
    state.write_usize(keys.len());
    keys.for_each(|key| key.hash_key(state));
}

pub(crate) fn hash_type<H: Hasher>(ty: &TypeRef, len: usize, state: &mut H) {
    match ty {
        TypeRef::Static(ty) => hash_static_type(ty, len, state),
        TypeRef::Shared(ty) | TypeRef::Named(ty) => {
            state.write_u8(7);
            state.write_usize(len);
            ty.name.hash(state);
            ty.children.hash(state);
        }
    }
}

pub(crate) fn hash_static_type<H: Hasher>(ty: &'static NodeType, len: usize, state: &mut H) {
    state.write_u8(6);
    state.write_usize(len);
    state.write_usize(ptr::from_ref(ty).addr());
}
