//! Copies between arrays: all pairs of devices, all layouts.
//!
//! Copies between CPU arrays are done when the call returns. A copy with a GPU on either side is queued, and
//! the host waits only where ordinary (not page-locked) CPU memory forces it to: for a copy to such memory,
//! and for a copy from it that is too large for the driver's staging buffer.

use std::sync::Arc;

use super::plan::Plan;
use super::{Array, host, strided};
use crate::device::Device;
use crate::error::RuntimeError;
use crate::memory::{Allocation, MemoryKind};
use crate::record::{self, Operation};
use crate::stream::Stream;

/// The driver stages this much pageable memory before it returns, so the source may change at once.
const STAGED_BYTES: usize = 64 << 10;

impl Array {
    /// Copies the elements of `src` here. Both have one shape and elements of one size. With a GPU on either
    /// side the copy is queued on `stream`, or on the current stream of this array's device (of `src`'s device
    /// if this one is on the CPU).
    ///
    /// # Errors
    /// [`RuntimeError::CopyMismatch`], [`RuntimeError::WrongDevice`] for a stream of a third device; else the
    /// driver's.
    pub fn copy_from(&self, src: &Array, stream: Option<&Stream>) -> Result<(), RuntimeError> {
        self.check_copy(src)?;
        self.memory().check_unlent(true)?;
        src.memory().check_unlent(false)?;
        self.copy_referents(src, None);
        if self.is_empty() || !record::runs_now(&Operation::Copy { dst: self, src, stream })? {
            return Ok(());
        }
        self.copy_now(src, stream)
    }

    /// Whether a copy from `src` is possible.
    pub(super) fn check_copy(&self, src: &Array) -> Result<(), RuntimeError> {
        if self.elem_bytes() != src.elem_bytes() {
            return Err(self.unlike(src));
        }
        if self.shape() != src.shape() {
            return Err(self.unlike(src));
        }
        Ok(())
    }

    /// [`copy_from`](Array::copy_from) for what is known to fit, whoever records.
    pub(super) fn copy_now(&self, src: &Array, stream: Option<&Stream>) -> Result<(), RuntimeError> {
        let Some(plan) = Plan::new(self.shape(), [self.strides(), src.strides()], self.elem_bytes()) else {
            return Ok(());
        };
        if self.device().is_cpu() && src.device().is_cpu() {
            return self.copy_on_cpu(src, &plan);
        }
        let way = Way::new(self, src, stream)?;
        if plan.is_one_run() {
            return way.copy_run(&Span::of(self, plan.run_bytes), &Span::of(src, plan.run_bytes));
        }
        if way.is_on_one_gpu() {
            return way.copy_strided(self, src);
        }
        // Each side is made contiguous where it lies, and the run is what crosses.
        let src = if src.is_contiguous() { src.clone() } else { way.gather(src)? };
        if self.is_contiguous() {
            return way.copy_run(&Span::of(self, self.size_bytes()), &Span::of(&src, src.size_bytes()));
        }
        let landing = way.landing_like(self)?;
        way.copy_run(&Span::of(&landing, landing.size_bytes()), &Span::of(&src, src.size_bytes()))?;
        if self.device().is_cpu() { self.copy_now(&landing, None) } else { way.copy_strided(self, &landing) }
    }

    fn unlike(&self, src: &Array) -> RuntimeError {
        RuntimeError::CopyMismatch {
            destination: (self.shape().to_vec(), self.dtype()),
            source: (src.shape().to_vec(), src.dtype()),
        }
    }

