//! Files on disk.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file whole or not at all: whoever looks at `path` finds what was there before or all of `bytes`. When it is on
/// the disk is for the system to say; a file that a power cut leaves in pieces has wrong digests.
///
/// # Errors
/// The system's.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{number}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// All bytes of a file.
///
/// # Errors
/// The system's.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}
