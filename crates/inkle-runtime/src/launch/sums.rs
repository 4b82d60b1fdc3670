//! Kernels that do nothing to some arrays but add: each thread of the machine adds to a copy of its own, with plain
//! updates, and then the copies are added to the arrays. See [`inkle_ir::SumArray`].

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use inkle_ir::{ArrayDesc, SumArray};
use smallvec::SmallVec;

use crate::elf::LoadedObject;

/// Copies of more bytes than this would not stay in the caches that are near.
const MOST_BYTES: u64 = 1 << 20;
/// Where copies begin and end, so that two threads share no cache line.
const LINE: u64 = 64;

/// The arrays of one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sums {
    added: Vec<SumArray>,
    arrays: Vec<Place>,
}

/// An argument that is an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    array: u32,
    ndim: u32,
    bytes: u32,
}

/// One array of a launch that is added to.
struct Copied {
    /// The word of the parameter block that holds its address.
    word: usize,
    /// What it says.
    data: u64,
    /// The addresses that its elements take.
    memory: Range<u64>,
    scalar: u32,
}

/// A launch whose arrays can be copied.
pub(super) struct Copies(SmallVec<[Copied; 2]>);

thread_local! {
    /// A thread's parameter block and copies, kept from launch to launch.
    static SCRATCH: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Sums {
    /// What the code says; `None` when it says nothing.
    pub fn of(code: &LoadedObject) -> Option<Sums> {
        let start = code.symbol(SumArray::SYMBOL)?.cast::<u32>();
        // SAFETY: the code is trusted, as its entry points are: the variable is as long as its first two words say.
        let words = unsafe {
            let (sums, arrays) = (start.read() as usize, start.add(1).read() as usize);
            let length = 2 + sums * SumArray::WORDS + arrays * SumArray::OTHER_WORDS;
            std::slice::from_raw_parts(start, length)
        };
        let (added, arrays) = words[2..].split_at(words[0] as usize * SumArray::WORDS);
        let added =
            added.as_chunks::<{ SumArray::WORDS }>().0.iter().map(
                |&[pointer, array, ndim, bytes, scalar]| SumArray { pointer, array, ndim, bytes, scalar },
            );
        let arrays = arrays.as_chunks::<{ SumArray::OTHER_WORDS }>().0.iter();
        let arrays = arrays.map(|&[array, ndim, bytes]| Place { array, ndim, bytes });
        Some(Sums { added: added.collect(), arrays: arrays.collect() })
    }

    /// The copies for a launch with these parameters; `None` when they would be too large, or when an array that is
    /// added to shares memory with another argument.
    pub fn copies(&self, params: &[u64]) -> Option<Copies> {
        let mut copies = Copies(SmallVec::new());
        for sum in &self.added {
            let place = Place { array: sum.array, ndim: sum.ndim, bytes: sum.bytes };
            let word = sum.pointer as usize / 8;
            let data = *params.get(word)?;
            let memory = place.memory(params, data)?;
            copies.0.push(Copied { word, data, memory, scalar: sum.scalar });
        }
        if copies.bytes() > MOST_BYTES {
            return None;
        }
        for place in &self.arrays {
            for word in [place.array as usize / 8, place.array as usize / 8 + 1] {
                let memory = place.memory(params, *params.get(word)?)?;
                let meets = |c: &Copied| c.word != word && overlap(&c.memory, &memory);
                if copies.0.iter().any(meets) {
                    return None;
                }
            }
        }
        Some(copies)
    }
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

impl Place {
    /// The addresses that the elements take when the first is at `data`.
    fn memory(self, params: &[u64], data: u64) -> Option<Range<u64>> {
        const WORDS: usize = size_of::<ArrayDesc>() / 8;
        let at = self.array as usize / 8;
        let words = params.get(at..at + WORDS)?;
        let half = |word: u64, high: bool| (if high { word >> 32 } else { word }) as u32 as i32;
        let (mut low, mut high) = (0i64, i64::from(self.bytes));
        for dim in 0..self.ndim as usize {
            let extent = half(words[2 + dim / 2], cfg!(target_endian = "little") == (dim % 2 == 1));
            if extent <= 0 || data == 0 {
                return Some(0..0);
            }
            let reach = (i64::from(extent) - 1).checked_mul(words[4 + dim] as i64)?;
            *(if reach < 0 { &mut low } else { &mut high }) += reach;
        }
        Some(data.checked_add_signed(low)?..data.checked_add_signed(high)?)
    }
}

impl Copies {
    /// How large they are together, for one thread.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|c| (c.memory.end - c.memory.start).next_multiple_of(LINE) + LINE).sum()
    }

    /// Calls `run` with a parameter block that leads to this thread's copies, and adds these to the arrays.
    ///
    /// # Safety
    /// `params` is the block that the copies are of; the arrays live, and meanwhile are only updated atomically.
    pub unsafe fn with(&self, params: &[u64], run: impl FnOnce(&[u64])) {
        SCRATCH.with(|scratch| {
            // A kernel that is launched while another runs on this thread gets memory of its own.
            let mut own = Vec::new();
            let mut kept = scratch.try_borrow_mut();
            let words = kept.as_deref_mut().unwrap_or(&mut own);
            words.clear();
            words.extend_from_slice(params);
            words.resize(params.len() + (self.bytes() + LINE) as usize / 8, 0);
            let base = words.as_mut_ptr().expose_provenance() as u64;
            let mut at = (base + 8 * params.len() as u64).next_multiple_of(LINE);
            let mut starts: SmallVec<[u64; 2]> = SmallVec::new();
            for copied in &self.0 {
                // Elements lie in the copy as in the array, at the same distance from the address that kernels know.
                let skipped = copied.memory.start % LINE;
                starts.push(at + skipped);
                if copied.memory.is_empty() {
                    continue;
                }
                words[copied.word] = copied.data.wrapping_sub(copied.memory.start).wrapping_add(at + skipped);
                at += (copied.memory.end - copied.memory.start).next_multiple_of(LINE) + LINE;
            }
            run(&words[..params.len()]);
            for (copied, &start) in self.0.iter().zip(&starts) {
                let bytes = (copied.memory.end - copied.memory.start) as usize;
                let copy = std::ptr::with_exposed_provenance::<u8>(start as usize);
                let array = std::ptr::with_exposed_provenance::<u8>(copied.memory.start as usize);
                // SAFETY: the copy is `bytes` long and this thread's; the array is, by the caller's promise.
                unsafe {
                    match copied.scalar {
                        0 => add(bytes, copy, array, |a: u32, b| a.wrapping_add(b)),
                        1 => add(bytes, copy, array, |a: u64, b| a.wrapping_add(b)),
                        2 => add(bytes, copy, array, |a, b| {
                            f32::to_bits(f32::from_bits(a) + f32::from_bits(b))
                        }),
                        _ => add(bytes, copy, array, |a, b| {
                            f64::to_bits(f64::from_bits(a) + f64::from_bits(b))
                        }),
                    }
                }
            }
        });
    }
}

/// A word that is updated atomically.
trait Word: Copy + PartialEq + Default {
    /// # Safety
    /// `at` is the address of an aligned word that others only update atomically.
    unsafe fn update(at: *const Self, update: impl FnMut(Self) -> Self);
}

macro_rules! word {
    ($word:ty, $atomic:ty) => {
        impl Word for $word {
            unsafe fn update(at: *const $word, mut update: impl FnMut($word) -> $word) {
                // SAFETY: the caller's promise.
                let word = unsafe { &*at.cast::<$atomic>() };
                let next = |old| Some(update(old));
                let _always = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
            }
        }
    };
}

word!(u32, AtomicU32);
word!(u64, AtomicU64);

/// Adds the words of a copy that are not zero to those of an array.
///
/// # Safety
/// Both are addresses of `bytes` bytes; the copy is this thread's, and the array is only updated atomically.
unsafe fn add<W: Word>(bytes: usize, copy: *const u8, array: *const u8, sum: impl Fn(W, W) -> W) {
    for i in 0..bytes / size_of::<W>() {
        // SAFETY: within the copy; its words are aligned as those of the array are.
        let more = unsafe { copy.cast::<W>().add(i).read() };
        if more != W::default() {
            // SAFETY: within the array.
            unsafe { W::update(array.cast::<W>().add(i), |old| sum(old, more)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of one array at word 3, as launches have it.
    fn params(data: u64, extent: i32, stride: i64) -> Vec<u64> {
        let mut words = vec![0; 3 + 8];
        words[3] = data;
        words[5] = u64::from(extent as u32);
        words[7] = stride as u64;
        words
    }

    fn sums(scalar: u32, bytes: u32) -> Sums {
        Sums {
            added: vec![SumArray { pointer: 24, array: 24, ndim: 1, bytes, scalar }],
            arrays: vec![Place { array: 24, ndim: 1, bytes }],
        }
    }

    #[test]
    fn a_copy_starts_with_zeros_and_is_added() {
        let mut array = [1u32, 2, 3, u32::MAX];
        let block = params(array.as_mut_ptr().expose_provenance() as u64, 4, 4);
        let copies = sums(0, 4).copies(&block).expect("small and apart");
        for _ in 0..2 {
            // SAFETY: the array lives, and nobody else touches it.
            unsafe {
                copies.with(&block, |params| {
                    assert_eq!(params[4..], block[4..]);
                    let copy = std::ptr::with_exposed_provenance_mut::<u32>(params[3] as usize);
                    let copy = std::slice::from_raw_parts_mut(copy, 4);
                    assert_eq!(copy, [0; 4]);
                    copy[1] += 5;
                    copy[3] += 2;
                });
            }
        }
        assert_eq!(array, [1, 12, 3, 3]);
    }

    #[test]
    fn elements_that_go_down_are_found() {
        let mut array = [1.0f64, 2.0, 3.0];
        let last = array.as_mut_ptr().expose_provenance() as u64 + 16;
        let block = params(last, 3, -8);
        let copies = sums(3, 8).copies(&block).expect("small and apart");
        // SAFETY: the array lives, and nobody else touches it.
        unsafe {
            copies.with(&block, |params| {
                // The second element that the kernel sees.
                let at = std::ptr::with_exposed_provenance_mut::<f64>((params[3] as i64 - 8) as usize);
                *at += 0.5;
            });
        }
        assert_eq!(array, [1.0, 2.5, 3.0]);
    }

    #[test]
    fn large_arrays_and_shared_memory_are_left_alone() {
        assert!(sums(0, 4).copies(&params(4096, 1 << 20, 4)).is_none());
        let mut two = params(4096, 16, 4);
        two.extend([4096 + 60, 0, 4, 0, 4, 0, 0, 0]);
        let mut sums = sums(0, 4);
        sums.arrays.push(Place { array: 88, ndim: 1, bytes: 4 });
        assert!(sums.copies(&two).is_none());
        two[11] = 4096 + 64;
        assert!(sums.copies(&two).is_some());
        // A gradient in the same memory.
        two[12] = 4096;
        assert!(sums.copies(&two).is_none());
    }
}
