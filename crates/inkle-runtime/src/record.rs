//! Recording: what a thread does is shown to a recorder, which may keep it for a graph instead of letting it run.
//!
//! Copies, fills and the algorithms over arrays are shown here by themselves. Launches are shown by whoever packs
//! their arguments, because only there is it known which bytes of a parameter block are addresses.
//!
//! A recorder belongs to a thread: what other threads do meanwhile runs as always. While nobody records, asking costs
//! one load.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::algorithms::Algorithm;
use crate::array::Array;
use crate::device::Device;
use crate::error::RuntimeError;
use crate::stream::Stream;

/// Something that is about to run.
#[derive(Debug)]
pub enum Operation<'a> {
    /// The elements of `src` are copied to `dst`, of the same shape and element size.
    Copy {
        /// Where to.
        dst: &'a Array,
        /// Where from.
        src: &'a Array,
        /// The stream that the caller named.
        stream: Option<&'a Stream>,
    },
    /// Every element of `dst` becomes the bytes `pattern`.
    Fill {
        /// What is filled.
        dst: &'a Array,
        /// One element.
        pattern: &'a [u8],
        /// The stream that the caller named.
        stream: Option<&'a Stream>,
    },
    /// An algorithm over arrays.
    Algorithm(&'a Algorithm<Array>),
    /// An event, by its handle, stands for all that is on the stream now.
    RecordEvent {
        /// The event's handle.
        event: u64,
        /// The stream.
        stream: &'a Stream,
    },
    /// What is put on the stream from now on waits for an event.
    WaitEvent {
        /// The event's handle.
        event: u64,
        /// The stream.
        stream: &'a Stream,
    },
}

/// What becomes of an operation that was shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It runs now.
    Run,
    /// It was kept, and must not run now.
    Keep,
}

/// Who is shown the operations of a thread.
pub trait Recorder {
    /// Looks at an operation.
    ///
    /// # Errors
    /// When the operation cannot be part of what is recorded; the caller gets the error.
    fn show(&self, operation: &Operation<'_>) -> Result<Verdict, RuntimeError>;

    /// Whether operations on a device are recorded now.
    fn records(&self, device: Device) -> bool;
}

/// How many threads have a recorder.
static RECORDING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static RECORDER: RefCell<Option<Rc<dyn Recorder>>> = const { RefCell::new(None) };
}

/// Sets this thread's recorder, or removes it, and gives back the one before.
pub fn set_recorder(recorder: Option<Rc<dyn Recorder>>) -> Option<Rc<dyn Recorder>> {
    let added = recorder.is_some();
    let old = RECORDER.with(|slot| slot.replace(recorder));
    match (old.is_some(), added) {
        (false, true) => RECORDING.fetch_add(1, Ordering::Relaxed),
        (true, false) => RECORDING.fetch_sub(1, Ordering::Relaxed),
        _ => 0,
    };
    old
}

/// Whether some thread of the process may be recording; false is certain.
#[inline]
pub fn may_be_recording() -> bool {
    RECORDING.load(Ordering::Relaxed) != 0
}

/// Whether this thread's operations on a device are recorded now.
pub fn is_recording(device: Device) -> bool {
    may_be_recording() && RECORDER.with(|slot| slot.borrow().as_ref().is_some_and(|r| r.records(device)))
}

/// Whether an operation of this thread is to run now.
///
/// # Errors
/// The recorder's.
#[inline]
pub(crate) fn runs_now(operation: &Operation<'_>) -> Result<bool, RuntimeError> {
    if !may_be_recording() {
        return Ok(true);
    }
    shown(operation)
}

#[cold]
fn shown(operation: &Operation<'_>) -> Result<bool, RuntimeError> {
    let recorder = RECORDER.with(|slot| slot.borrow().clone());
    match recorder {
        None => Ok(true),
        Some(recorder) => Ok(recorder.show(operation)? == Verdict::Run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkle_ir::{Scalar, Type};

    #[derive(Default)]
    struct Keeps(RefCell<Vec<String>>);

    impl Recorder for Keeps {
        fn show(&self, operation: &Operation<'_>) -> Result<Verdict, RuntimeError> {
            self.0.borrow_mut().push(match operation {
                Operation::Copy { dst, .. } => format!("copy {:?}", dst.shape()),
                Operation::Fill { dst, pattern, .. } => format!("fill {:?} {pattern:?}", dst.shape()),
                Operation::Algorithm(algorithm) => algorithm.name().to_owned(),
                Operation::RecordEvent { .. } | Operation::WaitEvent { .. } => "event".to_owned(),
            });
            Ok(Verdict::Keep)
        }

        fn records(&self, device: Device) -> bool {
            device.is_cpu()
        }
    }

    #[test]
    fn what_is_kept_does_not_run_and_other_threads_are_not_shown() {
        let array = Array::from_bytes(Device::cpu(), Type::Scalar(Scalar::U8), &[3], &[1, 2, 3]).unwrap();
        let keeps = Rc::new(Keeps::default());
        set_recorder(Some(keeps.clone()));
        array.fill(&[9], None).unwrap();
        array.write_bytes(&[7, 7, 7]).unwrap();
        array.copy_range_from(1, &array, 0, 2, None).unwrap();
        assert_eq!(array.to_bytes().unwrap(), [1, 2, 3], "reading back still works");
        let other = array.clone();
        std::thread::spawn(move || {
            other.slice(0, crate::Slice { stop: Some(1), ..crate::Slice::ALL })?.fill(&[5], None)
        })
        .join()
        .unwrap()
        .unwrap();
        set_recorder(None);
        assert_eq!(*keeps.0.borrow(), ["fill [3] [9]", "copy [3]", "copy [2]"]);
        assert_eq!(array.to_bytes().unwrap(), [5, 2, 3]);
        array.fill(&[4], None).unwrap();
        assert_eq!(array.to_bytes().unwrap(), [4, 4, 4]);
    }
}
