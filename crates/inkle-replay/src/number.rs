//! Numbers of Rust that parameters are made of.

use inkle_ir::Scalar;

mod sealed {
    pub trait Sealed {}
}

/// A type of Rust that has a scalar of the kernel language. `bool`, `f16` and `bf16` have none here: use bytes.
pub trait Number: Copy + sealed::Sealed {
    /// The scalar.
    const SCALAR: Scalar;

    /// Appends the bytes as they are in memory.
    fn put(self, bytes: &mut Vec<u8>);

    /// The number of the bytes as they are in memory; zero unless there are as many as it has.
    fn take(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($number:ty: $scalar:ident),*) => {$(
        impl sealed::Sealed for $number {}

        impl Number for $number {
            const SCALAR: Scalar = Scalar::$scalar;

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }

            fn take(bytes: &[u8]) -> Self {
                <$number>::from_ne_bytes(bytes.try_into().unwrap_or_default())
            }
        }
    )*};
}

numbers!(
    i8: I8, i16: I16, i32: I32, i64: I64, u8: U8, u16: U16, u32: U32, u64: U64, f32: F32, f64: F64
);
