//! Where compiled kernels are kept, so that the next program that launches them need not compile them.
//!
//! Without settings it is a directory for the user, which `INKLE_CACHE_PATH`, `INKLE_CACHE_LIMIT` and `INKLE_CACHE_REMOTE` in the
//! environment change. Python programs share it.
//!
//! ```
//! use inkle::cache::{self, CacheSettings};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! cache::configure(CacheSettings { dir: Some(folder.into()), ..CacheSettings::default() });
//! assert_eq!(cache::dir(), folder);
//! cache::clear()?;
//! # Ok::<(), inkle::cache::CacheError>(())
//! ```

use std::path::PathBuf;

pub use inkle_module::{CacheError, CacheSettings, KernelCache, Pruned, SizeLimit, Statistics, Stored};

/// Sets how this process caches kernels, from now on.
pub fn configure(settings: CacheSettings) {
    inkle_module::configure_cache(settings);
}

/// The directory of this process's cache.
pub fn dir() -> PathBuf {
    inkle_module::cache_dir()
}

/// The cache of this process, to look at and to prune.
pub fn kernel_cache() -> KernelCache {
    inkle_module::kernel_cache()
}

/// Removes all kernels from the cache. What is loaded stays loaded.
///
/// # Errors
/// When files cannot be removed.
pub fn clear() -> Result<(), CacheError> {
    inkle_module::kernel_cache().clear()
}

/// How many kernels this process compiled, found in the cache, and loaded.
pub fn statistics() -> Statistics {
    inkle_module::statistics()
}
