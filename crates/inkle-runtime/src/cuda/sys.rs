//! The driver's functions, looked up by name in `libcuda.so.1` when CUDA is first used.
//!
//! Each function is optional: a driver that lacks one makes calls of that one fail with
//! [`RuntimeError::MissingDriverFunction`], and everything else works. Names carry the version suffix of the
//! signature declared here.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
#[cfg(feature = "cuda")]
use std::sync::OnceLock;

use crate::error::{CudaError, RuntimeError};

pub(crate) type CUdevice = c_int;
pub(crate) type CUdeviceptr = u64;
pub(crate) type CUcontext = *mut c_void;
pub(crate) type CUstream = *mut c_void;
pub(crate) type CUevent = *mut c_void;
pub(crate) type CUmodule = *mut c_void;
pub(crate) type CUlinkState = *mut c_void;
pub(crate) type CUfunction = *mut c_void;
pub(crate) type CUmemoryPool = *mut c_void;
pub(crate) type CUgraph = *mut c_void;
pub(crate) type CUgraphExec = *mut c_void;
pub(crate) type CUuserObject = *mut c_void;
pub(crate) type CUgraphNode = *mut c_void;

pub(crate) const CUDA_SUCCESS: c_int = 0;
pub(crate) const CUDA_ERROR_OUT_OF_MEMORY: c_int = 2;
pub(crate) const CUDA_ERROR_NO_DEVICE: c_int = 100;
pub(crate) const CUDA_ERROR_NOT_FOUND: c_int = 500;
pub(crate) const CUDA_ERROR_NOT_READY: c_int = 600;
pub(crate) const CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED: c_int = 704;

pub(crate) const ATTRIBUTE_MAX_THREADS_PER_BLOCK: c_int = 1;
pub(crate) const ATTRIBUTE_MULTIPROCESSOR_COUNT: c_int = 16;
pub(crate) const ATTRIBUTE_UNIFIED_ADDRESSING: c_int = 41;
pub(crate) const ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: c_int = 75;
pub(crate) const ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: c_int = 76;
pub(crate) const ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_int = 97;
pub(crate) const ATTRIBUTE_MEMORY_POOLS_SUPPORTED: c_int = 115;

pub(crate) const FUNC_MAX_THREADS_PER_BLOCK: c_int = 0;
pub(crate) const FUNC_SHARED_SIZE_BYTES: c_int = 1;
pub(crate) const FUNC_LOCAL_SIZE_BYTES: c_int = 3;
pub(crate) const FUNC_NUM_REGS: c_int = 4;
pub(crate) const FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;

/// Ordered with the legacy default stream, as streams are by default.
pub(crate) const STREAM_DEFAULT: c_uint = 0;
/// Not ordered with any other stream.
pub(crate) const STREAM_NON_BLOCKING: c_uint = 1;
pub(crate) const EVENT_DEFAULT: c_uint = 0;
pub(crate) const EVENT_DISABLE_TIMING: c_uint = 2;
pub(crate) const MEMHOSTALLOC_PORTABLE: c_uint = 1;

pub(crate) const MEMPOOL_RELEASE_THRESHOLD: c_int = 4;
pub(crate) const MEMPOOL_USED_MEM_CURRENT: c_int = 7;
pub(crate) const MEMPOOL_USED_MEM_HIGH: c_int = 8;

pub(crate) const JIT_INFO_LOG_BUFFER: c_int = 3;
pub(crate) const JIT_INFO_LOG_BUFFER_SIZE_BYTES: c_int = 4;
pub(crate) const JIT_ERROR_LOG_BUFFER: c_int = 5;
pub(crate) const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;
pub(crate) const JIT_OPTIMIZATION_LEVEL: c_int = 7;
pub(crate) const JIT_GENERATE_LINE_INFO: c_int = 13;
pub(crate) const JIT_INPUT_PTX: c_int = 1;

pub(crate) const LAUNCH_PARAM_END: *mut c_void = ptr::null_mut();
pub(crate) const LAUNCH_PARAM_BUFFER_POINTER: *mut c_void = ptr::without_provenance_mut(1);
pub(crate) const LAUNCH_PARAM_BUFFER_SIZE: *mut c_void = ptr::without_provenance_mut(2);

