//! What an expression stands for while checking: an IR value, a compile-time constant, a type, a function ...

use std::rc::Rc;

use inkle_diag::Span;
use inkle_ir::{Constant, Scalar, Type, Value};

use crate::env::{Binding, ConstValue, FunctionKey, ObjectKey};

/// The meaning of an expression.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Val {
    /// A value computed by the kernel.
    Ir(Value),
    /// A value known while compiling.
    Const(ConstValue),
    /// Several values.
    Tuple(Rc<Vec<Val>>),
    /// A type.
    Type(Type),
    /// A user's function.
    Function(FunctionKey),
    /// A built-in.
    Builtin(Rc<str>),
    /// An object of the source language.
    Object(ObjectKey),
}

impl Val {
    pub(super) fn int(value: i128) -> Val {
        Val::Const(ConstValue::Int(value))
    }

    pub(super) fn typed_int(value: i128, scalar: Scalar) -> Val {
        Val::Const(ConstValue::Typed(Constant::Int(value), scalar))
    }

    pub(super) fn bool(value: bool) -> Val {
        Val::Const(ConstValue::Bool(value))
    }

    pub(super) fn tuple(values: Vec<Val>) -> Val {
        Val::Tuple(Rc::new(values))
    }

    /// The integer, if it is a constant one.
    pub(super) fn const_int(&self) -> Option<i128> {
        match self {
            Val::Const(ConstValue::Int(i)) | Val::Const(ConstValue::Typed(Constant::Int(i), _)) => Some(*i),
            _ => None,
        }
    }

    /// The scalar constant, if it is one.
    pub(super) fn const_scalar(&self) -> Option<Constant> {
        match self {
            Val::Const(c) => c.scalar(),
            _ => None,
        }
    }

    /// Whether it is a number written without a type.
    pub(super) fn is_literal(&self) -> bool {
        matches!(self, Val::Const(ConstValue::Int(_) | ConstValue::Float(_) | ConstValue::Bool(_)))
    }
}

impl ConstValue {
    /// The scalar constant, if it is one.
    pub(crate) fn scalar(&self) -> Option<Constant> {
        Some(match self {
            ConstValue::Int(i) => Constant::Int(*i),
            ConstValue::Float(f) => Constant::Float(*f),
            ConstValue::Bool(b) => Constant::Bool(*b),
            ConstValue::Typed(c, _) => *c,
            _ => return None,
        })
    }

    /// The type of the value, numbers without a type taking their default.
    pub(crate) fn ty(&self) -> Option<Type> {
        Some(match self {
            ConstValue::Int(_) => Type::I32,
            ConstValue::Float(_) => Type::F32,
            ConstValue::Bool(_) => Type::BOOL,
            ConstValue::Typed(_, s) => Type::Scalar(*s),
            ConstValue::Composite { ty, .. } | ConstValue::Struct { ty, .. } => *ty,
            ConstValue::Str(_) | ConstValue::Tuple(_) | ConstValue::None => return None,
        })
    }
}

impl From<Binding> for Val {
    fn from(binding: Binding) -> Val {
        match binding {
            Binding::Const(ConstValue::Tuple(items)) => {
                Val::tuple(items.into_iter().map(|item| Val::from(Binding::Const(item))).collect())
            }
            Binding::Const(c) => Val::Const(c),
            Binding::Type(ty) => Val::Type(ty),
            Binding::Function(key) => Val::Function(key),
            Binding::Builtin(name) => Val::Builtin(name.into()),
            Binding::Object(key) => Val::Object(key),
            // The caller reports these before converting.
            Binding::Unsupported(_) => Val::Const(ConstValue::None),
        }
    }
}

/// A variable's state at a point of the program.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Slot {
    /// Never set.
    Unset,
    /// Holds a value on every path.
    Set(Val),
    /// Set on some paths only; the span is an assignment.
    MaybeUnset(Span),
    /// Holds values of different types on different paths.
    Conflict(Span, String, String),
    /// A mistake was already reported for it.
    Poisoned,
}

/// A variable of a function: an index into its slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct VarId(pub usize);

/// A mistake was reported; the caller gives up on what it was doing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

pub(super) type R<T> = Result<T, Reported>;
