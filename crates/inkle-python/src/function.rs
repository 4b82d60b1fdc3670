//! Lowering of function definitions.

use inkle_frontend::tree::{self, ParamKind, StmtKind};
use ruff_python_ast::{Expr, Parameter, ParameterWithDefault, Parameters, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use crate::{Lowering, docstring, find};

impl Lowering<'_> {
    pub(crate) fn function(&mut self, node: &StmtFunctionDef) -> tree::FunctionDef {
        let def_start = find::def_start(self.file, node);
        let span = self.span(TextRange::new(def_start, node.range.end()));
        let decorators = node.decorator_list.iter().map(|d| self.expr(&d.expression)).collect();
        let params = self.params(&node.parameters);
        let returns = self.boxed(&node.returns);
        let (doc, statements) = split_docstring(&node.body);
        let mut body = Vec::with_capacity(statements.len());
        // Both change what the function is, so they must not be dropped in silence.
        if node.is_async {
            body.push(tree::Stmt { kind: StmtKind::Unsupported("async def".into()), span });
        }
        if let Some(type_params) = &node.type_params {
            let kind = StmtKind::Unsupported("type parameters".into());
            body.push(tree::Stmt { kind, span: self.span(type_params.range) });
        }
        body.extend(self.body(statements));
        tree::FunctionDef {
            name: node.name.as_str().to_owned(),
            name_span: self.span(node.name.range),
            params,
            returns,
            doc,
            decorators,
            body,
            span,
        }
    }

    fn params(&mut self, params: &Parameters) -> Vec<tree::ParamDef> {
        let mut out = Vec::new();
        for param in params.posonlyargs.iter().chain(&params.args) {
            out.push(self.param_with_default(param, ParamKind::Normal));
        }
        if let Some(param) = &params.vararg {
            out.push(self.param(param, ParamKind::VarArgs));
        }
        for param in &params.kwonlyargs {
            out.push(self.param_with_default(param, ParamKind::KeywordOnly));
        }
        if let Some(param) = &params.kwarg {
            out.push(self.param(param, ParamKind::KwArgs));
        }
        out
    }

    fn param_with_default(&mut self, param: &ParameterWithDefault, kind: ParamKind) -> tree::ParamDef {
        let default = self.boxed(&param.default);
        tree::ParamDef { default, ..self.param(&param.parameter, kind) }
    }

    fn param(&mut self, param: &Parameter, kind: ParamKind) -> tree::ParamDef {
        tree::ParamDef {
            name: param.name.as_str().to_owned(),
            annotation: self.boxed(&param.annotation),
            default: None,
            kind,
            span: self.span(param.range()),
        }
    }
}

fn split_docstring(body: &[Stmt]) -> (Option<String>, &[Stmt]) {
    if let [Stmt::Expr(first), rest @ ..] = body
        && let Expr::StringLiteral(text) = &*first.value
    {
        return (Some(docstring::dedent(text.value.to_str())), rest);
    }
    (None, body)
}
