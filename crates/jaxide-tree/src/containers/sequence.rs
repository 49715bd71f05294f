//! Sequences: lists in the structure.

use std::array;
use std::collections::VecDeque;

use crate::{Pytree, StructureError, Unflatten, Visitor};

macro_rules! sequences {
    ($($sequence:ty)*) => {$(
        impl<L, T: Pytree<L>> Pytree<L> for $sequence {
            fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
            where
                L: 'a,
            {
                visitor.list(self.len());
                self.iter().for_each(|item| item.visit(visitor));
            }

            fn unflatten<I: Iterator<Item = L>>(
                from: &mut Unflatten<'_, I>,
            ) -> Result<Self, StructureError> {
                let len = from.list()?;
                let mut items = Vec::with_capacity(len);
                for _ in 0..len {
                    items.push(T::unflatten(from)?);
                }
                Ok(items.into())
            }

            fn into_leaves(self, leaves: &mut Vec<L>)
            where
                L: Clone,
            {
                self.into_iter().for_each(|item| item.into_leaves(leaves));
            }
        }
    )*};
}

sequences!(Vec<T> VecDeque<T> Box<[T]>);

impl<L, T: Pytree<L>, const N: usize> Pytree<L> for [T; N] {
    fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
    where
        L: 'a,
    {
        visitor.list(N);
        self.iter().for_each(|item| item.visit(visitor));
    }

    fn unflatten<I: Iterator<Item = L>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        from.list_of(N)?;
        let mut error = None;
        let items: [Option<T>; N] = array::from_fn(|_| match (&error, T::unflatten(from)) {
            (None, Ok(item)) => Some(item),
            (None, Err(first)) => {
                error = Some(first);
                None
            }
            (Some(_), _) => None,
        });
        match error {
            Some(error) => Err(error),
            None => Ok(items.map(|item| item.expect("there is no error"))),
        }
    }

    fn into_leaves(self, leaves: &mut Vec<L>)
    where
        L: Clone,
    {
        self.into_iter().for_each(|item| item.into_leaves(leaves));
    }
}
