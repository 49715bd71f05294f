//! Trees whose structure is known at run time only.

mod literal;
mod map;
mod text;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{
    ChildKeys, Head, Key, KeyEntry, KeyPath, NodeStyle, NodeType, Pytree, StaticValue,
    StructureError, StructureErrorKind, TreeDef, Unflatten, Visitor,
};

/// A tree with leaves of any type `L` and any structure.
///
/// It is what a typed value becomes when its type does not matter, or cannot be written down: a prefix tree of
/// axes, a parameter tree read from a file, an argument list with placeholders in the place of arrays.
///
/// ```
/// use jaxide_tree::{Tree, tree};
///
/// let point: Tree<f32> = tree!({"y": 1.0, "x": [2.0, None]});
/// assert_eq!(point.structure().to_string(), "PyTreeDef({'x': [*, None], 'y': *})");
/// assert_eq!(point.map(|x| x * 10.0).to_string(), "{'x': [20, None], 'y': 10}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree<L> {
    /// A leaf.
    Leaf(L),
    /// A container.
    Node(Node<L>),
}

/// A container of a [`Tree`]: its head, and as many children as the head asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<L> {
    head: Head,
    children: Vec<Tree<L>>,
}

impl<L> Node<L> {
    /// What kind of container it is.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The children, in the order of the structure.
    pub fn children(&self) -> &[Tree<L>] {
        &self.children
    }

    /// The children with the keys that lead to them.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (KeyEntry, &Tree<L>)> {
        self.children
            .iter()
            .enumerate()
            .map(|(i, child)| (self.head.entry(i), child))
    }
}

impl<L> Tree<L> {
    /// A container.
    ///
    /// # Panics
    ///
    /// If the head fixes another number of children.
    pub fn node(head: Head, children: impl IntoIterator<Item = Tree<L>>) -> Self {
        let children: Vec<_> = children.into_iter().collect();
        if let Some(arity) = head.arity() {
            assert_eq!(
                arity,
                children.len(),
                "number of children of {}",
                head.type_name()
            );
        }
        Tree::Node(Node { head, children })
    }

    /// The node without children.
    pub fn none() -> Self {
        Tree::node(Head::None, [])
    }

    /// A tuple.
    pub fn tuple(children: impl IntoIterator<Item = Tree<L>>) -> Self {
        Tree::node(Head::Tuple, children)
    }

    /// A list.
    pub fn list(children: impl IntoIterator<Item = Tree<L>>) -> Self {
        Tree::node(Head::List, children)
    }

    /// A map, whose children are put in the order of their keys. Of equal keys the last one counts.
    ///
    /// # Errors
    ///
    /// [`StructureErrorKind::UnsortableKeys`] if two keys have no order, such as a string and a number.
    pub fn dict<K: Into<Key>>(
        items: impl IntoIterator<Item = (K, Tree<L>)>,
    ) -> Result<Self, StructureError> {
        let items: BTreeMap<Key, _> = items.into_iter().map(|(k, v)| (k.into(), v)).collect();
        if let Some((left, right)) = unsortable(items.keys()) {
            let kind = StructureErrorKind::UnsortableKeys {
                left: left.clone(),
                right: right.clone(),
            };
            return Err(StructureError::new(kind, KeyPath::root()));
        }
        let (keys, children): (Vec<_>, Vec<_>) = items.into_iter().unzip();
        Ok(Tree::node(Head::Dict(keys.into()), children))
    }

    /// A map that keeps its order. Of equal keys the last value counts, in the place of the first.
    pub fn ordered_dict<K: Into<Key>>(items: impl IntoIterator<Item = (K, Tree<L>)>) -> Self {
        let items: indexmap::IndexMap<Key, _> =
            items.into_iter().map(|(k, v)| (k.into(), v)).collect();
        let (keys, children): (Vec<_>, Vec<_>) = items.into_iter().unzip();
        Tree::node(Head::OrderedDict(keys.into()), children)
    }

