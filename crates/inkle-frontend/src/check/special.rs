//! Built-ins with typing rules of their own, and constructors of types.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{BinaryOp, Constant, OpKind, Scalar, Type, Value};

use super::call::Args;
use super::codes;
use super::function::{FunctionCx, Origin};
use super::val::{R, Slot, Val};
use crate::builtins::{Builtin, Special};
use crate::env::ConstValue;
use crate::tree::{self, Expr, ExprKind, FormatPart, UnOp};

impl FunctionCx<'_, '_> {
    pub(super) fn special(
        &mut self,
        special: Special,
        builtin: &'static Builtin,
        expr: &Expr,
        args: &[Expr],
        keywords: &[(Option<String>, Expr)],
    ) -> R<Option<Val>> {
        let span = expr.span;
        match special {
            Special::Static => return self.static_call(args, span).map(Some),
            Special::Print => return self.print(args, span).map(|()| None),
            Special::Range => {
                return Err(self.report(Diagnostic::new(
                    codes::EXPRESSION,
                    span,
                    "`range` can only be what a `for` loop runs over",
                )));
            }
            _ => {}
        }
        let args = self.evaluate(args, keywords)?;
        match special {
            Special::Tid => {
                self.count(builtin, &args, 0..=0, span)?;
                Ok(Some(Val::Ir(self.tid(0))))
            }
            Special::LaunchDim => {
                self.count(builtin, &args, 1..=1, span)?;
                match args.positional[0].0.const_int() {
                    Some(dim @ 0..=3) => {
                        Ok(Some(Val::Ir(self.builder().value(OpKind::LaunchDim(dim as u32), [], Type::I32))))
                    }
                    _ => Err(self.report(Diagnostic::new(
                        codes::NEEDS_CONSTANT,
                        span,
                        "the dimension must be a constant from 0 to 3",
                    ))),
                }
            }
            Special::Len => {
                self.count(builtin, &args, 1..=1, span)?;
                self.len(&args.positional[0].0, args.positional[0].1).map(Some)
            }
            Special::Min | Special::Max => {
                self.min_max(special == Special::Min, builtin, &args, span).map(Some)
            }
            Special::Where => {
                let [c, a, b] =
                    self.three(builtin, &args, ["cond", "value_if_true", "value_if_false"], span)?;
                self.where_call(&c, &a, &b).map(Some)
            }
            Special::Select => {
                let [c, b, a] =
                    self.three(builtin, &args, ["cond", "value_if_false", "value_if_true"], span)?;
                self.where_call(&c, &a, &b).map(Some)
            }
            Special::AtomicCas => self.atomic_cas_call(builtin, &args, span).map(Some),
            Special::Cast | Special::Bitcast => self.bitcast(builtin, &args, span).map(Some),
            Special::BitCount => {
                let Some(bound) = self.match_signatures(builtin, &args, span) else {
                    return Err(self.no_overload(builtin, &args, span));
                };
                let value = self.value_of(&bound[0].0, span)?;
                let count = self.builder().unary(inkle_ir::UnaryOp::Popcount, value);
                Ok(Some(Val::Ir(self.builder().cast(count, Type::I32))))
            }
            Special::Neg | Special::Pos => {
                self.count(builtin, &args, 1..=1, span)?;
                let op = if special == Special::Neg { UnOp::Neg } else { UnOp::Pos };
                self.unary(op, &args.positional[0].0, span).map(Some)
            }
            Special::Unot => {
                self.count(builtin, &args, 1..=1, span)?;
                self.not(&args.positional[0].0, span).map(Some)
            }
            Special::ExpectEq | Special::ExpectNeq => {
                self.count(builtin, &args, 2..=2, span)?;
                self.expect(special == Special::ExpectEq, &args, span)?;
                Ok(None)
            }
            Special::Printf => self.printf(&args, span).map(|()| None),
            Special::IsInstance => self.is_instance(builtin, &args, span).map(Some),
            Special::TypeOf => {
                self.count(builtin, &args, 1..=1, span)?;
                match self.type_of(&args.positional[0].0) {
                    Some(ty) => Ok(Some(Val::Type(ty))),
                    None => Err(self.no_overload(builtin, &args, span)),
                }
            }
            Special::Tuple => Ok(Some(match args.positional.as_slice() {
                [(Val::Tuple(items), _)] => Val::Tuple(items.clone()),
                items => Val::tuple(items.iter().map(|(val, _)| val.clone()).collect()),
            })),
            Special::Address | Special::Load => {
                let (reference, _, _) = self.element_call(builtin, &args, 0, span)?;
                Ok(Some(Val::Ir(self.builder().load(reference))))
            }
            Special::Store => {
                let (reference, elem, rest) = self.element_call(builtin, &args, 1, span)?;
                let (val, at) = &rest[0];
                if self.type_of(val) != Some(elem) {
                    return Err(self.wrong_store(val, elem, span, *at));
                }
                let value = self.value_of(val, *at)?;
                self.builder().store(reference, value);
                Ok(None)
            }
            Special::View => self.view(builtin, &args, span).map(Some),
            Special::Extract => self.extract(builtin, &args, span).map(Some),
            Special::Vector => self.vector(builtin, &args, span).map(Some),
            Special::Matrix => self.matrix(builtin, &args, span).map(Some),
            Special::Identity => self.identity(builtin, &args, span).map(Some),
            Special::Quaternion => {
                let scalar = self.dtype(&args, span)?;
                self.construct(Type::Quat(scalar.unwrap_or(Scalar::F32)), &without(&args, "dtype"), span)
                    .map(Some)
            }
            Special::QuatIdentity => {
                let scalar = self.dtype(&args, span)?.unwrap_or(Scalar::F32);
                Ok(Some(self.unit(Type::Quat(scalar), 3)))
            }
            Special::Transformation => {
                let scalar = self.dtype(&args, span)?;
                let inferred =
                    args.positional.first().and_then(|(val, _)| self.type_of(val)).and_then(Type::scalar);
                self.construct(
                    Type::Transform(scalar.or(inferred).unwrap_or(Scalar::F32)),
                    &without(&args, "dtype"),
                    span,
                )
                .map(Some)
            }
            Special::TransformIdentity => {
                let scalar = self.dtype(&args, span)?.unwrap_or(Scalar::F32);
                Ok(Some(self.unit(Type::Transform(scalar), 6)))
            }
            Special::Static | Special::Print | Special::Range => {
                unreachable!("handled before the arguments are evaluated")
            }
        }
    }

