//! Variables that are read on a path where they may never have been set.
//!
//! Whether a path is ever taken is often known to the program only: `if wet or dry:` sets a variable and `if wet:` reads
//! it. So a read that something guards is a warning, and so is one after several conditions that each set the variable:
//! they may be all the cases there are. Only other reads are mistakes. A function with such variables is checked once
//! more, with zeros in them from its start and, for each, a hidden flag that says whether it was set; in debug mode a
//! read asserts its flag.

use std::collections::BTreeMap;

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{OpKind, Type};

use super::codes;
use super::function::{FunctionCx, Origin};
use super::val::{Gap, R, Reported, Slot, Val, VarId};
use crate::env::ConstValue;

/// The variables that may be read unset, with the types of their values.
pub(super) type Doubts = BTreeMap<String, Type>;

impl FunctionCx<'_, '_> {
    /// The state of a variable that is set on some of the paths that meet here; `val` is a value it may have.
    pub(super) fn gap(&self, at: Span, val: Option<&Val>) -> Slot {
        let ty = val.and_then(|val| self.type_of(val));
        Slot::MaybeUnset(Gap { at, block: self.block, ty, cases: false })
    }

    /// Puts zeros into variables that may be read unset, and flags beside them.
    pub(super) fn watch(&mut self, doubts: &Doubts) {
        for (name, ty) in doubts {
            let var = self.variable(name);
            let zero = self.builder().zero(*ty);
            self.slots.set(var, Slot::Set(Val::Ir(zero)));
            let flag = self.hidden(Val::bool(false));
            self.watched.insert(var, flag);
        }
    }

    /// Notes that a variable has a value of its own now.
    pub(super) fn note_set(&mut self, var: VarId) {
        if let Some(flag) = self.watched.get(&var) {
            self.slots.set(*flag, Slot::Set(Val::bool(true)));
        }
    }

    /// Asserts that a variable was set, where that is in doubt.
    pub(super) fn confirm_set(&mut self, var: VarId, name: &str, span: Span) -> R<()> {
        let Some(flag) = self.watched.get(&var).copied() else { return Ok(()) };
        match self.slots[flag.0].clone() {
            Slot::Set(Val::Const(ConstValue::Bool(true))) => Ok(()),
            Slot::Set(Val::Ir(is_set)) => {
                let here = std::mem::replace(&mut self.span, span);
                let text = format!("variable `{name}` is read before it is set");
                self.builder().effect(OpKind::Assert(text), [is_set]);
                self.span = here;
                Ok(())
            }
            _ => Err(self.never_set(name, span)),
        }
    }

    /// Reports a read that no assignment comes before.
    pub(super) fn never_set(&mut self, name: &str, span: Span) -> Reported {
        self.report(
            Diagnostic::new(codes::MAYBE_UNSET, span, format!("variable `{name}` is read before it is set"))
                .help(if self.loops.is_empty() {
                    format!(
                        "set `{name}` first; an assignment anywhere in a function makes a name local to it"
                    )
                } else {
                    format!("set `{name}` before the loop: its first turn finds nothing in it")
                }),
        )
    }

    /// The value of a variable that may be unset: a mistake when nothing guards the read, else a warning.
    pub(super) fn read_doubtful(&mut self, var: VarId, name: &str, gap: &Gap, span: Span) -> R<Val> {
        let diagnostic = Diagnostic::new(
            codes::MAYBE_UNSET,
            span,
            format!("variable `{name}` may be read before it is set"),
        )
        .also(gap.at, "it may stay unset here");
        let is_guarded = (self.block != gap.block || gap.cases) && matches!(self.origin, Origin::User(_));
        match gap.ty {
            Some(ty) if is_guarded && !matches!(ty, Type::Ref(_)) => {
                if self.doubts.insert(name.to_owned(), ty).is_none() {
                    self.checker.warnings.push(diagnostic.warning().help(format!(
                        "it is zero then; give `{name}` a value before that, or set it on every path"
                    )));
                }
                // The function is checked again; until its end this check goes on as if the variable were set.
                let zero = Val::Ir(self.builder().zero(ty));
                self.slots.set(var, Slot::Set(zero.clone()));
                Ok(zero)
            }
            _ => Err(self.report(
                diagnostic.help(format!("give `{name}` a value before that, or set it on every path")),
            )),
        }
    }
}
