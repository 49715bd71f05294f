//! The `#[pytree(…)]` attributes.

use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, Ident, LitStr, Path, Result, Type};

/// What the attributes of a type say.
#[derive(Default)]
pub(crate) struct TypeAttributes {
    pub(crate) role: Role,
    /// `named_tuple`, where it is.
    pub(crate) named_tuple: Option<Span>,
    /// `leaves = "…"`: the one leaf type.
    pub(crate) leaves: Option<Type>,
    /// `crate = "…"`.
    pub(crate) path: Option<Path>,
}

/// What the values of a type are in a tree.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Role {
    #[default]
    Container,
    Static,
    Leaf,
}

impl TypeAttributes {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut parsed = TypeAttributes::default();
        each_entry(attributes, |name, meta| match name.to_string().as_str() {
            "static" | "leaf" if parsed.role != Role::Container => Err(Error::new(
                name.span(),
                "a type is either `static` or a `leaf`",
            )),
            "static" => {
                parsed.role = Role::Static;
                Ok(())
            }
            "leaf" => {
                parsed.role = Role::Leaf;
                Ok(())
            }
            "named_tuple" => set(&mut parsed.named_tuple, name, name.span()),
            "leaves" => set(
                &mut parsed.leaves,
                name,
                meta.value()?.parse::<LitStr>()?.parse()?,
            ),
            "crate" => set(
                &mut parsed.path,
                name,
                meta.value()?.parse::<LitStr>()?.parse()?,
            ),
            other => Err(Error::new(
                name.span(),
                format!(
                    "unknown attribute `{other}`: a type takes `static`, `leaf`, `named_tuple`, \
                     `leaves = \"Type\"` and `crate = \"path\"`"
                ),
            )),
        })?;
        if let (Some(leaves), Role::Static | Role::Leaf) = (&parsed.leaves, parsed.role) {
            return Err(Error::new_spanned(
                leaves,
                "a `static` type or a `leaf` has no leaves of another type",
            ));
        }
        if let (Some(span), Role::Static | Role::Leaf) = (parsed.named_tuple, parsed.role) {
            return Err(Error::new(
                span,
                "a `static` type or a `leaf` is no tuple of fields",
            ));
        }
        Ok(parsed)
    }
}

/// Whether the attributes of a field make it static.
pub(crate) fn is_static_field(attributes: &[Attribute]) -> Result<bool> {
    let mut is_static = false;
    each_entry(attributes, |name, _| match name.to_string().as_str() {
        "static" if !is_static => {
            is_static = true;
            Ok(())
        }
        "static" => Err(Error::new(name.span(), "`static` is given twice")),
        other => Err(Error::new(
            name.span(),
            format!("unknown attribute `{other}`: a field takes `static`"),
        )),
    })?;
    Ok(is_static)
}

/// Checks that there are no attributes, where none mean anything.
pub(crate) fn none(attributes: &[Attribute], place: &str) -> Result<()> {
    each_entry(attributes, |name, _| {
        Err(Error::new(
            name.span(),
            format!("{place} takes no `pytree` attributes"),
        ))
    })
}

fn each_entry(
    attributes: &[Attribute],
    mut entry: impl FnMut(&Ident, &ParseNestedMeta) -> Result<()>,
) -> Result<()> {
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("pytree"))
    {
        let mut empty = true;
        attribute.parse_nested_meta(|meta| {
            empty = false;
            entry(meta.path.require_ident()?, &meta)
        })?;
        if empty {
            return Err(Error::new_spanned(
                attribute,
                "expected an attribute, as in `#[pytree(static)]`",
            ));
        }
    }
    Ok(())
}

fn set<T>(slot: &mut Option<T>, name: &Ident, value: T) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::new(name.span(), format!("`{name}` is given twice"))),
    }
}
