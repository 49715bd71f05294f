//! What a type becomes when its leaves are replaced by trees: `Compose` and `Fill`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics, TypeParam, TypeParamBound, WherePredicate, parse_quote};

use crate::attributes::Role;
use crate::pytree::{Input, mentions};

impl Input {
    /// The implementations of `Compose` and `Fill`.
    pub(crate) fn composition(&self, leaf: &TokenStream) -> TokenStream {
        let name = &self.name;
        let (_, ty_generics, _) = self.generics.split_for_impl();
        let mut generics = self.generics.clone();
        if self.leaf_is_parameter() {
            insert(&mut generics, parse_quote!(#leaf));
        }
        let (fill_generics, _, fill_where) = generics.split_for_impl();
        let within = match self.attributes.role {
            Role::Leaf => quote!(__S),
            Role::Container | Role::Static => quote!(__tree::Tree<#leaf>),
        };
        let fill = quote! {
            #[automatically_derived]
            impl #fill_generics __tree::Fill<#leaf> for #name #ty_generics #fill_where {
                type Within<__S> = #within;
            }
        };

        let mut generics = generics.clone();
        let open = self.holds_any_leaf();
        let inner: GenericParam = if self.attributes.role == Role::Container && !open {
            parse_quote!(__Inner: __tree::Fill<#leaf>)
        } else {
            parse_quote!(__Inner)
        };
        insert(&mut generics, inner);
        let composed = match self.attributes.role {
            Role::Leaf => quote!(__Inner),
            Role::Static => quote!(Self),
            Role::Container if open => {
                let bounds = self
                    .generics
                    .type_params()
                    .flat_map(|parameter| composed_bounds(parameter, leaf));
                generics.make_where_clause().predicates.extend(bounds);
                let arguments = self
                    .generics
                    .params
                    .iter()
                    .map(|parameter| match parameter {
                        GenericParam::Lifetime(lifetime) => lifetime.lifetime.to_token_stream(),
                        GenericParam::Const(constant) => constant.ident.to_token_stream(),
                        GenericParam::Type(parameter) => composed(parameter, leaf),
                    });
                quote!(#name<#(#arguments),*>)
            }
            Role::Container => quote!(__Inner::Within<Self>),
        };
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        quote! {
            #fill

            #[automatically_derived]
            impl #impl_generics __tree::Compose<#leaf, __Inner> for #name #ty_generics #where_clause {
                type Composed = #composed;
            }
        }
    }

    /// Whether the type can hold any leaves: all that is data has the type of a parameter, or one made of parameters,
    /// and nothing else has.
    fn holds_any_leaf(&self) -> bool {
        let parameters: Vec<_> = self.generics.type_params().collect();
        let of_parameter = |ty| {
            parameters
                .iter()
                .any(|parameter| mentions(ty, &parameter.ident))
        };
        let sized = parameters.iter().all(|parameter| {
            let relaxed =
                |bound: &TypeParamBound| bound.to_token_stream().to_string().starts_with('?');
            !parameter.bounds.iter().any(relaxed)
        });
        let mut fields = self.variants.iter().flat_map(|variant| &variant.fields);
        self.attributes.role == Role::Container
            && !parameters.is_empty()
            && sized
            && self.generics.where_clause.is_none()
            && fields.all(|field| of_parameter(&field.ty) != field.is_static)
    }
}

/// A parameter of a type behind the lifetimes.
fn insert(generics: &mut Generics, parameter: GenericParam) {
    let lifetime = |parameter: &&GenericParam| matches!(parameter, GenericParam::Lifetime(_));
    let place = generics.params.iter().take_while(lifetime).count();
    generics.params.insert(place, parameter);
}

fn composed(parameter: &TypeParam, leaf: &TokenStream) -> TokenStream {
    let ident = &parameter.ident;
    quote!(<#ident as __tree::Compose<#leaf, __Inner>>::Composed)
}

/// The parameter can be composed, and the result is what the type asks of it.
fn composed_bounds(parameter: &TypeParam, leaf: &TokenStream) -> Vec<WherePredicate> {
    let ident = &parameter.ident;
    let mut bounds: Vec<WherePredicate> =
        vec![parse_quote!(#ident: __tree::Compose<#leaf, __Inner>)];
    if !parameter.bounds.is_empty() {
        let (composed, own) = (composed(parameter, leaf), &parameter.bounds);
        bounds.push(parse_quote!(#composed: #own));
    }
    bounds
}
