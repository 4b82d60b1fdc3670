//! Conversions between half precision, bfloat16 and wider floats, under the names of LLVM's support library.
//!
//! On the targets inkle makes code for, LLVM passes a half and a bfloat16 in a floating-point register. Rust
//! has no stable type that is passed so; an f32 whose low 16 bits hold the value is passed in the same register.

use half::{bf16, f16};

use super::{Entry, entries};

fn low_bits(x: f32) -> u16 {
    x.to_bits() as u16
}

fn in_register(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits))
}

extern "C" fn extendhfsf2(x: f32) -> f32 {
    f16::from_bits(low_bits(x)).to_f32()
}

extern "C" fn extendhfdf2(x: f32) -> f64 {
    f16::from_bits(low_bits(x)).to_f64()
}

extern "C" fn truncsfhf2(x: f32) -> f32 {
    in_register(f16::from_f32(x).to_bits())
}

extern "C" fn truncdfhf2(x: f64) -> f32 {
    in_register(f16::from_f64(x).to_bits())
}

extern "C" fn extendbfsf2(x: f32) -> f32 {
    bf16::from_bits(low_bits(x)).to_f32()
}

extern "C" fn truncsfbf2(x: f32) -> f32 {
    in_register(bf16::from_f32(x).to_bits())
}

extern "C" fn truncdfbf2(x: f64) -> f32 {
    in_register(bf16::from_f64(x).to_bits())
}

/// The older names pass the half as an integer.
extern "C" fn h2f_ieee(x: u16) -> f32 {
    f16::from_bits(x).to_f32()
}

extern "C" fn f2h_ieee(x: f32) -> u16 {
    f16::from_f32(x).to_bits()
}

pub(super) fn entries() -> impl IntoIterator<Item = Entry> {
    entries! {
        "__extendhfsf2" => extendhfsf2, extern "C" fn(f32) -> f32;
        "__extendhfdf2" => extendhfdf2, extern "C" fn(f32) -> f64;
        "__truncsfhf2" => truncsfhf2, extern "C" fn(f32) -> f32;
        "__truncdfhf2" => truncdfhf2, extern "C" fn(f64) -> f32;
        "__extendbfsf2" => extendbfsf2, extern "C" fn(f32) -> f32;
        "__truncsfbf2" => truncsfbf2, extern "C" fn(f32) -> f32;
        "__truncdfbf2" => truncdfbf2, extern "C" fn(f64) -> f32;
        "__gnu_h2f_ieee" => h2f_ieee, extern "C" fn(u16) -> f32;
        "__gnu_f2h_ieee" => f2h_ieee, extern "C" fn(f32) -> u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_round_trip() {
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits);
            if !value.is_nan() {
                assert_eq!(low_bits(truncsfhf2(extendhfsf2(in_register(bits)))), bits);
                assert_eq!(low_bits(truncdfhf2(extendhfdf2(in_register(bits)))), bits);
            }
            let value = bf16::from_bits(bits);
            if !value.is_nan() {
                assert_eq!(low_bits(truncsfbf2(extendbfsf2(in_register(bits)))), bits);
            }
        }
    }

    #[test]
    fn narrowing_rounds_to_nearest_even() {
        assert_eq!(low_bits(truncsfhf2(1.0 + 1.0 / 2048.0)), f16::from_f32(1.0).to_bits());
        assert_eq!(low_bits(truncsfhf2(1.0 + 3.0 / 2048.0)), f16::from_f32(1.0 + 4.0 / 2048.0).to_bits());
        assert_eq!(low_bits(truncdfbf2(1e300)), bf16::INFINITY.to_bits());
    }
}
