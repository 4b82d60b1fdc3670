//! Arrays: typed, strided views of memory, with 0 to 4 dimensions.
//!
//! An array is a description; copies and views share memory. Like any shared buffer, it is the program's
//! business that one use does not overwrite what another still reads; on a GPU, streams order the uses.
//!
//! *Invariant:* every element of every array lies inside the array's [`Allocation`], at an address that is a
//! multiple of the element type's alignment.

mod copy;
mod fill;
mod host;
mod lend;
mod plan;
mod prepared;
mod referents;
mod strided;
mod units;
mod view;

use std::fmt;
use std::sync::Arc;

use inkle_ir::{ArrayDesc, MAX_DIMS, Type};

use crate::device::Device;
use crate::error::RuntimeError;
use crate::memory::{Allocation, KeepAlive, MemoryKind};
use crate::record;

pub use lend::{HostBytes, HostBytesMut};
pub use prepared::Prepared;
pub use referents::Referent;
pub(crate) use referents::Referents;
pub use units::Units;
pub use view::{Index, Slice};

/// The most bytes that the elements of an array may span; offsets within it never overflow.
const MAX_SPAN: i128 = 1 << 60;

/// A typed, strided view of memory.
#[derive(Clone)]
pub struct Array {
    dtype: Type,
    /// Address, extents and strides as kernels see them; `grad` is kept up to date by `set_grad`.
    desc: ArrayDesc,
    ndim: u8,
    memory: Arc<Allocation>,
    grad: Option<Box<Array>>,
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array")
            .field("dtype", &self.dtype)
            .field("shape", &self.shape())
            .field("strides", &self.strides())
            .field("device", &self.device())
            .field("address", &format_args!("{:#x}", self.desc.data))
            .field("grad", &self.grad.is_some())
            .finish()
    }
}

impl Array {
    /// An array of new memory. On the CPU the memory is zero; on a GPU it holds anything.
    ///
    /// # Errors
    /// [`RuntimeError::TooManyDims`], [`RuntimeError::BadExtent`], [`RuntimeError::TooLarge`] or
    /// [`RuntimeError::BadElementType`] for the description; those of [`Allocation::new`].
    pub fn empty(device: Device, dtype: Type, shape: &[i64]) -> Result<Array, RuntimeError> {
        let (shape, bytes) = checked_size(dtype, shape)?;
        Ok(Array::contiguous_in(Allocation::new(device, bytes)?, dtype, &shape))
    }

    /// An array of new memory with these strides (bytes), none of them negative.
    ///
    /// # Errors
    /// As [`empty`](Array::empty), and [`RuntimeError::StrideCount`], [`RuntimeError::NegativeStride`] or
    /// [`RuntimeError::Misaligned`] for the strides.
    pub fn with_strides(
        device: Device,
        dtype: Type,
        shape: &[i64],
        strides: &[i64],
        pinned: bool,
    ) -> Result<Array, RuntimeError> {
        let (dims, strides) = checked_layout(dtype, shape, Some(strides))?;
        if let Some((dim, &stride)) = strides.iter().enumerate().find(|(_, stride)| **stride < 0) {
            return Err(RuntimeError::NegativeStride { dim, stride });
        }
        check_alignment(dtype, 0, &dims, &strides)?;
        let (_, end) = byte_range(dtype, &dims, &strides);
        let bytes = usize::try_from(end).ok().filter(|_| end <= MAX_SPAN);
        let elem_bytes = dtype.size() as usize;
        let bytes = bytes.ok_or_else(|| RuntimeError::TooLarge { shape: dims.clone(), elem_bytes })?;
        let memory = match pinned && device.is_cpu() {
            true => Allocation::pinned(bytes)?,
            false => Allocation::new(device, bytes)?,
        };
        let data = memory.address();
        Ok(Array::assemble(memory, data, dtype, &dims, &strides))
    }

    /// The bytes from the first element's start to the end of the one that lies furthest behind it.
    pub fn span_bytes(&self) -> usize {
        byte_range(self.dtype, self.shape(), self.strides()).1 as usize
    }

