//! `#[derive(Pytree)]`.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Data, DeriveInput, Error, Fields, GenericParam, Generics, Index, Member, Path, Result, Type,
    TypePath, WherePredicate, parse_quote,
};

use crate::attributes::{self, Role, TypeAttributes};

/// The implementation, or the error as a `compile_error!`.
///
/// `usual_leaf` is what leaves usually are: fields are checked to be trees of it.
pub(crate) fn expand(
    input: TokenStream,
    default_path: Path,
    usual_leaf: Option<Path>,
) -> TokenStream {
    syn::parse2(input)
        .and_then(|input| Input::parse(input, default_path, usual_leaf))
        .map(|input| input.implementation())
        .unwrap_or_else(|error| error.into_compile_error())
}

/// A type as the macro sees it.
pub(crate) struct Input {
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) attributes: TypeAttributes,
    path: Path,
    usual_leaf: Option<Path>,
    pub(crate) variants: Vec<Variant>,
}

/// A variant of an enum, or a struct.
pub(crate) struct Variant {
    /// The name in the treedef.
    label: String,
    /// How a pattern or an expression begins: `Self` or `Self::Variant`.
    constructor: TokenStream,
    pub(crate) fields: Vec<Field>,
}

pub(crate) struct Field {
    member: Member,
    binding: Ident,
    pub(crate) ty: Type,
    pub(crate) is_static: bool,
}

impl Input {
    fn parse(input: DeriveInput, default_path: Path, usual_leaf: Option<Path>) -> Result<Self> {
        let mut attributes = TypeAttributes::parse(&input.attrs)?;
        let path = attributes.path.take().unwrap_or(default_path);
        let name = input.ident;
        let is_enum = matches!(input.data, Data::Enum(_));
        let variants = match input.data {
            Data::Struct(data) => {
                vec![Variant::parse(name.to_string(), quote!(Self), data.fields)?]
            }
            Data::Enum(data) if data.variants.is_empty() => {
                return Err(Error::new(
                    name.span(),
                    "an enum without variants has no values to flatten",
                ));
            }
            Data::Enum(data) => data
                .variants
                .into_iter()
                .map(|variant| {
                    attributes::none(&variant.attrs, "a variant")?;
                    let ident = variant.ident;
                    Variant::parse(
                        format!("{name}::{ident}"),
                        quote!(Self::#ident),
                        variant.fields,
                    )
                })
                .collect::<Result<_>>()?,
            Data::Union(data) => {
                return Err(Error::new(
                    data.union_token.span,
                    "a union cannot be a pytree: nothing says which of its fields is the value",
                ));
            }
        };
        if attributes.role != Role::Container
            && let Some(field) = variants
                .iter()
                .flat_map(|v| &v.fields)
                .find(|field| field.is_static)
        {
            return Err(Error::new_spanned(
                &field.ty,
                "the whole type is `static` or a `leaf`: its fields are not looked at",
            ));
        }
        if let Some(span) = attributes.named_tuple {
            let statics = variants.iter().any(|v| v.static_fields().next().is_some());
            if statics || is_enum {
                return Err(Error::new(
                    span,
                    "a `named_tuple` is a struct without static fields",
                ));
            }
        }
        Ok(Input {
            name,
            generics: input.generics,
            attributes,
            path,
            usual_leaf,
            variants,
        })
    }

    fn implementation(&self) -> TokenStream {
        let tree = &self.path;
        let leaf = self.leaf();
        let bounds = self.bounds(&leaf);
        let checks = self.field_checks();
        let mut generics = self.generics.clone();
        if self.leaf_is_parameter() {
            let parameter: GenericParam = parse_quote!(#leaf);
            let lifetimes = generics
                .params
                .iter()
                .take_while(|p| matches!(p, GenericParam::Lifetime(_)))
                .count();
            generics.params.insert(lifetimes, parameter);
        }
        generics.make_where_clause().predicates.extend(bounds);
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        let (_, ty_generics, _) = self.generics.split_for_impl();
        let name = &self.name;
        let composition = self.composition(&leaf);
        let (types, [visit, unflatten, into_leaves]) = match self.attributes.role {
            Role::Container => (self.types(), self.container(&leaf)),
            Role::Static => (self.static_type(), self.static_value()),
            Role::Leaf => (TokenStream::new(), leaf_value()),
        };
        quote! {
            const _: () = {
                use #tree as __tree;

                #types

                #checks

                #[automatically_derived]
                impl #impl_generics __tree::Pytree<#leaf> for #name #ty_generics #where_clause {
                    fn visit<'__tree, __V: __tree::Visitor<'__tree, #leaf>>(
                        &'__tree self,
                        __visitor: &mut __V,
                    )
                    where
                        #leaf: '__tree,
                    {
                        #visit
                    }

                    fn unflatten<__I: ::core::iter::Iterator<Item = #leaf>>(
                        __from: &mut __tree::Unflatten<'_, __I>,
                    ) -> ::core::result::Result<Self, __tree::StructureError> {
                        #unflatten
                    }

                    fn into_leaves(self, __leaves: &mut ::std::vec::Vec<#leaf>)
                    where
                        #leaf: ::core::clone::Clone,
                    {
                        #into_leaves
                    }
                }

                #composition
            };
        }
    }

