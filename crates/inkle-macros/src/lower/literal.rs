//! Literals: typed by what rustc infers for them.

use inkle_diag::Span;
use inkle_frontend::tree::{Expr, ExprKind};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{ExprLit, Lit};

use super::{Lower, Name, call, verbatim};

impl Lower<'_> {
    /// A literal, or one with a minus before it, which Rust reads as one number.
    pub(super) fn literal(&mut self, expr: &mut syn::Expr, span: Span) -> Expr {
        let (lit, negative) = match expr {
            syn::Expr::Lit(ExprLit { lit, .. }) => (lit.clone(), false),
            syn::Expr::Unary(unary) => match &*unary.expr {
                syn::Expr::Lit(ExprLit { lit, .. }) => (lit.clone(), true),
                _ => unreachable!("the caller saw a literal"),
            },
            _ => unreachable!("the caller saw a literal"),
        };
        let Some(kind) = self.number(&lit, negative) else {
            return self
                .error(expr, "kernels have no values of this kind; texts are for `println!` and `assert!`");
        };
        let plain = Expr::new(kind, span);
        if matches!(lit, Lit::Bool(_)) {
            return plain;
        }
        let place = expr.span();
        let (number, site) = self.site(place);
        let inner = &*expr;
        // A call would take part in what rustc says of a literal that has another type than is needed there.
        *expr = verbatim(quote_spanned!(place=> (if true { #inner } else { #site.value() })));
        let ty = self.name(Name::Type(number), span);
        call(ty, vec![plain], span)
    }

    /// The number of a literal of an integer that says nothing of its type.
    pub(super) fn unsuffixed(&mut self, expr: &syn::Expr) -> Option<Expr> {
        match expr {
            syn::Expr::Lit(ExprLit { lit: lit @ Lit::Int(int), .. }) if int.suffix().is_empty() => {
                let kind = self.number(lit, false)?;
                Some(Expr::new(kind, self.span(expr)))
            }
            _ => None,
        }
    }

    fn number(&mut self, lit: &Lit, negative: bool) -> Option<ExprKind> {
        Some(match lit {
            Lit::Int(int) if matches!(int.suffix(), "f32" | "f64") => {
                let value: f64 = int.base10_digits().parse().ok()?;
                ExprKind::Float(if negative { -value } else { value })
            }
            Lit::Int(int) => {
                let value: i128 = int.base10_digits().parse().ok()?;
                ExprKind::Int(if negative { -value } else { value })
            }
            Lit::Float(float) => {
                let value: f64 = float.base10_digits().parse().ok()?;
                ExprKind::Float(if negative { -value } else { value })
            }
            Lit::Bool(bool) => ExprKind::Bool(bool.value),
            Lit::Byte(byte) => ExprKind::Int(byte.value().into()),
            _ => return None,
        })
    }

    /// The literal of a pattern: it has the type of what it is compared with.
    pub(super) fn pattern_literal(&mut self, expr: &syn::Expr) -> Option<Expr> {
        let span = self.span(expr);
        let kind = match expr {
            syn::Expr::Lit(ExprLit { lit, .. }) => self.number(lit, false)?,
            syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => match &*unary.expr {
                syn::Expr::Lit(ExprLit { lit, .. }) => self.number(lit, true)?,
                _ => return None,
            },
            _ => return None,
        };
        Some(Expr::new(kind, span))
    }
}
