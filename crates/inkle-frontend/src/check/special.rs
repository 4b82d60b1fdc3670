//! Built-ins with typing rules of their own, and constructors of types.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{BinaryOp, Constant, OpKind, Scalar, Type, Value};

use super::call::Args;
use super::codes;
use super::function::{FunctionCx, Origin};
use super::scan;
use super::val::{R, Slot, Val};
use crate::builtins::{Builtin, Special};
use crate::env::ConstValue;
use crate::tree::{Expr, UnOp};

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
            Special::Grad => {
                let args = self.evaluate(args, keywords)?;
                return self.gradient_of(&args.positional, span).map(Some);
            }
            Special::AddressOf => return self.address_of(args, keywords, span).map(Some),
            Special::Print => return self.print(args, keywords, span).map(|()| None),
            Special::Range | Special::Reversed => {
                let (name, head) = match special {
                    Special::Range => ("range", "range(...)"),
                    _ => ("reversed", "reversed(range(...))"),
                };
                return Err(self.report(
                    Diagnostic::new(
                        codes::EXPRESSION,
                        span,
                        format!("`{name}` can only be what a `for` loop runs over"),
                    )
                    .help(format!("write `for i in {head}:`")),
                ));
            }
            _ => {}
        }
        let args = self.evaluate(args, keywords)?;
        match special {
            Special::Tid => {
                self.count(builtin, &args, 0..=0, span)?;
                self.kernels_only(span)?;
                Ok(Some(Val::Ir(self.tid(0))))
            }
            Special::LaunchDim => {
                self.count(builtin, &args, 1..=1, span)?;
                match args.positional[0].0.const_int() {
                    Some(dim @ 0..=3) => {
                        Ok(Some(Val::Ir(self.builder().value(OpKind::LaunchDim(dim as u32), [], Type::I32))))
                    }
                    _ => Err(self.report(
                        Diagnostic::new(
                            codes::NEEDS_CONSTANT,
                            span,
                            "the dimension must be a constant from 0 to 3",
                        )
                        .help("write `wp.launch_dim(0)`"),
                    )),
                }
            }
            Special::BlockDim => {
                self.count(builtin, &args, 0..=0, span)?;
                Ok(Some(Val::Ir(self.builder().value(OpKind::BlockDim, [], Type::I32))))
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
            Special::ExpectNear => {
                let names = ["a", "b", "tolerance"];
                let mut args = args;
                if args.positional.len() + args.keywords.len() == 2 {
                    let tolerance = Val::Const(ConstValue::Float(1e-6));
                    args.keywords.push(("tolerance".to_owned(), tolerance, span));
                }
                let [a, b, tolerance] = self.three(builtin, &args, names, span)?;
                self.expect_near(builtin, &args, [a, b, tolerance], span)?;
                Ok(None)
            }
            Special::Breakpoint => {
                self.count(builtin, &args, 0..=0, span)?;
                self.builder().effect(OpKind::Breakpoint, []);
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
            Special::Zeros => self.local_array(&args, span).map(Some),
            Special::ArrayAt => self.array_at(&args, span).map(Some),
            Special::Extract => self.extract(builtin, &args, span).map(Some),
            Special::Vector => self.vector(builtin, &args, span).map(Some),
            Special::Matrix => self.matrix(builtin, &args, span).map(Some),
            Special::MatrixFromCols => self.matrix_of_vectors(builtin, &args, false, span).map(Some),
            Special::MatrixFromRows => self.matrix_of_vectors(builtin, &args, true, span).map(Some),
            Special::Identity => self.identity(builtin, &args, span).map(Some),
            Special::Quaternion => {
                let scalar = self.dtype(&args, span)?;
                let inferred = self.common_arg_scalar(&args).filter(|s| s.is_float());
                self.construct(
                    Type::Quat(scalar.or(inferred).unwrap_or(Scalar::F32)),
                    &without(&args, "dtype"),
                    span,
                )
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
            Special::Static
            | Special::Grad
            | Special::AddressOf
            | Special::Print
            | Special::Range
            | Special::Reversed => {
                unreachable!("handled before the arguments are evaluated")
            }
        }
    }

    /// Reports `tid()` outside a kernel.
    pub(super) fn kernels_only(&mut self, span: Span) -> R<()> {
        if self.function.kind == inkle_ir::FunctionKind::Kernel {
            return Ok(());
        }
        Err(self.report(
            Diagnostic::new(
                codes::EXPRESSION,
                span,
                "`tid()` can only be called in a kernel, not in a function",
            )
            .help("call it in the kernel and pass the index as an argument"),
        ))
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
        Err(self.report(
            Diagnostic::new(
                codes::ARGUMENTS,
                span,
                format!("`{}` takes {wanted} positional arguments, {given} were given", builtin.name),
            )
            .help(format!("it is described as: {}", builtin.doc)),
        ))
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
            let (val, _) = if known { a } else { b };
            return Ok(self.settle(val.clone()));
        }
        let condition = self.value_of(&condition, c.1)?;
        self.choose(condition, &a.0, a.1, &b.0, b.1)
    }

    fn static_call(&mut self, args: &[Expr], span: Span) -> R<Val> {
        let ([arg], Origin::User(key)) = (args, self.origin) else {
            return Err(self.report(
                Diagnostic::new(codes::ARGUMENTS, span, "`static` takes one expression")
                    .help("write `wp.static(expression)`"),
            ));
        };
        let mut locals = Vec::new();
        for (name, var) in &self.names {
            if let Slot::Set(Val::Const(c)) = &self.slots[var.0] {
                locals.push((name.clone(), c.clone()));
            }
        }
        locals.sort_by(|a, b| a.0.cmp(&b.0));
        let value = self.checker.env.static_value(key, arg, &locals);
        // Python does not know the kernel's variables, but the checker knows their types: `wp.static(len(v))`.
        let mut mentioned = scan::mentioned(arg).into_iter();
        if value.is_err() && mentioned.any(|name| self.names.contains_key(name)) {
            let val = self.expr(arg)?;
            if matches!(val, Val::Const(_) | Val::Type(_)) {
                return Ok(val);
            }
        }
        match value {
            Ok(crate::env::Binding::Const(ConstValue::None)) => {
                let text = self.text_of(arg.span);
                Err(self.report(
                    Diagnostic::new(codes::NOT_A_VALUE, arg.span, format!("`{text}` gives None, which is no value"))
                        .help("let it return a number, a type or a function; call Python for its effect elsewhere"),
                ))
            }
            Ok(binding) => {
                let text = self.text_of(arg.span);
                self.bound(binding, &text, arg.span)
            }
            Err(why) => Err(self.report(Diagnostic::new(
                codes::NEEDS_CONSTANT,
                arg.span,
                format!("`static` could not be evaluated: {why}"),
            ).help("it is evaluated in Python before the kernel runs: use what Python knows then, and the variables of unrolled loops"))),
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
                return Err(self.report(
                    Diagnostic::new(codes::NO_OVERLOAD, span, format!("{what} has no length"))
                        .help("arrays, vectors, matrices, quaternions, transforms and tuples have one"),
                ));
            }
        };
        Ok(Val::typed_int(count, Scalar::I32))
    }

    fn min_max(&mut self, min: bool, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        let op = if min { BinaryOp::Min } else { BinaryOp::Max };
        let single = match (args.positional.as_slice(), args.keywords.as_slice()) {
            ([only], []) => Some(only.clone()),
            ([], [(name, val, at)]) if name == "a" => Some((val.clone(), *at)),
            _ => None,
        };
        if let Some((val, at)) = &single
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
                Err(self.report(
                    Diagnostic::new(
                        codes::CONVERSION,
                        span,
                        format!("the bits of {from} cannot be read as {to}: the sizes differ"),
                    )
                    .help("this keeps the bits; to convert the number, call the type"),
                ))
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
            let extent = match ty {
                Some(Type::Mat { rows, .. }) if flat.is_none() => rows,
                Some(Type::Mat { cols, .. }) => cols,
                _ => size,
            };
            let index = self.index_value(val, *at, |cx| cx.builder().i32(extent as i32))?;
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
                Err(self.report(
                    Diagnostic::new(
                        codes::NOT_A_VALUE,
                        span,
                        format!("`dtype` must be a scalar type, not {what}"),
                    )
                    .help("write `dtype=float` or another scalar type"),
                ))
            }
        }
    }

    /// Without a `dtype` the components decide, so they must agree.
    fn one_component_type(&mut self, args: &Args) -> R<()> {
        if args.keyword("dtype").is_some() || matches!(self.origin, Origin::Library(_)) {
            return Ok(());
        }
        let mut scalars =
            args.positional.iter().filter_map(|(val, at)| Some((self.type_of(val)?.scalar()?, *at)));
        let Some((first, first_at)) = scalars.next() else { return Ok(()) };
        let Some((other, at)) = scalars.find(|(scalar, _)| *scalar != first) else { return Ok(()) };
        Err(self.report(
            Diagnostic::new(
                codes::CONVERSION,
                at,
                format!("the components are {} and {}", first.python_name(), other.python_name()),
            )
            .also(first_at, format!("this is {}", first.python_name()))
            .help("give all components one type, or say which with `dtype=`"),
        ))
    }

    /// The scalar a list of constructor arguments has in common.
    fn common_arg_scalar(&self, args: &Args) -> Option<Scalar> {
        let typed = args.positional.iter().find(|(val, _)| !val.is_literal());
        typed.or(args.positional.first()).and_then(|(val, _)| self.type_of(val)).and_then(Type::scalar)
    }

    fn vector(&mut self, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        self.one_component_type(args)?;
        let scalar = self.dtype(args, span)?.or_else(|| self.common_arg_scalar(args)).unwrap_or(Scalar::F32);
        let len = match args.keyword("length").map(|v| v.const_int()) {
            Some(Some(n @ 1..)) => n as u32,
            Some(_) => {
                return Err(self.report(
                    Diagnostic::new(codes::NEEDS_CONSTANT, span, "`length` must be a positive constant")
                        .help("write a number, a global constant or `wp.static(...)`"),
                ));
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
            &Args { positional: args.positional.clone(), ..Args::default() },
            span,
        )
    }

    fn matrix(&mut self, builtin: &Builtin, args: &Args, span: Span) -> R<Val> {
        self.one_component_type(args)?;
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
            &Args { positional: args.positional.clone(), ..Args::default() },
            span,
        )
    }

    /// A matrix from its rows or its columns, vectors of one type.
    fn matrix_of_vectors(&mut self, builtin: &Builtin, args: &Args, rows: bool, span: Span) -> R<Val> {
        let first = args.positional.first().and_then(|(val, _)| self.type_of(val));
        let Some(Type::Vec { len, elem }) = first.filter(|_| args.keywords.is_empty()) else {
            return Err(self.no_overload(builtin, args, span));
        };
        let mut vectors = Vec::new();
        for (val, at) in &args.positional {
            if self.type_of(val) != first {
                return Err(self.no_overload(builtin, args, span));
            }
            vectors.push(self.value_of(val, *at)?);
        }
        let count = vectors.len() as u32;
        let (height, width) = if rows { (count, len) } else { (len, count) };
        let mut parts = Vec::new();
        for row in 0..height {
            for col in 0..width {
                let (vector, component) = if rows { (row, col) } else { (col, row) };
                parts.push(self.builder().extract(vectors[vector as usize], component));
            }
        }
        Ok(Val::Ir(self.builder().value(OpKind::Construct, parts, Type::mat(height, width, elem))))
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
    pub(super) fn unit(&mut self, ty: Type, at: u32) -> Val {
        let zero = self.builder().zero(ty);
        let one = self.builder().constant(Constant::Int(1), ty.scalar().expect("a composite"));
        Val::Ir(self.builder().insert(zero, one, at))
    }
}

fn without(args: &Args, name: &str) -> Args {
    Args {
        positional: args.positional.clone(),
        keywords: args.keywords.iter().filter(|(n, _, _)| n != name).cloned().collect(),
        passed: Vec::new(),
    }
}
