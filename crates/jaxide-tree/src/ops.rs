//! The functions of the crate: what `jax.tree` has, for values of any pytree type.

use crate::pytree::CloneLeaves;
use crate::treedef::{Flatten, HashStructure, TreeDefBuilder};
use crate::unflatten::short_type_name;
use crate::{KeyPath, LeafRef, Pytree, StructureError, StructureErrorKind, TreeDef, Visitor};

/// The leaves of a tree, cloned, and its structure.
///
/// ```
/// # use jaxide_tree as tree;
/// let (leaves, treedef) = tree::flatten(&[(1, 2), (3, 4)]);
/// assert_eq!(leaves, [1, 2, 3, 4]);
/// assert_eq!(treedef.to_string(), "PyTreeDef([(*, *), (*, *)])");
/// ```
pub fn flatten<L: Clone, T: Pytree<L>>(tree: &T) -> (Vec<L>, TreeDef) {
    let mut flatten = Flatten::new();
    tree.visit(&mut flatten);
    (flatten.leaves, flatten.builder.finish())
}

/// The leaves of a tree, cloned.
pub fn leaves<L: Clone, T: Pytree<L>>(tree: &T) -> Vec<L> {
    let mut leaves = Vec::new();
    tree.visit(&mut CloneLeaves(&mut leaves));
    leaves
}

/// The leaves of a tree, borrowed.
pub fn leaf_refs<L, T: Pytree<L>>(tree: &T) -> Vec<LeafRef<'_, L>> {
    let mut refs = Vec::new();
    tree.visit(&mut Refs(&mut refs));
    refs
}

/// The structure of a tree.
pub fn structure<L, T: Pytree<L>>(tree: &T) -> TreeDef {
    let mut builder = TreeDefBuilder::default();
    Pytree::<L>::visit(tree, &mut builder);
    builder.finish()
}

/// The hash that [`TreeDef`] has for this tree, without building a treedef.
///
/// With [`TreeDef::matches`] it looks a value up among known structures without an allocation.
pub fn structure_hash<L, T: Pytree<L>>(tree: &T) -> u64 {
    let mut hash = HashStructure::default();
    Pytree::<L>::visit(tree, &mut hash);
    hash.finish()
}

/// The leaves of a tree with their paths, and its structure.
///
/// ```
/// # use jaxide_tree as tree;
/// use std::collections::BTreeMap;
///
/// let (leaves, _) = tree::flatten_with_path(&BTreeMap::from([("b", vec![1, 2]), ("a", vec![3])]));
/// let lines: Vec<_> = leaves.iter().map(|(path, leaf)| format!("{path} = {leaf}")).collect();
/// assert_eq!(lines, ["['a'][0] = 3", "['b'][0] = 1", "['b'][1] = 2"]);
/// ```
pub fn flatten_with_path<L: Clone, T: Pytree<L>>(tree: &T) -> (Vec<(KeyPath, L)>, TreeDef) {
    let (leaves, treedef) = flatten(tree);
    (
        treedef.key_paths().into_iter().zip(leaves).collect(),
        treedef,
    )
}

/// The leaves of a tree with their paths.
pub fn leaves_with_path<L: Clone, T: Pytree<L>>(tree: &T) -> Vec<(KeyPath, L)> {
    flatten_with_path(tree).0
}

/// Calls `f` with every leaf.
pub fn for_each<L, T: Pytree<L>>(f: impl FnMut(&L), tree: &T) {
    tree.visit(&mut ForEach(f));
}

/// A tree of the same type, with `f` of each leaf.
///
/// ```
/// # use jaxide_tree as tree;
/// let doubled = tree::map(|x| x * 2, &(1, [2, 3]))?;
/// assert_eq!(doubled, (2, [4, 6]));
/// # Ok::<(), tree::StructureError>(())
/// ```
///
/// # Errors
///
/// Only where a value is converted to a leaf, as a float may be to an array: if what `f` gives cannot be
/// converted back.
pub fn map<L, T: Pytree<L>>(f: impl FnMut(&L) -> L, tree: &T) -> Result<T, StructureError> {
    map_to(f, tree)
}

