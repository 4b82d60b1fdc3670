//! Functions of the math library, each target its own way.
//!
//! - GPU: libdevice, linked in by the compilation's last step.
//! - CPU, f32: where there is one, code of ours, inlined, that gives the same bits at every lane width ([`f32`],
//!   [`f32_more`]).
//! - CPU, all others: scalar functions of the runtime ([`runtime_symbols`]), called lane by lane. Their names are
//!   unknown to LLVM on purpose: it would widen a kernel around functions that it knows and then call them lane
//!   by lane anyway.

mod f32;
mod f32_more;
mod symbols;

use inkle_ir::{BinaryOp, Scalar, UnaryOp};

pub use symbols::{RuntimeSymbol, Signature, runtime_symbols};

use crate::emitter::{Int, Ty, V};
use crate::error::CodegenError;
use crate::lower::Lower;
use crate::value::Val;

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
            let suffix = if double { "" } else { "f" };
            let symbol = format!("__nv_{}{name}{suffix}", if fast { "fast_" } else { "" });
            return self.each_lane(args, |l, args| l.scalar_call(&symbol, args));
        }
        if !double && let Some(v) = self.f32_inline(name, args) {
            return v;
        }
        let symbol = format!("inkle_{name}{}", if double { "" } else { "f" });
        self.lanes_call(&symbol, args)
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

    /// A scalar function of the runtime, for scalars or lane by lane for vectors.
    pub(crate) fn lanes_call(&mut self, symbol: &str, args: &[V]) -> V {
        let Some(lanes) = self.e.lanes(args[0]) else {
            return self.scalar_call(symbol, args);
        };
        // One loop in a function of its own per symbol, however often it is called.
        let name = format!("lanes.{symbol}.{lanes}");
        let wide = self.e.type_of(args[0]);
        let f = match self.e.find_function(&name) {
            Some(f) => f,
            None => {
                let here = self.e.current_block();
                let f = self.e.internal_function(&name, self.e.function_type(wide, &vec![wide; args.len()]));
                self.function_attributes(f);
                self.e.attribute(f, u32::MAX, "noinline", 0);
                // The helper has no source: its calls take no line either.
                let place = self.e.place();
                self.e.set_place(None);
                self.emit_lane_loop(f, symbol, wide, lanes, args.len() as u32);
                self.e.restore_place(place);
                self.e.at_end(here);
                f
            }
        };
        self.e.call(f, args)
    }

    fn emit_lane_loop(&mut self, f: V, symbol: &str, wide: Ty, lanes: u32, n_args: u32) {
        let scalar = self.e.scalar_type(wide);
        let int = self.e.int(64);
        let entry = self.e.append_block(f, "entry");
        let body = self.e.append_block(f, "lane");
        let done = self.e.append_block(f, "done");
        self.e.at_end(entry);
        let slots: Vec<V> = (0..n_args)
            .map(|i| {
                let slot = self.e.alloca(wide);
                self.e.store(self.e.param(f, i), slot, 64);
                slot
            })
            .collect();
        let out = self.e.alloca(wide);
        self.e.br(body);
        self.e.at_end(body);
        let lane = self.e.phi(int);
        self.e.add_incoming(lane, self.e.i64(0), entry);
        let args: Vec<V> = slots
            .iter()
            .map(|&slot| {
                let at = self.e.gep(scalar, slot, lane);
                self.e.load(scalar, at, 4)
            })
            .collect();
        let result = self.scalar_call(symbol, &args);
        let at = self.e.gep(scalar, out, lane);
        self.e.store(result, at, 4);
        let next = self.e.add(lane, self.e.i64(1));
        self.e.add_incoming(lane, next, body);
        let more = self.e.icmp(Int::LLVMIntULT, next, self.e.i64(lanes.into()));
        self.e.cond_br(more, body, done);
        self.e.at_end(done);
        let result = self.e.load(wide, out, 4);
        self.e.ret(result);
    }
}
