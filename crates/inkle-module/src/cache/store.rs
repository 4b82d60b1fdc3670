//! A directory of entries.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::entry::{seal, unseal};
use super::lock::FileLock;
use crate::entry::Entry;

/// An entry's time of use is renewed when it is older than this, so that using a cache seldom writes.
const USE_RESOLUTION: Duration = Duration::from_secs(60);

/// The ends of the names of files with code, and of notes.
const CODE: &str = "ink";
const NOTE: &str = "ix";
const NOTE_MAGIC: &[u8; 8] = b"inkle-ix";
const NOTE_FORMAT: u32 = 1;

/// Why the cache could not be read or changed.
#[derive(Debug)]
pub struct CacheError {
    /// What was attempted.
    pub action: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// What the system says.
    pub error: io::Error,
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CacheError { action, path, error } = self;
        write!(f, "the kernel cache cannot be {action} at {}: {error}", path.display())
    }
}

impl std::error::Error for CacheError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// What lies under a key.
#[derive(Debug)]
pub(crate) enum Found {
    Intact(Entry),
    Absent,
    /// It was, in this file; it is removed if that is possible.
    Damaged(PathBuf),
}

/// A file of the cache as a listing shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    /// The key.
    pub key: blake3::Hash,
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was last made or, to the minute, used.
    pub used: SystemTime,
}

/// A directory of compiled kernels, safe to share between any number of processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelCache {
    dir: PathBuf,
    limit: Option<u64>,
}

impl KernelCache {
    /// A cache in a directory, which is made when something is first stored. It has no limit.
    pub fn at(dir: impl Into<PathBuf>) -> KernelCache {
        KernelCache { dir: dir.into(), limit: None }
    }