    /// As [`copy_from`](Array::copy_from) on one GPU, for contiguous arrays whose owners keep their memory until `stream` has
    /// passed: the memory does not remember the stream, which may go away. Nobody records it.
    ///
    /// # Errors
    /// [`RuntimeError::CopyMismatch`], [`RuntimeError::NotContiguous`], [`RuntimeError::WrongDevice`] unless all are of one
    /// GPU; the driver's.
    pub fn copy_untracked_from(&self, src: &Array, stream: &Stream) -> Result<(), RuntimeError> {
        self.check_copy(src)?;
        for (what, array) in [("the destination", self), ("the source", src)] {
            array.need_contiguous("an untracked copy")?;
            if array.device() != stream.device() {
                let (expected, found) = (stream.device().to_string(), array.device().to_string());
                return Err(RuntimeError::WrongDevice { what, expected, found });
            }
        }
        if self.is_empty() {
            return Ok(());
        }
        let current = stream.device().enter()?;
        // SAFETY: both are live contiguous memory of the stream's GPU, of one size.
        Ok(unsafe {
            current.driver.memcpy_dtod_async(self.address(), src.address(), self.size_bytes(), stream.raw())
        }?)
    }

    /// Copies `count` elements in memory order from place `src_offset` of `src` to place `dst_offset` here.
    /// Both are contiguous and have elements of one size; shapes do not matter. Queued like
    /// [`copy_from`](Array::copy_from).
    ///
    /// # Errors
    /// [`RuntimeError::RangeOutOfBounds`], [`RuntimeError::NotContiguous`], and those of `copy_from`.
    pub fn copy_range_from(
        &self,
        dst_offset: usize,
        src: &Array,
        src_offset: usize,
        count: usize,
        stream: Option<&Stream>,
    ) -> Result<(), RuntimeError> {
        let size = self.elem_bytes();
        if size != src.elem_bytes() {
            return Err(self.unlike(src));
        }
        self.memory().check_unlent(true)?;
        src.memory().check_unlent(false)?;
        self.need_contiguous("a partial copy")?;
        src.need_contiguous("a partial copy")?;
        for (array, side, offset) in [(self, "destination", dst_offset), (src, "source", src_offset)] {
            let len = array.len();
            if offset.checked_add(count).is_none_or(|end| end > len) {
                return Err(RuntimeError::RangeOutOfBounds { array: side, offset, count, len });
            }
        }
        if count == 0 {
            return Ok(());
        }
        self.copy_referents(src, Some([dst_offset, src_offset, count]));
        if record::may_be_recording() {
            let part = |array: &Array, at: usize| {
                let offset = (array.address() - array.memory().address()) as usize + at * size;
                Array::from_parts(array.memory().clone(), offset, array.dtype(), &[count as i64], None)
            };
            let (dst, src) = (part(self, dst_offset)?, part(src, src_offset)?);
            if !record::runs_now(&Operation::Copy { dst: &dst, src: &src, stream })? {
                return Ok(());
            }
        }
        let bytes = count * size;
        let (dst_at, src_at) =
            (self.address() + (dst_offset * size) as u64, src.address() + (src_offset * size) as u64);
        if self.device().is_cpu() && src.device().is_cpu() {
            let plan = Plan::new(&[], [&[], &[]], bytes).expect("a scalar shape has one element");
            // SAFETY: both ranges were checked to lie in their arrays, which are live CPU memory; one run.
            return unsafe { host::copy(&plan, dst_at, src_at) };
        }
        let way = Way::new(self, src, stream)?;
        way.copy_run(
            &Span { address: dst_at, bytes, memory: self.memory() },
            &Span { address: src_at, bytes, memory: src.memory() },
        )
    }

    /// A new contiguous array on the same device with the same elements. The gradient is not copied.
    ///
    /// # Errors
    /// Those of allocation and of [`copy_from`](Array::copy_from).
    pub fn to_contiguous(&self, stream: Option<&Stream>) -> Result<Array, RuntimeError> {
        let shape: Vec<i64> = self.shape().iter().map(|&e| e.into()).collect();
        let copy = match stream.filter(|s| s.device() == self.device()) {
            Some(stream) => Array::on_stream(stream, self.dtype(), &shape)?,
            None => Array::empty(self.device(), self.dtype(), &shape)?,
        };
        copy.copy_from(self, stream)?;
        Ok(copy)
    }

