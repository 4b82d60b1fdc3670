//! Math functions of f32 as inline code for the CPU: the same operations, so the same bits, at every lane width.
//!
//! All are polynomials after a reduction of the argument, without tables and, save for huge angles, without
//! branches. Errors are at most 4 ULP (most below 2; a test measures them). Coefficients are Chebyshev or minimax fits made
//! for this purpose with mpmath; each polynomial's error is noted beside it, absolute unless it says relative.
//!
//! Special values follow C: NaN in gives NaN out, infinities and signed zeros as C's functions have them.

use crate::emitter::{Int, Real, Ty, V};
use crate::lower::Lower;

/// Adding and subtracting this rounds a float of moderate size to a whole number, which is then found in the low
/// bits of the sum.
pub(super) const ROUND_F32: f64 = 12_582_912.0;
/// The same for f64.
const ROUND_F64: f64 = 6_755_399_441_055_744.0;

/// Bits of a float below its exponent.
pub(super) const SIGNIFICAND_BITS: i64 = 23;

/// Angles from here on are reduced by the scalar function: the reduction below has too few digits of pi.
const HUGE_ANGLE: f64 = 1_048_576.0;

/// exp(r) = 1 + r + r^2 p(r) for |r| <= ln(2)/2; relative 3.2e-9.
const EXP: [f64; 5] = [
    0.499_999_935_303_334,
    0.166_665_211_131_342_64,
    0.041_668_377_630_580_46,
    0.008_368_680_006_619_838,
    0.001_381_489_512_874_221_2,
];
/// 2^r = 1 + r p(r) for |r| <= 1/2; 1.8e-10.
const EXP2: [f64; 7] = [
    std::f64::consts::LN_2,
    0.240_226_509_362_268_9,
    0.055_504_108_849_824_686,
    0.009_618_053_734_326_929,
    0.001_333_350_012_000_269_3,
    0.000_154_626_107_577_975_52,
    1.529_822_126_717_366_6e-5,
];
/// log(1 + f) = f - f^2/2 + f^3 p(f) for 1 + f in [sqrt(1/2), sqrt(2)]; 2.9e-8.
const LOG: [f64; 9] = [
    0.333_333_311_800_300_46,
    -0.249_999_969_579_508_82,
    0.200_007_157_488_921,
    -0.166_678_023_195_012_54,
    0.142_490_576_456_974_8,
    -0.124_256_873_314_511_06,
    0.116_854_199_234_867_4,
    -0.114_797_338_466_376_35,
    0.069_716_114_714_511_78,
];
/// sin(r) = r (1 + z p(z)), z = r^2, for |r| <= pi/4; 2.8e-11.
pub(super) const SIN: [f64; 4] = [
    -0.166_666_666_638_327_63,
    0.008_333_331_865_959_415,
    -0.000_198_400_820_127_655_37,
    2.724_931_405_469_880_4e-6,
];
/// cos(r) = 1 - z/2 + z^2 p(z); 2.0e-9.
pub(super) const COS: [f64; 3] =
    [0.041_666_664_647_457_38, -0.001_388_830_069_690_39, 2.454_743_721_019_32e-5];
/// tanh(x) = x (1 + z p(z)), z = x^2, for |x| <= 0.625; 4.3e-8.
const TANH: [f64; 5] = [
    -0.333_333_289_441_342_55,
    0.133_327_697_369_763_27,
    -0.053_850_909_578_513_58,
    0.020_997_178_999_074_752,
    -0.006_096_714_165_908_197,
];
/// log2(m) = s (2/ln(2) + z p(z)), s = (m - 1)/(m + 1), z = s^2, in f64; 6.8e-14.
const LOG2_F64: [f64; 6] = [
    0.961_796_693_925_909,
    0.577_078_016_518_084,
    0.412_198_518_893_778_8,
    0.320_608_160_469_218_3,
    0.261_706_435_016_531_6,
    0.239_820_878_602_648_47,
];
const TWO_OVER_LN2: f64 = 2.885_390_081_777_926_8;
/// 2^r = 1 + r p(r) for |r| <= 1/2, in f64; 5.7e-14.
const EXP2_F64: [f64; 9] = [
    std::f64::consts::LN_2,
    0.240_226_506_958_114_23,
    0.055_504_108_664_759_44,
    0.009_618_129_160_027_376,
    0.001_333_355_817_943_667,
    0.000_154_034_552_537_950_9,
    1.525_268_648_918_906_3e-5,
    1.325_538_420_808_641_3e-6,
    1.020_322_142_001_734_9e-7,
];

