//! Devices as Python objects, and the functions about them.

use std::sync::Mutex;

use inkle_runtime::Device;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::{IntoPyResult, blocking, class_name};
use crate::observe::boundary;
use crate::stream::{PyStream, current_stream, make_current};

/// The CPU or a GPU. Equal to its alias, so `device == "cuda:0"` can be asked.
#[pyclass(frozen, module = "inkle", name = "Device", weakref)]
pub struct PyDevice {
    device: Device,
}

impl PyDevice {
    /// The runtime's device.
    pub fn device(&self) -> Device {
        self.device
    }
}

/// The one object of each device.
static OBJECTS: Mutex<Vec<(Device, Py<PyDevice>)>> = Mutex::new(Vec::new());

/// The object of a device, always the same one.
///
/// # Errors
/// What Python raises while it is made.
pub fn device_object(py: Python<'_>, device: Device) -> PyResult<Py<PyDevice>> {
    let known = |objects: &Vec<(Device, Py<PyDevice>)>| {
        objects.iter().find(|(d, _)| *d == device).map(|(_, object)| object.clone_ref(py))
    };
    if let Some(object) = known(&OBJECTS.lock().unwrap_or_else(|e| e.into_inner())) {
        return Ok(object);
    }
    let object = Py::new(py, PyDevice { device })?;
    let mut objects = OBJECTS.lock().unwrap_or_else(|e| e.into_inner());
    objects.push((device, object.clone_ref(py)));
    Ok(object)
}

/// The device an argument means: a device, its name, or `None` for the default device.
///
/// # Errors
/// For a name that is no device's, and for other objects.
pub fn device_argument(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Device> {
    let Some(device) = device else { return Ok(inkle_runtime::default_device()) };
    if let Ok(device) = device.cast::<PyDevice>() {
        return Ok(device.get().device);
    }
    if let Ok(name) = device.cast::<PyString>() {
        return inkle_runtime::device(name.to_str()?).into_py(py);
    }
    if device.is_none() {
        return Ok(inkle_runtime::default_device());
    }
    Err(PyValueError::new_err(format!(
        "a device is given by name or as an object, not as {}",
        class_name(device)
    )))
}

#[pymethods]
impl PyDevice {
    /// How users name it: `cpu`, `cuda:0`.
    #[getter]
    fn alias(&self) -> &'static str {
        self.device.alias()
    }

    /// The maker's name of it.
    #[getter]
    fn name(&self) -> &'static str {
        self.device.name()
    }

    /// The GPU's ordinal; -1 for the CPU.
    #[getter]
    fn ordinal(&self) -> i64 {
        self.device.ordinal().map_or(-1, i64::from)
    }

    /// Whether it is the CPU.
    #[getter]
    fn is_cpu(&self) -> bool {
        self.device.is_cpu()
    }

    /// Whether it is a GPU.
    #[getter]
    fn is_cuda(&self) -> bool {
        self.device.is_cuda()
    }

    /// Whether it is used through the GPU's primary context, which other libraries share.
    #[getter]
    fn is_primary(&self) -> bool {
        self.device.is_cuda()
    }

    /// The GPU's compute capability, 90 for sm_90; zero for the CPU.
    #[getter]
    fn arch(&self) -> u32 {
        self.device.arch()
    }

    /// The number of multiprocessors; zero for the CPU.
    #[getter]
    fn sm_count(&self) -> u32 {
        self.device.sm_count()
    }

    /// The most shared memory a block can ask for, bytes; zero for the CPU.
    #[getter]
    fn max_shared_memory_per_block(&self) -> u32 {
        self.device.max_shared_bytes()
    }

    /// The GPU's unique identifier.
    #[getter]
    fn uuid(&self) -> Option<&'static str> {
        self.device.uuid()
    }

    /// The GPU's place on the bus.
    #[getter]
    fn pci_bus_id(&self) -> Option<&'static str> {
        self.device.pci_bus_id()
    }

    /// Whether addresses of host and GPU are of one space.
    #[getter]
    fn is_uva(&self) -> bool {
        self.device.is_uva()
    }

    /// Whether the GPU has stream-ordered memory pools.
    #[getter]
    fn is_mempool_supported(&self) -> bool {
        self.device.is_mempool_supported()
    }

    /// Whether new allocations come from the stream-ordered pool.
    #[getter]
    fn is_mempool_enabled(&self) -> bool {
        self.device.is_mempool_enabled()
    }

    /// Whether compiled GPU code, rather than PTX, can be loaded.
    #[getter]
    fn is_cubin_supported(&self) -> bool {
        self.device.is_cuda()
    }

    /// The size of the device's memory, bytes.
    #[getter]
    fn total_memory(&self) -> usize {
        self.device.total_memory()
    }

    /// How much of the device's memory is free, bytes.
    #[getter]
    fn free_memory(&self, py: Python<'_>) -> PyResult<usize> {
        self.device.free_memory().into_py(py)
    }

    /// The GPU's current stream.
    #[getter]
    fn stream(&self, py: Python<'_>) -> PyResult<Py<PyStream>> {
        current_stream(py, self.device)
    }

    /// Whether the device has streams.
    #[getter]
    fn has_stream(&self) -> bool {
        self.device.is_cuda()
    }

    /// Makes `stream` current; `sync` first makes it wait for the one before.
    #[pyo3(signature = (stream, sync = true))]
    fn set_stream(&self, py: Python<'_>, stream: &Bound<'_, PyStream>, sync: bool) -> PyResult<()> {
        let device = self.device;
        if sync {
            let (new, old) = (stream.get().stream(), device.stream().into_py(py)?);
            // What is captured cannot wait for what is not.
            let cannot_wait =
                device.is_cuda() && new.is_capturing().into_py(py)? && !old.is_capturing().into_py(py)?;
            if !cannot_wait {
                new.wait_stream(&old).into_py(py)?;
            }
        }
        make_current(stream, device)
    }

    /// Whether a graph of this thread is recorded: of what it does on the CPU, or on the device's current stream.
    #[getter]
    fn is_capturing(&self, py: Python<'_>) -> PyResult<bool> {
        if self.device.is_cpu() {
            return Ok(inkle_graph::capture::is_capturing(self.device));
        }
        self.device.stream().and_then(|s| s.is_capturing()).into_py(py)
    }

    /// Whether kernels here can use memory of `other` directly.
    fn can_access(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let other = device_argument(py, Some(other))?;
        if self.device == other {
            return Ok(true);
        }
        if self.device.is_cuda() && other.is_cuda() {
            return self.device.can_access_peer(other).into_py(py);
        }
        Ok(false)
    }

    /// Nothing to do: contexts are made current where they are needed.
    fn make_current(&self) {}

    fn __str__(&self) -> &'static str {
        self.device.alias()
    }

    fn __repr__(&self) -> String {
        format!("'{}'", self.device.alias())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(other) = other.cast::<PyDevice>() {
            return Ok(self.device == other.get().device);
        }
        match other.cast::<PyString>() {
            Ok(name) => Ok(match name.to_str()? {
                "cuda" => inkle_runtime::device("cuda").is_ok_and(|d| d == self.device),
                name => name == self.device.alias(),
            }),
            Err(_) => Ok(false),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, self.device.alias()).hash()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&'static str,))> {
        Ok((py.import("inkle._native")?.getattr("get_device")?, (self.device.alias(),)))
    }
}

