//! `as` from floats to integers where the conversion of kernels is another: to those of fewer bits, and to `u32`.

use inkle_ir::Scalar;

use super::definition::{Callable, Name};
use crate::builtins::clamp;

macro_rules! casts {
    ($($name:ident $from:ident $from_kind:ident $to:ident $to_kind:ident $through:ident;)*) => {
        $(
            #[inkle::func]
            fn $name(x: $from) -> $to {
                clamp(x as $through, $to::MIN as $through, $to::MAX as $through) as $to
            }
        )*

        /// The conversion of a float to the nearest number of a type, where it is not that of kernels.
        pub fn nearest(from: Scalar, to: Scalar) -> Option<Name> {
            Some(match (from, to) {
                $((Scalar::$from_kind, Scalar::$to_kind) => <$name as Callable>::callee(),)*
                _ => return None,
            })
        }
    };
}

casts! {
    f32_as_i8 f32 F32 i8 I8 i32;
    f32_as_u8 f32 F32 u8 U8 i32;
    f32_as_i16 f32 F32 i16 I16 i32;
    f32_as_u16 f32 F32 u16 U16 i32;
    f32_as_u32 f32 F32 u32 U32 i64;
    f64_as_i8 f64 F64 i8 I8 i32;
    f64_as_u8 f64 F64 u8 U8 i32;
    f64_as_i16 f64 F64 i16 I16 i32;
    f64_as_u16 f64 F64 u16 U16 i32;
    f64_as_u32 f64 F64 u32 U32 i64;
}
