//! Methods whose calls can be looked at.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, FnArg, ImplItemFn, Pat, Result, ReturnType, Type};

/// Moves the body into a method of its own, and calls it between two notes of what goes in and comes out. Both say where their caller is
/// if the method does.
pub(crate) fn expand(method: &ImplItemFn, name: Option<String>) -> Result<TokenStream> {
    let (attributes, visibility, signature) = (&method.attrs, &method.vis, &method.sig);
    let Some(FnArg::Receiver(_)) = signature.inputs.first() else {
        return Err(Error::new_spanned(
            signature,
            "only a method of a module is observed: it takes `&self` first",
        ));
    };
    let mut arguments = Vec::new();
    let mut seen = Vec::new();
    for input in signature.inputs.iter().skip(1) {
        let FnArg::Typed(input) = input else { continue };
        let Pat::Ident(pattern) = &*input.pat else {
            return Err(Error::new_spanned(
                &input.pat,
                "parameters of an observed method are names",
            ));
        };
        let name = &pattern.ident;
        arguments.push(name);
        seen.push(match &*input.ty {
            Type::Reference(_) => quote!(#name),
            _ => quote!(&#name),
        });
    }
    let mut inner = signature.clone();
    inner.ident = format_ident!("__observed_{}", signature.ident);
    let inner_name = &inner.ident;
    let tracked = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("track_caller"));
    let generics: Vec<_> = signature
        .generics
        .type_params()
        .map(|parameter| &parameter.ident)
        .collect();
    let turbofish = if generics.is_empty() {
        quote!()
    } else {
        quote!(::<#(#generics),*>)
    };
    let label = name.unwrap_or_else(|| signature.ident.to_string());
    let body = &method.block;
    let result = match &signature.output {
        ReturnType::Type(_, ty) if matches!(**ty, Type::Reference(_)) => quote!(__result),
        ReturnType::Type(..) | ReturnType::Default => quote!(&__result),
    };
    Ok(quote! {
        #(#attributes)*
        #visibility #signature {
            use ::jaxide_nnx::observe::{NotSeen as _, Seen as _};
            let Some(__call) = ::jaxide_nnx::observe::begin(self, #label) else {
                return self.#inner_name #turbofish(#(#arguments),*);
            };
            #((&::jaxide_nnx::observe::See(#seen)).input(&__call);)*
            let __result = __call.inside(|| self.#inner_name #turbofish(#(#arguments),*));
            (&::jaxide_nnx::observe::See(#result)).output(&__call);
            __result
        }

        #(#tracked)*
        #[allow(clippy::too_many_arguments)]
        #inner #body
    })
}
