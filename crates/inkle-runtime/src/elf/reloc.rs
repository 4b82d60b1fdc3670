//! The relocations of x86-64 and aarch64, as pure functions on bytes, so that both can be tested anywhere.
//!
//! Names and formulas are those of the System V psABI for x86-64 and of "ELF for the Arm 64-bit Architecture":
//! `S` the symbol (or its stub or table entry), `A` the addend, `P` the place.

use object::elf::{self, RelocationType};

use super::LoadError;

/// A processor whose objects can be relocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Machine {
    X86_64,
    Aarch64,
}

/// What is written.
enum Field {
    /// An absolute or relative integer of `bytes` bytes; 4-byte ones must fit as `signed` says.
    Data { bytes: usize, relative: bool, signed: bool },
    /// A 26-bit branch displacement in words.
    Branch26,
    /// The page distance of an `adrp`.
    Page21,
    /// Bits 11..`scale` of the address in an instruction's 12-bit immediate.
    Low12 { scale: u32 },
}

impl Machine {
    /// The machine this process runs on, if it is one of them.
    pub const HOST: Option<Machine> = if cfg!(target_arch = "x86_64") {
        Some(Machine::X86_64)
    } else if cfg!(target_arch = "aarch64") {
        Some(Machine::Aarch64)
    } else {
        None
    };

    /// The number in an ELF header.
    pub fn elf_machine(self) -> u16 {
        match self {
            Machine::X86_64 => elf::EM_X86_64.0,
            Machine::Aarch64 => elf::EM_AARCH64.0,
        }
    }

    fn field(self, kind: u32) -> Option<Field> {
        let data = |bytes, relative, signed| Some(Field::Data { bytes, relative, signed });
        match (self, RelocationType(kind)) {
            (Machine::X86_64, elf::R_X86_64_64) => data(8, false, false),
            (Machine::X86_64, elf::R_X86_64_32) => data(4, false, false),
            (Machine::X86_64, elf::R_X86_64_32S) => data(4, false, true),
            (Machine::X86_64, elf::R_X86_64_PC64) => data(8, true, true),
            (
                Machine::X86_64,
                elf::R_X86_64_PC32
                | elf::R_X86_64_PLT32
                | elf::R_X86_64_GOTPCREL
                | elf::R_X86_64_GOTPCRELX
                | elf::R_X86_64_REX_GOTPCRELX,
            ) => data(4, true, true),
            (Machine::Aarch64, elf::R_AARCH64_ABS64) => data(8, false, false),
            (Machine::Aarch64, elf::R_AARCH64_PREL64) => data(8, true, true),
            (Machine::Aarch64, elf::R_AARCH64_PREL32) => data(4, true, true),
            (Machine::Aarch64, elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26) => Some(Field::Branch26),
            (Machine::Aarch64, elf::R_AARCH64_ADR_PREL_PG_HI21 | elf::R_AARCH64_ADR_GOT_PAGE) => {
                Some(Field::Page21)
            }
            (Machine::Aarch64, elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC) => {
                Some(Field::Low12 { scale: 0 })
            }
            (Machine::Aarch64, elf::R_AARCH64_LDST16_ABS_LO12_NC) => Some(Field::Low12 { scale: 1 }),
            (Machine::Aarch64, elf::R_AARCH64_LDST32_ABS_LO12_NC) => Some(Field::Low12 { scale: 2 }),
            (Machine::Aarch64, elf::R_AARCH64_LDST64_ABS_LO12_NC | elf::R_AARCH64_LD64_GOT_LO12_NC) => {
                Some(Field::Low12 { scale: 3 })
            }
            (Machine::Aarch64, elf::R_AARCH64_LDST128_ABS_LO12_NC) => Some(Field::Low12 { scale: 4 }),
            _ => None,
        }
    }

    /// How many bytes a relocation changes; `None` when the type is not supported.
    pub(super) fn field_bytes(self, kind: u32) -> Option<usize> {
        self.field(kind).map(|field| match field {
            Field::Data { bytes, .. } => bytes,
            Field::Branch26 | Field::Page21 | Field::Low12 { .. } => 4,
        })
    }

