//! Maps: dicts in the structure, their keys sorted, or ordered dicts.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use indexmap::IndexMap;

use crate::{DictKey, DictOrder, Pytree, StructureError, Unflatten, Visitor};

impl<L, K: DictKey + Ord, T: Pytree<L>> Pytree<L> for BTreeMap<K, T> {
    fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
    where
        L: 'a,
    {
        visitor.dict(DictOrder::Sorted, self.keys());
        self.values().for_each(|value| value.visit(visitor));
    }

    fn unflatten<I: Iterator<Item = L>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        items(DictOrder::Sorted, from)
    }

    fn into_leaves(self, leaves: &mut Vec<L>)
    where
        L: Clone,
    {
        self.into_values()
            .for_each(|value| value.into_leaves(leaves));
    }
}

/// A `HashMap` is a dict like any other: it is sorted whenever it is visited, which takes a vector.
impl<L, K, T, S> Pytree<L> for HashMap<K, T, S>
where
    K: DictKey + Ord + Hash,
    T: Pytree<L>,
    S: BuildHasher + Default,
{
    fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
    where
        L: 'a,
    {
        let mut items: Vec<(&K, &'a T)> = self.iter().collect();
        items.sort_unstable_by_key(|(key, _)| *key);
        visitor.dict(DictOrder::Sorted, items.iter().map(|(key, _)| *key));
        items.iter().for_each(|(_, value)| value.visit(visitor));
    }

    fn unflatten<I: Iterator<Item = L>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        items(DictOrder::Sorted, from)
    }

    fn into_leaves(self, leaves: &mut Vec<L>)
    where
        L: Clone,
    {
        let mut items: Vec<(K, T)> = self.into_iter().collect();
        items.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        items
            .into_iter()
            .for_each(|(_, value)| value.into_leaves(leaves));
    }
}

/// The order of an `IndexMap` is part of its structure.
impl<L, K, T, S> Pytree<L> for IndexMap<K, T, S>
where
    K: DictKey + Hash + Eq,
    T: Pytree<L>,
    S: BuildHasher + Default,
{
    fn visit<'a, V: Visitor<'a, L>>(&'a self, visitor: &mut V)
    where
        L: 'a,
    {
        visitor.dict(DictOrder::Insertion, self.keys());
        self.values().for_each(|value| value.visit(visitor));
    }

    fn unflatten<I: Iterator<Item = L>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        items(DictOrder::Insertion, from)
    }

    fn into_leaves(self, leaves: &mut Vec<L>)
    where
        L: Clone,
    {
        self.into_values()
            .for_each(|value| value.into_leaves(leaves));
    }
}

/// Rebuilds the items of a map.
fn items<L, K, T, I, M>(order: DictOrder, from: &mut Unflatten<'_, I>) -> Result<M, StructureError>
where
    K: DictKey,
    T: Pytree<L>,
    I: Iterator<Item = L>,
    M: FromIterator<(K, T)>,
{
    let keys = from.dict(order)?;
    let mut items = Vec::with_capacity(keys.len());
    for i in 0..keys.len() {
        items.push((keys.key(i)?, T::unflatten(from)?));
    }
    Ok(M::from_iter(items))
}
