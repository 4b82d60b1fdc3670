//! Running a stream.

mod cpu;
mod cuda;

use std::ops::Range;
use std::sync::Arc;

use inkle_runtime::{Allocation, Array, RuntimeError};

use crate::ops::View;

pub use cpu::CpuProgram;
pub use cuda::{build, check_capturable, emit, emit_nodes};

/// The memory of a region.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The memory.
    pub memory: Arc<Allocation>,
    /// Where the region starts. It may start, or end, outside the memory: then the operations use only what lies inside.
    pub base: u64,
}

impl Bound {
    /// A region that is the whole of some memory.
    pub fn whole(memory: Arc<Allocation>) -> Bound {
        Bound { base: memory.address(), memory }
    }

    /// The addresses of the region, of so many bytes, that lie inside the memory.
    pub fn extent(&self, bytes: u64) -> Range<u64> {
        let (start, end) = (self.memory.address(), self.memory.address() + self.memory.bytes() as u64);
        self.base.clamp(start, end)..self.base.saturating_add(bytes).clamp(start, end)
    }

    /// Where an array of the memory lies in the region, whose number is `region`.
    pub fn view(&self, region: u32, array: &Array) -> View {
        View {
            region,
            offset: array.address().wrapping_sub(self.base),
            dtype: array.dtype(),
            shape: array.shape().to_vec(),
            strides: array.strides().to_vec(),
        }
    }

    /// A view of the region as an array.
    ///
    /// # Errors
    /// The runtime's, when its elements do not lie in the memory.
    pub fn array(&self, view: &View) -> Result<Array, RuntimeError> {
        let shape: Vec<i64> = view.shape.iter().map(|&n| n.into()).collect();
        let offset = self.base.wrapping_add(view.offset).wrapping_sub(self.memory.address());
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        Array::from_parts(self.memory.clone(), offset, view.dtype, &shape, Some(&view.strides))
    }
}
