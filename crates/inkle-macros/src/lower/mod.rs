//! Rust's expressions and statements as a kernel tree.
//!
//! Rust nests statements in expressions, the tree does not: an expression is lowered to a tree expression, and what has to
//! happen before goes to the statements collected so far. Operands that were lowered before such statements are kept in
//! variables, so that everything happens in Rust's order. Every `let` gets a name of its own.
//!
//! While a node is lowered it is rewritten into its shadow, which is what rustc sees: literals and some operands pass
//! through a site, indices through `ix`.

mod call;
mod control;
mod expr;
mod generic;
mod literal;
mod matching;
mod stmt;

use std::collections::HashMap;

use inkle_diag::Span;
use inkle_frontend::tree::{Expr, ExprKind, Stmt, StmtKind};
use proc_macro2::{Span as Place, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned;

use crate::generics::Variable;
use crate::source::Source;

/// What a name of the tree that starts with `$` stands for.
pub enum Name {
    /// The type of a site.
    Type(usize),
    /// The type in which a loop over a range of a site's type counts.
    Carrier(usize),
    /// `!` for a site's type: of the bits, or of a truth value.
    Not(usize),
    /// What `signum` gives for zero of a site's type.
    SignOfZero(usize),
    /// A type that is written out.
    Written(Box<syn::Type>),
    /// A function or built-in.
    Callee(syn::Path),
    /// A constant, by the expression for it.
    Constant(Box<syn::Expr>),
}

/// A loop around the place being lowered.
struct Loop {
    label: Option<String>,
    /// The variable that takes the value of `break`, for `loop` with a value.
    result: Option<String>,
    /// A value of the type of the result: the checker wants one on every path to the loop's end.
    zero: Option<Expr>,
    /// Set by a `break` or `continue` of this loop from within an inner one.
    breaks: Option<String>,
    continues: Option<String>,
    /// Flags of outer loops that are set in this one.
    leaves: Vec<(usize, bool, String)>,
}

/// Where the value of a block goes.
#[derive(Clone)]
enum Dest {
    /// It is not used.
    Ignore,
    /// Into a variable.
    Var(String),
    /// It is what the function returns.
    Return,
}

/// What a name of a function stands for.
#[derive(Clone)]
struct Local {
    value: Expr,
    /// Whether it is a `&mut`: then `value` is the place that it refers to.
    refers: bool,
    /// What the source says of its type.
    said: Said,
}

/// What can be told of a type from the source alone. It serves messages: a literal in generic code is a mistake that rustc describes
/// without saying what to write.
#[derive(Clone, Default)]
enum Said {
    /// Nothing.
    #[default]
    Nothing,
    /// It is this one.
    Type(Box<syn::Type>),
    /// It began as this number, so it is one of Rust's own types.
    Number(Box<syn::Expr>),
}

/// The state of lowering one function.
pub struct Lower<'s> {
    source: &'s Source,
    /// The names of each open block and what they stand for.
    scopes: Vec<HashMap<String, Local>>,
    stmts: Vec<Stmt>,
    /// Whether the current point cannot be reached.
    dead: bool,
    loops: Vec<Loop>,
    counts: HashMap<String, u32>,
    /// Names of type and size parameters that the checker binds, in generic functions.
    variables: Vec<String>,
    /// Names of type parameters, which numbers are made of by `from_f64`.
    scalars: Vec<String>,
    errors: Option<syn::Error>,
    /// The type of the function's result.
    returns: Option<syn::Type>,
    /// The number of sites.
    pub sites: usize,
    /// The names that start with `$`.
    pub names: Vec<Name>,
    /// `use` and `const` items of the body, which names outside the shadow need too.
    pub items: Vec<syn::Item>,
}

