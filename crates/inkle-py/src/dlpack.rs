//! DLPack: arrays to and from other libraries without a copy.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use inkle_ir::{Scalar, ScalarKind, Type};
use inkle_runtime::{self as rt, Device, Stream};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::Array;
use crate::array_new::dtype_argument;
use crate::dtype::class_of;
use crate::error::{IntoPyResult, argument_error, class_name};
use crate::interface::{inner_shape, inner_strides};
use crate::observe::boundary;

const NAME: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";

const CPU: i32 = 1;
const CUDA: i32 = 2;
const CUDA_HOST: i32 = 3;

#[repr(C)]
#[derive(Clone, Copy)]
struct DlDevice {
    device_type: i32,
    device_id: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DlDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: DlDevice,
    ndim: i32,
    dtype: DlDataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct DlManagedTensor {
    tensor: DlTensor,
    manager_ctx: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DlManagedTensor)>,
}

// The layout is that of DLPack before version 1, which every library reads.
const _: () = {
    assert!(size_of::<DlTensor>() == 48);
    assert!(std::mem::offset_of!(DlTensor, shape) == 24);
    assert!(std::mem::offset_of!(DlManagedTensor, manager_ctx) == 48);
    assert!(size_of::<DlManagedTensor>() == 64);
};

/// What an exported tensor owns: extents and distances it points at, and the array that holds its memory.
struct Exported {
    tensor: DlManagedTensor,
    shape: Vec<i64>,
    strides: Vec<i64>,
    array: rt::Array,
}

/// Device type and number as DLPack has them.
pub fn device_code(array: &rt::Array) -> (i32, i32) {
    match array.device().ordinal() {
        Some(ordinal) => (CUDA, ordinal as i32),
        None if array.is_pinned() => (CUDA_HOST, 0),
        None => (CPU, 0),
    }
}

fn data_type(scalar: Scalar) -> DlDataType {
    let code = match (scalar.kind(), scalar) {
        (ScalarKind::Signed, _) => 0,
        (ScalarKind::Unsigned, _) => 1,
        (ScalarKind::Float, Scalar::BF16) => 4,
        (ScalarKind::Float, _) => 2,
        (ScalarKind::Bool, _) => 6,
    };
    DlDataType { code, bits: scalar.size() as u8 * 8, lanes: 1 }
}

fn scalar_of(dtype: DlDataType) -> Option<Scalar> {
    Scalar::ALL.into_iter().find(|s| {
        let known = data_type(*s);
        (known.code, known.bits, known.lanes) == (dtype.code, dtype.bits, dtype.lanes)
    })
}

unsafe extern "C" fn delete_exported(tensor: *mut DlManagedTensor) {
    if tensor.is_null() {
        return;
    }
    // SAFETY: `tensor` is the head of an `Exported` made by `export`, whose context points back at the whole; a
    // consumer calls the deleter once.
    drop(unsafe { Box::from_raw((*tensor).manager_ctx.cast::<Exported>()) });
}

unsafe extern "C" fn delete_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: called by Python with the capsule that is dying; a consumer has renamed it if it took the tensor.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 0 {
            return;
        }
        let tensor = ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast::<DlManagedTensor>();
        if let Some(deleter) = (*tensor).deleter {
            deleter(tensor);
        }
    }
}

