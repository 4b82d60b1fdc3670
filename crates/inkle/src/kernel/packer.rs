//! Arguments into the bytes of a parameter block.

use std::mem::offset_of;

use inkle_ir::{ArrayDesc, IndexedArrayDesc, LaunchBounds, StructType, Type};
use inkle_runtime as rt;
use inkle_value::{Typed, Value, bytemuck};
use smallvec::SmallVec;

use super::instance::Facts;
use crate::array::{Array, IndexedArray};
use crate::error::Result;

/// The alignment that [`Facts::aligned`] is about, bytes; allocations have more.
const ALIGNMENT: u64 = 16;

/// A parameter block under construction.
pub struct Packer<'w, 'a> {
    words: &'w mut [u64],
    offset: usize,
    /// The number of the parameter that comes next.
    param: usize,
    /// The structs around what comes next: their types.
    open: SmallVec<[Type; 4]>,
    facts: Facts,
    arrays: SmallVec<[Held<'a>; 6]>,
}

/// An array of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<'a> {
    /// The number of the parameter that it is, or is in.
    pub param: usize,
    /// The array.
    pub array: &'a rt::Array,
    /// Whether it is a list that the array before it is indexed through.
    pub is_list: bool,
    /// Whether the argument may be written.
    pub is_mut: bool,
}

/// What can be passed to a kernel: a value, an array by reference, or a struct of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel",
    label = "kernels take values, and arrays of values as `&Array` and `&mut Array`",
    note = "write `#[derive(Clone, Copy, inkle::Struct)]` before a struct of your own to make it a value"
)]
// Not for what is `Typed` only: rustc would then report one that is no argument twice.
pub trait Argument {
    /// The type of a parameter that takes it.
    fn param_type() -> Type;

    /// Adds the argument to a parameter block.
    ///
    /// # Errors
    /// When the argument cannot be passed.
    fn pack<'a>(&'a self, block: &mut Packer<'_, 'a>) -> Result<()>;
}

impl<T: Value> Argument for T {
    fn param_type() -> Type {
        T::ty()
    }

    #[inline]
    fn pack<'a>(&'a self, block: &mut Packer<'_, 'a>) -> Result<()> {
        let ty = T::ty();
        block.place(ty);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(block.words);
        self.store(&mut bytes[block.offset..]);
        block.after(ty);
        Ok(())
    }
}

impl<T: Value, const D: usize> Argument for &Array<T, D> {
    fn param_type() -> Type {
        Array::<T, D>::ty()
    }

    #[inline]
    fn pack<'a>(&'a self, block: &mut Packer<'_, 'a>) -> Result<()> {
        block.array(self.runtime(), false);
        Ok(())
    }
}

impl<T: Value, const D: usize> Argument for &mut Array<T, D> {
    fn param_type() -> Type {
        Array::<T, D>::ty()
    }

    #[inline]
    fn pack<'a>(&'a self, block: &mut Packer<'_, 'a>) -> Result<()> {
        block.array(self.runtime(), true);
        Ok(())
    }
}

impl<T: Value, const D: usize> Argument for &IndexedArray<T, D> {
    fn param_type() -> Type {
        IndexedArray::<T, D>::ty()
    }

    fn pack<'a>(&'a self, block: &mut Packer<'_, 'a>) -> Result<()> {
        block.indexed(self, false);
        Ok(())
    }
}

impl<T: Value, const D: usize> Argument for &mut IndexedArray<T, D> {
    fn param_type() -> Type {
        IndexedArray::<T, D>::ty()
    }

    fn pack<'a>(&'a self, block: &mut Packer<'_, 'a>) -> Result<()> {
        block.indexed(self, true);
        Ok(())
    }
}

impl<'w, 'a> Packer<'w, 'a> {
    /// A block of zeros with the bounds of a launch.
    #[inline]
    pub(crate) fn new(words: &'w mut [u64], bounds: &LaunchBounds) -> Packer<'w, 'a> {
        words[..3].copy_from_slice(&bounds.words());
        Packer {
            words,
            offset: size_of::<LaunchBounds>(),
            param: 0,
            open: SmallVec::new(),
            facts: Facts::default(),
            arrays: SmallVec::new(),
        }
    }

    /// A block whose one parameter at `offset` is packed anew.
    pub(crate) fn again(words: &'w mut [u64], param: usize, offset: usize) -> Packer<'w, 'a> {
        Packer {
            words,
            offset,
            param,
            open: SmallVec::new(),
            facts: Facts::default(),
            arrays: SmallVec::new(),
        }
    }