/// A tree of another type, but of the same structure, with `f` of each leaf.
///
/// ```
/// # use jaxide_tree as tree;
/// let lengths: (usize, Vec<usize>) = tree::map_to(|s: &&str| s.len(), &("one", vec!["two", "three"]))?;
/// assert_eq!(lengths, (3, vec![3, 5]));
/// # Ok::<(), tree::StructureError>(())
/// ```
///
/// # Errors
///
/// If the structure of `tree` is not one of type `U`.
pub fn map_to<L, M, T, U>(mut f: impl FnMut(&L) -> M, tree: &T) -> Result<U, StructureError>
where
    T: Pytree<L>,
    U: Pytree<M>,
{
    let treedef = structure::<L, T>(tree);
    treedef.unflatten(leaf_refs::<L, T>(tree).into_iter().map(|leaf| f(&leaf)))
}

/// A tree of the same type, with `f` of each leaf and its path.
///
/// # Errors
///
/// As [`map`].
pub fn map_with_path<L, T: Pytree<L>>(
    mut f: impl FnMut(&KeyPath, &L) -> L,
    tree: &T,
) -> Result<T, StructureError> {
    let treedef = structure::<L, T>(tree);
    let paths = treedef.key_paths();
    let leaves = paths.iter().zip(leaf_refs::<L, T>(tree));
    treedef.unflatten(leaves.map(|(path, leaf)| f(path, &leaf)))
}

