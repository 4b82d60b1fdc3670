//! Mistakes in kernels and launches: what rustc says about each file of `mistakes`, as text.
//!
//! The files are compiled against the library that this test was built with. `INKLE_BLESS=1` rewrites the texts, which are
//! those of the Rust version that the workspace names; another version's are not compared.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library of a crate beside this test: the newest, should there be several.
fn library(folder: &Path, name: &str) -> PathBuf {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let matching = files.filter(|path| {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")
    });
    let newest = matching.max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    newest.unwrap_or_else(|| panic!("there is no library of {name} in {}", folder.display()))
}

#[test]
fn mistakes_are_errors_of_rustc_at_the_right_place() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(&rustc).arg("--version").output().unwrap().stdout;
    let wanted = format!("rustc {}.", env!("CARGO_PKG_RUST_VERSION"));
    if !String::from_utf8_lossy(&version).starts_with(&wanted) {
        println!("skipped: the texts are those of {wanted}*");
        return;
    }
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let library = library(&deps, "inkle");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let out = tempfile::tempdir().unwrap();
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "rs"));
    files.sort();
    assert!(!files.is_empty());
    let mut wrong = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let compiled = Command::new(&rustc)
            .current_dir(&folder)
            .args([
                "--edition=2024",
                "--crate-type=lib",
                "--emit=metadata",
                "--diagnostic-width=120",
                "-Aunused",
            ])
            .arg(format!("--out-dir={}", out.path().display()))
            .arg(format!("-Ldependency={}", deps.display()))
            .arg(format!("--extern=inkle={}", library.display()))
            .arg(name)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&compiled.stderr).into_owned();
        if compiled.status.success() {
            wrong.push(format!("{name} compiles"));
            continue;
        }
        let text = without_elsewhere(&text);
        let expected = path.with_extension("stderr");
        if std::env::var_os("INKLE_BLESS").is_some() {
            std::fs::write(&expected, &text).unwrap();
        }
        let found = std::fs::read_to_string(&expected).unwrap_or_default();
        if found != text {
            wrong.push(format!("{name} gives\n{text}\nand not\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The text without what it shows of other files, whose places change, and without lists of types.
fn without_elsewhere(text: &str) -> String {
    let mut kept = String::new();
    for block in text.split("\n\n") {
        let mut lines = Vec::new();
        let (mut elsewhere, mut is_list) = (false, false);
        for line in block.lines() {
            let trimmed = line.trim_start();
            if is_list && !line.starts_with(|c: char| c.is_ascii_alphabetic()) {
                continue;
            }
            if trimmed.starts_with("--> ") || trimmed.starts_with("::: ") {
                elsewhere = trimmed.contains('/');
                if elsewhere {
                    lines.push(format!("{}--> the library", &line[..line.len() - trimmed.len()]));
                }
            } else if line.starts_with(|c: char| c.is_ascii_alphabetic()) || trimmed.starts_with("= ") {
                elsewhere = trimmed.contains("help: the following other types");
                is_list = elsewhere;
            }
            if !elsewhere {
                lines.push(line.to_owned());
            }
        }
        kept += &lines.join("\n");
        kept += "\n\n";
    }
    kept.trim_end().to_owned() + "\n"
}
