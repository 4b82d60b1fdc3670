//! Arrays in kernels: elements, views and slices, and arrays that kernels make themselves.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{
    ArrayKind, BinaryOp, CmpOp, Constant, MAX_DIMS, MAX_LOCAL_SIZE, OpKind, Type, UnaryOp, Value,
};

use super::call::Args;
use super::codes;
use super::function::FunctionCx;
use super::place::Place;
use super::val::{R, Reported, Val};
use crate::builtins::Builtin;
use crate::env::ConstValue;
use crate::tree::{Expr, ExprKind};

/// No array is longer, so bounds and steps beyond choose the same elements.
const LONGEST: i128 = i32::MAX as i128;

/// One entry of a subscript, evaluated.
enum Index {
    /// One element, counted from the front.
    At(Value),
    /// The whole dimension.
    All,
    /// `start:stop:step`.
    Slice([Option<Bound>; 3]),
}

/// A bound or step of a slice.
#[derive(Clone, Copy)]
enum Bound {
    Known(i128),
    Value(Value),
}

/// The elements of a dimension that a slice chooses, i32.
struct Chosen {
    start: Value,
    extent: Value,
    step: Value,
}

impl FunctionCx<'_, '_> {
    /// `array[indices]`: an element's address, or a view.
    pub(super) fn element_place(&mut self, array: Value, indices: &[Expr], span: Span) -> R<Place> {
        let ty = self.function.ty(array).as_array().expect("the caller asked for an array");
        let ndim = ty.ndim as usize;
        let is_ellipsis = |i: &&Expr| matches!(*i.kind, ExprKind::Ellipsis);
        let ellipses = indices.iter().filter(is_ellipsis).count();
        let given = indices.len() - ellipses;
        if given > ndim {
            return Err(self.report(
                Diagnostic::new(
                    codes::INDEX,
                    span,
                    format!("{given} indices for an array of {ndim} dimensions"),
                )
                .help(format!("it takes {ndim}, its elements are {}", ty.elem.python_name())),
            ));
        }
        if let Some(second) = indices.iter().filter(is_ellipsis).nth(1) {
            return Err(self.report(
                Diagnostic::new(codes::INDEX, second.span, "`...` stands twice among the indices")
                    .help("leave one out: the other stands for all dimensions that have no index"),
            ));
        }
        let mut entries: Vec<Index> = Vec::new();
        for index in indices {
            let dim = entries.len() as u32;
            match &*index.kind {
                ExprKind::Ellipsis => entries.extend((given..ndim).map(|_| Index::All)),
                ExprKind::Slice { start, stop, step } => {
                    let slice = self.slice_bounds([start, stop, step].map(Option::as_ref))?;
                    let is_all = matches!(slice, [None, None, None | Some(Bound::Known(1))]);
                    if !(is_all && ty.kind == ArrayKind::Indexed || ty.kind == ArrayKind::Strided) {
                        return Err(self.report(
                            Diagnostic::new(
                                codes::INDEX,
                                index.span,
                                format!("an {} has no slices other than `:`", ty.kind.name()),
                            )
                            .help("index the elements, or choose fewer indices before the launch"),
                        ));
                    }
                    entries.push(if is_all { Index::All } else { Index::Slice(slice) });
                }
                _ => {
                    let val = self.expr(index)?;
                    let value = self.index_value(&val, index.span, |cx| cx.shape(array, dim))?;
                    entries.push(Index::At(value));
                }
            }
        }
        let elements: Vec<Value> =
            entries.iter().filter_map(|e| if let Index::At(v) = e { Some(*v) } else { None }).collect();
        if elements.len() == ndim {
            return self.element(array, &elements, span).map(Place::Memory);
        }
        if let ([Index::At(row), ..], true) = (entries.as_slice(), ty.kind.is_fabric()) {
            return self.fabric_row(array, ty, *row, span).map(|row| Place::Value(Val::Ir(row)));
        }
        let mut view = array;
        let mut dim = 0;
        for entry in entries {
            match entry {
                Index::At(value) => view = self.builder().view(view, value, dim),
                Index::All => dim += 1,
                Index::Slice(bounds) => {
                    let extent = self.shape(view, dim);
                    let Chosen { start, extent, step } = self.chosen(bounds, extent);
                    view = self.builder().window(view, start, extent, step, dim);
                    dim += 1;
                }
            }
        }
        Ok(Place::Value(Val::Ir(view)))
    }

