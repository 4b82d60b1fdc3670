//! Arrays from and to the data of other libraries.

use inkle_graph::capture::check_read;
use inkle_ir::{Scalar, Type};
use inkle_runtime::record::may_be_recording;
use inkle_runtime::{self as rt, Device};
use pyo3::exceptions::{PyAttributeError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::array::Array;
use crate::array_arguments::gathered;
use crate::array_new::{Source, dtype_argument, element_bytes, shape_argument};
use crate::composite::make_from_bytes;
use crate::device::device_argument;
use crate::dtype::class_of;
use crate::error::{IntoPyResult, argument_error, class_name};
use crate::interface::{inner_shape, inner_strides, scalar_of_typestr, typestr};
use crate::number;
use crate::observe::{boundary, host_read, host_view};
use crate::structs::{Struct, StructInstance, numpy_dtype};

fn numpy_module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "numpy"))
}

/// The numpy dtype of an element type's scalars, or of a struct.
fn numpy_dtype_of<'py>(py: Python<'py>, ty: Type) -> PyResult<Bound<'py, PyAny>> {
    let numpy = numpy_module(py)?;
    match ty {
        Type::Struct(decl) => numpy.call_method1("dtype", (numpy_dtype(py, decl)?,)),
        other => numpy.call_method1("dtype", (typestr(scalar_of(py, other)?),)),
    }
}

fn scalar_of(py: Python<'_>, ty: Type) -> PyResult<Scalar> {
    ty.scalar().ok_or_else(|| argument_error(py, format!("{} is not made of scalars", ty.python_name())))
}

