//! Devices: the CPU and the CUDA GPUs.
//!
//! The CPU never needs the driver. The list of GPUs is read from the driver when it is first asked for; a
//! GPU's context is made when the GPU is first used.

use std::ffi::{c_char, c_int};
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use crate::cuda::owned::{Context, ContextGuard};
use crate::cuda::record::DeviceRecord;
use crate::cuda::sys::{self, CUdevice, CUmemoryPool, CUuuid, Driver};
use crate::error::RuntimeError;
use crate::stream::Stream;

/// A device. Copies name the same device; equality is identity.
#[derive(Clone, Copy)]
pub struct Device(&'static DeviceInner);

struct DeviceInner {
    alias: String,
    name: String,
    cuda: Option<CudaInner>,
}

struct CudaInner {
    ordinal: u32,
    handle: CUdevice,
    uuid: Option<String>,
    pci_bus_id: Option<String>,
    arch: u32,
    sm_count: u32,
    max_block_dim: u32,
    max_shared_bytes: u32,
    total_bytes: usize,
    is_uva: bool,
    pool_supported: bool,
    pool_enabled: AtomicBool,
    state: OnceLock<CudaState>,
    /// Held while `state` is made, so that a failure can be tried again later.
    starting: Mutex<()>,
}

/// What exists once a GPU is in use.
struct CudaState {
    context: Context,
    stream: RwLock<Option<Stream>>,
    /// Where kernels built with checks report, once one is loaded.
    record: OnceLock<DeviceRecord>,
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        ptr::eq(self.0, other.0)
    }
}

impl Eq for Device {}

impl std::hash::Hash for Device {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        ptr::hash(self.0, state);
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.alias)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.0.alias)
    }
}

/// A device that is known to be a GPU in use, with its context current on this thread.
pub(crate) struct InContext<'d> {
    pub driver: &'static Driver,
    _guard: ContextGuard<'d>,
}

impl Device {
    /// The CPU.
    pub fn cpu() -> Device {
        static CPU: OnceLock<DeviceInner> = OnceLock::new();
        Device(CPU.get_or_init(|| DeviceInner { alias: "cpu".into(), name: cpu_name(), cuda: None }))
    }

    /// The GPU of an ordinal.
    ///
    /// # Errors
    /// [`RuntimeError::NoCudaDriver`] without a driver, [`RuntimeError::UnknownDevice`] for an ordinal that
    /// does not exist.
    pub fn cuda(ordinal: u32) -> Result<Device, RuntimeError> {
        let gpus = gpus()?;
        gpus.get(ordinal as usize).copied().ok_or_else(|| unknown(&format!("cuda:{ordinal}")))
    }

