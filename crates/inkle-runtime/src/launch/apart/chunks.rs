//! Which worker runs which chunk of a launch.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use smallvec::SmallVec;

/// Of a worker that has begun so many chunks are left to it, where it alone has a range of what they add to.
const SOON_DONE: usize = 1;

/// The chunks of a launch, a share of each part for each worker. What a worker does of the parts in turn is of the same elements,
/// which then are in its caches.
pub(super) struct Chunks {
    /// Those that are left, of all that there are up to their end.
    all: Range<usize>,
    workers: usize,
    parts: usize,
    /// How many chunks of a part a worker has.
    share: usize,
    /// Whether workers have ranges of arrays.
    has_ranges: bool,
    /// Per share, how many of its chunks were taken.
    taken: SmallVec<[AtomicUsize; 16]>,
    /// Per share, whether some worker has the range that belongs to it.
    claimed: SmallVec<[AtomicBool; 16]>,
    /// How many chunks were run by workers whose they were not.
    strays: AtomicUsize,
    /// How many shares were run by workers beside theirs, which had not come yet.
    late: AtomicUsize,
}

impl Chunks {
    /// Chunks for workers that have ranges of arrays, through which all chunks go this many times; `None` where they have none.
    pub fn new(all: Range<usize>, workers: usize, parts: Option<usize>) -> Chunks {
        let count = all.end;
        Chunks {
            all,
            workers,
            parts: parts.unwrap_or(1),
            share: count.div_ceil(parts.unwrap_or(1) * workers),
            has_ranges: parts.is_some(),
            taken: (0..workers).map(|_| AtomicUsize::new(0)).collect(),
            claimed: (0..workers).map(|_| AtomicBool::new(false)).collect(),
            strays: AtomicUsize::new(0),
            late: AtomicUsize::new(0),
        }
    }

    /// The shares that a worker begins with: its own, unless it comes so late that another has it.
    pub fn begin(&self, worker: usize) -> Range<usize> {
        worker..worker + usize::from(!self.has_ranges || self.claim(worker))
    }

    fn claim(&self, share: usize) -> bool {
        self.claimed.get(share).is_some_and(|claimed| !claimed.swap(true, Ordering::AcqRel))
    }

    /// The next chunk for a worker with these shares, which may become more: shares beside them of workers that have not come
    /// yet. Their ranges are one with its own then.
    ///
    /// A worker that finds no chunk has seen to it that all shares beside its own are claimed. So when no worker runs chunks any
    /// more none is left.
    pub fn take(&self, own: &mut Range<usize>) -> Option<usize> {
        if !self.has_ranges {
            let worker = own.start;
            let chunk = self.next(worker);
            return chunk.or_else(|| {
                let mut others = (worker + 1..worker + self.workers).map(|of| of % self.workers);
                others.find_map(|of| self.stray(of))
            });
        }
        if own.start == own.end {
            return None;
        }
        loop {
            if let Some(chunk) = own.clone().find_map(|of| self.next(of)) {
                return Some(chunk);
            }
            if self.claim(own.end) {
                own.end += 1;
            } else if own.start > 0 && self.claim(own.start - 1) {
                own.start -= 1;
            } else {
                break;
            }
            self.late.fetch_add(1, Ordering::Relaxed);
        }
        // What is out of its range takes a worker longer than the one whose it is.
        let others = (0..self.workers).filter(|of| !own.contains(of));
        let mut behind =
            others.filter(|&of| self.taken[of].load(Ordering::Relaxed) + SOON_DONE < self.share * self.parts);
        behind.find_map(|of| self.stray(of))
    }

    /// The next chunk of another worker's share.
    fn stray(&self, of: usize) -> Option<usize> {
        let chunk = self.next(of)?;
        self.strays.fetch_add(1, Ordering::Relaxed);
        Some(chunk)
    }

    /// The next chunk of a worker's share. Whoever finds none knows of everyone who found one.
    fn next(&self, of: usize) -> Option<usize> {
        loop {
            let own = self.taken[of].fetch_add(1, Ordering::AcqRel);
            let (part, at) = (own % self.parts, own / self.parts);
            if at >= self.share {
                return None;
            }
            let chunk = (part * self.workers + of) * self.share + at;
            if self.all.contains(&chunk) {
                return Some(chunk);
            }
        }
    }

