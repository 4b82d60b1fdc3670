//! Places: what attributes and subscripts lead to, to be read or assigned.
//!
//! A place is resolved once; reading and assigning it evaluate nothing again, so that an index with an effect
//! has it once.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{MAX_DIMS, OpKind, Scalar, Type, Value};

use super::codes;
use super::expr::component_name;
use super::function::{FunctionCx, Origin};
use super::scan;
use super::types::{Axes, Axis, Spot};
use super::val::{R, Slot, Val, VarId};
use crate::env::{Binding, ConstValue};
use crate::pattern::Pattern;
use crate::tree::{Expr, ExprKind};

/// Where something is.
pub(super) enum Place {
    /// In memory, at an address.
    Memory(Value),
    /// In a variable.
    Local(VarId),
    /// In another place, which is not memory or not divided in memory.
    Part(Box<Place>, Part, Type),
    /// Nowhere: a value that cannot be assigned.
    Value(Val),
}

/// What a [`Place::Part`] is of the place around it.
pub(super) enum Part {
    /// A field of a struct.
    Field(u32),
    /// Consecutive components from a first one: position or rotation of a transform.
    Run(u32),
    /// Components chosen by indices.
    Components(Axes),
}

impl Place {
    /// Whether two places in variables may have a component in common.
    pub(super) fn may_overlap(&self, other: &Place) -> bool {
        let (Some((root, steps)), Some((other_root, other_steps))) = (self.steps(), other.steps()) else {
            return false;
        };
        if root != other_root {
            return false;
        }
        for ([rows, cols], [other_rows, other_cols]) in steps.iter().zip(&other_steps) {
            if disjoint(rows, other_rows) || disjoint(cols, other_cols) {
                return false;
            }
            let known = rows.is_some() && cols.is_some();
            if !known || rows != other_rows || cols != other_cols {
                return true;
            }
        }
        true
    }

    /// The variable a place is in, and what each part on the way chooses of rows and columns.
    fn steps(&self) -> Option<(VarId, Vec<[Choice; 2]>)> {
        match self {
            Place::Local(var) => Some((*var, Vec::new())),
            Place::Part(base, part, ty) => {
                let (var, mut steps) = base.steps()?;
                steps.push(part.choice(*ty));
                Some((var, steps))
            }
            Place::Memory(_) | Place::Value(_) => None,
        }
    }
}

/// The indices a part chooses along one axis; `None` when they are known at run time only.
type Choice = Option<Vec<u32>>;

fn disjoint(a: &Choice, b: &Choice) -> bool {
    matches!((a, b), (Some(a), Some(b)) if !a.iter().any(|i| b.contains(i)))
}

impl Part {
    /// The rows and columns chosen by a part of type `ty`; fields and components in a line are rows.
    fn choice(&self, ty: Type) -> [Choice; 2] {
        let axis = |axis: &Axis| match axis {
            Axis::Constant(i) => Some(vec![*i]),
            Axis::Many(list) => Some(list.clone()),
            Axis::Dynamic(_) => None,
        };
        let rows = match self {
            Part::Field(index) => Some(vec![*index]),
            Part::Run(first) => Some((*first..first + ty.component_count().unwrap_or(1)).collect()),
            Part::Components(Axes::Flat(line)) => axis(line),
            Part::Components(Axes::Grid(rows, cols)) => return [axis(rows), axis(cols)],
        };
        [rows, Some(vec![0])]
    }
}

impl FunctionCx<'_, '_> {
    /// Resolves an expression.
    pub(super) fn place(&mut self, expr: &Expr) -> R<Place> {
        let outer = std::mem::replace(&mut self.span, expr.span);
        let result = match &*expr.kind {
            ExprKind::Name(name) => match self.names.get(name).copied() {
                Some(var) => match self.address_in(var) {
                    Some(address) => Ok(Place::Memory(address)),
                    None => self.read(var, name, expr.span).map(|_| Place::Local(var)),
                },
                None => self.expr(expr).map(Place::Value),
            },
            ExprKind::Attribute { value, attr, .. } => self.place(value).and_then(|base| {
                let outside =
                    self.member_attribute(value, &base, attr).or_else(|| self.class_attribute(expr, &base));
                match outside {
                    Some(binding) => self.bound(binding, attr, expr.span).map(Place::Value),
                    None => self.attribute_place(base, attr, expr.span),
                }
            }),
            ExprKind::Subscript { value, indices } => match self.library_type(expr) {
                Some(ty) => Ok(Place::Value(Val::Type(ty))),
                None => self.place(value).and_then(|base| {
                    let base = with_absent_extents(base, value, indices);
                    self.item_place(base, indices, expr.span)
                }),
            },
            _ => self.expr(expr).map(Place::Value),
        };
        self.span = outer;
        result
    }

