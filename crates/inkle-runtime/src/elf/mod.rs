//! Loads a relocatable ELF object into the process, without a linker and without LLVM.
//!
//! Sections that occupy memory are placed in three groups, each on pages of its own: code and call stubs
//! (read, execute), read-only data and the global offset table (read), and writable data (read, write). No
//! page is ever writable and executable at once. Calls to external functions go through stubs, so the reach of
//! a branch never matters; the functions come from the fixed table of [`crate::symbols`], never from the
//! process's dynamic symbols.
//!
//! Every offset, length and index of the file is checked before use: a damaged object is a [`LoadError`].
//! What the code does when it is called cannot be checked; objects are trusted like any other code.

mod map;
mod reloc;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use object::LittleEndian;
use object::elf::{self, FileHeader64, SectionHeader64};
use object::read::elf::{FileHeader, Rela, SectionHeader, SectionTable, Sym, SymbolTable};
use object::read::{SectionIndex, SymbolIndex};

pub(crate) use map::Mapping;
use map::Protection;
pub use reloc::Machine;

/// The most memory one object may take, bytes. It keeps every displacement within 32 bits and keeps a damaged
/// length from asking for the whole machine.
pub const MAX_IMAGE_BYTES: u64 = 1 << 30;

const STUB_BYTES: u64 = 16;
const GOT_ENTRY_BYTES: u64 = 8;

/// Why an object cannot be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the fields are the values that the variant's sentence names")]
pub enum LoadError {
    /// The bytes are not a well-formed 64-bit little-endian ELF file.
    Malformed { what: String },
    /// The file is not a relocatable object.
    NotRelocatable { file_type: u16 },
    /// The code is for another machine.
    Machine { found: u16, expected: u16 },
    /// A section has a kind or flags that the loader refuses, such as thread-local or writable code.
    Section { name: String, why: &'static str },
    /// A section's contents, alignment or placement are out of bounds.
    SectionBounds { name: String },
    /// The sections together are larger than [`MAX_IMAGE_BYTES`].
    TooLarge { bytes: u64 },
    /// A symbol's value or section does not exist.
    BadSymbol { index: usize },
    /// The code calls something that the runtime does not provide.
    UnknownExternal { name: String },
    /// The relocation type is not supported.
    Relocation { kind: u32 },
    /// A relocation writes outside its section.
    RelocationBounds { offset: u64, section_bytes: u64 },
    /// A relocated value does not fit its field or is not aligned as the instruction needs.
    RelocationRange { kind: u32, value: i64 },
    /// The system refused memory or a protection.
    System { call: &'static str, errno: i32 },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Malformed { what } => write!(f, "malformed object: {what}"),
            LoadError::NotRelocatable { file_type } => {
                write!(f, "not a relocatable object: ELF file type {file_type}")
            }
            LoadError::Machine { found, expected } => {
                write!(f, "the object is for ELF machine {found}, this is {expected}")
            }
            LoadError::Section { name, why } => write!(f, "section {name} is {why}"),
            LoadError::SectionBounds { name } => write!(f, "section {name} is out of bounds"),
            LoadError::TooLarge { bytes } => {
                write!(f, "the object takes {bytes} bytes of memory, more than {MAX_IMAGE_BYTES}")
            }
            LoadError::BadSymbol { index } => write!(f, "symbol {index} is invalid"),
            LoadError::UnknownExternal { name } => write!(f, "unknown external symbol '{name}'"),
            LoadError::Relocation { kind } => write!(f, "unsupported relocation type {kind}"),
            LoadError::RelocationBounds { offset, section_bytes } => {
                write!(f, "relocation at offset {offset} is outside its section of {section_bytes} bytes")
            }
            LoadError::RelocationRange { kind, value } => {
                write!(f, "value {value:#x} does not fit relocation type {kind}")
            }
            LoadError::System { call, errno } => write!(f, "{call} failed with errno {errno}"),
        }
    }
}