    /// A struct `name` with the given fields and static values.
    ///
    /// It is not the struct of the program with that name, if there is one: that is known by its type.
    pub fn structure_of<N: Into<Cow<'static, str>>>(
        name: N,
        fields: impl IntoIterator<Item = (N, Tree<L>)>,
        statics: Vec<Arc<dyn StaticValue>>,
    ) -> Self {
        Tree::with_fields(name, NodeStyle::Struct, fields, statics)
    }

    /// A tuple with named fields.
    pub fn named_tuple<N: Into<Cow<'static, str>>>(
        name: N,
        fields: impl IntoIterator<Item = (N, Tree<L>)>,
    ) -> Self {
        Tree::with_fields(name, NodeStyle::NamedTuple, fields, Vec::new())
    }

    fn with_fields<N: Into<Cow<'static, str>>>(
        name: N,
        style: NodeStyle,
        fields: impl IntoIterator<Item = (N, Tree<L>)>,
        statics: Vec<Arc<dyn StaticValue>>,
    ) -> Self {
        let fields = fields.into_iter().map(|(name, child)| (name.into(), child));
        let (names, children): (Vec<_>, Vec<_>) = fields.unzip();
        let ty = NodeType::dynamic(name, "", style, ChildKeys::Attrs(names.into()));
        Tree::node(Head::dynamic(ty, statics), children)
    }

    /// What kind of container this is, or `None` for a leaf.
    pub fn head(&self) -> Option<&Head> {
        self.as_node().map(Node::head)
    }

    /// The children: none, for a leaf.
    pub fn children(&self) -> &[Tree<L>] {
        self.as_node().map_or(&[], Node::children)
    }

    /// The leaf, if this is one.
    pub fn as_leaf(&self) -> Option<&L> {
        match self {
            Tree::Leaf(leaf) => Some(leaf),
            Tree::Node(_) => None,
        }
    }

    /// The container, if this is one.
    pub fn as_node(&self) -> Option<&Node<L>> {
        match self {
            Tree::Leaf(_) => None,
            Tree::Node(node) => Some(node),
        }
    }

    /// Whether this is a leaf.
    pub fn is_leaf(&self) -> bool {
        matches!(self, Tree::Leaf(_))
    }

    /// Whether this is the node `None`.
    pub fn is_none(&self) -> bool {
        matches!(self.head(), Some(Head::None))
    }

    /// The children with the keys that lead to them.
    ///
    /// # Errors
    ///
    /// [`StructureErrorKind::NotANode`] for a leaf.
    pub fn one_level(&self) -> Result<Vec<(KeyEntry, &Tree<L>)>, StructureError> {
        match self {
            Tree::Node(node) => Ok(node.entries().collect()),
            Tree::Leaf(_) => {
                let got = crate::unflatten::short_type_name::<L>();
                Err(StructureError::new(
                    StructureErrorKind::NotANode { got },
                    KeyPath::root(),
                ))
            }
        }
    }

    /// The subtree at `path`, if there is one.
    pub fn get(&self, path: &[KeyEntry]) -> Option<&Tree<L>> {
        let Some((first, rest)) = path.split_first() else {
            return Some(self);
        };
        let (_, child) = self
            .as_node()?
            .entries()
            .find(|(entry, _)| entry == first)?;
        child.get(rest)
    }

    /// The structure.
    pub fn structure(&self) -> TreeDef {
        crate::structure::<L, _>(self)
    }

    /// The leaves, borrowed.
    pub fn leaves(&self) -> Vec<&L> {
        fn collect<'t, L>(tree: &'t Tree<L>, leaves: &mut Vec<&'t L>) {
            match tree {
                Tree::Leaf(leaf) => leaves.push(leaf),
                Tree::Node(node) => node
                    .children
                    .iter()
                    .for_each(|child| collect(child, leaves)),
            }
        }
        let mut leaves = Vec::new();
        collect(self, &mut leaves);
        leaves
    }

    /// The structure of the tree and its leaves, borrowed.
    pub fn flatten(&self) -> (Vec<&L>, TreeDef) {
        (self.leaves(), self.structure())
    }

    /// A typed value as a tree.
    ///
    /// ```
    /// use jaxide_tree::Tree;
    ///
    /// let tree: Tree<f32> = Tree::from_value(&(1.0, vec![2.0]));
    /// assert_eq!(tree.to_string(), "(1, [2])");
    /// assert_eq!(tree.to_value::<(f32, Vec<f32>)>(), Ok((1.0, vec![2.0])));
    /// ```
    pub fn from_value<T: Pytree<L>>(value: &T) -> Self
    where
        L: Clone,
    {
        let (leaves, treedef) = crate::flatten(value);
        treedef
            .unflatten(leaves)
            .expect("a tree can have any structure")
    }

    /// The tree as a typed value.
    ///
    /// # Errors
    ///
    /// If the structure is not one of type `T`.
    pub fn to_value<T: Pytree<L>>(&self) -> Result<T, StructureError>
    where
        L: Clone,
    {
        self.structure()
            .unflatten(self.leaves().into_iter().cloned())
    }
}

/// A leaf.
impl<L> From<L> for Tree<L> {
    fn from(leaf: L) -> Self {
        Tree::Leaf(leaf)
    }
}

impl<L> Pytree<L> for Tree<L> {
    fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
    where
        L: 'a,
    {
        match self {
            Tree::Leaf(leaf) => visitor.leaf(leaf),
            Tree::Node(node) => {
                visitor.head(&node.head, node.children.len());
                node.children.iter().for_each(|child| child.visit(visitor));
            }
        }
    }

    fn unflatten<I: Iterator<Item = L>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        let Some((head, len)) = from.any_node() else {
            return from.leaf().map(Tree::Leaf);
        };
        let mut children = Vec::with_capacity(len);
        for _ in 0..len {
            children.push(Tree::unflatten(from)?);
        }
        Ok(Tree::Node(Node {
            head: head.clone(),
            children,
        }))
    }

    fn into_leaves(self, leaves: &mut Vec<L>)
    where
        L: Clone,
    {
        match self {
            Tree::Leaf(leaf) => leaves.push(leaf),
            Tree::Node(node) => node
                .children
                .into_iter()
                .for_each(|child| child.into_leaves(leaves)),
        }
    }
}

/// Whether every one of `items` is a leaf.
pub fn all_leaves<'t, L: 't>(items: impl IntoIterator<Item = &'t Tree<L>>) -> bool {
    items.into_iter().all(Tree::is_leaf)
}

/// Two of the keys that have no order in Python, if there are any. The keys are given in their total order, which
/// keeps comparable ones together, so that looking at neighbours is enough.
pub(crate) fn unsortable<'k>(
    keys: impl IntoIterator<Item = &'k Key>,
) -> Option<(&'k Key, &'k Key)> {
    let mut keys = keys.into_iter();
    let mut left = keys.next()?;
    keys.find_map(|right| {
        let pair = (left, right);
        left = right;
        pair.0.order(right).is_none().then_some(pair)
    })
}