/// An array with the elements of a Python object, as the constructor's other arguments ask.
///
/// # Errors
/// When the object holds no elements, or not of the type and shape asked for.
pub fn from_data(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    dtype: Option<(Type, Bound<'_, PyAny>)>,
    source: &Source<'_, '_>,
) -> PyResult<(rt::Array, Py<PyAny>)> {
    if let Ok(array) = data.cast::<Array>() {
        return from_array(py, &gathered(array)?, dtype, source);
    }
    let is_host =
        data.hasattr(intern!(py, "__array_interface__"))? || data.hasattr(intern!(py, "__array__"))?;
    if is_host {
        boundary(py, "from_numpy")?;
    }
    // Some objects have both; then the one of the wanted device is right, if it is one of that device.
    let prefers_host =
        is_host && (device_argument(py, source.device)?.is_cpu() || is_on_host_only(data).unwrap_or(false));
    if !prefers_host && data.hasattr(intern!(py, "__cuda_array_interface__"))? {
        return from_cuda(py, data, dtype, source);
    }
    if let Some((ty @ Type::Struct(_), object)) = &dtype
        && let Ok(items) = data.cast::<PyList>()
        && items.iter().all(|item| item.is_instance_of::<StructInstance>())
    {
        let (mut bytes, mut referents) = (Vec::new(), Vec::new());
        for item in items.iter() {
            bytes.extend(element_bytes(&item, *ty)?);
            referents.extend(item.cast::<StructInstance>()?.get().referents(py));
        }
        let shape = match source.shape {
            Some(shape) => shape_argument(shape)?,
            None => vec![items.len() as i64],
        };
        let array = place(py, source, *ty, &shape, &bytes)?;
        array.set_referents(referents);
        return Ok((array, object.clone().unbind()));
    }
    if !is_host && data.hasattr(intern!(py, "__dlpack__"))? {
        let array = crate::dlpack::from_dlpack(data, None)?;
        let source = Source { data: None, ..*source };
        return from_array(py, &array, dtype, &source);
    }
    from_host(py, data, dtype, source)
}

/// New memory where `source` asks for it, with these bytes.
fn place(
    py: Python<'_>,
    source: &Source<'_, '_>,
    ty: Type,
    shape: &[i64],
    bytes: &[u8],
) -> PyResult<rt::Array> {
    let device = device_argument(py, source.device)?;
    if source.pinned && device.is_cpu() {
        let array = rt::Array::pinned(ty, shape).into_py(py)?;
        array.write_bytes(bytes).into_py(py)?;
        return Ok(array);
    }
    rt::Array::from_bytes(device, ty, shape, bytes).into_py(py)
}

fn from_array(
    py: Python<'_>,
    array: &Bound<'_, Array>,
    dtype: Option<(Type, Bound<'_, PyAny>)>,
    source: &Source<'_, '_>,
) -> PyResult<(rt::Array, Py<PyAny>)> {
    let runtime = array.get().runtime(py)?;
    let device = match source.device {
        Some(device) => device_argument(py, Some(device))?,
        None => runtime.device(),
    };
    let same_type = dtype.as_ref().is_none_or(|(ty, _)| *ty == runtime.dtype());
    if !same_type {
        let host = numpy(array)?;
        return from_host(py, &host, dtype, source);
    }
    let shape = source.shape.map(shape_argument).transpose()?;
    let shaped = match &shape {
        Some(shape) => runtime.reshape(shape).into_py(py)?,
        None => runtime.clone(),
    };
    let made = if !source.copy && device == runtime.device() {
        shaped
    } else {
        let shape: Vec<i64> = shaped.shape().iter().map(|&n| n.into()).collect();
        let made = if source.pinned && device.is_cpu() {
            rt::Array::pinned(shaped.dtype(), &shape)
        } else {
            rt::Array::empty(device, shaped.dtype(), &shape)
        };
        let made = made.into_py(py)?;
        made.copy_from(&shaped, None).into_py(py)?;
        made
    };
    Ok((made, array.get().dtype_object(py)?))
}

/// How `shape` extents of scalars make an array of `ty`: the last dimensions that together are a multiple of its
/// components become its components.
fn element_shape(py: Python<'_>, shape: &[i64], ty: Type) -> PyResult<Vec<i64>> {
    let Some(count) = ty.component_count().filter(|_| !matches!(ty, Type::Scalar(_))) else {
        return Ok(shape.to_vec());
    };
    let count = i64::from(count);
    let mut product = 1;
    for (dims, extent) in shape.iter().rev().enumerate() {
        product *= extent;
        if product % count == 0 && (product > 0 || *extent == 0) {
            let leading = &shape[..shape.len() - dims - 1];
            let repeats = product / count;
            let mut out = leading.to_vec();
            if repeats != 1 || leading.is_empty() {
                out.push(repeats);
            }
            return Ok(out);
        }
    }
    let message =
        format!("data of shape {shape:?} does not divide into {} of {count} components", ty.python_name());
    Err(argument_error(py, message))
}

fn from_host(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    dtype: Option<(Type, Bound<'_, PyAny>)>,
    source: &Source<'_, '_>,
) -> PyResult<(rt::Array, Py<PyAny>)> {
    let numpy = numpy_module(py)?;
    if number::is_number(data) && !data.hasattr(intern!(py, "__array_interface__"))? {
        return Err(argument_error(
            py,
            format!("the data of an array is a sequence or an array, not {}", class_name(data)),
        ));
    }
    let existing =
        data.hasattr(intern!(py, "__array_interface__"))? || data.hasattr(intern!(py, "__array__"))?;
    let given = if existing {
        numpy.call_method1("asarray", (data,))?
    } else {
        let options = PyDict::new(py);
        match &dtype {
            // Numpy has no bfloat16, so its values are read as float32 and rounded below.
            Some((ty, _)) if ty.scalar() == Some(Scalar::BF16) => options.set_item("dtype", "<f4")?,
            Some((ty, _)) => options.set_item("dtype", numpy_dtype_of(py, *ty)?)?,
            None => {}
        }
        numpy.call_method("array", (data,), Some(&options)).map_err(|error| {
            let wanted = dtype.as_ref().map_or_else(|| "an array".to_owned(), |(ty, _)| ty.python_name());
            let known = error.is_instance_of::<PyOverflowError>(py)
                || error.is_instance_of::<PyTypeError>(py)
                || error.is_instance_of::<PyValueError>(py);
            if known {
                argument_error(py, format!("the data cannot be made {wanted}: {}", error.value(py)))
            } else {
                error
            }
        })?
    };
    // The package `ml_dtypes` adds bfloat16 to numpy.
    let is_bf16 = given.getattr("dtype")?.getattr("name")?.eq("bfloat16")?;
    let keeps_bits = is_bf16 && dtype.as_ref().is_none_or(|(ty, _)| ty.scalar() == Some(Scalar::BF16));
    let given = if keeps_bits { given.call_method1("view", ("<u2",))? } else { given };
    let dtype = match dtype {
        None if keeps_bits => {
            let bf16 = Type::Scalar(Scalar::BF16);
            Some((bf16, class_of(py, bf16)?))
        }
        dtype => dtype,
    };
    let text: String = given.getattr("dtype")?.getattr("str")?.extract()?;
    let (ty, object) = match dtype {
        Some(dtype) => dtype,
        None => match scalar_of_typestr(&text) {
            Some(scalar) => (Type::Scalar(scalar), class_of(py, Type::Scalar(scalar))?),
            None => {
                let name = given.getattr("dtype")?.str()?;
                return Err(argument_error(py, format!("arrays cannot hold elements of numpy type {name}")));
            }
        },
    };
    let (converted, is_shared) = convert(py, &given, ty, &text, existing)?;
    let own_shape: Vec<i64> = converted.getattr("shape")?.extract()?;
    let shape = match source.shape {
        Some(shape) => shape_argument(shape)?,
        None if own_shape.is_empty() => element_shape(py, &[1], ty)?,
        None => element_shape(py, &own_shape, ty)?,
    };
    let device = device_argument(py, source.device)?;
    if !source.copy
        && is_shared
        && device.is_cpu()
        && source.shape.is_none()
        && let Some(shared) = share(&converted, ty, &shape)?
    {
        return Ok((shared, object.unbind()));
    }
    let flat = numpy.call_method1("ascontiguousarray", (&converted,))?;
    let size: usize = flat.getattr("nbytes")?.extract()?;
    let needed = shape.iter().try_fold(u64::from(ty.size()), |n, &e| n.checked_mul(e.max(0) as u64));
    if needed != Some(size as u64) {
        let message = format!(
            "data of shape {own_shape:?} cannot be given the shape {shape:?} of {}",
            ty.python_name()
        );
        return Err(argument_error(py, message));
    }
    if is_traced(device)
        && !matches!(ty, Type::Struct(_))
        && size > 0
        && let Some(made) = copied(py, &flat, source, ty, &shape)?
    {
        return Ok((made, object.unbind()));
    }
    let address: usize = flat.getattr("ctypes")?.getattr("data")?.extract()?;
    let bytes = if size == 0 {
        &[]
    } else {
        // SAFETY: `flat` is a contiguous numpy array of `size` bytes at `address`, alive until the end of this
        // function, and nothing below runs Python code that could change it.
        unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(address), size) }
    };
    Ok((place(py, source, ty, &shape, bytes)?, object.unbind()))
}

/// Whether an observer wants to know what becomes of values, and runs what it is shown.
fn is_traced(device: Device) -> bool {
    inkle_graph::capture::has_observer() && !inkle_graph::capture::is_capturing(device)
}

/// New memory with the elements of a contiguous numpy array, by a copy that the observer sees; `None` if their layout
/// cannot be described.
fn copied(
    py: Python<'_>,
    flat: &Bound<'_, PyAny>,
    source: &Source<'_, '_>,
    ty: Type,
    shape: &[i64],
) -> PyResult<Option<rt::Array>> {
    let extents: Vec<i64> = shape.iter().copied().chain(inner_shape(ty)).collect();
    let shaped = flat.call_method1("reshape", (extents,))?;
    let Some(shared) = share(&shaped, ty, shape)? else { return Ok(None) };
    let device = device_argument(py, source.device)?;
    let made = if source.pinned && device.is_cpu() {
        rt::Array::pinned(ty, shape)
    } else {
        rt::Array::empty(device, ty, shape)
    };
    let made = made.into_py(py)?;
    made.copy_from(&shared, None).into_py(py)?;
    Ok(Some(made))
}

/// The numpy array in the scalars of `ty`, and whether it is the given one.
fn convert<'py>(
    py: Python<'py>,
    given: &Bound<'py, PyAny>,
    ty: Type,
    text: &str,
    existing: bool,
) -> PyResult<(Bound<'py, PyAny>, bool)> {
    if let Type::Struct(_) = ty {
        let wanted = ty.size();
        let found: u32 = given.getattr("dtype")?.getattr("itemsize")?.extract()?;
        if found != wanted {
            let message = format!(
                "elements of {found} bytes cannot be read as struct {} of {wanted}",
                ty.python_name()
            );
            return Err(argument_error(py, message));
        }
        return Ok((given.clone(), existing));
    }
    let scalar = scalar_of(py, ty)?;
    if scalar_of_typestr(text) == Some(scalar) || (scalar == Scalar::BF16 && text == "<u2") {
        return Ok((given.clone(), existing));
    }
    let options = PyDict::new(py);
    options.set_item("copy", true)?;
    if scalar == Scalar::BF16 {
        let floats = given.call_method1("astype", ("<f4",))?;
        return Ok((round_to_bf16(py, &floats)?, false));
    }
    let converted = given.call_method("astype", (typestr(scalar),), Some(&options)).map_err(|error| {
        argument_error(py, format!("the data cannot be made {}: {}", scalar.python_name(), error.value(py)))
    })?;
    Ok((converted, false))
}

