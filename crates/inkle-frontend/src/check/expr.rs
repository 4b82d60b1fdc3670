//! Expressions: names, attributes, subscripts, conditions.

use std::cmp::Reverse;
use std::rc::Rc;

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{BinaryOp, CmpOp, OpKind, Scalar, Type, Value};

use super::codes;
use super::function::{FunctionCx, Origin};
use super::val::{R, Reported, Slot, Val};
use crate::env::{Binding, ConstValue, Rules};
use crate::later;
use crate::pattern::Bound;
use crate::tree::{self, Expr, ExprKind, LogicOp, UnOp};

/// Checking goes on on a new piece of stack when less than this is left.
pub(super) const RED_ZONE: usize = 128 * 1024;
/// The size of a new piece of stack.
pub(super) const STACK: usize = 2 * 1024 * 1024;

impl FunctionCx<'_, '_> {
    /// Checks an expression.
    pub(super) fn expr(&mut self, expr: &Expr) -> R<Val> {
        let outer = std::mem::replace(&mut self.span, expr.span);
        let result = stacker::maybe_grow(RED_ZONE, STACK, || self.expr_inner(expr));
        self.span = outer;
        result
    }

    fn expr_inner(&mut self, expr: &Expr) -> R<Val> {
        match &*expr.kind {
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Int(value) => Ok(Val::int(*value)),
            ExprKind::Float(value) => Ok(Val::Const(ConstValue::Float(*value))),
            ExprKind::Bool(value) => Ok(Val::bool(*value)),
            ExprKind::Str(text) => Ok(Val::Const(ConstValue::Str(text.clone()))),
            ExprKind::None => Ok(Val::Const(ConstValue::None)),
            ExprKind::Binary { op, left, right } => {
                let a = self.expr(left)?;
                let b = self.expr(right)?;
                self.binary(*op, &a, left.span, &b, right.span, expr.span)
            }
            ExprKind::Unary { op, operand } => {
                let val = self.expr(operand)?;
                match op {
                    UnOp::Not => self.negate(&val, operand.span),
                    _ => self.unary(*op, &val, expr.span),
                }
            }
            ExprKind::Logic { op, values } => self.logic(*op, values),
            ExprKind::Compare { first, rest } => self.compare_chain(first, rest),
            ExprKind::IfElse { test, then, orelse } => self.if_else(test, then, orelse, expr.span),
            ExprKind::Call { func, args, keywords } => self.call(expr, func, args, keywords),
            ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => {
                let place = self.place(expr)?;
                self.get(&place)
            }
            ExprKind::Tuple(items) => self.tuple(items),
            ExprKind::List(_) => Err(self.unsupported(
                expr,
                "a list",
                "use a vector, a tuple or `wp.zeros` outside the kernel",
            )),
            ExprKind::FormatStr(_) => Err(self.unsupported(
                expr,
                "an f-string here",
                "f-strings can only be printed: `print(f\"...\")`",
            )),
            ExprKind::Slice { .. } => {
                Err(self.unsupported(expr, "a slice outside brackets", "write `x[start:stop]`"))
            }
            ExprKind::Starred(_) => {
                Err(self.unsupported(expr, "`*` here", "`*` spreads the arguments of a call"))
            }
            ExprKind::Lambda { .. } => {
                Err(self.unsupported(expr, "a lambda", "define a function and decorate it with `@wp.func`"))
            }
            ExprKind::Ellipsis => Err(self.unsupported(expr, "`...` here", "leave it out")),
            ExprKind::Unsupported(what) => {
                let help = match what.as_str() {
                    ":=" => "assign on a line of its own",
                    "dict" | "set" => "use a `@wp.struct`",
                    "list comprehension"
                    | "set comprehension"
                    | "dict comprehension"
                    | "generator expression" => "write a `for` loop",
                    _ => "compute it in Python and pass it to the kernel",
                };
                let what = if what.ends_with("comprehension")
                    || what.ends_with("expression")
                    || what == "dict"
                    || what == "set"
                {
                    format!("a {what}")
                } else {
                    format!("`{what}`")
                };
                Err(self.unsupported(expr, &what, help))
            }
        }
    }

