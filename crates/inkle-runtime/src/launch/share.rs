//! Work that a thread shares with whoever has time.
//!
//! Launches that follow each other often go through the same arrays, so each thread begins with the pieces that were its own the last
//! time: their data is in the caches of its core. When it has done these it takes from the others', from their ends.
//!
//! Sleeping threads wake up after some ten microseconds, as long as a launch may take. So who shares work waits for nobody to
//! come: it does what nobody else does, and in the end only waits for those that are in the middle of something. And
//! who has helped looks around for more for a while before it goes to sleep: launches often follow each other closely.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

/// How long a helper looks for more work: first without pause, then letting other threads go first.
const LOOK: Duration = Duration::from_micros(20);
const LINGER: Duration = Duration::from_micros(150);
/// How often it looks between two looks at the clock.
const LOOKS: u32 = 64;
/// Added to the number of helpers once no more are let in.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// Neighbouring pieces of work, of which some are left: the first in the upper half, the end in the lower one. Alone in a line
/// of the caches, since mostly one thread takes pieces.
#[repr(align(64))]
struct Section(AtomicU64);

impl Section {
    fn new(first: usize, end: usize) -> Section {
        Section(AtomicU64::new((first as u64) << 32 | end as u64))
    }

    /// The pieces left with this value.
    fn left(value: u64) -> Range<u64> {
        value >> 32..value & u64::from(u32::MAX)
    }

    fn has_more(&self) -> bool {
        !Section::left(self.0.load(Ordering::Relaxed)).is_empty()
    }

    /// Takes the first piece that is left, or the last one.
    fn take(&self, last: bool) -> Option<usize> {
        let without = |value: u64| {
            let left = Section::left(value);
            (!left.is_empty()).then(|| if last { value - 1 } else { value + (1 << 32) })
        };
        let before = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, without).ok()?;
        let left = Section::left(before);
        Some(if last { left.end - 1 } else { left.start } as usize)
    }
}

/// Pieces of work, of which each is done once.
struct Job {
    /// Lives until the job is closed and nobody is in it.
    work: *const (dyn Fn(usize) + Sync),
    /// The pieces, of each thread that may come.
    sections: SmallVec<[Section; 8]>,
    /// How many helpers are in it, and [`CLOSED`].
    helpers: AtomicUsize,
    owner: Thread,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: the work may be shared by its type; that it lives is seen to by `Job::help`.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    fn has_more(&self) -> bool {
        self.sections.iter().any(Section::has_more)
    }

    /// Does pieces until none is left, those of thread `own` first.
    fn drain(&self, own: usize, work: &(dyn Fn(usize) + Sync)) {
        let count = self.sections.len();
        for at in 0..count {
            let section = &self.sections[(own + at) % count];
            while let Some(piece) = section.take(at > 0) {
                work(piece);
            }
        }
    }

    /// Does pieces as thread `own`, unless it is closed.
    fn help(&self, own: usize) {
        if self.helpers.fetch_add(1, Ordering::Acquire) & CLOSED == 0 {
            // SAFETY: the owner closes the job and then waits for all helpers before it gives up the work; this one came in
            // before that.
            let work = unsafe { &*self.work };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.drain(own, work))) {
                *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload);
            }
        }
        if self.helpers.fetch_sub(1, Ordering::Release) == CLOSED + 1 {
            self.owner.unpark();
        }
    }

    /// Lets nobody in any more and waits for those that are.
    fn close(&self) {
        self.helpers.fetch_or(CLOSED, Ordering::Relaxed);
        let start = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if self.helpers.load(Ordering::Acquire) == CLOSED {
                    return;
                }
                std::hint::spin_loop();
            }
            let waited = start.elapsed();
            if waited > LINGER {
                thread::park();
            } else if waited > LOOK {
                thread::yield_now();
            }
        }
    }
}

/// Where work is offered.
#[derive(Default)]
pub(super) struct Board {
    jobs: Mutex<Vec<Arc<Job>>>,
    /// Changes when work is offered.
    offers: AtomicUsize,
    /// How many helpers look for work.
    looking: AtomicUsize,
    /// How many helpers there are, those among them that are yet to come.
    present: AtomicUsize,
}

