//! Python arguments into the bytes of a parameter block.

use inkle_frontend::pattern::Pattern;
use inkle_ir::{ArrayDesc, ArrayKind, ArrayType, Scalar, Type};
use inkle_runtime::{self as rt, Device};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};
use smallvec::SmallVec;

use crate::array::Array;
use crate::array_io::Interface;
use crate::composite::{Value, components_from, write_components};
use crate::error::{argument_error, class_name};
use crate::interface::write_desc;
use crate::number;
use crate::structs::StructInstance;

/// One parameter of a kernel: what it accepts and where it goes.
pub struct Packer {
    /// The parameter's name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where its bytes start in the parameter block.
    pub offset: usize,
    /// Its place among the parameters.
    pub index: usize,
}

/// What code may be told about the arrays of a launch; bit i is for argument i, of the first 64.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// The innermost stride is the size of an element, or no array was passed.
    pub contiguous: u64,
    /// Elements and gradients start at multiples of 16 bytes, or are not there.
    pub aligned: u64,
}

/// The alignment that [`Facts::aligned`] is about, bytes; allocations have more.
pub const ALIGNMENT: u64 = 16;

/// The block under construction and what was learnt on the way.
pub struct Block<'a> {
    /// The parameter block.
    pub bytes: &'a mut [u8],
    /// Where the kernel will run.
    pub device: Device,
    /// What was found out about the arrays.
    pub facts: Facts,
    /// Arrays made for arguments of other libraries; they must outlive the launch.
    pub temporaries: SmallVec<[rt::Array; 2]>,
}

impl Packer {
    /// Stores an argument.
    ///
    /// # Errors
    /// When the argument does not fit; the text names kernel, parameter and both types.
    #[inline]
    pub fn pack(&self, argument: &Bound<'_, PyAny>, kernel: &str, block: &mut Block<'_>) -> PyResult<()> {
        match self.ty {
            Type::Array(array) => self.pack_array(argument, array, kernel, block),
            Type::Scalar(Scalar::F32) => {
                if let Ok(float) = argument.cast::<PyFloat>() {
                    let value = float.value() as f32;
                    block.bytes[self.offset..self.offset + 4].copy_from_slice(&value.to_ne_bytes());
                    return Ok(());
                }
                self.pack_value(argument, kernel, block)
            }
            _ => self.pack_value(argument, kernel, block),
        }
    }

