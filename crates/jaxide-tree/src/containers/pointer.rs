//! Pointers, which do not show in the structure.

use std::rc::Rc;
use std::sync::Arc;

use crate::pytree::CloneLeaves;
use crate::{Pytree, StructureError, Unflatten, Visitor};

impl<L, T: Pytree<L>> Pytree<L> for Box<T> {
    fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
    where
        L: 'a,
    {
        (**self).visit(visitor);
    }

    fn unflatten<I: Iterator<Item = L>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        T::unflatten(from).map(Box::new)
    }

    fn into_leaves(self, leaves: &mut Vec<L>)
    where
        L: Clone,
    {
        (*self).into_leaves(leaves);
    }
}

macro_rules! shared_pointers {
    ($($pointer:ident)*) => {$(
        impl<L, T: Pytree<L>> Pytree<L> for $pointer<T> {
            fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
            where
                L: 'a,
            {
                (**self).visit(visitor);
            }

            fn unflatten<I: Iterator<Item = L>>(
                from: &mut Unflatten<'_, I>,
            ) -> Result<Self, StructureError> {
                T::unflatten(from).map($pointer::new)
            }

            fn into_leaves(self, leaves: &mut Vec<L>)
            where
                L: Clone,
            {
                match $pointer::try_unwrap(self) {
                    Ok(value) => value.into_leaves(leaves),
                    Err(shared) => shared.visit(&mut CloneLeaves(leaves)),
                }
            }
        }
    )*};
}

shared_pointers!(Arc Rc);
