//! Sine and cosine of f32 for GPUs, where libdevice's are a call for each lane.
//!
//! The usual angles are done inline, in f32 alone, by all lanes without branches; if any lane has another, all ask
//! libdevice. Errors are below 1.5 ULP (measured over every 61st float up to the limit).

use super::f32::{COS, ROUND_F32, SIN, TWO_OVER_PI};
use crate::emitter::{Int, Real, V};
use crate::lower::Lower;

/// Angles from here on have too many turns for the reduction.
const FAR_ANGLE: f64 = 65_536.0;
/// pi/2 in three floats, of which the first, times a whole number, leaves a remainder that is a float. None is negative,
/// so that the sine of -0 is -0.
const PI_2_PARTS: [f32; 3] =
    [f32::from_bits(0x3fc9_0fda), f32::from_bits(0x33a2_2168), f32::from_bits(0x27c2_34c5)];

impl Lower<'_, '_> {
    /// The sine or cosine of floats.
    pub(super) fn gpu_angle(&mut self, name: &'static str, x: V) -> V {
        let saved = std::mem::replace(&mut self.e.fast_math, 0);
        let float = self.e.type_of(x);
        let near = self.near_angle(name, x);
        let magnitude = self.e.intrinsic("llvm.fabs", &[float], &[x]);
        // NaN is far too.
        let is_far = self.e.fcmp(Real::LLVMRealUGE, magnitude, self.real(x, FAR_ANGLE));
        let any = match self.e.lanes(is_far) {
            None => is_far,
            Some(lanes) => {
                let bits = self.e.bitcast(is_far, self.e.int(lanes));
                self.e.icmp(Int::LLVMIntNE, bits, self.e.null(self.e.int(lanes)))
            }
        };
        let before = self.e.current_block();
        let [far, join] = ["far", "near"].map(|name| self.e.new_block(name));
        let branch = self.e.cond_br(any, far, join);
        self.e.set_branch_weights(branch, 1, 1 << 20);
        self.e.at_end(far);
        let symbol = format!("__nv_{name}f");
        let exact = self.each_lane(&[x], |l, args| l.scalar_call(&symbol, args));
        // A lane's result does not depend on its neighbours.
        let mixed = self.e.select(is_far, exact, near);
        let far_end = self.e.current_block();
        self.e.br(join);
        self.e.at_end(join);
        let result = self.e.phi(float);
        self.e.add_incoming(result, near, before);
        self.e.add_incoming(result, mixed, far_end);
        self.e.fast_math = saved;
        result
    }

    fn near_angle(&mut self, name: &str, x: V) -> V {
        let int = self.int_like(x);
        let (factor, magic) = (self.real(x, TWO_OVER_PI), self.real(x, ROUND_F32));
        let sum = self.muladd(x, factor, magic);
        let turns = self.e.fsub(sum, magic);
        let back = self.e.fneg(turns);
        let r = PI_2_PARTS.iter().fold(x, |r, &part| {
            let part = self.real(x, part.into());
            self.muladd(back, part, r)
        });
        let mut quadrant = self.e.bitcast(sum, int);
        if name == "cos" {
            quadrant = self.e.add(quadrant, self.whole(quadrant, 1));
        }
        let bit = |l: &Self, bit: i64| {
            let one = l.e.and(quadrant, l.whole(quadrant, bit));
            l.e.icmp(Int::LLVMIntNE, one, l.e.null(int))
        };
        let (odd, negative) = (bit(self, 1), bit(self, 2));
        // sin(r) = r + r z p(z) and cos(r) = 1 + z p(z), z = r^2: one polynomial with the coefficients of either.
        let z = self.e.fmul(r, r);
        let cosine = [-0.5, COS[0], COS[1], COS[2]];
        let mut p: Option<V> = None;
        for (&of_sine, &of_cosine) in SIN.iter().zip(&cosine).rev() {
            let (a, b) = (self.real(x, of_cosine), self.real(x, of_sine));
            let k = self.e.select(odd, a, b);
            p = Some(match p {
                Some(p) => self.muladd(p, z, k),
                None => k,
            });
        }
        let p = p.unwrap_or(z);
        let first = self.e.select(odd, self.real(x, 1.0), r);
        // Plus zero, so that the sine of -0 is -0.
        let zero = self.real(x, 0.0);
        let scaled = self.muladd(z, first, zero);
        let value = self.muladd(p, scaled, first);
        let turned = self.e.fneg(value);
        self.e.select(negative, turned, value)
    }
}
