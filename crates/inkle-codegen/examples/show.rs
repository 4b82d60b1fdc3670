//! Prints what a kernel in the text form becomes: `show FILE [llvm|opt|asm] [cpu|sm_90|x86-64-v3|aarch64] [lanes]`.

use inkle_codegen::{CpuTarget, CudaOutput, CudaTarget, Emit, Lanes, Options, Target, emit_text};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |i: usize| args.get(i).map(String::as_str);
    let module = inkle_ir::parse(&std::fs::read_to_string(arg(0).ok_or("which file?")?)?)?;
    inkle_ir::verify(&module)?;
    let emit = match arg(1) {
        Some("llvm") => Emit::Llvm,
        Some("opt") => Emit::LlvmOptimized,
        _ => Emit::Asm,
    };
    let target = match arg(2) {
        None | Some("cpu") => Target::Cpu(CpuTarget::host()),
        Some("aarch64") => Target::Cpu(CpuTarget::baseline_aarch64()),
        Some(name) => match name.strip_prefix("sm_") {
            Some(arch) => Target::Cuda(CudaTarget { arch: arch.parse()?, output: CudaOutput::Ptx }),
            None => Target::Cpu(CpuTarget { cpu: name.into(), ..CpuTarget::baseline_x86_64() }),
        },
    };
    let lanes = arg(3).map(str::parse).transpose()?.map_or(Lanes::Auto, Lanes::Fixed);
    let options = Options { lanes, contiguous: u64::MAX, aligned: true, ..Options::default() };
    print!("{}", emit_text(&module, &target, &options, emit)?);
    Ok(())
}
