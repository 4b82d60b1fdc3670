//! Functions written in the kernel language: their signatures, read from their annotations, and calls of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{FunctionKind, Scalar, Type};

use super::call::{Args, alternatives};
use super::codes;
use super::function::{Arg, FunctionCx, Instance, Origin};
use super::val::{R, Val};
use crate::env::{ConstValue, LibraryFunction};
use crate::pattern::{Bindings, Pattern};
use crate::tree::{Expr, ExprKind, FunctionDef};

/// The signature of one overload.
pub(super) struct LibrarySignature {
    /// The pattern of each parameter, `None` when the annotation is none; and whether it is passed by reference.
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

    /// Whether some parameter is passed by reference.
    pub(super) fn changes_arguments(&self) -> bool {
        self.params.iter().any(|(_, by_reference)| *by_reference)
    }
}

/// `a, b` of `head[a, b]`.
fn parameters_of<'a>(expr: &'a Expr, head: &str) -> Option<&'a [Expr]> {
    match &*expr.kind {
        ExprKind::Subscript { value, indices } if value.path().as_deref() == Some(&[head]) => Some(indices),
        _ => None,
    }
}

impl FunctionCx<'_, '_> {
    pub(super) fn library_forms(&self, name: &str) -> Vec<String> {
        self.checker
            .env
            .library(name)
            .iter()
            .map(|f| {
                let signature = LibrarySignature::of(f);
                let params = f.def.params.iter().zip(&signature.params).map(|(p, (pattern, _))| {
                    let pattern = pattern.as_ref().map_or_else(|| "any".into(), Pattern::to_string);
                    format!("{}: {pattern}", p.name)
                });
                format!("{name}({})", params.collect::<Vec<_>>().join(", "))
            })
            .collect()
    }

    /// A call of a library function by name; `None` when no overload takes the arguments.
    pub(super) fn call_library(&mut self, name: &str, args: &[(Val, Span)], span: Span) -> R<Option<Val>> {
        let mut args = Args { positional: args.to_vec(), ..Args::default() };
        Ok(self.try_library(name, &mut args, span)?.flatten())
    }

    pub(super) fn call_library_args(
        &mut self,
        name: &str,
        args: &mut Args,
        span: Span,
        func_span: Span,
    ) -> R<Option<Val>> {
        if let Some(found) = self.try_library(name, args, span)? {
            return Ok(found);
        }
        let forms = self.library_forms(name);
        if forms.is_empty() {
            return Err(self.report(
                Diagnostic::new(
                    codes::UNDEFINED_NAME,
                    func_span,
                    format!("the built-in `{name}` is not available in kernels yet"),
                )
                .help("write a `@wp.func` that does it"),
            ));
        }
        let given = self.describe_args(args);
        Err(self.report(
            Diagnostic::new(codes::NO_OVERLOAD, span, format!("`{name}` does not take ({given})"))
                .help(format!("it can be called as {}", alternatives(&forms))),
        ))
    }

    /// Calls the first library overload that takes the arguments: `None` when none does, `Some(None)` when it has no
    /// value.
    pub(super) fn try_library(&mut self, name: &str, args: &mut Args, span: Span) -> R<Option<Option<Val>>> {
        let overloads = self.checker.env.library(name);
        // Where overloads name a parameter differently, the first one's name means the same place in all.
        let aliases = overloads.first().map(|first| first.def.clone()).filter(|_| !args.keywords.is_empty());
        for overload in &overloads {
            let signature = LibrarySignature::of(overload);
            let mut matched = self.match_library(overload, &overload.def, &signature, args, span);
            if let (None, Some(first)) = (&matched, &aliases)
                && first.params.len() == overload.def.params.len()
            {
                matched = self.match_library(overload, first, &signature, args, span);
            }
            if let Some((bound, bindings)) = matched {
                let matched = Matched { overload, signature: &signature, bound, bindings };
                return self.call_overload(name, matched, args, span).map(Some);
            }
        }
        Ok(None)
    }

    fn match_library(
        &mut self,
        overload: &LibraryFunction,
        named_by: &FunctionDef,
        signature: &LibrarySignature,
        args: &Args,
        span: Span,
    ) -> Option<(Vec<(Val, Span)>, Bindings)> {
        let params = &overload.def.params;
        let names: Vec<&str> = named_by.params.iter().map(|p| p.name.as_str()).collect();
        let default = |place: usize| match &*params[place].default.as_ref()?.kind {
            ExprKind::Int(i) => Some(Val::int(*i)),
            ExprKind::Float(f) => Some(Val::Const(ConstValue::Float(*f))),
            ExprKind::Bool(b) => Some(Val::bool(*b)),
            _ => None,
        };
        let bound = args.bind(&names, default, span).ok()?;
        let mut bindings = Bindings::default();
        for (((val, at), param), (pattern, _)) in bound.iter().zip(params).zip(&signature.params) {
            let pattern = pattern.as_ref()?;
            let from_default = *at == span && param.default.is_some();
            // A default is a literal that takes the parameter's type.
            if from_default && pattern.instantiate(&bindings).is_some() {
                continue;
            }
            if !pattern.matches(self.type_of(val)?, &mut bindings) {
                return None;
            }
        }
        Some((bound, bindings))
    }

    /// Calls an overload. What is passed by reference is a variable in the function too: its last value is a further
    /// result.
    fn call_overload(
        &mut self,
        name: &str,
        matched: Matched<'_>,
        args: &mut Args,
        span: Span,
    ) -> R<Option<Val>> {
        let Matched { overload, signature, bound, bindings } = matched;
        let (mut values, mut instance_args, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        for (((val, at), (pattern, by_reference)), param) in
            bound.iter().zip(&signature.params).zip(&overload.def.params)
        {
            let ty = pattern.as_ref().and_then(|p| p.instantiate(&bindings));
            let value = match ty.and_then(|ty| self.coerce(val, ty, *at)) {
                Some(value) => value,
                None => self.value_of(val, *at)?,
            };
            let ty = self.function.ty(value);
            values.push(value);
            if *by_reference {
                // Of a state of random numbers only a variable advances; all else is passed by value.
                let is_state = ty == Type::Scalar(Scalar::U32) && !self.follows_rust();
                let passed = args.take_passed(*at).filter(|passed| !is_state || passed.is_variable);
                match passed {
                    Some(passed) => changed.push(Some((passed.place, *at))),
                    None if is_state => changed.push(None),
                    None => return Err(self.not_a_variable(name, &param.name, *at)),
                }
                instance_args.push(Arg::Variable(ty));
            } else {
                instance_args.push(Arg::Value(ty));
            }
        }
        let instance = Instance {
            origin: Origin::Library(overload.key),
            def: overload.def.clone(),
            name: name.to_owned(),
            kind: FunctionKind::Func,
            native: None,
            args: instance_args,
            bindings,
            returns: signature.results.clone(),
        };
        self.call_changing(instance, &values, changed, span)
    }
}

/// An overload with the arguments it takes.
struct Matched<'a> {
    overload: &'a LibraryFunction,
    signature: &'a LibrarySignature,
    bound: Vec<(Val, Span)>,
    bindings: Bindings,
}
