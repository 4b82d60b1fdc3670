//! The operators as ONNX Runtime's tables of functions: one for each execution provider.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use ort_sys::{
    ONNXTensorElementDataType, OrtApi, OrtCustomOp, OrtCustomOpInputOutputCharacteristic, OrtKernelContext,
    OrtKernelInfo, OrtMemType, OrtStatusPtr,
};

use crate::api::{Api, VERSION};
use crate::kernel::{Kernel, On};

/// The domains, and the operators of each: one for each execution provider.
pub const DOMAINS: [(&CStr, [&OrtCustomOp; 2]); 2] = [
    (c"ai.inkle", [&REPLAY_ON_CPU, &REPLAY_ON_CUDA]),
    (c"com.nvidia.warp", [&WRP_RUNNER_ON_CPU, &WRP_RUNNER_ON_CUDA]),
];

static REPLAY_ON_CPU: OrtCustomOp = replay(create::<REPLAY, CPU>, on_cpu);
static REPLAY_ON_CUDA: OrtCustomOp = replay(create::<REPLAY, CUDA>, on_cuda);
static WRP_RUNNER_ON_CPU: OrtCustomOp = wrp_runner(create::<WRP_RUNNER, CPU>, on_cpu);
static WRP_RUNNER_ON_CUDA: OrtCustomOp = wrp_runner(create::<WRP_RUNNER, CUDA>, on_cuda);

const REPLAY: bool = false;
const WRP_RUNNER: bool = true;
const CPU: bool = false;
const CUDA: bool = true;

type Create = unsafe extern "system" fn(
    *const OrtCustomOp,
    *const OrtApi,
    *const OrtKernelInfo,
    *mut *mut c_void,
) -> OrtStatusPtr;
type Text = unsafe extern "system" fn(*const OrtCustomOp) -> *const c_char;

/// The bundle, then any number of tensors of any type.
const fn replay(create: Create, provider: Text) -> OrtCustomOp {
    OrtCustomOp {
        version: VERSION,
        // The later functions with a status are used in place of these.
        CreateKernel: Some(create_none),
        KernelCompute: Some(compute_none),
        CreateKernelV2: Some(create),
        KernelComputeV2: Some(compute),
        KernelDestroy: Some(destroy),
        GetName: Some(replay_name),
        GetExecutionProviderType: Some(provider),
        GetInputTypeCount: Some(two),
        GetInputType: Some(input_type),
        GetInputCharacteristic: Some(input_characteristic),
        GetInputMemoryType: Some(input_memory),
        GetVariadicInputMinArity: Some(none_at_least),
        GetVariadicInputHomogeneity: Some(none_at_least),
        GetOutputTypeCount: Some(one),
        GetOutputType: Some(any_type),
        GetOutputCharacteristic: Some(variadic),
        GetVariadicOutputMinArity: Some(none_at_least),
        GetVariadicOutputHomogeneity: Some(none_at_least),
        // It could only tell shapes. Types have to be in the model, and then shapes are too.
        InferOutputShapeFn: None,
        GetStartVersion: Some(first_version),
        GetEndVersion: Some(last_version),
        GetMayInplace: Some(no_pairs),
        ReleaseMayInplace: Some(release_pairs),
        GetAliasMap: Some(no_pairs),
        ReleaseAliasMap: Some(release_pairs),
    }
}

/// Any number of tensors of any type, the last of which is the bundle.
const fn wrp_runner(create: Create, provider: Text) -> OrtCustomOp {
    OrtCustomOp {
        GetName: Some(wrp_runner_name),
        GetInputTypeCount: Some(one),
        GetInputType: Some(any_type),
        GetInputCharacteristic: Some(variadic),
        GetInputMemoryType: Some(default_memory),
        GetVariadicInputMinArity: Some(one_at_least),
        GetVariadicOutputMinArity: Some(one_at_least),
        ..replay(create, provider)
    }
}

unsafe extern "system" fn replay_name(_: *const OrtCustomOp) -> *const c_char {
    c"Replay".as_ptr()
}

unsafe extern "system" fn wrp_runner_name(_: *const OrtCustomOp) -> *const c_char {
    c"WrpRunner".as_ptr()
}

unsafe extern "system" fn on_cpu(_: *const OrtCustomOp) -> *const c_char {
    c"CPUExecutionProvider".as_ptr()
}

unsafe extern "system" fn on_cuda(_: *const OrtCustomOp) -> *const c_char {
    c"CUDAExecutionProvider".as_ptr()
}

unsafe extern "system" fn one(_: *const OrtCustomOp) -> usize {
    1
}

unsafe extern "system" fn two(_: *const OrtCustomOp) -> usize {
    2
}

