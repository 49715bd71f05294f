//! Static values as trees.

use std::fmt;
use std::ops::Deref;

use crate::{
    ChildKeys, NodeStyle, NodeType, Pytree, StaticValue, StructureError, Unflatten, Visitor,
};

/// A value without leaves that is part of the structure: trees that differ in it have different structures.
///
/// It makes any value that is compared and hashed an argument of functions of trees. What depends on structures, such as
/// the programs that `jit` keeps, is made once for each value.
///
/// ```
/// use jaxide_tree::{self as tree, Static};
///
/// let (leaves, treedef) = tree::flatten::<f32, _>(&(1.5, Static("relu")));
/// assert_eq!(leaves, [1.5]);
/// assert_ne!(treedef, tree::structure::<f32, _>(&(1.5, Static("tanh"))));
///
/// let (x, name): (f32, Static<&str>) = treedef.unflatten([2.5])?;
/// assert_eq!((x, *name), (2.5, "relu"));
/// # Ok::<(), tree::StructureError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Static<T>(pub T);

static STATIC: NodeType =
    NodeType::new("Static", module_path!(), NodeStyle::Custom, ChildKeys::Seq);

impl<L, T: StaticValue + Clone + 'static> Pytree<L> for Static<T> {
    fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
    where
        L: 'a,
    {
        visitor.structure(&STATIC, &[&self.0], 0);
    }

    fn unflatten<I: Iterator<Item = L>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        from.structure(&STATIC)?.value::<T>(0).cloned().map(Static)
    }
}

impl<T> Deref for Static<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> From<T> for Static<T> {
    fn from(value: T) -> Self {
        Static(value)
    }
}

impl<T: fmt::Display> fmt::Display for Static<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
