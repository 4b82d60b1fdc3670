//! Doing many things at once: compiling and loading what a caller waits for, and what is likely to be wanted next.
//!
//! What is done in the background starts in order, what is needed for certain first, and never delays the end of the process by
//! more than what is running: [`finish_background`] drops the rest.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

/// The cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Calls `work` for each job, on up to `workers` threads that take the jobs in order, and `done` after each, on the
/// calling thread. The results are in the order of the jobs.
///
/// # Panics
/// When `work` or `done` does.
pub fn for_each<J: Sync, R: Send>(
    jobs: &[J],
    workers: usize,
    work: impl Fn(&J) -> R + Sync,
    mut done: impl FnMut(usize, &R),
) -> Vec<R> {
    if workers <= 1 || jobs.len() <= 1 {
        let one = |(index, job)| {
            let result = work(job);
            done(index, &result);
            result
        };
        return jobs.iter().enumerate().map(one).collect();
    }
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..workers.min(jobs.len()) {
            let (send, next, work) = (send.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { return };
                    // The receiver is gone only when the caller's thread panics.
                    if send.send((index, work(job))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        for (index, result) in receive {
            done(index, &result);
            results[index] = Some(result);
        }
    });
    // A worker that panicked has made the scope panic.
    results.into_iter().flatten().collect()
}

/// What is to be done in the background.
type Task = Box<dyn FnOnce() + Send>;

/// The background's state.
struct Background {
    queue: VecDeque<Task>,
    workers: usize,
    /// Threads that wait, and leave their cores to others.
    waiting: usize,
    ended: bool,
}

impl Background {
    /// Whether there is a task for a worker more than `others`: cores of threads that wait are free, too.
    fn has_work(&self, others: usize) -> bool {
        !self.ended && !self.queue.is_empty() && others < *CORES - 1 + self.waiting
    }

    /// Starts a worker if there is work for one more.
    fn start_worker(&mut self) {
        if self.has_work(self.workers) {
            let worker = std::thread::Builder::new().name("inkle-background".into()).spawn(work_through);
            // Without a thread the task waits for another one's, or for ever; whoever needs its result makes it.
            self.workers += usize::from(worker.is_ok());
        }
    }
}

/// What [`cores`] said when the background first asked: it is a system call, and each task asks several times, under the lock.
static CORES: LazyLock<usize> = LazyLock::new(cores);

static BACKGROUND: Mutex<Background> =
    Mutex::new(Background { queue: VecDeque::new(), workers: 0, waiting: 0, ended: false });
static IDLE: Condvar = Condvar::new();

fn background() -> MutexGuard<'static, Background> {
    BACKGROUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Queues a task to be done when a core is likely to be free: on all cores but one, which is the caller's, and on that one too
/// while a caller waits for other code ([`while_waiting`]). With one core alone nothing is done.
pub fn in_background(work: impl FnOnce() + Send + 'static) {
    queue(|queue| queue.push_back(Box::new(work)));
}

/// The same for what will be needed for certain: it is done before everything that was queued until now.
pub fn next_in_background(work: impl FnOnce() + Send + 'static) {
    queue(|queue| queue.push_front(Box::new(work)));
}

fn queue(push: impl FnOnce(&mut VecDeque<Task>)) {
    let mut state = background();
    if state.ended || *CORES == 1 {
        return;
    }
    push(&mut state.queue);
    state.start_worker();
}

/// Counts a thread out, also when a task panics.
struct Leaving(fn(&mut Background));

impl Drop for Leaving {
    fn drop(&mut self) {
        (self.0)(&mut background());
        IDLE.notify_all();
    }
}

/// What a background thread does: tasks until there is none.
fn work_through() {
    let _leaving = Leaving(|state| state.workers -= 1);
    loop {
        let task = {
            let mut state = background();
            if !state.has_work(state.workers - 1) {
                return;
            }
            state.queue.pop_front()
        };
        if let Some(task) = task {
            task();
        }
    }
}

/// Waits for something that another thread makes, and leaves this thread's core to the background meanwhile.
pub(crate) fn while_waiting<T>(wait: impl FnOnce() -> T) -> T {
    {
        let mut state = background();
        state.waiting += 1;
        state.start_worker();
    }
    let _leaving = Leaving(|state| state.waiting -= 1);
    wait()
}

/// Waits for the background's tasks that are running, and starts no more. Called before what tasks use goes away.
pub fn finish_background() {
    let mut state = background();
    state.ended = true;
    let dropped = std::mem::take(&mut state.queue);
    while state.workers > 0 {
        state = IDLE.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    drop(state);
    // Not under the lock: what tasks hold may take a while to let go of.
    drop(dropped);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..200).collect();
        for workers in [0, 1, 2, 7, 300] {
            let mut seen = Vec::new();
            let results = for_each(&jobs, workers, |j| j * j, |index, r| seen.push((index, *r)));
            assert_eq!(results, jobs.iter().map(|j| j * j).collect::<Vec<_>>());
            seen.sort_unstable();
            assert_eq!(seen, jobs.iter().map(|j| (*j as usize, j * j)).collect::<Vec<_>>());
        }
        assert!(for_each(&[0; 0], 4, |j| *j, |_, _| ()).is_empty());
    }

    #[test]
    fn jobs_run_at_once() {
        // Each job waits for the other: one worker alone would wait for ever.
        let barrier = std::sync::Barrier::new(2);
        let results = for_each(&[1, 2], 2, |_| barrier.wait().is_leader(), |_, _| ());
        assert_eq!(results.iter().filter(|leader| **leader).count(), 1);
    }

    #[test]
    fn the_background_uses_cores_of_waiting_threads_and_ends_with_what_is_running() {
        if *CORES == 1 {
            println!("skipped: one core, so nothing is done in the background");
            return;
        }
        // Each of these waits for all others, and is one more than there are background threads.
        let spare = *CORES - 1;
        let barrier = std::sync::Arc::new(std::sync::Barrier::new(spare + 1));
        let (send, receive) = mpsc::channel();
        for _ in 0..=spare {
            let (barrier, send) = (barrier.clone(), send.clone());
            next_in_background(move || {
                barrier.wait();
                send.send(()).unwrap();
            });
        }
        while_waiting(|| (0..=spare).for_each(|_| receive.recv().unwrap()));
        let (send, receive) = mpsc::channel();
        in_background(move || send.send(1).unwrap());
        assert_eq!(receive.recv().unwrap(), 1);
        finish_background();
        let (send, receive) = mpsc::channel::<i32>();
        in_background(move || send.send(2).unwrap());
        assert!(receive.recv().is_err(), "nothing is started after the end");
    }
}
