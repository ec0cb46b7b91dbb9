//! The memory of a frozen process, read into a file without a name: as a core file has it, with holes for pages of zeros.
//!
//! A file, and not memory of ours: the kernel can write its pages to the disk where memory is short, which it may be when
//! somebody looks for a leak.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use memtrail_map::MappedFile;
use memtrail_ocaml_snapshot::core_file::{
    CoreFile, MappedFile as FileMapping, Program, REGISTERS, Segment, Thread,
};
use memtrail_recording::mappings::Mapping;

use super::refusal;
use super::report::CopyReport;
use super::subject::Subject;
use crate::error::{Failure, Kind};

const PAGE: u64 = 4096;
/// Bytes that are read at once.
const CHUNK: u64 = 1 << 20;
/// Bits of an entry of the kernel's map of pages (`Documentation/admin-guide/mm/pagemap.rst`): present, swapped.
const HAS_CONTENT: u64 = 0b11 << 62;

/// The kernel adds this to the path of a file that has been removed.
const DELETED: &[u8] = b" (deleted)";

/// The memory of a process.
pub(super) struct Image {
    bytes: MappedFile,
    segments: Vec<Segment>,
    files: Vec<FileMapping>,
    threads: Vec<Thread>,
    program: Program,
    auxiliary: Vec<(u64, u64)>,
}

impl Image {
    /// Reads the memory of a process. The file is made beside the recording that `-o` names.
    pub(super) fn read(
        frozen: &CopyReport,
        subject: &Subject,
        output: Option<&Path>,
    ) -> Result<Self, Failure> {
        let (pid, copy) = (subject.pid, frozen.copy);
        let unseen = |error: io::Error| refusal::unseen(pid, &error);
        let text = fs::read(format!("/proc/{copy}/maps")).map_err(unseen)?;
        let memory = File::open(format!("/proc/{copy}/mem")).map_err(unseen)?;
        let pages = File::open(format!("/proc/{copy}/pagemap")).ok();
        let folder = output.and_then(Path::parent).filter(|path| !path.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let cannot = |error: io::Error| {
            let message = format_args!(
                "cannot keep the memory of process {pid} in {}: {error}",
                folder.display()
            );
            Failure::new(Kind::Work, message)
                .hint("it needs room for the process's memory; name a recording elsewhere: -o REC")
        };
        let into = tempfile::tempfile_in(folder).map_err(cannot)?;
        let mut copying = Copying { memory, pages, into, length: 0 };
        let (mut segments, mut files) = (Vec::new(), Vec::new());
        for line in text.split(|&byte| byte == b'\n') {
            let Some(mapping) = Mapping::parse(line) else { continue };
            let addresses = mapping.addresses.clone();
            let is_read = mapping.is_readable() && !mapping.is_shared() && !is_kernels(&mapping);
            let written = if is_read { mapping.size() } else { 0 };
            let start = copying.length as usize;
            if is_read {
                copying.add(&mapping).map_err(cannot)?;
            }
            segments.push(Segment {
                start: addresses.start,
                mapped: mapping.size(),
                written,
                present: start..start + written as usize,
                is_readable: mapping.is_readable(),
                is_writable: mapping.is_data(),
            });
            if mapping.is_file() {
                let path = mapping.path.strip_suffix(DELETED).unwrap_or(mapping.path).to_vec();
                files.push(FileMapping { addresses, offset: offset(line), path });
            }
        }
        copying.into.set_len(copying.length).map_err(cannot)?;
        let threads = frozen.threads.iter().filter_map(|thread| {
            let registers = thread.registers.first_chunk::<REGISTERS>().copied()?;
            Some(Thread { id: thread.id, signal: 0, registers })
        });
        let program = Program { pid, name: Vec::new(), arguments: subject.arguments.clone() };
        Ok(Self {
            bytes: MappedFile::of(&copying.into).map_err(cannot)?,
            segments,
            files,
            threads: threads.collect(),
            program,
            auxiliary: subject.auxiliary.clone(),
        })
    }

    /// The image as a core file.
    pub(super) fn core_file(&self) -> CoreFile<'_> {
        CoreFile {
            bytes: &self.bytes,
            segments: self.segments.clone(),
            threads: self.threads.clone(),
            files: self.files.clone(),
            program: self.program.clone(),
            auxiliary: self.auxiliary.clone(),
            missing: 0,
        }
    }
}

