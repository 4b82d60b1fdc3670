//! How a value of GPU code differs between the threads of a launch.
//!
//! It is read off the instructions that make the value. Memory that the kernel may write, what loops carry and what
//! branches choose count as anything: threads of one warp need not be at the same place at the same time.

use inkwell::llvm_sys::LLVMOpcode;

use super::Lower;
use crate::emitter::V;

/// How a value differs between threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Spread {
    /// It is the same in the whole launch.
    Same,
    /// It follows indices of the launch other than the one that runs along a warp.
    Rows,
    /// It follows the index that runs along a warp, so that neighbours hardly ever agree.
    Apart,
    /// Nothing is known.
    Unknown,
}

impl Lower<'_, '_> {
    /// How `v` differs between threads. Only [`Spread::Same`] is a promise.
    pub fn spread(&mut self, v: V) -> Spread {
        if let Some(&known) = self.spreads.get(&v) {
            return known;
        }
        let found = self.find_spread(v);
        self.spreads.insert(v, found);
        found
    }

    fn find_spread(&mut self, v: V) -> Spread {
        use LLVMOpcode as Op;
        let is = |tid: &crate::value::Val| matches!(*tid, crate::value::Val::Uniform(t) if t == v);
        if let Some(dim) = self.thread.tid.iter().position(is) {
            return if dim + 1 == self.thread.tid.len() { Spread::Apart } else { Spread::Rows };
        }
        if self.e.is_constant(v) || self.param_block == Some(v) {
            return Spread::Same;
        }
        let Some(opcode) = self.e.opcode(v) else { return Spread::Unknown };
        let keeps_distance = match opcode {
            Op::LLVMLoad if !self.e.is_invariant(v) => return Spread::Unknown,
            Op::LLVMAdd
            | Op::LLVMSub
            | Op::LLVMMul
            | Op::LLVMShl
            | Op::LLVMSExt
            | Op::LLVMZExt
            | Op::LLVMTrunc
            | Op::LLVMGetElementPtr
            | Op::LLVMAddrSpaceCast
            | Op::LLVMBitCast
            | Op::LLVMPtrToInt
            | Op::LLVMIntToPtr => true,
            Op::LLVMLoad
            | Op::LLVMUDiv
            | Op::LLVMSDiv
            | Op::LLVMURem
            | Op::LLVMSRem
            | Op::LLVMLShr
            | Op::LLVMAShr
            | Op::LLVMAnd
            | Op::LLVMOr
            | Op::LLVMXor
            | Op::LLVMICmp
            | Op::LLVMSelect => false,
            _ => return Spread::Unknown,
        };
        let widest = (0..self.e.operand_count(v)).fold(Spread::Same, |widest, i| {
            let operand = self.e.operand(v, i);
            widest.max(self.spread(operand))
        });
        if keeps_distance || widest == Spread::Same { widest } else { Spread::Unknown }
    }
}
