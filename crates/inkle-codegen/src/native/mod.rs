//! Functions written in C++: compiled by the installed clang to bitcode, and linked into the kernel's module.
//!
//! All native functions of a kernel are one translation unit: our header (`header/*.h`), the structs they take, and
//! for each function its text and an entry with C's calling convention, `inkle_native_N` for the module's function N.
//! An entry takes the address of each argument and of the result, laid out as in memory; it is inlined, so nothing of
//! that is left in the code.
//!
//! The text that clang sees follows from the kernel's IR and the header alone, so [`version`] is all that a cache needs
//! to know besides.

mod clang;
mod link;
mod unit;

pub(crate) use link::link;
pub(crate) use unit::entry_name;

use crate::error::CodegenError;
use crate::options::Options;
use crate::target::Target;

/// What identifies the header in cache keys.
pub fn version() -> &'static str {
    static VERSION: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    VERSION.get_or_init(|| {
        // FNV-1a: the header is ours, so nobody looks for collisions.
        let hash = unit::HEADERS
            .iter()
            .flat_map(|(_, text)| text.bytes())
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3u64)
            });
        format!("native {hash:016x}")
    })
}

/// The bitcode of a module's native functions.
fn bitcode(module: &inkle_ir::Module, target: &Target, options: &Options) -> Result<Vec<u8>, CodegenError> {
    clang::compile(&unit::text(module), target, options).map_err(|failure| match failure {
        clang::Failure::Missing(searched) => {
            let span = module.functions.iter().find(|f| f.native().is_some()).map(|f| f.span);
            let (major, ..) = inkwell::support::get_llvm_version();
            CodegenError::MissingClang { span: span.unwrap_or(inkle_diag::Span::NONE), major, searched }
        }
        clang::Failure::Rejected(log) => {
            let (function, log) = unit::blame(module, &log);
            CodegenError::Native { span: function.map_or(inkle_diag::Span::NONE, |f| f.span), log }
        }
        clang::Failure::Run(message) => CodegenError::Broken { stage: "running clang", message },
    })
}
