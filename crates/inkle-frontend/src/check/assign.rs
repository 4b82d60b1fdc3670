//! Assignment: names, unpacking, components of locals, memory.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{AtomicOp, Scalar, Type, Value};

use super::codes;
use super::expr::Placed;
use super::function::FunctionCx;
use super::val::{R, Reported, Slot, Val, VarId};
use crate::builtins::{Lower, Special};
use crate::env::ConstValue;
use crate::tree::{BinOp, Expr, ExprKind};

impl FunctionCx<'_, '_> {
    /// `a = b = value`.
    pub(super) fn assign_statement(&mut self, targets: &[Expr], value: &Expr) -> R<()> {
        // `i, j = tid()` gives as many indices as there are targets.
        if let [target] = targets
            && let ExprKind::Tuple(items) = &*target.kind
            && let Some(dims) = self.tid_call(value, items.len())?
        {
            return self.assign(target, dims, value.span);
        }
        let val = self.expr(value)?;
        let val = self.settle(val, value.span)?;
        for target in targets {
            self.assign(target, val.clone(), value.span)?;
        }
        Ok(())
    }

    fn tid_call(&mut self, value: &Expr, count: usize) -> R<Option<Val>> {
        let ExprKind::Call { func, args, keywords } = &*value.kind else { return Ok(None) };
        if !args.is_empty() || !keywords.is_empty() {
            return Ok(None);
        }
        let Val::Builtin(name) = self.expr(func)? else { return Ok(None) };
        match crate::builtins::lookup(&name).map(|b| b.lower) {
            Some(Lower::Special(Special::Tid)) => {}
            _ => return Ok(None),
        }
        if !(1..=inkle_ir::MAX_DIMS).contains(&count) {
            return Err(self.report(Diagnostic::new(
                codes::UNPACK,
                value.span,
                format!("`tid()` gives 1 to 4 indices, not {count}"),
            )));
        }
        let dims = (0..count as u32).map(|dim| Val::Ir(self.tid(dim))).collect();
        Ok(Some(Val::tuple(dims)))
    }

    /// `target: annotation = value`.
    pub(super) fn annotated(&mut self, target: &Expr, annotation: &Expr, value: Option<&Expr>) -> R<()> {
        let Some(value) = value else { return Ok(()) };
        let val = self.expr(value)?;
        let val = match self.expr(annotation)? {
            Val::Type(ty) => match self.coerce(&val, ty, value.span) {
                Some(converted) => Val::Ir(converted),
                None => {
                    let (what, ty) = (self.describe(&val), ty.python_name());
                    return Err(self.report(
                        Diagnostic::new(
                            codes::CONVERSION,
                            value.span,
                            format!("the variable is annotated {ty} but the value is {what}"),
                        )
                        .help(format!("convert explicitly: `{ty}(...)`")),
                    ));
                }
            },
            _ => self.settle(val, value.span)?,
        };
        self.assign(target, val, value.span)
    }

    /// Assigns a value to a name, a tuple of targets, a component of a local or a place in memory.
    pub(super) fn assign(&mut self, target: &Expr, val: Val, value_span: Span) -> R<()> {
        match &*target.kind {
            ExprKind::Name(name) => {
                let var = self.variable(name);
                self.slots[var.0] = Slot::Set(val);
                Ok(())
            }
            ExprKind::Tuple(targets) | ExprKind::List(targets) => {
                let items = match self.items_of(&val) {
                    Some(items) if items.len() == targets.len() => items,
                    Some(items) => {
                        return Err(self.report(Diagnostic::new(
                            codes::UNPACK,
                            target.span,
                            format!("{} targets for {} values", targets.len(), items.len()),
                        )));
                    }
                    None => {
                        let what = self.describe(&val);
                        return Err(self.report(Diagnostic::new(
                            codes::UNPACK,
                            value_span,
                            format!("cannot unpack {what} into {} targets", targets.len()),
                        )));
                    }
                };
                for (target, item) in targets.iter().zip(items) {
                    self.assign(target, item, value_span)?;
                }
                Ok(())
            }
            ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => self.store(target, &val, value_span),
            _ => {
                let text = self.text_of(target.span);
                Err(self.report(Diagnostic::new(
                    codes::EXPRESSION,
                    target.span,
                    format!("cannot assign to `{text}`"),
                )))
            }
        }
    }

