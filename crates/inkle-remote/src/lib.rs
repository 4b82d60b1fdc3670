//! Object stores as the remote layer of the kernel cache: `s3://bucket/path`, `gs://`, `az://`, `http://` and `https://`.
//!
//! Credentials and endpoints come from the environment under the names that the providers' own tools use
//! (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` ...). HTTP servers are asked by
//! `GET` and told by `PUT`. An entry lies under `ab/cdef….ink`, as in a directory.
//!
//! A crate of its own, and empty without the feature `stores`: the clients are 180 crates that most builds do without. Nothing
//! of them runs, and no thread is started, before the first kernel is looked for.
#![forbid(unsafe_code)]

#[cfg(feature = "stores")]
mod store;

#[cfg(feature = "stores")]
pub use store::{open, open_with};
