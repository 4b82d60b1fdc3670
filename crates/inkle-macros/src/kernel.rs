//! `#[inkle::kernel]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};

use crate::generics;
use crate::parts::{self, Parts, Setting};

/// The options of kernels.
pub const SETTINGS: [&str; 13] = [
    "checks",
    "fast_math",
    "fuse_fp",
    "verify_fp",
    "precise_math",
    "deterministic",
    "lineinfo",
    "max_unroll",
    "optimization_level",
    "block_dim",
    "max_registers",
    "launch_bounds",
    "enable_backward",
];

/// Makes a kernel.
///
/// # Errors
/// For options that there are not, and for what kernels cannot have.
pub fn expand(options: TokenStream, mut item: syn::ItemFn) -> syn::Result<TokenStream> {
    let settings = parts::settings(options, "kernels", &SETTINGS)?;
    if let syn::ReturnType::Type(_, ty) = &item.sig.output {
        let message = "kernels return nothing; write results into a `&mut Array`";
        return Err(syn::Error::new_spanned(ty, message));
    }
    let variables = generics::variables(&item.sig.generics)?;
    let Parts { params, text, names, sites, .. } = parts::take_apart(&mut item, &variables, true)?;
    let syn::ItemFn { attrs, vis, sig, .. } = &item;
    let ident = &sig.ident;
    let (decl, use_, bounds) = sig.generics.split_for_impl();
    let turbofish = use_.as_turbofish();

    let types: Vec<_> = params.iter().map(|p| p.ty.clone()).collect();
    let held: Vec<_> = types.iter().cloned().map(with_lifetime).collect();
    let args: Vec<_> = (0..types.len()).map(|n| format_ident!("__arg{n}")).collect();
    // What cannot be passed is reported where its type is written.
    let packs = types.iter().zip(&args);
    let packs =
        packs.map(|(ty, arg)| quote_spanned!(ty.span()=> <#ty as __ink::Argument>::pack(&#arg, __pack)?;));
    let packs: Vec<_> = packs.collect();
    let set = settings.iter().map(|Setting { name, value }| match name == "launch_bounds" {
        true => quote_spanned!(value.span()=> settings.#name = ::core::convert::From::from(#value);),
        false => quote!(settings.#name = #value;),
    });
    let key = variables.iter().map(|variable| match variable {
        generics::Variable::Scalar(name, _) => quote!(#name),
        generics::Variable::Size(name) => quote!([(); #name]),
    });
    let key = quote!((#(#key,)*));
    let mut generics = sig.generics.clone();
    generics.params.insert(0, syn::parse_quote!('__args));
    let (held_decl, ..) = generics.split_for_impl();
    let doc_args = format!(
        "Runs the kernel on every index of `dim` with the arguments `({})`; on the CPU it has run when this returns.",
        params.iter().map(|p| p.name.to_string()).collect::<Vec<_>>().join(", ")
    );
    let errors = "\n\n# Errors\nWhen the arguments are on different devices, and when code cannot be made, loaded or run.";
    // How build scripts name it: a kernel that is not generic by itself, one that is by `of`.
    let (any, of) = if variables.is_empty() {
        let any = quote! {
            impl ::core::convert::From<#ident> for ::inkle::AnyKernel {
                fn from(_: #ident) -> ::inkle::AnyKernel {
                    __ink::any(instance())
                }
            }
        };
        (any, TokenStream::new())
    } else {
        let of = quote! {
            /// The kernel for definite types, for build scripts.
            #vis fn of #decl (&self) -> ::inkle::AnyKernel #bounds {
                __ink::any(instance #turbofish())
            }
        };
        (TokenStream::new(), of)
    };
    Ok(quote! {
        #(#attrs)*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #vis struct #ident;

        #[allow(non_upper_case_globals)]
        const _: () = {
            use ::inkle::__private as __ink;

            #sites
            #names

            static TEXT: __ink::Text = #text;
            static FAMILY: __ink::Family = __ink::Family::new(&TEXT);

            fn settings() -> __ink::Settings {
                #[allow(unused_mut)]
                let mut settings = __ink::Settings::new(::core::cfg!(debug_assertions));
                #(#set)*
                settings
            }

            fn params #decl () -> ::std::vec::Vec<__ink::ParamSpec> #bounds {
                ::std::vec![#(__ink::exact(<#types as __ink::Argument>::param_type())),*]
            }

            #[inline]
            fn instance #decl () -> &'static __ink::Instance #bounds {
                FAMILY.instance::<#key>(params #turbofish, names #turbofish, settings)
            }

            #[allow(clippy::all, clippy::pedantic)]
            impl #ident {
                #[doc = #doc_args]
                #[doc = #errors]
                #[inline]
                #vis fn launch #decl (
                    &self,
                    dim: impl ::inkle::Dim,
                    (#(#args,)*): (#(#types,)*),
                ) -> ::inkle::Result<()> #bounds {
                    __ink::launch(instance #turbofish(), dim.extents(), |__pack| {
                        #(#packs)*
                        Ok(())
                    })
                }

                /// Runs the kernel as `launch` does, with a choice of stream and of the shape of the grid on a GPU.
                #[doc = #errors]
                #vis fn launch_with #decl (
                    &self,
                    options: &::inkle::LaunchOptions,
                    dim: impl ::inkle::Dim,
                    (#(#args,)*): (#(#types,)*),
                ) -> ::inkle::Result<()> #bounds {
                    __ink::launch_with(instance #turbofish(), options, dim.extents(), |__pack| {
                        #(#packs)*
                        Ok(())
                    })
                }

                /// Makes everything ready for a launch that can be run again and again.
                #[doc = #errors]
                #vis fn prepare #held_decl (
                    &self,
                    dim: impl ::inkle::Dim,
                    (#(#args,)*): (#(#held,)*),
                ) -> ::inkle::Result<::inkle::Prepared<'__args>> #bounds {
                    __ink::prepare(instance #turbofish(), dim.extents(), |__pack| {
                        #(#packs)*
                        Ok(())
                    })
                }

                /// Compiles the kernel for a device, or finds it in the cache, so that the first launch need not.
                #[doc = #errors]
                #vis fn load #decl (&self, device: ::inkle::Device) -> ::inkle::Result<()> #bounds {
                    instance #turbofish().load_usual(device)
                }

                /// The kernel's typed, simplified form as text.
                #[doc = #errors]
                #vis fn ir #decl (&self) -> ::inkle::Result<::std::string::String> #bounds {
                    instance #turbofish().ir_text()
                }

                #of
            }

            #any
        };
    })
}

/// The type with `'__args` wherever a lifetime is left out.
fn with_lifetime(mut ty: syn::Type) -> syn::Type {
    struct Fill;
    impl VisitMut for Fill {
        fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
            reference.lifetime.get_or_insert_with(|| syn::Lifetime::new("'__args", reference.and_token.span));
            visit_mut::visit_type_reference_mut(self, reference);
        }

        fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
            if lifetime.ident == "_" {
                *lifetime = syn::Lifetime::new("'__args", lifetime.span());
            }
        }
    }
    Fill.visit_type_mut(&mut ty);
    ty
}
