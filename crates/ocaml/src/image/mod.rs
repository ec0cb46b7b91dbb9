//! What the file of an executable says that is not in memory: symbols of variables that are private to C
//! files, sections, and the lines of functions.
//!
//! Bytes are given by the caller and may be anything. Addresses are those of the file: what the linker
//! adds when it loads an object is the caller's to subtract.

mod lines;

use object::LittleEndian;
use object::elf::{FileHeader64, SHF_COMPRESSED, STB_LOCAL, STT_OBJECT};
use object::read::elf::{
    FileHeader as _, ProgramHeader as _, SectionHeader as _, SectionTable, Sym as _,
};

pub use lines::{Line, lines};

use crate::memory::Address;

type Header = FileHeader64<LittleEndian>;

/// An executable or a shared library.
#[derive(Debug)]
pub struct Image<'a> {
    bytes: &'a [u8],
    header: &'a Header,
    sections: SectionTable<'a, Header>,
}

/// A variable with a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable<'a> {
    /// Its first byte.
    pub address: Address,
    /// How many it has.
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
    fn section(&self, name: &[u8]) -> &'a [u8] {
        let found = self.sections.section_by_name(LittleEndian, name).map(|(_, section)| section);
        let plain =
            found.filter(|section| section.sh_flags(LittleEndian).0 & SHF_COMPRESSED.0 == 0);
        plain.and_then(|section| section.data(LittleEndian, self.bytes).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use proptest::prelude::*;

    use super::*;

    /// A variable that no other file sees.
    static PRIVATE_MARKER: AtomicU64 = AtomicU64::new(0x5EED);

    fn own() -> Vec<u8> {
        PRIVATE_MARKER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        std::fs::read(std::env::current_exe().expect("a path")).expect("readable")
    }

    #[test]
    fn a_file_tells_its_private_variables_and_their_sections() {
        let bytes = own();
        let image = Image::parse(&bytes).expect("an executable");
        let contains = |text: &[u8]| text.windows(14).any(|part| part == b"PRIVATE_MARKER");
        let marker = image.private_variables().find(|one| contains(one.name)).expect("the marker");
        assert_eq!(marker.size, 8);
        let (section, offset) = image.section_at(marker.address).expect("a section");
        assert!(section.starts_with(b".data") && offset < 1 << 30, "{section:?}");
        assert_eq!(image.section_at(u64::MAX), None);
        assert_eq!(image.first_address(), Some(0));
    }

    #[test]
    fn a_file_tells_lines_of_code() {
        let bytes = own();
        let image = Image::parse(&bytes).expect("an executable");
        let (_, text) = image.sections.section_by_name(LittleEndian, b".text").expect("code");
        let start = text.sh_addr(LittleEndian);
        let half = start + text.sh_size(LittleEndian) / 2;
        let end = start + text.sh_size(LittleEndian);
        let mut found = [0, 0];
        let mut own_file = false;
        lines(&image, &[start..half, half..end], |place, _, line| {
            found[place] += 1;
            own_file |= line.file.ends_with(b"mod.rs") && line.folder.ends_with(b"image");
        });
        assert!(found[0] > 100 && found[1] > 100 && own_file, "{found:?}, {own_file}");
    }

    #[test]
    fn what_is_no_file_is_none() {
        assert!(Image::parse(b"").is_none());
        assert!(Image::parse(b"\x7fELF and then nothing").is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn damaged_files_are_survived(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
            cut in any::<prop::sample::Index>(), is_cut: bool,
        ) {
            let mut bytes = own();
            for (at, byte) in changes {
                // The header and the sections' table are where most follows from.
                let places = bytes.len();
                let at = at.index(places);
                let near = if at % 2 == 0 { at % 4096 } else { places - 1 - at % 4096 };
                bytes[near] = byte;
            }
            if is_cut {
                let length = cut.index(bytes.len());
                bytes.truncate(length);
            }
            crate::fuzz::image(&bytes);
        }
    }
}
