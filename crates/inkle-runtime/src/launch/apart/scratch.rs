//! Memory for workers' copies.

use crate::memory::{HOST_ALIGN, HUGE_PAGE, prefer_huge_pages};

/// Memory up to this many bytes is kept for the next launch, whoever it is.
const MAX_KEPT: usize = 16 << 20;
/// More is kept where it is used again, until so many launches were content with less.
const CONTENT: u32 = 64;

/// Memory for copies, kept from launch to launch. Between launches all of it is zero.
#[derive(Debug)]
pub(crate) struct Scratch {
    words: Vec<u64>,
    /// How many words a launch used that were given back afterwards.
    given_back: usize,
    /// How many launches in a row had no use for most of it.
    content: u32,
}

impl Scratch {
    pub const fn new() -> Scratch {
        Scratch { words: Vec::new(), given_back: 0, content: 0 }
    }

    /// The address of so many bytes, and whether they are new.
    pub fn memory(&mut self, bytes: usize) -> (usize, bool) {
        let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { HOST_ALIGN };
        let words = (bytes.next_multiple_of(align) + align) / size_of::<u64>();
        let is_new = self.words.len() < words;
        if is_new {
            self.words = Vec::new();
            self.words = vec![0; words];
        }
        self.content = if words < self.words.len() / 2 { self.content + 1 } else { 0 };
        let base = self.words.as_mut_ptr().expose_provenance().next_multiple_of(align);
        // Of what is larger often little is touched, and what is given back again is not worth it.
        if is_new && align == HUGE_PAGE && bytes <= MAX_KEPT {
            prefer_huge_pages(base, bytes.next_multiple_of(align));
        }
        (base, is_new)
    }

    /// Gives back more memory than is to be kept, where most of it was touched: when it is used for the first time, or has not been
    /// for a while.
    pub fn trim(&mut self) {
        let words = self.words.len();
        if size_of_val(&self.words[..]) <= MAX_KEPT + 2 * HUGE_PAGE {
            return;
        }
        if words > self.given_back || self.content > CONTENT {
            self.given_back = if self.content > CONTENT { 0 } else { words };
            (self.words, self.content) = (Vec::new(), 0);
        }
    }

    #[cfg(test)]
    pub fn is_zero(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
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
            let held = scratch.words.as_ptr_range();
            assert!(base.is_multiple_of(HOST_ALIGN));
            assert!(held.start.addr() <= base && base + bytes <= held.end.addr(), "{bytes}");
        }
        scratch.trim();
        assert!(!scratch.memory(5 << 20).1);
    }

    #[test]
    fn much_memory_is_kept_where_it_is_used_again() {
        let mut scratch = Scratch::new();
        let mut launch = |bytes| {
            let is_new = scratch.memory(bytes).1;
            scratch.trim();
            is_new
        };
        let large = 64 << 20;
        assert!(launch(large) && launch(64), "once is not enough");
        assert!(launch(large) && !launch(large) && !launch(64));
        (0..CONTENT).for_each(|_| _ = launch(64));
        assert!(launch(large), "it was given back");
    }
}