    /// This cache, kept below so many bytes.
    pub fn with_limit(self, limit: Option<u64>) -> KernelCache {
        KernelCache { limit, ..self }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The bytes that the cache is kept below.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    pub(super) fn path(&self, key: &blake3::Hash) -> PathBuf {
        self.path_of(key, CODE)
    }

    fn path_of(&self, key: &blake3::Hash, kind: &str) -> PathBuf {
        let hex = key.to_hex();
        // A level of directories keeps listings short.
        self.dir.join(&hex[..2]).join(format!("{}.{kind}", &hex[2..]))
    }

    /// What was stored under a key with [`note`](Self::note); damage is as good as absence.
    pub(crate) fn noted(&self, key: &blake3::Hash) -> Option<Vec<u8>> {
        let mut file = File::open(self.path_of(key, NOTE)).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let payload = unseal(NOTE_MAGIC, NOTE_FORMAT, key, &bytes)?.to_vec();
        renew(&file);
        Some(payload)
    }

    /// Stores bytes under a key, beside entries: what can be found out again.
    ///
    /// # Errors
    /// When the file system refuses; the cache is as it was before.
    pub(crate) fn note(&self, key: &blake3::Hash, payload: &[u8]) -> Result<(), CacheError> {
        let path = self.path_of(key, NOTE);
        self.put_file(key, path, &seal(NOTE_MAGIC, NOTE_FORMAT, key, payload))
    }

    /// The entry of a key. A damaged one is removed and counts as absent.
    pub fn get(&self, key: &blake3::Hash) -> Option<Entry> {
        match self.look(key) {
            Found::Intact(entry) => Some(entry),
            Found::Absent | Found::Damaged(_) => None,
        }
    }

    pub(crate) fn look(&self, key: &blake3::Hash) -> Found {
        let path = self.path(key);
        let Ok(mut file) = File::open(&path) else { return Found::Absent };
        let mut bytes = Vec::new();
        // What cannot be read to its end is damaged too.
        let read = file.read_to_end(&mut bytes);
        match Entry::decode(key, &bytes).filter(|_| read.is_ok()) {
            Some(entry) => {
                renew(&file);
                Found::Intact(entry)
            }
            None => {
                // Failing to remove it changes nothing: it will be replaced or found damaged again.
                let _ = fs::remove_file(&path);
                Found::Damaged(path)
            }
        }
    }

    /// Excludes others that want to make the entry of a key; `None` where that is not possible, or takes too long.
    pub(crate) fn lock(&self, key: &blake3::Hash, patience: Duration) -> Option<FileLock> {
        let path = self.path(key).with_extension("lock");
        fs::create_dir_all(path.parent()?).ok()?;
        FileLock::take(&path, patience)
    }

    /// Stores an entry under a key.
    ///
    /// # Errors
    /// When the file system refuses; the cache is as it was before.
    pub fn put(&self, key: &blake3::Hash, entry: &Entry) -> Result<(), CacheError> {
        self.put_bytes(key, &entry.encode(key))
    }

    pub(crate) fn put_bytes(&self, key: &blake3::Hash, bytes: &[u8]) -> Result<(), CacheError> {
        self.put_file(key, self.path(key), bytes)
    }

    fn put_file(&self, key: &blake3::Hash, path: PathBuf, bytes: &[u8]) -> Result<(), CacheError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let dir = path.parent().expect("entries lie in a directory");
        let fail = |error| CacheError { action: "written", path: path.clone(), error };
        let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = dir.join(format!(".tmp-{}-{unique}", std::process::id()));
        let write = || -> io::Result<()> {
            fs::create_dir_all(dir)?;
            File::create(&temporary)?.write_all(bytes)?;
            fs::rename(&temporary, &path)
        };
        let mut written = write();
        if written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            // Another process has just cleared the cache.
            written = write();
        }
        written.map_err(|error| {
            // Nothing more can be done about a temporary file that cannot be removed.
            let _ = fs::remove_file(&temporary);
            fail(error)
        })?;
        self.prune_by_chance(key, bytes.len() as u64);
        Ok(())
    }

    /// The bytes of the file of a key; whether they are an entry is for the caller to find out.
    ///
    /// # Errors
    /// When there is a file and it cannot be read.
    pub(crate) fn bytes(&self, key: &blake3::Hash) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path(key)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The files of all entries, in the order of their keys. Files that come or go meanwhile may be missing.
    ///
    /// # Errors
    /// When the directory is there and cannot be read.
    pub fn entries(&self) -> Result<Vec<Stored>, CacheError> {
        self.stored(&[CODE])
    }

    /// The files of entries and notes.
    pub(super) fn everything(&self) -> Result<Vec<Stored>, CacheError> {
        self.stored(&[CODE, NOTE])
    }

    fn stored(&self, kinds: &[&str]) -> Result<Vec<Stored>, CacheError> {
        let mut found = Vec::new();
        let wanted = |name: &str| {
            name.rsplit_once('.').is_some_and(|(stem, kind)| !stem.is_empty() && kinds.contains(&kind))
        };
        for file in self.files(wanted)? {
            let (Some(key), Ok(data)) = (key_of(&file), fs::metadata(&file)) else { continue };
            let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            found.push(Stored { key, path: file, bytes: data.len(), used });
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// Reads an entry without counting that as a use; `None` when it is damaged or gone.
    pub fn read(&self, stored: &Stored) -> Option<Entry> {
        Entry::decode(&stored.key, &fs::read(&stored.path).ok()?)
    }

    /// Deletes an entry.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn remove(&self, stored: &Stored) -> Result<(), CacheError> {
        remove(&stored.path)
    }

    /// Deletes everything the cache has written, and the modules compiled ahead of time that lie in it; nothing else that may
    /// be in the directory. Locks that are held stay.
    ///
    /// # Errors
    /// When the file system refuses; what could be deleted is.
    pub fn clear(&self) -> Result<(), CacheError> {
        let mut outcome = Ok(());
        let ours = |name: &str| name.ends_with(".ink") || name.ends_with(".ix") || name.starts_with(".tmp-");
        for file in self.files(ours)? {
            outcome = remove(&file).and(outcome);
        }
        self.remove_stale_locks()?;
        let modules = list(&self.dir, |name| name.starts_with("wp_"))?;
        for folder in modules.iter().filter(|path| path.is_dir()) {
            let code = |name: &str| {
                name.starts_with("wp_") && [".o", ".ptx", ".cubin"].iter().any(|e| name.ends_with(e))
            };
            for file in list(folder, code)? {
                outcome = remove(&file).and(outcome);
            }
        }
        for shelf in self.shelves()?.into_iter().chain(modules) {
            // Not empty when another process has just stored something, or a stranger's file lies there.
            let _ = fs::remove_dir(&shelf);
        }
        outcome
    }

    /// Removes the locks that killed processes left behind.
    pub(super) fn remove_stale_locks(&self) -> Result<(), CacheError> {
        for file in self.files(|name| name.ends_with(".lock"))? {
            drop(FileLock::take_now(&file));
        }
        Ok(())
    }

    /// Files of the cache's own that have these names.
    pub(super) fn files(&self, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, CacheError> {
        let mut found = Vec::new();
        for shelf in self.shelves()? {
            found.extend(list(&shelf, &wanted)?);
        }
        Ok(found)
    }

    fn shelves(&self) -> Result<Vec<PathBuf>, CacheError> {
        list(&self.dir, |name| name.len() == 2 && name.bytes().all(|b| b.is_ascii_hexdigit()))
    }
}

/// Deletes a file; one that is not there is deleted.
pub(super) fn remove(path: &Path) -> Result<(), CacheError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(CacheError { action: "changed", path: path.to_owned(), error })
        }
        _ => Ok(()),
    }
}

