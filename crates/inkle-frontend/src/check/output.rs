//! Printing.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{BinaryOp, CmpOp, OpKind, Scalar, Type, UnaryOp, Value};

use super::call::Args;
use super::codes;
use super::function::FunctionCx;
use super::val::{R, Val};
use crate::builtins::Builtin;
use crate::env::ConstValue;
use crate::tree::{self, Expr, ExprKind, FormatPart};

impl FunctionCx<'_, '_> {
    pub(super) fn expect(&mut self, equal: bool, args: &Args, span: Span) -> R<()> {
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

    /// `expect_near(a, b, tolerance)`: a message when some component differs by more than the tolerance, or is no
    /// number.
    pub(super) fn expect_near(
        &mut self,
        builtin: &Builtin,
        args: &Args,
        [(a, at), (b, bt), (tolerance, _)]: [(Val, Span); 3],
        span: Span,
    ) -> R<()> {
        let typed = [&a, &b].into_iter().find(|val| !val.is_literal()).unwrap_or(&a);
        let ty = self.type_of(typed);
        let Some((ty, scalar)) = ty.and_then(|ty| Some((ty, ty.scalar().filter(|s| s.is_float())?))) else {
            return Err(self.no_overload(builtin, args, span));
        };
        let limit = (self.type_of(&tolerance).is_some_and(|t| t.as_scalar() == Some(scalar)))
            .then(|| tolerance.clone());
        let limit = match (limit, tolerance.const_scalar()) {
            (Some(limit), _) => self.value_of(&limit, span)?,
            (None, Some(constant)) => self.builder().constant(constant, scalar),
            (None, None) => return Err(self.no_overload(builtin, args, span)),
        };
        let (Some(left), Some(right)) = (self.coerce(&a, ty, at), self.coerce(&b, ty, bt)) else {
            return Err(self.no_overload(builtin, args, span));
        };
        let mut near: Option<Value> = None;
        for i in 0..ty.component_count().unwrap_or(1) {
            let (mut x, mut y) = (left, right);
            if ty.as_scalar().is_none() {
                (x, y) = (self.builder().extract(left, i), self.builder().extract(right, i));
            }
            let difference = self.builder().binary(BinaryOp::Sub, x, y);
            let size = self.builder().unary(UnaryOp::Abs, difference);
            let close = self.builder().cmp(CmpOp::Le, size, limit);
            // Of equal infinities the difference is no number.
            let equal = self.builder().cmp(CmpOp::Eq, x, y);
            let close = self.builder().binary(BinaryOp::Or, equal, close);
            near = Some(match near {
                Some(so_far) => self.builder().binary(BinaryOp::And, so_far, close),
                None => close,
            });
        }
        let Some(near) = near else { return Ok(()) };
        let failed = self.builder().unary(UnaryOp::Not, near);
        let (left, right) = (self.text_of(at), self.text_of(bt));
        let text = format!("Error, expect_near({left}, {right}) failed\n").replace('%', "%%");
        self.branch(failed, |cx| cx.builder().effect(OpKind::Print(text), []), |_| {});
        Ok(())
    }

    /// `print(value)`: the value as Python shows it, then a line break.
    pub(super) fn print(&mut self, args: &[Expr], keywords: &[(Option<String>, Expr)], span: Span) -> R<()> {
        let ([arg], []) = (args, keywords) else {
            let given = match keywords.first() {
                Some(_) => "no keywords".to_owned(),
                None => format!("one value, not {}", args.len()),
            };
            return Err(self.report(
                Diagnostic::new(codes::ARGUMENTS, span, format!("`print` takes {given}"))
                    .help("print one value, an f-string, or use `wp.printf(\"%d %f\\n\", a, b)`"),
            ));
        };
        if let ExprKind::FormatStr(parts) = &*arg.kind {
            for part in parts {
                match part {
                    FormatPart::Text(text) => {
                        let text = text.replace('%', "%%");
                        self.builder().effect(OpKind::Print(text), []);
                    }
                    FormatPart::Value(expr, spec) => {
                        let val = self.expr(expr)?;
                        self.print_value(&val, spec.as_deref().unwrap_or_default(), "", expr.span)?;
                    }
                }
            }
            self.builder().effect(OpKind::Print("\n".into()), []);
            return Ok(());
        }
        let val = self.expr(arg)?;
        self.span = span;
        self.print_value(&val, "", "\n", arg.span)
    }

    /// Prints a value, its numbers as the format specification of an f-string says.
    fn print_value(&mut self, val: &Val, spec: &str, end: &str, span: Span) -> R<()> {
        match val {
            Val::Const(ConstValue::Str(text)) => {
                let text = format!("{}{end}", text.replace('%', "%%"));
                self.builder().effect(OpKind::Print(text), []);
                return Ok(());
            }
            Val::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    let end = if i + 1 == items.len() { end } else { " " };
                    self.print_value(item, spec, end, span)?;
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
                let conversion = self.conversion(s, spec, span)?;
                self.builder().effect(OpKind::Print(format!("{conversion}{end}")), [value])
            }
            Type::Array(_) => {
                let address = self.address(value);
                self.builder().effect(OpKind::Print(format!("array at %llu{end}")), [address]);
            }
            Type::Struct(s) => {
                for (index, field) in s.fields.iter().enumerate() {
                    let part = self.builder().extract(value, index as u32);
                    self.builder().effect(OpKind::Print(format!("{}=", field.name)), []);
                    let end = if index + 1 == s.fields.len() { end } else { " " };
                    self.print_value(&Val::Ir(part), spec, end, span)?;
                }
            }
            Type::Ref(_) => {}
            _ => {
                let scalar = ty.scalar().expect("a composite");
                let count = ty.component_count().expect("a composite");
                let width = if let Type::Mat { cols, .. } = ty { cols } else { count };
                let spaced = !matches!(ty, Type::Quat(_) | Type::Transform(_));
                let conversion = self.conversion(scalar, spec, span)?;
                let mut format = String::new();
                let mut parts = Vec::new();
                let grouped = matches!(ty, Type::Transform(_));
                for i in 0..count {
                    if grouped && (i == 0 || i == 3) {
                        format.push_str(if i == 0 { "(" } else { ") (" });
                    }
                    format.push_str(&conversion);
                    let row_ends = (i + 1) % width == 0 || (grouped && i == 2);
                    if !row_ends || spaced {
                        format.push(' ');
                    }
                    if row_ends && !grouped && i + 1 < count {
                        format.push('\n');
                    }
                    let part = self.builder().extract(value, i);
                    parts.push(part);
                }
                if grouped {
                    format.push(')');
                }
                format.push_str(end);
                self.builder().effect(OpKind::Print(format), parts);
            }
        }
        Ok(())
    }

