//! Attributes and components of values: reading them, and making a value with one replaced.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{BinaryOp, Constant, OpKind, Scalar, Type, Value};

use super::codes;
use super::expr::component_name;
use super::function::FunctionCx;
use super::val::{R, Val};
use crate::env::ConstValue;
use crate::tree::{Expr, ExprKind};

/// Indices of one axis: one component or several.
enum Axis {
    Constant(u32),
    Dynamic(Value),
    Many(Vec<u32>),
}

impl FunctionCx<'_, '_> {
    /// `val.attr`.
    pub(super) fn attribute(&mut self, val: &Val, attr: &str, span: Span) -> R<Val> {
        if let Val::Type(ty) = val {
            return match (attr, ty.scalar()) {
                ("dtype", Some(scalar)) => Ok(Val::Type(Type::Scalar(scalar))),
                _ => self.object_or_type_attribute(val, attr, span),
            };
        }
        let Some(ty) = self.type_of(val) else {
            return self.object_or_type_attribute(val, attr, span);
        };
        match ty {
            Type::Array(a) => {
                let array = self.value_of(val, span)?;
                match attr {
                    "shape" => Ok(Val::tuple((0..a.ndim).map(|d| Val::Ir(self.shape(array, d))).collect())),
                    "strides" => Ok(Val::tuple(
                        (0..a.ndim)
                            .map(|d| {
                                let stride = self.builder().value(OpKind::Stride(d), [array], Type::I64);
                                Val::Ir(self.builder().cast(stride, Type::I32))
                            })
                            .collect(),
                    )),
                    "ptr" => Ok(Val::Ir(self.builder().value(OpKind::Address, [array], Type::U64))),
                    "ndim" => Ok(Val::typed_int(a.ndim.into(), Scalar::I32)),
                    "size" => {
                        let mut size = self.shape(array, 0);
                        for d in 1..a.ndim {
                            let extent = self.shape(array, d);
                            size = self.builder().binary(BinaryOp::Mul, size, extent);
                        }
                        Ok(Val::Ir(size))
                    }
                    "dtype" => Ok(Val::Type(a.elem)),
                    "grad" => Ok(Val::Ir(self.builder().value(OpKind::GradArray, [array], ty))),
                    _ => Err(self.no_attribute(val, ty, attr, span)),
                }
            }
            Type::Struct(s) => match s.field_index(attr) {
                Some(index) => match val {
                    Val::Const(ConstValue::Struct { fields, .. }) => Ok(Val::Const(fields[index].clone())),
                    _ => {
                        let whole = self.value_of(val, span)?;
                        Ok(Val::Ir(self.builder().extract(whole, index as u32)))
                    }
                },
                None => Err(self.no_attribute(val, ty, attr, span)),
            },
            Type::Transform(scalar) if attr == "p" || attr == "q" => {
                let whole = self.value_of(val, span)?;
                let (range, part) =
                    if attr == "p" { (0..3, Type::vec(3, scalar)) } else { (3..7, Type::Quat(scalar)) };
                let parts: Vec<Value> = range.map(|i| self.builder().extract(whole, i)).collect();
                Ok(Val::Ir(self.builder().value(OpKind::Construct, parts, part)))
            }
            _ => {
                if attr == "dtype"
                    && let Some(scalar) = ty.scalar()
                {
                    return Ok(Val::Type(Type::Scalar(scalar)));
                }
                match component_name(ty, attr) {
                    Some(index) => self.flat_component(val, ty, index, span),
                    None => Err(self.no_attribute(val, ty, attr, span)),
                }
            }
        }
    }

    pub(super) fn shape(&mut self, array: Value, dim: u32) -> Value {
        self.builder().value(OpKind::Shape(dim), [array], Type::I32)
    }

    fn flat_component(&mut self, val: &Val, ty: Type, index: u32, span: Span) -> R<Val> {
        if let Val::Const(ConstValue::Composite { components, .. }) = val {
            let scalar = ty.scalar().expect("composites have a scalar");
            return Ok(Val::Const(ConstValue::Typed(components[index as usize], scalar)));
        }
        let whole = self.value_of(val, span)?;
        Ok(Val::Ir(self.builder().extract(whole, index)))
    }

