//! The checker: turns a kernel's tree and what it reaches into verified kernel IR.
//!
//! One function is checked at a time, statement by statement, straight into SSA: the current value of each
//! variable is kept in a slot, each side of a branch is checked from the state before it, and the sides are merged by yielding what
//! differs.
//! `return`, `break` and `continue` set hidden flag variables; what follows a statement that may leave early is put
//! into the other branch or guarded by the flags. Functions are instantiated per argument types.
//!
//! Mistakes are collected: a statement that fails poisons the variables it sets and checking goes on.

mod arrays;
mod assign;
mod call;
mod construct;
mod derivative;
mod expr;
mod fabric;
mod flow;
mod function;
mod library;
mod loops;
mod native;
mod operators;
mod output;
mod place;
mod scan;
mod special;
mod stmt;
mod types;
mod unset;
mod user;
mod val;

use std::collections::HashMap;

use inkle_diag::{Diagnostic, Diagnostics, Span};
use inkle_ir::{FunctionId, FunctionKind, Module, Type};

use crate::codes;
use crate::env::{Environment, FunctionKey};
use crate::tree::ParamDef;
pub use construct::converted;
use function::{FunctionCx, Instance, Origin};
use val::{Nest, R, Reported};

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
/// Every mistake found in the kernel and the functions it reaches. What is doubtful in a right kernel goes to
/// [`Environment::warn`].
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
        nests: HashMap::new(),
        warnings: Diagnostics::default(),
        by_reference: HashMap::new(),
        functions_by_reference: HashMap::new(),
        derivatives: Vec::new(),
    };
    if let Some(annotation) = &source.def.returns
        && source.returns.as_ref().is_none_or(|results| !results.is_empty())
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
        checker.report(
            Diagnostic::new(
                codes::ARGUMENTS,
                source.def.name_span,
                format!(
                    "kernel `{}` has {} parameters but {} argument types were given",
                    source.name,
                    source.def.params.len(),
                    args.len()
                ),
            )
            .help("give one argument for each parameter"),
        );
    }
    for (spec, param) in source.params.iter().zip(&source.def.params) {
        if spec.pattern.is_none() {
            checker.report(unannotated(&source.name, param));
        }
        if spec.by_reference {
            checker.report(
                Diagnostic::new(
                    codes::ANNOTATION,
                    param.span,
                    format!(
                        "parameter `{}` of kernel `{}` is a reference, but launches pass values",
                        param.name, source.name
                    ),
                )
                .help("take an array and change its elements; `wp.ref` is for parameters of functions"),
            );
        }
    }
    if checker.diagnostics.is_empty() {
        let instance = Instance {
            origin: Origin::User(key),
            def: source.def.clone(),
            name: source.name.clone(),
            kind: FunctionKind::Kernel,
            native: None,
            args: args.iter().map(|ty| function::Arg::Value(*ty)).collect(),
            bindings: Default::default(),
            returns: None,
        };
        if FunctionCx::check(&mut checker, instance).is_err() && checker.diagnostics.is_empty() {
            let message = format!("kernel `{}` cannot be compiled, and inkle does not know why", source.name);
            checker.report(
                Diagnostic::new(codes::INTERNAL, source.def.name_span, message)
                    .help("this is a mistake in inkle; please report it with the kernel"),
            );
        }
    }
    if checker.diagnostics.is_empty() {
        checker.warnings.0.into_iter().for_each(|warning| env.warn(warning));
        return Ok(checker.module);
    }
    let mut diagnostics = checker.diagnostics;
    // In the order of the source; what is in other files comes after it, in the order it was found.
    let home = source.def.span.file;
    diagnostics.0.sort_by_key(|d| if d.span.file == home { (0, d.span.start) } else { (1, 0) });
    Err(diagnostics)
}

fn unannotated(function: &str, param: &ParamDef) -> Diagnostic {
    let name = &param.name;
    Diagnostic::new(
        codes::ANNOTATION,
        param.span,
        format!("parameter `{name}` of `{function}` has no type annotation"),
    )
    .help(format!(
        "write its type: `{name}: float`, `{name}: wp.array(dtype=float)`, or `{name}: Any` in a function"
    ))
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
    /// How the results of functions are grouped that give tuples in tuples.
    nests: HashMap<FunctionId, Nest>,
    /// What is doubtful but accepted.
    warnings: Diagnostics,
    /// Whether a library function of the name changes arguments.
    by_reference: HashMap<String, bool>,
    /// Whether a user's function, or one of its overloads, changes arguments.
    functions_by_reference: HashMap<FunctionKey, bool>,
    /// The functions made for `grad(f)` so far.
    derivatives: Vec<(DerivativeKey, FunctionId)>,
}

/// What `grad(f)` is called with: the callee and its arguments.
#[derive(PartialEq)]
struct DerivativeKey {
    args: Vec<function::Arg>,
}

impl Checker<'_> {
    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// Whether a built-in of the name takes arguments by reference.
    fn library_changes_arguments(&mut self, name: &str) -> bool {
        if let Some(known) = self.by_reference.get(name) {
            return *known;
        }
        let env = self.env;
        let changes = env.library(name).iter().any(|f| library::LibrarySignature::of(f).changes_arguments());
        self.by_reference.insert(name.to_owned(), changes);
        changes
    }

    /// Whether a user's function takes arguments by reference.
    fn function_changes_arguments(&mut self, key: FunctionKey) -> bool {
        if let Some(known) = self.functions_by_reference.get(&key) {
            return *known;
        }
        let changes = self
            .env
            .function(key)
            .is_ok_and(|sources| sources.iter().any(|s| s.params.iter().any(|p| p.by_reference)));
        self.functions_by_reference.insert(key, changes);
        changes
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
        let (origin, args, name) = (instance.origin, instance.args.clone(), instance.name.clone());
        let mut result = FunctionCx::check(self, instance);
        self.instances.insert(key.clone(), result.clone().map_err(|_| ()));
        if let Ok((id, _)) = &result {
            let linked = match origin {
                Origin::User(function) => self.link(function, &args, *id, call),
                Origin::Library(_) => self.link_library(&name, &args, *id),
            };
            if let Err(reported) = linked {
                self.instances.insert(key, Err(()));
                result = Err(reported);
            }
        }
        self.stack.pop();
        result
    }
}
