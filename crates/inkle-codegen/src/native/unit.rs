//! The C++ text of a kernel's native functions.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use inkle_ir::{ArrayKind, Function, Module, Scalar, StructType, Type};

/// Our headers, in the order in which they build on each other.
pub(super) const HEADERS: &[(&str, &str)] = &[
    ("core.h", include_str!("header/core.h")),
    ("math.h", include_str!("header/math.h")),
    ("vector.h", include_str!("header/vector.h")),
    ("device.h", include_str!("header/device.h")),
];

/// The symbol of the entry of the module's function `index`, and what clang calls the file of its text.
pub(crate) fn entry_name(index: usize) -> String {
    format!("inkle_native_{index}")
}

/// The translation unit.
pub(super) fn text(module: &Module) -> String {
    let mut out = String::with_capacity(48 << 10);
    for (name, header) in HEADERS {
        let _ = write!(out, "#line 1 \"inkle/{name}\"\n{header}");
    }
    let mut types = Types::default();
    let native = || module.functions.iter().enumerate().filter_map(|(i, f)| Some((i, f, f.native()?)));
    let _ = writeln!(out, "#line 1 \"inkle/types\"");
    for (_, function, _) in native() {
        for ty in function.params.iter().map(|p| p.ty).chain(function.results.iter().copied()) {
            types.declare(&mut out, ty);
        }
    }
    for (index, function, text) in native() {
        types.function(&mut out, index, function, text);
    }
    out
}

/// The function that clang's first complaint is about, and the log with its name in place of ours.
pub(super) fn blame<'m>(module: &'m Module, log: &str) -> (Option<&'m Function>, String) {
    let mut log = log.to_owned();
    let mut first: Option<(usize, &Function)> = None;
    // From the last on: one name may be the start of another.
    for (index, function) in module.functions.iter().enumerate().rev().filter(|(_, f)| f.native().is_some()) {
        let name = format!("{}:", entry_name(index));
        if let Some(at) = log.find(&name)
            && first.is_none_or(|(before, _)| at < before)
        {
            first = Some((at, function));
        }
    }
    for (index, function) in module.functions.iter().enumerate().rev().filter(|(_, f)| f.native().is_some()) {
        log = log.replace(&format!("{}:", entry_name(index)), &format!("{}:", function.name));
    }
    (first.map(|(_, function)| function), log)
}

/// What IR types are called in C++.
#[derive(Default)]
struct Types {
    structs: HashMap<*const StructType, String>,
    taken: HashSet<String>,
}

impl Types {
    /// Declares the structs that a type holds.
    fn declare(&mut self, out: &mut String, ty: Type) {
        match ty {
            Type::Array(array) => self.declare(out, array.elem),
            Type::Ref(target) => self.declare(out, *target),
            Type::Struct(s) if !self.structs.contains_key(&std::ptr::from_ref(s)) => {
                for field in &s.fields {
                    self.declare(out, field.ty);
                }
                let mut name = identifier(&s.name);
                while !self.taken.insert(name.clone()) {
                    name.push('_');
                }
                let _ = write!(out, "struct {name} {{");
                for field in &s.fields {
                    let _ = write!(out, " {} {};", self.name(field.ty), identifier(&field.name));
                }
                // An empty struct has a size in C++, and none for kernels.
                let size = s.layout().1;
                let _ = match size {
                    0 => writeln!(out, " }};"),
                    _ => writeln!(out, " }};\nstatic_assert(sizeof({name}) == {size});"),
                };
                self.structs.insert(std::ptr::from_ref(s), name);
            }
            _ => {}
        }
    }

    fn name(&self, ty: Type) -> String {
        match ty {
            Type::Scalar(s) => scalar(s).to_owned(),
            Type::Vec { len, elem } => format!("wp::vec_t<{len}, {}>", scalar(elem)),
            Type::Mat { rows, cols, elem } => format!("wp::mat_t<{rows}, {cols}, {}>", scalar(elem)),
            Type::Quat(elem) => format!("wp::quat_t<{}>", scalar(elem)),
            Type::Transform(elem) => format!("wp::transform_t<{}>", scalar(elem)),
            Type::Struct(s) => {
                self.structs.get(&std::ptr::from_ref(s)).cloned().unwrap_or_else(|| identifier(&s.name))
            }
            Type::Array(array) => match array.kind {
                ArrayKind::Strided => format!("wp::array_t<{}>", self.name(array.elem)),
                ArrayKind::Indexed => format!("wp::indexedarray_t<{}>", self.name(array.elem)),
                // The verifier keeps these from native functions.
                ArrayKind::Fabric | ArrayKind::IndexedFabric => "void*".to_owned(),
            },
            Type::Ref(target) => format!("{}&", self.name(*target)),
        }
    }

    /// The function with the user's text, and its entry.
    fn function(&self, out: &mut String, index: usize, function: &Function, text: &str) {
        let entry = entry_name(index);
        let result = function.results.first().map(|&ty| self.name(ty));
        let params: Vec<String> =
            function.params.iter().map(|p| format!("{} {}", self.name(p.ty), p.name)).collect();
        let _ = writeln!(
            out,
            "static INKLE_FN {} inkle_body_{index}({}) {{",
            result.as_deref().unwrap_or("void"),
            params.join(", ")
        );
        let _ = writeln!(out, "#line 1 \"{entry}\"\n{}\n#line 1 \"inkle/entry\"\n}}", text);
        // Each argument by its address, then that of the result.
        let mut slots: Vec<String> = Vec::new();
        for (i, param) in function.params.iter().enumerate() {
            let target = param.ty.as_ref_target().unwrap_or(param.ty);
            slots.push(format!("{}* inkle_arg_{i}", self.name(target)));
        }
        let args: Vec<String> = (0..function.params.len()).map(|i| format!("*inkle_arg_{i}")).collect();
        let call = format!("inkle_body_{index}({})", args.join(", "));
        let body = match &result {
            Some(result) => {
                slots.push(format!("{result}* inkle_result"));
                format!("*inkle_result = {call};")
            }
            None => format!("{call};"),
        };
        let _ = writeln!(
            out,
            "INKLE_C INKLE_DEVICE __attribute__((always_inline)) void {entry}({}) {{ {body} }}",
            slots.join(", ")
        );
    }
}

fn scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::I8 => "wp::int8",
        Scalar::U8 => "wp::uint8",
        Scalar::I16 => "wp::int16",
        Scalar::U16 => "wp::uint16",
        Scalar::I32 => "wp::int32",
        Scalar::U32 => "wp::uint32",
        Scalar::I64 => "wp::int64",
        Scalar::U64 => "wp::uint64",
        Scalar::F16 => "wp::float16",
        Scalar::BF16 => "wp::bfloat16",
        Scalar::F32 => "wp::float32",
        Scalar::F64 => "wp::float64",
    }
}

/// A name as C++ can have it.
fn identifier(name: &str) -> String {
    let clean = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well { clean.collect() } else { "_".chars().chain(clean).collect() }
}
