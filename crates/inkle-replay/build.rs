//! Links the unwinder into the shared library.
//!
//! Rust's standard library asks for `libgcc_s`, which a small system image may lack. The linker finds a file of
//! that name here first, and it names the static archives that have the same functions.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, wanted: &str| env::var(name).is_ok_and(|value| value == wanted);
    if !(is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        return;
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("unwinder");
    fs::create_dir_all(&folder).expect("OUT_DIR can be written");
    fs::write(folder.join("libgcc_s.so"), "INPUT(libgcc_eh.a libgcc.a)\n").expect("OUT_DIR can be written");
    println!("cargo::rustc-cdylib-link-arg=-L{}", folder.display());
}
