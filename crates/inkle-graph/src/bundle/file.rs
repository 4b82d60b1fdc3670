//! The file: header, table, sections.

use std::ops::Range;
use std::sync::Arc;

use super::BundleError;
use super::codec::{self, MAX_DEPTH};
use super::params::{self, Param};
use super::signature::{PublicKey, SecretKey, TRAILER_BYTES, check_trailer, trailer};
use super::target::CodeTarget;
use super::wire::{Reader, Writer};
use crate::ops::OpStream;
use crate::validate::{check_view, validate};

/// The version of the format that this crate writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// The first bytes of a file: no text file starts like this, and transfers that change line ends change it.
pub(super) const MAGIC: [u8; 8] = *b"\x89INKLE\r\n";
const HEADER_BYTES: usize = 64;
const ENTRY_BYTES: usize = 64;
/// Sections, and the signature, start at multiples of this, bytes.
const ALIGN: usize = 64;

/// The flag of a file that ends with a signature.
const SIGNED: u32 = 1;

const _: () = assert!(MAX_DEPTH < 1000, "reading recurses this deep");

/// What a section holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Info = 1,
    Stream = 2,
    Params = 3,
    Code = 4,
    Image = 5,
    Memory = 6,
    Ir = 7,
}

impl Kind {
    const ALL: [Kind; 7] =
        [Kind::Info, Kind::Stream, Kind::Params, Kind::Code, Kind::Image, Kind::Memory, Kind::Ir];
}

/// Bytes of a file, or of their own, shared.
#[derive(Clone)]
pub struct Blob {
    bytes: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Blob {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Blob {
        Blob { range: 0..bytes.len(), bytes: Arc::new(bytes) }
    }
}

impl PartialEq for Blob {
    fn eq(&self, other: &Blob) -> bool {
        self.bytes() == other.bytes()
    }
}

impl std::fmt::Debug for Blob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Blob({} bytes)", self.range.len())
    }
}

/// Code of one kernel for one target.
#[derive(Clone, PartialEq, Debug)]
pub struct CodeEntry {
    /// The index of the kernel.
    pub kernel: u32,
    /// What it is for.
    pub target: CodeTarget,
    /// The name of the entry point.
    pub symbol: String,
    /// How many threads of a launch one pass of the code does.
    pub lanes: u32,
    /// An ELF object, PTX text or a CUBIN.
    pub image: Blob,
}

/// A graph as it is in a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Bundle {
    /// What wrote it, for people.
    pub producer: String,
    /// Why code is missing that one would expect, for people.
    pub notes: Vec<String>,
    /// What the graph does.
    pub stream: OpStream,
    /// The named parts of its memory.
    pub params: Vec<Param>,
    /// Code, of several targets side by side.
    pub code: Vec<CodeEntry>,
    /// Per kernel its IR, empty if it was left out.
    pub ir: Vec<String>,
    /// Per region its contents; `None` for zeros.
    pub memory: Vec<Option<Blob>>,
    /// Who signed the file that it came from.
    pub signer: Option<PublicKey>,
}

/// A section on its way into a file.
struct Section<'a> {
    kind: Kind,
    index: u32,
    bytes: std::borrow::Cow<'a, [u8]>,
}

