//! The prelude as the checker sees it.

use inkle_frontend::env::LibraryFunction;

/// The overloads of a built-in written in the kernel language, in order; empty when there is none.
///
/// What an [`Environment`](inkle_frontend::env::Environment) answers to `library`.
pub fn library_function(name: &str) -> Vec<LibraryFunction> {
    inkle_prelude::lookup(name)
        .iter()
        .map(|function| {
            let def = function.def();
            // The tree is decoded once and kept, so its address names the function.
            LibraryFunction { key: std::sync::Arc::as_ptr(def) as usize as u64, def: def.clone() }
        })
        .collect()
}

/// The names that users can call.
pub fn library_names() -> Vec<String> {
    inkle_prelude::names().map(str::to_owned).collect()
}
