//! Which file serves a device.

use std::fs;
use std::path::{Path, PathBuf};

use inkle_codegen::{CUDA_ARCHS, CpuTarget, CudaOutput, CudaTarget, Target};
use inkle_runtime::Device;

use super::file::{AotError, AotFile};
use super::file_suffix;

/// The targets whose code may run on a device, the best first. `arch` and `ptx` narrow the choice.
///
/// A GPU runs the PTX of its own architecture and of older ones, and machine code of its own.
fn candidates(device: Device, arch: Option<&Target>, ptx: Option<bool>) -> Vec<Target> {
    let cuda = |arch, output| Target::Cuda(CudaTarget { arch, output });
    let outputs: &[CudaOutput] = match ptx {
        Some(true) => &[CudaOutput::Ptx],
        Some(false) => &[CudaOutput::Cubin],
        None => &[CudaOutput::Ptx, CudaOutput::Cubin],
    };
    match (device.is_cuda(), arch) {
        (true, Some(Target::Cuda(asked))) => outputs.iter().map(|o| cuda(asked.arch, *o)).collect(),
        (true, Some(Target::Cpu(_))) => Vec::new(),
        (true, None) => {
            let own = device.arch();
            let mut found: Vec<Target> = outputs.iter().map(|o| cuda(own, *o)).collect();
            if ptx != Some(false) {
                let older = CUDA_ARCHS.iter().rev().filter(|arch| **arch < own);
                found.extend(older.map(|arch| cuda(*arch, CudaOutput::Ptx)));
            }
            found
        }
        (false, Some(asked)) => vec![asked.clone()],
        (false, None) => {
            let mut found = vec![Target::Cpu(CpuTarget::host())];
            let level =
                |cpu: &str| Target::Cpu(CpuTarget { cpu: cpu.to_owned(), ..CpuTarget::baseline_x86_64() });
            if cfg!(target_arch = "aarch64") {
                found.push(Target::Cpu(CpuTarget::baseline_aarch64()));
            } else {
                found.extend([level("x86-64-v4"), level("x86-64-v3"), level("x86-64-v2")]);
            }
            found
        }
    }
}

/// Why code for a target does not run on a device; `None` when it does.
fn obstacle(target: &Target, device: Device) -> Option<String> {
    match target {
        Target::Cpu(_) if device.is_cuda() => Some(format!("{device}, a GPU")),
        Target::Cuda(_) if device.is_cpu() => Some("a CPU".to_owned()),
        Target::Cpu(cpu) => {
            let missing = cpu.missing_on(&CpuTarget::host());
            let host = CpuTarget::host();
            let here = format!("{} {}", host.triple.split('-').next().unwrap_or_default(), host.cpu);
            if missing.is_empty() {
                None
            } else {
                Some(format!("{here}, which lacks {}", missing.join(", ")))
            }
        }
        Target::Cuda(CudaTarget { arch, output }) => {
            let runs = match output {
                CudaOutput::Ptx => *arch <= device.arch(),
                // Machine code runs on later minor versions of its major version.
                CudaOutput::Cubin => *arch / 10 == device.arch() / 10 && *arch <= device.arch(),
            };
            (!runs).then(|| format!("{device}, which is sm_{}", device.arch()))
        }
    }
}

/// A target for people.
fn shown(target: &Target) -> String {
    match target {
        Target::Cpu(cpu) => {
            format!("{} {}", cpu.triple.split('-').next().unwrap_or_default(), cpu.cpu)
        }
        Target::Cuda(CudaTarget { arch, output: CudaOutput::Ptx }) => format!("sm_{arch} (PTX)"),
        Target::Cuda(CudaTarget { arch, output: CudaOutput::Cubin }) => format!("sm_{arch} (CUBIN)"),
    }
}

/// Finds and reads the file of a module for a device. `identifier` is what the file's name starts with; `arch` and `ptx`
/// say what code is wanted where there is a choice.
///
/// # Errors
/// [`AotError::Missing`] with what is there; what can be wrong with a file.
pub fn find_file(
    dir: &Path,
    module: &str,
    identifier: &str,
    device: Device,
    arch: Option<&Target>,
    ptx: Option<bool>,
) -> Result<(PathBuf, AotFile), AotError> {
    let candidates = candidates(device, arch, ptx);
    let (mut tried, mut unfit) = (Vec::new(), Vec::new());
    for candidate in &candidates {
        let path = dir.join(format!("{identifier}{}", file_suffix(candidate)));
        if tried.contains(&path) {
            continue;
        }
        tried.push(path.clone());
        if !path.exists() {
            continue;
        }
        let file = AotFile::read(&path)?;
        let renamed = matches!((&file.target, candidate), (Target::Cuda(a), Target::Cuda(b)) if a != b);
        match obstacle(&file.target, device) {
            None if !renamed => return Ok((path, file)),
            // The only one that was asked for: say what it is.
            _ if arch.is_some() || renamed => {
                let wanted = obstacle(&file.target, device).unwrap_or_else(|| shown(candidate));
                return Err(AotError::Target { path, holds: shown(&file.target), wanted });
            }
            found => {
                let why = found.unwrap_or_default();
                unfit.push(format!(
                    "{} holds code for {}; here is {why}",
                    path.display(),
                    shown(&file.target)
                ));
            }
        }
    }
    let wanted = match (arch, ptx) {
        (Some(target), _) if candidates.is_empty() => format!("{} on {device}", shown(target)),
        (Some(_), _) => candidates.iter().map(shown).collect::<Vec<_>>().join(" or "),
        (None, _) if device.is_cuda() => format!("{device} (sm_{})", device.arch()),
        (None, _) => format!("this CPU ({})", shown(&Target::Cpu(CpuTarget::host()))),
    };
    let found = siblings(dir, module);
    Err(AotError::Missing { module: module.to_owned(), wanted, tried, found, unfit })
}

/// The files of a module, whatever hash is in their names.
fn siblings(dir: &Path, module: &str) -> Vec<PathBuf> {
    let start = format!("wp_{module}");
    let mut found: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|e| {
            e.file_name()
                .to_str()
                .and_then(|name| name.strip_prefix(&start))
                .is_some_and(|rest| rest.starts_with(['.', '_']))
        })
        .map(|e| e.path())
        .collect();
    found.sort();
    found
}
