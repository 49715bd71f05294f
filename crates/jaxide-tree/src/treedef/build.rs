//! Recording the structure of a tree that is being visited.

use std::sync::{Arc, OnceLock};

use super::{Container, Inner, LEAF, Size, TreeDef};
use crate::node::StructHead;
use crate::statics::Statics;
use crate::{DictKey, DictOrder, Head, Key, NodeType, StaticValue, TypeRef, Visitor};

/// Collects nodes in preorder, and fills in the sizes of subtrees as they end.
#[derive(Default)]
pub(crate) struct TreeDefBuilder {
    nodes: Vec<u32>,
    containers: Vec<Container>,
    heads: Vec<Head>,
    open: Vec<Open>,
    leaves: u32,
}

/// A container whose children have not all been seen.
struct Open {
    container: u32,
    missing: u32,
    node: u32,
    leaves_before: u32,
}

/// How many of the last heads a new one is compared with: a list has mostly elements of one kind or of a few.
const NEAR: usize = 8;

impl TreeDefBuilder {
    #[inline]
    pub(crate) fn leaf(&mut self) {
        self.leaves += 1;
        self.nodes.push(LEAF);
        self.child_done();
    }

    pub(crate) fn open(&mut self, head: &Head, len: usize) {
        self.open_with(len, |known| known == head, || head.clone());
    }

    /// Begins a container of `len` children, with the head that `make` gives, unless one of the last heads is the
    /// `same`.
    #[inline]
    fn open_with(
        &mut self,
        len: usize,
        same: impl FnMut(&Head) -> bool,
        make: impl FnOnce() -> Head,
    ) {
        let near = self.heads.len().saturating_sub(NEAR);
        let known = self.heads[near..].iter().rposition(same);
        let head = known.map_or(self.heads.len(), |i| near + i) as u32;
        if known.is_none() {
            self.heads.push(make());
        }
        let node = u32::try_from(self.nodes.len()).expect("a tree has less than 2^32 nodes");
        let arity = u32::try_from(len).expect("a container has less than 2^32 children");
        let container = self.containers.len() as u32;
        self.nodes.push(container);
        self.containers.push(Container {
            head,
            size: Size {
                arity,
                nodes: 1,
                leaves: 0,
            },
        });
        if arity == 0 {
            self.child_done();
        } else {
            self.nodes.reserve(len);
            self.open.push(Open {
                container,
                missing: arity,
                node,
                leaves_before: self.leaves,
            });
        }
    }

    /// Appends the subtree of `def` at `index` as it is.
    pub(crate) fn subtree(&mut self, def: &TreeDef, index: usize) {
        for node in index..index + def.at(index).nodes as usize {
            match def.head(node) {
                Some(head) => self.open(head, def.at(node).arity()),
                None => self.leaf(),
            }
        }
    }

    /// The node just written is complete: so may be the ones around it.
    #[inline]
    fn child_done(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.missing -= 1;
            if open.missing == 0 {
                self.close();
            }
        }
    }

    /// The innermost open container has all its children.
    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let size = &mut self.containers[open.container as usize].size;
        size.nodes = self.nodes.len() as u32 - open.node;
        size.leaves = self.leaves - open.leaves_before;
        self.child_done();
    }

    /// The finished treedef.
    ///
    /// # Panics
    ///
    /// If what was recorded is not one tree: a `Pytree::visit` reported another number of children than it
    /// visited.
    pub(crate) fn finish(self) -> TreeDef {
        let root = match self.nodes.first() {
            Some(&LEAF) => 1,
            Some(_) => self.containers[0].size.nodes as usize,
            None => 0,
        };
        assert!(
            self.open.is_empty() && root == self.nodes.len() && root > 0,
            "a `Pytree::visit` reported another number of children than it visited"
        );
        TreeDef(Arc::new(Inner {
            nodes: self.nodes,
            containers: self.containers,
            heads: self.heads,
            hash: OnceLock::new(),
        }))
    }
}

impl<'a, L> Visitor<'a, L> for TreeDefBuilder {
    fn leaf(&mut self, _: &'a L) {
        TreeDefBuilder::leaf(self);
    }
    fn made_leaf(&mut self, _: L) {
        TreeDefBuilder::leaf(self);
    }
    #[inline]
    fn none(&mut self) {
        self.open_with(0, |head| matches!(head, Head::None), || Head::None);
    }
    #[inline]
    fn tuple(&mut self, len: usize) {
        self.open_with(len, |head| matches!(head, Head::Tuple), || Head::Tuple);
    }
    #[inline]
    fn list(&mut self, len: usize) {
        self.open_with(len, |head| matches!(head, Head::List), || Head::List);
    }
    fn dict<'k, K: DictKey + 'k>(
        &mut self,
        order: DictOrder,
        keys: impl ExactSizeIterator<Item = &'k K> + Clone,
    ) {
        let same = |known: &[Key]| {
            known.len() == keys.len()
                && known
                    .iter()
                    .zip(keys.clone())
                    .all(|(known, key)| key.is_key(known))
        };
        let owned = || keys.clone().map(DictKey::to_key).collect();
        match order {
            DictOrder::Sorted => self.open_with(
                keys.len(),
                |head| matches!(head, Head::Dict(known) if same(known)),
                || Head::Dict(owned()),
            ),
            DictOrder::Insertion => self.open_with(
                keys.len(),
                |head| matches!(head, Head::OrderedDict(known) if same(known)),
                || Head::OrderedDict(owned()),
            ),
        }
    }
    #[inline]
    fn structure(&mut self, ty: &'static NodeType, statics: &[&dyn StaticValue], len: usize) {
        self.open_with(
            len,
            |head| matches!(head, Head::Struct(s) if s.is_of(ty, statics)),
            || {
                let statics = Statics::new(statics);
                Head::Struct(StructHead {
                    ty: TypeRef::Static(ty),
                    statics,
                })
            },
        );
    }
    fn head(&mut self, head: &Head, len: usize) {
        self.open(head, len);
    }
}

/// Records the structure and clones the leaves in one visit.
pub(crate) struct Flatten<L> {
    pub(crate) leaves: Vec<L>,
    pub(crate) builder: TreeDefBuilder,
}

impl<L> Flatten<L> {
    pub(crate) fn new() -> Self {
        Flatten {
            leaves: Vec::new(),
            builder: TreeDefBuilder::default(),
        }
    }
}

impl<'a, L: Clone> Visitor<'a, L> for Flatten<L> {
    fn leaf(&mut self, leaf: &'a L) {
        self.leaves.push(leaf.clone());
        self.builder.leaf();
    }
    fn made_leaf(&mut self, leaf: L) {
        self.leaves.push(leaf);
        self.builder.leaf();
    }
    fn none(&mut self) {
        Visitor::<L>::none(&mut self.builder);
    }
    fn tuple(&mut self, len: usize) {
        Visitor::<L>::tuple(&mut self.builder, len);
    }
    fn list(&mut self, len: usize) {
        self.leaves.reserve(len);
        Visitor::<L>::list(&mut self.builder, len);
    }
    fn dict<'k, K: DictKey + 'k>(
        &mut self,
        order: DictOrder,
        keys: impl ExactSizeIterator<Item = &'k K> + Clone,
    ) {
        Visitor::<L>::dict(&mut self.builder, order, keys);
    }
    fn structure(&mut self, ty: &'static NodeType, statics: &[&dyn StaticValue], len: usize) {
        Visitor::<L>::structure(&mut self.builder, ty, statics, len);
    }
    fn head(&mut self, head: &Head, len: usize) {
        Visitor::<L>::head(&mut self.builder, head, len);
    }
}
