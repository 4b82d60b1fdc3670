//! Launches shown to a capture: which words of a parameter block are addresses, and of which arrays.

use std::mem::offset_of;
use std::sync::Arc;

use inkle_graph::GraphError;
use inkle_graph::capture::{self, Address, Launched};
use inkle_ir::{Access, ArrayAccess, ArrayDesc, ArrayKind, IndexedArrayDesc, Type};
use inkle_module::Loaded;
use inkle_runtime::record::Verdict;
use inkle_runtime::{self as rt, Allocation, Device, Stream};
use pyo3::prelude::*;

use crate::adjoint::{arrays_in, read_desc};
use crate::array::Array;
use crate::graph::{IntoPyGraphResult, graph_error};
use crate::kernel::{Instance, Pass};
use crate::structs::StructInstance;

/// A launch whose parameter block is finished.
pub struct Shown<'a, 'py> {
    /// The kernel.
    pub instance: &'a Arc<Instance>,
    /// Which way it runs.
    pub pass: &'a Pass,
    /// Its code.
    pub code: &'a Arc<Loaded>,
    /// The parameter block.
    pub words: &'a [u64],
    /// The arguments, and the gradients given for them.
    pub arguments: Vec<Bound<'py, PyAny>>,
    /// What was made of arguments of other libraries.
    pub temporaries: &'a [rt::Array],
    /// Threads per block on a GPU.
    pub block_dim: u32,
    /// The most blocks on a GPU.
    pub max_blocks: u32,
    /// Where it is queued on a GPU; on the device's current stream for `None`.
    pub stream: Option<&'a Stream>,
}

/// Shows a launch to the capture on `device`; the result says whether it has to run now too.
///
/// # Errors
/// When the launch cannot be part of a graph.
#[cold]
pub fn show(py: Python<'_>, device: Device, shown: Shown<'_, '_>) -> PyResult<Verdict> {
    let mut known: Vec<Arc<Allocation>> = shown.temporaries.iter().map(|a| a.memory().clone()).collect();
    for argument in &shown.arguments {
        memory_of(py, argument, &mut known)?;
    }
    let bytes: Vec<u8> = shown.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let access = shown.instance.access(py, shown.pass)?;
    let mut accesses = access.arrays.iter();
    let mut pointers = Vec::new();
    for packer in &shown.instance.packers {
        let mut arrays = Vec::new();
        arrays_in(packer.ty, packer.offset, &mut arrays);
        for (at, ty) in arrays {
            let desc = read_desc(&bytes[at..]);
            let extents: Vec<i64> = desc.shape[..ty.ndim as usize].iter().map(|&n| n.into()).collect();
            let strides = &desc.strides[..ty.ndim as usize];
            // Without what is known of it an array counts as read and written.
            let both = ArrayAccess { elements: Access::BOTH, gradient: Access::BOTH, is_used: true };
            let ArrayAccess { elements, gradient, .. } = accesses.next().copied().unwrap_or(both);
            let mut put = |at: usize, access: Access, elem: Type, shape: &[i64], strides: Option<&[i64]>| {
                let address = shown.words[at / 8];
                let array = found(&known, address, elem, shape, strides);
                let Some(array) = array else { return Err(unknown(py, &shown.instance.name, &packer.name)) };
                let Access { reads, writes } = access;
                pointers.push(Address { word: (at / 8) as u32, array, reads, writes });
                Ok(())
            };
            let grad = at + offset_of!(ArrayDesc, grad);
            for (at, address, access) in [(at, desc.data, elements), (grad, desc.grad, gradient)] {
                if address != 0 {
                    put(at, access, ty.elem, &extents, Some(strides))?;
                }
            }
            if ty.kind == ArrayKind::Indexed {
                for d in 0..ty.ndim as usize {
                    let list = at + offset_of!(IndexedArrayDesc, indices) + 8 * d;
                    if shown.words[list / 8] != 0 {
                        let shape = at + offset_of!(IndexedArrayDesc, shape) + 4 * d;
                        let count = bytes[shape..].first_chunk().map_or(0, |b| i32::from_ne_bytes(*b));
                        let reads = !elements.is_none() || !gradient.is_none();
                        put(list, Access { reads, writes: false }, Type::I32, &[count.into()], None)?;
                    }
                }
            }
        }
    }
    let kernel = || shown.instance.graph_kernel(shown.code);
    let launched = Launched {
        name: &shown.instance.name,
        code: shown.code.clone(),
        kernel: &kernel,
        params: shown.words.to_vec(),
        pointers,
        block_dim: shown.block_dim,
        max_blocks: shown.max_blocks,
        shared_bytes: 0,
    };
    let verdict = capture::launch(device, shown.stream, launched).graph(py)?;
    let held: Vec<Py<PyAny>> = shown.arguments.into_iter().map(Bound::unbind).collect();
    capture::hold(device, Box::new(held));
    Ok(verdict)
}

#[cold]
fn unknown(py: Python<'_>, kernel: &str, param: &str) -> PyErr {
    let what = format!("argument `{param}` of kernel `{kernel}`");
    graph_error(py, &GraphError::UnknownMemory { what })
}

/// The memory of all arrays that an argument has.
fn memory_of(py: Python<'_>, object: &Bound<'_, PyAny>, known: &mut Vec<Arc<Allocation>>) -> PyResult<()> {
    if let Ok(array) = object.cast::<Array>() {
        array.get().each_memory(py, &mut |memory| known.push(memory.clone()));
    } else if let Ok(instance) = object.cast::<StructInstance>() {
        for (_, held) in instance.get().arrays(py) {
            memory_of(py, held.bind(py), known)?;
        }
    }
    Ok(())
}

/// The array at an address, in one of the pieces of memory.
fn found(
    known: &[Arc<Allocation>],
    address: u64,
    elem: Type,
    shape: &[i64],
    strides: Option<&[i64]>,
) -> Option<rt::Array> {
    known.iter().find_map(|memory| {
        let offset = usize::try_from(address.checked_sub(memory.address())?).ok()?;
        rt::Array::from_parts(memory.clone(), offset, elem, shape, strides).ok()
    })
}