macro_rules! maps {
    ($(#[$doc:meta])* $name:ident($($tree:ident: $Tree:ident of $Leaf:ident),+)) => {
        $(#[$doc])*
        ///
        /// The result has the type and the structure of the first tree, and the others must have its
        /// structure.
        ///
        /// # Errors
        ///
        /// The first place where another tree has another structure than the first.
        pub fn $name<L, T, $($Leaf, $Tree),+>(
            mut f: impl FnMut(&L, $(&$Leaf),+) -> L,
            tree: &T,
            $($tree: &$Tree),+
        ) -> Result<T, StructureError>
        where
            T: Pytree<L>,
            $($Tree: Pytree<$Leaf>),+
        {
            let treedef = structure::<L, T>(tree);
            let leaves = leaf_refs::<L, T>(tree).into_iter();
            $(let mut $tree = corresponding::<$Leaf, $Tree>(&treedef, $tree)?.into_iter();)+
            treedef.unflatten(leaves.map(|leaf| {
                $(let $tree = $tree.next().expect("trees of one structure have as many leaves");)+
                f(&leaf, $(&$tree),+)
            }))
        }
    };
}

maps! {
    /// `f` of the corresponding leaves of two trees.
    ///
    /// ```
    /// # use jaxide_tree as tree;
    /// let (params, grads) = ((1.0, vec![2.0]), (10.0, vec![20.0]));
    /// assert_eq!(tree::map2(|p, g| p - 0.1 * g, &params, &grads)?, (0.0, vec![0.0]));
    ///
    /// let error = tree::map2(|p, g| p - g, &params, &(10.0, vec![20.0, 30.0])).unwrap_err();
    /// assert_eq!(error.to_string(), "different lengths of list at tree[1]: expected 1, got 2");
    /// # Ok::<(), tree::StructureError>(())
    /// ```
    map2(second: T2 of L2)
}
maps! {
    /// `f` of the corresponding leaves of three trees.
    map3(second: T2 of L2, third: T3 of L3)
}
maps! {
    /// `f` of the corresponding leaves of four trees.
    map4(second: T2 of L2, third: T3 of L3, fourth: T4 of L4)
}

/// `f` of the corresponding leaves of any number of trees of one type: it is given one leaf of each tree, in the order of
/// the trees.
///
/// The result has the structure of the first tree, and the others must have it too.
///
/// ```
/// # use jaxide_tree as tree;
/// let members = [(1.0, vec![2.0]), (3.0, vec![4.0]), (8.0, vec![3.0])];
/// let mean = tree::map_many(|leaves: &[&f64]| leaves.iter().copied().sum::<f64>() / 3.0, &members)?;
/// assert_eq!(mean, (4.0, vec![3.0]));
///
/// let error = tree::map_many(|leaves: &[&f64]| *leaves[0], &[vec![1.0], vec![1.0, 2.0]]).unwrap_err();
/// assert_eq!(error.to_string(), "different lengths of list at tree 1: expected 1, got 2");
/// # Ok::<(), tree::StructureError>(())
/// ```
///
/// # Errors
///
/// The first place where another tree has another structure than the first; [`StructureErrorKind::NoTrees`] if there are
/// none.
pub fn map_many<L, T: Pytree<L>>(
    mut f: impl FnMut(&[&L]) -> L,
    trees: &[T],
) -> Result<T, StructureError> {
    let Some(first) = trees.first() else {
        return Err(StructureError::new(
            StructureErrorKind::NoTrees,
            KeyPath::root(),
        ));
    };
    let treedef = structure::<L, T>(first);
    let mut leaves = Vec::with_capacity(trees.len());
    for (number, tree) in trees.iter().enumerate() {
        let own = corresponding::<L, T>(&treedef, tree);
        leaves.push(own.map_err(|error| error.about(format!("tree {number}")))?);
    }
    treedef.unflatten((0..treedef.num_leaves()).map(|leaf| {
        let each: Vec<&L> = leaves.iter().map(|tree| &*tree[leaf]).collect();
        f(&each)
    }))
}

/// Combines the leaves from left to right, beginning with the first.
///
/// # Errors
///
/// [`StructureErrorKind::EmptyReduce`] if there are no leaves; [`fold`] takes an initial value.
pub fn reduce<L: Clone, T: Pytree<L>>(
    f: impl FnMut(L, L) -> L,
    tree: &T,
) -> Result<L, StructureError> {
    leaves(tree).into_iter().reduce(f).ok_or_else(no_leaves)
}

/// Combines the leaves in halves of halves, for an `f` that is associative: no leaf goes through more than
/// `log2(n) + 1` calls, which keeps sums of many floats exact and jaxprs shallow.
///
/// ```
/// # use jaxide_tree as tree;
/// let joined = tree::reduce_associative(|a, b| format!("({a}{b})"), &["a", "b", "c"].map(String::from))?;
/// assert_eq!(joined, "(a(bc))");
/// # Ok::<(), tree::StructureError>(())
/// ```
///
/// # Errors
///
/// As [`reduce`].
pub fn reduce_associative<L: Clone, T: Pytree<L>>(
    mut f: impl FnMut(L, L) -> L,
    tree: &T,
) -> Result<L, StructureError> {
    fn halves<L>(
        count: usize,
        leaves: &mut impl Iterator<Item = L>,
        f: &mut impl FnMut(L, L) -> L,
    ) -> Option<L> {
        if count <= 1 {
            return leaves.next();
        }
        let left = halves(count / 2, leaves, f)?;
        let right = halves(count - count / 2, leaves, f)?;
        Some(f(left, right))
    }
    let leaves = leaves(tree);
    halves(leaves.len(), &mut leaves.into_iter(), &mut f).ok_or_else(no_leaves)
}

/// Combines the leaves from left to right, beginning with `init`.
pub fn fold<L, T: Pytree<L>, A>(mut f: impl FnMut(A, &L) -> A, tree: &T, init: A) -> A {
    leaf_refs::<L, T>(tree)
        .iter()
        .fold(init, |acc, leaf| f(acc, leaf))
}

/// Whether `predicate` holds for every leaf.
pub fn all<L, T: Pytree<L>>(mut predicate: impl FnMut(&L) -> bool, tree: &T) -> bool {
    leaf_refs::<L, T>(tree).iter().all(|leaf| predicate(leaf))
}

/// Turns a tree of structure `outer` whose leaves are trees of structure `inner` inside out.
///
/// ```
/// # use jaxide_tree as tree;
/// let pairs = vec![(1, 2), (3, 4), (5, 6)];
/// let outer = tree::structure::<i32, _>(&[0; 3]);
/// let inner = tree::structure::<i32, _>(&(0, 0));
/// let lists: (Vec<i32>, Vec<i32>) = tree::transpose(&outer, &inner, &pairs)?;
/// assert_eq!(lists, (vec![1, 3, 5], vec![2, 4, 6]));
/// # Ok::<(), tree::StructureError>(())
/// ```
///
/// # Errors
///
/// If the structure of `tree` is not `outer.compose(inner)`, or `U` has not that of
/// `inner.compose(outer)`.
pub fn transpose<L, T, U>(outer: &TreeDef, inner: &TreeDef, tree: &T) -> Result<U, StructureError>
where
    L: Clone,
    T: Pytree<L>,
    U: Pytree<L>,
{
    let (leaves, treedef) = flatten(tree);
    check_composition(&treedef, outer, inner)?;
    inner
        .compose(outer)
        .unflatten(transpose_leaves(leaves, outer, inner))
}

/// The tree of structure `full` in which every leaf has the value that `prefix` has above it.
///
/// # Errors
///
/// If `prefix` is not a prefix of `full`, or `U` is of another structure than `full`.
pub fn broadcast<P, T, U>(prefix: &T, full: &TreeDef) -> Result<U, StructureError>
where
    P: Clone,
    T: Pytree<P>,
    U: Pytree<P>,
{
    full.unflatten(broadcast_prefix(prefix, full)?)
}

/// The leaves of [`broadcast`]: for each leaf of `full` the value that `prefix` has above it.
///
/// # Errors
///
/// If `prefix` is not a prefix of `full`.
pub fn broadcast_prefix<P: Clone, T: Pytree<P>>(
    prefix: &T,
    full: &TreeDef,
) -> Result<Vec<P>, StructureError> {
    let (leaves, treedef) = flatten(prefix);
    treedef.broadcast(&leaves, full)
}

/// Every place where `prefix` is not a prefix of `full`.
pub fn prefix_errors<P, T, L, U>(prefix: &T, full: &U) -> Vec<StructureError>
where
    T: Pytree<P>,
    U: Pytree<L>,
{
    let errors = structure::<P, T>(prefix).prefix_errors(&structure::<L, U>(full));
    errors
        .into_iter()
        .map(|error| error.name_leaf(|_| short_type_name::<L>()))
        .collect()
}

fn no_leaves() -> StructureError {
    StructureError::new(StructureErrorKind::EmptyReduce, KeyPath::root())
}

/// Checks that `treedef` is that of an `outer` tree of `inner` trees.
pub(crate) fn check_composition(
    treedef: &TreeDef,
    outer: &TreeDef,
    inner: &TreeDef,
) -> Result<(), StructureError> {
    let expected = outer.compose(inner);
    if *treedef == expected {
        return Ok(());
    }
    let kind = StructureErrorKind::Transpose {
        expected: expected.to_string(),
        got: treedef.to_string(),
    };
    Err(StructureError::new(kind, KeyPath::root()))
}

/// The leaves of an outer tree of inner trees, in the order of the inner tree of outer trees.
pub(crate) fn transpose_leaves<L>(leaves: Vec<L>, outer: &TreeDef, inner: &TreeDef) -> Vec<L> {
    let (rows, columns) = (outer.num_leaves(), inner.num_leaves());
    let mut leaves: Vec<Option<L>> = leaves.into_iter().map(Some).collect();
    let order = (0..columns).flat_map(|j| (0..rows).map(move |i| i * columns + j));
    order
        .map(|place| leaves[place].take().expect("each place is taken once"))
        .collect()
}

/// The leaves of a tree that must have structure `treedef`.
fn corresponding<'t, L, T: Pytree<L>>(
    treedef: &TreeDef,
    tree: &'t T,
) -> Result<Vec<LeafRef<'t, L>>, StructureError> {
    if treedef.matches::<L, T>(tree) {
        return Ok(leaf_refs(tree));
    }
    let mut differences = treedef.differences(&structure::<L, T>(tree));
    Err(differences
        .swap_remove(0)
        .name_leaf(|_| short_type_name::<L>()))
}

struct Refs<'v, 'a, L>(&'v mut Vec<LeafRef<'a, L>>);

impl<'a, L> Visitor<'a, L> for Refs<'_, 'a, L> {
    fn leaf(&mut self, leaf: &'a L) {
        self.0.push(LeafRef::Borrowed(leaf));
    }
    fn made_leaf(&mut self, leaf: L) {
        self.0.push(LeafRef::Made(leaf));
    }
}

struct ForEach<F>(F);

impl<'a, L, F: FnMut(&L)> Visitor<'a, L> for ForEach<F> {
    fn leaf(&mut self, leaf: &'a L) {
        (self.0)(leaf);
    }
    fn made_leaf(&mut self, leaf: L) {
        (self.0)(&leaf);
    }
}
