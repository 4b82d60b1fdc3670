//! The operator's kernels.

use std::ffi::CStr;

use inkle_graph::function::{Function, Port, tensor_text};
use inkle_ir::{Scalar, Type};
use inkle_runtime::{Array, Device, Stream};
use ort_sys::{OrtKernelContext, OrtKernelInfo, OrtValue};

use crate::api::{Api, Outcome};

/// Which execution provider a kernel is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    /// The CPU, where the tensors lie.
    Cpu,
    /// CUDA: tensors lie on a GPU, and work is queued on the session's stream.
    Cuda,
}

/// A node of a session.
pub struct Kernel {
    api: Api,
    on: On,
    what: String,
    function: Function,
    /// The index of the first input that is not the bundle.
    first: usize,
    /// Whether it is LEAPP's, which runs on a GPU wherever the tensors are.
    is_leapps: bool,
}

/// The attribute that says what the outputs of `Replay` are.
const OUTPUTS: &CStr = c"outputs";
/// The attribute that says what the tensors of `WrpRunner` are.
const METADATA: &CStr = c"runtime_metadata";

impl Kernel {
    /// A kernel of `Replay`.
    ///
    /// # Errors
    /// What is wrong with the bundle, or with the node.
    ///
    /// # Safety
    /// The information is alive.
    pub unsafe fn replay(api: Api, on: On, what: &str, info: *const OrtKernelInfo) -> Outcome<Kernel> {
        // SAFETY: the caller's contract.
        let bundle = unsafe { bundle(api, info, 0) }?;
        let function = Function::from_bytes(bundle).map_err(text)?;
        // SAFETY: the caller's contract.
        if let Some(outputs) = unsafe { api.attribute(info, OUTPUTS) } {
            function.check_signature(&outputs).map_err(text)?;
        }
        if on == On::Cpu {
            // That there is no code for this machine is said when the session is made.
            function.prepare(Device::cpu()).map_err(text)?;
        }
        Ok(Kernel { api, on, what: what.to_owned(), function, first: 1, is_leapps: false })
    }

    /// A kernel of LEAPP's `WrpRunner`.
    ///
    /// # Errors
    /// As for [`replay`](Kernel::replay).
    ///
    /// # Safety
    /// The information is alive.
    pub unsafe fn wrp_runner(api: Api, on: On, what: &str, info: *const OrtKernelInfo) -> Outcome<Kernel> {
        // SAFETY: the caller's contract.
        let (metadata, inputs) = unsafe { (api.attribute(info, METADATA), api.node_input_count(info)?) };
        let metadata = metadata.ok_or("it has no attribute runtime_metadata")?;
        let last = inputs.checked_sub(1).ok_or("it has no inputs")?;
        // SAFETY: the caller's contract.
        let archive = unsafe { bundle(api, info, last) }?;
        let function = inkle_leapp::function(&archive, &metadata)?;
        Ok(Kernel { api, on, what: what.to_owned(), function, first: 0, is_leapps: true })
    }

    /// ONNX Runtime.
    pub fn api(&self) -> Api {
        self.api
    }

    /// What it is, for messages.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Computes the outputs.
    ///
    /// # Errors
    /// What does not fit or failed.
    ///
    /// # Safety
    /// The context is alive.
    pub unsafe fn compute(&self, context: *mut OrtKernelContext) -> Outcome<()> {
        let (api, function) = (self.api, &self.function);
        let (ports_in, ports_out) = (function.inputs(), function.outputs());
        // SAFETY: the caller's contract.
        let (inputs, outputs) =
            unsafe { (api.input_count(context)?.saturating_sub(1), api.output_count(context)?) };
        for (side, expected, found) in
            [("input", ports_in.len(), inputs), ("output", ports_out.len(), outputs)]
        {
            if expected != found {
                let plural = if expected == 1 { "" } else { "s" };
                return Err(format!("the bundle has {expected} {side}{plural}, the node {found}"));
            }
        }
        let mut values_in = Vec::with_capacity(ports_in.len());
        for (index, port) in ports_in.iter().enumerate() {
            let found = || {
                // SAFETY: the caller's contract; the bundle is first or last.
                let value = unsafe { api.input(context, index + self.first) }?;
                // SAFETY: the value is a tensor of this call.
                unsafe { check(api, port, value) }?;
                Ok(value)
            };
            let value =
                found().map_err(|problem: String| format!("input {index} `{}`: {problem}", port.name))?;
            values_in.push(value);
        }
        let mut values_out = Vec::with_capacity(ports_out.len());
        for (index, port) in ports_out.iter().enumerate() {
            // SAFETY: the caller's contract.
            values_out.push(unsafe { api.output(context, index, &port.shape) }?);
        }
        let any =
            values_in.first().copied().or(values_out.iter().flatten().next().map(|value| value.cast_const()));
        let device = match (self.on, any) {
            (On::Cuda, Some(value)) => {
                // SAFETY: the value is a tensor of this call.
                let index = unsafe { api.device_index(value) }?;
                Device::cuda(index).map_err(text)?
            }
            (On::Cuda, None) => return Ok(()),
            (On::Cpu, _) => Device::cpu(),
        };
        let stream = match self.on {
            On::Cpu => None,
            On::Cuda => {
                // SAFETY: the caller's contract.
                let handle = unsafe { api.stream(context) }?;
                // SAFETY: the stream belongs to the primary context, and lives longer than this call.
                Some(unsafe { Stream::from_handle(device, handle) }.map_err(text)?)
            }
        };
        let mut arrays_in = Vec::with_capacity(values_in.len());
        for (port, value) in ports_in.iter().zip(values_in) {
            // SAFETY: the tensor has the port's type and shape, was put on the device by ONNX Runtime, and lives until the
            // call has returned, or what is queued on the session's stream until then is done.
            arrays_in.push(unsafe { array(api, device, port, value) }?);
        }
        let mut arrays_out = Vec::with_capacity(values_out.len());
        for (port, value) in ports_out.iter().zip(values_out) {
            arrays_out.push(match value {
                // SAFETY: as above.
                Some(value) => unsafe { array(api, device, port, value) }?,
                None => unwanted(device, port, stream.as_ref())?,
            });
        }
        let call = if self.is_leapps { inkle_leapp::call } else { Function::call };
        call(function, device, &arrays_in, &arrays_out, stream.as_ref()).map_err(text)
    }
}

