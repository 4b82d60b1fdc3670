//! What can go wrong with functions, as values.

use std::fmt;

use inkle_runtime::RuntimeError;

use crate::bundle::Direction;
use crate::error::GraphError;

/// Every failure of a function.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the fields are the values that the variant's sentence and its message name")]
pub enum FunctionError {
    /// Something of the bundle, the graph or the machine.
    Graph(GraphError),
    /// A parameter whose elements are no tensors of numbers.
    UnsupportedDtype { param: String, dtype: String },
    /// Another number of tensors than there are parameters.
    Count { direction: Direction, expected: usize, found: usize },
    /// A tensor that does not fit its parameter.
    Mismatch { direction: Direction, index: usize, name: String, expected: String, found: String },
    /// A text that does not say what types tensors have.
    BadSignature { text: String, part: String },
    /// The outputs have other types than was said.
    OtherSignature { expected: String, found: String },
}

impl From<GraphError> for FunctionError {
    fn from(error: GraphError) -> Self {
        FunctionError::Graph(error)
    }
}

impl From<RuntimeError> for FunctionError {
    fn from(error: RuntimeError) -> Self {
        FunctionError::Graph(error.into())
    }
}

/// "input" or "output".
fn side(direction: Direction) -> &'static str {
    match direction {
        Direction::Input => "input",
        Direction::Output => "output",
    }
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FunctionError::Graph(error) => error.fmt(f),
            FunctionError::UnsupportedDtype { param, dtype } => write!(
                f,
                "Unsupported dtype: parameter `{param}` has elements of {dtype}; a tensor has numbers, vectors, matrices, \
                 quaternions or transforms: give each field of a struct a parameter of its own"
            ),
            FunctionError::Count { direction, expected, found } => {
                let side = side(*direction);
                let plural = if *expected == 1 { "" } else { "s" };
                write!(f, "the bundle has {expected} {side}{plural}, {found} given")
            }
            FunctionError::Mismatch { direction, index, name, expected, found } => {
                write!(f, "{} {index} `{name}`: expected {expected}, got {found}", side(*direction))
            }
            FunctionError::BadSignature { text, part } => {
                write!(f, "`{text}` does not describe tensors: `{part}` is not of the form `float32[2,3]`")
            }
            FunctionError::OtherSignature { expected, found } => {
                write!(f, "the bundle's outputs are `{expected}`, but the model says `{found}`")
            }
        }
    }
}

impl std::error::Error for FunctionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FunctionError::Graph(error) => Some(error),
            _ => None,
        }
    }
}