pub(crate) const STREAM_CAPTURE_STATUS_NONE: c_int = 0;
pub(crate) const USER_OBJECT_NO_DESTRUCTOR_SYNC: c_uint = 1;
pub(crate) const GRAPH_USER_OBJECT_MOVE: c_uint = 1;
pub(crate) const STREAM_SET_CAPTURE_DEPENDENCIES: c_uint = 1;

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct CUuuid {
    pub bytes: [u8; 16],
}

/// The parameters of a node (`CUgraphNodeParams`), as far as conditional nodes use them.
#[repr(C)]
pub(crate) struct CUgraphNodeParams {
    /// 13: a conditional node.
    kind: c_int,
    reserved0: [c_int; 3],
    handle: u64,
    /// 0: if, 1: while.
    condition: c_int,
    /// The number of bodies.
    count: c_uint,
    /// Where the driver tells the bodies' graphs.
    bodies: *mut CUgraph,
    context: CUcontext,
    reserved1: [u64; 25],
    reserved2: u64,
}

const _: () = {
    assert!(size_of::<CUgraphNodeParams>() == 256);
    assert!(std::mem::offset_of!(CUgraphNodeParams, handle) == 16);
    assert!(std::mem::offset_of!(CUgraphNodeParams, bodies) == 32);
    assert!(std::mem::offset_of!(CUgraphNodeParams, reserved2) == 248);
};

impl CUgraphNodeParams {
    /// A conditional node with one body.
    pub(crate) fn conditional(handle: u64, condition: c_int, context: CUcontext) -> CUgraphNodeParams {
        CUgraphNodeParams {
            kind: 13,
            reserved0: [0; 3],
            handle,
            condition,
            count: 1,
            bodies: ptr::null_mut(),
            context,
            reserved1: [0; 25],
            reserved2: 0,
        }
    }

    /// The graph of the body, once the node was added.
    pub(crate) fn body(&self) -> Option<CUgraph> {
        // SAFETY: the driver leaves the place null or makes it point to as many graphs as were asked for, one, which
        // stay as long as the node.
        if self.bodies.is_null() { None } else { Some(unsafe { *self.bodies }) }
    }
}

/// Where a peer or a pool's memory may be reached from (`CUmemAccessDesc`).
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CUmemAccessDesc {
    /// 1: a device.
    pub location_type: c_int,
    /// The device's ordinal.
    pub location_id: c_int,
    /// 0: none, 3: read and write.
    pub flags: c_int,
}

const _: () = assert!(size_of::<CUmemAccessDesc>() == 12);

