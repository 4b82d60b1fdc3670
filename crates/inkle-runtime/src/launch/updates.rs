//! The lock between launches that update memory with plain operations and those that do it atomically.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Once, RwLock};

use super::apart::Scratch;

static FIRST: RwLock<Scratch> = RwLock::new(Scratch::new());

/// The lock of this process, once it is not [`FIRST`].
static LATER: AtomicPtr<RwLock<Scratch>> = AtomicPtr::new(std::ptr::null_mut());

/// Held exclusively by launches whose updates are plain, and shared by all others that update memory. What is in it is
/// for the former.
///
/// A process that is forked while a thread holds the lock has no such thread, so it has a lock of its own.
pub fn updates() -> &'static RwLock<Scratch> {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        // SAFETY: the handler is a function of this library, and the C library forgets it when this one is unloaded. It only
        // allocates, which the C library allows there, and stores a pointer.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    });
    // SAFETY: the pointer is null or from `forked`, which leaks what it points to.
    unsafe { LATER.load(Ordering::Acquire).as_ref() }.unwrap_or(&FIRST)
}

extern "C" fn forked() {
    LATER.store(Box::leak(Box::new(RwLock::new(Scratch::new()))), Ordering::Release);
}
