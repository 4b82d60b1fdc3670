//! `#[derive(inkle::Struct)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// Lets kernels use a struct with named fields, or an enumeration without any.
///
/// # Errors
/// For other items.
pub fn expand(item: syn::DeriveInput) -> syn::Result<TokenStream> {
    match &item.data {
        syn::Data::Struct(data) => structure(&item, data),
        syn::Data::Enum(data) => enumeration(&item, data),
        syn::Data::Union(data) => Err(syn::Error::new_spanned(data.union_token, "kernels have no unions")),
    }
}

fn structure(item: &syn::DeriveInput, data: &syn::DataStruct) -> syn::Result<TokenStream> {
    let syn::Fields::Named(fields) = &data.fields else {
        let message = "a struct of kernels has named fields, at least one";
        return Err(syn::Error::new_spanned(&item.ident, message));
    };
    if fields.named.is_empty() {
        return Err(syn::Error::new_spanned(&item.ident, "a struct of kernels has at least one field"));
    }
    let ident = &item.ident;
    let is_argument = item.generics.lifetimes().next().is_some();
    let mut generics = item.generics.clone();
    let clause = generics.make_where_clause();
    for field in &fields.named {
        // Said once here, a field that kernels cannot have is reported once, where it is.
        let (ty, place) = (&field.ty, field.ty.span());
        let bound = match is_argument {
            true => quote_spanned!(place=> ::inkle::__private::Argument),
            false => quote_spanned!(place=> ::inkle::Value),
        };
        let predicate = quote_spanned!(place=> #ty: #bound);
        clause.predicates.push(syn::parse2(predicate)?);
    }
    let (decl, use_, bounds) = generics.split_for_impl();
    let names: Vec<_> = fields.named.iter().filter_map(|f| f.ident.as_ref()).collect();
    let texts: Vec<String> =
        names.iter().map(|n| n.to_string().trim_start_matches("r#").to_owned()).collect();
    let types: Vec<_> = fields.named.iter().map(|f| &f.ty).collect();
    let name = ident.to_string();
    let ty = quote! {
        __ink::structure::<Self>(#name, || ::std::vec![#((#texts, <#types as __ink::Typed>::ty())),*])
    };
    // With a lifetime it holds references to arrays, and is an argument only; without, it is a value like any other.
    if is_argument {
        let ty = quote!(__ink::structure::<Self>(#name, || ::std::vec![#((#texts, <#types as __ink::Typed>::ty())),*]));
        return Ok(quote! {
            const _: () = {
                use ::inkle::__private as __ink;

                impl #decl __ink::Typed for #ident #use_ #bounds {
                    fn ty() -> __ink::Type {
                        #ty
                    }
                }

                impl #decl __ink::Argument for #ident #use_ #bounds {
                    fn param_type() -> __ink::Type {
                        <Self as __ink::Typed>::ty()
                    }

                    fn pack<'__pack>(&'__pack self, __pack: &mut __ink::Packer<'_, '__pack>) -> ::inkle::Result<()> {
                        __pack.begin(<Self as __ink::Typed>::ty());
                        #(__ink::Argument::pack(&self.#names, __pack)?;)*
                        __pack.end();
                        Ok(())
                    }
                }
            };
        });
    }
    Ok(quote! {
        const _: () = {
            use ::inkle::__private as __ink;

            impl #decl __ink::Typed for #ident #use_ #bounds {
                fn ty() -> __ink::Type {
                    #ty
                }
            }

            impl #decl ::inkle::Value for #ident #use_ #bounds {
                fn store(&self, bytes: &mut [u8]) {
                    let mut fields = __ink::FieldOffsets::of(<Self as __ink::Typed>::ty());
                    #(::inkle::Value::store(&self.#names, &mut bytes[fields.next_offset()..]);)*
                }

                fn fetch(bytes: &[u8]) -> Self {
                    let mut fields = __ink::FieldOffsets::of(<Self as __ink::Typed>::ty());
                    // In the order of the fields, and without variables of their names: a kernel of such a name would not let them be.
                    Self { #(#names: <#types as ::inkle::Value>::fetch(&bytes[fields.next_offset()..])),* }
                }
            }
        };
    })
}

fn enumeration(item: &syn::DeriveInput, data: &syn::DataEnum) -> syn::Result<TokenStream> {
    if let Some(variant) = data.variants.iter().find(|v| !matches!(v.fields, syn::Fields::Unit)) {
        return Err(syn::Error::new_spanned(
            variant,
            "the variants of an enumeration of kernels have no fields",
        ));
    }
    if data.variants.is_empty() {
        return Err(syn::Error::new_spanned(
            &item.ident,
            "an enumeration of kernels has at least one variant",
        ));
    }
    let mut repr = quote!(i32);
    for attr in item.attrs.iter().filter(|a| a.path().is_ident("repr")) {
        attr.parse_nested_meta(|meta| {
            let known = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
            if let Some(name) = meta.path.get_ident().filter(|i| known.iter().any(|k| i == k)) {
                repr = quote!(#name);
            }
            Ok(())
        })?;
    }
    let ident = &item.ident;
    let variants: Vec<_> = data.variants.iter().map(|v| &v.ident).collect();
    let first = variants[0];
    Ok(quote! {
        const _: () = {
            use ::inkle::__private as __ink;

            impl __ink::Typed for #ident {
                fn ty() -> __ink::Type {
                    <#repr as __ink::Typed>::ty()
                }
            }

            impl ::inkle::Value for #ident {
                fn store(&self, bytes: &mut [u8]) {
                    ::inkle::Value::store(&(*self as #repr), bytes);
                }

                /// A number that no variant has is taken for the first.
                fn fetch(bytes: &[u8]) -> Self {
                    match <#repr as ::inkle::Value>::fetch(bytes) {
                        #(value if value == #ident::#variants as #repr => #ident::#variants,)*
                        _ => #ident::#first,
                    }
                }
            }
        };
    })
}
