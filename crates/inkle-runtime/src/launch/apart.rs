//! Workers that update copies of their own.
//!
//! The form of a kernel whose updates are plain can run on several threads at once if all that it does to an array is that
//! it adds: the first worker adds to the array, each other one to a copy that starts as zeros, and when all are done the
//! workers together add the copies to the array and make them zero again. What threads do to elements that are theirs alone needs not even that. Which arrays are of which kind
//! the code says ([`Updates`]); whether they lie so that it holds for a launch is looked at here.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use inkle_ir::{LaunchBounds, MAX_DIMS, Scalar, Updates, Use};
use smallvec::SmallVec;

use self::extent::{Desc, Extent};
use self::sums::move_sums;
use super::cpu::CpuEntry;
use super::pool;
use crate::error::RuntimeError;
use crate::symbols::FailureScope;

mod extent;
mod sums;

/// The most bytes of all copies together.
const MAX_COPIES: u64 = 128 << 20;
/// Memory for copies up to this many bytes is kept for the next launch.
const MAX_KEPT: usize = 16 << 20;
/// Copies begin on such boundaries, so that two workers never write to one line of the cache.
const LINE: usize = 64;
/// How often a worker looks whether the others are done before it lets other threads go first.
const SPINS: u32 = 4096;

/// Memory for copies, kept from launch to launch. Between launches all of it is zero.
pub(super) type Scratch = Vec<u64>;

/// An array that workers have copies of.
#[derive(Debug)]
struct Summed {
    /// Which word of the parameter block is its address.
    word: usize,
    address: u64,
    bytes: usize,
    scalar: Scalar,
    /// Where its copy lies in the memory of a worker, bytes.
    offset: usize,
}

/// How a launch can run apart.
#[derive(Debug)]
pub(super) struct Plan {
    arrays: SmallVec<[Summed; 4]>,
    /// Bytes of a worker's copies.
    bytes: usize,
    /// Some of the arrays have memory in common, so that their copies must be added one after the other.
    meet: bool,
}

/// The threads of a launch and how they are cut.
pub(super) struct Cut {
    pub begin: u64,
    pub size: u64,
    pub step: u64,
    /// How many pieces may run at once.
    pub workers: usize,
    /// How many times the launch is taken to go through the arrays ([`Parts`]).
    pub parts: usize,
}

/// How many times launches of a kernel go through the arrays that they add to: twice where the edges of a grid lie in one array, those
/// of each direction one after the other. Each worker has the same share of each part, and of the arrays: then it adds up
/// what is its own, in the caches of its core. The number is found by trying: the one with which workers add least to others' shares.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// How many were tried, and of these the best, from the lowest bit.
    state: AtomicU32,
    /// How much the best one left for others.
    least: AtomicU64,
}

/// The numbers that are tried. Each divides the number of chunks of each worker.
const TRIED: [usize; 5] = [1, 2, 3, 4, 6];

impl Parts {
    /// The number for the next launch.
    pub fn next(&self) -> usize {
        let state = self.state.load(Ordering::Relaxed);
        let tried = (state >> 16) as usize;
        TRIED[if tried < TRIED.len() { tried } else { (state & 0xffff) as usize }]
    }

    /// Notes what a launch left for others to add up. Of launches at one time one is noted or the other.
    pub fn note(&self, parts: usize, left: u64) {
        let state = self.state.load(Ordering::Relaxed);
        let tried = (state >> 16) as usize;
        if TRIED.get(tried) != Some(&parts) {
            return;
        }
        let best = if tried == 0 || left < self.least.load(Ordering::Relaxed) {
            self.least.store(left, Ordering::Relaxed);
            tried as u32
        } else {
            state & 0xffff
        };
        self.state.store((tried as u32 + 1) << 16 | best, Ordering::Relaxed);
    }

    /// Tries again from now on.
    pub fn forget(&self) {
        self.state.store(0, Ordering::Relaxed);
    }
}