/// Every device: the CPU, then the GPUs.
#[pyfunction]
pub fn get_devices(py: Python<'_>) -> PyResult<Vec<Py<PyDevice>>> {
    inkle_runtime::devices().into_iter().map(|d| device_object(py, d)).collect()
}

/// Every GPU.
#[pyfunction]
pub fn get_cuda_devices(py: Python<'_>) -> PyResult<Vec<Py<PyDevice>>> {
    inkle_runtime::devices().into_iter().filter(|d| d.is_cuda()).map(|d| device_object(py, d)).collect()
}

/// The number of GPUs.
#[pyfunction]
pub fn get_cuda_device_count() -> u32 {
    inkle_runtime::cuda_device_count()
}

/// The device of an identifier; the default device for `None`.
#[pyfunction]
#[pyo3(signature = (ident = None))]
pub fn get_device(py: Python<'_>, ident: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyDevice>> {
    device_object(py, device_argument(py, ident)?)
}

/// The GPU of an ordinal; the current GPU for `None`.
#[pyfunction]
#[pyo3(signature = (ordinal = None))]
pub fn get_cuda_device(py: Python<'_>, ordinal: Option<u32>) -> PyResult<Py<PyDevice>> {
    let device = match ordinal {
        Some(ordinal) => Device::cuda(ordinal).into_py(py)?,
        None => inkle_runtime::device("cuda").into_py(py)?,
    };
    device_object(py, device)
}

/// Makes a device the default one.
#[pyfunction]
pub fn set_device(py: Python<'_>, ident: &Bound<'_, PyAny>) -> PyResult<()> {
    inkle_runtime::set_default_device(device_argument(py, Some(ident))?);
    Ok(())
}