    fn count(
        &mut self,
        builtin: &Builtin,
        args: &Args,
        allowed: std::ops::RangeInclusive<usize>,
        span: Span,
    ) -> R<()> {
        let given = args.positional.len() + args.keywords.len();
        if allowed.contains(&given) && args.keywords.is_empty() {
            return Ok(());
        }
        let wanted = if allowed.start() == allowed.end() {
            format!("{}", allowed.start())
        } else {
            format!("{} to {}", allowed.start(), allowed.end())
        };
        Err(self.report(Diagnostic::new(
            codes::ARGUMENTS,
            span,
            format!("`{}` takes {wanted} positional arguments, {given} were given", builtin.name),
        )))
    }

    fn three(&mut self, builtin: &Builtin, args: &Args, names: [&str; 3], span: Span) -> R<[(Val, Span); 3]> {
        let mut out: Vec<(Val, Span)> = args.positional.clone();
        for name in &names[out.len().min(3)..] {
            if let Some((_, val, at)) = args.keywords.iter().find(|(n, _, _)| n == name) {
                out.push((val.clone(), *at));
            }
        }
        if out.len() != args.positional.len() + args.keywords.len() {
            return Err(self.no_overload(builtin, args, span));
        }
        <[(Val, Span); 3]>::try_from(out).map_err(|_| self.no_overload(builtin, args, span))
    }

    fn where_call(&mut self, c: &(Val, Span), a: &(Val, Span), b: &(Val, Span)) -> R<Val> {
        let condition = self.truth(&c.0, c.1)?;
        if let Val::Const(ConstValue::Bool(known)) = condition {
            let (val, span) = if known { a } else { b };
            return self.settle(val.clone(), *span);
        }
        let condition = self.value_of(&condition, c.1)?;
        self.choose(condition, &a.0, a.1, &b.0, b.1)
    }