impl std::error::Error for LoadError {}

fn malformed(error: object::read::Error) -> LoadError {
    LoadError::Malformed { what: error.to_string() }
}

/// An object in memory, ready to run. Dropping it unmaps the code.
#[derive(Debug)]
pub struct LoadedObject {
    map: Mapping,
    symbols: BTreeMap<Box<str>, usize>,
}

impl LoadedObject {
    /// Loads an object for this machine. External names are those of [`crate::symbols::resolve`].
    ///
    /// # Errors
    /// [`LoadError`] when the bytes are damaged, for another machine, or need what the runtime does not have.
    pub fn load(bytes: &[u8]) -> Result<LoadedObject, LoadError> {
        LoadedObject::load_with(bytes, &crate::symbols::resolve)
    }

    /// Loads an object whose external names are looked up by `resolve`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with(
        bytes: &[u8],
        resolve: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<LoadedObject, LoadError> {
        let machine = Machine::HOST.ok_or(LoadError::Machine { found: 0, expected: 0 })?;
        // The parser needs headers at their natural alignment.
        if bytes.as_ptr().addr().is_multiple_of(8) {
            return Image::plan(bytes, machine, resolve)?.load();
        }
        let mut aligned = vec![0u64; bytes.len().div_ceil(8)];
        for (word, chunk) in aligned.iter_mut().zip(bytes.chunks(8)) {
            let mut le = [0; 8];
            le[..chunk.len()].copy_from_slice(chunk);
            *word = u64::from_ne_bytes(le);
        }
        let copy = object::pod::bytes_of_slice(&aligned);
        Image::plan(&copy[..bytes.len()], machine, resolve)?.load()
    }

    /// The address of a global function or variable that the object defines.
    pub fn symbol(&self, name: &str) -> Option<*const ()> {
        self.symbols.get(name).map(|&offset| self.map.address(offset).cast_const().cast())
    }

    /// The names that [`symbol`](Self::symbol) knows, sorted.
    pub fn symbol_names(&self) -> impl Iterator<Item = &str> {
        self.symbols.keys().map(|name| &**name)
    }

    /// How much memory the object takes, bytes.
    pub fn image_bytes(&self) -> usize {
        self.map.len()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Group {
    Code,
    ReadOnly,
    Data,
}

struct Placed<'d> {
    index: SectionIndex,
    name: String,
    group: Group,
    /// From the start of the image; set once all sizes are known.
    offset: u64,
    size: u64,
    align: u64,
    /// Empty for sections that are zero at the start.
    data: &'d [u8],
}

/// Where a symbol lies.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// At an offset of the image.
    Image(u64),
    /// At a fixed address outside the image.
    Absolute(u64),
    /// A function of the runtime at an address.
    External(u64),
}

/// A checked plan of the image.
struct Image<'d> {
    machine: Machine,
    sections: SectionTable<'d, FileHeader64<LittleEndian>>,
    symbols: SymbolTable<'d, FileHeader64<LittleEndian>>,
    bytes: &'d [u8],
    placed: Vec<Placed<'d>>,
    targets: BTreeMap<usize, Target>,
    /// Offset of the stub of each external symbol, and of the table entry of each symbol reached through it.
    stubs: BTreeMap<usize, u64>,
    got: BTreeMap<usize, u64>,
    group_starts: [u64; 4],
}

const LE: LittleEndian = LittleEndian;