    /// A new contiguous array on `device` with the same elements; this array itself (another view of the same
    /// memory) if it is there already.
    ///
    /// # Errors
    /// Those of allocation and of [`copy_from`](Array::copy_from).
    pub fn to_device(&self, device: Device) -> Result<Array, RuntimeError> {
        if device == self.device() {
            return Ok(self.clone());
        }
        let shape: Vec<i64> = self.shape().iter().map(|&e| e.into()).collect();
        let copy = Array::empty(device, self.dtype(), &shape)?;
        copy.copy_from(self, None)?;
        Ok(copy)
    }

    /// Overwrites all elements, in row-major order. `bytes` may be changed when this returns.
    ///
    /// # Errors
    /// [`RuntimeError::ByteCount`]; those of [`copy_from`](Array::copy_from).
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.check_count(bytes)?;
        match self.read_at_once(bytes)? {
            Some(src) => self.copy_from(&src, None),
            None => self.copy_from(&self.staged(bytes)?, None),
        }
    }

    /// As [`write_bytes`](Array::write_bytes), whoever records.
    pub(crate) fn write_now(&self, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.check_count(bytes)?;
        self.copy_now(&self.staged(bytes)?, None)
    }

    /// As [`write_bytes`](Array::write_bytes) for new memory, which nobody can see yet: while operations of the CPU are
    /// kept for a graph, the memory gets its contents now as well.
    pub(super) fn write_first(&self, bytes: &[u8]) -> Result<(), RuntimeError> {
        if !record::may_be_recording() || self.device().is_cuda() {
            return self.write_bytes(bytes);
        }
        self.check_count(bytes)?;
        let staged = self.staged(bytes)?;
        self.copy_from(&staged, None)?;
        self.copy_now(&staged, None)
    }

    fn check_count(&self, bytes: &[u8]) -> Result<(), RuntimeError> {
        let (expected, found) = (self.size_bytes(), bytes.len());
        if found == expected {
            Ok(())
        } else {
            Err(RuntimeError::ByteCount { what: "the array", expected, found })
        }
    }

    /// The bytes as a CPU array shaped like this one, where a copy from it here is done with them when it returns: to the CPU, and
    /// to a GPU if there are more than the driver stages, unless the copy is kept for later.
    fn read_at_once(&self, bytes: &[u8]) -> Result<Option<Array>, RuntimeError> {
        let at_once = !record::may_be_recording()
            && (self.device().is_cpu() || bytes.len() > STAGED_BYTES)
            && !self.is_captured()?;
        // SAFETY: the bytes are only read, and by the time that whoever borrowed them gets them back all is done.
        Ok(if at_once { unsafe { self.over(bytes.as_ptr(), bytes.len()) } } else { None })
    }

    /// Whether what is queued on the device's current stream becomes a graph of the driver's, and runs later.
    fn is_captured(&self) -> Result<bool, RuntimeError> {
        if self.device().is_cpu() { Ok(false) } else { self.device().stream()?.is_capturing() }
    }

    /// A CPU array shaped like this one of bytes that somebody else owns; `None` if there are none, or they do not lie as its elements
    /// must.
    ///
    /// # Safety
    /// There are so many bytes, as many as this array has, for as long as the array and what is queued with it are in use; what it is
    /// used for they may be used for.
    unsafe fn over(&self, first: *const u8, count: usize) -> Option<Array> {
        let shape: Vec<i64> = self.shape().iter().map(|&e| e.into()).collect();
        let address = first.expose_provenance() as u64;
        // SAFETY: the caller's contract; contiguous elements of this shape are that many bytes.
        let made =
            unsafe { Array::foreign(Device::cpu(), self.dtype(), address, &shape, None, Box::new(())) };
        made.ok().filter(|_| count > 0)
    }

    /// The bytes, as many as this array has, as a CPU array shaped like it: it has the alignment, and outlives a copy that is still
    /// queued.
    fn staged(&self, bytes: &[u8]) -> Result<Array, RuntimeError> {
        let staged = Array::staging(self)?;
        if !bytes.is_empty() {
            let start = std::ptr::with_exposed_provenance_mut::<u8>(staged.address() as usize);
            // SAFETY: `staged` is a fresh contiguous CPU array of exactly this size, which nobody else knows.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
        }
        Ok(staged)
    }

    /// All elements, in row-major order, as they are now, also while operations are recorded. For a GPU this waits until
    /// the device's current stream has delivered them.
    ///
    /// # Errors
    /// Those of [`copy_from`](Array::copy_from).
    pub fn to_bytes(&self) -> Result<Vec<u8>, RuntimeError> {
        let mut bytes = vec![0; self.size_bytes()];
        self.read_bytes(&mut bytes)?;
        Ok(bytes)
    }

    /// As [`to_bytes`](Array::to_bytes), into memory that is there.
    ///
    /// # Errors
    /// [`RuntimeError::ByteCount`]; those of [`copy_from`](Array::copy_from).
    pub fn read_bytes(&self, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        self.check_count(bytes)?;
        self.memory().check_unlent(false)?;
        if !self.is_captured()? {
            // SAFETY: nobody else has these bytes; copies to ordinary memory of the CPU are done when they return.
            let dst = unsafe { self.over(bytes.as_mut_ptr(), bytes.len()) };
            if let Some(dst) = dst {
                return dst.copy_now(self, None);
            }
        }
        let staged = self.snapshot()?;
        if !bytes.is_empty() {
            let start = std::ptr::with_exposed_provenance::<u8>(staged.address() as usize);
            // SAFETY: `staged` is a contiguous CPU array of exactly this size; ordinary memory, so the copy
            // into it is complete.
            unsafe { std::ptr::copy_nonoverlapping(start, bytes.as_mut_ptr(), bytes.len()) };
        }
        Ok(())
    }

    /// A contiguous CPU array with the elements as they are now; see [`to_bytes`](Array::to_bytes).
    ///
    /// # Errors
    /// Those of [`copy_from`](Array::copy_from).
    pub fn snapshot(&self) -> Result<Array, RuntimeError> {
        self.memory().check_unlent(false)?;
        let staged = Array::staging(self)?;
        staged.copy_now(self, None)?;
        Ok(staged)
    }

    /// A contiguous CPU array shaped like `array`.
    fn staging(array: &Array) -> Result<Array, RuntimeError> {
        let shape: Vec<i64> = array.shape().iter().map(|&e| e.into()).collect();
        Array::empty(Device::cpu(), array.dtype(), &shape)
    }

    fn copy_on_cpu(&self, src: &Array, plan: &Plan<2>) -> Result<(), RuntimeError> {
        if !plan.is_one_run() && self.overlaps(src) {
            if self.address() == src.address() && self.strides() == src.strides() {
                return Ok(());
            }
            return self.copy_now(&src.snapshot()?, None);
        }
        // SAFETY: both are live CPU memory, the plan walks exactly their elements, and they do not overlap
        // unless the plan is one run.
        unsafe { host::copy(plan, self.address(), src.address()) }
    }

    /// Whether the spans of the two arrays' elements meet.
    pub(super) fn overlaps(&self, other: &Array) -> bool {
        let span = |array: &Array| {
            let (low, high) = super::byte_range(array.dtype(), array.shape(), array.strides());
            (i128::from(array.address()) + low, i128::from(array.address()) + high)
        };
        let ((a, a_end), (b, b_end)) = (span(self), span(other));
        a < b_end && b < a_end
    }
}