    fn static_call(&mut self, args: &[Expr], span: Span) -> R<Val> {
        let ([arg], Origin::User(key)) = (args, self.origin) else {
            return Err(self.report(Diagnostic::new(
                codes::ARGUMENTS,
                span,
                "`static` takes one expression",
            )));
        };
        let mut locals = Vec::new();
        for (name, var) in &self.names {
            if let Slot::Set(Val::Const(c)) = &self.slots[var.0] {
                locals.push((name.clone(), c.clone()));
            }
        }
        locals.sort_by(|a, b| a.0.cmp(&b.0));
        match self.checker.env.static_value(key, arg, &locals) {
            Ok(binding) => {
                let text = self.text_of(arg.span);
                self.bound(binding, &text, arg.span)
            }
            Err(why) => Err(self.report(Diagnostic::new(
                codes::NEEDS_CONSTANT,
                arg.span,
                format!("`static` could not be evaluated: {why}"),
            ))),
        }
    }

    fn len(&mut self, val: &Val, span: Span) -> R<Val> {
        let count = match (val, self.type_of(val)) {
            (Val::Tuple(items), _) => items.len() as i128,
            (Val::Const(ConstValue::Str(text)), _) => text.chars().count() as i128,
            (_, Some(Type::Vec { len, .. })) => len.into(),
            (_, Some(Type::Mat { rows, .. })) => rows.into(),
            (_, Some(Type::Quat(_))) => 4,
            (_, Some(Type::Transform(_))) => 7,
            (_, Some(Type::Array(_))) => {
                let array = self.value_of(val, span)?;
                return Ok(Val::Ir(self.shape(array, 0)));
            }
            _ => {
                let what = self.describe(val);
                return Err(self.report(Diagnostic::new(
                    codes::NO_OVERLOAD,
                    span,
                    format!("{what} has no length"),
                )));
            }
        };
        Ok(Val::typed_int(count, Scalar::I32))
    }

    fn min_max(&mut self, min: bool, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        let op = if min { BinaryOp::Min } else { BinaryOp::Max };
        if let [(val, at)] = args.positional.as_slice()
            && let Some(Type::Vec { len, elem }) = self.type_of(val)
            && elem != Scalar::Bool
        {
            let whole = self.value_of(val, *at)?;
            let mut best = self.builder().extract(whole, 0);
            for i in 1..len {
                let next = self.builder().extract(whole, i);
                best = self.builder().binary(op, best, next);
            }
            return Ok(Val::Ir(best));
        }
        if let [(Val::Const(a), _), (Val::Const(b), _)] = args.positional.as_slice()
            && let (ConstValue::Int(x), ConstValue::Int(y)) = (a, b)
        {
            return Ok(Val::int(if min { *x.min(y) } else { *x.max(y) }));
        }
        let Some(bound) = self.match_signatures(builtin, args, span) else {
            return Err(self.no_overload(builtin, args, span));
        };
        let (x, y) = (self.value_of(&bound[0].0, bound[0].1)?, self.value_of(&bound[1].0, bound[1].1)?);
        Ok(Val::Ir(self.builder().binary(op, x, y)))
    }

    fn bitcast(&mut self, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        let (val, ty) = match (args.positional.as_slice(), args.keyword("dtype")) {
            ([(val, _), (Val::Type(ty), _)], None) | ([(val, _)], Some(Val::Type(ty))) => (val.clone(), *ty),
            _ => return Err(self.no_overload(builtin, args, span)),
        };
        let value = self.value_of(&val, span)?;
        let from = self.function.ty(value);
        match (from, ty) {
            (Type::Scalar(a), Type::Scalar(b))
                if a.size() == b.size() && (a == Scalar::Bool) == (b == Scalar::Bool) =>
            {
                if a == b {
                    return Ok(val);
                }
                Ok(Val::Ir(self.builder().value(OpKind::Bitcast, [value], ty)))
            }
            _ => {
                let (from, to) = (from.python_name(), ty.python_name());
                Err(self.report(Diagnostic::new(
                    codes::CONVERSION,
                    span,
                    format!("the bits of {from} cannot be read as {to}: the sizes differ"),
                )))
            }
        }
    }

    fn is_instance(&mut self, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        self.count(builtin, args, 2..=2, span)?;
        let ty = self.type_of(&args.positional[0].0);
        let fits = |val: &Val| matches!(val, Val::Type(want) if Some(*want) == ty);
        match &args.positional[1].0 {
            val @ Val::Type(_) => Ok(Val::bool(fits(val))),
            Val::Tuple(items) => Ok(Val::bool(items.iter().any(fits))),
            _ => Err(self.no_overload(builtin, args, span)),
        }
    }

