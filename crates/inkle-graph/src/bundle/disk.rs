//! Files on disk.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file whole or not at all: whoever looks at `path` finds what was there before or all of `bytes`.
///
/// # Errors
/// The system's.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{number}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = write_to(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_to(path: &PathBuf, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// All bytes of a file.
///
/// # Errors
/// The system's.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}
