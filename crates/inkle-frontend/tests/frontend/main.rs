//! Runs the files under `tests/filetests/`: Python source beside what the checker makes of it.
//!
//! The comments at the head of a file say what is tested:
//!
//! - `# test: ir`: each kernel becomes IR; simplified and printed it is what the `.ink` file of the same name holds;
//! - `# test: errors`: each kernel is refused; the reports are what the `.txt` file of the same name holds;
//! - `# test: warnings`: each kernel is accepted; what it is warned of is what the `.txt` file of the same name holds;
//! - `# test: run`: `# run: kernel(5, 2.0) -> 1 2 3` runs a kernel for one thread with an array of zeros as its last
//!   argument, which must then hold these numbers;
//! - `# types: kernel(float, wp.array(dtype=int))`: argument types of a kernel whose annotations leave them open;
//! - `# max_unroll: 0`: as the option of that name.
//!
//! IR is verified before and after simplification. `INKLE_BLESS=1` rewrites expectations; `INKLE_FILETESTS` names
//! another folder to run.

mod evaluate;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use inkle_diag::{Diagnostics, SourceFile};
use inkle_frontend::env::{Environment, FunctionKey, LibraryFunction};
use inkle_frontend::{CheckOptions, check_kernel};
use inkle_ir::{Module, Type, simplify, verify};
use inkle_python::{FileEnvironment, Library};

fn library() -> Library {
    Library {
        functions: |name| {
            let functions = inkle_prelude::lookup(name).iter();
            functions
                .map(|f| LibraryFunction { key: std::ptr::from_ref(f).addr() as u64, def: f.def().clone() })
                .collect()
        },
        names: || inkle_prelude::names().map(str::to_owned).collect(),
    }
}

fn root() -> PathBuf {
    match std::env::var_os("INKLE_FILETESTS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests"),
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "py") {
            files.push(path);
        }
    }
}

