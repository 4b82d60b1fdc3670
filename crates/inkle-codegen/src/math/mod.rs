//! Functions of the math library, each target its own way.
//!
//! - GPU: libdevice, linked in by the compilation's last step; sines and cosines of f32 are inline where the angle allows ([`gpu`]).
//! - CPU, f32, with `precise_math`: the functions of f64, rounded.
//! - CPU, f32: where there is one, code of ours, inlined, that gives the same bits at every lane width ([`f32`],
//!   [`f32_more`]).
//! - CPU, all others: functions of the runtime ([`runtime_symbols`]), for one number or for the lanes of a vector in
//!   memory. Their names are unknown to LLVM on purpose: it would widen a kernel around functions that it knows and then call them lane
//!   by lane anyway.

mod avx512;
mod f32;
mod f32_more;
mod gpu;
mod symbols;

use inkle_ir::{BinaryOp, Scalar, UnaryOp};
use smallvec::SmallVec;

pub use symbols::{RuntimeSymbol, Signature, runtime_symbols};

use crate::emitter::{Ty, V};
use crate::error::CodegenError;
use crate::lower::Lower;
use crate::value::Val;

/// The alignment of vectors in memory that functions of the runtime take: the stack's own, so that it need not be aligned.
const SLOT_ALIGN: u32 = 16;
/// LLVM's `memory(argmem: readwrite)`.
const ARGUMENTS_ONLY: u64 = 3;

type Result<T> = std::result::Result<T, CodegenError>;

