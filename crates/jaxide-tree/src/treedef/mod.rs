//! The structure of a tree, without its leaves.
//!
//! A treedef is one shared array of nodes in preorder: four bytes for a leaf, and for a container the index of a
//! record that knows its head, its number of children, and how many nodes and leaves its subtree has. So a subtree
//! is a range, and stepping over one is an addition. Equal heads that are near each other are stored once.

mod build;
mod matching;
mod prefix;
mod text;

use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use crate::{Head, KeyEntry, KeyPath, Pytree, StructureError, StructureErrorKind, Unflatten};

pub(crate) use build::{Flatten, TreeDefBuilder};
pub(crate) use matching::HashStructure;
pub use prefix::Span;
pub(crate) use prefix::head_difference;

/// The structure of a tree: its containers, their keys and static values, and where the leaves go.
///
/// Treedefs are cheap to clone and to send to other threads. Two are equal when a tree of the one could be a
/// tree of the other: equal containers, keys and static values. The hash is computed once.
///
/// A tree has less than 2³² nodes; a larger one panics.
///
/// `Display` prints today's JAX text, `PyTreeDef([*, {'a': *}])`, and [`TreeDef::legacy`] that of older releases.
#[derive(Clone)]
pub struct TreeDef(Arc<Inner>);

struct Inner {
    /// For each node, in preorder, an index into the containers, or [`LEAF`].
    nodes: Vec<u32>,
    containers: Vec<Container>,
    heads: Vec<Head>,
    hash: OnceLock<u64>,
}

#[derive(Clone, Copy)]
struct Container {
    /// Index into the heads.
    head: u32,
    size: Size,
}

/// How large the subtree at a node is.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    arity: u32,
    /// Nodes of the subtree, this one included.
    nodes: u32,
    leaves: u32,
}

const LEAF: u32 = u32::MAX;

const LEAF_SIZE: Size = Size {
    arity: 0,
    nodes: 1,
    leaves: 1,
};

impl TreeDef {
    /// The structure of a single leaf.
    pub fn leaf() -> Self {
        let mut builder = TreeDefBuilder::default();
        builder.leaf();
        builder.finish()
    }

    /// The structure of a container `head` with the given children.
    ///
    /// # Panics
    ///
    /// If the head fixes another number of children.
    pub fn node(head: &Head, children: &[TreeDef]) -> Self {
        if let Some(arity) = head.arity() {
            assert_eq!(
                arity,
                children.len(),
                "number of children of {}",
                head.type_name()
            );
        }
        let mut builder = TreeDefBuilder::default();
        builder.open(head, children.len());
        for child in children {
            builder.subtree(child, 0);
        }
        builder.finish()
    }

    /// The structure of a tuple of trees.
    pub fn tuple(children: &[TreeDef]) -> Self {
        TreeDef::node(&Head::Tuple, children)
    }

    /// The number of leaves.
    pub fn num_leaves(&self) -> usize {
        self.at(0).leaves as usize
    }

    /// The number of nodes, leaves included.
    #[inline]
    pub fn num_nodes(&self) -> usize {
        self.0.nodes.len()
    }

    /// Whether the tree is one leaf.
    pub fn is_strict_leaf(&self) -> bool {
        self.0.nodes[0] == LEAF
    }

    /// Whether the tree is one node: a leaf, `None`, or an empty container.
    pub fn is_leaf(&self) -> bool {
        self.num_nodes() == 1
    }

    /// What kind of container the root is, with its keys and static values; `None` for a leaf.
    pub fn node_data(&self) -> Option<&Head> {
        self.head(0)
    }

    /// The structures of the root's children.
    pub fn children(&self) -> Vec<TreeDef> {
        self.child_indices(0)
            .map(|child| self.subtree(child))
            .collect()
    }

    /// The structure of a tree of which each leaf is replaced by a tree of structure `inner`.
    #[must_use]
    pub fn compose(&self, inner: &TreeDef) -> TreeDef {
        let mut builder = TreeDefBuilder::default();
        for index in 0..self.num_nodes() {
            match self.head(index) {
                Some(head) => builder.open(head, self.at(index).arity()),
                None => builder.subtree(inner, 0),
            }
        }
        builder.finish()
    }

    /// The hash of the structure, which [`crate::structure_hash`] gives for a value of this structure. Computed once.
    ///
    /// It may differ from one run of a program to the next.
    pub fn structural_hash(&self) -> u64 {
        *self.0.hash.get_or_init(|| matching::hash_treedef(self))
    }

    /// The path of every leaf, in order.
    pub fn key_paths(&self) -> Vec<KeyPath> {
        let mut paths = Vec::with_capacity(self.num_leaves());
        self.walk_leaves(0, &mut Vec::new(), &mut |path| {
            paths.push(path.to_vec().into())
        });
        paths
    }