impl Bundle {
    /// The bundle as a file, which nobody has signed.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.assemble(None)
    }

    pub(super) fn assemble(&self, key: Option<&SecretKey>) -> Vec<u8> {
        let mut info = Writer::default();
        info.text(&self.producer);
        info.list(&self.notes, |writer, note| writer.text(note));
        let mut code = Writer::default();
        let mut images: Vec<&Blob> = Vec::new();
        code.count(self.code.len());
        for entry in &self.code {
            let known = images.iter().position(|image| *image == &entry.image);
            let index = known.unwrap_or_else(|| {
                images.push(&entry.image);
                images.len() - 1
            });
            code.u32(entry.kernel);
            code.text(&entry.target.to_string());
            code.text(&entry.symbol);
            code.u32(entry.lanes);
            code.u32(index as u32);
        }
        let mut sections = Vec::new();
        let mut put = |kind, index: usize, bytes| sections.push(Section { kind, index: index as u32, bytes });
        put(Kind::Info, 0, info.bytes.into());
        put(Kind::Stream, 0, codec::encode(&self.stream).into());
        put(Kind::Params, 0, params::encode(&self.params).into());
        put(Kind::Code, 0, code.bytes.into());
        images.iter().enumerate().for_each(|(i, image)| put(Kind::Image, i, image.bytes().into()));
        for (region, contents) in self.memory.iter().enumerate() {
            if let Some(contents) = contents {
                put(Kind::Memory, region, contents.bytes().into());
            }
        }
        for (kernel, text) in self.ir.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            put(Kind::Ir, kernel, text.as_bytes().into());
        }
        assemble(&sections, key)
    }

    /// The bundle that a file holds.
    ///
    /// # Errors
    /// [`BundleError::NotABundle`], [`BundleError::Version`], [`BundleError::Damaged`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Bundle, BundleError> {
        let bytes = Arc::new(bytes);
        let (sections, signer) = take_apart(&bytes)?;
        let one = |kind: Kind| {
            let mut found = sections.iter().filter(|(k, ..)| *k == kind);
            match (found.next(), found.next()) {
                (Some((_, 0, blob)), None) => Ok(blob.bytes()),
                _ => Err(damaged("table of sections", format!("there must be one {kind:?} section"))),
            }
        };
        let many = |kind: Kind| sections.iter().filter(move |(k, ..)| *k == kind);
        let mut info = Reader::new("information", one(Kind::Info)?);
        let (producer, notes) = (info.text()?, info.list(4, Reader::text)?);
        info.end()?;
        let stream = codec::decode(one(Kind::Stream)?)?;
        validate(&stream).map_err(|why| damaged("operation stream", why))?;
        let params = params::decode(one(Kind::Params)?)?;
        check_params(&stream, &params)?;
        let images: Vec<&Blob> = many(Kind::Image).map(|(_, _, blob)| blob).collect();
        if many(Kind::Image).enumerate().any(|(i, (_, index, _))| i != *index as usize) {
            return Err(damaged("table of sections", "pieces of code are not numbered in order"));
        }
        let code = read_code(one(Kind::Code)?, &stream, &images)?;
        let mut memory = vec![None; stream.regions.len()];
        for (_, region, contents) in many(Kind::Memory) {
            let bytes = contents.bytes().len() as u64;
            match (stream.regions.get(*region as usize), memory.get_mut(*region as usize)) {
                (Some(described), Some(slot)) if slot.is_none() && described.bytes == bytes => {
                    *slot = Some(contents.clone());
                }
                _ => return Err(damaged("memory", format!("{bytes} bytes for region {region}"))),
            }
        }
        let mut ir = vec![String::new(); stream.kernels.len()];
        for (_, kernel, text) in many(Kind::Ir) {
            match (ir.get_mut(*kernel as usize), std::str::from_utf8(text.bytes())) {
                (Some(slot), Ok(text)) if slot.is_empty() => text.clone_into(slot),
                _ => return Err(damaged("IR", format!("of kernel {kernel}"))),
            }
        }
        Ok(Bundle { producer, notes, stream, params, code, ir, memory, signer })
    }

    /// Whether bytes start as a bundle does.
    pub fn is_bundle(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }
}

fn damaged(part: &'static str, why: impl Into<String>) -> BundleError {
    BundleError::Damaged { part, why: why.into() }
}

fn check_params(stream: &OpStream, params: &[Param]) -> Result<(), BundleError> {
    for (i, param) in params.iter().enumerate() {
        check_view(stream, &param.view)
            .map_err(|why| damaged("list of parameters", format!("`{}`: {why}", param.name)))?;
        if params[..i].iter().any(|earlier| earlier.name == param.name) {
            return Err(BundleError::SameName { name: param.name.clone() });
        }
    }
    Ok(())
}

fn read_code(bytes: &[u8], stream: &OpStream, images: &[&Blob]) -> Result<Vec<CodeEntry>, BundleError> {
    let mut reader = Reader::new("table of code", bytes);
    let code = reader.list(20, |reader| {
        let (kernel, target) = (reader.u32()?, reader.text()?.parse()?);
        let (symbol, lanes, image) = (reader.text()?, reader.u32()?, reader.u32()?);
        if kernel as usize >= stream.kernels.len() || !(1..=1024).contains(&lanes) {
            return Err(reader.bad(format!("code of kernel {kernel} for {lanes} lanes")));
        }
        match images.get(image as usize) {
            Some(image) => Ok(CodeEntry { kernel, target, symbol, lanes, image: (*image).clone() }),
            None => Err(reader.bad(format!("there is no piece of code {image}"))),
        }
    })?;
    reader.end()?;
    Ok(code)
}