    /// `val` with `attr` replaced.
    pub(super) fn with_attribute(
        &mut self,
        val: &Val,
        attr: &str,
        attr_span: Span,
        new: &Val,
        new_span: Span,
    ) -> R<Val> {
        let Some(ty) = self.type_of(val) else {
            return self.object_or_type_attribute(val, attr, attr_span);
        };
        let whole = self.value_of(val, attr_span)?;
        match ty {
            Type::Struct(s) => match s.field_index(attr) {
                Some(index) => {
                    let field = s.fields[index].ty;
                    let Some(part) = self.coerce_field(new, field, new_span) else {
                        return Err(self.wrong_store(new, field, attr_span, new_span));
                    };
                    Ok(Val::Ir(self.builder().insert(whole, part, index as u32)))
                }
                None => Err(self.no_attribute(val, ty, attr, attr_span)),
            },
            Type::Transform(scalar) if attr == "p" || attr == "q" => {
                let (start, part_ty) =
                    if attr == "p" { (0, Type::vec(3, scalar)) } else { (3, Type::Quat(scalar)) };
                self.insert_run(whole, start, part_ty, new, attr_span, new_span)
            }
            _ => match component_name(ty, attr) {
                Some(index) => self.insert_scalar(whole, index, new, attr_span, new_span),
                None => Err(self.no_attribute(val, ty, attr, attr_span)),
            },
        }
    }

    fn coerce_field(&mut self, new: &Val, ty: Type, span: Span) -> Option<Value> {
        if self.type_of(new) == Some(ty) { self.value_of(new, span).ok() } else { None }
    }

    fn insert_scalar(
        &mut self,
        whole: Value,
        index: u32,
        new: &Val,
        target_span: Span,
        new_span: Span,
    ) -> R<Val> {
        let scalar = Type::Scalar(self.function.ty(whole).scalar().expect("a composite"));
        let Some(part) = self.coerce_field(new, scalar, new_span) else {
            return Err(self.wrong_store(new, scalar, target_span, new_span));
        };
        Ok(Val::Ir(self.builder().insert(whole, part, index)))
    }

    /// Replaces consecutive components by those of `new`, which must be a `part_ty`.
    fn insert_run(
        &mut self,
        whole: Value,
        start: u32,
        part_ty: Type,
        new: &Val,
        target_span: Span,
        new_span: Span,
    ) -> R<Val> {
        let Some(part) = self.coerce_field(new, part_ty, new_span) else {
            return Err(self.wrong_store(new, part_ty, target_span, new_span));
        };
        let mut whole = whole;
        for i in 0..part_ty.component_count().expect("a composite") {
            let component = self.builder().extract(part, i);
            whole = self.builder().insert(whole, component, start + i);
        }
        Ok(Val::Ir(whole))
    }

    /// The flat index of one scalar component addressed by `indices`; `None` when they address more than one.
    pub(super) fn scalar_index(&mut self, ty: Type, indices: &[Expr], span: Span) -> R<Option<Value>> {
        let sizes: &[u32] = match ty {
            Type::Vec { len, .. } => &[len],
            Type::Quat(_) => &[4],
            Type::Transform(_) => &[7],
            Type::Mat { rows, cols, .. } => &[rows, cols],
            _ => return Ok(None),
        };
        if indices.len() != sizes.len() || indices.iter().any(|i| matches!(*i.kind, ExprKind::Slice { .. })) {
            return Ok(None);
        }
        let mut flat: Option<Value> = None;
        for (index, size) in indices.iter().zip(sizes) {
            let value = match self.axis(index, *size, span)? {
                Axis::Constant(i) => self.builder().i32(i as i32),
                Axis::Dynamic(value) => value,
                Axis::Many(_) => return Ok(None),
            };
            flat = Some(match flat {
                None => value,
                Some(row) => {
                    let size = self.builder().i32(*size as i32);
                    let base = self.builder().binary(BinaryOp::Mul, row, size);
                    self.builder().binary(BinaryOp::Add, base, value)
                }
            });
        }
        Ok(flat)
    }

