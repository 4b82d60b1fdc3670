//! Signatures of registry entries, read from their notation: `arr: array[T, 1], i: I, value: T -> T`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use inkle_diag::Span;

use crate::builtins::Builtin;
use crate::pattern::Pattern;
use crate::tree::{Expr, ExprKind};

/// One signature of a built-in.
#[derive(Clone, PartialEq, Debug)]
pub struct Signature {
    /// Names and patterns of the parameters.
    pub params: Vec<(String, Pattern)>,
    /// The pattern of the result; `None` when there is none.
    pub result: Option<Pattern>,
}

impl Signature {
    /// Reads the notation.
    ///
    /// # Panics
    /// When the notation is malformed; every entry of the registry is read by a test.
    pub fn parse(text: &str) -> Signature {
        let (params, result) = match text.split_once("->") {
            Some((params, result)) => (params, Some(result)),
            None => (text, None),
        };
        let pattern = |text: &str| {
            let mut rest = text.trim();
            let expr = parse_type(&mut rest);
            Pattern::from_annotation(&expr).unwrap_or_else(|| panic!("`{text}` is not a pattern"))
        };
        let params = split_top(params)
            .into_iter()
            .map(|part| {
                let (name, ty) = part.split_once(':').unwrap_or_else(|| panic!("`{part}` has no type"));
                (name.trim().to_owned(), pattern(ty))
            })
            .collect();
        Signature { params, result: result.map(pattern) }
    }

    /// The signatures of a registry entry, read once per thread.
    pub fn of(builtin: &Builtin) -> Rc<Vec<Signature>> {
        thread_local! {
            static CACHE: RefCell<HashMap<&'static str, Rc<Vec<Signature>>>> = RefCell::default();
        }
        CACHE.with_borrow_mut(|cache| {
            cache
                .entry(builtin.name)
                .or_insert_with(|| {
                    Rc::new(builtin.signatures.iter().map(|text| Signature::parse(text)).collect())
                })
                .clone()
        })
    }
}

/// Splits at commas outside brackets.
fn split_top(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (i, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// `name` or `name[part, part]`, where a part is a type or a number.
fn parse_type(rest: &mut &str) -> Expr {
    *rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (word, tail) = rest.split_at(end);
    *rest = tail;
    let kind = match word.parse::<i128>() {
        Ok(number) => ExprKind::Int(number),
        Err(_) => ExprKind::Name(word.to_owned()),
    };
    let head = Expr::new(kind, Span::NONE);
    let Some(inner) = rest.strip_prefix('[') else { return head };
    *rest = inner;
    let mut indices = Vec::new();
    loop {
        indices.push(parse_type(rest));
        *rest = rest.trim_start();
        if let Some(more) = rest.strip_prefix(',') {
            *rest = more;
        } else {
            *rest = rest.strip_prefix(']').expect("a closing bracket");
            return Expr::new(ExprKind::Subscript { value: head, indices }, Span::NONE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_the_registry_can_be_read() {
        for builtin in crate::builtins::BUILTINS {
            for signature in Signature::of(builtin).iter() {
                assert!(signature.params.iter().all(|(name, _)| !name.is_empty()), "{}", builtin.name);
            }
        }
    }

    #[test]
    fn names_are_unique_and_sorted_within_groups() {
        let mut names: Vec<&str> = crate::builtins::BUILTINS.iter().map(|b| b.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
