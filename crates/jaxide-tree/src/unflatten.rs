//! Rebuilding a value from a treedef and leaves.

use std::ops::Deref;
use std::sync::Arc;

use crate::treedef::head_difference;
use crate::{
    DictKey, DictOrder, Head, Key, KeyPath, NodeType, StaticValue, StructHead, StructureError,
    StructureErrorKind, TreeDef, TypeRef,
};

/// Where [`Pytree::unflatten`](crate::Pytree::unflatten) reads from: a treedef, node by node, and the leaves.
///
/// Each method takes the next node, and gives an error with its path when that is not what was asked for.
pub struct Unflatten<'d, I> {
    def: &'d TreeDef,
    at: usize,
    leaves: I,
    taken: usize,
}

impl<'d, I: Iterator> Unflatten<'d, I> {
    pub(crate) fn new(def: &'d TreeDef, leaves: I) -> Self {
        Unflatten {
            def,
            at: 0,
            leaves,
            taken: 0,
        }
    }

    /// Takes a leaf.
    ///
    /// # Errors
    ///
    /// If the next node is a container, or the leaves have run out.
    #[inline]
    pub fn leaf(&mut self) -> Result<I::Item, StructureError> {
        if self.def.is_leaf_at(self.at)
            && let Some(leaf) = self.leaves.next()
        {
            self.at += 1;
            self.taken += 1;
            return Ok(leaf);
        }
        Err(self.no_leaf())
    }

    /// Takes a `None`, if the next node is one.
    pub fn none(&mut self) -> bool {
        let none = matches!(self.next_head(), Some(Head::None));
        self.at += usize::from(none);
        none
    }

    /// Takes a tuple of `len` children.
    ///
    /// # Errors
    ///
    /// If the next node is something else.
    pub fn tuple(&mut self, len: usize) -> Result<(), StructureError> {
        self.expect(&Head::Tuple, Some(len)).map(|_| ())
    }

    /// Takes a list, and gives its number of children.
    ///
    /// # Errors
    ///
    /// If the next node is something else.
    pub fn list(&mut self) -> Result<usize, StructureError> {
        self.expect(&Head::List, None)
    }

    /// Takes a list of `len` children.
    ///
    /// # Errors
    ///
    /// If the next node is something else.
    pub fn list_of(&mut self, len: usize) -> Result<(), StructureError> {
        self.expect(&Head::List, Some(len)).map(|_| ())
    }

    /// Takes a map, and gives its keys, in the order of its children.
    ///
    /// # Errors
    ///
    /// If the next node is something else, or a map of another order.
    pub fn dict(&mut self, order: DictOrder) -> Result<DictNode<'d>, StructureError> {
        let node = self.at;
        match (order, self.next_head()) {
            (DictOrder::Sorted, Some(Head::Dict(keys)))
            | (DictOrder::Insertion, Some(Head::OrderedDict(keys))) => {
                self.at += 1;
                Ok(DictNode {
                    keys,
                    def: self.def,
                    node,
                })
            }
            (DictOrder::Sorted, _) => Err(self.type_error("dict")),
            (DictOrder::Insertion, _) => Err(self.type_error("OrderedDict")),
        }
    }

    /// Takes a container of type `ty`.
    ///
    /// # Errors
    ///
    /// If the next node is something else.
    pub fn structure(&mut self, ty: &'static NodeType) -> Result<StructNode<'d>, StructureError> {
        self.variant(&[ty]).map(|(_, node)| node)
    }

    /// Takes a container of one of `types`, and says of which.
    ///
    /// # Errors
    ///
    /// If the next node is something else.
    pub fn variant(
        &mut self,
        types: &[&'static NodeType],
    ) -> Result<(usize, StructNode<'d>), StructureError> {
        if let Some(Head::Struct(head)) = self.next_head() {
            let is = |ty: &&NodeType| matches!(head.ty, TypeRef::Static(known) if std::ptr::eq(known, *ty));
            if let Some(variant) = types.iter().position(is) {
                let node = StructNode {
                    head,
                    def: self.def,
                    node: self.at,
                };
                self.at += 1;
                return Ok((variant, node));
            }
        }
        let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
        Err(self.type_error(&names.join(" or ")))
    }

    /// The error of a leaf, the last one taken, that cannot become what the type needs.
    pub fn leaf_error(&self, expected: &str, got: &str) -> StructureError {
        value_error(self.def, self.at.saturating_sub(1), expected, got)
    }

    /// The head of the next node, or `None` for a leaf.
    pub(crate) fn next_head(&self) -> Option<&'d Head> {
        (self.at < self.def.num_nodes())
            .then(|| self.def.head(self.at))
            .flatten()
    }

    /// Takes the next node if it is a container, whatever it is, with its number of children.
    pub(crate) fn any_node(&mut self) -> Option<(&'d Head, usize)> {
        let head = self.next_head()?;
        let len = self.def.at(self.at).arity();
        self.at += 1;
        Some((head, len))
    }

    /// Checks that everything has been taken.
    pub(crate) fn finish(mut self) -> Result<(), StructureError> {
        if self.at != self.def.num_nodes() {
            return Err(self.value_error("no more nodes", "another one"));
        }
        match self.leaves.next() {
            Some(_) => Err(self.def.too_many()),
            None => Ok(()),
        }
    }

    #[cold]
    fn no_leaf(&self) -> StructureError {
        match self.next_head() {
            Some(head) => self.value_error("a leaf", head.type_name()),
            None => self.def.too_few(self.taken),
        }
    }

    #[inline]
    fn expect(&mut self, head: &Head, len: Option<usize>) -> Result<usize, StructureError> {
        if let Some(got) = self.next_head()
            && got == head
        {
            let got_len = self.def.at(self.at).arity();
            if len.is_none_or(|len| len == got_len) {
                self.at += 1;
                return Ok(got_len);
            }
        }
        Err(self.unexpected(head, len))
    }

    #[cold]
    fn unexpected(&self, head: &Head, len: Option<usize>) -> StructureError {
        let Some(got) = self.next_head() else {
            return self.type_error(head.type_name());
        };
        let got_len = self.def.at(self.at).arity();
        let keys = || (Vec::new(), self.def.entries(self.at));
        match head_difference(head, len.unwrap_or(got_len), got, got_len, keys) {
            Some(kind) => StructureError::new(kind, self.path()),
            None => self.type_error(head.type_name()),
        }
    }

    fn type_error(&self, expected: &str) -> StructureError {
        let (got, got_leaf) = match self.next_head() {
            Some(head) => (head.type_name().to_string(), None),
            None => (short_type_name::<I::Item>(), Some(self.taken)),
        };
        let kind = StructureErrorKind::Type {
            expected: expected.into(),
            got,
            got_leaf,
        };
        StructureError::new(kind, self.path())
    }

    fn value_error(&self, expected: &str, got: &str) -> StructureError {
        value_error(self.def, self.at, expected, got)
    }

    fn path(&self) -> KeyPath {
        self.def.path_of(self.at)
    }
}

