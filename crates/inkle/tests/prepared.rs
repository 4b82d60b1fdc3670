//! What launches cost that are not the first: no memory is taken.
//!
//! Alone in its file, since it counts the allocations of the whole program's allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use inkle::prelude::*;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, which counts the calls of each thread.
struct Counting;

// SAFETY: every call goes to the system's allocator as it came; counting takes no memory, since the thread's counter needs no
// initialisation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How often a thread takes memory while something runs.
fn allocations(run: impl FnOnce() -> inkle::Result<()>) -> inkle::Result<u64> {
    let before = ALLOCATIONS.get();
    run()?;
    Ok(ALLOCATIONS.get() - before)
}

#[inkle::kernel]
fn add(x: &Array<f32>, y: &mut Array<f32>, by: f32) {
    let i = tid();
    y[i] += x[i] * by;
}

#[test]
fn launches_take_no_memory() -> inkle::Result<()> {
    let n = 64;
    let x = Array::full(n, 1.0f32)?;
    let mut y = Array::zeros(n)?;
    assert!(
        allocations(|| add.launch(n, (&x, &mut y, 1.0)))? > 0,
        "the first launch compiles, so the counter counts"
    );
    add.launch(n, (&x, &mut y, 1.0))?;
    let plain = allocations(|| (0..98).try_for_each(|_| add.launch(n, (&x, &mut y, 1.0))))?;
    let mut prepared = add.prepare(n, (&x, &mut y, 0.0))?;
    let again = allocations(|| {
        (0..100).try_for_each(|i| {
            prepared.set("by", [1.0f32, 3.0][i % 2])?;
            prepared.run()
        })
    })?;
    drop(prepared);
    assert_eq!((plain, again), (0, 0));
    assert_eq!(y.to_vec()?, [300.0; 64]);
    Ok(())
}
