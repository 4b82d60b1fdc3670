//! The checker: turns a kernel's tree and what it reaches into verified kernel IR.
//!
//! One function is checked at a time, statement by statement, straight into SSA: the current value of each
//! variable is kept in a slot, branches are checked on copies of the slots and merged by yielding what differs.
//! `return`, `break` and `continue` set hidden flag variables; what follows a statement that may leave early is put
//! into the other branch or guarded by the flags. Functions are instantiated per argument types.
//!
//! Mistakes are collected: a statement that fails poisons the variables it sets and checking goes on.

mod assign;
mod call;
mod expr;
mod flow;
mod function;
mod operators;
mod special;
mod stmt;
mod types;
mod val;

use std::collections::HashMap;

use inkle_diag::{Diagnostic, Diagnostics, Span};
use inkle_ir::{FunctionId, FunctionKind, Module, Type};

use crate::codes;
use crate::env::{Environment, FunctionKey};
use function::{FunctionCx, Instance, Origin};
use val::{R, Reported};

/// What steers the checker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CheckOptions {
    /// Loops over constant ranges of at most this many turns are unrolled.
    pub max_unroll: u32,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions { max_unroll: 16 }
    }
}

/// Turns the kernel `key`, launched with arguments of the types `args`, into a module.
///
/// # Errors
/// Every mistake found in the kernel and the functions it reaches.
pub fn check_kernel(
    env: &dyn Environment,
    key: FunctionKey,
    args: &[Type],
    options: CheckOptions,
) -> Result<Module, Diagnostics> {
    let sources = env.function(key)?;
    let source = &sources[0];
    let mut checker = Checker {
        env,
        options,
        module: Module::default(),
        instances: HashMap::new(),
        names: HashMap::new(),
        stack: Vec::new(),
        diagnostics: Diagnostics::default(),
    };
    if let Some(annotation) = &source.def.returns
        && !matches!(*annotation.kind, crate::tree::ExprKind::None)
    {
        checker.report(
            Diagnostic::new(
                codes::KERNEL_RETURNS,
                annotation.span,
                format!("kernel `{}` declares a return type, but kernels cannot return values", source.name),
            )
            .label("remove this annotation")
            .help("pass an array to write the result to"),
        );
    }
    if args.len() != source.def.params.len() {
        checker.report(Diagnostic::new(
            codes::ARGUMENTS,
            source.def.name_span,
            format!(
                "kernel `{}` has {} parameters but {} argument types were given",
                source.name,
                source.def.params.len(),
                args.len()
            ),
        ));
    }
    if checker.diagnostics.is_empty() {
        let instance = Instance {
            origin: Origin::User(key),
            def: source.def.clone(),
            name: source.name.clone(),
            kind: FunctionKind::Kernel,
            args: args.iter().map(|ty| function::Arg::Value(*ty)).collect(),
            bindings: Default::default(),
            returns: None,
        };
        // A mistake is in `diagnostics`; nothing more can be done with `Reported` here.
        let _ = FunctionCx::check(&mut checker, instance);
    }
    if checker.diagnostics.is_empty() { Ok(checker.module) } else { Err(checker.diagnostics) }
}

/// The state of one check.
struct Checker<'e> {
    env: &'e dyn Environment,
    options: CheckOptions,
    module: Module,
    /// Functions checked so far, by what they were instantiated from.
    instances: HashMap<String, Result<(FunctionId, Vec<Type>), ()>>,
    /// How often a function name was used, to keep IR names unique.
    names: HashMap<String, u32>,
    /// The functions being checked, outermost first, with the call that led to each.
    stack: Vec<(String, Span)>,
    diagnostics: Diagnostics,
}

impl Checker<'_> {
    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    fn unique_name(&mut self, stem: &str) -> String {
        let clean: String =
            stem.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        let count = self.names.entry(clean.clone()).or_default();
        *count += 1;
        if *count == 1 { clean } else { format!("{clean}.{count}") }
    }

    /// The IR function of an instance, checked on first need.
    fn instance(&mut self, instance: Instance, call: Span) -> R<(FunctionId, Vec<Type>)> {
        let key = instance.key();
        if let Some(known) = self.instances.get(&key) {
            return known.clone().map_err(|()| Reported);
        }
        if self.stack.iter().any(|(open, _)| *open == key) {
            return Err(self.report(
                Diagnostic::new(codes::RECURSION, call, format!("function `{}` calls itself", instance.name))
                    .help("kernels cannot recurse; write a loop"),
            ));
        }
        self.stack.push((key.clone(), call));
        let result = FunctionCx::check(self, instance);
        self.stack.pop();
        self.instances.insert(key, result.clone().map_err(|_| ()));
        result
    }
}