/// The bits of float32 values rounded to bfloat16, as numpy's `uint16`.
fn round_to_bf16<'py>(py: Python<'py>, floats: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let numpy = numpy_module(py)?;
    let shape = floats.getattr("shape")?;
    let values: Vec<f32> = numpy.call_method1("ravel", (floats,))?.call_method0("tolist")?.extract()?;
    let bits: Vec<u16> = values.into_iter().map(|v| half::bf16::from_f32(v).to_bits()).collect();
    numpy.call_method1("array", (bits, "<u2"))?.call_method1("reshape", (shape,))
}

/// An array over a numpy array's own memory; `None` when its layout cannot be described.
fn share(data: &Bound<'_, PyAny>, ty: Type, shape: &[i64]) -> PyResult<Option<rt::Array>> {
    let own_shape: Vec<i64> = data.getattr("shape")?.extract()?;
    let own_strides: Vec<i64> = data.getattr("strides")?.extract()?;
    let (inner, inner_bytes) = (inner_shape(ty), inner_strides(ty));
    let leading = own_shape.len().saturating_sub(inner.len());
    let fits = own_shape[leading..] == inner[..] && own_strides[leading..] == inner_bytes[..];
    if !fits || own_shape[..leading] != *shape {
        return Ok(None);
    }
    let address: u64 = data.getattr("ctypes")?.getattr("data")?.extract()?;
    let keep_alive = Box::new(data.clone().unbind());
    // SAFETY: the numpy array owns or borrows these elements and is kept alive by `keep_alive`.
    let array = unsafe {
        rt::Array::foreign(Device::cpu(), ty, address, shape, Some(&own_strides[..leading]), keep_alive)
    };
    Ok(array.ok())
}

