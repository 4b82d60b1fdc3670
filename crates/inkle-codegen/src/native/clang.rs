//! Finds and runs clang.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::options::Options;
use crate::target::{CpuTarget, CudaTarget, Target};

/// Why there is no bitcode.
pub(super) enum Failure {
    /// No clang of LLVM's version was found; the names that were tried.
    Missing(Vec<PathBuf>),
    /// The text is wrong; what clang says.
    Rejected(String),
    /// Clang could not be run.
    Run(String),
}

/// Compiles C++ (for GPUs CUDA) to bitcode.
pub(super) fn compile(text: &str, target: &Target, options: &Options) -> Result<Vec<u8>, Failure> {
    let clang = find().map_err(Failure::Missing)?;
    let mut command = Command::new(&clang);
    command
        .args(["-std=c++17", "-O2", "-emit-llvm", "-c", "-o", "-"])
        // No header but ours, no library function but what it declares.
        .args(["-nostdinc", "-nostdinc++", "-nostdlib", "-fno-builtin"])
        .args([
            "-fno-exceptions",
            "-fno-rtti",
            "-fno-strict-aliasing",
            "-fno-math-errno",
            "-fno-stack-protector",
        ])
        .args(["-fno-threadsafe-statics", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables"])
        // Kernels have lanes already, and LLVM vectorises the rest later where it pays.
        .args(["-fno-vectorize", "-fno-slp-vectorize"])
        .args(["-w", "-ferror-limit=20", "-fno-color-diagnostics"])
        .arg(if options.fuse_fp { "-ffp-contract=fast" } else { "-ffp-contract=off" });
    command.args(match target {
        Target::Cpu(cpu) => cpu_arguments(cpu, options),
        Target::Cuda(cuda) => cuda_arguments(cuda, options),
    });
    command.arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |e: std::io::Error| Failure::Run(format!("{}: {e}", clang.display()));
    let mut child = command.spawn().map_err(failed)?;
    // Clang reads everything before it writes anything, so no pipe fills up.
    let written = child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        return Err(Failure::Rejected(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    written.map_err(failed)?;
    Ok(output.stdout)
}

fn cpu_arguments(cpu: &CpuTarget, options: &Options) -> Vec<String> {
    let mut arguments = vec!["-x".into(), "c++".into(), format!("--target={}", cpu.triple), "-fPIC".into()];
    if cpu.has_fma() {
        arguments.push("-DINKLE_HAS_FMA".into());
    }
    if options.fast_math {
        arguments.push("-ffast-math".into());
    }
    arguments
}

fn cuda_arguments(cuda: &CudaTarget, options: &Options) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib"].map(str::to_owned).into();
    arguments.push(format!("--cuda-gpu-arch={}", cuda.cpu()));
    arguments.push(format!("--cuda-feature={}", cuda.ptx_features()));
    if options.fast_math {
        arguments.extend(["-ffast-math".into(), "-fgpu-flush-denormals-to-zero".into()]);
    }
    arguments
}

/// The clang of LLVM's version that is installed, or the names that were tried.
fn find() -> Result<PathBuf, Vec<PathBuf>> {
    static FOUND: Mutex<Option<PathBuf>> = Mutex::new(None);
    let mut found = FOUND.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(path) = &*found {
        return Ok(path.clone());
    }
    let (major, ..) = inkwell::support::get_llvm_version();
    let candidates = match std::env::var_os("INKLE_CLANG") {
        Some(named) => vec![PathBuf::from(named)],
        None => vec![
            PathBuf::from(format!("clang-{major}")),
            PathBuf::from(format!("/usr/lib/llvm-{major}/bin/clang")),
            PathBuf::from("clang"),
        ],
    };
    match candidates.iter().find(|path| is_version(path, major)) {
        Some(path) => Ok(found.insert(path.clone()).clone()),
        None => Err(candidates),
    }
}

/// Whether a program is a clang of LLVM's major version.
fn is_version(path: &Path, major: u32) -> bool {
    let arguments: [OsString; 1] = ["--version".into()];
    let Ok(output) = Command::new(path).args(arguments).stdin(Stdio::null()).output() else { return false };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_once("clang version ").map(|(_, rest)| rest);
    version.and_then(|v| v.split('.').next()) == Some(&major.to_string())
}
