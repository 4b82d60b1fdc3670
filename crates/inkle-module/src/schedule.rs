//! Doing many things at once: compiling and loading what a caller waits for, and what is likely to be wanted next.
//!
//! What is done in the background starts in order, what is needed for certain first, and never delays the end of the process by
//! more than what is running: [`finish_background`] drops the rest.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

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
struct Task {
    work: Box<dyn FnOnce() + Send>,
    /// Its result will be needed.
    is_certain: bool,
}

/// The background's state.
struct Background {
    queue: VecDeque<Task>,
    workers: usize,
    /// Threads of others that do a task.
    helpers: usize,
    ended: bool,
}

static BACKGROUND: Mutex<Background> =
    Mutex::new(Background { queue: VecDeque::new(), workers: 0, helpers: 0, ended: false });
static IDLE: Condvar = Condvar::new();

fn background() -> MutexGuard<'static, Background> {
    BACKGROUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Queues a task to be done when a core is likely to be free: on all cores but one, which is the caller's. With one core
/// alone nothing is done.
pub fn in_background(work: impl FnOnce() + Send + 'static) {
    queue(Task { work: Box::new(work), is_certain: false });
}

/// The same for what will be needed for certain: it is done before everything that was queued until now, and threads that wait
/// for other code do it too ([`help`]).
pub fn next_in_background(work: impl FnOnce() + Send + 'static) {
    queue(Task { work: Box::new(work), is_certain: true });
}

fn queue(task: Task) {
    let spare = cores() - 1;
    let mut state = background();
    if state.ended || spare == 0 {
        return;
    }
    if task.is_certain {
        state.queue.push_front(task);
    } else {
        state.queue.push_back(task);
    }
    if state.workers < spare {
        let worker = std::thread::Builder::new().name("inkle-background".into()).spawn(work_through);
        // Without a thread the task waits for another one's, or for ever; whoever needs its result makes it.
        state.workers += usize::from(worker.is_ok());
    }
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
            match state.queue.pop_front() {
                Some(task) if !state.ended => task,
                _ => return,
            }
        };
        (task.work)();
    }
}

/// Does the next task that is needed for certain, if one is queued: for a thread that would only wait otherwise.
pub(crate) fn help() {
    let task = {
        let mut state = background();
        if state.ended || !state.queue.front().is_some_and(|task| task.is_certain) {
            return;
        }
        state.helpers += 1;
        state.queue.pop_front()
    };
    let _leaving = Leaving(|state| state.helpers -= 1);
    if let Some(task) = task {
        (task.work)();
    }
}

/// Waits for the background's tasks that are running, and starts no more. Called before what tasks use goes away.
pub fn finish_background() {
    let mut state = background();
    state.ended = true;
    let dropped = std::mem::take(&mut state.queue);
    while state.workers + state.helpers > 0 {
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
    fn the_background_ends_with_what_is_running() {
        if cores() == 1 {
            println!("skipped: one core, so nothing is done in the background");
            return;
        }
        let (send, receive) = mpsc::channel();
        in_background(move || send.send(1).unwrap());
        assert_eq!(receive.recv().unwrap(), 1);
        finish_background();
        let (send, receive) = mpsc::channel::<i32>();
        in_background(move || send.send(2).unwrap());
        assert!(receive.recv().is_err(), "nothing is started after the end");
    }
}
