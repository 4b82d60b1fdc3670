//! Assignment: names, unpacking, components of locals, memory.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{AtomicOp, Scalar, Type, Value};

use super::codes;
use super::function::FunctionCx;
use super::place::Place;
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
        if let Val::Const(ConstValue::None) = val {
            return Err(self.report(
                Diagnostic::new(
                    codes::NOT_A_VALUE,
                    value.span,
                    "`None` is not a value kernels can compute with",
                )
                .help("set the variable to a number first, or leave the assignment out"),
            ));
        }
        let val = self.settle(val);
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
        // Names and attributes have no effect, so looking at the function twice does no harm.
        let named = |path: Vec<&str>| path.last().is_some_and(|name| matches!(*name, "tid" | "@tid"));
        if !func.path().is_some_and(named) {
            return Ok(None);
        }
        let Val::Builtin(name) = self.expr(func)? else { return Ok(None) };
        match crate::builtins::lookup(&name).map(|b| b.lower) {
            Some(Lower::Special(Special::Tid)) => self.kernels_only(value.span)?,
            _ => return Ok(None),
        }
        if !(1..=inkle_ir::MAX_DIMS).contains(&count) {
            return Err(self.report(
                Diagnostic::new(
                    codes::UNPACK,
                    value.span,
                    format!("`tid()` gives 1 to 4 indices, not {count}"),
                )
                .help("a launch has at most 4 dimensions"),
            ));
        }
        let dims = (0..count as u32).map(|dim| Val::Ir(self.tid(dim))).collect();
        Ok(Some(Val::tuple(dims)))
    }

    /// `target: annotation = value`.
    pub(super) fn annotated(&mut self, target: &Expr, annotation: &Expr, value: Option<&Expr>) -> R<()> {
        let Some(value) = value else { return Ok(()) };
        let val = self.expr(value)?;
        let val = match self.expr(annotation)? {
            Val::Type(ty) => match self.annotated_value(&val, ty) {
                Some(converted) => converted,
                None => {
                    let (what, name) = (self.describe(&val), ty.python_name());
                    let text = self.text_of(value.span);
                    let help = match ty {
                        Type::Scalar(s) => format!("convert the value: `{}`", conversion(s, &text)),
                        _ => format!("make the value a {name}, or change the annotation"),
                    };
                    return Err(self.report(
                        Diagnostic::new(
                            codes::CONVERSION,
                            value.span,
                            format!("the variable is annotated {name} but the value is {what}"),
                        )
                        .also(annotation.span, "the annotation")
                        .help(help),
                    ));
                }
            },
            _ => self.settle(val),
        };
        self.assign(target, val, value.span)
    }

    /// The value as a `ty`; a number stays known while compiling.
    fn annotated_value(&self, val: &Val, ty: Type) -> Option<Val> {
        if self.type_of(val) == Some(ty) {
            return Some(self.settle(val.clone()));
        }
        let scalar = ty.as_scalar()?;
        let c = match val {
            Val::Const(c @ ConstValue::Int(_)) if scalar.is_int() => c,
            Val::Const(c @ ConstValue::Float(_)) if scalar.is_float() => c,
            _ => return None,
        };
        Some(Val::Const(ConstValue::Typed(c.scalar()?.convert(scalar), scalar)))
    }

    /// Assigns a value to a name, a tuple of targets, a component of a local or a place in memory.
    pub(super) fn assign(&mut self, target: &Expr, val: Val, value_span: Span) -> R<()> {
        match &*target.kind {
            ExprKind::Name(name) => self.set_variable(name, val, target.span, value_span),
            ExprKind::Tuple(targets) | ExprKind::List(targets) => {
                let items = match self.items_of(&val) {
                    Some(items) if items.len() == targets.len() => items,
                    Some(items) => {
                        return Err(self.report(
                            Diagnostic::new(
                                codes::UNPACK,
                                target.span,
                                format!("{} targets for {} values", targets.len(), items.len()),
                            )
                            .help(format!("write {} targets", items.len())),
                        ));
                    }
                    None => {
                        let what = self.describe(&val);
                        return Err(self.report(
                            Diagnostic::new(
                                codes::UNPACK,
                                value_span,
                                format!("cannot unpack {what} into {} targets", targets.len()),
                            )
                            .help("tuples, vectors, matrices, quaternions and shapes can be unpacked"),
                        ));
                    }
                };
                for (target, item) in targets.iter().zip(items) {
                    self.assign(target, item, value_span)?;
                }
                Ok(())
            }
            ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => {
                let place = self.place(target)?;
                self.span = target.span.to(value_span);
                self.set(&place, &val, target.span, value_span)
            }
            _ => {
                let text = self.text_of(target.span);
                Err(self.report(
                    Diagnostic::new(codes::EXPRESSION, target.span, format!("cannot assign to `{text}`"))
                        .help("assign to a variable, a component, a field or an element of an array"),
                ))
            }
        }
    }

    fn set_variable(&mut self, name: &str, val: Val, target_span: Span, value_span: Span) -> R<()> {
        let var = self.variable(name);
        if let Some(address) = self.address_in(var) {
            self.span = target_span.to(value_span);
            return self.set(&Place::Memory(address), &val, target_span, value_span);
        }
        if !matches!(self.slots[var.0], Slot::Set(_))
            && let Some(address) = self.memory_for(var, name, &val)
        {
            let value = self.value_of(&val, value_span)?;
            self.builder().store(address, value);
            self.set_at.entry(var).or_insert(target_span);
            self.slots.set(var, Slot::Set(Val::Ir(address)));
            self.note_set(var);
            return Ok(());
        }
        if let Slot::Set(old) = &self.slots[var.0] {
            let (was, is) = (self.shape_types(old), self.shape_types(&val));
            // Types, functions and other things without a value can be replaced by their like, an array by one of other
            // dimensions, such as a part of it.
            let differ_in_dims = match (was.as_deref(), is.as_deref()) {
                (Some([Type::Array(a)]), Some([Type::Array(b)])) => a.elem == b.elem && a.kind == b.kind,
                _ => false,
            };
            if was != is && !differ_in_dims {
                let old = old.clone();
                return Err(self.changed_type(name, &old, &val, value_span));
            }
        }
        self.set_at.entry(var).or_insert(target_span);
        self.slots.set(var, Slot::Set(val));
        self.note_set(var);
        Ok(())
    }

    /// Reports a variable that is given a value of another type.
    pub(super) fn changed_type(&mut self, name: &str, old: &Val, new: &Val, span: Span) -> Reported {
        let (was, is) = (self.describe(old), self.describe(new));
        let message = match old {
            Val::Function(_) | Val::Builtin(_) => {
                format!("rebinding function-valued local `{name}` to a non-function: it cannot become {is}")
            }
            _ => format!("variable `{name}` is {was} and cannot become {is}"),
        };
        let mut diagnostic =
            Diagnostic::new(codes::CHANGED_TYPE, span, message).label(format!("this is {is}"));
        if let Some(at) = self.names.get(name).and_then(|var| self.set_at.get(var)) {
            diagnostic = diagnostic.also(*at, format!("it is {was} from here on"));
        }
        let help = match self.type_of(old) {
            Some(Type::Scalar(s)) if self.type_of(new).is_some_and(|ty| ty.as_scalar().is_some()) => {
                format!("convert the value, `{}`, or use another name", conversion(s, &self.text_of(span)))
            }
            _ => "a variable keeps one type; use another name".into(),
        };
        self.report(diagnostic.help(help))
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
        let is_number = self.type_of(val).is_some_and(|ty| ty.as_scalar().is_some());
        let help = match ty {
            Type::Scalar(s) if is_number => {
                format!("convert it: `{}`", conversion(s, &self.text_of(value_span)))
            }
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

    /// `target op= value`: the target is read first, then the value is evaluated.
    pub(super) fn augmented(&mut self, target: &Expr, op: BinOp, value: &Expr) -> R<()> {
        let span = target.span.to(value.span);
        let place = match &*target.kind {
            ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => {
                self.place(target)?
            }
            _ => {
                let text = self.text_of(target.span);
                return Err(self.report(
                    Diagnostic::new(
                        codes::EXPRESSION,
                        target.span,
                        format!("cannot change `{text}` in place"),
                    )
                    .help("change a variable, a component, a field or an element of an array"),
                ));
            }
        };
        if let Place::Memory(reference) = place {
            return self.augment_memory(target, reference, op, value);
        }
        if let Place::Value(whole) = &place {
            return Err(self.not_assignable(whole, target.span));
        }
        self.span = target.span;
        let old = self.get(&place)?;
        let right = self.expr(value)?;
        let new = self.binary(op, &old, target.span, &right, value.span, span)?;
        let new = self.settle(new);
        self.span = span;
        self.set(&place, &new, target.span, value.span)
    }

    /// `array[i] += value` is one atomic operation where the hardware has one, and so is the update of a component
    /// or field of an element, unless `value` writes to memory: then the target is read before that. Everything
    /// else reads, computes and writes in that order.
    fn augment_memory(&mut self, target: &Expr, reference: Value, op: BinOp, value: &Expr) -> R<()> {
        let ty = self.function.ty(reference).as_ref_target().expect("a place is a ref");
        let whole_element =
            matches!(self.function.defining_op(reference).map(|op| &op.kind), Some(inkle_ir::OpKind::Elem));
        let in_element = self.is_in_element(reference);
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
        let (block, before) = (self.block, self.function.block(self.block).ops.len());
        let right = self.expr(value)?;
        if let (Some(atomic), true) = (atomic, in_element)
            && self.type_of(&right) == Some(ty)
            && self.block == block
            && !self.checker.module.writes(&self.function.block(block).ops[before..], &self.function)
        {
            let right = self.value_of(&right, value.span)?;
            self.span = target.span.to(value.span);
            self.builder().atomic(atomic, reference, right);
            return Ok(());
        }
        let new = self.binary(op, &old, target.span, &right, value.span, target.span.to(value.span))?;
        self.span = target.span.to(value.span);
        self.set(&Place::Memory(reference), &new, target.span, value.span)
    }

    /// Whether an address is that of an array's element or in one.
    fn is_in_element(&self, reference: Value) -> bool {
        let Some(op) = self.function.defining_op(reference) else { return false };
        match op.kind {
            // A variable's own memory is no array of the program's.
            inkle_ir::OpKind::Elem => !self.memory.values().any(|address| *address == reference),
            inkle_ir::OpKind::Comp | inkle_ir::OpKind::Field(_) => self.is_in_element(op.operands[0]),
            _ => false,
        }
    }

    /// The value of a variable, or a diagnosis of why it has none.
    pub(super) fn read(&mut self, var: VarId, name: &str, span: Span) -> R<Val> {
        if let Some(address) = self.address_in(var) {
            return Ok(Val::Ir(self.builder().load(address)));
        }
        match self.slots[var.0].clone() {
            Slot::Set(val) => {
                self.confirm_set(var, name, span)?;
                Ok(val)
            }
            Slot::Poisoned => Err(Reported),
            Slot::Unset => Err(self.never_set(name, span)),
            Slot::MaybeUnset(gap) => self.read_doubtful(var, name, &gap, span),
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
        if let Some(c) = val.const_scalar() {
            // In the type it has: what is nothing in float32 is false.
            let c = self.type_of(val).and_then(Type::as_scalar).map_or(c, |s| c.convert(s));
            if let Constant::Bool(known) = c.convert(Scalar::Bool) {
                return Ok(Val::bool(known));
            }
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
                        .help("numbers, `bool` and arrays have one; write a comparison"),
                ))
            }
        }
    }

    pub(super) fn array_is_passed(&mut self, array: Value) -> Value {
        let address = self.address(array);
        let zero = self.builder().zero(Type::U64);
        self.builder().cmp(inkle_ir::CmpOp::Ne, address, zero)
    }
}

/// How a conversion to a scalar is written.
pub(super) fn conversion(scalar: Scalar, text: &str) -> String {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let text = if scalar.is_float() && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        let whole = format!("{text}.0");
        if scalar == Scalar::F32 {
            return whole;
        }
        whole
    } else {
        text.to_owned()
    };
    match scalar {
        Scalar::F32 => format!("float({text})"),
        Scalar::I32 => format!("int({text})"),
        Scalar::Bool => format!("bool({text})"),
        other => format!("wp.{}({text})", other.python_name()),
    }
}