/// Whether an object names one address both for the host and for a GPU.
fn is_on_host_only(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = data.py();
    let host = data.getattr(intern!(py, "__array_interface__"))?.get_item("data")?.get_item(0)?;
    let cuda = data.getattr(intern!(py, "__cuda_array_interface__"))?.get_item("data")?.get_item(0)?;
    host.eq(cuda)
}

fn from_cuda(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    dtype: Option<(Type, Bound<'_, PyAny>)>,
    source: &Source<'_, '_>,
) -> PyResult<(rt::Array, Py<PyAny>)> {
    let view = Interface::read(&data.getattr(intern!(py, "__cuda_array_interface__"))?)?;
    let wanted = source.device.map(|device| device_argument(py, Some(device))).transpose()?;
    // The elements are on a GPU whatever device is asked for.
    let device = match wanted {
        Some(device) if device.is_cuda() => device,
        _ => inkle_runtime::device("cuda").into_py(py)?,
    };
    let (ty, object) = match dtype {
        Some(dtype) => dtype,
        None => (Type::Scalar(view.scalar), class_of(py, Type::Scalar(view.scalar))?),
    };
    if ty.scalar() != Some(view.scalar) {
        let message = format!("the data holds {}, not {}", view.scalar.python_name(), ty.python_name());
        return Err(argument_error(py, message));
    }
    let shared = view.array(py, device, ty, data)?;
    let shared = match source.shape {
        Some(shape) => shared.reshape(&shape_argument(shape)?).into_py(py)?,
        None => shared,
    };
    if let Some(wanted) = wanted.filter(|wanted| *wanted != device) {
        return Ok((shared.to_device(wanted).into_py(py)?, object.unbind()));
    }
    if source.copy {
        return Ok((shared.to_contiguous(None).into_py(py)?, object.unbind()));
    }
    Ok((shared, object.unbind()))
}

/// An object's description of its elements: `__array_interface__` or `__cuda_array_interface__`.
pub struct Interface {
    /// The type of the elements.
    pub scalar: Scalar,
    address: u64,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
}

impl Interface {
    /// Reads the dictionary.
    ///
    /// # Errors
    /// When it lacks something, or describes elements that arrays cannot hold.
    pub fn read(dict: &Bound<'_, PyAny>) -> PyResult<Interface> {
        let py = dict.py();
        let text: String = dict.get_item("typestr")?.extract()?;
        let Some(scalar) = scalar_of_typestr(&text) else {
            return Err(argument_error(py, format!("arrays cannot hold elements of type `{text}`")));
        };
        let strides = match dict.cast::<PyDict>()?.get_item("strides")? {
            Some(strides) if !strides.is_none() => Some(strides.extract()?),
            _ => None,
        };
        let address = dict.get_item("data")?.get_item(0)?;
        let address = if address.is_none() { 0 } else { address.extract()? };
        Ok(Interface { scalar, address, shape: dict.get_item("shape")?.extract()?, strides })
    }

    /// An array of `ty` over the described memory; `owner` is kept alive.
    ///
    /// # Errors
    /// When the last dimensions are not the components of `ty`.
    pub fn array(
        &self,
        py: Python<'_>,
        device: Device,
        ty: Type,
        owner: &Bound<'_, PyAny>,
    ) -> PyResult<rt::Array> {
        let inner = inner_shape(ty);
        let leading = self.shape.len().checked_sub(inner.len());
        let fits = leading.is_some_and(|n| {
            self.shape[n..] == inner[..]
                && self.strides.as_ref().is_none_or(|s| s[n..] == inner_strides(ty)[..])
        });
        let Some(leading) = leading.filter(|_| fits && ty.scalar() == Some(self.scalar)) else {
            let message = format!(
                "data of shape {:?} of {} cannot be read as {}",
                self.shape,
                self.scalar.python_name(),
                ty.python_name()
            );
            return Err(argument_error(py, message));
        };
        let shape = if leading == 0 { vec![1] } else { self.shape[..leading].to_vec() };
        let strides = self.strides.as_ref().filter(|_| leading > 0).map(|s| &s[..leading]);
        let keep_alive = Box::new(owner.clone().unbind());
        // SAFETY: the owner describes these elements as its own and is kept alive by `keep_alive`.
        unsafe { rt::Array::foreign(device, ty, self.address, &shape, strides, keep_alive) }.into_py(py)
    }
}

/// Copies elements of another array, a numpy array or a sequence into an array.
///
/// # Errors
/// When the source has more elements than fit, or another type.
pub fn assign(array: &Bound<'_, Array>, src: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = array.py();
    let target = array.get().runtime(py)?;
    let source = source_for(array, src)?;
    if source.shape() == target.shape() {
        return target.copy_from(&source, None).into_py(py);
    }
    if source.len() != target.len() && !src.is_instance_of::<Array>() {
        let (given, wanted) = (source.shape(), target.shape());
        let message = format!("data of shape {given:?} cannot be assigned to an array of shape {wanted:?}");
        return Err(argument_error(py, message));
    }
    target.copy_range_from(0, &source, 0, source.len(), None).into_py(py)
}

/// As [`assign`], but the shapes must be equal.
///
/// # Errors
/// When they are not, and those of `assign`.
pub fn assign_exactly(array: &Bound<'_, Array>, src: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = array.py();
    let source = source_for(array, src)?;
    array.get().runtime(py)?.copy_from(&source, None).into_py(py)
}

fn source_for(array: &Bound<'_, Array>, src: &Bound<'_, PyAny>) -> PyResult<rt::Array> {
    let py = array.py();
    let target = array.get().runtime(py)?;
    if let Ok(src) = src.cast::<Array>() {
        return Ok(gathered(src)?.get().runtime(py)?.clone());
    }
    let cpu = pyo3::types::PyString::new(py, "cpu").into_any();
    let source = Source {
        data: Some(src),
        dtype: None,
        shape: None,
        strides: None,
        ptr: None,
        capacity: None,
        device: Some(&cpu),
        pinned: false,
        copy: false,
        deleter: None,
    };
    let dtype = array.get().dtype_object(py)?.into_bound(py);
    let dtype = dtype_argument(Some(&dtype))?.map(|(_, object)| (target.dtype(), object));
    let (array, _) = from_data(py, src, dtype, &source)?;
    // A graph that is captured now has the values of now, whatever becomes of the memory they came in. An observer sees
    // the copy run, and knows the memory.
    if may_be_recording() && !is_traced(target.device()) { array.snapshot().into_py(py) } else { Ok(array) }
}

/// The value of a view without dimensions.
///
/// # Errors
/// Those of copying from the device.
pub fn element<'py>(
    py: Python<'py>,
    part: &rt::Array,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    check_read(part, "array.__getitem__").into_py(py)?;
    host_read(py, part)?;
    let bytes = part.to_bytes().into_py(py)?;
    element_from_bytes(py, part.dtype(), dtype, &bytes)
}