impl<'d> Image<'d> {
    fn plan(
        bytes: &'d [u8],
        machine: Machine,
        resolve: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<Image<'d>, LoadError> {
        let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(malformed)?;
        if !header.is_little_endian() {
            return Err(LoadError::Malformed { what: "not little-endian".into() });
        }
        if header.e_type(LE) != elf::ET_REL {
            return Err(LoadError::NotRelocatable { file_type: header.e_type(LE).0 });
        }
        if header.e_machine(LE).0 != machine.elf_machine() {
            let (found, expected) = (header.e_machine(LE).0, machine.elf_machine());
            return Err(LoadError::Machine { found, expected });
        }
        let sections = header.sections(LE, bytes).map_err(malformed)?;
        let symbols = sections.symbols(LE, bytes, elf::SHT_SYMTAB).map_err(malformed)?;
        let placed = select_sections(&sections, bytes)?;
        let mut image = Image {
            machine,
            sections,
            symbols,
            bytes,
            placed,
            targets: BTreeMap::new(),
            stubs: BTreeMap::new(),
            got: BTreeMap::new(),
            group_starts: [0; 4],
        };
        image.collect_tables()?;
        image.lay_out()?;
        image.resolve_symbols(resolve)?;
        Ok(image)
    }

    fn placed(&self, index: SectionIndex) -> Option<&Placed<'d>> {
        self.placed.iter().find(|p| p.index == index)
    }

    /// Calls `visit` with the placed section, type, offset, symbol and addend of every relocation that applies
    /// to a placed section.
    fn each_relocation(
        &self,
        mut visit: impl FnMut(&Placed<'d>, u32, u64, SymbolIndex, i64) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        for header in self.sections.iter() {
            let kind = header.sh_type(LE);
            if kind != elf::SHT_RELA && kind != elf::SHT_REL {
                continue;
            }
            let Some(section) = self.placed(SectionIndex(header.sh_info(LE) as usize)) else { continue };
            if kind == elf::SHT_REL {
                return Err(LoadError::Section {
                    name: section.name.clone(),
                    why: "relocated without explicit addends",
                });
            }
            let Some((entries, link)) = header.rela(LE, self.bytes).map_err(malformed)? else { continue };
            if link != self.symbols.section() {
                return Err(LoadError::Malformed { what: "relocations name another symbol table".into() });
            }
            for entry in entries {
                let symbol = SymbolIndex(entry.r_sym(LE, false) as usize);
                visit(section, entry.r_type(LE, false).0, entry.r_offset(LE), symbol, entry.r_addend(LE))?;
            }
        }
        Ok(())
    }

    /// Finds which symbols need stubs and table entries; their offsets are relative until `lay_out`.
    fn collect_tables(&mut self) -> Result<(), LoadError> {
        let mut stubs = BTreeMap::new();
        let mut got = BTreeMap::new();
        self.each_relocation(|_, kind, _, symbol, _| {
            let sym = self.symbols.symbol(symbol).map_err(malformed)?;
            if self.machine.uses_got(kind) {
                let next = got.len() as u64 * GOT_ENTRY_BYTES;
                got.entry(symbol.0).or_insert(next);
            } else if sym.is_undefined(LE) && self.machine.uses_stub(kind) {
                let next = stubs.len() as u64 * STUB_BYTES;
                stubs.entry(symbol.0).or_insert(next);
            }
            Ok(())
        })?;
        (self.stubs, self.got) = (stubs, got);
        Ok(())
    }

    fn lay_out(&mut self) -> Result<(), LoadError> {
        let page = map::page_bytes() as u64;
        let mut end = 0u64;
        for (i, group) in [Group::Code, Group::ReadOnly, Group::Data].into_iter().enumerate() {
            end = end.next_multiple_of(page);
            self.group_starts[i] = end;
            for p in self.placed.iter_mut().filter(|p| p.group == group) {
                if !p.align.is_power_of_two() || p.align > page {
                    return Err(LoadError::SectionBounds { name: p.name.clone() });
                }
                p.offset = end.next_multiple_of(p.align);
                end = p.offset.saturating_add(p.size);
                if end > MAX_IMAGE_BYTES {
                    return Err(LoadError::TooLarge { bytes: end });
                }
            }
            let (table, entry) = match group {
                Group::Code => (&mut self.stubs, STUB_BYTES),
                Group::ReadOnly => (&mut self.got, GOT_ENTRY_BYTES),
                Group::Data => continue,
            };
            if !table.is_empty() {
                end = end.next_multiple_of(STUB_BYTES);
                for offset in table.values_mut() {
                    *offset += end;
                }
                end += table.len() as u64 * entry;
            }
        }
        self.group_starts[3] = end.next_multiple_of(page).max(page);
        if self.group_starts[3] > MAX_IMAGE_BYTES {
            return Err(LoadError::TooLarge { bytes: self.group_starts[3] });
        }
        Ok(())
    }

    /// Works out the place of every symbol that a relocation names.
    fn resolve_symbols(&mut self, resolve: &dyn Fn(&str) -> Option<usize>) -> Result<(), LoadError> {
        let mut targets = BTreeMap::new();
        self.each_relocation(|_, _, _, index, _| {
            if let Entry::Vacant(entry) = targets.entry(index.0) {
                entry.insert(self.resolve_symbol(index, resolve)?);
            }
            Ok(())
        })?;
        self.targets = targets;
        Ok(())
    }

    fn resolve_symbol(
        &self,
        index: SymbolIndex,
        resolve: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<Target, LoadError> {
        let bad = LoadError::BadSymbol { index: index.0 };
        if index.0 == 0 {
            return Err(bad);
        }
        let symbol = self.symbols.symbol(index).map_err(malformed)?;
        if symbol.st_type() == elf::STT_TLS || symbol.st_type() == elf::STT_GNU_IFUNC || symbol.is_common(LE)
        {
            return Err(bad);
        }
        if symbol.is_undefined(LE) {
            let name = self.symbols.symbol_name(LE, symbol).map_err(malformed)?;
            let name = String::from_utf8_lossy(name);
            return match resolve(&name) {
                Some(address) => Ok(Target::External(address as u64)),
                None => Err(LoadError::UnknownExternal { name: name.into_owned() }),
            };
        }
        if symbol.is_absolute(LE) {
            return Ok(Target::Absolute(symbol.st_value(LE)));
        }
        match self.defined_at(symbol, index)? {
            Some(offset) => Ok(Target::Image(offset)),
            None => Err(bad),
        }
    }

    /// The image offset of a symbol defined in a placed section.
    fn defined_at(
        &self,
        symbol: &elf::Sym64<LittleEndian>,
        index: SymbolIndex,
    ) -> Result<Option<u64>, LoadError> {
        let Some(section) = self.symbols.symbol_section(LE, symbol, index).map_err(malformed)? else {
            return Ok(None);
        };
        let Some(section) = self.placed(section) else { return Ok(None) };
        let value = symbol.st_value(LE);
        Ok((value <= section.size).then(|| section.offset + value))
    }

    fn load(self) -> Result<LoadedObject, LoadError> {
        let mut map = Mapping::new(self.group_starts[3] as usize)?;
        let base = map.address(0).addr() as u64;
        let image = map.bytes_mut();
        for p in &self.placed {
            image[p.offset as usize..][..p.data.len()].copy_from_slice(p.data);
        }
        for (symbol, &offset) in &self.stubs {
            let (Target::External(address) | Target::Absolute(address)) = self.targets[symbol] else {
                return Err(LoadError::BadSymbol { index: *symbol });
            };
            image[offset as usize..][..STUB_BYTES as usize].copy_from_slice(&self.machine.stub(address));
        }
        let address_of = |target: Target| match target {
            Target::Image(offset) => base + offset,
            Target::Absolute(address) | Target::External(address) => address,
        };
        for (symbol, &offset) in &self.got {
            let address = address_of(self.targets[symbol]);
            image[offset as usize..][..GOT_ENTRY_BYTES as usize].copy_from_slice(&address.to_le_bytes());
        }
        self.each_relocation(|section, kind, offset, symbol, addend| {
            let width = self.machine.field_bytes(kind).ok_or(LoadError::Relocation { kind })?;
            let out_of_bounds = LoadError::RelocationBounds { offset, section_bytes: section.size };
            let end = offset.checked_add(width as u64).ok_or(out_of_bounds.clone())?;
            // Sections of zeros have no bytes of their own, but are relocated like any other.
            if end > section.size {
                return Err(out_of_bounds);
            }
            let target = if self.machine.uses_got(kind) {
                base + self.got[&symbol.0]
            } else if let Some(stub) = self.stubs.get(&symbol.0).filter(|_| self.machine.uses_stub(kind)) {
                base + stub
            } else {
                address_of(self.targets[&symbol.0])
            };
            let place = section.offset + offset;
            let field = &mut image[place as usize..][..width];
            self.machine.apply(kind, field, base + place, target, addend)
        })?;
        let symbols = self.exports()?;
        let [code, read_only, data, end] = self.group_starts.map(|offset| offset as usize);
        map.protect(code..read_only, Protection::Execute)?;
        map.protect(read_only..data, Protection::Read)?;
        debug_assert!(end >= data);
        Ok(LoadedObject { map, symbols })
    }

    fn exports(&self) -> Result<BTreeMap<Box<str>, usize>, LoadError> {
        let mut exports = BTreeMap::new();
        for (index, symbol) in self.symbols.enumerate() {
            let local = symbol.st_bind() == elf::STB_LOCAL;
            if local || symbol.is_undefined(LE) || symbol.is_absolute(LE) || symbol.is_common(LE) {
                continue;
            }
            if symbol.st_type() == elf::STT_TLS || symbol.st_type() == elf::STT_GNU_IFUNC {
                continue;
            }
            if let Some(offset) = self.defined_at(symbol, index)? {
                let name = self.symbols.symbol_name(LE, symbol).map_err(malformed)?;
                exports.insert(String::from_utf8_lossy(name).into(), offset as usize);
            }
        }
        Ok(exports)
    }
}