    /// Checks an expression statement.
    pub(super) fn effect(&mut self, expr: &Expr) -> R<()> {
        if let ExprKind::Call { func, args, keywords } = &*expr.kind {
            let outer = std::mem::replace(&mut self.span, expr.span);
            let result = self.call_for_effect(expr, func, args, keywords);
            self.span = outer;
            return result.map(|_| ());
        }
        self.expr(expr).map(|_| ())
    }

    fn tuple(&mut self, items: &[Expr]) -> R<Val> {
        let mut vals = Vec::new();
        for item in items {
            if let ExprKind::Starred(inner) = &*item.kind {
                if let Some(items) = self.array_run(inner)? {
                    vals.extend(items);
                    continue;
                }
                let val = self.expr(inner)?;
                match self.items_of(&val) {
                    Some(items) => vals.extend(items),
                    None => {
                        let what = self.describe(&val);
                        return Err(self.report(
                            Diagnostic::new(codes::UNPACK, inner.span, format!("cannot unpack {what}"))
                                .help("tuples, vectors, matrices, quaternions and shapes can be unpacked"),
                        ));
                    }
                }
            } else {
                vals.push(self.expr(item)?);
            }
        }
        Ok(Val::tuple(vals))
    }

    /// Whether the function is written in Rust.
    pub(super) fn follows_rust(&self) -> bool {
        matches!(self.origin, Origin::User(_)) && self.checker.env.rules() == Rules::Rust
    }

    fn name(&mut self, name: &str, span: Span) -> R<Val> {
        if let Some(var) = self.names.get(name).copied() {
            return self.read(var, name, span);
        }
        if self.follows_rust()
            && let Some(bound) = self.bindings.get(name)
        {
            return Ok(bound_value(bound, Scalar::U64));
        }
        match self.origin {
            Origin::User(key) => match self.checker.env.resolve(key, name) {
                Some(binding) => self.bound(binding, name, span),
                None => Err(self.undefined(name, span)),
            },
            Origin::Library(_) => {
                if let Some(bound) = self.bindings.get(name) {
                    return Ok(bound_value(bound, Scalar::I32));
                }
                if let Some(scalar) = Scalar::ALL.into_iter().find(|s| s.python_name() == name) {
                    return Ok(Val::Type(Type::Scalar(scalar)));
                }
                if crate::builtins::lookup(name).is_some() || !self.checker.env.library(name).is_empty() {
                    return Ok(Val::Builtin(name.into()));
                }
                match name {
                    "int" => Ok(Val::Type(Type::I32)),
                    "float" => Ok(Val::Type(Type::F32)),
                    _ => Err(self.undefined(name, span)),
                }
            }
        }
    }

    pub(super) fn bound(&mut self, binding: Binding, name: &str, span: Span) -> R<Val> {
        match binding {
            Binding::Unsupported(what) => Err(self.report(
                Diagnostic::new(
                    codes::NOT_FOR_KERNELS,
                    span,
                    format!("`{name}` is {what}, which kernels cannot use"),
                )
                .help("kernels can use numbers, vectors, types, `@wp.func` functions and built-ins"),
            )),
            other => Ok(Val::from(other)),
        }
    }

    /// Reports a built-in that inkle does not have yet.
    fn comes_later(&mut self, name: &str, code: inkle_diag::Code, span: Span) -> Reported {
        let group = later::group(name).unwrap_or_default();
        self.report(
            Diagnostic::new(code, span, format!("`{name}` is not available in inkle yet"))
                .help(format!("kernels that use {group} cannot be compiled; the others of the program can")),
        )
    }