    /// An array of zeros. On a GPU they are written on the device's current stream.
    ///
    /// # Errors
    /// As [`empty`](Array::empty).
    pub fn zeros(device: Device, dtype: Type, shape: &[i64]) -> Result<Array, RuntimeError> {
        let array = Array::empty(device, dtype, shape)?;
        // A graph that allocates them sets them to zero each time it runs.
        if device.is_cuda() || record::may_be_recording() {
            array.zero(None)?;
        }
        Ok(array)
    }

    /// An array of page-locked CPU memory, zero.
    ///
    /// # Errors
    /// As [`empty`](Array::empty), and those of [`Allocation::pinned`].
    pub fn pinned(dtype: Type, shape: &[i64]) -> Result<Array, RuntimeError> {
        let (shape, bytes) = checked_size(dtype, shape)?;
        Ok(Array::contiguous_in(Allocation::pinned(bytes)?, dtype, &shape))
    }

    /// A contiguous array on `device` with the given contents, in memory order. For a GPU the bytes are
    /// copied on the device's current stream; they may be changed when this returns.
    ///
    /// # Errors
    /// As [`empty`](Array::empty); [`RuntimeError::ByteCount`] if `bytes` has the wrong length.
    pub fn from_bytes(
        device: Device,
        dtype: Type,
        shape: &[i64],
        bytes: &[u8],
    ) -> Result<Array, RuntimeError> {
        let array = Array::empty(device, dtype, shape)?;
        array.write_first(bytes)?;
        Ok(array)
    }

    /// A view of `memory`, its first element `offset_bytes` from the start. Without `strides` (bytes) it is
    /// contiguous.
    ///
    /// # Errors
    /// As [`empty`](Array::empty) for the description; [`RuntimeError::StrideCount`],
    /// [`RuntimeError::Misaligned`], [`RuntimeError::OutsideAllocation`].
    pub fn from_parts(
        memory: Arc<Allocation>,
        offset_bytes: usize,
        dtype: Type,
        shape: &[i64],
        strides: Option<&[i64]>,
    ) -> Result<Array, RuntimeError> {
        let (dims, strides) = checked_layout(dtype, shape, strides)?;
        let (low, high) = byte_range(dtype, &dims, &strides);
        let (first_byte, end_byte) = (offset_bytes as i128 + low, offset_bytes as i128 + high);
        if low < high && (first_byte < 0 || end_byte > memory.bytes() as i128) {
            return Err(RuntimeError::OutsideAllocation {
                first_byte,
                end_byte,
                allocation_bytes: memory.bytes(),
            });
        }
        let data = if low < high { memory.address() + offset_bytes as u64 } else { memory.address() };
        check_alignment(dtype, data, &dims, &strides)?;
        Ok(Array::assemble(memory, data, dtype, &dims, &strides))
    }

    /// A view of memory that someone else owns, its first element at `address`; `keep_alive` is dropped when
    /// no array uses it any more. Without `strides` (bytes) it is contiguous.
    ///
    /// # Errors
    /// As [`from_parts`](Array::from_parts).
    ///
    /// # Safety
    /// All elements so described are memory of `device` that may be read and written until `keep_alive` is
    /// dropped, and whoever else uses them orders their accesses with the ones made through the result.
    pub unsafe fn foreign(
        device: Device,
        dtype: Type,
        address: u64,
        shape: &[i64],
        strides: Option<&[i64]>,
        keep_alive: KeepAlive,
    ) -> Result<Array, RuntimeError> {
        let (dims, strides) = checked_layout(dtype, shape, strides)?;
        let (low, high) = byte_range(dtype, &dims, &strides);
        let (first, end) = (i128::from(address) + low, i128::from(address) + high);
        let bytes = usize::try_from(high - low).unwrap_or(usize::MAX);
        if low < high && (address == 0 || first <= 0 || end > i128::from(u64::MAX) || high - low > MAX_SPAN) {
            return Err(RuntimeError::OutsideAllocation {
                first_byte: first,
                end_byte: end,
                allocation_bytes: 0,
            });
        }
        check_alignment(dtype, address, &dims, &strides)?;
        // SAFETY: the caller's contract, for exactly the bytes that the elements span.
        let memory = unsafe { Allocation::foreign(device, first as u64, bytes, keep_alive) };
        Ok(Array::assemble(memory, address, dtype, &dims, &strides))
    }