    /// Whether the relocation reaches its symbol through the global offset table.
    pub(super) fn uses_got(self, kind: u32) -> bool {
        matches!(
            (self, RelocationType(kind)),
            (Machine::X86_64, elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX)
                | (Machine::Aarch64, elf::R_AARCH64_ADR_GOT_PAGE | elf::R_AARCH64_LD64_GOT_LO12_NC)
        )
    }

    /// Whether the relocation reaches an external function through a stub: every type with a limited reach,
    /// and the low half of an address whose page comes from such a type.
    pub(super) fn uses_stub(self, kind: u32) -> bool {
        !self.uses_got(kind)
            && match self.field(kind) {
                Some(Field::Data { bytes, .. }) => bytes == 4,
                Some(Field::Branch26 | Field::Page21 | Field::Low12 { .. }) => true,
                None => false,
            }
    }

    /// Code that jumps to `address`, wherever it is placed on an 8-byte boundary.
    pub(super) fn stub(self, address: u64) -> [u8; 16] {
        let mut code = [0; 16];
        match self {
            // jmp *[rip + 2]; the address follows at offset 8.
            Machine::X86_64 => code[..6].copy_from_slice(&[0xff, 0x25, 2, 0, 0, 0]),
            Machine::Aarch64 => {
                // ldr x16, +8; br x16
                code[..4].copy_from_slice(&0x5800_0050u32.to_le_bytes());
                code[4..8].copy_from_slice(&0xd61f_0200u32.to_le_bytes());
            }
        }
        code[8..].copy_from_slice(&address.to_le_bytes());
        code
    }

