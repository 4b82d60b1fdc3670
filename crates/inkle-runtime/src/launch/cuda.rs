//! Kernels on a GPU.

use std::ffi::{CString, c_int, c_void};
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use inkle_ir::{CheckRecord, FEW_BLOCKS_ENTRY, LaunchBounds};

use crate::cuda::owned::{OwnedModule, link_ptx};
use crate::cuda::sys::{self, CUfunction};
use crate::device::{Device, InContext};
use crate::error::RuntimeError;
use crate::stream::Stream;

/// Threads that run in step; blocks are made of whole ones.
const WARP_SIZE: u32 = 32;

/// GPU code loaded on one device.
pub struct CudaModule {
    device: Device,
    module: OwnedModule,
}

impl fmt::Debug for CudaModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaModule({})", self.device)
    }
}

impl CudaModule {
    /// Loads PTX text or a cubin on `device`. The driver compiles PTX now, which takes tens of milliseconds.
    /// Like CPU code, GPU code is trusted.
    ///
    /// # Errors
    /// [`RuntimeError::ModuleLoad`] with the driver's log; [`RuntimeError::Unsupported`] for the CPU.
    pub fn load(device: Device, image: &[u8]) -> Result<Arc<CudaModule>, RuntimeError> {
        let context = device.context()?;
        let driver = sys::driver()?;
        let module = OwnedModule::load(driver, context, image)?;
        // Code with checks has the variable. Asking the driver for one that is not there counts as an error with
        // tools that watch it.
        let symbol = CheckRecord::SYMBOL.as_bytes();
        if image.windows(symbol.len()).any(|window| window == symbol) {
            let name = CString::new(symbol).unwrap_or_default();
            module.set_variable(driver, &name, || device.check_record())?;
        }
        Ok(Arc::new(CudaModule { device, module }))
    }

    /// Compiles PTX to a cubin for `device` with the driver's compiler, without loading it: what a cache wants.
    /// `optimization_level` is 0 to 4; `lineinfo` keeps source lines for profilers.
    ///
    /// # Errors
    /// [`RuntimeError::ModuleLoad`] with the compiler's log; [`RuntimeError::Unsupported`] for the CPU.
    pub fn compile(
        device: Device,
        ptx: &[u8],
        optimization_level: u8,
        lineinfo: bool,
    ) -> Result<Vec<u8>, RuntimeError> {
        let context = device.context()?;
        link_ptx(sys::driver()?, context, ptx, optimization_level, lineinfo)
    }

    /// The device it is loaded on.
    pub fn device(&self) -> Device {
        self.device
    }
}

/// A kernel that can be launched on a GPU.
#[derive(Debug)]
pub struct CudaFunction {
    module: Arc<CudaModule>,
    handle: CUfunction,
    params_bytes: usize,
    /// Whether the code expects a grid in three dimensions, which the bounds at the head of the block are, and gets what
    /// follows them.
    takes_grid: bool,
    /// Whether the code gains by few blocks.
    few_blocks: bool,
    /// Of such code the block size of the latest launch and, in the lower half, the most blocks of that size.
    most_blocks: AtomicU64,
    max_block_dim: u32,
    /// The dynamic shared memory that was last allowed, bytes.
    shared_allowed: AtomicU32,
}

// SAFETY: function handles may be used from any thread; the driver locks internally. The module is alive.
unsafe impl Send for CudaFunction {}
// SAFETY: as above.
unsafe impl Sync for CudaFunction {}

/// How a launch is spread over the GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchConfig {
    /// The number of threads the program asks for.
    pub size: u64,
    /// Threads per block.
    pub block_dim: u32,
    /// The most blocks; zero for no limit. A kernel steps over what one grid does not cover.
    pub max_blocks: u32,
    /// Dynamic shared memory per block, bytes.
    pub shared_bytes: u32,
    /// How many of the program's threads one GPU thread does.
    pub threads_per_lane: u32,
}

impl LaunchConfig {
    /// 256 threads per block, no limit on blocks, no shared memory, one thread each.
    pub const fn new(size: u64) -> LaunchConfig {
        LaunchConfig { size, block_dim: 256, max_blocks: 0, shared_bytes: 0, threads_per_lane: 1 }
    }

    /// The number of blocks.
    pub fn grid_dim(&self) -> u32 {
        let per_block = u64::from(self.block_dim.max(1)) * u64::from(self.threads_per_lane.max(1));
        let limit = if self.max_blocks == 0 { i32::MAX as u32 } else { self.max_blocks.min(i32::MAX as u32) };
        self.size.div_ceil(per_block).min(limit.into()) as u32
    }
}

