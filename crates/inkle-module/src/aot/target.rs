//! What files are called.

use inkle_codegen::{CpuTarget, CudaOutput, CudaTarget, Target};

/// What a file's name ends with: `.sm90.ptx`, `.sm90.cubin`, `.o` for the CPU it was made on, `.x86_64.o`.
pub fn file_suffix(target: &Target) -> String {
    match target {
        Target::Cuda(CudaTarget { arch, output: CudaOutput::Ptx }) => format!(".sm{arch}.ptx"),
        Target::Cuda(CudaTarget { arch, output: CudaOutput::Cubin }) => format!(".sm{arch}.cubin"),
        Target::Cpu(cpu) if *cpu == CpuTarget::baseline_aarch64() => ".aarch64.o".to_owned(),
        Target::Cpu(cpu) if *cpu == CpuTarget::baseline_x86_64() => ".x86_64.o".to_owned(),
        Target::Cpu(cpu) if cpu.features.is_empty() => format!(".{}.o", cpu.cpu),
        Target::Cpu(_) => ".o".to_owned(),
    }
}
