//! What the code in a bundle is for.

use std::fmt;
use std::str::FromStr;

use super::BundleError;

/// What a piece of code in a bundle is for. Its text is what users write and what a bundle holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CodeTarget {
    /// x86-64 Linux of a level of its ABI: `x86-64-v2`, `x86-64-v3`, `x86-64-v4`.
    X86_64 {
        /// 2, 3 or 4.
        level: u32,
    },
    /// 64-bit Arm Linux: `aarch64`.
    Aarch64,
    /// PTX for GPUs of a compute capability or a newer one: `compute_75`.
    Ptx {
        /// Ten times the capability.
        arch: u32,
    },
    /// Machine code for GPUs of one compute capability: `sm_90`.
    Cubin {
        /// Ten times the capability.
        arch: u32,
    },
}

impl CodeTarget {
    /// What every bundle is made for: any x86-64 and Arm machine, and any GPU from compute capability 7.5 on.
    pub const FLOOR: [CodeTarget; 4] = [
        CodeTarget::X86_64 { level: 2 },
        CodeTarget::X86_64 { level: 3 },
        CodeTarget::Aarch64,
        CodeTarget::Ptx { arch: 75 },
    ];

    /// This machine's CPU, as well as a target names it.
    pub fn native() -> CodeTarget {
        match x86_64_level() {
            0 => CodeTarget::Aarch64,
            level => CodeTarget::X86_64 { level },
        }
    }

    /// Whether it is for a GPU.
    pub fn is_cuda(self) -> bool {
        matches!(self, CodeTarget::Ptx { .. } | CodeTarget::Cubin { .. })
    }

    /// How well this machine's CPU runs the code: more is better, `None` is not at all.
    pub fn fit_for_cpu(self) -> Option<u32> {
        match self {
            CodeTarget::X86_64 { level } => (level <= x86_64_level()).then_some(level),
            CodeTarget::Aarch64 if cfg!(target_arch = "aarch64") => Some(0),
            _ => None,
        }
    }

    /// How well a GPU of compute capability `arch` (times ten) runs the code: more is better, `None` is not at all.
    pub fn fit_for_cuda(self, arch: u32) -> Option<u32> {
        match self {
            // Machine code runs on the same major version from its own minor version on.
            CodeTarget::Cubin { arch: made } if made / 10 == arch / 10 && made <= arch => Some(1000 + made),
            CodeTarget::Ptx { arch: made } if made <= arch => Some(made),
            _ => None,
        }
    }
}

/// The level of the x86-64 ABI that this machine has; 0 if it is none.
fn x86_64_level() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if !(has!("sse4.2") && has!("popcnt") && has!("ssse3") && has!("cmpxchg16b")) {
            return 0;
        }
        if !(has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("f16c") && has!("lzcnt")) {
            return 2;
        }
        let wide = has!("avx512f") && has!("avx512bw") && has!("avx512cd");
        if wide && has!("avx512dq") && has!("avx512vl") { 4 } else { 3 }
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

impl fmt::Display for CodeTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodeTarget::X86_64 { level } => write!(f, "x86-64-v{level}"),
            CodeTarget::Aarch64 => f.write_str("aarch64"),
            CodeTarget::Ptx { arch } => write!(f, "compute_{arch}"),
            CodeTarget::Cubin { arch } => write!(f, "sm_{arch}"),
        }
    }
}

impl FromStr for CodeTarget {
    type Err = BundleError;

    fn from_str(text: &str) -> Result<CodeTarget, BundleError> {
        let unknown = || BundleError::UnknownTarget { name: text.to_owned() };
        let arch = |digits: &str| {
            let plain = digits.bytes().all(|b| b.is_ascii_digit());
            let arch = digits.parse().ok().filter(|arch| plain && (75..1000).contains(arch));
            arch.ok_or_else(unknown)
        };
        match text {
            "native" => Ok(CodeTarget::native()),
            "x86_64" | "x86-64-v2" => Ok(CodeTarget::X86_64 { level: 2 }),
            "x86-64-v3" => Ok(CodeTarget::X86_64 { level: 3 }),
            "x86-64-v4" => Ok(CodeTarget::X86_64 { level: 4 }),
            "aarch64" => Ok(CodeTarget::Aarch64),
            _ => match (text.strip_prefix("sm_"), text.strip_prefix("compute_")) {
                (Some(digits), _) => Ok(CodeTarget::Cubin { arch: arch(digits)? }),
                (_, Some(digits)) => Ok(CodeTarget::Ptx { arch: arch(digits)? }),
                _ => Err(unknown()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        let more = [
            CodeTarget::X86_64 { level: 4 },
            CodeTarget::Cubin { arch: 90 },
            CodeTarget::Cubin { arch: 121 },
        ];
        for target in CodeTarget::FLOOR.into_iter().chain(more) {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        for wrong in ["", "sm_", "sm_70", "sm_+90", "compute_9x", "x86-64-v9", "cpu"] {
            assert!(wrong.parse::<CodeTarget>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn gpus_prefer_machine_code_and_take_older_text() {
        let fit = |text: &str, arch| text.parse::<CodeTarget>().unwrap().fit_for_cuda(arch);
        assert!(fit("sm_80", 86) > fit("compute_80", 86) && fit("compute_80", 86) > fit("compute_75", 86));
        assert_eq!((fit("sm_90", 86), fit("sm_86", 80), fit("compute_90", 86)), (None, None, None));
        assert_eq!(fit("aarch64", 90), None);
    }
}
