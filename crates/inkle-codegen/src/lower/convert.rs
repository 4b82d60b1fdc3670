//! Numeric conversions, and f16 and bf16 on CPUs that lack them.
//!
//! LLVM would call run-time library functions for the missing conversions; those do not exist where the code runs,
//! so they are spelled out here in integer and f32 operations that work on vectors too.

use inkle_ir::{Scalar, ScalarKind};

use super::Lower;
use crate::emitter::{Int, Real, V};
use crate::value::Val;

impl Lower<'_, '_> {
    /// `cast`.
    pub fn cast(&mut self, x: Val, from: Scalar, to: Scalar) -> Val {
        if from == to {
            return x;
        }
        if let Val::Linear { base, stride } = x
            && from.size() == to.size()
            && from.is_int()
            && to.is_int()
        {
            return Val::Linear { base, stride };
        }
        self.map([x], |l, [x]| l.cast_value(x, from, to))
    }

    fn cast_value(&mut self, x: V, from: Scalar, to: Scalar) -> V {
        use ScalarKind::{Bool, Float, Signed, Unsigned};
        match (from.kind(), to.kind()) {
            (Float, _) if from != Scalar::F32 && from != Scalar::F64 => {
                let wide = self.half_to_f32(x, from);
                self.cast_value(wide, Scalar::F32, to)
            }
            (Float, Float) => match (from, to) {
                (_, Scalar::F16 | Scalar::BF16) => self.float_to_half(x, from, to),
                (Scalar::F32, Scalar::F64) => self.e.fp_ext(x, self.e.type_like(self.e.double(), x)),
                (Scalar::F64, Scalar::F32) => self.e.fp_trunc(x, self.e.type_like(self.e.float(), x)),
                _ => x,
            },
            (Float, Bool) => self.e.fcmp(Real::LLVMRealUNE, x, self.e.null(self.e.type_of(x))),
            // The instruction saturates and makes NaN zero by itself; from f64 it does not.
            (Float, Signed | Unsigned) if self.machine.gpu && from == Scalar::F32 && to.size() == 4 => {
                let name = if to.is_signed() { "llvm.nvvm.f2i.rz" } else { "llvm.nvvm.f2ui.rz" };
                self.each_lane(&[x], |l, x| l.e.intrinsic(name, &[], x))
            }
            // LLVM takes a vector apart for its intrinsic on x86.
            (Float, Signed | Unsigned)
                if self.e.is_vector(x) && !self.machine.gpu && !self.machine.min_max =>
            {
                self.strict(|l| l.float_to_int(x, from, to))
            }
            (Float, Signed | Unsigned) => {
                let result = self.e.type_like(self.scalar_type(to), x);
                let name = if to.is_signed() { "llvm.fptosi.sat" } else { "llvm.fptoui.sat" };
                self.e.intrinsic(name, &[result, self.e.type_of(x)], &[x])
            }
            (Bool, Float) => {
                let ty = self.e.type_like(self.scalar_type(to), x);
                let one = self.constant(inkle_ir::Constant::Float(1.0), to);
                let one = if self.e.is_vector(x) { self.e.splat(one, self.lanes) } else { one };
                self.e.select(x, one, self.e.null(ty))
            }
            (Bool, _) => self.e.zext(x, self.e.type_like(self.scalar_type(to), x)),
            (_, Bool) => self.e.icmp(Int::LLVMIntNE, x, self.e.null(self.e.type_of(x))),
            (_, Float) => match to {
                Scalar::F16 | Scalar::BF16 => {
                    // Through f64 where f32 would round a first time.
                    let step = if from.size() <= 2 { Scalar::F32 } else { Scalar::F64 };
                    let wide = self.cast_value(x, from, step);
                    self.float_to_half(wide, step, to)
                }
                _ => {
                    let ty = self.e.type_like(self.scalar_type(to), x);
                    if from.is_signed() { self.e.si_to_fp(x, ty) } else { self.e.ui_to_fp(x, ty) }
                }
            },
            (Signed | Unsigned, _) => {
                let ty = self.e.type_like(self.scalar_type(to), x);
                if to.size() < from.size() {
                    self.e.trunc(x, ty)
                } else if from.is_signed() {
                    self.e.sext(x, ty)
                } else {
                    self.e.zext(x, ty)
                }
            }
        }
    }

