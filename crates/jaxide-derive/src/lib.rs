//! Derive macros for jaxide.
//!
//! [`macro@Pytree`] makes a struct or an enum a container of a pytree. It is re-exported by `jaxide-tree`, where the
//! trait of the same name explains what that means.
//!
//! # How the generated code finds its traits
//!
//! By absolute path, so each crate that re-exports a macro has an entry point of its own here: [`macro@Pytree`]
//! writes `::jaxide_tree`, [`macro@JaxidePytree`], which `jaxide` re-exports as `Pytree`, writes
//! `::jaxide::tree`. Under a third path, or a crate renamed in a manifest, users write
//! `#[pytree(crate = "that::path")]`.
//!
//! # Where a further macro goes
//!
//! An entry point here and a module beside `pytree`, which keeps the parsing of types (`pytree`) and of
//! attributes (`attributes`) apart from what is generated.
#![forbid(unsafe_code)]

mod attributes;
mod compose;
mod pytree;

use proc_macro::TokenStream;
use syn::parse_quote;

/// Implements `jaxide_tree::Pytree` for a struct or an enum.
///
/// Each field is a child of the container, in the order of declaration, and must be a pytree itself. The
/// treedef names the type, so that values of different types never have equal structures.
///
/// ```ignore
/// #[derive(Clone, Pytree)]
/// struct Linear {
///     w: Array,
///     b: Option<Array>,
///     #[pytree(static)]
///     width: usize,
/// }
/// // CustomNode(Linear[(3,)], [*, *]), with leaves at `.w` and `.b`
/// ```
///
/// Enums work too: the variant is part of the structure.
///
/// # Attributes
///
/// | on | attribute | meaning |
/// |---|---|---|
/// | field | `#[pytree(static)]` | part of the structure, not a child: `Eq + Hash + Debug + Clone + Send + Sync + 'static` |
/// | type | `#[pytree(static)]` | the whole value is part of the structure and has no leaves |
/// | type | `#[pytree(leaf)]` | values of the type are leaves |
/// | type | `#[pytree(named_tuple)]` | a tuple with named fields: `CustomNode(namedtuple[Point], [*, *])` |
/// | type | `#[pytree(leaves = "Array")]` | a tree of `Array` and of nothing else; needed for types that contain each other |
/// | type | `#[pytree(crate = "path")]` | where the items of `jaxide_tree` are found |
#[proc_macro_derive(Pytree, attributes(pytree))]
pub fn derive_pytree(input: TokenStream) -> TokenStream {
    pytree::expand(input.into(), parse_quote!(::jaxide_tree), None).into()
}

/// [`macro@Pytree`] for users of `jaxide`, who find the trait at `::jaxide::tree`.
///
/// Fields are checked to be trees of its arrays where the struct is declared; for a struct of other leaves, say which with
/// `#[pytree(leaves = "...")]`.
#[proc_macro_derive(JaxidePytree, attributes(pytree))]
pub fn derive_jaxide_pytree(input: TokenStream) -> TokenStream {
    pytree::expand(
        input.into(),
        parse_quote!(::jaxide::tree),
        Some(parse_quote!(::jaxide::Array)),
    )
    .into()
}
