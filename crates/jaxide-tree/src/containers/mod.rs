//! The standard containers as pytrees, and the standard leaf types.

mod fixed;
mod map;
mod pointer;
mod sequence;
mod tuple;

use std::marker::PhantomData;

pub use fixed::Static;

use crate::{Pytree, StructureError, Unflatten, Visitor};

crate::leaf!(
    bool,
    char,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    f32,
    f64,
    String,
    &'static str
);

/// `None` is a node without children; `Some` does not show in the structure.
impl<L, T: Pytree<L>> Pytree<L> for Option<T> {
    fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
    where
        L: 'a,
    {
        match self {
            None => visitor.none(),
            Some(value) => value.visit(visitor),
        }
    }

    fn unflatten<I: Iterator<Item = L>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        if from.none() {
            Ok(None)
        } else {
            T::unflatten(from).map(Some)
        }
    }

    fn into_leaves(self, leaves: &mut Vec<L>)
    where
        L: Clone,
    {
        if let Some(value) = self {
            value.into_leaves(leaves);
        }
    }
}

/// An empty tuple, so that a struct may have a `PhantomData` field.
impl<L, T: ?Sized> Pytree<L> for PhantomData<T> {
    fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
    where
        L: 'a,
    {
        visitor.tuple(0);
    }

    fn unflatten<I: Iterator<Item = L>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        from.tuple(0).map(|()| PhantomData)
    }
}