    /// The attribute of `object.member` where that is a number by itself, as members of enumerations are.
    fn member_attribute(&mut self, expr: &Expr, val: &Place, attr: &str) -> Option<Binding> {
        let Place::Value(Val::Const(constant)) = val else { return None };
        constant.scalar()?;
        let ExprKind::Attribute { value, attr: member, .. } = &*expr.kind else { return None };
        let Ok(Place::Value(Val::Object(object))) = self.place(value) else { return None };
        self.checker.env.member_attribute(object, member, attr)
    }

    /// What the class of a struct has beside fields, such as functions and constants, where `expr` asks for it by the names
    /// that the program knows the class by.
    fn class_attribute(&mut self, expr: &Expr, base: &Place) -> Option<Binding> {
        let (Place::Value(Val::Type(Type::Struct(_))), Origin::User(key)) = (base, self.origin) else {
            return None;
        };
        if scan::mentioned(expr).iter().any(|name| self.names.contains_key(*name)) {
            return None;
        }
        self.checker.env.static_value(key, expr, &[]).ok()
    }

    /// `vec[N, S]` in a library function.
    fn library_type(&self, expr: &Expr) -> Option<Type> {
        let Origin::Library(_) = self.origin else { return None };
        Pattern::from_annotation(expr)?.instantiate(&self.bindings)
    }

    /// The type of what is there, when it is a value.
    fn type_at(&self, place: &Place) -> Option<Type> {
        match place {
            Place::Memory(reference) => self.function.ty(*reference).as_ref_target(),
            Place::Local(var) => match &self.slots[var.0] {
                Slot::Set(val) => self.type_of(val),
                _ => None,
            },
            Place::Part(_, _, ty) => Some(*ty),
            Place::Value(val) => self.type_of(val),
        }
    }

    fn attribute_place(&mut self, base: Place, attr: &str, span: Span) -> R<Place> {
        let ty = self.type_at(&base);
        match ty {
            Some(Type::Struct(s)) if !matches!(base, Place::Value(_)) => {
                let Some(index) = s.field_index(attr) else {
                    return self.attribute_of_class(Type::Struct(s), attr, span).map(Place::Value);
                };
                if let Place::Memory(reference) = base {
                    return Ok(Place::Memory(self.builder().field(reference, index as u32)));
                }
                Ok(Place::Part(Box::new(base), Part::Field(index as u32), s.fields[index].ty))
            }
            Some(Type::Transform(scalar))
                if matches!(attr, "p" | "q") && !matches!(base, Place::Value(_)) =>
            {
                let (first, part) =
                    if attr == "p" { (0, Type::vec(3, scalar)) } else { (3, Type::Quat(scalar)) };
                Ok(Place::Part(Box::new(base), Part::Run(first), part))
            }
            Some(ty) if component_name(ty, attr).is_some() && !matches!(base, Place::Value(_)) => {
                let index = component_name(ty, attr).expect("asked above");
                Ok(self.component_place(base, ty, Axes::constant(ty, index)))
            }
            _ => {
                let val = self.get(&base)?;
                self.attribute(&val, attr, span).map(Place::Value)
            }
        }
    }

    fn item_place(&mut self, base: Place, indices: &[Expr], span: Span) -> R<Place> {
        match self.type_at(&base) {
            Some(Type::Array(_)) => {
                let array = self.get(&base)?;
                let array = self.value_of(&array, span)?;
                self.element_place(array, indices, span)
            }
            Some(ty) if ty.scalar().is_some() && ty.as_scalar().is_none() => {
                let axes = self.axes(ty, indices, span)?;
                if let Place::Value(val) = &base {
                    return self.components(val, ty, &axes, span).map(Place::Value);
                }
                Ok(self.component_place(base, ty, axes))
            }
            _ => {
                let val = self.get(&base)?;
                self.item(&val, indices, span).map(Place::Value)
            }
        }
    }

