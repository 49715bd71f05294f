//! The trait of everything that has leaves.

use std::ops::Deref;

use crate::{DictKey, Head, NodeType, StaticValue, StructureError, Unflatten};

/// A value that is a tree with leaves of type `L`.
///
/// Implemented for `Vec`, arrays, tuples, `Option`, maps, `Box`, `Rc` and `Arc` of pytrees, by
/// `#[derive(Pytree)]` for structs and enums, and by [`leaf!`](crate::leaf) for leaf types. Numbers, `bool`,
/// `char` and strings are leaves of their own type.
///
/// # Other leaf types for a foreign type
///
/// `L` being a parameter, a crate with a leaf type of its own may make foreign types trees of *its* leaves,
/// though neither the trait nor the type is its own. So a crate of arrays lets `f32` stand for an array:
///
/// ```
/// use jaxide_tree as tree;
/// use tree::{Pytree, StructureError, Unflatten, Visitor};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Array(Vec<f32>);
/// tree::leaf!(Array);
///
/// impl Pytree<Array> for f32 {
///     fn visit<'a, V: Visitor<'a, Array>>(&'a self, visitor: &mut V) {
///         visitor.made_leaf(Array(vec![*self]));
///     }
///     fn unflatten<I: Iterator<Item = Array>>(from: &mut Unflatten<'_, I>) -> Result<Self, StructureError> {
///         match from.leaf()?.0[..] {
///             [x] => Ok(x),
///             ref xs => Err(from.leaf_error("f32", &format!("an array of {} elements", xs.len()))),
///         }
///     }
/// }
///
/// let (leaves, treedef) = tree::flatten::<Array, _>(&(Array(vec![1.0, 2.0]), 3.0f32));
/// assert_eq!(leaves, [Array(vec![1.0, 2.0]), Array(vec![3.0])]);
/// assert_eq!(treedef.to_string(), "PyTreeDef((*, *))");
/// ```
///
/// # Implementing it by hand
///
/// [`visit`](Pytree::visit) reports the container and then each child in order;
/// [`unflatten`](Pytree::unflatten) reads them back in the same order. Nothing else runs when a tree is
/// rebuilt, so a constructor that checks its arguments does not get in the way of placeholders.
///
/// ```
/// use jaxide_tree as tree;
/// use tree::{ChildKeys, NodeStyle, NodeType, Pytree, StructureError, Unflatten, Visitor};
///
/// struct Ring<T> { items: Vec<T>, start: usize }
///
/// static RING: NodeType = NodeType::new("Ring", module_path!(), NodeStyle::Custom, ChildKeys::Seq);
///
/// impl<L, T: Pytree<L>> Pytree<L> for Ring<T> {
///     fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V) where L: 'a {
///         visitor.structure(&RING, &[&self.start], self.items.len());
///         self.items.iter().for_each(|item| item.visit(visitor));
///     }
///     fn unflatten<I: Iterator<Item = L>>(from: &mut Unflatten<'_, I>) -> Result<Self, StructureError> {
///         let node = from.structure(&RING)?;
///         let start = *node.value(0)?;
///         let items = (0..node.len()).map(|_| T::unflatten(from)).collect::<Result<_, _>>()?;
///         Ok(Ring { items, start })
///     }
/// }
///
/// let ring = Ring { items: vec![1, 2], start: 1 };
/// assert_eq!(tree::structure::<i32, _>(&ring).to_string(), "PyTreeDef(CustomNode(Ring[1], [*, *]))");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pytree with leaves of type `{L}`",
    label = "no tree of `{L}`",
    note = "a struct or enum becomes a pytree with `#[derive(Pytree)]`, a leaf type with `leaf!`",
    note = "a field that is not data can be made part of the structure with `#[pytree(static)]`"
)]
pub trait Pytree<L>: Sized {
    /// Reports this value to `visitor`: one call for a leaf; for a container one call, then its children.
    ///
    /// The number of children that follow must be the one reported. [`crate::structure`] panics otherwise.
    fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
    where
        L: 'a;

    /// Builds a value from the next node of a treedef and from the leaves.
    ///
    /// # Errors
    ///
    /// Where the treedef does not have the structure of this type, or a leaf cannot become one.
    fn unflatten<I: Iterator<Item = L>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError>;

