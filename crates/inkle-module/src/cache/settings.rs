//! Where and how this process caches kernels.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};

use super::KernelCache;

/// How large a cache may grow when nobody says: 10 GiB, half a million kernels.
const DEFAULT_LIMIT: u64 = 10 << 30;

/// How this process caches kernels. What is `None` is taken from the environment, see [`cache_dir`], [`kernel_cache`] and
/// [`remote_cache_url`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheSettings {
    /// Whether kernels are kept on disk, and looked for there.
    pub enabled: bool,
    /// The directory.
    pub dir: Option<PathBuf>,
    /// The size that the cache is kept below.
    pub limit: Option<SizeLimit>,
    /// A store that several machines share: a directory, or a URL that the program can open.
    pub remote: Option<String>,
}

impl Default for CacheSettings {
    fn default() -> CacheSettings {
        CacheSettings { enabled: true, dir: None, limit: None, remote: None }
    }
}

static SETTINGS: Mutex<CacheSettings> =
    Mutex::new(CacheSettings { enabled: true, dir: None, limit: None, remote: None });

/// Sets how this process caches kernels, from now on.
pub fn configure_cache(settings: CacheSettings) {
    *SETTINGS.lock().unwrap_or_else(PoisonError::into_inner) = settings;
}

fn settings() -> CacheSettings {
    SETTINGS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Where this process caches kernels: what [`configure_cache`] set, else `INKLE_CACHE_PATH`, else `inkle` in
/// `WARP_CACHE_PATH`, else `inkle` in the user's cache directory (`XDG_CACHE_HOME` or `~/.cache`), in a directory per version.
pub fn cache_dir() -> PathBuf {
    settings().dir.unwrap_or_else(default_dir)
}

fn default_dir() -> PathBuf {
    let path = |name: &str| variable(name).map(PathBuf::from);
    if let Some(dir) = path("INKLE_CACHE_PATH") {
        return dir;
    }
    if let Some(dir) = path("WARP_CACHE_PATH") {
        return dir.join("inkle");
    }
    let base = path("XDG_CACHE_HOME")
        .or_else(|| path("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    base.join("inkle").join(env!("CARGO_PKG_VERSION"))
}

/// The cache of this process, whether it is used or not.
///
/// Its limit is what [`configure_cache`] set, else that of `INKLE_CACHE_LIMIT`, else 10 GiB.
pub fn kernel_cache() -> KernelCache {
    let settings = settings();
    let limit = settings.limit.unwrap_or_else(limit_of_environment);
    KernelCache::at(settings.dir.unwrap_or_else(default_dir)).with_limit(limit.0)
}

/// The cache in use; `None` when it is turned off.
pub(crate) fn current() -> Option<KernelCache> {
    settings().enabled.then(kernel_cache)
}

/// The remote store of this process: what [`configure_cache`] set, else `INKLE_CACHE_REMOTE`, else none.
pub fn remote_cache_url() -> Option<String> {
    let set = || variable("INKLE_CACHE_REMOTE").map(|url| url.to_string_lossy().into_owned());
    settings().remote.or_else(set).filter(|url| !url.is_empty())
}

fn limit_of_environment() -> SizeLimit {
    let Some(text) = variable("INKLE_CACHE_LIMIT") else { return SizeLimit(Some(DEFAULT_LIMIT)) };
    text.to_string_lossy().parse().unwrap_or_else(|error| {
        static WARNED: Once = Once::new();
        WARNED.call_once(|| {
            super::warn(&format!("INKLE_CACHE_LIMIT: {error}; the cache is kept below 10 GiB"));
        });
        SizeLimit(Some(DEFAULT_LIMIT))
    })
}

/// A size that a cache is kept below, bytes; `None` for no limit.
///
/// As text a number and a unit, `500 MB` or `1.5GiB`; a bare number is bytes; `none` is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SizeLimit(pub Option<u64>);

/// The text is no size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SizeLimitError {
    /// The text.
    pub text: String,
}

impl fmt::Display for SizeLimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no size; write a number and a unit, `500 MB` or `10 GiB`, or `none`", self.text)
    }
}

impl std::error::Error for SizeLimitError {}

impl std::str::FromStr for SizeLimit {
    type Err = SizeLimitError;

    fn from_str(text: &str) -> Result<SizeLimit, SizeLimitError> {
        let fail = || SizeLimitError { text: text.to_owned() };
        let trimmed = text.trim();
        if trimmed.eq_ignore_ascii_case("none") {
            return Ok(SizeLimit(None));
        }
        let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits);
        let unit = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "k" | "kib" => f64::from(1 << 10),
            "m" | "mib" => f64::from(1 << 20),
            "g" | "gib" => f64::from(1 << 30),
            "t" | "tib" => (1u64 << 40) as f64,
            "kb" => 1e3,
            "mb" => 1e6,
            "gb" => 1e9,
            "tb" => 1e12,
            _ => return Err(fail()),
        };
        let number: f64 = number.parse().map_err(|_| fail())?;
        Ok(SizeLimit(Some((number * unit) as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let size = |text: &str| text.parse::<SizeLimit>().map(|l| l.0);
        assert_eq!(size("4096"), Ok(Some(4096)));
        assert_eq!(size(" 1.5 GiB "), Ok(Some(3 << 29)));
        assert_eq!(size("500MB"), Ok(Some(500_000_000)));
        assert_eq!(size("2k"), Ok(Some(2048)));
        assert_eq!(size("None"), Ok(None));
        for wrong in ["", "GiB", "12 parsecs", "-1", "1.2.3", "1e9"] {
            assert_eq!(size(wrong), Err(SizeLimitError { text: wrong.into() }));
        }
    }
}
