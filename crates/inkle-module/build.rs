//! A digest of everything that turns a kernel's source into IR, for what is kept of checks: another checker may answer the
//! same questions with other IR.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates, by their folders beside this one.
const FRONT_END: [&str; 6] =
    ["inkle-ir", "inkle-frontend", "inkle-python", "inkle-prelude", "inkle-adjoint", "inkle-module"];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it"));
    let crates = here.parent().expect("the crates are in a folder");
    let mut files = Vec::new();
    for name in FRONT_END {
        let folder = crates.join(name).join("src");
        println!("cargo:rerun-if-changed={}", folder.display());
        collect(&folder, &mut files)?;
    }
    // The version of the parser is there.
    let manifest = crates.parent().expect("the folder is in the workspace").join("Cargo.toml");
    println!("cargo:rerun-if-changed={}", manifest.display());
    files.push(manifest);
    files.sort();
    // Two hashers of one algorithm with other beginnings, for 128 bits without a dependency.
    let mut hashers = [DefaultHasher::new(), DefaultHasher::new()];
    1u8.hash(&mut hashers[1]);
    for file in &files {
        let text = fs::read(file)?;
        for hasher in &mut hashers {
            file.strip_prefix(crates).unwrap_or(Path::new("")).hash(hasher);
            text.hash(hasher);
        }
    }
    let [first, second] = hashers.map(|hasher| hasher.finish());
    println!("cargo:rustc-env=INKLE_FRONT_END={first:016x}{second:016x}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
