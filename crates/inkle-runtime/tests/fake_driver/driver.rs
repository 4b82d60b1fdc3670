//! A CUDA driver made of host memory, for tests: two devices, of which the first can reach the second but not
//! the other way round, streams that run
//! their work at once but can be held "busy", and a ledger of everything made and destroyed.
//!
//! It checks what the real driver would: that the right context is current, that handles are alive, that memory
//! belongs to the device. A violation aborts the test process with a message.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::{LazyLock, Mutex, MutexGuard};

pub const NOT_READY: c_int = 600;
pub const OUT_OF_MEMORY: c_int = 2;
pub const INVALID_PTX: c_int = 218;
pub const NOT_FOUND: c_int = 500;
/// What each device has, bytes.
pub const DEVICE_BYTES: usize = 1 << 24;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Pool,
    Device,
    Pinned,
}

pub struct Block {
    pub kind: Kind,
    pub device: usize,
    memory: Box<[u64]>,
    pub bytes: usize,
}

#[derive(Default)]
pub struct State {
    pub blocks: BTreeMap<u64, Block>,
    pub retained: [u32; 2],
    next_handle: usize,
    /// Streams and events with their device.
    pub streams: BTreeMap<usize, usize>,
    pub events: BTreeMap<usize, usize>,
    pub busy: BTreeSet<usize>,
    pub capturing: BTreeSet<usize>,
    /// Per event, the stream whose work it waits for.
    recorded: BTreeMap<usize, usize>,
    /// Per module of a strided kernel, the bytes that a thread moves.
    units: BTreeMap<usize, String>,
    /// Per module whose code has checks, where its variable for the record's address lies.
    pub variables: BTreeMap<usize, u64>,
    pub launches: Vec<Launch>,
    pub calls: Vec<&'static str>,
    pub threshold: [u64; 2],
}

#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub name: String,
    pub grid: u32,
    pub block: u32,
    pub shared: u32,
    pub stream: usize,
    pub params: Vec<u8>,
}

static STATE: LazyLock<Mutex<State>> =
    LazyLock::new(|| Mutex::new(State { next_handle: 0x1000, ..State::default() }));

pub fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(|e| e.into_inner())
}

thread_local! {
    static CONTEXTS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

const CONTEXT_BASE: usize = 0xc0;

/// This thread's stack of contexts, as device ordinals; 99 is a stranger's.
pub fn context_stack() -> Vec<usize> {
    CONTEXTS.with_borrow(|c| c.iter().map(|c| c - CONTEXT_BASE).collect())
}

/// Makes a stranger's context current on this thread.
pub fn push_stranger() {
    CONTEXTS.with_borrow_mut(|c| c.push(CONTEXT_BASE + 99));
}

pub fn clear_contexts() {
    CONTEXTS.with_borrow_mut(Vec::clear);
}

fn current() -> usize {
    CONTEXTS.with_borrow(|c| *c.last().expect("a context is current")) - CONTEXT_BASE
}

impl State {
    fn handle(&mut self) -> usize {
        self.next_handle += 0x10;
        self.next_handle
    }

    /// The device of a live stream, whose context must be current; null is the default stream of the current one.
    fn stream(&self, stream: *mut c_void) -> usize {
        if stream.is_null() {
            return current();
        }
        let device = *self.streams.get(&stream.addr()).expect("the stream is alive");
        assert_eq!(current(), device, "the stream's context is current");
        device
    }

    fn find(&self, address: u64, bytes: usize) -> Option<&Block> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        (address + bytes as u64 <= start + block.bytes as u64).then_some(block)
    }

    /// Checks that a run is memory of `device`.
    fn on_device(&self, address: u64, bytes: usize, device: usize) {
        let block = self.find(address, bytes).expect("the run lies in one block");
        assert!(block.kind != Kind::Pinned && block.device == device, "the run is memory of device {device}");
    }

    pub fn used(&self, device: usize) -> usize {
        let blocks = self.blocks.values();
        blocks.filter(|b| b.kind != Kind::Pinned && b.device == device).map(|b| b.bytes).sum()
    }

    fn allocate(&mut self, kind: Kind, device: usize, bytes: usize) -> Option<u64> {
        if kind != Kind::Pinned && self.used(device) + bytes > DEVICE_BYTES {
            return None;
        }
        // Filled with a pattern: nobody may count on zeros.
        let memory = vec![0xa5a5_a5a5_a5a5_a5a5u64; bytes.div_ceil(8)].into_boxed_slice();
        let address = memory.as_ptr().expose_provenance() as u64;
        self.blocks.insert(address, Block { kind, device, memory, bytes });
        Some(address)
    }

    fn free(&mut self, address: u64, kind: Kind) {
        let mut block = self.blocks.remove(&address).expect("the block is alive");
        assert_eq!(block.kind, kind, "freed as it was allocated");
        block.memory.fill(0xdead_dead_dead_dead);
    }

    fn is_done(&self, event: usize) -> bool {
        self.recorded.get(&event).is_none_or(|stream| !self.busy.contains(stream))
    }
}

