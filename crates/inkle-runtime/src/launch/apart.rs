//! Workers that update what is their own.
//!
//! The form of a kernel whose updates are plain can run on several threads at once if all that it does to an array is that
//! it adds: the first worker adds to the array, each other one to a copy that starts as zeros, and when all are done the
//! workers together add the copies to the array and make them zero again.
//!
//! Where the threads of each worker mostly add to a part of the array that is no other's, as those of a mesh's edges do, each worker
//! has a range of the array and adds there directly, and to a copy outside of it only ([`OwnRange`]); then there is little to be
//! added up. Whether that is so is found by trying ([`Sharing`]).
//!
//! What threads do to elements that are theirs alone needs none of this. Which arrays are of which kind the code says
//! ([`Updates`]); whether they lie so that it holds for a launch is looked at here.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use inkle_ir::{LaunchBounds, MAX_DIMS, OwnRange, Scalar, Updates, Use};
use smallvec::{SmallVec, smallvec};

use self::chunks::Chunks;
use self::extent::{Desc, Extent};
pub(super) use self::scratch::Scratch;
use self::sharing::Outcome;
pub(super) use self::sharing::Sharing;
use self::sums::move_sums;
use self::touched::{AllTouched, Touched};
use super::cpu::AloneEntry;
use super::pool;
use crate::error::RuntimeError;
use crate::symbols::FailureScope;

mod chunks;
mod extent;
mod scratch;
mod sharing;
mod sums;
mod touched;

/// The most bytes of all copies together.
const MAX_COPIES: u64 = 128 << 20;
/// Copies begin on such boundaries, so that two workers never write to one line of the cache.
const LINE: usize = 64;
/// How often a worker looks whether the others are done before it lets other threads go first.
const SPINS: u32 = 4096;

/// Smaller arrays have no ranges: copies of them cost next to nothing.
const SMALLEST_RANGED: usize = 16 << 10;

/// An array that workers have copies of.
#[derive(Debug)]
struct Summed {
    /// Which word of the parameter block is its address.
    word: usize,
    address: u64,
    bytes: usize,
    /// The size of an element, bytes.
    size: usize,
    scalar: Scalar,
    /// Where its copy lies in the memory of a worker, bytes.
    offset: usize,
    /// Which of the ranges that the code gets is of this array.
    range: usize,
    /// Whether workers may have ranges of it.
    has_range: bool,
}

/// How a launch can run apart.
#[derive(Debug)]
pub(super) struct Plan {
    arrays: Vec<Summed>,
    /// Bytes of a worker's copies.
    bytes: usize,
    /// Some of the arrays have memory in common, so that their copies must be added one after the other.
    meet: bool,
}

/// The threads of a launch and how they are cut.
pub(super) struct Cut {
    /// Where to begin: those before are done.
    pub begin: u64,
    /// Threads of the whole launch.
    pub size: u64,
    /// How many chunks they make. These are as large as each other up to a vector, so that equal parts of a launch have as many
    /// chunks each.
    pub chunks: usize,
    /// Threads of a vector.
    pub lanes: u64,
    /// How many pieces may run at once.
    pub workers: usize,
    /// How many times the launch is taken to go through the arrays of which workers have ranges ([`Sharing`]); `None` if
    /// they have none.
    pub parts: Option<usize>,
}

impl Cut {
    /// The first thread of a chunk.
    fn bound(&self, chunk: usize) -> u64 {
        let exact = u128::from(self.size) * chunk as u128 / self.chunks as u128;
        (exact as u64).next_multiple_of(self.lanes).min(self.size)
    }

    /// The threads of a chunk that are left.
    fn threads(&self, chunk: usize) -> Range<u64> {
        self.bound(chunk).max(self.begin)..self.bound(chunk + 1)
    }
}

