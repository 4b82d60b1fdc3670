//! The worker threads that share large CPU launches and copies with the thread that asks for them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::share::Board;
use crate::error::RuntimeError;

/// Zero until the number is first needed.
static THREADS: AtomicUsize = AtomicUsize::new(0);
static POOL: Mutex<Option<Workers>> = Mutex::new(None);

/// A pool and the process that made it: after a fork the child has the pool but not its threads.
#[derive(Clone)]
struct Workers {
    pool: Arc<ThreadPool>,
    board: Arc<Board>,
    process: u32,
}

/// The most threads that can be asked for.
pub const MAX_CPU_THREADS: usize = 4096;

/// How many threads a CPU launch may use, the caller's included: what was set, else the environment variable
/// `INKLE_CPU_THREADS`, else one per core this process may run on.
pub fn cpu_threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => {
            let count = default_cpu_threads();
            // Another thread may have set a number meanwhile; that one stays.
            match THREADS.compare_exchange(0, count, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => count,
                Err(set) => set,
            }
        }
        count => count,
    }
}

/// What [`cpu_threads`] is when nobody set it.
pub fn default_cpu_threads() -> usize {
    let asked = std::env::var("INKLE_CPU_THREADS").ok().and_then(|text| text.trim().parse().ok());
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.filter(|&n| n > 0).unwrap_or_else(cores).min(MAX_CPU_THREADS)
}

/// Sets how many threads later CPU launches may use, the caller's included. Results do not depend on it.
///
/// # Errors
/// [`RuntimeError::Threads`] for zero, for more than [`MAX_CPU_THREADS`], or if the system refuses to start them.
pub fn set_cpu_threads(count: usize) -> Result<(), RuntimeError> {
    if count == 0 || count > MAX_CPU_THREADS {
        return Err(RuntimeError::Threads {
            count,
            reason: format!("the count must be 1 to {MAX_CPU_THREADS}"),
        });
    }
    let mut workers = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    retire(workers.take());
    if count > 1 {
        *workers = Some(build(count)?);
    }
    THREADS.store(count, Ordering::Relaxed);
    Ok(())
}

fn build(count: usize) -> Result<Workers, RuntimeError> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(count - 1)
        .thread_name(|i| format!("inkle-cpu-{i}"))
        .build()
        .map_err(|error| RuntimeError::Threads { count, reason: error.to_string() })?;
    Ok(Workers { pool: Arc::new(pool), board: Arc::default(), process: std::process::id() })
}

/// Ends a pool. One of another process has no threads that could hear it.
fn retire(workers: Option<Workers>) {
    if let Some(workers) = workers.filter(|w| w.process != std::process::id()) {
        std::mem::forget(workers);
    }
}

fn pool() -> Result<Option<Workers>, RuntimeError> {
    let count = cpu_threads();
    if count <= 1 {
        return Ok(None);
    }
    let mut workers = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if workers.as_ref().is_none_or(|w| w.process != std::process::id()) {
        retire(workers.take());
        *workers = Some(build(count)?);
    }
    Ok(workers.clone())
}

/// Whether this is a thread of a pool.
pub(crate) fn is_worker() -> bool {
    rayon::current_thread_index().is_some()
}

/// Whether a worker looks for work at this moment.
pub(crate) fn a_worker_looks() -> bool {
    let workers = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    workers.as_ref().is_some_and(|workers| workers.board.is_looked_at())
}

/// Does some of what waits for the workers, if this is one of them: false where it is not.
pub(crate) fn work_elsewhere() -> bool {
    match rayon::yield_now() {
        Some(rayon::Yield::Executed) => true,
        Some(rayon::Yield::Idle) => {
            std::thread::yield_now();
            true
        }
        None => false,
    }
}

/// Calls `work` once for each of `0..chunks`, on this thread and the workers; returns when all are done.
/// Which thread does which chunk is not defined.
pub(crate) fn parallel(chunks: usize, work: &(dyn Fn(usize) + Sync)) -> Result<(), RuntimeError> {
    let pool = if chunks > 1 { pool()? } else { None };
    let Some(Workers { pool, board, .. }) = pool else {
        (0..chunks).for_each(work);
        return Ok(());
    };
    let own = || rayon::current_thread_index().map_or(0, |worker| worker + 1);
    board.share(own(), chunks, work, pool.current_num_threads(), || {
        let board = board.clone();
        pool.spawn(move || board.help(own()));
    });
    Ok(())
}

/// Runs pieces of work that do not depend on each other, on this thread and the workers; returns when all are done.
///
/// # Errors
/// [`RuntimeError::Threads`] if the workers cannot be started; else the first piece's, in the order of `0..count`.
pub fn run_together(
    count: usize,
    work: &(dyn Fn(usize) -> Result<(), RuntimeError> + Sync),
) -> Result<(), RuntimeError> {
    let failed: Mutex<Option<(usize, RuntimeError)>> = Mutex::new(None);
    parallel(count, &|piece| {
        if let Err(error) = work(piece) {
            let mut first = failed.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|(earlier, _)| piece < *earlier) {
                *first = Some((piece, error));
            }
        }
    })?;
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_is_done_once() {
        for chunks in [0, 1, 2, 3, 100, 10_000] {
            let counts: Vec<AtomicUsize> = (0..chunks).map(|_| AtomicUsize::new(0)).collect();
            parallel(chunks, &|i| {
                counts[i].fetch_add(1, Ordering::Relaxed);
            })
            .unwrap();
            assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1), "{chunks} chunks");
        }
    }

    #[test]
    fn the_first_failure_of_pieces_is_reported_after_all_have_run() {
        let ran = AtomicUsize::new(0);
        let outcome = run_together(100, &|piece| {
            ran.fetch_add(1, Ordering::Relaxed);
            if piece % 40 == 39 {
                Err(RuntimeError::NoSuchFunction { name: piece.to_string() })
            } else {
                Ok(())
            }
        });
        assert_eq!(outcome, Err(RuntimeError::NoSuchFunction { name: "39".into() }));
        assert_eq!(ran.into_inner(), 100);
    }

    #[test]
    fn impossible_counts_are_refused() {
        for count in [0, MAX_CPU_THREADS + 1] {
            assert!(
                matches!(set_cpu_threads(count), Err(RuntimeError::Threads { count: c, .. }) if c == count)
            );
        }
    }
}