/// The bytes of the constant input that is a bundle.
///
/// # Safety
/// The information is alive.
unsafe fn bundle(api: Api, info: *const OrtKernelInfo, index: usize) -> Outcome<Vec<u8>> {
    let which = if index == 0 { "first" } else { "last" };
    // SAFETY: the caller's contract.
    let Some(value) = (unsafe { api.constant_input(info, index) })? else {
        return Err(format!(
            "its {which} input, the bundle, has to be a constant of the model (an initializer)"
        ));
    };
    // SAFETY: the constant is alive while the kernel is made.
    let (scalar, shape) = unsafe { api.describe(value) }?;
    let (Some(Scalar::U8), &[bytes]) = (scalar, shape.as_slice()) else {
        return Err(format!("its {which} input, the bundle, has to be a tensor of uint8 with one dimension"));
    };
    if bytes == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: as above.
    let (data, on_gpu) = unsafe { (api.data(value)?, api.is_on_gpu(value)?) };
    if on_gpu {
        // SAFETY: as above.
        let device = Device::cuda(unsafe { api.device_index(value) }?).map_err(text)?;
        let address = data.expose_provenance() as u64;
        let byte = Type::Scalar(Scalar::U8);
        // SAFETY: the tensor is memory of the device with that many bytes, alive until this returns.
        let array = unsafe { Array::foreign(device, byte, address, &[bytes], None, Box::new(())) };
        return array.and_then(|array| array.to_bytes()).map_err(text);
    }
    // SAFETY: the tensor is memory of the CPU with that many bytes.
    Ok(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes as usize) }.to_vec())
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Fails unless a tensor is what a port takes.
///
/// # Safety
/// The value is alive and a tensor.
unsafe fn check(api: Api, port: &Port, value: *const OrtValue) -> Outcome<()> {
    // SAFETY: the caller's contract.
    let (scalar, shape) = unsafe { api.describe(value) }?;
    if scalar == Some(port.scalar) && shape == port.shape {
        return Ok(());
    }
    let found = match scalar {
        Some(scalar) => tensor_text(scalar, &shape),
        None => "a tensor of a type that inkle does not have".into(),
    };
    Err(format!("expected {port}, got {found}"))
}

/// The memory of a tensor as an array of a port's type.
///
/// # Safety
/// The value is a tensor of the port's type and shape on the device; the array is used only while it lives, or by work that
/// is queued on the session's stream meanwhile.
unsafe fn array(api: Api, device: Device, port: &Port, value: *const OrtValue) -> Outcome<Array> {
    // SAFETY: the caller's contract.
    let address = unsafe { api.data(value) }?.expose_provenance() as u64;
    // SAFETY: the caller's contract; the expanded layout of a tensor is that of the port's packed elements.
    unsafe { Array::foreign(device, port.dtype, address, &port.extents, None, Box::new(())) }
        .map_err(|error| format!("`{}`: {error}", port.name))
}

/// Memory for an output that nobody wants.
fn unwanted(device: Device, port: &Port, stream: Option<&Stream>) -> Outcome<Array> {
    match stream {
        Some(stream) => Array::on_stream(stream, port.dtype, &port.extents),
        None => Array::empty(device, port.dtype, &port.extents),
    }
    .map_err(text)
}
