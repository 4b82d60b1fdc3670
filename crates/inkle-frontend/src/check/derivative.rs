//! Gradients that users give or ask for: functions made the gradient or the replay of another, and `grad(f)`.

use std::sync::Arc;

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{Builder, Function, FunctionId, FunctionKind, OpKind, Param, Type, Value};

use super::call::{Args, as_result};
use super::codes;
use super::function::{Arg, FunctionCx, Instance, Origin};
use super::library::LibrarySignature;
use super::val::{R, Reported, Val};
use super::{Checker, DerivativeKey};
use crate::env::{FunctionKey, FunctionSource, Rules};
use crate::pattern::Bindings;
use crate::tree::{Expr, ExprKind, FormatPart, FunctionDef, ParamDef, ParamKind, Stmt, StmtKind};

/// The variable of a parameter's gradient; no variable of a user has such a name.
fn adjoint_name(param: &str) -> String {
    format!("adjoint of {param}")
}

/// How a gradient function takes the gradient of a parameter that is passed this way, if it does.
fn adjoint_of(arg: &Arg) -> Option<Arg> {
    match arg {
        // The gradients of an array are an array, which is written to.
        Arg::Value(ty @ Type::Array(_)) => Some(Arg::Value(*ty)),
        Arg::Value(ty) => Some(Arg::Variable(*ty)),
        _ => None,
    }
}

