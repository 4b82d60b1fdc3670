//! CPU memory that the host reads and writes where it lies, and vectors whose memory becomes an array's.
//!
//! Memory that is lent is counted in its [`Allocation`](crate::Allocation): any number of readers, or one writer. Copies and
//! fills into it are refused meanwhile, and whoever runs code on arrays that the caller does not borrow, as graphs do, asks
//! [`Allocation::check_unlent`](crate::Allocation::check_unlent) first.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::slice;

use bytemuck::Pod;
use inkle_ir::Type;

use super::{Array, byte_range};
use crate::device::Device;
use crate::error::RuntimeError;
use crate::memory::Lease;

/// The bytes that the elements of a CPU array span, to read.
#[derive(Debug)]
pub struct HostBytes<'a> {
    bytes: &'a [u8],
    first: usize,
    _lease: Lease,
}

/// The bytes that the elements of a CPU array span, to write to.
#[derive(Debug)]
pub struct HostBytesMut<'a> {
    bytes: &'a mut [u8],
    first: usize,
    _lease: Lease,
}

impl HostBytes<'_> {
    /// Where the first element begins; not at zero when strides are negative.
    pub fn first(&self) -> usize {
        self.first
    }
}

impl HostBytesMut<'_> {
    /// Where the first element begins; not at zero when strides are negative.
    pub fn first(&self) -> usize {
        self.first
    }
}

impl Deref for HostBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl Deref for HostBytesMut<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl DerefMut for HostBytesMut<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.bytes
    }
}

/// A vector's memory, given back when it is dropped.
struct Adopted<T> {
    address: usize,
    capacity: usize,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T> Drop for Adopted<T> {
    fn drop(&mut self) {
        let start = std::ptr::with_exposed_provenance_mut::<T>(self.address);
        // SAFETY: address and capacity are those of the vector that `adopt` took apart; its elements need no drop.
        drop(unsafe { Vec::from_raw_parts(start, 0, self.capacity) });
    }
}

impl Array {
    /// The bytes between the first and the last element of a CPU array, where they are. What streams still do with
    /// page-locked memory is waited for.
    ///
    /// # Errors
    /// [`RuntimeError::WrongDevice`] for an array of a GPU; [`RuntimeError::Lent`] while the memory is lent to be written.
    pub fn host_bytes(&self) -> Result<HostBytes<'_>, RuntimeError> {
        let lease = self.lease(false)?;
        let (start, first, count) = self.host_span();
        // SAFETY: the elements of an array lie within its memory, which is the CPU's, initialised, and kept alive by the
        // borrow of `self`; the lease keeps it from being written through arrays until the result is dropped.
        let bytes = unsafe { slice::from_raw_parts(start, count) };
        Ok(HostBytes { bytes, first, _lease: lease })
    }

