//! What code is made for.

use std::fmt;
#[cfg(feature = "llvm")]
use std::sync::OnceLock;

#[cfg(feature = "llvm")]
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
#[cfg(feature = "llvm")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    X86,
    Aarch64,
}

impl CpuTarget {
    /// This machine, with everything it has.
    #[cfg(feature = "llvm")]
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

    /// Features of a CPU that code for this target uses and `machine` does not have, or that `machine` is of another
    /// family; empty when the code runs there.
    pub fn missing_on(&self, machine: &CpuTarget) -> Vec<String> {
        let family = |target: &CpuTarget| target.triple.split('-').next().unwrap_or_default().to_owned();
        if family(self) != family(machine) {
            return vec![family(self)];
        }
        let level: &[&str] = match self.cpu.as_str() {
            "x86-64-v2" => &V2,
            "x86-64-v3" => &V3,
            "x86-64-v4" => &V4,
            _ => &[],
        };
        let named = self.features.split(',').filter_map(|f| f.strip_prefix('+'));
        let mut missing: Vec<String> =
            named.chain(level.iter().copied()).filter(|f| !machine.has(f)).map(str::to_owned).collect();
        missing.dedup();
        missing
    }

    /// Whether a feature is named in the list or implied by the x86-64 level.
    pub(crate) fn has(&self, feature: &str) -> bool {
        if self.triple.starts_with("aarch64") && feature == "neon" {
            return true;
        }
        let level = match self.cpu.as_str() {
            "x86-64-v4" => 4,
            "x86-64-v3" => 3,
            "x86-64-v2" => 2,
            _ => 0,
        };
        let implied = (level >= 2 && V2.contains(&feature))
            || (level >= 3 && V3.contains(&feature))
            || (level >= 4 && V4.contains(&feature));
        let named = |sign: u8| {
            // Asked often, of a long list: found as text before it is looked at.
            let list = self.features.as_bytes();
            self.features.match_indices(feature).any(|(at, _)| {
                let ends = matches!(list.get(at + feature.len()), None | Some(b','));
                let starts = at == 1 || (at > 1 && list[at - 2] == b',');
                ends && starts && list[at - 1] == sign
            })
        };
        (implied || named(b'+')) && !named(b'-')
    }
}

#[cfg(feature = "llvm")]
impl CpuTarget {
    pub(crate) fn family(&self) -> Option<Family> {
        if self.triple.starts_with("x86_64") {
            Some(Family::X86)
        } else if self.triple.starts_with("aarch64") {
            Some(Family::Aarch64)
        } else {
            None
        }
    }

    /// Whether a fused multiply-add is an instruction.
    pub(crate) fn has_fma(&self) -> bool {
        self.family() == Some(Family::Aarch64) || self.has("fma")
    }

    /// Whether masks have registers of their own.
    pub(crate) fn has_mask_registers(&self) -> bool {
        self.has("avx512f")
    }

    /// Whether loads, stores, gathers and scatters take masks without a branch per lane.
    pub(crate) fn has_masked_memory(&self) -> bool {
        self.has("avx512f") && self.has("avx512vl")
    }

    /// The features for code of which a value fills several vectors. AVX-512BW has masks of 32 and 64 bits; LLVM would keep
    /// the masks of such a value in one and take it apart and put it together around everything that is done
    /// to a vector. Without it each vector has its own.
    pub(crate) fn features_of_several_vectors(&self) -> String {
        let without = "-avx512bw";
        if self.features.is_empty() { without.to_owned() } else { format!("{},{without}", self.features) }
    }

    /// Whether a gather is quicker than a read for each lane: on some processors it is made of such reads, on others it was
    /// slowed down for the sake of security.
    pub(crate) fn has_quick_gathers(&self) -> bool {
        const QUICK: [&str; 5] =
            ["sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d", "diamondrapids"];
        self.has_masked_memory() && QUICK.contains(&self.cpu.as_str())
    }

    /// The size of a vector that can be written past the caches, bytes; zero where that was not measured to be of use.
    pub(crate) fn stream_bytes(&self) -> u32 {
        match self.family() {
            Some(Family::X86) => 4 * self.natural_lanes(),
            _ => 0,
        }
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

#[cfg(feature = "llvm")]
impl CudaTarget {
    pub(crate) fn cpu(&self) -> String {
        format!("sm_{}", self.arch)
    }

    /// The lowest PTX version that knows the architecture, and at least 7.8, which drivers since CUDA 11.8 read.
    pub(crate) fn ptx_features(&self) -> &'static str {
        match self.arch {
            ..=90 if self.arch != 88 => "+ptx78",
            100 | 101 | 120 => "+ptx87",
            103 | 121 => "+ptx88",
            _ => "+ptx90",
        }
    }
}

/// The compute capabilities, times ten, that GPU code can be made for.
pub const CUDA_ARCHS: &[u32] = &[75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121];

/// What code is made for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// An ELF object.
    Cpu(CpuTarget),
    /// PTX or a CUBIN.
    Cuda(CudaTarget),
}