unsafe extern "system" fn input_type(_: *const OrtCustomOp, index: usize) -> ONNXTensorElementDataType {
    match index {
        0 => ONNXTensorElementDataType::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8,
        _ => ONNXTensorElementDataType::ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED,
    }
}

unsafe extern "system" fn any_type(_: *const OrtCustomOp, _: usize) -> ONNXTensorElementDataType {
    ONNXTensorElementDataType::ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED
}

unsafe extern "system" fn input_characteristic(
    _: *const OrtCustomOp,
    index: usize,
) -> OrtCustomOpInputOutputCharacteristic {
    match index {
        0 => OrtCustomOpInputOutputCharacteristic::INPUT_OUTPUT_REQUIRED,
        _ => OrtCustomOpInputOutputCharacteristic::INPUT_OUTPUT_VARIADIC,
    }
}

unsafe extern "system" fn variadic(_: *const OrtCustomOp, _: usize) -> OrtCustomOpInputOutputCharacteristic {
    OrtCustomOpInputOutputCharacteristic::INPUT_OUTPUT_VARIADIC
}

unsafe extern "system" fn input_memory(_: *const OrtCustomOp, index: usize) -> OrtMemType {
    match index {
        0 => OrtMemType::OrtMemTypeCPUInput,
        _ => OrtMemType::OrtMemTypeDefault,
    }
}

unsafe extern "system" fn default_memory(_: *const OrtCustomOp, _: usize) -> OrtMemType {
    OrtMemType::OrtMemTypeDefault
}

unsafe extern "system" fn one_at_least(_: *const OrtCustomOp) -> c_int {
    1
}

unsafe extern "system" fn none_at_least(_: *const OrtCustomOp) -> c_int {
    0
}

unsafe extern "system" fn first_version(_: *const OrtCustomOp) -> c_int {
    1
}

unsafe extern "system" fn last_version(_: *const OrtCustomOp) -> c_int {
    c_int::MAX
}

/// No output may be an input's memory: a kernel of the graph may read one after it wrote the other.
unsafe extern "system" fn no_pairs(_: *mut *mut c_int, _: *mut *mut c_int) -> usize {
    0
}

unsafe extern "system" fn release_pairs(_: *mut c_int, _: *mut c_int) {}

unsafe extern "system" fn create_none(
    _: *const OrtCustomOp,
    _: *const OrtApi,
    _: *const OrtKernelInfo,
) -> *mut c_void {
    ptr::null_mut()
}

unsafe extern "system" fn compute_none(_: *mut c_void, _: *mut OrtKernelContext) {}

/// # Safety
/// ONNX Runtime calls it, with information about a node that is alive, and a place for the kernel.
unsafe extern "system" fn create<const LEAPP: bool, const ON_CUDA: bool>(
    _: *const OrtCustomOp,
    _: *const OrtApi,
    info: *const OrtKernelInfo,
    place: *mut *mut c_void,
) -> OrtStatusPtr {
    // Kernels are made after operators were registered.
    let Some(api) = Api::get() else { return OrtStatusPtr(ptr::null_mut()) };
    let operator = if LEAPP { "com.nvidia.warp WrpRunner" } else { "ai.inkle Replay" };
    // SAFETY: the caller's contract.
    let what = match unsafe { api.node_name(info) } {
        Ok(name) => format!("{operator}, node `{name}`"),
        Err(_) => operator.to_owned(),
    };
    let on = if ON_CUDA { On::Cuda } else { On::Cpu };
    api.outcome(&what, || {
        // SAFETY: the caller's contract.
        let kernel = unsafe {
            if LEAPP {
                Kernel::wrp_runner(api, on, &what, info)
            } else {
                Kernel::replay(api, on, &what, info)
            }
        }?;
        // SAFETY: the place is valid.
        unsafe { *place = Box::into_raw(Box::new(kernel)).cast() };
        Ok(())
    })
}

/// # Safety
/// ONNX Runtime calls it, with a kernel that `create` made, and a context that is alive.
unsafe extern "system" fn compute(kernel: *mut c_void, context: *mut OrtKernelContext) -> OrtStatusPtr {
    // SAFETY: the caller's contract. Several threads may call a kernel at one time, so it is only read.
    let kernel = unsafe { &*kernel.cast::<Kernel>() };
    // SAFETY: the caller's contract.
    kernel.api().outcome(kernel.what(), || unsafe { kernel.compute(context) })
}

/// # Safety
/// ONNX Runtime calls it, once, with a kernel that `create` made.
unsafe extern "system" fn destroy(kernel: *mut c_void) {
    if !kernel.is_null() {
        // SAFETY: the caller's contract.
        let kernel = unsafe { Box::from_raw(kernel.cast::<Kernel>()) };
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(kernel)));
    }
}
