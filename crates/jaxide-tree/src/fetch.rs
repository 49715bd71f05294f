//! Nested fetches, each computed once.

use std::collections::HashMap;
use std::hash::Hash;

use crate::{Pytree, StructureError, TreeDef};

/// A tree of things to fetch, in which the same thing may occur more than once.
///
/// The things are computed once each, and their results fanned out to every place that asked for them. Any pytree will
/// do for the fetches, so containers of one's own take part.
///
/// ```
/// use jaxide_tree::FetchMap;
///
/// let fetches = ("loss", vec!["accuracy", "loss"]);
/// let map = FetchMap::new(&fetches);
/// assert_eq!(map.unique(), ["loss", "accuracy"]);
///
/// let lengths: (usize, Vec<usize>) = map.fetch(|names| names.iter().map(|name| name.len()).collect())?;
/// assert_eq!(lengths, (4, vec![8, 4]));
/// # Ok::<(), jaxide_tree::StructureError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FetchMap<F> {
    treedef: TreeDef,
    unique: Vec<F>,
    index: Vec<usize>,
}

impl<F: Clone> FetchMap<F> {
    /// The fetches of a tree, of which equal ones are one.
    pub fn new<T: Pytree<F>>(fetches: &T) -> Self
    where
        F: Eq + Hash,
    {
        FetchMap::by_key(fetches, F::clone)
    }

    /// The fetches of a tree, of which those with equal keys are one: for fetches that are compared by identity.
    pub fn by_key<T: Pytree<F>, K: Eq + Hash>(fetches: &T, key: impl Fn(&F) -> K) -> Self {
        let (leaves, treedef) = crate::flatten(fetches);
        let mut known: HashMap<K, usize> = HashMap::new();
        let mut unique = Vec::new();
        let index = leaves
            .into_iter()
            .map(|fetch| {
                *known.entry(key(&fetch)).or_insert_with(|| {
                    unique.push(fetch);
                    unique.len() - 1
                })
            })
            .collect();
        FetchMap {
            treedef,
            unique,
            index,
        }
    }

    /// The different fetches, in the order of their first occurrence.
    pub fn unique(&self) -> &[F] {
        &self.unique
    }

    /// For each leaf of the tree, which of the different fetches it is.
    pub fn index(&self) -> &[usize] {
        &self.index
    }

    /// The structure of the fetches, and of the results.
    pub fn structure(&self) -> &TreeDef {
        &self.treedef
    }

    /// The tree of results, from one result for each of the different fetches.
    ///
    /// # Errors
    ///
    /// If there are fewer or more results than different fetches, or `U` has another structure than the fetches.
    pub fn rebuild<U: Pytree<V>, V: Clone>(&self, results: &[V]) -> Result<U, StructureError> {
        StructureError::check_count(self.unique.len(), results.len())
            .map_err(|error| error.about("the fetches"))?;
        self.treedef
            .unflatten(self.index.iter().map(|&i| results[i].clone()))
    }

    /// Computes the different fetches together and gives the tree of results.
    ///
    /// # Errors
    ///
    /// As [`FetchMap::rebuild`].
    pub fn fetch<U: Pytree<V>, V: Clone>(
        &self,
        compute: impl FnOnce(&[F]) -> Vec<V>,
    ) -> Result<U, StructureError> {
        self.rebuild(&compute(&self.unique))
    }
}
