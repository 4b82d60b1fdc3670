//! Keeping the cache below its limit.
//!
//! Nothing is scanned when kernels are launched or found, and nothing is counted that processes would have to share. A
//! writer looks at the directory with a chance of the entry's size to a part of the limit; the chance is drawn from the
//! key, which is as good as random. So directories are scanned once in a part of the limit written, on average, whoever
//! writes, and after every entry where the limit is small. A scan that finds the limit near removes entries, those not
//! used for longest first, until several parts are free.

use std::fs;
use std::time::{Duration, SystemTime};

use super::lock::FileLock;
use super::store::{CacheError, KernelCache, remove};

const BLOCK: u64 = 4096;
/// A directory is scanned once in this part of its limit written, on average.
const PARTS: u64 = 32;
/// So many parts are left free, so that the limit is kept although the next scan may come late.
const FREE_PARTS: u64 = 4;
/// A temporary file older than this was left by a process that was killed.
const ABANDONED: Duration = Duration::from_secs(3600);

/// What pruning did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pruned {
    /// Entries removed.
    pub removed: usize,
    /// Their bytes, as disks count them: in blocks of 4 KiB.
    pub freed: u64,
    /// Bytes of the entries left.
    pub left: u64,
}

impl KernelCache {
    /// Prunes, if it is the turn of whoever has just written so many bytes under a key.
    pub(super) fn prune_by_chance(&self, key: &blake3::Hash, bytes: u64) {
        let Some(limit) = self.limit() else { return };
        let [.., a, b, c, d] = *key.as_bytes();
        let drawn = u128::from(u32::from_le_bytes([a, b, c, d]));
        if drawn * u128::from(limit) < (u128::from(on_disk(bytes) * PARTS) << 32) {
            // What refuses to be removed is found again by the next scan.
            let _ = self.prune(limit - limit / PARTS * FREE_PARTS);
        }
    }

    /// Removes entries, those not used for longest first, until what is left is at most `target` bytes; and what killed
    /// processes have left. Does nothing when another process is at it.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn prune(&self, target: u64) -> Result<Pruned, CacheError> {
        if !self.dir().exists() {
            return Ok(Pruned::default());
        }
        let lock = FileLock::take_now(&self.dir().join(".prune.lock"));
        let mut entries = self.everything()?;
        let size = |bytes: u64| bytes.div_ceil(BLOCK) * BLOCK;
        let mut outcome = Pruned { left: entries.iter().map(|e| size(e.bytes)).sum(), ..Pruned::default() };
        if lock.is_none() {
            return Ok(outcome);
        }
        for file in self.files(|name| name.starts_with(".tmp-"))? {
            let age = fs::metadata(&file).and_then(|d| d.modified()).ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > ABANDONED) {
                remove(&file)?;
            }
        }
        self.remove_stale_locks()?;
        entries.sort_by_key(|e| e.used);
        for entry in &entries {
            if outcome.left <= target {
                break;
            }
            self.remove(entry)?;
            outcome.removed += 1;
            outcome.freed += on_disk(entry.bytes);
            outcome.left -= on_disk(entry.bytes);
        }
        Ok(outcome)
    }

    /// Removes the entries that were not used for so long.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn prune_unused(&self, age: Duration) -> Result<Pruned, CacheError> {
        let now = SystemTime::now();
        let mut outcome = Pruned::default();
        for entry in self.everything()? {
            let bytes = on_disk(entry.bytes);
            if now.duration_since(entry.used).is_ok_and(|unused| unused > age) {
                self.remove(&entry)?;
                outcome.removed += 1;
                outcome.freed += bytes;
            } else {
                outcome.left += bytes;
            }
        }
        Ok(outcome)
    }
}

/// What a file takes, in blocks of 4 KiB as most file systems have.
fn on_disk(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK) * BLOCK
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::super::entry::sample;
    use super::*;

    /// A cache with `count` entries of two blocks each; the one numbered `i` was last used `count - i` hours ago.
    fn filled(dir: &std::path::Path, count: u64) -> KernelCache {
        let cache = KernelCache::at(dir);
        for i in 0..count {
            let key = key(i);
            cache.put(&key, &big()).unwrap();
            let used = SystemTime::now() - Duration::from_secs(3600 * (count - i));
            File::open(cache.path(&key)).unwrap().set_modified(used).unwrap();
        }
        cache
    }

    fn key(i: u64) -> blake3::Hash {
        blake3::hash(&i.to_le_bytes())
    }

    fn big() -> crate::entry::Entry {
        crate::entry::Entry { code: vec![7; 6000], ..sample() }
    }

    fn kept(cache: &KernelCache, count: u64) -> Vec<u64> {
        (0..count).filter(|i| cache.path(&key(*i)).exists()).collect()
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let cache = filled(dir.path(), 10);
        // Used just now, so it is the last to go.
        assert!(cache.get(&key(0)).is_some());
        let pruned = cache.prune(4 * 2 * BLOCK).unwrap();
        assert_eq!(pruned, Pruned { removed: 6, freed: 12 * BLOCK, left: 8 * BLOCK });
        assert_eq!(kept(&cache, 10), [0, 7, 8, 9]);
    }

    #[test]
    fn a_cache_that_is_written_to_stays_below_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let limit = 64 * BLOCK;
        let cache = KernelCache::at(dir.path()).with_limit(Some(limit));
        for i in 0..200 {
            cache.put(&key(i), &big()).unwrap();
            let total: u64 = cache.entries().unwrap().iter().map(|e| on_disk(e.bytes)).sum();
            assert!(total <= limit, "{total} bytes after {i} entries");
        }
        assert!(cache.entries().unwrap().len() >= 26);
    }

    #[test]
    fn what_killed_processes_left_is_removed_and_what_lives_stays() {
        let dir = tempfile::tempdir().unwrap();
        let cache = filled(dir.path(), 1);
        let shelf = cache.path(&key(0)).parent().unwrap().to_owned();
        let (old, new) = (shelf.join(".tmp-1-0"), shelf.join(".tmp-2-0"));
        fs::write(&old, "half").unwrap();
        fs::write(&new, "half").unwrap();
        File::open(&old).unwrap().set_modified(SystemTime::now() - 2 * ABANDONED).unwrap();
        fs::write(shelf.join("left.lock"), "").unwrap();
        let held = cache.lock(&key(0), Duration::ZERO).unwrap();
        cache.prune(u64::MAX).unwrap();
        assert!(!old.exists() && new.exists());
        assert!(!shelf.join("left.lock").exists());
        assert!(cache.path(&key(0)).with_extension("lock").exists());
        drop(held);
        assert_eq!(kept(&cache, 1), [0]);
    }

    #[test]
    fn entries_unused_for_long_can_be_removed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = filled(dir.path(), 6);
        let pruned = cache.prune_unused(Duration::from_secs(3600 * 3 + 60)).unwrap();
        assert_eq!(pruned.removed, 3);
        assert_eq!(kept(&cache, 6), [3, 4, 5]);
    }

    #[test]
    fn there_is_nothing_to_prune_where_there_is_no_cache() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(KernelCache::at(dir.path().join("absent")).prune(0).unwrap(), Pruned::default());
        assert!(!dir.path().join("absent").exists());
    }
}
