//! Constructors of types, and conversions.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{Constant, OpKind, Scalar, Type, Value};

use super::call::Args;
use super::codes;
use super::function::{FunctionCx, Origin};
use super::val::{R, Val};
use crate::env::ConstValue;

/// What a call of the type `scalar` makes of a number, in Python's kernels and on its host: integers wrap, as in C; floats lose
/// their fraction, become the nearest number of 32-bit signed and 64-bit integers, and wrap in other integers.
pub fn converted(number: Constant, scalar: Scalar) -> Constant {
    match (number, way(scalar)) {
        (Constant::Float(_), Some(wide)) => number.convert(wide).convert(scalar),
        _ => number.convert(scalar),
    }
}

/// The type by way of which floats become `scalar`, so that they wrap.
fn way(scalar: Scalar) -> Option<Scalar> {
    match scalar {
        Scalar::I8 | Scalar::I16 | Scalar::U8 | Scalar::U16 => Some(Scalar::I32),
        Scalar::U32 => Some(Scalar::I64),
        _ => None,
    }
}

impl FunctionCx<'_, '_> {
    /// `T(args)`.
    pub(super) fn construct(&mut self, ty: Type, args: &Args, span: Span) -> R<Val> {
        match ty {
            Type::Scalar(scalar) => self.convert(scalar, args, span),
            Type::Struct(_) => self.construct_struct(ty, args, span),
            Type::Array(_) | Type::Ref(_) => {
                let what = ty.python_name();
                Err(self.report(
                    Diagnostic::new(
                        codes::NOT_CALLABLE,
                        span,
                        format!("{what} cannot be made inside a kernel"),
                    )
                    .help("make it in Python and pass it to the kernel"),
                ))
            }
            _ => self.construct_composite(ty, args, span),
        }
    }

    /// A conversion such as `float(x)`; constants keep all digits that the target holds.
    fn convert(&mut self, scalar: Scalar, args: &Args, span: Span) -> R<Val> {
        let (val, at) = match (args.positional.as_slice(), args.keywords.as_slice()) {
            ([], []) => return Ok(Val::Const(ConstValue::Typed(Constant::Int(0).convert(scalar), scalar))),
            ([(val, at)], []) => (val, *at),
            _ => {
                let name = scalar.python_name();
                return Err(self.report(
                    Diagnostic::new(codes::ARGUMENTS, span, format!("`{name}` converts one value"))
                        .help(format!("write `{}`", super::assign::conversion(scalar, "x"))),
                ));
            }
        };
        if let Some(c) = val.const_scalar() {
            // A conversion that is asked for wraps, as in C; what no integer type holds is a mistake.
            if let Constant::Int(i) = c
                && scalar.is_int()
                && i64::try_from(i).is_err()
                && u64::try_from(i).is_err()
            {
                let name = scalar.python_name();
                return Err(self.report(
                    Diagnostic::new(codes::LITERAL_RANGE, at, format!("{i} does not fit {name}"))
                        .help("no integer type has more than 64 bits"),
                ));
            }
            let number = if self.follows_rust() { c.convert(scalar) } else { converted(c, scalar) };
            return Ok(Val::Const(ConstValue::Typed(number, scalar)));
        }
        match self.type_of(val) {
            Some(Type::Scalar(_)) => {
                let value = self.value_of(val, at)?;
                Ok(Val::Ir(self.scalar_cast(value, scalar)))
            }
            _ => {
                let (what, name) = (self.describe(val), scalar.python_name());
                Err(self.report(
                    Diagnostic::new(codes::CONVERSION, at, format!("cannot convert {what} to {name}"))
                        .help("conversions take one number; index a component first"),
                ))
            }
        }
    }

    fn scalar_cast(&mut self, value: Value, scalar: Scalar) -> Value {
        let from = self.function.ty(value);
        // In Rust floats become the nearest number of every integer type.
        let value = match way(scalar).filter(|_| !self.follows_rust()) {
            Some(wide) if from.is_float() => self.builder().cast(value, Type::Scalar(wide)),
            _ => value,
        };
        self.builder().cast(value, Type::Scalar(scalar))
    }

