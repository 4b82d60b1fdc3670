//! 128-bit integer helpers and float conversions, under the names of LLVM's support library.

use super::{Entry, entries};

extern "C" fn multi3(a: i128, b: i128) -> i128 {
    a.wrapping_mul(b)
}

// Division by zero gives an unspecified value in the kernel language, so it must not panic here.
extern "C" fn divti3(a: i128, b: i128) -> i128 {
    if b == 0 { 0 } else { a.wrapping_div(b) }
}

extern "C" fn modti3(a: i128, b: i128) -> i128 {
    if b == 0 { 0 } else { a.wrapping_rem(b) }
}

extern "C" fn udivti3(a: u128, b: u128) -> u128 {
    a.checked_div(b).unwrap_or(0)
}

extern "C" fn umodti3(a: u128, b: u128) -> u128 {
    a.checked_rem(b).unwrap_or(0)
}

extern "C" fn ashlti3(a: i128, n: i32) -> i128 {
    a.wrapping_shl(n as u32)
}

extern "C" fn ashrti3(a: i128, n: i32) -> i128 {
    a.wrapping_shr(n as u32)
}

extern "C" fn lshrti3(a: u128, n: i32) -> u128 {
    a.wrapping_shr(n as u32)
}

pub(super) fn entries() -> impl IntoIterator<Item = Entry> {
    entries! {
        "__multi3" => multi3, extern "C" fn(i128, i128) -> i128;
        "__divti3" => divti3, extern "C" fn(i128, i128) -> i128;
        "__modti3" => modti3, extern "C" fn(i128, i128) -> i128;
        "__udivti3" => udivti3, extern "C" fn(u128, u128) -> u128;
        "__umodti3" => umodti3, extern "C" fn(u128, u128) -> u128;
        "__ashlti3" => ashlti3, extern "C" fn(i128, i32) -> i128;
        "__ashrti3" => ashrti3, extern "C" fn(i128, i32) -> i128;
        "__lshrti3" => lshrti3, extern "C" fn(u128, i32) -> u128;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edge_values() {
        assert_eq!(divti3(i128::MIN, -1), i128::MIN);
        assert_eq!(modti3(i128::MIN, -1), 0);
        assert_eq!((divti3(1, 0), umodti3(1, 0)), (0, 0));
        assert_eq!(multi3(1 << 70, 1 << 70), 0);
        assert_eq!(udivti3(u128::MAX, 3) * 3, u128::MAX);
    }
}
