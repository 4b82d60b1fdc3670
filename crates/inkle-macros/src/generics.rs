//! Type and size parameters, and parameter types that mention them.

use proc_macro2::TokenStream;
use quote::quote;

/// A type or size parameter of a function or kernel.
pub enum Variable {
    /// A type parameter with the name of the inkle trait that bounds it.
    Scalar(syn::Ident, String),
    /// A `const N: usize`.
    Size(syn::Ident),
}

impl Variable {
    /// Its name.
    pub fn name(&self) -> &syn::Ident {
        match self {
            Variable::Scalar(name, _) | Variable::Size(name) => name,
        }
    }
}

/// The parameters in brackets.
///
/// # Errors
/// For lifetimes and for bounds that are none of inkle's traits.
pub fn variables(generics: &syn::Generics) -> syn::Result<Vec<Variable>> {
    let mut variables = Vec::new();
    for param in &generics.params {
        variables.push(match param {
            syn::GenericParam::Lifetime(lifetime) => {
                return Err(syn::Error::new_spanned(
                    lifetime,
                    "kernels need no names of lifetimes; leave them out",
                ));
            }
            syn::GenericParam::Const(size) => match &size.ty {
                syn::Type::Path(path) if path.path.is_ident("usize") => Variable::Size(size.ident.clone()),
                other => {
                    let message = "a constant parameter of a kernel is a size, a `usize`; pass other values as arguments";
                    return Err(syn::Error::new_spanned(other, message));
                }
            },
            syn::GenericParam::Type(ty) => {
                let mut bounds = ty.bounds.iter().chain(generics.where_clause.iter().flat_map(|w| {
                    w.predicates
                        .iter()
                        .filter_map(|predicate| match predicate {
                            syn::WherePredicate::Type(bounded) => match &bounded.bounded_ty {
                                syn::Type::Path(path) if path.path.is_ident(&ty.ident) => {
                                    Some(&bounded.bounds)
                                }
                                _ => None,
                            },
                            _ => None,
                        })
                        .flatten()
                }));
                let known = bounds.find_map(|bound| match bound {
                    syn::TypeParamBound::Trait(bound) => {
                        let name = bound.path.segments.last()?.ident.to_string();
                        matches!(name.as_str(), "Scalar" | "Number" | "Float" | "Int").then_some(name)
                    }
                    _ => None,
                });
                let Some(bound) = known else {
                    let message = "a type parameter of a kernel is bounded by one of inkle's traits: \
                                   `Scalar`, `Number`, `Float` or `Int`";
                    return Err(syn::Error::new_spanned(ty, message));
                };
                Variable::Scalar(ty.ident.clone(), bound)
            }
        });
    }
    Ok(variables)
}

/// An instance of the parameters, for what does not depend on them.
pub fn instance(variables: &[Variable]) -> TokenStream {
    if variables.is_empty() {
        return TokenStream::new();
    }
    let each = variables.iter().map(|variable| match variable {
        Variable::Scalar(_, bound) if bound == "Int" => quote!(i32),
        Variable::Scalar(..) => quote!(f32),
        Variable::Size(_) => quote!(1),
    });
    quote!(::<#(#each),*>)
}

/// Whether some tokens mention one of the variables.
pub fn mentions(tokens: TokenStream, variables: &[String]) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => variables.iter().any(|v| ident == v),
        proc_macro2::TokenTree::Group(group) => mentions(group.stream(), variables),
        _ => false,
    })
}

