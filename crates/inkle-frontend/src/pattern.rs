//! Patterns of types: the signatures of built-ins, of library functions and of generic user functions.
//!
//! A pattern is a type with variables. Scalar variables: `S` any scalar, `F` any float, `I` any integer, `B` an
//! integer or bool; `T` any type; size variables: `N`, `M`, `K`, `D`. The same variable must stand for the same
//! thing throughout a signature.

use std::fmt;

use inkle_ir::{ArrayKind, Scalar, Type};

use crate::tree::{Expr, ExprKind};

/// What a scalar variable can stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constraint {
    /// Any scalar.
    Any,
    /// A float.
    Float,
    /// An integer.
    Int,
    /// An integer or `bool`.
    Bits,
    /// An integer or float, not `bool`.
    Number,
}

impl Constraint {
    fn admits(self, scalar: Scalar) -> bool {
        match self {
            Constraint::Any => true,
            Constraint::Float => scalar.is_float(),
            Constraint::Int => scalar.is_int(),
            Constraint::Bits => scalar.is_int() || scalar == Scalar::Bool,
            Constraint::Number => scalar != Scalar::Bool,
        }
    }
}

/// A scalar or a scalar variable.
#[derive(Clone, PartialEq, Debug)]
pub enum ScalarPattern {
    /// Exactly this scalar.
    Exact(Scalar),
    /// A variable.
    Var(String, Constraint),
}

/// A size or a size variable.
#[derive(Clone, PartialEq, Debug)]
pub enum SizePattern {
    /// Exactly this size.
    Exact(u32),
    /// A variable.
    Var(String),
}

/// A type with variables.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the variants mirror `Type`")]
pub enum Pattern {
    Exact(Type),
    Scalar(ScalarPattern),
    Vec(SizePattern, ScalarPattern),
    Mat(SizePattern, SizePattern, ScalarPattern),
    Quat(ScalarPattern),
    Transform(ScalarPattern),
    Array(Box<Pattern>, SizePattern, ArrayKind),
    /// Any type; the same everywhere when named.
    Any(Option<String>),
    /// A function.
    Callable,
    /// A tuple of these.
    Tuple(Vec<Pattern>),
    /// A tuple of any number of these: `tuple[int, ...]`.
    TupleOf(Box<Pattern>),
}

/// What a variable stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Bound {
    Scalar(Scalar),
    Size(u32),
    Type(Type),
}

/// The variables bound while matching one call.
#[derive(Clone, Default, Debug)]
pub struct Bindings(Vec<(String, Bound)>);

impl Bindings {
    /// What a variable stands for.
    pub fn get(&self, name: &str) -> Option<Bound> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, b)| *b)
    }

    fn bind(&mut self, name: &str, bound: Bound) -> bool {
        match self.get(name) {
            Some(known) => known == bound,
            None => {
                self.0.push((name.to_owned(), bound));
                true
            }
        }
    }

    fn scalar(&self, pattern: &ScalarPattern) -> Option<Scalar> {
        match pattern {
            ScalarPattern::Exact(s) => Some(*s),
            ScalarPattern::Var(name, _) => match self.get(name)? {
                Bound::Scalar(s) => Some(s),
                _ => None,
            },
        }
    }

    fn size(&self, pattern: &SizePattern) -> Option<u32> {
        match pattern {
            SizePattern::Exact(n) => Some(*n),
            SizePattern::Var(name) => match self.get(name)? {
                Bound::Size(n) => Some(n),
                _ => None,
            },
        }
    }
}

