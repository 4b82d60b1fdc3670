//! Setting every element to one value.

use super::plan::Plan;
use super::{Array, host, strided};
use crate::cuda::sys::CUdeviceptr;
use crate::error::RuntimeError;
use crate::record::{self, Operation};
use crate::stream::Stream;

impl Array {
    /// Sets every byte of every element to zero. On a GPU this is queued on `stream`, or on the device's
    /// current stream.
    ///
    /// # Errors
    /// As [`fill`](Array::fill).
    pub fn zero(&self, stream: Option<&Stream>) -> Result<(), RuntimeError> {
        // No element type is so large that its zeros matter; wide ones are treated as runs of bytes.
        let zeros = [0u8; 64];
        match zeros.get(..self.elem_bytes()) {
            Some(pattern) => self.fill(pattern, stream),
            None => self.fill(&vec![0; self.elem_bytes()], stream),
        }
    }

    /// Sets every element to the bytes of `pattern`, which has the size of one element. On a GPU this is
    /// queued on `stream`, or on the device's current stream.
    ///
    /// # Errors
    /// [`RuntimeError::ByteCount`], [`RuntimeError::WrongDevice`]; else the driver's.
    pub fn fill(&self, pattern: &[u8], stream: Option<&Stream>) -> Result<(), RuntimeError> {
        self.check_fill(pattern)?;
        self.memory().check_unlent(true)?;
        if self.is_empty() || !record::runs_now(&Operation::Fill { dst: self, pattern, stream })? {
            return Ok(());
        }
        let Some(plan) = Plan::new(self.shape(), [self.strides()], self.elem_bytes()) else { return Ok(()) };
        // The plan's runs follow the smallest stride; negative strides are plain rows, so the first point is
        // always the array's own.
        if self.device().is_cpu() {
            // SAFETY: the plan walks this array's elements, which lie in its live memory on the CPU.
            return unsafe { host::fill(&plan, self.address(), pattern) };
        }
        let stream = self.stream_for_use(stream)?;
        self.memory().record_use(&stream);
        match period(pattern, self.address()) {
            Some(period) if plan.is_one_run() => {
                fill_run_on_gpu(&stream, self.address(), plan.run_bytes, &pattern[..period])
            }
            _ => strided::fill(&stream, &plan, self.address(), pattern),
        }
    }

    /// Whether the pattern is one element.
    pub(super) fn check_fill(&self, pattern: &[u8]) -> Result<(), RuntimeError> {
        if pattern.len() != self.elem_bytes() {
            return Err(RuntimeError::ByteCount {
                what: "one element",
                expected: self.elem_bytes(),
                found: pattern.len(),
            });
        }
        Ok(())
    }

    /// The stream given, checked, or the device's current one.
    pub(super) fn stream_for_use(&self, stream: Option<&Stream>) -> Result<Stream, RuntimeError> {
        match stream {
            None => self.device().stream(),
            Some(stream) if stream.device() == self.device() => Ok(stream.clone()),
            Some(stream) => Err(RuntimeError::WrongDevice {
                what: "the stream",
                expected: self.device().to_string(),
                found: stream.device().to_string(),
            }),
        }
    }
}

/// The length of the shortest word of 1, 2 or 4 bytes whose repetition is the pattern and whose multiple the
/// address is, as the driver wants.
fn period(pattern: &[u8], address: u64) -> Option<usize> {
    [1, 2, 4].into_iter().find(|&p| {
        pattern.len().is_multiple_of(p)
            && address.is_multiple_of(p as u64)
            && pattern.chunks_exact(p).all(|chunk| *chunk == pattern[..p])
    })
}

/// Fills contiguous GPU memory with a word of 1, 2 or 4 bytes, which the driver repeats.
fn fill_run_on_gpu(stream: &Stream, dst: CUdeviceptr, bytes: usize, word: &[u8]) -> Result<(), RuntimeError> {
    let current = stream.device().enter()?;
    let (driver, queue) = (current.driver, stream.raw());
    // SAFETY: the caller's run of bytes is GPU memory of an array, alive and recorded as used by the stream.
    unsafe {
        match *word {
            [a] => driver.memset_d8_async(dst, a, bytes, queue),
            [a, b] => driver.memset_d16_async(dst, u16::from_le_bytes([a, b]), bytes / 2, queue),
            [a, b, c, d] => driver.memset_d32_async(dst, u32::from_le_bytes([a, b, c, d]), bytes / 4, queue),
            _ => unreachable!("a word has 1, 2 or 4 bytes"),
        }
    }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods() {
        assert_eq!(period(&[7, 7, 7], 64), Some(1));
        assert_eq!(period(&[1, 2, 1, 2, 1, 2], 64), Some(2));
        assert_eq!(period(&[1, 2, 3, 4, 1, 2, 3, 4], 64), Some(4));
        assert_eq!(period(&[1, 2, 3], 64), None);
        assert_eq!(period(&[1, 2, 3, 4, 5, 6], 64), None);
        assert_eq!(period(&[1, 2, 3, 4], 66), None);
        assert_eq!(period(&[5; 4], 67), Some(1));
    }
}
