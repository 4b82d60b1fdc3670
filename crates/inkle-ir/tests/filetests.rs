//! Runs the files under `filetests/`.
//!
//! A file begins with comments; one of them says what is tested. The module follows, then a line `;; expect:`
//! and what comes out:
//!
//! - `;; test print`: the module as it is printed;
//! - `;; test verify`: the violations, one a line after `; `, or `; ok`;
//! - `;; test access`: what the kernel may do with each array of its arguments, and with other memory;
//! - `;; test simplify`: the module after all passes, or, with the name of a pass (`fold`, `common`, `carried`,
//!   `dead`, `functions`), after that one; it must be right before and after.
//!
//! Each module is also printed and read again. With `INKLE_BLESS=1` the expectations are rewritten.

use std::fs;
use std::path::{Path, PathBuf};

use inkle_ir::simplify::{self, Effects, effects};
use inkle_ir::{Access, KernelAccess, Module, array_names, parse, verify};

const EXPECT: &str = ";; expect:\n";

#[test]
fn filetests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    assert!(!files.is_empty(), "there are no filetests");
    let bless = std::env::var_os("INKLE_BLESS").is_some_and(|v| v == "1");
    let failures: Vec<String> = files
        .iter()
        .filter_map(|file| {
            let name = file.strip_prefix(&root).unwrap_or(file).display();
            run(file, bless).err().map(|e| format!("--- {name}: {e}"))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} failed\n{}", failures.len(), files.len(), failures.join("\n"));
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            assert!(path.extension().is_some_and(|e| e == "ink"), "{} is not a filetest", path.display());
            files.push(path);
        }
    }
}

fn run(file: &Path, bless: bool) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    let (input, expected) = match text.split_once(EXPECT) {
        Some((input, expected)) => (input, Some(expected)),
        None => (text.as_str(), None),
    };
    let mut commands = input.lines().filter_map(|line| line.strip_prefix(";; test "));
    let command = commands.next().ok_or("no `;; test` line")?;
    if commands.next().is_some() {
        return Err("more than one `;; test` line".to_owned());
    }
    if let Some(stray) = input.lines().find(|line| line.starts_with(";;") && !line.starts_with(";; test ")) {
        return Err(format!("unknown directive `{stray}`"));
    }
    let module = parse(input).map_err(|e| e.to_string())?;
    round_trip(&module)?;
    let actual = output(command, module)?;
    if Some(actual.as_str()) == expected {
        return Ok(());
    }
    if bless {
        let separator = if expected.is_some() || input.ends_with("\n\n") { "" } else { "\n" };
        return fs::write(file, format!("{input}{separator}{EXPECT}{actual}")).map_err(|e| e.to_string());
    }
    match expected {
        Some(expected) => Err(format!("expected\n{expected}but got\n{actual}")),
        None => Err("no `;; expect:` line".to_owned()),
    }
}

fn round_trip(module: &Module) -> Result<(), String> {
    let printed = module.to_string();
    let again =
        parse(&printed).map_err(|e| format!("the printed module is not read: {e}\n{printed}"))?.to_string();
    if again == printed { Ok(()) } else { Err(format!("printed\n{printed}read and printed again\n{again}")) }
}

fn output(command: &str, mut module: Module) -> Result<String, String> {
    let Some(pass) = command.strip_prefix("simplify") else {
        return match command {
            "print" => Ok(module.to_string()),
            "verify" => Ok(match verify(&module) {
                Ok(()) => "; ok\n".to_owned(),
                Err(errors) => errors.0.iter().map(|e| format!("; {e}\n")).collect(),
            }),
            "access" => verify(&module).map_err(|e| e.to_string()).map(|()| access(&module)),
            other => Err(format!("unknown command `{other}`")),
        };
    };
    verify(&module).map_err(|e| format!("wrong before the pass\n{e}"))?;
    match pass {
        "" => inkle_ir::simplify(&mut module),
        " functions" => simplify::remove_uncalled(&mut module),
        _ => {
            let mut known: Vec<Effects> = Vec::new();
            for function in &mut module.functions {
                match pass {
                    " fold" => simplify::fold(function),
                    " common" => _ = simplify::merge_common(function, &known),
                    " carried" => _ = simplify::fix_carried(function),
                    " dead" => simplify::remove_dead(function, &known),
                    _ => return Err(format!("unknown pass `{pass}`")),
                }
                known.push(effects(function, &known));
            }
        }
    }
    let text = module.to_string();
    verify(&module).map_err(|e| format!("wrong after the pass\n{e}\n{text}"))?;
    round_trip(&module)?;
    Ok(text)
}

fn access(module: &Module) -> String {
    let kernel = module.kernel().expect("verified");
    let found = KernelAccess::of(module);
    assert_eq!(KernelAccess::from_bytes(&found.to_bytes()).as_ref(), Some(&found));
    let names: Vec<String> = kernel.params.iter().flat_map(|p| array_names(&p.name, p.ty)).collect();
    assert_eq!(names.len(), found.arrays.len());
    let words = |access: Access| match (access.reads, access.writes) {
        (false, false) => "nothing",
        (true, false) => "read",
        (false, true) => "written",
        (true, true) => "read and written",
    };
    let mut lines = String::new();
    for (name, array) in names.iter().zip(&found.arrays) {
        lines.push_str(&format!("; {name}: {}", words(array.elements)));
        if array.elements.reads && !array.is_used {
            lines.push_str(" for sums in place");
        }
        if !array.gradient.is_none() {
            lines.push_str(&format!("; gradient: {}", words(array.gradient)));
        }
        lines.push('\n');
    }
    format!("{lines}; other memory: {}\n", words(found.others))
}
