//! `#[inkle::func]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use crate::generics;
use crate::parts::{self, Parts};

/// Makes a function that kernels can call.
///
/// # Errors
/// For options, of which there are none, and for what kernels cannot have.
pub fn expand(options: TokenStream, mut item: syn::ItemFn) -> syn::Result<TokenStream> {
    if !options.is_empty() {
        return Err(syn::Error::new_spanned(options, "`func` has no options"));
    }
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
    let Parts { params, text, names, sites } = parts::take_apart(&mut item, &variables, false)?;
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
    let results =
        results.iter().map(|ty| generics::pattern(ty, &variables)).collect::<syn::Result<Vec<_>>>()?;
    let syn::ItemFn { attrs, vis, sig, .. } = &item;
    let attrs = attrs.iter().filter(|a| !a.path().is_ident("inline"));
    let (ident, text_name) = (&sig.ident, sig.ident.to_string());
    let mut sig = sig.clone();
    for input in &mut sig.inputs {
        if let syn::FnArg::Typed(typed) = input
            && let syn::Pat::Ident(pat) = &mut *typed.pat
        {
            pat.mutability = None;
            // Named for its documentation, used by nobody.
            pat.ident = format_ident!("{}", pat.ident);
        }
    }
    Ok(quote! {
        #(#attrs)*
        #[allow(unused_variables, clippy::all)]
        #vis #sig {
            ::inkle::__private::only_in_kernels(#text_name)
        }

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis enum #ident {}

        #[allow(non_upper_case_globals)]
        const _: () = {
            use ::inkle::__private as __ink;

            #sites
            #names

            fn params() -> ::std::vec::Vec<__ink::ParamSpec> {
                ::std::vec![#(#specs),*]
            }

            fn returns() -> ::std::vec::Vec<__ink::Pattern> {
                ::std::vec![#(#results),*]
            }

            static TEXT: __ink::Text = #text;
            static DEFINITION: __ink::Definition = __ink::Definition::new(&TEXT, params, Some(returns), names);

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