/// The pattern that the checker matches arguments of a parameter with.
///
/// # Errors
/// For types that mention variables in another way than inkle's own types do.
pub fn pattern(ty: &syn::Type, variables: &[Variable]) -> syn::Result<TokenStream> {
    let names: Vec<String> = variables.iter().map(|v| v.name().to_string()).collect();
    if !mentions(quote!(#ty), &names) {
        return Ok(quote!(__ink::Pattern::Exact(<#ty as __ink::Typed>::ty())));
    }
    if let syn::Type::Reference(reference) = ty {
        return pattern(&reference.elem, variables);
    }
    let unknown = || {
        syn::Error::new_spanned(
            ty,
            "with parameters in them, functions take `T`, `Vector<N, T>`, `Matrix<R, C, T>`, `Quaternion<T>`, \
             `Transform<T>` and arrays of these, written out",
        )
    };
    let syn::Type::Path(path) = ty else { return Err(unknown()) };
    let segment = path.path.segments.last().ok_or_else(unknown)?;
    let args: Vec<&syn::GenericArgument> = match &segment.arguments {
        syn::PathArguments::AngleBracketed(args) => args.args.iter().collect(),
        _ => Vec::new(),
    };
    let type_arg = |index: usize| match args.get(index) {
        Some(syn::GenericArgument::Type(ty)) => Ok(ty),
        _ => Err(unknown()),
    };
    let scalar = |index: usize| match args.get(index) {
        None => Ok(quote!(__ink::scalar(<f32 as __ink::Typed>::ty()))),
        Some(syn::GenericArgument::Type(ty)) => scalar_pattern(ty, variables).ok_or_else(unknown),
        _ => Err(unknown()),
    };
    let size = |index: usize| match args.get(index) {
        Some(arg) => Ok(size_pattern(arg, variables)),
        None => Err(unknown()),
    };
    Ok(match segment.ident.to_string().as_str() {
        "Vector" => {
            let (n, t) = (size(0)?, scalar(1)?);
            quote!(__ink::Pattern::Vec(#n, #t))
        }
        "Matrix" => {
            let (r, c, t) = (size(0)?, size(1)?, scalar(2)?);
            quote!(__ink::Pattern::Mat(#r, #c, #t))
        }
        "Quaternion" => {
            let t = scalar(0)?;
            quote!(__ink::Pattern::Quat(#t))
        }
        "Transform" => {
            let t = scalar(0)?;
            quote!(__ink::Pattern::Transform(#t))
        }
        "Array" | "IndexedArray" => {
            let elem = pattern(type_arg(0)?, variables)?;
            let dims = match args.get(1) {
                Some(arg) => size_pattern(arg, variables),
                None => quote!(__ink::SizePattern::Exact(1)),
            };
            let kind = match segment.ident == "Array" {
                true => quote!(Strided),
                false => quote!(Indexed),
            };
            quote!(__ink::Pattern::Array(::std::boxed::Box::new(#elem), #dims, __ink::ArrayKind::#kind))
        }
        _ => {
            let scalar = scalar_pattern(ty, variables).ok_or_else(unknown)?;
            quote!(__ink::Pattern::Scalar(#scalar))
        }
    })
}

fn scalar_pattern(ty: &syn::Type, variables: &[Variable]) -> Option<TokenStream> {
    if let syn::Type::Path(path) = ty {
        for variable in variables {
            if let Variable::Scalar(name, bound) = variable
                && path.path.is_ident(name)
            {
                let text = format!("${name}");
                let constraint = match bound.as_str() {
                    "Float" => quote!(Float),
                    "Int" => quote!(Int),
                    "Number" => quote!(Number),
                    _ => quote!(Any),
                };
                return Some(
                    quote!(__ink::ScalarPattern::Var(#text.to_owned(), __ink::Constraint::#constraint)),
                );
            }
        }
    }
    let names: Vec<String> = variables.iter().map(|v| v.name().to_string()).collect();
    (!mentions(quote!(#ty), &names)).then(|| quote!(__ink::scalar(<#ty as __ink::Typed>::ty())))
}

fn size_pattern(arg: &syn::GenericArgument, variables: &[Variable]) -> TokenStream {
    for variable in variables {
        if let Variable::Size(name) = variable
            && matches!(arg, syn::GenericArgument::Type(syn::Type::Path(path)) if path.path.is_ident(name))
        {
            let text = format!("${name}");
            return quote!(__ink::SizePattern::Var(#text.to_owned()));
        }
    }
    quote!(__ink::SizePattern::Exact((#arg) as u32))
}
