//! The operators' kernels.

use std::any::Any;
use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, catch_unwind};

use inkle_graph::function::{Function, FunctionError, Port, tensor_text};
use inkle_runtime::{Array, Device, Stream};

use crate::functions;
use crate::owned::{self, Tensor};
use crate::sys::{StableIValue, Torch};
use crate::throw::{c_string, throw};

/// The kernel of `inkle::replay` for tensors on the CPU.
///
/// # Safety
/// PyTorch calls it, with three arguments as the schema has them on the stack.
pub unsafe extern "C-unwind" fn replay_on_cpu(stack: *mut StableIValue, arguments: u64, _results: u64) {
    // SAFETY: the caller's contract.
    reported(c"inkle::replay", || unsafe { replay(stack, arguments, false) });
}

/// The kernel of `inkle::replay` for tensors on a GPU.
///
/// # Safety
/// As for [`replay_on_cpu`].
pub unsafe extern "C-unwind" fn replay_on_cuda(stack: *mut StableIValue, arguments: u64, _results: u64) {
    // SAFETY: the caller's contract.
    reported(c"inkle::replay", || unsafe { replay(stack, arguments, true) });
}

/// The kernel of `leapp::warp_runner`, wherever the tensors are.
///
/// # Safety
/// As for [`replay_on_cpu`].
pub unsafe extern "C-unwind" fn warp_runner(stack: *mut StableIValue, arguments: u64, _results: u64) {
    // SAFETY: the caller's contract.
    reported(c"leapp::warp_runner", || unsafe { run_leapps(stack, arguments) });
}

/// Runs an operator, and throws why it failed.
fn reported(operator: &CStr, run: impl FnOnce() -> Result<(), String>) {
    if let Some(message) = outcome(operator, run) {
        throw(message);
    }
}

/// Runs an operator; why it failed.
fn outcome(operator: &CStr, run: impl FnOnce() -> Result<(), String>) -> Option<CString> {
    let failure = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => return None,
        Ok(Err(failure)) => failure,
        Err(panic) => format!("a mistake of inkle's: {}", panic_text(&*panic)),
    };
    Some(c_string(&format!("{}: {failure}", operator.to_string_lossy())))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic")
}

/// # Safety
/// As for [`replay_on_cpu`].
unsafe fn replay(stack: *mut StableIValue, arguments: u64, cuda: bool) -> Result<(), String> {
    let torch = Torch::find()?;
    expect_three(arguments)?;
    // SAFETY: the stack holds a tensor, a list of tensors and a string, which are this kernel's from now on.
    let (bundle, inputs, outputs) = unsafe {
        let bundle = Tensor::from_value(torch, *stack);
        let inputs = owned::tensors(torch, *stack.add(1));
        let outputs = owned::text(torch, *stack.add(2));
        (bundle, inputs?, outputs?)
    };
    let place = match inputs.first() {
        Some(first) => first.device()?,
        None if cuda => bundle.device()?,
        None => (torch.cpu, -1),
    };
    let function = functions::find(torch, bundle)?;
    if !outputs.is_empty() {
        function.check_signature(&outputs).map_err(text)?;
    }
    let made = compute(torch, &function, inputs, place, Function::call)?;
    // SAFETY: the stack has room for the result.
    unsafe { *stack = owned::into_list(torch, made)? };
    Ok(())
}

/// # Safety
/// As for [`replay_on_cpu`].
unsafe fn run_leapps(stack: *mut StableIValue, arguments: u64) -> Result<(), String> {
    let torch = Torch::find()?;
    expect_three(arguments)?;
    // SAFETY: the stack holds a list of tensors, a string and a tensor, which are this kernel's from now on.
    let (inputs, metadata, bundle) = unsafe {
        let inputs = owned::tensors(torch, *stack);
        let metadata = owned::text(torch, *stack.add(1));
        let bundle = Tensor::from_value(torch, *stack.add(2));
        (inputs?, metadata?, bundle)
    };
    let place = match inputs.first() {
        Some(first) => first.device()?,
        None => bundle.device()?,
    };
    let function = functions::find_leapps(torch, bundle, &metadata)?;
    let made = compute(torch, &function, inputs, place, inkle_leapp::call)?;
    // SAFETY: the stack has room for the result.
    unsafe { *stack = owned::into_list(torch, made)? };
    Ok(())
}

fn expect_three(arguments: u64) -> Result<(), String> {
    match arguments {
        3 => Ok(()),
        _ => Err(format!("PyTorch gives {arguments} arguments to a kernel of 3")),
    }
}

