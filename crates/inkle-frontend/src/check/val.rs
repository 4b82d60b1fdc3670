//! What an expression stands for while checking: an IR value, a compile-time constant, a type, a function ...

use std::rc::Rc;

use inkle_diag::Span;
use inkle_ir::{Block, Constant, Scalar, Type, Value};

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
    /// `grad(f)`: what gives the gradients of a function or built-in.
    Gradient(Rc<Val>),
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

/// How values are grouped into tuples.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Nest {
    One,
    Many(Vec<Nest>),
}

impl Nest {
    /// Takes a value apart into those that are no tuples.
    pub(super) fn flatten(val: &Val, items: &mut Vec<Val>) -> Nest {
        match val {
            Val::Tuple(parts) => Nest::Many(parts.iter().map(|part| Nest::flatten(part, items)).collect()),
            _ => {
                items.push(val.clone());
                Nest::One
            }
        }
    }

    /// Whether a tuple is in a tuple.
    pub(super) fn is_nested(&self) -> bool {
        matches!(self, Nest::Many(parts) if parts.iter().any(|part| matches!(part, Nest::Many(_))))
    }

    /// Groups values.
    pub(super) fn rebuild(&self, values: &mut impl Iterator<Item = Value>) -> Val {
        match self {
            Nest::One => Val::Ir(values.next().expect("as many values as were grouped")),
            Nest::Many(parts) => Val::tuple(parts.iter().map(|part| part.rebuild(values)).collect()),
        }
    }
}

/// Where a variable may have stayed unset.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Gap {
    /// The statement after which it may be unset.
    pub at: Span,
    /// The block in which the paths with and without a value met.
    pub block: Block,
    /// The type of its values, when they are of one type.
    pub ty: Option<Type>,
    /// Whether several conditions set it, each in a case of its own.
    pub cases: bool,
}

/// A variable's state at a point of the program.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Slot {
    /// Never set.
    Unset,
    /// Holds a value on every path.
    Set(Val),
    /// Set on some paths only.
    MaybeUnset(Gap),
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

/// The states of all variables, with a log of their changes: a branch is checked, looked at and undone in time
/// that depends on what it changes and not on how many variables there are.
#[derive(Default)]
pub(super) struct Slots {
    values: Vec<Slot>,
    /// Each change with the state before it, oldest first.
    log: Vec<(VarId, Slot)>,
    /// When a variable was last met in a walk over the log.
    met: Vec<u32>,
    walk: u32,
}

/// A point in the log of [`Slots`].
#[derive(Clone, Copy)]
pub(super) struct Mark(usize);

/// Variables with a state, in order.
pub(super) type States = Vec<(VarId, Slot)>;

impl Slots {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Adds a variable; this is not a change that can be undone.
    pub(super) fn push(&mut self, slot: Slot) -> VarId {
        self.values.push(slot);
        self.met.push(0);
        VarId(self.values.len() - 1)
    }

    /// Forgets the variables from the `count`-th on; no change of theirs may be in the log.
    pub(super) fn truncate(&mut self, count: usize) {
        self.values.truncate(count);
        self.met.truncate(count);
    }

    pub(super) fn set(&mut self, var: VarId, slot: Slot) {
        let old = std::mem::replace(&mut self.values[var.0], slot);
        self.log.push((var, old));
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.log.len())
    }

    /// The variables changed since `mark`, with their states then.
    pub(super) fn before(&mut self, mark: Mark) -> States {
        self.walk += 1;
        let mut states = States::new();
        for (var, old) in &self.log[mark.0..] {
            if std::mem::replace(&mut self.met[var.0], self.walk) != self.walk {
                states.push((*var, old.clone()));
            }
        }
        states.sort_by_key(|(var, _)| *var);
        states
    }

    /// Takes back all changes since `mark`; gives the changed variables with the states they had until now.
    pub(super) fn undo(&mut self, mark: Mark) -> States {
        self.walk += 1;
        let mut states = States::new();
        while self.log.len() > mark.0 {
            let (var, old) = self.log.pop().expect("longer than the mark");
            let now = std::mem::replace(&mut self.values[var.0], old);
            if std::mem::replace(&mut self.met[var.0], self.walk) != self.walk {
                states.push((var, now));
            }
        }
        states.sort_by_key(|(var, _)| *var);
        states
    }
}

impl std::ops::Index<usize> for Slots {
    type Output = Slot;

    fn index(&self, index: usize) -> &Slot {
        &self.values[index]
    }
}