impl Plan {
    /// How the launch with this parameter block can run; `None` when it cannot.
    pub fn new(updates: &Updates, params: &[u64]) -> Option<Plan> {
        let mut extents: SmallVec<[Option<Extent>; 16]> = SmallVec::new();
        let mut plan = Plan { arrays: SmallVec::new(), bytes: 0, meet: false };
        for array in &updates.arrays {
            let desc = Desc::of(array, params)?;
            let extent = desc.extent();
            extents.push(extent);
            let Some(extent) = extent else { continue };
            match array.used {
                Use::Plain => {}
                Use::Own(mask) if desc.is_compact() && is_apart(mask, params) => {}
                Use::Sums(scalar)
                    if desc.is_compact() && extent.first.is_multiple_of(scalar.size().into()) =>
                {
                    let bytes = usize::try_from(extent.end - extent.first).ok()?;
                    plan.arrays.push(Summed {
                        word: desc.word,
                        address: extent.first,
                        bytes,
                        scalar,
                        offset: plan.bytes,
                    });
                    plan.bytes = plan.bytes.checked_add(bytes)?.checked_next_multiple_of(LINE)?;
                }
                Use::Own(_) | Use::Sums(_) => return None,
            }
        }
        for (index, (a, first)) in updates.arrays.iter().zip(&extents).enumerate() {
            for (b, second) in updates.arrays.iter().zip(&extents).skip(index + 1) {
                let (Some(first), Some(second)) = (first, second) else { continue };
                let meet = first.first < second.end && second.first < first.end;
                if meet && !may_share(a.used, b.used) {
                    return None;
                }
                plan.meet |= meet && matches!(a.used, Use::Sums(_));
            }
        }
        Some(plan)
    }

    /// Bytes of a worker's copies, if that many workers can have them.
    pub fn bytes(&self, workers: usize) -> Option<u64> {
        let bytes = self.bytes as u64;
        (bytes.checked_mul(workers as u64)? <= MAX_COPIES).then_some(bytes)
    }

