//! Inverse trigonometric and hyperbolic functions, the cube root and the error function of f32 as inline code for
//! the CPU, made as those of [`super::f32`] are.

use super::f32::SIGNIFICAND_BITS;
use crate::emitter::{Int, Real, V};
use crate::lower::Lower;

/// atan(t) = t (1 + z p(z)), z = t^2, for |t| <= 1; 1.6e-8.
const ATAN: [f64; 9] = [
    -0.333_333_317_225_523_84,
    0.199_997_378_783_750_43,
    -0.142_785_359_469_255_97,
    0.110_334_826_903_748_13,
    -0.086_556_989_919_360_62,
    0.062_474_856_049_854_38,
    -0.035_837_875_735_578_96,
    0.013_485_852_596_292_333,
    -0.002_381_215_781_082_603_4,
];
/// asin(t) = t (1 + z p(z)), z = t^2, for |t| <= 1/2; 4.2e-9.
const ASIN: [f64; 6] = [
    0.166_666_663_329_577_83,
    0.075_000_956_361_596_41,
    0.044_598_988_404_896_24,
    0.031_106_000_730_555_115,
    0.017_121_587_649_016_196,
    0.033_740_280_508_848_76,
];
/// sinh(x) = x (1 + z p(z)), z = x^2, for |x| <= 1; 2.0e-10.
const SINH: [f64; 4] = [
    0.166_666_666_467_624_62,
    0.008_333_339_695_044_161,
    0.000_198_380_955_931_112_22,
    2.806_331_253_637_132e-6,
];
/// erf(x) = x + x p(z), z = x^2, for |x| <= 0.9; 3.1e-10.
const ERF: [f64; 7] = [
    0.128_379_166_789_222_5,
    -0.376_126_351_939_678_25,
    0.112_837_180_495_938_98,
    -0.026_860_664_791_130_85,
    0.005_204_226_693_752_301,
    -0.000_817_963_218_088_826_5,
    8.529_401_322_836_862e-5,
];
/// ln(1 - erf(x)) = p(x) for 0.89 <= x <= 4; 1.9e-8.
const LOG_ERFC: [f64; 9] = [
    0.000_317_316_510_441_025_8,
    -1.130_226_689_588_296_6,
    -0.631_830_425_083_031_6,
    -0.110_081_862_865_912_62,
    0.026_425_044_562_945_615,
    -0.004_761_845_502_004_603,
    0.000_597_444_236_569_099_3,
    -4.614_969_151_814_273e-5,
    1.642_463_876_536_677_6e-6,
];

/// pi/2 and pi as f32 and what these lack.
const PI_2: [f64; 2] = [1.570_796_370_506_286_6, -4.371_139_000_186_242_6e-8];
const PI: [f64; 2] = [3.141_592_741_012_573_2, -8.742_278_000_372_485e-8];

/// A third of a positive float's bits plus this are about the bits of its cube root.
const CUBE_ROOT_BIAS: i64 = 0x2a51_37a0;

impl Lower<'_, '_> {
    /// Inline code for a function, where there is some.
    pub(super) fn f32_more_inline(&mut self, name: &str, args: &[V]) -> Option<V> {
        Some(match (name, args) {
            ("atan", &[x]) => self.atan_f32(x),
            ("atan2", &[y, x]) => self.atan2_f32(y, x),
            ("asin", &[x]) => self.asin_f32(x),
            ("acos", &[x]) => self.acos_f32(x),
            ("sinh", &[x]) => self.sinh_f32(x),
            ("cosh", &[x]) => self.cosh_f32(x),
            ("cbrt", &[x]) => self.cbrt_f32(x),
            ("erf", &[x]) => self.erf_f32(x),
            _ => return None,
        })
    }

    fn magnitude(&mut self, x: V) -> V {
        self.e.intrinsic("llvm.fabs", &[self.e.type_of(x)], &[x])
    }

    fn with_sign_of(&mut self, v: V, x: V) -> V {
        self.e.intrinsic("llvm.copysign", &[self.e.type_of(x)], &[v, x])
    }

    /// `t + t z p(z)`, z = t^2.
    fn odd(&mut self, t: V, p: &[f64]) -> V {
        let z = self.e.fmul(t, t);
        self.odd_of_square(t, z, p)
    }

