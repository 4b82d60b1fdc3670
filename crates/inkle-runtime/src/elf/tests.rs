//! Objects are written here byte by byte, so that the loader is tested without a compiler.

use object::write::{Object, Relocation, SectionId, StandardSection, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope,
};
use proptest::prelude::*;

use super::*;

extern "C" fn double(x: u64) -> u64 {
    x * 2
}

fn resolve(name: &str) -> Option<usize> {
    (name == "ext_double").then_some(double as extern "C" fn(u64) -> u64 as usize)
}

fn load(bytes: &[u8]) -> Result<LoadedObject, LoadError> {
    LoadedObject::load_with(bytes, &resolve)
}

struct Builder {
    object: Object<'static>,
    text: SectionId,
}

impl Builder {
    fn new() -> Builder {
        let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        let text = object.section_id(StandardSection::Text);
        Builder { object, text }
    }

    fn symbol(
        &mut self,
        name: &str,
        section: SymbolSection,
        value: u64,
        size: u64,
        kind: SymbolKind,
    ) -> SymbolId {
        self.object.add_symbol(Symbol {
            name: name.into(),
            value,
            size,
            kind,
            scope: SymbolScope::Linkage,
            weak: false,
            section,
            flags: SymbolFlags::None,
        })
    }

    fn external(&mut self, name: &str) -> SymbolId {
        self.symbol(name, SymbolSection::Undefined, 0, 0, SymbolKind::Text)
    }

    /// Appends a function; `fields` are (offset in the code, type, symbol, addend).
    fn function(
        &mut self,
        name: &str,
        code: &[u8],
        fields: &[(u64, elf::RelocationType, SymbolId, i64)],
    ) -> SymbolId {
        let start = self.object.append_section_data(self.text, code, 16);
        for &(offset, r_type, symbol, addend) in fields {
            self.relocate(self.text, start + offset, r_type, symbol, addend);
        }
        self.symbol(name, SymbolSection::Section(self.text), start, code.len() as u64, SymbolKind::Text)
    }

    fn relocate(
        &mut self,
        section: SectionId,
        offset: u64,
        r_type: elf::RelocationType,
        symbol: SymbolId,
        addend: i64,
    ) {
        let flags = RelocationFlags::Elf { r_type };
        self.object.add_relocation(section, Relocation { offset, symbol, addend, flags }).unwrap();
    }

    fn data(&mut self, section: StandardSection, name: &str, bytes: &[u8]) -> (SectionId, u64, SymbolId) {
        let section = self.object.section_id(section);
        let offset = self.object.append_section_data(section, bytes, 8);
        let symbol =
            self.symbol(name, SymbolSection::Section(section), offset, bytes.len() as u64, SymbolKind::Data);
        (section, offset, symbol)
    }

    fn write(&self) -> Vec<u8> {
        self.object.write().unwrap()
    }
}

/// An object with every kind of section and the relocations that LLVM makes.
fn full_object() -> Vec<u8> {
    let mut b = Builder::new();
    let double = b.external("ext_double");
    // lea rax, [rdi + rsi]; ret
    let add = b.function("add", &[0x48, 0x8d, 0x04, 0x37, 0xc3], &[]);
    // sub rsp, 8; call ext_double; add rsp, 8; ret
    b.function(
        "call_external",
        &[0x48, 0x83, 0xec, 8, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3],
        &[(5, elf::R_X86_64_PLT32, double, -4)],
    );
    let (rodata, constant, _) = b.data(StandardSection::ReadOnlyData, "constant", &77u64.to_le_bytes());
    let rodata_symbol = b.object.section_symbol(rodata);
    // mov rax, [rip + constant]; ret
    b.function(
        "read_constant",
        &[0x48, 0x8b, 0x05, 0, 0, 0, 0, 0xc3],
        &[(3, elf::R_X86_64_PC32, rodata_symbol, constant as i64 - 4)],
    );
    let (_, _, variable) = b.data(StandardSection::Data, "variable", &5u64.to_le_bytes());
    // mov rax, [rip + got(variable)]; mov rax, [rax]; ret
    b.function(
        "read_through_table",
        &[0x48, 0x8b, 0x05, 0, 0, 0, 0, 0x48, 0x8b, 0x00, 0xc3],
        &[(3, elf::R_X86_64_REX_GOTPCRELX, variable, -4)],
    );
    let bss = b.object.section_id(StandardSection::UninitializedData);
    let offset = b.object.append_section_bss(bss, 8, 8);
    let counter = b.symbol("counter", SymbolSection::Section(bss), offset, 8, SymbolKind::Data);
    // inc qword [rip + counter]; mov rax, [rip + counter]; ret
    b.function(
        "count",
        &[0x48, 0xff, 0x05, 0, 0, 0, 0, 0x48, 0x8b, 0x05, 0, 0, 0, 0, 0xc3],
        &[(3, elf::R_X86_64_PC32, counter, -4), (10, elf::R_X86_64_PC32, counter, -4)],
    );
    let (data, pointer, pointer_symbol) = b.data(StandardSection::Data, "pointer", &[0; 8]);
    b.relocate(data, pointer, elf::R_X86_64_64, add, 0);
    let (data, pointer, _) = b.data(StandardSection::Data, "external_pointer", &[0; 8]);
    b.relocate(data, pointer, elf::R_X86_64_64, double, 0);
    // jmp [rip + pointer]
    b.function("add_by_pointer", &[0xff, 0x25, 0, 0, 0, 0], &[(2, elf::R_X86_64_PC32, pointer_symbol, -4)]);
    b.write()
}

