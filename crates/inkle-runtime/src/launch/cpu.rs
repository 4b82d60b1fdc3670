//! Kernels on the CPU.
//!
//! A compiled kernel is `extern "C" fn(params: *const u8, begin: u64, end: u64)`: it runs the threads
//! `begin..end`. Small launches run on the calling thread, without locks or allocation; larger ones are cut
//! into chunks that the worker threads share. Cuts fall on multiples of the kernel's lane count, so that a
//! thread is computed the same way however many workers there are.
//!
//! Code that updates memory atomically may have a second form with plain updates, for launches that run on one
//! thread and alone. Which of the two a launch takes is decided by what they cost: plain updates are many times
//! cheaper, and where many threads meet in few places they win however many cores there are. Where all that is done to an
//! array is that something is added, workers can run that form on ranges of their own and on copies (`apart.rs`). An exclusive lock keeps the plain
//! form apart from every other kernel that updates memory.
//!
//! The other form is seldom run, so whoever compiles kernels may make it only when it is needed ([`CpuFunction::with_late`]):
//! when other kernels that update memory are running, or when a kernel that cannot add to copies has run alone for so long that
//! finding out whether the other form is quicker does not matter any more.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use inkle_ir::{IN_ORDER, OwnRange, Updates};

use super::apart::Sharing;
use super::cost::{note_cost, ticks};
use super::late::{Late, MakeLate};
use super::pool;
use super::updates::updates;
use crate::elf::LoadedObject;
use crate::error::RuntimeError;
use crate::symbols::FailureScope;

mod updating;

/// The signature of a compiled kernel.
pub type CpuEntry = unsafe extern "C" fn(params: *const u8, begin: u64, end: u64);

/// The same of the form with plain updates. Code without ranges, as all was once, does not look at them.
pub(super) type AloneEntry =
    unsafe extern "C" fn(params: *const u8, begin: u64, end: u64, ranges: *mut OwnRange);

/// The ranges of a worker that is alone. Nothing is out of them, so nothing is written to them.
static EVERYTHING: [OwnRange; OwnRange::MOST] = [OwnRange::EVERYTHING; OwnRange::MOST];

fn everything() -> *mut OwnRange {
    EVERYTHING.as_ptr().cast_mut()
}

