//! Trees of arrays: arithmetic, and the parts of states by their names.

use jaxide::tree::{KeyEntry, Tree};
use jaxide::{Array, Error, Result, lax, numpy};

use super::scale::abs_sq;

/// A tree of arrays: parameters, gradients, or a state.
pub(super) type Arrays = Tree<Array>;

/// The tree of `f` of the leaves of trees that have as many leaves; its structure is that of the first.
pub(super) fn zip<const N: usize>(
    trees: [&Arrays; N],
    mut f: impl FnMut([&Array; N]) -> Array,
) -> Arrays {
    let columns = trees.map(Tree::leaves);
    let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
    let leaves = (0..rows).map(|row| f(std::array::from_fn(|column| columns[column][row])));
    with_leaves(trees[0], leaves.collect())
}

/// A tree of the same structure with other leaves, of which there are as many.
pub(super) fn with_leaves(tree: &Arrays, leaves: Vec<Array>) -> Arrays {
    let mut leaves = leaves.into_iter();
    tree.map(|leaf| leaves.next().unwrap_or_else(|| leaf.clone()))
}

/// The tree with a tree in the place of each leaf.
pub(super) fn expand(tree: &Arrays, f: &mut impl FnMut(&Array) -> Arrays) -> Arrays {
    match tree {
        Tree::Leaf(leaf) => f(leaf),
        Tree::Node(node) => {
            let children = node.children().iter().map(|child| expand(child, f));
            Tree::node(node.head().clone(), children)
        }
    }
}

pub(super) fn zeros_like(tree: &Arrays) -> Arrays {
    tree.map(|leaf| numpy::zeros_like(leaf, ()))
}

/// Either tree, leaf by leaf, in the element types of the second.
pub(super) fn select(condition: &Array, x: &Arrays, y: &Arrays) -> Arrays {
    zip([x, y], |[x, y]| {
        numpy::where_(condition, x, y).astype(y.dtype())
    })
}

/// `x + factor * y`.
pub(super) fn add_scaled(x: &Arrays, factor: &Array, y: &Arrays) -> Arrays {
    zip([x, y], |[x, y]| {
        (x + factor.astype(x.dtype()) * y).astype(x.dtype())
    })
}

fn sum(terms: impl Iterator<Item = Array>) -> Array {
    terms
        .reduce(|x, y| numpy::add(&x, &y))
        .unwrap_or_else(|| Array::scalar(0.0f32))
}

/// The real part of the sum of products of all elements, those of the first conjugated.
pub(super) fn dot(x: &Arrays, y: &Arrays) -> Array {
    let pairs = x.leaves().into_iter().zip(y.leaves());
    let product = sum(pairs.map(|(x, y)| numpy::vdot(x, y, ())));
    if product.dtype().is_complex() {
        lax::real(&product)
    } else {
        product
    }
}

/// The sum of the squares of all elements.
pub(super) fn squares(tree: &Arrays) -> Array {
    sum(tree.leaves().into_iter().map(|leaf| abs_sq(leaf).sum()))
}

/// That `other` has the structure of `params` and its leaves have their shapes.
pub(super) fn check_alike(params: &Arrays, other: &Arrays, name: &str) -> Result<()> {
    let (structure, others) = (params.structure(), other.structure());
    if structure != others {
        return match structure.differences(&others).into_iter().next() {
            Some(difference) => Err(Error::from(difference)),
            None => Err(Error::shape(format!("the {name} has another structure"))),
        };
    }
    let leaves = params.leaves().into_iter().zip(other.leaves());
    for (path, (leaf, other)) in structure.key_paths().iter().zip(leaves) {
        if leaf.shape() != other.shape() {
            let (shape, others) = (leaf.shape(), other.shape());
            return Err(Error::shape(format!(
                "the {name} has shape {others:?}, and the parameter {shape:?}"
            ))
            .at_path(path.to_string()));
        }
    }
    Ok(())
}

/// A state with named parts.
pub(super) fn named<const N: usize>(
    name: &'static str,
    fields: [(&'static str, Arrays); N],
) -> Arrays {
    Tree::named_tuple(name, fields)
}

/// That a state is not of the transformation that it was given to.
pub(super) fn foreign() -> Error {
    Error::parameter("the state is that of another transformation")
}

/// A part of a state.
pub(super) fn part<'a>(state: &'a Arrays, name: &str) -> Result<&'a Arrays> {
    let mut entries = state.as_node().ok_or_else(foreign)?.entries();
    let found = entries.find(|(entry, _)| entry.simple() == name);
    found.map(|(_, part)| part).ok_or_else(foreign)
}

/// The one array of a part of a state.
pub(super) fn number<'a>(state: &'a Arrays, name: &str) -> Result<&'a Array> {
    part(state, name)?.as_leaf().ok_or_else(foreign)
}

/// One more, unless that is too large to count.
pub(super) fn next(count: &Array) -> Array {
    let most = i32::MAX;
    numpy::where_(numpy::less(count, most), numpy::add(count, 1), most).astype(count.dtype())
}

/// A count of nothing.
pub(super) fn zero() -> Arrays {
    Tree::Leaf(Array::scalar(0i32))
}

fn is_named(entry: &KeyEntry, name: &str) -> bool {
    matches!(entry, KeyEntry::Attr(_) | KeyEntry::Dict(_)) && entry.simple() == name
}

/// The first part of a state that has a name, wherever it stands: `"learning_rate"`, `"count"`, `"mu"`.
///
/// ```
/// use jaxide_nnx::optim::{self, tree};
/// let state = optim::adam(0.1).init(&jaxide::Array::from([1.0f32]));
/// assert_eq!(tree::get(&state, "count").unwrap().to_string(), "0");
/// assert!(tree::get(&state, "trace").is_none());
/// ```
pub fn get<'a>(state: &'a Tree<Array>, name: &str) -> Option<&'a Tree<Array>> {
    state.as_node()?.entries().find_map(|(entry, child)| {
        if is_named(&entry, name) {
            return Some(child);
        }
        get(child, name)
    })
}

/// The state with each array of a name replaced: for [`inject_hyperparams`](super::inject_hyperparams).
///
/// ```
/// use jaxide_nnx::optim::{self, tree};
/// use jaxide::Array;
/// let x = Array::from([1.0f32]);
/// let optimizer = optim::inject_hyperparams([("learning_rate", 0.1.into())], |h| optim::sgd(h.rate("learning_rate")));
/// let state = tree::set(&optimizer.init(&x), "learning_rate", &Array::scalar(0.5f32));
/// assert_eq!(optimizer.update(&x, &state, &x).0.to_vec::<f32>(), [-0.5]);
/// ```
#[must_use]
pub fn set(state: &Tree<Array>, name: &str, value: &Array) -> Tree<Array> {
    let Some(node) = state.as_node() else {
        return state.clone();
    };
    let children = node.entries().map(|(entry, child)| {
        if is_named(&entry, name) && child.is_leaf() {
            Tree::Leaf(value.clone())
        } else {
            set(child, name, value)
        }
    });
    Tree::node(node.head().clone(), children)
}