    fn undefined(&mut self, name: &str, span: Span) -> Reported {
        if later::group(name).is_some() {
            return self.comes_later(name, codes::UNDEFINED_NAME, span);
        }
        let mut candidates: Vec<String> = self.names.keys().cloned().collect();
        if let Origin::User(key) = self.origin {
            candidates.extend(self.checker.env.visible_names(key));
        }
        candidates.extend(["range", "len", "min", "max", "abs", "int", "float", "print"].map(str::to_owned));
        let mut diagnostic =
            Diagnostic::new(codes::UNDEFINED_NAME, span, format!("name `{name}` is not defined"));
        diagnostic = match nearest(name, &candidates) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help("define it before the kernel, in the same file or by an import"),
        };
        self.report(diagnostic)
    }

    /// The values a kernel can be given by the outside under an attribute.
    fn object_attribute(&mut self, object: crate::env::ObjectKey, attr: &str, span: Span) -> R<Val> {
        match self.checker.env.attribute(object, attr) {
            Some(binding) => self.bound(binding, attr, span),
            None if later::group(attr).is_some() => Err(self.comes_later(attr, codes::NO_ATTRIBUTE, span)),
            None => {
                let what = self.checker.env.describe(object);
                let mut candidates: Vec<String> =
                    crate::builtins::BUILTINS.iter().map(|b| b.name.to_owned()).collect();
                candidates.extend(self.checker.env.library_names());
                candidates.retain(|c| !c.starts_with('_'));
                let mut diagnostic = Diagnostic::new(
                    codes::NO_ATTRIBUTE,
                    span,
                    format!("`{attr}` is not an attribute of {what}"),
                );
                diagnostic = match nearest(attr, &candidates) {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => diagnostic.help("it may be spelt otherwise, or not available in kernels yet"),
                };
                Err(self.report(diagnostic))
            }
        }
    }

    /// An index into an array: any integer; negative ones count from the end.
    pub(super) fn index_value(
        &mut self,
        val: &Val,
        span: Span,
        extent: impl FnOnce(&mut Self) -> Value,
    ) -> R<Value> {
        let value = self.integer_index(val, span)?;
        if self.follows_rust() || self.not_negative(value) {
            return Ok(value);
        }
        let extent = extent(self);
        let extent = {
            let ty = self.function.ty(value);
            self.builder().cast(extent, ty)
        };
        Ok(self.wrap_negative(value, extent))
    }

    pub(super) fn wrap_negative(&mut self, value: Value, extent: Value) -> Value {
        let ty = self.function.ty(value);
        let zero = self.builder().zero(ty);
        let negative = self.builder().cmp(CmpOp::Lt, value, zero);
        let wrapped = self.builder().binary(BinaryOp::Add, value, extent);
        self.builder().select(negative, wrapped, value)
    }

    /// An integer as i32 or i64.
    pub(super) fn integer_index(&mut self, val: &Val, span: Span) -> R<Value> {
        let value = match val {
            Val::Const(_) if val.const_int().is_some() || self.type_of(val).is_some() => {
                self.value_of(val, span)?
            }
            Val::Ir(value) => *value,
            other => {
                let what = self.describe(other);
                return Err(self.report(
                    Diagnostic::new(codes::INDEX, span, format!("an index must be an integer, not {what}"))
                        .help("index with an integer"),
                ));
            }
        };
        let ty = self.function.ty(value);
        match ty.as_scalar() {
            Some(Scalar::I32 | Scalar::I64) => Ok(value),
            Some(Scalar::I8 | Scalar::I16 | Scalar::U8 | Scalar::U16) => {
                Ok(self.builder().cast(value, Type::I32))
            }
            Some(Scalar::U32 | Scalar::U64) => Ok(self.builder().cast(value, Type::I64)),
            _ => {
                let what = ty.python_name();
                Err(self.report(
                    Diagnostic::new(codes::INDEX, span, format!("an index must be an integer, not {what}"))
                        .help("convert with `int(...)`"),
                ))
            }
        }
    }

    /// Whether a value is known not to be negative, so that no wrapping is needed.
    pub(super) fn not_negative(&self, value: Value) -> bool {
        self.not_negative_within(value, 6)
    }

    fn not_negative_within(&self, value: Value, depth: u32) -> bool {
        let Some(op) = self.function.defining_op(value) else {
            return self.rising.contains(&value);
        };
        if depth == 0 {
            return false;
        }
        let known = |v: &Value| self.not_negative_within(*v, depth - 1);
        match &op.kind {
            OpKind::Const(c) => !matches!(c, inkle_ir::Constant::Int(i) if *i < 0),
            OpKind::Zero | OpKind::Tid(_) | OpKind::LaunchDim(_) | OpKind::Shape(_) => true,
            OpKind::Binary(
                BinaryOp::Add | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Div | BinaryOp::FloorDiv,
            ) => op.operands.iter().all(known),
            OpKind::Binary(BinaryOp::Max | BinaryOp::And) => op.operands.iter().any(known),
            OpKind::Binary(BinaryOp::Rem | BinaryOp::Shr) => known(&op.operands[0]),
            OpKind::Cast => {
                let (from, to) =
                    (self.function.ty(op.operands[0]).as_scalar(), self.function.ty(value).as_scalar());
                match (from, to) {
                    (Some(f), Some(t)) if f.is_int() && !f.is_signed() => f.size() < t.size(),
                    (Some(f), Some(t)) if f.is_int() => f.size() <= t.size() && known(&op.operands[0]),
                    _ => false,
                }
            }
            OpKind::Select => known(&op.operands[1]) && known(&op.operands[2]),
            _ => false,
        }
    }

    fn logic(&mut self, op: LogicOp, values: &[Expr]) -> R<Val> {
        let (first, rest) = values.split_first().expect("`and` and `or` have operands");
        let left = self.expr(first)?;
        let left = self.truth(&left, first.span)?;
        if rest.is_empty() {
            return Ok(left);
        }
        if let Val::Const(ConstValue::Bool(known)) = left {
            let decided = known == (op == LogicOp::Or);
            return if decided { Ok(left) } else { self.logic(op, rest) };
        }
        let condition = self.value_of(&left, first.span)?;
        if rest.iter().all(|e| self.is_cheap(e)) {
            let right = self.logic(op, rest)?;
            if let Val::Const(ConstValue::Bool(known)) = right {
                return Ok(if known == (op == LogicOp::Or) { right } else { left });
            }
            let right = self.value_of(&right, rest[0].span)?;
            let op = if op == LogicOp::And { BinaryOp::And } else { BinaryOp::Or };
            return Ok(Val::Ir(self.builder().binary(op, condition, right)));
        }
        self.lazily(condition, op == LogicOp::And, |cx| cx.logic(op, rest))
    }

    /// `more()` where `condition` equals `when`, else `not when`; `more` is evaluated only then.
    fn lazily(&mut self, condition: Value, when: bool, more: impl FnOnce(&mut Self) -> R<Val>) -> R<Val> {
        let result = self.hidden(Val::bool(!when));
        let mut failed = false;
        let run = |cx: &mut Self| match more(cx) {
            Ok(val) => cx.slots.set(result, Slot::Set(val)),
            Err(Reported) => failed = true,
        };
        if when {
            self.branch(condition, run, |_| {});
        } else {
            self.branch(condition, |_| {}, run);
        }
        let slot = self.slots[result.0].clone();
        match slot {
            Slot::Set(val) if !failed => Ok(val),
            _ => Err(Reported),
        }
    }

    /// Whether evaluating an expression early costs little and can do no harm.
    pub(super) fn is_cheap(&self, expr: &Expr) -> bool {
        match &*expr.kind {
            ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => true,
            ExprKind::Attribute { value, .. } => self.is_cheap(value),
            ExprKind::Unary { operand, .. } => self.is_cheap(operand),
            ExprKind::Binary { op, left, right } => {
                !matches!(
                    op,
                    tree::BinOp::Div
                        | tree::BinOp::FloorDiv
                        | tree::BinOp::Mod
                        | tree::BinOp::Pow
                        | tree::BinOp::MatMul
                ) && self.is_cheap(left)
                    && self.is_cheap(right)
            }
            ExprKind::Compare { first, rest } => {
                self.is_cheap(first) && rest.iter().all(|(_, e)| self.is_cheap(e))
            }
            ExprKind::Logic { values, .. } => values.iter().all(|e| self.is_cheap(e)),
            ExprKind::Subscript { value, indices } => match &*value.kind {
                // A constant component of a local vector; arrays may be out of bounds.
                ExprKind::Name(name) => {
                    let local = self.names.get(name).map(|var| &self.slots[var.0]);
                    let composite = matches!(local, Some(Slot::Set(val)) if self.type_of(val).is_some_and(|ty| ty.scalar().is_some()));
                    composite && indices.iter().all(|i| matches!(*i.kind, ExprKind::Int(_)))
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn negate(&mut self, val: &Val, span: Span) -> R<Val> {
        if let Origin::User(_) = self.origin
            && self.type_of(val).is_some_and(Type::is_float)
        {
            let (what, text) = (self.describe(val), self.text_of(span));
            return Err(self.report(
                Diagnostic::new(codes::OPERAND_TYPES, span, format!("`not` is not defined for {what}"))
                    .help(format!("compare with zero: `{text} == 0.0`")),
            ));
        }
        match self.truth(val, span)? {
            Val::Const(ConstValue::Bool(b)) => Ok(Val::bool(!b)),
            truth => {
                let value = self.value_of(&truth, span)?;
                Ok(Val::Ir(self.builder().unary(inkle_ir::UnaryOp::Not, value)))
            }
        }
    }

    pub(super) fn not(&mut self, val: &Val, span: Span) -> R<Val> {
        self.negate(val, span)
    }

    fn compare_chain(&mut self, first: &Expr, rest: &[(tree::CmpOp, Expr)]) -> R<Val> {
        let left = self.expr(first)?;
        self.compare_rest(left, first.span, rest)
    }

    fn compare_rest(&mut self, left: Val, left_span: Span, rest: &[(tree::CmpOp, Expr)]) -> R<Val> {
        let ((op, right_expr), more) = rest.split_first().expect("a comparison has an operator");
        let right = self.expr(right_expr)?;
        let this = self.comparison(*op, &left, left_span, &right, right_expr.span)?;
        if more.is_empty() {
            return Ok(this);
        }
        if let Val::Const(ConstValue::Bool(known)) = this {
            return if known { self.compare_rest(right, right_expr.span, more) } else { Ok(this) };
        }
        let condition = self.value_of(&this, left_span)?;
        if more.iter().all(|(_, e)| self.is_cheap(e)) {
            let next = self.compare_rest(right, right_expr.span, more)?;
            let next = self.value_of(&next, right_expr.span)?;
            return Ok(Val::Ir(self.builder().binary(BinaryOp::And, condition, next)));
        }
        self.lazily(condition, true, |cx| cx.compare_rest(right, right_expr.span, more))
    }

    fn if_else(&mut self, test: &Expr, then: &Expr, orelse: &Expr, span: Span) -> R<Val> {
        let condition = self.expr(test)?;
        let condition = self.truth(&condition, test.span)?;
        if let Val::Const(ConstValue::Bool(known)) = condition {
            return self.expr(if known { then } else { orelse });
        }
        let condition = self.value_of(&condition, test.span)?;
        if self.is_cheap(then) && self.is_cheap(orelse) {
            let a = self.expr(then)?;
            let b = self.expr(orelse)?;
            return self.choose(condition, &a, then.span, &b, orelse.span);
        }
        let result = self.hidden(Val::bool(false));
        let mut failed = false;
        let mut sides: Vec<Val> = Vec::new();
        {
            let mut vals = [None, None];
            let [first, second] = &mut vals;
            let mut side =
                |cx: &mut Self, expr: &Expr, out: &mut Option<Val>| match cx.expr(expr).map(|v| cx.settle(v))
                {
                    Ok(val) => {
                        *out = Some(val.clone());
                        cx.slots.set(result, Slot::Set(val));
                    }
                    Err(Reported) => failed = true,
                };
            let side = std::cell::RefCell::new(&mut side);
            self.branch(
                condition,
                |cx| (side.borrow_mut())(cx, then, first),
                |cx| (side.borrow_mut())(cx, orelse, second),
            );
            sides.extend(vals.into_iter().flatten());
        }
        if failed {
            return Err(Reported);
        }
        match self.slots[result.0].clone() {
            Slot::Set(val) => Ok(val),
            _ => {
                let (a, b) = (self.describe(&sides[0]), self.describe(&sides[1]));
                Err(self.report(
                    Diagnostic::new(
                        codes::BRANCH_TYPE,
                        span,
                        format!("a conditional expression gives {a} or {b}"),
                    )
                    .also(then.span, format!("this is {a}"))
                    .also(orelse.span, format!("this is {b}"))
                    .help("give both the same type"),
                ))
            }
        }
    }

    /// `a` where the condition holds, else `b`; both are already evaluated.
    pub(super) fn choose(
        &mut self,
        condition: Value,
        a: &Val,
        a_span: Span,
        b: &Val,
        b_span: Span,
    ) -> R<Val> {
        if let (Val::Tuple(x), Val::Tuple(y)) = (a, b)
            && x.len() == y.len()
        {
            let items = x
                .iter()
                .zip(y.iter())
                .map(|(p, q)| self.choose(condition, p, a_span, q, b_span))
                .collect::<R<Vec<_>>>()?;
            return Ok(Val::Tuple(Rc::new(items)));
        }
        let (x, y) = (self.value_of(a, a_span)?, self.value_of(b, b_span)?);
        if self.function.ty(x) != self.function.ty(y) {
            let (one, other) = (self.describe(a), self.describe(b));
            return Err(self.report(
                Diagnostic::new(
                    codes::BRANCH_TYPE,
                    a_span.to(b_span),
                    format!("a choice between {one} and {other}"),
                )
                .also(a_span, format!("this is {one}"))
                .also(b_span, format!("this is {other}"))
                .help("give both the same type"),
            ));
        }
        Ok(Val::Ir(self.builder().select(condition, x, y)))
    }

    pub(super) fn tid(&mut self, dim: u32) -> Value {
        self.builder().value(OpKind::Tid(dim), [], Type::I32)
    }

    pub(super) fn no_attribute(&mut self, ty: Type, attr: &str, span: Span) -> Reported {
        let mut diagnostic = Diagnostic::new(
            codes::NO_ATTRIBUTE,
            span,
            format!("`{attr}` is not an attribute of {}", ty.python_name()),
        );
        let candidates: Vec<String> = match ty {
            Type::Struct(s) => s.fields.iter().map(|f| f.name.clone()).collect(),
            Type::Array(_) => {
                ["shape", "strides", "ptr", "ndim", "size", "dtype"].map(str::to_owned).to_vec()
            }
            Type::Vec { len: len @ 1..=4, .. } => {
                ["x", "y", "z", "w"][..len as usize].iter().map(|c| (*c).to_owned()).collect()
            }
            Type::Quat(_) => ["x", "y", "z", "w"].map(str::to_owned).to_vec(),
            Type::Transform(_) => ["p", "q"].map(str::to_owned).to_vec(),
            _ => Vec::new(),
        };
        if let Some(near) = nearest(attr, &candidates).filter(|_| attr.len() > 1) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        } else if candidates.is_empty() {
            diagnostic = diagnostic.help("it has no attributes that kernels can use");
        } else {
            let names = candidates.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ");
            diagnostic = diagnostic.help(format!("it has {names}"));
        }
        self.report(diagnostic)
    }

    pub(super) fn object_or_type_attribute(&mut self, val: &Val, attr: &str, span: Span) -> R<Val> {
        match val {
            Val::Object(object) => self.object_attribute(*object, attr, span),
            other => {
                let what = self.describe(other);
                Err(self.report(
                    Diagnostic::new(
                        codes::NO_ATTRIBUTE,
                        span,
                        format!("`{attr}` is not an attribute of {what}"),
                    )
                    .help("kernels can use attributes of modules, structs, vectors and arrays"),
                ))
            }
        }
    }
}

/// The flat index of a component's name.
pub(super) fn component_name(ty: Type, name: &str) -> Option<u32> {
    let limit = match ty {
        Type::Vec { len, .. } => len.min(4),
        Type::Quat(_) => 4,
        _ => return None,
    };
    let index = match name {
        "x" => 0,
        "y" => 1,
        "z" => 2,
        "w" => 3,
        _ => return None,
    };
    (index < limit).then_some(index)
}

/// The candidate most like `name`, if one is near enough to be meant.
pub(super) fn nearest<'a>(name: &str, candidates: &'a [String]) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = if length < 3 { 0 } else { (length / 3).max(1) };
    candidates
        .iter()
        .map(|c| (distance(name, c), Reverse(common_start(name, c)), c.as_str()))
        .filter(|(d, _, c)| *d <= limit && *c != name)
        .min()
        .map(|(_, _, c)| c)
}

/// How many characters two names begin with in common: of names equally near, the one typed longest is meant.
fn common_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count()
}

/// The Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let cost = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

/// What a variable of a pattern stands for as a value; sizes are of the type `size`.
fn bound_value(bound: Bound, size: Scalar) -> Val {
    match bound {
        Bound::Scalar(s) => Val::Type(Type::Scalar(s)),
        Bound::Type(ty) => Val::Type(ty),
        Bound::Size(n) => Val::typed_int(n.into(), size),
    }
}
