//! Sections, segments and symbols of an ELF file.

use object::LittleEndian;
use object::elf::{FileHeader64, SHF_COMPRESSED, STB_LOCAL, STT_OBJECT};
use object::read::elf::{
    FileHeader as _, ProgramHeader as _, SectionHeader as _, SectionTable, Sym as _,
};

use crate::memory::Address;

type Header = FileHeader64<LittleEndian>;

/// An executable or a shared library.
#[derive(Debug)]
pub struct Image<'a> {
    bytes: &'a [u8],
    header: &'a Header,
    pub(super) sections: SectionTable<'a, Header>,
}

/// A variable with a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable<'a> {
    /// Its first byte.
    pub address: Address,
    /// Its size in bytes.
    pub size: u64,
    /// The symbol.
    pub name: &'a [u8],
}

impl<'a> Image<'a> {
    /// A file; `None` if it is none that can be read.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let header = Header::parse(bytes).ok()?;
        let sections = header.sections(LittleEndian, bytes).ok()?;
        Some(Self { bytes, header, sections })
    }

    /// The address of the file's first byte, as far as whole pages are loaded.
    pub fn first_address(&self) -> Option<Address> {
        let segments = self.header.program_headers(LittleEndian, self.bytes).ok()?;
        let loaded = |segment: &&object::elf::ProgramHeader64<LittleEndian>| {
            segment.p_type(LittleEndian) == object::elf::PT_LOAD
        };
        let first = segments.iter().find(loaded)?;
        first.p_vaddr(LittleEndian).checked_sub(first.p_offset(LittleEndian))
    }

    /// Variables that are private to their C file, in no order. A stripped file has none.
    pub fn private_variables(&self) -> impl Iterator<Item = Variable<'a>> {
        let table = self.sections.symbols(LittleEndian, self.bytes, object::elf::SHT_SYMTAB).ok();
        let strings = table.as_ref().map(object::read::elf::SymbolTable::strings);
        table.map_or(&[][..], |table| table.symbols()).iter().filter_map(move |symbol| {
            let size = symbol.st_size(LittleEndian);
            if symbol.st_bind() != STB_LOCAL || symbol.st_type() != STT_OBJECT || size == 0 {
                return None;
            }
            let name = symbol.name(LittleEndian, strings?).ok()?;
            Some(Variable { address: symbol.st_value(LittleEndian), size, name })
        })
    }

    /// The section that an address is in, by name, and how far into it.
    pub fn section_at(&self, address: Address) -> Option<(&'a [u8], u64)> {
        self.sections.iter().find_map(|section| {
            let start = section.sh_addr(LittleEndian);
            let offset = address.checked_sub(start)?;
            if start == 0 || offset >= section.sh_size(LittleEndian) {
                return None;
            }
            Some((self.sections.section_name(LittleEndian, section).ok()?, offset))
        })
    }

    /// The bytes of a section; nothing if it is not there or compressed.
    pub(super) fn section(&self, name: &[u8]) -> &'a [u8] {
        let found = self.sections.section_by_name(LittleEndian, name).map(|(_, section)| section);
        let plain =
            found.filter(|section| section.sh_flags(LittleEndian).0 & SHF_COMPRESSED.0 == 0);
        plain.and_then(|section| section.data(LittleEndian, self.bytes).ok()).unwrap_or_default()
    }
}
