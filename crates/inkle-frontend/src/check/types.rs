//! Attributes and components of values.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{BinaryOp, Constant, OpKind, Scalar, Type, Value};

use super::codes;
use super::expr::component_name;
use super::function::{FunctionCx, Origin};
use super::val::{R, Val};
use crate::env::{Binding, ConstValue};
use crate::tree::{Expr, ExprKind};

/// Indices of one axis: one component or several.
#[derive(Clone)]
pub(super) enum Axis {
    Constant(u32),
    Dynamic(Value),
    Many(Vec<u32>),
}

/// Evaluated indices of a vector, quaternion or transform, or of a matrix.
#[derive(Clone)]
pub(super) enum Axes {
    Flat(Axis),
    Grid(Axis, Axis),
}

/// The flat index of one component.
#[derive(Clone, Copy)]
pub(super) enum Spot {
    Constant(u32),
    Dynamic(Value),
}

impl Axes {
    /// One component by its flat index.
    pub(super) fn constant(ty: Type, index: u32) -> Axes {
        match ty {
            Type::Mat { cols, .. } => Axes::Grid(Axis::Constant(index / cols), Axis::Constant(index % cols)),
            _ => Axes::Flat(Axis::Constant(index)),
        }
    }

    /// The type of the components chosen from a `ty`.
    pub(super) fn part_type(&self, ty: Type) -> Type {
        let scalar = ty.scalar().expect("a composite");
        match self {
            // An empty part has no shape of its own to keep.
            Axes::Grid(Axis::Many(rows), Axis::Many(cols)) if rows.is_empty() || cols.is_empty() => {
                Type::mat(0, 0, scalar)
            }
            Axes::Grid(Axis::Many(rows), Axis::Many(cols)) => {
                Type::mat(rows.len() as u32, cols.len() as u32, scalar)
            }
            Axes::Flat(Axis::Many(list))
            | Axes::Grid(Axis::Many(list), _)
            | Axes::Grid(_, Axis::Many(list)) => Type::vec(list.len() as u32, scalar),
            _ => Type::Scalar(scalar),
        }
    }
}

impl FunctionCx<'_, '_> {
    /// `val.attr`; `span` is the whole expression's.
    pub(super) fn attribute(&mut self, val: &Val, attr: &str, span: Span) -> R<Val> {
        if let Val::Type(ty) = val {
            return match (attr, *ty, ty.scalar()) {
                ("dtype", Type::Array(array), _) => Ok(Val::Type(array.elem)),
                ("dtype", _, Some(scalar)) if ty.as_scalar().is_none() => Ok(Val::Type(Type::Scalar(scalar))),
                ("length", Type::Vec { len, .. }, _) => Ok(Val::int(len.into())),
                _ => self.object_or_type_attribute(val, attr, span),
            };
        }
        let Some(ty) = self.type_of(val) else {
            return self.object_or_type_attribute(val, attr, span);
        };
        match ty {
            Type::Array(_) => self.array_attribute(val, attr, span),
            Type::Struct(s) => match s.field_index(attr) {
                Some(index) => match val {
                    Val::Const(ConstValue::Struct { fields, .. }) => Ok(Val::Const(fields[index].clone())),
                    _ => {
                        let whole = self.value_of(val, span)?;
                        Ok(Val::Ir(self.builder().extract(whole, index as u32)))
                    }
                },
                None => self.attribute_of_class(ty, attr, span),
            },
            Type::Transform(scalar) if attr == "p" || attr == "q" => {
                let whole = self.value_of(val, span)?;
                let (first, part) =
                    if attr == "p" { (0, Type::vec(3, scalar)) } else { (3, Type::Quat(scalar)) };
                Ok(Val::Ir(self.run_of(whole, first, part)))
            }
            _ => match (component_name(ty, attr), ty.scalar()) {
                (Some(index), _) => self.components(val, ty, &Axes::constant(ty, index), span),
                (None, Some(scalar)) if attr == "dtype" => Ok(Val::Type(Type::Scalar(scalar))),
                _ => match (attr, ty, val) {
                    ("length", Type::Vec { len, .. }, _) => Ok(Val::int(len.into())),
                    ("shape", Type::Mat { rows, cols, .. }, _) => {
                        Ok(Val::tuple(vec![Val::int(rows.into()), Val::int(cols.into())]))
                    }
                    // The member of an enumeration, and a number with a type, know their plain number.
                    ("value", Type::Scalar(_), Val::Const(_)) => Ok(val.clone()),
                    _ => Err(self.no_attribute(ty, attr, span)),
                },
            },
        }
    }

