//! What instructions that were emitted do.

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::LLVMTypeKind::LLVMVoidTypeKind;
use inkwell::llvm_sys::core as c;

use super::{Bb, Emitter, V};

impl Emitter<'_> {
    /// The last instruction of a block, if it has one.
    pub fn last_instruction(&self, block: Bb) -> Option<V> {
        let last = llvm!(c::LLVMGetLastInstruction(block));
        (!last.is_null()).then_some(last)
    }

    /// Whether memory may be written by what comes behind an instruction in its block.
    pub fn may_write_after(&self, instruction: V) -> bool {
        let mut at = llvm!(c::LLVMGetNextInstruction(instruction));
        while !at.is_null() {
            let writes = match llvm!(c::LLVMGetInstructionOpcode(at)) {
                LLVMOpcode::LLVMCall => !self.gives_value_of_llvm(at),
                LLVMOpcode::LLVMStore
                | LLVMOpcode::LLVMAtomicRMW
                | LLVMOpcode::LLVMAtomicCmpXchg
                | LLVMOpcode::LLVMFence
                | LLVMOpcode::LLVMInvoke => true,
                _ => false,
            };
            if writes {
                return true;
            }
            at = llvm!(c::LLVMGetNextInstruction(at));
        }
        false
    }

    /// Whether a call is one of LLVM's functions that give something, which on CPUs write nothing.
    fn gives_value_of_llvm(&self, call: V) -> bool {
        let function = llvm!(c::LLVMGetCalledValue(call));
        let is_of_llvm = llvm!(c::LLVMGetIntrinsicID(function)) != 0;
        is_of_llvm && llvm!(c::LLVMGetTypeKind(self.type_of(call))) != LLVMVoidTypeKind
    }
}
