//! The header for C is the one that the source gives.

use std::path::Path;

#[test]
fn the_header_is_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let made = cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("src/c.rs"))
        .generate()
        .expect("src/c.rs can be parsed");
    let mut text = Vec::new();
    made.write(&mut text);
    // Rust's name for what the caller has to see to says nothing to people who write C.
    let text = String::from_utf8(text).unwrap().replace("// # Safety\n", "// The caller's part:\n");
    let path = root.join("include/inkle_replay.h");
    if std::env::var_os("INKLE_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{} is old; make it anew with INKLE_BLESS=1", path.display());
}