    /// What the class of a struct has beside its fields, by way of a value. Functions found so are given what they are called
    /// with, not the value.
    pub(super) fn attribute_of_class(&mut self, ty: Type, attr: &str, span: Span) -> R<Val> {
        let name = &ty.as_struct().expect("the caller asked for a struct").name;
        let binding = match self.origin {
            Origin::User(key) => self.checker.env.struct_attribute(key, name, attr),
            Origin::Library(_) => None,
        };
        match binding {
            // What a call may change is looked for by the names in its path, which no value is.
            Some(Binding::Function(key)) if self.checker.function_changes_arguments(key) => {
                let message =
                    format!("`{attr}` changes its arguments and is called here by a value of {name}");
                Err(self.report(
                    Diagnostic::new(codes::NOT_CALLABLE, span, message)
                        .help(format!("call it by the name of the struct: `{name}.{attr}(...)`")),
                ))
            }
            Some(binding) => self.bound(binding, attr, span),
            None => Err(self.no_attribute(ty, attr, span)),
        }
    }

    fn array_attribute(&mut self, val: &Val, attr: &str, span: Span) -> R<Val> {
        let array = self.value_of(val, span)?;
        let ty = self.function.ty(array);
        let a = ty.as_array().expect("the caller asked for an array");
        match attr {
            // Arrays in buckets have one extent, and no strides or address.
            "shape" if a.kind.is_fabric() => Ok(Val::tuple(vec![Val::Ir(self.fabric_size(array))])),
            "size" if a.kind.is_fabric() => Ok(Val::Ir(self.fabric_size(array))),
            "strides" | "ptr" if a.kind.is_fabric() => Err(self.no_attribute(ty, attr, span)),
            "shape" => Ok(Val::tuple((0..a.ndim).map(|d| Val::Ir(self.shape(array, d))).collect())),
            "strides" => Ok(Val::tuple(
                (0..a.ndim)
                    .map(|d| {
                        let stride = self.builder().value(OpKind::Stride(d), [array], Type::I64);
                        Val::Ir(self.builder().cast(stride, Type::I32))
                    })
                    .collect(),
            )),
            "ptr" => Ok(Val::Ir(self.address(array))),
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
            // Users reach gradients through the backward pass only.
            "grad" if matches!(self.origin, Origin::Library(_)) => {
                Ok(Val::Ir(self.builder().value(OpKind::GradArray, [array], ty)))
            }
            _ => Err(self.no_attribute(ty, attr, span)),
        }
    }

    pub(super) fn shape(&mut self, array: Value, dim: u32) -> Value {
        match self.function.ty(array) {
            Type::Array(a) if a.kind.is_fabric() => self.fabric_size(array),
            _ => self.builder().value(OpKind::Shape(dim), [array], Type::I32),
        }
    }

    /// The components from `first` on as a `part`.
    pub(super) fn run_of(&mut self, whole: Value, first: u32, part: Type) -> Value {
        let count = part.component_count().expect("a composite");
        let parts: Vec<Value> = (first..first + count).map(|i| self.builder().extract(whole, i)).collect();
        self.builder().value(OpKind::Construct, parts, part)
    }