    /// Who ran what, once all is done.
    pub fn dealt(&self) -> Dealt {
        Dealt {
            chunks: self.all.len(),
            workers: self.workers,
            strays: self.strays.load(Ordering::Relaxed),
            late: self.late.load(Ordering::Relaxed),
        }
    }
}

/// Who ran the chunks of a launch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dealt {
    pub chunks: usize,
    pub workers: usize,
    /// How many were run by workers whose they were not.
    pub strays: usize,
    /// How many workers came when others had their shares.
    pub late: usize,
}

impl Dealt {
    /// Of so many, those for chunks that were run by workers whose they were not.
    pub fn of_strays(&self, all: u64) -> u64 {
        all * self.strays as u64 / self.chunks.max(1) as u64
    }

    /// Whether more than half of the workers ran their own shares.
    pub fn were_most_there(&self) -> bool {
        2 * self.late < self.workers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_of(chunks: &Chunks, shares: &mut Range<usize>) -> Vec<usize> {
        std::iter::from_fn(|| chunks.take(shares)).collect()
    }

    #[test]
    fn a_worker_goes_through_its_share_of_each_part_in_turn() {
        let chunks = Chunks::new(0..12, 2, Some(3));
        let (mut first, mut second) = (chunks.begin(0), chunks.begin(1));
        let order: Vec<usize> = (0..6).filter_map(|_| chunks.take(&mut first)).collect();
        assert_eq!(order, [0, 4, 8, 1, 5, 9]);
        assert_eq!(all_of(&chunks, &mut second), [2, 6, 10, 3, 7, 11]);
        assert_eq!(chunks.take(&mut first), None);
        let dealt = chunks.dealt();
        assert_eq!((dealt.strays, dealt.late), (0, 0));
    }

    #[test]
    fn shares_of_who_does_not_come_go_to_the_next() {
        let chunks = Chunks::new(0..16, 4, Some(1));
        let mut own = chunks.begin(1);
        let mut taken = all_of(&chunks, &mut own);
        taken.sort_unstable();
        assert_eq!((taken, own), ((0..16).collect(), 0..4));
        assert_eq!(chunks.dealt().late, 3);
        let mut late = chunks.begin(2);
        assert_eq!(chunks.take(&mut late), None, "its range is another's");
    }

    #[test]
    fn of_a_worker_that_is_there_only_what_it_has_plenty_of_is_taken() {
        let chunks = Chunks::new(0..16, 2, Some(1));
        let (mut first, mut second) = (chunks.begin(0), chunks.begin(1));
        assert_eq!(chunks.take(&mut second), Some(8));
        assert_eq!(all_of(&chunks, &mut first), (0..8).chain(9..15).collect::<Vec<_>>());
        assert_eq!(first, 0..1);
        assert_eq!(all_of(&chunks, &mut second), [15]);
    }

    #[test]
    fn without_ranges_whoever_has_time_takes_any() {
        let chunks = Chunks::new(3..10, 3, None);
        let mut own = chunks.begin(2);
        assert_eq!(all_of(&chunks, &mut own), [8, 9, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn no_chunk_is_lost_or_run_twice_whatever_workers_do() {
        for (count, workers, parts) in [(24, 2, 2), (7, 3, 2), (100, 5, 6), (1, 4, 1)] {
            for _ in 0..200 {
                let chunks = Chunks::new(0..count, workers, Some(parts));
                let run: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                std::thread::scope(|scope| {
                    for worker in 0..workers {
                        let (chunks, run) = (&chunks, &run);
                        scope.spawn(move || {
                            let mut shares = chunks.begin(worker);
                            while let Some(chunk) = chunks.take(&mut shares) {
                                run[chunk].fetch_add(1, Ordering::Relaxed);
                            }
                        });
                    }
                });
                assert!(run.iter().all(|times| times.load(Ordering::Relaxed) == 1));
            }
        }
    }
}