    /// As [`host_bytes`](Array::host_bytes), to write to.
    ///
    /// # Errors
    /// As [`host_bytes`](Array::host_bytes), and [`RuntimeError::Lent`] while the memory is lent at all.
    pub fn host_bytes_mut(&mut self) -> Result<HostBytesMut<'_>, RuntimeError> {
        let lease = self.lease(true)?;
        let (start, first, count) = self.host_span();
        // SAFETY: as in `host_bytes`; the lease is the only one of the memory.
        let bytes = unsafe { slice::from_raw_parts_mut(start, count) };
        Ok(HostBytesMut { bytes, first, _lease: lease })
    }

    fn lease(&self, writing: bool) -> Result<Lease, RuntimeError> {
        if !self.device().is_cpu() {
            return Err(RuntimeError::WrongDevice {
                what: "an array whose memory the host uses",
                expected: Device::cpu().to_string(),
                found: self.device().to_string(),
            });
        }
        let lease = Lease::new(self.memory(), writing)?;
        self.memory().wait_for_uses()?;
        Ok(lease)
    }

    /// The lowest byte, how far from it the first element begins, and the number of bytes.
    fn host_span(&self) -> (*mut u8, usize, usize) {
        let (low, high) = byte_range(self.dtype, self.shape(), self.strides());
        let count = (high - low) as usize;
        if count == 0 {
            // Aligned for every element.
            return (std::ptr::without_provenance_mut(crate::HOST_ALIGN), 0, 0);
        }
        let start = (i128::from(self.address()) + low) as usize;
        (std::ptr::with_exposed_provenance_mut(start), (-low) as usize, count)
    }

    /// A contiguous array of the CPU in the memory of a vector.
    ///
    /// # Errors
    /// As [`empty`](Array::empty) for the description; [`RuntimeError::ByteCount`] when the vector has more or fewer bytes than
    /// the elements; [`RuntimeError::Misaligned`] when its own elements are less aligned.
    pub fn adopt<T: Pod + Send + Sync>(
        dtype: Type,
        shape: &[i64],
        values: Vec<T>,
    ) -> Result<Array, RuntimeError> {
        let bytes = size_of_val(values.as_slice());
        let (_, expected) = super::checked_size(dtype, shape)?;
        if bytes != expected {
            return Err(RuntimeError::ByteCount { what: "the array", expected, found: bytes });
        }
        if bytes == 0 {
            return Array::empty(Device::cpu(), dtype, shape);
        }
        if !align_of::<T>().is_multiple_of(dtype.align() as usize) {
            let (value, align) = (align_of::<T>() as i64, dtype.align());
            return Err(RuntimeError::Misaligned { what: "the alignment of the values", value, align });
        }
        let mut values = ManuallyDrop::new(values);
        let address = values.as_mut_ptr().expose_provenance();
        let keep_alive = Adopted::<T> { address, capacity: values.capacity(), of: Default::default() };
        // SAFETY: the vector's initialised memory, of as many bytes as the elements have; `keep_alive` frees it, and
        // nobody else knows it any more.
        unsafe { Array::foreign(Device::cpu(), dtype, address as u64, shape, None, Box::new(keep_alive)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_reads_and_writes_in_place() -> Result<(), RuntimeError> {
        let mut array = Array::zeros(Device::cpu(), Type::I32, &[2, 3])?;
        array.host_bytes_mut()?[4] = 7;
        let column = array.index(1, 1)?;
        assert_eq!(column.host_bytes()?.len(), 4 * 4, "from the first row's to the second row's");
        assert_eq!(column.to_bytes()?[0], 7);
        let reversed = array.slice(0, crate::Slice { step: -1, ..crate::Slice::ALL })?;
        let bytes = reversed.host_bytes()?;
        assert_eq!((bytes.first(), bytes[4]), (12, 7));
        Ok(())
    }

    #[test]
    fn lent_memory_is_not_written() -> Result<(), RuntimeError> {
        let mut array = Array::zeros(Device::cpu(), Type::I32, &[4])?;
        let mut same = array.clone();
        let other = array.clone();
        let lent = array.host_bytes()?;
        let refused = Err(RuntimeError::Lent { writing: true });
        assert!(same.host_bytes().is_ok());
        assert_eq!(same.host_bytes_mut().map(drop), refused);
        assert_eq!(other.fill(&[1, 0, 0, 0], None), refused);
        assert_eq!(other.copy_from(&Array::zeros(Device::cpu(), Type::I32, &[4])?, None), refused);
        drop(lent);
        let lent = array.host_bytes_mut()?;
        assert_eq!(other.host_bytes().map(drop), Err(RuntimeError::Lent { writing: false }));
        assert_eq!(other.to_bytes(), Err(RuntimeError::Lent { writing: false }));
        drop(lent);
        other.fill(&[1, 0, 0, 0], None)
    }

    #[test]
    fn a_vector_becomes_an_array() -> Result<(), RuntimeError> {
        let values = vec![1.5f32, 2.5, 3.5];
        let address = values.as_ptr().addr() as u64;
        let array = Array::adopt(Type::F32, &[3], values)?;
        assert_eq!(array.address(), address);
        array.slice(0, crate::Slice::range(1, 2))?.fill(&9f32.to_le_bytes(), None)?;
        assert_eq!(bytemuck::cast_slice::<u8, f32>(&array.host_bytes()?), [1.5, 9.0, 3.5]);
        let wrong = Array::adopt(Type::F32, &[4], vec![0f32; 3]).unwrap_err();
        assert_eq!(wrong, RuntimeError::ByteCount { what: "the array", expected: 16, found: 12 });
        assert!(matches!(Array::adopt(Type::F32, &[1], vec![0u8; 4]), Err(RuntimeError::Misaligned { .. })));
        assert_eq!(Array::adopt(Type::F32, &[0], Vec::<f32>::new())?.len(), 0);
        Ok(())
    }
}