impl Plan {
    /// How the launch with this parameter block can run; `None` when it cannot.
    pub fn new(updates: &Updates, params: &[u64]) -> Option<Plan> {
        let mut extents: SmallVec<[Option<Extent>; 16]> = SmallVec::new();
        let mut plan = Plan { arrays: Vec::new(), bytes: 0, meet: false };
        let mut ranges = 0..;
        for array in &updates.arrays {
            let desc = Desc::of(array, params)?;
            let extent = desc.extent();
            extents.push(extent);
            let range = if let Use::Sums(_) = array.used { ranges.next()? } else { 0 };
            let Some(extent) = extent else { continue };
            match in_launch(array.used, params) {
                Use::Plain => {}
                Use::Own(mask) if desc.is_compact() && is_apart(mask, params) => {}
                Use::Sums(scalar)
                    if desc.is_compact() && extent.first.is_multiple_of(scalar.size().into()) =>
                {
                    let bytes = usize::try_from(extent.end - extent.first).ok()?;
                    let offset = plan.bytes;
                    plan.bytes = plan.bytes.checked_add(bytes)?.checked_next_multiple_of(LINE)?;
                    plan.arrays.push(Summed {
                        word: desc.word,
                        address: extent.first,
                        bytes,
                        size: array.size as usize,
                        scalar,
                        offset,
                        range,
                        has_range: array.has_range && bytes >= SMALLEST_RANGED,
                    });
                }
                Use::Own(_) | Use::Sums(_) | Use::OwnSums(..) => return None,
            }
        }
        for (index, (a, first)) in updates.arrays.iter().zip(&extents).enumerate() {
            for (b, second) in updates.arrays.iter().zip(&extents).skip(index + 1) {
                let (Some(first), Some(second)) = (first, second) else { continue };
                let meet = first.first < second.end && second.first < first.end;
                let (a, b) = (in_launch(a.used, params), in_launch(b.used, params));
                if meet && !may_share(a, b) {
                    return None;
                }
                plan.meet |= meet && matches!(a, Use::Sums(_));
            }
        }
        Some(plan)
    }

    /// Bytes of a worker's copies, if that many workers can have them.
    pub fn bytes(&self, workers: usize) -> Option<u64> {
        let bytes = self.bytes as u64;
        (bytes.checked_mul(workers as u64)? <= MAX_COPIES).then_some(bytes)
    }

    /// How many lines the arrays have of which workers can have ranges; none where arrays meet, since one worker's range of one may
    /// be another's of the other.
    pub fn lines(&self) -> u64 {
        let ranged = self.arrays.iter().filter(|array| array.has_range && !self.meet);
        ranged.map(|array| (array.bytes / LINE) as u64).sum()
    }

    /// Runs the threads of a launch. `timed` gets how long the first ones took, and how many they are.
    ///
    /// # Errors
    /// [`RuntimeError::Threads`] if the workers cannot be started.
    pub fn run(
        &self,
        entry: AloneEntry,
        params: &[u64],
        cut: &Cut,
        scratch: &mut Scratch,
        failures: &FailureScope,
        timed: &(dyn Fn(&dyn Fn(), u64) + Sync),
    ) -> Result<Outcome, RuntimeError> {
        let first_chunk = (0..cut.chunks).find(|&chunk| !cut.threads(chunk).is_empty()).unwrap_or(cut.chunks);
        let workers = cut.workers.min(cut.chunks).max(1);
        let (base, is_fresh) = scratch.memory(workers * self.bytes);
        let memory = Memory { base, of_worker: self.bytes, workers };
        let has_range = |array: &Summed| array.has_range && cut.parts.is_some() && !self.meet;
        let all_touched = AllTouched::new(workers);
        let chunks_left = Chunks::new(first_chunk..cut.chunks, workers, cut.parts);
        let (moved, looked_at) = (AtomicU64::new(0), AtomicU64::new(0));
        let meeting = AtomicUsize::new(0);
        // How many workers may be running a chunk.
        let running = AtomicUsize::new(0);
        let run_chunks = |worker: usize| {
            let mut own: SmallVec<[u64; 64]> = SmallVec::new();
            let mut ranges = [OwnRange::EVERYTHING; OwnRange::MOST];
            let mut shares = chunks_left.begin(worker);
            let mut known = 0..0;
            let mut touched: SmallVec<[Touched; 4]> = smallvec![Touched::default(); self.arrays.len()];
            while let Some(chunk) = chunks_left.take(&mut shares) {
                let Range { start: from, end: to } = cut.threads(chunk);
                if from >= to {
                    continue;
                }
                let is_first = known.is_empty();
                if shares != known {
                    known = shares.clone();
                    for array in &self.arrays {
                        if has_range(array) {
                            ranges[array.range] = memory.range(worker, &shares, array);
                        } else if worker > 0 && is_first {
                            if own.is_empty() {
                                own.extend_from_slice(params);
                            }
                            // What is before the array's first element is before the copy's.
                            let at = memory.copy(worker, array) as u64;
                            own[array.word] = own[array.word].wrapping_sub(array.address).wrapping_add(at);
                        }
                    }
                }
                let block = if own.is_empty() { params } else { own.as_slice() };
                let at = ranges.as_mut_ptr();
                // SAFETY: as for every launch of this block; the copies are like the arrays, and lie in `scratch`, which is
                // borrowed here; no other worker has this one's. That updates of the arrays meet no others is
                // the caller's lock, and that only one worker has the arrays themselves, or a range of them.
                let run = || failures.enter(|| unsafe { entry(block.as_ptr().cast(), from, to, at) });
                if chunk == first_chunk {
                    timed(&run, to - from)
                } else {
                    run()
                }
                for (array, touched) in self.arrays.iter().zip(&mut touched) {
                    if has_range(array) {
                        touched.note(&mut ranges[array.range], array.bytes);
                    } else if worker > 0 && is_first {
                        touched.note_all(array.bytes);
                    }
                }
            }
            all_touched.set(worker, touched);
        };
        let add_up = |k: usize, from: usize, end: usize| {
            let array = &self.arrays[k];
            for (worker, part) in all_touched.within(k, from..end) {
                let (to, copy) =
                    (array.address as usize + part.start, memory.copy(worker, array) + part.start);
                // SAFETY: the copy lies in `scratch`, where it is padded to whole lines, the array is the launch's; both hold
                // scalars of this type, aligned. Each piece is one worker's, and begins a line; arrays that meet are one
                // worker's, too, and no chunk is running.
                let lines = unsafe { move_sums(to, copy, part.len(), array.scalar) };
                moved.fetch_add(lines, Ordering::Relaxed);
                looked_at.fetch_add((part.len() / LINE) as u64, Ordering::Relaxed);
            }
        };
        let work = |worker: usize| {
            running.fetch_add(1, Ordering::Relaxed);
            run_chunks(worker);
            running.fetch_sub(1, Ordering::Release);
            // No chunk is left but those of workers that run, so who comes now runs none: once nobody does, all are done.
            let mut looks = 0;
            while running.load(Ordering::Acquire) > 0 {
                looks += 1;
                if looks < SPINS { std::hint::spin_loop() } else { thread::yield_now() }
            }
            if self.meet {
                if meeting.fetch_add(1, Ordering::Relaxed) == 0 {
                    (0..self.arrays.len()).for_each(|k| add_up(k, 0, self.arrays[k].bytes));
                }
                return;
            }
            for (k, array) in self.arrays.iter().enumerate() {
                // Whole lines, so that no two workers write to one.
                let bound =
                    |worker: usize| (array.bytes * worker / workers).next_multiple_of(LINE).min(array.bytes);
                add_up(k, bound(worker), bound(worker + 1));
            }
        };
        pool::parallel(workers, &work)?;
        if cut.parts.is_none() {
            scratch.trim();
        }
        Ok(Outcome {
            moved: moved.into_inner(),
            looked_at: looked_at.into_inner(),
            dealt: chunks_left.dealt(),
            is_fresh,
        })
    }
}

