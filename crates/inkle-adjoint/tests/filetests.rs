//! Runs the files under `filetests/`.
//!
//! A file begins with comments; one is `;; grads` and what holds of the gradient of each of the kernel's arrays: `none`,
//! `clear` or `keep`. The module follows, then a line `;; expect:` and the simplified backward module, or the error;
//! before the module there may be a doubt.
//! With `INKLE_BLESS=1` the expectations are rewritten.

use std::fs;
use std::path::Path;

use inkle_adjoint::{ArrayGrad, Backward, backward};
use inkle_ir::{parse, simplify, verify};

const EXPECT: &str = ";; expect:\n";

#[test]
fn filetests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "there are no filetests");
    let bless = std::env::var_os("INKLE_BLESS").is_some_and(|v| v == "1");
    let failures: Vec<String> = files
        .iter()
        .filter_map(|file| run(file, bless).err().map(|e| format!("--- {}: {e}", file.display())))
        .collect();
    assert!(failures.is_empty(), "{} of {} failed\n{}", failures.len(), files.len(), failures.join("\n"));
}

fn run(file: &Path, bless: bool) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    let (input, expected) = match text.split_once(EXPECT) {
        Some((input, expected)) => (input, Some(expected)),
        None => (text.as_str(), None),
    };
    let grads = input.lines().find_map(|line| line.strip_prefix(";; grads ")).ok_or("no `;; grads` line")?;
    let grads = grads
        .split(' ')
        .map(|word| match word {
            "none" => Ok(ArrayGrad::None),
            "clear" => Ok(ArrayGrad::Clear),
            "keep" => Ok(ArrayGrad::Keep),
            other => Err(format!("`{other}` is no gradient")),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let module = parse(input).map_err(|e| e.to_string())?;
    verify(&module).map_err(|e| e.to_string())?;
    let actual = match backward(&module, &grads) {
        Ok(Backward { module: mut made, doubt }) => {
            verify(&made).map_err(|e| format!("the backward module is wrong\n{e}\n{made}"))?;
            simplify(&mut made);
            verify(&made).map_err(|e| format!("the simplified module is wrong\n{e}\n{made}"))?;
            let doubt = doubt.map(|doubt| doubt.diagnostic());
            doubt.map_or(String::new(), |d| format!("; {}: {}\n", d.code, d.message)) + &made.to_string()
        }
        Err(error) => format!("; {}: {error}\n", error.diagnostic().code),
    };
    if Some(actual.as_str()) == expected {
        return Ok(());
    }
    if bless {
        let separator = if expected.is_some() || input.ends_with("\n\n") { "" } else { "\n" };
        return fs::write(file, format!("{input}{separator}{EXPECT}{actual}")).map_err(|e| e.to_string());
    }
    Err(format!("expected\n{}but got\n{actual}", expected.unwrap_or("nothing\n")))
}
