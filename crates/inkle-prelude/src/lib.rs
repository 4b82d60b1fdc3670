//! The standard library of the kernel language, written in the kernel language.
//!
//! Everything that need not be an operation of the IR is written once, in `src/kernel/*.py`, and serves CPU,
//! GPU, differentiation and export alike. The sources are parsed when inkle is built; at run time the tree of
//! a function is decoded when the function is first used.
//!
//! # The language of the sources
//!
//! The kernel language with Python's syntax, and:
//! - `@builtin("Vector Math")` declares a function for users and its group in the documentation; its docstring
//!   is the user documentation. `@internal` declares a helper that users cannot name; its name starts with an
//!   underscore. Operators reach helpers by name: `_mat_mul`, `_mat_vec`, `_vec_mat`, `_quat_mul`,
//!   `_transform_mul` for `*` and `@`; `_vec_eq`, `_mat_eq`, `_quat_eq`, `_transform_eq` for `==`.
//! - Several definitions of one name are overloads, tried in order. A name can also be an operation's; then
//!   the operation's signatures come first.
//! - Annotations are patterns: scalars by name; scalar variables `S` (any), `R` (integer or float), `I`
//!   (integer), `F` (float), `B` (integer or `bool`); `T` (any type); sizes `N`, `M`, `K`, `D` or a number;
//!   `vec[N, S]`, `mat[N, M, S]`, `quat[F]`, `transform[F]`, `array[T, D]`, `tuple[..]` for several results.
//! - `ref[P]` is a parameter passed by reference: the argument must be assignable, and what the function
//!   assigns to the parameter is stored there.
//! - In bodies, scalar variables are conversions (`F(0.5)`) and sizes are constants (`range(N)`);
//!   `vec[N, S]()` and `mat[N, M, S]()` are zero, with arguments they take the components.
//! - `_adj_f`, with the parameters of `f` and the gradients of its results, gives the gradients of `f` where those
//!   of its body will not do: it adds to `adjoint[x]` for each parameter `x`.
//! - A float literal next to an `F` is written `F(1.0)`, so that no f64 creeps in.
#![forbid(unsafe_code)]

use std::sync::{Arc, OnceLock};

use inkle_diag::SourceFile;
use inkle_frontend::tree::FunctionDef;

static TREES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/trees.bin"));
include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// A function of the library: one overload of its name.
pub struct PreludeFn {
    name: &'static str,
    group: &'static str,
    file: usize,
    start: usize,
    end: usize,
    def: OnceLock<Arc<FunctionDef>>,
}

/// A source file, registered for diagnostics when a function of it is first used.
struct Source {
    name: &'static str,
    text: &'static str,
    file: OnceLock<Arc<SourceFile>>,
}

/// The overloads of `name` in the order to try them; empty when the library has no such function.
///
/// Internal functions, whose names start with an underscore, are found too: it is the caller who keeps users
/// from naming them.
pub fn lookup(name: &str) -> &'static [PreludeFn] {
    let start = FUNCTIONS.partition_point(|f| f.name < name);
    let count = FUNCTIONS[start..].partition_point(|f| f.name == name);
    &FUNCTIONS[start..start + count]
}

/// All functions, overloads of one name together and in order, names in alphabetical order.
pub fn functions() -> &'static [PreludeFn] {
    &FUNCTIONS
}

/// The names that users can call, each once, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS
        .chunk_by(|a, b| a.name == b.name)
        .map(|overloads| overloads[0].name)
        .filter(|n| !n.starts_with('_'))
}

impl PreludeFn {
    const fn new(
        name: &'static str,
        group: &'static str,
        file: usize,
        start: usize,
        end: usize,
    ) -> PreludeFn {
        PreludeFn { name, group, file, start, end, def: OnceLock::new() }
    }

    /// The name; starts with an underscore when the function is internal.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The group in the documentation; empty for internal functions.
    pub fn group(&self) -> &'static str {
        self.group
    }

    /// Whether users cannot name the function.
    pub fn is_internal(&self) -> bool {
        self.group.is_empty()
    }

    /// The function as a tree, decoded at the first call. Its spans lie in the library's own source.
    pub fn def(&'static self) -> &'static Arc<FunctionDef> {
        self.def.get_or_init(|| {
            let mut def: FunctionDef = postcard::from_bytes(&TREES[self.start..self.end])
                .expect("the trees were encoded by this crate's build script");
            inkle_frontend::respan::set_file(&mut def, SOURCES[self.file].register().id());
            Arc::new(def)
        })
    }

    /// The documentation for users; empty for internal functions.
    pub fn doc(&'static self) -> &'static str {
        self.def().doc.as_deref().unwrap_or("")
    }

    /// The source file the function stands in.
    pub fn source(&self) -> &'static Arc<SourceFile> {
        SOURCES[self.file].register()
    }
}

impl Source {
    const fn new(name: &'static str, text: &'static str) -> Source {
        Source { name, text, file: OnceLock::new() }
    }

    fn register(&'static self) -> &'static Arc<SourceFile> {
        self.file.get_or_init(|| SourceFile::register(self.name, self.text))
    }
}
