//! What a compilation gives.

use crate::options::ScalarReason;

/// What the code's bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArtifactKind {
    /// A relocatable ELF object.
    ElfObject,
    /// PTX text, without a final NUL.
    Ptx,
    /// An ELF image for one GPU architecture.
    Cubin,
}

/// Code for one kernel and target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Artifact {
    /// The code.
    pub code: Vec<u8>,
    /// What the bytes are.
    pub kind: ArtifactKind,
    /// The entry point's symbol. CPU code may have a second entry point with `_alone` added to this name, to be run on
    /// one thread while no other kernel that updates memory atomically runs: its updates are plain.
    pub entry: String,
    /// Threads of a launch that one pass of the code handles; on GPUs, that one hardware thread runs.
    pub lanes: u32,
    /// Why there is one lane although more were wanted.
    pub scalar_reason: Option<ScalarReason>,
    /// What CPU code in lanes does for one lane after the other.
    pub lane_by_lane: Vec<ScalarReason>,
}