/// What the levels of x86-64 add, by LLVM's names: see the x86-64 psABI. Level 2 is on every machine inkle runs on.
const V2: [&str; 7] = ["cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"];
const V3: [&str; 9] = ["avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"];
const V4: [&str; 5] = ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"];

const X86_64_LINUX: &str = "x86_64-unknown-linux-gnu";
const AARCH64_LINUX: &str = "aarch64-unknown-linux-gnu";
pub(crate) const NVPTX: &str = "nvptx64-nvidia-cuda";

/// The name is that of no target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetNameError {
    /// The name.
    pub name: String,
}

impl fmt::Display for TargetNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let archs: Vec<String> = CUDA_ARCHS.iter().map(|a| format!("sm_{a}")).collect();
        write!(
            f,
            "`{}` is no target; there are {}, and for CPUs {}",
            self.name,
            archs.join(", "),
            CPU_NAMES.join(", ")
        )
    }
}

impl std::error::Error for TargetNameError {}

const CPU_NAMES: [&str; 6] = ["native", "x86_64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"];

#[cfg(feature = "llvm")]
impl Target {
    /// The target of a name: `native` for this machine's CPU, `x86_64` and `aarch64` for any CPU of that family,
    /// `x86-64-v2` to `x86-64-v4`, `sm_75` and so on, or just `75`, for GPUs, of which `output` is made.
    ///
    /// # Errors
    /// For any other name; the error lists the known ones.
    pub fn named(name: &str, output: CudaOutput) -> Result<Target, TargetNameError> {
        let fail = || TargetNameError { name: name.to_owned() };
        Ok(match name {
            "native" | "cpu" => Target::Cpu(CpuTarget::host()),
            "x86_64" => Target::Cpu(CpuTarget::baseline_x86_64()),
            "aarch64" => Target::Cpu(CpuTarget::baseline_aarch64()),
            "x86-64-v2" | "x86-64-v3" | "x86-64-v4" => {
                Target::Cpu(CpuTarget { cpu: name.to_owned(), ..CpuTarget::baseline_x86_64() })
            }
            _ => {
                let arch = name.strip_prefix("sm_").unwrap_or(name).parse().map_err(|_| fail())?;
                if !CUDA_ARCHS.contains(&arch) {
                    return Err(fail());
                }
                Target::Cuda(CudaTarget { arch, output })
            }
        })
    }
}

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

#[cfg(all(test, feature = "llvm"))]
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
    fn names_lead_to_targets() {
        let named = |name: &str| Target::named(name, CudaOutput::Ptx);
        assert_eq!(named("sm_90"), named("90"));
        assert_eq!(named("sm_90"), Ok(Target::Cuda(CudaTarget { arch: 90, output: CudaOutput::Ptx })));
        assert_eq!(named("aarch64"), Ok(Target::Cpu(CpuTarget::baseline_aarch64())));
        assert_eq!(named("native"), Ok(Target::Cpu(CpuTarget::host())));
        for wrong in ["sm_", "sm_42", "pdp11", "", "x86-64-v9"] {
            let error = named(wrong).unwrap_err().to_string();
            assert!(error.contains("sm_90") && error.contains("aarch64"), "{error}");
        }
    }

    #[test]
    fn what_a_machine_lacks_is_named() {
        let host = CpuTarget::host();
        assert_eq!(host.missing_on(&host), Vec::<String>::new());
        let old = CpuTarget { features: "+sse4.2,-avx2".into(), ..CpuTarget::baseline_x86_64() };
        let new = CpuTarget { features: "+sse4.2,+avx2,+fma".into(), ..CpuTarget::baseline_x86_64() };
        assert_eq!(CpuTarget { cpu: "znver4".into(), ..new.clone() }.missing_on(&old), ["avx2", "fma"]);
        let level = CpuTarget { cpu: "x86-64-v3".into(), ..CpuTarget::baseline_x86_64() };
        assert!(level.missing_on(&new).contains(&"bmi2".to_owned()));
        assert_eq!(CpuTarget::baseline_aarch64().missing_on(&old), ["aarch64"]);
        assert_eq!(
            CpuTarget::baseline_aarch64().missing_on(&CpuTarget::baseline_aarch64()),
            Vec::<String>::new()
        );
    }

    #[test]
    fn levels_imply_features() {
        let level = |cpu: &str| CpuTarget { cpu: cpu.into(), ..CpuTarget::baseline_x86_64() };
        assert!(!level("x86-64-v2").has_fma());
        assert!(level("x86-64-v3").has_fma());
        assert!(level("x86-64-v4").has_masked_memory());
        assert!(!level("x86-64-v4").has_quick_gathers());
    }
}
