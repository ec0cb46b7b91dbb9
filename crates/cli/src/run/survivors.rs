//! Which recorded processes run.

use std::path::Path;
use std::time::Duration;
use std::{fs, io, thread};

use memtrail_ptrace::Status;
use memtrail_recording::relay::RELAY_FILE;
use memtrail_recording::session::OPTIONS_FILE;
use memtrail_recording::{is_alive, started_at};

use super::process::nobody_else_has;

/// Looks at the list of processes, if it has none although somebody has the file.
const LOOKS: u32 = 5;

/// Processes, started at some time or later, that agents of this session are recording, or would:
/// they have its options mapped.
pub(super) fn survivors(session: &Path, begin: u64) -> Vec<u32> {
    let options = session.join(OPTIONS_FILE);
    // The list of processes may lack one that is forked while it is read, and its parent may be gone then: a daemon was missed.
    for _ in 0..LOOKS {
        if is_unused(&options) {
            break;
        }
        let found = having(&options, begin);
        if !found.is_empty() {
            return found;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Vec::new()
}

/// Processes, started at some time or later, that the agent was loaded into: those of other languages, too, which
/// may start some that are recorded.
pub(super) fn loaded(session: &Path, begin: u64) -> Vec<u32> {
    let ours = std::process::id();
    having(&session.join(RELAY_FILE), begin).into_iter().filter(|&pid| pid != ours).collect()
}

/// Processes that have a file mapped.
fn having(file: &Path, begin: u64) -> Vec<u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        // Their mappings are long, and there may be thousands of processes.
        .filter(|&pid| started_at(pid).is_some_and(|started| started >= begin))
        .filter(|&pid| has(file, pid) && is_alive(pid))
        .collect()
}

/// True if a process has a file mapped.
fn has(file: &Path, pid: u32) -> bool {
    let Some(file) = file.to_str() else { return false };
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.lines().any(|line| line.ends_with(file))
}

/// True if no process has a file open or mapped, as far as the system tells: that takes as long with thousands of processes.
fn is_unused(file: &Path) -> bool {
    fs::File::open(file).is_ok_and(|file| nobody_else_has(&file) == Some(true))
}

/// True if a process has the options of this session mapped.
pub(super) fn is_one(session: &Path, pid: u32) -> bool {
    has(&session.join(OPTIONS_FILE), pid)
}

/// The survivors that are no frozen copies, which write snapshots. Each is named by the number that it has for itself.
pub(super) fn programs(session: &Path, begin: u64) -> Vec<u32> {
    let all = survivors(session, begin).into_iter().filter(|&pid| is_program(pid));
    all.map(|pid| own_number(pid).unwrap_or(pid)).collect()
}

/// True for a process that runs and is no frozen copy that an agent made of its process. Such a copy blocks all signals from
/// its first moment on, also the two that libc keeps for itself and lets no program block. In the middle of a fork a program
/// does the same: a copy then gives itself its name, and a program takes its signals again.
fn is_program(pid: u32) -> bool {
    const NEVER_BLOCKED: u64 = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1);
    const COPY: &str = "memtrail\n";
    const MOMENTS: u32 = 1000;
    for _ in 0..MOMENTS {
        match Status::of_process(pid) {
            Ok(status) if !status.has_ended() => {
                if status.blocked != !NEVER_BLOCKED {
                    return true;
                }
            }
            _ => return false,
        }
        if fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == COPY) {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    true
}

/// The same, by the number that each has for itself: in a pid namespace of its own, as of a container, that is another one.
pub(super) fn own_numbers(session: &Path, begin: u64) -> Vec<u32> {
    survivors(session, begin).into_iter().map(|pid| own_number(pid).unwrap_or(pid)).collect()
}

/// Whether a process may be one of them that this one is not allowed to look into: it runs, and started then or later.
pub(super) fn may_be_one(pid: u32, begin: u64) -> bool {
    let maps = fs::File::open(format!("/proc/{pid}/maps"));
    maps.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
        && is_alive(pid)
        && started_at(pid).is_some_and(|started| started >= begin)
}

/// The last of the numbers in `NSpid` (`proc(5)`).
fn own_number(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_knows_its_number() {
        assert_eq!(super::own_number(std::process::id()), Some(std::process::id()));
        assert_eq!(super::own_number(u32::MAX), None);
    }

    // All of `/proc` was read at the end of each run: 13 µs a process of the machine.
    #[test]
    fn a_file_that_nobody_has_is_told_without_looking_at_processes() {
        let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
        let path = folder.path().join("options.json");
        std::fs::write(&path, "{}").expect("written");
        assert!(super::is_unused(&path));
        let mapped = memtrail_map::MappedFile::open(&path).expect("mapped");
        assert!(!super::is_unused(&path));
        drop(mapped);
        assert!(super::is_unused(&path));
        std::fs::remove_file(&path).expect("removed");
        assert!(!super::is_unused(&path), "nothing is known of a file that is gone");
    }

    #[test]
    fn what_can_be_looked_into_is_not_guessed() {
        assert!(!super::may_be_one(std::process::id(), 0));
        assert!(!super::may_be_one(u32::MAX, 0));
    }
}