    fn contiguous_in(memory: Arc<Allocation>, dtype: Type, shape: &[i32]) -> Array {
        let strides = contiguous_strides(dtype, shape);
        let data = memory.address();
        Array::assemble(memory, data, dtype, shape, &strides[..shape.len()])
    }

    fn assemble(memory: Arc<Allocation>, data: u64, dtype: Type, shape: &[i32], strides: &[i64]) -> Array {
        let mut desc = ArrayDesc { data, ..ArrayDesc::default() };
        desc.shape[..shape.len()].copy_from_slice(shape);
        desc.strides[..strides.len()].copy_from_slice(strides);
        Array { dtype, desc, ndim: shape.len() as u8, memory, grad: None }
    }

    /// The type of the elements.
    pub fn dtype(&self) -> Type {
        self.dtype
    }

    /// The number of dimensions.
    pub fn ndim(&self) -> usize {
        self.ndim.into()
    }

    /// The extents.
    pub fn shape(&self) -> &[i32] {
        &self.desc.shape[..self.ndim()]
    }

    /// The distances between neighbours, bytes.
    pub fn strides(&self) -> &[i64] {
        &self.desc.strides[..self.ndim()]
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape().iter().map(|&n| n as usize).product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// The size of one element, bytes.
    pub fn elem_bytes(&self) -> usize {
        self.dtype.size() as usize
    }

    /// The size of all elements together, bytes, without what lies between them.
    pub fn size_bytes(&self) -> usize {
        self.len() * self.elem_bytes()
    }

    /// The device the memory is on.
    pub fn device(&self) -> Device {
        self.memory.device()
    }

    /// Whether the memory is page-locked.
    pub fn is_pinned(&self) -> bool {
        self.memory.kind() == MemoryKind::Pinned
    }

    /// The address of the first element.
    pub fn address(&self) -> u64 {
        self.desc.data
    }

    /// The memory.
    pub fn memory(&self) -> &Arc<Allocation> {
        &self.memory
    }

    /// The array as kernels see it.
    #[inline]
    pub fn desc(&self) -> ArrayDesc {
        self.desc
    }

    /// Whether the elements follow one another in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = self.elem_bytes() as i64;
        for (&extent, &stride) in self.shape().iter().zip(self.strides()).rev() {
            if extent == 0 {
                return true;
            }
            if extent != 1 && stride != expected {
                return false;
            }
            expected *= i64::from(extent);
        }
        true
    }

    /// The array that holds the gradient, if there is one.
    pub fn grad(&self) -> Option<&Array> {
        self.grad.as_deref()
    }

    /// Sets or removes the gradient's array. Kernels reach it through this array's strides.
    ///
    /// # Errors
    /// [`RuntimeError::TypeMismatch`], [`RuntimeError::ShapeMismatch`], [`RuntimeError::StrideMismatch`] or
    /// [`RuntimeError::WrongDevice`] if it is not laid out like this one.
    pub fn set_grad(&mut self, grad: Option<Array>) -> Result<(), RuntimeError> {
        let Some(mut grad) = grad else {
            (self.grad, self.desc.grad) = (None, 0);
            return Ok(());
        };
        const OPERATION: &str = "a gradient";
        if grad.dtype != self.dtype {
            let (left, right) = (self.dtype, grad.dtype);
            return Err(RuntimeError::TypeMismatch { operation: OPERATION, left, right });
        }
        if grad.shape() != self.shape() {
            let (left, right) = (self.shape().to_vec(), grad.shape().to_vec());
            return Err(RuntimeError::ShapeMismatch { operation: OPERATION, left, right });
        }
        if grad.strides() != self.strides() && !self.is_empty() {
            let (left, right) = (self.strides().to_vec(), grad.strides().to_vec());
            return Err(RuntimeError::StrideMismatch { operation: OPERATION, left, right });
        }
        if grad.device() != self.device() {
            return Err(RuntimeError::WrongDevice {
                what: "the gradient",
                expected: self.device().to_string(),
                found: grad.device().to_string(),
            });
        }
        (grad.grad, grad.desc.grad) = (None, 0);
        self.desc.grad = grad.desc.data;
        self.grad = Some(Box::new(grad));
        Ok(())
    }

