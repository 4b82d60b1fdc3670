//! The kernels of a program in one piece, for all targets it is to run on: what a build script puts into the program.
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | `inkle-as` |
//! | 4 | format version, little-endian |
//! | 32 | BLAKE3 digest of the rest |
//! | | [`Contents`] in the encoding of the crate `postcard`; the code for each target is a [file](super) of its own |
//!
//! A program has no bodies of kernels to compare with what was compiled. It knows a digest of each kernel's source, with
//! everything that the source reaches, and asks for code by that.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use inkle_codegen::Options;
use inkle_graph::bundle::CodeTarget;
use inkle_graph::{CompiledCode, KernelSource, KernelUse};
use inkle_ir::MAX_DIMS;
use inkle_runtime::Device;
use serde::{Deserialize, Serialize};

use super::file::{AotError, AotFile, seal, unseal};
use super::{AotCode, AotKernel};
use crate::targets::options_for;

const MAGIC: &[u8; 8] = b"inkle-as";
const FORMAT: u32 = 1;

/// A kernel as a set and a program know it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AotMember {
    /// Its name.
    pub name: String,
    /// The types of its parameters: [`signature`](super::signature).
    pub signature: String,
    /// A digest of its source and of what that reaches.
    pub source: [u8; 32],
    /// Its options, those of launches at their defaults: [`Options::key`].
    pub options: String,
    /// The largest extents that it can be launched over, where there are such.
    pub extent_limits: [Option<u32>; MAX_DIMS],
}

/// What a set holds. These types are the format: changing one changes [`FORMAT`].
#[derive(Serialize, Deserialize)]
struct Contents<'b> {
    members: Vec<AotMember>,
    /// Targets by name, with the bytes of a file that has the members in the same order.
    #[serde(borrow)]
    files: Vec<(&'b str, &'b [u8])>,
}

/// The code for one target, read when it is first needed.
#[derive(Debug)]
struct Part {
    target: CodeTarget,
    bytes: &'static [u8],
    file: OnceLock<Option<AotFile>>,
}

/// The compiled kernels of a program.
#[derive(Debug)]
pub struct AotSet {
    members: Vec<AotMember>,
    parts: Vec<Part>,
}

/// What errors say in place of a file.
fn place() -> PathBuf {
    PathBuf::from("what was compiled into the program")
}

impl AotSet {
    /// The bytes of a set of kernels, with a file for each target that has them in the same order.
    pub fn encode(members: Vec<AotMember>, files: &[(CodeTarget, AotFile)]) -> Vec<u8> {
        let files: Vec<(String, Vec<u8>)> =
            files.iter().map(|(target, file)| (target.to_string(), file.to_bytes())).collect();
        let files = files.iter().map(|(target, bytes)| (target.as_str(), bytes.as_slice())).collect();
        // Vectors, texts and numbers are written to memory, which does not fail.
        let payload =
            postcard::to_stdvec(&Contents { members, files }).expect("memory takes what is written");
        seal(MAGIC, FORMAT, &payload)
    }

    /// The set that these bytes are. Code is read when it is needed.
    ///
    /// # Errors
    /// [`AotError::Damaged`] and [`AotError::Format`].
    pub fn decode(bytes: &'static [u8]) -> Result<AotSet, AotError> {
        let payload = unseal(MAGIC, FORMAT, bytes, &place())?;
        let damaged = || AotError::Damaged { path: place() };
        let contents: Contents<'static> = postcard::from_bytes(payload).map_err(|_| damaged())?;
        let part = |(target, bytes): (&str, &'static [u8])| {
            let target = target.parse().ok()?;
            Some(Part { target, bytes, file: OnceLock::new() })
        };
        let parts = contents.files.into_iter().map(part).collect::<Option<_>>().ok_or_else(damaged)?;
        Ok(AotSet { members: contents.members, parts })
    }

    /// The kernels.
    pub fn members(&self) -> &[AotMember] {
        &self.members
    }

    /// What there is code for.
    pub fn targets(&self) -> impl Iterator<Item = CodeTarget> + '_ {
        self.parts.iter().map(|part| part.target)
    }

    /// The code of the kernel with a number for a device; `None` when there is none that runs there.
    ///
    /// # Errors
    /// [`AotError::Damaged`].
    pub fn code(&self, member: usize, device: Device) -> Result<Option<AotCode>, AotError> {
        let fit = |part: &&Part| match device.is_cuda() {
            true => part.target.fit_for_cuda(device.arch()),
            false => part.target.fit_for_cpu(),
        };
        let best = self.parts.iter().filter_map(|part| Some((fit(&part)?, part))).max_by_key(|(fit, _)| *fit);
        let Some((_, part)) = best else { return Ok(None) };
        Ok(Some(AotCode::of_set(self.kernel(part, member)?.clone(), device)))
    }

    fn kernel<'s>(&'s self, part: &'s Part, member: usize) -> Result<&'s AotKernel, AotError> {
        let file = part.file.get_or_init(|| AotFile::from_bytes(part.bytes, Path::new("")).ok());
        let (wanted, found) = (self.members.get(member), file.as_ref().and_then(|f| f.kernels.get(member)));
        match (wanted, found) {
            (Some(w), Some(k)) if (&w.name, &w.signature) == (&k.name, &k.signature) => Ok(k),
            _ => Err(AotError::Damaged { path: place() }),
        }
    }
}

/// A kernel of a set that was captured, with the options it was captured with.
#[derive(Debug)]
pub struct AotSource {
    set: Arc<AotSet>,
    member: usize,
    options: Options,
}

impl AotSource {
    /// What a capture keeps of the kernel with a number.
    pub fn new(set: Arc<AotSet>, member: usize, options: Options) -> AotSource {
        AotSource { set, member, options }
    }
}

impl KernelSource for AotSource {
    /// The program does not have it.
    fn ir(&self) -> String {
        String::new()
    }

    fn compile(&self, target: CodeTarget, usage: &KernelUse) -> Result<CompiledCode, String> {
        let Some(part) = self.set.parts.iter().find(|part| part.target == target) else {
            return Err(format!(
                "the program was built without a compiler and without code for {target}; `.target(\"{target}\")` in build.rs adds it"
            ));
        };
        let kernel = self.set.kernel(part, self.member).map_err(|error| error.to_string())?;
        let options = options_for(&self.options, target.is_cuda(), usage);
        let fits = kernel.variants.iter().find(|variant| variant.serves(&options));
        let Some(variant) = fits.or(kernel.variants.last()) else {
            return Err("what was compiled into the program has no code".to_owned());
        };
        let entry = &variant.entry;
        Ok(CompiledCode { symbol: entry.symbol.clone(), lanes: entry.lanes, image: entry.code.clone() })
    }
}
