//! Headers of a core file: parts of memory, and where they are in the file (`core(5)`, `elf(5)`).

use std::ops::Range;

use memtrail_ocaml::Address;
use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader as _, ProgramHeader as _};

use super::error::CoreError;
use super::notes::{MappedFile, Notes, Program, Thread};

/// Entry of the auxiliary vector: where the program was entered (`getauxval(3)`).
pub(super) const AT_ENTRY: u64 = 9;

/// A part of the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address of the first byte.
    pub start: Address,
    /// Bytes that the process had mapped.
    pub mapped: u64,
    /// Bytes that the writer of the file put into it: the first ones of those that were mapped.
    pub written: u64,
    /// Places of these bytes in the file; a truncated file has fewer.
    pub present: Range<usize>,
    /// The process could read it.
    pub is_readable: bool,
    /// The process could write it.
    pub is_writable: bool,
}

/// A core file, its headers read.
#[derive(Clone, Debug)]
pub struct CoreFile<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// Parts of the memory by address, without overlap.
    pub segments: Vec<Segment>,
    /// All threads; the one that the process died of comes first.
    pub threads: Vec<Thread>,
    /// Files that were mapped, in the order of their addresses.
    pub files: Vec<MappedFile>,
    /// The program, as far as the file names it.
    pub program: Program,
    /// The kernel's auxiliary vector: type and value of each entry (`getauxval(3)`).
    pub auxiliary: Vec<(u64, u64)>,
    /// Bytes of memory that were written, but lie behind the file's end.
    pub missing: u64,
}

impl<'a> CoreFile<'a> {
    /// Reads the headers of a core file.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, CoreError> {
        let header = header(bytes)?;
        let damaged = |offset, cause| CoreError::Damaged { offset, cause };
        let table = header.e_phoff.get(LittleEndian);
        let headers = header.program_headers(LittleEndian, bytes).map_err(|_| {
            let length = bytes.len() as u64;
            if table > length {
                CoreError::Truncated { length, offset: length, what: "its headers" }
            } else {
                damaged(table, "the table of program headers")
            }
        })?;
        let (mut segments, mut notes, mut missing) = (Vec::new(), Notes::default(), 0);
        for header in headers {
            let offset = header.p_offset(LittleEndian);
            let written = header.p_filesz(LittleEndian);
            match header.p_type(LittleEndian) {
                elf::PT_LOAD => {
                    let segment = segment(bytes, header)?;
                    missing += written - segment.present.len() as u64;
                    segments.push(segment);
                }
                elf::PT_NOTE => notes.read(bytes, offset, written)?,
                _ => {}
            }
        }
        segments.sort_by_key(|segment| segment.start);
        let mut end = 0;
        for segment in &segments {
            if segment.start < end {
                return Err(damaged(table, "segments overlap"));
            }
            end = segment.start.saturating_add(segment.mapped);
        }
        if notes.threads.is_empty() {
            return Err(damaged(table, "no thread is listed"));
        }
        notes.files.sort_by_key(|file| file.addresses.start);
        let Notes { threads, files, program, auxiliary } = notes;
        Ok(Self { bytes, segments, threads, files, program, auxiliary, missing })
    }

    /// The value of an entry of the auxiliary vector.
    pub fn auxiliary(&self, kind: u64) -> Option<u64> {
        self.auxiliary.iter().find(|(known, _)| *known == kind).map(|(_, value)| *value)
    }

    /// The mapping of the executable that the program's entry point is in.
    pub fn executable(&self) -> Option<&MappedFile> {
        let entry = self.auxiliary(AT_ENTRY)?;
        self.files.iter().find(|file| file.addresses.contains(&entry))
    }

    /// The first bytes of a file as the process had loaded them: mostly a page, with the ELF header and the build id.
    pub fn loaded_header(&self, path: &[u8]) -> Option<&'a [u8]> {
        let first = self.files.iter().find(|file| file.offset == 0 && file.path == path)?;
        let at = first.addresses.start;
        let next = self.segments.partition_point(|segment| segment.start <= at);
        let segment = self.segments.get(next.checked_sub(1)?)?;
        let offset = usize::try_from(at - segment.start).ok()?;
        let bytes = self.bytes.get(segment.present.clone())?.get(offset..)?;
        (!bytes.is_empty()).then_some(bytes)
    }
}

fn header(bytes: &[u8]) -> Result<&FileHeader64<LittleEndian>, CoreError> {
    if !bytes.starts_with(&elf::ELFMAG) {
        let first = bytes.get(..4).unwrap_or(bytes).to_vec();
        return Err(CoreError::NotElf { first });
    }
    if bytes.get(4) == Some(&elf::ELFCLASS32.0) {
        return Err(CoreError::Bits32);
    }
    let header = FileHeader64::<LittleEndian>::parse(bytes)
        .map_err(|_| CoreError::Damaged { offset: 0, cause: "the ELF header" })?;
    match header.e_type(LittleEndian) {
        elf::ET_CORE => {}
        elf::ET_EXEC | elf::ET_DYN => {
            return Err(CoreError::NotCore { what: "an executable or a library" });
        }
        _ => return Err(CoreError::NotCore { what: "an object file" }),
    }
    match header.e_machine(LittleEndian) {
        elf::EM_X86_64 => Ok(header),
        machine => Err(CoreError::OtherMachine { machine: machine.0 }),
    }
}

fn segment(
    bytes: &[u8],
    header: &elf::ProgramHeader64<LittleEndian>,
) -> Result<Segment, CoreError> {
    let (start, offset) = (header.p_vaddr(LittleEndian), header.p_offset(LittleEndian));
    let (mapped, written) = (header.p_memsz(LittleEndian), header.p_filesz(LittleEndian));
    let damaged = |cause| CoreError::Damaged { offset, cause };
    if start.checked_add(mapped).is_none() || offset.checked_add(written).is_none() {
        return Err(damaged("a segment ends behind the last address"));
    }
    if written > mapped {
        return Err(damaged("a segment has more bytes than were mapped"));
    }
    if written > 0 && !(start.is_multiple_of(8) && offset.is_multiple_of(8)) {
        return Err(CoreError::Unaligned { offset, address: start });
    }
    let length = bytes.len() as u64;
    let first = offset.min(length);
    let last = (offset + written).min(length);
    let flags = header.p_flags(LittleEndian);
    Ok(Segment {
        start,
        mapped,
        written,
        present: first as usize..last as usize,
        is_readable: flags.0 & elf::PF_R.0 != 0,
        is_writable: flags.0 & elf::PF_W.0 != 0,
    })
}
