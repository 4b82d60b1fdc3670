//! What is said of branches.

use inkwell::llvm_sys::core as c;
use inkwell::llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};

use super::{Emitter, V};

impl Emitter<'_> {
    /// Asks for a loop to be unrolled; `branch` is its back edge.
    pub fn set_unroll(&self, branch: V, count: u32) {
        let name = "llvm.loop.unroll.count";
        let mut hint = [
            llvm!(c::LLVMMDStringInContext2(self.cx(), name.as_ptr().cast(), name.len())),
            llvm!(c::LLVMValueAsMetadata(self.i32(count as i32))),
        ];
        let hint = llvm!(c::LLVMMDNodeInContext2(self.cx(), hint.as_mut_ptr(), hint.len()));
        // A loop's node names itself first, which keeps it from being merged with others.
        let own = llvm!(LLVMTemporaryMDNode(self.cx(), std::ptr::null_mut(), 0));
        let mut parts = [own, hint];
        let node = llvm!(c::LLVMMDNodeInContext2(self.cx(), parts.as_mut_ptr(), parts.len()));
        llvm!(LLVMMetadataReplaceAllUsesWith(own, node));
        let name = "llvm.loop";
        let kind = llvm!(c::LLVMGetMDKindIDInContext(self.cx(), name.as_ptr().cast(), name.len() as u32));
        llvm!(c::LLVMSetMetadata(branch, kind, c::LLVMMetadataAsValue(self.cx(), node)));
    }

    /// Gives a branch another condition.
    pub fn set_condition(&self, branch: V, condition: V) {
        llvm!(c::LLVMSetCondition(branch, condition));
    }

    /// Says how often a branch goes to its first target.
    pub fn set_branch_weights(&self, branch: V, taken: u32, not_taken: u32) {
        let name = "prof";
        let kind = llvm!(c::LLVMGetMDKindIDInContext(self.cx(), name.as_ptr().cast(), name.len() as u32));
        let tag = "branch_weights";
        let mut parts = [
            llvm!(c::LLVMMDStringInContext2(self.cx(), tag.as_ptr().cast(), tag.len())),
            llvm!(c::LLVMValueAsMetadata(self.i32(taken as i32))),
            llvm!(c::LLVMValueAsMetadata(self.i32(not_taken as i32))),
        ];
        let node = llvm!(c::LLVMMDNodeInContext2(self.cx(), parts.as_mut_ptr(), parts.len()));
        llvm!(c::LLVMSetMetadata(branch, kind, c::LLVMMetadataAsValue(self.cx(), node)));
    }
}
