//! The built-ins' forms in Rust are those of the registry: made from it by this test with INKLE_BLESS=1, compared with it
//! without.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use inkle_frontend::builtins::BUILTINS;
use inkle_module::{builtin_forms, library_names};

/// Written by hand, or an operator, a method or a construct of Rust.
const NOT_GENERATED: &[&str] = &[
    "add",
    "sub",
    "mul",
    "div",
    "floordiv",
    "mod",
    "bit_and",
    "bit_or",
    "bit_xor",
    "lshift",
    "rshift",
    "invert",
    "neg",
    "pos",
    "unot",
    "min",
    "max",
    "atomic_add",
    "atomic_sub",
    "atomic_min",
    "atomic_max",
    "atomic_and",
    "atomic_or",
    "atomic_xor",
    "atomic_exch",
    "atomic_cas",
    "address",
    "address_of",
    "load",
    "store",
    "view",
    "array",
    "where",
    "select",
    "len",
    "tid",
    "block_dim",
    "launch_dim",
    "range",
    "reversed",
    "static",
    "grad",
    "print",
    "printf",
    "tuple",
    "type",
    "isinstance",
    "cast",
    "zeros",
    "extract",
    "vector",
    "matrix",
    "quaternion",
    "transformation",
    "identity",
    "quat_identity",
    "transform_identity",
    "matrix_from_cols",
    "matrix_from_rows",
    "expect_eq",
    "expect_neq",
    "expect_near",
    "breakpoint",
    "bitcast",
    "lower_bound",
    "sample_cdf",
];

/// One form: names and types of the parameters, whether each is by reference, and the result.
struct Form {
    generics: Vec<String>,
    params: Vec<(String, String, bool)>,
    result: String,
}