/// The keys of a map that is being rebuilt.
#[derive(Clone, Copy)]
pub struct DictNode<'d> {
    keys: &'d [Key],
    def: &'d TreeDef,
    node: usize,
}

impl DictNode<'_> {
    /// Key `index` as a `K`.
    ///
    /// # Errors
    ///
    /// If it is not one.
    #[inline]
    pub fn key<K: DictKey>(&self, index: usize) -> Result<K, StructureError> {
        let key = &self.keys[index];
        match K::from_key(key) {
            Some(key) => Ok(key),
            None => Err(self.no_key::<K>(key)),
        }
    }

    #[cold]
    fn no_key<K>(&self, key: &Key) -> StructureError {
        let expected = format!("keys of type {}", short_type_name::<K>());
        value_error(self.def, self.node, &expected, &format!("the key {key}"))
    }
}

impl Deref for DictNode<'_> {
    type Target = [Key];

    fn deref(&self) -> &[Key] {
        self.keys
    }
}

/// A container that is being rebuilt: its static values, and how many children follow.
#[derive(Clone, Copy)]
pub struct StructNode<'d> {
    head: &'d StructHead,
    def: &'d TreeDef,
    node: usize,
}

impl<'d> StructNode<'d> {
    /// The number of children.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.def.at(self.node).arity()
    }

    /// The static values.
    pub fn statics(&self) -> &'d [Arc<dyn StaticValue>] {
        self.head.statics()
    }

    /// Static value `index`.
    ///
    /// # Errors
    ///
    /// If it is not of type `T`: the struct is generic, and the treedef comes from another instance of it.
    pub fn value<T: 'static>(&self, index: usize) -> Result<&'d T, StructureError> {
        let value = self.statics().get(index);
        value
            .and_then(|value| value.as_any().downcast_ref())
            .ok_or_else(|| {
                let expected = format!("a static value of type {}", short_type_name::<T>());
                let got = value.map_or("none".to_string(), |value| format!("{value:?}"));
                value_error(self.def, self.node, &expected, &got)
            })
    }
}

/// The name of a type without the modules it is in.
pub(crate) fn short_type_name<T: ?Sized>() -> String {
    let full = std::any::type_name::<T>();
    let mut short = String::new();
    for part in full.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        short.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    short
}

fn value_error(def: &TreeDef, node: usize, expected: &str, got: &str) -> StructureError {
    let kind = StructureErrorKind::Value {
        expected: expected.into(),
        got: got.into(),
    };
    StructureError::new(kind, def.path_of(node))
}
