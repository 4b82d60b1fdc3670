//! ONNX Runtime's functions, with statuses as results and owners for what is given back.

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::OnceLock;

use inkle_ir::Scalar;
use ort_sys::{
    ONNXTensorElementDataType, OrtApi, OrtApiBase, OrtKernelContext, OrtKernelInfo, OrtMemoryInfo,
    OrtMemoryInfoDeviceType, OrtStatus, OrtStatusPtr, OrtTensorTypeAndShapeInfo, OrtValue,
};

use crate::FAILED;

/// The version of the table of functions that is asked for.
pub const VERSION: u32 = 18;

/// ONNX Runtime's table of functions. Later versions only add to its end, which is not looked at.
#[derive(Clone, Copy)]
pub struct Api(*const OrtApi);

// SAFETY: the table is constant and lives as long as the process.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

static API: OnceLock<Api> = OnceLock::new();

/// What a call of ONNX Runtime's, or one of ours, failed with.
pub type Outcome<T> = Result<T, String>;

impl Api {
    /// The table of a runtime.
    ///
    /// # Errors
    /// A status for a runtime that is too old.
    ///
    /// # Safety
    /// The base is ONNX Runtime's.
    pub unsafe fn from_base(base: *const OrtApiBase) -> Result<Api, OrtStatusPtr> {
        // SAFETY: the caller's contract.
        let (table, first, name) =
            unsafe { (((*base).GetApi)(VERSION), ((*base).GetApi)(1), ((*base).GetVersionString)()) };
        if table.is_null() {
            // SAFETY: the runtime's version is a string that ends with a zero byte.
            let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
            let message = format!("inkle's operators need ONNX Runtime 1.{VERSION} or newer, this is {name}");
            return Err(Api(first).status(&message));
        }
        Ok(*API.get_or_init(|| Api(table)))
    }

    /// The table that operators were registered with.
    pub fn get() -> Option<Api> {
        API.get().copied()
    }

    /// The table. It may end before the type does, where the runtime is older than the declarations, so that there is no
    /// reference to it: only functions of version 18 and before are read.
    pub fn table(&self) -> *const OrtApi {
        self.0
    }

    /// A status that says what went wrong.
    pub fn status(&self, message: &str) -> OrtStatusPtr {
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the message ends with a zero byte and is copied.
        unsafe { ((*self.0).CreateStatus)(FAILED, message.as_ptr()) }
    }