impl Pattern {
    /// Whether `ty` fits, binding variables on the way.
    pub fn matches(&self, ty: Type, bindings: &mut Bindings) -> bool {
        fn scalar(pattern: &ScalarPattern, s: Scalar, bindings: &mut Bindings) -> bool {
            match pattern {
                ScalarPattern::Exact(want) => *want == s,
                ScalarPattern::Var(name, constraint) => {
                    constraint.admits(s) && bindings.bind(name, Bound::Scalar(s))
                }
            }
        }
        fn size(pattern: &SizePattern, n: u32, bindings: &mut Bindings) -> bool {
            match pattern {
                SizePattern::Exact(want) => *want == n,
                SizePattern::Var(name) => bindings.bind(name, Bound::Size(n)),
            }
        }
        match (self, ty) {
            (Pattern::Exact(want), ty) => *want == ty,
            (Pattern::Scalar(p), Type::Scalar(s)) => scalar(p, s, bindings),
            (Pattern::Vec(n, p), Type::Vec { len, elem }) => {
                size(n, len, bindings) && scalar(p, elem, bindings)
            }
            (Pattern::Mat(r, c, p), Type::Mat { rows, cols, elem }) => {
                size(r, rows, bindings) && size(c, cols, bindings) && scalar(p, elem, bindings)
            }
            (Pattern::Quat(p), Type::Quat(s)) | (Pattern::Transform(p), Type::Transform(s)) => {
                scalar(p, s, bindings)
            }
            (Pattern::Array(elem, ndim, kind), Type::Array(a)) => {
                a.kind == *kind && elem.matches(a.elem, bindings) && size(ndim, a.ndim, bindings)
            }
            (Pattern::Any(None), _) => true,
            (Pattern::Any(Some(name)), ty) => bindings.bind(name, Bound::Type(ty)),
            _ => false,
        }
    }

    /// The type the pattern stands for; `None` while a variable is unbound.
    pub fn instantiate(&self, bindings: &Bindings) -> Option<Type> {
        Some(match self {
            Pattern::Exact(ty) => *ty,
            Pattern::Scalar(p) => Type::Scalar(bindings.scalar(p)?),
            Pattern::Vec(n, p) => Type::vec(bindings.size(n)?, bindings.scalar(p)?),
            Pattern::Mat(r, c, p) => Type::mat(bindings.size(r)?, bindings.size(c)?, bindings.scalar(p)?),
            Pattern::Quat(p) => Type::Quat(bindings.scalar(p)?),
            Pattern::Transform(p) => Type::Transform(bindings.scalar(p)?),
            Pattern::Array(elem, ndim, kind) => {
                Type::array_of_kind(elem.instantiate(bindings)?, bindings.size(ndim)?, *kind)
            }
            Pattern::Any(Some(name)) => match bindings.get(name)? {
                Bound::Type(ty) => ty,
                _ => return None,
            },
            Pattern::Any(None) | Pattern::Callable | Pattern::Tuple(_) | Pattern::TupleOf(_) => return None,
        })
    }

    /// Whether the pattern has no variables.
    pub fn is_exact(&self) -> bool {
        self.instantiate(&Bindings::default()).is_some()
    }

