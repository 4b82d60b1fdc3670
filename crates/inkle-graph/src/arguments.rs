//! Arrays in the parameter blocks of launches: where they lie, and of which memory their addresses are.

use std::mem::offset_of;
use std::sync::Arc;

use inkle_ir::{Access, ArrayAccess, ArrayDesc, ArrayKind, ArrayType, IndexedArrayDesc, KernelAccess, Type};
use inkle_runtime::{Allocation, Array};

use crate::capture::Address;

/// Where the arrays of a value of type `ty` at byte `offset` lie, in the order of fields.
pub fn arrays_in(ty: Type, offset: usize, found: &mut Vec<(usize, &'static ArrayType)>) {
    match ty {
        Type::Array(array) if !array.kind.is_fabric() => found.push((offset, array)),
        Type::Array(_) | Type::Struct(_) => {
            let Some(s) = ty.fields() else { return };
            for (field, layout) in s.fields.iter().zip(s.layout().0) {
                arrays_in(field.ty, offset + layout.offset as usize, found);
            }
        }
        _ => {}
    }
}

/// The descriptor at a word of a parameter block.
///
/// # Panics
/// When fewer than eight words follow.
pub fn read_desc(words: &[u64]) -> ArrayDesc {
    let pair = |word: u64| [word as u32 as i32, (word >> 32) as u32 as i32];
    let ([a, b], [c, d]) = (pair(words[2]), pair(words[3]));
    ArrayDesc {
        data: words[0],
        grad: words[1],
        shape: [a, b, c, d],
        strides: [4, 5, 6, 7].map(|word| words[word] as i64),
    }
}

// `read_desc` reads words in the order of these fields.
const _: () = {
    assert!(offset_of!(ArrayDesc, grad) == 8);
    assert!(offset_of!(ArrayDesc, shape) == 16);
    assert!(offset_of!(ArrayDesc, strides) == 32);
};

/// The addresses in a finished parameter block, with the arrays they are of and what is done to them. `params` are the
/// types of the parameters and where they lie, bytes; `known` is the memory that addresses are looked for in.
///
/// # Errors
/// The number of a parameter with an address that is in no known memory.
pub fn addresses(
    params: impl IntoIterator<Item = (Type, usize)>,
    words: &[u64],
    known: &[Arc<Allocation>],
    access: &KernelAccess,
) -> Result<Vec<Address>, usize> {
    let mut addresses = Vec::new();
    let mut accesses = access.arrays.iter();
    for (index, (ty, offset)) in params.into_iter().enumerate() {
        let mut arrays = Vec::new();
        arrays_in(ty, offset, &mut arrays);
        for (at, ty) in arrays {
            let desc = read_desc(&words[at / 8..]);
            let extents: Vec<i64> = desc.shape[..ty.ndim as usize].iter().map(|&n| n.into()).collect();
            let strides = &desc.strides[..ty.ndim as usize];
            // Without what is known of it an array counts as read and written.
            let both = ArrayAccess { elements: Access::BOTH, gradient: Access::BOTH, is_used: true };
            let ArrayAccess { elements, gradient, .. } = accesses.next().copied().unwrap_or(both);
            let mut put = |at: usize, access: Access, elem: Type, shape: &[i64], strides: Option<&[i64]>| {
                let array = find(known, words[at / 8], elem, shape, strides).ok_or(index)?;
                let Access { reads, writes } = access;
                addresses.push(Address { word: (at / 8) as u32, array, reads, writes });
                Ok::<(), usize>(())
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
                    if words[list / 8] != 0 {
                        let shape = at + offset_of!(IndexedArrayDesc, shape) + 4 * d;
                        let count = (words[shape / 8] >> (8 * (shape % 8))) as u32 as i32;
                        let reads = !elements.is_none() || !gradient.is_none();
                        put(list, Access { reads, writes: false }, Type::I32, &[count.into()], None)?;
                    }
                }
            }
        }
    }
    Ok(addresses)
}

/// The array at an address, in one of the pieces of memory.
fn find(
    known: &[Arc<Allocation>],
    address: u64,
    elem: Type,
    shape: &[i64],
    strides: Option<&[i64]>,
) -> Option<Array> {
    known.iter().find_map(|memory| {
        let offset = usize::try_from(address.checked_sub(memory.address())?).ok()?;
        Array::from_parts(memory.clone(), offset, elem, shape, strides).ok()
    })
}