impl Checker<'_> {
    /// Links a function to the gradient and the replay that users gave it.
    pub(super) fn link(&mut self, key: FunctionKey, args: &[Arg], id: FunctionId, call: Span) -> R<()> {
        let gradients = self.given(self.env.gradients(key), call)?;
        let replays = self.given(self.env.replays(key), call)?;
        if gradients.is_empty() && replays.is_empty() {
            return Ok(());
        }
        // What fits none of the overloads is found when the one it was meant for is called.
        let is_alone = self.env.function(key).is_ok_and(|sources| sources.len() == 1);
        let results = self.module.function(id).results.clone();
        // In Rust what a gradient adds to are parameters like any other.
        let is_rust = self.env.rules() == Rules::Rust;
        let fits = |source: &FunctionSource, types: &[&Arg]| {
            let mut bindings = Bindings::default();
            let fits = source.params.len() == types.len()
                && source.params.iter().zip(types).all(|(param, arg)| match (&param.pattern, arg) {
                    (Some(pattern), Arg::Value(ty)) => pattern.matches(*ty, &mut bindings),
                    (Some(pattern), Arg::Variable(ty)) if is_rust && param.by_reference => {
                        pattern.matches(*ty, &mut bindings)
                    }
                    (None, _) | (_, Arg::Static(_)) => true,
                    _ => false,
                });
            fits.then_some(bindings)
        };
        let own: Vec<&Arg> = args.iter().collect();
        let result_args: Vec<Arg> = results.iter().map(|&ty| Arg::Value(ty)).collect();
        let adjoints: Vec<Arg> = args.iter().filter(|_| is_rust).filter_map(adjoint_of).collect();
        let all: Vec<&Arg> = args.iter().chain(&result_args).chain(&adjoints).collect();
        let fitting = |sources: &[Arc<FunctionSource>], types: &[&Arg]| {
            sources.iter().rev().find_map(|source| Some((source.clone(), fits(source, types)?)))
        };
        if let Some((source, bindings)) = fitting(&gradients, &all) {
            let origin = Origin::User(source.key);
            let made = self.gradient(origin, &source.name, &source.def, bindings, args, result_args)?;
            self.module.functions[id.index()].links.gradient = Some(made);
        } else if let ([only], true) = (&gradients[..], is_alone) {
            return Err(self.no_fit(
                "gradient",
                only,
                "the function's parameters, then one for each of its results",
                call,
            ));
        }
        if let Some((source, bindings)) = fitting(&replays, &own) {
            let instance = Instance {
                origin: Origin::User(source.key),
                def: source.def.clone(),
                name: source.name.clone(),
                kind: FunctionKind::Func,
                native: None,
                args: args.to_vec(),
                bindings,
                returns: source.returns.clone(),
            };
            let (made, found) = FunctionCx::check(self, instance)?;
            if found != results {
                return Err(self.no_fit(
                    "replay",
                    &source,
                    "the function's parameters, and gives the same",
                    call,
                ));
            }
            self.module.functions[id.index()].links.replay = Some(made);
        } else if let ([only], true) = (&replays[..], is_alone) {
            return Err(self.no_fit("replay", only, "the function's parameters", call));
        }
        Ok(())
    }

    /// Links a library function to the gradient that the library has for it: `_adj_length` for `length`.
    pub(super) fn link_library(&mut self, name: &str, args: &[Arg], id: FunctionId) -> R<()> {
        let name = format!("_adj_{name}");
        let results = self.module.function(id).results.clone();
        for candidate in self.env.library(&name) {
            let signature = LibrarySignature::of(&candidate);
            let mut bindings = Bindings::default();
            let result_args: Vec<Arg> = results.iter().map(|&ty| Arg::Value(ty)).collect();
            let all = args.iter().chain(&result_args);
            let fits = signature.params.len() == args.len() + results.len()
                && signature.params.iter().zip(all).all(|((pattern, _), arg)| match (pattern, arg) {
                    (Some(pattern), Arg::Value(ty)) => pattern.matches(*ty, &mut bindings),
                    _ => false,
                });
            if fits {
                let origin = Origin::Library(candidate.key);
                let made = self.gradient(origin, &name, &candidate.def, bindings, args, result_args)?;
                self.module.functions[id.index()].links.gradient = Some(made);
                return Ok(());
            }
        }
        Ok(())
    }

    fn given(
        &mut self,
        found: Result<Vec<Arc<FunctionSource>>, inkle_diag::Diagnostics>,
        call: Span,
    ) -> R<Vec<Arc<FunctionSource>>> {
        found.map_err(|diagnostics| {
            for diagnostic in diagnostics.0 {
                self.report(diagnostic.also(call, "called here"));
            }
            Reported
        })
    }

    fn no_fit(&mut self, what: &str, source: &FunctionSource, takes: &str, call: Span) -> Reported {
        self.report(
            Diagnostic::new(
                codes::ARGUMENTS,
                source.def.name_span,
                format!("the {what} `{}` does not fit the function it was given for", source.name),
            )
            .also(call, "which is called here")
            .help(format!("it takes {takes}, with the same types")),
        )
    }

    /// The function that gives the gradients of a function's parameters, from one in which they are `adjoint[x]`, or
    /// parameters behind the others.
    fn gradient(
        &mut self,
        origin: Origin,
        name: &str,
        def: &FunctionDef,
        bindings: Bindings,
        args: &[Arg],
        results: Vec<Arg>,
    ) -> R<FunctionId> {
        let mut def = def.clone();
        let params: Vec<String> = def.params.iter().map(|p| p.name.clone()).collect();
        Rename { params: &params[..args.len()] }.stmts(&mut def.body);
        let mut all = args.to_vec();
        all.extend(results);
        let are_parameters = def.params.len() > all.len();
        for (index, arg) in args.iter().enumerate() {
            let Some(adjoint) = adjoint_of(arg) else { continue };
            if !are_parameters {
                let param = ParamDef { name: adjoint_name(&params[index]), ..def.params[index].clone() };
                def.params.push(ParamDef { annotation: None, default: None, ..param });
            }
            all.push(adjoint);
        }
        let variables = all.iter().filter(|a| matches!(a, Arg::Variable(_))).count();
        let at = def.name_span;
        let instance = Instance {
            origin,
            def: Arc::new(def),
            name: name.to_owned(),
            kind: FunctionKind::Func,
            native: None,
            args: all,
            bindings,
            returns: None,
        };
        let (made, found) = FunctionCx::check(self, instance)?;
        if found.len() != variables {
            return Err(self.report(
                Diagnostic::new(codes::RETURN_TYPE, at, format!("the gradient `{name}` returns a value"))
                    .help("add to `wp.adjoint[x]` for each parameter `x` instead"),
            ));
        }
        Ok(made)
    }
}

