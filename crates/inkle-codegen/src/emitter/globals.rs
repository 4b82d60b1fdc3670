//! Constants in memory.

use inkwell::llvm_sys::core as c;
use inkwell::llvm_sys::{LLVMLinkage, LLVMUnnamedAddr};

use super::{Emitter, Ty, V, c_string};

impl Emitter<'_> {
    /// A private constant C string.
    pub fn c_string(&self, text: &str) -> V {
        let text = c_string(text);
        let bytes = text.as_bytes_with_nul();
        let init = llvm!(c::LLVMConstStringInContext2(self.cx(), bytes.as_ptr().cast(), bytes.len(), 1));
        self.constant_global(init, 1)
    }

    /// A private constant.
    pub fn constant_global(&self, init: V, align: u32) -> V {
        let global = llvm!(c::LLVMAddGlobal(self.module.as_mut_ptr(), self.type_of(init), c"const".as_ptr()));
        llvm!(c::LLVMSetInitializer(global, init));
        llvm!(c::LLVMSetGlobalConstant(global, 1));
        llvm!(c::LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage));
        llvm!(c::LLVMSetUnnamedAddress(global, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr));
        llvm!(c::LLVMSetAlignment(global, align));
        global
    }

    /// A constant of 32-bit words that whoever loads the code finds by its name.
    pub fn constant_words(&self, name: &str, words: &[u32]) {
        let name = c_string(name);
        let words: Vec<V> = words.iter().map(|&w| self.const_int(self.int(32), w.into())).collect();
        let init = self.const_array(self.int(32), &words);
        let global = llvm!(c::LLVMAddGlobal(self.module.as_mut_ptr(), self.type_of(init), name.as_ptr()));
        llvm!(c::LLVMSetInitializer(global, init));
        llvm!(c::LLVMSetGlobalConstant(global, 1));
        llvm!(c::LLVMSetAlignment(global, 4));
    }

    pub fn const_array(&self, elem: Ty, elems: &[V]) -> V {
        llvm!(c::LLVMConstArray2(elem, elems.as_ptr().cast_mut(), elems.len() as u64))
    }
}
