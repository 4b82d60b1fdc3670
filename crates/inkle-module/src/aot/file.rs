//! Files of compiled modules: reading, writing, and what can be wrong with them.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use inkle_codegen::{ArtifactKind, CpuTarget, CudaOutput, CudaTarget, Target};
use inkle_ir::KernelAccess;
use serde::{Deserialize, Serialize};

use super::{AotKernel, AotVariant};
use crate::entry::{Entry, Origin};

const MAGIC: &[u8; 8] = b"inkle-am";
const FORMAT: u32 = 3;

/// The kernels of a module, compiled for one target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AotFile {
    /// What the code is for.
    pub target: Target,
    /// The kernels.
    pub kernels: Vec<AotKernel>,
}

/// Why a file of compiled code cannot be used.
#[derive(Debug)]
pub enum AotError {
    /// There is no such file.
    Missing {
        /// The module.
        module: String,
        /// What code was asked for.
        wanted: String,
        /// The files that would have it.
        tried: Vec<PathBuf>,
        /// The module's files that are there.
        found: Vec<PathBuf>,
        /// What is wrong with those that might have served.
        unfit: Vec<String>,
    },
    /// The system refused.
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The file is not one of inkle's, or is damaged.
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// Another inkle wrote the file.
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// The file's code is for something else.
    Target {
        /// The file.
        path: PathBuf,
        /// What its code is for.
        holds: String,
        /// What was asked for, or is here.
        wanted: String,
    },
    /// The program has a kernel that the file does not have.
    NoKernel {
        /// The file.
        path: PathBuf,
        /// The kernel and the types of its parameters.
        kernel: String,
        /// Those that are in the file.
        found: Vec<String>,
    },
}

fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for AotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AotError::Missing { module, wanted, tried, found, unfit } => {
                write!(f, "no compiled code of module `{module}` for {wanted}: tried {}", paths(tried))?;
                match found.as_slice() {
                    [] => write!(f, "; the folder has no file of this module")?,
                    found => write!(f, "; there are {}", paths(found))?,
                }
                for each in unfit {
                    write!(f, "; {each}")?;
                }
                write!(
                    f,
                    ". compile_aot_module() makes the file; with strip_hash=False its name changes with the module's \
                     kernels and options"
                )
            }
            AotError::Io { path, error } => write!(f, "{}: {error}", path.display()),
            AotError::Damaged { path } => {
                write!(f, "{} is damaged, or no file of compiled kernels; compile it again", path.display())
            }
            AotError::Format { path, found } => write!(
                f,
                "{} has format {found}, this inkle reads {FORMAT}; compile it again",
                path.display()
            ),
            AotError::Target { path, holds, wanted } => {
                write!(f, "{} holds code for {holds}; wanted is code for {wanted}", path.display())
            }
            AotError::NoKernel { path, kernel, found } => {
                write!(
                    f,
                    "{} has no kernel `{kernel}`; it has {}; compile it again",
                    path.display(),
                    found.join(", ")
                )
            }
        }
    }
}

impl std::error::Error for AotError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            AotError::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl AotFile {
    /// Whether there is a kernel of this name.
    pub fn has(&self, kernel: &str) -> bool {
        self.kernels.iter().any(|k| k.name == kernel)
    }

    /// The code that was made from this, if the file has it.
    #[cfg(feature = "llvm")]
    pub(super) fn variant(&self, key: &blake3::Hash) -> Option<&AotVariant> {
        self.kernels.iter().flat_map(|k| &k.variants).find(|v| v.key == *key)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`AotError::Io`], [`AotError::Damaged`] and [`AotError::Format`].
    pub fn read(path: &Path) -> Result<AotFile, AotError> {
        let bytes = fs::read(path).map_err(|error| AotError::Io { path: path.to_owned(), error })?;
        AotFile::from_bytes(&bytes, path)
    }

    /// The file that these bytes are; errors name `path`.
    ///
    /// # Errors
    /// [`AotError::Damaged`] and [`AotError::Format`].
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<AotFile, AotError> {
        let payload = unseal(MAGIC, FORMAT, bytes, path)?;
        let damaged = || AotError::Damaged { path: path.to_owned() };
        let contents: Contents = postcard::from_bytes(payload).map_err(|_| damaged())?;
        let file = contents.file().ok_or_else(damaged)?;
        // A kernel without code is none that inkle writes.
        if file.kernels.iter().any(|k| k.variants.is_empty()) { Err(damaged()) } else { Ok(file) }
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Vectors, texts and numbers are written to memory, which does not fail.
        let payload = postcard::to_stdvec(&Contents::from(self)).expect("memory takes what is written");
        seal(MAGIC, FORMAT, &payload)
    }

    /// Writes the file, all of it or nothing. Folders are made.
    ///
    /// # Errors
    /// [`AotError::Io`].
    pub fn write(&self, path: &Path) -> Result<(), AotError> {
        let fail = |error| AotError::Io { path: path.to_owned(), error };
        let bytes = self.to_bytes();
        let dir = path.parent().unwrap_or(Path::new("."));
        let temporary = dir.join(format!(".tmp-{}-{}", std::process::id(), super::file_nonce()));
        let write = || -> io::Result<()> {
            fs::create_dir_all(dir)?;
            let mut file = File::create(&temporary)?;
            file.write_all(&bytes)?;
            // These files are carried to other machines; a cache would only miss.
            file.sync_all()?;
            fs::rename(&temporary, path)
        };
        write().map_err(|error| {
            // Nothing more can be done about a temporary file that cannot be removed.
            let _ = fs::remove_file(&temporary);
            fail(error)
        })
    }
}