    /// Stores to `x.y` or `x[i]`: memory when it leads there, else a component of a local.
    fn store(&mut self, target: &Expr, val: &Val, value_span: Span) -> R<()> {
        match self.place(target)? {
            Placed::Memory(reference) => self.store_to(reference, val, target.span, value_span),
            Placed::Component => self.set_component(target, val, value_span),
            Placed::Value(whole) => {
                let what = self.describe(&whole);
                let text = self.text_of(target.span);
                Err(self.report(Diagnostic::new(
                    codes::STORE_TYPE,
                    target.span,
                    format!("cannot assign to `{text}`, which is {what}"),
                )))
            }
        }
    }

    fn store_to(&mut self, reference: Value, val: &Val, target_span: Span, value_span: Span) -> R<()> {
        let ty = self.function.ty(reference).as_ref_target().expect("a place is a ref");
        let Some(value) = self.coerce_stored(val, ty, value_span) else {
            return Err(self.wrong_store(val, ty, target_span, value_span));
        };
        self.builder().store(reference, value);
        Ok(())
    }

    fn coerce_stored(&mut self, val: &Val, ty: Type, span: Span) -> Option<Value> {
        if self.type_of(val) == Some(ty) { self.value_of(val, span).ok() } else { None }
    }

    pub(super) fn wrong_store(
        &mut self,
        val: &Val,
        ty: Type,
        target_span: Span,
        value_span: Span,
    ) -> Reported {
        let given = self.describe(val);
        let (target, wanted) = (self.text_of(target_span), ty.python_name());
        let help = match ty {
            Type::Scalar(s) => format!("convert explicitly: `{}`", conversion(s, &self.text_of(value_span))),
            _ => format!("make the value a {wanted}"),
        };
        self.report(
            Diagnostic::new(
                codes::STORE_TYPE,
                value_span,
                format!("cannot store {given} in `{target}`, which holds {wanted}"),
            )
            .label(format!("this is {given}"))
            .help(help),
        )
    }

    /// Replaces a component of a local: makes the changed whole and assigns it to where the whole came from.
    fn set_component(&mut self, target: &Expr, val: &Val, value_span: Span) -> R<()> {
        match &*target.kind {
            ExprKind::Attribute { value: base, attr, attr_span } => {
                let whole = self.expr(base)?;
                let changed = self.with_attribute(&whole, attr, *attr_span, val, value_span)?;
                self.assign_back(base, changed, value_span)
            }
            ExprKind::Subscript { value: base, indices } => {
                let whole = self.expr(base)?;
                let changed = self.with_index(&whole, indices, target.span, val, value_span)?;
                self.assign_back(base, changed, value_span)
            }
            _ => unreachable!("components are attributes or subscripts"),
        }
    }

    fn assign_back(&mut self, base: &Expr, changed: Val, value_span: Span) -> R<()> {
        match &*base.kind {
            ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => {
                self.assign(base, changed, value_span)
            }
            _ => Err(self.report(Diagnostic::new(
                codes::EXPRESSION,
                base.span,
                "cannot assign to a component of a temporary value",
            ))),
        }
    }

    /// `target op= value`.
    pub(super) fn augmented(&mut self, target: &Expr, op: BinOp, value: &Expr) -> R<()> {
        if let ExprKind::Name(name) = &*target.kind {
            let var = self.variable(name);
            let old = self.read(var, name, target.span)?;
            let right = self.expr(value)?;
            let span = target.span.to(value.span);
            let new = self.binary(op, &old, target.span, &right, value.span, span)?;
            let new = self.settle(new, span)?;
            return self.assign(target, new, value.span);
        }
        match self.place(target)? {
            Placed::Memory(reference) => self.augment_memory(target, reference, op, value),
            Placed::Component => {
                let old = self.expr(target)?;
                let right = self.expr(value)?;
                let new =
                    self.binary(op, &old, target.span, &right, value.span, target.span.to(value.span))?;
                self.set_component(target, &new, value.span)
            }
            Placed::Value(whole) => {
                let what = self.describe(&whole);
                Err(self.report(Diagnostic::new(
                    codes::STORE_TYPE,
                    target.span,
                    format!("cannot change {what} in place"),
                )))
            }
        }
    }

