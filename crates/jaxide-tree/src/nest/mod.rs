//! Nested structures by the rules of dm-tree and `tf.nest`.
//!
//! They differ from pytrees in three ways: `None` is a leaf; every mapping is visited in the sorted order of its
//! keys, an insertion-ordered one too; and a structure is not described by a treedef but by an example.
//!
//! The functions work on [`Tree`]; [`Tree::from_value`] makes one of any typed value. A leaf is handed out as the
//! subtree that it is, [`Tree::Leaf`] or the `None` node.
//!
//! ```
//! use jaxide_tree::{Tree, nest, tree};
//!
//! let structure: Tree<i32> = tree!({"b": [1, 2], "a": (3, None)});
//! let leaves: Vec<_> = nest::flatten(&structure)?.iter().map(|leaf| leaf.to_string()).collect();
//! assert_eq!(leaves, ["3", "None", "1", "2"]);
//!
//! let packed = nest::pack_sequence_as(&structure, ["w", "x", "y", "z"].map(Tree::Leaf))?;
//! assert_eq!(packed.to_string(), "{'a': (w, x), 'b': [y, z]}");
//! # Ok::<(), nest::NestError>(())
//! ```

mod error;
mod same;
mod shallow;

pub use error::{NestError, NestErrorKind};
pub use same::assert_same_structure;
pub use shallow::{
    flatten_up_to, flatten_with_path_up_to, map_structure_up_to, map_structure_with_path,
    map_structure_with_path_up_to,
};

use crate::tree::unsortable;
use crate::{ChildKeys, Head, Key, KeyEntry, KeyPath, Node, Tree};

/// Whether sequences must be of the same type, a list and a list, or only of the same length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckTypes {
    /// A list matches a list only.
    #[default]
    Yes,
    /// A list matches a tuple of the same length.
    No,
}

/// Whether `tree` is a container. `None` is not.
pub fn is_nested<L>(tree: &Tree<L>) -> bool {
    nested(tree).is_some()
}

/// The leaves.
///
/// # Errors
///
/// [`NestErrorKind::UnsortableKeys`] if an ordered map has keys without an order.
pub fn flatten<L>(structure: &Tree<L>) -> Result<Vec<&Tree<L>>, NestError> {
    Ok(flatten_with_path(structure)?
        .into_iter()
        .map(|(_, leaf)| leaf)
        .collect())
}

/// The leaves, with their paths.
///
/// # Errors
///
/// As [`flatten`].
pub fn flatten_with_path<L>(structure: &Tree<L>) -> Result<Vec<(KeyPath, &Tree<L>)>, NestError> {
    let mut leaves = Vec::new();
    walk(structure, &KeyPath::root(), &mut |path, leaf| {
        leaves.push((path.clone(), leaf))
    })?;
    Ok(leaves)
}

/// A structure like `structure`, with `flat` as its leaves, in the order of [`flatten`].
///
/// # Errors
///
/// [`NestErrorKind::Count`] if there are not as many as leaves, and as [`flatten`].
pub fn pack_sequence_as<L, M>(
    structure: &Tree<L>,
    flat: impl IntoIterator<Item = Tree<M>>,
) -> Result<Tree<M>, NestError> {
    let flat: Vec<_> = flat.into_iter().collect();
    let expected = flatten(structure)?.len();
    if flat.len() != expected {
        let kind = NestErrorKind::Count {
            expected,
            got: flat.len(),
        };
        return Err(NestError::new(kind, KeyPath::root()));
    }
    rebuild(structure, &mut flat.into_iter())
}

/// A structure like the first one, with `f` of the corresponding leaves of all.
///
/// # Errors
///
/// If the structures are not the same by [`assert_same_structure`], or if there are none.
pub fn map_structure<L, M>(
    mut f: impl FnMut(&[&Tree<L>]) -> Tree<M>,
    structures: &[&Tree<L>],
    check_types: CheckTypes,
) -> Result<Tree<M>, NestError> {
    let first = first(structures)?;
    for other in &structures[1..] {
        assert_same_structure(first, other, check_types)?;
    }
    let columns = structures
        .iter()
        .map(|s| flatten(s))
        .collect::<Result<Vec<_>, _>>()?;
    let mut row = Vec::with_capacity(columns.len());
    let results = (0..columns[0].len()).map(|i| {
        row.clear();
        row.extend(columns.iter().map(|column| column[i]));
        f(&row)
    });
    pack_sequence_as(first, results)
}

/// Which of a structure and its parts [`traverse`] visits first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A structure before its parts, which are not visited if it is replaced.
    TopDown,
    /// A structure after its parts, as they have become.
    BottomUp,
}

/// Calls `f` with every part of the structure, containers too, and puts what it gives in the place of the part.
///
/// # Errors
///
/// As [`flatten`].
pub fn traverse<L: Clone>(
    mut f: impl FnMut(&Tree<L>) -> Option<Tree<L>>,
    structure: &Tree<L>,
    order: Order,
) -> Result<Tree<L>, NestError> {
    traverse_with_path(|_, part| f(part), structure, order)
}

