//! A launch that does not pay to be shared allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use inkle_runtime::CpuFunction;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, which counts for each thread.
struct Counting;

// SAFETY: every call is the system's allocator's, under the contract that callers keep.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Parameter block: the address of numbers. Each thread doubles one.
unsafe extern "C" fn double(params: *const u8, begin: u64, end: u64) {
    for i in begin..end {
        // SAFETY: the test passes the address of as many numbers as the launch has threads.
        unsafe {
            let numbers = std::ptr::with_exposed_provenance_mut::<f32>(params.cast::<usize>().read());
            *numbers.add(i as usize) *= 2.0;
        }
    }
}

#[test]
fn a_small_launch_allocates_nothing() {
    // SAFETY: `double` is called with blocks that it expects, and no more threads than there are numbers.
    let function = unsafe { CpuFunction::from_entry(double, 8, 16) };
    let mut numbers = [1.0f32; 1000];
    let params = [numbers.as_mut_ptr().expose_provenance() as u64];
    let launch = |size| function.launch(&params, size).expect("no check fails");
    // The first one measures what threads cost.
    launch(1000);
    let before = COUNT.get();
    for size in [1, 16, 17, 1000] {
        for _ in 0..100 {
            launch(size);
        }
    }
    assert_eq!(COUNT.get(), before, "a launch allocated");
    assert!(numbers[0].is_infinite() && numbers[999] == 2f32.powi(101));
}