    /// Runs the threads of a launch. `timed` gets how long the first one took, and its
    /// threads. Gives how many lines workers added to others' shares of the arrays.
    ///
    /// # Errors
    /// [`RuntimeError::Threads`] if the workers cannot be started.
    pub fn run(
        &self,
        entry: CpuEntry,
        params: &[u64],
        cut: &Cut,
        scratch: &mut Scratch,
        failures: &FailureScope,
        timed: &(dyn Fn(&dyn Fn(), u64) + Sync),
    ) -> Result<u64, RuntimeError> {
        let chunks = (cut.size - cut.begin).div_ceil(cut.step) as usize;
        let workers = cut.workers.min(chunks).max(1);
        let words = (workers - 1) * (self.bytes / 8) + LINE / 8;
        if scratch.len() < words {
            *scratch = Vec::new();
            *scratch = vec![0; words];
        }
        let memory = (scratch.as_mut_ptr().expose_provenance()).next_multiple_of(LINE);
        let place = |worker: usize, array: &Summed| memory + (worker - 1) * self.bytes + array.offset;
        let used: SmallVec<[AtomicBool; 16]> = (0..workers).map(|_| AtomicBool::new(false)).collect();
        // Each worker begins with the chunks that are its own, its share of each part, and goes on with the others'.
        let next_chunk: SmallVec<[AtomicUsize; 16]> = (0..workers).map(|_| AtomicUsize::new(0)).collect();
        let share = chunks.div_ceil(cut.parts * workers);
        let take_chunk = |worker: usize| {
            (worker..worker + workers).map(|of| of % workers).find_map(|of| {
                loop {
                    // Whoever finds no chunk left knows of everyone who found one.
                    let own = next_chunk[of].fetch_add(1, Ordering::AcqRel);
                    let (part, at) = (own / share, own % share);
                    let chunk = (part * workers + of) * share + at;
                    if part >= cut.parts {
                        return None;
                    } else if chunk < chunks {
                        return Some(chunk);
                    }
                }
            })
        };
        // Lines that were added to others' shares.
        let left = AtomicU64::new(0);
        let meeting = AtomicUsize::new(0);
        // How many workers may be running a chunk.
        let running = AtomicUsize::new(0);
        let run_chunks = |worker: usize| {
            let mut own: SmallVec<[u64; 64]> = SmallVec::new();
            while let Some(chunk) = take_chunk(worker) {
                if worker > 0 && own.is_empty() {
                    own.extend_from_slice(params);
                    for array in &self.arrays {
                        // What is before the array's first element is before the copy's.
                        let at = place(worker, array) as u64;
                        own[array.word] = own[array.word].wrapping_sub(array.address).wrapping_add(at);
                    }
                    used[worker].store(true, Ordering::Relaxed);
                }
                let block = if worker > 0 { own.as_slice() } else { params };
                let from = cut.begin + chunk as u64 * cut.step;
                let to = (from + cut.step).min(cut.size);
                // SAFETY: as for every launch of this block; the copies are like the arrays, and lie in `scratch`, which is
                // borrowed here; no other worker has this one's. That updates of the arrays meet no others is the
                // caller's lock, and that only one worker has the arrays themselves.
                let run = || failures.enter(|| unsafe { entry(block.as_ptr().cast(), from, to) });
                if chunk == 0 { timed(&run, to - from) } else { run() }
            }
        };
        let add_up = |by: usize, array: &Summed, from: usize, bytes: usize| {
            for worker in (1..workers).filter(|&worker| used[worker].load(Ordering::Relaxed)) {
                let (to, copy) = (array.address as usize + from, place(worker, array) + from);
                // SAFETY: the copy lies in `scratch`, where it is padded to whole lines, the array is the launch's; both hold
                // scalars of this type, aligned. Each piece is one worker's, arrays that meet are too, and no chunk is running.
                let lines = unsafe { move_sums(to, copy, bytes, array.scalar) };
                if worker != by {
                    left.fetch_add(lines, Ordering::Relaxed);
                }
            }
        };
        let work = |worker: usize| {
            running.fetch_add(1, Ordering::Relaxed);
            run_chunks(worker);
            running.fetch_sub(1, Ordering::Release);
            // No chunk is left, so who comes now runs none: once nobody does, all are done.
            let mut looks = 0;
            while running.load(Ordering::Acquire) > 0 {
                looks += 1;
                if looks < SPINS { std::hint::spin_loop() } else { thread::yield_now() }
            }
            if self.meet {
                if meeting.fetch_add(1, Ordering::Relaxed) == 0 {
                    self.arrays.iter().for_each(|array| add_up(worker, array, 0, array.bytes));
                }
                return;
            }
            for array in &self.arrays {
                // Whole lines, so that no two workers write to one.
                let bound =
                    |worker: usize| (array.bytes * worker / workers).next_multiple_of(LINE).min(array.bytes);
                let (from, end) = (bound(worker), bound(worker + 1));
                add_up(worker, array, from, end - from);
            }
        };
        pool::parallel(workers, &work)?;
        if scratch.len() * 8 > MAX_KEPT {
            *scratch = Vec::new();
        }
        Ok(left.into_inner())
    }
}

/// Whether two arrays may have memory in common.
fn may_share(a: Use, b: Use) -> bool {
    match (a, b) {
        (Use::Plain, Use::Plain) => true,
        (Use::Sums(a), Use::Sums(b)) => a == b,
        _ => false,
    }
}

/// Whether threads of different indices in the dimensions of `mask` are all that there are.
fn is_apart(mask: u8, params: &[u64]) -> bool {
    let dim = |d: usize| (params[d / 2] >> (32 * (d % 2))) as u32;
    const { assert!(std::mem::offset_of!(LaunchBounds, dims) == 0) };
    (0..MAX_DIMS).all(|d| mask >> d & 1 != 0 || dim(d) <= 1)
}

#[cfg(test)]
mod tests {
    use inkle_ir::{ArrayDesc, TouchedArray};

    use super::*;

    const HEAD: usize = size_of::<LaunchBounds>() / 8;
    const DESC: usize = size_of::<ArrayDesc>() / 8;

    /// A parameter block of one-dimensional arrays, for a launch of 100 threads by `rows`.
    fn block(rows: u32, arrays: &[(u64, i32, i64)]) -> Vec<u64> {
        let mut words = vec![0; HEAD + arrays.len() * DESC];
        words[0] = 100 | u64::from(rows) << 32;
        words[1] = 1 | 1 << 32;
        for (index, &(data, extent, stride)) in arrays.iter().enumerate() {
            let at = HEAD + index * DESC;
            words[at] = data;
            words[at + std::mem::offset_of!(ArrayDesc, shape) / 8] = extent as u64;
            words[at + std::mem::offset_of!(ArrayDesc, strides) / 8] = stride as u64;
        }
        words
    }

