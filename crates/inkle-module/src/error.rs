//! Why a kernel could not be made ready.

use std::fmt;

use inkle_codegen::CodegenError;
use inkle_diag::Diagnostics;
use inkle_ir::VerifyErrors;
use inkle_runtime::RuntimeError;

/// Why a kernel could not be compiled or loaded.
#[derive(Clone, Debug)]
pub enum CompileError {
    /// The kernel is wrong; the user can fix it. Never empty.
    Rejected(Diagnostics),
    /// The kernel is fine; code for the target could not be made.
    Codegen(CodegenError),
    /// The code could not be loaded.
    Load(RuntimeError),
    /// A pass of ours broke the IR. Always a bug in inkle.
    Broken {
        /// The pass.
        after: &'static str,
        /// What is wrong.
        errors: VerifyErrors,
    },
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Rejected(diagnostics) => diagnostics.fmt(f),
            CompileError::Codegen(error) => error.fmt(f),
            CompileError::Load(error) => write!(f, "compiled code could not be loaded: {error}"),
            CompileError::Broken { after, errors } => {
                write!(f, "inkle made invalid IR in {after} (a bug in inkle):\n{errors}")
            }
        }
    }
}

impl std::error::Error for CompileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CompileError::Rejected(e) => Some(e),
            CompileError::Codegen(e) => Some(e),
            CompileError::Load(e) => Some(e),
            CompileError::Broken { errors, .. } => Some(errors),
        }
    }
}

impl From<Diagnostics> for CompileError {
    fn from(diagnostics: Diagnostics) -> CompileError {
        CompileError::Rejected(diagnostics)
    }
}

impl From<CodegenError> for CompileError {
    fn from(error: CodegenError) -> CompileError {
        CompileError::Codegen(error)
    }
}

impl From<RuntimeError> for CompileError {
    fn from(error: RuntimeError) -> CompileError {
        CompileError::Load(error)
    }
}
