//! Functions written in the kernel language: their signatures, read from their annotations, and calls of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{FunctionKind, Type};

use super::call::{Args, alternatives, as_result};
use super::codes;
use super::function::{Arg, FunctionCx, Instance, Origin};
use super::place::Place;
use super::val::{R, Val};
use crate::env::{ConstValue, LibraryFunction};
use crate::pattern::{Bindings, Pattern};
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
        let args = Args { positional: args.to_vec(), keywords: Vec::new() };
        Ok(self.try_library(name, &args, &[], span)?.flatten())
    }

    pub(super) fn call_library_args(
        &mut self,
        name: &str,
        args: &Args,
        exprs: &[&Expr],
        span: Span,
        func_span: Span,
    ) -> R<Option<Val>> {
        if let Some(found) = self.try_library(name, args, exprs, span)? {
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
    /// value. `exprs` are the arguments as written, for those passed by reference.
    pub(super) fn try_library(
        &mut self,
        name: &str,
        args: &Args,
        exprs: &[&Expr],
        span: Span,
    ) -> R<Option<Option<Val>>> {
        let overloads = self.checker.env.library(name);
        for overload in &overloads {
            let signature = LibrarySignature::of(overload);
            if let Some((bound, bindings)) = self.match_library(overload, &signature, args, span) {
                return self
                    .call_overload(name, overload, &signature, bound, bindings, exprs, span)
                    .map(Some);
            }
        }
        Ok(None)
    }

    fn match_library(
        &mut self,
        overload: &LibraryFunction,
        signature: &LibrarySignature,
        args: &Args,
        span: Span,
    ) -> Option<(Vec<(Val, Span)>, Bindings)> {
        let params = &overload.def.params;
        let names: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
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

    #[expect(clippy::too_many_arguments, reason = "an overload, what it was matched with, and the call")]
    fn call_overload(
        &mut self,
        name: &str,
        overload: &LibraryFunction,
        signature: &LibrarySignature,
        bound: Vec<(Val, Span)>,
        bindings: Bindings,
        exprs: &[&Expr],
        span: Span,
    ) -> R<Option<Val>> {
        let by_reference = signature.by_reference();
        let mut places = Vec::new();
        for index in &by_reference {
            let at = bound[*index].1;
            let place = match exprs.iter().find(|e| e.span == at) {
                Some(expr) => self.place(expr)?,
                None => Place::Value(bound[*index].0.clone()),
            };
            if let Place::Value(_) = place {
                let (text, param) = (self.text_of(at), &overload.def.params[*index].name);
                return Err(self.report(
                    Diagnostic::new(
                        codes::NOT_A_VALUE,
                        at,
                        format!("`{name}` changes its argument `{param}`, but `{text}` cannot be assigned"),
                    )
                    .help("pass a variable"),
                ));
            }
            places.push((place, at));
        }
        let mut values = Vec::new();
        for ((val, at), (pattern, _)) in bound.iter().zip(&signature.params) {
            let ty = pattern.as_ref().and_then(|p| p.instantiate(&bindings));
            let value = match ty.and_then(|ty| self.coerce(val, ty, *at)) {
                Some(value) => value,
                None => self.value_of(val, *at)?,
            };
            values.push(value);
        }
        let types: Vec<Type> = values.iter().map(|v| self.function.ty(*v)).collect();
        let instance = Instance {
            origin: Origin::Library(overload.key),
            def: overload.def.clone(),
            name: name.to_owned(),
            kind: FunctionKind::Func,
            args: types.into_iter().map(Arg::Value).collect(),
            bindings,
            returns: signature.results.clone(),
        };
        let results = self.emit_call(instance, &values, span)?;
        let (results, changed) = results.split_at(results.len() - places.len());
        for ((place, at), value) in places.iter().zip(changed) {
            self.set(place, &Val::Ir(*value), *at, *at)?;
        }
        Ok(as_result(results))
    }
}