    fn construct_struct(&mut self, ty: Type, args: &Args, span: Span) -> R<Val> {
        let s = ty.as_struct().expect("a struct");
        let mut whole = self.builder().zero(ty);
        let count = args.positional.len() + args.keywords.len();
        if count != 0 && count != s.fields.len() {
            let fields = s.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(self.report(
                Diagnostic::new(
                    codes::ARGUMENTS,
                    span,
                    format!("struct `{}` has {} fields, {count} values were given", s.name, s.fields.len()),
                )
                .help(format!("give all of them ({fields}) or none")),
            ));
        }
        let mut given: Vec<(usize, Val, Span)> =
            args.positional.iter().cloned().enumerate().map(|(i, (v, at))| (i, v, at)).collect();
        for (name, val, at) in &args.keywords {
            match s.field_index(name) {
                Some(index) => given.push((index, val.clone(), *at)),
                None => return Err(self.no_attribute(ty, name, *at)),
            }
        }
        for (index, val, at) in given {
            let field = s.fields[index].ty;
            let Some(value) = self.coerce(&val, field, at) else {
                return Err(self.wrong_store(&val, field, at, at));
            };
            whole = self.builder().insert(whole, value, index as u32);
        }
        Ok(Val::Ir(whole))
    }

    fn construct_composite(&mut self, ty: Type, args: &Args, span: Span) -> R<Val> {
        let scalar = ty.scalar().expect("a composite");
        let count = ty.component_count().expect("a composite") as usize;
        let mut positional = args.positional.clone();
        // Named components in order: quat(x=.., y=..), transform(p=.., q=..).
        let names: &[&str] = match ty {
            Type::Quat(_) => &["x", "y", "z", "w"],
            Type::Transform(_) => &["p", "q"],
            Type::Vec { len: 6, .. } => &["w", "v"],
            _ => &[],
        };
        for (name, val, at) in &args.keywords {
            // What the type says already may be said again.
            if self.says_shape(ty, name, val) {
                continue;
            }
            if names.get(positional.len()) == Some(&name.as_str()) {
                positional.push((val.clone(), *at));
            } else {
                let what = ty.python_name();
                return Err(self.report(
                    Diagnostic::new(
                        codes::ARGUMENTS,
                        *at,
                        format!("`{what}` has no parameter `{name}` here"),
                    )
                    .help("give the components by position"),
                ));
            }
        }
        // `spatial_vector(w, v, dtype)`: the scalar type may come last.
        if let (Type::Vec { len: 6, .. }, [parts @ .., (Val::Type(Type::Scalar(dtype)), _)]) =
            (ty, positional.as_slice())
        {
            let parts = Args { positional: parts.to_vec(), ..Args::default() };
            return self.construct_composite(Type::vec(6, *dtype), &parts, span);
        }
        if positional.is_empty() {
            return Ok(Val::Ir(self.builder().zero(ty)));
        }
        if let [(val, at)] = positional.as_slice() {
            let (val, at) = (val.clone(), *at);
            if let Some(from) = self.type_of(&val) {
                if from.with_scalar(scalar) == Some(ty) && from.as_scalar().is_none() {
                    let value = self.value_of(&val, at)?;
                    return Ok(Val::Ir(self.builder().cast(value, ty)));
                }
                if from.as_scalar().is_some()
                    && matches!(ty, Type::Vec { .. } | Type::Mat { .. } | Type::Transform(_))
                {
                    let value = self.component_value(&val, scalar, at, ty)?;
                    return Ok(Val::Ir(self.splat(value, ty)));
                }
                if let (Type::Transform(_), Type::Vec { len: 3, elem }) = (ty, from)
                    && elem == scalar
                {
                    let p = self.value_of(&val, at)?;
                    let Val::Ir(mut whole) = self.unit(ty, 6) else { unreachable!("a unit is a value") };
                    for i in 0..3 {
                        let part = self.builder().extract(p, i);
                        whole = self.builder().insert(whole, part, i);
                    }
                    return Ok(Val::Ir(whole));
                }
            }
        }
        // Rotations, transforms and spatial vectors can be put together from their halves.
        let parts_allowed = match ty {
            Type::Quat(_) | Type::Transform(_) => true,
            Type::Vec { len: 6, elem } => {
                positional.len() == 2
                    && positional.iter().all(|(val, _)| self.type_of(val) == Some(Type::vec(3, elem)))
            }
            _ => false,
        };
        let mut parts = Vec::new();
        for (val, at) in &positional {
            match self.type_of(val) {
                Some(Type::Scalar(_)) => parts.push(self.component_value(val, scalar, *at, ty)?),
                Some(part @ (Type::Vec { .. } | Type::Quat(_)))
                    if parts_allowed && part.scalar() == Some(scalar) =>
                {
                    let value = self.value_of(val, *at)?;
                    for i in 0..part.component_count().expect("a composite") {
                        parts.push(self.builder().extract(value, i));
                    }
                }
                _ => {
                    let (what, whole) = (self.describe(val), ty.python_name());
                    let mut diagnostic = Diagnostic::new(
                        codes::CONVERSION,
                        *at,
                        format!("{what} cannot be a component of {whole}"),
                    );
                    if matches!(ty, Type::Mat { .. }) {
                        diagnostic =
                            diagnostic.help("use `wp.matrix_from_rows(...)` or `wp.matrix_from_cols(...)`");
                    }
                    return Err(self.report(diagnostic));
                }
            }
        }
        if parts.len() != count {
            let whole = ty.python_name();
            let one = matches!(ty, Type::Vec { .. } | Type::Mat { .. });
            return Err(self.report(
                Diagnostic::new(
                    codes::ARGUMENTS,
                    span,
                    format!("{whole} has {count} components, {} were given", parts.len()),
                )
                .help(if one {
                    "give all components, one value for all, or none"
                } else {
                    "give all components"
                }),
            ));
        }
        Ok(Val::Ir(self.builder().value(OpKind::Construct, parts, ty)))
    }

