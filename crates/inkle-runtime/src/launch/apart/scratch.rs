//! Memory for workers' copies.

use crate::memory::{HOST_ALIGN, HUGE_PAGE, prefer_huge_pages};

/// Memory up to this many bytes is kept for the next launch.
const MAX_KEPT: usize = 16 << 20;

/// Memory for copies, kept from launch to launch. Between launches all of it is zero.
#[derive(Debug)]
pub(crate) struct Scratch(Vec<u64>);

impl Scratch {
    pub const fn new() -> Scratch {
        Scratch(Vec::new())
    }

    /// The address of so many bytes, and whether they are new.
    pub fn memory(&mut self, bytes: usize) -> (usize, bool) {
        let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { HOST_ALIGN };
        let words = (bytes.next_multiple_of(align) + align) / size_of::<u64>();
        let is_new = self.0.len() < words;
        if is_new {
            self.0 = Vec::new();
            self.0 = vec![0; words];
        }
        let base = self.0.as_mut_ptr().expose_provenance().next_multiple_of(align);
        // Of what is larger often little is touched, and what is given back again is not worth it.
        if is_new && align == HUGE_PAGE && bytes <= MAX_KEPT {
            prefer_huge_pages(base, bytes.next_multiple_of(align));
        }
        (base, is_new)
    }

    /// Gives back more memory than is to be kept, where most of it was touched.
    pub fn trim(&mut self) {
        if size_of_val(&self.0[..]) > MAX_KEPT + 2 * HUGE_PAGE {
            self.0 = Vec::new();
        }
    }

    #[cfg(test)]
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_as_much_as_was_asked_for_and_more_comes_again() {
        let mut scratch = Scratch::new();
        for (bytes, is_new) in [(100, true), (64, false), (3 << 20, true), (100, false), (5 << 20, true)] {
            let (base, found) = scratch.memory(bytes);
            assert_eq!(found, is_new, "{bytes}");
            let held = scratch.0.as_ptr_range();
            assert!(base.is_multiple_of(HOST_ALIGN));
            assert!(held.start.addr() <= base && base + bytes <= held.end.addr(), "{bytes}");
        }
        scratch.trim();
        assert!(!scratch.memory(5 << 20).1);
        scratch.memory(64 << 20);
        scratch.trim();
        assert!(scratch.memory(64).1);
    }
}