/// Dynamic shared memory that every kernel may have without asking, bytes.
const SHARED_WITHOUT_ASKING: u32 = 48 * 1024;

impl CudaFunction {
    /// The kernel `name` of a module; `params_bytes` is the size of its parameter block
    /// ([`inkle_ir::ParamLayout::size`]).
    ///
    /// # Errors
    /// [`RuntimeError::NoSuchFunction`]; else the driver's.
    pub fn new(
        module: Arc<CudaModule>,
        name: &str,
        params_bytes: usize,
    ) -> Result<CudaFunction, RuntimeError> {
        CudaFunction::of(module, name, params_bytes, false)
    }

    /// A kernel that another compiler made. The bounds at the head of its parameter block are the numbers of blocks of
    /// threads in three dimensions (then one), and their product; the code gets what follows them, which is laid out as
    /// CUDA lays out parameters. `params_bytes` is the size of all.
    ///
    /// # Errors
    /// As [`new`](CudaFunction::new); [`RuntimeError::ParamBytes`] if the bounds do not fit.
    pub fn of_grid(
        module: Arc<CudaModule>,
        name: &str,
        params_bytes: usize,
    ) -> Result<CudaFunction, RuntimeError> {
        if params_bytes < size_of::<LaunchBounds>() {
            return Err(RuntimeError::ParamBytes {
                expected: size_of::<LaunchBounds>(),
                found: params_bytes,
            });
        }
        CudaFunction::of(module, name, params_bytes, true)
    }

    fn of(
        module: Arc<CudaModule>,
        name: &str,
        params_bytes: usize,
        takes_grid: bool,
    ) -> Result<CudaFunction, RuntimeError> {
        let handle = module.module.function(sys::driver()?, name)?;
        let mut function = CudaFunction {
            module,
            handle,
            params_bytes,
            takes_grid,
            few_blocks: !takes_grid && name == FEW_BLOCKS_ENTRY,
            most_blocks: AtomicU64::new(0),
            max_block_dim: 0,
            shared_allowed: AtomicU32::new(SHARED_WITHOUT_ASKING),
        };
        function.max_block_dim = function.attribute(sys::FUNC_MAX_THREADS_PER_BLOCK)?;
        Ok(function)
    }

    /// The device it runs on.
    pub fn device(&self) -> Device {
        self.module.device
    }

    /// The most threads a block of this kernel can have, given the registers it uses.
    pub fn max_block_dim(&self) -> u32 {
        self.max_block_dim
    }

    /// Registers per thread.
    ///
    /// # Errors
    /// The driver's.
    pub fn num_regs(&self) -> Result<u32, RuntimeError> {
        self.attribute(sys::FUNC_NUM_REGS)
    }

    /// Static shared memory per block, bytes.
    ///
    /// # Errors
    /// The driver's.
    pub fn static_shared_bytes(&self) -> Result<u32, RuntimeError> {
        self.attribute(sys::FUNC_SHARED_SIZE_BYTES)
    }

    /// Local memory per thread (spilled registers and arrays), bytes.
    ///
    /// # Errors
    /// The driver's.
    pub fn local_bytes(&self) -> Result<u32, RuntimeError> {
        self.attribute(sys::FUNC_LOCAL_SIZE_BYTES)
    }

    /// How many blocks of `block_dim` threads with `shared_bytes` of dynamic shared memory one
    /// multiprocessor runs at a time.
    ///
    /// # Errors
    /// The driver's.
    pub fn blocks_per_sm(&self, block_dim: u32, shared_bytes: u32) -> Result<u32, RuntimeError> {
        self.resident_blocks(&self.device().enter()?, block_dim, shared_bytes)
    }

    fn resident_blocks(
        &self,
        current: &InContext<'_>,
        block_dim: u32,
        shared_bytes: u32,
    ) -> Result<u32, RuntimeError> {
        let mut blocks = 0;
        // SAFETY: the place is valid, the function's module is loaded and its context current.
        unsafe {
            current.driver.occupancy_max_active_blocks(
                &mut blocks,
                self.handle,
                block_dim as c_int,
                shared_bytes as usize,
            )
        }?;
        Ok(blocks.max(0) as u32)
    }

    /// How many blocks a launch of code that gains by few has at most: what the device runs at a time.
    #[inline]
    fn most_blocks(&self, current: &InContext<'_>, config: &LaunchConfig) -> u32 {
        let known = self.most_blocks.load(Ordering::Relaxed);
        if known >> 32 == config.block_dim.into() {
            return known as u32;
        }
        // A driver that cannot tell gets a grid that covers the launch, which does it too.
        let resident =
            self.resident_blocks(current, config.block_dim, config.shared_bytes).unwrap_or(u32::MAX);
        let most = resident.max(1).saturating_mul(self.device().sm_count());
        self.most_blocks.store(u64::from(config.block_dim) << 32 | u64::from(most), Ordering::Relaxed);
        most
    }