    /// A vector of floats as integers, towards zero: what is too large or too small becomes the end of the range, and what is
    /// not a number zero.
    pub fn float_to_int(&mut self, x: V, from: Scalar, to: Scalar) -> V {
        let (bits, signed) = (to.size() * 8, to.is_signed());
        let result = self.e.type_like(self.scalar_type(to), x);
        let ty = self.e.type_of(x);
        let most = if signed { i64::MAX >> (64 - bits) } else { -1 };
        let bound = 2f64.powi(if signed { bits as i32 - 1 } else { bits as i32 });
        let least = self.e.const_real(ty, if signed { -bound } else { 0.0 });
        // The largest float that fits.
        let digits = if from == Scalar::F32 { f32::MANTISSA_DIGITS } else { f64::MANTISSA_DIGITS };
        let exact = digits >= bits;
        let largest = if exact { bound - 1.0 } else { bound - bound * 2f64.powi(-(digits as i32)) };
        let largest = self.e.const_real(ty, largest);
        let above = self.e.fcmp(Real::LLVMRealOGT, x, least);
        let low = self.e.select(above, x, least);
        let below = self.e.fcmp(Real::LLVMRealOLT, low, largest);
        let fitting = self.e.select(below, low, largest);
        let converted = if to.size() < 4 {
            let int = self.e.fp_to_si(fitting, self.e.type_like(self.e.int(32), x));
            self.e.trunc(int, result)
        } else if signed {
            self.e.fp_to_si(fitting, result)
        } else {
            self.e.fp_to_ui(fitting, result)
        };
        let converted = if exact {
            converted
        } else {
            let over = self.e.fcmp(Real::LLVMRealOGE, x, self.e.const_real(ty, bound));
            self.e.select(over, self.e.const_int(result, most), converted)
        };
        let number = self.e.fcmp(Real::LLVMRealORD, x, x);
        self.e.select(number, converted, self.e.null(result))
    }

    /// `bitcast`.
    pub fn bitcast(&mut self, x: Val, from: Scalar, to: Scalar) -> Val {
        if from.is_int() && to.is_int() {
            return x;
        }
        self.map([x], |l, [x]| {
            let ty = l.e.type_like(l.scalar_type(to), x);
            match (from, to) {
                (Scalar::Bool, _) => l.e.zext(x, ty),
                (_, Scalar::Bool) => l.e.icmp(Int::LLVMIntNE, x, l.e.null(l.e.type_of(x))),
                _ => l.e.bitcast(x, ty),
            }
        })
    }

    /// f16 or bf16 as f32; other values unchanged. Exact.
    pub fn half_to_f32(&mut self, x: V, scalar: Scalar) -> V {
        let float = self.e.type_like(self.e.float(), x);
        match scalar {
            Scalar::F16 | Scalar::BF16 if self.machine.gpu => self.e.fp_ext(x, float),
            Scalar::BF16 => {
                let int = self.e.type_like(self.e.int(32), x);
                let wide = self.e.zext(x, int);
                let shifted = self.e.shl(wide, self.e.const_int(int, 16));
                self.e.bitcast(shifted, float)
            }
            Scalar::F16 if self.machine.f16_convert => {
                let half = self.e.bitcast(x, self.e.type_like(self.e.half(), x));
                self.e.fp_ext(half, float)
            }
            Scalar::F16 => self.strict(|l| l.f16_to_f32_by_hand(x)),
            _ => x,
        }
    }

    /// f32 rounded to f16 or bf16; other values unchanged.
    pub fn f32_to_half(&mut self, x: V, scalar: Scalar) -> V {
        self.float_to_half(x, Scalar::F32, scalar)
    }

    fn float_to_half(&mut self, x: V, from: Scalar, to: Scalar) -> V {
        if !matches!(to, Scalar::F16 | Scalar::BF16) {
            return x;
        }
        if self.machine.gpu {
            let ty = self.e.type_like(self.scalar_type(to), x);
            return self.e.fp_trunc(x, ty);
        }
        self.strict(|l| {
            let x = if from == Scalar::F64 { l.f64_to_f32_odd(x) } else { x };
            let half = l.e.type_like(l.e.half(), x);
            let bits = l.e.type_like(l.e.int(16), x);
            match to {
                Scalar::BF16 => l.f32_to_bf16_by_hand(x),
                _ if l.machine.f16_convert => {
                    let rounded = l.e.fp_trunc(x, half);
                    l.e.bitcast(rounded, bits)
                }
                _ => l.f32_to_f16_by_hand(x),
            }
        })
    }

