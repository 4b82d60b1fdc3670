//! Copies and fills in CPU memory.

use super::plan::Plan;
use crate::error::RuntimeError;
use crate::launch::pool;

/// Work below this many bytes is not worth sharing with other threads: it takes as long as waking them.
const PARALLEL_BYTES: usize = 512 << 10;
/// About how many bytes one piece of shared work moves.
const PIECE_BYTES: usize = 128 << 10;

/// An address that worker threads may be given.
#[derive(Clone, Copy)]
struct Address(u64);

impl Address {
    fn at(self, offset: i64) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.0.wrapping_add_signed(offset) as usize)
    }
}

/// Copies what the plan describes from `src` to `dst`, the addresses of the first points.
///
/// # Safety
/// All bytes that the plan reaches from both addresses are valid CPU memory, and the two sets of bytes do not
/// overlap unless the plan is one run.
pub(super) unsafe fn copy(plan: &Plan<2>, dst: u64, src: u64) -> Result<(), RuntimeError> {
    let (dst, src) = (Address(dst), Address(src));
    if plan.is_one_run() {
        let overlap = dst.0.abs_diff(src.0) < plan.run_bytes as u64;
        if plan.run_bytes < PARALLEL_BYTES || overlap {
            // SAFETY: the caller's contract for a single run; `copy` allows overlap.
            unsafe { std::ptr::copy(src.at(0), dst.at(0), plan.run_bytes) };
            return Ok(());
        }
        return pool::parallel(plan.run_bytes.div_ceil(PIECE_BYTES), &|piece| {
            let from = piece * PIECE_BYTES;
            let bytes = PIECE_BYTES.min(plan.run_bytes - from);
            // SAFETY: a part of the run, and the run does not overlap its source, as was checked.
            unsafe { std::ptr::copy_nonoverlapping(src.at(from as i64), dst.at(from as i64), bytes) };
        });
    }
    let (count, [dst_stride, src_stride]) = plan.row();
    in_pieces(
        plan,
        &|first, part| {
            plan.each_row(first, |[to, from]| {
                let to = to + part.start as i64 * dst_stride;
                let from = from + part.start as i64 * src_stride;
                // SAFETY: points of the plan, which the caller vouches for; each point is copied whole, and
                // source and destination do not overlap.
                unsafe {
                    copy_row(plan.run_bytes, part.len(), dst.at(to), dst_stride, src.at(from), src_stride)
                };
            });
        },
        count,
    )
}

/// Writes `pattern` to every point of the plan, whose runs are whole numbers of patterns.
///
/// # Safety
/// All bytes that the plan reaches from `dst` are valid CPU memory.
pub(super) unsafe fn fill(plan: &Plan<1>, dst: u64, pattern: &[u8]) -> Result<(), RuntimeError> {
    let dst = Address(dst);
    let (count, [stride]) = plan.row();
    if plan.is_one_run() && plan.run_bytes >= PARALLEL_BYTES {
        let piece_bytes = PIECE_BYTES.next_multiple_of(pattern.len());
        return pool::parallel(plan.run_bytes.div_ceil(piece_bytes), &|piece| {
            let from = piece * piece_bytes;
            let bytes = piece_bytes.min(plan.run_bytes - from);
            // SAFETY: a part of the run that starts and ends on a pattern boundary.
            unsafe { fill_run(dst.at(from as i64), bytes, pattern) };
        });
    }
    in_pieces(
        plan,
        &|rows, part| {
            plan.each_row(rows, |[to]| {
                for i in part.clone() {
                    // SAFETY: points of the plan, which the caller vouches for.
                    unsafe { fill_run(dst.at(to + i as i64 * stride), plan.run_bytes, pattern) };
                }
            });
        },
        count,
    )
}

/// Calls `work` with ranges of rows and of points within a row that together make up the plan: on this thread
/// if it is little, else shared with the workers.
fn in_pieces<const N: usize>(
    plan: &Plan<N>,
    work: &(dyn Fn(std::ops::Range<usize>, std::ops::Range<usize>) + Sync),
    count: usize,
) -> Result<(), RuntimeError> {
    let rows = plan.row_count();
    let bytes = rows.saturating_mul(count).saturating_mul(plan.run_bytes);
    if bytes < PARALLEL_BYTES {
        work(0..rows, 0..count);
        return Ok(());
    }
    let pieces = bytes.div_ceil(PIECE_BYTES);
    if rows > 1 {
        let step = rows.div_ceil(pieces);
        pool::parallel(rows.div_ceil(step), &|i| work(i * step..((i + 1) * step).min(rows), 0..count))
    } else {
        let step = count.div_ceil(pieces);
        pool::parallel(count.div_ceil(step), &|i| work(0..rows, i * step..((i + 1) * step).min(count)))
    }
}

/// Copies `count` points of `bytes` bytes.
///
/// # Safety
/// Every point is valid and no source point overlaps a destination point.
unsafe fn copy_row(
    bytes: usize,
    count: usize,
    dst: *mut u8,
    dst_stride: i64,
    src: *const u8,
    src_stride: i64,
) {
    /// As `copy_row`, for a size that the compiler knows.
    ///
    /// # Safety
    /// As `copy_row`.
    unsafe fn sized<const BYTES: usize>(
        count: usize,
        mut dst: *mut u8,
        dst_stride: isize,
        mut src: *const u8,
        src_stride: isize,
    ) {
        for _ in 0..count {
            // SAFETY: the caller's contract; the pointers are moved without being used past the last point.
            unsafe { std::ptr::copy_nonoverlapping(src, dst, BYTES) };
            (dst, src) = (dst.wrapping_offset(dst_stride), src.wrapping_offset(src_stride));
        }
    }
    let (d, s) = (dst_stride as isize, src_stride as isize);
    // SAFETY: the caller's contract, passed on.
    unsafe {
        match bytes {
            1 => sized::<1>(count, dst, d, src, s),
            2 => sized::<2>(count, dst, d, src, s),
            4 => sized::<4>(count, dst, d, src, s),
            8 => sized::<8>(count, dst, d, src, s),
            12 => sized::<12>(count, dst, d, src, s),
            16 => sized::<16>(count, dst, d, src, s),
            _ => {
                for i in 0..count as isize {
                    let (to, from) = (dst.wrapping_offset(i * d), src.wrapping_offset(i * s));
                    std::ptr::copy_nonoverlapping(from, to, bytes);
                }
            }
        }
    }
}

/// Repeats `pattern` over `bytes` bytes, a whole number of patterns.
///
/// # Safety
/// The bytes are valid for writing.
unsafe fn fill_run(dst: *mut u8, bytes: usize, pattern: &[u8]) {
    if pattern.iter().all(|b| *b == pattern[0]) {
        // SAFETY: the caller's contract.
        unsafe { std::ptr::write_bytes(dst, pattern[0], bytes) };
        return;
    }
    let first = pattern.len().min(bytes);
    // SAFETY: the first pattern fits, and each step copies from the part that is written to the part behind
    // it, within the run.
    unsafe {
        std::ptr::copy_nonoverlapping(pattern.as_ptr(), dst, first);
        let mut done = first;
        // Doubling up to a block that stays in the cache, a whole number of patterns.
        while done < bytes {
            let block = done.min(bytes - done).min((16 << 10) / first.max(1) * first.max(1) + first);
            std::ptr::copy_nonoverlapping(dst, dst.add(done), block);
            done += block;
        }
    }
}
