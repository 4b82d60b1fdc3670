//! Expressions that are values.

use inkle_diag::Span;
use inkle_frontend::tree::{BinOp, CmpOp, Expr, ExprKind, LogicOp, StmtKind, UnOp};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned;

use super::{Dest, Lower, Name, call, int, named, unit, verbatim};

impl Lower<'_> {
    /// Lowers an expression; what has to happen before its value is known is added to the statements.
    pub(super) fn expr(&mut self, expr: &mut syn::Expr) -> Expr {
        let span = self.span(expr);
        match expr {
            syn::Expr::Lit(_) => self.literal(expr, span),
            syn::Expr::Unary(unary)
                if matches!(unary.op, syn::UnOp::Neg(_)) && matches!(*unary.expr, syn::Expr::Lit(_)) =>
            {
                self.literal(expr, span)
            }
            syn::Expr::Unary(unary) => match unary.op {
                syn::UnOp::Neg(_) => {
                    let operand = self.expr(&mut unary.expr);
                    Expr::new(ExprKind::Unary { op: UnOp::Neg, operand }, span)
                }
                syn::UnOp::Not(_) => {
                    let operand = self.expr(&mut unary.expr);
                    let site = self.pass(&mut unary.expr);
                    let not = self.name(Name::Not(site), span);
                    call(not, vec![operand], span)
                }
                _ => self.looked_at(&mut unary.expr),
            },
            syn::Expr::Path(path) => {
                let path = path.clone();
                if self.reference(&path).is_some() {
                    let name = &path.path;
                    let message = format!(
                        "`{0}` is a `&mut`, and in kernels another name for what it refers to is made by `let` alone; its value is \
                         `*{0}`",
                        name.to_token_stream()
                    );
                    return self.error(name, message);
                }
                self.path(&path, span)
            }
            syn::Expr::Paren(inner) => self.expr(&mut inner.expr),
            syn::Expr::Group(inner) => self.expr(&mut inner.expr),
            syn::Expr::Binary(_) => self.binary(expr, span),
            syn::Expr::Cast(cast) => {
                if let Some(number) = self.unsuffixed(&cast.expr) {
                    // It has the type that it is cast to: a site would keep that from it.
                    let ty = self.written(&cast.ty, span);
                    return call(ty, vec![number], span);
                }
                let value = self.expr(&mut cast.expr);
                let ty = self.written(&cast.ty, span);
                call(ty, vec![value], span)
            }
            syn::Expr::Tuple(tuple) => {
                let items = self.items(tuple.elems.iter_mut());
                Expr::new(ExprKind::Tuple(items), span)
            }
            syn::Expr::Array(array) => {
                let items = self.items(array.elems.iter_mut());
                let site = self.pass(expr);
                let ty = self.name(Name::Type(site), span);
                call(ty, items, span)
            }
            syn::Expr::Repeat(repeat) => {
                let item = self.expr(&mut repeat.expr);
                let site = self.pass(expr);
                let ty = self.name(Name::Type(site), span);
                call(ty, vec![item], span)
            }
            syn::Expr::Index(index) => {
                let value = self.looked_at(&mut index.expr);
                let (value, indices) = self.indices(value, index);
                Expr::new(ExprKind::Subscript { value, indices }, span)
            }
            syn::Expr::Field(field) => {
                let value = self.looked_at(&mut field.base);
                self.member(value, &field.member, span)
            }
            syn::Expr::Reference(reference) if reference.mutability.is_none() => {
                self.looked_at(&mut reference.expr)
            }
            syn::Expr::Reference(_) => self.error(
                expr,
                "kernels take `&mut` of what they pass to a function, and give it a name: `let p = &mut x[i];`",
            ),
            syn::Expr::Call(_) => self.call(expr, span),
            syn::Expr::MethodCall(_) => self.method(expr, span),
            syn::Expr::Struct(_) => self.structure(expr, span),
            syn::Expr::Macro(_) => self.macro_call(expr, span),
            syn::Expr::If(_) | syn::Expr::Match(_) | syn::Expr::Block(_) | syn::Expr::Loop(_) => {
                let result = self.hidden();
                self.into(expr, &Dest::Var(result.clone()));
                named(&result, span)
            }
            syn::Expr::Return(_)
            | syn::Expr::Break(_)
            | syn::Expr::Continue(_)
            | syn::Expr::Assign(_)
            | syn::Expr::While(_)
            | syn::Expr::ForLoop(_) => {
                self.into(expr, &Dest::Ignore);
                unit(span)
            }
            syn::Expr::Closure(_) => {
                self.error(expr, "kernels cannot have closures; write a function with `#[inkle::func]`")
            }
            syn::Expr::Try(_) => self.error(
                expr,
                "kernels cannot use `?`: a thread has nobody to return an error to; write a mark into an array",
            ),
            syn::Expr::Unsafe(_) => self.error(expr, "kernels cannot have `unsafe` blocks"),
            syn::Expr::Range(_) => {
                self.error(expr, "in kernels a range can only be what a `for` loop runs over")
            }
            syn::Expr::Let(_) => {
                self.error(expr, "kernels cannot use `let` in conditions; write a `match`")
            }
            syn::Expr::Async(_) | syn::Expr::Await(_) | syn::Expr::Yield(_) => {
                self.error(expr, "kernels cannot be asynchronous")
            }
            _ => self.error(expr, "kernels cannot have this expression"),
        }
    }

    /// Lowers operands in order; those before one that needs statements are kept in variables.
    pub(super) fn exprs<'e>(&mut self, exprs: impl Iterator<Item = &'e mut syn::Expr>) -> Vec<Expr> {
        let mut values: Vec<(Expr, bool)> = Vec::new();
        for expr in exprs {
            let before = self.stmts.len();
            // A `&mut` is a place and not a value.
            let (value, is_place) = match self.referred(expr) {
                Some(place) => (place, true),
                None => (self.expr(expr), false),
            };
            if self.stmts.len() > before {
                let later = self.stmts.split_off(before);
                for (earlier, _) in values.iter_mut().filter(|(v, is_place)| !is_place && !is_stable(v)) {
                    *earlier = self.keep(earlier.clone());
                }
                self.stmts.extend(later);
            }
            values.push((value, is_place));
        }
        values.into_iter().map(|(value, _)| value).collect()
    }

    /// Lowers the items of a tuple or array, which are values.
    fn items<'e>(&mut self, exprs: impl Iterator<Item = &'e mut syn::Expr>) -> Vec<Expr> {
        let mut exprs: Vec<&mut syn::Expr> = exprs.collect();
        for expr in &exprs {
            let is_new = matches!(&**expr, syn::Expr::Reference(reference) if reference.mutability.is_some());
            if is_new || self.is_reference(expr) {
                self.error(
                    expr,
                    "kernels have no `&mut` within a value; pass each to the function by itself",
                );
                return Vec::new();
            }
        }
        self.exprs(exprs.iter_mut().map(|expr| &mut **expr))
    }

    /// The place that an expression refers to, if that is a `&mut`: its indices are what they are here.
    pub(super) fn referred(&mut self, expr: &mut syn::Expr) -> Option<Expr> {
        match expr {
            syn::Expr::Paren(inner) => self.referred(&mut inner.expr),
            syn::Expr::Group(inner) => self.referred(&mut inner.expr),
            syn::Expr::Path(path) => self.reference(path),
            syn::Expr::Reference(reference) if reference.mutability.is_some() => {
                let place = self.looked_at(&mut reference.expr);
                Some(self.fixed(place))
            }
            _ => None,
        }
    }

    /// Whether an expression is the name of a `&mut`.
    pub(super) fn is_reference(&self, expr: &syn::Expr) -> bool {
        matches!(expr, syn::Expr::Path(path) if self.reference(path).is_some())
    }

    /// The place that the name of a `&mut` refers to.
    fn reference(&self, path: &syn::ExprPath) -> Option<Expr> {
        let local = self.lookup(&path.path.get_ident()?.to_string()).filter(|local| local.refers)?;
        Some(Expr::new((*local.value.kind).clone(), self.span(path)))
    }

    /// An expression of which a part is looked at, or to which something is done: where it is the name of a `&mut`, what that refers to.
    pub(super) fn looked_at(&mut self, expr: &mut syn::Expr) -> Expr {
        match expr {
            syn::Expr::Paren(inner) => self.looked_at(&mut inner.expr),
            syn::Expr::Group(inner) => self.looked_at(&mut inner.expr),
            syn::Expr::Path(path) => match self.reference(path) {
                Some(place) => place,
                None => self.expr(expr),
            },
            _ => self.expr(expr),
        }
    }

    /// A place that stays the same whatever happens to the variables in its indices; of a value a variable that holds it.
    fn fixed(&mut self, place: Expr) -> Expr {
        let span = place.span;
        let kind = match *place.kind {
            ExprKind::Name(_) => return place,
            ExprKind::Subscript { value, indices } => {
                let value = self.fixed(value);
                let indices = indices.into_iter().map(|i| if is_stable(&i) { i } else { self.keep(i) });
                ExprKind::Subscript { value, indices: indices.collect() }
            }
            ExprKind::Attribute { value, attr, attr_span } => {
                ExprKind::Attribute { value: self.fixed(value), attr, attr_span }
            }
            kind => return self.keep(Expr::new(kind, span)),
        };
        Expr::new(kind, span)
    }

    /// A type that is written out.
    pub(super) fn written(&mut self, ty: &syn::Type, span: Span) -> Expr {
        if let syn::Type::Path(path) = ty
            && let Some(ident) = path.path.get_ident()
            && self.variables.iter().any(|v| ident == v)
        {
            return named(&format!("${ident}"), span);
        }
        self.name(Name::Written(Box::new(ty.clone())), span)
    }

    fn path(&mut self, path: &syn::ExprPath, span: Span) -> Expr {
        if let Some(ident) = path.path.get_ident() {
            if let Some(local) = self.lookup(&ident.to_string()) {
                return Expr::new((*local.value.kind).clone(), span);
            }
            if self.variables.iter().any(|v| ident == v) {
                return named(&format!("${ident}"), span);
            }
        }
        let segments = &path.path.segments;
        if let (Some(first), Some(last), 2) = (segments.first(), segments.last(), segments.len())
            && self.variables.iter().any(|v| first.ident == v)
        {
            // `T::ZERO` where `T` is not known before the function is called.
            let value = match last.ident.to_string().as_str() {
                "ZERO" => int(0, span),
                "ONE" => int(1, span),
                _ => {
                    return self.error(
                        path,
                        "of a type parameter, functions know only the constants `ZERO` and `ONE`",
                    );
                }
            };
            return call(named(&format!("${}", first.ident), span), vec![value], span);
        }
        self.name(Name::Constant(Box::new(syn::Expr::Path(path.clone()))), span)
    }

    fn binary(&mut self, expr: &mut syn::Expr, span: Span) -> Expr {
        let syn::Expr::Binary(binary) = expr else { unreachable!("the caller saw a binary expression") };
        if let Some(op) = compound(&binary.op) {
            self.assign_with(expr, op, span);
            return unit(span);
        }
        if let syn::BinOp::And(_) | syn::BinOp::Or(_) = binary.op {
            let is_and = matches!(binary.op, syn::BinOp::And(_));
            let left = self.expr(&mut binary.left);
            let mut right = None;
            let (stmts, _) = self.collect(|this| right = Some(this.expr(&mut binary.right)));
            let right = right.expect("it was lowered");
            if stmts.is_empty() {
                let op = if is_and { LogicOp::And } else { LogicOp::Or };
                return Expr::new(ExprKind::Logic { op, values: vec![left, right] }, span);
            }
            // What the right side needs happens only where it is asked for.
            let result = self.hidden();
            let mut asked = stmts;
            let (end, _) = self.collect(|this| this.assign(&result, right, span));
            asked.extend(end);
            let (known, _) = self.collect(|this| {
                this.assign(&result, Expr::new(ExprKind::Bool(!is_and), span), span);
            });
            let (body, orelse) = if is_and { (asked, known) } else { (known, asked) };
            self.push(StmtKind::If { test: left, body, orelse }, span);
            return named(&result, span);
        }
        let op = binary.op;
        self.is_generic_operation(binary);
        let mut operands = self.exprs([&mut *binary.left, &mut *binary.right].into_iter()).into_iter();
        let (left, right) = (operands.next().expect("two operands"), operands.next().expect("two operands"));
        let right = match &op {
            // Rust shifts by numbers of any type.
            syn::BinOp::Shl(_) | syn::BinOp::Shr(_) => {
                let site = self.pass(&mut binary.left);
                call(self.name(Name::Type(site), span), vec![right], span)
            }
            _ => right,
        };
        if let Some(op) = comparison(&op) {
            return Expr::new(ExprKind::Compare { first: left, rest: vec![(op, right)] }, span);
        }
        match arithmetic(&op) {
            Some(op) => Expr::new(ExprKind::Binary { op, left, right }, span),
            None => self.error(expr, "kernels do not know this operator"),
        }
    }

    /// `target op= value`: loads, computes and stores, in that order and once.
    pub(super) fn assign_with(&mut self, expr: &mut syn::Expr, op: BinOp, span: Span) {
        let syn::Expr::Binary(binary) = expr else { unreachable!("the caller saw a binary expression") };
        self.is_generic_operation(binary);
        let value = self.expr(&mut binary.right);
        let value = if is_stable(&value) { value } else { self.keep(value) };
        let target = self.place(&mut binary.left);
        let (place, left) = (binary.op.span(), &binary.left);
        let (mut look, mut value) = (None, value);
        if matches!(op, BinOp::Shl | BinOp::Shr) {
            let (number, site) = self.site(place);
            look = Some(quote_spanned!(place=> let _ = __ink::pass(&#site, #left);));
            value = call(self.name(Name::Type(number), span), vec![value], span);
        }
        let sum = Expr::new(ExprKind::Binary { op, left: target.clone(), right: value }, span);
        self.push(StmtKind::Assign { targets: vec![target], value: sum }, span);
        // Rust borrows the target before it computes the value of some types; here the value comes first.
        let (right, token) = (&binary.right, &binary.op);
        *expr = verbatim(quote_spanned!(place=> { let __value = #right; #look #left #token __value; }));
    }

    /// A place whose indices are evaluated once.
    pub(super) fn place(&mut self, expr: &mut syn::Expr) -> Expr {
        let place = self.expr(expr);
        self.settled(place)
    }

    fn settled(&mut self, place: Expr) -> Expr {
        let span = place.span;
        let kind = match *place.kind {
            ExprKind::Subscript { value, indices } => {
                let value = self.settled(value);
                let indices =
                    indices.into_iter().map(|i| if is_stable(&i) || is_name(&i) { i } else { self.keep(i) });
                ExprKind::Subscript { value, indices: indices.collect() }
            }
            ExprKind::Attribute { value, attr, attr_span } => {
                ExprKind::Attribute { value: self.settled(value), attr, attr_span }
            }
            other => other,
        };
        Expr::new(kind, span)
    }

    pub(super) fn member(&mut self, value: Expr, member: &syn::Member, span: Span) -> Expr {
        let kind = match member {
            syn::Member::Named(name) => ExprKind::Attribute {
                value,
                attr: name.to_string(),
                attr_span: self.source.span(name.span()),
            },
            syn::Member::Unnamed(index) => {
                ExprKind::Subscript { value, indices: vec![int(index.index.into(), span)] }
            }
        };
        Expr::new(kind, span)
    }

    /// The indices in brackets: one, or several as a tuple or array.
    fn indices(&mut self, value: Expr, index: &mut syn::ExprIndex) -> (Expr, Vec<Expr>) {
        let before = self.stmts.len();
        let place = index.index.span();
        let indices = match &mut *index.index {
            syn::Expr::Tuple(tuple) => self.exprs(tuple.elems.iter_mut()),
            syn::Expr::Array(array) => self.exprs(array.elems.iter_mut()),
            syn::Expr::Range(_) => {
                self.error(
                    &index.index,
                    "kernels cannot slice; index the elements, or pass a view to the launch",
                );
                Vec::new()
            }
            one => vec![self.expr(one)],
        };
        let value = match self.stmts.len() > before && !is_place(&value) {
            true => {
                let later = self.stmts.split_off(before);
                let value = self.keep(value);
                self.stmts.extend(later);
                value
            }
            false => value,
        };
        let parts: Vec<&syn::Expr> = match &*index.index {
            syn::Expr::Tuple(tuple) => tuple.elems.iter().collect(),
            syn::Expr::Array(array) => array.elems.iter().collect(),
            one => vec![one],
        };
        if !(1..=4).contains(&parts.len()) {
            self.error(&index.index, "an array has one to four dimensions");
            return (value, indices);
        }
        let ix = format_ident!("ix{}", parts.len(), span = place);
        *index.index = verbatim(quote_spanned!(place=> __ink::#ix(#(#parts),*)));
        (value, indices)
    }

    fn structure(&mut self, expr: &mut syn::Expr, span: Span) -> Expr {
        let syn::Expr::Struct(structure) = expr else { unreachable!("the caller saw a struct expression") };
        let path = structure.path.clone();
        let mut values = self.exprs(structure.fields.iter_mut().map(|f| &mut f.expr)).into_iter();
        let whole = match &mut structure.rest {
            Some(rest) => {
                let rest = self.expr(rest);
                self.keep(rest)
            }
            None => {
                let ty = syn::Type::Path(syn::TypePath { qself: None, path });
                let ty = self.name(Name::Written(Box::new(ty)), span);
                self.keep(call(ty, Vec::new(), span))
            }
        };
        let fields: Vec<syn::Member> = structure.fields.iter().map(|f| f.member.clone()).collect();
        for field in &mut structure.fields {
            // `Point { x, y }` in the shadow says `x: x`, since `x` may have been rewritten.
            field.colon_token.get_or_insert_default();
        }
        for member in &fields {
            let value = values.next().expect("one value per field");
            let target = self.member(whole.clone(), member, span);
            self.push(StmtKind::Assign { targets: vec![target], value }, span);
        }
        whole
    }
}

/// Whether a value cannot change: it may be read later than where it stands.
pub(super) fn is_stable(expr: &Expr) -> bool {
    match &*expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Str(_) => true,
        // Constants, and what the lowering keeps for itself, which is assigned once.
        ExprKind::Name(name) => name.starts_with(['$', '@', '%']),
        ExprKind::Call { func, args, .. } => {
            matches!(&*func.kind, ExprKind::Name(name) if name.starts_with('$'))
                && args.iter().all(is_literal)
        }
        ExprKind::Tuple(items) => items.iter().all(is_stable),
        _ => false,
    }
}

fn is_literal(expr: &Expr) -> bool {
    matches!(*expr.kind, ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_))
}

fn is_name(expr: &Expr) -> bool {
    matches!(*expr.kind, ExprKind::Name(_))
}

fn is_place(expr: &Expr) -> bool {
    match &*expr.kind {
        ExprKind::Name(_) => true,
        ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } => is_place(value),
        _ => false,
    }
}

fn arithmetic(op: &syn::BinOp) -> Option<BinOp> {
    Some(match op {
        syn::BinOp::Add(_) => BinOp::Add,
        syn::BinOp::Sub(_) => BinOp::Sub,
        syn::BinOp::Mul(_) => BinOp::Mul,
        syn::BinOp::Div(_) => BinOp::Div,
        syn::BinOp::Rem(_) => BinOp::Mod,
        syn::BinOp::BitAnd(_) => BinOp::BitAnd,
        syn::BinOp::BitOr(_) => BinOp::BitOr,
        syn::BinOp::BitXor(_) => BinOp::BitXor,
        syn::BinOp::Shl(_) => BinOp::Shl,
        syn::BinOp::Shr(_) => BinOp::Shr,
        _ => return None,
    })
}

fn comparison(op: &syn::BinOp) -> Option<CmpOp> {
    Some(match op {
        syn::BinOp::Eq(_) => CmpOp::Eq,
        syn::BinOp::Ne(_) => CmpOp::NotEq,
        syn::BinOp::Lt(_) => CmpOp::Lt,
        syn::BinOp::Le(_) => CmpOp::LtE,
        syn::BinOp::Gt(_) => CmpOp::Gt,
        syn::BinOp::Ge(_) => CmpOp::GtE,
        _ => return None,
    })
}

fn compound(op: &syn::BinOp) -> Option<BinOp> {
    Some(match op {
        syn::BinOp::AddAssign(_) => BinOp::Add,
        syn::BinOp::SubAssign(_) => BinOp::Sub,
        syn::BinOp::MulAssign(_) => BinOp::Mul,
        syn::BinOp::DivAssign(_) => BinOp::Div,
        syn::BinOp::RemAssign(_) => BinOp::Mod,
        syn::BinOp::BitAndAssign(_) => BinOp::BitAnd,
        syn::BinOp::BitOrAssign(_) => BinOp::BitOr,
        syn::BinOp::BitXorAssign(_) => BinOp::BitXor,
        syn::BinOp::ShlAssign(_) => BinOp::Shl,
        syn::BinOp::ShrAssign(_) => BinOp::Shr,
        _ => return None,
    })
}
