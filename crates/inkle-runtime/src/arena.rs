//! Memory of the CPU for arrays of middling size, as most of a simulation are: taken from arenas that the system backs with huge pages.
//! Such an array alone is smaller than a huge page. Arrays that come and go in each step of a program get the same pages again.

use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use offset_allocator::{Allocation as Place, Allocator};

use crate::elf::Mapping;
use crate::memory::{HUGE_FROM, HUGE_PAGE, prefer_huge_pages};

/// What fewer bytes are is the business of the process's allocator.
const SMALLEST: usize = 16 << 10;
/// Bytes of an arena.
const ARENA: usize = 64 << 20;
/// Blocks begin at multiples of this, a line of the caches.
const UNIT: usize = 64;
/// Lines between blocks. Arrays of a program are often of one size, a power of two or some of them: one next to the other, elements
/// of one index would all have to share the same few places of a cache.
const APART: u32 = 67;
/// The same for blocks that are shorter than this.
const SHORT: usize = 64 << 10;
const SHORT_APART: u32 = 5;

/// A block of an arena.
pub(crate) struct Block {
    /// Which arena, by its place among all.
    arena: usize,
    place: Place,
}

struct Arena {
    /// Where the memory begins.
    base: usize,
    _memory: Mapping,
    allocator: Allocator,
    blocks: usize,
    /// The bytes from here on were never given out, and so are zero.
    untouched: usize,
}

/// Places of arenas; what is no more leaves an empty one.
static ARENAS: Mutex<Vec<Option<Arena>>> = Mutex::new(Vec::new());

fn arenas() -> MutexGuard<'static, Vec<Option<Arena>>> {
    ARENAS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes that are zero, at an address that is a multiple of 64; `None` where they are no business of arenas, or the system has no
/// memory for one.
pub(crate) fn allocate(bytes: usize) -> Option<(usize, Block)> {
    if !(SMALLEST..HUGE_FROM).contains(&bytes) {
        return None;
    }
    let apart = if bytes < SHORT { SHORT_APART } else { APART };
    let units = u32::try_from(bytes.div_ceil(UNIT)).ok()? + apart;
    let mut arenas = arenas();
    let found = arenas.iter_mut().enumerate().find_map(|(at, arena)| {
        let place = arena.as_mut()?.allocator.allocate(units)?;
        Some((at, place))
    });
    let (at, place) = match found {
        Some(found) => found,
        None => {
            let mut made = Arena::map()?;
            let place = made.allocator.allocate(units)?;
            let at = arenas.iter().position(Option::is_none).unwrap_or(arenas.len());
            if at == arenas.len() {
                arenas.push(None);
            }
            arenas[at] = Some(made);
            (at, place)
        }
    };
    let arena = arenas[at].as_mut()?;
    arena.blocks += 1;
    let first = place.offset as usize * UNIT;
    let used = arena.untouched.saturating_sub(first).min(bytes);
    arena.untouched = arena.untouched.max(first + units as usize * UNIT);
    let address = arena.base + first;
    drop(arenas);
    // SAFETY: the block lies in an arena that is mapped, and was given to nobody else.
    unsafe { ptr::with_exposed_provenance_mut::<u8>(address).write_bytes(0, used) };
    Some((address, Block { arena: at, place }))
}

impl Block {
    /// Gives the block back. One arena without blocks is kept for the next ones, others go back to the system.
    pub fn free(self) {
        let mut arenas = arenas();
        let empty = arenas.iter().flatten().filter(|arena| arena.blocks == 0).count();
        let Some(arena) = arenas[self.arena].as_mut() else { return };
        arena.allocator.free(self.place);
        arena.blocks -= 1;
        if arena.blocks == 0 && empty > 0 {
            arenas[self.arena] = None;
        }
    }
}

impl Arena {
    fn map() -> Option<Arena> {
        let memory = Mapping::aligned(ARENA, HUGE_PAGE).ok()?;
        let base = memory.address(0).expose_provenance();
        prefer_huge_pages(base, ARENA);
        let most = (ARENA / SMALLEST) as u32;
        let allocator = Allocator::with_max_allocs((ARENA / UNIT) as u32, 2 * most + 2);
        Some(Arena { base, _memory: memory, allocator, blocks: 0, untouched: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(address: usize, bytes: usize) -> &'static mut [u8] {
        // SAFETY: the tests use blocks that they have, each for itself.
        unsafe { std::slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut(address), bytes) }
    }

    #[test]
    fn blocks_are_zero_apart_and_come_again() {
        let sizes = [SMALLEST, SMALLEST + 1, 786_432, 100_000, HUGE_FROM - 1];
        // More than one arena holds, some of them given back in between.
        let mut held: Vec<(usize, usize, u8, Block)> = Vec::new();
        for round in 0..400usize {
            let bytes = sizes[round % sizes.len()];
            let (address, block) = allocate(bytes).expect("there is memory");
            assert!(address.is_multiple_of(UNIT));
            let memory = contents(address, bytes);
            assert!(memory.iter().all(|&b| b == 0), "round {round}");
            memory.fill(round as u8 | 1);
            held.push((address, bytes, round as u8 | 1, block));
            if round % 3 == 2 {
                let (address, bytes, mark, block) = held.swap_remove(round * 7 % held.len());
                assert!(contents(address, bytes).iter().all(|&b| b == mark), "round {round}");
                block.free();
            }
        }
        for (address, bytes, mark, block) in held {
            assert!(contents(address, bytes).iter().all(|&b| b == mark));
            block.free();
        }
    }

    #[test]
    fn small_and_large_blocks_are_not_of_arenas() {
        assert!(allocate(SMALLEST - 1).is_none() && allocate(HUGE_FROM).is_none() && allocate(0).is_none());
    }
}
