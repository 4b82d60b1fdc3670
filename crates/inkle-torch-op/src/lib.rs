//! The PyTorch operator `inkle::replay(Tensor bundle, Tensor[] inputs, str outputs="") -> Tensor[]`, and kernels for LEAPP's
//! `leapp::warp_runner(Tensor[] inputs, str runtime_metadata, Tensor bundle) -> Tensor[]`, which [`inkle_leapp`] computes.
//!
//! A shared library for `torch.ops.load_library`. It links to nothing of PyTorch: what it calls, PyTorch's stable C
//! interface, is looked up in the libraries that the process has loaded ([`sys`]), so one binary serves every PyTorch from
//! 2.10 on. The operator is registered when the library is loaded. What it computes is in [`inkle_graph::function`].
//!
//! PyTorch's interface for kernels has no way to say that one failed but a C++ exception, so that is what is thrown
//! ([`throw`]), when nothing of Rust's is left to clean up.
//!
//! *Invariant:* no panic leaves this library, and no exception passes a frame of it that has something to clean up.

mod functions;
mod kernel;
mod owned;
mod sys;
mod throw;

use std::ffi::{CStr, CString, c_char};
use std::panic::catch_unwind;
use std::sync::OnceLock;

use sys::Torch;

/// What is registered.
const SCHEMA: &CStr = c"replay(Tensor bundle, Tensor[] inputs, str outputs=\"\") -> Tensor[]";
const NAMESPACE: &CStr = c"inkle";
const NAME: &CStr = c"replay";
const FILE: &CStr = c"inkle-torch-op";
/// LEAPP's operator, which LEAPP defines where it is.
const LEAPP_SCHEMA: &CStr = c"warp_runner(Tensor[] inputs, str runtime_metadata, Tensor bundle) -> Tensor[]";
const LEAPP_NAMESPACE: &CStr = c"leapp";
const LEAPP_NAME: &CStr = c"warp_runner";

/// Why the operator was not registered; empty if it was.
static PROBLEM: OnceLock<CString> = OnceLock::new();

/// Why the operator could not be registered when this library was loaded, as a string that lives as long as the process;
/// empty if it was registered.
#[unsafe(no_mangle)]
pub extern "C" fn inkle_torch_load_problem() -> *const c_char {
    PROBLEM.get().map_or(c"".as_ptr(), |problem| problem.as_ptr())
}

/// Defines `leapp::warp_runner`, for programs without LEAPP that run models which LEAPP exported. Why that could not be done,
/// as a string that lives as long as the process; empty if it was, now or by an earlier call. Where LEAPP is, it defines the
/// operator, and this must not be called.
#[unsafe(no_mangle)]
pub extern "C" fn inkle_torch_define_leapp() -> *const c_char {
    static PROBLEM: OnceLock<CString> = OnceLock::new();
    let define = || {
        let done = catch_unwind(|| Torch::find()?.define(LEAPP_NAMESPACE, LEAPP_SCHEMA, FILE));
        throw::c_string(&done.unwrap_or_else(|_| Err(PANIC.into())).err().unwrap_or_default())
    };
    PROBLEM.get_or_init(define).as_ptr()
}

/// The version of this library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn inkle_torch_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

// SAFETY: the section holds addresses of functions without arguments, which the loader calls once; this is one.
#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

const PANIC: &str = "a mistake of this library (panic)";

extern "C" fn on_load() {
    let outcome = catch_unwind(register).unwrap_or_else(|_| Err(PANIC.into()));
    let Err(problem) = outcome else { return };
    let problem = format!("inkle: the PyTorch operator inkle::replay is not available: {problem}");
    // A loader cannot be told. Without the message, only the operator's absence would be seen.
    eprintln!("{problem}");
    let _ = PROBLEM.set(throw::c_string(&problem));
}

/// Registers the operator, and the kernels of LEAPP's, with the PyTorch of this process.
fn register() -> Result<(), String> {
    let torch = Torch::find()?;
    throw::prepare()?;
    torch.define(NAMESPACE, SCHEMA, FILE)?;
    torch.implement(NAMESPACE, c"CPU", NAME, FILE, kernel::replay_on_cpu)?;
    torch.implement(NAMESPACE, c"CUDA", NAME, FILE, kernel::replay_on_cuda)?;
    for key in [c"CPU", c"CUDA"] {
        torch.implement(LEAPP_NAMESPACE, key, LEAPP_NAME, FILE, kernel::warp_runner)?;
    }
    Ok(())
}
