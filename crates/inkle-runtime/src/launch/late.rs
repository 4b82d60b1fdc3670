//! Code that is made at first need.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cpu::CpuFunction;
use crate::error::RuntimeError;

/// Makes the form of a kernel that is missing.
pub type MakeLate = dyn Fn() -> Result<CpuFunction, RuntimeError> + Send + Sync;

/// How many ticks launches run alone before it is found out whether the other form would be quicker: about as many as making it
/// takes.
const LATE_TICKS: u64 = 60_000_000;

/// The form of a kernel that runs beside others, made once.
pub(super) struct Late {
    make: Box<MakeLate>,
    made: OnceLock<Result<Box<CpuFunction>, RuntimeError>>,
    /// How long launches ran alone that several threads could have shared with it, ticks.
    alone: AtomicU64,
}

impl fmt::Debug for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Late({:?})", self.made.get())
    }
}

impl Late {
    pub fn new(make: Box<MakeLate>) -> Late {
        Late { make, made: OnceLock::new(), alone: AtomicU64::new(0) }
    }

    /// The function, made now if it must be.
    pub fn get(&self) -> Result<&CpuFunction, RuntimeError> {
        match self.made.get_or_init(|| (self.make)().map(Box::new)) {
            Ok(made) => Ok(made),
            Err(error) => Err(error.clone()),
        }
    }

    /// The function, if it is there.
    pub fn if_made(&self) -> Option<&CpuFunction> {
        self.made.get()?.as_deref().ok()
    }

    /// Notes a launch that several threads could have shared, of so many ticks alone: after many of them the function is made. If
    /// it cannot be, the kernel does without.
    pub fn note_alone(&self, ticks: u64) {
        if self.made.get().is_none() && self.alone.fetch_add(ticks, Ordering::Relaxed) > LATE_TICKS {
            drop(self.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn it_is_made_once_after_long_runs_alone() {
        let count = Arc::new(AtomicU32::new(0));
        let counted = count.clone();
        let late = Late::new(Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Err(RuntimeError::NotMade { reason: "no reason".into() })
        }));
        for wanted in [0, 0, 1, 1] {
            late.note_alone(LATE_TICKS);
            assert_eq!(count.load(Ordering::Relaxed), wanted);
        }
        assert!(late.if_made().is_none());
        assert_eq!(late.get().unwrap_err(), RuntimeError::NotMade { reason: "no reason".into() });
    }
}