/// [`traverse`], with the path of each part.
///
/// # Errors
///
/// As [`flatten`].
pub fn traverse_with_path<L: Clone>(
    mut f: impl FnMut(&KeyPath, &Tree<L>) -> Option<Tree<L>>,
    structure: &Tree<L>,
    order: Order,
) -> Result<Tree<L>, NestError> {
    traverse_at(&mut f, &KeyPath::root(), structure, order)
}

fn traverse_at<L: Clone>(
    f: &mut impl FnMut(&KeyPath, &Tree<L>) -> Option<Tree<L>>,
    path: &KeyPath,
    structure: &Tree<L>,
    order: Order,
) -> Result<Tree<L>, NestError> {
    if order == Order::TopDown
        && let Some(replaced) = f(path, structure)
    {
        return Ok(replaced);
    }
    let parts = match nested(structure) {
        None => structure.clone(),
        Some(node) => with_children(node, entries(node, path)?, |entry, child| {
            traverse_at(f, &path.child(entry), child, order)
        })?,
    };
    match order {
        Order::TopDown => Ok(parts),
        Order::BottomUp => Ok(f(path, &parts).unwrap_or(parts)),
    }
}

/// The container, unless it is a leaf or `None`.
fn nested<L>(tree: &Tree<L>) -> Option<&Node<L>> {
    tree.as_node()
        .filter(|node| !matches!(node.head(), Head::None))
}

fn first<'t, L>(structures: &[&'t Tree<L>]) -> Result<&'t Tree<L>, NestError> {
    let none = || NestError::new(NestErrorKind::NoStructures, KeyPath::root());
    structures.first().copied().ok_or_else(none)
}

/// The keys of a mapping; `None` for another container.
fn mapping_keys<L>(node: &Node<L>) -> Option<&[Key]> {
    match node.head() {
        Head::Dict(keys) | Head::OrderedDict(keys) => Some(keys),
        Head::Struct(s) => match s.node_type().children() {
            ChildKeys::Items(keys) => Some(keys),
            ChildKeys::Attrs(_) | ChildKeys::Seq | ChildKeys::Flat => None,
        },
        Head::None | Head::Tuple | Head::List => None,
    }
}

/// A child as it is visited: its place among the children, its key, itself.
type Entry<'t, L> = (usize, KeyEntry, &'t Tree<L>);

/// The children in the order in which they are visited: mappings sorted.
fn entries<'t, L>(node: &'t Node<L>, path: &KeyPath) -> Result<Vec<Entry<'t, L>>, NestError> {
    let entries = node
        .entries()
        .enumerate()
        .map(|(i, (entry, child))| (i, entry, child));
    let mut entries: Vec<_> = entries.collect();
    if let Some(keys) = mapping_keys(node) {
        entries.sort_by(|(i, ..), (j, ..)| keys[*i].cmp(&keys[*j]));
        let sorted: Vec<&Key> = entries.iter().map(|(i, ..)| &keys[*i]).collect();
        if let Some((left, right)) = unsortable(sorted) {
            let kind = NestErrorKind::UnsortableKeys {
                left: left.clone(),
                right: right.clone(),
            };
            return Err(NestError::new(kind, path.clone()));
        }
    }
    Ok(entries)
}

/// The same container with `f` of each child; `f` is called in the order of `entries`.
fn with_children<'t, L, M>(
    node: &Node<L>,
    entries: Vec<Entry<'t, L>>,
    mut f: impl FnMut(KeyEntry, &'t Tree<L>) -> Result<Tree<M>, NestError>,
) -> Result<Tree<M>, NestError> {
    let mut children: Vec<Option<Tree<M>>> = entries.iter().map(|_| None).collect();
    for (place, entry, child) in entries {
        children[place] = Some(f(entry, child)?);
    }
    let children = children
        .into_iter()
        .map(|child| child.expect("each place is filled once"));
    Ok(node.with(children.collect()))
}

fn walk<'t, L>(
    structure: &'t Tree<L>,
    path: &KeyPath,
    leaf: &mut impl FnMut(&KeyPath, &'t Tree<L>),
) -> Result<(), NestError> {
    match nested(structure) {
        None => leaf(path, structure),
        Some(node) => {
            for (_, entry, child) in entries(node, path)? {
                walk(child, &path.child(entry), leaf)?;
            }
        }
    }
    Ok(())
}

fn rebuild<L, M>(
    structure: &Tree<L>,
    flat: &mut impl Iterator<Item = Tree<M>>,
) -> Result<Tree<M>, NestError> {
    match nested(structure) {
        None => Ok(flat.next().expect("there are as many as leaves")),
        Some(node) => with_children(node, entries(node, &KeyPath::root())?, |_, child| {
            rebuild(child, flat)
        }),
    }
}

/// The shape of a structure, its leaves as dots: `[., {'a': (., .)}]`.
pub fn skeleton<L>(structure: &Tree<L>) -> String {
    structure
        .cut(|part| !is_nested(part))
        .map(|_| '.')
        .to_string()
}
