//! The lanes of a GPU thread: accesses of 16 bytes.
//!
//! A GPU thread with lanes runs consecutive threads of the launch in lockstep, so that what they access together is
//! one wide access. That pays only when every access of the lanes is wide: neighbouring lanes then lie in one
//! hardware thread, and what is not wide becomes an access per lane with gaps between hardware threads. So the
//! lowering notes accesses that are not, and the kernel is lowered again with one lane.

use super::Lower;
use crate::emitter::V;
use crate::plan::GPU_ACCESS;
use inkwell::llvm_sys::LLVMOpcode;

/// How far a value's computation is followed.
const DEPTH: u32 = 8;
/// More than any alignment asked for.
const MOST: u64 = 1 << 32;

/// What the lanes of a GPU thread do.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Accesses {
    /// Wide accesses.
    pub wide: u32,
    /// Something that the lanes would do one by one.
    pub fails: bool,
}

impl Accesses {
    /// Whether the code with lanes is worth having.
    pub fn pay(self) -> bool {
        self.wide > 0 && !self.fails
    }
}

impl Lower<'_, '_> {
    /// Bytes of the accesses that make up `bytes` bytes of all lanes.
    pub fn access_bytes(bytes: u32) -> u32 {
        GPU_ACCESS.min(1 << bytes.trailing_zeros())
    }

    /// Notes a GPU's access of all lanes to `bytes` consecutive bytes, and gives the alignment of its address.
    pub fn note_wide(&mut self, base: V, bytes: u32) -> u32 {
        let wanted = Self::access_bytes(bytes);
        let known = self.multiple(base, DEPTH).min(wanted.into()) as u32;
        self.accesses.wide += 1;
        self.accesses.fails |= known < wanted;
        known
    }

    /// Notes that the lanes of a GPU thread would access memory one by one, or all the same place.
    pub fn note_narrow(&mut self) {
        self.accesses.fails = true;
    }

    /// A power of two that an integer or an address is a multiple of.
    fn multiple(&self, v: V, depth: u32) -> u64 {
        let power = |n: u64| if n == 0 { MOST } else { 1 << n.trailing_zeros().min(32) };
        if let Some(&known) = self.multiples.get(&v) {
            return known;
        }
        if let Some(constant) = self.e.as_const_int(v) {
            return power(constant as u64);
        }
        let Some(opcode) = self.e.opcode(v).filter(|_| depth > 0) else { return 1 };
        let operand = |i| self.multiple(self.e.operand(v, i), depth - 1);
        let known = match opcode {
            LLVMOpcode::LLVMSExt | LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMTrunc => operand(0),
            LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub => operand(0).min(operand(1)),
            LLVMOpcode::LLVMMul => operand(0).saturating_mul(operand(1)),
            LLVMOpcode::LLVMGetElementPtr => match self.e.gep_unit(v) {
                Some(unit) => operand(0).min(operand(1).saturating_mul(power(unit))),
                None => 1,
            },
            _ => 1,
        };
        known.min(MOST)
    }
}