    /// Evaluates the indices of a vector, matrix, quaternion or transform.
    pub(super) fn axes(&mut self, ty: Type, indices: &[Expr], span: Span) -> R<Axes> {
        match (ty, indices) {
            (Type::Mat { rows, cols, .. }, [row]) => {
                Ok(Axes::Grid(self.axis(row, rows)?, Axis::Many((0..cols).collect())))
            }
            (Type::Mat { rows, cols, .. }, [row, col]) => {
                Ok(Axes::Grid(self.axis(row, rows)?, self.axis(col, cols)?))
            }
            (Type::Vec { .. } | Type::Quat(_) | Type::Transform(_), [index]) => {
                Ok(Axes::Flat(self.axis(index, ty.component_count().expect("a composite"))?))
            }
            _ => {
                let (given, name) = (indices.len(), ty.python_name());
                let takes = if matches!(ty, Type::Mat { .. }) { "one or two" } else { "one" };
                Err(self.report(
                    Diagnostic::new(codes::INDEX, span, format!("{given} indices for a {name}"))
                        .help(format!("it takes {takes}")),
                ))
            }
        }
    }

    /// One index of an axis of `size` components.
    fn axis(&mut self, index: &Expr, size: u32) -> R<Axis> {
        if let ExprKind::Slice { start, stop, step } = &*index.kind {
            let list = self.slice([start, stop, step].map(Option::as_ref), size, index.span)?;
            return Ok(Axis::Many(list));
        }
        let val = self.expr(index)?;
        if let Some(i) = val.const_int() {
            let wrapped = if i < 0 { i.saturating_add(size.into()) } else { i };
            return match u32::try_from(wrapped) {
                Ok(i) if i < size => Ok(Axis::Constant(i)),
                _ => Err(self.report(
                    Diagnostic::new(
                        codes::INDEX_RANGE,
                        index.span,
                        format!("index {i} is out of range for {size} components"),
                    )
                    .help(format!("valid indices are -{size} to {}", size - 1)),
                )),
            };
        }
        let value = self.integer_index(&val, index.span)?;
        let value = self.builder().cast(value, Type::I32);
        if self.follows_rust() || self.not_negative(value) {
            return Ok(Axis::Dynamic(value));
        }
        let extent = self.builder().i32(size as i32);
        Ok(Axis::Dynamic(self.wrap_negative(value, extent)))
    }

    /// The indices that `start:stop:step` chooses, by Python's rules.
    fn slice(&mut self, bounds: [Option<&Expr>; 3], size: u32, span: Span) -> R<Vec<u32>> {
        let mut known = [None; 3];
        for (bound, value) in bounds.into_iter().zip(&mut known) {
            let Some(expr) = bound else { continue };
            *value = self.expr(expr)?.const_int();
            if value.is_none() {
                return Err(self.report(
                    Diagnostic::new(
                        codes::NEEDS_CONSTANT,
                        expr.span,
                        "the bounds of a slice of components must be known while compiling",
                    )
                    .help("index the components one by one"),
                ));
            }
        }
        let [start, stop, step] = known;
        let step = step.unwrap_or(1);
        if step == 0 {
            return Err(self.report(
                Diagnostic::new(codes::INDEX, span, "Slice step cannot be zero")
                    .help("use a step above or below zero"),
            ));
        }
        let n = i128::from(size);
        let clip = |v: i128, lo: i128, hi: i128| (if v < 0 { v.saturating_add(n) } else { v }).clamp(lo, hi);
        let mut out = Vec::new();
        if step > 0 {
            let (mut i, end) = (start.map_or(0, |v| clip(v, 0, n)), stop.map_or(n, |v| clip(v, 0, n)));
            while i < end {
                out.push(i as u32);
                i = i.saturating_add(step);
            }
        } else {
            let (mut i, end) =
                (start.map_or(n - 1, |v| clip(v, -1, n - 1)), stop.map_or(-1, |v| clip(v, -1, n - 1)));
            while i > end {
                out.push(i as u32);
                i = i.saturating_add(step);
            }
        }
        Ok(out)
    }