/// sin(r) = r + r z p(z), z = r^2, for |r| <= pi/2 and what far angles are reduced to beyond it; relative 8.1e-09.
const SIN_HALF_TURN: [f64; 4] = [
    -0.166_666_582_572_208_04,
    0.008_333_028_410_049_575,
    -0.000_198_065_999_941_100_25,
    2.598_767_564_216_451_3e-6,
];

/// pi/2 in two parts; the first has 33 bits, so that its product with a number of turns below 2^20 is exact.
const PI_2_HIGH: f64 = f64::from_bits(0x3ff9_21fb_5440_0000);
const PI_2_LOW: f64 = f64::from_bits(0x3dd0_b461_1a62_6331);
pub(super) const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;

/// -pi/2 in three parts of f32. With the first a fused multiply-add is exact: what is left has no bits below 2^-23. All are
/// negative, so that an angle of -0 stays one.
const MINUS_PI_2: [f32; 3] =
    [f32::from_bits(0xbfc9_0fda), f32::from_bits(0xb3a2_2168), f32::from_bits(0xa7c2_34c4)];

/// ln(2) in two parts; the first has 15 bits after the point, so that its product with an exponent is exact.
const LN2_HIGH: f64 = 0.693_145_751_953_125;
const LN2_LOW: f64 = 1.428_606_820_309_417_3e-6;
/// log10(2) in two parts, likewise.
const LOG10_2_HIGH: f64 = 0.301_025_390_625;
const LOG10_2_LOW: f64 = 4.605_038_981_195_214e-6;

/// A number as the sum of a power of two's exponent and the logarithm of a factor near one.
struct Split {
    /// The exponent, as a float.
    exponent: V,
    /// The factor minus one.
    f: V,
    /// Its natural logarithm.
    log: V,
}

/// What an angle is reduced by.
#[derive(Clone, Copy)]
enum Step {
    QuarterTurn,
    /// With `between`, half a step is left over, so that what is reduced is the distance to a zero of the cosine.
    HalfTurn {
        between: bool,
    },
}

impl Step {
    fn quarters(self) -> f64 {
        if matches!(self, Step::QuarterTurn) { 1.0 } else { 2.0 }
    }

    fn between(self) -> bool {
        matches!(self, Step::HalfTurn { between: true })
    }
}

impl Lower<'_, '_> {
    /// Inline code for a function, where there is some.
    pub(super) fn f32_inline(&mut self, name: &str, args: &[V]) -> Option<V> {
        let saved = std::mem::replace(&mut self.e.fast_math, 0);
        let result = match (name, args) {
            ("exp", &[x]) => Some(self.exp_f32(x)),
            ("exp2", &[x]) => Some(self.exp2_f32(x)),
            ("log", &[x]) => Some(self.log_f32(x)),
            ("log2", &[x]) => Some(self.log2_f32(x)),
            ("log10", &[x]) => Some(self.log10_f32(x)),
            ("sin" | "cos" | "tan", &[x]) => Some(self.angle_f32(name, x)),
            ("tanh", &[x]) => Some(self.tanh_f32(x)),
            ("pow", &[x, y]) => Some(self.pow_f32(x, y)),
            _ => self.f32_more_inline(name, args),
        };
        self.e.fast_math = saved;
        result
    }

    pub(super) fn real(&self, like: V, value: f64) -> V {
        self.e.const_real(self.e.type_of(like), value)
    }

    pub(super) fn whole(&self, like: V, value: i64) -> V {
        self.e.const_int(self.e.type_of(like), value)
    }

