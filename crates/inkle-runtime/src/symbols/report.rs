//! Failed assertions: compiled code reports them here, and the launch that ran the code returns the first.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::{Entry, entries};

thread_local! {
    /// Where failures of the launch that this thread is working for are noted.
    static CURRENT: Cell<*const AtomicPtr<c_char>> = const { Cell::new(ptr::null()) };
}

/// The failures of one launch; every thread that works for it enters the scope.
pub(crate) struct FailureScope {
    first: AtomicPtr<c_char>,
}

impl FailureScope {
    pub(crate) const fn new() -> FailureScope {
        FailureScope { first: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Runs `f` with this thread's reports going to the scope.
    pub(crate) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Restore(*const AtomicPtr<c_char>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _restore = Restore(CURRENT.replace(&self.first));
        f()
    }

    /// The message of the first failure. The code that reported it must still be loaded.
    pub(crate) fn message(&self) -> Option<String> {
        let first = self.first.load(Ordering::Acquire);
        if first.is_null() {
            return None;
        }
        // SAFETY: the pointer came from `assert_fail`, whose caller passes a NUL-terminated string of its
        // read-only data; the launch that owns this scope keeps that code loaded.
        let text = unsafe { CStr::from_ptr(first) };
        Some(text.to_string_lossy().into_owned())
    }
}

/// `inkle_assert_fail(message)`: notes the message if it is the launch's first.
///
/// # Safety
/// `message` is null or a NUL-terminated string that lives as long as the code that passes it.
unsafe extern "C" fn assert_fail(message: *const c_char) {
    let scope = CURRENT.get();
    if scope.is_null() {
        return;
    }
    let message = if message.is_null() { c"assertion failed".as_ptr() } else { message };
    // SAFETY: `CURRENT` is non-null only inside `FailureScope::enter`, which borrows the scope all the while
    // and restores the old value before it returns.
    let first = unsafe { &*scope };
    let _ = first.compare_exchange(ptr::null_mut(), message.cast_mut(), Ordering::AcqRel, Ordering::Relaxed);
}

pub(super) fn entries() -> impl IntoIterator<Item = Entry> {
    entries! {
        "inkle_assert_fail" => assert_fail, unsafe extern "C" fn(*const c_char);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_wins_and_scopes_nest() {
        let (outer, inner) = (FailureScope::new(), FailureScope::new());
        outer.enter(|| {
            inner.enter(|| {
                // SAFETY: literals live for ever.
                unsafe { assert_fail(c"inner".as_ptr()) };
            });
            // SAFETY: as above.
            unsafe {
                assert_fail(c"first".as_ptr());
                assert_fail(c"second".as_ptr());
            }
        });
        // SAFETY: as above; outside any scope the call has nowhere to report to.
        unsafe { assert_fail(c"lost".as_ptr()) };
        assert_eq!(outer.message().as_deref(), Some("first"));
        assert_eq!(inner.message().as_deref(), Some("inner"));
    }
}