fn call(object: &LoadedObject, name: &str, a: u64, b: u64) -> u64 {
    let address = object.symbol(name).unwrap();
    // SAFETY: every function of the test objects takes at most two integers in registers and returns one.
    let function: extern "C" fn(u64, u64) -> u64 = unsafe { std::mem::transmute(address) };
    function(a, b)
}

#[test]
fn code_runs_after_relocation() {
    let object = load(&full_object()).unwrap();
    assert_eq!(call(&object, "add", 40, 2), 42);
    assert_eq!(call(&object, "call_external", 21, 0), 42);
    assert_eq!(call(&object, "read_constant", 0, 0), 77);
    assert_eq!(call(&object, "read_through_table", 0, 0), 5);
    assert_eq!((call(&object, "count", 0, 0), call(&object, "count", 0, 0)), (1, 2));
    assert_eq!(call(&object, "add_by_pointer", 1, 2), 3);
    assert_eq!(object.symbol("ext_double"), None);
    assert!(object.symbol_names().any(|n| n == "counter"));
}

#[test]
fn alignment_of_the_file_does_not_matter() {
    let bytes = full_object();
    let mut shifted = vec![0u8; bytes.len() + 8];
    for shift in 0..8 {
        shifted[shift..shift + bytes.len()].copy_from_slice(&bytes);
        let object = load(&shifted[shift..shift + bytes.len()]).unwrap();
        assert_eq!(call(&object, "add", 1, 1), 2);
    }
}

#[test]
fn loaded_objects_are_independent_and_shared_between_threads() {
    let bytes = full_object();
    let (one, two) = (load(&bytes).unwrap(), load(&bytes).unwrap());
    call(&one, "count", 0, 0);
    assert_eq!(call(&two, "count", 0, 0), 1);
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| assert_eq!(call(&one, "add", 3, 4), 7));
        }
    });
}

/// The `rwxp` field of the mapping that holds an address; `None` if there is none.
fn protection_of(address: *const ()) -> Option<String> {
    let address = address.addr();
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        range.contains(&address).then(|| rest[..4].to_owned())
    })
}

#[test]
fn no_page_is_writable_and_executable() {
    let object = load(&full_object()).unwrap();
    let of = |name: &str| protection_of(object.symbol(name).unwrap()).unwrap();
    assert_eq!(of("add"), "r-xp");
    assert_eq!(of("constant"), "r--p");
    assert_eq!(of("variable"), "rw-p");
    assert_eq!(of("counter"), "rw-p");
}

#[test]
fn the_runtime_table_serves_externals() {
    let mut b = Builder::new();
    let sine = b.external("inkle_sinf");
    // jmp inkle_sinf
    b.function("sine", &[0xe9, 0, 0, 0, 0], &[(1, elf::R_X86_64_PLT32, sine, -4)]);
    let object = LoadedObject::load(&b.write()).unwrap();
    // SAFETY: the code jumps to a function of this type.
    let sine: extern "C" fn(f32) -> f32 = unsafe { std::mem::transmute(object.symbol("sine").unwrap()) };
    assert_eq!(sine(0.5), libm::sinf(0.5));
}

#[test]
fn unknown_externals_are_named() {
    let mut b = Builder::new();
    let system = b.external("system");
    b.function("f", &[0xe9, 0, 0, 0, 0], &[(1, elf::R_X86_64_PLT32, system, -4)]);
    assert_eq!(load(&b.write()).unwrap_err(), LoadError::UnknownExternal { name: "system".into() });
}

#[test]
fn unused_externals_do_not_matter() {
    let mut b = Builder::new();
    b.external("never_called");
    b.function("f", &[0xc3], &[]);
    load(&b.write()).unwrap();
}

#[test]
fn relocations_outside_their_section_are_refused() {
    for offset in [5, 7, 1000, u64::MAX - 1] {
        let mut b = Builder::new();
        let double = b.external("ext_double");
        b.function("f", &[0xe9, 0, 0, 0, 0, 0xc3, 0xc3, 0xc3], &[]);
        b.relocate(b.text, offset, elf::R_X86_64_PLT32, double, -4);
        let error = load(&b.write()).unwrap_err();
        assert_eq!(error, LoadError::RelocationBounds { offset, section_bytes: 8 });
    }
}

