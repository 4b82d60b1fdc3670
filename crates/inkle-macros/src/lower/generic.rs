//! Literals in generic code: a number there is made of `T`, which `0.5` is not.

use quote::ToTokens;

use super::{Lower, Said};

impl Lower<'_> {
    /// What the source says of the type of a variable that begins as `value`.
    pub(super) fn said_of(&mut self, pat: &syn::Pat, value: &syn::Expr) -> Said {
        if self.scalars.is_empty() {
            return Said::Nothing;
        }
        if let syn::Pat::Type(typed) = pat {
            if self.is_of_scalar(&typed.ty) {
                self.refuse_literal(&typed.ty, value, None);
            }
            return Said::Type(typed.ty.clone());
        }
        match number(value) {
            Some(number) => Said::Number(Box::new(number.clone())),
            None => self.type_of(value).map_or(Said::Nothing, |ty| Said::Type(Box::new(ty))),
        }
    }

    /// Keeps what the source says of a variable.
    pub(super) fn say(&mut self, name: &str, said: Said) {
        if let Some(local) = self.scopes.last_mut().and_then(|scope| scope.get_mut(name)) {
            local.said = said;
        }
    }

    /// Reports a number that stands beside an operand whose type is a parameter, or whose numbers are where the operator `scales` them.
    pub(super) fn is_generic_beside(&mut self, operand: &syn::Expr, other: &syn::Expr, scales: bool) {
        let Some(ty) = self.type_of(operand) else { return };
        let of_vector = || numbers(&ty).filter(|_| scales);
        let scalar = if self.is_of_scalar(&ty) { Some(ty.clone()) } else { of_vector() };
        if let Some(scalar) = scalar.filter(|scalar| self.is_of_scalar(scalar)) {
            self.refuse_literal(&scalar, other, Some(operand));
        }
    }

    /// Reports a number that is an operand beside one whose type is a parameter.
    pub(super) fn is_generic_operation(&mut self, binary: &syn::ExprBinary) {
        use syn::BinOp::{Div, DivAssign, Mul, MulAssign, Shl, ShlAssign, Shr, ShrAssign};
        if let Shl(_) | Shr(_) | ShlAssign(_) | ShrAssign(_) = binary.op {
            return;
        }
        let scales = matches!(binary.op, Mul(_) | Div(_) | MulAssign(_) | DivAssign(_));
        self.is_generic_beside(&binary.left, &binary.right, scales);
        self.is_generic_beside(&binary.right, &binary.left, scales);
    }

    /// Reports a number that a function gives whose result is of a type parameter.
    pub(super) fn result_is_generic(&mut self, value: &syn::Expr) {
        if let Some(ty) = self.returns.clone().filter(|ty| self.is_of_scalar(ty)) {
            self.refuse_literal(&ty, value, None);
        }
    }

    fn refuse_literal(&mut self, scalar: &syn::Type, value: &syn::Expr, beside: Option<&syn::Expr>) {
        let t = scalar.to_token_stream();
        if let Some(literal) = number(value) {
            let (text, wanted) = (text_of(literal), written(&t.to_string(), literal));
            self.error(literal, format!("`{text}` is no `{t}`: in generic code write `{wanted}`"));
            return;
        }
        let (syn::Expr::Path(path), Some(beside)) = (value, beside) else { return };
        let Some(name) = path.path.get_ident() else { return };
        let Some(Said::Number(literal)) = self.lookup(&name.to_string()).map(|local| local.said.clone())
        else {
            return;
        };
        let (text, wanted) = (text_of(&literal), written(&t.to_string(), &literal));
        let message = format!(
            "`{name}` begins as `{text}`, which is no `{t}`, and meets `{}`, which is one: in generic code begin with `{wanted}`",
            text_of(beside)
        );
        // Once is enough.
        if let Some(local) = self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(&name.to_string())) {
            local.said = Said::Nothing;
        }
        self.error(&*literal, message);
    }

    /// Whether a type is a type parameter.
    fn is_of_scalar(&self, ty: &syn::Type) -> bool {
        matches!(ty, syn::Type::Path(path) if self.scalars.iter().any(|scalar| path.path.is_ident(scalar)))
    }

    /// The type of an expression, where the source alone says it.
    fn type_of(&self, expr: &syn::Expr) -> Option<syn::Type> {
        if self.scalars.is_empty() {
            return None;
        }
        match expr {
            syn::Expr::Paren(inner) => self.type_of(&inner.expr),
            syn::Expr::Group(inner) => self.type_of(&inner.expr),
            syn::Expr::Reference(inner) => self.type_of(&inner.expr),
            syn::Expr::Unary(unary) => self.type_of(&unary.expr),
            syn::Expr::Path(path) => match path.path.get_ident() {
                Some(name) => match &self.lookup(&name.to_string())?.said {
                    Said::Type(ty) => Some(referred(ty).clone()),
                    _ => None,
                },
                // `T::ONE`
                None => self.owner(&path.path),
            },
            // `T::from_f64(0.5)`
            syn::Expr::Call(call) => match &*call.func {
                syn::Expr::Path(path) => self.owner(&path.path),
                _ => None,
            },
            // `T` knows only operators that give `T` again.
            syn::Expr::Binary(binary) => match binary.op {
                syn::BinOp::Add(_)
                | syn::BinOp::Sub(_)
                | syn::BinOp::Mul(_)
                | syn::BinOp::Div(_)
                | syn::BinOp::Rem(_) => self.type_of(&binary.left).filter(|ty| self.is_of_scalar(ty)),
                _ => None,
            },
            syn::Expr::Index(index) => {
                let ty = self.type_of(&index.expr)?;
                match last(&ty).is_some_and(|last| last.ident == "Array" || last.ident == "IndexedArray") {
                    true => argument(&ty, 0),
                    false => component(&ty),
                }
            }
            syn::Expr::Field(field) => match &field.member {
                syn::Member::Named(name) if ["x", "y", "z", "w"].iter().any(|known| name == known) => {
                    component(&self.type_of(&field.base)?)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// `T`, of a path like `T::ONE`.
    fn owner(&self, path: &syn::Path) -> Option<syn::Type> {
        let first = &path.segments.first()?.ident;
        let is_of = path.segments.len() == 2 && self.scalars.iter().any(|scalar| first == scalar);
        is_of.then(|| syn::parse_quote!(#first))
    }
}

/// The literal of a number, with its sign, if that is what an expression is.
fn number(expr: &syn::Expr) -> Option<&syn::Expr> {
    match expr {
        syn::Expr::Paren(inner) => number(&inner.expr),
        syn::Expr::Group(inner) => number(&inner.expr),
        syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => number(&unary.expr).map(|_| expr),
        syn::Expr::Lit(literal) => {
            matches!(literal.lit, syn::Lit::Int(_) | syn::Lit::Float(_)).then_some(expr)
        }
        _ => None,
    }
}

/// An expression as people write it.
fn text_of(expr: &syn::Expr) -> String {
    let mut text = expr.to_token_stream().to_string();
    for (spaced, plain) in [
        (" [", "["),
        ("[ ", "["),
        (" ]", "]"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" . ", "."),
        (" ,", ","),
    ] {
        text = text.replace(spaced, plain);
    }
    match text.strip_prefix("- ") {
        Some(rest) => format!("-{rest}"),
        None => text,
    }
}

/// How a number is written in generic code.
fn written(scalar: &str, literal: &syn::Expr) -> String {
    let text = text_of(literal).replace('_', "");
    let digits = text.trim_end_matches("f32").trim_end_matches("f64");
    match digits.parse::<f64>() {
        Ok(0.0) => format!("{scalar}::ZERO"),
        Ok(1.0) => format!("{scalar}::ONE"),
        Ok(_) if digits.contains(['.', 'e', 'E']) => format!("{scalar}::from_f64({digits})"),
        Ok(_) => format!("{scalar}::from_i32({digits})"),
        Err(_) => format!("{scalar}::from_f64(..)"),
    }
}

/// What a reference refers to.
fn referred(ty: &syn::Type) -> &syn::Type {
    match ty {
        syn::Type::Reference(reference) => referred(&reference.elem),
        syn::Type::Paren(inner) => referred(&inner.elem),
        other => other,
    }
}

fn last(ty: &syn::Type) -> Option<&syn::PathSegment> {
    match ty {
        syn::Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// A type in the brackets of a type.
fn argument(ty: &syn::Type, index: usize) -> Option<syn::Type> {
    let syn::PathArguments::AngleBracketed(args) = &last(ty)?.arguments else { return None };
    match args.args.get(index)? {
        syn::GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    }
}

/// The type of the numbers that a vector or the like is scaled by.
fn numbers(ty: &syn::Type) -> Option<syn::Type> {
    match last(ty)?.ident.to_string().as_str() {
        "Vector" => argument(ty, 1),
        "Matrix" => argument(ty, 2),
        "Quaternion" => argument(ty, 0),
        _ => None,
    }
}

/// The type of the components of a vector or the like.
fn component(ty: &syn::Type) -> Option<syn::Type> {
    if let syn::Type::Array(array) = ty {
        return Some((*array.elem).clone());
    }
    match last(ty)?.ident.to_string().as_str() {
        "Vector" => argument(ty, 1),
        "Quaternion" | "Transform" => argument(ty, 0),
        _ => None,
    }
}
