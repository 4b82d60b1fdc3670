//! Checking one function: its slots, blocks, scopes and results.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{
    Block, Builder, Constant, Function, FunctionId, FunctionKind, OpKind, Param, Scalar, Type, Value,
};

use super::loops::Loop;
use super::unset::Doubts;
use super::val::{Nest, R, Reported, Slot, Slots, Val, VarId};
use super::{Checker, codes, scan};
use crate::env::{ConstValue, FunctionKey, NativeText};
use crate::pattern::{Bindings, Pattern};
use crate::tree::{Expr, FunctionDef, ParamKind, Stmt};

/// Where a function comes from, which decides what its names mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// A user's function: names are asked of the environment.
    User(FunctionKey),
    /// A library function: names are type variables and built-ins.
    Library(u64),
}

/// An argument of an instance.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Arg {
    /// A run-time value of a type.
    Value(Type),
    /// A variable of the caller: its value goes in and its last value comes out as a further result.
    Variable(Type),
    /// The address of something in memory, which the function reads and writes in place.
    Address(Type),
    /// Several values.
    Tuple(Vec<Arg>),
    /// Something known while compiling that has no IR value: a function, a type, a string.
    Static(Val),
}

impl Arg {
    /// The IR parameters for the argument.
    pub(super) fn params(&self, name: &str, params: &mut Vec<Param>) {
        match self {
            Arg::Value(ty) | Arg::Variable(ty) => params.push(Param { name: name.to_owned(), ty: *ty }),
            Arg::Address(ty) => params.push(Param { name: name.to_owned(), ty: Type::reference(*ty) }),
            Arg::Tuple(items) => {
                items.iter().enumerate().for_each(|(i, item)| item.params(&format!("{name}_{i}"), params))
            }
            Arg::Static(_) => {}
        }
    }

    /// What the parameter stands for in the function, made of the next IR parameters.
    fn val(&self, values: &mut impl Iterator<Item = Value>) -> Val {
        match self {
            Arg::Value(_) | Arg::Variable(_) | Arg::Address(_) => {
                Val::Ir(values.next().expect("one IR parameter per value"))
            }
            Arg::Tuple(items) => Val::tuple(items.iter().map(|item| item.val(values)).collect()),
            Arg::Static(val) => val.clone(),
        }
    }
}

/// A function together with the argument types it is checked for.
pub(super) struct Instance {
    pub origin: Origin,
    pub def: Arc<FunctionDef>,
    pub name: String,
    pub kind: FunctionKind,
    /// The C++ text, of which the body is only a stub.
    pub native: Option<NativeText>,
    pub args: Vec<Arg>,
    /// The type variables of a library function.
    pub bindings: Bindings,
    /// Declared results.
    pub returns: Option<Vec<Pattern>>,
}

impl Instance {
    pub(super) fn key(&self) -> String {
        // `def` separates overloads under one key.
        format!("{:?} {:p} {:?}", self.origin, Arc::as_ptr(&self.def), self.args)
    }
}

/// What became of an attempt to check a function.
enum Attempt {
    /// The function, the types of its results and how they are grouped.
    Done(Box<Function>, Vec<Type>, Option<Nest>),
    /// These variables may be read unset: they are to be watched.
    Again(Doubts),
}

/// The state of one function's check.
pub(super) struct FunctionCx<'c, 'e> {
    pub checker: &'c mut Checker<'e>,
    pub function: Function,
    pub block: Block,
    pub span: Span,
    pub origin: Origin,
    pub bindings: Bindings,
    pub name: String,
    pub names: HashMap<String, VarId>,
    pub var_names: Vec<Option<String>>,
    pub slots: Slots,
    /// Where each variable was set first.
    pub set_at: HashMap<VarId, Span>,
    /// How deep the current block is nested.
    pub depth: usize,
    /// Whether a mistake kept a statement from being checked; it may have been reported in another function.
    pub failed: bool,
    /// Whether the current point cannot be reached.
    pub diverged: bool,
    pub loops: Vec<Loop>,
    /// Set once the function has returned.
    pub returned: VarId,
    /// The returned values, hidden variables made at the first `return` with values.
    pub results: Option<Vec<(VarId, Type)>>,
    pub returns_span: Span,
    pub declared: Option<Vec<Type>>,
    /// Parameters that stand for variables of the caller: their last values are further results.
    pub references: Vec<VarId>,
    /// Variables whose address is asked for: they live in memory from where they are set first.
    pub addressed: HashSet<String>,
    /// The addresses of those that have memory.
    pub memory: HashMap<VarId, Value>,
    /// Loop indices known to count up from zero or more.
    pub rising: HashSet<Value>,
    /// How the returned values are grouped, once a `return` was met.
    pub nest: Option<Nest>,
    /// The flags of variables that may be read unset.
    pub watched: HashMap<VarId, VarId>,
    /// Variables that were found to be read where they may be unset, and are not watched.
    pub doubts: Doubts,
}