fn element_from_bytes<'py>(
    py: Python<'py>,
    ty: Type,
    dtype: &Bound<'py, PyAny>,
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    match ty {
        Type::Scalar(scalar) => number::to_python(py, number::read(scalar, bytes)),
        Type::Struct(_) => Struct::instance_from_bytes(dtype.cast::<Struct>()?, bytes),
        other => make_from_bytes(py, other, bytes),
    }
}

/// The elements in one flat list.
///
/// # Errors
/// Those of copying from the device.
pub fn list<'py>(array: &Bound<'py, Array>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let runtime = array.get().runtime(py)?;
    let dtype = array.get().dtype_object(py)?.into_bound(py);
    check_read(runtime, "array.list").into_py(py)?;
    host_read(py, runtime)?;
    let bytes = runtime.to_bytes().into_py(py)?;
    let items = bytes
        .chunks_exact(runtime.elem_bytes().max(1))
        .map(|bytes| element_from_bytes(py, runtime.dtype(), &dtype, bytes))
        .collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, items)?.into_any())
}

/// A numpy array: on the CPU it shares memory, from a GPU it is a copy made after the queued work.
///
/// # Errors
/// Those of copying from the device.
pub fn numpy<'py>(array: &Bound<'py, Array>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    boundary(py, "numpy")?;
    let runtime = array.get().runtime(py)?;
    check_read(runtime, "array.numpy").into_py(py)?;
    let numpy = numpy_module(py)?;
    let ty = runtime.dtype();
    let bf16 = if ty.scalar() == Some(Scalar::BF16) { bfloat16(py) } else { None };
    if runtime.is_empty() {
        let shape = PyTuple::new(py, full_shape(runtime))?;
        return match bf16 {
            Some(bf16) => numpy.call_method1("empty", (shape, bf16)),
            None => numpy.call_method1("empty", (shape, numpy_dtype_of(py, ty)?)),
        };
    }
    let host = if runtime.device().is_cpu() {
        array.clone()
    } else {
        let (source, device) = (runtime.clone(), runtime.device());
        let copy = crate::error::blocking(py, move || {
            let copy = source.to_device(Device::cpu())?;
            device.stream()?.synchronize()?;
            Ok(copy)
        })?;
        Array::wrap(py, copy, array.get().dtype_object(py)?)?
    };
    let view = numpy.call_method1("asarray", (&host,))?;
    let view = match (ty, bf16) {
        (Type::Struct(_), _) => view.call_method1("view", (numpy_dtype_of(py, ty)?,))?,
        (_, Some(bf16)) => view.call_method1("view", (bf16,))?,
        _ => view,
    };
    host_view(array, view)
}