impl Board {
    /// Does the pieces `0..count` of some work as thread `own`, with helpers: `call` calls for one, who comes to [`Self::help`] at
    /// some time. There are `most` at most.
    pub fn share(
        &self,
        own: usize,
        count: usize,
        work: &(dyn Fn(usize) + Sync),
        most: usize,
        call: impl Fn(),
    ) {
        // SAFETY: only the lifetime is another; see `Job::work`.
        let unbound = unsafe {
            std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(work)
        };
        assert!(u32::try_from(count).is_ok(), "more pieces of work than can be counted");
        let sections = count.min(most + 1).max(1);
        let first = |section: usize| section * count / sections;
        let job = Arc::new(Job {
            work: unbound,
            sections: (0..sections).map(|at| Section::new(first(at), first(at + 1))).collect(),
            helpers: AtomicUsize::new(0),
            owner: thread::current(),
            panic: Mutex::new(None),
        });
        /// Closes the job, also when a piece panics.
        struct Open<'a>(&'a Board, &'a Arc<Job>);
        impl Drop for Open<'_> {
            fn drop(&mut self) {
                self.0.jobs().retain(|job| !Arc::ptr_eq(job, self.1));
                self.1.close();
            }
        }
        let open = Open(self, &job);
        self.jobs().push(job.clone());
        self.offers.fetch_add(1, Ordering::SeqCst);
        let wanted = most.min(count - 1).saturating_sub(self.looking.load(Ordering::SeqCst));
        for _ in 0..wanted {
            if self.present.fetch_add(1, Ordering::Relaxed) >= most {
                self.present.fetch_sub(1, Ordering::Relaxed);
                break;
            }
            call();
        }
        job.drain(own, work);
        drop(open);
        let panic = job.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }

    /// Whether somebody looks for work.
    pub fn is_looked_at(&self) -> bool {
        self.looking.load(Ordering::Relaxed) > 0
    }

    /// Helps, as thread `own`, with what is offered until nothing has been for a while.
    pub fn help(&self, own: usize) {
        let mut seen = self.offers.load(Ordering::SeqCst).wrapping_sub(1);
        loop {
            self.looking.fetch_add(1, Ordering::SeqCst);
            let found = self.look(&mut seen);
            self.looking.fetch_sub(1, Ordering::SeqCst);
            // What was offered to one that looked is taken by it.
            match found.or_else(|| self.find(&mut seen)) {
                Some(job) => {
                    job.help(own);
                    // There may be others.
                    seen = seen.wrapping_sub(1);
                }
                None => break,
            }
        }
        self.present.fetch_sub(1, Ordering::Relaxed);
    }

    fn look(&self, seen: &mut usize) -> Option<Arc<Job>> {
        let start = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if let Some(job) = self.find(seen) {
                    return Some(job);
                }
                std::hint::spin_loop();
            }
            let looked = start.elapsed();
            if looked > LINGER {
                return None;
            } else if looked > LOOK {
                thread::yield_now();
            }
        }
    }

    /// Work with pieces left, if any was offered since the offer `seen`.
    fn find(&self, seen: &mut usize) -> Option<Arc<Job>> {
        let offers = self.offers.load(Ordering::SeqCst);
        if offers == *seen {
            return None;
        }
        *seen = offers;
        self.jobs().iter().find(|job| job.has_more()).cloned()
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Shares work with threads that are started when they are called.
    fn share(board: &Arc<Board>, count: usize, helpers: usize, work: &(dyn Fn(usize) + Sync)) {
        let called = AtomicUsize::new(0);
        board.share(0, count, work, helpers, || {
            let (board, own) = (board.clone(), called.fetch_add(1, Ordering::Relaxed) + 1);
            thread::spawn(move || board.help(own));
        });
    }

    #[test]
    fn every_piece_is_done_once_however_many_share_at_once() {
        let board = Arc::<Board>::default();
        thread::scope(|scope| {
            for owner in 0..4 {
                let board = &board;
                scope.spawn(move || {
                    for round in 0..300 {
                        let counts: Vec<AtomicUsize> =
                            (0..2 + (round + owner) % 50).map(|_| AtomicUsize::new(0)).collect();
                        share(board, counts.len(), 3, &|piece| {
                            // Work in work, now and then.
                            if piece == 7 {
                                let inner = AtomicUsize::new(0);
                                share(board, 5, 3, &|_| {
                                    inner.fetch_add(1, Ordering::Relaxed);
                                });
                                assert_eq!(inner.into_inner(), 5);
                            }
                            counts[piece].fetch_add(1, Ordering::Relaxed);
                        });
                        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_waits_for_helpers_that_do_not_come_and_late_ones_find_nothing() {
        let board = Arc::<Board>::default();
        let done = AtomicUsize::new(0);
        board.share(0, 100, &|_| _ = done.fetch_add(1, Ordering::Relaxed), 1, || {});
        assert_eq!(done.load(Ordering::Relaxed), 100);
        board.help(1);
        assert_eq!(done.into_inner(), 100);
    }

    #[test]
    fn the_owner_waits_for_a_helper_that_takes_long() {
        let board = Arc::<Board>::default();
        let (begun, done) = (AtomicBool::new(false), AtomicUsize::new(0));
        let owner = thread::current().id();
        share(&board, 2, 1, &|_| {
            if thread::current().id() == owner {
                // Until the helper has the other piece.
                while !begun.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            } else {
                begun.store(true, Ordering::Release);
                // So long that the owner goes to sleep.
                let start = Instant::now();
                while start.elapsed() < 10 * LINGER {
                    thread::yield_now();
                }
            }
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 2);
    }

    #[test]
    fn a_panic_of_a_helper_is_the_owner_s() {
        let board = Arc::<Board>::default();
        let owner = thread::current().id();
        let shared = catch_unwind(AssertUnwindSafe(|| {
            let panicked = AtomicBool::new(false);
            share(&board, 2, 1, &|_| {
                if thread::current().id() != owner {
                    panicked.store(true, Ordering::Release);
                    panic!("in a piece");
                }
                while !panicked.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            });
        }));
        let payload = shared.expect_err("the panic comes through");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"in a piece"));
    }
}
