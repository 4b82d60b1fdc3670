//! The checker's view of Rust: definitions that macros made.

use std::sync::{Arc, Mutex, PoisonError};

use inkle_diag::{Diagnostic, Diagnostics};
use inkle_frontend::env::{
    Binding, ConstValue, Environment, FunctionKey, FunctionOutline, FunctionSource, LibraryFunction,
    ObjectKey, Rules,
};
use inkle_frontend::tree::Expr;

use super::definition::{Definition, Role};

/// Answers from the definitions of this program, for one check.
#[derive(Default)]
pub struct RustEnvironment {
    warnings: Mutex<Vec<Diagnostic>>,
}

impl RustEnvironment {
    /// What the check found doubtful.
    pub fn take_warnings(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Environment for RustEnvironment {
    fn function(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        Ok(Definition::of(key).map(|d| d.source().clone()).into_iter().collect())
    }

    fn outlines(&self, key: FunctionKey) -> Option<Vec<FunctionOutline>> {
        Some(vec![Definition::of(key)?.outline()])
    }

    fn outline(&self, source: &FunctionSource) -> Option<FunctionOutline> {
        Some(Definition::of(source.key)?.outline())
    }

    fn gradients(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        Ok(given(key, Role::Gradient))
    }

    fn replays(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        Ok(given(key, Role::Replay))
    }

    fn resolve(&self, function: FunctionKey, name: &str) -> Option<Binding> {
        Definition::of(function)?.resolve(name)
    }

    fn attribute(&self, _: ObjectKey, _: &str) -> Option<Binding> {
        None
    }

    fn describe(&self, _: ObjectKey) -> String {
        "an item".into()
    }

    fn static_value(&self, _: FunctionKey, _: &Expr, _: &[(String, ConstValue)]) -> Result<Binding, String> {
        Err("Rust has no `static` in kernels; use a `const`".into())
    }

    fn library(&self, name: &str) -> Vec<LibraryFunction> {
        inkle_module::library_function(name)
    }

    fn library_names(&self) -> Vec<String> {
        inkle_module::library_names()
    }

    fn rules(&self) -> Rules {
        Rules::Rust
    }

    fn warn(&self, warning: Diagnostic) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }
}

fn given(key: FunctionKey, role: Role) -> Vec<Arc<FunctionSource>> {
    let given = Definition::of(key).into_iter().flat_map(|definition| definition.given(role));
    given.map(|definition| definition.source().clone()).collect()
}