    /// Applies one relocation. `field` has [`field_bytes`](Self::field_bytes) bytes and lies at `place`.
    pub(super) fn apply(
        self,
        kind: u32,
        field: &mut [u8],
        place: u64,
        target: u64,
        addend: i64,
    ) -> Result<(), LoadError> {
        let what = self.field(kind).ok_or(LoadError::Relocation { kind })?;
        let address = target.wrapping_add_signed(addend);
        let distance = address.wrapping_sub(place) as i64;
        let range = |value: i64| LoadError::RelocationRange { kind, value };
        match what {
            Field::Data { bytes: 8, relative, .. } => {
                let value = if relative { distance as u64 } else { address };
                field.copy_from_slice(&value.to_le_bytes());
            }
            Field::Data { relative, signed, .. } => {
                let value = if relative { distance } else { address as i64 };
                let bits = if signed {
                    i32::try_from(value).map(|v| v as u32).map_err(|_| range(value))?
                } else {
                    u32::try_from(value).map_err(|_| range(value))?
                };
                field.copy_from_slice(&bits.to_le_bytes());
            }
            Field::Branch26 => {
                if distance % 4 != 0 || !(-(1 << 27)..1 << 27).contains(&distance) {
                    return Err(range(distance));
                }
                let words = (distance >> 2) as u32 & 0x03ff_ffff;
                patch(field, 0x03ff_ffff, words);
            }
            Field::Page21 => {
                let pages = ((address & !0xfff).wrapping_sub(place & !0xfff) as i64) >> 12;
                if !(-(1 << 20)..1 << 20).contains(&pages) {
                    return Err(range(pages));
                }
                let pages = pages as u32;
                patch(field, 0x60ff_ffe0, (pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5);
            }
            Field::Low12 { scale } => {
                let low = address as u32 & 0xfff;
                if low & ((1 << scale) - 1) != 0 {
                    return Err(range(address as i64));
                }
                patch(field, 0x003f_fc00, (low >> scale) << 10);
            }
        }
        Ok(())
    }
}

/// Replaces the bits of `mask` in a little-endian instruction word.
fn patch(field: &mut [u8], mask: u32, bits: u32) {
    let word = u32::from_le_bytes([field[0], field[1], field[2], field[3]]);
    field.copy_from_slice(&((word & !mask) | bits).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: u64 = 0x4000_0000;

    fn apply(
        machine: Machine,
        kind: RelocationType,
        before: u32,
        target: u64,
        addend: i64,
    ) -> Result<u32, LoadError> {
        let mut field = before.to_le_bytes();
        machine.apply(kind.0, &mut field, PLACE, target, addend)?;
        Ok(u32::from_le_bytes(field))
    }

    /// Instruction words are those of the Arm manual: `bl`, `b`, `adrp x0`, `add x0, x0`, `ldr`.
    #[test]
    fn aarch64_fields() {
        let go = |kind, before, target| apply(Machine::Aarch64, kind, before, target, 0);
        assert_eq!(go(elf::R_AARCH64_CALL26, 0x9400_0000, PLACE + 0x1000), Ok(0x9400_0400));
        assert_eq!(go(elf::R_AARCH64_JUMP26, 0x1400_0000, PLACE - 4), Ok(0x17ff_ffff));
        // Three pages on: immlo 3, immhi 0. Minus one page: all ones.
        assert_eq!(go(elf::R_AARCH64_ADR_PREL_PG_HI21, 0x9000_0000, PLACE + 0x3abc), Ok(0xf000_0000));
        assert_eq!(go(elf::R_AARCH64_ADR_PREL_PG_HI21, 0x9000_0000, PLACE - 1), Ok(0xf0ff_ffe0));
        assert_eq!(go(elf::R_AARCH64_ADD_ABS_LO12_NC, 0x9100_0000, 0x7_7abc), Ok(0x912a_f000));
        assert_eq!(go(elf::R_AARCH64_LDST64_ABS_LO12_NC, 0xf940_0000, 0x7_7ab8), Ok(0xf945_5c00));
        assert_eq!(go(elf::R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc0_0000, 0x7_7ab0), Ok(0x3dc2_ac00));
        // Bits that were there before are replaced, not mixed.
        assert_eq!(go(elf::R_AARCH64_CALL26, 0x97ff_ffff, PLACE + 8), Ok(0x9400_0002));
    }

    #[test]
    fn aarch64_limits() {
        let fails = |kind, target| {
            matches!(apply(Machine::Aarch64, kind, 0, target, 0), Err(LoadError::RelocationRange { .. }))
        };
        assert!(fails(elf::R_AARCH64_CALL26, PLACE + 2));
        assert!(fails(elf::R_AARCH64_CALL26, PLACE + (1 << 27)));
        assert!(fails(elf::R_AARCH64_ADR_PREL_PG_HI21, PLACE + (1 << 33)));
        assert!(fails(elf::R_AARCH64_LDST64_ABS_LO12_NC, 0x7_7abc));
        assert!(apply(Machine::Aarch64, elf::R_AARCH64_CALL26, 0, PLACE - (1 << 27), 0).is_ok());
    }

    #[test]
    fn x86_fields_and_limits() {
        let go = |kind, target, addend| apply(Machine::X86_64, kind, 0, target, addend);
        assert_eq!(go(elf::R_X86_64_PC32, PLACE + 0x100, -4), Ok(0xfc));
        assert_eq!(go(elf::R_X86_64_PLT32, PLACE - 0x100, -4), Ok(0xffff_fefc));
        assert_eq!(go(elf::R_X86_64_32, 0xffff_ffff, 0), Ok(0xffff_ffff));
        assert!(matches!(go(elf::R_X86_64_32S, 0xffff_ffff, 0), Err(LoadError::RelocationRange { .. })));
        assert!(matches!(
            go(elf::R_X86_64_PC32, PLACE + (1 << 31), 0),
            Err(LoadError::RelocationRange { .. })
        ));
        let mut field = [0; 8];
        Machine::X86_64.apply(elf::R_X86_64_64.0, &mut field, PLACE, u64::MAX, 2).unwrap();
        assert_eq!(u64::from_le_bytes(field), 1);
    }

    #[test]
    fn other_types_are_unsupported() {
        assert_eq!(Machine::X86_64.field_bytes(elf::R_X86_64_TPOFF32.0), None);
        assert_eq!(Machine::Aarch64.field_bytes(elf::R_AARCH64_TLSDESC_CALL.0), None);
        assert_eq!(Machine::X86_64.field_bytes(u32::MAX), None);
    }
}
