//! Handles of the driver with one owner each. Any thread may use and drop any of them: the driver's functions
//! are thread-safe, and each call here makes the right context current first.

use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::ptr;

use super::sys::{self, CUcontext, CUdevice, CUevent, CUfunction, CUmodule, CUstream, Driver, Failure};
use crate::error::RuntimeError;

/// A device's primary context, retained for the life of the process.
#[derive(Debug)]
pub(crate) struct Context {
    handle: CUcontext,
    ordinal: c_int,
}

// SAFETY: a context handle may be used from any thread; the driver locks internally.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn retain(driver: &Driver, device: CUdevice, ordinal: c_int) -> Result<Context, RuntimeError> {
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` is a valid place for the result and `device` came from `cuDeviceGet`.
        unsafe { driver.device_primary_ctx_retain(&mut handle, device) }?;
        Ok(Context { handle, ordinal })
    }

    pub(crate) fn handle(&self) -> CUcontext {
        self.handle
    }

    /// Makes the context current on this thread until the guard is dropped.
    ///
    /// The thread's own choice is put back, because other libraries read "the current device" from it. Only a
    /// thread without any context keeps the one of device 0, which is what they would choose themselves; that
    /// saves two calls on every later use.
    #[inline]
    pub(crate) fn enter<'d>(&self, driver: &'d Driver) -> Result<ContextGuard<'d>, Failure> {
        let mut current = ptr::null_mut();
        // SAFETY: `current` is a valid place for the result.
        unsafe { driver.ctx_get_current(&mut current) }?;
        if current == self.handle {
            return Ok(ContextGuard { pop: None });
        }
        if current.is_null() && self.ordinal == 0 {
            // SAFETY: the context is retained and never released.
            unsafe { driver.ctx_set_current(self.handle) }?;
            return Ok(ContextGuard { pop: None });
        }
        // SAFETY: as above; the guard pops it.
        unsafe { driver.ctx_push_current(self.handle) }?;
        Ok(ContextGuard { pop: Some(driver) })
    }
}

/// Shows that a context is current on this thread.
pub(crate) struct ContextGuard<'d> {
    pop: Option<&'d Driver>,
}

impl Drop for ContextGuard<'_> {
    fn drop(&mut self) {
        if let Some(driver) = self.pop {
            let mut popped = ptr::null_mut();
            // SAFETY: `enter` pushed a context on this thread, and guards are dropped in reverse order.
            let _ = unsafe { driver.ctx_pop_current(&mut popped) };
        }
    }
}

/// A stream, created here or adopted from someone else.
#[derive(Debug)]
pub(crate) struct OwnedStream {
    handle: CUstream,
    owned: bool,
    context: &'static Context,
}

// SAFETY: stream handles may be used from any thread; the driver locks internally.
unsafe impl Send for OwnedStream {}
// SAFETY: as above.
unsafe impl Sync for OwnedStream {}

impl OwnedStream {
    pub(crate) fn create(
        driver: &Driver,
        context: &'static Context,
        flags: c_uint,
        priority: c_int,
    ) -> Result<OwnedStream, RuntimeError> {
        let _current = context.enter(driver)?;
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` is a valid place for the result; a context is current.
        unsafe { driver.stream_create_with_priority(&mut handle, flags, priority) }?;
        Ok(OwnedStream { handle, owned: true, context })
    }

    /// A stream that someone else destroys.
    pub(crate) fn adopt(context: &'static Context, handle: CUstream) -> OwnedStream {
        OwnedStream { handle, owned: false, context }
    }

    #[inline]
    pub(crate) fn handle(&self) -> CUstream {
        self.handle
    }
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        if let Ok(driver) = sys::driver()
            && let Ok(_current) = self.context.enter(driver)
        {
            let _relaxed = super::Relaxed::enter(driver);
            // SAFETY: the handle was created by `create` and is destroyed once; pending work still finishes.
            // When the process ends the driver may be gone already, and then there is nothing left to free.
            let _ = unsafe { driver.stream_destroy(self.handle) };
        }
    }
}

/// An event.
#[derive(Debug)]
pub(crate) struct OwnedEvent {
    handle: CUevent,
    context: &'static Context,
}

