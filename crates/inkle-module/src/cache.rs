//! The kernel cache on disk.
//!
//! Content-addressed: an entry's name is the digest of what its code was made from, so an entry is never changed, only
//! added. Written to a temporary file, synchronised and renamed, so that other processes see all of it or nothing. Checked
//! by digest when read: a damaged entry is a miss, is removed, and is written anew. A cache that cannot be written costs a
//! recompile and one warning.
//!
//! # An entry
//!
//! All integers little-endian.
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | `inkle-kc` |
//! | 4 | format version, 2 |
//! | 8 | length of the payload |
//! | 32 | BLAKE3 digest of the key and the payload |
//! | | payload: kind (1), lanes (4), length of the entry symbol (4), the symbol, the code |

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use inkle_codegen::{Artifact, ArtifactKind};

const MAGIC: &[u8; 8] = b"inkle-kc";
const FORMAT: u32 = 2;
const HEADER_BYTES: usize = 8 + 4 + 8 + 32;

/// Why an entry could not be stored.
#[derive(Debug)]
pub struct CacheError {
    /// The file or directory.
    pub path: PathBuf,
    /// What the system says.
    pub error: io::Error,
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the kernel cache cannot be written at {}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for CacheError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Compiled code as the cache holds it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// What the code is.
    pub kind: ArtifactKind,
    /// Threads the code runs at once; 1 on GPUs.
    pub lanes: u32,
    /// The symbol to call or launch.
    pub symbol: String,
    /// The code.
    pub code: Vec<u8>,
}

impl From<Artifact> for Entry {
    fn from(artifact: Artifact) -> Entry {
        Entry { kind: artifact.kind, lanes: artifact.lanes, symbol: artifact.entry, code: artifact.code }
    }
}

/// The key takes part, so that a file under another entry's name is as good as damaged.
fn digest(key: &blake3::Hash, payload: &[u8]) -> blake3::Hash {
    blake3::Hasher::new().update(key.as_bytes()).update(payload).finalize()
}

fn kind_byte(kind: ArtifactKind) -> u8 {
    match kind {
        ArtifactKind::ElfObject => 0,
        ArtifactKind::Ptx => 1,
        ArtifactKind::Cubin => 2,
    }
}

impl Entry {
    fn payload(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(9 + self.symbol.len() + self.code.len());
        out.push(kind_byte(self.kind));
        out.extend(self.lanes.to_le_bytes());
        out.extend((self.symbol.len() as u32).to_le_bytes());
        out.extend(self.symbol.as_bytes());
        out.extend(&self.code);
        out
    }

    fn from_payload(payload: &[u8]) -> Option<Entry> {
        let (kind, rest) = payload.split_first()?;
        let kind = match kind {
            0 => ArtifactKind::ElfObject,
            1 => ArtifactKind::Ptx,
            2 => ArtifactKind::Cubin,
            _ => return None,
        };
        let (lanes, rest) = rest.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (symbol, code) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some(Entry {
            kind,
            lanes: u32::from_le_bytes(*lanes),
            symbol: String::from_utf8(symbol.to_vec()).ok()?,
            code: code.to_vec(),
        })
    }

    /// The bytes of the cache file of `key`.
    fn encode(&self, key: &blake3::Hash) -> Vec<u8> {
        let payload = self.payload();
        let mut out = Vec::with_capacity(HEADER_BYTES + payload.len());
        out.extend(MAGIC);
        out.extend(FORMAT.to_le_bytes());
        out.extend((payload.len() as u64).to_le_bytes());
        out.extend(digest(key, &payload).as_bytes());
        out.extend(payload);
        out
    }

    /// The entry of the cache file of `key`; `None` when the file is damaged, of another format or another entry's.
    fn decode(key: &blake3::Hash, bytes: &[u8]) -> Option<Entry> {
        let (magic, rest) = bytes.split_first_chunk::<8>()?;
        let (format, rest) = rest.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let (stored, payload) = rest.split_first_chunk::<32>()?;
        let intact = magic == MAGIC
            && u32::from_le_bytes(*format) == FORMAT
            && u64::from_le_bytes(*length) == payload.len() as u64
            && digest(key, payload) == *stored;
        if intact { Entry::from_payload(payload) } else { None }
    }
}

/// A directory of compiled kernels, safe to share between any number of processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelCache {
    dir: PathBuf,
}

