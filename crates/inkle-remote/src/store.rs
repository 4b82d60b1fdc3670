//! The stores.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use inkle_module::{RemoteCache, RemoteError};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload, parse_url_opts};
use tokio::runtime::{Builder, Runtime};
use url::Url;

/// How long a request may take, with everything that clients try again.
const LIMIT: Duration = Duration::from_secs(5);
/// How long clients wait for one answer.
const PATIENCE: [(&str, &str); 2] = [("timeout", "5 seconds"), ("connect_timeout", "2 seconds")];

/// Opens the store of a URL, with the credentials and endpoints of the environment. Nothing is connected to before it is used.
///
/// # Errors
/// [`RemoteError::Store`] when the URL is none, names no known kind of store, or lacks what that needs.
pub fn open(url: &str) -> Result<Arc<dyn RemoteCache>, RemoteError> {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|start| name.starts_with(start)));
    open_with(url, environment)
}

/// Opens the store of a URL as [`open`] does, with these settings in place of the environment.
///
/// # Errors
/// As [`open`].
pub fn open_with(
    url: &str,
    settings: impl IntoIterator<Item = (String, String)>,
) -> Result<Arc<dyn RemoteCache>, RemoteError> {
    let url: Url = url.parse().map_err(failed)?;
    let settings = settings.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    let store = Store { url, settings, connection: Mutex::new(None) };
    // What is wrong with the URL shows now, not at the first kernel.
    store.connect()?;
    Ok(Arc::new(store))
}

struct Store {
    url: Url,
    settings: Vec<(String, String)>,
    connection: Mutex<Option<Arc<Connection>>>,
}

/// A client and the thread that runs it.
struct Connection {
    /// The process it was made in: one that was forked off has no such thread.
    process: u32,
    runtime: Runtime,
    store: Box<dyn ObjectStore>,
    prefix: Path,
}

fn failed(error: impl ToString) -> RemoteError {
    RemoteError::Store { message: error.to_string() }
}

impl Store {
    fn connect(&self) -> Result<(Box<dyn ObjectStore>, Path), RemoteError> {
        let mut options = self.settings.clone();
        options.extend(PATIENCE.map(|(name, value)| (name.to_owned(), value.to_owned())));
        if self.url.scheme() == "http" {
            options.push(("allow_http".to_owned(), "true".to_owned()));
        }
        parse_url_opts(&self.url, options).map_err(failed)
    }

    fn connection(&self) -> Result<Arc<Connection>, RemoteError> {
        let mut known = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = &*known
            && connection.process == std::process::id()
        {
            return Ok(connection.clone());
        }
        let (store, prefix) = self.connect()?;
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("inkle-remote-io").enable_all();
        let runtime = builder.build().map_err(failed)?;
        let connection = Arc::new(Connection { process: std::process::id(), runtime, store, prefix });
        // The parent's runtime waits for its threads when it is dropped, and in this process they do not exist.
        std::mem::forget(known.replace(connection.clone()));
        Ok(connection)
    }
}

impl Connection {
    /// Waits for an answer, for as long as [`LIMIT`] allows.
    fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, RemoteError> {
        let limited = async { tokio::time::timeout(LIMIT, work).await };
        self.runtime.block_on(limited).map_err(|_| RemoteError::Store {
            message: format!("no answer within {} seconds", LIMIT.as_secs()),
        })
    }

    fn place(&self, key: &blake3::Hash) -> Path {
        let hex = key.to_hex();
        self.prefix.clone().join(&hex[..2]).join(format!("{}.ink", &hex[2..]))
    }
}

impl RemoteCache for Store {
    fn get(&self, key: &blake3::Hash) -> Result<Option<Vec<u8>>, RemoteError> {
        let connection = self.connection()?;
        let place = connection.place(key);
        let read = async { connection.store.get(&place).await?.bytes().await };
        match connection.run(read)? {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    fn put(&self, key: &blake3::Hash, bytes: &[u8]) -> Result<(), RemoteError> {
        let connection = self.connection()?;
        let place = connection.place(key);
        let write = connection.store.put(&place, PutPayload::from(bytes.to_vec()));
        connection.run(write)?.map(drop).map_err(failed)
    }
}