    fn pack_value(&self, argument: &Bound<'_, PyAny>, kernel: &str, block: &mut Block<'_>) -> PyResult<()> {
        let py = argument.py();
        let bytes = &mut block.bytes[self.offset..self.offset + self.ty.size() as usize];
        match self.ty {
            Type::Scalar(scalar) => {
                if argument.is_none() || !number::fits(argument, scalar) {
                    return Err(self.refused(argument, kernel));
                }
                match number::from_python(argument, scalar) {
                    Ok(number) => number::write(scalar, number, bytes),
                    Err(_) => return Err(self.refused(argument, kernel)),
                }
            }
            Type::Struct(_) => match argument.cast::<StructInstance>() {
                Ok(instance) if instance.get().ty() == self.ty => {
                    instance.get().copy_bytes(py, bytes);
                    self.check_held_arrays(instance, kernel, block.device)?;
                }
                Ok(instance) => {
                    return Err(self.wrong(py, kernel, &instance.get().ty().python_name()));
                }
                Err(_) => return Err(self.refused(argument, kernel)),
            },
            Type::Array(_) | Type::Ref(_) => return Err(self.refused(argument, kernel)),
            composite => {
                if let Ok(value) = argument.cast::<Value>()
                    && value.get().ty() == composite
                {
                    value.get().copy_bytes(py, bytes);
                    return Ok(());
                }
                if argument.is_none() {
                    return Err(self.refused(argument, kernel));
                }
                if number::is_legacy_fill(argument) {
                    let target = format!("kernel parameter '{}'", self.name);
                    number::warn_of_fill(argument, &composite.python_name(), &target)?;
                } else if number::is_number(argument) {
                    let given = format!(
                        "a single value, {}; write {}(...)",
                        class_name(argument),
                        composite.python_name()
                    );
                    return Err(self.wrong(py, kernel, &given));
                }
                match components_from(argument, composite) {
                    Ok(components) => write_components(composite, &components, bytes),
                    Err(error) => {
                        let given = format!("{} ({})", class_name(argument), error.value(py));
                        return Err(self.wrong(py, kernel, &given));
                    }
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn pack_array(
        &self,
        argument: &Bound<'_, PyAny>,
        ty: &ArrayType,
        kernel: &str,
        block: &mut Block<'_>,
    ) -> PyResult<()> {
        if ty.kind != ArrayKind::Strided {
            return self.pack_scattered(argument, kernel, block);
        }
        if let Ok(array) = argument.cast::<Array>()
            && let Some(data) = array.get().data()
        {
            let array = data.array();
            if array.dtype() != ty.elem || array.ndim() != ty.ndim as usize {
                return Err(self.wrong_array(argument.py(), kernel, array));
            }
            if array.device() != block.device && !(array.is_pinned() && block.device.is_cuda()) {
                return Err(self.wrong_device(argument.py(), kernel, array.device(), block.device));
            }
            self.store(&data.descriptor(), ty, block);
            return Ok(());
        }
        self.pack_other_array(argument, ty, kernel, block)
    }

    /// Arrays without strides: seen through lists, or in buckets.
    fn pack_scattered(
        &self,
        argument: &Bound<'_, PyAny>,
        kernel: &str,
        block: &mut Block<'_>,
    ) -> PyResult<()> {
        let py = argument.py();
        if argument.is_none() {
            block.bytes[self.offset..self.offset + self.ty.size() as usize].fill(0);
            return Ok(());
        }
        let Ok(array) = argument.cast::<Array>() else { return Err(self.refused(argument, kernel)) };
        let array = array.get();
        let Some(home) = array.home() else {
            self.check_vacant(py, kernel, array)?;
            array.write(&mut block.bytes[self.offset..]);
            return Ok(());
        };
        if array.ty() != self.ty {
            return Err(self.wrong(py, kernel, &array.ty().python_name()));
        }
        if home != block.device {
            return Err(self.wrong_device(py, kernel, home, block.device));
        }
        array.write(&mut block.bytes[self.offset..]);
        Ok(())
    }

    #[inline]
    fn store(&self, desc: &ArrayDesc, ty: &ArrayType, block: &mut Block<'_>) {
        write_desc(desc, &mut block.bytes[self.offset..]);
        let innermost = desc.strides[ty.ndim as usize - 1];
        // A dimension of one element has no neighbours whose distance could matter.
        let contiguous = innermost == i64::from(ty.elem.size()) || desc.shape[ty.ndim as usize - 1] <= 1;
        if self.index < 64 {
            let aligned = (desc.data | desc.grad).is_multiple_of(ALIGNMENT);
            let put = |bits: u64, bit: bool| (bits & !(1 << self.index)) | (u64::from(bit) << self.index);
            block.facts.contiguous = put(block.facts.contiguous, contiguous);
            block.facts.aligned = put(block.facts.aligned, aligned);
        }
    }

    /// `None`, and arrays of other libraries.
    #[cold]
    fn pack_other_array(
        &self,
        argument: &Bound<'_, PyAny>,
        ty: &ArrayType,
        kernel: &str,
        block: &mut Block<'_>,
    ) -> PyResult<()> {
        let py = argument.py();
        if argument.is_none() {
            self.store(&ArrayDesc::default(), ty, block);
            return Ok(());
        }
        let name = if block.device.is_cpu() {
            intern!(py, "__array_interface__")
        } else {
            intern!(py, "__cuda_array_interface__")
        };
        if let Ok(array) = argument.cast::<Array>() {
            self.check_vacant(py, kernel, array.get())?;
            self.store(&ArrayDesc::default(), ty, block);
            return Ok(());
        }
        let array = if let Some(dict) = argument.getattr_opt(name)? {
            Interface::read(&dict).and_then(|i| i.array(py, block.device, ty.elem, argument))
        } else if argument.hasattr(intern!(py, "__dlpack__"))? {
            crate::dlpack::import(argument, None).and_then(|a| Ok(a.get().runtime(py)?.clone()))
        } else {
            return Err(self.refused(argument, kernel));
        };
        let array = match array {
            Ok(array) => array,
            Err(error) => {
                let given = format!("{} ({})", class_name(argument), error.value(py));
                return Err(self.wrong(py, kernel, &given));
            }
        };
        if array.device() != block.device {
            return Err(self.wrong_device(py, kernel, array.device(), block.device));
        }
        if array.ndim() != ty.ndim as usize || array.dtype() != ty.elem {
            return Err(self.wrong_array(py, kernel, &array));
        }
        self.store(&array.desc(), ty, block);
        block.temporaries.push(array);
        Ok(())
    }

    fn check_held_arrays(
        &self,
        instance: &Bound<'_, StructInstance>,
        kernel: &str,
        device: Device,
    ) -> PyResult<()> {
        let py = instance.py();
        for (_, array) in instance.get().arrays(py) {
            if let Ok(array) = array.bind(py).cast::<Array>()
                && let Some(home) = array.get().home()
                && home != device
                && !array.get().data().is_some_and(|data| data.array().is_pinned())
            {
                return Err(self.wrong_device(py, kernel, home, device));
            }
        }
        Ok(())
    }

    #[cold]
    fn refused(&self, argument: &Bound<'_, PyAny>, kernel: &str) -> PyErr {
        let given = if argument.is_none() { "None".to_owned() } else { class_name(argument) };
        let hint = if argument.is_instance_of::<PyInt>() || argument.is_instance_of::<PyFloat>() {
            format!("{given} {argument}")
        } else {
            given
        };
        self.wrong(argument.py(), kernel, &hint)
    }

    /// Checks an array that is passed without elements, as programs make them to fill a place: `wp.array(dtype=float)`. It is
    /// like `None`, but has a type that must be the parameter's.
    fn check_vacant(&self, py: Python<'_>, kernel: &str, array: &Array) -> PyResult<()> {
        match array.pattern() {
            Some(Pattern::Exact(ty)) if ty == self.ty && !array.has_elements() => Ok(()),
            Some(Pattern::Exact(ty)) => Err(self.wrong(py, kernel, &ty.python_name())),
            _ => Err(self.wrong(
                py,
                kernel,
                &format!("{}, an annotation without elements", array.kind().name()),
            )),
        }
    }

    #[cold]
    fn wrong_array(&self, py: Python<'_>, kernel: &str, array: &rt::Array) -> PyErr {
        let given = Type::array(array.dtype(), array.ndim() as u32).python_name();
        let dtype_differs = self.ty.as_array().is_some_and(|expected| expected.elem != array.dtype());
        let differs = if dtype_differs { "dtype" } else { "number of dimensions" };
        self.wrong(py, kernel, &format!("{given}: the {differs} differs"))
    }

    #[cold]
    fn wrong_device(&self, py: Python<'_>, kernel: &str, found: Device, wanted: Device) -> PyErr {
        let message = format!(
            "kernel `{kernel}`: argument '{}' is an array on device {found}, but the kernel is launched on {wanted}",
            self.name
        );
        argument_error(py, message)
    }

    #[cold]
    fn wrong(&self, py: Python<'_>, kernel: &str, given: &str) -> PyErr {
        let (name, expected) = (&self.name, self.ty.python_name());
        let what = match self.ty {
            Type::Array(_) => {
                format!("expects an array of type {expected}, the passed value has type {given}")
            }
            _ => format!("expects {expected} but got {given}"),
        };
        argument_error(py, format!("kernel `{kernel}`: argument '{name}' {what}"))
    }
}
