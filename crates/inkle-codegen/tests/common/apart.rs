//! Launches by several workers, each with plain updates of its own range of what they add to, or of copies.

use std::ops::Range;

use inkle_ir::{ArrayDesc, OwnRange, Scalar, TouchedArray, Updates, Use};

use super::{AloneEntry, Arg, Code};

/// What a worker adds to.
struct Own {
    /// What it takes for the array, where it has no other than its range.
    array: Vec<u64>,
    copy: Vec<u64>,
    /// Its range, bytes.
    range: Range<usize>,
}

/// An array that workers add to.
struct Summed {
    /// Which word of the block is its address.
    word: usize,
    scalar: Scalar,
    array: TouchedArray,
    bytes: usize,
}

impl Code {
    /// What the code's updates are like, if it can be run by several workers.
    pub fn updates(&self) -> Option<Updates> {
        let words = self.object.symbol(&format!("{}_updates", self.artifact.entry))?;
        let mut at = words.cast::<u32>();
        Updates::from_words(|| {
            // SAFETY: the symbol is a constant of as many words as it says itself, in code that is loaded.
            let word = unsafe { at.read() };
            at = at.wrapping_add(1);
            Some(word)
        })
    }

    /// Runs a launch as that many workers would, one after the other, and gives the arguments as they are then, after what each
    /// added was added up. A worker must add to its own range only, and to its copy only where it says so.
    pub fn run_apart(&self, args: &[Arg], dims: &[i32], workers: usize) -> Vec<Arg> {
        let entry = self.object.symbol(&format!("{}_alone", self.artifact.entry)).expect("the entry");
        // SAFETY: the entry point has this type, by the contract of `inkle_codegen`.
        let entry: AloneEntry = unsafe { std::mem::transmute(entry) };
        let updates = self.updates().expect("workers can run it");
        let size: u64 = dims.iter().map(|&d| d as u64).product();
        let mut ran = args.to_vec();
        self.with_params(&mut ran, dims, |block| {
            let summed: Vec<Summed> =
                updates.arrays.iter().filter_map(|&array| Summed::of(array, block)).collect();
            for worker in 0..workers {
                let mut own: Vec<Own> = summed.iter().map(|of| of.of_worker(worker, workers)).collect();
                let mut words = block.to_vec();
                let mut ranges = [OwnRange::EVERYTHING; OwnRange::MOST];
                for ((of, own), range) in summed.iter().zip(&mut own).zip(&mut ranges) {
                    words[of.word] = own.array.as_mut_ptr().expose_provenance() as u64;
                    if of.array.has_range {
                        *range = own.described(of);
                    }
                }
                let bound = |worker: usize| size * worker as u64 / workers as u64;
                let (begin, end) = (bound(worker), bound(worker + 1));
                // SAFETY: the block is laid out as the code expects, kernels in tests stay in their arrays, and each array
                // has a copy as large.
                unsafe { entry(words.as_ptr().cast(), begin, end, ranges.as_mut_ptr()) };
                for ((of, own), range) in summed.iter().zip(&own).zip(&ranges) {
                    if of.array.has_range {
                        own.check(range);
                    }
                    for sums in [&own.array, &own.copy] {
                        // SAFETY: the array is the launch's, of so many bytes.
                        unsafe { add(block[of.word] as usize, sums, of.bytes, of.scalar) };
                    }
                }
            }
        });
        ran
    }
}

impl Summed {
    /// An array of a launch with this block, if it is added to.
    fn of(array: TouchedArray, block: &[u64]) -> Option<Summed> {
        let Use::Sums(scalar) = array.used else { return None };
        let desc = array.descriptor as usize / 8;
        let shape = desc + std::mem::offset_of!(ArrayDesc, shape) / 8;
        let extent = |d: usize| (block[shape + d / 2] >> (32 * (d % 2))) as u32 as usize;
        let count: usize = (0..array.ndim.into()).map(extent).product();
        let word = desc + usize::from(array.gradient);
        Some(Summed { word, scalar, array, bytes: count * array.size as usize })
    }

    fn of_worker(&self, worker: usize, workers: usize) -> Own {
        let unit = self.array.size as usize;
        let bound = |worker: usize| self.bytes / unit * worker / workers * unit;
        let words = self.bytes.div_ceil(8) + 1;
        Own { array: vec![0; words], copy: vec![0; words], range: bound(worker)..bound(worker + 1) }
    }
}

impl Own {
    fn described(&mut self, of: &Summed) -> OwnRange {
        let unit = of.array.size as usize;
        let [array, copy] =
            [&mut self.array, &mut self.copy].map(|words| words.as_mut_ptr().expose_provenance() as u64);
        OwnRange {
            begin: self.range.start as i64,
            end: self.range.end as i64,
            first: (self.range.start / unit) as i32,
            last: (self.range.end / unit) as i32,
            to_copy: copy.wrapping_sub(array),
            ..OwnRange::EVERYTHING
        }
    }

    /// Checks that nothing was added elsewhere.
    fn check(&self, range: &OwnRange) {
        let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let outside = |(at, byte): (usize, u8)| byte != 0 && !self.range.contains(&at);
        assert!(!bytes(&self.array).into_iter().enumerate().any(outside), "added outside of its range");
        let unsaid = |(at, byte): (usize, u8)| {
            byte != 0 && range.low >= 0 && !(range.low..=range.high).contains(&(at as i64))
        };
        assert!(!bytes(&self.copy).into_iter().enumerate().any(unsaid), "added elsewhere in its copy");
    }
}

/// Adds numbers to those at an address.
///
/// # Safety
/// As many bytes of such numbers are there, and nobody else uses them.
unsafe fn add(to: usize, sums: &[u64], bytes: usize, scalar: Scalar) {
    macro_rules! all {
        ($ty:ty, $add:expr) => {
            for i in 0..bytes / size_of::<$ty>() {
                // SAFETY: the caller's contract; the sums are as long.
                unsafe {
                    let to = std::ptr::with_exposed_provenance_mut::<$ty>(to).add(i);
                    *to = $add(*to, sums.as_ptr().cast::<$ty>().add(i).read());
                }
            }
        };
    }
    match scalar {
        Scalar::F32 => all!(f32, |a, b| a + b),
        Scalar::F64 => all!(f64, |a, b| a + b),
        Scalar::I32 | Scalar::U32 => all!(u32, u32::wrapping_add),
        _ => all!(u64, u64::wrapping_add),
    }
}
