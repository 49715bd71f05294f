//! Structures seen down to the leaves of a shallow one.

use super::same::{different_types, same_container, sequence_vs_leaf};
use super::{
    CheckTypes, NestError, NestErrorKind, entries, first, mapping_keys, nested, pack_sequence_as,
};
use crate::{Head, KeyEntry, KeyPath, Node, NodeStyle, Tree};

/// The parts of `deep` that stand at the leaves of `shallow`.
///
/// # Errors
///
/// The first place where `shallow` is not the upper part of `deep`: with [`CheckTypes::Yes`] containers must be of one
/// type, any mapping matching any other; the number of children and the keys must agree always.
pub fn flatten_up_to<'t, S, L>(
    shallow: &Tree<S>,
    deep: &'t Tree<L>,
    check_types: CheckTypes,
) -> Result<Vec<&'t Tree<L>>, NestError> {
    let parts = flatten_with_path_up_to(shallow, deep, check_types)?;
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

/// [`flatten_up_to`], with the path of each part.
///
/// # Errors
///
/// As [`flatten_up_to`].
pub fn flatten_with_path_up_to<'t, S, L>(
    shallow: &Tree<S>,
    deep: &'t Tree<L>,
    check_types: CheckTypes,
) -> Result<Vec<(KeyPath, &'t Tree<L>)>, NestError> {
    check(shallow, deep, check_types, &KeyPath::root())?;
    parts(shallow, deep)
}

/// A structure like `shallow`, with `f` of the parts of the structures that stand at its leaves.
///
/// # Errors
///
/// Where a structure lacks a place that `shallow` has, or if there is no structure.
pub fn map_structure_up_to<S, L, M>(
    shallow: &Tree<S>,
    mut f: impl FnMut(&[&Tree<L>]) -> Tree<M>,
    structures: &[&Tree<L>],
) -> Result<Tree<M>, NestError> {
    map_structure_with_path_up_to(shallow, |_, parts| f(parts), structures)
}

/// [`map_structure_up_to`], with the path of each leaf of `shallow`.
///
/// # Errors
///
/// As [`map_structure_up_to`].
pub fn map_structure_with_path_up_to<S, L, M>(
    shallow: &Tree<S>,
    mut f: impl FnMut(&KeyPath, &[&Tree<L>]) -> Tree<M>,
    structures: &[&Tree<L>],
) -> Result<Tree<M>, NestError> {
    first(structures)?;
    let columns = structures
        .iter()
        .map(|deep| parts(shallow, deep))
        .collect::<Result<Vec<_>, _>>()?;
    let mut row = Vec::with_capacity(columns.len());
    let results = (0..columns[0].len()).map(|i| {
        row.clear();
        row.extend(columns.iter().map(|column| column[i].1));
        f(&columns[0][i].0, &row)
    });
    pack_sequence_as(shallow, results)
}

/// A structure like the first one, with `f` of the path and the parts of all structures at each of its leaves.
///
/// # Errors
///
/// As [`map_structure_up_to`].
pub fn map_structure_with_path<L, M>(
    f: impl FnMut(&KeyPath, &[&Tree<L>]) -> Tree<M>,
    structures: &[&Tree<L>],
) -> Result<Tree<M>, NestError> {
    map_structure_with_path_up_to(first(structures)?, f, structures)
}

fn check<S, L>(
    shallow: &Tree<S>,
    deep: &Tree<L>,
    check_types: CheckTypes,
    path: &KeyPath,
) -> Result<(), NestError> {
    let error = |kind| Err(NestError::new(kind, path.clone()));
    let Some(shallow) = nested(shallow) else {
        return Ok(());
    };
    let Some(node) = nested(deep) else {
        return error(sequence_vs_leaf(shallow, deep));
    };
    let mappings = mapping_keys(shallow).is_some() && mapping_keys(node).is_some();
    if check_types == CheckTypes::Yes && !mappings && !is_instance(node.head(), shallow.head()) {
        return error(different_types(shallow, node));
    }
    let (expected, got) = (shallow.children().len(), node.children().len());
    if expected != got {
        return error(NestErrorKind::Length { expected, got });
    }
    for (_, entry, child) in entries(shallow, path)? {
        let deep = child_at(node, &entry, path)?;
        check(child, deep, check_types, &path.child(entry))?;
    }
    Ok(())
}

/// Whether a container is of the type of another, or of one derived from it: a tuple with named fields is a tuple.
fn is_instance(deep: &Head, shallow: &Head) -> bool {
    match (shallow, deep) {
        (Head::Tuple, Head::Struct(s)) => s.node_type().style() == NodeStyle::NamedTuple,
        _ => same_container(shallow, deep),
    }
}

fn child_at<'t, L>(
    node: &'t Node<L>,
    entry: &KeyEntry,
    path: &KeyPath,
) -> Result<&'t Tree<L>, NestError> {
    let same = |(_, key, _): &(usize, KeyEntry, &Tree<L>)| match (key, entry) {
        // Without a check of types a sequence matches a mapping from its indices.
        (KeyEntry::Seq(i), KeyEntry::Dict(key)) | (KeyEntry::Dict(key), KeyEntry::Seq(i)) => {
            crate::DictKey::is_key(i, key)
        }
        (key, entry) => key == entry,
    };
    let missing = || {
        let key = match entry {
            KeyEntry::Dict(key) => key.to_string(),
            KeyEntry::Attr(name) => crate::Key::from(name.to_string()).to_string(),
            KeyEntry::Seq(i) | KeyEntry::Flat(i) => i.to_string(),
        };
        NestError::new(
            NestErrorKind::MissingKeys { missing: vec![key] },
            path.clone(),
        )
    };
    entries(node, path)?
        .into_iter()
        .find(same)
        .map(|(_, _, child)| child)
        .ok_or_else(missing)
}

/// The parts of `deep` at the leaves of `shallow`, looked up by key.
fn parts<'t, S, L>(
    shallow: &Tree<S>,
    deep: &'t Tree<L>,
) -> Result<Vec<(KeyPath, &'t Tree<L>)>, NestError> {
    fn collect<'t, S, L>(
        shallow: &Tree<S>,
        deep: &'t Tree<L>,
        path: &KeyPath,
        parts: &mut Vec<(KeyPath, &'t Tree<L>)>,
    ) -> Result<(), NestError> {
        let Some(shallow) = nested(shallow) else {
            parts.push((path.clone(), deep));
            return Ok(());
        };
        let Some(node) = nested(deep) else {
            return Err(NestError::new(
                sequence_vs_leaf(shallow, deep),
                path.clone(),
            ));
        };
        for (_, entry, child) in entries(shallow, path)? {
            let deep = child_at(node, &entry, path)?;
            collect(child, deep, &path.child(entry), parts)?;
        }
        Ok(())
    }
    let mut found = Vec::new();
    collect(shallow, deep, &KeyPath::root(), &mut found)?;
    Ok(found)
}
