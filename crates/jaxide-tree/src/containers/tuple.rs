//! Tuples.

use crate::{Pytree, StructureError, Unflatten, Visitor};

/// The empty tuple is a tree of any leaf type.
impl<L> Pytree<L> for () {
    fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
    where
        L: 'a,
    {
        visitor.tuple(0);
    }

    fn unflatten<I: Iterator<Item = L>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        from.tuple(0)
    }
}

macro_rules! tuples {
    ($len:literal: $($name:ident)+) => {
        #[allow(non_snake_case)]
        impl<Leaf, $($name: Pytree<Leaf>),+> Pytree<Leaf> for ($($name,)+) {
            fn visit<'a, Vis: Visitor<'a, Leaf>>(&'a self, visitor: &mut Vis)
            where
                Leaf: 'a,
            {
                let ($($name,)+) = self;
                visitor.tuple($len);
                $($name.visit(visitor);)+
            }

            fn unflatten<Iter: Iterator<Item = Leaf>>(
                from: &mut Unflatten<'_, Iter>,
            ) -> Result<Self, StructureError> {
                from.tuple($len)?;
                Ok(($($name::unflatten(from)?,)+))
            }

            fn into_leaves(self, leaves: &mut Vec<Leaf>)
            where
                Leaf: Clone,
            {
                let ($($name,)+) = self;
                $($name.into_leaves(leaves);)+
            }
        }
    };
}

tuples!(1: A);
tuples!(2: A B);
tuples!(3: A B C);
tuples!(4: A B C D);
tuples!(5: A B C D E);
tuples!(6: A B C D E F);
tuples!(7: A B C D E F G);
tuples!(8: A B C D E F G H);
tuples!(9: A B C D E F G H I);
tuples!(10: A B C D E F G H I J);
tuples!(11: A B C D E F G H I J K);
tuples!(12: A B C D E F G H I J K M);