impl<'c, 'e> FunctionCx<'c, 'e> {
    /// Checks an instance and appends it to the module.
    pub(super) fn check(checker: &'c mut Checker<'e>, instance: Instance) -> R<(FunctionId, Vec<Type>)> {
        if let Some(native) = instance.native.clone() {
            return checker.native(&instance, &native);
        }
        let name = checker.unique_name(&instance.name);
        let mut watched = Doubts::new();
        loop {
            let attempt = FunctionCx::attempt(checker, &instance, &name, &watched)?;
            // Every attempt finds others, so this ends.
            watched.extend(match attempt {
                Attempt::Done(function, types, nest) => {
                    checker.module.functions.push(*function);
                    let id = FunctionId::new(checker.module.functions.len() - 1);
                    if let Some(nest) = nest.filter(Nest::is_nested) {
                        checker.nests.insert(id, nest);
                    }
                    return Ok((id, types));
                }
                Attempt::Again(doubts) => doubts,
            });
        }
    }

    /// Checks an instance, with zeros at first in the variables `watched`.
    fn attempt(
        checker: &'c mut Checker<'e>,
        instance: &Instance,
        name: &str,
        watched: &Doubts,
    ) -> R<Attempt> {
        let def = instance.def.clone();
        let mut params = Vec::new();
        for (param, arg) in def.params.iter().zip(&instance.args) {
            arg.params(&param.name, &mut params);
        }
        let mut function = Function::new(name.to_owned(), instance.kind.clone(), params, Vec::new());
        function.span = def.name_span;
        let body = function.body;
        let mut cx = FunctionCx {
            checker,
            function,
            block: body,
            span: def.span,
            origin: instance.origin,
            bindings: instance.bindings.clone(),
            name: instance.name.clone(),
            names: HashMap::new(),
            var_names: Vec::new(),
            slots: Slots::default(),
            set_at: HashMap::new(),
            depth: 0,
            failed: false,
            diverged: false,
            loops: Vec::new(),
            returned: VarId(0),
            results: None,
            returns_span: def.name_span,
            declared: None,
            references: Vec::new(),
            addressed: HashSet::new(),
            memory: HashMap::new(),
            rising: HashSet::new(),
            nest: None,
            watched: HashMap::new(),
            doubts: Doubts::new(),
        };
        cx.returned = cx.hidden(Val::bool(false));
        let errors_before = cx.checker.diagnostics.0.len();
        if let Some(patterns) = &instance.returns {
            cx.declared = patterns.iter().map(|p| p.instantiate(&cx.bindings)).collect();
        }
        let values: Vec<Value> = cx.function.block(body).params.to_vec();
        let mut values = values.into_iter();
        for (param, arg) in def.params.iter().zip(&instance.args) {
            if matches!(param.kind, ParamKind::VarArgs | ParamKind::KwArgs) {
                cx.report(
                    Diagnostic::new(
                        codes::STATEMENT,
                        param.span,
                        "kernels and functions cannot take a variable number of arguments",
                    )
                    .help("give each parameter a name, or take a tuple"),
                );
            }
            let var = cx.variable(&param.name);
            let val = arg.val(&mut values);
            cx.slots.set(var, Slot::Set(val));
            cx.set_at.insert(var, param.span);
            if let Arg::Variable(_) = arg {
                cx.references.push(var);
            }
        }
        if let Origin::User(_) = instance.origin {
            cx.addressed = scan::addressed_names(&def.body).into_iter().map(str::to_owned).collect();
        }
        for param in &def.params {
            let var = cx.variable(&param.name);
            if let Slot::Set(val) = cx.slots[var.0].clone()
                && let Some(address) = cx.memory_for(var, &param.name, &val)
            {
                let value = cx.value_of(&val, param.span)?;
                cx.builder().store(address, value);
                cx.slots.set(var, Slot::Set(Val::Ir(address)));
            }
        }
        cx.declare_locals(&def.body);
        cx.watch(watched);
        cx.statements(&def.body);
        // With a mistake in the body, what is missing at its end says nothing.
        if cx.failed || cx.checker.diagnostics.0.len() > errors_before {
            return Err(Reported);
        }
        if !cx.doubts.is_empty() {
            return Ok(Attempt::Again(cx.doubts));
        }
        let types: Vec<Type> = cx.finish(&def)?;
        Ok(Attempt::Done(Box::new(cx.function), types, cx.nest))
    }

