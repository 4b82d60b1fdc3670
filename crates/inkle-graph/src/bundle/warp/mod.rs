//! Files that Warp 1.17 to 1.19 save of graphs of a GPU (`.wrp`, with a folder of code beside them), as bundles.
//!
//! Such a file has a header, a table of sections and three sections: metadata (modules of code, kernels, named parameters),
//! memory (regions with their contents) and operations. [`file`] reads the first two, [`operations`] the third. What a
//! file does becomes an operation stream like any other; its kernels are code of another compiler ([`Abi::Cuda`]).
//!
//! A file names what is not in it: PTX or machine code by file name, with a digest from version 18 on.
//!
//! *Invariant:* as for bundles: what is wrong with a file is an error that says so, never a panic, and no size in it leads to
//! an allocation larger than the file. Kernels are trusted to do what the file's launches say of them, as Warp trusts them.
//!
//! [`Abi::Cuda`]: crate::Abi::Cuda

mod algorithms;
mod file;
mod operations;

use std::collections::BTreeMap;
use std::path::Path;

use super::{Blob, Bundle, BundleError, Direction, Param};
use crate::ops::{OpStream, Region, RegionKind, Space, View};
use crate::validate::{MAX_REGION_BYTES, check_view, validate};
use file::File;
use operations::Converter;

/// The first bytes of a file.
const MAGIC: &[u8] = b"WRP1";
/// The versions of the format that are read, and who wrote them.
pub(super) const VERSIONS: [(u32, &str); 3] = [(15, "1.17"), (16, "1.18"), (18, "1.19")];

/// Finds a file of code by its name; else says why not.
pub type FindCode<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Finds code in the folder that Warp writes beside a file: `humanoid_modules` beside `humanoid.wrp`.
pub fn code_beside(path: &Path) -> impl Fn(&str) -> Result<Vec<u8>, String> + use<> {
    let mut folder = path.file_stem().unwrap_or_default().to_owned();
    folder.push("_modules");
    let folder = path.with_file_name(folder);
    move |name| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Bundle {
    /// Whether bytes start as a file of Warp's does.
    pub fn is_warp(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// The bundle that a file holds: one of inkle's, or one of Warp's whose code `find` finds.
    ///
    /// # Errors
    /// As [`from_bytes`](Bundle::from_bytes); for a file of Warp's [`BundleError::WarpVersion`],
    /// [`BundleError::WarpFeature`], [`BundleError::WarpCode`].
    pub fn from_bytes_and_code(bytes: Vec<u8>, find: FindCode<'_>) -> Result<Bundle, BundleError> {
        if Bundle::is_warp(&bytes) { convert(&bytes, find) } else { Bundle::from_bytes(bytes) }
    }
}

fn convert(bytes: &[u8], find: FindCode<'_>) -> Result<Bundle, BundleError> {
    let file = File::read(bytes)?;
    let mut regions = BTreeMap::new();
    let mut stream = OpStream::default();
    let mut memory = Vec::new();
    for region in &file.regions {
        let index = stream.regions.len() as u32;
        if region.bytes > MAX_REGION_BYTES {
            return Err(damaged("memory", format!("region {} has {} bytes", region.id, region.bytes)));
        }
        if regions.insert(region.id, index).is_some() {
            return Err(damaged("memory", format!("region {} is there twice", region.id)));
        }
        let described = Region { bytes: region.bytes, space: Space::Device, kind: RegionKind::Given };
        stream.regions.push(described);
        memory.push(region.contents.map(|contents| Blob::from(contents.to_vec())));
    }
    let mut converter = Converter::new(&file, &regions, stream, memory);
    converter.stream.body = converter.operations(file.operations, file.operation_count, 0)?;
    let code = converter.code(find)?;
    let Converter { stream, memory, .. } = converter;
    validate(&stream).map_err(|why| damaged("operations", why))?;
    let mut params: Vec<Param> = Vec::new();
    for (name, id) in &file.params {
        let region = regions.get(id).copied();
        let Some(view) = region.and_then(|r| View::of_bytes(r, 0, stream.regions[r as usize].bytes)) else {
            return Err(damaged("metadata", format!("parameter `{name}` is region {id}")));
        };
        check_view(&stream, &view)
            .map_err(|why| damaged("metadata", format!("parameter `{name}`: {why}")))?;
        match params.iter().find(|known| &known.name == name) {
            None => params.push(Param { name: name.clone(), direction: Direction::Input, view }),
            Some(known) if known.view == view => {}
            Some(_) => return Err(BundleError::SameName { name: name.clone() }),
        }
    }
    let ir = vec![String::new(); stream.kernels.len()];
    let producer = format!("Warp {}", file.producer);
    Ok(Bundle { producer, notes: Vec::new(), stream, params, code, ir, memory, signer: None })
}

fn damaged(part: &'static str, why: impl Into<String>) -> BundleError {
    BundleError::Damaged { part, why: why.into() }
}

fn unread(what: impl Into<String>) -> BundleError {
    BundleError::WarpFeature { what: what.into() }
}
