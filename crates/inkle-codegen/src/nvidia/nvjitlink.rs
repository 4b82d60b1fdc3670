//! PTX to machine code in the process, by NVIDIA's nvJitLink, without a GPU or a driver.

use std::ffi::{CString, c_char, c_void};
use std::path::PathBuf;
use std::sync::Mutex;

use libloading::Library;

use super::{first_file, package_roots, toolkits};
use crate::error::CodegenError;
use crate::options::Options;

const NAME: &str = "nvJitLink";

/// `NVJITLINK_INPUT_PTX`.
const INPUT_PTX: u32 = 2;

type Handle = *mut c_void;
type Status = u32;

/// The functions that are used, by their unversioned names, which every major version has.
struct Api {
    create: unsafe extern "C" fn(*mut Handle, u32, *const *const c_char) -> Status,
    destroy: unsafe extern "C" fn(*mut Handle) -> Status,
    add_data: unsafe extern "C" fn(Handle, u32, *const c_void, usize, *const c_char) -> Status,
    complete: unsafe extern "C" fn(Handle) -> Status,
    cubin_size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
    cubin: unsafe extern "C" fn(Handle, *mut c_void) -> Status,
    log_size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
    log: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
}

/// A linker handle, destroyed when dropped.
struct Link {
    api: &'static Api,
    handle: Handle,
}

impl Drop for Link {
    fn drop(&mut self) {
        // SAFETY: the handle came from `create` and is destroyed once.
        unsafe { (self.api.destroy)(&mut self.handle) };
    }
}

impl Link {
    fn failure(&self, call: &str) -> CodegenError {
        let mut size = 0;
        let mut log = Vec::new();
        // SAFETY: the handle is alive, and the buffer has the size that the library asks for.
        unsafe {
            if (self.api.log_size)(self.handle, &mut size) == 0 && size > 1 {
                log.resize(size, 0u8);
                (self.api.log)(self.handle, log.as_mut_ptr().cast());
            }
        }
        let text = String::from_utf8_lossy(&log);
        let text = text.trim_end_matches('\0').trim();
        let log = if text.is_empty() { format!("{call} gave no reason") } else { text.to_owned() };
        CodegenError::Library { library: NAME, log }
    }
}

/// Compiles PTX for an architecture.
pub(crate) fn link(ptx: &[u8], arch: u32, options: &Options) -> Result<Vec<u8>, CodegenError> {
    let api = api()?;
    let mut flags = vec![format!("-arch=sm_{arch}")];
    // It knows no levels between.
    flags.push(if options.optimization_level == 0 { "-O0" } else { "-O3" }.to_owned());
    if options.lineinfo {
        flags.push("-lineinfo".to_owned());
    }
    if let Some(registers) = options.max_registers {
        flags.push(format!("-maxrregcount={registers}"));
    }
    let flags: Vec<CString> = flags.into_iter().filter_map(|f| CString::new(f).ok()).collect();
    let pointers: Vec<*const c_char> = flags.iter().map(|f| f.as_ptr()).collect();
    let mut handle: Handle = std::ptr::null_mut();
    // SAFETY: the flags are C strings that outlive the call.
    let status = unsafe { (api.create)(&mut handle, pointers.len() as u32, pointers.as_ptr()) };
    if status != 0 || handle.is_null() {
        return Err(CodegenError::Library {
            library: NAME,
            log: format!(
                "it does not accept {}",
                flags.iter().map(|f| f.to_string_lossy()).collect::<Vec<_>>().join(" ")
            ),
        });
    }
    let link = Link { api, handle };
    // The library takes text for PTX only when it ends in NUL and the size counts it.
    let mut text = ptx.to_vec();
    text.push(0);
    // SAFETY: the handle is alive and the text outlives the call.
    let status = unsafe {
        (api.add_data)(link.handle, INPUT_PTX, text.as_ptr().cast(), text.len(), c"kernel".as_ptr())
    };
    if status != 0 {
        return Err(link.failure("nvJitLinkAddData"));
    }
    // SAFETY: the handle is alive.
    if unsafe { (api.complete)(link.handle) } != 0 {
        return Err(link.failure("nvJitLinkComplete"));
    }
    let mut size = 0;
    // SAFETY: the handle is alive and linking is complete.
    if unsafe { (api.cubin_size)(link.handle, &mut size) } != 0 {
        return Err(link.failure("nvJitLinkGetLinkedCubinSize"));
    }
    let mut cubin = vec![0u8; size];
    // SAFETY: the buffer has the size that the library asked for.
    if unsafe { (api.cubin)(link.handle, cubin.as_mut_ptr().cast()) } != 0 {
        return Err(link.failure("nvJitLinkGetLinkedCubin"));
    }
    Ok(cubin)
}

/// The library, loaded once and kept.
fn api() -> Result<&'static Api, CodegenError> {
    static LOADED: Mutex<Option<&'static Api>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(api) = *loaded {
        return Ok(api);
    }
    let failed = |log: String| CodegenError::Library { library: NAME, log };
    let library = open()?;
    // The library stays loaded for good: unloading CUDA libraries at exit is not safe.
    let library: &'static Library = Box::leak(Box::new(library));
    macro_rules! symbol {
        ($name:literal) => {{
            // SAFETY: the field's type is the function's, by NVIDIA's header.
            let symbol = unsafe { library.get($name.as_bytes()) };
            *symbol.map_err(|e| failed(e.to_string()))?
        }};
    }
    let api = Api {
        create: symbol!("nvJitLinkCreate"),
        destroy: symbol!("nvJitLinkDestroy"),
        add_data: symbol!("nvJitLinkAddData"),
        complete: symbol!("nvJitLinkComplete"),
        cubin_size: symbol!("nvJitLinkGetLinkedCubinSize"),
        cubin: symbol!("nvJitLinkGetLinkedCubin"),
        log_size: symbol!("nvJitLinkGetErrorLogSize"),
        log: symbol!("nvJitLinkGetErrorLog"),
    };
    Ok(*loaded.insert(Box::leak(Box::new(api))))
}

const FILES: [&str; 3] = ["libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"];

fn open() -> Result<Library, CodegenError> {
    let mut candidates = Vec::new();
    if let Some(named) = std::env::var_os("INKLE_NVJITLINK") {
        candidates.push(PathBuf::from(named));
    } else {
        for root in package_roots() {
            candidates.extend(FILES.map(|f| root.join("lib").join(f)));
        }
        for root in toolkits() {
            let places = ["lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];
            candidates.extend(places.iter().flat_map(|p| FILES.map(|f| root.join(p).join(f))));
        }
    }
    match first_file(candidates) {
        // SAFETY: loading runs the library's initialisers; it is NVIDIA's.
        Ok(path) => unsafe { Library::new(&path) }
            .map_err(|e| CodegenError::Library { library: NAME, log: format!("{}: {e}", path.display()) }),
        Err(searched) => {
            // SAFETY: as above; the loader finds what the system offers, or what is loaded already.
            let found = FILES.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
            found.ok_or(CodegenError::MissingLibrary { library: NAME, searched })
        }
    }
}
