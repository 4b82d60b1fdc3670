//! Strided copies and fills on a GPU need kernels, and kernels come from the compiler, which this crate does
//! not know: the compiler's crate registers them here.

use std::sync::OnceLock;

use inkle_ir::MAX_DIMS;

use super::Array;
use crate::error::RuntimeError;
use crate::stream::Stream;

/// One side of a strided operation, in GPU memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StridedView {
    /// The address of the first element.
    pub address: u64,
    /// Extents; unused leading dimensions are one.
    pub shape: [i32; MAX_DIMS],
    /// Byte strides; zero in unused dimensions.
    pub strides: [i64; MAX_DIMS],
}

impl StridedView {
    pub(super) fn of(array: &Array) -> StridedView {
        let (mut shape, mut strides) = ([1; MAX_DIMS], [0; MAX_DIMS]);
        let lead = MAX_DIMS - array.ndim();
        shape[lead..].copy_from_slice(array.shape());
        strides[lead..].copy_from_slice(array.strides());
        StridedView { address: array.address(), shape, strides }
    }
}

/// GPU kernels for arrays that are not contiguous.
pub trait StridedKernels: Send + Sync {
    /// Queues a copy of elements of `elem_bytes` bytes between views of one shape on the stream's device.
    ///
    /// # Errors
    /// Those of compiling or launching.
    fn copy(
        &self,
        stream: &Stream,
        dst: &StridedView,
        src: &StridedView,
        elem_bytes: u32,
    ) -> Result<(), RuntimeError>;

    /// Queues writing `pattern`, one element's bytes, to every element.
    ///
    /// # Errors
    /// Those of compiling or launching.
    fn fill(&self, stream: &Stream, dst: &StridedView, pattern: &[u8]) -> Result<(), RuntimeError>;
}

static KERNELS: OnceLock<Box<dyn StridedKernels>> = OnceLock::new();

/// Registers the kernels, once; says whether these are the ones in use.
pub fn set_strided_kernels(kernels: Box<dyn StridedKernels>) -> bool {
    KERNELS.set(kernels).is_ok()
}

pub(super) fn kernels(
    operation: &'static str,
    stream: &Stream,
) -> Result<&'static dyn StridedKernels, RuntimeError> {
    match KERNELS.get() {
        Some(kernels) => Ok(&**kernels),
        None => Err(RuntimeError::NoStridedKernels { operation, device: stream.device().to_string() }),
    }
}