impl<'s> Lower<'s> {
    /// For a function of `source` with type and size parameters, which the checker binds unless it is a kernel.
    pub fn new(source: &'s Source, variables: &[Variable], is_kernel: bool) -> Lower<'s> {
        let names = variables.iter().filter(|_| !is_kernel).map(|variable| variable.name().to_string());
        let scalars = variables.iter().filter(|variable| matches!(variable, Variable::Scalar(..)));
        Lower {
            source,
            scopes: vec![HashMap::new()],
            stmts: Vec::new(),
            dead: false,
            loops: Vec::new(),
            counts: HashMap::new(),
            variables: names.collect(),
            scalars: scalars.map(|variable| variable.name().to_string()).collect(),
            errors: None,
            returns: None,
            sites: 0,
            names: Vec::new(),
            items: Vec::new(),
        }
    }

    /// Adds a parameter, which `refers` to what the caller passed or is a value of its own.
    pub fn param(&mut self, name: &syn::Ident, ty: &syn::Type, refers: bool) -> String {
        let span = self.source.span(name.span());
        let unique = self.unique(&name.to_string());
        let said = Said::Type(Box::new(ty.clone()));
        self.let_be(name.to_string(), Local { value: named(&unique, span), refers, said });
        unique
    }

    /// Lowers a body, which turns into its shadow.
    ///
    /// # Errors
    /// Everything in it that kernels cannot have.
    pub fn body(&mut self, block: &mut syn::Block, returns: Option<syn::Type>) -> syn::Result<Vec<Stmt>> {
        self.items.extend(block.stmts.iter().filter_map(|stmt| match stmt {
            syn::Stmt::Item(item @ (syn::Item::Use(_) | syn::Item::Const(_))) => Some(item.clone()),
            _ => None,
        }));
        let dest = if returns.is_some() { Dest::Return } else { Dest::Ignore };
        self.returns = returns;
        self.block(block, &dest);
        match self.errors.take() {
            Some(errors) => Err(errors),
            None => Ok(std::mem::take(&mut self.stmts)),
        }
    }

    /// From a node's first to its last token; asked before the node is rewritten.
    fn span(&self, node: &impl ToTokens) -> Span {
        let mut tokens = node.to_token_stream().into_iter();
        let Some(first) = tokens.next() else { return Span::NONE };
        let start = self.source.span(first.span());
        tokens.last().map_or(start, |last| start.to(self.source.span(last.span())))
    }

    fn error(&mut self, node: &impl ToTokens, message: impl std::fmt::Display) -> Expr {
        let error = syn::Error::new_spanned(node, message);
        match &mut self.errors {
            Some(errors) => errors.combine(error),
            None => self.errors = Some(error),
        }
        unit(Span::NONE)
    }

    fn push(&mut self, kind: StmtKind, span: Span) {
        if !self.dead {
            self.stmts.push(Stmt { kind, span });
        }
    }

    /// A new variable of a name, with a name of its own in the tree.
    fn declare(&mut self, name: &str, span: Span) -> String {
        let unique = self.unique(name);
        let said = Said::Nothing;
        self.let_be(name.to_owned(), Local { value: named(&unique, span), refers: false, said });
        unique
    }

    /// From here to the end of the block a name stands for something.
    fn let_be(&mut self, name: String, local: Local) {
        self.scopes.last_mut().expect("a scope is open").insert(name, local);
    }

    fn unique(&mut self, name: &str) -> String {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count += 1;
        if *count == 1 { name.to_owned() } else { format!("{name}.{count}") }
    }

    /// A variable that no program can name.
    fn hidden(&mut self) -> String {
        self.unique("%")
    }

    fn lookup(&self, name: &str) -> Option<&Local> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn scoped<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.push(HashMap::new());
        let result = run(self);
        self.scopes.pop();
        result
    }

    /// The statements that `run` makes, apart from those so far; and whether their end can be reached.
    fn collect(&mut self, run: impl FnOnce(&mut Self)) -> (Vec<Stmt>, bool) {
        let outer = std::mem::take(&mut self.stmts);
        let dead = self.dead;
        run(self);
        let inner = std::mem::replace(&mut self.stmts, outer);
        (inner, std::mem::replace(&mut self.dead, dead))
    }

    fn assign(&mut self, name: &str, value: Expr, span: Span) {
        let target = Expr::new(ExprKind::Name(name.to_owned()), span);
        self.push(StmtKind::Assign { targets: vec![target], value }, span);
    }

    /// Keeps a value in a variable.
    fn keep(&mut self, value: Expr) -> Expr {
        let (name, span) = (self.hidden(), value.span);
        self.assign(&name, value, span);
        Expr::new(ExprKind::Name(name), span)
    }

    /// A new `$` name.
    fn name(&mut self, name: Name, span: Span) -> Expr {
        self.names.push(name);
        Expr::new(ExprKind::Name(format!("${}", self.names.len() - 1)), span)
    }

    /// A new site: its number and the variable that holds it in the shadow.
    fn site(&mut self, place: Place) -> (usize, syn::Ident) {
        self.sites += 1;
        let number = self.sites - 1;
        // Of what another macro passes in, names do not resolve where the sites are declared.
        let place = place.resolved_at(Place::call_site());
        (number, format_ident!("__site{number}", span = place))
    }

    /// Lets a value pass through a site in the shadow.
    fn pass(&mut self, expr: &mut syn::Expr) -> usize {
        let place = expr.span();
        let (number, site) = self.site(place);
        let inner = &*expr;
        *expr = verbatim(quote_spanned!(place=> __ink::pass(&#site, #inner)));
        number
    }
}

fn verbatim(tokens: TokenStream) -> syn::Expr {
    syn::Expr::Verbatim(tokens)
}

fn unit(span: Span) -> Expr {
    Expr::new(ExprKind::Tuple(Vec::new()), span)
}

fn named(name: &str, span: Span) -> Expr {
    Expr::new(ExprKind::Name(name.to_owned()), span)
}

/// A built-in by its registry name.
fn builtin(name: &str, span: Span) -> Expr {
    named(&format!("@{name}"), span)
}

fn call(func: Expr, args: Vec<Expr>, span: Span) -> Expr {
    Expr::new(ExprKind::Call { func, args, keywords: Vec::new() }, span)
}

fn int(value: i128, span: Span) -> Expr {
    Expr::new(ExprKind::Int(value), span)
}