/// The bytes of a file of a kind that holds `payload`.
pub(super) fn seal(magic: &[u8; 8], format: u32, payload: &[u8]) -> Vec<u8> {
    [magic.as_slice(), &format.to_le_bytes(), blake3::hash(payload).as_bytes(), payload].concat()
}

/// What a file of a kind holds.
pub(super) fn unseal<'b>(
    magic: &[u8; 8],
    format: u32,
    bytes: &'b [u8],
    path: &Path,
) -> Result<&'b [u8], AotError> {
    let damaged = || AotError::Damaged { path: path.to_owned() };
    let (found, rest) = bytes.split_first_chunk::<8>().ok_or_else(damaged)?;
    let (version, rest) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
    if found != magic {
        return Err(damaged());
    }
    let version = u32::from_le_bytes(*version);
    if version != format {
        return Err(AotError::Format { path: path.to_owned(), found: version });
    }
    let (digest, payload) = rest.split_first_chunk::<32>().ok_or_else(damaged)?;
    if blake3::hash(payload) == *digest { Ok(payload) } else { Err(damaged()) }
}

/// What a file holds. These types are the format: changing one changes [`FORMAT`].
#[derive(Serialize, Deserialize)]
pub(super) struct Contents {
    target: StoredTarget,
    kernels: Vec<StoredKernel>,
}

#[derive(Serialize, Deserialize)]
enum StoredTarget {
    Cpu { triple: String, cpu: String, features: String },
    Ptx { arch: u32 },
    Cubin { arch: u32 },
}

#[derive(Serialize, Deserialize)]
struct StoredKernel {
    name: String,
    signature: String,
    digest: [u8; 32],
    params_bytes: u32,
    variants: Vec<StoredVariant>,
}

#[derive(Serialize, Deserialize)]
struct StoredVariant {
    contiguous: u64,
    aligned: bool,
    grid_stride: bool,
    key: [u8; 32],
    lanes: u32,
    symbol: String,
    access: Vec<u8>,
    options: String,
    micros: u32,
    code: Vec<u8>,
}

impl From<&AotFile> for Contents {
    fn from(file: &AotFile) -> Contents {
        let target = match &file.target {
            Target::Cpu(cpu) => StoredTarget::Cpu {
                triple: cpu.triple.clone(),
                cpu: cpu.cpu.clone(),
                features: cpu.features.clone(),
            },
            Target::Cuda(CudaTarget { arch, output: CudaOutput::Ptx }) => StoredTarget::Ptx { arch: *arch },
            Target::Cuda(CudaTarget { arch, output: CudaOutput::Cubin }) => {
                StoredTarget::Cubin { arch: *arch }
            }
        };
        let kernels = file.kernels.iter().map(|kernel| StoredKernel {
            name: kernel.name.clone(),
            signature: kernel.signature.clone(),
            digest: *kernel.digest.as_bytes(),
            params_bytes: kernel.params_bytes,
            variants: kernel.variants.iter().map(StoredVariant::from).collect(),
        });
        Contents { target, kernels: kernels.collect() }
    }
}

impl From<&AotVariant> for StoredVariant {
    fn from(variant: &AotVariant) -> StoredVariant {
        StoredVariant {
            contiguous: variant.contiguous,
            aligned: variant.aligned,
            grid_stride: variant.grid_stride,
            key: *variant.key.as_bytes(),
            lanes: variant.entry.lanes,
            symbol: variant.entry.symbol.clone(),
            access: variant.entry.access.to_bytes(),
            options: variant.entry.origin.options.clone(),
            micros: variant.entry.origin.micros,
            code: variant.entry.code.clone(),
        }
    }
}

impl Contents {
    /// What is stored, unless no inkle writes that.
    fn file(self) -> Option<AotFile> {
        let target = match self.target {
            StoredTarget::Cpu { triple, cpu, features } => Target::Cpu(CpuTarget { triple, cpu, features }),
            StoredTarget::Ptx { arch } => Target::Cuda(CudaTarget { arch, output: CudaOutput::Ptx }),
            StoredTarget::Cubin { arch } => Target::Cuda(CudaTarget { arch, output: CudaOutput::Cubin }),
        };
        let kind = match &target {
            Target::Cpu(_) => ArtifactKind::ElfObject,
            Target::Cuda(CudaTarget { output: CudaOutput::Ptx, .. }) => ArtifactKind::Ptx,
            Target::Cuda(CudaTarget { output: CudaOutput::Cubin, .. }) => ArtifactKind::Cubin,
        };
        let variant = |kernel: &str, stored: StoredVariant| {
            let origin = Origin {
                kernel: kernel.to_owned(),
                target: target.key(),
                options: stored.options,
                micros: stored.micros,
            };
            let access = KernelAccess::from_bytes(&stored.access)?;
            let (lanes, symbol, code) = (stored.lanes, stored.symbol, stored.code);
            Some(AotVariant {
                contiguous: stored.contiguous,
                aligned: stored.aligned,
                grid_stride: stored.grid_stride,
                key: blake3::Hash::from_bytes(stored.key),
                entry: Entry { kind, lanes, symbol, access, origin, code },
            })
        };
        let kernel = |stored: StoredKernel| {
            let variants = stored.variants.into_iter().map(|v| variant(&stored.name, v));
            Some(AotKernel {
                variants: variants.collect::<Option<_>>()?,
                name: stored.name,
                signature: stored.signature,
                digest: blake3::Hash::from_bytes(stored.digest),
                params_bytes: stored.params_bytes,
            })
        };
        let kernels = self.kernels.into_iter().map(kernel).collect::<Option<_>>()?;
        Some(AotFile { kernels, target })
    }
}
