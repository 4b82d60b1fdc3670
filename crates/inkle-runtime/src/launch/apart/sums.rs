//! Adding up what workers added to their copies.

use inkle_ir::Scalar;

use super::LINE;

/// Does `$body` with `$ty` the type of a scalar that sums are made of.
macro_rules! for_scalar {
    ($scalar:expr, $ty:ident => $body:expr) => {
        match $scalar {
            Scalar::F32 => {
                type $ty = f32;
                $body
            }
            Scalar::F64 => {
                type $ty = f64;
                $body
            }
            Scalar::I32 | Scalar::U32 => {
                type $ty = std::num::Wrapping<u32>;
                $body
            }
            _ => {
                type $ty = std::num::Wrapping<u64>;
                $body
            }
        }
    };
}

/// Adds the scalars at `from` to those at `to` and makes them zero; gives how many lines there were any in. Where nothing was added to a copy its bits are zero, and what
/// is there stays as it is, negative zeros too.
///
/// # Safety
/// Both are addresses of `bytes` bytes of such scalars, aligned, that do not overlap; nobody else uses them meanwhile. `from`
/// begins a line, and the bytes up to the end of its last line are there, too, and zero.
pub(super) unsafe fn move_sums(to: usize, from: usize, bytes: usize, scalar: Scalar) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        /// As `move_sums_inline`, in vectors twice as long.
        ///
        /// # Safety
        /// As `move_sums`.
        #[target_feature(enable = "avx2")]
        unsafe fn in_long_vectors(to: usize, from: usize, bytes: usize, scalar: Scalar) -> u64 {
            // SAFETY: the caller's contract.
            unsafe { move_sums_inline(to, from, bytes, scalar) }
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the caller's contract; the processor can.
            return unsafe { in_long_vectors(to, from, bytes, scalar) };
        }
    }
    // SAFETY: the caller's contract.
    unsafe { move_sums_inline(to, from, bytes, scalar) }
}

/// What `move_sums` does, for whichever processor the caller is compiled for.
///
/// # Safety
/// As `move_sums`.
#[inline(always)]
unsafe fn move_sums_inline(to: usize, from: usize, bytes: usize, scalar: Scalar) -> u64 {
    let mut moved = 0;
    for_scalar!(scalar, T => {
        const PER_LINE: usize = LINE / size_of::<T>();
        let count = bytes / size_of::<T>();
        // SAFETY: the caller's contract.
        let (to, from) = unsafe {
            (
                std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut::<T>(to), count),
                std::slice::from_raw_parts_mut(
                    std::ptr::with_exposed_provenance_mut::<[u64; LINE / 8]>(from),
                    bytes.div_ceil(LINE),
                ),
            )
        };
        let (whole, rest) = to.as_chunks_mut::<PER_LINE>();
        let (lines, last) = from.split_at_mut(whole.len());
        let sum_of = |a: T, b: T| if b == T::default() { a } else { a + b };
        // SAFETY: a line is as many such scalars, for which all bits are values.
        let scalars = |line: [u64; LINE / 8]| unsafe { std::mem::transmute::<_, [T; PER_LINE]>(line) };
        for (to, line) in whole.iter_mut().zip(lines) {
            if line.iter().fold(0, |all, word| all | word) == 0 {
                continue;
            }
            let sums = scalars(*line);
            for i in 0..PER_LINE {
                to[i] = sum_of(to[i], sums[i]);
            }
            *line = [0; LINE / 8];
            moved += 1;
        }
        for line in last {
            for (to, sum) in rest.iter_mut().zip(scalars(*line)) {
                *to = sum_of(*to, sum);
            }
            *line = [0; LINE / 8];
        }
    });
    moved
}