impl<'m> Lower<'_, 'm> {
    /// A math function of one argument.
    pub(crate) fn math_unary(&mut self, op: UnaryOp, scalar: Scalar, x: Val) -> Result<Val> {
        self.math(op.keyword(), scalar, [x])
    }

    /// `pow`, `atan2` or the float remainder.
    pub(crate) fn math_binary(&mut self, op: BinaryOp, scalar: Scalar, x: Val, y: Val) -> Result<Val> {
        let name = if op == BinaryOp::Rem { "fmod" } else { op.keyword() };
        self.math(name, scalar, [x, y])
    }

    fn math<const N: usize>(&mut self, name: &'static str, scalar: Scalar, args: [Val; N]) -> Result<Val> {
        if !scalar.is_float() {
            return Err(CodegenError::broken(format!("{name} on {scalar}")));
        }
        Ok(self.map(args, |l, args| {
            let wide = args.map(|a| l.half_to_f32(a, scalar));
            let double = scalar == Scalar::F64;
            let result = l.math_value(name, double, &wide);
            l.f32_to_half(result, scalar)
        }))
    }

    fn math_value(&mut self, name: &'static str, double: bool, args: &[V]) -> V {
        if self.machine.gpu {
            let fast = self.options.fast_math
                && !double
                && matches!(name, "sin" | "cos" | "tan" | "exp" | "log" | "log2" | "log10" | "pow");
            if !fast && !double && matches!(name, "sin" | "cos") {
                return self.gpu_angle(name, args[0]);
            }
            let suffix = if double { "" } else { "f" };
            let symbol = format!("__nv_{}{name}{suffix}", if fast { "fast_" } else { "" });
            return self.each_lane(args, |l, args| l.scalar_call(&symbol, args));
        }
        if !double && self.options.precise_math {
            return self.strict(|l| l.rounded_from_f64(name, args));
        }
        if !double && let Some(v) = self.f32_inline(name, args) {
            return v;
        }
        let symbol = format!("inkle_{name}{}", if double { "" } else { "f" });
        self.lanes_call(&symbol, args)
    }

    /// A function of f32 by way of f64, of which the last bits are right: the rounding is the only error that shows, but for
    /// arguments whose results lie within a few 2^-53 of the middle between two f32.
    fn rounded_from_f64(&mut self, name: &str, args: &[V]) -> V {
        let ty = self.e.type_of(args[0]);
        let double = self.e.type_like(self.e.double(), args[0]);
        let wide: SmallVec<[V; 2]> = args.iter().map(|&a| self.e.fp_ext(a, double)).collect();
        let result = self.lanes_call(&format!("inkle_{name}"), &wide);
        self.e.fp_trunc(result, ty)
    }

    /// A call of a pure scalar function outside the module.
    fn scalar_call(&mut self, symbol: &str, args: &[V]) -> V {
        let ty = self.e.type_of(args[0]);
        let function = match self.e.find_function(symbol) {
            Some(f) => f,
            None => {
                let params: Vec<Ty> = args.iter().map(|&a| self.e.type_of(a)).collect();
                let f = self.e.declare(symbol, self.e.function_type(ty, &params));
                for name in ["nounwind", "willreturn", "nofree", "nosync"] {
                    self.e.attribute(f, u32::MAX, name, 0);
                }
                // memory(none): equal calls may be merged and unused ones dropped.
                self.e.attribute(f, u32::MAX, "memory", 0);
                f
            }
        };
        self.e.call(function, args)
    }

    /// A function of the runtime: the scalar one, or for vectors the one that takes them in memory.
    pub(crate) fn lanes_call(&mut self, symbol: &str, args: &[V]) -> V {
        match self.e.lanes(args[0]) {
            None => self.scalar_call(symbol, args),
            Some(lanes) => {
                self.note_lane_by_lane(
                    "a function of the math library is called that has no form for vectors",
                );
                self.vector_call(&format!("{symbol}_lanes"), lanes, args, false)
            }
        }
    }

    /// The same where code seldom comes by: what is in registers need not be saved around the call.
    fn rare_lanes_call(&mut self, symbol: &str, args: &[V]) -> V {
        match self.e.lanes(args[0]) {
            Some(lanes) if self.machine.keeps_registers => {
                self.vector_call(&format!("{symbol}_lanes_kept"), lanes, args, true)
            }
            Some(lanes) => self.vector_call(&format!("{symbol}_lanes"), lanes, args, false),
            None => self.scalar_call(symbol, args),
        }
    }

    /// A function of the runtime that takes vectors in memory and gives one in the place of the first, and after which all
    /// registers are as they were if it is `kept`.
    fn vector_call(&mut self, name: &str, lanes: u32, args: &[V], kept: bool) -> V {
        let wide = self.e.type_of(args[0]);
        let slots: SmallVec<[V; 2]> =
            args.iter().enumerate().map(|(index, &arg)| self.math_slot(wide, index, arg)).collect();
        let function = match self.e.find_function(name) {
            Some(f) => f,
            None => {
                let params: SmallVec<[Ty; 3]> = slots
                    .iter()
                    .map(|&slot| self.e.type_of(slot))
                    .chain(std::iter::once(self.e.int(32)))
                    .collect();
                let f = self.e.declare(name, self.e.function_type(self.e.void(), &params));
                for name in ["nounwind", "willreturn", "nofree", "nosync"] {
                    self.e.attribute(f, u32::MAX, name, 0);
                }
                self.e.attribute(f, u32::MAX, "memory", ARGUMENTS_ONLY);
                for index in 1..=slots.len() as u32 {
                    self.e.attribute(f, index, "captures", 0);
                }
                if kept {
                    self.e.string_attribute(f, "no_caller_saved_registers", "");
                }
                f
            }
        };
        let count = self.e.i32(lanes as i32);
        let arguments: SmallVec<[V; 3]> = slots.iter().copied().chain(std::iter::once(count)).collect();
        self.e.call(function, &arguments);
        self.e.load(wide, slots[0], SLOT_ALIGN)
    }

    /// A stack slot that holds an argument of a call: all calls of a function take the same ones.
    fn math_slot(&mut self, wide: Ty, index: usize, arg: V) -> V {
        let key = (self.e.current_function(), wide, index);
        let slot = match self.math_slots.get(&key) {
            Some(&slot) => slot,
            None => {
                let slot = self.e.alloca(wide);
                self.e.set_slot_align(slot, SLOT_ALIGN);
                self.math_slots.insert(key, slot);
                slot
            }
        };
        self.e.store(arg, slot, SLOT_ALIGN);
        slot
    }
}