/// A failed call, small enough to pass about where failure is expected (a query that is not ready yet).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// The driver's status.
    Status { call: &'static str, code: c_int },
    /// The driver has no such function.
    Missing { call: &'static str },
}

impl Failure {
    pub(crate) fn is(self, wanted: c_int) -> bool {
        matches!(self, Failure::Status { code, .. } if code == wanted)
    }

    /// The error with the driver's own name and sentence.
    pub(crate) fn into_cuda_error(self) -> Result<CudaError, RuntimeError> {
        match self {
            Failure::Missing { call } => Err(RuntimeError::MissingDriverFunction { function: call }),
            Failure::Status { call, code } => {
                let (name, text) = match loaded() {
                    Ok(driver) => driver.describe(code),
                    Err(_) => (format!("CUresult {code}"), String::new()),
                };
                Ok(CudaError { call, code, name, text })
            }
        }
    }
}

impl From<Failure> for RuntimeError {
    fn from(failure: Failure) -> Self {
        match failure.into_cuda_error() {
            Ok(error) => RuntimeError::Cuda(error),
            Err(error) => error,
        }
    }
}

#[cfg(feature = "cuda")]
macro_rules! driver {
    ($($symbol:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        /// The table of functions.
        pub(crate) struct Driver {
            $($name: Option<unsafe extern "C" fn($($ty),*) -> c_int>,)*
        }

        impl Driver {
            fn from_lookup(lookup: &SymbolLookup) -> Driver {
                Driver {
                    $($name: {
                        let address = lookup($symbol);
                        // SAFETY: an `Option` of a function pointer has the layout of a nullable pointer, and
                        // `lookup` promises that a non-null address has the driver's signature for that
                        // versioned name, which is the one declared here.
                        unsafe { std::mem::transmute::<*const (), Option<unsafe extern "C" fn($($ty),*) -> c_int>>(address) }
                    },)*
                }
            }

            $(
                /// # Safety
                /// As the driver's documentation of the function says: handles are alive, pointers valid.
                #[inline]
                #[allow(clippy::too_many_arguments, dead_code, reason = "the table mirrors the driver's header; graph capture uses the rest")]
                pub(crate) unsafe fn $name(&self, $($arg: $ty),*) -> Result<(), Failure> {
                    let Some(function) = self.$name else { return Err(Failure::Missing { call: $symbol }) };
                    // SAFETY: the caller keeps the contract of this very function.
                    let code = unsafe { function($($arg),*) };
                    if code == CUDA_SUCCESS { Ok(()) } else { Err(Failure::Status { call: $symbol, code }) }
                }
            )*
        }
    };
}

#[cfg(not(feature = "cuda"))]
macro_rules! driver {
    ($($symbol:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        /// There is none, and no code that needs one is reached.
        pub(crate) enum Driver {}

        impl Driver {
            $(
                /// # Safety
                /// None is needed: nobody can call it.
                #[inline]
                #[allow(clippy::too_many_arguments, dead_code, unused_variables, reason = "as in the table of functions")]
                pub(crate) unsafe fn $name(&self, $($arg: $ty),*) -> Result<(), Failure> {
                    match *self {}
                }
            )*
        }
    };
}

driver! {
    "cuInit" fn init(flags: c_uint);
    "cuDriverGetVersion" fn driver_get_version(version: *mut c_int);
    "cuGetErrorName" fn get_error_name(code: c_int, text: *mut *const c_char);
    "cuGetErrorString" fn get_error_string(code: c_int, text: *mut *const c_char);

    "cuDeviceGetCount" fn device_get_count(count: *mut c_int);
    "cuDeviceGet" fn device_get(device: *mut CUdevice, ordinal: c_int);
    "cuDeviceGetName" fn device_get_name(name: *mut c_char, len: c_int, device: CUdevice);
    "cuDeviceGetUuid_v2" fn device_get_uuid_v2(uuid: *mut CUuuid, device: CUdevice);
    "cuDeviceGetUuid" fn device_get_uuid(uuid: *mut CUuuid, device: CUdevice);
    "cuDeviceTotalMem_v2" fn device_total_mem(bytes: *mut usize, device: CUdevice);
    "cuDeviceGetAttribute" fn device_get_attribute(value: *mut c_int, attribute: c_int, device: CUdevice);
    "cuDeviceGetPCIBusId" fn device_get_pci_bus_id(id: *mut c_char, len: c_int, device: CUdevice);
    "cuDeviceCanAccessPeer" fn device_can_access_peer(can: *mut c_int, device: CUdevice, peer: CUdevice);
    "cuDeviceGetDefaultMemPool" fn device_get_default_mem_pool(pool: *mut CUmemoryPool, device: CUdevice);
    "cuDeviceGetMemPool" fn device_get_mem_pool(pool: *mut CUmemoryPool, device: CUdevice);
    "cuDeviceSetMemPool" fn device_set_mem_pool(device: CUdevice, pool: CUmemoryPool);

    "cuDevicePrimaryCtxRetain" fn device_primary_ctx_retain(context: *mut CUcontext, device: CUdevice);
    "cuDevicePrimaryCtxRelease_v2" fn device_primary_ctx_release(device: CUdevice);
    "cuDevicePrimaryCtxGetState" fn device_primary_ctx_get_state(device: CUdevice, flags: *mut c_uint, active: *mut c_int);
    "cuCtxGetCurrent" fn ctx_get_current(context: *mut CUcontext);
    "cuCtxSetCurrent" fn ctx_set_current(context: CUcontext);
    "cuCtxPushCurrent_v2" fn ctx_push_current(context: CUcontext);
    "cuCtxPopCurrent_v2" fn ctx_pop_current(context: *mut CUcontext);
    "cuCtxGetDevice" fn ctx_get_device(device: *mut CUdevice);
    "cuCtxSynchronize" fn ctx_synchronize();
    "cuCtxEnablePeerAccess" fn ctx_enable_peer_access(peer: CUcontext, flags: c_uint);
    "cuCtxDisablePeerAccess" fn ctx_disable_peer_access(peer: CUcontext);
    "cuCtxGetStreamPriorityRange" fn ctx_get_stream_priority_range(least: *mut c_int, greatest: *mut c_int);

    "cuMemGetInfo_v2" fn mem_get_info(free: *mut usize, total: *mut usize);
    "cuMemAlloc_v2" fn mem_alloc(address: *mut CUdeviceptr, bytes: usize);
    "cuMemFree_v2" fn mem_free(address: CUdeviceptr);
    "cuMemAllocAsync" fn mem_alloc_async(address: *mut CUdeviceptr, bytes: usize, stream: CUstream);
    "cuMemAllocFromPoolAsync" fn mem_alloc_from_pool_async(address: *mut CUdeviceptr, bytes: usize, pool: CUmemoryPool, stream: CUstream);
    "cuMemFreeAsync" fn mem_free_async(address: CUdeviceptr, stream: CUstream);
    "cuMemHostAlloc" fn mem_host_alloc(address: *mut *mut c_void, bytes: usize, flags: c_uint);
    "cuMemFreeHost" fn mem_free_host(address: *mut c_void);
    "cuMemHostRegister_v2" fn mem_host_register(address: *mut c_void, bytes: usize, flags: c_uint);
    "cuMemHostUnregister" fn mem_host_unregister(address: *mut c_void);
    "cuPointerGetAttribute" fn pointer_get_attribute(value: *mut c_void, attribute: c_int, address: CUdeviceptr);
    "cuMemPoolSetAttribute" fn mem_pool_set_attribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void);
    "cuMemPoolGetAttribute" fn mem_pool_get_attribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void);
    "cuMemPoolTrimTo" fn mem_pool_trim_to(pool: CUmemoryPool, keep_bytes: usize);
    "cuMemPoolSetAccess" fn mem_pool_set_access(pool: CUmemoryPool, access: *const CUmemAccessDesc, count: usize);
    "cuMemPoolGetAccess" fn mem_pool_get_access(flags: *mut c_int, pool: CUmemoryPool, location: *mut c_int);

    "cuMemcpyAsync" fn memcpy_async(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream);
    "cuMemcpyHtoDAsync_v2" fn memcpy_htod_async(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    "cuMemcpyDtoHAsync_v2" fn memcpy_dtoh_async(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
    "cuMemcpyDtoDAsync_v2" fn memcpy_dtod_async(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream);
    "cuMemcpyPeerAsync" fn memcpy_peer_async(to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, bytes: usize, stream: CUstream);
    "cuMemsetD8Async" fn memset_d8_async(to: CUdeviceptr, value: u8, count: usize, stream: CUstream);
    "cuMemsetD16Async" fn memset_d16_async(to: CUdeviceptr, value: u16, count: usize, stream: CUstream);
    "cuMemsetD32Async" fn memset_d32_async(to: CUdeviceptr, value: u32, count: usize, stream: CUstream);

    "cuStreamCreateWithPriority" fn stream_create_with_priority(stream: *mut CUstream, flags: c_uint, priority: c_int);
    "cuStreamDestroy_v2" fn stream_destroy(stream: CUstream);
    "cuStreamSynchronize" fn stream_synchronize(stream: CUstream);
    "cuStreamQuery" fn stream_query(stream: CUstream);
    "cuStreamWaitEvent" fn stream_wait_event(stream: CUstream, event: CUevent, flags: c_uint);
    "cuStreamGetPriority" fn stream_get_priority(stream: CUstream, priority: *mut c_int);
    "cuStreamBeginCapture_v2" fn stream_begin_capture(stream: CUstream, mode: c_int);
    "cuStreamEndCapture" fn stream_end_capture(stream: CUstream, graph: *mut CUgraph);
    "cuStreamGetCaptureInfo_v2" fn stream_get_capture_info(stream: CUstream, status: *mut c_int, id: *mut u64, graph: *mut CUgraph, waits: *mut *const CUgraphNode, count: *mut usize);
    "cuStreamUpdateCaptureDependencies" fn stream_update_capture_dependencies(stream: CUstream, waits: *mut CUgraphNode, count: usize, flags: c_uint);
    "cuStreamBeginCaptureToGraph" fn stream_begin_capture_to_graph(stream: CUstream, graph: CUgraph, waits: *const CUgraphNode, edges: *const c_void, count: usize, mode: c_int);
    "cuStreamIsCapturing" fn stream_is_capturing(stream: CUstream, status: *mut c_int);
    "cuThreadExchangeStreamCaptureMode" fn thread_exchange_stream_capture_mode(mode: *mut c_int);

    "cuEventCreate" fn event_create(event: *mut CUevent, flags: c_uint);
    "cuEventRecord" fn event_record(event: CUevent, stream: CUstream);
    "cuEventQuery" fn event_query(event: CUevent);
    "cuEventSynchronize" fn event_synchronize(event: CUevent);
    "cuEventElapsedTime" fn event_elapsed_time(milliseconds: *mut f32, start: CUevent, end: CUevent);
    "cuEventDestroy_v2" fn event_destroy(event: CUevent);

    "cuModuleLoadDataEx" fn module_load_data_ex(module: *mut CUmodule, image: *const c_void, n_options: c_uint, options: *mut c_int, values: *mut *mut c_void);
    "cuLinkCreate_v2" fn link_create(n_options: c_uint, options: *mut c_int, values: *mut *mut c_void, state: *mut CUlinkState);
    "cuLinkAddData_v2" fn link_add_data(
        state: CUlinkState,
        kind: c_int,
        data: *mut c_void,
        bytes: usize,
        name: *const c_char,
        n_options: c_uint,
        options: *mut c_int,
        values: *mut *mut c_void,
    );
    "cuLinkComplete" fn link_complete(state: CUlinkState, cubin: *mut *mut c_void, bytes: *mut usize);
    "cuLinkDestroy" fn link_destroy(state: CUlinkState);
    "cuModuleUnload" fn module_unload(module: CUmodule);
    "cuModuleGetFunction" fn module_get_function(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    "cuModuleGetGlobal_v2" fn module_get_global(address: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char);
    "cuFuncGetAttribute" fn func_get_attribute(value: *mut c_int, attribute: c_int, function: CUfunction);
    "cuFuncSetAttribute" fn func_set_attribute(function: CUfunction, attribute: c_int, value: c_int);
    "cuOccupancyMaxActiveBlocksPerMultiprocessor" fn occupancy_max_active_blocks(blocks: *mut c_int, function: CUfunction, block_dim: c_int, shared_bytes: usize);
    "cuLaunchKernel" fn launch_kernel(
        function: CUfunction,
        grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared_bytes: c_uint,
        stream: CUstream,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    );

    "cuGraphInstantiateWithFlags" fn graph_instantiate(exec: *mut CUgraphExec, graph: CUgraph, flags: u64);
    "cuGraphLaunch" fn graph_launch(exec: CUgraphExec, stream: CUstream);
    "cuGraphUpload" fn graph_upload(exec: CUgraphExec, stream: CUstream);
    "cuGraphGetNodes" fn graph_get_nodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize);
    "cuGraphExecDestroy" fn graph_exec_destroy(exec: CUgraphExec);
    "cuGraphAddNode" fn graph_add_node(node: *mut CUgraphNode, graph: CUgraph, waits: *const CUgraphNode, count: usize, params: *mut CUgraphNodeParams);
    "cuGraphConditionalHandleCreate" fn graph_conditional_handle_create(handle: *mut u64, graph: CUgraph, context: CUcontext, value: c_uint, flags: c_uint);
    "cuUserObjectCreate" fn user_object_create(object: *mut CUuserObject, kept: *mut c_void, destroy: unsafe extern "C" fn(*mut c_void), count: c_uint, flags: c_uint);
    "cuUserObjectRelease" fn user_object_release(object: CUuserObject, count: c_uint);
    "cuGraphRetainUserObject" fn graph_retain_user_object(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint);
    "cuGraphDestroy" fn graph_destroy(graph: CUgraph);
    "cuGraphDebugDotPrint" fn graph_debug_dot_print(graph: CUgraph, path: *const c_char, flags: c_uint);
}

impl Driver {
    /// The name and the sentence of a status code.
    fn describe(&self, code: c_int) -> (String, String) {
        let read = |function: unsafe fn(&Driver, c_int, *mut *const c_char) -> Result<(), Failure>| {
            let mut text = ptr::null();
            // SAFETY: `text` is a valid place for the pointer; the driver stores the address of a constant.
            let found = unsafe { function(self, code, &mut text) };
            if found.is_err() || text.is_null() {
                return None;
            }
            // SAFETY: on success the driver gives a NUL-terminated constant of its own.
            Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        let name = read(Driver::get_error_name).unwrap_or_else(|| format!("CUresult {code}"));
        let text = read(Driver::get_error_string).unwrap_or_else(|| "unknown error".into());
        (name, text)
    }
}

/// Finds a driver function by its versioned name; null when there is none.
pub type SymbolLookup = dyn Fn(&'static str) -> *const ();

#[cfg(feature = "cuda")]
static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();

/// Makes `lookup` the source of driver functions, in place of the system's driver, if no CUDA call was made
/// before; says whether it was in time. For tests and for drivers in unusual places.
///
/// # Safety
/// Each non-null address that `lookup` gives for a name is a function with the signature that the CUDA driver
/// API has for that versioned name, and stays valid for the life of the process.
#[cfg(feature = "cuda")]
pub unsafe fn install_driver(lookup: &SymbolLookup) -> bool {
    let mut installed = false;
    DRIVER.get_or_init(|| {
        installed = true;
        Ok(Driver::from_lookup(lookup))
    });
    installed
}

#[cfg(feature = "cuda")]
fn load_system_driver() -> Result<Driver, String> {
    let mut reason = String::new();
    for name in ["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"] {
        // SAFETY: loading the driver runs its initialisers, which are those every CUDA program runs.
        match unsafe { libloading::Library::new(name) } {
            Ok(library) => {
                // The driver cannot be unloaded safely: it has threads of its own.
                let library: &'static libloading::Library = Box::leak(Box::new(library));
                return Ok(Driver::from_lookup(&|symbol| {
                    // SAFETY: the symbol is only taken as an address here; `Driver` declares its type.
                    let found = unsafe { library.get::<*const ()>(symbol) };
                    found.map_or(ptr::null(), |address| *address)
                }));
            }
            Err(error) if reason.is_empty() => reason = error.to_string(),
            Err(_) => {}
        }
    }
    Err(format!("no CUDA driver could be loaded ({reason})"))
}

/// The driver, loaded but perhaps not initialised.
#[cfg(not(feature = "cuda"))]
#[inline]
fn loaded() -> Result<&'static Driver, RuntimeError> {
    Err(RuntimeError::NoCudaDriver { reason: "inkle is built without its feature `cuda`".into() })
}

/// The driver, loaded but perhaps not initialised.
#[cfg(feature = "cuda")]
fn loaded() -> Result<&'static Driver, RuntimeError> {
    match DRIVER.get_or_init(load_system_driver) {
        Ok(driver) => Ok(driver),
        Err(reason) => Err(RuntimeError::NoCudaDriver { reason: reason.clone() }),
    }
}

/// The driver, initialised: there is none.
///
/// # Errors
/// [`RuntimeError::NoCudaDriver`].
#[cfg(not(feature = "cuda"))]
#[inline]
pub(crate) fn driver() -> Result<&'static Driver, RuntimeError> {
    loaded()
}

/// The driver, initialised. The first call loads it; contexts are not made.
///
/// # Errors
/// [`RuntimeError::NoCudaDriver`] when there is none or it finds no device.
#[cfg(feature = "cuda")]
pub(crate) fn driver() -> Result<&'static Driver, RuntimeError> {
    static READY: OnceLock<Result<(), RuntimeError>> = OnceLock::new();
    let driver = loaded()?;
    match READY.get_or_init(|| {
        // SAFETY: initialising takes a zero and may be done at any time, any number of times.
        unsafe { driver.init(0) }.map_err(|failure| match failure.into_cuda_error() {
            Ok(error) if error.code == CUDA_ERROR_NO_DEVICE => {
                RuntimeError::NoCudaDriver { reason: "the driver finds no CUDA device".into() }
            }
            Ok(error) => RuntimeError::NoCudaDriver { reason: error.to_string() },
            Err(error) => error,
        })
    }) {
        Ok(()) => Ok(driver),
        Err(error) => Err(error.clone()),
    }
}