    /// The address of an element.
    pub(super) fn element(&mut self, array: Value, indices: &[Value], span: Span) -> R<Value> {
        match self.function.ty(array) {
            Type::Array(ty) if ty.kind.is_fabric() => self.fabric_element(array, ty, indices, span),
            _ => Ok(self.builder().elem(array, indices)),
        }
    }

    /// Whether an array was made by a slice.
    pub(super) fn is_slice(&self, array: Value) -> bool {
        let Some(op) = self.function.defining_op(array) else { return false };
        match op.kind {
            OpKind::Window(_) => true,
            OpKind::View(dim) => dim > 0 || self.is_slice(op.operands[0]),
            _ => false,
        }
    }

    fn slice_bounds(&mut self, exprs: [Option<&Expr>; 3]) -> R<[Option<Bound>; 3]> {
        let mut bounds = [None; 3];
        for (place, expr) in exprs.into_iter().enumerate() {
            let Some(expr) = expr else { continue };
            let val = self.expr(expr)?;
            if matches!(val, Val::Const(ConstValue::None)) {
                continue;
            }
            let bound = match val.const_int() {
                Some(known) => Bound::Known(known.clamp(-LONGEST, LONGEST)),
                None => Bound::Value(self.integer_index(&val, expr.span)?),
            };
            if place == 2 && matches!(bound, Bound::Known(0)) {
                return Err(self.report(
                    Diagnostic::new(codes::INDEX, expr.span, "Slice step cannot be zero")
                        .help("use a step above or below zero"),
                ));
            }
            bounds[place] = Some(bound);
        }
        Ok(bounds)
    }

    /// The elements that `start:stop:step` chooses of `extent`, by Python's rules.
    fn chosen(&mut self, [start, stop, step]: [Option<Bound>; 3], extent: Value) -> Chosen {
        let step = step.unwrap_or(Bound::Known(1));
        // All arithmetic is in the widest type of the bounds; nothing overflows in i32 either.
        let is_wide = |bound: &Option<Bound>| matches!(bound, Some(Bound::Value(v)) if self.function.ty(*v) == Type::I64);
        let wide = [start, stop, Some(step)].iter().any(is_wide);
        let ty = if wide { Type::I64 } else { Type::I32 };
        let n = self.builder().cast(extent, ty);
        let [zero, one, minus] = [0, 1, -1].map(|i| self.integer(i, ty));
        let last = self.builder().binary(BinaryOp::Sub, n, one);
        // Where to begin and to end at the latest, on the way up and on the way down.
        let rises = match step {
            Bound::Known(step) => Err(step > 0),
            Bound::Value(step) => {
                let step = self.builder().cast(step, ty);
                let is_some = self.builder().cmp(CmpOp::Ne, step, zero);
                let message = "slice step cannot be zero".to_owned();
                self.builder().effect(OpKind::Assert(message), [is_some]);
                Ok(self.builder().cmp(CmpOp::Gt, step, zero))
            }
        };
        let either = |cx: &mut Self, up: Value, down: Value| match rises {
            Err(true) => up,
            Err(false) => down,
            Ok(rises) => cx.builder().select(rises, up, down),
        };
        let low = either(self, zero, minus);
        let high = either(self, n, last);
        let first = either(self, zero, last);
        let end = either(self, n, minus);
        let start = start.map_or(first, |bound| self.clipped(bound, n, low, high, ty));
        let stop = stop.map_or(end, |bound| self.clipped(bound, n, low, high, ty));
        let up = self.builder().binary(BinaryOp::Sub, stop, start);
        let down = self.builder().binary(BinaryOp::Sub, start, stop);
        let distance = either(self, up, down);
        let distance = self.builder().binary(BinaryOp::Max, distance, zero);
        let (step, size) = match step {
            Bound::Known(step) => (self.integer(step, ty), self.integer(step.abs(), ty)),
            Bound::Value(step) => {
                let step = self.builder().cast(step, ty);
                let [lowest, highest] = [-LONGEST, LONGEST].map(|i| self.integer(i, ty));
                let step = self.builder().binary(BinaryOp::Max, step, lowest);
                let step = self.builder().binary(BinaryOp::Min, step, highest);
                let size = self.builder().unary(UnaryOp::Abs, step);
                (step, self.builder().binary(BinaryOp::Max, size, one))
            }
        };
        // Rounded up; the usual step of one needs no division.
        let count = if size == one || self.is_one(size) {
            distance
        } else {
            let whole = self.builder().binary(BinaryOp::Div, distance, size);
            let rest = self.builder().binary(BinaryOp::Rem, distance, size);
            let more = self.builder().cmp(CmpOp::Ne, rest, zero);
            let more = self.builder().cast(more, ty);
            self.builder().binary(BinaryOp::Add, whole, more)
        };
        // On the way down an empty slice may begin before the array, where nothing may point.
        let start = if rises == Err(true) {
            start
        } else {
            let any = self.builder().cmp(CmpOp::Gt, count, zero);
            self.builder().select(any, start, zero)
        };
        let [start, extent, step] = [start, count, step].map(|v| self.builder().cast(v, Type::I32));
        Chosen { start, extent, step }
    }

