//! The prelude as the checker sees it, and all built-ins as their documentation shows them.

use inkle_frontend::builtins;
use inkle_frontend::env::LibraryFunction;
use inkle_prelude::PreludeFn;

/// The overloads of a built-in written in the kernel language, in order; empty when there is none.
///
/// What an [`Environment`](inkle_frontend::env::Environment) answers to `library`.
pub fn library_function(name: &str) -> Vec<LibraryFunction> {
    inkle_prelude::lookup(name)
        .iter()
        .map(|function| {
            let def = function.def();
            // The tree is decoded once and kept, so its address names the function.
            LibraryFunction { key: std::sync::Arc::as_ptr(def) as usize as u64, def: def.clone() }
        })
        .collect()
}

/// The names that users can call.
pub fn library_names() -> Vec<String> {
    inkle_prelude::names().map(str::to_owned).collect()
}

/// One form of a built-in, for documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuiltinForm {
    /// The group of the documentation it stands in.
    pub group: String,
    /// Parameters and result, `(a: R, b: R) -> R`; empty for built-ins that no pattern describes.
    pub signature: String,
    /// What it does, for users.
    pub doc: String,
}

/// The forms of a built-in: those of operations first, then those written in the kernel language; empty when
/// users can call nothing of this name.
pub fn builtin_forms(name: &str) -> Vec<BuiltinForm> {
    let mut forms = Vec::new();
    if let Some(builtin) = builtins::lookup(name) {
        let form = |signature| BuiltinForm {
            group: builtin.group.to_owned(),
            signature,
            doc: builtin.doc.to_owned(),
        };
        forms.extend(builtin.signatures.iter().map(|text| {
            let (params, result) = text.split_once("->").unwrap_or((text, ""));
            form(signature_text(params.trim(), result.trim()))
        }));
        if forms.is_empty() {
            forms.push(form(String::new()));
        }
    }
    forms.extend(inkle_prelude::lookup(name).iter().filter(|f| !f.is_internal()).map(|function| {
        BuiltinForm {
            group: function.group().to_owned(),
            signature: library_signature(function),
            doc: function.doc().to_owned(),
        }
    }));
    forms
}

fn signature_text(params: &str, result: &str) -> String {
    if result.is_empty() { format!("({params})") } else { format!("({params}) -> {result}") }
}

/// The signature as the library's source spells it, on one line.
fn library_signature(function: &'static PreludeFn) -> String {
    let text = function.source().text();
    let slice = |span: inkle_diag::Span| &text[span.start as usize..span.end as usize];
    let def = function.def();
    let params: Vec<String> = def
        .params
        .iter()
        .map(|param| {
            let default = param.default.as_ref().map_or(String::new(), |d| format!(" = {}", slice(d.span)));
            let annotation =
                param.annotation.as_ref().map_or(String::new(), |a| format!(": {}", slice(a.span)));
            format!("{}{annotation}{default}", param.name)
        })
        .collect();
    signature_text(&params.join(", "), def.returns.as_ref().map_or("", |r| slice(r.span)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_operations_come_before_those_of_the_library() {
        let signatures: Vec<String> = builtin_forms("isnan").into_iter().map(|f| f.signature).collect();
        assert_eq!(signatures[..2], ["(x: F) -> bool", "(a: vec[N, F]) -> bool"]);
    }

    #[test]
    fn defaults_and_results_are_shown_and_internal_functions_are_not() {
        let forms = builtin_forms("norm_huber");
        assert_eq!(forms[0].signature, "(v: vec[N, F], delta: F = 1.0) -> F");
        assert_eq!(forms[0].group, "Vector Math");
        assert!(builtin_forms("_near").is_empty() && builtin_forms("nothing").is_empty());
    }

    #[test]
    fn every_builtin_is_documented() {
        let names = builtins::BUILTINS.iter().map(|b| b.name.to_owned()).chain(library_names());
        for name in names {
            let forms = builtin_forms(&name);
            assert!(
                !forms.is_empty() && forms.iter().all(|f| !f.doc.is_empty() && !f.group.is_empty()),
                "{name}"
            );
        }
    }
}
