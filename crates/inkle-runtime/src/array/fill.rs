//! Setting every element to one value.

use super::plan::Plan;
use super::strided::{self, StridedView};
use super::{Array, host};
use crate::cuda::sys::CUdeviceptr;
use crate::error::RuntimeError;
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
    /// [`RuntimeError::ByteCount`], [`RuntimeError::WrongDevice`]; [`RuntimeError::NoStridedKernels`] for an
    /// array on a GPU that is not contiguous; else the driver's.
    pub fn fill(&self, pattern: &[u8], stream: Option<&Stream>) -> Result<(), RuntimeError> {
        if pattern.len() != self.elem_bytes() {
            return Err(RuntimeError::ByteCount {
                what: "one element",
                expected: self.elem_bytes(),
                found: pattern.len(),
            });
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
        if plan.is_one_run() {
            fill_run_on_gpu(&stream, self.address(), plan.run_bytes, pattern)
        } else {
            strided::kernels("fill", &stream)?.fill(&stream, &StridedView::of(self), pattern)
        }
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

/// The shortest power-of-two prefix of at most 4 bytes whose repetition is the pattern.
fn period(pattern: &[u8]) -> Option<usize> {
    [1, 2, 4].into_iter().find(|&p| {
        pattern.len().is_multiple_of(p) && pattern.chunks_exact(p).all(|chunk| *chunk == pattern[..p])
    })
}

/// Fills contiguous GPU memory. The driver repeats 1, 2 or 4 bytes; a longer pattern is written as one
/// column of words after another.
fn fill_run_on_gpu(
    stream: &Stream,
    dst: CUdeviceptr,
    bytes: usize,
    pattern: &[u8],
) -> Result<(), RuntimeError> {
    if period(pattern).is_none()
        && let Ok(kernels) = strided::kernels("fill", stream)
    {
        // One pass over the memory instead of one per word, where elements can be counted in an extent.
        if let Ok(count) = i32::try_from(bytes / pattern.len()) {
            let strides = [0, 0, 0, pattern.len() as i64];
            let view = StridedView { address: dst, shape: [1, 1, 1, count], strides };
            return kernels.fill(stream, &view, pattern);
        }
    }
    let current = stream.device().enter()?;
    let (driver, queue) = (current.driver, stream.raw());
    // SAFETY: the caller's run of bytes is GPU memory of an array, alive and recorded as used by the stream;
    // the words written make up exactly that run; addresses are multiples of the element's alignment, which
    // is at least that of the period for every type whose size the period divides, or are written bytewise.
    unsafe {
        match period(pattern) {
            Some(1) => driver.memset_d8_async(dst, pattern[0], bytes, queue)?,
            Some(2) if dst.is_multiple_of(2) => {
                let value = u16::from_le_bytes([pattern[0], pattern[1]]);
                driver.memset_d16_async(dst, value, bytes / 2, queue)?;
            }
            Some(4) if dst.is_multiple_of(4) => {
                let value = u32::from_le_bytes([pattern[0], pattern[1], pattern[2], pattern[3]]);
                driver.memset_d32_async(dst, value, bytes / 4, queue)?;
            }
            _ => {
                let (size, count) = (pattern.len(), bytes / pattern.len());
                if size.is_multiple_of(4) && dst.is_multiple_of(4) {
                    for (i, word) in pattern.chunks_exact(4).enumerate() {
                        let value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                        let column = dst + 4 * i as u64;
                        driver.memset_d2_d32_async(column, size, value, 1, count, queue)?;
                    }
                } else {
                    for (i, &byte) in pattern.iter().enumerate() {
                        driver.memset_d2_d8_async(dst + i as u64, size, byte, 1, count, queue)?;
                    }
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods() {
        assert_eq!(period(&[7, 7, 7]), Some(1));
        assert_eq!(period(&[1, 2, 1, 2, 1, 2]), Some(2));
        assert_eq!(period(&[1, 2, 3, 4, 1, 2, 3, 4]), Some(4));
        assert_eq!(period(&[1, 2, 3]), None);
        assert_eq!(period(&[1, 2, 3, 4, 5, 6]), None);
    }
}