    /// One scalar component in memory has an address of its own; everything else is a part.
    fn component_place(&mut self, base: Place, ty: Type, axes: Axes) -> Place {
        let part_ty = axes.part_type(ty);
        if part_ty.as_scalar().is_some() {
            let spot = self.spots(ty, &axes)[0];
            if let Some((reference, spot)) = self.spot_in_memory(&base, spot) {
                let index = match spot {
                    Spot::Constant(i) => self.builder().i32(i as i32),
                    Spot::Dynamic(i) => i,
                };
                return Place::Memory(self.builder().comp(reference, index));
            }
        }
        Place::Part(Box::new(base), Part::Components(axes), part_ty)
    }

    /// Where a component of `base` lies in memory: the address of a composite and the flat index in it.
    fn spot_in_memory(&mut self, base: &Place, spot: Spot) -> Option<(Value, Spot)> {
        let (around, first) = match base {
            Place::Memory(reference) => return Some((*reference, spot)),
            Place::Part(around, Part::Run(first), _) => (around, Spot::Constant(*first)),
            Place::Part(around, Part::Components(axes), _) => {
                let whole = self.type_at(around)?;
                let spots = self.spots(whole, axes);
                if let Spot::Constant(i) = spot {
                    return self.spot_in_memory(around, *spots.get(i as usize)?);
                }
                // A run-time index counts from the first component when they are neighbours.
                let known: Option<Vec<u32>> = spots
                    .iter()
                    .map(|spot| match spot {
                        Spot::Constant(i) => Some(*i),
                        Spot::Dynamic(_) => None,
                    })
                    .collect();
                let known = known?;
                if known.windows(2).any(|pair| pair[1] != pair[0] + 1) {
                    return None;
                }
                (around, Spot::Constant(known[0]))
            }
            _ => return None,
        };
        let sum = match (first, spot) {
            (Spot::Constant(first), Spot::Constant(i)) => Spot::Constant(first + i),
            (Spot::Constant(0), spot) => spot,
            (Spot::Constant(first), Spot::Dynamic(i)) => {
                let first = self.builder().i32(first as i32);
                Spot::Dynamic(self.builder().binary(inkle_ir::BinaryOp::Add, i, first))
            }
            (Spot::Dynamic(_), _) => return None,
        };
        self.spot_in_memory(around, sum)
    }

    /// The address that a parameter passed by reference stands for.
    pub(super) fn address_in(&self, var: VarId) -> Option<Value> {
        match &self.slots[var.0] {
            Slot::Set(Val::Ir(value)) if matches!(self.function.ty(*value), Type::Ref(_)) => Some(*value),
            _ => None,
        }
    }

    /// The address of memory for a variable that is given `val` first, when its address is asked for somewhere.
    pub(super) fn memory_for(&mut self, var: VarId, name: &str, val: &Val) -> Option<Value> {
        if !self.addressed.contains(name) || matches!(self.slots[var.0], Slot::Set(Val::Tuple(_))) {
            return None;
        }
        let ty = self.type_of(val).filter(|ty| !matches!(ty, Type::Array(_) | Type::Ref(_)))?;
        if let Some(address) = self.memory.get(&var).copied() {
            return (self.function.ty(address) == Type::reference(ty)).then_some(address);
        }
        // Branches and loops that the program is in come behind it: they are added to the body when they end.
        let (span, body) = (self.span, self.function.body);
        let mut builder = inkle_ir::Builder::new(&mut self.function, body);
        builder.span = span;
        let memory = builder.local(ty, &[1]);
        let zero = builder.i32(0);
        let address = builder.elem(memory, &[zero]);
        self.memory.insert(var, address);
        Some(address)
    }

