//! Locks between processes, which end with the process that holds them.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A lock that a file stands for. The file goes when the lock does; one that a killed process left is taken over.
#[derive(Debug)]
pub(crate) struct FileLock {
    path: PathBuf,
    file: File,
}

impl FileLock {
    /// Takes the lock, for which another process or thread may have to be waited for. `None` when there is no locking in
    /// this directory, or `patience` is at an end.
    ///
    /// There is an end to waiting because a process that was forked off while the lock was held keeps it when its
    /// parent is killed.
    pub fn take(path: &Path, patience: Duration) -> Option<FileLock> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(500);
        loop {
            match FileLock::attempt(path) {
                Attempt::Taken(lock) => return Some(lock),
                Attempt::Impossible => return None,
                Attempt::Replaced => {}
                Attempt::Held if start.elapsed() >= patience => return None,
                Attempt::Held => {
                    wait(pause);
                    pause = (pause * 2).min(Duration::from_millis(16));
                }
            }
        }
    }

    /// Takes the lock when nobody has it.
    pub fn take_now(path: &Path) -> Option<FileLock> {
        FileLock::take(path, Duration::ZERO)
    }

    fn attempt(path: &Path) -> Attempt {
        let Ok(file) = File::options().create(true).truncate(false).write(true).open(path) else {
            return Attempt::Impossible;
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Attempt::Held,
            Err(TryLockError::Error(_)) => return Attempt::Impossible,
        }
        // Whoever held it may have removed the file between our opening and locking it: then it is no longer what others
        // would lock.
        let same = |a: &fs::Metadata, b: &fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
        match (fs::metadata(path), file.metadata()) {
            (Ok(named), Ok(held)) if same(&named, &held) => {
                Attempt::Taken(FileLock { path: path.to_owned(), file })
            }
            _ => Attempt::Replaced,
        }
    }
}

enum Attempt {
    Taken(FileLock),
    /// Somebody else has it.
    Held,
    /// The file went while it was being locked.
    Replaced,
    Impossible,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A file that cannot be removed is one more empty file, until the cache is pruned.
        let _ = fs::remove_file(&self.path);
        // Closing is not enough: a process forked off meanwhile has the file open too.
        let _ = self.file.unlock();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process's lock gives no event that could be waited for with a limit"
)]
fn wait(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn one_at_a_time_has_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k.lock");
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let lock = FileLock::take(&path, LONG).expect("nobody keeps it for long");
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                        drop(lock);
                    }
                });
            }
        });
        assert!(!path.exists());
    }

    #[test]
    fn patience_has_an_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k.lock");
        let held = FileLock::take_now(&path).unwrap();
        assert!(FileLock::take(&path, Duration::from_millis(5)).is_none());
        drop(held);
        assert!(FileLock::take_now(&path).is_some());
    }

    #[test]
    fn a_file_that_was_left_behind_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k.lock");
        fs::write(&path, "").unwrap();
        drop(FileLock::take_now(&path).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn where_no_file_can_be_made_there_is_no_lock() {
        let dir = tempfile::tempdir().unwrap();
        assert!(FileLock::take(&dir.path().join("absent/k.lock"), LONG).is_none());
    }
}