    /// Moves the leaves to the end of `leaves`, in order.
    fn into_leaves(self, leaves: &mut Vec<L>)
    where
        L: Clone,
    {
        self.visit(&mut CloneLeaves(leaves));
    }
}

/// What looks at a tree: it is told of every node, a container before its children.
///
/// The methods for containers do nothing unless a visitor defines them, so that one that wants the leaves
/// alone costs nothing more.
pub trait Visitor<'a, L> {
    /// A leaf of the tree.
    fn leaf(&mut self, leaf: &'a L);

    /// A leaf that was made for this visit, for a type that is only convertible to a leaf.
    fn made_leaf(&mut self, leaf: L);

    /// A `None`.
    fn none(&mut self) {}

    /// A tuple of `len` children.
    fn tuple(&mut self, _len: usize) {}

    /// A list of `len` children.
    fn list(&mut self, _len: usize) {}

    /// A map with one child for each key.
    fn dict<'k, K: DictKey + 'k>(
        &mut self,
        _order: DictOrder,
        _keys: impl ExactSizeIterator<Item = &'k K> + Clone,
    ) {
    }

    /// A container with a type of its own, its static values, and `len` children.
    fn structure(&mut self, _ty: &'static NodeType, _statics: &[&dyn StaticValue], _len: usize) {}

    /// A container whose head exists already, and `len` children.
    fn head(&mut self, _head: &Head, _len: usize) {}
}

/// In which order the children of a map come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DictOrder {
    /// In the order of the keys: `BTreeMap`, `HashMap`, a Python `dict`.
    Sorted,
    /// In the order of the map, which is part of its structure: `IndexMap`, a Python `OrderedDict`.
    Insertion,
}

/// A leaf seen by a visitor: borrowed from the tree, or made on the way.
#[derive(Clone, Debug)]
pub enum LeafRef<'a, L> {
    /// A leaf of the tree.
    Borrowed(&'a L),
    /// A leaf made from a value that is only convertible to one.
    Made(L),
}

impl<L> Deref for LeafRef<'_, L> {
    type Target = L;

    fn deref(&self) -> &L {
        match self {
            LeafRef::Borrowed(leaf) => leaf,
            LeafRef::Made(leaf) => leaf,
        }
    }
}

/// Makes types leaves: `leaf!(Array)` implements [`Pytree<Array>`](Pytree) for `Array`.
///
/// A leaf type may have parameters, in square brackets before it: `leaf!([T] Tagged<T>)`.
#[macro_export]
macro_rules! leaf {
    ([$($param:tt)*] $leaf:ty) => {
        impl<$($param)*> $crate::Pytree<$leaf> for $leaf {
            fn visit<'__a, __V: $crate::Visitor<'__a, $leaf>>(&'__a self, visitor: &mut __V)
            where
                $leaf: '__a,
            {
                visitor.leaf(self);
            }

            fn unflatten<__I: ::core::iter::Iterator<Item = $leaf>>(
                from: &mut $crate::Unflatten<'_, __I>,
            ) -> ::core::result::Result<Self, $crate::StructureError> {
                from.leaf()
            }

            fn into_leaves(self, leaves: &mut ::std::vec::Vec<$leaf>) {
                leaves.push(self);
            }
        }

        $crate::leaf!(@compose [$($param)*] $leaf);

        impl<$($param)*> $crate::Fill<$leaf> for $leaf {
            type Within<__Outer> = __Outer;
        }
    };
    (@compose [] $leaf:ty) => {
        impl<__Inner> $crate::Compose<$leaf, __Inner> for $leaf {
            type Composed = __Inner;
        }
    };
    (@compose [$($param:tt)+] $leaf:ty) => {
        impl<$($param)+, __Inner> $crate::Compose<$leaf, __Inner> for $leaf {
            type Composed = __Inner;
        }
    };
    ($($leaf:ty),+ $(,)?) => {
        $($crate::leaf!([] $leaf);)+
    };
}

/// Clones every leaf into a vector.
pub(crate) struct CloneLeaves<'v, L>(pub(crate) &'v mut Vec<L>);

impl<'a, L: Clone> Visitor<'a, L> for CloneLeaves<'_, L> {
    fn leaf(&mut self, leaf: &'a L) {
        self.0.push(leaf.clone());
    }
    fn made_leaf(&mut self, leaf: L) {
        self.0.push(leaf);
    }
}