    /// `address_of(place)`.
    pub(super) fn address_of(
        &mut self,
        args: &[Expr],
        keywords: &[(Option<String>, Expr)],
        span: Span,
    ) -> R<Val> {
        let ([arg], []) = (args, keywords) else {
            return Err(self.report(
                Diagnostic::new(codes::ARGUMENTS, span, "`address_of` takes one variable or part of one")
                    .help("write `wp.address_of(x)`"),
            ));
        };
        let place = self.place(arg)?;
        let reference = match &place {
            Place::Memory(reference) => Some(*reference),
            place => self.spot_in_memory(place, Spot::Constant(0)).map(|(whole, spot)| {
                let index = match spot {
                    Spot::Constant(i) => self.builder().i32(i as i32),
                    Spot::Dynamic(i) => i,
                };
                self.builder().comp(whole, index)
            }),
        };
        let Some(reference) = reference else {
            let (text, what) = (self.text_of(arg.span), self.get(&place).map(|val| self.describe(&val))?);
            return Err(self.report(
                Diagnostic::new(codes::NOT_A_VALUE, arg.span, format!("`{text}`, {what}, has no address"))
                    .help("give it to a variable of its own first: `x = wp.int32(0)`"),
            ));
        };
        Ok(Val::Ir(self.builder().value(OpKind::Address, [reference], Type::U64)))
    }

    /// The elements of `array[start:stop:step]` whose bounds are known, for unpacking; `None` for anything else.
    pub(super) fn array_run(&mut self, expr: &Expr) -> R<Option<Vec<Val>>> {
        let ExprKind::Subscript { value, indices } = &*expr.kind else { return Ok(None) };
        let [index] = indices.as_slice() else { return Ok(None) };
        let ExprKind::Slice { start, stop, step } = &*index.kind else { return Ok(None) };
        let array = self.expr(value)?;
        let Some(Type::Array(ty)) = self.type_of(&array) else { return Ok(None) };
        let mut known = [Some(0), None, Some(1)];
        for (bound, value) in [start, stop, step].into_iter().zip(&mut known) {
            if let Some(bound) = bound {
                *value = self.expr(bound)?.const_int();
            }
        }
        let problem = match known {
            [Some(start @ 0..), Some(stop @ 0..), Some(step @ 1..)] => {
                let array = self.value_of(&array, value.span)?;
                let mut items = Vec::new();
                for i in (start..stop).step_by(step as usize) {
                    let i = self.builder().i32(i as i32);
                    items.push(if ty.ndim == 1 {
                        let element = self.builder().elem(array, &[i]);
                        Val::Ir(self.builder().load(element))
                    } else {
                        Val::Ir(self.builder().view(array, i, 0))
                    });
                }
                return Ok(Some(items));
            }
            [_, None, _] if stop.is_none() => {
                "unpacking a slice of an array requires explicit upper bounds: how long it is must be known"
            }
            [None, ..] | [_, None, _] | [.., None] => {
                "each part of a slice that is unpacked must be a compile-time constant"
            }
            [Some(i128::MIN..0), ..] | [_, Some(i128::MIN..0), _] => {
                "the bounds of a slice that is unpacked cannot be negative for arrays, whose length is not known"
            }
            [.., Some(0)] => "the step of a slice cannot be zero",
            _ => "the step cannot be negative in a slice of an array that is unpacked",
        };
        let help = "write `array[0:3]` with the numbers";
        Err(self.report(Diagnostic::new(codes::NEEDS_CONSTANT, index.span, problem).help(help)))
    }

    /// Reads a place.
    pub(super) fn get(&mut self, place: &Place) -> R<Val> {
        match place {
            Place::Memory(reference) => Ok(Val::Ir(self.builder().load(*reference))),
            Place::Local(var) => {
                let name = self.var_names[var.0].clone().unwrap_or_default();
                let span = self.span;
                self.read(*var, &name, span)
            }
            Place::Value(val) => Ok(val.clone()),
            Place::Part(base, part, ty) => {
                let whole = self.get(base)?;
                let span = self.span;
                match part {
                    Part::Field(index) => {
                        if let Val::Const(ConstValue::Struct { fields, .. }) = &whole {
                            return Ok(Val::Const(fields[*index as usize].clone()));
                        }
                        let whole = self.value_of(&whole, span)?;
                        Ok(Val::Ir(self.builder().extract(whole, *index)))
                    }
                    Part::Run(first) => {
                        let whole = self.value_of(&whole, span)?;
                        Ok(Val::Ir(self.run_of(whole, *first, *ty)))
                    }
                    Part::Components(axes) => {
                        let whole_ty = self.type_at(base).expect("components are of a composite");
                        self.components(&whole, whole_ty, axes, span)
                    }
                }
            }
        }
    }

