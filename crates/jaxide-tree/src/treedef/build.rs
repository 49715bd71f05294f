//! Recording the structure of a tree that is being visited.

use std::sync::{Arc, OnceLock};

use super::{Inner, LEAF, Node, TreeDef};
use crate::node::StructHead;
use crate::statics::Statics;
use crate::{DictKey, DictOrder, Head, Key, NodeType, StaticValue, TypeRef, Visitor};

/// Collects nodes in preorder, and fills in the sizes of subtrees as they end.
#[derive(Default)]
pub(crate) struct TreeDefBuilder {
    nodes: Vec<Node>,
    heads: Vec<Head>,
    open: Vec<Open>,
    leaves: u32,
    /// The keys of the last map: in a list of maps they are mostly all the same, and need storing once.
    last_keys: Option<Arc<[Key]>>,
}

struct Open {
    node: u32,
    missing: u32,
    leaves_before: u32,
}

impl TreeDefBuilder {
    pub(crate) fn leaf(&mut self) {
        self.leaves += 1;
        self.nodes.push(Node {
            head: LEAF,
            arity: 0,
            nodes: 1,
            leaves: 1,
        });
        self.close();
    }

    pub(crate) fn open(&mut self, head: Head, len: usize) {
        let head_index = self.heads.len() as u32;
        self.heads.push(head);
        self.push(head_index, len);
    }

    fn push(&mut self, head: u32, len: usize) {
        let node = u32::try_from(self.nodes.len()).expect("a tree has less than 2^32 nodes");
        let arity = u32::try_from(len).expect("a container has less than 2^32 children");
        self.nodes.push(Node {
            head,
            arity,
            nodes: 1,
            leaves: 0,
        });
        if arity == 0 {
            self.close();
        } else {
            self.open.push(Open {
                node,
                missing: arity,
                leaves_before: self.leaves,
            });
        }
    }

    /// Appends the subtree of `def` at `index` as it is.
    pub(crate) fn subtree(&mut self, def: &TreeDef, index: usize) {
        let count = def.at(index).nodes as usize;
        let mut heads = Vec::new();
        self.nodes.reserve(count);
        for node in &def.0.nodes[index..index + count] {
            let mut node = *node;
            if node.head != LEAF {
                heads.push(def.0.heads[node.head as usize].clone());
                node.head = (self.heads.len() + heads.len() - 1) as u32;
            }
            self.nodes.push(node);
        }
        self.heads.append(&mut heads);
        self.leaves += def.at(index).leaves;
        self.close();
    }

    /// The node just written is complete: so may be the ones around it.
    fn close(&mut self) {
        let written = self.nodes.len() as u32;
        while let Some(open) = self.open.last_mut() {
            open.missing -= 1;
            if open.missing > 0 {
                return;
            }
            let node = &mut self.nodes[open.node as usize];
            node.nodes = written - open.node;
            node.leaves = self.leaves - open.leaves_before;
            self.open.pop();
        }
    }

    /// The finished treedef.
    ///
    /// # Panics
    ///
    /// If what was recorded is not one tree: a `Pytree::visit` reported another number of children than it
    /// visited.
    pub(crate) fn finish(self) -> TreeDef {
        let complete = self.open.is_empty()
            && self
                .nodes
                .first()
                .is_some_and(|root| root.nodes as usize == self.nodes.len());
        assert!(
            complete,
            "a `Pytree::visit` reported another number of children than it visited"
        );
        TreeDef(Arc::new(Inner {
            nodes: self.nodes.into_boxed_slice(),
            heads: self.heads.into_boxed_slice(),
            hash: OnceLock::new(),
        }))
    }

    fn keys<'k, K: DictKey + 'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k K>,
    ) -> Arc<[Key]> {
        let keys: Vec<&K> = keys.collect();
        let known = self.last_keys.as_ref().filter(|known| {
            known.len() == keys.len() && keys.iter().zip(known.iter()).all(|(k, key)| k.is_key(key))
        });
        match known {
            Some(known) => known.clone(),
            None => {
                let keys: Arc<[Key]> = keys.iter().map(|key| key.to_key()).collect();
                self.last_keys = Some(keys.clone());
                keys
            }
        }
    }
}

impl<'a, L> Visitor<'a, L> for TreeDefBuilder {
    fn leaf(&mut self, _: &'a L) {
        TreeDefBuilder::leaf(self);
    }
    fn made_leaf(&mut self, _: L) {
        TreeDefBuilder::leaf(self);
    }
    fn none(&mut self) {
        self.open(Head::None, 0);
    }
    fn tuple(&mut self, len: usize) {
        self.open(Head::Tuple, len);
    }
    fn list(&mut self, len: usize) {
        self.open(Head::List, len);
    }
    fn dict<'k, K: DictKey + 'k>(
        &mut self,
        order: DictOrder,
        keys: impl ExactSizeIterator<Item = &'k K>,
    ) {
        let keys = self.keys(keys);
        let len = keys.len();
        match order {
            DictOrder::Sorted => self.open(Head::Dict(keys), len),
            DictOrder::Insertion => self.open(Head::OrderedDict(keys), len),
        }
    }
    fn structure(&mut self, ty: &'static NodeType, statics: &[&dyn StaticValue], len: usize) {
        let head = StructHead {
            ty: TypeRef::Static(ty),
            statics: Statics::new(statics),
        };
        self.open(Head::Struct(head), len);
    }
    fn head(&mut self, head: &Head, len: usize) {
        self.open(head.clone(), len);
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
        Visitor::<L>::list(&mut self.builder, len);
    }
    fn dict<'k, K: DictKey + 'k>(
        &mut self,
        order: DictOrder,
        keys: impl ExactSizeIterator<Item = &'k K>,
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
