//! The operators as ONNX Runtime's tables of functions: one for each execution provider.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use ort_sys::{
    ONNXTensorElementDataType, OrtApi, OrtCustomOp, OrtCustomOpInputOutputCharacteristic, OrtKernelContext,
    OrtKernelInfo, OrtMemType, OrtStatusPtr,
};

use crate::api::{Api, VERSION};
use crate::kernel::{Kernel, On};

/// Every operator.
pub const ALL: [&OrtCustomOp; 2] = [&ON_CPU, &ON_CUDA];

static ON_CPU: OrtCustomOp = operator(create_on_cpu, on_cpu);
static ON_CUDA: OrtCustomOp = operator(create_on_cuda, on_cuda);

/// The name of the operator.
pub const NAME: &CStr = c"Replay";
/// The attribute that says what the outputs are.
pub const OUTPUTS: &CStr = c"outputs";

type Create = unsafe extern "system" fn(
    *const OrtCustomOp,
    *const OrtApi,
    *const OrtKernelInfo,
    *mut *mut c_void,
) -> OrtStatusPtr;
type Text = unsafe extern "system" fn(*const OrtCustomOp) -> *const c_char;

const fn operator(create: Create, provider: Text) -> OrtCustomOp {
    OrtCustomOp {
        version: VERSION,
        // The later functions with a status are used in place of these.
        CreateKernel: Some(create_none),
        KernelCompute: Some(compute_none),
        CreateKernelV2: Some(create),
        KernelComputeV2: Some(compute),
        KernelDestroy: Some(destroy),
        GetName: Some(name),
        GetExecutionProviderType: Some(provider),
        // The bundle, then any number of tensors of any type.
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

unsafe extern "system" fn name(_: *const OrtCustomOp) -> *const c_char {
    NAME.as_ptr()
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
unsafe extern "system" fn create_on_cpu(
    _: *const OrtCustomOp,
    _: *const OrtApi,
    info: *const OrtKernelInfo,
    kernel: *mut *mut c_void,
) -> OrtStatusPtr {
    // SAFETY: the caller's contract.
    unsafe { create(On::Cpu, info, kernel) }
}

/// # Safety
/// As for [`create_on_cpu`].
unsafe extern "system" fn create_on_cuda(
    _: *const OrtCustomOp,
    _: *const OrtApi,
    info: *const OrtKernelInfo,
    kernel: *mut *mut c_void,
) -> OrtStatusPtr {
    // SAFETY: the caller's contract.
    unsafe { create(On::Cuda, info, kernel) }
}

/// # Safety
/// As for [`create_on_cpu`].
unsafe fn create(on: On, info: *const OrtKernelInfo, place: *mut *mut c_void) -> OrtStatusPtr {
    // Kernels are made after operators were registered.
    let Some(api) = Api::get() else { return OrtStatusPtr(ptr::null_mut()) };
    // SAFETY: the caller's contract.
    let what = unsafe { api.node_name(info) }.map(|name| format!("ai.inkle Replay, node `{name}`"));
    let what = what.unwrap_or_else(|_| "ai.inkle Replay".into());
    api.outcome(&what, || {
        // SAFETY: the caller's contract.
        let kernel = unsafe { Kernel::new(api, on, what.clone(), info) }?;
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