fn pointer<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Writes through a result pointer of the driver's API.
fn give<T>(place: *mut T, value: T) -> c_int {
    assert!(!place.is_null());
    // SAFETY: the runtime passes a valid place for each result.
    unsafe { place.write(value) };
    0
}

macro_rules! api {
    ($($symbol:ident($($arg:ident: $ty:ty),*) $body:block)*) => {
        $(
            #[allow(non_snake_case, reason = "the driver's names")]
            extern "C" fn $symbol($($arg: $ty),*) -> c_int {
                state().calls.push(stringify!($symbol));
                $body
            }
        )*

        /// The functions this driver has.
        pub fn lookup(name: &'static str) -> *const () {
            match name {
                $(stringify!($symbol) => $symbol as extern "C" fn($($ty),*) -> c_int as *const (),)*
                _ => std::ptr::null(),
            }
        }
    };
}

fn copy(to: u64, from: u64, bytes: usize) -> c_int {
    // SAFETY: callers have checked device runs; host runs are the runtime's to vouch for.
    unsafe { std::ptr::copy(pointer::<u8>(from), pointer::<u8>(to), bytes) };
    0
}

api! {
    cuInit(flags: c_uint) { assert_eq!(flags, 0); 0 }
    cuDriverGetVersion(version: *mut c_int) { give(version, 13010) }
    cuGetErrorName(code: c_int, text: *mut *const c_char) {
        give(text, match code {
            OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY".as_ptr(),
            INVALID_PTX => c"CUDA_ERROR_INVALID_PTX".as_ptr(),
            _ => return 1,
        })
    }
    cuGetErrorString(code: c_int, text: *mut *const c_char) {
        assert_ne!(code, 0);
        give(text, c"a sentence".as_ptr())
    }
    cuDeviceGetCount(count: *mut c_int) { give(count, 2) }
    cuDeviceGet(device: *mut c_int, ordinal: c_int) { give(device, ordinal) }
    cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int) {
        let text = format!("Fake {device}\0");
        assert!(len as usize >= text.len());
        copy(name.expose_provenance() as u64, text.as_ptr().expose_provenance() as u64, text.len())
    }
    cuDeviceGetUuid(uuid: *mut [u8; 16], device: c_int) { give(uuid, [device as u8 + 1; 16]) }
    cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) { give(bytes, DEVICE_BYTES) }
    cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: c_int) {
        give(value, match attribute {
            1 => 1024,
            16 => 4,
            41 | 115 => 1,
            75 => 9,
            76 => 0,
            97 => 100_000,
            other => panic!("unexpected attribute {other}"),
        })
    }
    cuDeviceGetPCIBusId(id: *mut c_char, len: c_int, device: c_int) {
        let text = format!("0000:{device:02X}:AB.0\0");
        assert!(len as usize >= text.len());
        copy(id.expose_provenance() as u64, text.as_ptr().expose_provenance() as u64, text.len())
    }
    cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) { give(can, ((device, peer) == (0, 1)).into()) }
    cuCtxEnablePeerAccess(peer: usize, flags: c_uint) {
        assert_eq!((current(), peer, flags), (0, CONTEXT_BASE + 1, 0));
        0
    }
    cuMemPoolSetAccess(pool: usize, access: *const [c_int; 3], count: usize) {
        // SAFETY: the runtime passes `count` descriptions of three integers.
        let access = unsafe { *access };
        assert_eq!((pool, access, count), (0xf01, [1, 0, 3], 1), "device 0 may read and write the pool of device 1");
        0
    }
    cuMemcpyPeerAsync(to: u64, to_context: usize, from: u64, from_context: usize, bytes: usize, stream: *mut c_void) {
        let state = state();
        state.stream(stream);
        state.on_device(to, bytes, to_context - CONTEXT_BASE);
        state.on_device(from, bytes, from_context - CONTEXT_BASE);
        copy(to, from, bytes)
    }
    cuDeviceGetMemPool(pool: *mut usize, device: c_int) { give(pool, 0xf00 + device as usize) }
    cuMemPoolGetAttribute(pool: usize, attribute: c_int, value: *mut u64) {
        let device = pool - 0xf00;
        give(value, if attribute == 4 { state().threshold[device] } else { state().used(device) as u64 })
    }
    cuMemPoolSetAttribute(pool: usize, attribute: c_int, value: *mut u64) {
        assert_eq!(attribute, 4);
        // SAFETY: the runtime passes a valid u64.
        state().threshold[pool - 0xf00] = unsafe { *value };
        0
    }
    cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int) {
        state().retained[device as usize] += 1;
        give(context, CONTEXT_BASE + device as usize)
    }
    cuCtxGetCurrent(context: *mut usize) { give(context, CONTEXTS.with_borrow(|c| c.last().copied().unwrap_or(0))) }
    cuCtxSetCurrent(context: usize) {
        CONTEXTS.with_borrow_mut(|c| { c.pop(); c.push(context) });
        0
    }
    cuCtxPushCurrent_v2(context: usize) { CONTEXTS.with_borrow_mut(|c| c.push(context)); 0 }
    cuCtxPopCurrent_v2(context: *mut usize) {
        give(context, CONTEXTS.with_borrow_mut(|c| c.pop().expect("a context to pop")))
    }
    cuCtxSynchronize() {
        let device = current();
        let mut state = state();
        let streams: Vec<usize> = state.streams.iter().filter(|s| *s.1 == device).map(|s| *s.0).collect();
        streams.iter().for_each(|s| { state.busy.remove(s); });
        0
    }
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        give(free, DEVICE_BYTES - state().used(current()));
        give(total, DEVICE_BYTES)
    }
    cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        state().allocate(Kind::Device, current(), bytes).map_or(OUT_OF_MEMORY, |a| give(address, a))
    }
    cuMemFree_v2(address: u64) { state().free(address, Kind::Device); 0 }
    cuMemAllocAsync(address: *mut u64, bytes: usize, stream: *mut c_void) {
        let mut state = state();
        let device = state.stream(stream);
        state.allocate(Kind::Pool, device, bytes).map_or(OUT_OF_MEMORY, |a| give(address, a))
    }
    cuMemFreeAsync(address: u64, stream: *mut c_void) {
        let mut state = state();
        state.stream(stream);
        assert!(!state.capturing.contains(&stream.addr()), "a free must not enter a capture");
        state.free(address, Kind::Pool);
        0
    }
    cuMemHostAlloc(address: *mut u64, bytes: usize, flags: c_uint) {
        assert_eq!(flags, 1);
        give(address, state().allocate(Kind::Pinned, 0, bytes).expect("pinned memory has no limit here"))
    }
    cuMemFreeHost(address: u64) { state().free(address, Kind::Pinned); 0 }
    cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) {
        let state = state();
        state.on_device(to, bytes, state.stream(stream));
        copy(to, from, bytes)
    }
    cuMemcpyDtoHAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) {
        let state = state();
        state.on_device(from, bytes, state.stream(stream));
        copy(to, from, bytes)
    }
    cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) {
        let state = state();
        let device = state.stream(stream);
        state.on_device(to, bytes, device);
        state.on_device(from, bytes, device);
        copy(to, from, bytes)
    }
    cuMemsetD8Async(to: u64, value: u8, count: usize, stream: *mut c_void) { fill(to, value, count, stream) }
    cuMemsetD16Async(to: u64, value: u16, count: usize, stream: *mut c_void) { fill(to, value, count, stream) }
    cuMemsetD32Async(to: u64, value: u32, count: usize, stream: *mut c_void) { fill(to, value, count, stream) }
    cuStreamCreateWithPriority(stream: *mut usize, flags: c_uint, _priority: c_int) {
        assert!(matches!(flags, 0 | 1), "streams are ordered with the legacy default stream, or with none");
        let mut state = state();
        let handle = state.handle();
        state.streams.insert(handle, current());
        give(stream, handle)
    }
    cuStreamDestroy_v2(stream: *mut c_void) {
        let mut state = state();
        state.stream(stream);
        state.streams.remove(&stream.addr());
        0
    }
    cuStreamSynchronize(stream: *mut c_void) {
        let mut state = state();
        state.stream(stream);
        state.busy.remove(&stream.addr());
        0
    }
    cuStreamQuery(stream: *mut c_void) {
        let state = state();
        state.stream(stream);
        if state.busy.contains(&stream.addr()) { NOT_READY } else { 0 }
    }
    cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, flags: c_uint) {
        assert_eq!(flags, 0);
        let mut state = state();
        state.stream(stream);
        assert!(state.events.contains_key(&event.addr()), "the event is alive");
        if !state.is_done(event.addr()) {
            state.busy.insert(stream.addr());
        }
        0
    }
    cuStreamIsCapturing(stream: *mut c_void, status: *mut c_int) {
        let state = state();
        state.stream(stream);
        give(status, state.capturing.contains(&stream.addr()).into())
    }
    cuEventCreate(event: *mut usize, _flags: c_uint) {
        let mut state = state();
        let handle = state.handle();
        state.events.insert(handle, current());
        give(event, handle)
    }
    cuEventRecord(event: *mut c_void, stream: *mut c_void) {
        let mut state = state();
        assert_eq!(state.events[&event.addr()], state.stream(stream), "event and stream are of one device");
        assert!(!state.capturing.contains(&stream.addr()), "no event of ours enters a capture");
        state.recorded.insert(event.addr(), stream.addr());
        0
    }
    cuEventQuery(event: *mut c_void) { if state().is_done(event.addr()) { 0 } else { NOT_READY } }
    cuEventSynchronize(event: *mut c_void) {
        let mut state = state();
        if let Some(stream) = state.recorded.get(&event.addr()).copied() {
            state.busy.remove(&stream);
        }
        0
    }
    cuEventElapsedTime(milliseconds: *mut f32, _start: *mut c_void, _end: *mut c_void) { give(milliseconds, 1.5) }
    cuEventDestroy_v2(event: *mut c_void) {
        let mut state = state();
        assert!(state.events.remove(&event.addr()).is_some(), "the event is alive");
        state.recorded.remove(&event.addr());
        0
    }
    cuModuleLoadDataEx(module: *mut usize, image: *const c_char, n: c_uint, options: *mut c_int, values: *mut *mut c_void) {
        // SAFETY: PTX ends with a NUL; reading past the image is what this test would catch under a sanitiser.
        let text = unsafe { CStr::from_ptr(image) }.to_str().unwrap();
        // SAFETY: the runtime passes `n` options and values.
        let (options, values) = unsafe {
            (std::slice::from_raw_parts(options, n as usize), std::slice::from_raw_parts(values, n as usize))
        };
        if text.contains("nonsense") {
            let at = options.iter().position(|&o| o == 5).expect("an error log is asked for");
            let size = options.iter().position(|&o| o == 6).expect("with its size");
            let log = "line 4; error: nonsense\0";
            assert!(values[size].addr() >= log.len());
            copy(values[at].expose_provenance() as u64, log.as_ptr().expose_provenance() as u64, log.len());
            return INVALID_PTX;
        }
        let mut state = state();
        let handle = state.handle();
        // The width of the accesses is in the text of the strided kernels, not in their parameters.
        if let Some((_, rest)) = text.split_once("mul.wide.u32 %d2, %r3, ") {
            state.units.insert(handle, rest[..rest.find(';').unwrap()].to_owned());
        }
        if text.contains("inkle_check_record") {
            let place = state.allocate(Kind::Device, current(), 8).expect("memory for a variable");
            state.variables.insert(handle, place);
        }
        give(module, handle)
    }
    cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: usize, name: *const c_char) {
        // SAFETY: the runtime passes a NUL-terminated name.
        assert_eq!(unsafe { CStr::from_ptr(name) }, c"inkle_check_record");
        let Some(&place) = state().variables.get(&module) else { return NOT_FOUND };
        give(bytes, 8);
        give(address, place)
    }
    cuLinkCreate_v2(n: c_uint, options: *mut c_int, values: *mut *mut c_void, link: *mut *mut c_void) {
        // SAFETY: the runtime passes `n` options and values.
        let (options, values) = unsafe {
            (std::slice::from_raw_parts(options, n as usize), std::slice::from_raw_parts(values, n as usize))
        };
        let level = options.iter().position(|&o| o == 7).map_or(4, |at| values[at].addr());
        let text = format!("cubin -O{level} ").into_bytes();
        give(link, Box::into_raw(Box::new(text)).cast())
    }
    cuLinkAddData_v2(link: *mut c_void, kind: c_int, data: *const c_char, bytes: usize, _name: usize, _n: c_uint, _options: usize, _values: usize) {
        assert_eq!(kind, 1, "PTX");
        // SAFETY: PTX ends with a NUL.
        let text = unsafe { CStr::from_ptr(data) };
        assert_eq!(text.to_bytes_with_nul().len(), bytes, "the size counts the NUL");
        if text.to_bytes().starts_with(b"nonsense") {
            return INVALID_PTX;
        }
        // SAFETY: the link is what `cuLinkCreate_v2` gave.
        unsafe { &mut *link.cast::<Vec<u8>>() }.extend(text.to_bytes());
        0
    }
    cuLinkComplete(link: *mut c_void, cubin: *mut *mut c_void, bytes: *mut usize) {
        // SAFETY: the link is what `cuLinkCreate_v2` gave.
        let text = unsafe { &mut *link.cast::<Vec<u8>>() };
        give(bytes, text.len());
        give(cubin, text.as_mut_ptr().cast())
    }
    cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, _function: usize, block_dim: c_int, _shared: usize) {
        give(blocks, 512 / block_dim)
    }
    cuLinkDestroy(link: *mut c_void) {
        // SAFETY: the link is what `cuLinkCreate_v2` gave, and is destroyed once.
        drop(unsafe { Box::from_raw(link.cast::<Vec<u8>>()) });
        0
    }
    cuModuleUnload(module: usize) {
        let mut state = state();
        if let Some(place) = state.variables.remove(&module) {
            state.free(place, Kind::Device);
        }
        0
    }
    cuModuleGetFunction(function: *mut *const c_char, module: usize, name: *const c_char) {
        // SAFETY: the runtime passes a NUL-terminated name.
        let name = unsafe { CStr::from_ptr(name) };
        if name == c"missing" {
            return NOT_FOUND;
        }
        // The handle is the name, kept for ever, so that a launch can tell what it launches.
        let unit = state().units.get(&module).map_or(String::new(), |unit| format!("/{unit}"));
        let name = CString::new(format!("{}{unit}", name.to_str().unwrap())).unwrap();
        give(function, Box::leak(name.into_boxed_c_str()).as_ptr())
    }
    cuFuncGetAttribute(value: *mut c_int, attribute: c_int, _function: usize) {
        give(value, if attribute == 0 { 512 } else { 10 + attribute })
    }
    cuFuncSetAttribute(_function: usize, attribute: c_int, _value: c_int) { assert_eq!(attribute, 8); 0 }
    cuLaunchKernel(
        function: *const c_char, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint,
        shared: c_uint, stream: *mut c_void, params: *mut *mut c_void, extra: *mut *mut c_void
    ) {
        assert!(params.is_null() && (gy, gz, by, bz) == (1, 1, 1, 1) && gx > 0);
        // SAFETY: the handle is the name that `cuModuleGetFunction` gave.
        let name = unsafe { CStr::from_ptr(function) }.to_str().unwrap().to_owned();
        // SAFETY: `extra` is pointer, block, size, place of the size, end.
        let params = unsafe {
            let extra = std::slice::from_raw_parts(extra, 5);
            assert_eq!([extra[0].addr(), extra[2].addr(), extra[4].addr()], [1, 2, 0]);
            std::slice::from_raw_parts(extra[1].cast::<u8>(), *extra[3].cast::<usize>()).to_vec()
        };
        let mut state = state();
        let device = state.stream(stream);
        if name.starts_with("inkle_strided") {
            run_strided(&state, device, &name, &params, gx * bx);
        }
        state.launches.push(Launch { name, grid: gx, block: bx, shared, stream: stream.addr(), params });
        0
    }
}

