//! The process that is to be copied, as far as it can be looked at while it runs.

use std::fs;
use std::io;

use memtrail_map::MappedFile;
use memtrail_recording::{is_alive, started_at};

use super::refusal;
use crate::error::{Failure, Kind};

/// Entry of the auxiliary vector: where the program was entered (`getauxval(3)`).
const AT_ENTRY: u64 = 9;
/// The byte of an ELF file that says how wide its addresses are, and the value for 32 bits.
const ELF_CLASS: usize = 4;
const ELF_CLASS_32: u8 = 1;
/// Microseconds of the unit in which the kernel counts the age of processes (`sysconf(_SC_CLK_TCK)` is 100 everywhere).
const TICK_US: u64 = 10_000;

/// A process that runs.
pub(super) struct Subject {
    pub(super) pid: u32,
    pub(super) executable: MappedFile,
    pub(super) entry: u64,
    /// When it began, in microseconds since 1970, to about a second.
    pub(super) began_unix_us: Option<u64>,
    pub(super) auxiliary: Vec<(u64, u64)>,
    pub(super) arguments: Vec<u8>,
}

impl Subject {
    /// Finds a process, and refuses those that no heap can be read of.
    pub(super) fn find(pid: u32) -> Result<Self, Failure> {
        let refuse = |error: io::Error| refusal::unseen(pid, &error);
        let executable = MappedFile::open(format!("/proc/{pid}/exe").as_ref()).map_err(refuse)?;
        if executable.get(ELF_CLASS) == Some(&ELF_CLASS_32) {
            let message = format_args!("process {pid} is of a 32-bit program");
            return Err(Failure::new(Kind::Input, message)
                .hint("memtrail reads the heaps of 64-bit programs for x86-64"));
        }
        let auxiliary = auxiliary(&fs::read(format!("/proc/{pid}/auxv")).map_err(refuse)?);
        let entry = auxiliary.iter().find(|(kind, _)| *kind == AT_ENTRY);
        let entry = entry.map_or(0, |(_, value)| *value);
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).map_err(refuse)?;
        if entry == 0 || !is_alive(pid) {
            return Err(refusal::no_process(pid));
        }
        let began_unix_us = began(pid);
        Ok(Self { pid, executable, entry, began_unix_us, auxiliary, arguments })
    }
}

/// Type and value of each entry of the kernel's auxiliary vector.
fn auxiliary(bytes: &[u8]) -> Vec<(u64, u64)> {
    let word = |bytes: &[u8]| bytes.first_chunk().copied().map(u64::from_le_bytes);
    let entries = bytes.chunks_exact(16);
    entries.filter_map(|entry| Some((word(entry)?, word(entry.get(8..)?)?))).collect()
}

fn began(pid: u32) -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let boot: u64 = text.lines().find_map(|line| line.strip_prefix("btime "))?.parse().ok()?;
    Some(boot * 1_000_000 + started_at(pid)? * TICK_US)
}
