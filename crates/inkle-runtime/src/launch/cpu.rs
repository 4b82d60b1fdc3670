//! Kernels on the CPU.
//!
//! A compiled kernel is `extern "C" fn(params: *const u8, begin: u64, end: u64)`: it runs the threads
//! `begin..end`. Small launches run on the calling thread, without locks or allocation; larger ones are cut
//! into chunks that the worker threads share. Cuts fall on multiples of the kernel's lane count, so that a
//! thread is computed the same way however many workers there are.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pool;
use crate::elf::LoadedObject;
use crate::error::RuntimeError;
use crate::symbols::FailureScope;

/// The signature of a compiled kernel.
pub type CpuEntry = unsafe extern "C" fn(params: *const u8, begin: u64, end: u64);

/// A kernel that can be launched on the CPU.
pub struct CpuFunction {
    entry: CpuEntry,
    params_bytes: usize,
    lanes: u64,
    /// Measured cost, ticks per 1024 threads; zero until known. It decides how a launch is cut, nothing else.
    cost: AtomicU32,
    /// Counts short launches, of which only some are timed.
    launches: AtomicU32,
    /// Keeps the code mapped.
    _code: Option<Arc<LoadedObject>>,
}

impl fmt::Debug for CpuFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuFunction({} parameter bytes, {} lanes)", self.params_bytes, self.lanes)
    }
}

/// A launch estimated above this many ticks is shared with the workers: waking them costs some microseconds.
const SERIAL_TICKS: u64 = 60_000;
/// About how long one chunk should take, ticks.
const CHUNK_TICKS: u64 = 60_000;
/// Launches of this many threads are always timed; of smaller ones, one in `TIMED_EVERY`.
const TIMED_SIZE: u64 = 2048;
const TIMED_EVERY: u32 = 4;
/// The most chunks per thread: enough to even out, few enough to cost nothing.
const CHUNKS_PER_THREAD: u64 = 16;

