//! A second layer behind the directory: a store that machines share, so that a cluster or a CI compiles a kernel once.
//!
//! What is not on disk is looked for there, and what was compiled is sent there, by a thread of its own, so that no launch
//! waits for it. Entries are the same bytes as on disk, under the same keys, and are checked the same way, so the store need
//! not be trusted to be intact; it does need to be trusted to be honest, as it decides what code runs.
//!
//! The store may be absent, slow or full: that costs one warning, and it is left alone for a while.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::settings::remote_cache_url;
use super::store::KernelCache;
use super::warn;
use crate::entry::Entry;

/// How long a store is left alone that did not answer.
const REST: Duration = Duration::from_secs(60);

/// A store of entries by key.
pub trait RemoteCache: Send + Sync {
    /// The bytes under a key; `None` when there are none.
    ///
    /// # Errors
    /// When the store cannot be reached or refuses. An implementation gives up within seconds.
    fn get(&self, key: &blake3::Hash) -> Result<Option<Vec<u8>>, RemoteError>;

    /// Puts bytes under a key, all of them or nothing.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    fn put(&self, key: &blake3::Hash, bytes: &[u8]) -> Result<(), RemoteError>;
}

/// Why a store could not be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RemoteError {
    /// This program has nothing that opens such URLs.
    Scheme {
        /// The URL.
        url: String,
    },
    /// The store failed, or the URL is wrong.
    Store {
        /// What it says.
        message: String,
    },
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoteError::Scheme { url } => write!(
                f,
                "nothing in this build opens `{url}`; a directory works always, s3://, gs://, az:// and https:// where \
                 inkle was built with the feature `remote-cache`"
            ),
            RemoteError::Store { message } => f.write_str(message),
        }
    }
}

impl std::error::Error for RemoteError {}

/// Opens a store by URL. Reaches for nothing yet.
pub type RemoteOpener = fn(url: &str) -> Result<Arc<dyn RemoteCache>, RemoteError>;

/// Says what opens URLs that do not name a directory.
pub fn set_remote_opener(opener: RemoteOpener) {
    state().opener = Some(opener);
}

/// A directory on a file system that machines share.
struct Directory(KernelCache);

impl RemoteCache for Directory {
    fn get(&self, key: &blake3::Hash) -> Result<Option<Vec<u8>>, RemoteError> {
        self.0.bytes(key).map_err(|error| RemoteError::Store { message: error.to_string() })
    }

    fn put(&self, key: &blake3::Hash, bytes: &[u8]) -> Result<(), RemoteError> {
        self.0.put_bytes(key, bytes).map_err(|error| RemoteError::Store { message: error.to_string() })
    }
}

fn open(url: &str, opener: Option<RemoteOpener>) -> Result<Arc<dyn RemoteCache>, RemoteError> {
    let path = match url.split_once("://") {
        Some(("file", path)) => path,
        Some(_) => {
            return opener.map_or_else(|| Err(RemoteError::Scheme { url: url.into() }), |open| open(url));
        }
        None => url,
    };
    Ok(Arc::new(Directory(KernelCache::at(path))))
}

#[derive(Default)]
struct State {
    opener: Option<RemoteOpener>,
    /// The store in use and the URL it was opened for; `None` for one that cannot be opened.
    opened: Option<(String, Option<Arc<dyn RemoteCache>>)>,
    resting_until: Option<Instant>,
    warned: bool,
    sender: Option<Writer>,
}

/// The thread that writes.
struct Writer {
    entries: Sender<(Arc<dyn RemoteCache>, blake3::Hash, Vec<u8>)>,
    done: Receiver<()>,
    thread: JoinHandle<()>,
    /// The process it runs in: a process that is forked off has none.
    process: u32,
}