    /// A bound counted from the front and kept within `low` and `high`.
    fn clipped(&mut self, bound: Bound, n: Value, low: Value, high: Value, ty: Type) -> Value {
        let from_end = |cx: &mut Self, bound: Value| {
            let wrapped = cx.builder().binary(BinaryOp::Add, bound, n);
            cx.builder().binary(BinaryOp::Max, wrapped, low)
        };
        match bound {
            Bound::Known(known) => {
                let bound = self.integer(known, ty);
                if known < 0 {
                    return from_end(self, bound);
                }
                self.builder().binary(BinaryOp::Min, bound, high)
            }
            Bound::Value(value) => {
                let bound = self.builder().cast(value, ty);
                let from_front = self.builder().binary(BinaryOp::Min, bound, high);
                if self.not_negative(bound) {
                    return from_front;
                }
                let zero = self.integer(0, ty);
                let negative = self.builder().cmp(CmpOp::Lt, bound, zero);
                let wrapped = from_end(self, bound);
                self.builder().select(negative, wrapped, from_front)
            }
        }
    }

    fn integer(&mut self, value: i128, ty: Type) -> Value {
        let scalar = ty.as_scalar().expect("an integer type");
        self.builder().constant(Constant::Int(value), scalar)
    }

    fn is_one(&self, value: Value) -> bool {
        let kind = self.function.defining_op(value).map(|op| &op.kind);
        matches!(kind, Some(OpKind::Const(Constant::Int(1))))
    }

    /// `wp.view(array, i, ...)`.
    pub(super) fn view(&mut self, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        let Some((Val::Ir(array), _)) = args.positional.first() else {
            return Err(self.no_overload(builtin, args, span));
        };
        let array = *array;
        let Some(ty) = self.function.ty(array).as_array() else {
            return Err(self.no_overload(builtin, args, span));
        };
        let count = args.positional.len() - 1;
        if count == 0 || count >= ty.ndim as usize {
            return Err(self.report(
                Diagnostic::new(
                    codes::INDEX,
                    span,
                    format!(
                        "a view of an array of {} dimensions takes 1 to {} indices",
                        ty.ndim,
                        ty.ndim - 1
                    ),
                )
                .help("index it with all indices to read an element"),
            ));
        }
        let mut indices = Vec::new();
        for (dim, (val, at)) in args.positional[1..].iter().enumerate() {
            indices.push(self.index_value(val, *at, |cx| cx.shape(array, dim as u32))?);
        }
        if ty.kind.is_fabric() {
            return self.fabric_row(array, ty, indices[0], span).map(Val::Ir);
        }
        let view = indices.into_iter().fold(array, |view, index| self.builder().view(view, index, 0));
        Ok(Val::Ir(view))
    }

    /// `wp.zeros(shape, dtype)`: an array of the thread's own.
    pub(super) fn local_array(&mut self, args: &Args, span: Span) -> R<Val> {
        let [shape, dtype] = self.named_arguments("zeros", args, ["shape", "dtype"], span)?;
        let elem = match dtype {
            None => Type::F32,
            Some((val, at)) => self.element_type(&val, at)?,
        };
        let (shape, at) = shape.ok_or_else(|| self.missing("zeros", "shape", span))?;
        let items = match &shape {
            Val::Tuple(items) => items.to_vec(),
            other => vec![other.clone()],
        };
        let mut extents = Vec::new();
        for item in &items {
            let known = item.const_int().filter(|n| (1..=LONGEST).contains(n));
            let Some(extent) = known else {
                return Err(self.report(
                    Diagnostic::new(
                        codes::NEEDS_CONSTANT,
                        at,
                        "the shape of an array made in a kernel must be known while compiling, and positive",
                    )
                    .help("write numbers, global constants or `wp.static(...)`; for sizes known later pass an array to the kernel"),
                ));
            };
            extents.push(extent as u32);
        }
        if !(1..=MAX_DIMS).contains(&extents.len()) {
            let count = extents.len();
            return Err(self.report(
                Diagnostic::new(codes::NEEDS_CONSTANT, at, format!("a shape of {count} dimensions"))
                    .help("arrays have 1 to 4 dimensions"),
            ));
        }
        let size = extents.iter().fold(u64::from(elem.size()), |n, &e| n.saturating_mul(e.into()));
        if size > MAX_LOCAL_SIZE {
            return Err(self.report(
                Diagnostic::new(
                    codes::NEEDS_CONSTANT,
                    at,
                    format!("the array takes {size} bytes for each thread, more than {MAX_LOCAL_SIZE}"),
                )
                .help("pass an array with a part for each thread to the kernel"),
            ));
        }
        Ok(Val::Ir(self.builder().local(elem, &extents)))
    }

