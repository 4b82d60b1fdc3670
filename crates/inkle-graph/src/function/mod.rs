//! A bundle as a function of tensors: what operators of other frameworks compute.
//!
//! A graph works in memory of its own, and what one run leaves there the next one finds. An operator of PyTorch or of
//! ONNX Runtime is a function: the same inputs give the same outputs, calls of several threads do not see each other,
//! inputs stay as they are. A [`Function`] makes one of the other: the graph's own operations stand between those that
//! bring its memory to what the bundle holds, as far as the graph could notice, and copies to and from tensors, where the
//! graph cannot work in a tensor's memory itself ([`plan`]). That is one operation stream, and it is replayed like every
//! other ([`run`]).
//!
//! Tensors have numbers as elements: an array of shape (2, 4) of `vec3` is a tensor of shape (2, 4, 3).
//!
//! *Invariant:* a call of a function neither writes an input nor leaves an element of an output unwritten.

mod error;
mod plan;
mod run;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use inkle_ir::{Scalar, Type};
use inkle_runtime::{Array, Device, Stream};

use crate::bundle::{Bundle, Direction, Param};
use crate::error::GraphError;

pub use error::FunctionError;
use plan::Plan;
use run::OnDevice;

/// A tensor that goes into a function or comes out of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// The name of the parameter.
    pub name: String,
    /// The type of the parameter's elements.
    pub dtype: Type,
    /// The extents of the parameter.
    pub extents: Vec<i64>,
    /// The type of the tensor's elements.
    pub scalar: Scalar,
    /// The extents of the tensor: those of the parameter, then those of an element.
    pub shape: Vec<i64>,
}

impl Port {
    fn of(param: &Param) -> Result<Port, FunctionError> {
        let dtype = param.view.dtype;
        let inner: &[u32] = match dtype {
            Type::Scalar(_) => &[],
            Type::Vec { len, .. } => &[len],
            Type::Mat { rows, cols, .. } => &[rows, cols],
            Type::Quat(_) => &[4],
            Type::Transform(_) => &[7],
            Type::Struct(_) | Type::Array(_) | Type::Ref(_) => &[],
        };
        let Some(scalar) = dtype.scalar() else {
            return Err(FunctionError::UnsupportedDtype {
                param: param.name.clone(),
                dtype: dtype.python_name(),
            });
        };
        let extents: Vec<i64> = param.view.shape.iter().map(|&n| n.into()).collect();
        let shape = extents.iter().copied().chain(inner.iter().map(|&n| n.into())).collect();
        Ok(Port { name: param.name.clone(), dtype, extents, scalar, shape })
    }
}

impl fmt::Display for Port {
    /// The tensor's type: `float32[2,4,3]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&tensor_text(self.scalar, &self.shape))
    }
}

/// The type of a tensor as text: `float32[2,4,3]`.
pub fn tensor_text(scalar: Scalar, shape: &[i64]) -> String {
    let extents: Vec<String> = shape.iter().map(i64::to_string).collect();
    format!("{}[{}]", scalar.python_name(), extents.join(","))
}

/// The types of tensors as [`tensor_text`] writes them, with spaces between.
///
/// # Errors
/// [`FunctionError::BadSignature`].
pub fn parse_signature(text: &str) -> Result<Vec<(Scalar, Vec<i64>)>, FunctionError> {
    let bad = |part: &str| FunctionError::BadSignature { text: text.to_owned(), part: part.to_owned() };
    let one = |part: &str| {
        let (name, rest) = part.split_once('[')?;
        let scalar = Scalar::ALL.into_iter().find(|scalar| scalar.python_name() == name)?;
        let inside = rest.strip_suffix(']')?;
        let extent = |text: &str| {
            text.parse().ok().filter(|n: &i64| *n >= 0 && text.bytes().all(|b| b.is_ascii_digit()))
        };
        let shape = match inside {
            "" => Some(Vec::new()),
            _ => inside.split(',').map(extent).collect(),
        };
        Some((scalar, shape?))
    };
    text.split_ascii_whitespace().map(|part| one(part).ok_or_else(|| bad(part))).collect()
}