    /// The block's words, what is known of its arrays, and the arrays.
    #[inline]
    pub(crate) fn finish(self) -> (&'w mut [u64], Facts, SmallVec<[Held<'a>; 6]>) {
        (self.words, self.facts, self.arrays)
    }

    #[inline]
    fn place(&mut self, ty: Type) {
        self.offset = self.offset.next_multiple_of(ty.align() as usize);
    }

    #[inline]
    fn after(&mut self, ty: Type) {
        self.offset += ty.size() as usize;
        if self.open.is_empty() {
            self.param += 1;
        }
    }

    /// Begins a struct: what is packed up to [`end`](Packer::end) are its fields.
    pub fn begin(&mut self, ty: Type) {
        self.place(ty);
        self.open.push(ty);
    }

    /// Ends the struct that was begun last.
    pub fn end(&mut self) {
        if let Some(ty) = self.open.pop() {
            self.place(ty);
            if self.open.is_empty() {
                self.param += 1;
            }
        }
    }

    /// Writes an array as generated code sees it.
    #[inline]
    fn desc(&mut self, desc: &ArrayDesc) {
        self.offset = self.offset.next_multiple_of(align_of::<ArrayDesc>());
        let at = self.offset / 8;
        self.words[at..at + 8].copy_from_slice(&desc.words());
        self.offset += size_of::<ArrayDesc>();
    }

    fn indexed<T, const D: usize>(&mut self, array: &'a IndexedArray<T, D>, is_mut: bool) {
        let IndexedArrayDesc { array: data, indices, shape: [a, b, c, d] } = array.desc();
        self.desc(&data);
        let at = self.offset / 8;
        self.words[at..at + 4].copy_from_slice(&indices);
        self.words[at + 4..at + 6].copy_from_slice(&[pair(a, b), pair(c, d)]);
        self.offset += size_of::<IndexedArrayDesc>() - size_of::<ArrayDesc>();
        let param = self.param;
        self.arrays.push(Held { param, array: array.data(), is_list: false, is_mut });
        self.arrays.extend(array.lists().map(|array| Held { param, array, is_list: true, is_mut: false }));
        if self.open.is_empty() {
            self.param += 1;
        }
    }

    #[inline]
    fn array(&mut self, array: &'a rt::Array, is_mut: bool) {
        let desc = array.desc();
        self.desc(&desc);
        self.arrays.push(Held { param: self.param, array, is_list: false, is_mut });
        if !self.open.is_empty() {
            return;
        }
        if self.param < 64
            && let Some(last) = array.ndim().checked_sub(1)
        {
            // A dimension of one element has no neighbours whose distance could matter.
            let contiguous = desc.strides[last] == array.elem_bytes() as i64 || desc.shape[last] <= 1;
            let aligned = (desc.data | desc.grad).is_multiple_of(ALIGNMENT);
            self.facts.contiguous |= u64::from(contiguous) << self.param;
            self.facts.aligned |= u64::from(aligned) << self.param;
        }
        self.param += 1;
    }
}

#[inline]
fn pair(low: i32, high: i32) -> u64 {
    u64::from(low as u32) | u64::from(high as u32) << 32
}

// Words are written in the order of these fields.
const _: () = {
    assert!(offset_of!(IndexedArrayDesc, indices) == size_of::<ArrayDesc>());
    assert!(offset_of!(IndexedArrayDesc, shape) == size_of::<ArrayDesc>() + 32);
    assert!(size_of::<IndexedArrayDesc>() == size_of::<ArrayDesc>() + 48);
};

/// Where the fields of a struct lie, one after the other.
#[derive(Debug)]
pub struct FieldOffsets {
    structure: &'static StructType,
    next: usize,
    end: usize,
}

impl FieldOffsets {
    /// Of the struct `ty`.
    ///
    /// # Panics
    /// When the type is no struct.
    pub fn of(ty: Type) -> FieldOffsets {
        let structure = ty.as_struct().expect("the derive asks for the struct's own type");
        FieldOffsets { structure, next: 0, end: 0 }
    }

    /// Where the next field begins, bytes.
    ///
    /// # Panics
    /// After the last field.
    pub fn next_offset(&mut self) -> usize {
        let ty = self.structure.fields[self.next].ty;
        self.next += 1;
        let start = self.end.next_multiple_of(ty.align() as usize);
        self.end = start + ty.size() as usize;
        start
    }
}
