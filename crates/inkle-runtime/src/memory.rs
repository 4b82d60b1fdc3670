//! Memory: who owns it, where it lies, and when it may be given back.
//!
//! GPU memory comes from the device's stream-ordered pool and is given back on the stream it was allocated on.
//! Memory of any kind that other streams were said to use ([`Allocation::record_use`]) is kept until those
//! streams have passed: it is given back at a later allocation, and no stream and no host waits for that.

use std::alloc::{self, Layout};
use std::any::Any;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use crate::arena;
use crate::array::Referents;
use crate::cuda::sys::{self, Failure};
use crate::cuda::{Relaxed, drop_unkept};
use crate::device::{Device, InContext};
use crate::error::RuntimeError;
use crate::stream::{Event, Stream};

/// Alignment of CPU allocations, bytes: a cache line, and the widest vector.
pub const HOST_ALIGN: usize = 64;

/// What the system's allocator aligns to by itself, bytes.
const SYSTEM_ALIGN: usize = 16;

/// Blocks of this many bytes and more ask the system for huge pages: they are there sooner, and a processor finds its way in them with
/// fewer looks into its tables.
pub(crate) const HUGE_FROM: usize = 4 << 20;

/// What a huge page begins at a multiple of, bytes.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// Asks the system for huge pages within these bytes, if it has them for those who ask.
#[cfg(target_os = "linux")]
pub(crate) fn prefer_huge_pages(first: usize, bytes: usize) {
    let (begin, end) = (first.next_multiple_of(HUGE_PAGE), (first + bytes) / HUGE_PAGE * HUGE_PAGE);
    if begin < end {
        // SAFETY: the whole pages in between are the block's, and what is in them stays as it is. If the system cannot, nothing is lost.
        unsafe {
            libc::madvise(std::ptr::with_exposed_provenance_mut(begin), end - begin, libc::MADV_HUGEPAGE)
        };
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn prefer_huge_pages(_: usize, _: usize) {}

/// What kind of memory it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryKind {
    /// Ordinary memory of the CPU.
    Host,
    /// Page-locked memory of the CPU, which GPUs copy from and to without the host waiting.
    Pinned,
    /// Memory of a GPU.
    Device,
    /// Memory that someone else owns.
    Foreign,
}

/// What keeps foreign memory alive: dropped when nobody uses the memory any more.
pub type KeepAlive = Box<dyn Any + Send + Sync>;

/// A piece of memory with one owner, shared by the arrays that look at it.
pub struct Allocation {
    address: u64,
    bytes: usize,
    device: Device,
    owner: Owner,
    serial: u64,
    /// How many read the memory in place; -1 for one who writes it.
    lent: AtomicIsize,
    /// Streams other than the owner's that have used the memory.
    uses: Mutex<SmallVec<[Stream; 1]>>,
    pub(crate) referents: Referents,
}

enum Owner {
    /// Nothing was allocated.
    Empty,
    /// A block of an arena.
    Arena(arena::Block),
    /// `base` is where the padded block starts.
    Host {
        base: usize,
        layout: Layout,
    },
    Pinned,
    /// From the pool, on a stream.
    Pool {
        stream: Stream,
    },
    /// From the device, outside the pool.
    Device,
    Foreign(KeepAlive),
}

/// How much memory is lent, in the whole process.
static LEASES: AtomicUsize = AtomicUsize::new(0);

/// Whether the host uses memory of any array in place: only then is it worth asking each.
#[inline]
pub fn any_memory_lent() -> bool {
    LEASES.load(Ordering::Acquire) != 0
}

/// The host's use of memory in place, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Lease {
    memory: Arc<Allocation>,
    writing: bool,
}