/// A capsule for an array. For a GPU, `stream` is the consumer's stream, which then waits for the work queued
/// here: `None` or 1 is the legacy default stream, 2 the per-thread one, -1 asks for no ordering.
///
/// # Errors
/// For structs, and for distances that are no multiple of a scalar.
pub fn export<'py>(array: &Bound<'py, Array>, stream: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    boundary(py, "to_dlpack")?;
    let runtime = array.get().runtime(py)?;
    let ty = runtime.dtype();
    let Some(scalar) = ty.scalar() else {
        return Err(PyBufferError::new_err(format!("DLPack has no type for struct {}", ty.python_name())));
    };
    if runtime.device().is_cuda() && stream != Some(-1) {
        order(py, runtime.device(), stream.unwrap_or(1))?;
    }
    let size = i64::from(scalar.size());
    let shape: Vec<i64> = runtime.shape().iter().map(|&n| n.into()).chain(inner_shape(ty)).collect();
    let bytes = runtime.strides().iter().copied().chain(inner_strides(ty));
    let strides: Option<Vec<i64>> = bytes.map(|s| (s % size == 0).then_some(s / size)).collect();
    let strides =
        strides.ok_or_else(|| PyBufferError::new_err("the strides are no multiple of a scalar's size"))?;
    let (device_type, device_id) = device_code(runtime);
    let mut exported = Box::new(Exported {
        tensor: DlManagedTensor {
            tensor: DlTensor {
                data: std::ptr::with_exposed_provenance_mut(runtime.address() as usize),
                device: DlDevice { device_type, device_id },
                ndim: shape.len() as i32,
                dtype: data_type(scalar),
                shape: std::ptr::null_mut(),
                strides: std::ptr::null_mut(),
                byte_offset: 0,
            },
            manager_ctx: std::ptr::null_mut(),
            deleter: Some(delete_exported),
        },
        shape,
        strides,
        array: runtime.clone(),
    });
    exported.tensor.tensor.shape = exported.shape.as_mut_ptr();
    exported.tensor.tensor.strides = exported.strides.as_mut_ptr();
    debug_assert_eq!(exported.array.len(), runtime.len());
    let raw = Box::into_raw(exported);
    // SAFETY: `raw` was just leaked and is valid; the capsule's destructor or the consumer gives it back.
    unsafe {
        (*raw).tensor.manager_ctx = raw.cast();
        let capsule =
            ffi::PyCapsule_New((&raw mut (*raw).tensor).cast(), NAME.as_ptr(), Some(delete_capsule));
        if capsule.is_null() {
            drop(Box::from_raw(raw));
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

fn order(py: Python<'_>, device: Device, consumer: i64) -> PyResult<()> {
    let handle = match consumer {
        0 => {
            return Err(PyValueError::new_err("0 names no stream in DLPack; 1 is the legacy default stream"));
        }
        1 => 0,
        other => other as u64,
    };
    let own = device.stream().into_py(py)?;
    if own.handle() == handle {
        return Ok(());
    }
    // SAFETY: the consumer names a live stream of the device, as DLPack demands; it is used only for this wait.
    let consumer = unsafe { Stream::from_handle(device, handle) }.into_py(py)?;
    consumer.wait_stream(&own).into_py(py)
}

/// A tensor taken from a capsule; gives it back when dropped.
struct Imported(NonNull<DlManagedTensor>);

// SAFETY: the tensor is only read when the array is made; afterwards the value is only dropped, and DLPack allows
// the deleter to be called from any thread.
unsafe impl Send for Imported {}
// SAFETY: as for `Send`; a shared reference gives no access to anything.
unsafe impl Sync for Imported {}

impl Drop for Imported {
    fn drop(&mut self) {
        // Producers may touch Python objects in their deleters.
        let give_back = || {
            // SAFETY: the tensor came from a capsule that was renamed, so this is its only owner, and this runs once.
            unsafe {
                if let Some(deleter) = (*self.0.as_ptr()).deleter {
                    deleter(self.0.as_ptr());
                }
            }
        };
        if Python::try_attach(|_| give_back()).is_none() {
            give_back();
        }
    }
}

/// Whether elements of `found` can be read as `wanted`: of the same type, as integers of the same size, and booleans as
/// integers of one byte.
fn reads(wanted: Scalar, found: Scalar) -> bool {
    wanted == found
        || wanted.is_int() && found.size() == wanted.size() && (found.is_int() || found == Scalar::Bool)
}

/// An array over the memory of an object with `__dlpack__`, or of a capsule. Without `dtype` the elements are
/// scalars; a vector or matrix type takes up the last dimensions.
#[pyfunction]
#[pyo3(signature = (source, dtype = None))]
pub fn from_dlpack<'py>(
    source: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, Array>> {
    boundary(source.py(), "from_dlpack")?;
    import(source, dtype)
}

/// As [`from_dlpack`], for an argument of a launch.
///
/// # Errors
/// For objects without such a tensor, or whose tensor does not fit.
pub fn import<'py>(
    source: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, Array>> {
    let py = source.py();
    let capsule = if source.hasattr(intern!(py, "__dlpack__"))? {
        let (kind, id): (i32, i32) = source.call_method0(intern!(py, "__dlpack_device__"))?.extract()?;
        if kind == CUDA {
            let device = Device::cuda(id as u32).into_py(py)?;
            let options = PyDict::new(py);
            options.set_item("stream", device.stream().into_py(py)?.handle().max(1))?;
            source.call_method(intern!(py, "__dlpack__"), (), Some(&options))?
        } else {
            source.call_method0(intern!(py, "__dlpack__"))?
        }
    } else {
        source.clone()
    };
    // SAFETY: `capsule` is a live object; the name is checked before the pointer is taken, and renaming it makes
    // this the tensor's only owner.
    let tensor = unsafe {
        if ffi::PyCapsule_IsValid(capsule.as_ptr(), NAME.as_ptr()) == 0 {
            let message = format!("{} offers no DLPack tensor that was not used before", class_name(source));
            return Err(PyTypeError::new_err(message));
        }
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), NAME.as_ptr());
        let tensor = NonNull::new(pointer.cast::<DlManagedTensor>());
        if ffi::PyCapsule_SetName(capsule.as_ptr(), USED.as_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        tensor
    };
    let Some(tensor) = tensor else { return Err(PyValueError::new_err("the DLPack capsule is empty")) };
    let owner = Imported(tensor);
    // SAFETY: the producer keeps the tensor valid until its deleter is called, which `owner` does.
    let view = unsafe { &(*owner.0.as_ptr()).tensor };
    let device = match view.device.device_type {
        CPU | CUDA_HOST => Device::cpu(),
        CUDA => Device::cuda(view.device.device_id as u32).into_py(py)?,
        other => {
            return Err(argument_error(py, format!("arrays cannot lie on DLPack devices of type {other}")));
        }
    };
    let Some(scalar) = scalar_of(view.dtype) else {
        let DlDataType { code, bits, lanes } = view.dtype;
        let message =
            format!("arrays cannot hold DLPack elements of code {code}, {bits} bits, {lanes} lanes");
        return Err(argument_error(py, message));
    };
    let (ty, object) = match dtype_argument(dtype)? {
        Some(dtype) => dtype,
        None => (Type::Scalar(scalar), class_of(py, Type::Scalar(scalar))?),
    };
    let ndim = usize::try_from(view.ndim).unwrap_or(0);
    let list = |pointer: *const i64| {
        if pointer.is_null() || ndim == 0 {
            return None;
        }
        // SAFETY: DLPack says that shape, and strides when not null, have `ndim` entries.
        Some(unsafe { std::slice::from_raw_parts(pointer, ndim) }.to_vec())
    };
    let mut shape = list(view.shape).unwrap_or_default();
    let size = i64::from(scalar.size());
    let mut strides: Option<Vec<i64>> = list(view.strides).map(|s| s.into_iter().map(|s| s * size).collect());
    let (inner, inner_bytes) = (inner_shape(ty), inner_strides(ty));
    let fits = ty.scalar().is_some_and(|wanted| reads(wanted, scalar))
        && shape.ends_with(&inner)
        && strides.as_ref().is_none_or(|s| s.ends_with(&inner_bytes));
    if !fits {
        let message = format!(
            "a tensor of shape {shape:?} of {} cannot be read as {}",
            scalar.python_name(),
            ty.python_name()
        );
        return Err(argument_error(py, message));
    }
    shape.truncate(shape.len() - inner.len());
    if let Some(strides) = &mut strides {
        strides.truncate(shape.len());
    }
    if shape.is_empty() {
        shape.push(1);
        strides = None;
    }
    let address = view.data.expose_provenance() as u64 + view.byte_offset;
    // SAFETY: the tensor describes elements of the device that stay valid until its deleter is called; ordering
    // with the producer's work was arranged by `__dlpack__` above.
    let array =
        unsafe { rt::Array::foreign(device, ty, address, &shape, strides.as_deref(), Box::new(owner)) };
    Array::wrap(py, array.into_py(py)?, object.unbind())
}

/// A DLPack capsule of an array.
#[pyfunction]
pub fn to_dlpack<'py>(wp_array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    export(crate::array_arguments::array_argument(wp_array, "wp_array")?, None)
}
