//! What targets can do.

use inkle_ir::Module;

use super::has_local_arrays;
use crate::target::{Family, Target};

/// What of the target the lowering looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// A GPU, or else a CPU.
    pub gpu: bool,
    /// A GPU's compute capability, times ten.
    pub arch: u32,
    /// The address space of array data: global memory, or any when threads have arrays of their own.
    pub data_space: u32,
    /// A fused multiply-add is one instruction.
    pub fma: bool,
    /// There are vectors of 512 bits, as AVX-512 has them.
    pub avx512: bool,
    /// Minimum and maximum that prefer a number to NaN are instructions.
    pub min_max: bool,
    /// Conversions between f16 and f32 are instructions.
    pub f16_convert: bool,
    /// Loads and stores under masks are instructions.
    pub masked_memory: bool,
    /// A gather is quicker than a read for each lane.
    pub quick_gathers: bool,
    /// Loads and stores of neighbours under masks are instructions, if slow ones.
    pub masked_moves: bool,
    /// Where lanes read at addresses of their own they do one after the other.
    pub reads_lanes: bool,
    /// Functions can be called that leave all registers as they are.
    pub keeps_registers: bool,
    /// The size of a vector that can be written past the caches; zero where none can.
    pub stream_bytes: u32,
}

impl Machine {
    pub fn of(target: &Target, module: &Module) -> Machine {
        match target {
            Target::Cpu(cpu) => Machine {
                gpu: false,
                arch: 0,
                data_space: 0,
                fma: cpu.has_fma(),
                avx512: cpu.has("avx512f"),
                min_max: cpu.family() == Some(Family::Aarch64),
                f16_convert: cpu.has("f16c") || cpu.family() == Some(Family::Aarch64),
                masked_memory: cpu.has_masked_memory(),
                quick_gathers: cpu.has_quick_gathers(),
                masked_moves: cpu.has("avx"),
                reads_lanes: !cpu.has_mask_registers(),
                keeps_registers: cpu.family() == Some(Family::X86),
                stream_bytes: cpu.stream_bytes(),
            },
            Target::Cuda(cuda) => {
                let data_space = if has_local_arrays(module) { 0 } else { 1 };
                Machine {
                    gpu: true,
                    arch: cuda.arch,
                    data_space,
                    fma: true,
                    avx512: false,
                    min_max: true,
                    f16_convert: true,
                    masked_memory: false,
                    quick_gathers: false,
                    masked_moves: true,
                    reads_lanes: false,
                    keeps_registers: false,
                    stream_bytes: 0,
                }
            }
        }
    }
}
