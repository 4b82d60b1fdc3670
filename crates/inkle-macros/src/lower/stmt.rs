//! Statements and blocks.

use inkle_diag::Span;
use inkle_frontend::tree::{Expr, ExprKind, StmtKind};

use super::{Dest, Local, Lower, named};

impl Lower<'_> {
    /// Lowers a block; its value goes to `dest`.
    pub(super) fn block(&mut self, block: &mut syn::Block, dest: &Dest) {
        self.scoped(|this| {
            let count = block.stmts.len();
            for (index, stmt) in block.stmts.iter_mut().enumerate() {
                let is_last = index + 1 == count;
                match stmt {
                    syn::Stmt::Local(local) => this.local(local),
                    syn::Stmt::Expr(expr, None) if is_last => this.into(expr, dest),
                    syn::Stmt::Expr(expr, _) => this.into(expr, &Dest::Ignore),
                    syn::Stmt::Macro(mac) => {
                        let is_value = is_last && mac.semi_token.is_none();
                        let mut expr = syn::Expr::Macro(syn::ExprMacro {
                            attrs: std::mem::take(&mut mac.attrs),
                            mac: mac.mac.clone(),
                        });
                        this.into(&mut expr, if is_value { dest } else { &Dest::Ignore });
                        *stmt = syn::Stmt::Expr(expr, (!is_value).then(Default::default));
                    }
                    syn::Stmt::Item(syn::Item::Use(_) | syn::Item::Const(_)) => {}
                    syn::Stmt::Item(item) => {
                        this.error(item, "kernels can define only constants; write this outside");
                    }
                }
            }
        });
    }

    fn local(&mut self, local: &mut syn::Local) {
        let span = self.span(local);
        match &mut local.init {
            None => self.declare_pattern(&local.pat, span),
            Some(init) => {
                if let Some((_, orelse)) = &init.diverge {
                    self.error(orelse, "kernels cannot use `let ... else`; write a `match`");
                    return;
                }
                let said = self.said_of(&local.pat, &init.expr);
                if let Some(name) = simple_name(&local.pat)
                    && let Some(place) = self.referred(&mut init.expr)
                {
                    if is_mutable(&local.pat) {
                        let message = "what a name refers to is for good in kernels; leave the `mut` out";
                        self.error(&local.pat, message);
                    }
                    self.let_be(name.to_string(), Local { value: place, refers: true, said });
                    return;
                }
                let value = match &mut *init.expr {
                    // A `let` of a block or condition is set where its value is known.
                    expr @ (syn::Expr::If(_)
                    | syn::Expr::Match(_)
                    | syn::Expr::Block(_)
                    | syn::Expr::Loop(_))
                        if simple_name(&local.pat).is_some() =>
                    {
                        let name = simple_name(&local.pat).expect("it was just seen").to_string();
                        let unique = self.unique(&name);
                        self.into(expr, &Dest::Var(unique.clone()));
                        self.let_be(name, Local { value: named(&unique, span), refers: false, said });
                        return;
                    }
                    expr => self.expr(expr),
                };
                if let Some(target) = self.target(&local.pat) {
                    self.push(StmtKind::Assign { targets: vec![target], value }, span);
                    if let Some(name) = simple_name(&local.pat) {
                        self.say(&name.to_string(), said);
                    }
                } else {
                    let value = self.keep(value);
                    self.bind(&local.pat, &value);
                }
            }
        }
    }

    /// Declares the variables of a `let` without a value.
    fn declare_pattern(&mut self, pat: &syn::Pat, span: Span) {
        match pat {
            syn::Pat::Type(typed) => self.declare_pattern(&typed.pat, span),
            syn::Pat::Ident(ident) => {
                self.declare(&ident.ident.to_string(), span);
            }
            syn::Pat::Tuple(tuple) => tuple.elems.iter().for_each(|p| self.declare_pattern(p, span)),
            syn::Pat::Wild(_) => {}
            other => {
                self.error(other, "kernels cannot declare this without a value");
            }
        }
    }

    /// The target of an assignment that sets the variables of a pattern; `None` for patterns that need more than that.
    pub(super) fn target(&mut self, pat: &syn::Pat) -> Option<Expr> {
        let span = self.span(pat);
        match pat {
            syn::Pat::Type(typed) => self.target(&typed.pat),
            syn::Pat::Paren(inner) => self.target(&inner.pat),
            syn::Pat::Ident(ident) if ident.subpat.is_none() && ident.by_ref.is_none() => {
                let unique = self.declare(&ident.ident.to_string(), span);
                Some(named(&unique, span))
            }
            syn::Pat::Wild(_) => {
                let hidden = self.hidden();
                Some(named(&hidden, span))
            }
            syn::Pat::Tuple(syn::PatTuple { elems, .. }) | syn::Pat::Slice(syn::PatSlice { elems, .. })
                if !elems.is_empty() && elems.iter().all(is_target) =>
            {
                let items = elems.iter().filter_map(|p| self.target(p)).collect();
                Some(Expr::new(ExprKind::Tuple(items), span))
            }
            _ => None,
        }
    }

    /// Lowers an expression whose value goes to `dest`.
    pub(super) fn into(&mut self, expr: &mut syn::Expr, dest: &Dest) {
        let span = self.span(expr);
        match expr {
            syn::Expr::Paren(inner) => return self.into(&mut inner.expr, dest),
            syn::Expr::Group(inner) => return self.into(&mut inner.expr, dest),
            syn::Expr::Block(block) => {
                if let Some(label) = &block.label {
                    self.error(
                        label,
                        "kernels cannot leave a block by its label; write a `loop` that breaks",
                    );
                }
                return self.block(&mut block.block, dest);
            }
            syn::Expr::If(_) => return self.if_(expr, dest, span),
            syn::Expr::Match(_) => return self.match_(expr, dest, span),
            syn::Expr::Loop(_) => return self.loop_(expr, dest, span),
            syn::Expr::While(_) => return self.while_(expr, span),
            syn::Expr::ForLoop(_) => return self.for_(expr, span),
            syn::Expr::Break(_) => return self.break_(expr, span),
            syn::Expr::Continue(_) => return self.continue_(expr, span),
            syn::Expr::Return(ret) => {
                match &mut ret.expr {
                    Some(value) if self.returns.is_none() => {
                        let message = "nothing is returned here, since the signature has no `->`; kernels write results into a \
                                       `&mut Array`";
                        self.error(value, message);
                    }
                    Some(value) => {
                        self.result_is_generic(value);
                        let value = self.expr(value);
                        self.push(StmtKind::Return(Some(value)), span);
                    }
                    None => self.push(StmtKind::Return(None), span),
                }
                self.dead = true;
                return;
            }
            syn::Expr::Assign(assign) => return self.assign_(assign, span),
            syn::Expr::Macro(_) => {
                self.macro_call(expr, span);
                return;
            }
            _ => {}
        }
        if let Dest::Return = dest {
            self.result_is_generic(expr);
        }
        let value = self.expr(expr);
        match dest {
            Dest::Ignore => self.ignore(value, span),
            Dest::Var(name) => self.assign(name, value, span),
            Dest::Return => match &*value.kind {
                ExprKind::Tuple(items) if items.is_empty() => {}
                _ => {
                    self.push(StmtKind::Return(Some(value)), span);
                    self.dead = true;
                }
            },
        }
    }

    /// A value that nobody uses, for what happens meanwhile.
    fn ignore(&mut self, value: Expr, span: Span) {
        match *value.kind {
            // It is there already.
            ExprKind::Name(_) => {}
            ExprKind::Tuple(items) => items.into_iter().for_each(|item| self.ignore(item, span)),
            kind => self.push(StmtKind::Expr(Expr::new(kind, value.span)), span),
        }
    }

    fn assign_(&mut self, assign: &mut syn::ExprAssign, span: Span) {
        self.is_generic_beside(&assign.left, &assign.right, false);
        self.is_generic_beside(&assign.right, &assign.left, false);
        let value = self.expr(&mut assign.right);
        let target = match &mut *assign.left {
            syn::Expr::Infer(_) => {
                let hidden = self.hidden();
                named(&hidden, span)
            }
            left => self.place(left),
        };
        self.push(StmtKind::Assign { targets: vec![target], value }, span);
    }
}

fn simple_name(pat: &syn::Pat) -> Option<&syn::Ident> {
    match pat {
        syn::Pat::Type(typed) => simple_name(&typed.pat),
        syn::Pat::Ident(ident) if ident.subpat.is_none() && ident.by_ref.is_none() => Some(&ident.ident),
        _ => None,
    }
}

fn is_mutable(pat: &syn::Pat) -> bool {
    match pat {
        syn::Pat::Type(typed) => is_mutable(&typed.pat),
        syn::Pat::Ident(ident) => ident.mutability.is_some(),
        _ => false,
    }
}

fn is_target(pat: &syn::Pat) -> bool {
    match pat {
        syn::Pat::Wild(_) => true,
        syn::Pat::Tuple(tuple) => !tuple.elems.is_empty() && tuple.elems.iter().all(is_target),
        syn::Pat::Paren(inner) => is_target(&inner.pat),
        other => simple_name(other).is_some(),
    }
}
