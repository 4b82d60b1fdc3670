//! What kernels and functions are both made of: the tree, its names and the shadow.

use inkle_frontend::respan;
use inkle_frontend::tree::{FunctionDef, ParamDef, ParamKind};
use proc_macro2::{Span as Place, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;

use crate::generics::{self, Variable};
use crate::lower::{Lower, Name};
use crate::source::Source;

/// `name = value` in the brackets of an attribute.
pub struct Setting {
    /// The name.
    pub name: syn::Ident,
    /// The value.
    pub value: syn::Expr,
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Setting> {
        let name: syn::Ident = input.parse()?;
        if !input.peek(syn::Token![=]) {
            let message = format!("the option `{name}` needs a value: `{name} = ..`");
            return Err(syn::Error::new_spanned(&name, message));
        }
        input.parse::<syn::Token![=]>()?;
        Ok(Setting { name, value: input.parse()? })
    }
}

/// The settings of an attribute of `what`, of which there are `known` ones.
///
/// # Errors
/// For others, and for one that is given twice.
pub fn settings(options: TokenStream, what: &str, known: &[&str]) -> syn::Result<Vec<Setting>> {
    let parse = Punctuated::<Setting, syn::Token![,]>::parse_terminated;
    let settings: Vec<Setting> = syn::parse::Parser::parse2(parse, options)?.into_iter().collect();
    for (index, Setting { name, .. }) in settings.iter().enumerate() {
        if !known.iter().any(|known| name == known) {
            let message = format!("`{name}` is no option of {what}; these are: {}", known.join(", "));
            return Err(syn::Error::new_spanned(name, message));
        }
        if settings[..index].iter().any(|earlier| earlier.name == *name) {
            return Err(syn::Error::new_spanned(name, format!("`{name}` is given twice")));
        }
    }
    Ok(settings)
}

/// A parameter as written.
pub struct Param {
    /// The variable.
    pub name: syn::Ident,
    /// Its pattern, with `mut` where it is.
    pub pat: syn::Pat,
    /// Its type.
    pub ty: syn::Type,
}

/// A function taken apart.
pub struct Parts {
    /// The parameters.
    pub params: Vec<Param>,
    /// Name, place and text of the source, for `__ink::Text`.
    pub text: TokenStream,
    /// The function that gives what the names of the tree stand for.
    pub names: TokenStream,
    /// The function that holds the shadow and gives the types of the sites.
    pub sites: TokenStream,
    /// How many sites there are.
    pub site_count: usize,
}

/// Takes a function apart. Names depend on the variables in kernels, which are compiled per instance; in functions they
/// do not, and the checker binds the variables.
///
/// # Errors
/// Everything in the function that kernels cannot have.
pub fn take_apart(item: &mut syn::ItemFn, variables: &[Variable], is_kernel: bool) -> syn::Result<Parts> {
    let sig = &item.sig;
    let refused = [
        sig.asyncness.map(|t| t.to_token_stream()),
        sig.unsafety.map(|t| t.to_token_stream()),
        sig.abi.as_ref().map(|t| t.to_token_stream()),
        sig.variadic.as_ref().map(|t| t.to_token_stream()),
    ];
    if let Some(token) = refused.into_iter().flatten().next() {
        return Err(syn::Error::new_spanned(token, "kernels and their functions are plain `fn`"));
    }
    refuse_of_the_host(sig)?;
    let last = item.block.brace_token.span.close();
    let source = Source::new(first_place(item), last);
    let names: Vec<String> = variables.iter().map(|v| v.name().to_string()).collect();
    let mut lower = Lower::new(&source, variables, is_kernel);
    let params = params(&item.sig)?;
    let defs = params.iter().map(|param| {
        let name = lower.param(&param.name, &param.ty, refers(&param.ty));
        let span = source.span(param.name.span());
        ParamDef { name, annotation: None, default: None, kind: ParamKind::Normal, span }
    });
    let defs: Vec<ParamDef> = defs.collect();
    let returns = match &item.sig.output {
        syn::ReturnType::Type(_, ty) => Some((**ty).clone()),
        syn::ReturnType::Default => None,
    };
    let body = lower.body(&mut item.block, returns)?;
    let name_span = source.span(item.sig.ident.span());
    let mut def = FunctionDef {
        name: item.sig.ident.to_string(),
        name_span,
        params: defs,
        returns: None,
        doc: None,
        decorators: Vec::new(),
        body,
        span: source.span(first_place(item)).to(source.span(last)),
    };
    let tree = stored(&def, &item.sig.ident)?;
    respan::clear(&mut def);
    let digest = blake3::hash(stored(&def, &item.sig.ident)?.value().as_slice());
    let digest = syn::LitByteStr::new(digest.as_bytes(), Place::call_site());
    let (name, first_line, text) = (&def.name, source.first_line, &source.text);
    let param_names = def.params.iter().map(|param| &param.name);
    let text = quote! {
        __ink::Text {
            name: #name,
            params: &[#(#param_names),*],
            digest: #digest,
            file: ::core::file!(),
            first_line: #first_line,
            text: ::inkle::__compiled_from!(#text, ""),
            tree: ::inkle::__compiled_from!(#tree, &[]),
        }
    };
    let (count, items) = (lower.sites, std::mem::take(&mut lower.items));
    if !is_kernel {
        refuse_variables(&lower.names, &names)?;
    }
    refuse_recursion(&lower.names, &item.sig.ident)?;
    let entries = lower.names.iter().map(entry);
    let (decl, bounds) = if is_kernel {
        let (decl, _, bounds) = item.sig.generics.split_for_impl();
        (decl.to_token_stream(), bounds.to_token_stream())
    } else {
        (TokenStream::new(), TokenStream::new())
    };
    let instance = match is_kernel {
        true => item.sig.generics.split_for_impl().1.as_turbofish().to_token_stream(),
        false => generics::instance(variables),
    };
    let take_sites = (count > 0).then(|| quote!(let __sites = sites #instance();));
    let names = quote! {
        #[allow(unused, clippy::all)]
        fn names #decl () -> ::std::vec::Vec<__ink::Name> #bounds {
            #(#items)*
            #take_sites
            ::std::vec![#(#entries),*]
        }
    };
    let sites = shadow(item, &params, count);
    Ok(Parts { params, text, names, sites, site_count: count })
}

/// Whether a parameter is a `&mut` of something that is no array: an array is itself a reference to its elements.
fn refers(ty: &syn::Type) -> bool {
    let syn::Type::Reference(reference) = ty else { return false };
    let is_array = match &*reference.elem {
        syn::Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Array" || last.ident == "IndexedArray"),
        _ => false,
    };
    reference.mutability.is_some() && !is_array
}

/// What a parameter or result has for a type that programs often have and kernels never: one message says what to do, where rustc
/// has several.
fn refuse_of_the_host(sig: &syn::Signature) -> syn::Result<()> {
    let inputs = sig.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) => Some(&*typed.ty),
        syn::FnArg::Receiver(_) => None,
    });
    let output = match &sig.output {
        syn::ReturnType::Type(_, ty) => Some(&**ty),
        syn::ReturnType::Default => None,
    };
    inputs.chain(output).try_for_each(refuse_type_of_the_host)?;
    match output {
        Some(ty) if has_reference(ty) => {
            let message = "functions of kernels give values; to change something of the caller's, take it as a `&mut` parameter";
            Err(syn::Error::new_spanned(ty, message))
        }
        _ => Ok(()),
    }
}

fn has_reference(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Reference(_) => true,
        syn::Type::Tuple(tuple) => tuple.elems.iter().any(has_reference),
        syn::Type::Paren(inner) => has_reference(&inner.elem),
        _ => false,
    }
}

fn refuse_type_of_the_host(ty: &syn::Type) -> syn::Result<()> {
    let last = |ty: &syn::Type| match ty {
        syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    };
    let referred = match ty {
        syn::Type::Reference(reference) => &*reference.elem,
        other => other,
    };
    let message = match (referred, last(referred).as_deref()) {
        (syn::Type::Slice(_), _) | (_, Some("Vec" | "Box" | "Rc" | "Arc")) => {
            "kernels take many values as `&Array<T>` or `&mut Array<T>`; `Array::from_slice` makes one"
        }
        (_, Some("String" | "str")) => "kernels know no texts but those of `println!` and `assert!`",
        (_, Some("Option" | "Result")) => {
            "kernels know no `Option` and no `Result`; pass a value and a `bool` that says whether it counts"
        }
        (_, Some("Array" | "IndexedArray")) if matches!(ty, syn::Type::Path(_)) => {
            "kernels take arrays by reference: `&Array` to read, `&mut Array` to write"
        }
        (syn::Type::BareFn(_) | syn::Type::ImplTrait(_), _) => {
            "kernels cannot take functions; write one with `#[inkle::func]` and call it by its name"
        }
        _ => return Ok(()),
    };
    Err(syn::Error::new_spanned(ty, message))
}

/// The bytes of a tree.
fn stored(def: &FunctionDef, name: &syn::Ident) -> syn::Result<syn::LitByteStr> {
    let bytes = postcard::to_stdvec(def)
        .map_err(|error| syn::Error::new_spanned(name, format!("the kernel cannot be stored: {error}")))?;
    Ok(syn::LitByteStr::new(&bytes, Place::call_site()))
}

fn first_place(item: &syn::ItemFn) -> Place {
    item.sig.fn_token.span
}

fn params(sig: &syn::Signature) -> syn::Result<Vec<Param>> {
    let param = |input: &syn::FnArg| match input {
        syn::FnArg::Receiver(receiver) => {
            Err(syn::Error::new_spanned(receiver, "kernels and their functions are no methods"))
        }
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
                Ok(Param { name: ident.ident.clone(), pat: (*typed.pat).clone(), ty: (*typed.ty).clone() })
            }
            other => Err(syn::Error::new_spanned(other, "a parameter of a kernel has a name")),
        },
    };
    sig.inputs.iter().map(param).collect()
}