    /// `a * b + c`, fused where that is one instruction.
    pub(super) fn muladd(&mut self, a: V, b: V, c: V) -> V {
        if !self.machine.fma {
            let product = self.e.fmul(a, b);
            return self.e.fadd(product, c);
        }
        if let Some(v) = self.fma_512(a, b, c) {
            return v;
        }
        let ty = self.e.type_of(a);
        self.e.intrinsic("llvm.fma", &[ty], &[a, b, c])
    }

    /// A polynomial by Horner's rule; coefficients from the lowest power.
    pub(super) fn poly(&mut self, x: V, coefficients: &[f64]) -> V {
        let mut powers = coefficients.iter().rev();
        let mut sum = self.real(x, powers.next().copied().unwrap_or(0.0));
        for &c in powers {
            let c = self.real(x, c);
            sum = self.muladd(sum, x, c);
        }
        sum
    }

    pub(super) fn int_like(&self, v: V) -> Ty {
        self.e.type_like(self.e.int(32), v)
    }

    fn f64_like(&self, v: V) -> Ty {
        self.e.type_like(self.e.double(), v)
    }

    /// Bounds `x`; NaN stays.
    pub(super) fn clamp(&mut self, x: V, low: f64, high: f64) -> V {
        let (low, high) = (self.real(x, low), self.real(x, high));
        if let Some(x) = self.smaller_512(high, x) {
            return self.larger_512(low, x).unwrap_or(x);
        }
        let over = self.e.fcmp(Real::LLVMRealOGT, x, high);
        let x = self.e.select(over, high, x);
        let under = self.e.fcmp(Real::LLVMRealOLT, x, low);
        self.e.select(under, low, x)
    }

    /// The nearest whole number of `x * factor`, as a float and as an integer.
    fn round_product(&mut self, x: V, factor: f64) -> (V, V) {
        let (factor, magic) = (self.real(x, factor), self.real(x, ROUND_F32));
        let sum = self.muladd(x, factor, magic);
        let n = self.e.fsub(sum, magic);
        let int = self.int_like(x);
        let bits = self.e.bitcast(sum, int);
        let zero = self.e.const_int(int, i64::from((ROUND_F32 as f32).to_bits()));
        (n, self.e.sub(bits, zero))
    }

    /// `v * 2^n` for |n| < 254; the number as a float and as an integer. In two steps, so that results may be subnormal or
    /// overflow: the first is exact.
    fn scale(&mut self, v: V, (float, n): (V, V)) -> V {
        if let Some(v) = self.scale_512(v, float) {
            return v;
        }
        let half = self.e.ashr(n, self.whole(n, 1));
        let rest = self.e.sub(n, half);
        let mut v = v;
        for part in [half, rest] {
            let biased = self.e.add(part, self.whole(n, 127));
            let bits = self.e.shl(biased, self.whole(n, 23));
            let power = self.e.bitcast(bits, self.e.type_of(v));
            v = self.e.fmul(v, power);
        }
        v
    }

    pub(super) fn exp_f32(&mut self, x: V) -> V {
        self.exp_over_power_of_two(x, 0)
    }

    /// Half of the exponential, which overflows later than the whole does.
    pub(super) fn half_exp_f32(&mut self, x: V) -> V {
        self.exp_over_power_of_two(x, 1)
    }

    /// exp(x) / 2^halvings; at most one halving.
    fn exp_over_power_of_two(&mut self, x: V, halvings: i64) -> V {
        // Beyond these the result is infinite or zero in f32 anyway.
        let x = self.clamp(x, -104.0, 90.0);
        let (n, power) = self.round_product(x, std::f64::consts::LOG2_E);
        let minus_n = self.e.fneg(n);
        let (high, low) = (self.real(x, LN2_HIGH), self.real(x, LN2_LOW));
        let r = self.muladd(minus_n, high, x);
        let r = self.muladd(minus_n, low, r);
        let p = self.poly(r, &EXP);
        let one = self.real(x, 1.0);
        let slope = self.muladd(p, r, one);
        let sum = self.muladd(slope, r, one);
        let power = match halvings {
            0 => (n, power),
            _ => (
                self.e.fsub(n, self.real(n, halvings as f64)),
                self.e.sub(power, self.whole(power, halvings)),
            ),
        };
        self.scale(sum, power)
    }

