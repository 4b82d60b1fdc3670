//! Signatures of functions written in the kernel language, read from their annotations.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::env::LibraryFunction;
use crate::pattern::Pattern;
use crate::tree::{Expr, ExprKind};

/// The signature of one overload.
pub(super) struct LibrarySignature {
    /// The pattern of each parameter; `None` when the annotation is none.
    pub params: Vec<(Option<Pattern>, bool)>,
    /// The declared results; empty when there are none.
    pub results: Option<Vec<Pattern>>,
}

impl LibrarySignature {
    /// The signature of an overload, read once per thread.
    pub(super) fn of(function: &LibraryFunction) -> Rc<LibrarySignature> {
        thread_local! {
            static CACHE: RefCell<HashMap<u64, Rc<LibrarySignature>>> = RefCell::default();
        }
        CACHE.with_borrow_mut(|cache| {
            cache.entry(function.key).or_insert_with(|| Rc::new(LibrarySignature::read(function))).clone()
        })
    }

    fn read(function: &LibraryFunction) -> LibrarySignature {
        let params = function.def.params.iter().map(|param| {
            match param.annotation.as_ref().and_then(Pattern::of_param) {
                Some((pattern, by_reference)) => (Some(pattern), by_reference),
                None => (None, false),
            }
        });
        let results = match &function.def.returns {
            None => Some(Vec::new()),
            Some(returns) => match parameters_of(returns, "tuple") {
                Some(items) => items.iter().map(Pattern::from_annotation).collect(),
                None => Pattern::from_annotation(returns).map(|p| vec![p]),
            },
        };
        LibrarySignature { params: params.collect(), results }
    }

    /// The parameters passed by reference.
    pub(super) fn by_reference(&self) -> Vec<usize> {
        self.params.iter().enumerate().filter(|(_, (_, by_ref))| *by_ref).map(|(index, _)| index).collect()
    }
}

/// `a, b` of `head[a, b]`.
fn parameters_of<'a>(expr: &'a Expr, head: &str) -> Option<&'a [Expr]> {
    match &*expr.kind {
        ExprKind::Subscript { value, indices } if value.path().as_deref() == Some(&[head]) => Some(indices),
        _ => None,
    }
}
