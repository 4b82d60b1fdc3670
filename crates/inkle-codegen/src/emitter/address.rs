//! What is known of addresses.

use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core as c;

use super::{Emitter, Ty, V};

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
            if self.address_space(v) == 1 {
                return AddressRoot::Global;
            }
            if !llvm!(c::LLVMIsAAllocaInst(v)).is_null() {
                return AddressRoot::Stack;
            }
            let is_cast = !llvm!(c::LLVMIsAAddrSpaceCastInst(v)).is_null();
            if !is_cast && llvm!(c::LLVMIsAGetElementPtrInst(v)).is_null() {
                return AddressRoot::Unknown;
            }
            let source = llvm!(c::LLVMGetOperand(v, 0));
            if self.is_vector(source) {
                return AddressRoot::Unknown;
            }
            v = source;
        }
    }

    /// An array in memory that a GPU's block shares, with undefined contents.
    pub fn shared_array(&self, elem: Ty, count: u64) -> V {
        let ty = self.array(elem, count);
        let module = self.module.as_mut_ptr();
        let array = llvm!(c::LLVMAddGlobalInAddressSpace(module, ty, c"shared".as_ptr(), 3));
        llvm!(c::LLVMSetInitializer(array, self.poison(ty)));
        llvm!(c::LLVMSetLinkage(array, LLVMLinkage::LLVMInternalLinkage));
        llvm!(c::LLVMSetAlignment(array, 8));
        array
    }

    /// The address space of a pointer: 1 is a GPU's global memory, 0 any.
    pub fn address_space(&self, pointer: V) -> u32 {
        llvm!(c::LLVMGetPointerAddressSpace(c::LLVMTypeOf(pointer)))
    }
}