    /// Gives the array a gradient of zeros with its own layout, if it has none.
    ///
    /// # Errors
    /// Those of allocation.
    pub fn require_grad(&mut self) -> Result<(), RuntimeError> {
        if self.grad.is_some() {
            return Ok(());
        }
        let (low, high) = byte_range(self.dtype, self.shape(), self.strides());
        let bytes = usize::try_from(high - low).unwrap_or(usize::MAX);
        let memory = Allocation::new(self.device(), bytes)?;
        let data = (i128::from(memory.address()) - low) as u64;
        let grad = Array::assemble(memory, data, self.dtype, self.shape(), self.strides());
        grad.zero(None)?;
        self.set_grad(Some(grad))
    }
}

/// The extents as `i32`, and the bytes of a contiguous array.
fn checked_size(dtype: Type, shape: &[i64]) -> Result<(Vec<i32>, usize), RuntimeError> {
    if matches!(dtype, Type::Array(_) | Type::Ref(_)) || dtype.size() == 0 {
        return Err(RuntimeError::BadElementType { dtype });
    }
    if shape.len() > MAX_DIMS {
        return Err(RuntimeError::TooManyDims { ndim: shape.len() });
    }
    let mut dims = Vec::with_capacity(shape.len());
    for (dim, &extent) in shape.iter().enumerate() {
        let small = i32::try_from(extent).ok().filter(|&e| e >= 0);
        dims.push(small.ok_or(RuntimeError::BadExtent { dim, extent })?);
    }
    let elem_bytes = dtype.size() as usize;
    // Extents of other dimensions must not overflow either when one of them is zero: strides are their products.
    let bytes = dims.iter().filter(|&&e| e > 0).try_fold(elem_bytes, |n, &e| n.checked_mul(e as usize));
    match bytes.filter(|&n| n as i128 <= MAX_SPAN) {
        Some(bytes) => Ok((dims.clone(), if dims.contains(&0) { 0 } else { bytes })),
        None => Err(RuntimeError::TooLarge { shape: dims, elem_bytes }),
    }
}

type Layout = (Vec<i32>, Vec<i64>);

fn checked_layout(dtype: Type, shape: &[i64], strides: Option<&[i64]>) -> Result<Layout, RuntimeError> {
    let (dims, _) = checked_size(dtype, shape)?;
    match strides {
        None => {
            let strides = contiguous_strides(dtype, &dims)[..dims.len()].to_vec();
            Ok((dims, strides))
        }
        Some(strides) if strides.len() != dims.len() => {
            Err(RuntimeError::StrideCount { ndim: dims.len(), strides: strides.len() })
        }
        Some(strides) => Ok((dims, strides.to_vec())),
    }
}

fn check_alignment(dtype: Type, address: u64, shape: &[i32], strides: &[i64]) -> Result<(), RuntimeError> {
    let align = dtype.align();
    if shape.contains(&0) {
        return Ok(());
    }
    if !address.is_multiple_of(align.into()) {
        return Err(RuntimeError::Misaligned { what: "address", value: address as i64, align });
    }
    for (&extent, &stride) in shape.iter().zip(strides) {
        if extent > 1 && stride % i64::from(align) != 0 {
            return Err(RuntimeError::Misaligned { what: "stride", value: stride, align });
        }
    }
    Ok(())
}

/// Row-major strides, bytes.
fn contiguous_strides(dtype: Type, shape: &[i32]) -> [i64; MAX_DIMS] {
    let mut strides = [0; MAX_DIMS];
    let mut next = i64::from(dtype.size());
    for (stride, &extent) in strides[..shape.len()].iter_mut().zip(shape).rev() {
        *stride = next;
        next *= i64::from(extent);
    }
    strides
}

/// The first byte and the end of all elements, relative to the first element; equal if there are none.
fn byte_range(dtype: Type, shape: &[i32], strides: &[i64]) -> (i128, i128) {
    if shape.contains(&0) {
        return (0, 0);
    }
    let (mut low, mut high) = (0i128, i128::from(dtype.size()));
    for (&extent, &stride) in shape.iter().zip(strides) {
        let reach = i128::from(extent - 1) * i128::from(stride);
        if reach < 0 {
            low += reach;
        } else {
            high += reach;
        }
    }
    (low, high)
}
