//! C++ exceptions, as PyTorch's own headers throw them from kernels: `std::runtime_error` with a message.
//!
//! A kernel has no other way to say that it failed. The functions are those that a C++ compiler calls for `throw`, which the
//! Itanium C++ ABI defines; they are in the C++ library that PyTorch itself uses.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::transmute;
use std::ptr::NonNull;
use std::sync::OnceLock;

use crate::sys::symbol;

type Destroy = unsafe extern "C" fn(*mut c_void);

struct Cxx {
    allocate: unsafe extern "C" fn(usize) -> *mut c_void,
    construct: unsafe extern "C" fn(*mut c_void, *const c_char),
    destroy: Destroy,
    type_info: *mut c_void,
    throw: unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, Option<Destroy>) -> !,
}

// SAFETY: addresses of functions and of a constant.
unsafe impl Send for Cxx {}
// SAFETY: as above.
unsafe impl Sync for Cxx {}

static CXX: OnceLock<Cxx> = OnceLock::new();

const LIBRARIES: &[&CStr] = &[c"libstdc++.so.6"];
/// What an object of `std::runtime_error` takes at most, bytes: its table of functions and its message.
const OBJECT_BYTES: usize = 32;

/// Looks up what throwing needs.
///
/// # Errors
/// When the process has no C++ library of GCC's.
pub fn prepare() -> Result<(), String> {
    let find = |name: &CStr| {
        let missing = || format!("the process has no C++ library libstdc++.so.6 with {name:?}");
        symbol(LIBRARIES, name).ok_or_else(missing)
    };
    let allocate = find(c"__cxa_allocate_exception")?;
    let construct = find(c"_ZNSt13runtime_errorC1EPKc")?;
    let destroy = find(c"_ZNSt13runtime_errorD1Ev")?;
    let type_info = find(c"_ZTISt13runtime_error")?;
    let throw = find(c"__cxa_throw")?;
    // SAFETY: the ABI declares the functions of these names like the fields.
    let found = unsafe {
        Cxx {
            allocate: transmute::<NonNull<c_void>, unsafe extern "C" fn(usize) -> *mut c_void>(allocate),
            construct: transmute::<NonNull<c_void>, unsafe extern "C" fn(*mut c_void, *const c_char)>(
                construct,
            ),
            destroy: transmute::<NonNull<c_void>, Destroy>(destroy),
            type_info: type_info.as_ptr(),
            throw: transmute::<
                NonNull<c_void>,
                unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, Option<Destroy>) -> !,
            >(throw),
        }
    };
    let _ = CXX.set(found);
    Ok(())
}

/// A string for C; zero bytes inside become spaces.
pub fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Throws `std::runtime_error` with the message.
pub fn throw(message: CString) -> ! {
    // Kernels are registered only after `prepare` has succeeded.
    let Some(cxx) = CXX.get() else { std::process::abort() };
    // SAFETY: the object is constructed, in memory for it, before it is thrown; the message ends with a zero byte and is
    // copied. `__cxa_throw` leaves through this frame, which has nothing left to clean up, and through frames of kernels,
    // which are declared for that.
    unsafe {
        let object = (cxx.allocate)(OBJECT_BYTES);
        (cxx.construct)(object, message.as_ptr());
        drop(message);
        (cxx.throw)(object, cxx.type_info, Some(cxx.destroy))
    }
}