    /// The scalar an untyped literal should take here, when the pattern decides it.
    pub fn literal_scalar(&self, bindings: &Bindings) -> Option<Scalar> {
        match self {
            Pattern::Exact(Type::Scalar(s)) => Some(*s),
            Pattern::Scalar(p) => bindings.scalar(p),
            Pattern::Any(Some(name)) => match bindings.get(name)? {
                Bound::Type(Type::Scalar(s)) => Some(s),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a literal of `scalar` would be admitted by the pattern's constraint.
    pub fn admits_scalar(&self, scalar: Scalar) -> bool {
        self.matches(Type::Scalar(scalar), &mut Bindings::default())
    }

    /// Reads a parameter's annotation; `ref[P]` is a parameter passed by reference, and the flag says so.
    pub fn of_param(annotation: &Expr) -> Option<(Pattern, bool)> {
        if let ExprKind::Subscript { value, indices } = &*annotation.kind
            && let (ExprKind::Name(name), [inner]) = (&*value.kind, indices.as_slice())
            && name == "ref"
        {
            return Some((Pattern::from_annotation(inner)?, true));
        }
        Some((Pattern::from_annotation(annotation)?, false))
    }

    /// Reads a signature's annotation: `float32`, `S`, `vec[N, S]`, `array[T, D]` ...
    pub fn from_annotation(expr: &Expr) -> Option<Pattern> {
        match &*expr.kind {
            ExprKind::Name(name) => Pattern::from_name(name),
            ExprKind::Subscript { value, indices } => {
                let ExprKind::Name(name) = &*value.kind else { return None };
                Some(match (name.as_str(), indices.as_slice()) {
                    ("vec", [n, s]) => Pattern::Vec(size_pattern(n)?, scalar_pattern(s)?),
                    ("mat", [r, c, s]) => {
                        Pattern::Mat(size_pattern(r)?, size_pattern(c)?, scalar_pattern(s)?)
                    }
                    ("quat", [s]) => Pattern::Quat(scalar_pattern(s)?),
                    ("transform", [s]) => Pattern::Transform(scalar_pattern(s)?),
                    ("array", [t, d]) => Pattern::Array(
                        Box::new(Pattern::from_annotation(t)?),
                        size_pattern(d)?,
                        ArrayKind::Strided,
                    ),
                    _ => return None,
                })
            }
            _ => None,
        }
    }

    fn from_name(name: &str) -> Option<Pattern> {
        if name == "T" || name == "U" {
            return Some(Pattern::Any(Some(name.to_owned())));
        }
        if name == "Callable" {
            return Some(Pattern::Callable);
        }
        scalar_from_name(name).map(Pattern::Scalar)
    }
}

fn scalar_from_name(name: &str) -> Option<ScalarPattern> {
    if let Some(scalar) = Scalar::ALL.into_iter().find(|s| s.python_name() == name) {
        return Some(ScalarPattern::Exact(scalar));
    }
    let constraint = match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "S" => Constraint::Any,
        "F" => Constraint::Float,
        "I" => Constraint::Int,
        "B" => Constraint::Bits,
        "R" => Constraint::Number,
        _ => return None,
    };
    Some(ScalarPattern::Var(name.to_owned(), constraint))
}

fn scalar_pattern(expr: &Expr) -> Option<ScalarPattern> {
    match &*expr.kind {
        ExprKind::Name(name) => scalar_from_name(name),
        _ => None,
    }
}

fn size_pattern(expr: &Expr) -> Option<SizePattern> {
    match &*expr.kind {
        ExprKind::Int(n) => u32::try_from(*n).ok().map(SizePattern::Exact),
        ExprKind::Name(name) if matches!(name.as_str(), "N" | "M" | "K" | "D") => {
            Some(SizePattern::Var(name.clone()))
        }
        _ => None,
    }
}

impl fmt::Display for ScalarPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarPattern::Exact(s) => f.write_str(s.python_name()),
            ScalarPattern::Var(name, constraint) => f
                .write_str(match constraint {
                    Constraint::Any => "scalar",
                    Constraint::Float => "float",
                    Constraint::Int => "int",
                    Constraint::Bits => "int|bool",
                    Constraint::Number => "number",
                })
                .and_then(|()| if name.len() > 1 { write!(f, "{}", &name[1..]) } else { Ok(()) }),
        }
    }
}

impl fmt::Display for SizePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizePattern::Exact(n) => n.fmt(f),
            SizePattern::Var(name) => f.write_str(&name.to_lowercase()),
        }
    }
}

/// As signatures are shown to users: `vec(n, float)`, `array(any, d)`.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Exact(ty) => f.write_str(&ty.python_name()),
            Pattern::Scalar(p) => p.fmt(f),
            Pattern::Vec(n, p) => write!(f, "vec({n}, {p})"),
            Pattern::Mat(r, c, p) => write!(f, "mat({r}, {c}, {p})"),
            Pattern::Quat(p) => write!(f, "quat({p})"),
            Pattern::Transform(p) => write!(f, "transform({p})"),
            Pattern::Array(elem, ndim, kind) => {
                write!(f, "{}({elem}, {ndim})", kind.name())
            }
            Pattern::Any(_) => f.write_str("any"),
            Pattern::Callable => f.write_str("function"),
            Pattern::Tuple(items) => {
                let items: Vec<String> = items.iter().map(Pattern::to_string).collect();
                write!(f, "tuple[{}]", items.join(", "))
            }
            Pattern::TupleOf(item) => write!(f, "tuple[{item}, ...]"),
        }
    }
}