/// How a function is called.
type Call = fn(&Function, Device, &[Array], &[Array], Option<&Stream>) -> Result<(), FunctionError>;

/// The outputs of a function for tensors that all lie in one place.
fn compute(
    torch: &'static Torch,
    function: &Function,
    inputs: Vec<Tensor>,
    place: (i32, i32),
    call: Call,
) -> Result<Vec<Tensor>, String> {
    let device = device_of(torch, place)?;
    let count = function.inputs().len();
    if inputs.len() != count {
        let plural = if count == 1 { "" } else { "s" };
        return Err(format!("the bundle has {count} input{plural}, {} given", inputs.len()));
    }
    let mut used = Vec::with_capacity(inputs.len());
    for (index, (port, tensor)) in function.inputs().iter().zip(inputs).enumerate() {
        let what = || format!("input {index} `{}`", port.name);
        used.push(fitting(torch, port, tensor, place).map_err(|problem| format!("{}: {problem}", what()))?);
    }
    let made: Vec<Tensor> = function
        .outputs()
        .iter()
        .map(|port| Tensor::empty(torch, port.scalar, &port.shape, place))
        .collect::<Result<_, String>>()?;
    // SAFETY: `used` and `made` are tensors of these ports, which live until the call has returned. On a GPU, PyTorch
    // gives their memory to others only for work that is queued later on the same stream.
    let (arrays_in, arrays_out) =
        unsafe { (arrays(device, function.inputs(), &used)?, arrays(device, function.outputs(), &made)?) };
    let stream = match device.is_cpu() {
        true => None,
        // SAFETY: PyTorch's streams belong to primary contexts, and the current one lives longer than this call.
        false => Some(unsafe { Stream::from_handle(device, torch.cuda_stream(place.1)?) }.map_err(text)?),
    };
    call(function, device, &arrays_in, &arrays_out, stream.as_ref()).map_err(text)?;
    Ok(made)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The device of tensors.
fn device_of(torch: &Torch, place: (i32, i32)) -> Result<Device, String> {
    if place.0 == torch.cpu {
        return Ok(Device::cpu());
    }
    if place.0 != torch.cuda {
        return Err("the inputs have to be on the CPU or on a CUDA device".into());
    }
    Device::cuda(place.1.max(0) as u32).map_err(text)
}

/// The tensor, or a contiguous copy, if it is what the port takes.
fn fitting(torch: &'static Torch, port: &Port, tensor: Tensor, place: (i32, i32)) -> Result<Tensor, String> {
    let (scalar, shape) = (tensor.scalar()?, tensor.shape()?);
    if scalar != Some(port.scalar) || shape != port.shape {
        let found = match scalar {
            Some(scalar) => tensor_text(scalar, shape),
            None => "a tensor of a type that inkle does not have".into(),
        };
        return Err(format!("expected {port}, got {found}"));
    }
    if !tensor.is_strided()? {
        return Err("expected a dense tensor, got a sparse one".into());
    }
    let found = tensor.device()?;
    if found != place {
        let name = |(kind, index): (i32, i32)| match kind {
            kind if kind == torch.cpu => "cpu".to_owned(),
            kind if kind == torch.cuda => format!("cuda:{index}"),
            kind => format!("a device of type {kind}"),
        };
        return Err(format!(
            "all inputs have to be on one device: it is on {}, the first on {}",
            name(found),
            name(place)
        ));
    }
    if tensor.is_contiguous()? {
        return Ok(tensor);
    }
    let copy = Tensor::empty(torch, port.scalar, &port.shape, place)?;
    copy.copy_from(&tensor)?;
    Ok(copy)
}

/// The memory of tensors as arrays of the ports' types.
///
/// # Safety
/// The tensors are contiguous, of the ports' types and shapes, and on the device; the arrays are used only while the
/// tensors live, or by work that is queued on PyTorch's current stream meanwhile.
unsafe fn arrays(device: Device, ports: &[Port], tensors: &[Tensor]) -> Result<Vec<Array>, String> {
    let one = |(port, tensor): (&Port, &Tensor)| {
        let address = tensor.data()?.expose_provenance() as u64;
        // SAFETY: the caller's contract; the expanded layout of a tensor is that of the port's packed elements.
        unsafe { Array::foreign(device, port.dtype, address, &port.extents, None, Box::new(())) }
            .map_err(|error| format!("`{}`: {error}", port.name))
    };
    ports.iter().zip(tensors).map(one).collect()
}