/// The first GPU if there is one, else the CPU.
#[pyfunction]
pub fn get_preferred_device(py: Python<'_>) -> PyResult<Py<PyDevice>> {
    let device =
        if inkle_runtime::cuda_device_count() > 0 { Device::cuda(0).into_py(py)? } else { Device::cpu() };
    device_object(py, device)
}

/// Whether kernels can run on the CPU: always.
#[pyfunction]
pub fn is_cpu_available() -> bool {
    true
}

/// Whether there is a GPU and a driver for it.
#[pyfunction]
pub fn is_cuda_available() -> bool {
    inkle_runtime::cuda_device_count() > 0
}

/// Whether an identifier names a device of this machine.
#[pyfunction]
pub fn is_device_available(py: Python<'_>, device: &Bound<'_, PyAny>) -> bool {
    device_argument(py, Some(device)).is_ok()
}

/// The CUDA version the driver supports, as (major, minor); `None` without a driver.
#[pyfunction]
pub fn get_cuda_driver_version() -> Option<(u32, u32)> {
    inkle_runtime::cuda_driver_version().ok()
}

/// Waits for all work on every device.
#[pyfunction]
pub fn synchronize(py: Python<'_>) -> PyResult<()> {
    boundary(py, "synchronize")?;
    if inkle_runtime::cuda_device_count() == 0 {
        return Ok(());
    }
    blocking(py, || inkle_runtime::devices().into_iter().try_for_each(Device::synchronize))
}

/// Waits for all work on a device.
#[pyfunction]
#[pyo3(signature = (device = None))]
pub fn synchronize_device(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    boundary(py, "synchronize_device")?;
    let device = device_argument(py, device)?;
    if device.is_cpu() {
        return Ok(());
    }
    blocking(py, || device.synchronize())
}

fn pool_device(py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<Device> {
    let device = device_argument(py, Some(device))?;
    if device.is_cpu() {
        return Err(PyValueError::new_err("the CPU has no memory pool; pools are a feature of GPUs"));
    }
    Ok(device)
}

/// Whether the device has stream-ordered memory pools.
#[pyfunction]
pub fn is_mempool_supported(py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(device_argument(py, Some(device))?.is_mempool_supported())
}

/// Whether new allocations on the device come from its pool.
#[pyfunction]
pub fn is_mempool_enabled(py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(device_argument(py, Some(device))?.is_mempool_enabled())
}

/// Turns the pool on or off for new allocations.
#[pyfunction]
pub fn set_mempool_enabled(py: Python<'_>, device: &Bound<'_, PyAny>, enable: bool) -> PyResult<()> {
    pool_device(py, device)?.set_mempool_enabled(enable).into_py(py)
}

/// How much unused memory the pool keeps, bytes, when the device is synchronised.
#[pyfunction]
pub fn get_mempool_release_threshold(py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<u64> {
    pool_device(py, device)?.mempool_release_threshold().into_py(py)
}

/// Sets how much unused memory the pool keeps: bytes, or a share of the device's memory if at most 1.
#[pyfunction]
pub fn set_mempool_release_threshold(
    py: Python<'_>,
    device: &Bound<'_, PyAny>,
    threshold: f64,
) -> PyResult<()> {
    let device = pool_device(py, device)?;
    if threshold.is_nan() || threshold < 0.0 {
        return Err(PyValueError::new_err("the release threshold must not be negative"));
    }
    let bytes = if threshold <= 1.0 { threshold * device.total_memory() as f64 } else { threshold };
    device.set_mempool_release_threshold(bytes as u64).into_py(py)
}

/// How much of the pool is in use now, bytes.
#[pyfunction]
pub fn get_mempool_used_mem_current(py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<u64> {
    pool_device(py, device)?.mempool_used_bytes().into_py(py)
}

/// The most of the pool that was ever in use, bytes.
#[pyfunction]
pub fn get_mempool_used_mem_high(py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<u64> {
    pool_device(py, device)?.mempool_used_high_bytes().into_py(py)
}

/// Whether `peer_device` could use memory of `target_device` directly.
#[pyfunction]
pub fn is_peer_access_supported(
    py: Python<'_>,
    target_device: &Bound<'_, PyAny>,
    peer_device: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let (target, peer) = (device_argument(py, Some(target_device))?, device_argument(py, Some(peer_device))?);
    if target.is_cpu() || peer.is_cpu() {
        return Ok(false);
    }
    peer.can_access_peer(target).into_py(py)
}

/// The GPU of a device argument.
///
/// # Errors
/// `RuntimeError` for the CPU.
pub fn cuda_argument(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Device> {
    let device = device_argument(py, device)?;
    if device.is_cpu() {
        return Err(PyRuntimeError::new_err("device cpu is not a CUDA device"));
    }
    Ok(device)
}
