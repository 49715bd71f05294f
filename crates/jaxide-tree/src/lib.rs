//! Pytrees for Rust: nested containers seen as a flat list of leaves and a structure.
//!
//! A *pytree* is a value made of containers (structs, tuples, vectors, maps, options, …) whose
//! innermost values are *leaves*. [`flatten`] takes it apart into its leaves and a [`TreeDef`], the
//! structure without the leaves; [`TreeDef::unflatten`] puts it together again, with the same leaves or
//! with others:
//!
//! ```
//! use jaxide_tree as tree;
//!
//! let value = (1.0f32, vec![2.0, 3.0]);
//! let (leaves, treedef) = tree::flatten(&value);
//! assert_eq!(leaves, [1.0, 2.0, 3.0]);
//! assert_eq!(treedef.to_string(), "PyTreeDef((*, [*, *]))");
//!
//! let doubled: (f32, Vec<f32>) = treedef.unflatten(leaves.iter().map(|x| x * 2.0))?;
//! assert_eq!(doubled, (2.0, vec![4.0, 6.0]));
//! # Ok::<(), tree::StructureError>(())
//! ```
//!
//! What is a leaf is not fixed: [`Pytree<L>`] is the trait of the values that are trees of `L`, and `L` is
//! whatever a program works on: arrays, tracers of arrays, shapes, axes, other trees. A type of your own
//! becomes a container with `#[derive(Pytree)]`, a leaf with [`leaf!`].
#![forbid(unsafe_code)]

mod adapter;
pub mod axes;
mod compose;
mod containers;
mod error;
mod fetch;
mod key;
pub mod nest;
mod node;
mod ops;
mod path;
mod pytree;
mod repr;
mod statics;
mod tree;
mod treedef;
mod unflatten;

/// The code in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub use adapter::{Schema, TracingAdapter};
pub use axes::{AxesError, Axis, IntoAxes};
pub use compose::{Compose, Fill};
pub use containers::Static;
pub use error::{StructureError, StructureErrorKind};
// `jaxide` offers the second one under the name of the first.
pub use fetch::FetchMap;
#[doc(hidden)]
pub use jaxide_derive::JaxidePytree;
pub use jaxide_derive::Pytree;
pub use key::{DictKey, Key, KeyText};
pub use node::{ChildKeys, Head, NodeStyle, NodeType, StructHead, TypeRef};
pub use ops::{
    all, broadcast, broadcast_prefix, flatten, flatten_with_path, fold, for_each, leaf_refs,
    leaves, leaves_with_path, map, map_many, map_to, map_with_path, map2, map3, map4,
    prefix_errors, reduce, reduce_associative, structure, structure_hash, transpose,
};
pub use path::{KeyEntry, KeyPath};
pub use pytree::{DictOrder, LeafRef, Pytree, Visitor};
pub use statics::StaticValue;
pub use tree::{Node, Tree, all_leaves};
pub use treedef::{Span, TreeDef};
pub use unflatten::{DictNode, StructNode, Unflatten};
