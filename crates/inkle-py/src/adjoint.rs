//! Launches that run kernels backwards: which gradients their arguments have.

use inkle_graph::arguments::{arrays_in, read_desc};
use inkle_ir::{ArrayDesc, ArrayKind, ArrayType, Type};
use inkle_module::{ArrayGrad, is_differentiable};
use inkle_runtime as rt;
use pyo3::prelude::*;
use smallvec::{SmallVec, smallvec};

use crate::array::Array;
use crate::error::argument_error;
use crate::kernel::{Arguments, Instance};
use crate::pack::{Block, Facts, Packer};
use crate::structs::StructInstance;

/// Where in the bytes of an argument arrays lie whose gradients are to be kept.
fn kept(py: Python<'_>, argument: &Bound<'_, PyAny>) -> SmallVec<[usize; 4]> {
    let keeps = |object: &Bound<'_, PyAny>| {
        let Some(array) = object.cast::<Array>().ok().and_then(Array::elements) else { return false };
        array.get().data().is_some_and(crate::array_data::Data::retains_grad)
    };
    if let Ok(instance) = argument.cast::<StructInstance>() {
        let arrays = instance.get().arrays(py).into_iter();
        return arrays.filter(|(_, a)| keeps(a.bind(py))).map(|(at, _)| at as usize).collect();
    }
    if keeps(argument) { smallvec![0] } else { SmallVec::new() }
}

/// The descriptor at the start of some bytes.
fn desc_at(bytes: &[u8]) -> ArrayDesc {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_ne_bytes(*bytes);
    }
    read_desc(&words)
}

/// A descriptor as bytes, which `read_desc` reads.
fn desc_bytes(desc: &ArrayDesc) -> [u8; size_of::<ArrayDesc>()] {
    let pair = |low: i32, high: i32| u64::from(low as u32) | u64::from(high as u32) << 32;
    let [a, b, c, d] = desc.shape;
    let mut bytes = [0; size_of::<ArrayDesc>()];
    let words = [desc.data, desc.grad, pair(a, b), pair(c, d)].into_iter();
    let words = words.chain(desc.strides.map(|stride| stride as u64));
    bytes.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_ne_bytes()));
    bytes
}

/// Whether the elements of two arrays lie in the same way.
fn is_laid_out_like(a: &ArrayDesc, b: &ArrayDesc, ndim: usize) -> bool {
    (0..ndim).all(|d| a.shape[d] == b.shape[d] && (a.shape[d] <= 1 || a.strides[d] == b.strides[d]))
}

/// What holds of the gradient at an address, of an array of such a type.
fn kind(gradient: u64, keeps: bool, ty: &ArrayType) -> ArrayGrad {
    match (gradient, keeps) {
        (0, _) => ArrayGrad::None,
        _ if !is_differentiable(ty.elem) => ArrayGrad::None,
        (_, true) => ArrayGrad::Keep,
        (_, false) => ArrayGrad::Clear,
    }
}

