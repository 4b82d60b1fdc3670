//! What code built with checks reports: the launch that ran the code returns the first failure.

use std::cell::Cell;
use std::ffi::c_char;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use inkle_ir::CheckRecord;

use super::print::{emit, format_raw};
use super::{Entry, entries};
use crate::error::RuntimeError;

thread_local! {
    /// Where failures of the launch that this thread is working for are noted.
    static CURRENT: Cell<*const FailureScope> = const { Cell::new(ptr::null()) };
}

/// The reports of one launch; every thread that works for it enters the scope.
pub(crate) struct FailureScope {
    first: OnceLock<String>,
    warnings: AtomicU32,
}

impl FailureScope {
    pub(crate) const fn new() -> FailureScope {
        FailureScope { first: OnceLock::new(), warnings: AtomicU32::new(0) }
    }

    /// Runs `f` with this thread's reports going to the scope.
    pub(crate) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Restore(*const FailureScope);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _restore = Restore(CURRENT.replace(self));
        f()
    }

    /// The first failure as an error.
    #[inline]
    pub(crate) fn finish(self) -> Result<(), RuntimeError> {
        tell_omitted(self.warnings.into_inner());
        match self.first.into_inner() {
            None => Ok(()),
            Some(message) => Err(RuntimeError::CheckFailed { message }),
        }
    }

    fn of_this_thread<'a>() -> Option<&'a FailureScope> {
        // SAFETY: the pointer is null, or `enter` borrows the scope all the while and restores the old value before it
        // returns; functions that compiled code calls are called inside.
        unsafe { CURRENT.get().as_ref() }
    }
}

/// Says how many warnings of a launch were not printed.
#[inline]
pub(crate) fn tell_omitted(warnings: u32) {
    if warnings > CheckRecord::MAX_WARNINGS {
        emit(&format!("{} more reports are not shown\n", warnings - CheckRecord::MAX_WARNINGS));
    }
}

/// `inkle_fail(format, args, n_args, kinds)`: notes the report if it is the launch's first.
///
/// # Safety
/// As for `inkle_print`.
unsafe extern "C" fn fail(template: *const c_char, args: *const u64, n_args: u32, kinds: *const u8) {
    let Some(scope) = FailureScope::of_this_thread() else { return };
    scope.first.get_or_init(|| {
        // SAFETY: the caller's contract.
        unsafe { format_raw(template, args, n_args, kinds) }.trim_end().to_owned()
    });
}

/// `inkle_warn(format, args, n_args, kinds)`: prints the report, unless the launch has printed enough of them.
///
/// # Safety
/// As for `inkle_print`.
unsafe extern "C" fn warn(template: *const c_char, args: *const u64, n_args: u32, kinds: *const u8) {
    let Some(scope) = FailureScope::of_this_thread() else { return };
    if scope.warnings.fetch_add(1, Ordering::Relaxed) < CheckRecord::MAX_WARNINGS {
        // SAFETY: the caller's contract.
        emit(&unsafe { format_raw(template, args, n_args, kinds) });
    }
}

pub(super) fn entries() -> impl IntoIterator<Item = Entry> {
    type Report = unsafe extern "C" fn(*const c_char, *const u64, u32, *const u8);
    entries! {
        "inkle_fail" => fail, Report;
        "inkle_warn" => warn, Report;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail_with(text: &std::ffi::CStr) {
        // SAFETY: a literal without conversions.
        unsafe { fail(text.as_ptr(), ptr::null(), 0, ptr::null()) };
    }

    fn message(scope: FailureScope) -> Option<String> {
        match scope.finish() {
            Err(RuntimeError::CheckFailed { message }) => Some(message),
            other => {
                assert_eq!(other, Ok(()));
                None
            }
        }
    }

    #[test]
    fn the_first_failure_wins_and_scopes_nest() {
        let (outer, inner) = (FailureScope::new(), FailureScope::new());
        outer.enter(|| {
            inner.enter(|| fail_with(c"inner\n"));
            fail_with(c"first");
            fail_with(c"second");
        });
        // Outside any scope the call has nowhere to report to.
        fail_with(c"lost");
        assert_eq!(message(outer).as_deref(), Some("first"));
        assert_eq!(message(inner).as_deref(), Some("inner"));
        assert_eq!(message(FailureScope::new()), None);
    }

    #[test]
    fn the_values_are_in_the_message() {
        let scope = FailureScope::new();
        let (args, kinds) = ([7u64, (-1i64).cast_unsigned()], [1u8, 0]);
        // SAFETY: two arguments with their kinds.
        scope.enter(|| unsafe { fail(c"index %u of %d\n".as_ptr(), args.as_ptr(), 2, kinds.as_ptr()) });
        assert_eq!(message(scope).as_deref(), Some("index 7 of -1"));
    }
}
