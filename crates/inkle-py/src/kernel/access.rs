//! What kernels may do with arrays, as programs see it.

use inkle_ir::{Access, array_names};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{Instance, Pass};

/// `r` and `w` for what may be done.
pub fn letters(access: Access) -> &'static str {
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