    /// Ends the body with `return`, and gives the result types.
    fn finish(&mut self, def: &FunctionDef) -> R<Vec<Type>> {
        let kernel = self.function.kind == FunctionKind::Kernel;
        let results = self.results.clone().unwrap_or_default();
        let left_out = !kernel
            && !self.diverged
            && self.slots[self.returned.0] != Slot::Set(Val::bool(true))
            && !scan::always_returns(&def.body);
        if left_out && !results.is_empty() {
            let diagnostic = Diagnostic::new(
                codes::MISSING_RETURN,
                def.name_span,
                format!("function `{}` does not return a value on every path", self.name),
            )
            .also(self.returns_span, "it returns a value here");
            // Several returns tell cases apart, and only the program knows whether they are all there are.
            if scan::count_returns(&def.body) < 2 || !matches!(self.origin, Origin::User(_)) {
                return Err(self.report(diagnostic.help("add a `return` with a value at the end")));
            }
            self.checker.warnings.push(
                diagnostic
                    .warning()
                    .help("the result is zero on the other paths; add a `return` with a value at the end"),
            );
            if let Slot::Set(returned) = self.slots[self.returned.0].clone() {
                self.span = def.name_span;
                let returned = self.value_of(&returned, def.name_span)?;
                let text = format!("function `{}` ended without returning a value", self.name);
                self.builder().effect(OpKind::Assert(text), [returned]);
            }
        }
        if let Some(declared) = &self.declared
            && results.is_empty()
            && !declared.is_empty()
            && !kernel
        {
            return Err(self.report(
                Diagnostic::new(
                    codes::MISSING_RETURN,
                    def.name_span,
                    format!("function `{}` declares a result but returns nothing", self.name),
                )
                .help("add a `return` with a value"),
            ));
        }
        let mut values = Vec::new();
        for (var, ty) in &results {
            let value = match self.slots[var.0].clone() {
                Slot::Set(val) => self.value_of(&val, self.span)?,
                _ => self.builder().zero(*ty),
            };
            values.push(value);
        }
        for var in self.references.clone() {
            let name = self.var_names[var.0].clone().unwrap_or_default();
            let val = self.read(var, &name, self.span)?;
            values.push(self.value_of(&val, self.span)?);
        }
        self.function.results = values.iter().map(|value| self.function.ty(*value)).collect();
        self.builder().effect(OpKind::Return, values);
        Ok(self.function.results.clone())
    }