    fn view(&mut self, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        let Some((Val::Ir(array), _)) = args.positional.first() else {
            return Err(self.no_overload(builtin, args, span));
        };
        let array = *array;
        let Some(ty) = self.function.ty(array).as_array() else {
            return Err(self.no_overload(builtin, args, span));
        };
        let count = args.positional.len() - 1;
        if count == 0 || count >= ty.ndim as usize {
            return Err(self.report(Diagnostic::new(
                codes::INDEX,
                span,
                format!("a view of an array of {} dimensions takes 1 to {} indices", ty.ndim, ty.ndim - 1),
            )));
        }
        let mut indices = Vec::new();
        for (dim, (val, at)) in args.positional[1..].to_vec().iter().enumerate() {
            indices.push(self.index_value(val, *at, |cx| cx.shape(array, dim as u32))?);
        }
        Ok(Val::Ir(self.builder().view(array, &indices)))
    }

    fn extract(&mut self, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        let [(whole, _), indices @ ..] = args.positional.as_slice() else {
            return Err(self.no_overload(builtin, args, span));
        };
        let (whole, indices) = (whole.clone(), indices.to_vec());
        let ty = self.type_of(&whole);
        let size = match (ty, indices.len()) {
            (Some(ty @ (Type::Vec { .. } | Type::Quat(_) | Type::Transform(_))), 1) => {
                ty.component_count().expect("a composite")
            }
            (Some(Type::Mat { rows, cols, .. }), 2) => rows * cols,
            _ => return Err(self.no_overload(builtin, args, span)),
        };
        let value = self.value_of(&whole, span)?;
        let mut flat: Option<Value> = None;
        for (val, at) in &indices {
            let index = self.integer_index(val, *at)?;
            let index = self.builder().cast(index, Type::I32);
            flat = Some(match (flat, ty) {
                (Some(row), Some(Type::Mat { cols, .. })) => {
                    let cols = self.builder().i32(cols as i32);
                    let base = self.builder().binary(BinaryOp::Mul, row, cols);
                    self.builder().binary(BinaryOp::Add, base, index)
                }
                _ => index,
            });
        }
        let _ = size;
        let scalar = Type::Scalar(ty.and_then(Type::scalar).expect("a composite"));
        Ok(Val::Ir(self.builder().value(
            OpKind::ExtractDyn,
            [value, flat.expect("at least one index")],
            scalar,
        )))
    }

    fn dtype(&mut self, args: &Args, span: Span) -> R<Option<Scalar>> {
        match args.keyword("dtype") {
            None => Ok(None),
            Some(Val::Type(Type::Scalar(s))) => Ok(Some(*s)),
            Some(other) => {
                let what = self.describe(&other.clone());
                Err(self.report(Diagnostic::new(
                    codes::NOT_A_VALUE,
                    span,
                    format!("`dtype` must be a scalar type, not {what}"),
                )))
            }
        }
    }

    /// The scalar a list of constructor arguments has in common.
    fn common_arg_scalar(&self, args: &Args) -> Option<Scalar> {
        let typed = args.positional.iter().find(|(val, _)| !val.is_literal());
        typed.or(args.positional.first()).and_then(|(val, _)| self.type_of(val)).and_then(Type::scalar)
    }

    fn vector(&mut self, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        let scalar = self.dtype(args, span)?.or_else(|| self.common_arg_scalar(args)).unwrap_or(Scalar::F32);
        let len = match args.keyword("length").map(|v| v.const_int()) {
            Some(Some(n @ 1..)) => n as u32,
            Some(_) => {
                return Err(self.report(Diagnostic::new(
                    codes::NEEDS_CONSTANT,
                    span,
                    "`length` must be a positive constant",
                )));
            }
            None if args.positional.is_empty() => return Err(self.no_overload(builtin, args, span)),
            None => match args.positional.as_slice() {
                [(val, _)] => match self.type_of(val) {
                    Some(Type::Vec { len, .. }) => len,
                    _ => 1,
                },
                many => many.len() as u32,
            },
        };
        self.construct(
            Type::vec(len, scalar),
            &Args { positional: args.positional.clone(), keywords: Vec::new(), exprs: Vec::new() },
            span,
        )
    }

