//! Why code could not be made.

use std::fmt;
use std::path::PathBuf;

use inkle_diag::{SourceFile, Span};

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
    /// A kernel calls functions written in C++, and no clang of LLVM's version was found.
    MissingClang {
        /// The first such function.
        span: Span,
        /// The major version of LLVM, and so of the clang that is needed.
        major: u32,
        /// The names that were tried.
        searched: Vec<PathBuf>,
    },
    /// The text of a native function is wrong.
    Native {
        /// The function.
        span: Span,
        /// What clang says.
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

#[cfg(feature = "llvm")]
impl CodegenError {
    /// An internal contradiction found while lowering.
    pub(crate) fn broken(message: impl Into<String>) -> CodegenError {
        CodegenError::Broken { stage: "lowering", message: message.into() }
    }
}

/// `file.py:12: `, or nothing for code that no file holds.
struct Place(Span);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SourceFile::get(self.0.file) {
            Some(file) => write!(f, "{}:{}: ", file.name(), file.line_column(self.0.start).0),
            None => Ok(()),
        }
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
            CodegenError::MissingClang { span, major, searched } => {
                write!(
                    f,
                    "{}this function is written in C++, which needs clang {major}: install the package \
                     clang-{major} (`apt install clang-{major}`), or name the program in INKLE_CLANG",
                    Place(*span)
                )?;
                for (i, path) in searched.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { " (tried: " } else { ", " }, path.display())?;
                }
                if searched.is_empty() { Ok(()) } else { f.write_str(")") }
            }
            CodegenError::Native { span, log } => {
                write!(f, "{}the C++ text of this function is wrong: {}", Place(*span), log.trim_end())
            }
            CodegenError::Broken { stage, message } => {
                write!(f, "inkle made invalid code while {stage} (a bug in inkle): {message}")
            }
        }
    }
}

impl std::error::Error for CodegenError {}