// SAFETY: event handles may be used from any thread; the driver locks internally.
unsafe impl Send for OwnedEvent {}
// SAFETY: as above.
unsafe impl Sync for OwnedEvent {}

impl OwnedEvent {
    pub(crate) fn create(
        driver: &Driver,
        context: &'static Context,
        flags: c_uint,
    ) -> Result<OwnedEvent, RuntimeError> {
        let _current = context.enter(driver)?;
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` is a valid place for the result; a context is current.
        unsafe { driver.event_create(&mut handle, flags) }?;
        Ok(OwnedEvent { handle, context })
    }

    #[inline]
    pub(crate) fn handle(&self) -> CUevent {
        self.handle
    }
}

impl Drop for OwnedEvent {
    fn drop(&mut self) {
        if let Ok(driver) = sys::driver()
            && let Ok(_current) = self.context.enter(driver)
        {
            let _relaxed = super::Relaxed::enter(driver);
            // SAFETY: the handle was created by `create` and is destroyed once.
            let _ = unsafe { driver.event_destroy(self.handle) };
        }
    }
}

/// A loaded module.
#[derive(Debug)]
pub(crate) struct OwnedModule {
    handle: CUmodule,
    context: &'static Context,
}

// SAFETY: module handles may be used from any thread; the driver locks internally.
unsafe impl Send for OwnedModule {}
// SAFETY: as above.
unsafe impl Sync for OwnedModule {}

/// Room for the driver's explanation of a failed load, bytes.
const LOG_BYTES: usize = 8192;

impl OwnedModule {
    /// Loads PTX text or a cubin.
    pub(crate) fn load(
        driver: &'static Driver,
        context: &'static Context,
        image: &[u8],
    ) -> Result<OwnedModule, RuntimeError> {
        let _current = context.enter(driver)?;
        let _relaxed = super::Relaxed::enter(driver);
        // PTX is text that ends with a NUL; a cubin does not mind one more byte.
        let mut terminated = Vec::with_capacity(image.len() + 1);
        terminated.extend_from_slice(image);
        terminated.push(0);
        let mut log = vec![0u8; LOG_BYTES];
        let mut info = vec![0u8; LOG_BYTES];
        let mut options = [
            sys::JIT_ERROR_LOG_BUFFER,
            sys::JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            sys::JIT_INFO_LOG_BUFFER,
            sys::JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        ];
        let size = ptr::without_provenance_mut::<c_void>(LOG_BYTES);
        let mut values = [log.as_mut_ptr().cast::<c_void>(), size, info.as_mut_ptr().cast(), size];
        let mut handle = ptr::null_mut();
        // SAFETY: the image is NUL-terminated; options and values have four entries each in the pairing the
        // driver documents, and both logs have the size given; everything outlives the call.
        let loaded = unsafe {
            driver.module_load_data_ex(
                &mut handle,
                terminated.as_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match loaded {
            Ok(()) => Ok(OwnedModule { handle, context }),
            Err(failure) => {
                Err(RuntimeError::ModuleLoad { error: failure.into_cuda_error()?, log: log_text(&log) })
            }
        }
    }

    pub(crate) fn function(&self, driver: &Driver, name: &str) -> Result<CUfunction, RuntimeError> {
        let missing = || RuntimeError::NoSuchFunction { name: name.to_owned() };
        let c_name = CString::new(name).map_err(|_| missing())?;
        let _current = self.context.enter(driver)?;
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded while `self` lives; the name is NUL-terminated.
        match unsafe { driver.module_get_function(&mut function, self.handle, c_name.as_ptr()) } {
            Ok(()) => Ok(function),
            Err(failure) if failure.is(sys::CUDA_ERROR_NOT_FOUND) => Err(missing()),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Whether the module has a variable of that name, 8 bytes large; if so, sets it to what `value` gives.
    pub(crate) fn set_variable(
        &self,
        driver: &Driver,
        name: &CStr,
        value: impl FnOnce() -> Result<u64, RuntimeError>,
    ) -> Result<bool, RuntimeError> {
        let current = self.context.enter(driver)?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: both places are valid, the name is NUL-terminated, and the module is loaded while `self` lives.
        match unsafe { driver.module_get_global(&mut address, &mut bytes, self.handle, name.as_ptr()) } {
            Ok(()) if bytes == size_of::<u64>() => {}
            Ok(()) => return Ok(false),
            Err(failure) if failure.is(sys::CUDA_ERROR_NOT_FOUND) => return Ok(false),
            Err(failure) => return Err(failure.into()),
        }
        drop(current);
        let value = value()?;
        // A stream of its own, so that nothing waits for other work and other work may be recorded meanwhile.
        let stream = OwnedStream::create(driver, self.context, sys::STREAM_NON_BLOCKING, 0)?;
        let _current = self.context.enter(driver)?;
        // SAFETY: the variable has the size of the value, which outlives the copy: it is done when the stream is.
        unsafe {
            driver.memcpy_htod_async(
                address,
                ptr::from_ref(&value).cast(),
                size_of::<u64>(),
                stream.handle(),
            )?;
            driver.stream_synchronize(stream.handle())?;
        }
        Ok(true)
    }
}

impl Drop for OwnedModule {
    fn drop(&mut self) {
        if let Ok(driver) = sys::driver()
            && let Ok(_current) = self.context.enter(driver)
        {
            let _relaxed = super::Relaxed::enter(driver);
            // SAFETY: the handle was loaded by `load` and is unloaded once. Functions of the module keep it
            // alive (`CudaFunction` holds its module), so none is used afterwards.
            let _ = unsafe { driver.module_unload(self.handle) };
        }
    }
}

fn log_text(log: &[u8]) -> String {
    let end = log.iter().position(|&b| b == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).trim().to_owned()
}

/// A link in progress; destroyed with everything it made.
struct OwnedLink<'d> {
    driver: &'d Driver,
    state: sys::CUlinkState,
}

impl Drop for OwnedLink<'_> {
    fn drop(&mut self) {
        // A failure would leak the link's memory and nothing else.
        // SAFETY: the state is alive and owned here; nothing the link made is used any more.
        let _ = unsafe { self.driver.link_destroy(self.state) };
    }
}

/// Compiles PTX to a cubin for the context's GPU with the driver's own compiler.
pub(crate) fn link_ptx(
    driver: &Driver,
    context: &'static Context,
    ptx: &[u8],
    optimization_level: u8,
    lineinfo: bool,
) -> Result<Vec<u8>, RuntimeError> {
    let _current = context.enter(driver)?;
    let mut terminated = Vec::with_capacity(ptx.len() + 1);
    terminated.extend_from_slice(ptx);
    terminated.push(0);
    let mut log = vec![0u8; LOG_BYTES];
    let number = |n: usize| ptr::without_provenance_mut::<c_void>(n);
    let mut options = [
        sys::JIT_ERROR_LOG_BUFFER,
        sys::JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        sys::JIT_OPTIMIZATION_LEVEL,
        sys::JIT_GENERATE_LINE_INFO,
    ];
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        number(LOG_BYTES),
        number(optimization_level.into()),
        number(lineinfo.into()),
    ];
    let mut state = ptr::null_mut();
    // SAFETY: options and values have four entries each in the pairing the driver documents; the log has the size
    // given. All of them outlive the link, which is destroyed before this function returns.
    unsafe {
        driver.link_create(options.len() as c_uint, options.as_mut_ptr(), values.as_mut_ptr(), &mut state)
    }?;
    let link = OwnedLink { driver, state };
    let mut cubin = ptr::null_mut::<c_void>();
    let mut bytes = 0;
    // SAFETY: the text is NUL-terminated and its length counts the NUL; name and option lists may be empty. The
    // places for address and size are valid.
    let linked = unsafe {
        driver
            .link_add_data(
                link.state,
                sys::JIT_INPUT_PTX,
                terminated.as_mut_ptr().cast(),
                terminated.len(),
                c"kernel.ptx".as_ptr(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
            .and_then(|()| driver.link_complete(link.state, &mut cubin, &mut bytes))
    };
    match linked {
        // SAFETY: on success the driver gives the address and size of memory that lives as long as the link.
        Ok(()) => Ok(unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), bytes) }.to_vec()),
        Err(failure) => {
            Err(RuntimeError::ModuleLoad { error: failure.into_cuda_error()?, log: log_text(&log) })
        }
    }
}