/// A kernel that can be launched on the CPU.
pub struct CpuFunction {
    entry: CpuEntry,
    params_bytes: usize,
    lanes: u64,
    /// The form with plain updates.
    alone: Option<AloneEntry>,
    /// The form with atomic updates, where it is made at first need; then `entry` is the other form's.
    late: Option<Late>,
    /// Threads run in order, on the thread that launches.
    in_order: bool,
    /// How several threads can run the form with plain updates.
    updates: Option<Updates>,
    /// Measured cost, ticks per 1024 threads; zero until known. It decides how a launch is cut, nothing else.
    cost: AtomicU32,
    /// The same of the form with plain updates.
    alone_cost: AtomicU32,
    /// Whether `cost` was measured with threads beside each other since it was last forgotten.
    met: AtomicBool,
    /// What copies cost that workers add to, ticks per 1024 bytes of a worker's; zero until known.
    copy_cost: AtomicU32,
    /// Whether the last launch with copies that was measured took longer than on one thread.
    was_slow: AtomicBool,
    /// How workers share what they add to.
    sharing: Mutex<Sharing>,
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
/// About how long one chunk should take, ticks: so little that no thread waits long for another's last one.
const CHUNK_TICKS: u64 = 12_000;
/// Launches of this many threads are always timed; of smaller ones, one in `TIMED_EVERY`.
const TIMED_SIZE: u64 = 2048;
const TIMED_EVERY: u32 = 4;
/// The most chunks per thread: enough to even out, few enough to cost nothing.
const CHUNKS_PER_THREAD: u64 = 64;

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
        let (function, lacks) = CpuFunction::found(code, symbol, params_bytes, lanes)?;
        if lacks { Err(RuntimeError::NoSuchFunction { name: symbol.to_owned() }) } else { Ok(function) }
    }

    /// The same for code that may lack the form with atomic updates where there is one with plain updates that can always be
    /// run; `make` makes a function of the former when it is needed.
    ///
    /// # Errors
    /// [`RuntimeError::NoSuchFunction`].
    pub fn with_late(
        code: Arc<LoadedObject>,
        symbol: &str,
        params_bytes: usize,
        lanes: u32,
        make: Box<MakeLate>,
    ) -> Result<CpuFunction, RuntimeError> {
        let (function, lacks) = CpuFunction::found(code, symbol, params_bytes, lanes)?;
        let late = lacks.then(|| Late::new(make));
        Ok(CpuFunction { late, ..function })
    }

    /// What the code has, and whether the form with atomic updates is missing.
    fn found(
        code: Arc<LoadedObject>,
        symbol: &str,
        params_bytes: usize,
        lanes: u32,
    ) -> Result<(CpuFunction, bool), RuntimeError> {
        let address = |symbol: &str| code.symbol(symbol).filter(|a| !a.is_null());
        let (shared, plain) = (address(symbol), address(&format!("{symbol}_alone")));
        // SAFETY: the addresses are symbols of code that is mapped while `code` lives, which the function keeps; that they are
        // kernel entries is the trust stated above. Where the first form is missing its place is taken by what is there, and the
        // caller sees to it that it is not run.
        let (entry, alone) = unsafe {
            let entry = |address| std::mem::transmute::<*const (), CpuEntry>(address);
            let alone = |address| std::mem::transmute::<*const (), AloneEntry>(address);
            (shared.or(plain).map(entry), plain.map(alone))
        };
        let updates = code.symbol(&format!("{symbol}_updates")).and_then(|words| {
            let mut at = words.cast::<u32>();
            Updates::from_words(|| {
                // SAFETY: the symbol is a constant that the compiler made, of as many words as it says itself; the code
                // is mapped.
                let word = unsafe { at.read() };
                at = at.wrapping_add(1);
                Some(word)
            })
        });
        let in_order = code.symbol(IN_ORDER).is_some();
        let entry = entry.ok_or_else(|| RuntimeError::NoSuchFunction { name: symbol.to_owned() })?;
        let function = CpuFunction {
            alone,
            in_order,
            updates,
            ..CpuFunction::make(entry, params_bytes, lanes, Some(code))
        };
        Ok((function, shared.is_none()))
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
            alone: None,
            late: None,
            in_order: false,
            updates: None,
            cost: AtomicU32::new(0),
            alone_cost: AtomicU32::new(0),
            met: AtomicBool::new(false),
            copy_cost: AtomicU32::new(0),
            was_slow: AtomicBool::new(false),
            sharing: Mutex::default(),
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
        let cost = if self.alone.is_some() { &self.alone_cost } else { &self.cost };
        match cost.load(Ordering::Relaxed) {
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
        if self.in_order {
            self.launch_in_order(params, size, &failures)?;
        } else if let Some(alone) = self.alone {
            self.launch_updating(alone, params, size, &failures)?;
        } else {
            self.launch_shared(params, 0, size, &failures)?;
        }
        failures.finish()
    }

    /// Runs all threads here, one vector after the other: what updates add up to, and what they give back, is then the same
    /// however many threads the machine has.
    fn launch_in_order(
        &self,
        params: &[u64],
        size: u64,
        failures: &FailureScope,
    ) -> Result<(), RuntimeError> {
        if let Some(alone) = self.alone
            && let Ok(_only) = updates().try_write()
        {
            // SAFETY: as for `run`; the lock keeps other updates away.
            failures.enter(|| unsafe { alone(params.as_ptr().cast(), 0, size, everything()) });
            return Ok(());
        }
        let beside = self.beside()?;
        let _others = updates().read().unwrap_or_else(PoisonError::into_inner);
        failures.enter(|| beside.run(params, 0, size));
        Ok(())
    }

    /// The function whose usual form has atomic updates; made now if it must be.
    fn beside(&self) -> Result<&CpuFunction, RuntimeError> {
        self.late.as_ref().map_or(Ok(self), Late::get)
    }

    /// The same if it is there.
    fn beside_if_made(&self) -> Option<&CpuFunction> {
        self.late.as_ref().map_or(Some(self), Late::if_made)
    }

    /// Runs the threads `begin..end` in the usual form.
    #[inline]
    fn launch_shared(
        &self,
        params: &[u64],
        begin: u64,
        end: u64,
        failures: &FailureScope,
    ) -> Result<(), RuntimeError> {
        let size = end - begin;
        let cost = self.cost.load(Ordering::Relaxed);
        let estimate = size.saturating_mul(cost.into()) >> 10;
        if size <= self.lanes {
            failures.enter(|| self.run(params, begin, end));
        } else if cost != 0 && is_short(estimate, 2) {
            // Reading the clock twice costs more than a short launch, so there a change of cost is noticed a little
            // late.
            let count = self.launches.load(Ordering::Relaxed).wrapping_add(1);
            self.launches.store(count, Ordering::Relaxed);
            if size >= TIMED_SIZE || count.is_multiple_of(TIMED_EVERY) {
                failures.enter(|| self.run_timed(params, begin, end));
            } else {
                failures.enter(|| self.run(params, begin, end));
            }
        } else {
            self.launch_large(params, begin, end, cost, failures)?;
        }
        Ok(())
    }

    /// How many threads a chunk has when this many are cut.
    fn step(&self, threads: u64, cost: u32) -> u64 {
        let work = threads.saturating_mul(cost.into()) >> 10;
        let workers = pool::cpu_threads() as u64;
        let chunks = (work / CHUNK_TICKS).next_multiple_of(workers).clamp(1, workers * CHUNKS_PER_THREAD);
        threads.div_ceil(chunks).next_multiple_of(self.lanes)
    }

    /// Runs growing pieces from `begin` on until one is long enough to tell what threads cost; gives where it stopped.
    fn measure(
        &self,
        run: &dyn Fn(u64, u64),
        cost: &AtomicU32,
        mut begin: u64,
        size: u64,
        failures: &FailureScope,
    ) -> u64 {
        let mut piece = self.lanes;
        while begin < size {
            let end = (begin + piece).min(size);
            let start = ticks();
            failures.enter(|| run(begin, end));
            let elapsed = ticks().saturating_sub(start);
            let threads = end - begin;
            begin = end;
            if elapsed > SERIAL_TICKS / 2 || end == size {
                note_cost(cost, elapsed, threads);
                break;
            }
            piece = piece.saturating_mul(2);
        }
        begin
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
        note_cost(&self.cost, ticks().saturating_sub(start), end - begin);
    }

    #[cold]
    fn launch_large(
        &self,
        params: &[u64],
        mut begin: u64,
        size: u64,
        mut cost: u32,
        failures: &FailureScope,
    ) -> Result<(), RuntimeError> {
        if cost == 0 {
            begin = self.measure(&|from, to| self.run(params, from, to), &self.cost, begin, size, failures);
            cost = self.cost.load(Ordering::Relaxed);
        }
        let rest = size - begin;
        if rest == 0 {
            return Ok(());
        }
        let step = self.step(rest, cost);
        let chunks = rest.div_ceil(step);
        if pool::cpu_threads() == 1 || chunks == 1 {
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

/// Whether a launch that is expected to take so many ticks is not worth sharing now between so many threads. A worker that
/// looks for work, as it does for a while after it had some, need not be woken: then it is if each has a chunk to do.
fn is_short(estimate: u64, threads: usize) -> bool {
    let is_little = estimate <= CHUNK_TICKS.saturating_mul(threads as u64);
    estimate <= SERIAL_TICKS && (is_little || !pool::a_worker_looks())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicU64;
    use std::thread::ThreadId;

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

    /// Parameter block: the address of a list of threads, and how many there must be before any goes on.
    unsafe extern "C" fn meet(params: *const u8, _: u64, _: u64) {
        let params = params.cast::<u64>();
        // SAFETY: the test passes the address of a live list, and a number.
        let (list, wanted) = unsafe {
            let list = std::ptr::with_exposed_provenance::<Mutex<Vec<ThreadId>>>(params.read() as usize);
            (&*list, params.add(1).read())
        };
        let me = std::thread::current().id();
        list.lock().unwrap().push(me);
        while wanted > 1 && list.lock().unwrap().iter().all(|&id| id == me) {
            std::thread::yield_now();
        }
    }

    /// What is shared follows from what threads cost, not from how many there are: waking others takes longer than a short
    /// launch.
    #[test]
    fn a_launch_is_shared_when_it_takes_long() {
        pool::set_cpu_threads(4).unwrap();
        let ran = |threads: u64, cost: u32, wanted: u64| {
            // SAFETY: the block is what `meet` takes.
            let function = unsafe { CpuFunction::from_entry(meet, 16, 8) };
            function.cost.store(cost, Ordering::Relaxed);
            let seen = Mutex::new(Vec::<ThreadId>::new());
            let params = [std::ptr::from_ref(&seen).expose_provenance() as u64, wanted];
            function.launch(&params, threads).unwrap();
            seen.into_inner().unwrap()
        };
        // Many threads of one tick each are one call, here.
        assert_eq!(ran(SERIAL_TICKS, 1024, 1), [std::thread::current().id()]);
        // A few that take long are cut, and others come to help.
        let shared = ran(1024, 100 * SERIAL_TICKS as u32, 2);
        assert!(shared.len() > 8, "{} chunks", shared.len());
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
