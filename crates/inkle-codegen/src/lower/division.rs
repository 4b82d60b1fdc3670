//! Integer division that never traps.
//!
//! The IR leaves the quotient by zero, and of the smallest integer by -1, unspecified; LLVM makes them undefined
//! behaviour and x86 traps. Inactive lanes divide by anything at all, so every divisor is made harmless first,
//! unless it is a constant that already is.

use inkle_ir::Scalar;

use super::Lower;
use crate::emitter::{Int, V};

impl Lower<'_, '_> {
    /// Quotient towards zero.
    pub fn divide(&mut self, scalar: Scalar, x: V, y: V) -> V {
        if let Some(v) = self.divide_as_float(scalar, x, y) {
            return v;
        }
        if !scalar.is_signed() {
            let safe = self.not_zero(y);
            return self.e.udiv(x, safe);
        }
        if self.is_harmless(y) {
            return self.e.sdiv(x, y);
        }
        let ty = self.e.type_of(y);
        let minus_one = self.e.icmp(Int::LLVMIntEQ, y, self.e.all_ones(ty));
        let safe = self.not_zero(y);
        let safe = self.e.select(minus_one, self.e.const_int(ty, 1), safe);
        let quotient = self.e.sdiv(x, safe);
        let negated = self.e.neg(x);
        self.e.select(minus_one, negated, quotient)
    }

    /// Remainder with the sign of `x`.
    pub fn remainder(&mut self, scalar: Scalar, x: V, y: V) -> V {
        if let Some(quotient) = self.divide_as_float(scalar, x, y) {
            let product = self.e.mul(quotient, y);
            return self.e.sub(x, product);
        }
        if !scalar.is_signed() {
            let safe = self.not_zero(y);
            return self.e.urem(x, safe);
        }
        if self.is_harmless(y) {
            return self.e.srem(x, y);
        }
        let ty = self.e.type_of(y);
        let minus_one = self.e.icmp(Int::LLVMIntEQ, y, self.e.all_ones(ty));
        let safe = self.not_zero(y);
        // Any remainder by one is zero, and so is any by minus one.
        let safe = self.e.select(minus_one, self.e.const_int(ty, 1), safe);
        self.e.srem(x, safe)
    }

    /// Quotient towards minus infinity.
    pub fn floor_divide(&mut self, scalar: Scalar, x: V, y: V) -> V {
        if scalar.is_signed()
            && let Some(divisor) = self.e.as_const_splat(y).filter(|&d| d > 0)
            && divisor.count_ones() == 1
        {
            let bits = self.e.const_int(self.e.type_of(x), divisor.trailing_zeros().into());
            return self.e.ashr(x, bits);
        }
        let quotient = self.divide(scalar, x, y);
        if !scalar.is_signed() {
            return quotient;
        }
        let product = self.e.mul(quotient, y);
        let rest = self.e.sub(x, product);
        let zero = self.e.null(self.e.type_of(x));
        let inexact = self.e.icmp(Int::LLVMIntNE, rest, zero);
        let signs = self.e.xor(rest, y);
        let opposite = self.e.icmp(Int::LLVMIntSLT, signs, zero);
        let down = self.e.and(inexact, opposite);
        let down = self.e.sext(down, self.e.type_of(x));
        self.e.add(quotient, down)
    }

    /// Vectors have no integer division on any CPU here, but f64 holds quotients of 32-bit integers exactly
    /// enough: the truncated float quotient is the integer quotient.
    fn divide_as_float(&mut self, scalar: Scalar, x: V, y: V) -> Option<V> {
        let lanes = self.e.lanes(x)?;
        if self.machine.gpu || scalar.size() > 4 || self.is_constant_divisor(y) {
            return None;
        }
        let double = self.e.vector(self.e.double(), lanes);
        let wide = self.e.vector(self.e.int(64), lanes);
        let ty = self.e.type_of(x);
        let safe = self.not_zero(y);
        let saved = std::mem::replace(&mut self.e.fast_math, 0);
        let quotient = if scalar.is_signed() {
            let (a, b) = (self.e.si_to_fp(x, double), self.e.si_to_fp(safe, double));
            let q = self.e.fdiv(a, b);
            if scalar.size() < 4 {
                let q = self.e.fp_to_si(q, self.e.vector(self.e.int(32), lanes));
                self.e.trunc(q, ty)
            } else {
                // The smallest integer by -1 does not fit i32: the saturating conversion makes it some value.
                match self.machine.min_max {
                    true => self.e.intrinsic("llvm.fptosi.sat", &[ty, double], &[q]),
                    false => self.float_to_int(q, Scalar::F64, Scalar::I32),
                }
            }
        } else {
            let (a, b) = (self.e.ui_to_fp(x, double), self.e.ui_to_fp(safe, double));
            let q = self.e.fdiv(a, b);
            if scalar.size() < 4 {
                let q = self.e.fp_to_si(q, self.e.vector(self.e.int(32), lanes));
                self.e.trunc(q, ty)
            } else {
                let q = self.e.fp_to_si(q, wide);
                self.e.trunc(q, ty)
            }
        };
        self.e.fast_math = saved;
        Some(quotient)
    }

    fn not_zero(&self, y: V) -> V {
        if self.is_constant_divisor(y) {
            return y;
        }
        let ty = self.e.type_of(y);
        let is_zero = self.e.icmp(Int::LLVMIntEQ, y, self.e.null(ty));
        self.e.select(is_zero, self.e.const_int(ty, 1), y)
    }

    /// A constant that is not zero, in all lanes.
    fn is_constant_divisor(&self, y: V) -> bool {
        self.e.as_const_splat(y).is_some_and(|d| d != 0)
    }

    /// A constant that is neither zero nor minus one.
    fn is_harmless(&self, y: V) -> bool {
        self.e.as_const_splat(y).is_some_and(|d| d != 0 && d != -1)
    }
}