/// A run of bytes of an array.
struct Span<'a> {
    address: u64,
    bytes: usize,
    memory: &'a Arc<Allocation>,
}

impl<'a> Span<'a> {
    /// `bytes` bytes from the lowest element on: for a run, the lowest element is the first.
    fn of(array: &'a Array, bytes: usize) -> Span<'a> {
        Span { address: array.address(), bytes, memory: array.memory() }
    }

    fn device(&self) -> Device {
        self.memory.device()
    }
}

/// How a copy with a GPU on either side travels.
struct Way {
    /// Where it is queued.
    stream: Stream,
    dst: Device,
    src: Device,
    /// Whether the caller named the stream, and with it took over the ordering between devices.
    explicit: bool,
}

impl Way {
    fn new(dst: &Array, src: &Array, stream: Option<&Stream>) -> Result<Way, RuntimeError> {
        let (dst, src) = (dst.device(), src.device());
        let main = if dst.is_cuda() { dst } else { src };
        let (explicit, stream) = match stream {
            None => (false, main.stream()?),
            Some(stream) if stream.device() == dst || stream.device() == src => (true, stream.clone()),
            Some(stream) => {
                return Err(RuntimeError::WrongDevice {
                    what: "the stream",
                    expected: main.to_string(),
                    found: stream.device().to_string(),
                });
            }
        };
        Ok(Way { stream, dst, src, explicit })
    }

