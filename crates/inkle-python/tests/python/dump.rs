//! A short text form of trees, for expectations.

use inkle_frontend::tree::{
    Expr, ExprKind, FormatPart, FunctionDef, LogicOp, ParamDef, ParamKind, Stmt, StmtKind,
};

pub fn function(f: &FunctionDef) -> String {
    let mut out = String::new();
    for d in &f.decorators {
        out += &format!("@{}\n", expr(d));
    }
    let params: Vec<_> = f.params.iter().map(param).collect();
    let returns = f.returns.as_ref().map(|r| format!(" -> {}", expr(r))).unwrap_or_default();
    out += &format!("def {}({}){returns}\n", f.name, params.join(", "));
    if let Some(doc) = &f.doc {
        out += &format!("  doc {doc:?}\n");
    }
    out + &body(&f.body, 1)
}

fn param(p: &ParamDef) -> String {
    let prefix = match p.kind {
        ParamKind::Normal => "",
        ParamKind::KeywordOnly => "kw ",
        ParamKind::VarArgs => "*",
        ParamKind::KwArgs => "**",
    };
    let annotation = p.annotation.as_ref().map(|a| format!(": {}", expr(a))).unwrap_or_default();
    let default = p.default.as_ref().map(|d| format!(" = {}", expr(d))).unwrap_or_default();
    format!("{prefix}{}{annotation}{default}", p.name)
}

pub fn body(stmts: &[Stmt], depth: usize) -> String {
    stmts.iter().map(|s| stmt(s, depth)).collect()
}

fn block(head: String, stmts: &[Stmt], orelse: &[Stmt], depth: usize) -> String {
    let mut out = head + "\n" + &body(stmts, depth + 1);
    if !orelse.is_empty() {
        out += &format!("{}else\n{}", "  ".repeat(depth), body(orelse, depth + 1));
    }
    out
}

fn stmt(s: &Stmt, depth: usize) -> String {
    let pad = "  ".repeat(depth);
    let line = match &s.kind {
        StmtKind::Assign { targets, value } => {
            let targets: String = targets.iter().map(|t| expr(t) + " = ").collect();
            targets + &expr(value)
        }
        StmtKind::AnnAssign { target, annotation, value } => {
            let value = value.as_ref().map(|v| format!(" = {}", expr(v))).unwrap_or_default();
            format!("{}: {}{value}", expr(target), expr(annotation))
        }
        StmtKind::AugAssign { target, op, value } => format!("{} {op:?}= {}", expr(target), expr(value)),
        StmtKind::If { test, body, orelse } => {
            return block(format!("{pad}if {}", expr(test)), body, orelse, depth);
        }
        StmtKind::For { target, iter, body, orelse } => {
            return block(format!("{pad}for {} in {}", expr(target), expr(iter)), body, orelse, depth);
        }
        StmtKind::While { test, body, orelse } => {
            return block(format!("{pad}while {}", expr(test)), body, orelse, depth);
        }
        StmtKind::Break => "break".into(),
        StmtKind::Continue => "continue".into(),
        StmtKind::Return(None) => "return".into(),
        StmtKind::Return(Some(value)) => format!("return {}", expr(value)),
        StmtKind::Expr(value) => expr(value),
        StmtKind::Assert { test, message: None } => format!("assert {}", expr(test)),
        StmtKind::Assert { test, message: Some(m) } => format!("assert {}, {}", expr(test), expr(m)),
        StmtKind::Pass => "pass".into(),
        StmtKind::FunctionDef(name) => format!("def {name}"),
        StmtKind::Unsupported(name) => format!("unsupported {name}"),
    };
    format!("{pad}{line}\n")
}

fn list(exprs: &[Expr]) -> String {
    exprs.iter().map(expr).collect::<Vec<_>>().join(", ")
}

pub fn expr(e: &Expr) -> String {
    let opt = |e: &Option<Expr>| e.as_ref().map(expr).unwrap_or_default();
    match &*e.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Attribute { value, attr, .. } => format!("{}.{attr}", expr(value)),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Bool(value) => format!("{value:?}"),
        ExprKind::Str(value) => format!("{value:?}"),
        ExprKind::FormatStr(parts) => {
            let part = |p: &FormatPart| match p {
                FormatPart::Text(text) => format!("{text:?}"),
                FormatPart::Value(e, None) => format!("{{{}}}", expr(e)),
                FormatPart::Value(e, Some(spec)) => format!("{{{} : {spec}}}", expr(e)),
            };
            format!("f[{}]", parts.iter().map(part).collect::<Vec<_>>().join(" "))
        }
        ExprKind::None => "None".into(),
        ExprKind::Ellipsis => "...".into(),
        ExprKind::Binary { op, left, right } => format!("({} {op:?} {})", expr(left), expr(right)),
        ExprKind::Unary { op, operand } => format!("({op:?} {})", expr(operand)),
        ExprKind::Logic { op, values } => {
            let op = if *op == LogicOp::And { " and " } else { " or " };
            format!("({})", values.iter().map(expr).collect::<Vec<_>>().join(op))
        }
        ExprKind::Compare { first, rest } => {
            let rest: String = rest.iter().map(|(op, e)| format!(" {op:?} {}", expr(e))).collect();
            format!("({}{rest})", expr(first))
        }
        ExprKind::IfElse { test, then, orelse } => {
            format!("({} if {} else {})", expr(then), expr(test), expr(orelse))
        }
        ExprKind::Call { func, args, keywords } => {
            let keywords = keywords.iter().map(|(name, value)| match name {
                Some(name) => format!("{name}={}", expr(value)),
                None => format!("**{}", expr(value)),
            });
            let args: Vec<_> = args.iter().map(expr).chain(keywords).collect();
            format!("{}({})", expr(func), args.join(", "))
        }
        ExprKind::Subscript { value, indices } => format!("{}[{}]", expr(value), list(indices)),
        ExprKind::Slice { start, stop, step } => format!("{}:{}:{}", opt(start), opt(stop), opt(step)),
        ExprKind::Tuple(elements) => format!("tuple({})", list(elements)),
        ExprKind::List(elements) => format!("list({})", list(elements)),
        ExprKind::Starred(value) => format!("*{}", expr(value)),
        ExprKind::Lambda { params, body } => format!("(lambda {}: {})", params.join(", "), expr(body)),
        ExprKind::Unsupported(name) => format!("<{name}>"),
    }
}