/// A bundle as a function of tensors, on any number of devices.
///
/// Every method may be called from any thread, and calls run at the same time.
pub struct Function {
    bundle: Bundle,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    signature: String,
    plan: Plan,
    devices: Mutex<Vec<Arc<OnDevice>>>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({} inputs, {})", self.inputs.len(), self.signature)
    }
}

impl Function {
    /// The function that the bytes of a bundle's file hold.
    ///
    /// # Errors
    /// [`FunctionError::Graph`] with what is wrong with the file; as [`new`](Function::new).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Function, FunctionError> {
        Function::new(Bundle::from_bytes(bytes).map_err(GraphError::from)?)
    }

    /// The function that a bundle is: of its input parameters to its output parameters, each in the bundle's order.
    ///
    /// # Errors
    /// [`FunctionError::UnsupportedDtype`] for parameters whose elements are not numbers of one type.
    pub fn new(bundle: Bundle) -> Result<Function, FunctionError> {
        Function::make(bundle, false)
    }

    /// As [`new`](Function::new), but what a call leaves in the graph's memory the next one finds there, as launches of a
    /// graph do, so that it is no function. Calls wait for each other.
    ///
    /// # Errors
    /// As for [`new`](Function::new).
    pub fn keeping_memory(bundle: Bundle) -> Result<Function, FunctionError> {
        Function::make(bundle, true)
    }

    fn make(bundle: Bundle, keeps: bool) -> Result<Function, FunctionError> {
        let ports = |direction| {
            let params = bundle.params.iter().filter(move |param| param.direction == direction);
            params.map(Port::of).collect::<Result<Vec<Port>, FunctionError>>()
        };
        let (inputs, outputs) = (ports(Direction::Input)?, ports(Direction::Output)?);
        let texts: Vec<String> = outputs.iter().map(Port::to_string).collect();
        let plan = Plan::new(&bundle, keeps);
        Ok(Function { bundle, inputs, outputs, signature: texts.join(" "), plan, devices: Mutex::default() })
    }

    /// The function with tensors of other shapes in place of the parameters' own, per input and per output.
    ///
    /// # Errors
    /// [`FunctionError::Count`], [`FunctionError::Mismatch`] for a shape with another number of elements.
    pub fn with_shapes(
        mut self,
        inputs: &[Vec<i64>],
        outputs: &[Vec<i64>],
    ) -> Result<Function, FunctionError> {
        reshape(Direction::Input, &mut self.inputs, inputs)?;
        reshape(Direction::Output, &mut self.outputs, outputs)?;
        let texts: Vec<String> = self.outputs.iter().map(Port::to_string).collect();
        self.signature = texts.join(" ");
        Ok(self)
    }

    /// The bundle.
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// What goes in.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// What comes out.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// The types of the outputs, as [`parse_signature`] reads them.
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// Fails unless the outputs are of these types.
    ///
    /// # Errors
    /// [`FunctionError::BadSignature`], [`FunctionError::OtherSignature`].
    pub fn check_signature(&self, text: &str) -> Result<(), FunctionError> {
        if text == self.signature {
            return Ok(());
        }
        let given = parse_signature(text)?;
        if given.iter().map(|(s, n)| (*s, n)).eq(self.outputs.iter().map(|port| (port.scalar, &port.shape))) {
            return Ok(());
        }
        Err(FunctionError::OtherSignature { expected: self.signature.clone(), found: text.to_owned() })
    }

    /// The sizes, bytes, of the bundle's memory that a run of the graph would change for the next one, in a way that the
    /// next one sees: it is read before anything writes to it, written later, and is no input. A function starts from
    /// what the bundle has there, at every call.
    pub fn hidden_state(&self) -> &[u64] {
        &self.plan.hidden_state
    }

    /// Loads the code for a device, if that has not been done.
    ///
    /// # Errors
    /// [`BundleError::NoCode`](crate::bundle::BundleError::NoCode), the runtime's.
    pub fn prepare(&self, device: Device) -> Result<(), FunctionError> {
        self.on(device).map(|_| ())
    }

    fn on(&self, device: Device) -> Result<Arc<OnDevice>, FunctionError> {
        let mut devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = devices.iter().find(|on| on.device() == device) {
            return Ok(found.clone());
        }
        let made = Arc::new(OnDevice::new(&self.bundle, &self.plan, device)?);
        devices.push(made.clone());
        Ok(made)
    }

    /// Computes the outputs. The arrays are contiguous, lie on `device`, have the types and extents of the parameters
    /// ([`Port::dtype`], [`Port::extents`]), and outputs share no memory with each other or with inputs. On the CPU the
    /// work is done when this returns. On a GPU it is queued on `stream`, or on the device's current stream, and nobody
    /// waits; a stream that is being captured gets it as part of its capture.
    ///
    /// No reference to the arrays' memory is used after the work is done.
    ///
    /// # Errors
    /// [`FunctionError::Count`], [`FunctionError::Mismatch`] for arrays that do not fit; as
    /// [`prepare`](Function::prepare); the first failure of an operation.
    pub fn call(
        &self,
        device: Device,
        inputs: &[Array],
        outputs: &[Array],
        stream: Option<&Stream>,
    ) -> Result<(), FunctionError> {
        check(Direction::Input, &self.inputs, inputs, device)?;
        check(Direction::Output, &self.outputs, outputs, device)?;
        Ok(self.on(device)?.call(&self.plan, inputs, outputs, stream)?)
    }
}