    pub(super) fn builder(&mut self) -> Builder<'_> {
        let mut builder = Builder::new(&mut self.function, self.block);
        builder.span = self.span;
        builder
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let mut diagnostic = diagnostic;
        // A mistake inside the library is shown at the user's call that led there.
        if let Origin::Library(_) = self.origin
            && let Some((_, call)) = self.checker.stack.iter().find(|(key, _)| key.starts_with("Library"))
        {
            diagnostic = diagnostic.also(*call, "in a built-in called here");
        }
        self.checker.report(diagnostic)
    }

    /// The slot of a named variable, made on first need.
    pub(super) fn variable(&mut self, name: &str) -> VarId {
        if let Some(var) = self.names.get(name) {
            return *var;
        }
        let var = self.slots.push(Slot::Unset);
        self.names.insert(name.to_owned(), var);
        self.var_names.push(Some(name.to_owned()));
        var
    }

    /// A new variable that the program cannot name.
    pub(super) fn hidden(&mut self, initial: Val) -> VarId {
        self.var_names.push(None);
        self.slots.push(Slot::Set(initial))
    }

    pub(super) fn is_hidden(&self, var: VarId) -> bool {
        self.var_names[var.0].is_none()
    }

    /// Makes every assigned name a local, so that reading it early is an error and not a global.
    fn declare_locals(&mut self, stmts: &[Stmt]) {
        for name in scan::assigned_names(stmts) {
            self.variable(name);
        }
    }

    /// The type of what an expression stands for, when it is a value.
    pub(super) fn type_of(&self, val: &Val) -> Option<Type> {
        match val {
            Val::Ir(value) => Some(self.function.ty(*value)),
            Val::Const(c) => c.ty(),
            _ => None,
        }
    }

    /// What a value is, for messages.
    pub(super) fn describe(&self, val: &Val) -> String {
        match val {
            Val::Ir(_) => self.type_of(val).map(Type::python_name).unwrap_or_default(),
            Val::Const(ConstValue::Str(_)) => "str".into(),
            Val::Const(ConstValue::None) => "`None`".into(),
            Val::Const(c) => c.ty().map(Type::python_name).unwrap_or_else(|| "tuple".into()),
            Val::Tuple(items) => {
                format!("a tuple ({})", items.iter().map(|v| self.describe(v)).collect::<Vec<_>>().join(", "))
            }
            Val::Type(ty) => format!("the type {}", ty.python_name()),
            Val::Function(_) => "a function".into(),
            Val::Builtin(name) => format!("the built-in `{name}`"),
            Val::Gradient(of) => format!("the gradient of {}", self.describe(of)),
            Val::Object(key) => self.checker.env.describe(*key),
        }
    }

    /// The IR value of a value; constants take their default type.
    pub(super) fn value_of(&mut self, val: &Val, span: Span) -> R<Value> {
        match val {
            Val::Ir(value) => Ok(*value),
            Val::Const(c) => self.constant(c, span),
            other => {
                let what = self.describe(other);
                Err(self.report(
                    Diagnostic::new(
                        codes::NOT_A_VALUE,
                        span,
                        format!("{what} is not a value kernels can compute with"),
                    )
                    .help(self.instead_of(val)),
                ))
            }
        }
    }

    /// What to write instead of something that is no value.
    fn instead_of(&self, val: &Val) -> String {
        match val {
            Val::Type(ty) => format!("call it to make a value: `{}(...)`", ty.python_name()),
            Val::Function(_) | Val::Builtin(_) | Val::Gradient(_) => "call it to get a value".into(),
            Val::Tuple(_) => "unpack it or index it".into(),
            _ => "use one of its attributes".into(),
        }
    }

    fn constant(&mut self, c: &ConstValue, span: Span) -> R<Value> {
        match c {
            ConstValue::Int(i) => {
                if i32::try_from(*i).is_err() && u32::try_from(*i).is_err() {
                    return Err(self.report(
                        Diagnostic::new(
                            codes::LITERAL_RANGE,
                            span,
                            format!("{i} does not fit int32, the type of plain integers"),
                        )
                        .help(format!("write a wider type: `wp.int64({i})`")),
                    ));
                }
                Ok(self.builder().constant(Constant::Int(*i), Scalar::I32))
            }
            ConstValue::Float(f) => Ok(self.builder().constant(Constant::Float(*f), Scalar::F32)),
            ConstValue::Bool(b) => Ok(self.builder().bool(*b)),
            ConstValue::Typed(c, scalar) => Ok(self.builder().constant(*c, *scalar)),
            ConstValue::Composite { ty, components } => {
                let scalar = ty.scalar().expect("composites have a scalar");
                let parts: Vec<Value> =
                    components.iter().map(|c| self.builder().constant(*c, scalar)).collect();
                Ok(self.builder().value(OpKind::Construct, parts, *ty))
            }
            ConstValue::Struct { ty, fields } => {
                let parts = fields.iter().map(|f| self.constant(f, span)).collect::<R<Vec<Value>>>()?;
                Ok(self.builder().value(OpKind::Construct, parts, *ty))
            }
            ConstValue::Str(_) | ConstValue::Tuple(_) | ConstValue::None => {
                let what = self.describe(&Val::Const(c.clone()));
                Err(self.report(
                    Diagnostic::new(
                        codes::NOT_A_VALUE,
                        span,
                        format!("{what} is not a value kernels can compute with"),
                    )
                    .help("use a number, or pass it to the kernel as an argument"),
                ))
            }
        }
    }

    /// A value of exactly the type `ty`: literals adapt within their kind, everything else must match.
    pub(super) fn coerce(&mut self, val: &Val, ty: Type, span: Span) -> Option<Value> {
        if self.type_of(val) == Some(ty) {
            return self.value_of(val, span).ok();
        }
        if let (Val::Const(c), Type::Scalar(scalar)) = (val, ty) {
            let fits = match c {
                ConstValue::Int(_) => scalar.is_int(),
                ConstValue::Float(_) => scalar.is_float(),
                _ => false,
            };
            if fits {
                return Some(self.builder().constant(c.scalar()?, scalar));
            }
        }
        None
    }

    /// Gives a literal its default type, as an assignment does.
    pub(super) fn settle(&self, val: Val) -> Val {
        match val {
            // A larger number keeps its digits for a conversion; using it as int32 is an error.
            Val::Const(ConstValue::Int(i)) if i32::try_from(i).is_ok() => Val::typed_int(i, Scalar::I32),
            // All digits stay, for a conversion to a wider type; what computes with it gets the nearest float32.
            Val::Const(ConstValue::Float(f)) => {
                Val::Const(ConstValue::Typed(Constant::Float(f), Scalar::F32))
            }
            Val::Tuple(items) => Val::tuple(items.iter().map(|v| self.settle(v.clone())).collect()),
            other => other,
        }
    }

    /// Reports an expression kernels cannot have.
    pub(super) fn unsupported(&mut self, expr: &Expr, what: &str, help: &str) -> Reported {
        self.report(
            Diagnostic::new(codes::EXPRESSION, expr.span, format!("kernels cannot use {what}")).help(help),
        )
    }
}