/// A cheap clock with a tick of roughly half a nanosecond.
#[inline]
fn ticks() -> u64 {
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

impl CpuFunction {
    /// The kernel `symbol` of loaded code. `params_bytes` is the size of its parameter block
    /// ([`inkle_ir::ParamLayout::size`]); `lanes` is how many threads it runs at once (1 for scalar code).
    ///
    /// The code is trusted: the symbol must be a kernel entry ([`CpuEntry`]), and what it does with a
    /// parameter block of that size is as safe as its compiler made it.
    ///
    /// # Errors
    /// [`RuntimeError::NoSuchFunction`].
    pub fn new(
        code: Arc<LoadedObject>,
        symbol: &str,
        params_bytes: usize,
        lanes: u32,
    ) -> Result<CpuFunction, RuntimeError> {
        let missing = || RuntimeError::NoSuchFunction { name: symbol.to_owned() };
        let address = code.symbol(symbol).filter(|a| !a.is_null()).ok_or_else(missing)?;
        // SAFETY: the address is a symbol of code that is mapped while `code` lives, which the function keeps;
        // that it is a kernel entry is the trust stated above.
        let entry = unsafe { std::mem::transmute::<*const (), CpuEntry>(address) };
        Ok(CpuFunction::make(entry, params_bytes, lanes, Some(code)))
    }

    /// A kernel that is part of this program.
    ///
    /// # Safety
    /// `entry` may be called from any thread with any block of `params_bytes` bytes that callers of
    /// [`launch`](Self::launch) pass, and any range of threads below the launch's size.
    pub unsafe fn from_entry(entry: CpuEntry, params_bytes: usize, lanes: u32) -> CpuFunction {
        CpuFunction::make(entry, params_bytes, lanes, None)
    }

    fn make(
        entry: CpuEntry,
        params_bytes: usize,
        lanes: u32,
        code: Option<Arc<LoadedObject>>,
    ) -> CpuFunction {
        CpuFunction {
            entry,
            params_bytes,
            lanes: lanes.max(1).into(),
            cost: AtomicU32::new(0),
            launches: AtomicU32::new(0),
            _code: code,
        }
    }

    /// The size of the parameter block, bytes.
    pub fn params_bytes(&self) -> usize {
        self.params_bytes
    }

    /// How long a launch of `size` threads is expected to take on one thread, in ticks of roughly half a nanosecond;
    /// `None` until one was measured.
    pub fn estimate(&self, size: u64) -> Option<u64> {
        match self.cost.load(Ordering::Relaxed) {
            0 => None,
            cost => Some(size.saturating_mul(cost.into()) >> 10),
        }
    }

    /// Runs `size` threads and returns when all are done. `params` is the parameter block, 8-byte words.
    ///
    /// # Errors
    /// [`RuntimeError::ParamBytes`] if the block has another size; [`RuntimeError::CheckFailed`] with the
    /// first failed check, after all threads have run.
    #[inline]
    pub fn launch(&self, params: &[u64], size: u64) -> Result<(), RuntimeError> {
        if params.len() != self.params_bytes.div_ceil(8) {
            return Err(RuntimeError::ParamBytes { expected: self.params_bytes, found: params.len() * 8 });
        }
        if size == 0 {
            return Ok(());
        }
        let failures = FailureScope::new();
        let cost = self.cost.load(Ordering::Relaxed);
        let estimate = size.saturating_mul(cost.into()) >> 10;
        if size <= self.lanes {
            failures.enter(|| self.run(params, 0, size));
        } else if cost != 0 && estimate <= SERIAL_TICKS {
            // Reading the clock twice costs more than a short launch, so there a change of cost is noticed a little
            // late.
            let count = self.launches.load(Ordering::Relaxed).wrapping_add(1);
            self.launches.store(count, Ordering::Relaxed);
            if size >= TIMED_SIZE || count.is_multiple_of(TIMED_EVERY) {
                failures.enter(|| self.run_timed(params, 0, size));
            } else {
                failures.enter(|| self.run(params, 0, size));
            }
        } else {
            self.launch_large(params, size, cost, &failures)?;
        }
        failures.finish()
    }

    #[inline]
    fn run(&self, params: &[u64], begin: u64, end: u64) {
        // SAFETY: `launch` checked the block's size, and `begin..end` is within the launch; the rest is the
        // trust in the code that `new` and `from_entry` state. The code is mapped while `self` lives.
        unsafe { (self.entry)(params.as_ptr().cast(), begin, end) }
    }

    #[inline]
    fn run_timed(&self, params: &[u64], begin: u64, end: u64) {
        let start = ticks();
        self.run(params, begin, end);
        self.note_cost(ticks().saturating_sub(start), end - begin);
    }

    /// Moves the estimate half way to a new measurement. Concurrent launches may lose each other's; any value
    /// will do.
    #[inline]
    fn note_cost(&self, elapsed: u64, threads: u64) {
        let measured = (elapsed.saturating_mul(1024) / threads).clamp(1, u32::MAX.into()) as u32;
        let old = self.cost.load(Ordering::Relaxed);
        let new = if old == 0 { measured } else { old / 2 + measured / 2 + 1 };
        self.cost.store(new, Ordering::Relaxed);
    }

    #[cold]
    fn launch_large(
        &self,
        params: &[u64],
        size: u64,
        mut cost: u32,
        failures: &FailureScope,
    ) -> Result<(), RuntimeError> {
        let mut begin = 0;
        // With an unknown cost, growing pieces run here until one is long enough to tell.
        let mut piece = self.lanes;
        while cost == 0 && begin < size {
            let end = (begin + piece).min(size);
            let start = ticks();
            failures.enter(|| self.run(params, begin, end));
            let elapsed = ticks().saturating_sub(start);
            if elapsed > SERIAL_TICKS / 8 || end == size {
                self.note_cost(elapsed, end - begin);
                cost = self.cost.load(Ordering::Relaxed);
            }
            (begin, piece) = (end, piece.saturating_mul(2));
        }
        let rest = size - begin;
        if rest == 0 {
            return Ok(());
        }
        let threads = pool::cpu_threads() as u64;
        let work = rest.saturating_mul(cost.into()) >> 10;
        let chunks = (work / CHUNK_TICKS).clamp(1, threads * CHUNKS_PER_THREAD);
        let step = rest.div_ceil(chunks).next_multiple_of(self.lanes);
        let chunks = rest.div_ceil(step);
        if threads == 1 || chunks == 1 {
            failures.enter(|| self.run_timed(params, begin, size));
            return Ok(());
        }
        pool::parallel(chunks as usize, &|chunk| {
            let from = begin + chunk as u64 * step;
            let to = (from + step).min(size);
            failures.enter(|| {
                if chunk == 0 { self.run_timed(params, from, to) } else { self.run(params, from, to) }
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    /// Parameter block: the address of the counters, and their number.
    unsafe extern "C" fn count(params: *const u8, begin: u64, end: u64) {
        let params = params.cast::<u64>();
        // SAFETY: the tests pass two words: the address and the length of a live slice of atomics.
        let counters = unsafe {
            let start = std::ptr::with_exposed_provenance::<AtomicU64>(params.read() as usize);
            std::slice::from_raw_parts(start, params.add(1).read() as usize)
        };
        for counter in &counters[begin as usize..end as usize] {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn launch_counted(function: &CpuFunction, size: usize) -> Vec<u64> {
        let counters: Vec<AtomicU64> = (0..size).map(|_| AtomicU64::new(0)).collect();
        let params = [counters.as_ptr().expose_provenance() as u64, size as u64];
        function.launch(&params, size as u64).unwrap();
        counters.into_iter().map(AtomicU64::into_inner).collect()
    }

    #[test]
    fn every_thread_runs_once() {
        for lanes in [1, 8, 16] {
            // SAFETY: `count` is called with the blocks that `launch_counted` makes.
            let function = unsafe { CpuFunction::from_entry(count, 16, lanes) };
            for size in [0, 1, 7, 16, 17, 1000, 65_536, 1_000_003] {
                for _ in 0..3 {
                    assert!(
                        launch_counted(&function, size).iter().all(|&n| n == 1),
                        "{size} threads, {lanes} lanes"
                    );
                }
            }
        }
    }

    fn work_for_us(us: u64) {
        let start = std::time::Instant::now();
        while start.elapsed() < std::time::Duration::from_micros(us) {
            std::hint::spin_loop();
        }
    }

    unsafe extern "C" fn slow(params: *const u8, begin: u64, end: u64) {
        assert_eq!(begin % 8, 0, "cuts fall on lane boundaries");
        work_for_us(50 * (end - begin));
        // SAFETY: as for `count`, whose contract the test keeps.
        unsafe { count(params, begin, end) }
    }

    #[test]
    fn few_but_heavy_threads_are_shared() {
        // SAFETY: `slow` is called with the blocks that `launch_counted` makes.
        let function = unsafe { CpuFunction::from_entry(slow, 16, 8) };
        for _ in 0..2 {
            assert!(launch_counted(&function, 100).iter().all(|&n| n == 1));
        }
    }

    #[test]
    fn a_wrong_block_is_refused() {
        // SAFETY: never called: the block is refused.
        let function = unsafe { CpuFunction::from_entry(count, 16, 1) };
        assert_eq!(function.launch(&[0; 3], 5), Err(RuntimeError::ParamBytes { expected: 16, found: 24 }));
    }

    unsafe extern "C" fn fail_late(_: *const u8, begin: u64, end: u64) {
        type Report = unsafe extern "C" fn(*const std::ffi::c_char, *const u64, u32, *const u8);
        let address = crate::symbols::resolve("inkle_fail").unwrap();
        // SAFETY: the table registers the name with this signature.
        let fail: Report = unsafe { std::mem::transmute(address) };
        if (begin..end).contains(&90_000) {
            // SAFETY: a literal without conversions.
            unsafe { fail(c"x > 0, kernel.py:3".as_ptr(), std::ptr::null(), 0, std::ptr::null()) };
        }
        work_for_us((end - begin) / 100);
    }

    #[test]
    fn a_failed_check_of_any_worker_is_the_launch_s_error() {
        // SAFETY: `fail_late` does not read its block.
        let function = unsafe { CpuFunction::from_entry(fail_late, 0, 16) };
        for _ in 0..3 {
            let error = function.launch(&[], 100_000).unwrap_err();
            assert_eq!(error, RuntimeError::CheckFailed { message: "x > 0, kernel.py:3".into() });
            function.launch(&[], 1000).unwrap();
        }
    }
}