    /// The key that leads to each child of the root.
    pub fn child_keys(&self) -> Vec<KeyEntry> {
        self.entries(0)
    }

    /// Builds a value of this structure from its leaves, in order.
    ///
    /// # Errors
    ///
    /// Where `T` has another structure, or there are too few or too many leaves.
    pub fn unflatten<T, L>(&self, leaves: impl IntoIterator<Item = L>) -> Result<T, StructureError>
    where
        T: Pytree<L>,
    {
        let mut from = Unflatten::new(self, leaves.into_iter());
        let value = T::unflatten(&mut from)?;
        from.finish()?;
        Ok(value)
    }

    /// The error of too few leaves.
    pub(crate) fn too_few(&self, got: usize) -> StructureError {
        let kind = StructureErrorKind::TooFewLeaves {
            expected: self.num_leaves(),
            got,
        };
        StructureError::new(kind, KeyPath::root())
    }

    /// The error of too many leaves.
    pub(crate) fn too_many(&self) -> StructureError {
        let kind = StructureErrorKind::TooManyLeaves {
            expected: self.num_leaves(),
        };
        StructureError::new(kind, KeyPath::root())
    }

    #[inline]
    pub(crate) fn at(&self, index: usize) -> Size {
        match self.0.nodes[index] {
            LEAF => LEAF_SIZE,
            container => self.0.containers[container as usize].size,
        }
    }

    #[inline]
    pub(crate) fn is_leaf_at(&self, index: usize) -> bool {
        self.0.nodes.get(index) == Some(&LEAF)
    }

    /// The head of node `index`, or `None` if it is a leaf.
    #[inline]
    pub(crate) fn head(&self, index: usize) -> Option<&Head> {
        match self.0.nodes[index] {
            LEAF => None,
            container => {
                let head = self.0.containers[container as usize].head;
                Some(&self.0.heads[head as usize])
            }
        }
    }

    pub(crate) fn child_indices(&self, index: usize) -> impl Iterator<Item = usize> {
        let mut next = index + 1;
        (0..self.at(index).arity).map(move |_| {
            let child = next;
            next += self.at(child).nodes as usize;
            child
        })
    }

    /// The treedef of the subtree at node `index`.
    pub(crate) fn subtree(&self, index: usize) -> TreeDef {
        if index == 0 {
            return self.clone();
        }
        let mut builder = TreeDefBuilder::default();
        builder.subtree(self, index);
        builder.finish()
    }

    /// The keys of the children of node `index`.
    pub(crate) fn entries(&self, index: usize) -> Vec<KeyEntry> {
        let entry = |head: &Head| (0..self.at(index).arity()).map(|i| head.entry(i)).collect();
        self.head(index).map(entry).unwrap_or_default()
    }

    /// The path of node `target`.
    pub(crate) fn path_of(&self, target: usize) -> KeyPath {
        let mut path = Vec::new();
        let mut at = 0;
        while let Some(head) = self.head(at).filter(|_| at < target) {
            let containing =
                |&(_, child): &(usize, usize)| target < child + self.at(child).nodes as usize;
            let Some((i, child)) = self.child_indices(at).enumerate().find(containing) else {
                break;
            };
            path.push(head.entry(i));
            at = child;
        }
        path.into()
    }

    /// How many leaves come before node `target`.
    pub(crate) fn leaves_before(&self, target: usize) -> usize {
        self.0.nodes[..target]
            .iter()
            .filter(|node| **node == LEAF)
            .count()
    }

    fn walk_leaves(
        &self,
        index: usize,
        path: &mut Vec<KeyEntry>,
        leaf: &mut impl FnMut(&[KeyEntry]),
    ) {
        let Some(head) = self.head(index) else {
            return leaf(path);
        };
        for (i, child) in self.child_indices(index).enumerate() {
            path.push(head.entry(i));
            self.walk_leaves(child, path, leaf);
            path.pop();
        }
    }
}

impl Size {
    pub(crate) fn arity(self) -> usize {
        self.arity as usize
    }
}

impl PartialEq for TreeDef {
    fn eq(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.0, &other.0) {
            return true;
        }
        if let (Some(a), Some(b)) = (self.0.hash.get(), other.0.hash.get())
            && a != b
        {
            return false;
        }
        let same = |index| {
            self.at(index).arity == other.at(index).arity && self.head(index) == other.head(index)
        };
        self.num_nodes() == other.num_nodes() && (0..self.num_nodes()).all(same)
    }
}

impl Eq for TreeDef {}

impl Hash for TreeDef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.structural_hash());
    }
}
