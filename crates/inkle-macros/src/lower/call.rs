//! Calls: of functions and built-ins, of types, of methods that Rust's own types have, and of macros.

use inkle_diag::Span;
use inkle_frontend::tree::{BinOp, CmpOp, Expr, ExprKind, FormatPart, StmtKind, UnOp};
use quote::{ToTokens, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;

use crate::generics;

use super::{Dest, Lower, Name, builtin, call, int, named, unit, verbatim};

/// Types whose functions can be called by the type's name.
const SCALARS: [&str; 15] = [
    "bool", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f16", "bf16", "f32",
    "f64",
];

/// Types of programs that take memory, which threads of kernels cannot.
const TAKE_MEMORY: [&str; 8] = ["Vec", "VecDeque", "Box", "Rc", "Arc", "String", "HashMap", "BTreeMap"];

/// Methods of numbers that are built-ins of kernels: Rust's name, the built-in's, the number of arguments.
const METHODS: &[(&str, &str, usize)] = &[
    ("sqrt", "sqrt", 0),
    ("cbrt", "cbrt", 0),
    ("sin", "sin", 0),
    ("cos", "cos", 0),
    ("tan", "tan", 0),
    ("asin", "asin", 0),
    ("acos", "acos", 0),
    ("atan", "atan", 0),
    ("sinh", "sinh", 0),
    ("cosh", "cosh", 0),
    ("tanh", "tanh", 0),
    ("exp", "exp", 0),
    ("exp2", "exp2", 0),
    ("ln", "log", 0),
    ("log2", "log2", 0),
    ("log10", "log10", 0),
    ("floor", "floor", 0),
    ("ceil", "ceil", 0),
    ("trunc", "trunc", 0),
    ("round", "round", 0),
    ("abs", "abs", 0),
    ("is_nan", "isnan", 0),
    ("is_finite", "isfinite", 0),
    ("is_infinite", "isinf", 0),
    ("to_radians", "radians", 0),
    ("to_degrees", "degrees", 0),
    ("transposed", "transpose", 0),
    ("atan2", "atan2", 1),
    ("copysign", "copysign", 1),
    ("round_ties_even", "rint", 0),
    ("powf", "pow", 1),
    ("min", "min", 1),
    ("max", "max", 1),
    ("clamp", "clamp", 2),
];

impl Lower<'_> {
    pub(super) fn call(&mut self, expr: &mut syn::Expr, span: Span) -> Expr {
        let syn::Expr::Call(called) = expr else { unreachable!("the caller saw a call") };
        let syn::Expr::Path(func) = &*called.func else {
            return self.error(&called.func, "kernels can call only functions, by their names");
        };
        let func = func.clone();
        if func.qself.is_some() {
            return self.error(&func, "kernels cannot call functions of traits");
        }
        let segments = &func.path.segments;
        let last = segments.last().expect("a path has a segment").ident.to_string();
        if segments.len() == 1 && self.lookup(&last).is_some() {
            return self
                .error(&func, format!("kernels cannot call the value of a variable, and `{last}` is one"));
        }
        if segments.len() >= 2 {
            let owner = segments[segments.len() - 2].ident.to_string();
            let is_type = owner.starts_with(char::is_uppercase) || SCALARS.contains(&owner.as_str());
            if is_type {
                return self.associated(expr, &func, &owner, &last, span);
            }
        }
        if last.starts_with(char::is_uppercase) {
            return self.error(
                &func,
                format!(
                    "kernels cannot call `{last}`; make values by `new`, of structs by naming their fields"
                ),
            );
        }
        if last == "grad"
            && let (Some(syn::Expr::Path(of)), Some(syn::Expr::Tuple(_)), 2) =
                (called.args.first(), called.args.get(1), called.args.len())
        {
            let of = of.clone();
            let syn::Expr::Tuple(given) = &mut called.args[1] else { unreachable!("it was just seen") };
            return self.gradient(&of, given, span);
        }
        let args = self.exprs(called.args.iter_mut());
        if let ("tid2" | "tid3" | "tid4", []) = (last.as_str(), args.as_slice()) {
            let count = usize::from(last.as_bytes()[3] - b'0');
            let items: Vec<Expr> = (0..count).map(|_| self.hidden()).map(|n| named(&n, span)).collect();
            let all = Expr::new(ExprKind::Tuple(items), span);
            let value = call(builtin("tid", span), Vec::new(), span);
            self.push(StmtKind::Assign { targets: vec![all.clone()], value }, span);
            return all;
        }
        let at = self.source.span(func.span());
        let args = match last.starts_with("atomic_") {
            // Their indices are one argument in Rust and several in the kernel language.
            true => args.into_iter().flat_map(flat).collect(),
            false => args,
        };
        let callee = self.callee(func.path, at);
        call(callee, args, span)
    }

    /// A function or built-in by its path.
    fn callee(&mut self, mut path: syn::Path, span: Span) -> Expr {
        if let Some(last) = path.segments.last_mut() {
            // What is inferred from the arguments here is so there.
            last.arguments = syn::PathArguments::None;
        }
        self.name(Name::Callee(path), span)
    }

    /// `grad(f, (x, y))`.
    fn gradient(&mut self, of: &syn::ExprPath, given: &mut syn::ExprTuple, span: Span) -> Expr {
        let at = self.source.span(of.span());
        if let Some(variable) = of.path.get_ident().filter(|name| self.lookup(&name.to_string()).is_some()) {
            let message =
                format!("kernels cannot differentiate the value of a variable, and `{variable}` is one");
            return self.error(of, message);
        }
        let args = self.exprs(given.elems.iter_mut());
        let callee = self.callee(of.path.clone(), at);
        let gradient = call(builtin("grad", span), vec![callee], span);
        call(gradient, args, span)
    }

    /// A call of a function of a type: `Vec3::new(..)`.
    fn associated(
        &mut self,
        expr: &mut syn::Expr,
        func: &syn::ExprPath,
        owner: &str,
        last: &str,
        span: Span,
    ) -> Expr {
        if TAKE_MEMORY.contains(&owner) {
            let message = format!(
                "kernels take no memory, so they have no `{owner}`; an array of fixed length is `[0.0; 4]`, and as many values as \
                 there are threads are a parameter `&mut Array`"
            );
            return self.error(func, message);
        }
        let whole = expr.clone();
        let syn::Expr::Call(called) = expr else { unreachable!("the caller saw a call") };
        let mut path = func.path.clone();
        path.segments.pop();
        path.segments.pop_punct();
        let ty = syn::Type::Path(syn::TypePath { qself: None, path });
        let is_variable = self.variables.iter().any(|v| v == owner);
        if !is_variable && (self.depends(&ty) || is_left_open(&ty)) {
            return self.composed(expr, &ty, last, span);
        }
        if called.args.is_empty() && !is_variable {
            return self.name(Name::Constant(Box::new(whole)), span);
        }
        match last {
            "new" | "splat" | "from_array" | "from" | "from_f64" | "from_i32" => {
                let args = self.exprs(called.args.iter_mut());
                let ty = self.written(&ty, span);
                call(ty, args, span)
            }
            "from_f32" if matches!(owner, "f16" | "bf16") => {
                let args = self.exprs(called.args.iter_mut());
                let ty = self.written(&ty, span);
                call(ty, args, span)
            }
            "from_bits" if SCALARS.contains(&owner) && called.args.len() == 1 => {
                let mut args = self.exprs(called.args.iter_mut());
                args.push(self.written(&ty, span));
                call(builtin("bitcast", span), args, span)
            }
            "from_rows" if called.args.len() == 1 => {
                let mut items = Vec::new();
                let rows = match &mut called.args[0] {
                    syn::Expr::Array(rows) => rows.elems.iter_mut().collect(),
                    _ => Vec::new(),
                };
                for row in rows {
                    match row {
                        syn::Expr::Array(row) => items.extend(row.elems.iter_mut()),
                        other => {
                            return self
                                .error(other, "kernels need the rows written out: `[[a, b], [c, d]]`");
                        }
                    }
                }
                if items.is_empty() {
                    return self.error(&called.args, "kernels need the rows written out: `[[a, b], [c, d]]`");
                }
                let args = self.exprs(items.into_iter());
                let ty = self.written(&ty, span);
                call(ty, args, span)
            }
            _ if SCALARS.contains(&owner) && !called.args.is_empty() => {
                let mut values = self.exprs(called.args.iter_mut());
                let receiver = values.remove(0);
                let site = self.pass(&mut called.args[0]);
                self.method_value(func, last, receiver, values, site, span)
            }
            _ => self.error(
                func,
                format!("kernels cannot call `{owner}::{last}`; write a function with `#[inkle::func]`"),
            ),
        }
    }

    /// Whether a type is one that only calls of the function tell.
    fn depends(&self, ty: &syn::Type) -> bool {
        generics::mentions(ty.to_token_stream(), &self.variables)
    }

    /// A vector, matrix, quaternion or transform by a function of its type, `Vector::<N, T>::splat(x)` or `Vector::new(x, y)`, where
    /// the type depends on the function's variables or is not written out.
    fn composed(&mut self, expr: &mut syn::Expr, ty: &syn::Type, last: &str, span: Span) -> Expr {
        let syn::Expr::Call(called) = expr else { unreachable!("the caller saw a call") };
        let args = self.exprs(called.args.iter_mut());
        if self.variables.is_empty() && (last == "zero" || !args.is_empty()) {
            // Its type is what rustc infers.
            let site = self.pass(expr);
            let ty = self.name(Name::Type(site), span);
            return call(ty, args, span);
        }
        let syn::Type::Path(path) = ty else { unreachable!("the type of a path is one") };
        let segment = path.path.segments.last().expect("a path has a segment");
        let given: Vec<syn::GenericArgument> = match &segment.arguments {
            syn::PathArguments::AngleBracketed(given) => given.args.iter().cloned().collect(),
            _ => Vec::new(),
        };
        let scalar = |this: &mut Self, index: usize| match given.get(index) {
            Some(syn::GenericArgument::Type(ty)) => this.written(ty, span),
            _ => builtin("f32", span),
        };
        let size = |this: &mut Self, index: usize| match given.get(index) {
            Some(syn::GenericArgument::Type(syn::Type::Path(path))) => {
                this.expr(&mut syn::Expr::Path(syn::ExprPath {
                    attrs: Vec::new(),
                    qself: None,
                    path: path.path.clone(),
                }))
            }
            Some(syn::GenericArgument::Const(size)) => match size {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(size), .. }) => {
                    int(size.base10_parse().unwrap_or_default(), span)
                }
                other => this.error(other, "kernels need a size here that is a number or a name"),
            },
            _ => unit(span),
        };
        let is_open = given.is_empty() && segment.ident != "Quaternion" && segment.ident != "Transform";
        let name = segment.ident.to_string();
        let (of, args, keywords) = match (name.as_str(), last) {
            ("Vector" | "Matrix", "splat" | "zero" | "identity") if is_open => {
                let message =
                    format!("in generic code the type is written out: `{name}::<.., T>::{last}(..)`");
                return self.error(ty, message);
            }
            ("Vector" | "Matrix", "new" | "from_array" | "from_rows") if is_open => {
                (if name == "Vector" { "vector" } else { "matrix" }, args, Vec::new())
            }
            ("Vector", "new" | "splat" | "zero" | "from_array") => {
                let (length, dtype) = (size(self, 0), scalar(self, 1));
                let args =
                    if last == "zero" { vec![call(dtype.clone(), vec![int(0, span)], span)] } else { args };
                ("vector", args, vec![(Some("length".to_owned()), length), (Some("dtype".to_owned()), dtype)])
            }
            ("Matrix", "identity") => ("identity", vec![size(self, 0), scalar(self, 2)], Vec::new()),
            ("Matrix", "zero") => {
                let dtype = scalar(self, 2);
                let shape = Expr::new(ExprKind::Tuple(vec![size(self, 0), size(self, 1)]), span);
                let zero = call(dtype.clone(), vec![int(0, span)], span);
                (
                    "matrix",
                    vec![zero],
                    vec![(Some("shape".to_owned()), shape), (Some("dtype".to_owned()), dtype)],
                )
            }
            ("Quaternion", "new") => ("quaternion", args, Vec::new()),
            ("Quaternion", "identity") => {
                ("quat_identity", Vec::new(), vec![(Some("dtype".to_owned()), scalar(self, 0))])
            }
            ("Transform", "new") => ("transformation", args, Vec::new()),
            ("Transform", "identity") => {
                ("transform_identity", Vec::new(), vec![(Some("dtype".to_owned()), scalar(self, 0))])
            }
            _ => {
                let message = format!(
                    "generic functions of kernels cannot call `{name}::{last}` of a type with their parameters"
                );
                return self.error(ty, message);
            }
        };
        Expr::new(ExprKind::Call { func: builtin(of, span), args, keywords }, span)
    }

    pub(super) fn method(&mut self, expr: &mut syn::Expr, span: Span) -> Expr {
        let syn::Expr::MethodCall(method) = expr else { unreachable!("the caller saw a method call") };
        let name = method.method.to_string();
        if self.is_reference(&method.receiver) {
            // In the shadow too it is the value that is looked at; the name stays what it is.
            let (place, receiver) = (method.receiver.span(), &method.receiver);
            *method.receiver = syn::parse_quote_spanned!(place=> (*#receiver));
        }
        let mut values = self.exprs([&mut *method.receiver].into_iter().chain(method.args.iter_mut()));
        let receiver = values.remove(0);
        if name == "cast" && values.is_empty() {
            let site = self.pass(expr);
            let ty = self.name(Name::Type(site), span);
            return call(ty, vec![receiver], span);
        }
        if name == "to_bits" && values.is_empty() {
            let site = self.pass(expr);
            let ty = self.name(Name::Type(site), span);
            return call(builtin("bitcast", span), vec![receiver, ty], span);
        }
        let at = method.method.clone();
        // A site needs a value, and what these are called on can be a place that is only looked at.
        if matches!(name.as_str(), "len" | "shape" | "to_array") {
            return match name.as_str() {
                "len" => {
                    let attr = ExprKind::Attribute { value: receiver, attr: "size".into(), attr_span: span };
                    call(builtin("u64", span), vec![Expr::new(attr, span)], span)
                }
                "shape" => {
                    let attr_span = self.source.span(at.span());
                    Expr::new(ExprKind::Attribute { value: receiver, attr: name, attr_span }, span)
                }
                _ => receiver,
            };
        }
        let site = self.pass(&mut method.receiver);
        self.method_value(&at, &name, receiver, values, site, span)
    }

    /// A method of a number whose type is that of a site.
    fn method_value(
        &mut self,
        at: &impl quote::ToTokens,
        name: &str,
        receiver: Expr,
        mut args: Vec<Expr>,
        site: usize,
        span: Span,
    ) -> Expr {
        if let Some((_, of, _)) =
            METHODS.iter().find(|(method, _, count)| *method == name && *count == args.len())
        {
            let values = std::iter::once(receiver).chain(args).collect();
            return call(builtin(of, span), values, span);
        }
        let binary = |op, left, right| Expr::new(ExprKind::Binary { op, left, right }, span);
        let compare =
            |left, op, right| Expr::new(ExprKind::Compare { first: left, rest: vec![(op, right)] }, span);
        let choose = |test, then, orelse| Expr::new(ExprKind::IfElse { test, then, orelse }, span);
        let ty = self.name(Name::Type(site), span);
        let number = |value: i128| call(ty.clone(), vec![int(value, span)], span);
        match (name, args.len()) {
            ("powi", 1) => {
                let power = call(ty.clone(), vec![args.remove(0)], span);
                call(builtin("pow", span), vec![receiver, power], span)
            }
            ("recip", 0) => binary(BinOp::Div, number(1), receiver),
            ("mul_add", 2) => {
                let product = binary(BinOp::Mul, receiver, args.remove(0));
                binary(BinOp::Add, product, args.remove(0))
            }
            ("hypot", 1) => {
                let (x, y) = (self.keep(receiver), self.keep(args.remove(0)));
                let sum = binary(BinOp::Add, binary(BinOp::Mul, x.clone(), x), binary(BinOp::Mul, y.clone(), y));
                call(builtin("sqrt", span), vec![sum], span)
            }
            ("fract", 0) => {
                let x = self.keep(receiver);
                let whole = call(builtin("trunc", span), vec![x.clone()], span);
                binary(BinOp::Sub, x, whole)
            }
            ("wrapping_add", 1) => binary(BinOp::Add, receiver, args.remove(0)),
            ("wrapping_sub", 1) => binary(BinOp::Sub, receiver, args.remove(0)),
            ("wrapping_mul", 1) => binary(BinOp::Mul, receiver, args.remove(0)),
            ("wrapping_neg", 0) => Expr::new(ExprKind::Unary { op: UnOp::Neg, operand: receiver }, span),
            ("rem_euclid", 1) => {
                let (x, y) = (self.keep(receiver), self.keep(args.remove(0)));
                let rest = self.keep(binary(BinOp::Mod, x, y.clone()));
                let size = call(builtin("abs", span), vec![y], span);
                let test = compare(rest.clone(), CmpOp::Lt, number(0));
                choose(test, binary(BinOp::Add, rest.clone(), size), rest)
            }
            ("pow", 1) => match self.whole(&args[0]) {
                Some(mut power @ 0..=64) => {
                    let mut square = self.keep(receiver);
                    let mut product = number(1);
                    while power > 0 {
                        if power % 2 == 1 {
                            product = self.keep(binary(BinOp::Mul, product, square.clone()));
                        }
                        power /= 2;
                        if power > 0 {
                            square = self.keep(binary(BinOp::Mul, square.clone(), square));
                        }
                    }
                    product
                }
                _ => self.error(
                    at,
                    "kernels know the powers of integers whose exponent is written out, up to 64: `n.pow(2)`; of floats `powi` and `powf`",
                ),
            },
            ("sin_cos", 0) => {
                let x = self.keep(receiver);
                let items = ["sin", "cos"].map(|of| call(builtin(of, span), vec![x.clone()], span));
                Expr::new(ExprKind::Tuple(items.into()), span)
            }
            ("count_ones" | "leading_zeros" | "trailing_zeros", 0) => {
                let of = match name {
                    "count_ones" => "popcount",
                    "leading_zeros" => "clz",
                    _ => "ctz",
                };
                call(builtin("u32", span), vec![call(builtin(of, span), vec![receiver], span)], span)
            }
            ("is_positive", 0) => compare(receiver, CmpOp::Gt, number(0)),
            ("is_negative", 0) => compare(receiver, CmpOp::Lt, number(0)),
            ("to_f32", 0) => call(builtin("f32", span), vec![receiver], span),
            ("to_f64", 0) => call(builtin("f64", span), vec![receiver], span),
            ("signum", 0) => {
                let x = self.keep(receiver);
                let below = compare(x.clone(), CmpOp::Lt, number(0));
                let above = compare(x, CmpOp::Gt, number(0));
                // Of a float zero it is one; of an integer zero.
                let at_zero = self.name(Name::SignOfZero(site), span);
                choose(below, number(-1), choose(above, number(1), at_zero))
            }
            _ => self.error(
                at,
                format!(
                    "kernels do not know `{name}`; of methods they know many of numbers (`sqrt`, `min`, `powf` ...), `cast`, and `len` and \
                     `shape` of arrays; others are functions: built-ins, `length(v)`, and your own with `#[inkle::func]`"
                ),
            ),
        }
    }

    /// The number that a lowered literal is.
    fn whole(&self, expr: &Expr) -> Option<i128> {
        let ExprKind::Call { func, args, .. } = &*expr.kind else { return None };
        let ExprKind::Name(name) = &*func.kind else { return None };
        let index: usize = name.strip_prefix('$')?.parse().ok()?;
        match (self.names.get(index)?, args.as_slice()) {
            (Name::Type(_), [Expr { kind, .. }]) => match **kind {
                ExprKind::Int(value) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn macro_call(&mut self, expr: &mut syn::Expr, span: Span) -> Expr {
        let syn::Expr::Macro(mac) = expr else { unreachable!("the caller saw a macro") };
        let place = mac.mac.path.span();
        let name = mac.mac.path.segments.last().expect("a path has a segment").ident.to_string();
        let parsed = mac.mac.parse_body_with(Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated);
        let mut args: Vec<syn::Expr> = match (name.as_str(), parsed) {
            (
                "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne"
                | "println",
                parsed,
            ) => match parsed {
                Ok(args) => args.into_iter().collect(),
                Err(error) => return self.error(expr, error),
            },
            ("matches", _) => return self.matches(expr, span),
            ("panic" | "unreachable" | "todo" | "unimplemented", _) => {
                let message = format!(
                    "kernels cannot `{name}!`: a value is needed here too; `assert!(condition)` ends a kernel that has checks"
                );
                return self.error(&mac.mac.path, message);
            }
            ("vec", _) => {
                let message =
                    "kernels take no memory, so they have no `vec!`; an array of fixed length is `[0.0; 4]`";
                return self.error(&mac.mac.path, message);
            }
            _ => {
                return self.error(
                    &mac.mac.path,
                    "kernels know the macros `assert!`, `assert_eq!`, `matches!` and `println!`; a thread that fails an `assert!` ends its \
                     kernel",
                );
            }
        };
        if name == "println" {
            return self.println(expr, args, span);
        }
        // The condition, or the two sides of one.
        let sides = if name.ends_with("_eq") || name.ends_with("_ne") { 2 } else { 1 };
        if args.len() < sides {
            let what = if sides == 1 { "a condition" } else { "two values to compare" };
            return self.error(expr, format!("`{name}!` needs {what}"));
        }
        let mut values = self.exprs(args[..sides].iter_mut()).into_iter();
        let first = values.next().expect("one value per side");
        let test = match values.next() {
            None => first,
            Some(second) => {
                let op = if name.ends_with("_eq") { CmpOp::Eq } else { CmpOp::NotEq };
                Expr::new(ExprKind::Compare { first, rest: vec![(op, second)] }, span)
            }
        };
        let message = match args.get(sides) {
            None => None,
            Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }))
                if args.len() == sides + 1 && !text.value().contains(['{', '}']) =>
            {
                Some(Expr::new(ExprKind::Str(text.value()), span))
            }
            Some(other) => {
                return self
                    .error(other, format!("in kernels the message of `{name}!` is one text without values"));
            }
        };
        self.push(StmtKind::Assert { test, message }, span);
        // A function is run on the host too; `debug_assert!` holds in kernels by their option `checks`.
        let (of, rest) = (&mac.mac.path, &args);
        *expr = verbatim(quote_spanned!(place=> #of!(#(#rest),*)));
        unit(span)
    }

    /// `matches!(value, pattern if guard)`: a `match` with two arms.
    fn matches(&mut self, expr: &mut syn::Expr, span: Span) -> Expr {
        let syn::Expr::Macro(mac) = &*expr else { unreachable!("the caller saw a macro") };
        let place = mac.mac.path.span();
        let parsed = mac.mac.parse_body_with(|input: syn::parse::ParseStream<'_>| {
            let value: syn::Expr = input.parse()?;
            input.parse::<syn::Token![,]>()?;
            let pattern = syn::Pat::parse_multi_with_leading_vert(input)?;
            let guard = match input.parse::<Option<syn::Token![if]>>()? {
                Some(_) => Some(input.parse::<syn::Expr>()?),
                None => None,
            };
            input.parse::<Option<syn::Token![,]>>()?;
            Ok((value, pattern, guard))
        });
        let (value, pattern, guard) = match parsed {
            Ok(parsed) => parsed,
            Err(error) => return self.error(expr, error),
        };
        let guard = guard.map(|guard| quote_spanned!(place=> if #guard));
        let whole = quote_spanned!(place=> match #value { #pattern #guard => true, _ => false });
        match syn::parse2(whole) {
            Ok(whole) => *expr = whole,
            Err(error) => return self.error(expr, error),
        }
        let result = self.hidden();
        self.into(expr, &Dest::Var(result.clone()));
        named(&result, span)
    }

    /// `println!("{} and {x}", value)`.
    fn println(&mut self, expr: &mut syn::Expr, mut args: Vec<syn::Expr>, span: Span) -> Expr {
        let place = expr.span();
        if args.is_empty() {
            args.push(syn::parse_quote!(""));
        }
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(format), .. }) = args.remove(0) else {
            return self.error(expr, "`println!` begins with its format, a text");
        };
        let pieces = match pieces(&format.value()) {
            Ok(pieces) => pieces,
            Err(why) => return self.error(&format, why),
        };
        let mut given = args.into_iter();
        let mut shown = Vec::new();
        let mut parts = Vec::new();
        // What the function prints on the host: the same, with all values behind the text.
        let mut on_host = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    on_host += &text.replace('{', "{{").replace('}', "}}");
                    parts.push(FormatPart::Text(text));
                }
                Piece::Value { name, spec, written } => {
                    on_host += &format!("{{{written}}}");
                    let value = match name {
                        None => given.next(),
                        Some(name) => syn::parse_str::<syn::Ident>(&name).ok().map(|mut ident| {
                            ident.set_span(format.span());
                            syn::parse_quote!(#ident)
                        }),
                    };
                    let Some(mut value) = value else {
                        return self.error(&format, "there are more `{}` than values");
                    };
                    parts.push(FormatPart::Value(self.looked_at(&mut value), spec));
                    shown.push(value);
                }
            }
        }
        if let Some(extra) = given.next() {
            return self.error(&extra, "there is no `{}` for this value");
        }
        let text = Expr::new(ExprKind::FormatStr(parts), span);
        self.push(StmtKind::Expr(call(builtin("print", span), vec![text], span)), span);
        let on_host = syn::LitStr::new(&on_host, format.span());
        *expr = verbatim(quote_spanned!(place=> ::std::println!(#on_host, #(#shown),*)));
        unit(span)
    }
}

/// Whether a type is one of inkle's without what stands in its brackets.
fn is_left_open(ty: &syn::Type) -> bool {
    let syn::Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    last.arguments.is_none()
        && ["Vector", "Matrix", "Quaternion", "Transform"].iter().any(|known| last.ident == known)
}

/// The items of a tuple.
fn flat(expr: Expr) -> Vec<Expr> {
    match *expr.kind {
        ExprKind::Tuple(items) => items,
        kind => vec![Expr::new(kind, expr.span)],
    }
}

/// A piece of a format.
enum Piece {
    Text(String),
    /// `written` is how it is to be shown, with the colon.
    Value {
        name: Option<String>,
        spec: Option<String>,
        written: String,
    },
}

fn pieces(format: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.peek() == Some(&c) => {
                chars.next();
                text.push(c);
            }
            '{' => {
                let inner: String = chars.by_ref().take_while(|c| *c != '}').collect();
                let (name, spec) = inner.split_once(':').unwrap_or((&inner, ""));
                let written = inner[name.len()..].to_owned();
                let spec = match spec {
                    "" | "?" => None,
                    spec => match spec.strip_prefix('.') {
                        Some(digits) if digits.parse::<u32>().is_ok() => Some(format!(".{digits}f")),
                        _ => {
                            return Err(format!(
                                "kernels cannot print with `{{:{spec}}}`; they know `{{}}` and `{{:.3}}`"
                            ));
                        }
                    },
                };
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                let name = (!name.is_empty()).then(|| name.to_owned());
                pieces.push(Piece::Value { name, spec, written });
            }
            '}' => return Err("a lone `}`; write `}}` for the character".into()),
            c => text.push(c),
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}
