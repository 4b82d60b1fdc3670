//! The kernel cache: compiled kernels on disk, and where others can have them too, in a remote store.
//!
//! Content-addressed: an entry's name is the digest of what its code was made from, so an entry is never changed, only
//! added. It is written to a temporary file and renamed, so that other processes see all of it or nothing, and checked by
//! digest when it is read. That is why writing it does not wait for the disk: what a loss of power leaves half
//! written is damaged like any other file, and a damaged entry is a miss, is removed, and is made anew.
//!
//! A kernel that is missing is compiled by one process at a time, under a lock that ends with the process. Where there are
//! no locks, each process compiles it. Whatever the file system refuses costs a recompile and one warning a process.
//!
//! # The directory
//!
//! | name | what |
//! | --- | --- |
//! | `ab/cdef….ink` | the entry with the key `abcdef…` |
//! | `ab/cdef….ix` | what the checker asked and made, so that a kernel is known without a check ([`crate::recall`]) |
//! | `ab/cdef….lock` | held while that entry is made |
//! | `ab/.tmp-…` | an entry that is being written |
//! | `.prune.lock` | held while the cache is pruned |
//!
//! # An entry
//!
//! All integers little-endian.
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | `inkle-kc` |
//! | 4 | format version, 5 |
//! | 8 | length of the payload |
//! | 32 | BLAKE3 digest of the key and the payload |
//! | | payload: kind (1), lanes (4), microseconds it took to compile (4); four texts, each after its length (4): entry symbol, kernel, target, options; what the kernel may do with memory, after its length (4); the code |

mod entry;
mod lock;
mod prune;
mod remote;
mod settings;
mod store;

use std::sync::Once;
use std::time::Duration;

use inkle_diag::trace::{self, Stage};

use crate::entry::Entry;

pub use prune::Pruned;
pub use remote::{RemoteCache, RemoteError, RemoteOpener, flush_remote_cache, set_remote_opener};
pub(crate) use settings::current;
pub use settings::{
    CacheSettings, SizeLimit, SizeLimitError, cache_dir, configure_cache, kernel_cache, remote_cache_url,
};
pub use store::{CacheError, KernelCache, Stored};

/// A process that waits longer than this for another one's kernel compiles it itself.
const PATIENCE: Duration = Duration::from_secs(600);

/// Where an entry came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// The compiler.
    Compiled,
    /// The directory, or the remote store.
    Cached,
}

/// The entry of a key from the cache in use, or from `compile`, which is called by one process at a time and whose entry
/// is kept.
pub(crate) fn fetch<E>(
    key: &blake3::Hash,
    compile: impl FnOnce() -> Result<Entry, E>,
) -> Result<(Entry, Source), E> {
    let Some(cache) = current() else { return Ok((compile()?, Source::Compiled)) };
    let looking = trace::part(Stage::Cache);
    if let Some(entry) = look(&cache, key) {
        return Ok((entry, Source::Cached));
    }
    let lock = cache.lock(key, PATIENCE);
    // Whoever held the lock has made the entry.
    if lock.is_some()
        && let Some(entry) = look(&cache, key)
    {
        return Ok((entry, Source::Cached));
    }
    if let Some(entry) = remote::get(key) {
        keep(&cache, key, &entry);
        return Ok((entry, Source::Cached));
    }
    drop(looking);
    let entry = compile()?;
    let _keeping = trace::part(Stage::Cache);
    keep(&cache, key, &entry);
    remote::put(key, &entry);
    Ok((entry, Source::Compiled))
}

/// What was noted under a key in the cache in use.
pub(crate) fn noted(key: &blake3::Hash) -> Option<Vec<u8>> {
    let cache = settings::current()?;
    let _looking = trace::part(Stage::Cache);
    cache.noted(key)
}

/// Notes something under a key in the cache in use. Where that is not possible it is found out again.
pub(crate) fn note(key: &blake3::Hash, payload: &[u8]) {
    let Some(cache) = settings::current() else { return };
    let _keeping = trace::part(Stage::Cache);
    if let Err(error) = cache.note(key, payload) {
        trouble(&format!("{error}; kernels will be compiled again in the next process"));
    }
}

fn look(cache: &KernelCache, key: &blake3::Hash) -> Option<Entry> {
    match cache.look(key) {
        store::Found::Intact(entry) => Some(entry),
        store::Found::Absent => None,
        store::Found::Damaged(path) => {
            trouble(&format!("{} is damaged; the kernel is compiled again", path.display()));
            None
        }
    }
}

fn keep(cache: &KernelCache, key: &blake3::Hash, entry: &Entry) {
    if let Err(error) = cache.put(key, entry) {
        trouble(&format!("{error}; kernels will be compiled again in the next process"));
    }
}

/// Tells what is wrong with the cache, once a process: a thousand kernels on a full disk are one trouble.
fn trouble(message: &str) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| warn(message));
}

fn warn(message: &str) {
    eprintln!("inkle: {message}");
}