/// Gives ports other shapes of as many elements.
fn reshape(direction: Direction, ports: &mut [Port], shapes: &[Vec<i64>]) -> Result<(), FunctionError> {
    if ports.len() != shapes.len() {
        return Err(FunctionError::Count { direction, expected: ports.len(), found: shapes.len() });
    }
    for (index, (port, shape)) in ports.iter_mut().zip(shapes).enumerate() {
        let count =
            |shape: &[i64]| shape.iter().try_fold(1i64, |count, &n| count.checked_mul(n).filter(|_| n >= 0));
        if count(shape) != count(&port.shape) {
            let (name, expected) = (port.name.clone(), port.to_string());
            let found = tensor_text(port.scalar, shape);
            return Err(FunctionError::Mismatch { direction, index, name, expected, found });
        }
        port.shape.clone_from(shape);
    }
    Ok(())
}

/// Fails unless arrays fit their ports.
fn check(
    direction: Direction,
    ports: &[Port],
    arrays: &[Array],
    device: Device,
) -> Result<(), FunctionError> {
    if ports.len() != arrays.len() {
        return Err(FunctionError::Count { direction, expected: ports.len(), found: arrays.len() });
    }
    for (index, (port, array)) in ports.iter().zip(arrays).enumerate() {
        let mismatch = |expected: String, found: String| {
            let name = port.name.clone();
            Err(FunctionError::Mismatch { direction, index, name, expected, found })
        };
        if array.device() != device {
            return mismatch(format!("memory of {device}"), format!("memory of {}", array.device()));
        }
        let fits = array.dtype() == port.dtype
            && array.shape().iter().map(|&n| i64::from(n)).eq(port.extents.iter().copied());
        if !fits {
            let (dtype, shape) = (array.dtype().python_name(), array.shape());
            return mismatch(
                format!("{} of shape {:?}", port.dtype.python_name(), port.extents),
                format!("{dtype} of shape {shape:?}"),
            );
        }
        if !array.is_contiguous() {
            return mismatch("a contiguous array".into(), format!("strides {:?}", array.strides()));
        }
    }
    Ok(())
}