    fn exp2_f32(&mut self, x: V) -> V {
        let x = self.clamp(x, -150.0, 128.0);
        let (n, power) = self.round_product(x, 1.0);
        let r = self.e.fsub(x, n);
        let p = self.poly(r, &EXP2);
        let one = self.real(x, 1.0);
        let sum = self.muladd(r, p, one);
        self.scale(sum, (n, power))
    }

    fn split_f32(&mut self, x: V) -> Split {
        let int = self.int_like(x);
        let float = self.e.type_of(x);
        let k = |l: &Self, v: i64| l.e.const_int(int, v);
        // Subnormals are made normal first.
        let small = self.e.fcmp(Real::LLVMRealOLT, x, self.real(x, f64::from(f32::MIN_POSITIVE)));
        let larger = self.e.fmul(x, self.real(x, 8_388_608.0));
        let x = self.e.select(small, larger, x);
        let adjust = self.e.select(small, k(self, -23), k(self, 0));
        let bits = self.e.bitcast(x, int);
        let base = k(self, i64::from(std::f32::consts::FRAC_1_SQRT_2.to_bits()));
        let above = self.e.sub(bits, base);
        let exponent = self.e.ashr(above, k(self, 23));
        let exponent = self.e.add(exponent, adjust);
        let exponent = self.e.si_to_fp(exponent, float);
        let fraction = self.e.and(above, k(self, 0x7f_ffff));
        let factor = self.e.add(fraction, base);
        let factor = self.e.bitcast(factor, float);
        let f = self.e.fsub(factor, self.real(x, 1.0));
        let p = self.poly(f, &LOG);
        let square = self.e.fmul(f, f);
        let cube = self.e.fmul(square, f);
        let half = self.real(x, -0.5);
        let tail = self.e.fmul(cube, p);
        let tail = self.muladd(half, square, tail);
        let log = self.e.fadd(f, tail);
        Split { exponent, f, log }
    }

    /// What logarithms give at zero, below it, at infinity and for NaN.
    fn log_special(&mut self, x: V, result: V) -> V {
        let zero = self.real(x, 0.0);
        let infinity = self.real(x, f64::INFINITY);
        let is_zero = self.e.fcmp(Real::LLVMRealOEQ, x, zero);
        let result = self.e.select(is_zero, self.real(x, f64::NEG_INFINITY), result);
        let is_infinite = self.e.fcmp(Real::LLVMRealOEQ, x, infinity);
        let result = self.e.select(is_infinite, infinity, result);
        // Negative or NaN.
        let invalid = self.e.fcmp(Real::LLVMRealULT, x, zero);
        self.e.select(invalid, self.real(x, f64::NAN), result)
    }

    fn log_f32(&mut self, x: V) -> V {
        let split = self.split_f32(x);
        let (high, low) = (self.real(x, LN2_HIGH), self.real(x, LN2_LOW));
        // The large part is exact; the small ones are added to it from small to large.
        let rest = self.e.fsub(split.log, split.f);
        let rest = self.muladd(split.exponent, low, rest);
        let rest = self.e.fadd(rest, split.f);
        let result = self.muladd(split.exponent, high, rest);
        self.log_special(x, result)
    }

    fn log2_f32(&mut self, x: V) -> V {
        let split = self.split_f32(x);
        // log2(e) is 1 and a rest, which keeps a bit that a product with it would lose.
        let rest = self.real(x, std::f64::consts::LOG2_E - 1.0);
        let fraction = self.muladd(split.log, rest, split.log);
        let result = self.e.fadd(split.exponent, fraction);
        self.log_special(x, result)
    }

    fn log10_f32(&mut self, x: V) -> V {
        let split = self.split_f32(x);
        let (high, low) = (self.real(x, LOG10_2_HIGH), self.real(x, LOG10_2_LOW));
        let fraction = self.e.fmul(split.log, self.real(x, std::f64::consts::LOG10_E));
        let fraction = self.muladd(split.exponent, low, fraction);
        let result = self.muladd(split.exponent, high, fraction);
        self.log_special(x, result)
    }