/// True for memory that the kernel lends to the process.
fn is_kernels(mapping: &Mapping<'_>) -> bool {
    mapping.path.starts_with(b"[v")
}

/// The byte of the file that a mapping begins with.
fn offset(line: &[u8]) -> u64 {
    let field = line.split(|&byte| byte == b' ').nth(2);
    let text = field.and_then(|field| str::from_utf8(field).ok());
    text.and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or(0)
}

/// A file that memory is copied into.
struct Copying {
    memory: File,
    /// The kernel's map of pages.
    pages: Option<File>,
    into: File,
    length: u64,
}

impl Copying {
    /// Copies a mapping to the end of the file.
    fn add(&mut self, mapping: &Mapping<'_>) -> io::Result<()> {
        let base = self.length;
        self.length += mapping.size();
        // Pages of a file that were not touched are not in the map, and have the file's content.
        let has_zeros = mapping.path.is_empty() || mapping.path.starts_with(b"[");
        let mut buffer = vec![0; CHUNK as usize];
        let mut at = mapping.addresses.start;
        while at < mapping.addresses.end {
            let bytes = (mapping.addresses.end - at).min(CHUNK);
            let place = base + (at - mapping.addresses.start);
            if !has_zeros || self.has_content(at, bytes) {
                self.add_chunk(&mut buffer, at, bytes, place)?;
            }
            at += bytes;
        }
        Ok(())
    }

    fn add_chunk(&self, buffer: &mut [u8], at: u64, bytes: u64, place: u64) -> io::Result<()> {
        let buffer = buffer.get_mut(..bytes as usize).unwrap_or_default();
        if self.memory.read_exact_at(buffer, at).is_ok() {
            return self.write(buffer, place);
        }
        // Memory behind the end of a file cannot be read.
        let mut page = [0; PAGE as usize];
        for offset in (0..bytes).step_by(PAGE as usize) {
            if self.memory.read_exact_at(&mut page, at + offset).is_ok() {
                self.write(&page, place + offset)?;
            }
        }
        Ok(())
    }

    /// Writes all but pages of zeros.
    fn write(&self, bytes: &[u8], place: u64) -> io::Result<()> {
        let is_zero = |page: &[u8]| page.iter().all(|&byte| byte == 0);
        let mut pages = bytes.chunks(PAGE as usize).zip((place..).step_by(PAGE as usize));
        let mut begin: Option<u64> = None;
        loop {
            let next = pages.next();
            let written = next.filter(|(page, _)| !is_zero(page));
            match (begin, written) {
                (None, Some((_, at))) => begin = Some(at),
                (Some(first), None) => {
                    let end = next.map_or(place + bytes.len() as u64, |(_, at)| at);
                    let range = (first - place) as usize..(end - place) as usize;
                    self.into.write_all_at(bytes.get(range).unwrap_or_default(), first)?;
                    begin = None;
                }
                _ => {}
            }
            if next.is_none() {
                return Ok(());
            }
        }
    }

    /// False if no page of anonymous memory was ever written.
    fn has_content(&self, at: u64, bytes: u64) -> bool {
        let Some(pages) = &self.pages else { return true };
        let mut entries = vec![0; (bytes / PAGE * 8) as usize];
        if pages.read_exact_at(&mut entries, at / PAGE * 8).is_err() {
            return true;
        }
        let entries = entries.chunks_exact(8).filter_map(|entry| entry.first_chunk().copied());
        entries.map(u64::from_le_bytes).any(|entry| entry & HAS_CONTENT != 0)
    }
}