    fn odd_of_square(&mut self, t: V, z: V, p: &[f64]) -> V {
        let p = self.poly(z, p);
        let tz = self.e.fmul(t, z);
        self.muladd(tz, p, t)
    }

    /// A constant in two parts minus `v`.
    fn constant_minus(&mut self, [high, low]: [f64; 2], v: V) -> V {
        let difference = self.e.fsub(self.real(v, high), v);
        self.e.fadd(difference, self.real(v, low))
    }

    fn atan_f32(&mut self, x: V) -> V {
        let magnitude = self.magnitude(x);
        let one = self.real(x, 1.0);
        let over_one = self.e.fcmp(Real::LLVMRealOGT, magnitude, one);
        let inverse = self.e.fdiv(one, magnitude);
        let t = self.e.select(over_one, inverse, magnitude);
        let angle = self.odd(t, &ATAN);
        let rest = self.constant_minus(PI_2, angle);
        let angle = self.e.select(over_one, rest, angle);
        self.with_sign_of(angle, x)
    }

    fn atan2_f32(&mut self, y: V, x: V) -> V {
        let (zero, one) = (self.real(x, 0.0), self.real(x, 1.0));
        let (ax, ay) = (self.magnitude(x), self.magnitude(y));
        let steep = self.e.fcmp(Real::LLVMRealOGT, ay, ax);
        let smaller = self.e.select(steep, ax, ay);
        let larger = self.e.select(steep, ay, ax);
        // The angle of the origin is that of the nearer half of the axis, of two infinities that of a diagonal.
        let is_origin = self.e.fcmp(Real::LLVMRealOEQ, larger, zero);
        let divisor = self.e.select(is_origin, one, larger);
        let t = self.e.fdiv(smaller, divisor);
        let infinity = self.real(x, f64::INFINITY);
        let smaller_is = self.e.fcmp(Real::LLVMRealOEQ, smaller, infinity);
        let larger_is = self.e.fcmp(Real::LLVMRealOEQ, larger, infinity);
        let infinite = self.e.and(smaller_is, larger_is);
        let t = self.e.select(infinite, one, t);
        let angle = self.odd(t, &ATAN);
        let rest = self.constant_minus(PI_2, angle);
        let angle = self.e.select(steep, rest, angle);
        let bits = self.e.bitcast(x, self.int_like(x));
        let backwards = self.e.icmp(Int::LLVMIntSLT, bits, self.e.null(self.int_like(x)));
        let rest = self.constant_minus(PI, angle);
        let angle = self.e.select(backwards, rest, angle);
        self.with_sign_of(angle, y)
    }

    /// The arc sine of a magnitude of at most one half, or where it is larger, half of its arc cosine; and whether
    /// it is larger.
    fn half_arc(&mut self, magnitude: V) -> (V, V) {
        let half = self.real(magnitude, 0.5);
        let large = self.e.fcmp(Real::LLVMRealOGT, magnitude, half);
        let one = self.real(magnitude, 1.0);
        let distance = self.e.fsub(one, magnitude);
        let halved = self.e.fmul(distance, half);
        let square = self.e.fmul(magnitude, magnitude);
        let z = self.e.select(large, halved, square);
        let root = self.e.intrinsic("llvm.sqrt", &[self.e.type_of(z)], &[halved]);
        let t = self.e.select(large, root, magnitude);
        (self.odd_of_square(t, z, &ASIN), large)
    }

    fn asin_f32(&mut self, x: V) -> V {
        let magnitude = self.magnitude(x);
        let (arc, large) = self.half_arc(magnitude);
        let doubled = self.e.fadd(arc, arc);
        let rest = self.constant_minus(PI_2, doubled);
        let arc = self.e.select(large, rest, arc);
        self.with_sign_of(arc, x)
    }

    fn acos_f32(&mut self, x: V) -> V {
        let magnitude = self.magnitude(x);
        let (arc, large) = self.half_arc(magnitude);
        let signed = self.with_sign_of(arc, x);
        let near = self.constant_minus(PI_2, signed);
        let doubled = self.e.fadd(arc, arc);
        let rest = self.constant_minus(PI, doubled);
        let negative = self.e.fcmp(Real::LLVMRealOLT, x, self.real(x, 0.0));
        let far = self.e.select(negative, rest, doubled);
        self.e.select(large, far, near)
    }