/// The scalar class that the package `ml_dtypes` gives numpy for bfloat16; `None` where it is not installed.
fn bfloat16(py: Python<'_>) -> Option<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let class = CLASS.get_or_init(py, || {
        py.import("ml_dtypes").and_then(|m| m.getattr("bfloat16")).ok().map(Bound::unbind)
    });
    class.as_ref().map(|class| class.bind(py))
}

/// The extents with those of the element's components.
fn full_shape(array: &rt::Array) -> Vec<i64> {
    array.shape().iter().map(|&n| i64::from(n)).chain(inner_shape(array.dtype())).collect()
}

fn interface<'py>(py: Python<'py>, array: &rt::Array) -> PyResult<Bound<'py, PyDict>> {
    let ty = array.dtype();
    let dict = PyDict::new(py);
    // Numpy takes a null address for memory that it is to allocate, GPU libraries want it for no elements.
    let address = match (array.is_empty(), array.device().is_cpu()) {
        (false, _) => array.address(),
        (true, true) => rt::HOST_ALIGN as u64,
        (true, false) => 0,
    };
    dict.set_item("data", (address, false))?;
    dict.set_item("shape", PyTuple::new(py, full_shape(array))?)?;
    let strides = array.strides().iter().copied().chain(inner_strides(ty));
    dict.set_item("strides", PyTuple::new(py, strides.collect::<Vec<_>>())?)?;
    match ty {
        Type::Struct(_) => dict.set_item("typestr", format!("|V{}", ty.size()))?,
        other => dict.set_item("typestr", typestr(scalar_of(py, other)?))?,
    }
    dict.set_item("version", 3)?;
    Ok(dict)
}

