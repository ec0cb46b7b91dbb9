//! The parts of an ELF file that tell how the kernel and the dynamic linker load it. Nothing is allocated.

use super::file::File;
use crate::os::objects::THIS_MACHINE;

/// Where the ELF header of 64 bits has what, one of its program headers, and an entry of the dynamic section (`elf.h`).
pub(super) const HEADER: usize = 64;
pub(super) const MAGIC: &[u8] = b"\x7fELF";
pub(super) const MACHINE: usize = 18;
const CLASS_AND_DATA: [u8; 2] = [2, 1];
const PROGRAM_HEADERS: usize = 32;
const PROGRAM_HEADER_SIZE: usize = 54;
const PROGRAM_HEADER_COUNT: usize = 56;
const PROGRAM_HEADER: usize = 56;
const NEEDED: u64 = 1;
const STRINGS: u64 = 5;
const ENTRY: usize = 16;

/// Libraries of a program that are looked at: what has to come first is among the first.
const MAX_NEEDED: usize = 64;

/// Program headers of a file.
pub(super) struct Elf<'a> {
    file: &'a File,
    table: u64,
    size: u16,
    count: u16,
}

/// One of them.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

impl<'a> Elf<'a> {
    /// `start`: the header's bytes. `None` if it is for another kind of machine.
    pub(super) fn new(file: &'a File, start: &[u8; HEADER]) -> Option<Self> {
        let is_here = start[4..6] == CLASS_AND_DATA && short(start, MACHINE) == THIS_MACHINE;
        is_here.then(|| Self {
            file,
            table: long(start, PROGRAM_HEADERS),
            size: short(start, PROGRAM_HEADER_SIZE),
            count: short(start, PROGRAM_HEADER_COUNT),
        })
    }

    fn segments(&self, wanted: u32) -> impl Iterator<Item = Segment> {
        (0..self.count)
            .map_while(|index| {
                let mut header = [0; PROGRAM_HEADER];
                let at = self.table.saturating_add(u64::from(index) * u64::from(self.size));
                (self.file.read(at, &mut header) == header.len()).then(|| Segment {
                    kind: u32::from_le_bytes([header[0], header[1], header[2], header[3]]),
                    offset: long(&header, 8),
                    address: long(&header, 16),
                    size: long(&header, 32),
                })
            })
            .filter(move |segment| segment.kind == wanted)
    }

    /// Whether something of it is loaded: the kernel would not start another file.
    pub(super) fn is_program(&self) -> bool {
        self.segments(libc::PT_LOAD).next().is_some()
    }

    /// The path of the dynamic linker, if there is one, in `into`.
    pub(super) fn linker<'b>(&self, into: &'b mut [u8]) -> Option<&'b [u8]> {
        let segment = self.segments(libc::PT_INTERP).next()?;
        let length = self.file.read(segment.offset, into);
        let length = length.min(usize::try_from(segment.size).unwrap_or(length));
        into[..length].split(|&byte| byte == 0).next()
    }

    /// Whether it is linked with a library whose name begins so.
    pub(super) fn needs(&self, name: &[u8]) -> bool {
        let Some(dynamic) = self.segments(libc::PT_DYNAMIC).next() else { return false };
        let Some(strings) = self.entries(&dynamic).find(|&(tag, _)| tag == STRINGS) else {
            return false;
        };
        let is_there = |segment: &Segment| {
            strings.1.checked_sub(segment.address).is_some_and(|offset| offset < segment.size)
        };
        let Some(loaded) = self.segments(libc::PT_LOAD).find(is_there) else { return false };
        let strings = loaded.offset.saturating_add(strings.1 - loaded.address);
        let mut needed = self.entries(&dynamic).filter(|&(tag, _)| tag == NEEDED).take(MAX_NEEDED);
        needed.any(|(_, offset)| {
            let mut begins = [0; 16];
            let length = self.file.read(strings.saturating_add(offset), &mut begins);
            begins[..length].starts_with(name)
        })
    }

    /// Tags and values of a dynamic section, up to its end.
    fn entries(&self, dynamic: &Segment) -> impl Iterator<Item = (u64, u64)> {
        let (offset, count) = (dynamic.offset, dynamic.size / ENTRY as u64);
        (0..count).map_while(move |index| {
            let mut entry = [0; ENTRY];
            let at = offset.saturating_add(index * ENTRY as u64);
            let is_whole = self.file.read(at, &mut entry) == ENTRY;
            (is_whole && long(&entry, 0) != 0).then(|| (long(&entry, 0), long(&entry, 8)))
        })
    }
}

fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let chunk = bytes.get(at..).and_then(|rest| rest.first_chunk());
    chunk.map_or(0, |&chunk| u64::from_le_bytes(chunk))
}
