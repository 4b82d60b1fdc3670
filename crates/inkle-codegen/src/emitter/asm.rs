//! Instructions that LLVM has no name for, as text.

use inkwell::llvm_sys::LLVMInlineAsmDialect;
use inkwell::llvm_sys::core as c;

use super::{Emitter, NO_NAME, V, len};

impl Emitter<'_> {
    /// An instruction that gives nothing and changes memory. `text` has `$0`, `$1` ... for the operands, of which
    /// `constraints` says in which kind of register they come.
    pub fn asm_on_memory(&self, text: &str, constraints: &str, operands: &[V]) {
        let types: Vec<_> = operands.iter().map(|&v| self.type_of(v)).collect();
        let ty = self.function_type(self.void(), &types);
        let constraints = format!("{constraints},~{{memory}}");
        let asm = llvm!(c::LLVMGetInlineAsm(
            ty,
            text.as_ptr().cast(),
            text.len(),
            constraints.as_ptr().cast(),
            constraints.len(),
            1,
            0,
            LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0,
        ));
        let operands_start = operands.as_ptr().cast_mut();
        llvm!(c::LLVMBuildCall2(self.b(), ty, asm, operands_start, len(operands), NO_NAME.as_ptr()));
    }
}
