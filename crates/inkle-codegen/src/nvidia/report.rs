//! The functions by which GPU code with checks reports: into the device's [`CheckRecord`].

use std::mem::offset_of;

use inkle_ir::CheckRecord;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};

use crate::error::CodegenError;

/// Links the reporting functions into a module that calls them.
pub(crate) fn link<'c>(context: &'c Context, module: &Module<'c>) -> Result<(), CodegenError> {
    let names = ["inkle_fail", "inkle_warn"];
    if names.iter().all(|name| module.get_function(name).is_none()) {
        return Ok(());
    }
    let failed = |e: String| CodegenError::Broken { stage: "adding the functions that report", message: e };
    let mut text = include_str!("report.ll").replace("{SYMBOL}", CheckRecord::SYMBOL);
    for (name, value) in [
        ("{WARNINGS}", offset_of!(CheckRecord, warnings)),
        ("{COUNT}", offset_of!(CheckRecord, count)),
        ("{ARGS}", offset_of!(CheckRecord, args)),
        ("{KINDS}", offset_of!(CheckRecord, kinds)),
        ("{FORMAT}", offset_of!(CheckRecord, format)),
        ("{MAX_WARNINGS}", CheckRecord::MAX_WARNINGS as usize),
    ] {
        text = text.replace(name, &value.to_string());
    }
    text.push('\0');
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "report");
    let functions = context.create_module_from_ir(buffer).map_err(|e| failed(e.to_string()))?;
    functions.set_triple(&module.get_triple());
    functions.set_data_layout(&module.get_data_layout());
    module.link_in_module(functions).map_err(|e| failed(e.to_string()))?;
    for name in names {
        if let Some(function) = module.get_function(name) {
            function.set_linkage(Linkage::Internal);
        }
    }
    Ok(())
}