    /// The printf conversion of a number for the format specification of an f-string, `.2f` or `+06d`.
    fn conversion(&mut self, scalar: Scalar, spec: &str, span: Span) -> R<String> {
        let usual = conversion_of(scalar);
        if spec.is_empty() {
            return Ok(usual.to_owned());
        }
        let (flags, kind) = match spec.char_indices().next_back() {
            Some((at, kind)) if kind.is_ascii_alphabetic() => (&spec[..at], Some(kind)),
            _ => (spec, None),
        };
        let (align, flags) = match flags.strip_prefix('<') {
            Some(rest) => ("-", rest),
            None => ("", flags.strip_prefix('>').unwrap_or(flags)),
        };
        let numbers = flags.trim_start_matches(['+', ' ', '#', '0']);
        let (width, precision) = numbers.split_once('.').unwrap_or((numbers, "0"));
        let fits = match kind {
            None => scalar.is_float() || !flags.contains('.'),
            Some('e' | 'E' | 'f' | 'F' | 'g' | 'G') => scalar.is_float(),
            Some('d' | 'x' | 'X' | 'o') => !scalar.is_float() && !flags.contains('.'),
            Some(_) => false,
        };
        let is_number = |text: &str| text.len() <= 2 && text.bytes().all(|digit| digit.is_ascii_digit());
        if !fits || !is_number(width) || !is_number(precision) || precision.is_empty() {
            let message =
                format!("kernels cannot print {} with `:{}`", scalar.python_name(), spec.escape_debug());
            let help = "floats take `.2f`, `8.3e` or `g`, integers `d`, `04x` or `o`";
            return Err(self.report(Diagnostic::new(codes::ARGUMENTS, span, message).help(help)));
        }
        // `%lld` has its length before its letter.
        let (length, letter) = usual[1..].split_at(usual.len() - 2);
        let letter = kind.filter(|kind| *kind != 'd').map_or(letter.to_owned(), String::from);
        Ok(format!("%{align}{flags}{length}{letter}"))
    }

