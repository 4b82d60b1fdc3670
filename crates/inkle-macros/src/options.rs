//! `#[inkle::options]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::kernel::SETTINGS;
use crate::parts::{self, Setting};

/// Gives the kernels of a module options that they do not choose themselves.
///
/// # Errors
/// For options that there are not, and for a module without its body.
pub fn expand(options: TokenStream, mut module: syn::ItemMod) -> syn::Result<TokenStream> {
    let settings = parts::settings(options, "kernels", &SETTINGS)?;
    if module.content.is_none() {
        let message = "options are for a module whose body follows: `mod kernels { .. }`";
        return Err(syn::Error::new_spanned(&module.ident, message));
    }
    in_module(&mut module, &settings)?;
    Ok(module.into_token_stream())
}

fn in_module(module: &mut syn::ItemMod, settings: &[Setting]) -> syn::Result<()> {
    let Some((_, items)) = &mut module.content else { return Ok(()) };
    for item in items {
        match item {
            syn::Item::Fn(function) => add(&mut function.attrs, "kernel", settings).map(drop)?,
            syn::Item::Mod(inner) => {
                let passes_on = add(&mut inner.attrs, "options", settings)?;
                // One with options of its own passes them on itself.
                if !passes_on {
                    in_module(inner, settings)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Adds what it does not choose itself to the attribute of a name; whether there is one.
fn add(attrs: &mut [syn::Attribute], name: &str, settings: &[Setting]) -> syn::Result<bool> {
    let is_ours = |attr: &&mut syn::Attribute| {
        let path = &attr.path().segments;
        path.last().is_some_and(|last| last.ident == name) && (path.len() == 1 || path[0].ident == "inkle")
    };
    let Some(attr) = attrs.iter_mut().find(is_ours) else { return Ok(false) };
    let (path, own) = match &attr.meta {
        syn::Meta::Path(path) => (path.clone(), TokenStream::new()),
        syn::Meta::List(list) => (list.path.clone(), list.tokens.clone()),
        // The attribute itself says what is wrong with it.
        syn::Meta::NameValue(_) => return Ok(true),
    };
    let chosen = parts::settings(own, "kernels", &SETTINGS)?;
    let added = settings.iter().filter(|setting| chosen.iter().all(|own| own.name != setting.name));
    let added = added.map(|Setting { name, value }| quote!(#name = #value));
    let own = chosen.iter().map(|Setting { name, value }| quote!(#name = #value));
    let all = own.chain(added);
    attr.meta = syn::parse_quote!(#path(#(#all),*));
    Ok(true)
}