fn select_sections<'d>(
    sections: &SectionTable<'d, FileHeader64<LittleEndian>>,
    bytes: &'d [u8],
) -> Result<Vec<Placed<'d>>, LoadError> {
    let mut placed = Vec::new();
    for (index, header) in sections.enumerate() {
        let flags = header.sh_flags(LE).0;
        if flags & elf::SHF_ALLOC.0 == 0 {
            continue;
        }
        let name = sections.section_name(LE, header).map_err(malformed)?;
        let name = String::from_utf8_lossy(name).into_owned();
        let refuse = |why| Err(LoadError::Section { name: name.clone(), why });
        let kind = header.sh_type(LE);
        // Unwind tables serve nobody: generated code does not unwind.
        if kind == elf::SHT_NOTE || name == ".eh_frame" {
            continue;
        }
        let writable = flags & elf::SHF_WRITE.0 != 0;
        let executable = flags & elf::SHF_EXECINSTR.0 != 0;
        if flags & elf::SHF_TLS.0 != 0 {
            return refuse("thread-local");
        }
        if writable && executable {
            return refuse("both writable and executable");
        }
        if flags & elf::SHF_COMPRESSED.0 != 0 {
            return refuse("compressed");
        }
        if kind != elf::SHT_PROGBITS && kind != elf::SHT_NOBITS {
            return refuse("of a kind that cannot be loaded");
        }
        let group = match (executable, writable) {
            (true, _) => Group::Code,
            (_, true) => Group::Data,
            _ => Group::ReadOnly,
        };
        let data =
            section_data(header, bytes).map_err(|_| LoadError::SectionBounds { name: name.clone() })?;
        let size = header.sh_size(LE);
        let align = header.sh_addralign(LE).max(1);
        placed.push(Placed { index, name, group, offset: 0, size, align, data });
    }
    Ok(placed)
}

fn section_data<'d>(
    header: &SectionHeader64<LittleEndian>,
    bytes: &'d [u8],
) -> Result<&'d [u8], object::read::Error> {
    if header.sh_type(LE) == elf::SHT_NOBITS { Ok(&[]) } else { header.data(LE, bytes) }
}
