//! Spans are byte offsets of the whole file.

use inkle_diag::{SourceFile, Span};
use inkle_frontend::tree::{Expr, ExprKind, FormatPart, FunctionDef, Stmt, StmtKind};
use inkle_python::{parse_expression_at, parse_file};

use crate::{dump, first};

const SOURCE: &str = "# é: bytes are not characters
import inkle as wp

@wp.kernel
@wp.options(
    a=1,
)
def blur(x: wp.array(dtype=float), n: int = 3, *, scale: float = 1.0) -> float:
    \"\"\"Doc.\"\"\"
    i, j = wp.tid()
    total = (x[i] + x[i + 1, None, ...]) * wp.float32(-2.5) if not i < j <= n and True else f(*x, k=[1, (2, 3)])
    if i == 0:
        total += 'é'
    elif j == 1:
        return lambda a, b: a * b
    else:
        total: float = f'{total:.3f} {i + j}'
    for k in range(n):
        while k: k -= 1
    return total
";

fn text(file: &SourceFile, span: Span) -> &str {
    &file.text()[span.start as usize..span.end as usize]
}

fn def() -> (std::sync::Arc<SourceFile>, std::sync::Arc<FunctionDef>) {
    let file = SourceFile::register("spans.py", SOURCE);
    let def = parse_file(&file).function_at_line(4, "blur").expect("lowers");
    (file, def)
}

#[test]
fn of_the_parts_of_a_function() {
    let (file, def) = def();
    assert_eq!(text(&file, def.name_span), "blur");
    let whole = text(&file, def.span);
    assert!(whole.starts_with("def blur(") && whole.ends_with("return total"), "{whole}");
    let params: Vec<_> = def.params.iter().map(|p| text(&file, p.span)).collect();
    assert_eq!(params, ["x: wp.array(dtype=float)", "n: int", "scale: float"]);
    assert_eq!(text(&file, def.decorators[1].span), "wp.options(\n    a=1,\n)");
    let StmtKind::If { orelse, .. } = &def.body[2].kind else { panic!("an if") };
    assert!(text(&file, def.body[2].span).starts_with("if i == 0:"));
    let elif = text(&file, orelse[0].span);
    assert!(elif.starts_with("elif j == 1:") && elif.ends_with("{i + j}'"), "{elif}");
}

#[test]
fn of_every_expression_hold_its_text() {
    let (file, def) = def();
    let mut all = Vec::new();
    exprs_in_function(&def, &mut all);
    assert!(all.len() > 70, "{}", all.len());
    for expr in all {
        match &*expr.kind {
            // Not expressions on their own.
            ExprKind::Slice { .. } | ExprKind::Starred(_) => {}
            _ => {
                let again = parse_expression_at(&file, expr.span).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(&again, expr, "{}", dump::expr(expr));
            }
        }
        if let ExprKind::Attribute { attr, attr_span, .. } = &*expr.kind {
            assert_eq!(text(&file, *attr_span), attr);
        }
    }
}

#[test]
fn of_carriage_returns_and_tabs() {
    let source = "def f():\r\n\tx = 1\r\n\treturn x\r\n";
    let def = first(source).expect("lowers");
    let file = SourceFile::get(def.span.file).expect("registered");
    assert_eq!(text(&file, def.body[1].span), "return x");
    assert_eq!(file.line_column(def.body[1].span.start), (3, 2));
}

#[test]
fn of_an_async_function_start_at_def() {
    let source = "@d  # def of a comment\nasync  def  f(): pass\n";
    let def = first(source).expect("lowers");
    let file = SourceFile::get(def.span.file).expect("registered");
    assert_eq!(text(&file, def.span), "def  f(): pass");
}

#[test]
fn of_an_expression_outside_the_file_are_refused() {
    let file = SourceFile::register("<expression>", "é + 1");
    assert!(parse_expression_at(&file, Span::new(file.id(), 4, 6)).is_ok());
    for (start, end) in [(1, 6), (0, 99), (5, 2)] {
        assert!(parse_expression_at(&file, Span::new(file.id(), start, end)).is_err());
    }
}

fn exprs_in_function<'a>(f: &'a FunctionDef, out: &mut Vec<&'a Expr>) {
    for e in f.decorators.iter().chain(&f.returns) {
        exprs_in(e, out);
    }
    for e in f.params.iter().flat_map(|p| p.annotation.iter().chain(&p.default)) {
        exprs_in(e, out);
    }
    exprs_in_body(&f.body, out);
}

fn exprs_in_body<'a>(body: &'a [Stmt], out: &mut Vec<&'a Expr>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                targets.iter().chain([value]).for_each(|e| exprs_in(e, out))
            }
            StmtKind::AnnAssign { target, annotation, value } => {
                [target, annotation].into_iter().chain(value).for_each(|e| exprs_in(e, out));
            }
            StmtKind::AugAssign { target, value, .. } => {
                [target, value].into_iter().for_each(|e| exprs_in(e, out))
            }
            StmtKind::If { test, body, orelse } | StmtKind::While { test, body, orelse } => {
                exprs_in(test, out);
                exprs_in_body(body, out);
                exprs_in_body(orelse, out);
            }
            StmtKind::For { target, iter, body, orelse } => {
                exprs_in(target, out);
                exprs_in(iter, out);
                exprs_in_body(body, out);
                exprs_in_body(orelse, out);
            }
            StmtKind::Return(value) => value.iter().for_each(|e| exprs_in(e, out)),
            StmtKind::Expr(value) => exprs_in(value, out),
            StmtKind::Assert { test, message } => {
                [test].into_iter().chain(message).for_each(|e| exprs_in(e, out))
            }
            StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Pass
            | StmtKind::FunctionDef(_)
            | StmtKind::Unsupported(_) => {}
        }
    }
}

fn exprs_in<'a>(e: &'a Expr, out: &mut Vec<&'a Expr>) {
    out.push(e);
    let children: Vec<&Expr> = match &*e.kind {
        ExprKind::Attribute { value, .. } | ExprKind::Starred(value) => vec![value],
        ExprKind::FormatStr(parts) => parts
            .iter()
            .filter_map(|p| match p {
                FormatPart::Text(_) => None,
                FormatPart::Value(e, _) => Some(e),
            })
            .collect(),
        ExprKind::Binary { left, right, .. } => vec![left, right],
        ExprKind::Unary { operand, .. } => vec![operand],
        ExprKind::Logic { values, .. } => values.iter().collect(),
        ExprKind::Compare { first, rest } => [first].into_iter().chain(rest.iter().map(|r| &r.1)).collect(),
        ExprKind::IfElse { test, then, orelse } => vec![then, test, orelse],
        ExprKind::Call { func, args, keywords } => {
            [func].into_iter().chain(args).chain(keywords.iter().map(|k| &k.1)).collect()
        }
        ExprKind::Subscript { value, indices } => [value].into_iter().chain(indices).collect(),
        ExprKind::Slice { start, stop, step } => start.iter().chain(stop).chain(step).collect(),
        ExprKind::Tuple(elements) | ExprKind::List(elements) => elements.iter().collect(),
        ExprKind::Lambda { body, .. } => vec![body],
        ExprKind::Name(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Str(_)
        | ExprKind::None
        | ExprKind::Ellipsis
        | ExprKind::Unsupported(_) => vec![],
    };
    children.into_iter().for_each(|c| exprs_in(c, out));
}