    fn is_on_one_gpu(&self) -> bool {
        self.dst == self.src
    }

    /// Queues a copy between views of one GPU.
    fn copy_strided(&self, dst: &Array, src: &Array) -> Result<(), RuntimeError> {
        let stream = self.stream_of(dst.device())?;
        dst.memory().record_use(&stream);
        src.memory().record_use(&stream);
        if let Some(plan) = Plan::new(dst.shape(), [dst.strides(), src.strides()], dst.elem_bytes()) {
            strided::copy(&stream, &plan, dst.address(), src.address())?;
        }
        self.join(&stream)
    }

    /// The stream on which a step on `device` is queued, after what is queued on the way's own.
    fn stream_of(&self, device: Device) -> Result<Stream, RuntimeError> {
        if self.stream.device() == device {
            return Ok(self.stream.clone());
        }
        let stream = device.stream()?;
        stream.wait_stream(&self.stream)?;
        Ok(stream)
    }

    /// Makes the way's stream wait for a step that was queued elsewhere.
    fn join(&self, stream: &Stream) -> Result<(), RuntimeError> {
        self.stream.wait_stream(stream)
    }

    /// A contiguous copy of `src` on its own device.
    fn gather(&self, src: &Array) -> Result<Array, RuntimeError> {
        if src.device().is_cpu() {
            return src.snapshot();
        }
        let shape: Vec<i64> = src.shape().iter().map(|&e| e.into()).collect();
        let stream = self.stream_of(src.device())?;
        let copy = Array::on_stream(&stream, src.dtype(), &shape)?;
        self.copy_strided(&copy, src)?;
        Ok(copy)
    }

    /// New contiguous memory where `dst` lies.
    fn landing_like(&self, dst: &Array) -> Result<Array, RuntimeError> {
        if dst.device().is_cpu() {
            return Array::staging(dst);
        }
        let shape: Vec<i64> = dst.shape().iter().map(|&e| e.into()).collect();
        Array::on_stream(&self.stream_of(dst.device())?, dst.dtype(), &shape)
    }

    /// Queues a copy of a run of bytes.
    fn copy_run(&self, dst: &Span, src: &Span) -> Result<(), RuntimeError> {
        let bytes = dst.bytes.min(src.bytes);
        match (dst.device().is_cuda(), src.device().is_cuda()) {
            (true, true) if dst.device() == src.device() => {
                dst.memory.record_use(&self.stream);
                src.memory.record_use(&self.stream);
                let current = self.stream.device().enter()?;
                // SAFETY: both runs lie in live memory of the device, kept until the stream has passed.
                unsafe {
                    current.driver.memcpy_dtod_async(dst.address, src.address, bytes, self.stream.raw())
                }?;
                Ok(())
            }
            (true, true) => self.copy_run_between_gpus(dst, src, bytes),
            (true, false) => {
                dst.memory.record_use(&self.stream);
                src.memory.record_use(&self.stream);
                self.upload(dst.address, src.address, bytes)?;
                if bytes > STAGED_BYTES && src.memory.kind() != MemoryKind::Pinned {
                    self.wait_unless_captured()?;
                }
                Ok(())
            }
            (false, true) => {
                dst.memory.record_use(&self.stream);
                src.memory.record_use(&self.stream);
                self.download(dst.address, src.address, bytes)?;
                if dst.memory.kind() != MemoryKind::Pinned {
                    self.wait_unless_captured()?;
                }
                Ok(())
            }
            (false, false) => unreachable!("copies between CPU arrays do not come here"),
        }
    }

