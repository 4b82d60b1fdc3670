//! Header, metadata and memory.

use super::super::BundleError;
use super::super::wire::Reader;
use super::{MAGIC, VERSIONS, damaged, unread};

/// A file, its parts not yet understood.
#[derive(Debug)]
pub struct File<'a> {
    /// The version of the format.
    pub version: u32,
    /// The version of Warp that wrote it.
    pub producer: String,
    pub modules: Vec<Module>,
    pub kernels: Vec<KernelInfo>,
    /// Names and the regions that they stand for.
    pub params: Vec<(String, u32)>,
    pub regions: Vec<MemoryRegion<'a>>,
    pub operation_count: u32,
    pub operations: &'a [u8],
}

/// A file of code.
#[derive(Debug)]
pub struct Module {
    /// What launches call it.
    pub hash: String,
    /// The name of the file.
    pub file: String,
    /// The compute capability it was made for, times ten.
    pub arch: u32,
    /// Whether it is PTX; else it is machine code.
    pub is_ptx: bool,
    /// Its SHA-256 in hexadecimal; files of older versions have none.
    pub digest: Option<String>,
}

/// A kernel of a module.
#[derive(Debug)]
pub struct KernelInfo {
    pub key: String,
    pub module: String,
    pub forward: String,
    pub backward: String,
}

/// A piece of memory.
#[derive(Debug)]
pub struct MemoryRegion<'a> {
    pub id: u32,
    pub bytes: u64,
    pub contents: Option<&'a [u8]>,
}

/// What a module with source to compile it anew says that its code is.
const PTX: u8 = 1;

const METADATA: u32 = 1;
const MEMORY: u32 = 2;
const OPERATIONS: u32 = 3;

impl<'a> File<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<File<'a>, BundleError> {
        let mut header = Reader::new("header", bytes);
        header.take(MAGIC.len())?;
        let version = header.u32()?;
        let Some((_, release)) = VERSIONS.iter().find(|(known, _)| *known == version) else {
            return Err(BundleError::WarpVersion { found: version });
        };
        let (_flags, count, table_at) = (header.u32()?, header.u32()?, header.u64()?);
        let device = header.u8()?;
        if device != 0 {
            return Err(unread(
                "code for the CPU, which needs Warp's library; graphs that Warp captured on a GPU are read",
            ));
        }
        let table = usize::try_from(table_at).ok().and_then(|at| bytes.get(at..));
        let mut table = Reader::new("table of sections", table.unwrap_or_default());
        let mut sections: [Option<&[u8]>; 4] = [None; 4];
        for _ in 0..count {
            let (kind, _flags) = (table.u32()?, table.u32()?);
            let (at, stored, size) = (table.u64()?, table.u64()?, table.u64()?);
            if stored != size {
                return Err(unread("compression"));
            }
            let end = at.checked_add(stored).and_then(|end| usize::try_from(end).ok());
            let found = end.and_then(|end| bytes.get(at as usize..end));
            let slot = sections.get_mut(kind as usize).filter(|slot| kind != 0 && slot.is_none());
            match (found, slot) {
                (Some(found), Some(slot)) => *slot = Some(found),
                _ => return Err(table.bad(format!("section {kind} of {stored} bytes at {at}"))),
            }
        }
        let section = |kind: u32| {
            let missing = || damaged("table of sections", format!("section {kind} is missing"));
            sections[kind as usize].ok_or_else(missing)
        };
        let mut file = File {
            version,
            producer: (*release).to_owned(),
            modules: Vec::new(),
            kernels: Vec::new(),
            params: Vec::new(),
            regions: match sections[MEMORY as usize] {
                Some(memory) => read_memory(memory)?,
                None => Vec::new(),
            },
            operation_count: 0,
            operations: &[],
        };
        file.read_metadata(section(METADATA)?, version)?;
        let mut operations = Reader::new("operations", section(OPERATIONS)?);
        file.operation_count = operations.u32()?;
        file.operations = &section(OPERATIONS)?[4..];
        Ok(file)
    }

    fn read_metadata(&mut self, bytes: &[u8], version: u32) -> Result<(), BundleError> {
        let with_digests = version >= 18;
        let mut reader = Reader::new("metadata", bytes);
        let again = reader.u32()?;
        if again != version {
            return Err(reader.bad(format!("it is of version {again}, the header of version {version}")));
        }
        if with_digests {
            self.producer = reader.text()?;
        }
        let (_arch, modules, kernels) = (reader.u32()?, reader.u32()?, reader.u32()?);
        let (params, meshes, handles) = (reader.u32()?, reader.u32()?, reader.u32()?);
        if meshes > 0 {
            return Err(unread("a mesh"));
        }
        if handles > 0 {
            return Err(unread("an array of handles (of meshes, BVHs or grids)"));
        }
        for _ in 0..modules {
            let (hash, _name, file, arch) = (reader.text()?, reader.text()?, reader.text()?, reader.u32()?);
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
            if file.starts_with('.') || !file.chars().all(plain) {
                return Err(reader.bad(format!("`{file}` is not the name of a file of code")));
            }
            let mut module = Module { hash, arch, is_ptx: file.ends_with(".ptx"), file, digest: None };
            if with_digests {
                let digest = reader.text()?;
                let (_source, _source_digest) = (reader.text()?, reader.text()?);
                let (kind, _fallback, _recipe) = (reader.u8()?, reader.u8()?, reader.take(16)?);
                // Files without source do not say what the code is, but by its name.
                module.is_ptx |= kind == PTX;
                module.digest = Some(digest).filter(|digest| !digest.is_empty());
            }
            self.modules.push(module);
        }
        for _ in 0..kernels {
            let (key, module) = (reader.text()?, reader.text()?);
            let (forward, backward) = (reader.text()?, reader.text()?);
            let _ = (reader.u32()?, reader.u32()?, reader.u32()?);
            self.kernels.push(KernelInfo { key, module, forward, backward });
        }
        for _ in 0..params {
            self.params.push((reader.text()?, reader.u32()?));
        }
        reader.end()
    }
}

fn read_memory(bytes: &[u8]) -> Result<Vec<MemoryRegion<'_>>, BundleError> {
    let mut reader = Reader::new("memory", bytes);
    let regions = reader.list(24, |reader| {
        let (id, _element, bytes, has_contents) =
            (reader.u32()?, reader.u32()?, reader.u64()?, reader.flag()?);
        reader.take(7)?;
        let contents = match (has_contents, usize::try_from(bytes)) {
            (false, _) => None,
            (true, Ok(bytes)) => Some(reader.take(bytes)?),
            (true, Err(_)) => return Err(reader.bad(format!("region {id} has {bytes} bytes"))),
        };
        Ok(MemoryRegion { id, bytes, contents })
    })?;
    reader.end()?;
    Ok(regions)
}
