//! `@inkle.func_native`: functions that are written in C++.

use inkle_frontend::env::NativeText;
use pyo3::prelude::*;

use crate::function::Function;
use crate::module::Module;

/// What `func_native` gives: called with the Python function that has the signature.
#[pyclass(frozen, module = "inkle._native")]
struct NativeDecorator {
    code: NativeText,
}

#[pymethods]
impl NativeDecorator {
    fn __call__<'py>(&self, f: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Function>> {
        Function::declare(f, None, &Module::of(f)?, Some(self.code.clone()))
    }
}

/// Makes a Python function stand for C++ (or CUDA) code that kernels call.
///
/// The decorated function has the signature and no body; its parameters are variables of the snippet, which gives
/// a result by `return`. On a GPU the snippet is CUDA C++, and `__CUDA_ARCH__` is defined. It needs clang of LLVM 22.
///
/// Args:
///     snippet: The statements.
///     adj_snippet: The statements of the backward pass; `adj_x` is the gradient of `x`, `adj_ret` that of the result.
///     replay_snippet: What the backward pass runs in place of `snippet` when it computes values again.
#[pyfunction]
#[pyo3(signature = (snippet, adj_snippet = None, replay_snippet = None))]
pub fn func_native(
    snippet: String,
    adj_snippet: Option<String>,
    replay_snippet: Option<String>,
) -> impl for<'py> IntoPyObject<'py> {
    NativeDecorator { code: NativeText { forward: snippet, adjoint: adj_snippet, replay: replay_snippet } }
}