    /// Waits for the stream. What is captured runs later, when whoever keeps the graph sees to its memory.
    fn wait_unless_captured(&self) -> Result<(), RuntimeError> {
        if self.stream.is_capturing()? { Ok(()) } else { self.stream.synchronize() }
    }

    fn upload(&self, dst: u64, src: u64, bytes: usize) -> Result<(), RuntimeError> {
        let current = self.stream.device().enter()?;
        let from = std::ptr::with_exposed_provenance(src as usize);
        // SAFETY: both runs lie in live memory, kept until the stream has passed.
        Ok(unsafe { current.driver.memcpy_htod_async(dst, from, bytes, self.stream.raw()) }?)
    }

    fn download(&self, dst: u64, src: u64, bytes: usize) -> Result<(), RuntimeError> {
        let current = self.stream.device().enter()?;
        let to = std::ptr::with_exposed_provenance_mut(dst as usize);
        // SAFETY: both runs lie in live memory, kept until the stream has passed.
        Ok(unsafe { current.driver.memcpy_dtoh_async(to, src, bytes, self.stream.raw()) }?)
    }

    /// A copy between two GPUs: directly where one can reach the other, else through page-locked memory.
    fn copy_run_between_gpus(&self, dst: &Span, src: &Span, bytes: usize) -> Result<(), RuntimeError> {
        let (to, from) = (dst.device(), src.device());
        let other = if self.stream.device() == to { from } else { to };
        let other_stream = other.stream()?;
        if !self.explicit {
            self.stream.wait_stream(&other_stream)?;
        }
        if to.enable_peer(from)? {
            dst.memory.record_use(&self.stream);
            src.memory.record_use(&self.stream);
            let current = self.stream.device().enter()?;
            let (to_context, from_context) = (to.context()?.handle(), from.context()?.handle());
            // SAFETY: both runs lie in live memory of their contexts, kept until the stream has passed.
            unsafe {
                current.driver.memcpy_peer_async(
                    dst.address,
                    to_context,
                    src.address,
                    from_context,
                    bytes,
                    self.stream.raw(),
                )
            }?;
        } else {
            let middle = Allocation::pinned(bytes)?;
            let (down, up) = (self.stream_of(from)?, self.stream_of(to)?);
            for (stream, span) in [(&down, src), (&up, dst)] {
                middle.record_use(stream);
                span.memory.record_use(stream);
            }
            let way = |stream: &Stream| Way { stream: stream.clone(), dst: to, src: from, explicit: true };
            way(&down).download(middle.address(), src.address, bytes)?;
            up.wait_stream(&down)?;
            way(&up).upload(dst.address, middle.address(), bytes)?;
            self.join(&up)?;
        }
        if !self.explicit {
            // Later work on the other device must not overwrite what is still being copied.
            other_stream.wait_stream(&self.stream)?;
        }
        Ok(())
    }
}

impl Array {
    /// An array of new, uninitialised memory of the stream's GPU, usable by work queued there from now on.
    ///
    /// # Errors
    /// As [`empty`](Array::empty).
    pub fn on_stream(stream: &Stream, dtype: inkle_ir::Type, shape: &[i64]) -> Result<Array, RuntimeError> {
        let (shape, bytes) = super::checked_size(dtype, shape)?;
        Ok(Array::contiguous_in(Allocation::on_stream(stream, bytes)?, dtype, &shape))
    }
}

/// Queues copying a pattern, which is small enough to be staged, to GPU memory.
pub(super) fn upload_pattern(stream: &Stream, dst: u64, pattern: &[u8]) -> Result<(), RuntimeError> {
    let current = stream.device().enter()?;
    // SAFETY: `dst` is fresh memory of the pattern's size on the stream's device.
    unsafe { current.driver.memcpy_htod_async(dst, pattern.as_ptr().cast(), pattern.len(), stream.raw()) }?;
    drop(current);
    if pattern.len() > STAGED_BYTES { stream.synchronize() } else { Ok(()) }
}