    /// `array[i] += value` is one atomic operation where the hardware has one; everything else reads, computes
    /// and writes in that order.
    fn augment_memory(&mut self, target: &Expr, reference: Value, op: BinOp, value: &Expr) -> R<()> {
        let ty = self.function.ty(reference).as_ref_target().expect("a place is a ref");
        let whole_element =
            matches!(self.function.defining_op(reference).map(|op| &op.kind), Some(inkle_ir::OpKind::Elem));
        let numeric = ty.scalar().is_some_and(|s| s != Scalar::Bool);
        let integer = ty.scalar().is_some_and(|s| s.is_int() && s.size() >= 4);
        let atomic = match op {
            BinOp::Add if numeric => Some(AtomicOp::Add),
            BinOp::Sub if numeric => Some(AtomicOp::Sub),
            BinOp::BitAnd if integer => Some(AtomicOp::And),
            BinOp::BitOr if integer => Some(AtomicOp::Or),
            BinOp::BitXor if integer => Some(AtomicOp::Xor),
            _ => None,
        };
        if let (Some(atomic), true) = (atomic, whole_element) {
            let right = self.expr(value)?;
            let Some(right_value) = self.coerce_stored(&right, ty, value.span) else {
                return Err(self.wrong_store(&right, ty, target.span, value.span));
            };
            self.span = target.span.to(value.span);
            self.builder().atomic(atomic, reference, right_value);
            return Ok(());
        }
        self.span = target.span;
        let old = Val::Ir(self.builder().load(reference));
        let right = self.expr(value)?;
        let new = self.binary(op, &old, target.span, &right, value.span, target.span.to(value.span))?;
        self.store_to(reference, &new, target.span, value.span)
    }

    /// The value of a variable, or a diagnosis of why it has none.
    pub(super) fn read(&mut self, var: VarId, name: &str, span: Span) -> R<Val> {
        match self.slots[var.0].clone() {
            Slot::Set(val) => Ok(val),
            Slot::Poisoned => Err(Reported),
            Slot::Unset => Err(self.report(
                Diagnostic::new(
                    codes::MAYBE_UNSET,
                    span,
                    format!("variable `{name}` is read before it is set"),
                )
                .help(format!(
                    "set `{name}` first; an assignment anywhere in a function makes a name local to it"
                )),
            )),
            Slot::MaybeUnset(branch) => Err(self.report(
                Diagnostic::new(
                    codes::MAYBE_UNSET,
                    span,
                    format!("variable `{name}` may be read before it is set"),
                )
                .also(branch, "it is set only on some paths through here")
                .help(format!("set `{name}` before this branch or loop")),
            )),
            Slot::Conflict(branch, one, other) => Err(self.report(
                Diagnostic::new(
                    codes::BRANCH_TYPE,
                    span,
                    format!("variable `{name}` is {one} or {other}, depending on the path taken"),
                )
                .also(branch, "the paths part here")
                .help("give it one type on every path"),
            )),
        }
    }

    /// A constant `bool` or an IR `bool` from anything that has a truth value.
    pub(super) fn truth(&mut self, val: &Val, span: Span) -> R<Val> {
        use inkle_ir::{CmpOp, Constant};
        match val {
            Val::Const(ConstValue::Str(text)) => return Ok(Val::bool(!text.is_empty())),
            Val::Const(ConstValue::None) => return Ok(Val::bool(false)),
            Val::Const(c) => {
                if let Some(Constant::Bool(b)) = c.scalar().map(|c| c.convert(Scalar::Bool)) {
                    return Ok(Val::bool(b));
                }
            }
            _ => {}
        }
        match self.type_of(val) {
            Some(Type::Scalar(Scalar::Bool)) => Ok(val.clone()),
            Some(ty @ Type::Scalar(_)) => {
                let value = self.value_of(val, span)?;
                let zero = self.builder().zero(ty);
                Ok(Val::Ir(self.builder().cmp(CmpOp::Ne, value, zero)))
            }
            Some(Type::Array(_)) => {
                let value = self.value_of(val, span)?;
                Ok(Val::Ir(self.array_is_passed(value)))
            }
            _ => {
                let what = self.describe(val);
                Err(self.report(
                    Diagnostic::new(codes::CONDITION, span, format!("{what} has no truth value"))
                        .help("compare it with something"),
                ))
            }
        }
    }

    pub(super) fn array_is_passed(&mut self, array: Value) -> Value {
        let address = self.builder().value(inkle_ir::OpKind::Address, [array], Type::U64);
        let zero = self.builder().zero(Type::U64);
        self.builder().cmp(inkle_ir::CmpOp::Ne, address, zero)
    }
}

/// How a conversion to a scalar is written.
pub(super) fn conversion(scalar: Scalar, text: &str) -> String {
    match scalar {
        Scalar::F32 => format!("float({text})"),
        Scalar::I32 => format!("int({text})"),
        Scalar::Bool => format!("bool({text})"),
        other => format!("wp.{}({text})", other.python_name()),
    }
}
