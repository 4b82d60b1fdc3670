//! Compiles kernels in the text form for one CPU, for tools that count what the compiler executes:
//!
//! `valgrind --tool=callgrind cost FILE...`, where `CPU` and `FEATURES` name the processor as LLVM does: valgrind's own has no
//! AVX-512. Without arguments it prints this machine's. `LANES` is how many lanes the code gets instead of those chosen for it.

use inkle_codegen::{CpuTarget, Lanes, Options, Target, compile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = CpuTarget::host();
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        println!("export CPU='{}' FEATURES='{}'", cpu.cpu, cpu.features);
    }
    if let (Ok(name), Ok(features)) = (std::env::var("CPU"), std::env::var("FEATURES")) {
        cpu = CpuTarget { cpu: name, features, ..cpu };
    }
    let target = Target::Cpu(cpu);
    let lanes = match std::env::var("LANES") {
        Ok(lanes) => Lanes::Fixed(lanes.parse()?),
        Err(_) => Lanes::Auto,
    };
    let options = Options { lanes, contiguous: u64::MAX, ..Options::default() };
    let mut bytes = 0;
    for file in files {
        let module = inkle_ir::parse(&std::fs::read_to_string(file)?)?;
        bytes += compile(&module, &target, &options)?.code.len();
    }
    println!("{bytes} bytes of code");
    Ok(())
}
