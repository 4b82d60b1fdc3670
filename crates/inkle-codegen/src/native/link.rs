//! Takes the native functions' bitcode into the kernel's module.

use inkle_diag::Span;
use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module as LlvmModule};
use inkwell::values::FunctionValue;

use crate::error::CodegenError;
use crate::math::runtime_symbols;
use crate::options::Options;
use crate::target::Target;

/// What clang says of its functions' machine; the kernel's own counts. LLVM inlines only what fits together.
const MACHINE: &[&str] = &["target-cpu", "target-features", "tune-cpu", "frame-pointer", "no-builtins"];

/// Compiles the native functions of `ir` and links them into `module`, which calls their entries.
pub(crate) fn link<'c>(
    context: &'c Context,
    module: &LlvmModule<'c>,
    ir: &inkle_ir::Module,
    target: &Target,
    options: &Options,
) -> Result<(), CodegenError> {
    let failed = |message: String| CodegenError::Broken { stage: "linking native functions", message };
    let bitcode = super::bitcode(ir, target, options)?;
    let buffer = MemoryBuffer::create_from_memory_range_copy(&bitcode, "native");
    let native =
        LlvmModule::parse_bitcode_from_buffer(&buffer, context).map_err(|e| failed(e.to_string()))?;
    native.set_triple(&module.get_triple());
    native.set_data_layout(&module.get_data_layout());
    for function in native.get_functions() {
        for key in MACHINE {
            function.remove_string_attribute(AttributeLoc::Function, key);
        }
    }
    let defined: Vec<String> =
        native.get_functions().filter(|f| f.count_basic_blocks() > 0).map(name_of).collect();
    module.link_in_module(native).map_err(|e| failed(e.to_string()))?;
    for name in &defined {
        if let Some(function) = module.get_function(name) {
            function.set_linkage(Linkage::Internal);
        }
    }
    match module.get_functions().find(|f| f.count_basic_blocks() == 0 && !is_known(&name_of(*f), target)) {
        None => Ok(()),
        Some(unknown) => {
            let span = ir.functions.iter().find(|f| f.native().is_some()).map_or(Span::NONE, |f| f.span);
            let log = format!("`{}` is called, which kernels do not have", name_of(unknown));
            Err(CodegenError::Native { span, log })
        }
    }
}

fn name_of(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}

/// Whether code may call a function that it does not define.
fn is_known(name: &str, target: &Target) -> bool {
    if name.starts_with("llvm.") {
        return true;
    }
    match target {
        Target::Cpu(_) => runtime_symbols().iter().any(|s| s.name == name),
        Target::Cuda(_) => name == "vprintf" || name.starts_with("__nv_"),
    }
}
