//! `#[inkle::func]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::generics;
use crate::parts::{self, Parts, Setting};

/// Makes a function that kernels can call.
///
/// # Errors
/// For options that there are not, and for what kernels cannot have.
pub fn expand(options: TokenStream, mut item: syn::ItemFn) -> syn::Result<TokenStream> {
    let settings = parts::settings(options, "functions", &["gradient", "replay"])?;
    let variables = generics::variables(&item.sig.generics)?;
    let inputs = item.sig.inputs.to_token_stream();
    for variable in &variables {
        let name = variable.name().to_string();
        if !generics::mentions(inputs.clone(), std::slice::from_ref(&name)) {
            let message = format!(
                "no parameter of the function has `{name}` in its type, so calls cannot tell what it is"
            );
            return Err(syn::Error::new_spanned(variable.name(), message));
        }
    }
    let Parts { params, text, names, sites, site_count } = parts::take_apart(&mut item, &variables, false)?;
    let specs = params.iter().map(|param| {
        let pattern = generics::pattern(&param.ty, &variables)?;
        let is_mut = matches!(&param.ty, syn::Type::Reference(r) if r.mutability.is_some());
        Ok(quote!(__ink::param(#pattern, #is_mut)))
    });
    let specs = specs.collect::<syn::Result<Vec<_>>>()?;
    let mut results = Vec::new();
    if let syn::ReturnType::Type(_, ty) = &item.sig.output {
        flatten(ty, &mut results);
    }
    let patterns = results.iter().map(|ty| generics::pattern(ty, &variables));
    let patterns = patterns.collect::<syn::Result<Vec<_>>>()?;
    let given = Given::new(&settings, &params, &results, &item.sig)?;
    let (fits, named) = (given.fits(), given.named());
    let syn::ItemFn { attrs, vis, sig, block, .. } = &item;
    let attrs = attrs.iter().filter(|a| !a.path().is_ident("inline"));
    let (ident, lints) = (&sig.ident, parts::lints());
    let host = parts::host_sites(site_count);
    Ok(quote! {
        #(#attrs)*
        #[allow(unused, reason = "the shadow, which rustc sees too, has the warnings")]
        #lints
        #vis #sig {
            #host
            #block
        }

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis enum #ident {}

        #[allow(non_upper_case_globals)]
        const _: () = {
            use ::inkle::__private as __ink;

            #sites
            #names
            #fits

            fn params() -> ::std::vec::Vec<__ink::ParamSpec> {
                ::std::vec![#(#specs),*]
            }

            fn returns() -> ::std::vec::Vec<__ink::Pattern> {
                ::std::vec![#(#patterns),*]
            }

            static TEXT: __ink::Text = #text;
            static DEFINITION: __ink::Definition = __ink::Definition::new(&TEXT, params, Some(returns), names, &[#named]);

            impl __ink::Callable for #ident {
                fn callee() -> __ink::Name {
                    __ink::Name::function(&DEFINITION)
                }
            }
        };
    })
}

/// The results of tuples follow one another.
fn flatten(ty: &syn::Type, results: &mut Vec<syn::Type>) {
    match ty {
        syn::Type::Tuple(tuple) => tuple.elems.iter().for_each(|ty| flatten(ty, results)),
        syn::Type::Paren(inner) => flatten(&inner.elem, results),
        other => results.push(other.clone()),
    }
}

/// The functions that the attribute names for backward passes.
struct Given<'a> {
    settings: &'a [Setting],
    params: &'a [parts::Param],
    results: &'a [syn::Type],
    sig: &'a syn::Signature,
}

impl<'a> Given<'a> {
    fn new(
        settings: &'a [Setting],
        params: &'a [parts::Param],
        results: &'a [syn::Type],
        sig: &'a syn::Signature,
    ) -> syn::Result<Given<'a>> {
        for Setting { name, value } in settings {
            if !matches!(value, syn::Expr::Path(_)) {
                let message = format!("`{name}` is a function with `#[inkle::func]`, by its path");
                return Err(syn::Error::new_spanned(value, message));
            }
        }
        if let (Some(Setting { name, .. }), Some(param)) =
            (settings.first(), params.iter().find(|param| is_mut(&param.ty) && !is_array(&param.ty)))
        {
            let message = format!(
                "a function with a `{name}` cannot change its arguments: return what `{}` becomes",
                param.name
            );
            return Err(syn::Error::new_spanned(&param.ty, message));
        }
        Ok(Given { settings, params, results, sig })
    }

    /// Calls that rustc checks and nobody makes: what is named has to take what it will be given.
    fn fits(&self) -> TokenStream {
        let (decl, _, bounds) = self.sig.generics.split_for_impl();
        let calls = self.settings.iter().map(|Setting { name, value }| {
            let names: Vec<_> = self.params.iter().map(|param| &param.name).collect();
            let types: Vec<_> = self.params.iter().map(|param| &param.ty).collect();
            let output = &self.sig.output;
            let call = value.span();
            if name == "replay" {
                return quote_spanned!(call=> let _ = |#(#names: #types),*| #output { #value(#(#names),*) };);
            }
            let of: Vec<_> = (0..self.results.len()).map(|n| format_ident!("__of{n}", span = call)).collect();
            let to: Vec<_> = (0..names.len()).map(|n| format_ident!("__to{n}", span = call)).collect();
            let results = self.results;
            let sums = types.iter().map(|ty| match ty {
                syn::Type::Reference(array) => {
                    let array = &array.elem;
                    quote!(&mut #array)
                }
                value => quote!(&mut #value),
            });
            quote_spanned! {call=>
                let _ = |#(#names: #types,)* #(#of: #results,)* #(#to: #sums),*| -> () {
                    #value(#(#names,)* #(#of,)* #(#to),*)
                };
            }
        });
        quote! {
            #[allow(unused, clippy::all)]
            fn fits #decl () #bounds {
                #(#calls)*
            }
        }
    }

    /// The entries of the definition.
    fn named(&self) -> TokenStream {
        let entries = self.settings.iter().map(|Setting { name, value }| {
            let role = format_ident!("{}", if name == "gradient" { "Gradient" } else { "Replay" });
            quote!((__ink::Role::#role, <#value as __ink::Callable>::callee))
        });
        quote!(#(#entries),*)
    }
}

fn is_mut(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Reference(reference) if reference.mutability.is_some())
}

/// Whether a reference is to an array, by the name of its type.
fn is_array(ty: &syn::Type) -> bool {
    let syn::Type::Reference(reference) = ty else { return false };
    let syn::Type::Path(path) = &*reference.elem else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "Array" || last.ident == "IndexedArray")
}