    /// The leaf type of the implementation.
    pub(crate) fn leaf(&self) -> TokenStream {
        match (&self.attributes.leaves, self.attributes.role) {
            (Some(leaf), _) => leaf.to_token_stream(),
            (None, Role::Leaf) => {
                let name = &self.name;
                let (_, ty_generics, _) = self.generics.split_for_impl();
                quote!(#name #ty_generics)
            }
            (None, Role::Container | Role::Static) => quote!(__L),
        }
    }

    pub(crate) fn leaf_is_parameter(&self) -> bool {
        self.attributes.leaves.is_none() && self.attributes.role != Role::Leaf
    }

    /// What must hold of the fields. Each data field is a bound of its own, so that the leaf type of a struct
    /// follows from its fields; not those that contain the type itself, which would never end.
    fn bounds(&self, leaf: &TokenStream) -> Vec<WherePredicate> {
        let tree = &self.path;
        let mut bounds: Vec<WherePredicate> = Vec::new();
        let mut known = HashSet::new();
        let mut add = |bound: WherePredicate| {
            if known.insert(bound.to_token_stream().to_string()) {
                bounds.push(bound);
            }
        };
        let mentions_parameter = |ty: &Type| {
            self.generics
                .type_params()
                .any(|parameter| mentions(ty, &parameter.ident))
        };
        if self.attributes.role == Role::Static && self.generics.type_params().next().is_some() {
            add(parse_quote!(Self: #tree::StaticValue));
        }
        if self.attributes.role != Role::Container {
            return bounds;
        }
        for field in self.variants.iter().flat_map(|variant| &variant.fields) {
            let ty = &field.ty;
            let span = ty.span();
            if field.is_static {
                if mentions_parameter(ty) {
                    add(parse_quote!(#ty: #tree::StaticValue));
                    add(parse_quote!(#ty: ::core::clone::Clone + 'static));
                }
            } else if !mentions(ty, &self.name)
                && (self.attributes.leaves.is_none() || mentions_parameter(ty))
            {
                let bound = quote_spanned!(span=> #ty: #tree::Pytree<#leaf>);
                add(parse_quote!(#bound));
            }
        }
        bounds
    }

    /// Code that compiles if the fields are trees of what leaves usually are, and points at those that are not. Fields
    /// whose types have parameters are trees of whatever their arguments are, and those of the type itself are trees if the
    /// others are.
    fn field_checks(&self) -> TokenStream {
        let Some(leaf) = &self.usual_leaf else {
            return TokenStream::new();
        };
        let generics = &self.generics;
        if self.attributes.leaves.is_some() || self.attributes.role != Role::Container {
            return TokenStream::new();
        }
        let fields = self
            .variants
            .iter()
            .flat_map(|variant| variant.data_fields());
        let plain = fields.map(|field| &field.ty).filter(|ty| {
            !mentions(ty, &self.name)
                && !generics
                    .type_params()
                    .any(|parameter| mentions(ty, &parameter.ident))
        });
        let checks: Vec<TokenStream> = plain
            .map(|ty| quote_spanned!(ty.span()=> __is_tree::<#ty>();))
            .collect();
        if checks.is_empty() {
            return TokenStream::new();
        }
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        quote! {
            #[allow(dead_code, clippy::extra_unused_type_parameters, clippy::extra_unused_lifetimes)]
            fn __fields_are_trees #impl_generics () #where_clause {
                fn __is_tree<__T: __tree::Pytree<#leaf>>() {}
                #(#checks)*
            }
        }
    }

    /// The `static`s that identify the variants.
    fn types(&self) -> TokenStream {
        let style = match self.attributes.named_tuple {
            Some(_) => quote!(NamedTuple),
            None => quote!(Struct),
        };
        let types = self.variants.iter().enumerate().map(|(i, variant)| {
            let (label, ty, fields) =
                (&variant.label, type_ident(i), format_ident!("__FIELDS_{i}"));
            let names = variant
                .data_fields()
                .map(|field| member_name(&field.member));
            quote! {
                const #fields: &[::std::borrow::Cow<'static, str>] =
                    &[#(::std::borrow::Cow::Borrowed(#names)),*];
                static #ty: __tree::NodeType = __tree::NodeType::new(
                    #label,
                    ::core::module_path!(),
                    __tree::NodeStyle::#style,
                    __tree::ChildKeys::Attrs(::std::borrow::Cow::Borrowed(#fields)),
                );
            }
        });
        quote!(#(#types)*)
    }

    fn container(&self, leaf: &TokenStream) -> [TokenStream; 3] {
        let visit = self.variants.iter().enumerate().map(|(i, variant)| {
            let (pattern, ty) = (variant.pattern(), type_ident(i));
            let statics = variant.static_fields().map(|field| {
                let binding = &field.binding;
                quote_spanned!(field.ty.span()=> #binding as &dyn __tree::StaticValue)
            });
            let count = variant.data_fields().count();
            let children = variant.data_fields().map(|field| {
                let binding = &field.binding;
                quote_spanned!(field.ty.span()=> __tree::Pytree::<#leaf>::visit(#binding, __visitor);)
            });
            quote! {
                #pattern => {
                    __visitor.structure(&#ty, &[#(#statics),*], #count);
                    #(#children)*
                }
            }
        });
        let into_leaves = self.variants.iter().map(|variant| {
            let pattern = variant.data_pattern();
            let children = variant.data_fields().map(|field| &field.binding);
            quote!(#pattern => { #(__tree::Pytree::<#leaf>::into_leaves(#children, __leaves);)* })
        });
        let unflatten = if let [variant] = &self.variants[..] {
            let (ty, value) = (type_ident(0), variant.rebuilt(leaf));
            quote! {
                let __node = __from.structure(&#ty)?;
                ::core::result::Result::Ok(#value)
            }
        } else {
            let types = (0..self.variants.len()).map(type_ident);
            let last = self.variants.len() - 1;
            let arms = self.variants.iter().enumerate().map(|(i, variant)| {
                let value = variant.rebuilt(leaf);
                if i == last {
                    quote!(_ => #value)
                } else {
                    quote!(#i => #value)
                }
            });
            quote! {
                let (__variant, __node) = __from.variant(&[#(&#types),*])?;
                ::core::result::Result::Ok(match __variant { #(#arms,)* })
            }
        };
        [
            quote!(match self { #(#visit)* }),
            unflatten,
            quote!(match self { #(#into_leaves)* }),
        ]
    }

    fn static_type(&self) -> TokenStream {
        let (label, ty) = (self.name.to_string(), type_ident(0));
        quote! {
            static #ty: __tree::NodeType = __tree::NodeType::new(
                #label,
                ::core::module_path!(),
                __tree::NodeStyle::Custom,
                __tree::ChildKeys::Attrs(::std::borrow::Cow::Borrowed(&[])),
            );
        }
    }

    fn static_value(&self) -> [TokenStream; 3] {
        let (name, ty) = (&self.name, type_ident(0));
        let visit = quote_spanned! {name.span()=>
            __visitor.structure(&#ty, &[self as &dyn __tree::StaticValue], 0);
        };
        let unflatten = quote! {
            __from.structure(&#ty)?.value::<Self>(0).cloned()
        };
        [visit, unflatten, quote!(let _ = __leaves;)]
    }
}

fn leaf_value() -> [TokenStream; 3] {
    [
        quote!(__visitor.leaf(self);),
        quote!(__from.leaf()),
        quote!(__leaves.push(self);),
    ]
}

impl Variant {
    fn parse(label: String, constructor: TokenStream, fields: Fields) -> Result<Self> {
        let parse = |(i, field): (usize, syn::Field)| {
            let member = match field.ident {
                Some(ident) => Member::Named(ident),
                None => Member::Unnamed(Index {
                    index: i as u32,
                    span: Span::call_site(),
                }),
            };
            let is_static = attributes::is_static_field(&field.attrs)?;
            // Errors about a field point at its type.
            let span = field.ty.span().resolved_at(Span::call_site());
            Ok(Field {
                member,
                binding: Ident::new(&format!("__field_{i}"), span),
                ty: field.ty,
                is_static,
            })
        };
        let fields = fields
            .into_iter()
            .enumerate()
            .map(parse)
            .collect::<Result<_>>()?;
        Ok(Variant {
            label,
            constructor,
            fields,
        })
    }

    fn data_fields(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| !field.is_static)
    }

    fn static_fields(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.is_static)
    }

    /// A pattern that binds every field.
    fn pattern(&self) -> TokenStream {
        let (constructor, members) = (
            &self.constructor,
            self.fields.iter().map(|field| &field.member),
        );
        let bindings = self.fields.iter().map(|field| &field.binding);
        quote!(#constructor { #(#members: #bindings),* })
    }

    /// A pattern that binds the data fields.
    fn data_pattern(&self) -> TokenStream {
        let (constructor, members) = (
            &self.constructor,
            self.data_fields().map(|field| &field.member),
        );
        let bindings = self.data_fields().map(|field| &field.binding);
        quote!(#constructor { #(#members: #bindings,)* .. })
    }

    /// The expression that rebuilds the variant.
    fn rebuilt(&self, leaf: &TokenStream) -> TokenStream {
        let constructor = &self.constructor;
        let mut statics = 0usize;
        let fields = self.fields.iter().map(|field| {
            let (member, ty) = (&field.member, &field.ty);
            if field.is_static {
                let index = statics;
                statics += 1;
                quote!(#member: ::core::clone::Clone::clone(__node.value::<#ty>(#index)?))
            } else {
                quote!(#member: <#ty as __tree::Pytree<#leaf>>::unflatten(__from)?)
            }
        });
        quote!(#constructor { #(#fields),* })
    }
}

fn type_ident(variant: usize) -> Ident {
    format_ident!("__TYPE_{variant}")
}

fn member_name(member: &Member) -> String {
    match member {
        // `r#type` is the field `type`.
        Member::Named(ident) => ident.to_string().trim_start_matches("r#").to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Whether `ty` contains the type or parameter `name`, or `Self`, which is as good as its own name.
pub(crate) fn mentions(ty: &Type, name: &Ident) -> bool {
    struct Search<'n> {
        name: &'n Ident,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Search<'_> {
        fn visit_type_path(&mut self, path: &'ast TypePath) {
            self.found |= path
                .path
                .segments
                .iter()
                .any(|s| s.ident == *self.name || s.ident == "Self");
            visit::visit_type_path(self, path);
        }
    }
    let mut search = Search { name, found: false };
    search.visit_type(ty);
    search.found
}
