//! Tells if a snapshot of a process that memtrail did not start would be taken. Nothing is stopped for it.

use std::fs;
use std::path::Path;

use crate::error::Failure;

/// Bytes of a page of memory.
const PAGE: u64 = 4096;

/// Checks that processes of the user may be traced on this machine.
#[cfg(target_arch = "x86_64")]
pub(crate) fn check_machine() -> Result<(), Failure> {
    super::live::check_permission()
}

/// Checks that the heap of a program can be found in its processes.
#[cfg(target_arch = "x86_64")]
pub(crate) fn check_program(file: &Path) -> Result<(), Failure> {
    super::live::check_program(file)
}

/// Checks that a snapshot of a process can be taken. The answer is a restriction, if there is one.
#[cfg(target_arch = "x86_64")]
pub(crate) fn check_process(pid: u32) -> Result<Option<String>, Failure> {
    if let super::find::Found::Recorded(target) = super::find::target(Path::new(&pid.to_string()))?
    {
        return match super::request::snapshots(&target.folder)? {
            Some(_) => Ok(None),
            None => Err(super::request::takes_no_requests(pid, &target.folder)),
        };
    }
    super::live::check_process(pid)?;
    let resident = resident(pid).unwrap_or(0);
    let available = available();
    Ok(available.filter(|&available| available < resident).map(|available| {
        let size = |size: u64| memtrail_text::rounded::bytes(size as f64);
        format!(
            "the process has {} of resident memory, and {} are available: a process that writes while its copy is \
             read may run out of memory",
            size(resident),
            size(available)
        )
    }))
}

/// Resident memory of a process in bytes.
pub(crate) fn resident(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    Some(text.split(' ').nth(1)?.parse::<u64>().ok()? * PAGE)
}

fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

#[cfg(not(target_arch = "x86_64"))]
mod other_processors {
    use super::{Failure, Path};
    use crate::error::Kind;

    fn unsupported() -> Failure {
        Failure::new(Kind::Input, "heaps of processes are read on x86-64 alone")
            .hint("start the program with: memtrail run -- PROGRAM")
    }

    pub(crate) fn check_machine() -> Result<(), Failure> {
        Err(unsupported())
    }

    pub(crate) fn check_program(_: &Path) -> Result<(), Failure> {
        Err(unsupported())
    }

    pub(crate) fn check_process(_: u32) -> Result<Option<String>, Failure> {
        Err(unsupported())
    }
}
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use other_processors::{check_machine, check_process, check_program};