    /// Whether `shape=`, `length=` or `dtype=` names what `ty` has.
    fn says_shape(&self, ty: Type, name: &str, val: &Val) -> bool {
        let size = |val: &Val, n: u32| val.const_int() == Some(n.into());
        match (name, ty, val) {
            ("length", Type::Vec { len, .. }, val) => size(val, len),
            ("shape", Type::Mat { rows, cols, .. }, Val::Tuple(items)) => {
                matches!(items.as_slice(), [r, c] if size(r, rows) && size(c, cols))
            }
            ("dtype", _, Val::Type(given)) => given.as_scalar().is_some() && given.as_scalar() == ty.scalar(),
            _ => false,
        }
    }

    /// One component: constants convert, values must have the scalar type.
    fn component_value(&mut self, val: &Val, scalar: Scalar, span: Span, whole: Type) -> R<Value> {
        // The components of a vector or matrix are converted; a rotation of whole numbers is more likely a mistake.
        let strict = matches!(whole, Type::Quat(_) | Type::Transform(_))
            && matches!(self.origin, Origin::User(_))
            && self.type_of(val).is_some_and(Type::is_int);
        if let Some(c) = val.const_scalar().filter(|_| !strict) {
            return Ok(self.builder().constant(converted(c, scalar), scalar));
        }
        let value = self.value_of(val, span)?;
        if self.function.ty(value) == Type::Scalar(scalar) {
            return Ok(value);
        }
        let (what, text) = (self.describe(val), self.text_of(span));
        Err(self.report(
            Diagnostic::new(
                codes::CONVERSION,
                span,
                format!(
                    "the components of {} are expected to be of the type `{}`, this is {what}",
                    whole.python_name(),
                    scalar.python_name()
                ),
            )
            .help(format!("convert it: `{}`", super::assign::conversion(scalar, &text))),
        ))
    }
}