fn state() -> MutexGuard<'static, State> {
    static STATE: Mutex<State> =
        Mutex::new(State { opener: None, opened: None, resting_until: None, warned: false, sender: None });
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The store in use, unless there is none or it rests.
fn store() -> Option<Arc<dyn RemoteCache>> {
    let url = remote_cache_url()?;
    let mut state = state();
    if state.opened.as_ref().is_none_or(|(known, _)| *known != url) {
        let opened = open(&url, state.opener);
        (state.resting_until, state.warned) = (None, false);
        let store = opened.map_err(|error| state.failed(&url, &error)).ok();
        state.opened = Some((url, store));
    }
    if state.resting_until.is_some_and(|until| Instant::now() < until) {
        return None;
    }
    state.opened.as_ref().and_then(|(_, store)| store.clone())
}

impl State {
    fn failed(&mut self, url: &str, error: &RemoteError) {
        self.resting_until = Some(Instant::now() + REST);
        if !std::mem::replace(&mut self.warned, true) {
            warn(&format!("the remote kernel cache {url} is not used: {error}"));
        }
    }
}

fn failed(error: &RemoteError) {
    let mut state = state();
    if let Some(url) = state.opened.as_ref().map(|(url, _)| url.clone()) {
        state.failed(&url, error);
    }
}

/// The entry of a key. A damaged one counts as absent.
pub(super) fn get(key: &blake3::Hash) -> Option<Entry> {
    match store()?.get(key) {
        Ok(bytes) => Entry::decode(key, &bytes?),
        Err(error) => {
            failed(&error);
            None
        }
    }
}

/// Sends an entry, soon.
pub(super) fn put(key: &blake3::Hash, entry: &Entry) {
    let Some(store) = store() else { return };
    let mut state = state();
    if state.sender.as_ref().is_none_or(|writer| writer.process != std::process::id()) {
        state.sender = Writer::start();
    }
    if let Some(writer) = &state.sender {
        // A writer that is gone has panicked, and said so.
        let _ = writer.entries.send((store, *key, entry.encode(key)));
    }
}

impl Writer {
    fn start() -> Option<Writer> {
        let (entries, received) = channel::<(Arc<dyn RemoteCache>, blake3::Hash, Vec<u8>)>();
        let (finished, done) = channel();
        let work = move || {
            for (store, key, bytes) in received {
                if let Err(error) = store.put(&key, &bytes) {
                    failed(&error);
                }
            }
            // Nobody may be waiting.
            let _ = finished.send(());
        };
        // Without a thread the store gets nothing from this process, which only costs others a compilation.
        let thread = std::thread::Builder::new().name("inkle-remote".into()).spawn(work).ok()?;
        Some(Writer { entries, done, thread, process: std::process::id() })
    }
}

/// Waits until the remote store has what was compiled so far, at most so long; to be called before the process ends.
pub fn flush_remote_cache(patience: Duration) {
    let Some(Writer { entries, done, thread, process }) = state().sender.take() else { return };
    if process != std::process::id() {
        return;
    }
    drop(entries);
    match done.recv_timeout(patience) {
        // A thread that has nothing more to do or has panicked, which it said.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => drop(thread.join()),
        Err(RecvTimeoutError::Timeout) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::sample;
    use super::*;

    #[test]
    fn a_directory_is_opened_by_path_or_url_and_others_need_an_opener() {
        let dir = tempfile::tempdir().unwrap();
        let key = blake3::hash(b"k");
        let path = dir.path().to_str().unwrap();
        open(path, None).unwrap().put(&key, &sample().encode(&key)).unwrap();
        let bytes = open(&format!("file://{path}"), None).unwrap().get(&key).unwrap().unwrap();
        assert_eq!(Entry::decode(&key, &bytes), Some(sample()));
        assert_eq!(open(path, None).unwrap().get(&blake3::hash(b"other")).unwrap(), None);
        let error = open("s3://bucket/kernels", None).err().unwrap();
        assert!(error.to_string().contains("s3://bucket/kernels"), "{error}");
    }
}