fn assemble(sections: &[Section<'_>], key: Option<&SecretKey>) -> Vec<u8> {
    let mut table = Writer::default();
    let mut at = HEADER_BYTES + sections.len() * ENTRY_BYTES;
    for section in sections {
        at = at.next_multiple_of(ALIGN);
        table.u32(section.kind as u32);
        table.u32(section.index);
        table.u64(at as u64);
        table.u64(section.bytes.len() as u64);
        table.u64(0);
        table.bytes.extend(blake3::hash(&section.bytes).as_bytes());
        at += section.bytes.len();
    }
    let length = if key.is_some() { at.next_multiple_of(ALIGN) + TRAILER_BYTES } else { at };
    let mut file = Writer { bytes: Vec::with_capacity(length) };
    file.bytes.extend(MAGIC);
    file.u32(FORMAT_VERSION);
    file.u32(if key.is_some() { SIGNED } else { 0 });
    file.u64(length as u64);
    file.u32(sections.len() as u32);
    file.u32(0);
    file.bytes.extend(blake3::hash(&table.bytes).as_bytes());
    file.bytes.extend(table.bytes);
    for section in sections {
        file.bytes.resize(file.bytes.len().next_multiple_of(ALIGN), 0);
        file.bytes.extend(&*section.bytes);
    }
    if let Some(key) = key {
        file.bytes.resize(file.bytes.len().next_multiple_of(ALIGN), 0);
        let trailer = trailer(&file.bytes[..HEADER_BYTES], key);
        file.bytes.extend(trailer);
    }
    file.bytes
}

/// Kind, index and contents of sections.
type Sections = Vec<(Kind, u32, Blob)>;

/// The sections of a file, their digests compared, and who signed it.
fn take_apart(bytes: &Arc<Vec<u8>>) -> Result<(Sections, Option<PublicKey>), BundleError> {
    if !bytes.starts_with(&MAGIC) {
        let why = if bytes.starts_with(&MAGIC[..6]) {
            "its first bytes were changed, as by a transfer that converts line ends"
        } else {
            "it does not start like one"
        };
        return Err(BundleError::NotABundle { why: why.into() });
    }
    let mut header = Reader::new("header", bytes);
    header.take(MAGIC.len())?;
    let version = header.u32()?;
    if version != FORMAT_VERSION {
        return Err(BundleError::Version { found: version });
    }
    let (flags, length, count, reserved) = (header.u32()?, header.u64()?, header.u32()?, header.u32()?);
    let digest = header.digest()?;
    if flags & !SIGNED != 0 || reserved != 0 {
        return Err(header.bad("flags that this version does not have"));
    }
    if length != bytes.len() as u64 {
        return Err(header.bad(format!("the file has {} bytes instead of {length}", bytes.len())));
    }
    let table_bytes = (count as usize).saturating_mul(ENTRY_BYTES);
    let table = header.take(table_bytes)?;
    if blake3::hash(table).as_bytes() != &digest {
        return Err(damaged("table of sections", "its digest is another"));
    }
    let mut reader = Reader::new("table of sections", table);
    let mut end = HEADER_BYTES + table_bytes;
    let mut sections = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let (kind, index, offset, length, reserved) =
            (reader.u32()?, reader.u32()?, reader.u64()?, reader.u64()?, reader.u64()?);
        let digest = reader.digest()?;
        let Some(kind) = Kind::ALL.into_iter().find(|k| *k as u32 == kind) else {
            return Err(reader.bad(format!("no section has the kind {kind}")));
        };
        let start = end.next_multiple_of(ALIGN);
        let stop = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        let (Some(stop), true, 0) = (stop, offset == start as u64, reserved) else {
            return Err(reader.bad(format!("section {kind:?} {index} is at {offset}, {length} bytes long")));
        };
        let Some(contents) = bytes.get(start..stop) else {
            return Err(reader.bad(format!("section {kind:?} {index} reaches past the end of the file")));
        };
        check_padding(&bytes[end..start])?;
        if blake3::hash(contents).as_bytes() != &digest {
            return Err(damaged("section", format!("{kind:?} {index}: its digest is another")));
        }
        sections.push((kind, index, Blob { bytes: bytes.clone(), range: start..stop }));
        end = stop;
    }
    let mut signer = None;
    if flags & SIGNED != 0 {
        let start = end.next_multiple_of(ALIGN);
        let Some(trailer) = bytes.get(start..start.saturating_add(TRAILER_BYTES)) else {
            return Err(damaged("signature", "it is missing"));
        };
        check_padding(&bytes[end..start])?;
        signer = Some(check_trailer(&bytes[..HEADER_BYTES], trailer)?);
        end = start + TRAILER_BYTES;
    }
    if end != bytes.len() {
        return Err(reader.bad(format!("{} bytes follow the last section", bytes.len() - end)));
    }
    Ok((sections, signer))
}

fn check_padding(padding: &[u8]) -> Result<(), BundleError> {
    if padding.iter().any(|byte| *byte != 0) {
        return Err(damaged("table of sections", "there is something between the sections"));
    }
    Ok(())
}