#[test]
fn thread_local_and_odd_relocations_are_refused() {
    let mut b = Builder::new();
    let double = b.external("ext_double");
    b.function("f", &[0; 8], &[(0, elf::R_X86_64_TPOFF32, double, 0)]);
    assert_eq!(load(&b.write()).unwrap_err(), LoadError::Relocation { kind: elf::R_X86_64_TPOFF32.0 });

    let mut b = Builder::new();
    b.data(StandardSection::Tls, "t", &[1; 8]);
    assert!(matches!(load(&b.write()).unwrap_err(), LoadError::Section { why: "thread-local", .. }));
}

/// Overwrites fields of a section's header: `fields` are (offset in the header, bytes).
fn with_header(bytes: &[u8], section: &str, fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let header = FileHeader64::<LittleEndian>::parse(&*bytes).unwrap();
    let sections = header.sections(LE, &*bytes).unwrap();
    let (index, _) = sections.section_by_name(LE, section.as_bytes()).unwrap();
    let start = header.e_shoff.get(LE) as usize + index.0 * 64;
    for (offset, value) in fields {
        bytes[start + offset..start + offset + value.len()].copy_from_slice(value);
    }
    bytes
}

#[test]
fn damaged_headers_are_refused() {
    let bytes = full_object();
    let flags = elf::SHF_ALLOC.0 | elf::SHF_WRITE.0 | elf::SHF_EXECINSTR.0;
    let both = with_header(&bytes, ".text", &[(8, &flags.to_le_bytes())]);
    assert!(matches!(load(&both), Err(LoadError::Section { why: "both writable and executable", .. })));
    let huge = with_header(&bytes, ".bss", &[(32, &(1u64 << 40).to_le_bytes())]);
    assert!(matches!(load(&huge), Err(LoadError::TooLarge { .. })));
    let endless = with_header(&bytes, ".bss", &[(32, &u64::MAX.to_le_bytes())]);
    assert!(matches!(load(&endless), Err(LoadError::TooLarge { .. })));
    let past = with_header(&bytes, ".text", &[(32, &(1u64 << 20).to_le_bytes())]);
    assert!(matches!(load(&past), Err(LoadError::SectionBounds { .. })));
    for align in [3u64, 1 << 30, u64::MAX] {
        let odd = with_header(&bytes, ".rodata", &[(48, &align.to_le_bytes())]);
        assert!(matches!(load(&odd), Err(LoadError::SectionBounds { .. })), "alignment {align}");
    }
    let lost = with_header(&bytes, ".rela.text", &[(40, &999u32.to_le_bytes())]);
    assert!(matches!(load(&lost), Err(LoadError::Malformed { .. })));
}

#[test]
fn other_files_are_refused() {
    assert!(matches!(load(b""), Err(LoadError::Malformed { .. })));
    assert!(matches!(
        load(b"not an object at all, but long enough for a header of 64 bytes......"),
        Err(LoadError::Malformed { .. })
    ));
    let mut wrong_machine = full_object();
    wrong_machine[18..20].copy_from_slice(&elf::EM_AARCH64.0.to_le_bytes());
    assert!(matches!(load(&wrong_machine), Err(LoadError::Machine { found: 183, expected: 62 })));
    let mut executable = full_object();
    executable[16..18].copy_from_slice(&elf::ET_EXEC.0.to_le_bytes());
    assert_eq!(load(&executable).unwrap_err(), LoadError::NotRelocatable { file_type: 2 });
    let this_program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    assert!(matches!(load(&this_program), Err(LoadError::NotRelocatable { .. })));
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = full_object();
    for len in 0..bytes.len() {
        assert!(load(&bytes[..len]).is_err(), "the first {len} of {} bytes", bytes.len());
    }
}

#[test]
fn initialiser_sections_are_refused() {
    let mut b = Builder::new();
    let odd = b.object.add_section(Vec::new(), b".odd".to_vec(), SectionKind::Data);
    b.object.append_section_data(odd, &[0; 8], 8);
    *b.object.section_flags_mut(odd) =
        object::SectionFlags::Elf { sh_type: elf::SHT_INIT_ARRAY, sh_flags: elf::SHF_ALLOC | elf::SHF_WRITE };
    assert!(matches!(load(&b.write()), Err(LoadError::Section { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is done to the bytes, loading ends with an object or an error. The code is not run.
    #[test]
    fn mutations_never_crash(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12)) {
        let mut bytes = full_object();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = load(&bytes);
    }

    /// Headers decide most: wide values in whole words of the section table.
    #[test]
    fn header_mutations_never_crash(
        edits in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u64>(), 0u64..200, (0u32..64).prop_map(|n| 1 << n)]), 1..4),
    ) {
        let mut bytes = full_object();
        let table = u64::from_le_bytes(bytes[0x28..0x30].try_into().unwrap()) as usize;
        let words = (bytes.len() - table) / 8;
        for (at, value) in edits {
            let at = table + at.index(words) * 8;
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let _ = load(&bytes);
    }
}