impl Lease {
    /// Lends the memory to readers, or to one writer.
    pub fn new(memory: &Arc<Allocation>, writing: bool) -> Result<Lease, RuntimeError> {
        let next = |lent: isize| match (writing, lent) {
            (true, 0) => Some(-1),
            (false, 0..) => Some(lent + 1),
            _ => None,
        };
        let taken = memory.lent.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        taken.map_err(|_| RuntimeError::Lent { writing })?;
        LEASES.fetch_add(1, Ordering::AcqRel);
        Ok(Lease { memory: memory.clone(), writing })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.memory.lent.fetch_add(if self.writing { 1 } else { -1 }, Ordering::AcqRel);
        LEASES.fetch_sub(1, Ordering::AcqRel);
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Allocation({}, {:#x}, {} bytes, {:?})", self.device, self.address, self.bytes, self.kind())
    }
}

impl Allocation {
    /// Memory of `device`, uninitialised on a GPU, zero on the CPU. On a GPU it is ordered on the device's
    /// current stream.
    ///
    /// # Errors
    /// [`RuntimeError::OutOfMemory`]; the driver's for a GPU.
    pub fn new(device: Device, bytes: usize) -> Result<Arc<Allocation>, RuntimeError> {
        if device.is_cuda() {
            return Allocation::on_stream(&device.stream()?, bytes);
        }
        if bytes == 0 {
            return Ok(Allocation::make(device, 0, 0, Owner::Empty));
        }
        if let Some((address, block)) = arena::allocate(bytes) {
            return Ok(Allocation::make(device, address as u64, bytes, Owner::Arena(block)));
        }
        let too_much = || RuntimeError::OutOfMemory {
            device: device.to_string(),
            requested_bytes: bytes,
            free_bytes: device.free_memory().ok(),
        };
        // Zeroed even where the caller does not need it: reading uninitialised memory must not be possible
        // from safe code. Large blocks come zeroed from the system without being touched, but only at the
        // allocator's own alignment; hence the padding.
        let padded = bytes.checked_add(HOST_ALIGN - SYSTEM_ALIGN).ok_or_else(too_much)?;
        let layout = Layout::from_size_align(padded, SYSTEM_ALIGN).map_err(|_| too_much())?;
        // SAFETY: the layout's size is positive.
        let base = unsafe { alloc::alloc_zeroed(layout) };
        if base.is_null() {
            return Err(too_much());
        }
        let base = base.expose_provenance();
        if padded >= HUGE_FROM {
            prefer_huge_pages(base, padded);
        }
        let address = base.next_multiple_of(HOST_ALIGN) as u64;
        Ok(Allocation::make(device, address, bytes, Owner::Host { base, layout }))
    }

    /// Memory of the stream's GPU, uninitialised, usable by work queued on the stream from now on.
    ///
    /// # Errors
    /// [`RuntimeError::OutOfMemory`]; else the driver's.
    pub fn on_stream(stream: &Stream, bytes: usize) -> Result<Arc<Allocation>, RuntimeError> {
        let device = stream.device();
        if bytes == 0 {
            return Ok(Allocation::make(device, 0, 0, Owner::Empty));
        }
        // Memory that a graph uses lies outside it, so that its address holds for every launch, and for bodies of
        // conditions and loops, in which nothing can be allocated.
        let capturing = stream.is_capturing()?;
        // What is given back may be code or memory outside the pool, for which the driver waits for the GPU: that would
        // end a capture.
        if !capturing {
            collect_retired();
        }
        let current = device.enter()?;
        let pooled = device.is_mempool_enabled() && !capturing;
        let _relaxed = if capturing { Relaxed::enter(current.driver) } else { None };
        let mut found = allocate(&current, stream, bytes, pooled);
        if matches!(found, Err(failure) if failure.is(sys::CUDA_ERROR_OUT_OF_MEMORY))
            && wait_for_retired(device)
        {
            found = allocate(&current, stream, bytes, pooled);
        }
        match found {
            Ok(address) => {
                let owner = if pooled { Owner::Pool { stream: stream.clone() } } else { Owner::Device };
                Ok(Allocation::make(device, address, bytes, owner))
            }
            Err(failure) if failure.is(sys::CUDA_ERROR_OUT_OF_MEMORY) => Err(RuntimeError::OutOfMemory {
                device: device.to_string(),
                requested_bytes: bytes,
                free_bytes: device.free_memory().ok(),
            }),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Page-locked memory of the CPU, zero, usable with every GPU.
    ///
    /// # Errors
    /// [`RuntimeError::NoCudaDriver`] without a driver; [`RuntimeError::OutOfMemory`]; else the driver's.
    pub fn pinned(bytes: usize) -> Result<Arc<Allocation>, RuntimeError> {
        let cpu = Device::cpu();
        if bytes == 0 {
            return Ok(Allocation::make(cpu, 0, 0, Owner::Empty));
        }
        collect_retired();
        let current = Device::cuda(0)?.enter()?;
        let _relaxed = Relaxed::enter(current.driver);
        let mut address = ptr::null_mut();
        // SAFETY: `address` is a valid place; a context is current.
        match unsafe { current.driver.mem_host_alloc(&mut address, bytes, sys::MEMHOSTALLOC_PORTABLE) } {
            Ok(()) => {
                // SAFETY: the driver gave `bytes` writable bytes at `address`.
                unsafe { ptr::write_bytes(address.cast::<u8>(), 0, bytes) };
                Ok(Allocation::make(cpu, address.expose_provenance() as u64, bytes, Owner::Pinned))
            }
            Err(failure) if failure.is(sys::CUDA_ERROR_OUT_OF_MEMORY) => Err(RuntimeError::OutOfMemory {
                device: "pinned host memory".into(),
                requested_bytes: bytes,
                free_bytes: None,
            }),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Memory of `device` that starts with `contents`, and is zero after them. On a GPU this waits for the copy.
    ///
    /// # Errors
    /// As [`new`](Allocation::new).
    pub fn with_contents(
        device: Device,
        bytes: usize,
        contents: Option<&[u8]>,
    ) -> Result<Arc<Allocation>, RuntimeError> {
        let memory = Allocation::new(device, bytes)?;
        let contents = contents.unwrap_or_default();
        let contents = &contents[..contents.len().min(bytes)];
        if bytes == 0 || (contents.is_empty() && device.is_cpu()) {
            return Ok(memory);
        }
        if device.is_cpu() {
            let start = ptr::with_exposed_provenance_mut::<u8>(memory.address as usize);
            // SAFETY: fresh memory of at least that many bytes, which nobody else knows.
            unsafe { ptr::copy_nonoverlapping(contents.as_ptr(), start, contents.len()) };
            return Ok(memory);
        }
        let stream = device.stream()?;
        let current = device.enter()?;
        // SAFETY: fresh memory of `bytes` bytes, at least as many as `contents` has; the stream is waited for before
        // either can go away.
        unsafe {
            current.driver.memset_d8_async(memory.address, 0, bytes, stream.raw())?;
            current.driver.memcpy_htod_async(
                memory.address,
                contents.as_ptr().cast(),
                contents.len(),
                stream.raw(),
            )?;
        }
        drop(current);
        stream.synchronize()?;
        Ok(memory)
    }

    /// All bytes as they are now. On a GPU this waits until the device's current stream has delivered them.
    ///
    /// # Errors
    /// The driver's.
    pub fn contents(&self) -> Result<Vec<u8>, RuntimeError> {
        let mut contents = vec![0u8; self.bytes];
        if self.bytes == 0 {
            return Ok(contents);
        }
        if self.device.is_cpu() {
            let start = ptr::with_exposed_provenance::<u8>(self.address as usize);
            // SAFETY: the allocation has that many bytes, initialised, and is alive.
            unsafe { ptr::copy_nonoverlapping(start, contents.as_mut_ptr(), self.bytes) };
            return Ok(contents);
        }
        let stream = self.device.stream()?;
        let current = self.device.enter()?;
        let to = contents.as_mut_ptr().cast();
        // SAFETY: both places have that many bytes, and the stream is waited for before the buffer is used or dropped.
        unsafe { current.driver.memcpy_dtoh_async(to, self.address, self.bytes, stream.raw()) }?;
        drop(current);
        stream.synchronize()?;
        Ok(contents)
    }

    /// Memory that someone else owns; `keep_alive` is dropped when it is no longer used.
    ///
    /// # Safety
    /// `bytes` bytes at `address` are memory of `device` that may be read and written until `keep_alive` is
    /// dropped, and whoever else uses them orders their accesses with the ones made through the result.
    pub unsafe fn foreign(
        device: Device,
        address: u64,
        bytes: usize,
        keep_alive: KeepAlive,
    ) -> Arc<Allocation> {
        Allocation::make(device, address, bytes, Owner::Foreign(keep_alive))
    }

    /// One piece of memory that has all bytes of `parts`, which overlap: the whole of a chain of views that other
    /// libraries gave out separately. One part is given back as it is; `None` unless each part overlaps with another.
    pub fn join(parts: &[Arc<Allocation>]) -> Option<Arc<Allocation>> {
        let mut order: Vec<&Arc<Allocation>> = parts.iter().collect();
        order.sort_by_key(|part| part.address);
        let (first, rest) = order.split_first()?;
        if rest.is_empty() {
            return Some((*first).clone());
        }
        let mut end = first.address + first.bytes as u64;
        for part in rest {
            if part.address >= end || part.device != first.device {
                return None;
            }
            end = end.max(part.address + part.bytes as u64);
        }
        let keep_alive: KeepAlive = Box::new(parts.to_vec());
        let bytes = (end - first.address) as usize;
        Some(Allocation::make(first.device, first.address, bytes, Owner::Foreign(keep_alive)))
    }

    fn make(device: Device, address: u64, bytes: usize, owner: Owner) -> Arc<Allocation> {
        let (serial, lent) = (next_serial(), AtomicIsize::new(0));
        let (uses, referents) = (Mutex::default(), Referents::default());
        Arc::new(Allocation { address, bytes, device, owner, serial, lent, uses, referents })
    }

    /// The address of the first byte; zero when there are none.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The size, bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A number that grows with each allocation: what was allocated after another has a larger one.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Where it lies. Pinned memory lies on the CPU.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Whether it comes from a memory pool of a GPU.
    pub fn is_pooled(&self) -> bool {
        matches!(self.owner, Owner::Pool { .. })
    }

    /// What kind it is.
    pub fn kind(&self) -> MemoryKind {
        match self.owner {
            Owner::Empty if self.device.is_cpu() => MemoryKind::Host,
            Owner::Host { .. } | Owner::Arena(_) => MemoryKind::Host,
            Owner::Pinned => MemoryKind::Pinned,
            Owner::Empty | Owner::Pool { .. } | Owner::Device => MemoryKind::Device,
            Owner::Foreign(_) => MemoryKind::Foreign,
        }
    }

    /// Whether the memory may be written through arrays, or read: the host does not use it in place.
    ///
    /// # Errors
    /// [`RuntimeError::Lent`].
    #[inline]
    pub fn check_unlent(&self, writing: bool) -> Result<(), RuntimeError> {
        match self.lent.load(Ordering::Acquire) {
            0 => Ok(()),
            readers if readers > 0 && !writing => Ok(()),
            _ => Err(RuntimeError::Lent { writing }),
        }
    }

    /// Waits for the streams that have used page-locked memory.
    pub(crate) fn wait_for_uses(&self) -> Result<(), RuntimeError> {
        let uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner).clone();
        uses.iter().try_for_each(Stream::synchronize)
    }

    /// Notes that work queued on `stream` uses the memory, so that it is not given back before that work is
    /// done. Not needed for the stream the memory was allocated on.
    #[inline]
    pub fn record_use(&self, stream: &Stream) {
        if let Owner::Pool { stream: home } = &self.owner
            && home == stream
        {
            return;
        }
        if matches!(self.owner, Owner::Empty) {
            return;
        }
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        if !uses.contains(stream) {
            uses.push(stream.clone());
        }
    }
}

/// The serial number of the next allocation; see [`Allocation::serial`].
pub fn next_serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn allocate(current: &InContext<'_>, stream: &Stream, bytes: usize, pooled: bool) -> Result<u64, Failure> {
    let mut address = 0;
    // SAFETY: `address` is a valid place; the stream is alive and its context current.
    unsafe {
        if pooled {
            current.driver.mem_alloc_async(&mut address, bytes, stream.raw())
        } else {
            current.driver.mem_alloc(&mut address, bytes)
        }
    }?;
    Ok(address)
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let uses = std::mem::take(self.uses.get_mut().unwrap_or_else(PoisonError::into_inner));
        let owner = std::mem::replace(&mut self.owner, Owner::Empty);
        // Memory that a graph uses is kept by the graph; an event recorded into a capture could not be asked.
        let running = uses.iter().filter(|stream| stream.is_capturing() != Ok(true));
        let waits = running.filter_map(|stream| stream.record_event().ok()).collect();
        let memory = Retired { address: self.address, device: self.device, owner, waits };
        if memory.is_idle() { memory.free() } else { retire(memory) }
    }
}

/// Memory that is no longer used by the program, but perhaps still by a stream.
struct Retired {
    address: u64,
    device: Device,
    owner: Owner,
    waits: SmallVec<[Event; 1]>,
}

static RETIRED: Mutex<Vec<Retired>> = Mutex::new(Vec::new());

fn retire(memory: Retired) {
    RETIRED.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
}

/// Gives back the retired memory that no stream uses any more. Called before each GPU allocation; a program
/// that allocates nothing more may call it itself.
pub fn collect_retired() {
    drop_unkept();
    let idle: Vec<Retired> = {
        let mut retired = RETIRED.lock().unwrap_or_else(PoisonError::into_inner);
        if retired.is_empty() {
            return;
        }
        retired.extract_if(.., |memory| memory.is_idle()).collect()
    };
    // Freed outside the lock: dropping foreign memory runs code of others, which may drop arrays of ours.
    idle.into_iter().for_each(Retired::free);
}

/// Waits for the streams that hold back memory of a device which is out of it, and gives that memory back;
/// says whether there was any.
fn wait_for_retired(device: Device) -> bool {
    let held: Vec<Event> = {
        let retired = RETIRED.lock().unwrap_or_else(PoisonError::into_inner);
        retired
            .iter()
            .filter(|memory| memory.device == device)
            .flat_map(|memory| memory.waits.clone())
            .collect()
    };
    for event in &held {
        let _ = event.wait();
    }
    collect_retired();
    !held.is_empty()
}

impl Retired {
    fn is_idle(&self) -> bool {
        let capturing = match &self.owner {
            Owner::Pool { stream } => stream.is_capturing() == Ok(true),
            _ => false,
        };
        // An event that cannot be asked belongs to a driver that is gone, and so does the work.
        !capturing && self.waits.iter().all(|event| event.is_complete().unwrap_or(true))
    }

    fn free(self) {
        match self.owner {
            Owner::Empty => {}
            Owner::Host { base, layout } => {
                let memory = ptr::with_exposed_provenance_mut::<u8>(base);
                // SAFETY: `Allocation::new` allocated it with this layout, and it is freed once: the owner
                // was taken out of the allocation.
                unsafe { alloc::dealloc(memory, layout) };
            }
            Owner::Arena(block) => block.free(),
            Owner::Pinned => {
                if let Ok(current) = Device::cuda(0).and_then(Device::enter) {
                    let _relaxed = Relaxed::enter(current.driver);
                    let memory = ptr::with_exposed_provenance_mut(self.address as usize);
                    // SAFETY: `Allocation::pinned` had it from the driver; it is freed once.
                    let _ = unsafe { current.driver.mem_free_host(memory) };
                }
            }
            Owner::Pool { stream } => {
                if let Ok(current) = self.device.enter() {
                    // SAFETY: it was allocated from the pool on this stream, and every other stream that was
                    // recorded to use it has passed; it is freed once.
                    let _ = unsafe { current.driver.mem_free_async(self.address, stream.raw()) };
                }
            }
            Owner::Device => {
                if let Ok(current) = self.device.enter() {
                    let _relaxed = Relaxed::enter(current.driver);
                    // SAFETY: it was allocated by the driver and is freed once.
                    let _ = unsafe { current.driver.mem_free(self.address) };
                }
            }
            Owner::Foreign(keep_alive) => drop(keep_alive),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn host_memory_is_aligned_and_zero() {
        for bytes in [1, 63, 64, 4096, 100_000, HUGE_FROM, 3 * HUGE_FROM + 1] {
            let memory = Allocation::new(Device::cpu(), bytes).unwrap();
            assert!(memory.address().is_multiple_of(HOST_ALIGN as u64));
            assert_eq!((memory.bytes(), memory.kind()), (bytes, MemoryKind::Host));
            let start = ptr::with_exposed_provenance::<u8>(memory.address() as usize);
            // SAFETY: the allocation has `bytes` initialised bytes and is alive.
            let contents = unsafe { std::slice::from_raw_parts(start, bytes) };
            assert!(contents.iter().all(|&b| b == 0));
        }
    }

    #[test]
    fn nothing_is_allocated_for_nothing() {
        let memory = Allocation::new(Device::cpu(), 0).unwrap();
        assert_eq!((memory.address(), memory.bytes()), (0, 0));
    }

    #[test]
    fn too_much_is_an_error() {
        for bytes in [usize::MAX, isize::MAX as usize - 64] {
            let error = Allocation::new(Device::cpu(), bytes).unwrap_err();
            assert!(
                matches!(error, RuntimeError::OutOfMemory { requested_bytes, .. } if requested_bytes == bytes)
            );
        }
    }

    #[test]
    fn overlapping_parts_become_one_memory_that_keeps_them() {
        let whole = Allocation::new(Device::cpu(), 64).unwrap();
        let part = |from: u64, bytes| {
            // SAFETY: a part of `whole`, which the keep-alive holds.
            unsafe {
                Allocation::foreign(Device::cpu(), whole.address() + from, bytes, Box::new(whole.clone()))
            }
        };
        let parts = [part(16, 16), part(8, 12), part(20, 20)];
        let joined = Allocation::join(&parts).unwrap();
        assert_eq!((joined.address() - whole.address(), joined.bytes()), (8, 32));
        drop(parts);
        assert_eq!(Arc::strong_count(&whole), 4);
        drop(joined);
        assert_eq!(Arc::strong_count(&whole), 1);
        let alone = std::slice::from_ref(&whole);
        assert!(Arc::ptr_eq(&Allocation::join(alone).unwrap(), &whole));
        let apart = [whole.clone(), Allocation::new(Device::cpu(), 8).unwrap()];
        assert!(Allocation::join(&apart).is_none());
    }

    #[test]
    fn foreign_memory_is_let_go_once() {
        static DROPS: AtomicUsize = AtomicUsize::new(0);
        struct Owner(#[expect(dead_code, reason = "held to be dropped")] Vec<u8>);
        impl Drop for Owner {
            fn drop(&mut self) {
                DROPS.fetch_add(1, Ordering::SeqCst);
            }
        }
        let buffer = vec![1u8; 32];
        let address = buffer.as_ptr().expose_provenance() as u64;
        // SAFETY: the vector's heap memory lives as long as the keep-alive that holds it.
        let memory = unsafe { Allocation::foreign(Device::cpu(), address, 32, Box::new(Owner(buffer))) };
        let copy = memory.clone();
        drop(memory);
        assert_eq!(DROPS.load(Ordering::SeqCst), 0);
        assert_eq!(copy.kind(), MemoryKind::Foreign);
        drop(copy);
        assert_eq!(DROPS.load(Ordering::SeqCst), 1);
    }
}
