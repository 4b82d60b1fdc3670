//! Parses the kernel sources in `src/kernel` and writes them, as trees, into the crate.
//!
//! Written to `OUT_DIR`: `trees.bin`, the trees of all functions one after the other in postcard's format, and
//! `tables.rs`, the two tables that say which function is where.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use inkle_diag::SourceFile;
use inkle_frontend::tree::{Expr, ExprKind, FunctionDef};

struct Entry {
    name: String,
    group: String,
    file: usize,
    start: usize,
    end: usize,
}

fn main() {
    println!("cargo::rerun-if-changed=src/kernel");
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let sources = sources(&root.join("src/kernel"));

    let mut trees = Vec::new();
    let mut entries = Vec::new();
    for (file, path) in sources.iter().enumerate() {
        for def in parse(path) {
            let group =
                group(&def).unwrap_or_else(|mistake| panic!("{}: `{}`: {mistake}", path.display(), def.name));
            let bytes = postcard::to_stdvec(&def).expect("trees hold only data");
            let start = trees.len();
            trees.extend(bytes);
            entries.push(Entry { name: def.name, group, file, start, end: trees.len() });
        }
    }
    // Stable, so that overloads of one name keep the order of the source.
    entries.sort_by(|a, b| a.name.cmp(&b.name));

    let mut tables = String::new();
    let _ = writeln!(tables, "static SOURCES: [Source; {}] = [", sources.len());
    for path in &sources {
        let name = path.file_name().expect("a file").to_string_lossy();
        let _ = writeln!(tables, "    Source::new({:?}, include_str!({path:?})),", format!("<inkle>/{name}"));
    }
    let _ = writeln!(tables, "];\nstatic FUNCTIONS: [PreludeFn; {}] = [", entries.len());
    for e in &entries {
        let _ = writeln!(
            tables,
            "    PreludeFn::new({:?}, {:?}, {}, {}, {}),",
            e.name, e.group, e.file, e.start, e.end
        );
    }
    tables.push_str("];\n");
    fs::write(out.join("trees.bin"), trees).expect("OUT_DIR can be written");
    fs::write(out.join("tables.rs"), tables).expect("OUT_DIR can be written");
}

/// The kernel sources, by name, so that the build is reproducible.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the kernel sources are there");
    let mut paths: Vec<_> = entries.map(|e| e.expect("readable").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "py"));
    paths.sort();
    paths
}

fn parse(path: &Path) -> Vec<FunctionDef> {
    let text = fs::read_to_string(path).expect("a kernel source is UTF-8");
    let parsed = inkle_python::parse_file(&SourceFile::register(&path.to_string_lossy(), &text));
    if let Some(error) = parsed.errors().first() {
        panic!("{}", error.render());
    }
    parsed.functions().map(|f| f.def().unwrap_or_else(|e| panic!("{e}")).as_ref().clone()).collect()
}

/// The documentation group of a function, empty for internal ones; or what is wrong with its head.
fn group(def: &FunctionDef) -> Result<String, &'static str> {
    let [decorator] = def.decorators.as_slice() else {
        return Err("needs one decorator, `@builtin(group)` or `@internal`");
    };
    let group =
        decorator_group(decorator).ok_or("its decorator is neither `@builtin(group)` nor `@internal`")?;
    if group.is_empty() != def.name.starts_with('_') {
        return Err("internal functions start with an underscore, and only they");
    }
    if !group.is_empty() && def.doc.as_ref().is_none_or(|doc| doc.is_empty()) {
        return Err("a function for users needs a docstring");
    }
    if def.params.iter().any(|p| p.annotation.is_none()) {
        return Err("every parameter needs an annotation");
    }
    Ok(group)
}

fn decorator_group(decorator: &Expr) -> Option<String> {
    match &*decorator.kind {
        ExprKind::Name(name) if name == "internal" => Some(String::new()),
        ExprKind::Call { func, args, .. } if func.path()? == ["builtin"] => match &*args.first()?.kind {
            ExprKind::Str(group) if !group.is_empty() => Some(group.clone()),
            _ => None,
        },
        _ => None,
    }
}