    /// Runs what ONNX Runtime asks for; `what` begins the message of a failure.
    pub fn outcome(&self, what: &str, run: impl FnOnce() -> Outcome<()>) -> OrtStatusPtr {
        let failure = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => return OrtStatusPtr(ptr::null_mut()),
            Ok(Err(failure)) => failure,
            Err(panic) => format!("a mistake of inkle's: {}", panic_text(&*panic)),
        };
        self.status(&format!("{what}: {failure}"))
    }

    /// The failure of a status, which is given back.
    ///
    /// # Errors
    /// Its message.
    pub fn check(&self, status: OrtStatusPtr) -> Outcome<()> {
        let status: *mut OrtStatus = status.0;
        if status.is_null() {
            return Ok(());
        }
        // SAFETY: the status is alive until it is released, and has a message that ends with a zero byte.
        unsafe {
            let message = CStr::from_ptr(((*self.0).GetErrorMessage)(status)).to_string_lossy().into_owned();
            ((*self.0).ReleaseStatus)(status);
            Err(message)
        }
    }

    /// A text that a function writes into memory of a size that it tells.
    fn text(&self, read: impl Fn(*mut c_char, *mut usize) -> OrtStatusPtr) -> Outcome<String> {
        let mut size = 0;
        // Without memory it tells the size, or that there is no such text.
        self.check(read(ptr::null_mut(), &mut size))?;
        let mut bytes = vec![0u8; size];
        self.check(read(bytes.as_mut_ptr().cast(), &mut size))?;
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        String::from_utf8(bytes).map_err(|_| "a text of the model is not UTF-8".into())
    }

    /// The name of a kernel's node.
    ///
    /// # Safety
    /// The information is alive.
    pub unsafe fn node_name(&self, info: *const OrtKernelInfo) -> Outcome<String> {
        // SAFETY: the caller's contract; the memory has the size given.
        self.text(|to, size| unsafe { ((*self.0).KernelInfo_GetNodeName)(info, to, size) })
    }

    /// A text attribute of a kernel's node; `None` if the node does not have it.
    ///
    /// # Safety
    /// The information is alive.
    pub unsafe fn attribute(&self, info: *const OrtKernelInfo, name: &CStr) -> Option<String> {
        // SAFETY: the caller's contract; the memory has the size given.
        self.text(|to, size| unsafe {
            ((*self.0).KernelInfoGetAttribute_string)(info, name.as_ptr(), to, size)
        })
        .ok()
    }

    /// The tensor that is a constant input of a node; `None` if the input is none.
    ///
    /// # Safety
    /// The information is alive.
    pub unsafe fn constant_input(
        &self,
        info: *const OrtKernelInfo,
        index: usize,
    ) -> Outcome<Option<*const OrtValue>> {
        let (mut constant, mut value) = (0, ptr::null());
        // SAFETY: the caller's contract; the places are valid.
        let found =
            unsafe { ((*self.0).KernelInfoGetConstantInput_tensor)(info, index, &mut constant, &mut value) };
        self.check(found)?;
        Ok((constant != 0 && !value.is_null()).then_some(value))
    }

    /// The type and extents of a tensor.
    ///
    /// # Safety
    /// The value is alive and a tensor.
    pub unsafe fn describe(&self, value: *const OrtValue) -> Outcome<(Option<Scalar>, Vec<i64>)> {
        let mut info = ptr::null_mut();
        // SAFETY: the caller's contract; the place is valid.
        self.check(unsafe { ((*self.0).GetTensorTypeAndShape)(value, &mut info) })?;
        let info = Info { api: *self, info };
        let mut number = MaybeUninit::new(0i32);
        let mut rank = 0;
        // SAFETY: the information is alive and the places valid. The type is read as a number, since a later version may
        // have ones that the declarations do not know.
        unsafe {
            let place = number.as_mut_ptr().cast::<ONNXTensorElementDataType>();
            self.check(((*self.0).GetTensorElementType)(info.info, place))?;
            self.check(((*self.0).GetDimensionsCount)(info.info, &mut rank))?;
        }
        let mut shape = vec![0; rank];
        // SAFETY: there is room for as many extents as is said.
        self.check(unsafe { ((*self.0).GetDimensions)(info.info, shape.as_mut_ptr(), rank) })?;
        // SAFETY: it was initialised above, and every number is one.
        let number = unsafe { number.assume_init() };
        let scalar = Scalar::ALL.into_iter().find(|scalar| element_type(*scalar) as i32 == number);
        Ok((scalar, shape))
    }

    /// The address of a tensor's first element.
    ///
    /// # Safety
    /// The value is alive and a tensor.
    pub unsafe fn data(&self, value: *const OrtValue) -> Outcome<*mut c_void> {
        let mut data = ptr::null_mut();
        // SAFETY: the caller's contract; the function only asks for the address.
        self.check(unsafe { ((*self.0).GetTensorMutableData)(value.cast_mut(), &mut data) })?;
        Ok(data)
    }

    /// The number of inputs of a kernel's node.
    ///
    /// # Safety
    /// The information is alive.
    pub unsafe fn node_input_count(&self, info: *const OrtKernelInfo) -> Outcome<usize> {
        let mut count = 0;
        // SAFETY: the caller's contract; the place is valid.
        self.check(unsafe { ((*self.0).KernelInfo_GetInputCount)(info, &mut count) })?;
        Ok(count)
    }

    /// Whether a tensor lies on a GPU.
    ///
    /// # Safety
    /// The value is alive and a tensor.
    pub unsafe fn is_on_gpu(&self, value: *const OrtValue) -> Outcome<bool> {
        let (mut info, mut kind): (*const OrtMemoryInfo, i32) = (ptr::null(), 0);
        // SAFETY: the caller's contract; the information lives as long as the value. The kind is read as a number, since a
        // later version may have ones that the declarations do not know.
        unsafe {
            self.check(((*self.0).GetTensorMemoryInfo)(value, &mut info))?;
            let place = ptr::from_mut(&mut kind).cast::<OrtMemoryInfoDeviceType>();
            ((*self.0).MemoryInfoGetDeviceType)(info, place);
        }
        Ok(kind == OrtMemoryInfoDeviceType::OrtMemoryInfoDeviceType_GPU as i32)
    }

    /// The index of the device that a tensor lies on.
    ///
    /// # Safety
    /// The value is alive and a tensor.
    pub unsafe fn device_index(&self, value: *const OrtValue) -> Outcome<u32> {
        let (mut info, mut index): (*const OrtMemoryInfo, _) = (ptr::null(), 0);
        // SAFETY: the caller's contract; the information lives as long as the value.
        unsafe {
            self.check(((*self.0).GetTensorMemoryInfo)(value, &mut info))?;
            self.check(((*self.0).MemoryInfoGetId)(info, &mut index))?;
        }
        u32::try_from(index).map_err(|_| format!("ONNX Runtime says a tensor is on device {index}"))
    }

    /// The `cudaStream_t` that a kernel queues its work on.
    ///
    /// # Safety
    /// The context is alive.
    pub unsafe fn stream(&self, context: *const OrtKernelContext) -> Outcome<u64> {
        let mut stream = ptr::null_mut();
        // SAFETY: the caller's contract; the place is valid.
        self.check(unsafe { ((*self.0).KernelContext_GetGPUComputeStream)(context, &mut stream) })?;
        Ok(stream.expose_provenance() as u64)
    }

    /// The number of inputs of a call.
    ///
    /// # Safety
    /// The context is alive.
    pub unsafe fn input_count(&self, context: *const OrtKernelContext) -> Outcome<usize> {
        let mut count = 0;
        // SAFETY: the caller's contract; the place is valid.
        self.check(unsafe { ((*self.0).KernelContext_GetInputCount)(context, &mut count) })?;
        Ok(count)
    }

    /// The number of outputs of a call.
    ///
    /// # Safety
    /// The context is alive.
    pub unsafe fn output_count(&self, context: *const OrtKernelContext) -> Outcome<usize> {
        let mut count = 0;
        // SAFETY: the caller's contract; the place is valid.
        self.check(unsafe { ((*self.0).KernelContext_GetOutputCount)(context, &mut count) })?;
        Ok(count)
    }

    /// An input of a call.
    ///
    /// # Safety
    /// The context is alive, the index one of an input.
    pub unsafe fn input(&self, context: *const OrtKernelContext, index: usize) -> Outcome<*const OrtValue> {
        let mut value = ptr::null();
        // SAFETY: the caller's contract; the place is valid.
        self.check(unsafe { ((*self.0).KernelContext_GetInput)(context, index, &mut value) })?;
        if value.is_null() { Err("it is left out".into()) } else { Ok(value) }
    }

    /// New memory for an output of a call; `None` if nobody wants the output.
    ///
    /// # Safety
    /// The context is alive, the index one of an output.
    pub unsafe fn output(
        &self,
        context: *mut OrtKernelContext,
        index: usize,
        shape: &[i64],
    ) -> Outcome<Option<*mut OrtValue>> {
        let mut value = ptr::null_mut();
        // SAFETY: the caller's contract; the place is valid and there are as many extents as is said.
        self.check(unsafe {
            ((*self.0).KernelContext_GetOutput)(context, index, shape.as_ptr(), shape.len(), &mut value)
        })?;
        Ok((!value.is_null()).then_some(value))
    }
}

/// What is known of a tensor.
struct Info {
    api: Api,
    info: *mut OrtTensorTypeAndShapeInfo,
}

impl Drop for Info {
    fn drop(&mut self) {
        // SAFETY: this is the owner, which goes here.
        unsafe { ((*self.api.0).ReleaseTensorTypeAndShapeInfo)(self.info) };
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic")
}

/// ONNX Runtime's name for a scalar.
fn element_type(scalar: Scalar) -> ONNXTensorElementDataType {
    use ONNXTensorElementDataType::*;
    match scalar {
        Scalar::Bool => ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL,
        Scalar::I8 => ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8,
        Scalar::I16 => ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16,
        Scalar::I32 => ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32,
        Scalar::I64 => ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64,
        Scalar::U8 => ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8,
        Scalar::U16 => ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16,
        Scalar::U32 => ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32,
        Scalar::U64 => ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64,
        Scalar::F16 => ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16,
        Scalar::BF16 => ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16,
        Scalar::F32 => ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
        Scalar::F64 => ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE,
    }
}