    fn angle_f32(&mut self, name: &str, x: V) -> V {
        let float = self.e.type_of(x);
        let result = match name {
            "sin" => self.half_turns(x, false),
            "cos" => self.half_turns(x, true),
            _ => self.tangent(x),
        };

        let magnitude = self.e.intrinsic("llvm.fabs", &[float], &[x]);
        let huge = self.e.fcmp(Real::LLVMRealOGE, magnitude, self.e.const_real(float, HUGE_ANGLE));
        let any = match self.e.lanes(huge) {
            None => huge,
            Some(lanes) => {
                let bits = self.e.bitcast(huge, self.e.int(lanes));
                self.e.icmp(Int::LLVMIntNE, bits, self.e.null(self.e.int(lanes)))
            }
        };
        let before = self.e.current_block();
        let far = self.e.new_block("far");
        let join = self.e.new_block("near");
        let branch = self.e.cond_br(any, far, join);
        self.e.set_branch_weights(branch, 1, 1 << 20);
        self.e.at_end(far);
        let exact = self.rare_lanes_call(&format!("inkle_{name}f"), &[x]);
        let mixed = self.e.select(huge, exact, result);
        let far_end = self.e.current_block();
        self.e.br(join);
        self.e.at_end(join);
        let phi = self.e.phi(float);
        self.e.add_incoming(phi, result, before);
        self.e.add_incoming(phi, mixed, far_end);
        phi
    }

    /// The sine or cosine, by the sine of at most a quarter turn: half a turn changes the sign only.
    fn half_turns(&mut self, x: V, is_cosine: bool) -> V {
        let (r, turns) = self.reduce(x, Step::HalfTurn { between: is_cosine });
        let (int, negative) = (self.e.type_of(turns), self.whole(turns, i32::MIN.into()));
        let mut sign = self.e.shl(turns, self.whole(turns, 31));
        if is_cosine {
            sign = self.e.xor(sign, negative);
        }
        let z = self.e.fmul(r, r);
        let p = self.poly(z, &SIN_HALF_TURN);
        let bits = self.e.bitcast(r, int);
        let turned = self.e.xor(bits, sign);
        let r = self.e.bitcast(turned, self.e.type_of(x));
        let cube = self.e.fmul(z, r);
        let sine = self.muladd(p, cube, r);
        if is_cosine {
            return sine;
        }
        // The sum has lost the sign of -0.
        let bits = self.e.bitcast(sine, int);
        let sign = self.e.and(turned, negative);
        let bits = self.e.or(bits, sign);
        self.e.bitcast(bits, self.e.type_of(x))
    }

    /// `x` less the nearest multiple of a step, and which one that is.
    fn reduce(&mut self, x: V, step: Step) -> (V, V) {
        if self.machine.fma { self.reduce_fused(x, step) } else { self.reduce_wide(x, step) }
    }

    /// The same for any f32 below the limit in f32, by the bits that fused operations keep.
    fn reduce_fused(&mut self, x: V, step: Step) -> (V, V) {
        let (factor, magic) = (self.real(x, TWO_OVER_PI / step.quarters()), self.real(x, ROUND_F32));
        let (n, sum) = self.nearest_step(x, factor, magic, step);
        let r = MINUS_PI_2.iter().fold(x, |r, &part| {
            let part = self.real(x, f64::from(part) * step.quarters());
            self.muladd(n, part, r)
        });
        (r, self.e.bitcast(sum, self.int_like(x)))
    }

    /// The same in f64, whose digits of pi/2 are enough.
    fn reduce_wide(&mut self, x: V, step: Step) -> (V, V) {
        let (float, double, int) = (self.e.type_of(x), self.f64_like(x), self.int_like(x));
        let x = self.e.fp_ext(x, double);
        let (factor, magic) = (self.real(x, TWO_OVER_PI / step.quarters()), self.real(x, ROUND_F64));
        let (n, sum) = self.nearest_step(x, factor, magic, step);
        let minus_n = self.e.fneg(n);
        let r = [PI_2_HIGH, PI_2_LOW].iter().fold(x, |r, &part| {
            let part = self.real(x, part * step.quarters());
            self.muladd(minus_n, part, r)
        });
        let bits = self.e.bitcast(sum, self.e.type_like(self.e.int(64), x));
        (self.e.fp_trunc(r, float), self.e.trunc(bits, int))
    }

