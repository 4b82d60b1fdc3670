//! `#[inkle::kernel]`, `#[inkle::func]` and the derives: Rust source to the untyped kernel tree.
//!
//! A function becomes two things. Its *tree* is data beside the code: the body in the form that the checker of every source
//! language reads, with names made unique and control flow made of statements. Its *shadow* is the body itself, in a
//! closure that is never called: there rustc checks names, types, mutability and borrows, and reports mistakes where they
//! are. What rustc infers reaches the tree through sites: a literal `0.5` becomes
//! `if true { 0.5 } else { site.value() }` in the shadow, where `site` is a `Site<T>` whose `T` the program can read, and a conversion
//! to that type in the tree.
//!
//! - `kernel.rs`, `func.rs`, `derive.rs`, `options.rs`: what each attribute makes.
//! - `lower/`: expressions, statements, loops and patterns of Rust as kernel trees.
//! - `source.rs`: places in the source file.
//!
//! Users reach the macros through the crate `inkle`, which documents them.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod derive;
mod func;
mod generics;
mod kernel;
mod lower;
mod options;
mod parts;
mod source;

use proc_macro::TokenStream;

/// Makes a kernel of a function; see `inkle::kernel`.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    let made = syn::parse(item).and_then(|item| kernel::expand(options.into(), item));
    made.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Chooses options for the kernels of a module; see `inkle::options`.
#[proc_macro_attribute]
pub fn options(options: TokenStream, item: TokenStream) -> TokenStream {
    let made = syn::parse(item).and_then(|item| options::expand(options.into(), item));
    made.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a function that kernels can call; see `inkle::func`.
#[proc_macro_attribute]
pub fn func(options: TokenStream, item: TokenStream) -> TokenStream {
    let made = syn::parse(item).and_then(|item| func::expand(options.into(), item));
    made.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Lets kernels use a struct or an enumeration; see `inkle::Struct`.
#[proc_macro_derive(Struct)]
pub fn derive_struct(item: TokenStream) -> TokenStream {
    let made = syn::parse(item).and_then(derive::expand);
    made.unwrap_or_else(syn::Error::into_compile_error).into()
}
