//! What an array with strides holds: the elements, and the array of their gradient.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use inkle_ir::ArrayDesc;
use inkle_runtime as rt;
use pyo3::prelude::*;

use crate::array::Array;
use crate::error::IntoPyResult;

/// What an array with data has.
pub struct Data {
    /// *Invariant:* has no gradient of its own; `grad` is the place for it.
    pub array: rt::Array,
    grad: Mutex<Option<Py<Array>>>,
    /// The address of the gradient's first element, so that a launch need not lock.
    grad_address: AtomicU64,
    pub retain_grad: AtomicBool,
    /// What a view was made of, kept as an object: programs hang the owner of memory that came as an address on it.
    pub viewed: OnceLock<Py<Array>>,
}

impl Data {
    /// The runtime's array, whose gradient becomes an object.
    ///
    /// # Errors
    /// What Python raises while the gradient's object is made.
    pub fn new(py: Python<'_>, mut array: rt::Array, dtype: &Py<PyAny>) -> PyResult<Data> {
        let grad = array.grad().cloned();
        array.set_grad(None).into_py(py)?;
        let address = grad.as_ref().map_or(0, rt::Array::address);
        let grad = match grad {
            Some(grad) => Some(Array::wrap(py, grad, dtype.clone_ref(py))?.unbind()),
            None => None,
        };
        Ok(Data {
            array,
            grad: Mutex::new(grad),
            grad_address: AtomicU64::new(address),
            retain_grad: AtomicBool::new(false),
            viewed: OnceLock::new(),
        })
    }

    /// Whether there is a gradient.
    pub fn has_grad(&self) -> bool {
        self.grad.lock().unwrap_or_else(|e| e.into_inner()).is_some()
    }

    /// The address of the gradient's first element, 0 without a gradient or elements; without the lock.
    #[inline]
    pub fn grad_address(&self) -> u64 {
        self.grad_address.load(Ordering::Relaxed)
    }

    /// Whether backward passes leave the gradient of overwritten elements as it is.
    pub fn retains_grad(&self) -> bool {
        self.retain_grad.load(Ordering::Relaxed)
    }

    /// The array as kernels see it.
    #[inline]
    pub fn descriptor(&self) -> ArrayDesc {
        ArrayDesc { grad: self.grad_address(), ..self.array.desc() }
    }

    /// The runtime's array, without gradient.
    #[inline]
    pub fn array(&self) -> &rt::Array {
        &self.array
    }

    /// The array of the gradient.
    pub fn grad(&self, py: Python<'_>) -> Option<Py<Array>> {
        self.grad.lock().unwrap_or_else(|e| e.into_inner()).as_ref().map(|g| g.clone_ref(py))
    }

    /// Replaces the array of the gradient.
    ///
    /// # Errors
    /// When it is not laid out like this array.
    pub fn set_grad(&self, py: Python<'_>, grad: Option<Py<Array>>) -> PyResult<()> {
        let address = match &grad {
            Some(grad) => {
                let grad = grad.get().runtime(py)?;
                // The runtime checks that it is laid out like this array.
                self.array.clone().set_grad(Some(grad.clone())).into_py(py)?;
                grad.address()
            }
            None => 0,
        };
        let old = std::mem::replace(&mut *self.grad.lock().unwrap_or_else(|e| e.into_inner()), grad);
        self.grad_address.store(address, Ordering::Relaxed);
        drop(old);
        Ok(())
    }
}