    /// Assigns a place; the value must have its type.
    pub(super) fn set(&mut self, place: &Place, val: &Val, target_span: Span, value_span: Span) -> R<()> {
        if let Place::Value(whole) = place {
            return Err(self.not_assignable(whole, target_span));
        }
        let ty = self.type_at(place);
        let given = self.type_of(val);
        let Some(ty) = ty.filter(|ty| given == Some(*ty)) else {
            let wanted = ty.expect("places that are not values have a type");
            return Err(self.wrong_store(val, wanted, target_span, value_span));
        };
        match place {
            Place::Memory(reference) => {
                let value = self.value_of(val, value_span)?;
                self.builder().store(*reference, value);
                Ok(())
            }
            Place::Local(var) => {
                self.slots.set(*var, Slot::Set(val.clone()));
                Ok(())
            }
            Place::Part(base, part, _) => {
                let whole_ty = self.type_at(base).expect("parts are of a composite or struct");
                let whole = self.get(base)?;
                let mut whole = self.value_of(&whole, target_span)?;
                let new = self.value_of(val, value_span)?;
                match part {
                    Part::Field(index) => whole = self.builder().insert(whole, new, *index),
                    Part::Run(first) => {
                        for i in 0..ty.component_count().expect("a run of components") {
                            let component = self.builder().extract(new, i);
                            whole = self.builder().insert(whole, component, first + i);
                        }
                    }
                    Part::Components(axes) => {
                        for (i, spot) in self.spots(whole_ty, axes).into_iter().enumerate() {
                            let component = if ty.as_scalar().is_some() {
                                new
                            } else {
                                self.builder().extract(new, i as u32)
                            };
                            whole = match spot {
                                Spot::Constant(at) => self.builder().insert(whole, component, at),
                                Spot::Dynamic(at) => {
                                    self.builder().value(OpKind::InsertDyn, [whole, component, at], whole_ty)
                                }
                            };
                        }
                    }
                }
                self.set(base, &Val::Ir(whole), target_span, value_span)
            }
            Place::Value(_) => unreachable!("reported above"),
        }
    }

    pub(super) fn not_assignable(&mut self, whole: &Val, span: Span) -> super::val::Reported {
        let text = self.text_of(span);
        let what = self.describe(whole);
        let diagnostic =
            Diagnostic::new(codes::STORE_TYPE, span, format!("cannot assign to `{text}`, which is {what}"));
        let diagnostic = match self.type_of(whole) {
            Some(Type::Array(_)) if matches!(whole, Val::Ir(array) if self.is_slice(*array)) => {
                diagnostic.help("assign its elements one by one, in a loop: `part[i] = ...`")
            }
            Some(Type::Array(a)) => {
                let more =
                    if a.ndim == 1 { "one more index".into() } else { format!("{} more indices", a.ndim) };
                diagnostic.help(format!("give {more} to assign an element"))
            }
            _ => diagnostic.help("assign to a variable, a component, a field or an element of an array"),
        };
        self.report(diagnostic)
    }
}

/// `array.shape[3]` is zero for an array of fewer dimensions.
fn with_absent_extents(base: Place, shape: &Expr, indices: &[Expr]) -> Place {
    match (base, &*shape.kind, indices.first().map(|i| &*i.kind)) {
        (Place::Value(Val::Tuple(extents)), ExprKind::Attribute { attr, .. }, Some(ExprKind::Int(index)))
            if attr == "shape" && (extents.len() as i128..MAX_DIMS as i128).contains(index) =>
        {
            let mut extents = extents.to_vec();
            extents.resize(MAX_DIMS, Val::typed_int(0, Scalar::I32));
            Place::Value(Val::tuple(extents))
        }
        (base, ..) => base,
    }
}
