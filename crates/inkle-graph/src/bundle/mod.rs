//! Bundles: a graph as one file, with the contents of its memory and code for several machines.
//!
//! `docs/bundle-format.md` says how the bytes are laid out. In short: a header, a table of sections with a digest of
//! each, and the sections. Every byte of a file is covered by a digest or has a value that is checked.
//!
//! *Invariant:* nothing of a file is used before its digest was compared, no length of it leads to an allocation larger
//! than the file (but for the memory of the graph itself, which is asked for when the graph is loaded), and no index or
//! offset is followed before it was checked. What is wrong with a file is an error, never a panic.
//!
//! A digest shows damage, not intent: whoever can write the file can write its digests. Code in a bundle is as trusted as
//! a program, and who vouches for it is what a signature says ([`Bundle::require_signer`]).

mod chain;
mod codec;
mod disk;
mod file;
mod load;
mod lower;
mod params;
mod signature;
mod target;
mod warp;
mod wire;

use std::fmt;

pub use chain::{Link, Source};
pub use disk::{read_file, write_file};
pub use file::{Blob, Bundle, CodeEntry, FORMAT_VERSION};
pub use load::{Anew, Compiler, Recompile, SaveOptions};
pub(crate) use load::{place, region_memory};
pub use lower::RecordAlgorithm;
pub use params::{Direction, Param};
pub use signature::{PublicKey, SecretKey};
pub use target::CodeTarget;
pub use warp::{FindCode, code_beside};

/// What is wrong with a bundle.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the fields are the values that the variant's sentence names")]
pub enum BundleError {
    /// The bytes are not a bundle's.
    NotABundle { why: String },
    /// The file is of another version of the format.
    Version { found: u32 },
    /// A part of the file is not what its writer wrote, or its writer was wrong.
    Damaged { part: &'static str, why: String },
    /// No such target.
    UnknownTarget { name: String },
    /// There is no code that the device runs.
    NoCode { kernel: String, device: String, targets: Vec<String> },
    /// Code could not be made when the bundle was saved.
    Compile { kernel: String, target: String, why: String },
    /// Something cannot be saved.
    NotSavable { what: String },
    /// A name is given twice.
    SameName { name: String },
    /// The file is Warp's, of a version of its format that is not read.
    WarpVersion { found: u32 },
    /// The file is Warp's, and does something that is not read.
    WarpFeature { what: String },
    /// A file of code that belongs to a file of Warp's is not there, or another.
    WarpCode { file: String, why: String },
    /// A key is none.
    BadKey { why: String },
    /// The file is not signed by whom it has to be: keys in hexadecimal.
    Signer { expected: String, found: Option<String> },
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BundleError::NotABundle { why } => write!(f, "not a graph file: {why}"),
            BundleError::Version { found } => {
                write!(f, "graph file: format {found}, this inkle reads {FORMAT_VERSION}")
            }
            BundleError::Damaged { part, why } => write!(f, "graph file: damaged {part}: {why}"),
            BundleError::UnknownTarget { name } => write!(
                f,
                "no target is named `{name}`; targets are x86-64-v2, x86-64-v3, x86-64-v4, aarch64, compute_75 (PTX) and \
                 later, sm_75 (machine code) and later"
            ),
            BundleError::NoCode { kernel, device, targets } => write!(
                f,
                "the graph file has no code of kernel `{kernel}` for {device}; it has code for {}",
                if targets.is_empty() { "nothing".to_owned() } else { targets.join(", ") }
            ),
            BundleError::Compile { kernel, target, why } => {
                write!(f, "kernel `{kernel}` cannot be compiled for {target}: {why}")
            }
            BundleError::NotSavable { what } => write!(f, "{what} cannot be saved"),
            BundleError::SameName { name } => write!(f, "two parameters are named `{name}`"),
            BundleError::WarpVersion { found } => {
                let read = warp::VERSIONS.map(|(version, release)| format!("{version} (Warp {release})"));
                let read = read.join(", ");
                write!(f, "the file is in version {found} of Warp's format; this inkle reads {read}")
            }
            BundleError::WarpFeature { what } => {
                write!(f, "the file, which Warp wrote, has what inkle does not read in it: {what}")
            }
            BundleError::WarpCode { file, why } => write!(
                f,
                "the code `{file}` of the file, which Warp wrote, cannot be used: {why}; it belongs into the folder that \
                 Warp made beside the file"
            ),
            BundleError::BadKey { why } => write!(f, "not a key: {why}"),
            BundleError::Signer { expected, found: Some(found) } => {
                write!(f, "the graph file was signed with another key than {expected}, with {found}")
            }
            BundleError::Signer { expected, found: None } => {
                write!(
                    f,
                    "the graph file is not signed, and has to be with the key {expected}; `inkle sign` does it"
                )
            }
        }
    }
}

impl std::error::Error for BundleError {}
