//! What code is made for.

use std::fmt;
use std::sync::OnceLock;

use inkwell::targets::TargetMachine;

/// A CPU to make code for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CpuTarget {
    /// LLVM's target triple.
    pub triple: String,
    /// LLVM's CPU name.
    pub cpu: String,
    /// LLVM's feature list: `+avx2,-avx512f,...`.
    pub features: String,
}

/// The instruction set family of a [`CpuTarget`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    X86,
    Aarch64,
}

impl CpuTarget {
    /// This machine, with everything it has.
    pub fn host() -> CpuTarget {
        static HOST: OnceLock<CpuTarget> = OnceLock::new();
        HOST.get_or_init(|| {
            let triple = if cfg!(target_arch = "aarch64") { AARCH64_LINUX } else { X86_64_LINUX };
            CpuTarget {
                triple: triple.to_owned(),
                cpu: TargetMachine::get_host_cpu_name().to_string_lossy().into_owned(),
                features: TargetMachine::get_host_cpu_features().to_string_lossy().into_owned(),
            }
        })
        .clone()
    }

    /// Any x86-64 Linux machine of the last fifteen years (x86-64-v2: SSE4.2, no AVX).
    pub fn baseline_x86_64() -> CpuTarget {
        CpuTarget { triple: X86_64_LINUX.into(), cpu: "x86-64-v2".into(), features: String::new() }
    }

    /// Any 64-bit Arm Linux machine (Armv8.0 with NEON).
    pub fn baseline_aarch64() -> CpuTarget {
        CpuTarget { triple: AARCH64_LINUX.into(), cpu: "generic".into(), features: "+neon".into() }
    }

    pub(crate) fn family(&self) -> Option<Family> {
        if self.triple.starts_with("x86_64") {
            Some(Family::X86)
        } else if self.triple.starts_with("aarch64") {
            Some(Family::Aarch64)
        } else {
            None
        }
    }

    /// Whether a feature is named in the list or implied by the x86-64 level.
    pub(crate) fn has(&self, feature: &str) -> bool {
        let level = match self.cpu.as_str() {
            "x86-64-v4" => 4,
            "x86-64-v3" => 3,
            _ => 0,
        };
        let implied = match feature {
            "avx" | "avx2" | "fma" | "f16c" => level >= 3,
            "avx512f" | "avx512bw" | "avx512vl" | "avx512dq" => level >= 4,
            _ => false,
        };
        let named = |sign: char| {
            self.features.split(',').any(|f| f.strip_prefix(sign).is_some_and(|name| name == feature))
        };
        (implied || named('+')) && !named('-')
    }

    /// Whether a fused multiply-add is an instruction.
    pub(crate) fn has_fma(&self) -> bool {
        self.family() == Some(Family::Aarch64) || self.has("fma")
    }

    /// Whether loads, stores, gathers and scatters take masks without a branch per lane.
    pub(crate) fn has_masked_memory(&self) -> bool {
        self.has("avx512f") && self.has("avx512vl")
    }

    /// Lanes that fill a vector of 32-bit values.
    pub(crate) fn natural_lanes(&self) -> u32 {
        if self.has("avx512f") {
            16
        } else if self.has("avx2") {
            8
        } else {
            4
        }
    }
}

/// What is made for a GPU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CudaOutput {
    /// Text that a driver compiles when it loads it; runs on `arch` and newer.
    Ptx,
    /// Machine code for `arch`, made by nvJitLink.
    Cubin,
}

/// An NVIDIA GPU to make code for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CudaTarget {
    /// Compute capability times ten: 75, 80, 90, 120 ...
    pub arch: u32,
    /// Text or machine code.
    pub output: CudaOutput,
}

impl CudaTarget {
    pub(crate) fn cpu(&self) -> String {
        format!("sm_{}", self.arch)
    }

    /// The lowest PTX version that knows the architecture, and at least 7.8, which drivers since CUDA 11.8 read.
    pub(crate) fn ptx_features(&self) -> &'static str {
        match self.arch {
            ..=90 => "+ptx78",
            91..=120 => "+ptx87",
            _ => "+ptx88",
        }
    }
}

/// What code is made for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// An ELF object.
    Cpu(CpuTarget),
    /// PTX or a CUBIN.
    Cuda(CudaTarget),
}

const X86_64_LINUX: &str = "x86_64-unknown-linux-gnu";
const AARCH64_LINUX: &str = "aarch64-unknown-linux-gnu";
pub(crate) const NVPTX: &str = "nvptx64-nvidia-cuda";

impl Target {
    /// A stable text that names the target completely, for cache keys.
    pub fn key(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Cpu(t) => write!(f, "{}:{}:{}", t.triple, t.cpu, t.features),
            Target::Cuda(t) => {
                let output = match t.output {
                    CudaOutput::Ptx => "ptx",
                    CudaOutput::Cubin => "cubin",
                };
                write!(f, "{NVPTX}:sm_{}:{output}", t.arch)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_follow_the_features() {
        let with = |features: &str| CpuTarget { features: features.into(), ..CpuTarget::baseline_x86_64() };
        assert_eq!(with("").natural_lanes(), 4);
        assert_eq!(with("+avx,+avx2").natural_lanes(), 8);
        assert_eq!(with("+avx2,+avx512f").natural_lanes(), 16);
        assert_eq!(with("+avx2,-avx512f").natural_lanes(), 8);
        assert_eq!(CpuTarget::baseline_aarch64().natural_lanes(), 4);
    }

    #[test]
    fn levels_imply_features() {
        let level = |cpu: &str| CpuTarget { cpu: cpu.into(), ..CpuTarget::baseline_x86_64() };
        assert!(!level("x86-64-v2").has_fma());
        assert!(level("x86-64-v3").has_fma());
        assert!(level("x86-64-v4").has_masked_memory());
    }
}
