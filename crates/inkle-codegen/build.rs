//! Compiles `src/emit.cpp` against the headers of the LLVM that is linked.

use std::error::Error;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=src/emit.cpp");
    if std::env::var_os("CARGO_FEATURE_LLVM").is_none() {
        return Ok(());
    }
    // Where llvm-sys, which links LLVM, has found it.
    let config = std::env::var("DEP_LLVM_22_CONFIG_PATH")?;
    let output = Command::new(&config).arg("--cxxflags").output()?;
    if !output.status.success() {
        return Err(format!("{config} --cxxflags: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let flags = String::from_utf8(output.stdout)?;
    cc::Build::new()
        .cpp(true)
        .flags(flags.split_whitespace())
        // The headers' own.
        .warnings(false)
        .file("src/emit.cpp")
        .try_compile("inkle_emit")?;
    Ok(())
}