    /// The block size with which most threads of the kernel are resident at once, the largest of several, and the
    /// number of such blocks that fill the device.
    ///
    /// # Errors
    /// The driver's.
    pub fn suggested_block_dim(&self) -> Result<(u32, u32), RuntimeError> {
        let (mut best, mut most, mut blocks) = (0, 0, 0);
        for block_dim in (1..=self.max_block_dim / WARP_SIZE).rev().map(|warps| warps * WARP_SIZE) {
            let resident = self.blocks_per_sm(block_dim, 0)?;
            if resident * block_dim > most {
                (best, most, blocks) = (block_dim, resident * block_dim, resident);
            }
        }
        Ok((best, blocks * self.device().sm_count()))
    }

    fn attribute(&self, attribute: c_int) -> Result<u32, RuntimeError> {
        let current = self.device().enter()?;
        let mut value = 0;
        // SAFETY: the place is valid and the function's module is loaded.
        unsafe { current.driver.func_get_attribute(&mut value, attribute, self.handle) }?;
        Ok(value.max(0) as u32)
    }

    /// Queues the kernel on `stream` and returns; the block of parameters is copied at once. Nothing is
    /// allocated.
    ///
    /// # Errors
    /// [`RuntimeError::ParamBytes`], [`RuntimeError::BlockDim`], [`RuntimeError::WrongDevice`]; else the
    /// driver's. A fault while the kernel runs shows at a later call.
    #[inline]
    pub fn launch(&self, stream: &Stream, params: &[u64], config: &LaunchConfig) -> Result<(), RuntimeError> {
        if params.len() != self.params_bytes.div_ceil(8) {
            return Err(RuntimeError::ParamBytes { expected: self.params_bytes, found: params.len() * 8 });
        }
        if config.block_dim == 0 || config.block_dim > self.max_block_dim {
            return Err(RuntimeError::BlockDim { block_dim: config.block_dim, max: self.max_block_dim });
        }
        if stream.device() != self.device() {
            return Err(RuntimeError::WrongDevice {
                what: "the stream",
                expected: self.device().to_string(),
                found: stream.device().to_string(),
            });
        }
        if config.size == 0 {
            return Ok(());
        }
        let current = self.device().enter()?;
        if config.shared_bytes > self.shared_allowed.load(Ordering::Relaxed) {
            let bytes = config.shared_bytes as c_int;
            // SAFETY: the function's module is loaded.
            unsafe {
                current.driver.func_set_attribute(self.handle, sys::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
            }?;
            self.shared_allowed.fetch_max(config.shared_bytes, Ordering::Relaxed);
        }
        let (grid, skipped) = if self.takes_grid {
            let [x, y, z] = [params[0] as u32, (params[0] >> 32) as u32, params[1] as u32];
            ([x, y, z], size_of::<LaunchBounds>())
        } else {
            let mut blocks = config.grid_dim();
            if self.few_blocks {
                blocks = blocks.min(self.most_blocks(&current, config));
            }
            ([blocks, 1, 1], 0)
        };
        let mut block_bytes = self.params_bytes - skipped;
        let mut extra = [
            sys::LAUNCH_PARAM_BUFFER_POINTER,
            params[skipped / 8..].as_ptr().cast_mut().cast::<c_void>(),
            sys::LAUNCH_PARAM_BUFFER_SIZE,
            ptr::from_mut(&mut block_bytes).cast(),
            sys::LAUNCH_PARAM_END,
        ];
        // SAFETY: function and stream are alive and belong to the current context; `extra` is the
        // driver's list form for one parameter block, whose bytes and size outlive the call. What the kernel
        // does with the block is the trust stated at `CudaModule::load`.
        unsafe {
            current.driver.launch_kernel(
                self.handle,
                grid[0],
                grid[1],
                grid[2],
                config.block_dim,
                1,
                1,
                config.shared_bytes,
                stream.raw(),
                ptr::null_mut(),
                extra.as_mut_ptr(),
            )
        }?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_cover_the_launch_within_their_limits() {
        let config = LaunchConfig::new(1000);
        assert_eq!(config.grid_dim(), 4);
        assert_eq!(LaunchConfig { threads_per_lane: 4, ..config }.grid_dim(), 1);
        assert_eq!(LaunchConfig { max_blocks: 3, ..config }.grid_dim(), 3);
        assert_eq!(LaunchConfig::new(u64::MAX).grid_dim(), i32::MAX as u32);
        assert_eq!(LaunchConfig::new(0).grid_dim(), 0);
    }
}