impl FunctionCx<'_, '_> {
    /// `grad(f)`.
    pub(super) fn gradient_of(&mut self, args: &[(Val, Span)], span: Span) -> R<Val> {
        match args {
            [(of @ (Val::Function(_) | Val::Builtin(_)), _)] => Ok(Val::Gradient(of.clone().into())),
            _ => Err(self.report(
                Diagnostic::new(codes::ARGUMENTS, span, "`grad` takes one function")
                    .help("write `wp.grad(f)(x, y)`, for a function or a built-in `f`"),
            )),
        }
    }

    /// `grad(f)(x, y)`: the gradients of the parameters that are no arrays, when those of all results are one.
    pub(super) fn call_gradient(&mut self, of: &Val, args: &Args, span: Span) -> R<Option<Val>> {
        if let Some((name, _, at)) = args.keywords.first() {
            return Err(self.report(
                Diagnostic::new(codes::ARGUMENTS, *at, format!("`{name}` is given by name"))
                    .help("give the arguments of a gradient by position"),
            ));
        }
        let (mut values, mut instance_args) = (Vec::new(), vec![Arg::Static(of.clone())]);
        for (val, at) in &args.positional {
            match self.type_of(val) {
                Some(ty) => {
                    values.push(self.value_of(val, *at)?);
                    instance_args.push(Arg::Value(ty));
                }
                None => instance_args.push(Arg::Static(val.clone())),
            }
        }
        let key = DerivativeKey { args: instance_args.clone() };
        let known = self.checker.derivatives.iter().find(|(k, _)| *k == key).map(|(_, id)| *id);
        let derivative = match known {
            Some(id) => id,
            None => {
                let made = self.derivative(of, instance_args, span)?;
                self.checker.derivatives.push((key, made));
                made
            }
        };
        let types = self.checker.module.function(derivative).results.clone();
        if types.is_empty() {
            return Err(self.report(
                Diagnostic::new(codes::ARGUMENTS, span, "there is nothing to have a gradient")
                    .help("`wp.grad(f)` is called with the arguments of `f`"),
            ));
        }
        let outer = std::mem::replace(&mut self.span, span);
        let op = self.builder().call(derivative, &values, &types);
        self.span = outer;
        let results: Vec<Value> = self.function.op(op).results.to_vec();
        Ok(as_result(&results))
    }

    /// The function that stands for the derivative of a callee, which is wrapped into a function of its own first.
    fn derivative(&mut self, of: &Val, args: Vec<Arg>, span: Span) -> R<FunctionId> {
        let name = |index: usize| format!("argument {index}");
        let variable = |index: usize| Expr::new(ExprKind::Name(name(index)), span);
        let call = ExprKind::Call {
            func: variable(0),
            args: (1..args.len()).map(variable).collect(),
            keywords: Vec::new(),
        };
        let param = |index: usize| ParamDef {
            name: name(index),
            annotation: None,
            default: None,
            kind: ParamKind::Normal,
            span,
        };
        let def = FunctionDef {
            name: "differentiated".into(),
            name_span: span,
            params: (0..args.len()).map(param).collect(),
            returns: None,
            doc: None,
            decorators: Vec::new(),
            body: vec![Stmt { kind: StmtKind::Return(Some(Expr::new(call, span))), span }],
            span,
        };
        let what = match of {
            Val::Builtin(name) => name.to_string(),
            _ => "function".into(),
        };
        let instance = Instance {
            origin: self.origin,
            def: Arc::new(def),
            name: format!("{what}_differentiated"),
            kind: FunctionKind::Func,
            native: None,
            args,
            bindings: Bindings::default(),
            returns: None,
        };
        let (wrapper, _) = FunctionCx::check(self.checker, instance)?;
        let params: Vec<Param> = self.checker.module.function(wrapper).params.clone();
        let is_value = |ty: &Type| !matches!(ty, Type::Array(_) | Type::Ref(_));
        let results: Vec<Type> = params.iter().map(|p| p.ty).filter(is_value).collect();
        let name = self.checker.unique_name(&format!("{what}_gradient"));
        let mut made = Function::new(name, FunctionKind::Func, params, results.clone());
        made.span = span;
        made.links.derivative_of = Some(wrapper);
        let body = made.body;
        let mut builder = Builder::new(&mut made, body);
        let zeros: Vec<Value> = results.iter().map(|&ty| builder.zero(ty)).collect();
        builder.effect(OpKind::Return, zeros);
        self.checker.module.functions.push(made);
        Ok(FunctionId::new(self.checker.module.functions.len() - 1))
    }
}