/// What holds of the gradients of all arrays of a launch whose arguments are packed in `block`, in the order of
/// parameters and fields. Gradients given by `adjoints`, in the order of parameters, take the place of the arrays' own.
///
/// # Errors
/// When a gradient does not fit its array.
pub fn gradients(
    py: Python<'_>,
    instance: &Instance,
    arguments: &Arguments<'_, '_>,
    adjoints: &[Bound<'_, PyAny>],
    block: &mut Block<'_>,
) -> PyResult<Vec<ArrayGrad>> {
    let mut grads = Vec::with_capacity(instance.packers.len());
    let mut other = vec![0u8; if adjoints.is_empty() { 0 } else { block.bytes.len() }];
    let (mut adjoints, mut arrays) = (adjoints.iter(), Vec::new());
    for (packer, argument) in instance.packers.iter().zip(arguments.iter()) {
        let argument = argument?;
        let adjoint = adjoints.next().filter(|a| !a.is_none());
        if adjoint.is_none()
            && let Type::Array(ty) = packer.ty
            && let Ok(array) = argument.cast::<Array>()
            && let Some(data) = array.get().data()
        {
            grads.push(kind(data.grad_address(), data.retains_grad(), ty));
            continue;
        }
        arrays.clear();
        arrays_in(packer.ty, packer.offset, &mut arrays);
        if arrays.is_empty() {
            continue;
        }
        let given = match &adjoint {
            Some(adjoint) => Some(pack(adjoint, packer, instance, &mut other, block)?),
            None => None,
        };
        let kept = kept(py, &argument);
        for &(at, ty) in &arrays {
            let own = desc_at(&block.bytes[at..]);
            let mut gradient = own.grad;
            let mut keeps = kept.contains(&(at - packer.offset));
            if given.is_some() {
                let other = desc_at(&other[at..]);
                if other.data != 0 && other.data != own.grad {
                    if !is_laid_out_like(&own, &other, ty.ndim as usize) {
                        let message = format!(
                            "kernel `{}`, argument `{}`: the gradient must have the shape and the strides of its array",
                            instance.name, packer.name
                        );
                        return Err(argument_error(py, message));
                    }
                    // Whoever gives another gradient than the array's own looks after it.
                    (gradient, keeps) = (other.data, true);
                    block.bytes[at + 8..at + 16].copy_from_slice(&gradient.to_ne_bytes());
                    if !gradient.is_multiple_of(crate::pack::ALIGNMENT) && packer.index < 64 {
                        block.facts.aligned &= !(1 << packer.index);
                    }
                }
            }
            grads.push(kind(gradient, keeps, ty));
        }
    }
    Ok(grads)
}

/// The gradients given for the arguments of a launch, one for each of `inputs` and then those of `outputs`; `None` where
/// none was given.
///
/// # Errors
/// What Python raises.
pub fn adjoint_arguments<'py>(
    py: Python<'py>,
    inputs: Option<&Bound<'py, PyAny>>,
    adj_inputs: Option<&Bound<'py, PyAny>>,
    adj_outputs: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut all = Arguments::new(adj_inputs, None).iter().collect::<PyResult<Vec<_>>>()?;
    let outputs = Arguments::new(adj_outputs, None).iter().collect::<PyResult<Vec<_>>>()?;
    if !outputs.is_empty() {
        let count = inputs.map_or(Ok(0), |inputs| inputs.len())?;
        while all.len() < count {
            all.push(py.None().into_bound(py));
        }
        all.extend(outputs);
    }
    Ok(all)
}

/// Packs an argument's gradient where the argument itself would lie in `bytes`.
fn pack(
    adjoint: &Bound<'_, PyAny>,
    packer: &Packer,
    instance: &Instance,
    bytes: &mut [u8],
    block: &mut Block<'_>,
) -> PyResult<()> {
    if let Type::Array(ty) = packer.ty
        && ty.kind == ArrayKind::Indexed
        && let Ok(array) = adjoint.cast::<Array>()
        && array.get().kind() == ArrayKind::Strided
    {
        // The array that is seen through the lists has the gradient.
        let array = array.get().runtime(adjoint.py())?;
        if (array.dtype(), array.ndim(), array.device()) != (ty.elem, ty.ndim as usize, block.device) {
            let message = format!(
                "kernel `{}`, argument `{}`: the gradient must have the type, the dimensions and the device of the array \
                 behind the lists",
                instance.name, packer.name
            );
            return Err(argument_error(adjoint.py(), message));
        }
        let desc = desc_bytes(&array.desc());
        bytes[packer.offset..packer.offset + desc.len()].copy_from_slice(&desc);
        return Ok(());
    }
    let mut temporaries: SmallVec<[rt::Array; 2]> = SmallVec::new();
    {
        let mut other =
            Block { bytes, device: block.device, facts: Facts::default(), temporaries: SmallVec::new() };
        packer.pack(adjoint, &instance.name, &mut other)?;
        temporaries.append(&mut other.temporaries);
    }
    block.temporaries.append(&mut temporaries);
    Ok(())
}
