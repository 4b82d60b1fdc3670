//! What kernels may do with arrays, as programs see it.

use inkle_graph::arguments::arrays_in;
use inkle_ir::{Access, ArrayAccess, KernelAccess, array_names};
use inkle_runtime::Device;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use smallvec::SmallVec;

use super::{Arguments, Instance, Kernel, Pass};
use crate::adjoint::gradients;
use crate::array::Array;
use crate::device::device_argument;
use crate::pack::{Block, Facts};
use crate::structs::StructInstance;

/// `r` and `w` for what may be done.
fn letters(access: Access) -> &'static str {
    match (access.reads, access.writes) {
        (false, false) => "",
        (true, false) => "r",
        (false, true) => "w",
        (true, true) => "rw",
    }
}

/// The letters for each array of the kernel's arguments, by its name. A Fabric array is one array.
///
/// # Errors
/// As [`Instance::access`].
pub fn by_name<'py>(py: Python<'py>, instance: &Instance) -> PyResult<Bound<'py, PyDict>> {
    let access = instance.access(py, &Pass::Forward)?;
    let names = instance.packers.iter().flat_map(|p| array_names(&p.name, p.ty));
    let mut all: Vec<(String, Access)> = Vec::new();
    for (name, found) in names.zip(&access.arrays) {
        match all.last_mut() {
            Some((last, access)) if *last == name => *access = access.or(found.elements),
            _ => all.push((name, found.elements)),
        }
    }
    let dict = PyDict::new(py);
    for (name, access) in all {
        dict.set_item(name, letters(access))?;
    }
    Ok(dict)
}

/// An array of a launch's arguments: its name, the array, whether the kernel may write it, whether what it reads there
/// is used, and whether the backward pass reads it again.
type Touched = (String, Py<Array>, bool, bool, bool);

/// What a launch does with the arrays of its arguments, and what its backward pass will need of them; with a warning if that
/// may be what the launch itself overwrites. Of a launch that is not to be run backwards (`is_recorded` is false) nothing is
/// needed.
///
/// # Errors
/// Those of the launch.
#[pyfunction]
pub fn launch_access(
    kernel: &Bound<'_, Kernel>,
    inputs: &Bound<'_, PyAny>,
    outputs: &Bound<'_, PyAny>,
    device: &Bound<'_, PyAny>,
    is_recorded: bool,
) -> PyResult<(Vec<Touched>, Option<String>)> {
    let py = kernel.py();
    let arguments = Arguments::new(Some(inputs), Some(outputs));
    let instance = kernel.get().instance(py, &arguments)?;
    let forward = instance.access(py, &Pass::Forward)?;
    let device = device_argument(py, Some(device))?;
    let (backward, doubt) = match is_recorded && instance.has_backward() {
        true => backward_access(py, &instance, &arguments, device)?,
        false => (KernelAccess::default(), None),
    };
    let mut found: Vec<Touched> = Vec::new();
    let mut next = 0;
    for (packer, argument) in instance.packers.iter().zip(arguments.iter()) {
        let argument = argument?;
        let names = array_names(&packer.name, packer.ty);
        let mut arrays = Vec::new();
        arrays_in(packer.ty, packer.offset, &mut arrays);
        for (name, (at, _)) in names.into_iter().zip(arrays) {
            let (does, needs) = (of(&forward, next), of(&backward, next));
            next += 1;
            let Some(array) = held(py, &argument, at - packer.offset) else { continue };
            let (writes, reads, needed) = (does.elements.writes, does.is_used, needs.elements.reads);
            match found.last_mut() {
                // The two parts of a Fabric array.
                Some(last) if last.0 == name => {
                    (last.2, last.3, last.4) = (last.2 || writes, last.3 || reads, last.4 || needed);
                }
                _ => found.push((name, array, writes, reads, needed)),
            }
        }
    }
    Ok((found, doubt))
}

fn of(access: &KernelAccess, index: usize) -> ArrayAccess {
    access.arrays.get(index).copied().unwrap_or_default()
}

/// What the backward pass of a launch does, and what it is not sure of.
fn backward_access(
    py: Python<'_>,
    instance: &Instance,
    arguments: &Arguments<'_, '_>,
    device: Device,
) -> PyResult<(KernelAccess, Option<String>)> {
    let mut bytes = vec![0; 8 * instance.words];
    let mut block =
        Block { bytes: &mut bytes, device, facts: Facts::default(), temporaries: SmallVec::new() };
    for (packer, argument) in instance.packers.iter().zip(arguments.iter()) {
        packer.pack(&argument?, &instance.name, &mut block)?;
    }
    let grads = gradients(py, instance, arguments, &[], &mut block)?;
    let doubt = instance.doubt(py, &grads)?;
    Ok((instance.access(py, &Pass::Backward(grads))?, doubt))
}

/// The array that an argument is, or that it has at a byte.
fn held(py: Python<'_>, argument: &Bound<'_, PyAny>, at: usize) -> Option<Py<Array>> {
    if let Ok(array) = argument.cast::<Array>() {
        return Some(array.clone().unbind());
    }
    let instance = argument.cast::<StructInstance>().ok()?;
    let (_, array) = instance.get().arrays(py).into_iter().find(|(offset, _)| *offset as usize == at)?;
    array.bind(py).cast::<Array>().ok().map(|array| array.clone().unbind())
}
