//! Comparing a value with a treedef, and hashing its structure, without building a treedef.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::TreeDef;
use crate::{DictKey, DictOrder, Head, NodeType, Pytree, StaticValue, Visitor, node};

impl TreeDef {
    /// Whether `value` has this structure. Allocates nothing, unless a `HashMap` has to be sorted.
    ///
    /// ```
    /// use jaxide_tree as tree;
    ///
    /// let treedef = tree::structure::<f32, _>(&(1.0, vec![2.0, 3.0]));
    /// assert!(treedef.matches::<f32, _>(&(5.0, vec![6.0, 7.0])));
    /// assert!(!treedef.matches::<f32, _>(&(5.0, vec![6.0])));
    /// ```
    pub fn matches<L, T: Pytree<L>>(&self, value: &T) -> bool {
        let mut compare = Compare {
            def: self,
            at: 0,
            same: true,
        };
        value.visit(&mut compare);
        compare.same && compare.at == self.num_nodes()
    }
}

/// Compares what it visits with the nodes of a treedef, in step.
struct Compare<'d> {
    def: &'d TreeDef,
    at: usize,
    same: bool,
}

impl<'d> Compare<'d> {
    /// Compares the next node, unless a difference has been found before.
    fn next(&mut self, len: usize, same: impl FnOnce(Option<&'d Head>) -> bool) {
        let def = self.def;
        self.same = self.same
            && self.at < def.num_nodes()
            && def.at(self.at).arity() == len
            && same(def.head(self.at));
        self.at += 1;
    }
}

impl<'a, L> Visitor<'a, L> for Compare<'_> {
    fn leaf(&mut self, _: &'a L) {
        self.next(0, |head| head.is_none());
    }
    fn made_leaf(&mut self, _: L) {
        self.next(0, |head| head.is_none());
    }
    fn none(&mut self) {
        self.next(0, |head| matches!(head, Some(Head::None)));
    }
    fn tuple(&mut self, len: usize) {
        self.next(len, |head| matches!(head, Some(Head::Tuple)));
    }
    fn list(&mut self, len: usize) {
        self.next(len, |head| matches!(head, Some(Head::List)));
    }
    fn dict<'k, K: DictKey + 'k>(
        &mut self,
        order: DictOrder,
        mut keys: impl ExactSizeIterator<Item = &'k K> + Clone,
    ) {
        self.next(keys.len(), |head| match (order, head) {
            (DictOrder::Sorted, Some(Head::Dict(known)))
            | (DictOrder::Insertion, Some(Head::OrderedDict(known))) => known
                .iter()
                .all(|known| keys.next().is_some_and(|key| key.is_key(known))),
            _ => false,
        });
    }
    fn structure(&mut self, ty: &'static NodeType, statics: &[&dyn StaticValue], len: usize) {
        self.next(
            len,
            |head| matches!(head, Some(Head::Struct(s)) if s.is_of(ty, statics)),
        );
    }
    fn head(&mut self, head: &Head, len: usize) {
        self.next(len, |known| known == Some(head));
    }
}

/// Hashes the structure of what it visits, to the hash that its treedef would have.
///
/// The hash is a fast one: structures come from programs, not from attackers.
#[derive(Default)]
pub(crate) struct HashStructure(FxHasher);

impl HashStructure {
    pub(crate) fn finish(&self) -> u64 {
        self.0.finish()
    }
}

impl<'a, L> Visitor<'a, L> for HashStructure {
    fn leaf(&mut self, _: &'a L) {
        self.0.write_u8(0);
    }
    fn made_leaf(&mut self, _: L) {
        self.0.write_u8(0);
    }
    fn none(&mut self) {
        node::hash_none(&mut self.0);
    }
    fn tuple(&mut self, len: usize) {
        node::hash_tuple(len, &mut self.0);
    }
    fn list(&mut self, len: usize) {
        node::hash_list(len, &mut self.0);
    }
    fn dict<'k, K: DictKey + 'k>(
        &mut self,
        order: DictOrder,
        keys: impl ExactSizeIterator<Item = &'k K> + Clone,
    ) {
        node::hash_dict(order == DictOrder::Insertion, keys, &mut self.0);
    }
    fn structure(&mut self, ty: &'static NodeType, statics: &[&dyn StaticValue], len: usize) {
        node::hash_static_type(ty, len, &mut self.0);
        statics
            .iter()
            .for_each(|value| value.hash_static(&mut self.0));
    }
    fn head(&mut self, head: &Head, len: usize) {
        head.hash_with(len, &mut self.0);
    }
}

pub(super) fn hash_treedef(def: &TreeDef) -> u64 {
    let mut state = FxHasher::default();
    for index in 0..def.num_nodes() {
        match def.head(index) {
            Some(head) => head.hash_with(def.at(index).arity(), &mut state),
            None => state.write_u8(0),
        }
    }
    state.finish()
}