/// What lies in a directory; nothing when there is none.
fn list(dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, CacheError> {
    match fs::read_dir(dir) {
        Ok(entries) => Ok(entries
            .flatten()
            .filter(|e| e.file_name().to_str().is_some_and(&wanted))
            .map(|e| e.path())
            .collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(CacheError { action: "read", path: dir.to_owned(), error }),
    }
}

/// The key that a file's place stands for.
fn key_of(file: &Path) -> Option<blake3::Hash> {
    let shelf = file.parent()?.file_name()?.to_str()?;
    let rest = file.file_stem()?.to_str()?;
    blake3::Hash::from_hex(format!("{shelf}{rest}")).ok()
}

/// Notes that an entry was used. Another user's entry, or one on a file system that cannot be written, stays as it is.
fn renew(file: &File) {
    let age = file.metadata().and_then(|d| d.modified()).ok().and_then(|at| at.elapsed().ok());
    if age.is_some_and(|age| age > USE_RESOLUTION) {
        let _ = file.set_modified(SystemTime::now());
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::sample as entry;
    use super::*;

    #[test]
    fn what_is_stored_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let cache = KernelCache::at(dir.path().join("new"));
        let key = blake3::hash(b"k");
        assert_eq!(cache.get(&key), None);
        cache.put(&key, &entry()).unwrap();
        assert_eq!(cache.get(&key), Some(entry()));
        assert_eq!(cache.get(&blake3::hash(b"other")), None);
    }

    #[test]
    fn any_damage_is_a_miss_and_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = KernelCache::at(dir.path());
        let key = blake3::hash(b"k");
        let whole = entry().encode(&key);
        let mut damaged: Vec<Vec<u8>> = (0..whole.len()).step_by(7).map(|n| whole[..n].to_vec()).collect();
        for bit in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[bit] ^= 1 << (bit % 8);
            damaged.push(flipped);
        }
        damaged.push([whole.clone(), vec![0]].concat());
        for bytes in damaged {
            cache.put(&key, &entry()).unwrap();
            fs::write(cache.path(&key), &bytes).unwrap();
            assert_eq!(cache.get(&key), None);
            assert!(!cache.path(&key).exists());
        }
        cache.put(&key, &entry()).unwrap();
        assert_eq!(cache.get(&key), Some(entry()));
    }

    #[test]
    fn a_file_under_another_key_is_a_miss() {
        let dir = tempfile::tempdir().unwrap();
        let cache = KernelCache::at(dir.path());
        let (one, other) = (blake3::hash(b"one"), blake3::hash(b"other"));
        cache.put(&one, &entry()).unwrap();
        cache.put(&other, &entry()).unwrap();
        fs::copy(cache.path(&one), cache.path(&other)).unwrap();
        assert_eq!(cache.get(&other), None);
        assert_eq!(cache.get(&one), Some(entry()));
    }

    #[test]
    fn clearing_removes_entries_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let cache = KernelCache::at(dir.path());
        let key = blake3::hash(b"k");
        cache.put(&key, &entry()).unwrap();
        let module = dir.path().join("wp_module_1234567");
        fs::create_dir(&module).unwrap();
        fs::write(module.join("wp_module_1234567.sm90.ptx"), "code").unwrap();
        let stranger = dir.path().join("notes.txt");
        fs::write(&stranger, "keep").unwrap();
        cache.clear().unwrap();
        assert_eq!(cache.get(&key), None);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(stranger).unwrap(), "keep");
        KernelCache::at(dir.path().join("absent")).clear().unwrap();
    }

    #[test]
    fn a_cache_that_cannot_be_written_says_where() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "not a directory").unwrap();
        let error = KernelCache::at(&file).put(&blake3::hash(b"k"), &entry()).unwrap_err();
        assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    }

    #[test]
    fn writers_of_one_entry_leave_one_whole_entry() {
        let dir = tempfile::tempdir().unwrap();
        let cache = KernelCache::at(dir.path());
        let key = blake3::hash(b"k");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        cache.put(&key, &entry()).unwrap();
                        assert_eq!(cache.get(&key), Some(entry()));
                    }
                });
            }
        });
        let left: Vec<_> = fs::read_dir(cache.path(&key).parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1);
    }
}