    fn matrix(&mut self, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        let scalar = self.dtype(args, span)?.or_else(|| self.common_arg_scalar(args)).unwrap_or(Scalar::F32);
        let shape = match args.keyword("shape") {
            Some(Val::Tuple(items)) => {
                match items.iter().map(Val::const_int).collect::<Vec<_>>().as_slice() {
                    [Some(r @ 1..), Some(c @ 1..)] => Some((*r as u32, *c as u32)),
                    _ => None,
                }
            }
            None => {
                let root = (1..=16u32).find(|n| (n * n) as usize == args.positional.len());
                root.filter(|n| *n > 1).map(|n| (n, n))
            }
            Some(_) => None,
        };
        let Some((rows, cols)) = shape else {
            return Err(self.no_overload(builtin, args, span));
        };
        self.construct(
            Type::mat(rows, cols, scalar),
            &Args { positional: args.positional.clone(), keywords: Vec::new(), exprs: Vec::new() },
            span,
        )
    }

    fn identity(&mut self, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        let n = args.positional.first().map(|(val, _)| val).or(args.keyword("n")).and_then(Val::const_int);
        let dtype = match args.positional.get(1) {
            Some((Val::Type(Type::Scalar(s)), _)) => Some(*s),
            _ => self.dtype(args, span)?,
        };
        let (Some(n @ 1..=64), Some(scalar)) = (n, dtype) else {
            return Err(self.report(
                Diagnostic::new(
                    codes::NO_OVERLOAD,
                    span,
                    format!("`{}` takes a constant size and a scalar type", builtin.name),
                )
                .help("write `wp.identity(n=3, dtype=float)`"),
            ));
        };
        let n = n as u32;
        let one = self.builder().constant(Constant::Int(1), scalar);
        let zero = self.builder().constant(Constant::Int(0), scalar);
        let parts: Vec<Value> = (0..n * n).map(|i| if i % (n + 1) == 0 { one } else { zero }).collect();
        Ok(Val::Ir(self.builder().value(OpKind::Construct, parts, Type::mat(n, n, scalar))))
    }

    /// Zero but for a one at a component.
    fn unit(&mut self, ty: Type, at: u32) -> Val {
        let zero = self.builder().zero(ty);
        let one = self.builder().constant(Constant::Int(1), ty.scalar().expect("a composite"));
        Val::Ir(self.builder().insert(zero, one, at))
    }

    /// `T(args)`.
    pub(super) fn construct(&mut self, ty: Type, args: &Args, span: Span) -> R<Val> {
        match ty {
            Type::Scalar(scalar) => self.convert(scalar, args, span),
            Type::Struct(_) => self.construct_struct(ty, args, span),
            Type::Array(_) | Type::Ref(_) => {
                let what = ty.python_name();
                Err(self.report(Diagnostic::new(
                    codes::NOT_CALLABLE,
                    span,
                    format!("{what} cannot be made inside a kernel"),
                )))
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
                return Err(self.report(Diagnostic::new(
                    codes::ARGUMENTS,
                    span,
                    format!("`{name}` converts one value"),
                )));
            }
        };
        if let Some(c) = val.const_scalar() {
            if let Constant::Int(i) = c
                && scalar.is_int()
                && val.is_literal()
                && c.convert(scalar) != c
            {
                let name = scalar.python_name();
                // Negative literals of unsigned types wrap as in C; what needs more bits than there are is a mistake.
                let bits = scalar.size() * 8;
                if i >= 1i128 << bits || i < -(1i128 << (bits - 1)) {
                    return Err(self.report(Diagnostic::new(
                        codes::LITERAL_RANGE,
                        at,
                        format!("{i} does not fit {name}"),
                    )));
                }
            }
            return Ok(Val::Const(ConstValue::Typed(c.convert(scalar), scalar)));
        }
        match self.type_of(val) {
            Some(Type::Scalar(_)) => {
                let value = self.value_of(val, at)?;
                Ok(Val::Ir(self.scalar_cast(value, scalar)))
            }
            _ => {
                let (what, name) = (self.describe(val), scalar.python_name());
                Err(self.report(Diagnostic::new(
                    codes::CONVERSION,
                    at,
                    format!("cannot convert {what} to {name}"),
                )))
            }
        }
    }

