//! What kernels built with checks report from a GPU: one [`CheckRecord`] for each device.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use inkle_ir::CheckRecord;

use super::sys::{self, Driver};
use crate::error::RuntimeError;
use crate::symbols::{format_record, tell_omitted};

/// A device's record: page-locked, and never freed, because any kernel may write to it at any time.
pub(crate) struct DeviceRecord(NonNull<CheckRecord>);

// SAFETY: the memory is used through atomics, and its other fields only by whoever holds the state that says so.
unsafe impl Send for DeviceRecord {}
// SAFETY: as above.
unsafe impl Sync for DeviceRecord {}

const WRITTEN: u32 = 2;

impl DeviceRecord {
    /// A record in which nothing is reported. A context is current.
    pub(crate) fn new(driver: &'static Driver) -> Result<DeviceRecord, RuntimeError> {
        let mut address = std::ptr::null_mut();
        let _relaxed = super::Relaxed::enter(driver);
        // SAFETY: the place is valid and the caller's context current.
        unsafe { driver.mem_host_alloc(&mut address, size_of::<CheckRecord>(), sys::MEMHOSTALLOC_PORTABLE) }?;
        let record =
            NonNull::new(address.cast::<CheckRecord>()).ok_or_else(|| RuntimeError::OutOfMemory {
                device: "the host".into(),
                requested_bytes: size_of::<CheckRecord>(),
                free_bytes: None,
            })?;
        // SAFETY: the driver gave that many bytes, aligned to a page, and nobody else knows of them yet.
        unsafe { record.write_bytes(0, 1) };
        Ok(DeviceRecord(record))
    }

    /// Its address, for host and GPU alike.
    pub(crate) fn address(&self) -> u64 {
        self.0.as_ptr().expose_provenance() as u64
    }

    /// What was reported since the last call. Warnings of which too many were printed are counted on standard output.
    pub(crate) fn take(&self) -> Option<String> {
        let record = self.0.as_ptr();
        // SAFETY: the record lives for ever, and both fields are only used through atomics.
        let (state, warnings) = unsafe {
            (AtomicU32::from_ptr(&raw mut (*record).state), AtomicU32::from_ptr(&raw mut (*record).warnings))
        };
        if warnings.load(Ordering::Relaxed) > 0 {
            tell_omitted(warnings.swap(0, Ordering::Relaxed));
        }
        if state.load(Ordering::Acquire) != WRITTEN {
            return None;
        }
        // SAFETY: in this state nobody writes to the record until the state is set to zero below.
        let CheckRecord { count, args, kinds, format, .. } = unsafe { record.read_volatile() };
        let count = (count as usize).min(CheckRecord::MAX_ARGS);
        let end = format.iter().position(|&b| b == 0).unwrap_or(format.len());
        let template = String::from_utf8_lossy(&format[..end]);
        let message = format_record(&template, &args[..count], &kinds[..count]).trim_end().to_owned();
        state.store(0, Ordering::Release);
        Some(message)
    }
}
