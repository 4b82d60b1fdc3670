//! Modules compiled ahead of time: one file a target, with the code of all of a module's kernels, for machines that
//! are not here and programs that bring no kernel bodies.
//!
//! A kernel's code comes in two variants where it has arrays: the fast one, which a launch on arrays as they are allocated
//! runs, and one that any launch can run. The kernel cache is asked first, and so is the file that is already there, so that
//! only what changed is compiled.
//!
//! # A file
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | `inkle-am` |
//! | 4 | format version, little-endian; it changes with the layout of parameter blocks too |
//! | 32 | BLAKE3 digest of the rest |
//! | | [`Contents`](file::Contents) in the encoding of the crate `postcard`; PTX is in it as text |

#[cfg(feature = "llvm")]
mod compile;
mod file;
#[cfg(feature = "llvm")]
mod find;
mod load;
mod set;
mod source;
mod target;

use std::sync::atomic::{AtomicUsize, Ordering};

use inkle_codegen::Options;
use inkle_ir::{ParamLayout, Type};

#[cfg(feature = "llvm")]
pub use compile::{AotInput, compile_ahead, module_hash};
pub use file::{AotError, AotFile};
#[cfg(feature = "llvm")]
pub use find::find_file;
pub use load::AotCode;
pub use set::{AotMember, AotSet, AotSource};
pub use source::AheadSource;
pub use target::file_suffix;

use crate::entry::Entry;

/// One kernel of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AotKernel {
    /// Its name within the module.
    pub name: String,
    /// The types of its parameters: [`signature`].
    pub signature: String,
    /// The digest of its IR.
    pub digest: blake3::Hash,
    /// The size of its parameter block, bytes.
    pub params_bytes: u32,
    /// Its code, the most special variant first; any launch can run the last one.
    pub variants: Vec<AotVariant>,
}

/// Code of a kernel, and the launches that can run it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AotVariant {
    /// As [`Options::contiguous`].
    pub contiguous: u64,
    /// As [`Options::aligned`].
    pub aligned: bool,
    /// As [`Options::grid_stride`].
    pub grid_stride: bool,
    /// What it was made from: the key in the kernel cache.
    pub key: blake3::Hash,
    /// The code.
    pub entry: Entry,
}

impl AotVariant {
    /// Whether a launch that these options fit can run the code.
    fn serves(&self, launch: &Options) -> bool {
        self.contiguous & !launch.contiguous == 0
            && (launch.aligned || !self.aligned)
            && (self.grid_stride || !launch.grid_stride)
    }
}

/// The types of a kernel's parameters as text, with the fields of the structs among them: equal for kernels that read their
/// parameter blocks the same way.
pub fn signature(types: impl IntoIterator<Item = Type>) -> String {
    let mut structs: Vec<Type> = Vec::new();
    let mut texts = Vec::new();
    for ty in types {
        reach(ty, &mut structs);
        texts.push(ty.to_string());
    }
    let mut text = format!("({})", texts.join(", "));
    for ty in structs {
        if let Some(structure) = ty.as_struct() {
            let fields: Vec<_> = structure.fields.iter().map(|f| format!("{}: {}", f.name, f.ty)).collect();
            text.push_str(&format!("; {ty} {{{}}}", fields.join(", ")));
        }
    }
    text
}

fn reach(ty: Type, structs: &mut Vec<Type>) {
    if let Some(array) = ty.as_array() {
        reach(array.elem, structs);
    } else if let Some(structure) = ty.as_struct()
        && !structs.contains(&ty)
    {
        structs.push(ty);
        for field in &structure.fields {
            reach(field.ty, structs);
        }
    }
}

/// Distinguishes the temporary files of this process.
fn file_nonce() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The size of the parameter block for these types, bytes.
fn block_bytes(types: &[Type]) -> u32 {
    ParamLayout::new(types.iter().copied()).size
}