#[test]
fn filetests() {
    let root = root();
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    assert!(!files.is_empty(), "there are no filetests");
    let bless = std::env::var_os("INKLE_BLESS").is_some_and(|v| v == "1");
    let failures: Vec<String> = files
        .iter()
        .filter_map(|path| {
            let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
            File::read(path, &name)
                .and_then(|file| file.run(path, bless))
                .err()
                .map(|e| format!("--- {name}: {e}"))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} failed\n{}", failures.len(), files.len(), failures.join("\n"));
}

/// A file with its directives.
struct File {
    env: FileEnvironment,
    test: String,
    options: CheckOptions,
    types: HashMap<String, Vec<Type>>,
    runs: Vec<String>,
}

impl File {
    fn read(path: &Path, name: &str) -> Result<File, String> {
        let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
        let env = FileEnvironment::new(&SourceFile::register(name, &text), library());
        let mut file = File {
            env,
            test: String::new(),
            options: CheckOptions::default(),
            types: HashMap::new(),
            runs: Vec::new(),
        };
        for line in text.lines().map_while(|line| line.strip_prefix('#')) {
            let Some((key, value)) = line.trim().split_once(": ") else { continue };
            match key {
                "test" => file.test = value.to_owned(),
                "max_unroll" => file.options.max_unroll = value.parse().map_err(|_| "not a number")?,
                "run" => file.runs.push(value.to_owned()),
                "types" => {
                    let (kernel, types) = value.split_once('(').ok_or("no `(` after the kernel")?;
                    let types = types.strip_suffix(')').ok_or("no `)` at the end")?;
                    let types = split(types).into_iter().map(|text| {
                        file.env.type_of_annotation(text).ok_or_else(|| format!("`{text}` is no type"))
                    });
                    file.types.insert(kernel.to_owned(), types.collect::<Result<_, _>>()?);
                }
                _ => {}
            }
        }
        Ok(file)
    }

    fn check(&self, name: &str, key: FunctionKey) -> Result<Result<Module, Diagnostics>, String> {
        let types = match self.types.get(name) {
            Some(types) => types.clone(),
            None => match self.env.kernel_types(key) {
                Ok(Some(types)) => types,
                Ok(None) => {
                    // An open parameter is a mistake to report, or the file has to say what it takes.
                    let sources = self.env.function(key).map_err(|e| e.render())?;
                    let empty = sources[0].params.iter().any(|p| p.pattern.is_none());
                    let types = empty.then(|| vec![Type::F32; sources[0].params.len()]);
                    types.ok_or_else(|| format!("kernel `{name}` is generic: add a `# types:` line"))?
                }
                Err(diagnostics) => return Ok(Err(diagnostics)),
            },
        };
        Ok(check_kernel(&self.env, key, &types, self.options))
    }

    fn module(&self, name: &str, key: FunctionKey) -> Result<Module, String> {
        let mut module =
            self.check(name, key)?.map_err(|e| format!("kernel `{name}` is refused\n{}", e.render()))?;
        verify(&module).map_err(|e| format!("kernel `{name}` became wrong IR\n{e}\n{module}"))?;
        simplify(&mut module);
        verify(&module).map_err(|e| format!("kernel `{name}` was simplified to wrong IR\n{e}\n{module}"))?;
        Ok(module)
    }

    fn run(&self, path: &Path, bless: bool) -> Result<(), String> {
        let mut out = String::new();
        match self.test.as_str() {
            "ir" => {
                for (name, key) in self.env.kernels() {
                    let separator = if out.is_empty() { "" } else { "\n" };
                    let module = self.module(name, key)?;
                    let _ = write!(out, "{separator};; kernel {name}\n{module}");
                }
                compare(&path.with_extension("ink"), &out, bless)
            }
            "errors" => {
                for (name, key) in self.env.kernels() {
                    let diagnostics = match self.check(name, key)? {
                        Ok(module) => return Err(format!("kernel `{name}` is accepted\n{module}")),
                        Err(diagnostics) => diagnostics,
                    };
                    for diagnostic in &diagnostics.0 {
                        let rendered = diagnostic.render();
                        if diagnostic.help.is_none() || !diagnostic.span.is_some() {
                            return Err(format!("no help or no place\n{rendered}"));
                        }
                    }
                    let separator = if out.is_empty() { "" } else { "\n" };
                    let _ = write!(out, "{separator}== kernel {name}\n{}", diagnostics.render());
                }
                compare(&path.with_extension("txt"), &out, bless)
            }
            "warnings" => {
                for (name, key) in self.env.kernels() {
                    self.module(name, key)?;
                    let warnings = self.env.take_warnings();
                    let rendered: Vec<String> = warnings.iter().map(|w| w.render()).collect();
                    let separator = if out.is_empty() { "" } else { "\n" };
                    let _ = write!(out, "{separator}== kernel {name}\n{}", rendered.join("\n"));
                }
                compare(&path.with_extension("txt"), &out, bless)
            }
            "run" => self.runs.iter().try_for_each(|line| self.evaluate(line)),
            other => Err(format!("unknown test `{other}`")),
        }
    }

    /// `kernel(1, 2) -> 3 4`.
    fn evaluate(&self, line: &str) -> Result<(), String> {
        let (call, expected) = line.split_once(" -> ").ok_or("no `->`")?;
        let (name, args) = call.split_once('(').ok_or("no `(` after the kernel")?;
        let args = split(args.strip_suffix(')').ok_or("no `)` after the arguments")?);
        let kernels = self.env.kernels();
        let (_, key) =
            kernels.iter().find(|(n, _)| *n == name).ok_or_else(|| format!("no kernel `{name}`"))?;
        let expected: Vec<&str> = expected.split_whitespace().collect();
        let raw =
            self.check(name, *key)?.map_err(|e| format!("kernel `{name}` is refused\n{}", e.render()))?;
        let simplified = self.module(name, *key)?;
        for (module, what) in [(&raw, "as checked"), (&simplified, "simplified")] {
            let got = evaluate::run(module, &args, expected.len());
            if got != expected {
                let got = got.join(" ");
                return Err(format!("{line}\n  but {what} it gives {got}\n{simplified}"));
            }
        }
        Ok(())
    }
}

/// Splits at commas outside brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn compare(path: &Path, actual: &str, bless: bool) -> Result<(), String> {
    let expected = fs::read_to_string(path).ok();
    if expected.as_deref() == Some(actual) {
        return Ok(());
    }
    if bless {
        return fs::write(path, actual).map_err(|e| e.to_string());
    }
    match expected {
        Some(expected) => Err(format!("expected\n{expected}but got\n{actual}")),
        None => Err(format!("{} is missing; the result is\n{actual}", path.display())),
    }
}