/// Makes `adjoint[x]`, for a parameter `x`, a variable.
struct Rename<'a> {
    params: &'a [String],
}

impl Rename<'_> {
    fn stmts(&self, stmts: &mut [Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Assign { targets, value } => {
                self.exprs(targets);
                self.expr(value);
            }
            StmtKind::AnnAssign { target, annotation: _, value } => {
                self.expr(target);
                self.exprs(value);
            }
            StmtKind::AugAssign { target, op: _, value } => {
                self.expr(target);
                self.expr(value);
            }
            StmtKind::If { test, body, orelse } | StmtKind::While { test, body, orelse } => {
                self.expr(test);
                self.stmts(body);
                self.stmts(orelse);
            }
            StmtKind::For { target, iter, body, orelse } => {
                self.expr(target);
                self.expr(iter);
                self.stmts(body);
                self.stmts(orelse);
            }
            StmtKind::Return(value) => self.exprs(value),
            StmtKind::Expr(value) => self.expr(value),
            StmtKind::Assert { test, message } => {
                self.expr(test);
                self.exprs(message);
            }
            StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Pass
            | StmtKind::FunctionDef(_)
            | StmtKind::Unsupported(_) => {}
        }
    }

    fn exprs<'e>(&self, exprs: impl IntoIterator<Item = &'e mut Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&self, expr: &mut Expr) {
        if let Some(adjoint) = self.adjoint(expr) {
            *expr = adjoint;
            return;
        }
        match &mut *expr.kind {
            ExprKind::Attribute { value, .. } | ExprKind::Starred(value) => self.expr(value),
            ExprKind::FormatStr(parts) => self.exprs(parts.iter_mut().filter_map(|part| match part {
                FormatPart::Value(value, _) => Some(value),
                FormatPart::Text(_) => None,
            })),
            ExprKind::Binary { op: _, left, right } => self.exprs([left, right]),
            ExprKind::Unary { op: _, operand } => self.expr(operand),
            ExprKind::Logic { op: _, values } | ExprKind::Tuple(values) | ExprKind::List(values) => {
                self.exprs(values);
            }
            ExprKind::Compare { first, rest } => {
                self.expr(first);
                self.exprs(rest.iter_mut().map(|(_, value)| value));
            }
            ExprKind::IfElse { test, then, orelse } => self.exprs([test, then, orelse]),
            ExprKind::Call { func, args, keywords } => {
                self.expr(func);
                self.exprs(args);
                self.exprs(keywords.iter_mut().map(|(_, value)| value));
            }
            ExprKind::Subscript { value, indices } => {
                self.expr(value);
                self.exprs(indices);
            }
            ExprKind::Slice { start, stop, step } => {
                self.exprs([start, stop, step].into_iter().flatten());
            }
            ExprKind::Lambda { params: _, body } => self.expr(body),
            ExprKind::Name(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::None
            | ExprKind::Ellipsis
            | ExprKind::Unsupported(_) => {}
        }
    }

    /// The variable of `wp.adjoint[x]`, or its part for a part of `x`.
    fn adjoint(&self, expr: &Expr) -> Option<Expr> {
        let ExprKind::Subscript { value, indices } = &*expr.kind else { return None };
        let [index] = &indices[..] else { return None };
        if value.path()?.last() != Some(&"adjoint") {
            return None;
        }
        let mut part = index.clone();
        let mut root = &mut part;
        loop {
            match &mut *root.kind {
                ExprKind::Name(param) if self.params.contains(param) => {
                    *param = adjoint_name(param);
                    return Some(part);
                }
                ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } => root = value,
                _ => return None,
            }
        }
    }
}
