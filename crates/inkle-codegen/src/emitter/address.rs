//! What is known of addresses.

use inkwell::llvm_sys::core as c;

use super::{Emitter, V};

/// What is known of the memory at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AddressRoot {
    /// A stack slot.
    Stack,
    /// A GPU's global memory.
    Global,
    Unknown,
}

impl Emitter<'_> {
    /// What an address is made from by adding offsets and changing address spaces.
    pub fn address_root(&self, address: V) -> AddressRoot {
        let mut v = address;
        loop {
            if !llvm!(c::LLVMIsAAllocaInst(v)).is_null() {
                return AddressRoot::Stack;
            }
            let source = if !llvm!(c::LLVMIsAAddrSpaceCastInst(v)).is_null() {
                let source = llvm!(c::LLVMGetOperand(v, 0));
                if self.address_space(source) == 1 {
                    return AddressRoot::Global;
                }
                source
            } else if !llvm!(c::LLVMIsAGetElementPtrInst(v)).is_null() {
                llvm!(c::LLVMGetOperand(v, 0))
            } else {
                return AddressRoot::Unknown;
            };
            if self.is_vector(source) {
                return AddressRoot::Unknown;
            }
            v = source;
        }
    }

    /// The address space of a pointer: 1 is a GPU's global memory, 0 any.
    pub fn address_space(&self, pointer: V) -> u32 {
        llvm!(c::LLVMGetPointerAddressSpace(c::LLVMTypeOf(pointer)))
    }
}