    /// Narrow integers are converted from floats through int32 and uint32 through int64, so that they wrap.
    fn scalar_cast(&mut self, value: Value, scalar: Scalar) -> Value {
        let from = self.function.ty(value);
        let through = match scalar {
            Scalar::I8 | Scalar::I16 | Scalar::U8 | Scalar::U16 => Some(Type::I32),
            Scalar::U32 => Some(Type::I64),
            _ => None,
        };
        let value = match through {
            Some(wide) if from.is_float() => self.builder().cast(value, wide),
            _ => value,
        };
        self.builder().cast(value, Type::Scalar(scalar))
    }

    fn construct_struct(&mut self, ty: Type, args: &Args, span: Span) -> R<Val> {
        let s = ty.as_struct().expect("a struct");
        let mut whole = self.builder().zero(ty);
        if args.positional.len() > s.fields.len() {
            return Err(self.report(Diagnostic::new(
                codes::ARGUMENTS,
                span,
                format!(
                    "struct `{}` has {} fields, {} values were given",
                    s.name,
                    s.fields.len(),
                    args.positional.len()
                ),
            )));
        }
        let mut given: Vec<(usize, Val, Span)> =
            args.positional.iter().cloned().enumerate().map(|(i, (v, at))| (i, v, at)).collect();
        for (name, val, at) in &args.keywords {
            match s.field_index(name) {
                Some(index) => given.push((index, val.clone(), *at)),
                None => return Err(self.no_attribute(val, ty, name, *at)),
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
            _ => &[],
        };
        for (name, val, at) in &args.keywords {
            if names.get(positional.len()) == Some(&name.as_str()) {
                positional.push((val.clone(), *at));
            } else {
                let what = ty.python_name();
                return Err(self.report(Diagnostic::new(
                    codes::ARGUMENTS,
                    *at,
                    format!("`{what}` has no parameter `{name}` here"),
                )));
            }
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
                if from.as_scalar().is_some() && matches!(ty, Type::Vec { .. } | Type::Mat { .. }) {
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
        let parts_allowed = matches!(ty, Type::Quat(_) | Type::Transform(_));
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
            return Err(self.report(Diagnostic::new(
                codes::ARGUMENTS,
                span,
                format!("{whole} has {count} components, {} were given", parts.len()),
            )));
        }
        Ok(Val::Ir(self.builder().value(OpKind::Construct, parts, ty)))
    }

    /// One component: constants convert, values must have the scalar type.
    fn component_value(&mut self, val: &Val, scalar: Scalar, span: Span, whole: Type) -> R<Value> {
        if let Some(c) = val.const_scalar() {
            return Ok(self.builder().constant(c, scalar));
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
                    "the components of {} are {}, this is {what}",
                    whole.python_name(),
                    scalar.python_name()
                ),
            )
            .help(format!("convert explicitly: `{}`", super::assign::conversion(scalar, &text))),
        ))
    }

    fn expect(&mut self, equal: bool, args: &Args, span: Span) -> R<()> {
        let [(a, at), (b, bt)] = [args.positional[0].clone(), args.positional[1].clone()];
        let same = self.comparison(tree::CmpOp::Eq, &a, at, &b, bt)?;
        let failed = if equal { self.not(&same, span)? } else { same };
        let failed = self.value_of(&failed, span)?;
        let name = if equal { "expect_eq" } else { "expect_neq" };
        let text =
            format!("Error, {name}({}, {}) failed\n", self.text_of(at), self.text_of(bt)).replace('%', "%%");
        self.branch(failed, |cx| cx.builder().effect(OpKind::Print(text), []), |_| {});
        Ok(())
    }

    /// `print(a, b, ...)`: values as Python shows them, one space between, then a line break.
    fn print(&mut self, args: &[Expr], span: Span) -> R<()> {
        if args.is_empty() {
            self.builder().effect(OpKind::Print("\n".into()), []);
        }
        for (index, arg) in args.iter().enumerate() {
            let end = if index + 1 == args.len() { "\n" } else { " " };
            if let ExprKind::FormatStr(parts) = &*arg.kind {
                for part in parts {
                    match part {
                        FormatPart::Text(text) => {
                            let text = text.replace('%', "%%");
                            self.builder().effect(OpKind::Print(text), []);
                        }
                        FormatPart::Value(expr, _) => {
                            let val = self.expr(expr)?;
                            self.print_value(&val, "", expr.span)?;
                        }
                    }
                }
                self.builder().effect(OpKind::Print(end.into()), []);
                continue;
            }
            let val = self.expr(arg)?;
            self.span = span;
            self.print_value(&val, end, arg.span)?;
        }
        Ok(())
    }

    fn print_value(&mut self, val: &Val, end: &str, span: Span) -> R<()> {
        match val {
            Val::Const(ConstValue::Str(text)) => {
                let text = format!("{}{end}", text.replace('%', "%%"));
                self.builder().effect(OpKind::Print(text), []);
                return Ok(());
            }
            Val::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    let end = if i + 1 == items.len() { end } else { " " };
                    self.print_value(item, end, span)?;
                }
                return Ok(());
            }
            _ => {}
        }
        let value = self.value_of(val, span)?;
        let ty = self.function.ty(value);
        match ty {
            Type::Scalar(Scalar::Bool) => {
                let (yes, no) = (format!("True{end}"), format!("False{end}"));
                self.branch(
                    value,
                    |cx| cx.builder().effect(OpKind::Print(yes), []),
                    |cx| cx.builder().effect(OpKind::Print(no), []),
                );
            }
            Type::Scalar(s) => {
                self.builder().effect(OpKind::Print(format!("{}{end}", conversion_of(s))), [value])
            }
            Type::Array(_) => {
                let address = self.builder().value(OpKind::Address, [value], Type::U64);
                self.builder().effect(OpKind::Print(format!("array at %llu{end}")), [address]);
            }
            Type::Struct(s) => {
                for (index, field) in s.fields.iter().enumerate() {
                    let part = self.builder().extract(value, index as u32);
                    self.builder().effect(OpKind::Print(format!("{}=", field.name)), []);
                    let end = if index + 1 == s.fields.len() { end } else { " " };
                    self.print_value(&Val::Ir(part), end, span)?;
                }
            }
            Type::Ref(_) => {}
            _ => {
                let scalar = ty.scalar().expect("a composite");
                let count = ty.component_count().expect("a composite");
                let width = if let Type::Mat { cols, .. } = ty { cols } else { count };
                let spaced = !matches!(ty, Type::Quat(_) | Type::Transform(_));
                let mut format = String::new();
                let mut parts = Vec::new();
                for i in 0..count {
                    format.push_str(conversion_of(scalar));
                    let row_ends = (i + 1) % width == 0;
                    if !row_ends || spaced {
                        format.push(' ');
                    }
                    if row_ends && i + 1 < count {
                        format.push('\n');
                    }
                    let part = self.builder().extract(value, i);
                    parts.push(part);
                }
                format.push_str(end);
                self.builder().effect(OpKind::Print(format), parts);
            }
        }
        Ok(())
    }

    fn printf(&mut self, args: &Args, span: Span) -> R<()> {
        let Some((Val::Const(ConstValue::Str(format)), _)) = args.positional.first() else {
            return Err(self.report(Diagnostic::new(
                codes::NEEDS_CONSTANT,
                span,
                "`printf` takes a format string first",
            )));
        };
        let format = format.clone();
        let mut values = Vec::new();
        for (val, at) in &args.positional[1..] {
            let value = self.value_of(val, *at)?;
            if self.function.ty(value).as_scalar().is_none() {
                let what = self.describe(val);
                return Err(self.report(
                    Diagnostic::new(codes::NO_OVERLOAD, *at, format!("`printf` prints scalars, not {what}"))
                        .help("print the components one by one, or use `print`"),
                ));
            }
            values.push(value);
        }
        let wanted = format.replace("%%", "").matches('%').count();
        if wanted != values.len() {
            return Err(self.report(Diagnostic::new(
                codes::ARGUMENTS,
                span,
                format!("the format has {wanted} conversions but {} values are given", values.len()),
            )));
        }
        self.builder().effect(OpKind::Print(format), values);
        Ok(())
    }
}

/// The printf conversion that shows a scalar as Python users expect.
fn conversion_of(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I64 => "%lld",
        Scalar::U64 => "%llu",
        Scalar::U8 | Scalar::U16 | Scalar::U32 => "%u",
        s if s.is_float() => "%g",
        _ => "%d",
    }
}

fn without(args: &Args, name: &str) -> Args {
    Args {
        positional: args.positional.clone(),
        keywords: args.keywords.iter().filter(|(n, _, _)| n != name).cloned().collect(),
        exprs: Vec::new(),
    }
}