    fn array(index: usize, used: Use) -> TouchedArray {
        let descriptor = ((HEAD + index * DESC) * 8) as u32;
        let written = used != Use::Plain;
        TouchedArray { descriptor, gradient: false, written, ndim: 1, size: 4, used }
    }

    fn updates(uses: &[Use]) -> Updates {
        Updates { arrays: uses.iter().enumerate().map(|(index, &used)| array(index, used)).collect() }
    }

    const SUMS: Use = Use::Sums(Scalar::F32);

    #[test]
    fn arrays_apart_have_copies() {
        let params = block(1, &[(4096, 10, 4), (8192, 20, 4)]);
        let plan = Plan::new(&updates(&[SUMS, SUMS]), &params).expect("nothing is shared");
        assert_eq!(plan.arrays.len(), 2);
        assert_eq!(plan.bytes(3), Some(64 + 128));
        let plan = Plan::new(&updates(&[SUMS, Use::Own(1)]), &params).expect("nothing is shared");
        assert_eq!(plan.arrays.len(), 1);
        let large = block(1, &[(1 << 40, 1 << 30, 4)]);
        assert_eq!(Plan::new(&updates(&[SUMS]), &large).and_then(|plan| plan.bytes(2)), None);
    }

    #[test]
    fn arrays_that_meet_or_have_gaps_do_not() {
        let meeting = block(1, &[(4096, 10, 4), (4132, 20, 4)]);
        assert!(Plan::new(&updates(&[SUMS, Use::Plain]), &meeting).is_none());
        assert!(Plan::new(&updates(&[Use::Own(1), SUMS]), &meeting).is_none());
        assert!(Plan::new(&updates(&[SUMS, SUMS]), &meeting).is_some());
        assert!(Plan::new(&updates(&[SUMS, Use::Sums(Scalar::I32)]), &meeting).is_none());
        assert!(Plan::new(&updates(&[Use::Plain, Use::Plain]), &meeting).is_some());
        for stride in [8, 0, -4] {
            assert!(Plan::new(&updates(&[SUMS]), &block(1, &[(4096, 10, stride)])).is_none(), "{stride}");
        }
        assert!(Plan::new(&updates(&[SUMS]), &block(1, &[(4098, 10, 4)])).is_none());
    }

    #[test]
    fn threads_that_share_an_index_share_its_element() {
        let updates = updates(&[Use::Own(1)]);
        assert!(Plan::new(&updates, &block(1, &[(4096, 100, 4)])).is_some());
        assert!(Plan::new(&updates, &block(2, &[(4096, 100, 4)])).is_none());
    }

    /// Adds one to element `thread % 10` of the first array and two to element `thread % 7` of the second, plainly.
    unsafe extern "C" fn add(params: *const u8, begin: u64, end: u64) {
        let words = params.cast::<u64>();
        for (index, count, what) in [(0, 10, 1.0), (1, 7, 2.0)] {
            // SAFETY: the test's block has the addresses of arrays that are that long, which only this thread uses.
            unsafe {
                let data = std::ptr::with_exposed_provenance_mut::<f32>(
                    words.add(HEAD + index * DESC).read() as usize,
                );
                (begin..end).for_each(|thread| *data.add((thread % count) as usize) += what);
            }
        }
        // Long enough that others get their share.
        (0..10_000).for_each(|_| std::hint::spin_loop());
    }