    /// `wp.array(ptr, shape, dtype)`: the array at an address.
    pub(super) fn array_at(&mut self, args: &Args, span: Span) -> R<Val> {
        let [ptr, shape, dtype] = self.named_arguments("array", args, ["ptr", "shape", "dtype"], span)?;
        let (ptr, ptr_at) = ptr.ok_or_else(|| self.missing("array", "ptr", span))?;
        let (shape, shape_at) = shape.ok_or_else(|| self.missing("array", "shape", span))?;
        let (dtype, dtype_at) = dtype.ok_or_else(|| self.missing("array", "dtype", span))?;
        let elem = self.element_type(&dtype, dtype_at)?;
        let address = self.value_of(&ptr, ptr_at)?;
        if self.function.ty(address) != Type::U64 {
            let what = self.describe(&ptr);
            return Err(self.report(
                Diagnostic::new(codes::NO_OVERLOAD, ptr_at, format!("an address is a uint64, not {what}"))
                    .help("use the `.ptr` of an array, or convert with `wp.uint64(...)`"),
            ));
        }
        let items = match &shape {
            Val::Tuple(items) => items.to_vec(),
            other => vec![other.clone()],
        };
        if !(1..=MAX_DIMS).contains(&items.len()) {
            let count = items.len();
            return Err(self.report(
                Diagnostic::new(codes::NO_OVERLOAD, shape_at, format!("a shape of {count} dimensions"))
                    .help("arrays have 1 to 4 dimensions"),
            ));
        }
        let mut operands = vec![address];
        for item in &items {
            let extent = self.integer_index(item, shape_at)?;
            operands.push(self.builder().cast(extent, Type::I32));
        }
        let ty = Type::array(elem, items.len() as u32);
        Ok(Val::Ir(self.builder().value(OpKind::ArrayAt, operands, ty)))
    }

    fn element_type(&mut self, val: &Val, span: Span) -> R<Type> {
        match val {
            Val::Type(ty) if ty.as_array().is_none() => Ok(*ty),
            other => {
                let what = self.describe(other);
                Err(self.report(
                    Diagnostic::new(codes::NOT_A_VALUE, span, format!("`dtype` must be a type, not {what}"))
                        .help("write `dtype=float`, a vector type, a struct or another type of values"),
                ))
            }
        }
    }

    /// The arguments by name, or by place in the order of the names.
    fn named_arguments<const N: usize>(
        &mut self,
        function: &str,
        args: &Args,
        names: [&str; N],
        span: Span,
    ) -> R<[Option<(Val, Span)>; N]> {
        let mut out = [const { None }; N];
        let fits = args.positional.len() <= N;
        for (slot, arg) in out.iter_mut().zip(&args.positional) {
            *slot = Some(arg.clone());
        }
        for (name, val, at) in &args.keywords {
            match names.iter().position(|n| n == name) {
                Some(place) if out[place].is_none() => out[place] = Some((val.clone(), *at)),
                _ => return Err(self.not_an_argument(function, &names, *at)),
            }
        }
        if fits { Ok(out) } else { Err(self.not_an_argument(function, &names, span)) }
    }

    fn not_an_argument(&mut self, function: &str, names: &[&str], span: Span) -> Reported {
        let names = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        self.report(
            Diagnostic::new(
                codes::ARGUMENTS,
                span,
                format!("`{function}` in a kernel does not take this argument"),
            )
            .help(format!("it takes {names}, each once")),
        )
    }

    fn missing(&mut self, function: &str, name: &str, span: Span) -> Reported {
        self.report(
            Diagnostic::new(codes::ARGUMENTS, span, format!("`{function}` misses the argument `{name}`"))
                .help(format!("write `{name}=...`")),
        )
    }
}
