//! Compiling ahead of time.

use std::sync::atomic::{AtomicUsize, Ordering};

use inkle_codegen::{CodegenError, Options, Target};

use super::{AotFile, AotKernel, AotVariant, signature};
use crate::error::CompileError;
use crate::kernel::{Kernel, KernelIr};

/// A kernel to compile ahead of time.
#[derive(Clone, Copy, Debug)]
pub struct AotInput<'a> {
    /// Its name within the module.
    pub name: &'a str,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Its options; those that a launch chooses are chosen here.
    pub options: &'a Options,
}

/// The options of the variants of a kernel, the most special first.
fn variants(kernel: &Kernel, target: &Target, options: &Options) -> Vec<Options> {
    let arrays = kernel.ir().all_contiguous();
    let base = Options { contiguous: 0, aligned: false, grid_stride: false, ..options.clone() };
    let fast = Options { contiguous: arrays, ..base.clone() };
    match target {
        Target::Cpu(_) => {
            if arrays == 0 {
                vec![base]
            } else {
                vec![fast, base]
            }
        }
        Target::Cuda(_) => {
            let any = Options { grid_stride: true, ..base };
            vec![Options { aligned: true, ..fast }, Options { aligned: arrays == 0, ..any }]
        }
    }
}

/// Compiles kernels for a target, on all cores. Code that `known` has is taken from there.
///
/// # Errors
/// The first error of a kernel.
pub fn compile_ahead(
    kernels: &[AotInput<'_>],
    target: &Target,
    known: Option<&AotFile>,
) -> Result<AotFile, CompileError> {
    let mut work = Vec::new();
    for (index, input) in kernels.iter().enumerate() {
        work.extend(variants(input.kernel, target, input.options).into_iter().map(|o| (index, o)));
    }
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(work.len());
    let compile = || {
        let mut made = Vec::new();
        while let Some((index, options)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            let kernel = kernels[*index].kernel;
            made.push((*index, variant(kernel, target, options, known)?));
        }
        Ok::<_, CompileError>(made)
    };
    let made: Vec<Result<Vec<_>, CompileError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(compile)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let mut out: Vec<AotKernel> = kernels
        .iter()
        .map(|input| AotKernel {
            name: input.name.to_owned(),
            signature: input.kernel.ir().signature(),
            digest: *input.kernel.ir().digest(),
            params_bytes: input.kernel.ir().layout().size,
            variants: Vec::new(),
        })
        .collect();
    for each in made {
        for (index, variant) in each? {
            out[index].variants.push(variant);
        }
    }
    for kernel in &mut out {
        // Threads finish in any order. A variant that asks for more is more special.
        kernel.variants.sort_by_key(|v| (v.grid_stride, !v.aligned, !v.contiguous));
    }
    Ok(AotFile { target: target.clone(), kernels: out })
}

fn variant(
    kernel: &Kernel,
    target: &Target,
    options: &Options,
    known: Option<&AotFile>,
) -> Result<AotVariant, CompileError> {
    let key = kernel.key(target, options);
    let entry = match known.and_then(|file| file.variant(&key)) {
        Some(variant) => variant.entry.clone(),
        None => match kernel.code(target, options) {
            Err(CompileError::Codegen(CodegenError::MissingLibrary { library, searched })) => {
                // The driver of a GPU that is here can do it too.
                kernel
                    .code_by_driver(target, options)
                    .unwrap_or_else(|| Err(CodegenError::MissingLibrary { library, searched }.into()))?
            }
            made => made?,
        },
    };
    let Options { contiguous, aligned, grid_stride, .. } = *options;
    Ok(AotVariant { contiguous, aligned, grid_stride, key, entry })
}

/// What distinguishes a module's code: seven hexadecimal digits of the digest of its kernels and options.
pub fn module_hash(kernels: &[AotInput<'_>]) -> String {
    let mut parts: Vec<_> = kernels
        .iter()
        .map(|k| (k.name, k.kernel.ir().signature(), *k.kernel.ir().digest(), k.options.key()))
        .collect();
    parts.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let mut hasher = blake3::Hasher::new();
    for (name, signature, digest, options) in &parts {
        for part in [name.as_bytes(), signature.as_bytes(), digest.as_bytes(), options.as_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hasher.finalize().to_hex()[..7].to_owned()
}

impl KernelIr {
    /// The types of the parameters: [`signature`].
    pub fn signature(&self) -> String {
        signature(self.params().iter().map(|p| p.ty))
    }
}
