//! Graphs of kernels whose bodies are absent: code for other machines comes from the files beside the one that was loaded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use inkle_codegen::Options;
use inkle_graph::bundle::CodeTarget;
use inkle_graph::{CompiledCode, KernelSource, KernelUse};

use super::file::AotFile;
use super::{AotKernel, file_suffix};
use crate::targets::{machine, options_for};

/// A kernel that was captured with code from a file.
#[derive(Debug)]
pub struct AheadSource {
    /// The file, without the end of its name that stands for the target.
    stem: PathBuf,
    name: String,
    signature: String,
    digest: blake3::Hash,
    options: Options,
    /// What was read: the kernel as each target's file has it.
    known: Mutex<BTreeMap<CodeTarget, Result<Arc<AotKernel>, String>>>,
}

impl AheadSource {
    pub(super) fn new(path: &Path, suffix: &str, kernel: &AotKernel, options: Options) -> AheadSource {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = path.with_file_name(name.strip_suffix(suffix).unwrap_or(&name));
        let (name, signature, digest) = (kernel.name.clone(), kernel.signature.clone(), kernel.digest);
        AheadSource { stem, name, signature, digest, options, known: Mutex::default() }
    }

    /// The kernel in the file of a target.
    fn kernel(&self, target: CodeTarget) -> Result<Arc<AotKernel>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(target).or_insert_with(|| self.read(target)).clone()
    }

    fn read(&self, target: CodeTarget) -> Result<Arc<AotKernel>, String> {
        let machine = machine(target);
        let mut name = self.stem.clone().into_os_string();
        name.push(file_suffix(&machine));
        let path = PathBuf::from(name);
        let wrong = |why: String| {
            format!(
                "its body is not in this program, and {why}; compile_aot_module() with `arch` makes code for more machines"
            )
        };
        let file = AotFile::read(&path).map_err(|error| wrong(error.to_string()))?;
        if file.target != machine {
            return Err(wrong(format!("{} holds code for {}", path.display(), file.target)));
        }
        let fits =
            |k: &&AotKernel| (&k.name, &k.signature, k.digest) == (&self.name, &self.signature, self.digest);
        match file.kernels.iter().find(fits) {
            Some(kernel) => Ok(Arc::new(kernel.clone())),
            None => Err(wrong(format!("{} has no such kernel", path.display()))),
        }
    }
}

impl KernelSource for AheadSource {
    /// Nobody knows it.
    fn ir(&self) -> String {
        String::new()
    }

    fn compile(&self, target: CodeTarget, usage: &KernelUse) -> Result<CompiledCode, String> {
        let kernel = self.kernel(target)?;
        let options = options_for(&self.options, target.is_cuda(), usage);
        let fits = kernel.variants.iter().find(|variant| variant.serves(&options));
        let Some(variant) = fits.or(kernel.variants.last()) else {
            return Err("its file has no code".to_owned());
        };
        let entry = &variant.entry;
        Ok(CompiledCode { symbol: entry.symbol.clone(), lanes: entry.lanes, image: entry.code.clone() })
    }
}
