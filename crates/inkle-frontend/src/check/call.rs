//! Calls: evaluating and binding arguments, and built-ins that are operations.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{CmpOp, Constant, FunctionId, OpKind, Type, UnaryOp, Value};

use super::codes;
use super::function::{FunctionCx, Instance};
use super::place::Place;
use super::val::{R, Reported, Val};
use crate::builtins::{Builtin, Lower};
use crate::pattern::Bindings;
use crate::signature::Signature;
use crate::tree::{Expr, ExprKind};

/// Evaluated arguments of a call.
#[derive(Default)]
pub(super) struct Args {
    pub positional: Vec<(Val, Span)>,
    pub keywords: Vec<(String, Val, Span)>,
    /// Where arguments are, when the callee may change them.
    pub passed: Vec<Passed>,
}

/// Where an argument is.
pub(super) struct Passed {
    at: Span,
    pub place: Place,
    /// Whether it is a variable, not a part of one or an element.
    pub is_variable: bool,
}

impl Args {
    /// The arguments in the order of `names`; `default` fills the rest. An error is a sentence.
    pub(super) fn bind(
        &self,
        names: &[&str],
        default: impl Fn(usize) -> Option<Val>,
        span: Span,
    ) -> Result<Vec<(Val, Span)>, String> {
        if self.positional.len() > names.len() {
            return Err(format!(
                "takes {} arguments but {} were given",
                names.len(),
                self.positional.len() + self.keywords.len()
            ));
        }
        let mut bound: Vec<Option<(Val, Span)>> = self.positional.iter().cloned().map(Some).collect();
        bound.resize(names.len(), None);
        for (name, val, at) in &self.keywords {
            let Some(place) = names.iter().position(|n| n == name) else {
                return Err(format!("has no parameter `{name}`"));
            };
            if bound[place].is_some() {
                return Err(format!("got two values for `{name}`"));
            }
            bound[place] = Some((val.clone(), *at));
        }
        let mut out = Vec::new();
        for (place, slot) in bound.into_iter().enumerate() {
            match slot.or_else(|| default(place).map(|val| (val, span))) {
                Some(arg) => out.push(arg),
                None => return Err(format!("misses the argument `{}`", names[place])),
            }
        }
        Ok(out)
    }

    /// Where the argument at a span is; `None` when it is a value only.
    pub(super) fn take_passed(&mut self, at: Span) -> Option<Passed> {
        let index = self.passed.iter().position(|passed| passed.at == at)?;
        Some(self.passed.swap_remove(index))
    }

    /// A keyword argument, if it was given.
    pub(super) fn keyword(&self, name: &str) -> Option<&Val> {
        self.keywords.iter().find(|(n, _, _)| n == name).map(|(_, val, _)| val)
    }
}

impl FunctionCx<'_, '_> {
    /// A call whose value is used.
    pub(super) fn call(
        &mut self,
        expr: &Expr,
        func: &Expr,
        args: &[Expr],
        keywords: &[(Option<String>, Expr)],
    ) -> R<Val> {
        match self.call_for_effect(expr, func, args, keywords)? {
            Some(val) => Ok(val),
            None => {
                let text = self.text_of(func.span);
                Err(self.report(
                    Diagnostic::new(
                        codes::NOT_A_VALUE,
                        expr.span,
                        format!("`{text}` does not return a value"),
                    )
                    .help("call it on a line of its own, or add a `return` with a value to it"),
                ))
            }
        }
    }

    /// A call; `None` when it has no value.
    pub(super) fn call_for_effect(
        &mut self,
        expr: &Expr,
        func: &Expr,
        args: &[Expr],
        keywords: &[(Option<String>, Expr)],
    ) -> R<Option<Val>> {
        let callee = self.expr(func)?;
        match callee {
            Val::Builtin(name) => self.call_builtin(&name, expr, func, args, keywords),
            Val::Type(ty) => {
                let args = self.evaluate(args, keywords)?;
                self.construct(ty, &args, expr.span).map(Some)
            }
            Val::Function(key) => {
                let changes = self.checker.function_changes_arguments(key);
                let args = self.evaluate_for(args, keywords, changes)?;
                self.call_user(key, args, expr.span)
            }
            Val::Gradient(of) => {
                let args = self.evaluate(args, keywords)?;
                self.call_gradient(&of, &args, expr.span)
            }
            other => {
                let (text, what) = (self.text_of(func.span), self.describe(&other));
                Err(self.report(
                    Diagnostic::new(
                        codes::NOT_CALLABLE,
                        func.span,
                        format!("`{text}` is {what} and cannot be called in a kernel"),
                    )
                    .help("call built-ins, types or functions decorated with `@wp.func`"),
                ))
            }
        }
    }

