//! What is mapped in the process, as the kernel tells (`proc_pid_maps(5)`).

use std::ops::Range;

use memtrail_ocaml::heap::Extent;
use memtrail_recording::mappings;

/// The mappings of a process, by address.
#[derive(Clone, Debug)]
pub struct Mapped(Vec<Mapping>);

#[derive(Clone, Debug)]
struct Mapping {
    extent: Extent,
    is_readable: bool,
    /// Can be read and written.
    is_data: bool,
    /// The file's path; empty for memory without a file.
    file: Vec<u8>,
    /// Where the first mapping of this file is.
    base: u64,
}

impl Mapped {
    /// Reads the kernel's list of mappings.
    pub fn read(text: &[u8]) -> Self {
        let lines = text.split(|&byte| byte == b'\n').filter_map(mappings::Mapping::parse);
        Self::of(lines.map(|line| {
            // The kernel's own parts have names in brackets, which are no files.
            let path = (!line.path.is_empty()).then_some(line.path);
            (line.addresses.clone(), line.is_readable(), line.is_data(), path)
        }))
    }

    /// Mappings in the order of their addresses: the addresses, if they can be read, if they can be written as well, and
    /// the path of the file.
    pub fn of<'p>(
        mappings: impl Iterator<Item = (Range<u64>, bool, bool, Option<&'p [u8]>)>,
    ) -> Self {
        let mut all: Vec<Mapping> = Vec::new();
        for (Range { start, end }, is_readable, is_data, path) in mappings {
            let Some(extent) = Extent::between(start, end) else { continue };
            let is_file = path.is_some_and(|path| path.first() == Some(&b'/'));
            let file = match (is_file, all.last()) {
                (true, _) => path.unwrap_or_default().to_vec(),
                // The rest of a file's data, of which the file has only zeros.
                (false, Some(last))
                    if path.is_none() && last.extent.start + last.extent.bytes == extent.start =>
                {
                    last.file.clone()
                }
                _ => Vec::new(),
            };
            let known = all.iter().rev().take(8).find(|known| known.file == file);
            let base = known.map_or(extent.start, |known| known.base);
            all.push(Mapping { extent, is_readable, is_data, file, base });
        }
        Self(all)
    }

    fn at(&self, address: u64) -> Option<&Mapping> {
        let after = self.0.partition_point(|mapping| mapping.extent.start <= address);
        self.0.get(after.checked_sub(1)?).filter(|mapping| mapping.extent.contains(address))
    }

    /// True for an address that can be read and written.
    pub fn contains(&self, address: u64) -> bool {
        self.at(address).is_some_and(|mapping| mapping.is_data)
    }

    /// Whether all of these bytes can be read and written.
    pub(super) fn covers(&self, start: u64, bytes: u64) -> bool {
        let Some(end) = start.checked_add(bytes) else { return false };
        let mut at = start;
        while at < end {
            let Some(mapping) = self.at(at).filter(|mapping| mapping.is_data) else { return false };
            at = mapping.extent.start.saturating_add(mapping.extent.bytes);
        }
        true
    }

    /// The file that an address is in: its path, and where its first mapping is.
    pub(super) fn file(&self, address: u64) -> Option<(&[u8], u64)> {
        let mapping = self.at(address).filter(|mapping| !mapping.file.is_empty())?;
        Some((&mapping.file, mapping.base))
    }

    /// How many bytes can be read from an address on, at most to the end of its mapping.
    pub(super) fn readable(&self, address: u64) -> u64 {
        self.at(address).filter(|mapping| mapping.is_readable).map_or(0, |mapping| {
            mapping.extent.start.saturating_add(mapping.extent.bytes).saturating_sub(address)
        })
    }
}

/// A path's last part.
pub(super) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &[u8] = b"\
00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/prog with spaces
00651000-00652000 r--p 00051000 08:02 173521      /usr/bin/prog with spaces
00652000-00655000 rw-p 00052000 08:02 173521      /usr/bin/prog with spaces
00655000-00657000 rw-p 00000000 00:00 0 
00e03000-00e24000 rw-p 00000000 00:00 0           [heap]
not a mapping
00e24000-00e23000 rw-p 00000000 00:00 0 
7f0000000000-7f0000001000 ---p 00000000 00:00 0 
7f0000001000-7f0000003000 rw-p 00000000 00:00 0 
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]
";

    #[test]
    fn only_what_can_be_written_is_data() {
        let mapped = Mapped::read(MAPS);
        for (address, is_data) in [
            (0x0040_0000, false),
            (0x0065_1000, false),
            (0x0065_2000, true),
            (0x0065_6fff, true),
            (0x0065_7000, false),
            (0x00e0_3000, true),
            (0x7f00_0000_0000, false),
            (0x7f00_0000_1000, true),
            (0, false),
            (u64::MAX, false),
        ] {
            assert_eq!(mapped.contains(address), is_data, "{address:x}");
        }
    }

    #[test]
    fn a_range_may_span_mappings_but_no_gap() {
        let mapped = Mapped::read(MAPS);
        assert!(mapped.covers(0x0065_2000, 0x5000));
        assert!(!mapped.covers(0x0065_2000, 0x5001));
        assert!(!mapped.covers(0x0065_1fff, 2));
        assert!(!mapped.covers(u64::MAX - 1, 8));
        assert!(mapped.covers(0x0065_2000, 0));
    }

    #[test]
    fn an_address_has_a_file() {
        let mapped = Mapped::read(MAPS);
        let program: (&[u8], u64) = (b"/usr/bin/prog with spaces", 0x0040_0000);
        assert_eq!(mapped.file(0x0065_2010), Some(program));
        // The file's zeros follow its data.
        assert_eq!(mapped.file(0x0065_5008), Some(program));
        assert_eq!(mapped.file(0x7f00_0000_1000), None);
        assert_eq!(mapped.file(0x1234), None);
        assert_eq!(file_name(program.0), b"prog with spaces");
        assert_eq!((mapped.readable(0x0040_0010), mapped.readable(0x1234)), (0x5_1ff0, 0));
        assert_eq!(mapped.readable(0x7f00_0000_0010), 0);
    }
}