    /// How users name it: `cpu`, `cuda:0`.
    pub fn alias(self) -> &'static str {
        &self.0.alias
    }

    /// The maker's name of it.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// Whether it is the CPU.
    pub fn is_cpu(self) -> bool {
        self.0.cuda.is_none()
    }

    /// Whether it is a GPU.
    pub fn is_cuda(self) -> bool {
        self.0.cuda.is_some()
    }

    /// The GPU's ordinal; `None` for the CPU.
    pub fn ordinal(self) -> Option<u32> {
        self.0.cuda.as_ref().map(|c| c.ordinal)
    }

    /// The GPU's unique identifier, `GPU-...`.
    pub fn uuid(self) -> Option<&'static str> {
        self.0.cuda.as_ref()?.uuid.as_deref()
    }

    /// The GPU's place on the bus: domain, bus and device in hexadecimal, `00:1B:00`.
    pub fn pci_bus_id(self) -> Option<&'static str> {
        self.0.cuda.as_ref()?.pci_bus_id.as_deref()
    }

    /// The GPU's compute capability, 90 for sm_90; zero for the CPU.
    pub fn arch(self) -> u32 {
        self.0.cuda.as_ref().map_or(0, |c| c.arch)
    }

    /// The number of multiprocessors; zero for the CPU.
    pub fn sm_count(self) -> u32 {
        self.0.cuda.as_ref().map_or(0, |c| c.sm_count)
    }

    /// The most threads a block can have on the GPU; one for the CPU.
    pub fn max_block_dim(self) -> u32 {
        self.0.cuda.as_ref().map_or(1, |c| c.max_block_dim)
    }

    /// The most shared memory a block can ask for, bytes; zero for the CPU.
    pub fn max_shared_bytes(self) -> u32 {
        self.0.cuda.as_ref().map_or(0, |c| c.max_shared_bytes)
    }

    /// Whether addresses of host and GPU are of one space.
    pub fn is_uva(self) -> bool {
        self.0.cuda.as_ref().is_some_and(|c| c.is_uva)
    }

    /// The size of the device's memory, bytes.
    pub fn total_memory(self) -> usize {
        match &self.0.cuda {
            Some(cuda) => cuda.total_bytes,
            None => host_memory(libc::_SC_PHYS_PAGES),
        }
    }

    /// How much of the device's memory is free, bytes.
    ///
    /// # Errors
    /// The driver's, for a GPU.
    pub fn free_memory(self) -> Result<usize, RuntimeError> {
        if self.is_cpu() {
            return Ok(host_memory(libc::_SC_AVPHYS_PAGES));
        }
        let current = self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both places are valid; the device's context is current.
        unsafe { current.driver.mem_get_info(&mut free, &mut total) }?;
        Ok(free)
    }

    /// Waits until all work queued on the device is done. The CPU's work is always done.
    ///
    /// # Errors
    /// The driver's; a fault of an earlier kernel shows here, and [`RuntimeError::CheckFailed`] of one with checks.
    pub fn synchronize(self) -> Result<(), RuntimeError> {
        if self.is_cpu() || !self.is_started() {
            return Ok(());
        }
        let current = self.enter()?;
        // SAFETY: the device's context is current.
        unsafe { current.driver.ctx_synchronize() }?;
        self.reported()
    }

    /// Fails with what a kernel with checks has reported since the last call.
    pub(crate) fn reported(self) -> Result<(), RuntimeError> {
        let record = self.0.cuda.as_ref().and_then(|c| c.state.get()).and_then(|s| s.record.get());
        match record.and_then(DeviceRecord::take) {
            None => Ok(()),
            Some(message) => Err(RuntimeError::CheckFailed { message }),
        }
    }

    /// The address of the record that kernels with checks report in; zero where addresses of host and GPU differ.
    pub(crate) fn check_record(self) -> Result<u64, RuntimeError> {
        if !self.is_uva() {
            return Ok(0);
        }
        let state = self.state()?;
        if let Some(record) = state.record.get() {
            return Ok(record.address());
        }
        let current = self.enter()?;
        let record = DeviceRecord::new(current.driver)?;
        // Of two records made at once one is never used.
        Ok(state.record.get_or_init(|| record).address())
    }

    /// The GPU's current stream: where copies, fills, allocations and launches go that name no stream. At
    /// first it is a stream of our own that is ordered with the legacy default stream.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] for the CPU, the driver's for a GPU.
    pub fn stream(self) -> Result<Stream, RuntimeError> {
        let state = self.state()?;
        if let Some(stream) = &*state.stream.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(stream.clone());
        }
        let mut slot = state.stream.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = &*slot {
            return Ok(stream.clone());
        }
        let stream = Stream::new(self, 0)?;
        *slot = Some(stream.clone());
        Ok(stream)
    }

    /// Makes `stream` the GPU's current stream, for all threads, and gives back the one before.
    ///
    /// # Errors
    /// [`RuntimeError::WrongDevice`] if the stream is another device's.
    pub fn set_stream(self, stream: Stream) -> Result<Stream, RuntimeError> {
        if stream.device() != self {
            return Err(RuntimeError::WrongDevice {
                what: "the stream",
                expected: self.to_string(),
                found: stream.device().to_string(),
            });
        }
        let before = self.stream()?;
        *self.state()?.stream.write().unwrap_or_else(PoisonError::into_inner) = Some(stream);
        Ok(before)
    }

    /// The range of stream priorities, from the lowest (a larger number) to the highest.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] for the CPU, the driver's for a GPU.
    pub fn stream_priorities(self) -> Result<(i32, i32), RuntimeError> {
        let current = self.enter()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: both places are valid; the device's context is current.
        unsafe { current.driver.ctx_get_stream_priority_range(&mut least, &mut greatest) }?;
        Ok((least, greatest))
    }

    /// Whether the GPU has stream-ordered memory pools.
    pub fn is_mempool_supported(self) -> bool {
        self.0.cuda.as_ref().is_some_and(|c| c.pool_supported)
    }

    /// Whether new allocations come from the stream-ordered pool.
    pub fn is_mempool_enabled(self) -> bool {
        self.0.cuda.as_ref().is_some_and(|c| c.pool_enabled.load(Ordering::Relaxed))
    }

    /// Turns the pool on or off for new allocations. Without it every allocation and every free makes the
    /// whole device wait.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] if it is to be on and there is none.
    pub fn set_mempool_enabled(self, enabled: bool) -> Result<(), RuntimeError> {
        match &self.0.cuda {
            Some(cuda) if cuda.pool_supported || !enabled => {
                cuda.pool_enabled.store(enabled, Ordering::Relaxed);
                Ok(())
            }
            None if !enabled => Ok(()),
            _ => Err(self.unsupported("memory pools")),
        }
    }

    /// How much unused memory the pool keeps, bytes, when the device is synchronised.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] without a pool, else the driver's.
    pub fn mempool_release_threshold(self) -> Result<u64, RuntimeError> {
        self.pool_attribute(sys::MEMPOOL_RELEASE_THRESHOLD)
    }

    /// Sets how much unused memory the pool keeps, bytes.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] without a pool, else the driver's.
    pub fn set_mempool_release_threshold(self, bytes: u64) -> Result<(), RuntimeError> {
        let (current, pool) = self.pool()?;
        let mut value = bytes;
        // SAFETY: the attribute's value is a u64, and the pool is the device's own.
        unsafe {
            current.driver.mem_pool_set_attribute(
                pool,
                sys::MEMPOOL_RELEASE_THRESHOLD,
                ptr::from_mut(&mut value).cast(),
            )
        }?;
        Ok(())
    }

    /// How much of the pool is in use now, bytes.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] without a pool, else the driver's.
    pub fn mempool_used_bytes(self) -> Result<u64, RuntimeError> {
        self.pool_attribute(sys::MEMPOOL_USED_MEM_CURRENT)
    }

    /// The most of the pool that was ever in use, bytes.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] without a pool, else the driver's.
    pub fn mempool_used_high_bytes(self) -> Result<u64, RuntimeError> {
        self.pool_attribute(sys::MEMPOOL_USED_MEM_HIGH)
    }

    /// Whether this GPU can reach the memory of `peer`. A device reaches its own.
    ///
    /// # Errors
    /// The driver's.
    pub fn can_access_peer(self, peer: Device) -> Result<bool, RuntimeError> {
        let (Some(cuda), Some(other)) = (&self.0.cuda, &peer.0.cuda) else { return Ok(self == peer) };
        if self == peer {
            return Ok(true);
        }
        let driver = sys::driver()?;
        let mut can = 0;
        // SAFETY: `can` is a valid place; both handles came from the driver.
        unsafe { driver.device_can_access_peer(&mut can, cuda.handle, other.handle) }?;
        Ok(can != 0)
    }

    /// Lets this GPU reach the memory of `peer`, pool included, if the hardware can; says whether it can.
    pub(crate) fn enable_peer(self, peer: Device) -> Result<bool, RuntimeError> {
        static ENABLED: Mutex<Vec<(Device, Device)>> = Mutex::new(Vec::new());
        let mut enabled = ENABLED.lock().unwrap_or_else(PoisonError::into_inner);
        if enabled.contains(&(self, peer)) {
            return Ok(true);
        }
        if !self.can_access_peer(peer)? {
            return Ok(false);
        }
        let peer_context = peer.context()?.handle();
        {
            let current = self.enter()?;
            // SAFETY: both contexts are retained and this device's is current.
            match unsafe { current.driver.ctx_enable_peer_access(peer_context, 0) } {
                Ok(()) => {}
                Err(failure) if failure.is(sys::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        if peer.is_mempool_supported() {
            let (current, pool) = peer.pool()?;
            let access = sys::CUmemAccessDesc {
                location_type: 1,
                location_id: self.ordinal().unwrap_or(0) as c_int,
                flags: 3,
            };
            // SAFETY: one description, alive during the call; the pool is the peer's own.
            unsafe { current.driver.mem_pool_set_access(pool, &access, 1) }?;
        }
        enabled.push((self, peer));
        Ok(true)
    }

    fn pool_attribute(self, attribute: c_int) -> Result<u64, RuntimeError> {
        let (current, pool) = self.pool()?;
        let mut value = 0u64;
        // SAFETY: the attributes asked for here are all u64, and the pool is the device's own.
        unsafe { current.driver.mem_pool_get_attribute(pool, attribute, ptr::from_mut(&mut value).cast()) }?;
        Ok(value)
    }

    fn pool(self) -> Result<(InContext<'static>, CUmemoryPool), RuntimeError> {
        let Some(cuda) = self.0.cuda.as_ref().filter(|c| c.pool_supported) else {
            return Err(self.unsupported("memory pools"));
        };
        let current = self.enter()?;
        let mut pool = ptr::null_mut();
        // SAFETY: `pool` is a valid place; the handle came from the driver.
        unsafe { current.driver.device_get_mem_pool(&mut pool, cuda.handle) }?;
        Ok((current, pool))
    }

    fn unsupported(self, needs: &'static str) -> RuntimeError {
        RuntimeError::Unsupported { device: self.to_string(), needs }
    }

    /// Whether anything was done on the device yet.
    fn is_started(self) -> bool {
        self.0.cuda.as_ref().is_some_and(|c| c.state.get().is_some())
    }

    fn state(self) -> Result<&'static CudaState, RuntimeError> {
        let Some(cuda) = &self.0.cuda else { return Err(self.unsupported("CUDA streams and kernels")) };
        if let Some(state) = cuda.state.get() {
            return Ok(state);
        }
        let _starting = cuda.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = cuda.state.get() {
            return Ok(state);
        }
        let context = Context::retain(sys::driver()?, cuda.handle, cuda.ordinal as c_int)?;
        let state = cuda.state.get_or_init(|| CudaState {
            context,
            stream: RwLock::new(None),
            record: OnceLock::new(),
        });
        if cuda.pool_supported && self.mempool_release_threshold() == Ok(0) {
            // The driver's default gives everything back at each synchronisation, and the next allocation
            // pays for it again. A threshold that someone has set is left alone.
            self.set_mempool_release_threshold(u64::MAX)?;
        }
        Ok(state)
    }

    /// The device's context, made now if need be.
    pub(crate) fn context(self) -> Result<&'static Context, RuntimeError> {
        Ok(&self.state()?.context)
    }

    /// Makes the device's context current on this thread while the result lives.
    #[inline]
    pub(crate) fn enter(self) -> Result<InContext<'static>, RuntimeError> {
        let state = self.state()?;
        let driver = sys::driver()?;
        let guard = state.context.enter(driver)?;
        Ok(InContext { driver, _guard: guard })
    }
}

