//! Lowering of expressions.

use inkle_diag::Diagnostic;
use inkle_frontend::tree::{self, ExprKind, FormatPart};
use ruff_python_ast::{
    BoolOp, CmpOp, Expr, ExprCall, ExprCompare, ExprContext, ExprFString, ExprLambda, ExprSubscript,
    FStringPart, InterpolatedElement, InterpolatedStringElement, Number, Parameters, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange};

use crate::stmt::bin_op;
use crate::{INTEGER_RANGE, Lowering, SYNTAX};

impl Lowering<'_> {
    pub(crate) fn expr(&mut self, expr: &Expr) -> tree::Expr {
        let span = self.span(expr.range());
        let kind = self.nested(expr.range(), ExprKind::None, |this| this.expr_kind(expr));
        tree::Expr::new(kind, span)
    }

    fn exprs(&mut self, exprs: &[Expr]) -> Vec<tree::Expr> {
        exprs.iter().map(|e| self.expr(e)).collect()
    }

    fn expr_kind(&mut self, expr: &Expr) -> ExprKind {
        match expr {
            Expr::Name(e) => {
                // The parser's stand-in for an expression it could not read.
                if e.ctx == ExprContext::Invalid {
                    let diagnostic = Diagnostic::new(SYNTAX, self.span(e.range), "expected an expression");
                    self.diagnostics.push(diagnostic);
                }
                ExprKind::Name(e.id.as_str().to_owned())
            }
            Expr::Attribute(e) => ExprKind::Attribute {
                value: self.expr(&e.value),
                attr: e.attr.as_str().to_owned(),
                attr_span: self.span(e.attr.range),
            },
            Expr::NumberLiteral(e) => self.number(&e.value, e.range),
            Expr::BooleanLiteral(e) => ExprKind::Bool(e.value),
            Expr::StringLiteral(e) => ExprKind::Str(e.value.to_str().to_owned()),
            Expr::FString(e) => self.format_string(e),
            Expr::NoneLiteral(_) => ExprKind::None,
            Expr::EllipsisLiteral(_) => ExprKind::Ellipsis,
            Expr::BinOp(e) => {
                ExprKind::Binary { op: bin_op(e.op), left: self.expr(&e.left), right: self.expr(&e.right) }
            }
            Expr::UnaryOp(e) => ExprKind::Unary { op: un_op(e.op), operand: self.expr(&e.operand) },
            Expr::BoolOp(e) => ExprKind::Logic { op: logic_op(e.op), values: self.exprs(&e.values) },
            Expr::Compare(e) => self.compare(e),
            Expr::If(e) => ExprKind::IfElse {
                test: self.expr(&e.test),
                then: self.expr(&e.body),
                orelse: self.expr(&e.orelse),
            },
            Expr::Call(e) => self.call(e),
            Expr::Subscript(e) => self.subscript(e),
            Expr::Slice(e) => ExprKind::Slice {
                start: self.boxed(&e.lower),
                stop: self.boxed(&e.upper),
                step: self.boxed(&e.step),
            },
            Expr::Tuple(e) => ExprKind::Tuple(self.exprs(&e.elts)),
            Expr::List(e) => ExprKind::List(self.exprs(&e.elts)),
            Expr::Starred(e) => ExprKind::Starred(self.expr(&e.value)),
            Expr::Lambda(e) => self.lambda_kind(e),
            Expr::Named(_) => unsupported(":="),
            Expr::Dict(_) => unsupported("dict"),
            Expr::Set(_) => unsupported("set"),
            Expr::ListComp(_) => unsupported("list comprehension"),
            Expr::SetComp(_) => unsupported("set comprehension"),
            Expr::DictComp(_) => unsupported("dict comprehension"),
            Expr::Generator(_) => unsupported("generator expression"),
            Expr::Await(_) => unsupported("await"),
            Expr::Yield(_) => unsupported("yield"),
            Expr::YieldFrom(_) => unsupported("yield from"),
            Expr::TString(_) => unsupported("t-string"),
            Expr::BytesLiteral(_) => unsupported("bytes"),
            Expr::IpyEscapeCommand(_) => unsupported("IPython command"),
        }
    }

    fn number(&mut self, number: &Number, range: TextRange) -> ExprKind {
        match number {
            Number::Int(int) => match int.as_u64() {
                Some(value) => ExprKind::Int(value.into()),
                None => self.wide_integer(range),
            },
            Number::Float(value) => ExprKind::Float(*value),
            Number::Complex { .. } => unsupported("complex"),
        }
    }

    /// An integer beyond 64 bits, read from its source text.
    fn wide_integer(&mut self, range: TextRange) -> ExprKind {
        let digits = self.text(range).replace('_', "").to_ascii_lowercase();
        let value = match digits.get(..2) {
            Some("0x") => i128::from_str_radix(&digits[2..], 16),
            Some("0o") => i128::from_str_radix(&digits[2..], 8),
            Some("0b") => i128::from_str_radix(&digits[2..], 2),
            _ => digits.parse(),
        };
        value.map(ExprKind::Int).unwrap_or_else(|_| {
            let diagnostic = Diagnostic::new(INTEGER_RANGE, self.span(range), "integer literal is too large")
                .help("integers in kernels have at most 64 bits");
            self.diagnostics.push(diagnostic);
            ExprKind::Int(0)
        })
    }

    fn compare(&mut self, compare: &ExprCompare) -> ExprKind {
        let first = self.expr(&compare.left);
        let rest = compare.ops.iter().zip(&compare.comparators);
        ExprKind::Compare { first, rest: rest.map(|(op, e)| (cmp_op(*op), self.expr(e))).collect() }
    }

    fn call(&mut self, call: &ExprCall) -> ExprKind {
        let func = self.expr(&call.func);
        let args = self.exprs(&call.arguments.args);
        let keywords = call.arguments.keywords.iter();
        let name = |arg: &ruff_python_ast::Keyword| arg.arg.as_ref().map(|n| n.as_str().to_owned());
        let keywords = keywords.map(|keyword| (name(keyword), self.expr(&keyword.value))).collect();
        ExprKind::Call { func, args, keywords }
    }

    fn subscript(&mut self, subscript: &ExprSubscript) -> ExprKind {
        let value = self.expr(&subscript.value);
        let indices = match &*subscript.slice {
            Expr::Tuple(tuple) if !tuple.elts.is_empty() => self.exprs(&tuple.elts),
            index => vec![self.expr(index)],
        };
        ExprKind::Subscript { value, indices }
    }

    pub(crate) fn lambda(&mut self, lambda: &ExprLambda) -> tree::Expr {
        let span = self.span(lambda.range);
        tree::Expr::new(self.lambda_kind(lambda), span)
    }

    fn lambda_kind(&mut self, lambda: &ExprLambda) -> ExprKind {
        let params = match &lambda.parameters {
            None => Vec::new(),
            Some(params) => match plain_names(params) {
                Some(names) => names,
                None => return unsupported("lambda with defaults, `*` or `/`"),
            },
        };
        ExprKind::Lambda { params, body: self.expr(&lambda.body) }
    }

    fn format_string(&mut self, string: &ExprFString) -> ExprKind {
        let mut parts = Vec::new();
        for part in string.value.iter() {
            match part {
                FStringPart::Literal(literal) => push_text(&mut parts, &literal.value),
                FStringPart::FString(string) => {
                    for element in &string.elements {
                        match element {
                            InterpolatedStringElement::Literal(text) => push_text(&mut parts, &text.value),
                            InterpolatedStringElement::Interpolation(value) => {
                                self.format_value(&mut parts, value);
                            }
                        }
                    }
                }
            }
        }
        ExprKind::FormatStr(parts)
    }

    /// A `!s` or `!r` is dropped: the values of kernels have one text form.
    fn format_value(&mut self, parts: &mut Vec<FormatPart>, value: &InterpolatedElement) {
        if let Some(debug) = &value.debug_text {
            push_text(parts, debug.as_str());
        }
        let expr = self.expr(&value.expression);
        let spec = value.format_spec.as_ref().map(|spec| self.text(spec.range).to_owned());
        parts.push(FormatPart::Value(expr, spec));
    }
}