#[test]
fn the_forms_are_those_of_the_registry() {
    let mut names: BTreeSet<String> = library_names().into_iter().collect();
    names.extend(BUILTINS.iter().map(|b| b.name.to_owned()));
    names.retain(|name| !NOT_GENERATED.contains(&name.as_str()) && !name.starts_with('_'));
    let mut left_out = Vec::new();
    let mut groups: BTreeMap<String, String> = BTreeMap::new();
    for name in &names {
        let forms = builtin_forms(name);
        let group = file_name(&forms[0].group);
        match functions(name) {
            Ok(text) => groups.entry(group).or_default().push_str(&text),
            Err(why) => left_out.push(format!("{name}: {why}")),
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../inkle-value/src/builtins");
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for (group, text) in &groups {
        let head =
            format!("//! Made from the registry by the test `builtins` of the crate `inkle`: {group}.\n\n");
        files.insert(format!("{group}.rs"), head + "use super::*;\n" + text);
    }
    let mods: String = groups.keys().map(|group| format!("mod {group};\n")).collect();
    let uses: String = groups.keys().map(|group| format!("pub use {group}::*;\n")).collect();
    let mut wrong = Vec::new();
    let mut listing =
        String::from("//! Made from the registry by the test `builtins` of the crate `inkle`.\n\n");
    listing += "#![expect(unused_imports, reason = \"the files below need them\")]\n\n";
    listing += &format!("{mods}\n{uses}\n");
    listing += "use super::{Builtin, Overload, builtin};\nuse crate::matrix::Matrix;\n";
    listing +=
        "use crate::quaternion::{Quaternion, Transform};\nuse crate::scalar::{Float, Int, Number, Scalar};\n";
    listing += "use crate::vector::Vector;\n";
    files.insert("mod.rs".into(), listing);
    for (file, text) in &files {
        let path = folder.join("generated").join(file);
        if std::env::var_os("INKLE_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
        }
        // What rustfmt does to spaces is not compared.
        let squeezed =
            |text: &str| text.split_whitespace().collect::<String>().replace(",}", "}").replace(",)", ")");
        if std::fs::read_to_string(&path).map_or(true, |found| squeezed(&found) != squeezed(text)) {
            wrong.push(file.clone());
        }
    }
    assert!(
        wrong.is_empty(),
        "these files are not as the registry has it: {wrong:?}; run with INKLE_BLESS=1"
    );
    assert!(left_out.is_empty(), "Rust has no form of these; write them by hand: {left_out:#?}");
}

fn file_name(group: &str) -> String {
    group.to_lowercase().split_whitespace().collect::<Vec<_>>().join("_")
}

/// The functions of a built-in: one per number of parameters.
fn functions(name: &str) -> Result<String, String> {
    let all = builtin_forms(name);
    let doc = all[0].doc.clone();
    let mut by_count: BTreeMap<usize, Vec<Form>> = BTreeMap::new();
    for builtin in &all {
        let (params, result) = split_signature(&builtin.signature)?;
        // A parameter with a default makes another function of more parameters.
        let required = params.iter().filter(|(_, _, default)| !default).count();
        for count in required..=params.len() {
            let params: Vec<_> = params[..count].iter().map(|(n, t, _)| (n.clone(), t.clone())).collect();
            // What is written for these alone is covered by the form for all floats.
            let is_special = |text: &String| text.contains("float16");
            if params.iter().any(|(_, ty)| is_special(ty)) {
                continue;
            }
            let form = form(&params, &result)?;
            let forms = by_count.entry(count).or_default();
            let same = |other: &Form| {
                let types = |f: &Form| f.params.iter().map(|(_, t, _)| t.clone()).collect::<Vec<_>>();
                types(other) == types(&form)
            };
            if !forms.iter().any(same) {
                forms.push(form);
            }
        }
    }
    if by_count.is_empty() {
        return Err("all of its forms are for some floats only".into());
    }
    let mut text = String::new();
    let mut before: Option<Vec<String>> = None;
    for forms in by_count.into_values() {
        let names: Vec<String> = forms[0].params.iter().map(|(n, _, _)| n.clone()).collect();
        let own = match &before {
            None => {
                before = Some(names.clone());
                name.to_owned()
            }
            Some(first) => {
                let more: Vec<&str> =
                    names.iter().filter(|n| !first.contains(n)).map(String::as_str).collect();
                format!("{name}_{}", more.join("_"))
            }
        };
        let by_reference: Vec<bool> = forms[0].params.iter().map(|(_, _, r)| *r).collect();
        if forms.iter().any(|f| f.params.iter().map(|(_, _, r)| *r).ne(by_reference.iter().copied())) {
            return Err("its forms differ in what they change".into());
        }
        writeln!(text, "\nbuiltin! {{").unwrap();
        for line in doc.trim().lines() {
            writeln!(text, "    /// {}", line.replace('[', "\\[").replace(']', "\\]")).unwrap();
        }
        let vars = names.iter().zip(&by_reference).zip('A'..).map(|((n, r), v)| {
            let by = if *r { "&mut " } else { "" };
            format!("{}: {by}{v}_", escaped(n))
        });
        writeln!(text, "    {} = {name:?} ({});", escaped(&own), vars.collect::<Vec<_>>().join(", "))
            .unwrap();
        for form in &forms {
            let types: Vec<&str> = form.params.iter().map(|(_, t, _)| t.as_str()).collect();
            let (generics, result) = (form.generics.join(", "), &form.result);
            writeln!(text, "    [{generics}] ({}) -> {result};", types.join(", ")).unwrap();
        }
        writeln!(text, "}}").unwrap();
    }
    Ok(text)
}

fn escaped(name: &str) -> String {
    match name {
        "box" | "where" | "in" | "type" | "loop" | "ref" | "move" => format!("r#{name}"),
        _ => name.to_owned(),
    }
}

type Params = Vec<(String, String, bool)>;

/// `(a: T, b: U = 1) -> V` taken apart; for each parameter whether it has a default.
fn split_signature(text: &str) -> Result<(Params, String), String> {
    let inner = text.strip_prefix('(').ok_or("it has no signature")?;
    let mut depth = 1;
    let end = inner.find(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    });
    let (params, rest) = inner.split_at(end.ok_or("its signature has no end")?);
    let result = rest.trim_start_matches(')').trim().trim_start_matches("->").trim().to_owned();
    let mut list = Vec::new();
    for param in split_top(params) {
        let (name, ty) = param.split_once(':').ok_or("a parameter has no type")?;
        let (ty, default) = ty.split_once('=').map_or((ty, false), |(ty, _)| (ty, true));
        list.push((name.trim().to_lowercase(), ty.trim().to_owned(), default));
    }
    Ok((list, result))
}

fn split_top(text: &str) -> Vec<String> {
    let (mut depth, mut parts, mut part) = (0, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part);
    parts.retain(|p| !p.trim().is_empty());
    parts
}

fn form(params: &[(String, String)], result: &str) -> Result<Form, String> {
    let mut used = BTreeSet::new();
    let mut out = Vec::new();
    for (name, ty) in params {
        let (ty, by_reference) = match ty.strip_prefix("ref[").and_then(|t| t.strip_suffix(']')) {
            Some(inner) => (inner, true),
            None => (ty.as_str(), false),
        };
        out.push((name.clone(), rust_type(ty, &mut used)?, by_reference));
    }
    let mut in_result = BTreeSet::new();
    let result = match result {
        "" => "()".to_owned(),
        result => rust_type(result, &mut in_result)?,
    };
    if let Some(open) = in_result.iter().find(|v| !used.contains(*v)) {
        return Err(format!("its result has `{open}`, which its arguments do not tell"));
    }
    let mut sizes: Vec<String> = Vec::new();
    let mut types: Vec<String> = Vec::new();
    for variable in used {
        let bound = match variable.as_str() {
            "S" => "Number",
            "B" => "Int",
            "R" => "Number",
            "I" => "Int",
            "F" => "Float",
            _ => {
                sizes.push(format!("const {variable}: usize"));
                continue;
            }
        };
        types.push(format!("{variable}: {bound}"));
    }
    types.extend(sizes);
    Ok(Form { generics: types, params: out, result })
}

fn rust_type(text: &str, used: &mut BTreeSet<String>) -> Result<String, String> {
    let text = text.trim();
    let (head, args) = match text.split_once('[') {
        Some((head, args)) => (head, split_top(args.strip_suffix(']').ok_or("a bracket is open")?)),
        None => (text, Vec::new()),
    };
    let args = args.iter().map(|arg| rust_type(arg, used)).collect::<Result<Vec<_>, _>>()?;
    let joined = args.join(", ");
    Ok(match head {
        "bool" | "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "f32" | "f64" => {
            head.to_owned()
        }
        "int8" | "int16" | "int32" | "int64" => head.replace("int", "i"),
        "uint8" | "uint16" | "uint32" | "uint64" => head.replace("uint", "u"),
        "float32" | "float64" => head.replace("float", "f"),
        "int" => "i32".into(),
        "float" => "f32".into(),
        "vec" => format!("Vector<{joined}>"),
        "mat" => format!("Matrix<{joined}>"),
        "quat" => format!("Quaternion<{joined}>"),
        "transform" => format!("Transform<{joined}>"),
        "tuple" => format!("({joined})"),
        "S" | "R" | "I" | "F" | "B" | "N" | "M" | "K" | "D" => {
            used.insert(head.to_owned());
            head.to_owned()
        }
        _ if head.parse::<usize>().is_ok() => head.to_owned(),
        other => return Err(format!("Rust has no form of `{other}`")),
    })
}
