//! Why a kernel has no gradient.

use std::fmt;

use inkle_diag::{Code, Diagnostic, Span};
use inkle_ir::Type;

/// A reason why a kernel cannot be differentiated.
#[derive(Clone, Debug)]
pub enum AdjointError {
    /// The module's last function is no kernel.
    NoKernel,
    /// The number of array gradients is not that of the kernel's arrays.
    #[expect(missing_docs, reason = "the message says it")]
    WrongCount { expected: usize, found: usize },
    /// The gradient needs a value that was read from an array whose element is overwritten later.
    #[expect(missing_docs, reason = "the message says it")]
    Overwritten { read: Span, write: Span },
    /// The gradient needs what an atomic operation gave; running it again would give something else.
    AtomicResult(Span),
    /// A carried value that cannot be kept for the reverse sweep.
    #[expect(missing_docs, reason = "the message says it")]
    Carried { at: Span, ty: Type },
    /// An address that was chosen at run time.
    ChosenAddress(Span),
    /// A function written in C++ without a gradient changes what has one.
    Native(Span),
    /// An array of the thread's own that the pass cannot turn into a value.
    LocalArray(Span),
}

impl AdjointError {
    /// The mistake as a person should see it.
    pub fn diagnostic(&self) -> Diagnostic {
        let new = |code, span, text: &str| Diagnostic::new(Code(code), span, text);
        match self {
            AdjointError::NoKernel | AdjointError::WrongCount { .. } => {
                new("G000", Span::NONE, &self.to_string())
            }
            AdjointError::Overwritten { read, write } => new("G001", *read, &self.to_string())
                .label("this value is needed to compute the gradient")
                .also(*write, "here the element is overwritten")
                .help("write the result to another array, or to another element"),
            AdjointError::AtomicResult(span) => new("G002", *span, &self.to_string())
                .label("its old value is needed to compute the gradient")
                .help("store the old value in an array, and read it there in a function given by `@func_replay`"),
            AdjointError::Carried { at, .. } => new("G003", *at, &self.to_string())
                .help("choose the array by its index in one array, or outside the loop"),
            AdjointError::ChosenAddress(span) => new("G004", *span, &self.to_string())
                .help("choose between values, not between addresses"),
            AdjointError::Native(span) => new("G006", *span, &self.to_string())
                .help("give it an `adj_snippet`"),
            AdjointError::LocalArray(span) => new("G005", *span, &self.to_string())
                .help("use a vector, or an array that is an argument of the kernel"),
        }
    }
}

impl fmt::Display for AdjointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdjointError::NoKernel => f.write_str("the module has no kernel"),
            AdjointError::WrongCount { expected, found } => {
                write!(f, "the kernel has {expected} arrays; gradients were given for {found}")
            }
            AdjointError::Overwritten { .. } => {
                f.write_str("the gradient needs the value of an array element that is overwritten later")
            }
            AdjointError::AtomicResult(_) => {
                f.write_str("the gradient needs the result of an atomic operation, which cannot be repeated")
            }
            AdjointError::Carried { ty, .. } => {
                write!(
                    f,
                    "the gradient needs every iteration's {}, which cannot be recorded",
                    ty.python_name()
                )
            }
            AdjointError::ChosenAddress(_) => {
                f.write_str("no gradient flows through an address that is chosen at run time")
            }
            AdjointError::Native(_) => {
                f.write_str("this function, written in C++, changes what has a gradient, and has none itself")
            }
            AdjointError::LocalArray(_) => {
                f.write_str("no gradient flows through this array of the thread's own")
            }
        }
    }
}

impl std::error::Error for AdjointError {}
