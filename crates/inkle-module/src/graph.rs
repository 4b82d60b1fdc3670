//! Kernels of graphs: code for other machines when a graph is saved, and code from a saved graph's IR.

use std::sync::Arc;

use inkle_codegen::{CodegenError, Options};
use inkle_graph::bundle::CodeTarget;
use inkle_graph::{CompiledCode, KernelSource, KernelUse};
use inkle_runtime::{Device, Loaded};

use crate::entry::Entry;
use crate::error::CompileError;
use crate::kernel::{Kernel, KernelIr};
use crate::targets::{machine, options_for};

/// A kernel that was captured, with the options it was captured with.
#[derive(Clone, Debug)]
pub struct GraphSource {
    kernel: Arc<Kernel>,
    options: Options,
}

impl GraphSource {
    /// What a capture keeps of a kernel.
    pub fn new(kernel: Arc<Kernel>, options: Options) -> GraphSource {
        GraphSource { kernel, options }
    }
}

impl KernelSource for GraphSource {
    fn ir(&self) -> String {
        self.kernel.ir().module().to_string()
    }

    fn kept(&self, target: CodeTarget, usage: &KernelUse) -> Option<CompiledCode> {
        let options = options_for(&self.options, target.is_cuda(), usage);
        self.kernel.kept_code(&machine(target), &options).map(compiled)
    }

    fn compile(&self, target: CodeTarget, usage: &KernelUse) -> Result<CompiledCode, String> {
        let options = options_for(&self.options, target.is_cuda(), usage);
        let target = machine(target);
        let entry = match self.kernel.code(&target, &options) {
            Err(CompileError::Codegen(CodegenError::MissingLibrary { library, searched })) => {
                // The driver of a GPU that is here can do it too.
                self.kernel
                    .code_by_driver(&target, &options)
                    .unwrap_or_else(|| Err(CodegenError::MissingLibrary { library, searched }.into()))
            }
            made => made,
        };
        entry.map(compiled).map_err(|error| error.to_string())
    }
}

fn compiled(entry: Entry) -> CompiledCode {
    CompiledCode { symbol: entry.symbol, lanes: entry.lanes, image: entry.code }
}

/// Code for a device of the IR that a bundle has of a kernel: what to give to
/// [`Bundle::load`](inkle_graph::bundle::Bundle::load).
///
/// # Errors
/// Why it cannot be made, for people.
pub fn recompile(
    kernel: &inkle_graph::Kernel,
    usage: &KernelUse,
    ir: &str,
    device: Device,
) -> Result<Arc<Loaded>, String> {
    let module = inkle_ir::parse(ir).map_err(|error| format!("its IR cannot be read: {error}"))?;
    if let Err(errors) = inkle_ir::verify(&module) {
        return Err(format!("its IR is not valid: {errors}"));
    }
    let ir = KernelIr::from_module(module).map_err(|error| error.to_string())?;
    if ir.layout().size != kernel.params_bytes {
        let (found, expected) = (ir.layout().size, kernel.params_bytes);
        return Err(format!("its IR has a parameter block of {found} bytes instead of {expected}"));
    }
    let Some(captured) = Options::from_key(&kernel.options) else {
        return Err(format!("its options `{}` are not known here", kernel.options));
    };
    let options = options_for(&captured, device.is_cuda(), usage);
    let loaded = Kernel::new(ir).load(device, &options);
    loaded.map(|(code, _)| code).map_err(|error| error.to_string())
}