    /// The flat indices of the chosen components, row by row.
    pub(super) fn spots(&mut self, ty: Type, axes: &Axes) -> Vec<Spot> {
        fn list(axis: &Axis) -> Vec<Spot> {
            match axis {
                Axis::Constant(i) => vec![Spot::Constant(*i)],
                Axis::Dynamic(v) => vec![Spot::Dynamic(*v)],
                Axis::Many(list) => list.iter().map(|i| Spot::Constant(*i)).collect(),
            }
        }
        let (row, col) = match axes {
            Axes::Flat(axis) => return list(axis),
            Axes::Grid(row, col) => (list(row), list(col)),
        };
        let Type::Mat { cols, .. } = ty else { unreachable!("only matrices have two axes") };
        let mut out = Vec::with_capacity(row.len() * col.len());
        for r in row {
            let start = match r {
                Spot::Constant(r) => Spot::Constant(r * cols),
                Spot::Dynamic(r) => {
                    let width = self.builder().i32(cols as i32);
                    Spot::Dynamic(self.builder().binary(BinaryOp::Mul, r, width))
                }
            };
            for c in &col {
                out.push(match (start, *c) {
                    (Spot::Constant(start), Spot::Constant(c)) => Spot::Constant(start + c),
                    (start, c) => {
                        let mut value = |spot| match spot {
                            Spot::Constant(i) => self.builder().i32(i as i32),
                            Spot::Dynamic(v) => v,
                        };
                        let (start, c) = (value(start), value(c));
                        Spot::Dynamic(self.builder().binary(BinaryOp::Add, start, c))
                    }
                });
            }
        }
        out
    }

    /// The chosen components of a value of the composite type `ty`.
    pub(super) fn components(&mut self, val: &Val, ty: Type, axes: &Axes, span: Span) -> R<Val> {
        let part = axes.part_type(ty);
        let spots = self.spots(ty, axes);
        if let (Val::Const(ConstValue::Composite { components, .. }), [Spot::Constant(i)], Type::Scalar(s)) =
            (val, spots.as_slice(), part)
        {
            return Ok(Val::Const(ConstValue::Typed(components[*i as usize], s)));
        }
        let whole = self.value_of(val, span)?;
        let scalar = Type::Scalar(ty.scalar().expect("a composite"));
        let parts: Vec<Value> = spots
            .into_iter()
            .map(|spot| match spot {
                Spot::Constant(i) => self.builder().extract(whole, i),
                Spot::Dynamic(i) => self.builder().value(OpKind::ExtractDyn, [whole, i], scalar),
            })
            .collect();
        if part.as_scalar().is_some() {
            return Ok(Val::Ir(parts[0]));
        }
        Ok(Val::Ir(self.builder().value(OpKind::Construct, parts, part)))
    }

    /// `val[indices]` of what is neither array nor composite: tuples.
    pub(super) fn item(&mut self, val: &Val, indices: &[Expr], span: Span) -> R<Val> {
        let Val::Tuple(items) = val else {
            let what = self.describe(val);
            return Err(self.report(
                Diagnostic::new(codes::INDEX, span, format!("{what} cannot be indexed")).help(match val {
                    Val::Object(_) => "pass it to the kernel as an argument",
                    _ => "arrays, vectors, matrices, quaternions, transforms and tuples can be",
                }),
            ));
        };
        let [index] = indices else {
            return Err(self.report(
                Diagnostic::new(codes::INDEX, span, "a tuple takes one index")
                    .help("index it once for each level"),
            ));
        };
        let at = self.expr(index)?;
        let count = items.len() as i128;
        if let Some(i) = at.const_int() {
            let wrapped = if i < 0 { i.saturating_add(count) } else { i };
            return match items.get(usize::try_from(wrapped).unwrap_or(usize::MAX)) {
                Some(item) => Ok(item.clone()),
                None => Err(self.report(
                    Diagnostic::new(
                        codes::INDEX_RANGE,
                        index.span,
                        format!("index {i} is out of range for a tuple of {count}"),
                    )
                    .help(format!("valid indices are -{count} to {}", count - 1)),
                )),
            };
        }
        // A run-time index chooses among items of one type, such as the extents of a shape.
        let count = self.builder().constant(Constant::Int(count), Scalar::I32);
        let at = self.index_value(&at, index.span, |_| count)?;
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
            self.report(
                Diagnostic::new(codes::INDEX_RANGE, span, "an empty tuple has no items")
                    .help("there is nothing to index"),
            )
        })
    }
}
