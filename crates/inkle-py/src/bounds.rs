//! The extents of a launch, as given and as kernels read them.

use inkle_ir::{LaunchBounds, MAX_DIMS};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyString, PyTuple};

use crate::error::class_name;
use crate::kernel::Instance;

/// The extents of a launch as given: at least zero each, ones after the last.
#[derive(Clone, Copy)]
pub struct Extents {
    dims: [i64; MAX_DIMS],
    count: usize,
}

impl Extents {
    /// A launch of no threads.
    pub fn none() -> Extents {
        Extents { dims: [0, 1, 1, 1], count: 1 }
    }

    /// Reads an int or up to four; an empty sequence, the shape of a single value, is one thread.
    ///
    /// # Errors
    /// For other objects, more extents and negative ones.
    #[inline]
    pub fn read(dim: &Bound<'_, PyAny>) -> PyResult<Extents> {
        let mut extents = Extents { dims: [1; MAX_DIMS], count: 1 };
        if let Ok(int) = dim.cast::<PyInt>() {
            extents.dims[0] = extent(int)?;
        } else if let Ok(tuple) = dim.cast::<PyTuple>() {
            extents.fill(tuple.len(), tuple.iter())?;
        } else if let Ok(list) = dim.cast::<PyList>() {
            extents.fill(list.len(), list.iter())?;
        } else if let (true, Ok(items)) =
            (!dim.is_instance_of::<PyString>() && dim.len().is_ok(), dim.try_iter())
        {
            let items = items.collect::<PyResult<Vec<_>>>()?;
            extents.fill(items.len(), items.into_iter())?;
        } else {
            extents.dims[0] = extent(dim)?;
        }
        Ok(extents)
    }

    fn fill<'py>(&mut self, count: usize, items: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<()> {
        if count > MAX_DIMS {
            return Err(PyValueError::new_err(format!(
                "a launch has at most {MAX_DIMS} dimensions, not {count}"
            )));
        }
        for (dim, item) in self.dims.iter_mut().zip(items) {
            *dim = extent(&item)?;
        }
        self.count = count.max(1);
        Ok(())
    }

    /// The extents without the ones that were not given.
    pub fn given(&self) -> &[i64] {
        &self.dims[..self.count]
    }

    /// The extents as a kernel reads them. An index is an `int32`; extents past that are for dimensions whose index the
    /// kernel does not ask for, and for launches of no threads.
    ///
    /// # Errors
    /// `ValueError` for an extent, or a number of threads, that is too large.
    #[inline]
    pub fn bounds(&self, py: Python<'_>, instance: &Instance) -> PyResult<LaunchBounds> {
        let size = if self.dims.contains(&0) {
            Some(0)
        } else {
            self.dims.iter().try_fold(1u64, |size, &n| size.checked_mul(n as u64))
        };
        let Some(size) = size.filter(|size| i64::try_from(*size).is_ok()) else {
            return Err(PyValueError::new_err(format!(
                "a launch over {:?} has too many threads",
                self.given()
            )));
        };
        let mut dims = [0; MAX_DIMS];
        for (axis, (dim, &extent)) in dims.iter_mut().zip(&self.dims).enumerate() {
            *dim = match i32::try_from(extent) {
                Ok(extent) => extent as u32,
                Err(_) => {
                    let limit = instance.extent_limits(py)[axis].filter(|_| size != 0);
                    if let Some(limit) = limit.filter(|limit| extent > i64::from(*limit)) {
                        return Err(too_large(axis, extent, limit));
                    }
                    u32::try_from(extent).unwrap_or(u32::MAX)
                }
            };
        }
        Ok(LaunchBounds { dims, size })
    }
}

#[inline]
fn extent(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let extent: i64 = value.extract().map_err(|_| {
        PyTypeError::new_err(format!(
            "`dim` is an int or a sequence of ints; {} is neither",
            class_name(value)
        ))
    })?;
    if extent < 0 {
        return Err(PyValueError::new_err(format!("launch extents must be at least 0, got {extent}")));
    }
    Ok(extent)
}

#[cold]
fn too_large(axis: usize, extent: i64, limit: u32) -> PyErr {
    PyValueError::new_err(format!(
        "a kernel that uses wp.tid() has indices of 32 bits: launch extents must be at most {limit}, got extent \
         {extent} in dimension {axis}"
    ))
}

/// Stores bounds at the head of a parameter block.
pub fn write_bounds(bounds: &LaunchBounds, block: &mut [u8]) {
    for (place, extent) in block.chunks_exact_mut(4).zip(bounds.dims) {
        place.copy_from_slice(&extent.to_ne_bytes());
    }
    block[16..24].copy_from_slice(&bounds.size.to_ne_bytes());
}

/// The extents of a recorded launch.
#[pyclass(frozen, module = "inkle._native")]
pub struct Bounds {
    extents: Extents,
    size: u64,
}

impl Bounds {
    /// Of a launch over `extents` with `size` threads.
    pub fn new(extents: Extents, size: u64) -> Bounds {
        Bounds { extents, size }
    }
}

#[pymethods]
impl Bounds {
    /// The extents, as many as were given.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.extents.given())
    }

    /// How many dimensions were given.
    #[getter]
    fn ndim(&self) -> usize {
        self.extents.count
    }

    /// The number of threads.
    #[getter]
    fn size(&self) -> u64 {
        self.size
    }

    fn __repr__(&self) -> String {
        format!("<bounds {:?}>", self.extents.given())
    }
}