    /// f64 to f32, rounded to odd, so that rounding the result again is the same as rounding once.
    fn f64_to_f32_odd(&mut self, x: V) -> V {
        let e = &self.e;
        let (float, double) = (e.type_like(e.float(), x), e.type_of(x));
        let int = e.type_like(e.int(32), x);
        let near = e.fp_trunc(x, float);
        let back = e.fp_ext(near, double);
        let magnitude = e.intrinsic("llvm.fabs", &[double], &[x]);
        let back_magnitude = e.intrinsic("llvm.fabs", &[double], &[back]);
        let away = e.fcmp(Real::LLVMRealOGT, back_magnitude, magnitude);
        let inexact = e.fcmp(Real::LLVMRealONE, back, x);
        let bits = e.bitcast(near, int);
        let toward_zero = e.add(bits, e.sext(away, int));
        let odd = e.or(toward_zero, e.zext(inexact, int));
        e.bitcast(odd, float)
    }

    fn f32_to_bf16_by_hand(&mut self, x: V) -> V {
        let e = &self.e;
        let int = e.type_like(e.int(32), x);
        let k = |v: i64| e.const_int(int, v);
        let bits = e.bitcast(x, int);
        let lsb = e.and(e.lshr(bits, k(16)), k(1));
        let rounded = e.lshr(e.add(e.add(bits, k(0x7fff)), lsb), k(16));
        // Rounding could carry a NaN's fraction over into infinity.
        let quiet = e.or(e.lshr(bits, k(16)), k(0x40));
        let is_nan = e.fcmp(Real::LLVMRealUNO, x, x);
        let result = e.select(is_nan, quiet, rounded);
        e.trunc(result, e.type_like(e.int(16), x))
    }

    /// The exponent is moved by a multiplication, which also puts subnormals right.
    fn f16_to_f32_by_hand(&mut self, x: V) -> V {
        let e = &self.e;
        let (int, float) = (e.type_like(e.int(32), x), e.type_like(e.float(), x));
        let k = |v: i64| e.const_int(int, v);
        let wide = e.zext(x, int);
        let sign = e.shl(e.and(wide, k(0x8000)), k(16));
        let magnitude = e.and(wide, k(0x7fff));
        let shifted = e.bitcast(e.shl(magnitude, k(13)), float);
        let scaled = e.fmul(shifted, e.const_real(float, 2f64.powi(112)));
        let finite = e.bitcast(scaled, int);
        let special = e.icmp(Int::LLVMIntUGE, magnitude, k(0x7c00));
        let infinite = e.or(e.shl(magnitude, k(13)), k(0x7f80_0000));
        let result = e.or(e.select(special, infinite, finite), sign);
        e.bitcast(result, float)
    }

    fn f32_to_f16_by_hand(&mut self, x: V) -> V {
        let e = &self.e;
        let (int, float) = (e.type_like(e.int(32), x), e.type_of(x));
        let k = |v: i64| e.const_int(int, v);
        let bits = e.bitcast(x, int);
        let sign = e.and(e.lshr(bits, k(16)), k(0x8000));
        let magnitude = e.and(bits, k(0x7fff_ffff));
        // Normal results: move the exponent and round to nearest, ties to even; a carry is right by itself.
        let lsb = e.and(e.lshr(magnitude, k(13)), k(1));
        let moved = e.add(e.add(magnitude, k(0xfff - (112 << 23))), lsb);
        let normal = e.lshr(moved, k(13));
        // Subnormal results: adding 0.5 lets the float unit align and round the fraction.
        let aligned = e.fadd(e.bitcast(magnitude, float), e.const_real(float, 0.5));
        let subnormal = e.sub(e.bitcast(aligned, int), k(0x3f00_0000));
        let is_small = e.icmp(Int::LLVMIntULT, magnitude, k(113 << 23));
        let finite = e.select(is_small, subnormal, normal);
        // 65520 and more round to infinity.
        let is_large = e.icmp(Int::LLVMIntUGE, magnitude, k(0x477f_f000));
        let is_nan = e.icmp(Int::LLVMIntUGT, magnitude, k(0x7f80_0000));
        let result = e.select(is_large, k(0x7c00), finite);
        let quiet = e.or(e.and(e.lshr(bits, k(13)), k(0x3ff)), k(0x7e00));
        let result = e.or(e.select(is_nan, quiet, result), sign);
        e.trunc(result, e.type_like(e.int(16), x))
    }
}