    /// One index of a vector or matrix axis of `size` components.
    fn axis(&mut self, index: &Expr, size: u32, span: Span) -> R<Axis> {
        if let ExprKind::Slice { start, stop, step } = &*index.kind {
            return Ok(Axis::Many(self.slice(
                start.as_ref(),
                stop.as_ref(),
                step.as_ref(),
                size,
                index.span,
            )?));
        }
        let val = self.expr(index)?;
        if let Some(i) = val.const_int() {
            let wrapped = if i < 0 { i + i128::from(size) } else { i };
            return match u32::try_from(wrapped) {
                Ok(i) if i < size => Ok(Axis::Constant(i)),
                _ => Err(self.report(
                    Diagnostic::new(
                        codes::INDEX_RANGE,
                        index.span,
                        format!("index {i} is out of range for {size} components"),
                    )
                    .help(format!("valid indices are 0 to {}", size - 1)),
                )),
            };
        }
        let value = self.integer_index(&val, index.span)?;
        let value = self.builder().cast(value, Type::I32);
        if self.not_negative(value) {
            return Ok(Axis::Dynamic(value));
        }
        let _ = span;
        let extent = self.builder().i32(size as i32);
        Ok(Axis::Dynamic(self.wrap_negative(value, extent)))
    }

    fn slice(
        &mut self,
        start: Option<&Expr>,
        stop: Option<&Expr>,
        step: Option<&Expr>,
        size: u32,
        span: Span,
    ) -> R<Vec<u32>> {
        let mut part = |expr: Option<&Expr>| -> R<Option<i128>> {
            let Some(expr) = expr else { return Ok(None) };
            match self.expr(expr)?.const_int() {
                Some(i) => Ok(Some(i)),
                None => Err(self.report(Diagnostic::new(
                    codes::NEEDS_CONSTANT,
                    expr.span,
                    "the bounds of a slice must be known while compiling",
                ))),
            }
        };
        let (start, stop, step) = (part(start)?, part(stop)?, part(step)?.unwrap_or(1));
        if step == 0 {
            return Err(self.report(Diagnostic::new(codes::INDEX, span, "the step of a slice is zero")));
        }
        // Python's rules for slice bounds.
        let n = i128::from(size);
        let clip = |v: i128, lo: i128, hi: i128| (if v < 0 { v + n } else { v }).clamp(lo, hi);
        let mut out = Vec::new();
        if step > 0 {
            let (mut i, end) = (start.map_or(0, |v| clip(v, 0, n)), stop.map_or(n, |v| clip(v, 0, n)));
            while i < end {
                out.push(i as u32);
                i += step;
            }
        } else {
            let (mut i, end) =
                (start.map_or(n - 1, |v| clip(v, -1, n - 1)), stop.map_or(-1, |v| clip(v, -1, n - 1)));
            while i > end {
                out.push(i as u32);
                i += step;
            }
        }
        Ok(out)
    }

    /// `val[indices]` for vectors, matrices, quaternions, transforms and tuples.
    pub(super) fn component(&mut self, val: &Val, indices: &[Expr], span: Span) -> R<Val> {
        if let Val::Tuple(items) = val {
            return self.tuple_item(items, indices, span);
        }
        let Some(ty) = self.type_of(val) else {
            let what = self.describe(val);
            return Err(self.report(Diagnostic::new(
                codes::INDEX,
                span,
                format!("{what} cannot be indexed"),
            )));
        };
        match ty {
            Type::Vec { .. } | Type::Quat(_) | Type::Transform(_) => {
                let size = ty.component_count().expect("a composite");
                let [index] = indices else { return Err(self.too_many(ty, indices.len(), span)) };
                match self.axis(index, size, span)? {
                    Axis::Constant(i) => self.flat_component(val, ty, i, span),
                    Axis::Dynamic(i) => {
                        let whole = self.value_of(val, span)?;
                        let scalar = Type::Scalar(ty.scalar().expect("a composite"));
                        Ok(Val::Ir(self.builder().value(OpKind::ExtractDyn, [whole, i], scalar)))
                    }
                    Axis::Many(list) => {
                        let whole = self.value_of(val, span)?;
                        self.gather(
                            whole,
                            &list,
                            Type::vec(list.len() as u32, ty.scalar().expect("a composite")),
                            span,
                        )
                    }
                }
            }
            Type::Mat { rows, cols, elem } => {
                let whole = self.value_of(val, span)?;
                let (row, col) = match indices {
                    [row] => (self.axis(row, rows, span)?, Axis::Many((0..cols).collect())),
                    [row, col] => (self.axis(row, rows, span)?, self.axis(col, cols, span)?),
                    _ => return Err(self.too_many(ty, indices.len(), span)),
                };
                self.submatrix(whole, row, col, cols, elem, span)
            }
            _ => {
                let what = self.describe(val);
                Err(self.report(Diagnostic::new(codes::INDEX, span, format!("{what} cannot be indexed"))))
            }
        }
    }

