//! The ONNX Runtime operator `Replay` of the domain `ai.inkle`, and LEAPP's `WrpRunner` ([`inkle_leapp`]).
//!
//! A library of custom operators: `SessionOptions.register_custom_ops_library` calls [`RegisterCustomOps`]. It links to
//! nothing of ONNX Runtime, which hands over a table of its functions ([`api`]); any version from 1.18 on does.
//!
//! `Replay` has the inputs `bundle`, a constant `uint8` tensor that holds a graph file, and then what the file's graph
//! takes; its outputs are what the graph gives. ONNX Runtime cannot ask an operator for the types of such outputs: the model
//! has them, as `value_info`. The optional attribute `outputs` says what they are, as
//! [`inkle_graph::function::parse_signature`] reads it, and is compared with the file. What the operator computes is in
//! [`inkle_graph::function`].
//!
//! *Invariant:* no panic leaves this library: it becomes a status, like every other failure.

mod api;
mod kernel;
mod operator;

use std::ffi::c_char;
use std::ptr;

use ort_sys::{OrtApiBase, OrtCustomOpDomain, OrtErrorCode, OrtSessionOptions, OrtStatusPtr};

use api::Api;

/// Adds the operators to a session's options.
///
/// # Safety
/// ONNX Runtime calls it, with options that are alive and its own table of functions.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn RegisterCustomOps(
    options: *mut OrtSessionOptions,
    base: *const OrtApiBase,
) -> OrtStatusPtr {
    // SAFETY: the caller's contract.
    let found = unsafe { Api::from_base(base) };
    let api = match found {
        Ok(api) => api,
        Err(status) => return status,
    };
    api.outcome("the library of operators", || {
        for (name, operators) in operator::DOMAINS {
            let mut domain: *mut OrtCustomOpDomain = ptr::null_mut();
            // SAFETY: the domain's name and the operators live as long as the process, the options are the caller's. The
            // session holds the domain from now on.
            unsafe {
                api.check(((*api.table()).CreateCustomOpDomain)(name.as_ptr(), &mut domain))?;
                for operator in operators {
                    api.check(((*api.table()).CustomOpDomain_Add)(domain, operator))?;
                }
                api.check(((*api.table()).AddCustomOpDomain)(options, domain))?;
            }
        }
        Ok(())
    })
}

/// The version of this library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn inkle_onnx_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// The code of failures of the operators.
const FAILED: OrtErrorCode = OrtErrorCode::ORT_FAIL;