/// What lints have nothing to say about in a shadow: the body is not as it was written.
pub fn lints() -> TokenStream {
    quote! {
        #[allow(
            arithmetic_overflow, unconditional_panic, unreachable_code, clippy::all, unused_parens, unused_braces,
            clippy::pedantic, clippy::nursery
        )]
    }
}

/// What the shadow of a function needs before it to be the function on the host.
pub fn host_sites(count: usize) -> TokenStream {
    let sites = (0..count).map(|n| format_ident!("__site{n}"));
    quote! {
        #[allow(unused_imports)]
        use ::inkle::__private as __ink;
        #(let #sites = __ink::Site::new();)*
    }
}

/// The body in a closure that rustc checks and nobody calls; what it infers for the sites is the result.
fn shadow(item: &syn::ItemFn, params: &[Param], count: usize) -> TokenStream {
    let (decl, _, bounds) = item.sig.generics.split_for_impl();
    let sites: Vec<syn::Ident> = (0..count).map(|n| format_ident!("__site{n}")).collect();
    let pats = params.iter().map(|p| &p.pat);
    let types = params.iter().map(|p| &p.ty);
    let block = &item.block;
    let output = match &item.sig.output {
        syn::ReturnType::Default => quote!(-> ()),
        output => quote!(#output),
    };
    let attrs = item
        .attrs
        .iter()
        .filter(|a| ["allow", "expect", "warn", "deny"].iter().any(|n| a.path().is_ident(n)));
    let lints = lints();
    quote! {
        #lints
        #(#attrs)*
        fn sites #decl () -> [__ink::Type; #count] #bounds {
            #(let #sites = __ink::Site::new();)*
            let _ = |#(#pats: #types),*| #output #block;
            [#(#sites.ty()),*]
        }
    }
}

fn entry(name: &Name) -> TokenStream {
    match name {
        Name::Type(site) => quote!(__ink::Name::Type(__sites[#site])),
        Name::Carrier(site) => quote!(__ink::Name::carrier(__sites[#site])),
        Name::Not(site) => quote!(__ink::Name::not(__sites[#site])),
        Name::SignOfZero(site) => quote!(__ink::Name::sign_of_zero(__sites[#site])),
        Name::Written(ty) => quote!(__ink::Name::Type(<#ty as __ink::Typed>::ty())),
        Name::Callee(path) => quote!(<#path as __ink::Callable>::callee()),
        Name::Constant(value) => quote_spanned!(value.span()=> __ink::Name::constant(#value)),
    }
}

/// A function that calls itself would never come to an end in the checker, which puts its body where it is called.
fn refuse_recursion(names: &[Name], own: &syn::Ident) -> syn::Result<()> {
    for name in names {
        if let Name::Callee(path) = name
            && path.is_ident(own)
        {
            let message = format!(
                "`{own}` calls itself, which functions of kernels cannot: threads have no stack for it; write a loop"
            );
            return Err(syn::Error::new_spanned(path, message));
        }
    }
    Ok(())
}

/// What a function asks of the program cannot depend on its variables: the checker knows them and the program does not.
fn refuse_variables(names: &[Name], variables: &[String]) -> syn::Result<()> {
    for name in names {
        let tokens = match name {
            Name::Written(ty) => ty.to_token_stream(),
            Name::Constant(value) => value.to_token_stream(),
            _ => continue,
        };
        if generics::mentions(tokens.clone(), variables) {
            let message = "in a generic function this cannot depend on its parameters; convert with `T::from_f64(..)`, or \
                           take the value as an argument";
            return Err(syn::Error::new_spanned(tokens, message));
        }
    }
    Ok(())
}