    fn tuple_item(&mut self, items: &[Val], indices: &[Expr], span: Span) -> R<Val> {
        let [index] = indices else {
            return Err(self.report(Diagnostic::new(codes::INDEX, span, "a tuple takes one index")));
        };
        let val = self.expr(index)?;
        if let Some(i) = val.const_int() {
            let n = items.len() as i128;
            let wrapped = if i < 0 { i + n } else { i };
            return match items.get(usize::try_from(wrapped).unwrap_or(usize::MAX)) {
                Some(item) => Ok(item.clone()),
                None => Err(self.report(Diagnostic::new(
                    codes::INDEX_RANGE,
                    index.span,
                    format!("index {i} is out of range for a tuple of {n}"),
                ))),
            };
        }
        // A run-time index chooses among items of one type, such as the extents of a shape.
        let at = self.integer_index(&val, index.span)?;
        let at = self.builder().cast(at, Type::I32);
        let mut chosen: Option<Val> = None;
        for (i, item) in items.iter().enumerate() {
            chosen = Some(match chosen {
                None => item.clone(),
                Some(rest) => {
                    let i = self.builder().i32(i as i32);
                    let here = self.builder().cmp(inkle_ir::CmpOp::Eq, at, i);
                    self.choose(here, item, span, &rest, span)?
                }
            });
        }
        chosen.ok_or_else(|| {
            self.report(Diagnostic::new(codes::INDEX_RANGE, span, "an empty tuple has no items"))
        })
    }

    fn too_many(&mut self, ty: Type, count: usize, span: Span) -> super::val::Reported {
        self.report(Diagnostic::new(
            codes::INDEX,
            span,
            format!("{count} indices for a {}", ty.python_name()),
        ))
    }

    fn gather(&mut self, whole: Value, list: &[u32], ty: Type, span: Span) -> R<Val> {
        if list.is_empty() {
            return Err(self.report(Diagnostic::new(codes::INDEX_RANGE, span, "the slice is empty")));
        }
        let parts: Vec<Value> = list.iter().map(|i| self.builder().extract(whole, *i)).collect();
        Ok(Val::Ir(self.builder().value(OpKind::Construct, parts, ty)))
    }

    fn submatrix(
        &mut self,
        whole: Value,
        row: Axis,
        col: Axis,
        cols: u32,
        elem: Scalar,
        span: Span,
    ) -> R<Val> {
        let scalar = Type::Scalar(elem);
        match (row, col) {
            (Axis::Constant(r), Axis::Constant(c)) => {
                Ok(Val::Ir(self.builder().extract(whole, r * cols + c)))
            }
            (Axis::Constant(r), Axis::Many(list)) => {
                let flat: Vec<u32> = list.iter().map(|c| r * cols + c).collect();
                self.gather(whole, &flat, Type::vec(flat.len() as u32, elem), span)
            }
            (Axis::Many(list), Axis::Constant(c)) => {
                let flat: Vec<u32> = list.iter().map(|r| r * cols + c).collect();
                self.gather(whole, &flat, Type::vec(flat.len() as u32, elem), span)
            }
            (Axis::Many(r), Axis::Many(c)) => {
                let flat: Vec<u32> = r.iter().flat_map(|r| c.iter().map(move |c| r * cols + c)).collect();
                self.gather(whole, &flat, Type::mat(r.len() as u32, c.len() as u32, elem), span)
            }
            (Axis::Many(list), Axis::Dynamic(c)) => {
                let parts: Vec<Value> = list
                    .iter()
                    .map(|r| {
                        let base = self.builder().i32((r * cols) as i32);
                        let at = self.builder().binary(BinaryOp::Add, base, c);
                        self.builder().value(OpKind::ExtractDyn, [whole, at], scalar)
                    })
                    .collect();
                Ok(Val::Ir(self.builder().value(
                    OpKind::Construct,
                    parts,
                    Type::vec(list.len() as u32, elem),
                )))
            }
            (Axis::Dynamic(r), col) => {
                let width = self.builder().i32(cols as i32);
                let base = self.builder().binary(BinaryOp::Mul, r, width);
                let at = |cx: &mut Self, c: Value| {
                    let at = cx.builder().binary(BinaryOp::Add, base, c);
                    cx.builder().value(OpKind::ExtractDyn, [whole, at], scalar)
                };
                match col {
                    Axis::Constant(c) => {
                        let c = self.builder().i32(c as i32);
                        Ok(Val::Ir(at(self, c)))
                    }
                    Axis::Dynamic(c) => Ok(Val::Ir(at(self, c))),
                    Axis::Many(list) => {
                        let mut parts = Vec::new();
                        for c in &list {
                            let c = self.builder().i32(*c as i32);
                            parts.push(at(self, c));
                        }
                        Ok(Val::Ir(self.builder().value(
                            OpKind::Construct,
                            parts,
                            Type::vec(list.len() as u32, elem),
                        )))
                    }
                }
            }
            (Axis::Constant(r), Axis::Dynamic(c)) => {
                let base = self.builder().i32((r * cols) as i32);
                let at = self.builder().binary(BinaryOp::Add, base, c);
                Ok(Val::Ir(self.builder().value(OpKind::ExtractDyn, [whole, at], scalar)))
            }
        }
    }

