//! Links the libdevice functions that a GPU module calls.
//!
//! The library's bitcode is read lazily: with every definition made `linkonce_odr`, the linker takes, and LLVM
//! parses, only what is called. A module that calls nothing of it does not need the file.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use inkwell::llvm_sys::core as c;
use inkwell::llvm_sys::linker::LLVMLinkModules2;
use inkwell::llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage};
use inkwell::module::{FlagBehavior, Module};

use super::{first_file, package_roots, toolkits};
use crate::error::CodegenError;
use crate::options::Options;

const NAME: &str = "libdevice";

/// A function of the library with more blocks than this has a slow path, such as the reduction of large angles. The count
/// is that of unoptimised code, where every choice of rounding is still a branch.
const SMALL_BLOCKS: u32 = 50;

/// Links what `module` calls. `outline` keeps large functions as functions: code that calls them once per lane would
/// hold, and the driver would compile, as many copies.
pub(crate) fn link<'c>(
    context: &'c Context,
    module: &Module<'c>,
    options: &Options,
    outline: bool,
) -> Result<(), CodegenError> {
    if !functions(module.as_mut_ptr()).any(|f| is_declaration(f) && is_library_name(f)) {
        return Ok(());
    }
    let bytes = bitcode()?;
    // Read by LLVM's NVVMReflect pass: whether denormal results become zero.
    let flush = context.i32_type().const_int(options.fast_math.into(), false);
    if module.get_flag("nvvm-reflect-ftz").is_none() {
        module.add_basic_value_flag("nvvm-reflect-ftz", FlagBehavior::Override, flush);
    }

    let failed = |log: &str| CodegenError::Library { library: NAME, log: log.to_owned() };
    let mut library: LLVMModuleRef = std::ptr::null_mut();
    // SAFETY: the bytes live as long as the process, so the buffer, which does not own them, may outlive anything.
    let buffer = unsafe {
        c::LLVMCreateMemoryBufferWithMemoryRange(bytes.as_ptr().cast(), bytes.len(), c"libdevice".as_ptr(), 0)
    };
    // SAFETY: the context outlives the module, which takes the buffer over when the call succeeds.
    let bad = unsafe { LLVMGetBitcodeModuleInContext2(context.as_ctx_ref(), buffer, &mut library) } != 0;
    if bad || library.is_null() {
        return Err(failed("the file is not LLVM bitcode"));
    }
    for f in functions(library) {
        if !is_declaration(f) {
            // SAFETY: `f` is a function of the module that was just read.
            unsafe { c::LLVMSetLinkage(f, LLVMLinkage::LLVMLinkOnceODRLinkage) };
        }
    }
    // SAFETY: both modules belong to one context; linking consumes the library. Taking triple and layout from the
    // destination keeps LLVM from warning that they differ.
    let bad = unsafe {
        c::LLVMSetTarget(library, c::LLVMGetTarget(module.as_mut_ptr()));
        c::LLVMSetDataLayout(library, c::LLVMGetDataLayoutStr(module.as_mut_ptr()));
        LLVMLinkModules2(module.as_mut_ptr(), library)
    } != 0;
    if bad {
        return Err(failed("LLVM cannot link it"));
    }
    for f in functions(module.as_mut_ptr()) {
        if is_library_name(f) {
            if is_declaration(f) {
                let name = name_of(f);
                return Err(failed(&format!("it has no function {}", String::from_utf8_lossy(name))));
            }
            // SAFETY: `f` is a definition in our module.
            unsafe { c::LLVMSetLinkage(f, LLVMLinkage::LLVMInternalLinkage) };
            if outline && name_of(f).starts_with(b"__nv_") {
                keep_out_of_line(context, f);
            }
        }
    }
    Ok(())
}

/// Keeps a function from being inlined, unless it is small.
fn keep_out_of_line(context: &Context, f: LLVMValueRef) {
    // SAFETY: `f` is a definition of a live module of the context; the attribute kinds are looked up by name.
    unsafe {
        if c::LLVMCountBasicBlocks(f) <= SMALL_BLOCKS {
            return;
        }
        let kind = |name: &str| c::LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        c::LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind("alwaysinline"));
        let attribute = c::LLVMCreateEnumAttribute(context.as_ctx_ref(), kind("noinline"), 0);
        c::LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, attribute);
    }
}

fn functions(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    let some = |f: LLVMValueRef| (!f.is_null()).then_some(f);
    // SAFETY: `module` is alive while its functions are walked, by the callers above.
    let first = unsafe { c::LLVMGetFirstFunction(module) };
    // SAFETY: as above.
    std::iter::successors(some(first), move |&f| some(unsafe { c::LLVMGetNextFunction(f) }))
}

fn is_declaration(f: LLVMValueRef) -> bool {
    // SAFETY: `f` is a function of a live module.
    unsafe { c::LLVMIsDeclaration(f) != 0 }
}

fn name_of<'a>(f: LLVMValueRef) -> &'a [u8] {
    let mut len = 0;
    // SAFETY: `f` is a function of a live module; LLVM gives its name's bytes, which live as long as the function.
    unsafe {
        let name = c::LLVMGetValueName2(f, &mut len);
        std::slice::from_raw_parts(name.cast(), len)
    }
}

fn is_library_name(f: LLVMValueRef) -> bool {
    let name = name_of(f);
    name.starts_with(b"__nv_") || name.starts_with(b"__internal_")
}

/// The library's bytes, read once.
fn bitcode() -> Result<&'static [u8], CodegenError> {
    static LOADED: Mutex<Option<&'static [u8]>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(bytes) = *loaded {
        return Ok(bytes);
    }
    let path = find()?;
    let bytes = std::fs::read(&path)
        .map_err(|e| CodegenError::Library { library: NAME, log: format!("{}: {e}", path.display()) })?;
    Ok(*loaded.insert(Box::leak(bytes.into_boxed_slice())))
}

fn find() -> Result<PathBuf, CodegenError> {
    let file = "libdevice.10.bc";
    if let Some(named) = std::env::var_os("INKLE_LIBDEVICE") {
        let named = PathBuf::from(named);
        let path = if named.is_dir() { named.join(file) } else { named };
        return if path.is_file() { Ok(path) } else { Err(missing(vec![path])) };
    }
    let place = Path::new("nvvm/libdevice").join(file);
    let mut candidates: Vec<PathBuf> = package_roots().iter().map(|root| root.join(&place)).collect();
    candidates.extend(toolkits().iter().map(|root| root.join(&place)));
    candidates.push(Path::new("/usr/lib/nvidia-cuda-toolkit/libdevice").join(file));
    first_file(candidates).map_err(missing)
}

fn missing(searched: Vec<PathBuf>) -> CodegenError {
    CodegenError::MissingLibrary { library: NAME, searched }
}