    #[test]
    fn sums_in_one_array_by_two_parameters_are_added_one_after_the_other() {
        let mut all = [0.0f32; 10];
        let address = all.as_mut_ptr().expose_provenance() as u64;
        let params = block(1, &[(address, 10, 4), (address, 10, 4)]);
        let plan = Plan::new(&updates(&[SUMS, SUMS]), &params).expect("sums may meet");
        assert!(plan.meet);
        let mut scratch = Scratch::new();
        for _ in 0..50 {
            let failures = FailureScope::new();
            let cut = Cut { begin: 0, size: 700, step: 70, workers: 4, parts: 2 };
            plan.run(add, &params, &cut, &mut scratch, &failures, &|run, _| run()).unwrap();
        }
        let expected = |i: usize| 50.0 * (70.0 + if i < 7 { 200.0 } else { 0.0 });
        assert!((0..10).all(|i| all[i] == expected(i)), "{all:?}");
    }

    #[test]
    fn parts_are_tried_and_the_one_that_leaves_least_stays() {
        let parts = Parts::default();
        let left = |parts: usize| if parts == 2 { 7 } else { 100 * parts as u64 };
        let tried: Vec<usize> = (0..8)
            .map(|_| {
                let next = parts.next();
                parts.note(next, left(next));
                next
            })
            .collect();
        assert_eq!(tried, [1, 2, 3, 4, 6, 2, 2, 2]);
        parts.forget();
        assert_eq!(parts.next(), 1);
        // What a launch that began before says is not taken for another's.
        parts.note(6, 0);
        assert_eq!(parts.next(), 1);
    }

    /// Adds one to an element, and to it again in a second part of the launch.
    unsafe extern "C" fn add_twice(params: *const u8, begin: u64, end: u64) {
        // SAFETY: the test's block has the address of an array of `COUNT` elements, which only this thread uses.
        unsafe {
            let words = params.cast::<u64>();
            let data = std::ptr::with_exposed_provenance_mut::<f32>(words.add(HEAD).read() as usize);
            (begin..end).for_each(|thread| *data.add(thread as usize % COUNT) += 1.0);
        }
        (0..10_000).for_each(|_| std::hint::spin_loop());
    }

    const COUNT: usize = 2400;

    #[test]
    fn workers_that_have_their_share_of_each_part_leave_nothing_for_others() {
        let mut all = vec![0.0f32; COUNT];
        let address = all.as_mut_ptr().expose_provenance() as u64;
        let params = block(1, &[(address, COUNT as i32, 4)]);
        let plan = Plan::new(&updates(&[SUMS]), &params).expect("one array");
        let mut scratch = Scratch::new();
        let mut left = |parts: usize| {
            let cut = Cut { begin: 0, size: 2 * COUNT as u64, step: 200, workers: 2, parts };
            let failures = FailureScope::new();
            plan.run(add_twice, &params, &cut, &mut scratch, &failures, &|run, _| run()).unwrap()
        };
        // A worker may take chunks of another that is late, so the best of some launches.
        let [once, twice] = [1, 2].map(|parts| (0..20).map(|_| left(parts)).min().expect("there are some"));
        assert!(twice <= 1, "in two parts {twice} lines are left for others");
        assert!(once <= COUNT as u64 / 16, "no more lines than there are: {once}");
        assert!(all.iter().all(|&sum| sum == 80.0));
    }

    #[test]
    fn sums_of_all_workers_come_together() {
        let (mut a, mut b) = ([1.0f32; 10], [-0.0f32; 8]);
        let address = |array: &mut [f32]| array.as_mut_ptr().expose_provenance() as u64;
        let params = block(1, &[(address(&mut a), 10, 4), (address(&mut b), 8, 4)]);
        let plan = Plan::new(&updates(&[SUMS, SUMS]), &params).expect("the arrays are apart");
        let mut scratch = Scratch::new();
        for workers in [1, 2, 5, 300] {
            let failures = FailureScope::new();
            let cut = Cut { begin: 0, size: 7000, step: 70, workers, parts: 1 + workers % 3 };
            let timed = |run: &dyn Fn(), threads: u64| {
                assert_eq!(threads, 70);
                run();
            };
            plan.run(add, &params, &cut, &mut scratch, &failures, &timed).unwrap();
            assert!(scratch.iter().all(|&word| word == 0), "the next launch finds zeros");
        }
        assert_eq!(a, [1.0 + 4.0 * 700.0; 10]);
        assert_eq!(b[..7], [4.0 * 2000.0; 7]);
        assert!(b[7].is_sign_negative());
    }
}
