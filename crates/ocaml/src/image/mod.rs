//! What the file of an executable says that is not in memory: symbols of variables that are private to C
//! files, sections, and the lines of functions.
//!
//! Bytes are given by the caller and may be anything. Addresses are those of the file: what the linker
//! adds when it loads an object is the caller's to subtract.

mod elf;
mod lines;

pub use elf::{Image, Variable};
pub use lines::{Line, lines};

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use object::LittleEndian;
    use object::read::elf::SectionHeader as _;
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
