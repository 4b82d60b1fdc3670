//! Why code could not be made.

use std::fmt;
use std::path::PathBuf;

use inkle_diag::Span;

/// Why [`compile`](crate::compile) gave no code. The kernel itself was already accepted by the front end.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CodegenError {
    /// The module's last function is not a kernel.
    NoKernel,
    /// LLVM does not know the target, or not this CPU or feature.
    Target {
        /// The target's key.
        target: String,
        /// What LLVM says.
        message: String,
    },
    /// The kernel is valid but this target cannot run it.
    Unsupported {
        /// The operation.
        span: Span,
        /// What the target lacks.
        what: String,
    },
    /// A library of NVIDIA's that this kernel needs is not installed.
    MissingLibrary {
        /// `libdevice` or `nvJitLink`.
        library: &'static str,
        /// Where it was looked for.
        searched: Vec<PathBuf>,
    },
    /// A library of NVIDIA's is there but refused: its log.
    Library {
        /// `libdevice` or `nvJitLink`.
        library: &'static str,
        /// What it says.
        log: String,
    },
    /// inkle made code that LLVM rejects, or met IR that the verifier should have rejected. A bug in inkle.
    Broken {
        /// What was being done.
        stage: &'static str,
        /// What is wrong.
        message: String,
    },
}

impl CodegenError {
    /// An internal contradiction found while lowering.
    pub(crate) fn broken(message: impl Into<String>) -> CodegenError {
        CodegenError::Broken { stage: "lowering", message: message.into() }
    }
}

impl fmt::Display for CodegenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodegenError::NoKernel => f.write_str("the module has no kernel"),
            CodegenError::Target { target, message } => {
                write!(f, "cannot generate code for {target}: {message}")
            }
            CodegenError::Unsupported { what, .. } => write!(f, "the target does not support {what}"),
            CodegenError::MissingLibrary { library, searched } => {
                write!(
                    f,
                    "{library} was not found; install it with `pip install inkle[cuda]` or a CUDA toolkit"
                )?;
                for (i, path) in searched.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { " (looked in: " } else { ", " }, path.display())?;
                }
                if searched.is_empty() { Ok(()) } else { f.write_str(")") }
            }
            CodegenError::Library { library, log } => write!(f, "{library} failed: {log}"),
            CodegenError::Broken { stage, message } => {
                write!(f, "inkle made invalid code while {stage} (a bug in inkle): {message}")
            }
        }
    }
}

impl std::error::Error for CodegenError {}
