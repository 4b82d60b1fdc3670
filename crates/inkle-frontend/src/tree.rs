//! The untyped kernel tree: what both source languages are turned into before names and types are known.
//!
//! The tree keeps the meaning of the source, not its spelling: `inkle-python` and `inkle-macros` write it,
//! the checker reads it. Every node has a span.

use inkle_diag::Span;
use serde::{Deserialize, Serialize};

/// A function or kernel as written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FunctionDef {
    /// The name.
    pub name: String,
    /// The span of the name.
    pub name_span: Span,
    /// The parameters in order.
    pub params: Vec<ParamDef>,
    /// The return annotation.
    pub returns: Option<Expr>,
    /// The documentation string, dedented.
    pub doc: Option<String>,
    /// The decorators, outermost first.
    pub decorators: Vec<Expr>,
    /// The statements; a documentation string is not among them.
    pub body: Vec<Stmt>,
    /// From `def` to the end of the body.
    pub span: Span,
}

/// A parameter as written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ParamDef {
    /// The name.
    pub name: String,
    /// The annotation.
    pub annotation: Option<Expr>,
    /// The default value.
    pub default: Option<Expr>,
    /// What kind of parameter it is.
    pub kind: ParamKind,
    /// The span of name and annotation.
    pub span: Span,
}

/// How a parameter takes arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ParamKind {
    /// By position or name.
    Normal,
    /// By name only.
    KeywordOnly,
    /// `*args`.
    VarArgs,
    /// `**kwargs`.
    KwArgs,
}

/// A statement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it is. For compound statements: the whole statement, body included.
    pub span: Span,
}

/// The statements of the language.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum StmtKind {
    /// `a = b = value`: `targets` in source order, each a `Name`, `Attribute`, `Subscript` or `Tuple` of them.
    Assign {
        /// What is assigned to.
        targets: Vec<Expr>,
        /// The value, evaluated once.
        value: Expr,
    },
    /// `target: annotation = value`.
    AnnAssign {
        /// What is assigned to.
        target: Expr,
        /// The type.
        annotation: Expr,
        /// The value, if there is one.
        value: Option<Expr>,
    },
    /// `target op= value`.
    AugAssign {
        /// What is changed.
        target: Expr,
        /// The operator.
        op: BinOp,
        /// The right operand.
        value: Expr,
    },
    /// `if test: ... else: ...`; `elif` is nested in `orelse`.
    If {
        /// The condition.
        test: Expr,
        /// When true.
        body: Vec<Stmt>,
        /// When false.
        orelse: Vec<Stmt>,
    },
    /// `for target in iter: ...`.
    For {
        /// The loop variable.
        target: Expr,
        /// What is iterated.
        iter: Expr,
        /// The body.
        body: Vec<Stmt>,
        /// Python's `else` of a loop.
        orelse: Vec<Stmt>,
    },
    /// `while test: ...`.
    While {
        /// The condition.
        test: Expr,
        /// The body.
        body: Vec<Stmt>,
        /// Python's `else` of a loop.
        orelse: Vec<Stmt>,
    },
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return value`.
    Return(Option<Expr>),
    /// An expression for its effect.
    Expr(Expr),
    /// `assert test, message`.
    Assert {
        /// The condition.
        test: Expr,
        /// The message.
        message: Option<Expr>,
    },
    /// `pass`.
    Pass,
    /// A function defined inside; only its name and place matter.
    FunctionDef(String),
    /// A statement kernels cannot have, by its name in the source language: `try`, `with`, `import` ...
    Unsupported(String),
}

/// An expression.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Expr {
    /// What it is.
    pub kind: Box<ExprKind>,
    /// Where it is.
    pub span: Span,
}

/// The expressions of the language.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ExprKind {
    /// A name.
    Name(String),
    /// `value.attr`.
    Attribute {
        /// The object.
        value: Expr,
        /// The attribute's name.
        attr: String,
        /// The span of the name alone.
        attr_span: Span,
    },
    /// An integer literal. One that does not fit i128 is reported by the parser layer.
    Int(i128),
    /// A float literal.
    Float(f64),
    /// `True`, `False`.
    Bool(bool),
    /// A string literal, pieces joined.
    Str(String),
    /// An f-string: literal text and `{expr}` parts, for `print`.
    FormatStr(Vec<FormatPart>),
    /// `None`.
    None,
    /// `...`.
    Ellipsis,
    /// `left op right`.
    Binary {
        /// The operator.
        op: BinOp,
        /// Left operand.
        left: Expr,
        /// Right operand.
        right: Expr,
    },
    /// `op operand`.
    Unary {
        /// The operator.
        op: UnOp,
        /// The operand.
        operand: Expr,
    },
    /// `a and b and c`, `a or b or c`.
    Logic {
        /// Which.
        op: LogicOp,
        /// Two or more operands.
        values: Vec<Expr>,
    },
    /// `a < b <= c`: each operand is evaluated at most once.
    Compare {
        /// The leftmost operand.
        first: Expr,
        /// Each operator with the operand right of it.
        rest: Vec<(CmpOp, Expr)>,
    },
    /// `then if test else orelse`.
    IfElse {
        /// The condition.
        test: Expr,
        /// When true.
        then: Expr,
        /// When false.
        orelse: Expr,
    },
    /// `func(args, name=value)`.
    Call {
        /// What is called.
        func: Expr,
        /// Positional arguments; a `Starred` spreads.
        args: Vec<Expr>,
        /// Keyword arguments; no name for `**mapping`.
        keywords: Vec<(Option<String>, Expr)>,
    },
    /// `value[i, j]`: a tuple in brackets is several indices.
    Subscript {
        /// The object.
        value: Expr,
        /// The indices, at least one; may be `Slice`, `Ellipsis`, `None`.
        indices: Vec<Expr>,
    },
    /// `start:stop:step` inside brackets.
    Slice {
        /// First.
        start: Option<Expr>,
        /// End.
        stop: Option<Expr>,
        /// Step.
        step: Option<Expr>,
    },
    /// `(a, b)` or `a, b`.
    Tuple(Vec<Expr>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `*value`.
    Starred(Expr),
    /// `lambda a, b: body`.
    Lambda {
        /// Parameter names.
        params: Vec<String>,
        /// The body.
        body: Expr,
    },
    /// An expression kernels cannot have, by its name in the source language: `await`, `dict`, comprehension ...
    Unsupported(String),
}

/// A piece of an f-string.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum FormatPart {
    /// Text as it is.
    Text(String),
    /// A value with the text of its format specification.
    Value(Expr, Option<String>),
}

/// Binary operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    MatMul,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
}

/// Unary operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum UnOp {
    Neg,
    Pos,
    Not,
    Invert,
}

/// `and` and `or`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum LogicOp {
    And,
    Or,
}

/// Comparison operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum CmpOp {
    Eq,
    NotEq,
    Lt,
    LtE,
    Gt,
    GtE,
    Is,
    IsNot,
    In,
    NotIn,
}

impl Expr {
    /// An expression at a place.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind: Box::new(kind), span }
    }

    /// The dotted path of a name or attribute chain: `wp.vec3` gives `["wp", "vec3"]`.
    pub fn path(&self) -> Option<Vec<&str>> {
        match &*self.kind {
            ExprKind::Name(name) => Some(vec![name]),
            ExprKind::Attribute { value, attr, .. } => {
                let mut path = value.path()?;
                path.push(attr);
                Some(path)
            }
            _ => None,
        }
    }
}