impl KernelCache {
    /// A cache in a directory, which is made when something is first stored.
    pub fn at(dir: impl Into<PathBuf>) -> KernelCache {
        KernelCache { dir: dir.into() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, key: &blake3::Hash) -> PathBuf {
        let hex = key.to_hex();
        // A level of directories keeps listings short.
        self.dir.join(&hex[..2]).join(format!("{}.ink", &hex[2..]))
    }

    /// The entry of a key. A damaged one is removed and counts as absent.
    pub fn get(&self, key: &blake3::Hash) -> Option<Entry> {
        let path = self.path(key);
        let bytes = fs::read(&path).ok()?;
        let entry = Entry::decode(key, &bytes);
        if entry.is_none() {
            // Failing to remove it changes nothing: it will be replaced or found damaged again.
            let _ = fs::remove_file(&path);
        }
        entry
    }

    /// Deletes every entry, and nothing else that may lie in the directory.
    ///
    /// # Errors
    /// When the file system refuses; what could be deleted is.
    pub fn clear(&self) -> Result<(), CacheError> {
        let mut outcome = Ok(());
        let mut note = |path: PathBuf, result: io::Result<()>| match result {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                outcome = Err(CacheError { path, error })
            }
            _ => {}
        };
        for shelf in
            self.list(&self.dir, |name| name.len() == 2 && name.bytes().all(|b| b.is_ascii_hexdigit()))
        {
            for file in self.list(&shelf, |name| name.ends_with(".ink") || name.starts_with(".tmp-")) {
                let removed = fs::remove_file(&file);
                note(file, removed);
            }
            // Not empty when another process has just stored something, or a stranger's file lies there.
            let _ = fs::remove_dir(&shelf);
        }
        outcome
    }

    fn list(&self, dir: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.filter(|e| e.file_name().to_str().is_some_and(&wanted)).map(|e| e.path()).collect()
    }

    /// Stores an entry under a key.
    ///
    /// # Errors
    /// When the file system refuses; the cache is as it was before.
    pub fn put(&self, key: &blake3::Hash, entry: &Entry) -> Result<(), CacheError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let path = self.path(key);
        let dir = path.parent().expect("entries lie in a directory");
        let fail = |error| CacheError { path: path.clone(), error };
        fs::create_dir_all(dir).map_err(fail)?;
        let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = dir.join(format!(".tmp-{}-{unique}", std::process::id()));
        let write = || -> io::Result<()> {
            let mut file = fs::File::create(&temporary)?;
            file.write_all(&entry.encode(key))?;
            // Without this, a power loss could leave a renamed file without its contents.
            file.sync_data()?;
            fs::rename(&temporary, &path)
        };
        write().map_err(|error| {
            // Nothing more can be done about a temporary file that cannot be removed.
            let _ = fs::remove_file(&temporary);
            fail(error)
        })
    }
}

static ENABLED: AtomicBool = AtomicBool::new(true);
static DIR: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Turns the cache on disk on or off for this process.
pub fn set_cache_enabled(enabled: bool) {
    ENABLED.store(enabled, Ordering::Relaxed);
}

/// Sets where this process caches kernels; `None` for the default.
pub fn set_cache_dir(dir: Option<PathBuf>) {
    *DIR.lock().unwrap_or_else(PoisonError::into_inner) = dir;
}

/// Where this process caches kernels: what [`set_cache_dir`] set, else `INKLE_CACHE_PATH`, else `inkle` in the user's
/// cache directory (`XDG_CACHE_HOME` or `~/.cache`), in a directory per version.
pub fn cache_dir() -> PathBuf {
    if let Some(dir) = &*DIR.lock().unwrap_or_else(PoisonError::into_inner) {
        return dir.clone();
    }
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(dir) = set("INKLE_CACHE_PATH") {
        return dir;
    }
    let base = set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    base.join("inkle").join(env!("CARGO_PKG_VERSION"))
}

/// The cache in use; `None` when it is turned off.
pub(crate) fn current() -> Option<KernelCache> {
    ENABLED.load(Ordering::Relaxed).then(|| KernelCache::at(cache_dir()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            kind: ArtifactKind::ElfObject,
            lanes: 16,
            symbol: "inkle_kernel".into(),
            code: (0..200).collect(),
        }
    }

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