    fn sinh_f32(&mut self, x: V) -> V {
        let magnitude = self.magnitude(x);
        let near = self.odd(magnitude, &SINH);
        let half_power = self.half_exp_f32(magnitude);
        let quarter = self.real(x, 0.25);
        let inverse = self.e.fdiv(quarter, half_power);
        let far = self.e.fsub(half_power, inverse);
        let is_far = self.e.fcmp(Real::LLVMRealOGT, magnitude, self.real(x, 1.0));
        let result = self.e.select(is_far, far, near);
        self.with_sign_of(result, x)
    }

    fn cosh_f32(&mut self, x: V) -> V {
        let magnitude = self.magnitude(x);
        let half_power = self.half_exp_f32(magnitude);
        let quarter = self.real(x, 0.25);
        let inverse = self.e.fdiv(quarter, half_power);
        self.e.fadd(half_power, inverse)
    }

    /// `v * 2^exponent` where `condition` holds.
    fn scale_if(&mut self, condition: V, v: V, exponent: i32) -> V {
        let scaled = self.e.fmul(v, self.real(v, 2f64.powi(exponent)));
        self.e.select(condition, scaled, v)
    }

    fn cbrt_f32(&mut self, x: V) -> V {
        let int = self.int_like(x);
        let magnitude = self.magnitude(x);
        // Subnormals are made normal first, and numbers whose multiples would overflow smaller, by a power of two
        // that has a cube root.
        let small = self.e.fcmp(Real::LLVMRealOLT, magnitude, self.real(x, f64::from(f32::MIN_POSITIVE)));
        let large = self.e.fcmp(Real::LLVMRealOGT, magnitude, self.real(x, 1e36));
        let a = self.scale_if(small, magnitude, 24);
        let a = self.scale_if(large, a, -24);
        let bits = self.e.bitcast(a, int);
        let third = self.e.udiv(bits, self.e.const_int(int, 3));
        let guess = self.e.add(third, self.e.const_int(int, CUBE_ROOT_BIAS));
        let mut t = self.e.bitcast(guess, self.e.type_of(x));
        // Halley's method, whose error is cubed at each step: 3e-2, 2e-5, then that of the arithmetic.
        for _ in 0..2 {
            let square = self.e.fmul(t, t);
            let cube = self.e.fmul(square, t);
            let two = self.real(x, 2.0);
            let above = self.muladd(two, a, cube);
            let below = self.muladd(two, cube, a);
            let ratio = self.e.fdiv(above, below);
            t = self.e.fmul(t, ratio);
        }
        // A step of Newton's with the residual's rounding error put back, for the last bit.
        let square = self.e.fmul(t, t);
        let minus_square = self.e.fneg(square);
        let lost = self.muladd(t, t, minus_square);
        let minus_a = self.e.fneg(a);
        let residual = self.muladd(square, t, minus_a);
        let residual = self.muladd(lost, t, residual);
        let slope = self.e.fmul(square, self.real(x, 3.0));
        let step = self.e.fdiv(residual, slope);
        let root = self.e.fsub(t, step);
        let root = self.scale_if(small, root, -8);
        let root = self.scale_if(large, root, 8);
        let root = self.with_sign_of(root, x);
        // Zero, infinity and NaN are their own roots.
        let is_zero = self.e.fcmp(Real::LLVMRealOEQ, magnitude, self.real(x, 0.0));
        let exponent_bits =
            self.e.lshr(self.e.bitcast(magnitude, int), self.e.const_int(int, SIGNIFICAND_BITS));
        let no_number = self.e.icmp(Int::LLVMIntEQ, exponent_bits, self.e.const_int(int, 0xff));
        let own = self.e.or(is_zero, no_number);
        self.e.select(own, x, root)
    }

    fn erf_f32(&mut self, x: V) -> V {
        let magnitude = self.magnitude(x);
        let z = self.e.fmul(x, x);
        let p = self.poly(z, &ERF);
        let near = self.muladd(magnitude, p, magnitude);
        // From 4 on the result is one.
        let bounded = self.clamp(magnitude, 0.0, 4.0);
        let exponent = self.poly(bounded, &LOG_ERFC);
        let complement = self.exp_f32(exponent);
        let far = self.e.fsub(self.real(x, 1.0), complement);
        let is_far = self.e.fcmp(Real::LLVMRealOGT, magnitude, self.real(x, 0.9));
        let result = self.e.select(is_far, far, near);
        self.with_sign_of(result, x)
    }
}
