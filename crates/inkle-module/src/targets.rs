//! What code of graphs and of files is for.

use inkle_codegen::{CpuTarget, CudaOutput, CudaTarget, Options, Target};
use inkle_graph::KernelUse;
use inkle_graph::bundle::CodeTarget;

/// What the code for a target of graphs is made for.
pub fn machine(target: CodeTarget) -> Target {
    match target {
        CodeTarget::X86_64 { level } => {
            Target::Cpu(CpuTarget { cpu: format!("x86-64-v{level}"), ..CpuTarget::baseline_x86_64() })
        }
        CodeTarget::Aarch64 => Target::Cpu(CpuTarget::baseline_aarch64()),
        CodeTarget::Ptx { arch } => Target::Cuda(CudaTarget { arch, output: CudaOutput::Ptx }),
        CodeTarget::Cubin { arch } => Target::Cuda(CudaTarget { arch, output: CudaOutput::Cubin }),
    }
}

/// What a kernel was captured with, for another kind of device.
pub(crate) fn options_for(captured: &Options, on_gpu: bool, usage: &KernelUse) -> Options {
    if !on_gpu {
        return Options { aligned: false, grid_stride: false, ..captured.clone() };
    }
    Options {
        aligned: usage.aligned,
        grid_stride: captured.grid_stride || usage.grid_stride,
        ..captured.clone()
    }
}
