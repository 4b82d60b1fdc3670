//! What kernels cost on the CPU, as measured.

use std::sync::atomic::{AtomicU32, Ordering};

/// A cheap clock with a tick of roughly half a nanosecond.
#[inline]
pub(super) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: reading the time-stamp counter has no preconditions on x86-64.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64 * 2
    }
}

/// What a cost is taken to be after a new measurement: less at once, more little by little. Other programs that take the
/// processor away meanwhile add to a measurement, any number of times of it; nothing takes away from one.
fn estimate_after(old: u32, measured: u32) -> u32 {
    if measured <= old || old == 0 { measured } else { old + (measured - old).min(old) / 4 + 1 }
}

/// Notes a measurement. Concurrent launches may lose each other's; any value will do.
#[inline]
pub(super) fn note_cost(cost: &AtomicU32, elapsed: u64, threads: u64) {
    let measured = cost_of(elapsed, threads);
    cost.store(estimate_after(cost.load(Ordering::Relaxed), measured), Ordering::Relaxed);
}

/// Notes what threads cost that others ran beside: without these they take as long at most.
#[inline]
pub(super) fn note_lower_cost(cost: &AtomicU32, elapsed: u64, threads: u64) {
    cost.fetch_min(cost_of(elapsed, threads), Ordering::Relaxed);
}

/// Ticks per 1024 threads.
fn cost_of(elapsed: u64, threads: u64) -> u32 {
    (elapsed.saturating_mul(1024) / threads).clamp(1, u32::MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_beside_others_cost_no_more_than_without_them() {
        let cost = AtomicU32::new(500);
        note_lower_cost(&cost, 600, 1024);
        assert_eq!(cost.load(Ordering::Relaxed), 500);
        note_lower_cost(&cost, 400, 1024);
        assert_eq!(cost.load(Ordering::Relaxed), 400);
    }

    #[test]
    fn an_interrupted_launch_hardly_changes_what_a_kernel_costs() {
        assert_eq!(estimate_after(0, 500), 500);
        assert_eq!(estimate_after(500, 400), 400);
        assert_eq!(estimate_after(400, 1_000_000), 501);
        assert_eq!(estimate_after(400, 404), 402);
        let many = (0..20).fold(400, |cost, _| estimate_after(cost, 4000));
        assert!((3000..=4100).contains(&many), "{many}");
        assert!(estimate_after(u32::MAX - 1, u32::MAX) == u32::MAX);
    }
}
