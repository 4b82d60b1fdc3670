//! What is told about loading: a line per module, details when they are asked for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inkle_module::{CompileError, Digest, How, Loaded};
use inkle_runtime::Device;
use pyo3::intern;
use pyo3::prelude::*;

use crate::kernel::exception;
use crate::module::Module;

/// The levels of messages, as `inkle.config.log_level` counts them.
const DEBUG: i64 = 10;
const INFO: i64 = 20;

fn logger(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "inkle._logger"))
}

/// The least level of messages that are shown.
fn threshold(py: Python<'_>) -> PyResult<i64> {
    logger(py)?.call_method0(intern!(py, "threshold"))?.extract()
}

/// Whether messages about what is done are shown.
///
/// # Errors
/// What Python raises while the configuration is read.
pub fn shows_info(py: Python<'_>) -> PyResult<bool> {
    Ok(threshold(py)? <= INFO)
}

fn say(py: Python<'_>, level: i64, message: &str) -> PyResult<()> {
    let method = if level <= DEBUG { intern!(py, "log_debug") } else { intern!(py, "log_info") };
    logger(py)?.call_method1(method, (message,)).map(drop)
}

/// How the line about a module's loading ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Kernels were compiled.
    Compiled,
    /// All were in the cache.
    Cached,
    /// One could not be made.
    Failed,
}

impl End {
    fn text(self) -> &'static str {
        match self {
            End::Compiled => "compiled",
            End::Cached => "cached",
            End::Failed => "error",
        }
    }
}

fn title(module: &str, digest: &Digest, device: Device) -> String {
    format!("Module {module} {} load on device '{device}'", &digest.to_hex()[..7])
}

fn took(title: &str, time: Duration, end: End) -> String {
    format!("{title} took {:.2} ms  ({})", time.as_secs_f64() * 1e3, end.text())
}

/// Tells of a module loaded by request: several kernels, whose digests `digest` is made of.
///
/// # Errors
/// What the program's logger raises.
pub fn module_loaded(
    py: Python<'_>,
    module: &Module,
    digest: &Digest,
    device: Device,
    time: Duration,
    end: End,
) -> PyResult<()> {
    module.is_first_load(device);
    say(py, INFO, &took(&title(module.name(), digest, device), time, end))
}

/// The loading of one kernel by a launch.
pub struct Load<'a> {
    /// The kernel's module.
    pub module: &'a Module,
    /// The kernel's name.
    pub kernel: &'a str,
    /// The digest of its IR.
    pub digest: Digest,
    /// Where it is loaded.
    pub device: Device,
}

impl Load<'_> {
    /// Loads without the interpreter, and tells of it: the first kernel of a module on a device at the usual level, its
    /// others to those who ask for details.
    ///
    /// # Errors
    /// The exception for a kernel that could not be made; what the program's logger raises.
    pub fn reported(
        &self,
        py: Python<'_>,
        load: impl FnOnce() -> Result<(Arc<Loaded>, How), CompileError> + Send,
    ) -> PyResult<Arc<Loaded>> {
        let least = threshold(py)?;
        if least <= DEBUG {
            say(py, DEBUG, &format!("{}: kernel {} starts", title_of(self), self.kernel))?;
        }
        let start = Instant::now();
        let result = py.detach(load);
        let time = start.elapsed();
        let end = match &result {
            Err(_) => End::Failed,
            Ok((_, How::Compiled)) => End::Compiled,
            Ok((_, How::Cached)) => End::Cached,
            Ok((code, How::Shared)) => return Ok(code.clone()),
        };
        let first = self.module.is_first_load(self.device) || end == End::Failed;
        if first && least <= INFO {
            say(py, INFO, &took(&title_of(self), time, end))?;
        } else if least <= DEBUG {
            say(py, DEBUG, &took(&format!("{}: kernel {}", title_of(self), self.kernel), time, end))?;
        }
        result.map(|(code, _)| code).map_err(|error| exception(py, &error))
    }
}

fn title_of(load: &Load<'_>) -> String {
    title(load.module.name(), &load.digest, load.device)
}