/// Where workers' copies lie.
struct Memory {
    base: usize,
    /// Bytes of each worker.
    of_worker: usize,
    workers: usize,
}

impl Memory {
    fn of(&self, worker: usize) -> usize {
        self.base + worker * self.of_worker
    }

    fn copy(&self, worker: usize, array: &Summed) -> usize {
        self.of(worker) + array.offset
    }

    /// A worker's own range of an array: some workers' shares of it.
    fn range(&self, worker: usize, shares: &Range<usize>, array: &Summed) -> OwnRange {
        let bound = |share: usize| array.bytes / array.size * share / self.workers * array.size;
        let (from, end) = (bound(shares.start), bound(shares.end));
        OwnRange {
            begin: from as i64,
            end: end as i64,
            first: i32::try_from(from / array.size).unwrap_or(i32::MAX),
            last: i32::try_from(end / array.size).unwrap_or(i32::MAX),
            to_copy: (self.copy(worker, array) as u64).wrapping_sub(array.address),
            ..OwnRange::EVERYTHING
        }
    }
}

/// What is done with an array, as far as one launch goes.
fn in_launch(used: Use, params: &[u64]) -> Use {
    match used {
        Use::OwnSums(mask, _) if is_apart(mask, params) => Use::Own(mask),
        Use::OwnSums(_, scalar) => Use::Sums(scalar),
        other => other,
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
        TouchedArray { descriptor, gradient: false, written, ndim: 1, size: 4, used, has_range: false }
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
    fn what_threads_that_share_an_index_only_add_to_has_copies() {
        let updates = updates(&[Use::OwnSums(1, Scalar::F32)]);
        let copies =
            |rows| Plan::new(&updates, &block(rows, &[(4096, 100, 4)])).map(|plan| plan.arrays.len());
        assert_eq!((copies(1), copies(2)), (Some(0), Some(1)));
    }

    #[test]
    fn threads_that_share_an_index_share_its_element() {
        let updates = updates(&[Use::Own(1)]);
        assert!(Plan::new(&updates, &block(1, &[(4096, 100, 4)])).is_some());
        assert!(Plan::new(&updates, &block(2, &[(4096, 100, 4)])).is_none());
    }

    /// Adds one to element `thread % 10` of the first array and two to element `thread % 7` of the second, plainly.
    unsafe extern "C" fn add(params: *const u8, begin: u64, end: u64, _: *mut OwnRange) {
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
            let cut = Cut { begin: 0, size: 700, chunks: 10, lanes: 1, workers: 4, parts: Some(2) };
            plan.run(add, &params, &cut, &mut scratch, &failures, &|run, _| run()).unwrap();
        }
        let expected = |i: usize| 50.0 * (70.0 + if i < 7 { 200.0 } else { 0.0 });
        assert!((0..10).all(|i| all[i] == expected(i)), "{all:?}");
    }

    /// Adds one to an element, and to it again in a second part of the launch, in the array or in the worker's copy.
    unsafe extern "C" fn add_twice(params: *const u8, begin: u64, end: u64, ranges: *mut OwnRange) {
        for thread in begin..end {
            let element = thread as usize % COUNT;
            let at = (element * size_of::<f32>()) as i64;
            // SAFETY: the test's block has the address of an array of `COUNT` elements, and the range of it is the worker's own.
            unsafe {
                let range = &mut *ranges;
                let mut address = params.cast::<u64>().add(HEAD).read();
                if !(range.begin..range.end).contains(&at) {
                    assert!(!(range.first..range.last).contains(&(element as i32)));
                    address = address.wrapping_add(range.to_copy);
                    (range.low, range.high) = (range.low.min(at), range.high.max(at + 3));
                }
                *std::ptr::with_exposed_provenance_mut::<f32>(address as usize).add(element) += 1.0;
            }
        }
        (0..10_000).for_each(|_| std::hint::spin_loop());
    }

    const COUNT: usize = 9000;

    fn ranged(uses: &[Use]) -> Updates {
        let mut updates = updates(uses);
        updates.arrays.iter_mut().for_each(|array| array.has_range = matches!(array.used, Use::Sums(_)));
        updates
    }

    #[test]
    fn workers_add_to_their_own_ranges_and_to_copies_outside_of_them() {
        let mut all = vec![0.0f32; COUNT];
        let address = all.as_mut_ptr().expose_provenance() as u64;
        let params = block(1, &[(address, COUNT as i32, 4)]);
        let plan = Plan::new(&ranged(&[SUMS]), &params).expect("one array");
        assert_eq!(plan.lines(), (4 * COUNT / 64) as u64);
        let mut scratch = Scratch::new();
        let (mut launches, mut left) = (0.0, Vec::new());
        for (workers, parts) in [(2, 1), (2, 2), (3, 2), (4, 6), (1, 2), (2, 3)] {
            let mut least = u64::MAX;
            for begin in [0, 0, 0, 0, 0, 0, 0, 0, 1000, COUNT as u64] {
                let size = 2 * COUNT as u64;
                let cut = Cut { begin, size, chunks: 12 * workers, lanes: 4, workers, parts: Some(parts) };
                let failures = FailureScope::new();
                let run = plan.run(add_twice, &params, &cut, &mut scratch, &failures, &|run, _| run());
                least = least.min(run.unwrap().moved);
                assert!(scratch.is_zero(), "the next launch finds zeros");
                for done in 0..begin {
                    all[done as usize % COUNT] += 1.0;
                }
                launches += 1.0;
            }
            left.push(least);
        }
        assert!(all.iter().all(|&sum| sum == 2.0 * launches), "each thread adds once");
        // A worker may take shares of another that is late, so the least of some launches; alone it has everything.
        assert_eq!([left[1], left[4]], [0, 0]);
    }

    #[test]
    fn small_arrays_and_arrays_that_meet_have_no_ranges() {
        let updates = ranged(&[SUMS, SUMS]);
        let lines = |first: i32, second: u64| {
            let params = block(1, &[(1 << 20, first, 4), (second, 10, 4)]);
            Plan::new(&updates, &params).expect("sums").lines()
        };
        assert_eq!(lines(8192, 4096), 512);
        assert_eq!(lines(4095, 4096), 0);
        assert_eq!(lines(8192, (1 << 20) + 64), 0);
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
            let parts = [None, Some(2)][workers % 2];
            let cut = Cut { begin: 0, size: 7000, chunks: 100, lanes: 1, workers, parts };
            let timed = |run: &dyn Fn(), threads: u64| {
                assert_eq!(threads, 70);
                run();
            };
            plan.run(add, &params, &cut, &mut scratch, &failures, &timed).unwrap();
            assert!(scratch.is_zero(), "the next launch finds zeros");
        }
        assert_eq!(a, [1.0 + 4.0 * 700.0; 10]);
        assert_eq!(b[..7], [4.0 * 2000.0; 7]);
        assert!(b[7].is_sign_negative());
    }
}
