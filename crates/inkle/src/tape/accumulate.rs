//! Gradients added to gradients.

use inkle_ir::{Scalar, Type};
use inkle_runtime::{self as rt, algorithms};
use inkle_value::{Number, bf16, f16};

use crate::array::{Array, ArrayView, ArrayViewMut};
use crate::error::Result;

/// Moves the gradient of what a copy wrote to what it read.
pub(super) fn copy_backward(to: &rt::Array, from: &rt::Array) -> Result<()> {
    let (Some(of), Some(sum)) = (to.grad(), from.grad()) else { return Ok(()) };
    // A copy that is apart from both: they can overlap, and lie on two devices.
    let local = of.to_device(sum.device())?.to_contiguous(None)?;
    of.zero(None)?;
    accumulate(sum, &local)
}

#[inkle::kernel(enable_backward = false)]
fn add_gradients<T: Number>(to: &mut Array<T>, of: &Array<T>) {
    let i = crate::builtins::tid();
    to[i] = to[i] + of[i];
}

/// Adds floats to those of an array of the same shape and type; `of` has no gaps.
pub(crate) fn accumulate(to: &rt::Array, of: &rt::Array) -> Result<()> {
    fn add<T: Number>(to: &rt::Array, of: &rt::Array) -> Result<()> {
        let (mut to, of) = (ArrayViewMut::<T>::wrap(to.clone()), ArrayView::<T>::wrap(of.clone()));
        add_gradients.launch(of.len(), (&mut *to, &*of))
    }
    let whole = if to.is_contiguous() { to.clone() } else { to.to_contiguous(None)? };
    let (Some(sums), Some(terms)) = (whole.numbers(), of.numbers()) else {
        return accumulate_structs(to, of);
    };
    match sums.dtype().as_scalar() {
        Some(Scalar::F16) => add::<f16>(&sums, &terms)?,
        Some(Scalar::BF16) => add::<bf16>(&sums, &terms)?,
        Some(Scalar::F32) => add::<f32>(&sums, &terms)?,
        Some(Scalar::F64) => add::<f64>(&sums, &terms)?,
        _ => {}
    }
    if !to.is_contiguous() {
        to.copy_from(&whole, None)?;
    }
    Ok(())
}

/// As [`accumulate`], for elements with floats of several types or other things between them: on the host.
fn accumulate_structs(to: &rt::Array, of: &rt::Array) -> Result<()> {
    algorithms::needs_result_now("the backward pass of a copy of structs", to, "arrays of numbers")?;
    fn add<T: Number>(to: &mut [u8], of: &[u8]) {
        (T::fetch(to) + T::fetch(of)).store(to);
    }
    let mut parts = Vec::new();
    float_parts(to.dtype(), 0, &mut parts);
    let (mut sums, terms, size) = (to.to_bytes()?, of.to_bytes()?, to.elem_bytes());
    for (sum, term) in sums.chunks_exact_mut(size).zip(terms.chunks_exact(size)) {
        for &(at, scalar) in &parts {
            let add = match scalar {
                Scalar::F16 => add::<f16>,
                Scalar::BF16 => add::<bf16>,
                Scalar::F32 => add::<f32>,
                _ => add::<f64>,
            };
            add(&mut sum[at..], &term[at..]);
        }
    }
    Ok(to.write_bytes(&sums)?)
}

/// Where the floats of a type lie.
fn float_parts(ty: Type, at: usize, parts: &mut Vec<(usize, Scalar)>) {
    if let Some(structure) = ty.as_struct() {
        for (field, place) in structure.fields.iter().zip(structure.layout().0) {
            float_parts(field.ty, at + place.offset as usize, parts);
        }
    } else if let (Some(scalar), Some(count)) = (ty.scalar().filter(|s| s.is_float()), ty.component_count()) {
        parts.extend((0..count as usize).map(|index| (at + index * scalar.size() as usize, scalar)));
    }
}
