//! What can go wrong in the runtime, as values.

use std::fmt;

use inkle_ir::Type;

use crate::elf::LoadError;

/// The closed set of failure classes; a binding maps each to one exception type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ErrorClass {
    /// A value passed by the caller is wrong.
    InvalidArgument,
    /// An index or a range lies outside the array.
    OutOfRange,
    /// Memory could not be had.
    OutOfMemory,
    /// The machine lacks what was asked for (driver, device, feature).
    Unavailable,
    /// What was asked for cannot be part of a graph that is being captured.
    NotInGraph,
    /// The driver reported a failure.
    Driver,
    /// The kernel itself reported a failure while it ran.
    Kernel,
    /// Compiled code is damaged or does not fit this machine.
    BadCode,
}

/// A failed call of the CUDA driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CudaError {
    /// The driver function.
    pub call: &'static str,
    /// Its status code.
    pub code: i32,
    /// The code's name, such as `CUDA_ERROR_OUT_OF_MEMORY`.
    pub name: String,
    /// The driver's own sentence about it.
    pub text: String,
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed with {} (code {}): {}", self.call, self.name, self.code, self.text)
    }
}

impl std::error::Error for CudaError {}

/// Every failure of the runtime.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the fields are the values that the variant's sentence and its message name")]
pub enum RuntimeError {
    /// No usable CUDA driver on this machine.
    NoCudaDriver { reason: String },
    /// The driver is too old to have a function that is needed.
    MissingDriverFunction { function: &'static str },
    /// The driver refused a call.
    Cuda(CudaError),
    /// No device of that name.
    UnknownDevice { name: String, available: Vec<String> },
    /// The device cannot do what was asked.
    Unsupported { device: String, needs: &'static str },
    /// An operation for one kind of device was asked of another.
    WrongDevice { what: &'static str, expected: String, found: String },
    /// Memory could not be allocated.
    OutOfMemory { device: String, requested_bytes: usize, free_bytes: Option<usize> },
    /// More dimensions than an array can have.
    TooManyDims { ndim: usize },
    /// An extent is negative or above `i32::MAX`.
    BadExtent { dim: usize, extent: i64 },
    /// A type that cannot be an array's element.
    BadElementType { dtype: Type },
    /// The array would need more bytes than can be addressed.
    TooLarge { shape: Vec<i32>, elem_bytes: usize },
    /// The number of strides is not the number of extents.
    StrideCount { ndim: usize, strides: usize },
    /// New memory is to have a negative stride.
    NegativeStride { dim: usize, stride: i64 },
    /// The elements reach outside the memory.
    OutsideAllocation { first_byte: i128, end_byte: i128, allocation_bytes: usize },
    /// An address or a stride does not fit the element's alignment.
    Misaligned { what: &'static str, value: i64, align: u32 },
    /// An index is outside its dimension.
    IndexOutOfRange { dim: usize, index: i64, extent: i32 },
    /// A subscript has more entries than the array has dimensions.
    TooManyIndices { indices: usize, ndim: usize },
    /// A dimension that the array does not have.
    NoSuchDim { dim: i64, ndim: usize },
    /// A slice with step zero.
    ZeroStep { dim: usize },
    /// A slice made by negative steps cannot be represented.
    BadStep { dim: usize, step: i64 },
    /// The shapes have different element counts.
    ReshapeCount { from: Vec<i32>, to: Vec<i64> },
    /// More than one extent of a reshape is -1.
    ReshapeUnknowns { to: Vec<i64> },
    /// The operation needs contiguous elements.
    NotContiguous { operation: &'static str, shape: Vec<i32>, strides: Vec<i64> },
    /// The axes are not a permutation.
    BadAxes { axes: Vec<i64>, ndim: usize },
    /// The shapes do not fit together.
    ShapeMismatch { operation: &'static str, left: Vec<i32>, right: Vec<i32> },
    /// The layouts do not fit together.
    StrideMismatch { operation: &'static str, left: Vec<i64>, right: Vec<i64> },
    /// The element types do not fit together.
    TypeMismatch { operation: &'static str, left: Type, right: Type },
    /// Elements cannot be copied one by one: the shapes or the sizes of the elements differ.
    CopyMismatch { destination: (Vec<i32>, Type), source: (Vec<i32>, Type) },
    /// A run of elements reaches past the end of an array.
    RangeOutOfBounds { array: &'static str, offset: usize, count: usize, len: usize },
    /// The arrays given to an algorithm do not fit it.
    BadInput { operation: &'static str, problem: String },
    /// Something that is possible only during a capture.
    NotCapturing,
    /// The result of an operation is needed at once, but a graph is being captured.
    NotInGraph { operation: &'static str, instead: &'static str },
    /// Whoever observes the thread's operations does not let one run.
    Refused { why: String },
    /// The memory is lent to the host: to be written, or to be read while something wants to write.
    Lent { writing: bool },
    /// An axis that the array does not have.
    AxisOutOfRange { operation: &'static str, axis: i64, ndim: usize },
    /// A byte string has the wrong length.
    ByteCount { what: &'static str, expected: usize, found: usize },
    /// The code has no function of that name.
    NoSuchFunction { name: String },
    /// A form of a kernel's code that is made at first need could not be made.
    NotMade { reason: String },
    /// An object file could not be loaded.
    Load(LoadError),
    /// The driver could not load a GPU module; `log` is its own explanation.
    ModuleLoad { error: CudaError, log: String },
    /// The parameter block has the wrong size.
    ParamBytes { expected: usize, found: usize },
    /// The block size is zero or above what the kernel or device can do.
    BlockDim { block_dim: u32, max: u32 },
    /// A kernel built with checks found something wrong; `message` is what and where.
    CheckFailed { message: String },
    /// The elapsed time of an event without timing was asked for.
    NoTiming,
    /// Worker threads could not be started.
    Threads { count: usize, reason: String },
}

impl RuntimeError {
    /// The class of the failure.
    pub fn class(&self) -> ErrorClass {
        use RuntimeError::*;
        match self {
            NoCudaDriver { .. } | MissingDriverFunction { .. } | Unsupported { .. } | Threads { .. } => {
                ErrorClass::Unavailable
            }
            OutOfMemory { .. } => ErrorClass::OutOfMemory,
            NotInGraph { .. } | Refused { .. } => ErrorClass::NotInGraph,
            Cuda(_) => ErrorClass::Driver,
            CheckFailed { .. } => ErrorClass::Kernel,
            Load(_) | ModuleLoad { .. } | NoSuchFunction { .. } | NotMade { .. } => ErrorClass::BadCode,
            IndexOutOfRange { .. }
            | OutsideAllocation { .. }
            | RangeOutOfBounds { .. }
            | NoSuchDim { .. }
            | AxisOutOfRange { .. }
            | TooManyIndices { .. } => ErrorClass::OutOfRange,
            UnknownDevice { .. }
            | WrongDevice { .. }
            | TooManyDims { .. }
            | BadExtent { .. }
            | TooLarge { .. }
            | BadElementType { .. }
            | StrideCount { .. }
            | NegativeStride { .. }
            | Misaligned { .. }
            | ZeroStep { .. }
            | BadStep { .. }
            | ReshapeCount { .. }
            | ReshapeUnknowns { .. }
            | NotContiguous { .. }
            | BadAxes { .. }
            | ShapeMismatch { .. }
            | StrideMismatch { .. }
            | TypeMismatch { .. }
            | CopyMismatch { .. }
            | BadInput { .. }
            | ByteCount { .. }
            | ParamBytes { .. }
            | BlockDim { .. }
            | NotCapturing
            | Lent { .. }
            | NoTiming => ErrorClass::InvalidArgument,
        }
    }
}

/// A shape as Python writes it: `(2, 3)`, `(4,)`.
pub(crate) struct Tuple<'a, T>(pub(crate) &'a [T]);

impl<T: fmt::Display> fmt::Display for Tuple<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, value) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            value.fmt(f)?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use RuntimeError::*;
        match self {
            NoCudaDriver { reason } => write!(f, "CUDA is not available: {reason}"),
            MissingDriverFunction { function } => {
                write!(f, "the CUDA driver has no {function}: a newer driver is needed")
            }
            Cuda(error) => error.fmt(f),
            UnknownDevice { name, available } => {
                write!(f, "no device is named '{name}'; available: {}", available.join(", "))
            }
            Unsupported { device, needs } => write!(f, "device '{device}' does not support {needs}"),
            WrongDevice { what, expected, found } => {
                write!(f, "{what} must be on device '{expected}' but is on '{found}'")
            }
            OutOfMemory { device, requested_bytes, free_bytes } => {
                write!(f, "out of memory on '{device}': {requested_bytes} bytes asked for")?;
                match free_bytes {
                    Some(free) => write!(f, ", {free} bytes free"),
                    None => Ok(()),
                }
            }
            TooManyDims { ndim } => {
                write!(f, "an array has at most {} dimensions, not {ndim}", inkle_ir::MAX_DIMS)
            }
            BadExtent { dim, extent } => {
                let rule = if *extent < 0 {
                    "be non-negative"
                } else {
                    "not exceed the maximum representable value of a signed 32-bit integer"
                };
                write!(f, "Array shapes must {rule}: dimension {dim} has extent {extent}")
            }
            BadElementType { dtype } => write!(f, "{} cannot be an element type", dtype.python_name()),
            TooLarge { shape, elem_bytes } => {
                write!(f, "an array of shape {} with {elem_bytes}-byte elements is too large", Tuple(shape))
            }
            StrideCount { ndim, strides } => {
                write!(f, "{ndim} dimensions need {ndim} strides, not {strides}")
            }
            NegativeStride { dim, stride } => write!(
                f,
                "new memory cannot have negative strides, that of dimension {dim} is {stride}: make the array with positive ones, and a view of it"
            ),
            OutsideAllocation { first_byte, end_byte, allocation_bytes } => write!(
                f,
                "elements take bytes {first_byte} to {end_byte} of memory that has {allocation_bytes} bytes"
            ),
            Misaligned { what, value, align } => {
                write!(f, "{what} {value} is not a multiple of the element's alignment of {align} bytes")
            }
            IndexOutOfRange { dim, index, extent } => {
                write!(f, "index {index} is out of range for dimension {dim} of extent {extent}")
            }
            TooManyIndices { indices, ndim } => {
                write!(f, "{indices} indices for an array of {ndim} dimensions")
            }
            NoSuchDim { dim, ndim } => write!(f, "there is no dimension {dim}: the array has {ndim}"),
            ZeroStep { dim } => write!(f, "slice step cannot be zero (dimension {dim})"),
            BadStep { dim, step } => write!(f, "the slice step {step} of dimension {dim} is too large"),
            ReshapeCount { from, to } => {
                // An extent of -1 stands for what is left.
                let count = |n: i64| if n < 0 { "any".to_owned() } else { n.to_string() };
                let sizes = [
                    count(from.iter().map(|&n| i64::from(n)).product()),
                    count(to.iter().fold(1, |n: i64, &e| n.saturating_mul(e))),
                ];
                write!(
                    f,
                    "cannot reshape array of shape {} (size {}) into shape {} (size {})",
                    Tuple(from),
                    sizes[0],
                    Tuple(to),
                    sizes[1]
                )
            }
            ReshapeUnknowns { to } => {
                write!(f, "cannot reshape to {}: only one extent may be -1, none below", Tuple(to))
            }
            NotContiguous { operation, shape, strides } => write!(
                f,
                "{operation} needs a contiguous array; this one has shape {} and byte strides {}",
                Tuple(shape),
                Tuple(strides)
            ),
            BadAxes { axes, ndim } => {
                write!(f, "axes {} are not a permutation of {ndim} dimensions", Tuple(axes))
            }
            ShapeMismatch { operation, left, right } => {
                write!(f, "{operation} needs equal shapes: got {} and {}", Tuple(left), Tuple(right))
            }
            StrideMismatch { operation, left, right } => {
                write!(f, "{operation} needs equal byte strides, not {} and {}", Tuple(left), Tuple(right))
            }
            TypeMismatch { operation, left, right } => write!(
                f,
                "{operation} cannot combine element types {} ({} bytes) and {} ({} bytes)",
                left.python_name(),
                left.size(),
                right.python_name(),
                right.size()
            ),
            CopyMismatch { destination: (to, left), source: (from, right) }
                if left.size() == right.size() =>
            {
                write!(
                    f,
                    "arrays of different shapes cannot be copied: destination shape={}, source shape={}",
                    Tuple(to),
                    Tuple(from)
                )
            }
            CopyMismatch { destination: (_, left), source: (_, right) } => write!(
                f,
                "elements of different sizes cannot be copied: destination dtype={}, source dtype={}",
                left.python_name(),
                right.python_name()
            ),
            RangeOutOfBounds { array, offset, count, len } => write!(
                f,
                "a run of {count} elements from offset {offset} exceeds the {array} size of {len} elements"
            ),
            BadInput { operation, problem } => write!(f, "{operation}: {problem}"),
            NotInGraph { operation, instead } => write!(
                f,
                "{operation}() needs {instead} while a graph is captured: its result is not known before the graph runs"
            ),
            Refused { why } => f.write_str(why),
            Lent { writing } => {
                let what = if *writing { "written" } else { "read" };
                write!(
                    f,
                    "the array cannot be {what} while the host holds its memory; drop what `host` or `host_mut` gave first"
                )
            }
            AxisOutOfRange { operation, axis, ndim } => {
                write!(f, "{operation}() axis {axis} is out of bounds for an array of {ndim} dimensions")
            }
            ByteCount { what, expected, found } => write!(f, "{what} takes {expected} bytes, not {found}"),
            NoSuchFunction { name } => write!(f, "the code has no function '{name}'"),
            NotMade { reason } => write!(f, "the kernel cannot be compiled to run beside others: {reason}"),
            Load(error) => write!(f, "cannot load compiled code: {error}"),
            ModuleLoad { error, log } if log.is_empty() => write!(f, "cannot load GPU code: {error}"),
            ModuleLoad { error, log } => write!(f, "cannot load GPU code: {error}\n{log}"),
            ParamBytes { expected, found } => {
                write!(f, "the kernel's parameter block has {expected} bytes, not {found}")
            }
            BlockDim { block_dim, max } => write!(f, "block size {block_dim} is outside 1..={max}"),
            CheckFailed { message } => f.write_str(message),
            NotCapturing => f.write_str("the stream is not being captured"),
            NoTiming => f.write_str("elapsed time needs events created with timing"),
            Threads { count, reason } => write!(f, "cannot start {count} worker threads: {reason}"),
        }
    }
}

impl std::error::Error for RuntimeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RuntimeError::Load(error) => Some(error),
            RuntimeError::Cuda(error) | RuntimeError::ModuleLoad { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<LoadError> for RuntimeError {
    fn from(error: LoadError) -> Self {
        RuntimeError::Load(error)
    }
}

impl From<CudaError> for RuntimeError {
    fn from(error: CudaError) -> Self {
        RuntimeError::Cuda(error)
    }
}
