//! Instructions of AVX-512 by their own names, for values that fill a register of 512 bits.
//!
//! They do what LLVM's general forms do and give the same bits, and save time in the compiler: where one stands for several
//! operations, and where LLVM would turn the general form over and over in the hope of something better.

use smallvec::SmallVec;

use crate::emitter::V;
use crate::lower::Lower;

/// The operand that leaves rounding as it is: to the nearest.
const AS_IT_IS: i32 = 4;

impl Lower<'_, '_> {
    /// `fma(a, b, c)`. Of the general form instruction selection asks again and again whether an operand is better negated, and
    /// tries that with each element of each constant.
    pub(super) fn fma_512(&mut self, a: V, b: V, c: V) -> Option<V> {
        self.by_own_name("vfmadd", &[a, b, c])
    }

    /// `a < b ? a : b`, so `b` where one is NaN.
    pub(crate) fn smaller_512(&mut self, a: V, b: V) -> Option<V> {
        self.by_own_name("min", &[a, b])
    }

    /// `a > b ? a : b`, so `b` where one is NaN.
    pub(crate) fn larger_512(&mut self, a: V, b: V) -> Option<V> {
        self.by_own_name("max", &[a, b])
    }

    /// `v * 2^n` for a whole number `n`, rounded once.
    pub(super) fn scale_512(&mut self, v: V, n: V) -> Option<V> {
        if self.e.lanes(v) != Some(16) || !self.fills_512(v) {
            return None;
        }
        // For lanes that are left out there would be another value; none is.
        let (others, all) = (self.e.null(self.e.type_of(v)), self.e.const_int(self.e.int(16), -1));
        let args = [v, n, others, all, self.e.i32(AS_IT_IS)];
        Some(self.e.intrinsic("llvm.x86.avx512.mask.scalef.ps.512", &[], &args))
    }

    /// `1 / sqrt(v)` of f32 to fourteen bits.
    pub(crate) fn reciprocal_sqrt_estimate_512(&mut self, v: V) -> Option<V> {
        if self.e.lanes(v) != Some(16) || !self.fills_512(v) {
            return None;
        }
        let (others, all) = (self.e.null(self.e.type_of(v)), self.e.const_int(self.e.int(16), -1));
        Some(self.e.intrinsic("llvm.x86.avx512.rsqrt14.ps.512", &[], &[v, others, all]))
    }

    /// Whether floats fill a register.
    fn fills_512(&self, v: V) -> bool {
        let ty = self.e.type_of(v);
        self.machine.avx512
            && (ty == self.e.vector(self.e.float(), 16) || ty == self.e.vector(self.e.double(), 8))
    }

    fn by_own_name(&mut self, name: &str, args: &[V]) -> Option<V> {
        let suffix = match self.e.lanes(args[0]) {
            Some(16) => "ps",
            Some(8) => "pd",
            _ => return None,
        };
        if !self.fills_512(args[0]) {
            return None;
        }
        let mut args: SmallVec<[V; 4]> = args.into();
        args.push(self.e.i32(AS_IT_IS));
        Some(self.e.intrinsic(&format!("llvm.x86.avx512.{name}.{suffix}.512"), &[], &args))
    }
}