fn push_text(parts: &mut Vec<FormatPart>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(FormatPart::Text(last)) => last.push_str(text),
        _ => parts.push(FormatPart::Text(text.to_owned())),
    }
}

fn plain_names(params: &Parameters) -> Option<Vec<String>> {
    let plain = params.posonlyargs.is_empty()
        && params.kwonlyargs.is_empty()
        && params.vararg.is_none()
        && params.kwarg.is_none()
        && params.args.iter().all(|p| p.default.is_none());
    plain.then(|| params.args.iter().map(|p| p.name().as_str().to_owned()).collect())
}

fn unsupported(name: &str) -> ExprKind {
    ExprKind::Unsupported(name.to_owned())
}

fn un_op(op: UnaryOp) -> tree::UnOp {
    match op {
        UnaryOp::Invert => tree::UnOp::Invert,
        UnaryOp::Not => tree::UnOp::Not,
        UnaryOp::UAdd => tree::UnOp::Pos,
        UnaryOp::USub => tree::UnOp::Neg,
    }
}

fn logic_op(op: BoolOp) -> tree::LogicOp {
    match op {
        BoolOp::And => tree::LogicOp::And,
        BoolOp::Or => tree::LogicOp::Or,
    }
}

fn cmp_op(op: CmpOp) -> tree::CmpOp {
    match op {
        CmpOp::Eq => tree::CmpOp::Eq,
        CmpOp::NotEq => tree::CmpOp::NotEq,
        CmpOp::Lt => tree::CmpOp::Lt,
        CmpOp::LtE => tree::CmpOp::LtE,
        CmpOp::Gt => tree::CmpOp::Gt,
        CmpOp::GtE => tree::CmpOp::GtE,
        CmpOp::Is => tree::CmpOp::Is,
        CmpOp::IsNot => tree::CmpOp::IsNot,
        CmpOp::In => tree::CmpOp::In,
        CmpOp::NotIn => tree::CmpOp::NotIn,
    }
}