    /// `printf(format, values...)` by C's rules; strings known while compiling take `%s`.
    pub(super) fn printf(&mut self, args: &Args, span: Span) -> R<()> {
        let Some((Val::Const(ConstValue::Str(format)), format_span)) = args.positional.first() else {
            return Err(self.report(
                Diagnostic::new(codes::NEEDS_CONSTANT, span, "`printf` takes a format string first")
                    .help("write `wp.printf(\"%d\\n\", n)`"),
            ));
        };
        let (format, format_span) = (format.clone(), *format_span);
        // What CUDA's printf takes; it would print the others wrongly without saying so.
        const MOST: usize = 32;
        if args.positional.len() > 1 + MOST {
            let given = args.positional.len() - 1;
            return Err(self.report(
                Diagnostic::new(
                    codes::ARGUMENTS,
                    span,
                    format!("`printf` takes at most {MOST} values after the format, {given} were given"),
                )
                .help("print them in several calls"),
            ));
        }
        let mut rest = args.positional[1..].iter();
        let (mut out, mut values, mut wanted) = (String::new(), Vec::new(), 0);
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let mut spec = String::from('%');
            while let Some(c) = chars.next_if(|c| "-+ #0123456789.hlLqjzt".contains(*c)) {
                spec.push(c);
            }
            let Some(conversion) = chars.next() else {
                return Err(self.bad_conversion(&spec, format_span));
            };
            spec.push(conversion);
            if spec == "%%" {
                out.push_str("%%");
                continue;
            }
            wanted += 1;
            let integer = "diuxXocp".contains(conversion);
            if !integer && !"fFeEgGaAs".contains(conversion) {
                return Err(self.bad_conversion(&spec, format_span));
            }
            let Some((val, at)) = rest.next() else { continue };
            if let (Val::Const(ConstValue::Str(text)), 's') = (val, conversion) {
                out.push_str(&text.replace('%', "%%"));
                continue;
            }
            let scalar = self.type_of(val).and_then(Type::as_scalar);
            if conversion == 's' || scalar.is_none_or(|s| s.is_float() == integer) {
                let what = self.describe(val);
                let help = match scalar {
                    Some(s) => format!("print {what} with `{}`", conversion_of(s)),
                    None => "print numbers only: components one by one, or use `print`".into(),
                };
                return Err(self.report(
                    Diagnostic::new(codes::NO_OVERLOAD, *at, format!("`{spec}` does not print {what}"))
                        .also(format_span, "the format")
                        .help(help),
                ));
            }
            values.push(self.value_of(val, *at)?);
            out.push_str(&spec);
        }
        let given = args.positional.len() - 1;
        if wanted != given || !args.keywords.is_empty() {
            return Err(self.report(
                Diagnostic::new(
                    codes::ARGUMENTS,
                    span,
                    format!(
                        "the format has {}, but it is given {}",
                        counted(wanted, "conversion"),
                        counted(given, "value")
                    ),
                )
                .help("give one value for each `%`; a percent sign is `%%`"),
            ));
        }
        self.builder().effect(OpKind::Print(out), values);
        Ok(())
    }

    fn bad_conversion(&mut self, spec: &str, span: Span) -> super::val::Reported {
        let spec = spec.escape_debug();
        self.report(
            Diagnostic::new(
                codes::ARGUMENTS,
                span,
                format!("`{spec}` is not a conversion that can be printed"),
            )
            .help("use `%d`, `%u`, `%x`, `%lld`, `%llu`, `%f`, `%g`, `%e`, `%s` or `%%`"),
        )
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

/// `1 value`, `2 values`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