    pub(super) fn evaluate(&mut self, args: &[Expr], keywords: &[(Option<String>, Expr)]) -> R<Args> {
        self.evaluate_for(args, keywords, false)
    }

    /// Evaluates arguments; `keep_places` when the callee may change some of them.
    fn evaluate_for(
        &mut self,
        args: &[Expr],
        keywords: &[(Option<String>, Expr)],
        keep_places: bool,
    ) -> R<Args> {
        let mut out = Args::default();
        let mut failed = false;
        for arg in args {
            let (inner, spread) = match &*arg.kind {
                ExprKind::Starred(inner) => (inner, true),
                _ => (arg, false),
            };
            if spread && let Some(items) = self.array_run(inner)? {
                out.positional.extend(items.into_iter().map(|item| (item, inner.span)));
                continue;
            }
            match self.argument(inner, keep_places && !spread, &mut out.passed) {
                Ok(val) if spread => match self.items_of(&val) {
                    Some(items) => out.positional.extend(items.into_iter().map(|item| (item, inner.span))),
                    None => {
                        let what = self.describe(&val);
                        self.report(
                            Diagnostic::new(codes::UNPACK, inner.span, format!("cannot unpack {what}"))
                                .help("tuples, vectors, matrices, quaternions and shapes can be unpacked"),
                        );
                        failed = true;
                    }
                },
                Ok(val) => out.positional.push((val, arg.span)),
                // The other arguments may hold mistakes of their own.
                Err(Reported) => failed = true,
            }
        }
        for (name, value) in keywords {
            let Some(name) = name else {
                return Err(self.unsupported(value, "`**` in a call", "name the arguments one by one"));
            };
            match self.argument(value, keep_places, &mut out.passed) {
                Ok(val) => out.keywords.push((name.clone(), val, value.span)),
                Err(Reported) => failed = true,
            }
        }
        if failed { Err(Reported) } else { Ok(out) }
    }

