//! Expressions: names, attributes, subscripts, conditions.

use std::rc::Rc;

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{BinaryOp, CmpOp, OpKind, Scalar, Type, Value};

use super::codes;
use super::function::{FunctionCx, Origin};
use super::val::{R, Reported, Slot, Val};
use crate::env::{Binding, ConstValue};
use crate::pattern::{Bound, Pattern};
use crate::tree::{self, Expr, ExprKind, LogicOp, UnOp};

/// Where an attribute or subscript leads.
pub(super) enum Placed {
    /// To memory: a ref.
    Memory(Value),
    /// To a component of a value.
    Component,
    /// To a whole value.
    Value(Val),
}

impl FunctionCx<'_, '_> {
    /// Checks an expression.
    pub(super) fn expr(&mut self, expr: &Expr) -> R<Val> {
        let outer = std::mem::replace(&mut self.span, expr.span);
        let result = self.expr_inner(expr);
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
            ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => match self.resolve_place(expr)? {
                Resolved::Memory(reference) => Ok(Val::Ir(self.builder().load(reference))),
                Resolved::Val(val) => Ok(val),
            },
            ExprKind::Tuple(items) | ExprKind::List(items) => self.tuple(items),
            ExprKind::FormatStr(_) => Err(self.unsupported(expr, "an f-string here; it can only be printed")),
            ExprKind::Slice { .. } => Err(self.unsupported(expr, "a slice outside brackets")),
            ExprKind::Starred(_) => Err(self.unsupported(expr, "`*` here")),
            ExprKind::Lambda { .. } => Err(self.unsupported(expr, "a lambda here")),
            ExprKind::Ellipsis => Err(self.unsupported(expr, "`...` here")),
            ExprKind::Unsupported(what) => {
                let what = format!("{what} expressions");
                Err(self.unsupported(expr, &what))
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
                let val = self.expr(inner)?;
                match self.items_of(&val) {
                    Some(items) => vals.extend(items),
                    None => {
                        let what = self.describe(&val);
                        return Err(self.report(Diagnostic::new(
                            codes::UNPACK,
                            inner.span,
                            format!("cannot unpack {what}"),
                        )));
                    }
                }
            } else {
                vals.push(self.expr(item)?);
            }
        }
        Ok(Val::tuple(vals))
    }

    fn name(&mut self, name: &str, span: Span) -> R<Val> {
        if let Some(var) = self.names.get(name).copied() {
            return self.read(var, name, span);
        }
        match self.origin {
            Origin::User(key) => match self.checker.env.resolve(key, name) {
                Some(binding) => self.bound(binding, name, span),
                None => Err(self.undefined(name, span)),
            },
            Origin::Library(_) => {
                if let Some(bound) = self.bindings.get(name) {
                    return Ok(match bound {
                        Bound::Scalar(s) => Val::Type(Type::Scalar(s)),
                        Bound::Type(ty) => Val::Type(ty),
                        Bound::Size(n) => Val::typed_int(n.into(), Scalar::I32),
                    });
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

    fn undefined(&mut self, name: &str, span: Span) -> Reported {
        let mut candidates: Vec<String> = self.names.keys().cloned().collect();
        candidates.extend(["range", "len", "min", "max", "abs", "int", "float", "print"].map(str::to_owned));
        let mut diagnostic =
            Diagnostic::new(codes::UNDEFINED_NAME, span, format!("name `{name}` is not defined"));
        if let Some(near) = nearest(name, &candidates) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.report(diagnostic)
    }

    /// The values a kernel can be given by the outside under an attribute.
    fn object_attribute(&mut self, object: crate::env::ObjectKey, attr: &str, span: Span) -> R<Val> {
        match self.checker.env.attribute(object, attr) {
            Some(binding) => self.bound(binding, attr, span),
            None => {
                let what = self.checker.env.describe(object);
                let mut candidates: Vec<String> =
                    crate::builtins::BUILTINS.iter().map(|b| b.name.to_owned()).collect();
                candidates.extend(self.checker.env.library_names());
                candidates.retain(|c| !c.starts_with('_'));
                let mut diagnostic =
                    Diagnostic::new(codes::NO_ATTRIBUTE, span, format!("{what} has no attribute `{attr}`"));
                if let Some(near) = nearest(attr, &candidates) {
                    diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                }
                Err(self.report(diagnostic))
            }
        }
    }

    /// Where an attribute or subscript leads, for assignment.
    pub(super) fn place(&mut self, expr: &Expr) -> R<Placed> {
        let (base, is_memory_step) = match &*expr.kind {
            ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } => (value, true),
            _ => return Ok(Placed::Value(self.expr(expr)?)),
        };
        debug_assert!(is_memory_step);
        // A component of a local is assigned through the local, so the local is not read here.
        if !self.leads_to_memory(base)? {
            return Ok(Placed::Component);
        }
        match self.resolve_place(expr)? {
            Resolved::Memory(reference) => Ok(Placed::Memory(reference)),
            // A row or slice of something in memory: rebuilt and stored as a whole.
            Resolved::Val(Val::Ir(value)) if !matches!(self.function.ty(value), Type::Array(_)) => {
                Ok(Placed::Component)
            }
            Resolved::Val(val) => Ok(Placed::Value(val)),
        }
    }

    /// Whether a base expression is an array, a place in one, or a value that holds one.
    fn leads_to_memory(&mut self, base: &Expr) -> R<bool> {
        match &*base.kind {
            ExprKind::Name(name) => {
                let val = self.name(name, base.span)?;
                Ok(matches!(self.type_of(&val), Some(Type::Array(_) | Type::Ref(_))))
            }
            ExprKind::Attribute { value, attr, .. } => {
                if self.leads_to_memory(value)? {
                    return Ok(true);
                }
                // A struct held in a variable may have array fields.
                let path_type = self.static_type(value);
                Ok(path_type.and_then(Type::as_struct).is_some_and(|s| {
                    s.field_index(attr).is_some_and(|i| matches!(s.fields[i].ty, Type::Array(_)))
                }))
            }
            ExprKind::Subscript { value, .. } => self.leads_to_memory(value),
            _ => Ok(false),
        }
    }

    /// The type of a chain of names and attributes, without emitting anything.
    fn static_type(&mut self, expr: &Expr) -> Option<Type> {
        match &*expr.kind {
            ExprKind::Name(name) => {
                let var = self.names.get(name)?;
                match &self.slots[var.0] {
                    Slot::Set(val) => self.type_of(val),
                    _ => None,
                }
            }
            ExprKind::Attribute { value, attr, .. } => {
                let s = self.static_type(value)?.as_struct()?;
                Some(s.fields[s.field_index(attr)?].ty)
            }
            _ => None,
        }
    }

    fn resolve_place(&mut self, expr: &Expr) -> R<Resolved> {
        let outer = std::mem::replace(&mut self.span, expr.span);
        let result = self.resolve_place_inner(expr);
        self.span = outer;
        result
    }

    fn resolve_place_inner(&mut self, expr: &Expr) -> R<Resolved> {
        match &*expr.kind {
            ExprKind::Attribute { value, attr, attr_span } => {
                let base = self.resolve_place(value)?;
                match base {
                    Resolved::Memory(reference) => {
                        let target = self.function.ty(reference).as_ref_target().expect("a place is a ref");
                        if let Type::Struct(s) = target {
                            return match s.field_index(attr) {
                                Some(index) => {
                                    let field = self.builder().field(reference, index as u32);
                                    // An array held in memory is its descriptor.
                                    if matches!(s.fields[index].ty, Type::Array(_)) {
                                        return Ok(Resolved::Val(Val::Ir(self.builder().load(field))));
                                    }
                                    Ok(Resolved::Memory(field))
                                }
                                None => Err(self.no_attribute(&Val::Ir(reference), target, attr, *attr_span)),
                            };
                        }
                        if let Some(index) = component_name(target, attr) {
                            let index = self.builder().i32(index as i32);
                            return Ok(Resolved::Memory(self.builder().comp(reference, index)));
                        }
                        let whole = Val::Ir(self.builder().load(reference));
                        self.attribute(&whole, attr, *attr_span).map(Resolved::Val)
                    }
                    Resolved::Val(val) => self.attribute(&val, attr, *attr_span).map(Resolved::Val),
                }
            }
            ExprKind::Subscript { value, indices } => {
                if let Origin::Library(_) = self.origin
                    && let Some(pattern) = Pattern::from_annotation(expr)
                    && let Some(ty) = pattern.instantiate(&self.bindings)
                {
                    return Ok(Resolved::Val(Val::Type(ty)));
                }
                let base = self.resolve_place(value)?;
                match base {
                    Resolved::Memory(reference) => {
                        let target = self.function.ty(reference).as_ref_target().expect("a place is a ref");
                        if let Some(flat) = self.scalar_index(target, indices, expr.span)? {
                            return Ok(Resolved::Memory(self.builder().comp(reference, flat)));
                        }
                        let whole = Val::Ir(self.builder().load(reference));
                        self.index(&whole, indices, expr.span)
                    }
                    Resolved::Val(val) => self.index(&val, indices, expr.span),
                }
            }
            _ => self.expr(expr).map(Resolved::Val),
        }
    }

    fn index(&mut self, val: &Val, indices: &[Expr], span: Span) -> R<Resolved> {
        if let Val::Ir(array) = val
            && let Type::Array(ty) = self.function.ty(*array)
        {
            if indices.iter().any(|i| matches!(*i.kind, ExprKind::Slice { .. })) {
                return Err(self.report(
                    Diagnostic::new(
                        codes::EXPRESSION,
                        span,
                        "slices of arrays inside kernels are not available yet",
                    )
                    .help("index the elements, or slice the array before the launch"),
                ));
            }
            if indices.len() > ty.ndim as usize {
                let text = ty.elem.python_name();
                return Err(self.report(Diagnostic::new(
                    codes::INDEX,
                    span,
                    format!("{} indices for an array of {} dimensions of {text}", indices.len(), ty.ndim),
                )));
            }
            let mut values = Vec::new();
            for (dim, index) in indices.iter().enumerate() {
                let extent =
                    |cx: &mut Self| cx.builder().value(OpKind::Shape(dim as u32), [*array], Type::I32);
                values.push(self.array_index(index, extent)?);
            }
            return Ok(if values.len() == ty.ndim as usize {
                Resolved::Memory(self.builder().elem(*array, &values))
            } else {
                Resolved::Val(Val::Ir(self.builder().view(*array, &values)))
            });
        }
        self.component(val, indices, span).map(Resolved::Val)
    }

    /// An index into an array: any integer; negative ones count from the end.
    fn array_index(&mut self, expr: &Expr, extent: impl FnOnce(&mut Self) -> Value) -> R<Value> {
        let val = self.expr(expr)?;
        self.index_value(&val, expr.span, extent)
    }

    /// The same for a value.
    pub(super) fn index_value(
        &mut self,
        val: &Val,
        span: Span,
        extent: impl FnOnce(&mut Self) -> Value,
    ) -> R<Value> {
        let value = self.integer_index(val, span)?;
        if self.not_negative(value) {
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
                return Err(self.report(Diagnostic::new(
                    codes::INDEX,
                    span,
                    format!("an index must be an integer, not {what}"),
                )));
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
        let Some(op) = self.function.defining_op(value) else {
            return self.counts_up(value);
        };
        match &op.kind {
            OpKind::Const(c) => !matches!(c, inkle_ir::Constant::Int(i) if *i < 0),
            OpKind::Zero | OpKind::Tid(_) | OpKind::LaunchDim(_) | OpKind::Shape(_) => true,
            OpKind::Binary(
                BinaryOp::Add
                | BinaryOp::Mul
                | BinaryOp::Min
                | BinaryOp::Div
                | BinaryOp::FloorDiv
                | BinaryOp::Shr,
            ) => op.operands.iter().all(|v| self.not_negative(*v)),
            OpKind::Binary(BinaryOp::Max | BinaryOp::And) => {
                op.operands.iter().any(|v| self.not_negative(*v))
            }
            OpKind::Binary(BinaryOp::Rem) => self.not_negative(op.operands[0]),
            OpKind::Cast => {
                let from = self.function.ty(op.operands[0]);
                match from.as_scalar() {
                    Some(s) if s.is_int() && !s.is_signed() && s.size() < 8 => true,
                    Some(s) if s.is_int() => self.not_negative(op.operands[0]),
                    _ => false,
                }
            }
            OpKind::Select => self.not_negative(op.operands[1]) && self.not_negative(op.operands[2]),
            _ => false,
        }
    }

    /// Whether a value is the index of a loop that was noted to count up from zero or more.
    fn counts_up(&self, value: Value) -> bool {
        self.rising.contains(&value)
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
            Ok(val) => cx.slots[result.0] = Slot::Set(val),
            Err(Reported) => failed = true,
        };
        if when {
            self.branch(condition, run, |_| {});
        } else {
            self.branch(condition, |_| {}, run);
        }
        let slot = std::mem::replace(&mut self.slots[result.0], Slot::Unset);
        match slot {
            Slot::Set(val) if !failed => Ok(val),
            _ => Err(Reported),
        }
    }

    /// Whether evaluating an expression early costs little and can do no harm.
    fn is_cheap(&self, expr: &Expr) -> bool {
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
            let mut side = |cx: &mut Self, expr: &Expr, out: &mut Option<Val>| match cx
                .expr(expr)
                .and_then(|v| cx.settle(v, expr.span))
            {
                Ok(val) => {
                    *out = Some(val.clone());
                    cx.slots[result.0] = Slot::Set(val);
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
        match std::mem::replace(&mut self.slots[result.0], Slot::Unset) {
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

    pub(super) fn no_attribute(&mut self, _val: &Val, ty: Type, attr: &str, span: Span) -> Reported {
        let mut diagnostic = Diagnostic::new(
            codes::NO_ATTRIBUTE,
            span,
            format!("{} has no attribute `{attr}`", ty.python_name()),
        );
        let candidates: Vec<String> = match ty {
            Type::Struct(s) => s.fields.iter().map(|f| f.name.clone()).collect(),
            Type::Array(_) => {
                ["shape", "strides", "ptr", "ndim", "size", "dtype", "grad"].map(str::to_owned).to_vec()
            }
            _ => Vec::new(),
        };
        if let Some(near) = nearest(attr, &candidates) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        } else if !candidates.is_empty() {
            diagnostic = diagnostic.help(format!("it has {}", candidates.join(", ")));
        }
        self.report(diagnostic)
    }

    pub(super) fn object_or_type_attribute(&mut self, val: &Val, attr: &str, span: Span) -> R<Val> {
        match val {
            Val::Object(object) => self.object_attribute(*object, attr, span),
            other => {
                let what = self.describe(other);
                Err(self.report(Diagnostic::new(
                    codes::NO_ATTRIBUTE,
                    span,
                    format!("{what} has no attribute `{attr}`"),
                )))
            }
        }
    }
}

/// What a chain of attributes and subscripts gives: a place in memory not read yet, or a value.
pub(super) enum Resolved {
    Memory(Value),
    Val(Val),
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
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .iter()
        .map(|c| (distance(name, c), c.as_str()))
        .filter(|(d, c)| *d <= limit && *c != name)
        .min()
        .map(|(_, c)| c)
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