    /// The number of steps that is nearest to `x`, and a float of which the low bits are its whole part.
    fn nearest_step(&mut self, x: V, factor: V, magic: V, step: Step) -> (V, V) {
        if !step.between() {
            let sum = self.muladd(x, factor, magic);
            return (self.e.fsub(sum, magic), sum);
        }
        let half = self.real(x, 0.5);
        let steps = self.muladd(x, factor, self.real(x, -0.5));
        let sum = self.e.fadd(steps, magic);
        let whole = self.e.fsub(sum, magic);
        (self.e.fadd(whole, half), sum)
    }

    /// The tangent, by the sine and the cosine of at most an eighth of a turn.
    fn tangent(&mut self, x: V) -> V {
        let (r, quadrant) = self.reduce(x, Step::QuarterTurn);
        let z = self.e.fmul(r, r);
        let one = self.real(r, 1.0);
        let p = self.poly(z, &SIN);
        // As a product, so that the tangent of -0 is -0.
        let s = self.muladd(z, p, one);
        let sine = self.e.fmul(r, s);
        let p = self.poly(z, &COS);
        let square = self.e.fmul(z, z);
        let tail = self.e.fmul(square, p);
        let half = self.real(r, -0.5);
        let tail = self.muladd(half, z, tail);
        let cosine = self.e.fadd(one, tail);
        let zero = self.e.null(self.e.type_of(quadrant));
        let odd = self.e.and(quadrant, self.whole(quadrant, 1));
        let odd = self.e.icmp(Int::LLVMIntNE, odd, zero);
        let negated = self.e.fneg(cosine);
        let above = self.e.select(odd, negated, sine);
        let below = self.e.select(odd, sine, cosine);
        self.e.fdiv(above, below)
    }

    fn tanh_f32(&mut self, x: V) -> V {
        let float = self.e.type_of(x);
        let magnitude = self.e.intrinsic("llvm.fabs", &[float], &[x]);
        let z = self.e.fmul(x, x);
        let p = self.poly(z, &TANH);
        let one = self.real(x, 1.0);
        let s = self.muladd(z, p, one);
        let near = self.e.fmul(x, s);
        let two = self.real(x, 2.0);
        let doubled = self.e.fmul(magnitude, two);
        let power = self.exp_f32(doubled);
        let below = self.e.fadd(power, one);
        let quotient = self.e.fdiv(two, below);
        let far = self.e.fsub(one, quotient);
        let far = self.e.intrinsic("llvm.copysign", &[float], &[far, x]);
        let is_near = self.e.fcmp(Real::LLVMRealOLT, magnitude, self.real(x, 0.625));
        self.e.select(is_near, near, far)
    }

    /// log2 of a positive normal f64, to about 1e-13.
    fn log2_f64(&mut self, x: V) -> V {
        let double = self.e.type_of(x);
        let int = self.e.type_like(self.e.int(64), x);
        let k = |l: &Self, v: u64| l.e.const_int(int, v as i64);
        let bits = self.e.bitcast(x, int);
        let base = k(self, std::f64::consts::FRAC_1_SQRT_2.to_bits());
        let above = self.e.sub(bits, base);
        let exponent = self.e.ashr(above, k(self, 52));
        let narrow = self.e.trunc(exponent, self.int_like(x));
        let exponent = self.e.si_to_fp(narrow, double);
        let fraction = self.e.and(above, k(self, (1 << 52) - 1));
        let m = self.e.add(fraction, base);
        let m = self.e.bitcast(m, double);
        let one = self.real(x, 1.0);
        let (above, below) = (self.e.fsub(m, one), self.e.fadd(m, one));
        let s = self.e.fdiv(above, below);
        let z = self.e.fmul(s, s);
        let p = self.poly(z, &LOG2_F64);
        let factor = self.real(x, TWO_OVER_LN2);
        let factor = self.muladd(z, p, factor);
        self.muladd(s, factor, exponent)
    }

