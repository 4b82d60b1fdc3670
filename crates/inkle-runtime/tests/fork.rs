//! Workers after a fork, as Python's multiprocessing makes them. Alone in its process: a fork while another
//! thread holds a lock would leave that lock held in the child.

use std::sync::atomic::{AtomicU64, Ordering};

use inkle_runtime::{CpuFunction, cpu_threads, set_cpu_threads};

static RAN: AtomicU64 = AtomicU64::new(0);

/// Takes long enough per thread for the launch to be shared.
unsafe extern "C" fn busy(_: *const u8, begin: u64, end: u64) {
    let start = std::time::Instant::now();
    while start.elapsed() < std::time::Duration::from_micros(end - begin) {
        std::hint::spin_loop();
    }
    RAN.fetch_add(end - begin, Ordering::Relaxed);
}

fn threads_of_this_process() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn a_forked_child_makes_its_own_workers() {
    set_cpu_threads(4).unwrap();
    // SAFETY: `busy` does not read its block.
    let function = unsafe { CpuFunction::from_entry(busy, 0, 1) };
    function.launch(&[], 2000).unwrap();
    assert_eq!(RAN.swap(0, Ordering::Relaxed), 2000);
    assert!(threads_of_this_process() >= 4);
    // SAFETY: the child does what the library promises to do after a fork, and then ends at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let launched = function.launch(&[], 2000).is_ok() && RAN.load(Ordering::Relaxed) == 2000;
        let workers = cpu_threads() == 4 && threads_of_this_process() == 4;
        // SAFETY: ends the child without running the parent's handlers.
        unsafe { libc::_exit(if launched && workers { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: `status` is a valid place; the child is ours.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status:#x}");
}