/// The array as a numpy array, for numpy's own conversion protocol.
///
/// # Errors
/// `TypeError` for an array on a GPU.
pub fn to_numpy<'py>(
    array: &Bound<'py, Array>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    if let Some(data) = array.get().data().filter(|data| data.array().device().is_cuda()) {
        let device = data.array().device();
        return Err(PyTypeError::new_err(format!(
            "implicit NumPy conversion is for arrays on the CPU, and this one is on {}; copy it with \
             `array.numpy()`",
            device.alias()
        )));
    }
    let shared = array.call_method0(intern!(py, "numpy"))?;
    let options = PyDict::new(py);
    options.set_item("dtype", dtype)?;
    options.set_item("copy", copy)?;
    numpy_module(py)?.getattr("array")?.call((shared,), Some(&options))
}

/// The array as numpy reads it.
///
/// # Errors
/// `AttributeError` for an annotation or an array on a GPU.
pub fn array_interface<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyDict>> {
    match array.data() {
        Some(data) if data.array().device().is_cpu() => interface(py, data.array()),
        _ => Err(PyAttributeError::new_err("`__array_interface__` is for arrays on the CPU")),
    }
}

/// The array as libraries for GPUs read it.
///
/// # Errors
/// `AttributeError` for an annotation or an array on the CPU.
pub fn cuda_array_interface<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyDict>> {
    match array.data() {
        Some(data) if data.array().device().is_cuda() => {
            let dict = interface(py, data.array())?;
            let stream = data.array().device().stream().into_py(py)?;
            // Zero is not allowed here; one is the legacy default stream.
            dict.set_item("stream", stream.handle().max(1))?;
            Ok(dict)
        }
        _ => Err(PyAttributeError::new_err("`__cuda_array_interface__` is for arrays on a GPU")),
    }
}