    /// `val` with the components at `indices` replaced.
    pub(super) fn with_index(
        &mut self,
        val: &Val,
        indices: &[Expr],
        span: Span,
        new: &Val,
        new_span: Span,
    ) -> R<Val> {
        let Some(ty) = self.type_of(val).filter(|ty| ty.scalar().is_some() && ty.as_scalar().is_none())
        else {
            let what = self.describe(val);
            return Err(self.report(Diagnostic::new(
                codes::INDEX,
                span,
                format!("cannot assign to an item of {what}"),
            )));
        };
        let whole = self.value_of(val, span)?;
        if let Some(flat) = self.scalar_index(ty, indices, span)? {
            let scalar = Type::Scalar(ty.scalar().expect("a composite"));
            let Some(part) = self.coerce_field(new, scalar, new_span) else {
                return Err(self.wrong_store(new, scalar, span, new_span));
            };
            if let Some(OpKind::Const(Constant::Int(i))) =
                self.function.defining_op(flat).map(|op| op.kind.clone())
            {
                return Ok(Val::Ir(self.builder().insert(whole, part, i as u32)));
            }
            return Ok(Val::Ir(self.builder().value(OpKind::InsertDyn, [whole, part, flat], ty)));
        }
        let elem = ty.scalar().expect("a composite");
        let (rows, cols, row, col) = match (ty, indices) {
            (Type::Mat { rows, cols, .. }, [row]) => {
                (rows, cols, self.axis(row, rows, span)?, Axis::Many((0..cols).collect()))
            }
            (Type::Mat { rows, cols, .. }, [row, col]) => {
                (rows, cols, self.axis(row, rows, span)?, self.axis(col, cols, span)?)
            }
            (_, [index]) => {
                let size = ty.component_count().expect("a composite");
                (1, size, Axis::Constant(0), self.axis(index, size, span)?)
            }
            _ => return Err(self.too_many(ty, indices.len(), span)),
        };
        let _ = rows;
        let part_ty = match (&row, &col) {
            (Axis::Many(r), Axis::Many(c)) => Type::mat(r.len() as u32, c.len() as u32, elem),
            (Axis::Many(list), _) | (_, Axis::Many(list)) => Type::vec(list.len() as u32, elem),
            _ => Type::Scalar(elem),
        };
        let Some(part) = self.coerce_field(new, part_ty, new_span) else {
            return Err(self.wrong_store(new, part_ty, span, new_span));
        };
        let list = |axis: &Axis| match axis {
            Axis::Many(list) => list.iter().map(|i| Ok(*i)).collect::<Vec<Result<u32, Value>>>(),
            Axis::Constant(i) => vec![Ok(*i)],
            Axis::Dynamic(v) => vec![Err(*v)],
        };
        let mut result = whole;
        let mut from = 0;
        for r in list(&row) {
            for c in list(&col) {
                let component = self.builder().extract(part, from);
                from += 1;
                result = match (r, c) {
                    (Ok(r), Ok(c)) => self.builder().insert(result, component, r * cols + c),
                    (r, c) => {
                        let r = r.map_or_else(|v| v, |i| self.builder().i32(i as i32));
                        let c = c.map_or_else(|v| v, |i| self.builder().i32(i as i32));
                        let width = self.builder().i32(cols as i32);
                        let base = self.builder().binary(BinaryOp::Mul, r, width);
                        let at = self.builder().binary(BinaryOp::Add, base, c);
                        self.builder().value(OpKind::InsertDyn, [result, component, at], ty)
                    }
                };
            }
        }
        Ok(Val::Ir(result))
    }
}