/// Every device: the CPU, then the GPUs, none of which is started by asking.
pub fn devices() -> Vec<Device> {
    let mut all = vec![Device::cpu()];
    all.extend_from_slice(gpus().unwrap_or_default());
    all
}

/// The number of GPUs; zero without a driver.
pub fn cuda_device_count() -> u32 {
    gpus().map_or(0, |g| g.len() as u32)
}

/// Why CUDA cannot be used, or `Ok`.
///
/// # Errors
/// [`RuntimeError::NoCudaDriver`] with the reason.
pub fn cuda_status() -> Result<(), RuntimeError> {
    gpus().map(|_| ())
}

/// The driver's version, (13, 0) for CUDA 13.0.
///
/// # Errors
/// [`RuntimeError::NoCudaDriver`] without one.
pub fn cuda_driver_version() -> Result<(u32, u32), RuntimeError> {
    let driver = sys::driver()?;
    let mut version = 0;
    // SAFETY: `version` is a valid place for the result.
    unsafe { driver.driver_get_version(&mut version) }?;
    Ok(((version / 1000) as u32, (version % 1000 / 10) as u32))
}

/// The device of a name: `cpu`, `cuda` (the first GPU) or `cuda:N`.
///
/// # Errors
/// [`RuntimeError::UnknownDevice`]; [`RuntimeError::NoCudaDriver`] for a GPU without a driver.
pub fn device(name: &str) -> Result<Device, RuntimeError> {
    if name == "cpu" {
        return Ok(Device::cpu());
    }
    let ordinal = match name.strip_prefix("cuda") {
        Some("") => Some(0),
        Some(rest) => rest.strip_prefix(':').and_then(|digits| digits.parse().ok()),
        None => None,
    };
    match ordinal {
        Some(ordinal) => Device::cuda(ordinal),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> RuntimeError {
    let available = devices().iter().map(Device::to_string).collect();
    RuntimeError::UnknownDevice { name: name.to_owned(), available }
}

static DEFAULT: RwLock<Option<Device>> = RwLock::new(None);

/// The device used where none is named: the one set, else the first GPU, else the CPU.
pub fn default_device() -> Device {
    if let Some(device) = *DEFAULT.read().unwrap_or_else(PoisonError::into_inner) {
        return device;
    }
    let device = gpus().ok().and_then(|g| g.first().copied()).unwrap_or_else(Device::cpu);
    *DEFAULT.write().unwrap_or_else(PoisonError::into_inner).get_or_insert(device)
}

/// Sets the device used where none is named, for all threads.
pub fn set_default_device(device: Device) {
    *DEFAULT.write().unwrap_or_else(PoisonError::into_inner) = Some(device);
}

fn gpus() -> Result<&'static [Device], RuntimeError> {
    static GPUS: OnceLock<Result<Vec<Device>, RuntimeError>> = OnceLock::new();
    match GPUS.get_or_init(list_gpus) {
        Ok(gpus) => Ok(gpus),
        Err(error) => Err(error.clone()),
    }
}

fn list_gpus() -> Result<Vec<Device>, RuntimeError> {
    let driver = sys::driver()?;
    let mut count = 0;
    // SAFETY: `count` is a valid place for the result.
    unsafe { driver.device_get_count(&mut count) }?;
    (0..count)
        .map(|ordinal| {
            let inner = read_gpu(driver, ordinal)?;
            Ok(Device(Box::leak(Box::new(inner))))
        })
        .collect()
}

fn read_gpu(driver: &Driver, ordinal: c_int) -> Result<DeviceInner, RuntimeError> {
    let mut handle = 0;
    // SAFETY: `handle` is a valid place; the ordinal is below the count.
    unsafe { driver.device_get(&mut handle, ordinal) }?;
    let attribute = |which: c_int| -> Result<u32, RuntimeError> {
        let mut value = 0;
        // SAFETY: `value` is a valid place; the handle came from the driver.
        unsafe { driver.device_get_attribute(&mut value, which, handle) }?;
        Ok(value.max(0) as u32)
    };
    let mut name = [0 as c_char; 256];
    // SAFETY: the buffer has the length given.
    unsafe { driver.device_get_name(name.as_mut_ptr(), name.len() as c_int, handle) }?;
    let mut bus = [0 as c_char; 64];
    // SAFETY: the buffer has the length given.
    let has_bus =
        unsafe { driver.device_get_pci_bus_id(bus.as_mut_ptr(), bus.len() as c_int, handle) }.is_ok();
    let mut uuid = CUuuid::default();
    // SAFETY: `uuid` is a valid place of the right size; the older function serves older drivers.
    let has_uuid = unsafe {
        driver.device_get_uuid_v2(&mut uuid, handle).is_ok()
            || driver.device_get_uuid(&mut uuid, handle).is_ok()
    };
    let mut total_bytes = 0;
    // SAFETY: `total_bytes` is a valid place for the result.
    unsafe { driver.device_total_mem(&mut total_bytes, handle) }?;
    let pool_supported = attribute(sys::ATTRIBUTE_MEMORY_POOLS_SUPPORTED).unwrap_or(0) != 0;
    Ok(DeviceInner {
        alias: format!("cuda:{ordinal}"),
        name: text(&name),
        cuda: Some(CudaInner {
            ordinal: ordinal as u32,
            handle,
            uuid: has_uuid.then(|| format_uuid(uuid)),
            pci_bus_id: has_bus.then(|| bus_id(&text(&bus))),
            arch: attribute(sys::ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)? * 10
                + attribute(sys::ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            sm_count: attribute(sys::ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            max_block_dim: attribute(sys::ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            max_shared_bytes: attribute(sys::ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            total_bytes,
            is_uva: attribute(sys::ATTRIBUTE_UNIFIED_ADDRESSING)? != 0,
            pool_supported,
            pool_enabled: AtomicBool::new(pool_supported),
            state: OnceLock::new(),
            starting: Mutex::new(()),
        }),
    })
}

/// The text of a NUL-terminated buffer.
fn text(buffer: &[c_char]) -> String {
    let bytes: Vec<u8> = buffer.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The driver's `0000:1b:00.0` as domain, bus and device.
fn bus_id(driver: &str) -> String {
    let place = driver.split('.').next().unwrap_or(driver);
    let parts = place.split(':').map(|part| u32::from_str_radix(part, 16).map(|n| format!("{n:02X}")));
    parts.collect::<Result<Vec<_>, _>>().map_or_else(|_| driver.to_owned(), |parts| parts.join(":"))
}

fn format_uuid(uuid: CUuuid) -> String {
    let hex = |range: std::ops::Range<usize>| -> String {
        uuid.bytes[range].iter().map(|b| format!("{b:02x}")).collect()
    };
    format!("GPU-{}-{}-{}-{}-{}", hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16))
}

fn cpu_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    named.map_or_else(|| format!("{} CPU", std::env::consts::ARCH), |(_, name)| name.trim().to_owned())
}

fn host_memory(pages: c_int) -> usize {
    // SAFETY: sysconf reads values of the system and touches no memory of ours.
    let (pages, page) = unsafe { (libc::sysconf(pages), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(page).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_always_there() {
        let cpu = device("cpu").unwrap();
        assert_eq!(cpu, Device::cpu());
        assert!(cpu.is_cpu() && !cpu.is_cuda());
        assert_eq!((cpu.alias(), cpu.ordinal(), cpu.arch()), ("cpu", None, 0));
        assert!(cpu.total_memory() > 1 << 20 && cpu.free_memory().unwrap() <= cpu.total_memory());
        assert_eq!(devices()[0], cpu);
        cpu.synchronize().unwrap();
        assert!(matches!(cpu.stream(), Err(RuntimeError::Unsupported { .. })));
    }

    #[test]
    fn unknown_names_are_told_what_there_is() {
        for name in ["gpu", "cuda:", "cuda:x", "cuda:-1", ""] {
            let error = device(name).unwrap_err();
            assert!(matches!(&error, RuntimeError::UnknownDevice { name: n, .. } if n == name), "{error}");
            assert!(error.to_string().contains("available: cpu"));
        }
    }

    #[test]
    fn identifiers_are_formatted_as_the_tools_do() {
        let uuid = CUuuid { bytes: std::array::from_fn(|i| i as u8) };
        assert_eq!(format_uuid(uuid), "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    }
}