fn fill<T: Copy>(to: u64, value: T, count: usize, stream: *mut c_void) -> c_int {
    let state = state();
    state.on_device(to, count * size_of::<T>(), state.stream(stream));
    assert!(to.is_multiple_of(align_of::<T>() as u64), "the driver wants aligned words");
    // SAFETY: the run was checked to lie in one block of the fake device.
    unsafe { std::slice::from_raw_parts_mut(pointer::<T>(to), count) }.fill(value);
    0
}

/// What the PTX of the strided kernels does, from the same parameter block, byte by byte.
fn run_strided(state: &State, device: usize, name: &str, params: &[u8], launched: u32) {
    let u64_at = |at: usize| u64::from_le_bytes(params[at..at + 8].try_into().unwrap());
    let u32_at = |at: usize| u32::from_le_bytes(params[at..at + 4].try_into().unwrap());
    let (threads, units) = (u32_at(16), u32_at(20));
    assert!(launched >= threads && launched - threads < 256);
    let extents: [u32; 4] = std::array::from_fn(|d| u32_at(24 + 4 * d));
    let strides = |at: usize| -> [i64; 4] { std::array::from_fn(|d| u64_at(at + 8 * d) as i64) };
    let (dst_strides, src_strides) = (strides(40), strides(72));
    let (kernel, unit) = name.split_once('/').unwrap();
    let (fill, unit) = (kernel == "inkle_strided_fill", unit.parse::<usize>().unwrap());
    for thread in 0..threads {
        let (mut point, k) = (thread / units, thread % units);
        let mut index = [0i64; 4];
        for d in (1..4).rev() {
            index[d] = (point % extents[d]).into();
            point /= extents[d];
        }
        index[0] = point.into();
        assert!(point < extents[0]);
        let offset = |strides: &[i64; 4]| index.iter().zip(strides).map(|(i, s)| i * s).sum::<i64>();
        let at = u64::from(k) * unit as u64;
        let dst = u64_at(0).wrapping_add_signed(offset(&dst_strides)) + at;
        assert!(dst.is_multiple_of(unit as u64), "accesses are aligned");
        state.on_device(dst, unit, device);
        if fill {
            let from = 104 + at as usize;
            copy(dst, params[from..from + unit].as_ptr().expose_provenance() as u64, unit);
        } else {
            let src = u64_at(8).wrapping_add_signed(offset(&src_strides)) + at;
            assert!(src.is_multiple_of(unit as u64), "accesses are aligned");
            state.on_device(src, unit, device);
            copy(dst, src, unit);
        }
    }
}