    /// An argument's value, and its place when it has one and `keep` asks for it.
    fn argument(&mut self, expr: &Expr, keep: bool, passed: &mut Vec<Passed>) -> R<Val> {
        let may_have_place =
            matches!(*expr.kind, ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. });
        if !keep || !may_have_place || expr.span == Span::NONE {
            return self.expr(expr);
        }
        let place = self.place(expr)?;
        let outer = std::mem::replace(&mut self.span, expr.span);
        let val = self.get(&place);
        self.span = outer;
        if !matches!(place, Place::Value(_)) {
            let is_variable = matches!(*expr.kind, ExprKind::Name(_));
            passed.push(Passed { at: expr.span, place, is_variable });
        }
        val
    }

    fn call_builtin(
        &mut self,
        name: &str,
        expr: &Expr,
        func: &Expr,
        args: &[Expr],
        keywords: &[(Option<String>, Expr)],
    ) -> R<Option<Val>> {
        let Some(builtin) = crate::builtins::lookup(name) else {
            let changes = self.checker.library_changes_arguments(name);
            let mut args = self.evaluate_for(args, keywords, changes)?;
            return self.call_library_args(name, &mut args, expr.span, func.span);
        };
        if let Lower::Special(special) = builtin.lower {
            return self.special(special, builtin, expr, args, keywords);
        }
        let mut args = self.evaluate(args, keywords)?;
        self.call_operation(builtin, &mut args, expr.span)
    }

    /// A built-in that is one operation.
    fn call_operation(&mut self, builtin: &'static Builtin, args: &mut Args, span: Span) -> R<Option<Val>> {
        if let Lower::Atomic(op) = builtin.lower {
            return self.atomic_call(op, builtin, args, span).map(Some);
        }
        if let Some(bound) = self.match_signatures(builtin, args, span) {
            match (builtin.lower, bound.as_slice()) {
                (Lower::Unary(op), [(x, at)]) => {
                    let mut value = self.value_of(x, *at)?;
                    if matches!(op, UnaryOp::Acos | UnaryOp::Asin) {
                        value = self.within_one(value);
                    }
                    return Ok(Some(Val::Ir(self.builder().unary(op, value))));
                }
                (Lower::Binary(op), [(a, at), (b, bt)]) => {
                    let (x, y) = (self.value_of(a, *at)?, self.value_of(b, *bt)?);
                    return Ok(Some(Val::Ir(self.builder().binary(op, x, y))));
                }
                (Lower::Operator(op), [(a, at), (b, bt)]) => {
                    return self.binary(op, a, *at, b, *bt, span).map(Some);
                }
                _ => {}
            }
        }
        // Operators apply to more types than their scalar signatures list.
        if let (Lower::Operator(op), [(a, at), (b, bt)]) = (builtin.lower, args.positional.as_slice()) {
            return self.binary(op, a, *at, b, *bt, span).map(Some);
        }
        if let Some(found) = self.try_library(builtin.name, args, span)? {
            return Ok(found);
        }
        Err(self.no_overload(builtin, args, span))
    }

    /// The arguments in signature order, when one signature takes them.
    pub(super) fn match_signatures(
        &mut self,
        builtin: &Builtin,
        args: &Args,
        span: Span,
    ) -> Option<Vec<(Val, Span)>> {
        for signature in Signature::of(builtin).iter() {
            let names: Vec<&str> = signature.params.iter().map(|(name, _)| name.as_str()).collect();
            let Ok(bound) = args.bind(&names, |_| None, span) else { continue };
            let mut bindings = Bindings::default();
            let fits = bound.iter().zip(&signature.params).all(|((val, _), (_, pattern))| {
                self.type_of(val).is_some_and(|ty| pattern.matches(ty, &mut bindings))
            });
            if fits {
                return Some(bound);
            }
        }
        None
    }

    pub(super) fn describe_args(&self, args: &Args) -> String {
        let positional = args.positional.iter().map(|(val, _)| self.describe(val));
        let keywords = args.keywords.iter().map(|(name, val, _)| format!("{name}={}", self.describe(val)));
        positional.chain(keywords).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn no_overload(&mut self, builtin: &Builtin, args: &Args, span: Span) -> Reported {
        let mut forms: Vec<String> = Signature::of(builtin)
            .iter()
            .map(|s| {
                let params =
                    s.params.iter().map(|(name, pattern)| format!("{name}: {pattern}")).collect::<Vec<_>>();
                format!("{}({})", builtin.name, params.join(", "))
            })
            .collect();
        forms.extend(self.library_forms(builtin.name));
        let given = self.describe_args(args);
        let help = if forms.is_empty() {
            format!("it is described as: {}", builtin.doc)
        } else {
            format!("it can be called as {}", alternatives(&forms))
        };
        self.report(
            Diagnostic::new(codes::NO_OVERLOAD, span, format!("`{}` does not take ({given})", builtin.name))
                .help(help),
        )
    }

    /// A float limited to [-1, 1]; NaN stays NaN.
    fn within_one(&mut self, value: Value) -> Value {
        let scalar = self.function.ty(value).as_scalar().expect("a float");
        let mut value = value;
        for (end, beyond) in [(-1, CmpOp::Lt), (1, CmpOp::Gt)] {
            let end = self.builder().constant(Constant::Int(end), scalar);
            let outside = self.builder().cmp(beyond, value, end);
            value = self.builder().select(outside, end, value);
        }
        value
    }

    /// Calls an instance; gives the function and its results, then the last values of what was passed by reference.
    pub(super) fn emit_call(
        &mut self,
        instance: Instance,
        values: &[Value],
        span: Span,
    ) -> R<(FunctionId, Vec<Value>)> {
        let (function, results) = self.checker.instance(instance, span)?;
        let outer = std::mem::replace(&mut self.span, span);
        let op = self.builder().call(function, values, &results);
        self.span = outer;
        Ok((function, self.function.op(op).results.to_vec()))
    }

    /// An operation on an element of an array: `(arr, i, ..., rest)`; gives the element's address and the rest.
    pub(super) fn element_call(
        &mut self,
        builtin: &Builtin,
        args: &Args,
        trailing: usize,
        span: Span,
    ) -> R<Element> {
        let mut all = args.positional.clone();
        // Keywords follow in the order of the documented names.
        for name in ["arr", "i", "j", "k", "l", "compare", "value"] {
            if let Some((_, val, at)) = args.keywords.iter().find(|(n, _, _)| n == name) {
                all.push((val.clone(), *at));
            }
        }
        let array = match all.first() {
            Some((Val::Ir(value), _)) if matches!(self.function.ty(*value), Type::Array(_)) => *value,
            _ => return Err(self.no_overload(builtin, args, span)),
        };
        let ty = self.function.ty(array).as_array().expect("checked above");
        let ndim = ty.ndim as usize;
        if all.len() != 1 + ndim + trailing {
            return Err(self.report(
                Diagnostic::new(
                    codes::ARGUMENTS,
                    span,
                    format!("`{}` on an array of {ndim} dimensions takes {ndim} indices, {} arguments in all; {} were given", builtin.name, 1 + ndim + trailing, all.len()),
                ).help(format!("write `{}(array, {}, ...)`", builtin.name, ["i", "i, j", "i, j, k", "i, j, k, l"][ndim - 1])),
            ));
        }
        let mut indices = Vec::new();
        for (dim, (val, at)) in all[1..=ndim].to_vec().iter().enumerate() {
            indices.push(self.index_value(val, *at, |cx| cx.shape(array, dim as u32))?);
        }
        let reference = self.element(array, &indices, span)?;
        Ok((reference, ty.elem, all.split_off(1 + ndim)))
    }

    fn atomic_call(&mut self, op: inkle_ir::AtomicOp, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        use inkle_ir::AtomicOp;
        let (reference, elem, rest) = self.element_call(builtin, args, 1, span)?;
        let (val, at) = &rest[0];
        let scalar = elem.scalar();
        let allowed = match op {
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => {
                scalar.is_some_and(|s| s.is_int() && s.size() >= 4)
            }
            AtomicOp::Exch => scalar.is_some_and(|s| s.size() >= 4),
            _ => scalar.is_some_and(|s| s != inkle_ir::Scalar::Bool),
        };
        if !allowed {
            let what = elem.python_name();
            return Err(self.report(
                Diagnostic::new(
                    codes::NO_OVERLOAD,
                    span,
                    format!("`{}` is not available for elements of type {what}", builtin.name),
                )
                .help("bitwise atomics take integers of 32 or 64 bits, the others numbers"),
            ));
        }
        if self.type_of(val) != Some(elem) {
            return Err(self.wrong_store(
                val,
                elem,
                args.positional.first().map_or(span, |(_, at)| *at),
                *at,
            ));
        }
        let value = self.value_of(val, *at)?;
        Ok(Val::Ir(self.builder().atomic(op, reference, value)))
    }

    pub(super) fn atomic_cas_call(&mut self, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        let (reference, elem, rest) = self.element_call(builtin, args, 2, span)?;
        if !matches!(elem, Type::Scalar(s) if s.size() >= 4) {
            let what = elem.python_name();
            return Err(self.report(
                Diagnostic::new(
                    codes::NO_OVERLOAD,
                    span,
                    format!("`atomic_cas` is not available for elements of type {what}"),
                )
                .help("it takes integers and floats of 32 or 64 bits"),
            ));
        }
        let mut values = vec![reference];
        for (val, at) in &rest {
            if self.type_of(val) != Some(elem) {
                return Err(self.wrong_store(
                    val,
                    elem,
                    args.positional.first().map_or(span, |(_, at)| *at),
                    *at,
                ));
            }
            values.push(self.value_of(val, *at)?);
        }
        Ok(Val::Ir(self.builder().value(OpKind::AtomicCas, values, elem)))
    }
}

/// An array element that a built-in works on: its address, its type, and the arguments after the indices.
pub(super) type Element = (Value, Type, Vec<(Val, Span)>);

/// What a call with these results stands for; `None` when it has none.
pub(super) fn as_result(results: &[Value]) -> Option<Val> {
    match results {
        [] => None,
        [one] => Some(Val::Ir(*one)),
        many => Some(Val::tuple(many.iter().map(|v| Val::Ir(*v)).collect())),
    }
}

/// The forms of a function in one sentence; many are cut short.
pub(super) fn alternatives(forms: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut shown: Vec<String> = forms.iter().take(SHOWN).map(|form| format!("`{form}`")).collect();
    if forms.len() > SHOWN {
        shown.push(format!("{} other ways", forms.len() - SHOWN));
    }
    shown.join(" or ")
}