    /// 2^x of an f64 within -1000..1000, to about 1e-13.
    fn exp2_f64(&mut self, x: V) -> V {
        let int = self.e.type_like(self.e.int(64), x);
        let magic = self.real(x, ROUND_F64);
        let sum = self.e.fadd(x, magic);
        let n = self.e.fsub(sum, magic);
        let r = self.e.fsub(x, n);
        let p = self.poly(r, &EXP2_F64);
        let one = self.real(x, 1.0);
        let v = self.muladd(r, p, one);
        // The sum's low bits are n; its high bits are shifted out.
        let bits = self.e.bitcast(sum, int);
        let shifted = self.e.shl(bits, self.e.const_int(int, 52));
        let v_bits = self.e.bitcast(v, int);
        let scaled = self.e.add(v_bits, shifted);
        self.e.bitcast(scaled, self.e.type_of(x))
    }

    fn pow_f32(&mut self, x: V, y: V) -> V {
        let float = self.e.type_of(x);
        let double = self.f64_like(x);
        let one = self.real(x, 1.0);
        let zero = self.real(x, 0.0);
        let infinity = self.real(x, f64::INFINITY);
        let magnitude = self.e.intrinsic("llvm.fabs", &[float], &[x]);
        let wide = self.e.fp_ext(magnitude, double);
        let wide_y = self.e.fp_ext(y, double);
        let log = self.log2_f64(wide);
        let is_zero = self.e.fcmp(Real::LLVMRealOEQ, magnitude, zero);
        let log = self.e.select(is_zero, self.e.const_real(double, f64::NEG_INFINITY), log);
        let is_infinite = self.e.fcmp(Real::LLVMRealOEQ, magnitude, infinity);
        let log = self.e.select(is_infinite, self.e.const_real(double, f64::INFINITY), log);
        let is_nan = self.e.fcmp(Real::LLVMRealUNO, x, x);
        let log = self.e.select(is_nan, self.e.const_real(double, f64::NAN), log);
        let exponent = self.e.fmul(wide_y, log);
        // An infinite power of one is one.
        let is_one = self.e.fcmp(Real::LLVMRealOEQ, magnitude, one);
        let y_is_nan = self.e.fcmp(Real::LLVMRealUNO, y, y);
        let y_is_number = self.e.not(y_is_nan);
        let stays_one = self.e.and(is_one, y_is_number);
        let exponent = self.e.select(stays_one, self.e.null(double), exponent);
        let exponent = self.clamp(exponent, -400.0, 400.0);
        let power = self.exp2_f64(exponent);
        // A NaN exponent's bits were shifted about; it must come out as NaN.
        let lost = self.e.fcmp(Real::LLVMRealUNO, exponent, exponent);
        let power = self.e.select(lost, self.e.const_real(double, f64::NAN), power);
        let result = self.e.fp_trunc(power, float);

        // The sign, and roots of negative numbers.
        let floor = self.e.intrinsic("llvm.floor", &[float], &[y]);
        let is_whole = self.e.fcmp(Real::LLVMRealOEQ, floor, y);
        let half = self.e.fmul(y, self.real(x, 0.5));
        let half_floor = self.e.intrinsic("llvm.floor", &[float], &[half]);
        let half_is_fraction = self.e.fcmp(Real::LLVMRealONE, half_floor, half);
        let is_odd = self.e.and(is_whole, half_is_fraction);
        let signed = self.e.intrinsic("llvm.copysign", &[float], &[result, x]);
        let result = self.e.select(is_odd, signed, result);
        let negative = self.e.fcmp(Real::LLVMRealOLT, x, zero);
        let fractional = self.e.not(is_whole);
        let finite = self.e.fcmp(Real::LLVMRealONE, magnitude, infinity);
        let invalid = self.e.and(negative, fractional);
        let invalid = self.e.and(invalid, finite);
        let result = self.e.select(invalid, self.real(x, f64::NAN), result);
        // Anything to the power of zero, and one to any power, is one, NaN included.
        let y_is_zero = self.e.fcmp(Real::LLVMRealOEQ, y, zero);
        let x_is_one = self.e.fcmp(Real::LLVMRealOEQ, x, one);
        let trivial = self.e.or(y_is_zero, x_is_one);
        self.e.select(trivial, one, result)
    }
}
