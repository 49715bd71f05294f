//! Trees from trees.

use super::{Node, Tree};
use crate::ops::{check_composition, transpose_leaves};
use crate::unflatten::short_type_name;
use crate::{KeyPath, StructureError, StructureErrorKind, TreeDef};

impl<L> Tree<L> {
    /// The tree of `f` of each leaf.
    pub fn map<M>(&self, mut f: impl FnMut(&L) -> M) -> Tree<M> {
        self.walk(&mut |leaf| f(leaf))
    }

    fn walk<'t, M>(&'t self, f: &mut impl FnMut(&'t L) -> M) -> Tree<M> {
        match self {
            Tree::Leaf(leaf) => Tree::Leaf(f(leaf)),
            Tree::Node(node) => {
                node.with(node.children.iter().map(|child| child.walk(f)).collect())
            }
        }
    }

    /// The tree of `f` of each leaf and its path.
    pub fn map_with_path<M>(&self, mut f: impl FnMut(&KeyPath, &L) -> M) -> Tree<M> {
        let mut paths = self.structure().key_paths().into_iter();
        self.map(|leaf| f(&paths.next().expect("a path for every leaf"), leaf))
    }

    /// The tree of `f` of each leaf and of the subtrees of `rest` at its place.
    ///
    /// The other trees may go on where this one ends.
    ///
    /// ```
    /// use jaxide_tree::{Tree, tree};
    ///
    /// let (names, data): (Tree<&str>, Tree<i32>) = (tree!(["x", "y"]), tree!([(1, 2), {"k": 3}]));
    /// let lines = names.map_up_to(&[&data], |name, rest| format!("{name} = {}", rest[0]))?;
    /// assert_eq!(lines.to_string(), "[x = (1, 2), y = {'k': 3}]");
    /// # Ok::<(), jaxide_tree::StructureError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first place where this tree is not a prefix of another one.
    pub fn map_up_to<R, M>(
        &self,
        rest: &[&Tree<R>],
        mut f: impl FnMut(&L, &[&Tree<R>]) -> M,
    ) -> Result<Tree<M>, StructureError> {
        let treedef = self.structure();
        let columns = rest
            .iter()
            .map(|tree| treedef.subtrees(tree))
            .collect::<Result<Vec<_>, _>>()?;
        let mut index = 0;
        let mut row = Vec::with_capacity(columns.len());
        Ok(self.map(|leaf| {
            row.clear();
            row.extend(columns.iter().map(|column| column[index]));
            index += 1;
            f(leaf, &row)
        }))
    }

    /// The tree that ends at each subtree for which `is_leaf` holds, with those and the former leaves as leaves.
    ///
    /// What JAX does with an `is_leaf` argument is done with the tree that is cut.
    ///
    /// ```
    /// use jaxide_tree::{Tree, tree};
    ///
    /// let tree: Tree<i32> = tree!([1, None, (2, 3)]);
    /// let cut = tree.cut(|subtree| subtree.is_none());
    /// assert_eq!(cut.structure().to_string(), "PyTreeDef([*, *, (*, *)])");
    /// ```
    pub fn cut<'t>(&'t self, mut is_leaf: impl FnMut(&'t Tree<L>) -> bool) -> Tree<&'t Tree<L>> {
        self.cut_with(&mut is_leaf)
    }

    fn cut_with<'t>(&'t self, is_leaf: &mut impl FnMut(&'t Tree<L>) -> bool) -> Tree<&'t Tree<L>> {
        match self {
            Tree::Node(node) if !is_leaf(self) => node.with(
                node.children
                    .iter()
                    .map(|child| child.cut_with(is_leaf))
                    .collect(),
            ),
            leaf => Tree::Leaf(leaf),
        }
    }

    /// Turns an outer tree of inner trees inside out. Without `inner`, the first inner tree says how they are.
    ///
    /// # Errors
    ///
    /// If the structure of this tree is not `outer.compose(inner)`, or if `inner` is missing and there is no
    /// inner tree to look at.
    pub fn transpose(
        &self,
        outer: &TreeDef,
        inner: Option<&TreeDef>,
    ) -> Result<Tree<L>, StructureError>
    where
        L: Clone,
    {
        let first;
        let inner = match inner {
            Some(inner) => inner,
            None => {
                let subtrees = outer.subtrees(self)?;
                let empty = || {
                    let kind = StructureErrorKind::Transpose {
                        expected: "an outer tree with leaves, or the inner structure".into(),
                        got: outer.to_string(),
                    };
                    StructureError::new(kind, KeyPath::root())
                };
                first = subtrees.first().ok_or_else(empty)?.structure();
                &first
            }
        };
        check_composition(&self.structure(), outer, inner)?;
        let leaves = self.leaves().into_iter().cloned().collect();
        inner
            .compose(outer)
            .unflatten(transpose_leaves(leaves, outer, inner))
    }
}

impl<L> Tree<Tree<L>> {
    /// The tree of trees as one tree.
    pub fn join(self) -> Tree<L> {
        match self {
            Tree::Leaf(tree) => tree,
            Tree::Node(node) => Tree::Node(Node {
                head: node.head,
                children: node.children.into_iter().map(Tree::join).collect(),
            }),
        }
    }
}

impl<L> Node<L> {
    /// The same container with other children, as many as there were.
    pub(crate) fn with<M>(&self, children: Vec<Tree<M>>) -> Tree<M> {
        Tree::Node(Node {
            head: self.head.clone(),
            children,
        })
    }
}

impl TreeDef {
    /// The subtrees of `full` that stand at the leaves of this treedef, in order: JAX's `flatten_up_to`.
    ///
    /// # Errors
    ///
    /// The first place where this is not a prefix of the structure of `full`.
    pub fn subtrees<'t, L>(&self, full: &'t Tree<L>) -> Result<Vec<&'t Tree<L>>, StructureError> {
        let mut subtrees = Vec::with_capacity(self.num_leaves());
        if self.collect_subtrees(0, full, &mut subtrees) {
            return Ok(subtrees);
        }
        let mut errors = self.prefix_errors(&full.structure());
        Err(errors.swap_remove(0).name_leaf(|_| short_type_name::<L>()))
    }

    fn collect_subtrees<'t, L>(
        &self,
        index: usize,
        full: &'t Tree<L>,
        subtrees: &mut Vec<&'t Tree<L>>,
    ) -> bool {
        let Some(head) = self.head(index) else {
            subtrees.push(full);
            return true;
        };
        let Tree::Node(node) = full else { return false };
        head.admits(&node.head)
            && self.at(index).arity() == node.children.len()
            && self
                .child_indices(index)
                .zip(&node.children)
                .all(|(child, full)| self.collect_subtrees(child, full, subtrees))
    }
}