#[test]
fn every_code_has_a_filetest() {
    let codes = include_str!("../../src/codes.rs");
    let declared: BTreeSet<&str> =
        codes.split("Code(\"").skip(1).filter_map(|s| s.split('"').next()).collect();
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests"), &mut files);
    let reports: String =
        files.iter().filter_map(|path| fs::read_to_string(path.with_extension("txt")).ok()).collect();
    // A mistake in inkle itself cannot be had on purpose.
    let missing: Vec<&&str> = declared
        .iter()
        .filter(|code| **code != "X001" && !reports.contains(&format!("error[{code}]")))
        .collect();
    assert!(missing.is_empty(), "no filetest reports {missing:?}");
}

#[test]
fn library_functions_are_checked_with_usual_types() {
    // Every overload is instantiated once, with float32, int32 and size 3 for its variables.
    let mut text = String::from("import inkle as wp\nfrom typing import Any\n\n");
    let mut count = 0;
    for function in inkle_prelude::functions().iter().filter(|f| !f.is_internal()) {
        let Some((params, args)) = evaluate::sample_parameters(function.def()) else { continue };
        let _ = write!(text, "@wp.kernel\ndef k{count}({params}):\n    wp.{}({args})\n\n", function.name());
        count += 1;
    }
    let env = FileEnvironment::new(&SourceFile::register("library.py", &text), library());
    let mut failures = String::new();
    for (name, key) in env.kernels() {
        let types = env.kernel_types(key).expect("the file is right").expect("the kernels are not generic");
        match check_kernel(&env, key, &types, CheckOptions::default()) {
            Ok(mut module) => {
                if let Err(e) = verify(&module) {
                    let _ = writeln!(failures, "{name}: wrong IR\n{e}");
                    continue;
                }
                simplify(&mut module);
                if let Err(e) = verify(&module) {
                    let _ = writeln!(failures, "{name}: wrong simplified IR\n{e}");
                }
            }
            Err(e) => {
                let _ = writeln!(failures, "{}", e.render());
            }
        }
    }
    assert!(count > 50, "only {count} functions were found");
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn deep_code_is_checked_or_refused() {
    let head = "import inkle as wp\n\n\n@wp.kernel\ndef k(n: int, out: wp.array(dtype=int)):\n";
    let guards = |count: usize| {
        (0..count)
            .map(|i| format!("    if n == {i}:\n        return\n    out[{i}] = 1\n"))
            .collect::<String>()
    };
    let chain = (1..400).map(|i| format!("    elif n == {i}:\n        out[0] = {i}\n")).collect::<String>();
    let sum = format!("    out[0] = {}n{}\n", "(n + ".repeat(500), ")".repeat(500));
    let cases = [
        (guards(300), true),
        (guards(1000), false),
        (format!("    if n == 0:\n        out[0] = 0\n{chain}"), true),
        (sum, true),
        (format!("    x = n\n{}    out[x] = 1\n", "    x = x + x\n".repeat(300)), true),
    ];
    for (index, (body, accepted)) in cases.into_iter().enumerate() {
        let file = SourceFile::register(&format!("deep{index}.py"), &format!("{head}{body}"));
        let env = FileEnvironment::new(&file, library());
        let (_, key) = env.kernels()[0];
        let types = env.kernel_types(key).expect("it is right").expect("it is not generic");
        match check_kernel(&env, key, &types, CheckOptions::default()) {
            Ok(module) => {
                assert!(accepted, "case {index} is accepted");
                verify(&module).expect("right IR");
            }
            Err(e) => {
                assert!(!accepted && e.0.len() == 1, "case {index}: {}", e.render());
                assert!(e.0[0].message.contains("nested too deeply"), "{}", e.render());
            }
        }
    }
}
