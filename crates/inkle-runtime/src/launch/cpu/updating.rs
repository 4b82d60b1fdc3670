//! Kernels that update memory: in which form a launch runs, decided by what they cost.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{MutexGuard, PoisonError, RwLockReadGuard, TryLockError};

use super::{AloneEntry, CpuFunction, TIMED_EVERY, TIMED_SIZE, everything, is_short};
use crate::error::RuntimeError;
use crate::launch::apart::{self, Cut, Scratch, Sharing};
use crate::launch::cost::{note_cost, note_lower_cost, ticks};
use crate::launch::pool;
use crate::launch::updates::updates;
use crate::symbols::FailureScope;

/// Every how many launches of a kernel with two forms what they cost is measured anew: it depends on the data too.
const FORGET_EVERY: u32 = 256;

/// Whether a kernel's launch of this number measures anew. The first ones find memory that was never touched and caches
/// that hold other things, so what they measure is soon looked at again.
fn measures_anew(launch: u32) -> bool {
    launch.is_multiple_of(FORGET_EVERY) || launch > 1 && launch < FORGET_EVERY && launch.is_power_of_two()
}

/// Waits until no launch's updates are plain. A worker does others' work meanwhile: that launch may wait for it.
fn beside_others() -> RwLockReadGuard<'static, Scratch> {
    loop {
        match updates().try_read() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(error)) => return error.into_inner(),
            Err(TryLockError::WouldBlock) => {}
        }
        if !pool::work_elsewhere() {
            return updates().read().unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// How a launch's threads are run.
enum Form {
    /// On one thread, with plain updates.
    Alone,
    /// On several, with plain updates of copies.
    Apart(apart::Plan),
    /// On several, with atomic updates.
    Beside,
}

/// About how many bytes of copies can be made and added up again in a tick, where it is not known.
const BYTES_PER_TICK: u64 = 12;
/// The same where most of it may not be needed, which is worth a try.
const HOPED_PER_TICK: u64 = 100;

/// The first launches of a kernel, and what they may take for it not to matter how they run, ticks.
const EARLY: u32 = 8;
const EARLY_TICKS: u64 = 1_500_000;

/// Chunks per worker that updates a copy: a number with many divisors, so that of several equal parts of a launch each has as many
/// chunks of each worker as the others.
const CHUNKS_APART: usize = 12;

impl CpuFunction {
    /// Runs a kernel that updates memory: in the form with plain updates where that is cheaper and nothing else that
    /// updates memory is running.
    pub(super) fn launch_updating(
        &self,
        alone: AloneEntry,
        params: &[u64],
        size: u64,
        failures: &FailureScope,
    ) -> Result<(), RuntimeError> {
        let count = self.launches.load(Ordering::Relaxed).wrapping_add(1);
        self.launches.store(count, Ordering::Relaxed);
        if measures_anew(count) {
            self.alone_cost.store(0, Ordering::Relaxed);
            self.copy_cost.store(0, Ordering::Relaxed);
            if count.is_multiple_of(FORGET_EVERY) {
                self.sharing().forget();
            }
            if let Some(beside) = self.beside_if_made() {
                beside.cost.store(0, Ordering::Relaxed);
            }
            self.met.store(false, Ordering::Relaxed);
        }
        let mut begin = 0;
        while begin < size {
            let rest = size - begin;
            let mut end = size;
            match self.form(params, rest) {
                Form::Alone => {
                    if let Ok(_only) = updates().try_write() {
                        begin = self.run_alone(alone, params, begin, size, failures);
                        continue;
                    }
                }
                Form::Apart(plan) => {
                    if let Ok(mut scratch) = updates().try_write() {
                        return self.run_apart(alone, &plan, params, begin..size, &mut scratch, failures);
                    }
                }
                // What it costs when threads meet is not known yet: a part tells.
                Form::Beside if !self.met.load(Ordering::Relaxed) => {
                    end = begin + (rest / 8).next_multiple_of(self.lanes).max(self.lanes).min(rest);
                }
                Form::Beside => {}
            }
            let beside = self.beside()?;
            let _others = beside_others();
            beside.launch_shared(params, begin, end, failures)?;
            self.met.store(true, Ordering::Relaxed);
            begin = end;
        }
        Ok(())
    }

    /// How this many threads are best run, as far as is known; where nothing is, alone is where to begin.
    fn form(&self, params: &[u64], threads: u64) -> Form {
        let ticks = |cost: &AtomicU32| threads.saturating_mul(cost.load(Ordering::Relaxed).into()) >> 10;
        let alone = ticks(&self.alone_cost);
        let shared = self.beside_if_made().map_or(0, |beside| ticks(&beside.cost));
        let workers = pool::cpu_threads();
        if is_short(alone, workers) || self.is_early() && alone <= EARLY_TICKS {
            return Form::Alone;
        }
        if let Some(updates) = self.updates.as_ref().filter(|_| workers > 1 && !pool::is_worker())
            && let Some(plan) = apart::Plan::new(updates, params)
            && let Some(bytes) = plan.bytes(workers)
        {
            let copies = match self.copy_cost.load(Ordering::Relaxed) {
                0 if plan.lines() > 0 && self.sharing().next().is_some() => bytes / HOPED_PER_TICK,
                0 => bytes / BYTES_PER_TICK,
                cost => bytes.saturating_mul(cost.into()) >> 10,
            };
            let each = alone / workers as u64;
            // Before it is known what atomic updates cost, copies that cost little are made.
            let beside = if shared == 0 { alone / 2 + each / 2 } else { shared / workers as u64 };
            if each + copies <= beside.min(alone - alone / 4) {
                return Form::Apart(plan);
            }
            // What was measured may have been an exception, so little by little it is forgotten.
            let cost = self.copy_cost.load(Ordering::Relaxed);
            self.copy_cost.store(cost - cost.div_ceil(64).min(cost), Ordering::Relaxed);
        }
        if let Some(late) = self.late.as_ref().filter(|_| shared == 0 && workers > 1) {
            late.note_alone(alone);
        }
        if shared == 0 || alone <= shared / workers as u64 { Form::Alone } else { Form::Beside }
    }

    /// Runs threads from `begin` on with plain updates of copies.
    fn run_apart(
        &self,
        alone: AloneEntry,
        plan: &apart::Plan,
        params: &[u64],
        threads: Range<u64>,
        scratch: &mut Scratch,
        failures: &FailureScope,
    ) -> Result<(), RuntimeError> {
        let (size, workers) = (threads.end, pool::cpu_threads());
        let chunks = workers * CHUNKS_APART;
        let (lines, start) = (plan.lines(), ticks());
        let (parts, was_settled) = {
            let sharing = self.sharing();
            (sharing.next().filter(|_| lines > 0), sharing.is_settled())
        };
        // What is tried may take longer than the threads do elsewhere.
        let is_usual = lines == 0 || was_settled;
        let cut = Cut { begin: threads.start, size, chunks, lanes: self.lanes, workers, parts };
        let timed = |run: &dyn Fn(), threads: u64| {
            let start = ticks();
            run();
            if is_usual {
                note_lower_cost(&self.alone_cost, ticks().saturating_sub(start), threads);
            }
        };
        let outcome = plan.run(alone, params, &cut, scratch, failures, &timed)?;
        let mut sharing = self.sharing();
        if lines > 0 {
            sharing.note(parts, &outcome, lines);
        }
        if sharing.is_settled() != was_settled {
            self.copy_cost.store(0, Ordering::Relaxed);
        }
        let bytes = plan.bytes(workers).unwrap_or(0);
        if bytes > 0 && !outcome.is_fresh && is_usual {
            let elapsed = ticks().saturating_sub(start);
            let each =
                (size - threads.start).saturating_mul(self.alone_cost.load(Ordering::Relaxed).into()) >> 10;
            // Other programs may have had the cores: what took longer than on one thread is believed if it happens again.
            let was_slow = self.was_slow.swap(elapsed > each, Ordering::Relaxed);
            if elapsed <= each || was_slow {
                note_cost(&self.copy_cost, elapsed.saturating_sub(each / workers as u64), bytes);
            }
        }
        Ok(())
    }

    /// Whether this is one of the first launches: then other kernels are being compiled, on the cores that would help.
    fn is_early(&self) -> bool {
        self.launches.load(Ordering::Relaxed) <= EARLY
    }

    fn sharing(&self) -> MutexGuard<'_, Sharing> {
        self.sharing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs threads from `begin` on without others beside them and gives where it stopped: at `size`, or once it
    /// knows what both forms cost.
    fn run_alone(
        &self,
        alone: AloneEntry,
        params: &[u64],
        begin: u64,
        size: u64,
        failures: &FailureScope,
    ) -> u64 {
        let mut at = begin;
        // SAFETY: as for `run`; that nothing else updates memory meanwhile is the caller's lock.
        let run = |from, to| unsafe { alone(params.as_ptr().cast(), from, to, everything()) };
        if self.alone_cost.load(Ordering::Relaxed) == 0 {
            at = self.measure(&run, &self.alone_cost, at, size, failures);
        }
        if let Some(beside) = self.beside_if_made()
            && beside.cost.load(Ordering::Relaxed) == 0
        {
            at = self.measure(&|from, to| beside.run(params, from, to), &beside.cost, at, size, failures);
        }
        if at > begin {
            return at;
        }
        let count = self.launches.load(Ordering::Relaxed);
        let timed = size - begin >= TIMED_SIZE || count.is_multiple_of(TIMED_EVERY);
        let start = if timed { ticks() } else { 0 };
        failures.enter(|| run(begin, size));
        if timed {
            note_cost(&self.alone_cost, ticks().saturating_sub(start), size - begin);
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::sync::{Arc, Mutex};

    use inkle_ir::OwnRange;

    use super::*;
    use crate::launch::late::Late;

    #[test]
    fn costs_are_measured_again_soon_and_then_rarely() {
        let due: Vec<u32> = (1..=600).filter(|&launch| measures_anew(launch)).collect();
        assert_eq!(due, [2, 4, 8, 16, 32, 64, 128, 256, 512]);
    }

    /// Held by tests whose launches update memory: they count which form ran, and share a process under `cargo test`.
    static UPDATING: Mutex<()> = Mutex::new(());

    /// Parameter block: the address of one counter. Each thread adds one.
    unsafe extern "C" fn add_one(params: *const u8, begin: u64, end: u64) {
        // SAFETY: the test passes the address of a live atomic.
        let counter =
            unsafe { &*std::ptr::with_exposed_provenance::<AtomicU64>(params.cast::<usize>().read()) };
        for _ in begin..end {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    static ALONE_RUNS: AtomicU32 = AtomicU32::new(0);

    /// The same without an exchange: loses additions of others in between.
    unsafe extern "C" fn add_one_alone(params: *const u8, begin: u64, end: u64, _: *mut OwnRange) {
        // SAFETY: the test passes the address of a live atomic.
        let counter =
            unsafe { &*std::ptr::with_exposed_provenance::<AtomicU64>(params.cast::<usize>().read()) };
        ALONE_RUNS.fetch_add(1, Ordering::Relaxed);
        for _ in begin..end {
            counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    #[test]
    fn plain_updates_run_alone_whoever_launches() {
        let _alone = UPDATING.lock().unwrap_or_else(PoisonError::into_inner);
        let counter = AtomicU64::new(0);
        let address = [std::ptr::from_ref(&counter).expose_provenance() as u64];
        let functions: Vec<CpuFunction> = (0..4)
            .map(|_| {
                // SAFETY: both forms are called with the address of the counter.
                let function = unsafe { CpuFunction::from_entry(add_one, 8, 8) };
                CpuFunction { alone: Some(add_one_alone), ..function }
            })
            .collect();
        let sizes = [1, 8, 1000, 3, 400_000, 70_000];
        std::thread::scope(|scope| {
            for function in &functions {
                scope.spawn(|| {
                    for _ in 0..2 * FORGET_EVERY / sizes.len() as u32 {
                        sizes.iter().for_each(|&size| function.launch(&address, size).unwrap());
                    }
                });
            }
        });
        let rounds = u64::from(2 * FORGET_EVERY / sizes.len() as u32);
        assert_eq!(counter.into_inner(), 4 * rounds * sizes.iter().sum::<u64>());
        assert!(ALONE_RUNS.load(Ordering::Relaxed) > 0);
    }

    /// A function with the plain form only, and how often the other one was made.
    fn early(fails: bool) -> (CpuFunction, Arc<AtomicU32>) {
        let made = Arc::new(AtomicU32::new(0));
        let count = made.clone();
        let make = move || {
            count.fetch_add(1, Ordering::Relaxed);
            if fails {
                return Err(RuntimeError::NotMade { reason: "no reason".into() });
            }
            // SAFETY: the tests call it with the address of a counter.
            Ok(unsafe { CpuFunction::from_entry(add_one, 8, 8) })
        };
        // SAFETY: as above.
        let function = unsafe { CpuFunction::from_entry(add_one, 8, 8) };
        (CpuFunction { alone: Some(add_one_alone), late: Some(Late::new(Box::new(make))), ..function }, made)
    }

    #[test]
    fn the_other_form_is_made_once_others_update_memory_meanwhile() {
        let _alone = UPDATING.lock().unwrap_or_else(PoisonError::into_inner);
        let counter = AtomicU64::new(0);
        let address = [std::ptr::from_ref(&counter).expose_provenance() as u64];
        let ((function, made), (failing, _)) = (early(false), early(true));
        for _ in 0..20 {
            function.launch(&address, 1000).unwrap();
        }
        assert_eq!((counter.load(Ordering::Relaxed), made.load(Ordering::Relaxed)), (20_000, 0));
        let others = updates().read().unwrap();
        for _ in 0..20 {
            function.launch(&address, 1000).unwrap();
        }
        let error = RuntimeError::NotMade { reason: "no reason".into() };
        assert_eq!(failing.launch(&address, 10), Err(error));
        drop(others);
        assert_eq!((counter.load(Ordering::Relaxed), made.load(Ordering::Relaxed)), (40_000, 1));
        failing.launch(&address, 10).unwrap();
    }
}
