//! Whether two structures are the same.

use super::{CheckTypes, NestError, NestErrorKind, entries, mapping_keys, nested, skeleton};
use crate::unflatten::short_type_name;
use crate::{Head, KeyPath, Node, NodeStyle, Tree};

/// Checks that two structures are nested in the same way.
///
/// With [`CheckTypes::Yes`] sequences must be of one type and mappings must have the same keys, though mappings of
/// different types match; without it the lengths alone must agree.
///
/// # Errors
///
/// The first difference, with the shapes of both structures.
pub fn assert_same_structure<A, B>(
    a: &Tree<A>,
    b: &Tree<B>,
    check_types: CheckTypes,
) -> Result<(), NestError> {
    compare(a, b, check_types, &KeyPath::root())
        .map_err(|error| error.with_skeletons(skeleton(a), skeleton(b)))
}

fn compare<A, B>(
    a: &Tree<A>,
    b: &Tree<B>,
    check_types: CheckTypes,
    path: &KeyPath,
) -> Result<(), NestError> {
    let error = |kind| Err(NestError::new(kind, path.clone()));
    let (a, b) = match (nested(a), nested(b)) {
        (None, None) => return Ok(()),
        (Some(a), None) => return error(sequence_vs_leaf(a, b)),
        (None, Some(b)) => return error(sequence_vs_leaf(b, a)),
        (Some(a), Some(b)) => (a, b),
    };
    if check_types == CheckTypes::Yes {
        check_containers(a, b, path)?;
    }
    let pairs = entries(a, path)?.into_iter().zip(entries(b, path)?);
    for ((_, entry, a), (_, _, b)) in pairs {
        compare(a, b, check_types, &path.child(entry))?;
    }
    let (expected, got) = (a.children().len(), b.children().len());
    if expected == got {
        Ok(())
    } else {
        error(NestErrorKind::Length { expected, got })
    }
}

fn check_containers<A, B>(a: &Node<A>, b: &Node<B>, path: &KeyPath) -> Result<(), NestError> {
    let error = |kind| Err(NestError::new(kind, path.clone()));
    match (mapping_keys(a), mapping_keys(b)) {
        (Some(expected), Some(got)) => {
            if expected.len() == got.len() && expected.iter().all(|key| got.contains(key)) {
                return Ok(());
            }
            let names = |keys: &[crate::Key]| keys.iter().map(ToString::to_string).collect();
            error(NestErrorKind::Keys {
                expected: names(expected),
                got: names(got),
            })
        }
        _ if same_container(a.head(), b.head()) => Ok(()),
        _ => error(different_types(a, b)),
    }
}

/// Whether two containers that are not both mappings are of one type. Tuples with named fields are when their
/// names and fields are equal.
pub(super) fn same_container(a: &Head, b: &Head) -> bool {
    let named_tuple = |head: &Head| match head {
        Head::Struct(s) if s.node_type().style() == NodeStyle::NamedTuple => Some(s.ty.clone()),
        _ => None,
    };
    match (named_tuple(a), named_tuple(b)) {
        (Some(a), Some(b)) => {
            a.get().name() == b.get().name() && a.get().children() == b.get().children()
        }
        _ => a.admits_type(b),
    }
}

pub(super) fn different_types<A, B>(a: &Node<A>, b: &Node<B>) -> NestErrorKind {
    NestErrorKind::Type {
        expected: a.head().type_name().into(),
        got: b.head().type_name().into(),
    }
}

/// The error of a container in the place of a leaf, or the other way round.
pub(super) fn sequence_vs_leaf<A, B>(sequence: &Node<A>, leaf: &Tree<B>) -> NestErrorKind {
    let leaf = if leaf.is_none() {
        "NoneType".to_string()
    } else {
        short_type_name::<B>()
    };
    NestErrorKind::SequenceVsLeaf {
        sequence: sequence.head().type_name().into(),
        leaf,
    }
}
