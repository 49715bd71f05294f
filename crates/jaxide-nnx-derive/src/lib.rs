//! The macros of `jaxide-nnx`, which re-exports it and explains what a module is.
#![forbid(unsafe_code)]

mod observed;

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result, Type, parse_macro_input, parse_quote};

/// Makes a struct a module: a node of a graph whose attributes are its fields.
///
/// Whether a field is data or static follows from its type, which must be a `jaxide_nnx::Attribute`: arrays, variables and
/// modules are data; numbers, strings and functions are static. Two marks say otherwise:
///
/// | on a field | meaning |
/// |---|---|
/// | `#[nnx(data)]` | a pytree of arrays, all of it data |
/// | `#[nnx(static)]` | part of the graph definition: `Eq + Hash + Debug + Clone + Send + Sync + 'static` |
///
/// ```ignore
/// #[derive(Clone, Module)]
/// struct Block { linear: Linear, norm: BatchNorm, width: usize, #[nnx(data)] masks: Vec<Array> }
/// ```
#[proc_macro_derive(Module, attributes(nnx))]
pub fn derive_module(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

/// Lets `jaxide_nnx::tabulate` and `jaxide_nnx::capture_outputs` see the calls of a method of a module: what goes in and comes out, as far as it is
/// arrays, and what is computed in between. Layers of `jaxide-nnx` are seen already. `#[observed("call")]` gives the calls another name than the
/// method's.
///
/// ```ignore
/// impl Block {
///     #[nnx::observed]
///     fn call(&self, x: &Array) -> Array { self.linear.call(x) }
/// }
/// ```
#[proc_macro_attribute]
pub fn observed(
    name: proc_macro::TokenStream,
    method: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let name = parse_macro_input!(name as Option<syn::LitStr>);
    let method = parse_macro_input!(method as syn::ImplItemFn);
    observed::expand(&method, name.map(|name| name.value()))
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

/// How a field takes part in the graph.
#[derive(Clone, Copy, PartialEq)]
enum Status {
    /// As its type says.
    ByType,
    Data,
    Static,
}

struct Attribute<'a> {
    name: String,
    ident: &'a Ident,
    ty: &'a Type,
    status: Status,
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            other @ (Fields::Unnamed(_) | Fields::Unit) => {
                return Err(Error::new(
                    other.span(),
                    "a module is a struct whose fields have names: they are the paths of its state",
                ));
            }
        },
        Data::Enum(_) | Data::Union(_) => {
            return Err(Error::new(
                input.ident.span(),
                "a module is a struct; put what may vary into an `Option` or a `List`",
            ));
        }
    };
    let mut attributes = Vec::new();
    for field in fields {
        let ident = field.ident.as_ref().expect("fields have names");
        attributes.push(Attribute {
            name: ident.to_string().trim_start_matches("r#").to_owned(),
            ident,
            ty: &field.ty,
            status: status(&field.attrs)?,
        });
    }
    let declared: Vec<String> = attributes.iter().map(|a| a.name.clone()).collect();
    attributes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(implementation(input, &attributes, &declared))
}

fn status(attributes: &[syn::Attribute]) -> Result<Status> {
    let mut found = Status::ByType;
    for attribute in attributes.iter().filter(|a| a.path().is_ident("nnx")) {
        attribute.parse_nested_meta(|meta| {
            let ident = meta.path.require_ident()?;
            if found != Status::ByType {
                return Err(Error::new(
                    ident.span(),
                    "a field is either `data` or `static`, and says so once",
                ));
            }
            match ident.to_string().as_str() {
                "data" => found = Status::Data,
                "static" => found = Status::Static,
                other => {
                    return Err(Error::new(
                        ident.span(),
                        format!("unknown attribute `{other}`: a field takes `data` or `static`"),
                    ));
                }
            }
            Ok(())
        })?;
    }
    Ok(found)
}

fn implementation(
    input: &DeriveInput,
    attributes: &[Attribute<'_>],
    declared: &[String],
) -> TokenStream {
    let name = &input.ident;
    let label = name.to_string();
    let mut generics = input.generics.clone();
    for parameter in input.generics.type_params() {
        let ident = &parameter.ident;
        generics
            .make_where_clause()
            .predicates
            .push(parse_quote!(#ident: ::jaxide_nnx::Attribute));
    }
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (_, ty_generics, _) = input.generics.split_for_impl();
    let keys = attributes.iter().map(|a| &a.name);
    let order = declared.iter().map(|name| {
        attributes
            .iter()
            .position(|a| a.name == *name)
            .expect("every declared field is an attribute")
    });
    let flatten = attributes.iter().map(|a| {
        let (ident, key) = (a.ident, &a.name);
        let ty = a.ty;
        match a.status {
            Status::ByType => quote_spanned!(ty.span()=>
                __to.attribute::<#ty>(#key, &self.#ident);),
            Status::Data => quote_spanned!(ty.span()=> __to.data::<#ty>(#key, &self.#ident);),
            Status::Static => quote_spanned!(ty.span()=> __to.fixed::<#ty>(#key, &self.#ident);),
        }
    });
    let rebuild = attributes.iter().map(|a| {
        let (ident, key) = (a.ident, &a.name);
        let ty = a.ty;
        match a.status {
            Status::ByType => quote_spanned!(ty.span()=>
                #ident: __from.attribute::<#ty>(#key)?),
            Status::Data => quote_spanned!(ty.span()=> #ident: __from.data::<#ty>(#key)?),
            Status::Static => quote_spanned!(ty.span()=> #ident: __from.fixed::<#ty>(#key)?),
        }
    });
    quote! {
        const _: () = {
            static __SHAPE: ::jaxide_nnx::graph::Attributes = ::jaxide_nnx::graph::Attributes {
                name: #label,
                keys: &[#(#keys),*],
                declared: &[#(#order),*],
            };

            #[automatically_derived]
            impl #impl_generics ::jaxide_nnx::Attribute for #name #ty_generics #where_clause {
                const DATA: bool = true;

                fn flatten(&self, __to: &mut ::jaxide_nnx::graph::Flatten) {
                    __to.module(self, &__SHAPE);
                    #(#flatten)*
                }

                fn rebuild(
                    __from: &mut ::jaxide_nnx::graph::Rebuild<'_>,
                ) -> ::core::result::Result<Self, ::jaxide_nnx::Error> {
                    __from.module(&__SHAPE)?;
                    ::core::result::Result::Ok(Self { #(#rebuild),* })
                }
            }

            #[automatically_derived]
            impl #impl_generics ::jaxide_nnx::Module for #name #ty_generics #where_clause {}

            #[automatically_derived]
            impl #impl_generics ::jaxide_nnx::graph::Pytree<::jaxide_nnx::graph::Array>
                for #name #ty_generics #where_clause
            {
                fn visit<'__tree, __V: ::jaxide_nnx::graph::Visitor<'__tree, ::jaxide_nnx::graph::Array>>(
                    &'__tree self,
                    __visitor: &mut __V,
                )
                where
                    ::jaxide_nnx::graph::Array: '__tree,
                {
                    ::jaxide_nnx::graph::visit(self, __visitor);
                }

                fn unflatten<__I: ::core::iter::Iterator<Item = ::jaxide_nnx::graph::Array>>(
                    __from: &mut ::jaxide_nnx::graph::Unflatten<'_, __I>,
                ) -> ::core::result::Result<Self, ::jaxide_nnx::graph::StructureError> {
                    ::jaxide_nnx::graph::unflatten(__from)
                }
            }
        };
    }
}
