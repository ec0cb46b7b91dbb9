//! Recordings of one process that was several programs, one after the other: launchers such as `env`, pyenv's and nvm's
//! become the program that does the work (`exec`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::description::{Description, Outcome};
use crate::folder::Recording;

/// Folder inside a recording for those of the programs that its process was before.
pub const PREDECESSORS: &str = "predecessors";

/// A process number may be given again: a program that begins so many microseconds after another one's end is of
/// another process.
const LATEST_START: u64 = 10_000_000;

/// Returns the recording of the last program with samples or snapshots that the process of a recording became. If no
/// later program has any, it is that of the last program. `None` if no later program was recorded.
pub fn successor(recording: &Recording) -> Option<Recording> {
    let own = recording.description.as_ref()?;
    if !has_become_another(own) {
        return None;
    }
    let mut later: Vec<(u64, Recording)> = candidates(&recording.path, own.pid)
        .into_iter()
        .filter_map(|path| Recording::open(&path).ok())
        .filter_map(|one| Some((one.description.as_ref()?.clock.start_unix_us, one)))
        .filter(|(start, one)| {
            let is_same = |other: &Description| other.pid == own.pid && other.host == own.host;
            *start > own.clock.start_unix_us && one.description.as_ref().is_some_and(is_same)
        })
        .collect();
    later.sort_by_key(|(start, _)| *start);
    let mut chain: Vec<Recording> = Vec::new();
    let mut before = own.clone();
    for (start, next) in later {
        let follows = before.ended_unix_us.is_none_or(|ended| start <= ended + LATEST_START);
        if !follows || !has_become_another(&before) {
            break;
        }
        let Some(description) = &next.description else { break };
        before = description.clone();
        chain.push(next);
    }
    let is_nothing =
        |one: &Recording| one.description.as_ref().is_none_or(Description::did_nothing);
    let last = chain.iter().rposition(|one| !is_nothing(one));
    let last = last.or_else(|| chain.len().checked_sub(1))?;
    Some(chain.swap_remove(last))
}

fn has_become_another(description: &Description) -> bool {
    description.outcome == Some(Outcome::Execed)
}

/// Folders that may be recordings of the same process: their names have its number. The recording of which a folder
/// holds the predecessors may have any name.
fn candidates(path: &Path, pid: u32) -> Vec<PathBuf> {
    let absolute = fs::canonicalize(path);
    let parent = match path.parent() {
        Some(parent) if path.file_name().is_some() => parent.to_path_buf(),
        _ => match absolute.as_ref().map(|path| path.parent()) {
            Ok(Some(parent)) => parent.to_path_buf(),
            _ => return Vec::new(),
        },
    };
    let is_predecessor = absolute.as_ref().is_ok_and(|path| {
        path.parent().and_then(Path::file_name).is_some_and(|name| name == PREDECESSORS)
    });
    let here = if parent.as_os_str().is_empty() { Path::new(".") } else { parent.as_path() };
    let number = format!("-{pid}");
    let entries = fs::read_dir(here).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().contains(&number))
        .map(|name| parent.join(name))
        .collect();
    if is_predecessor {
        let above = parent.parent().filter(|above| !above.as_os_str().is_empty());
        found.push(above.map_or_else(|| here.join(".."), Path::to_path_buf));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::DESCRIPTION_FILE;

    const SECOND: u64 = 1_000_000;

    /// Adds a recording of process 7 that began and ended then, in seconds.
    fn add(folder: &Path, name: &str, [began, ended]: [u64; 2], blocks: u64, execed: bool) {
        let outcome = if execed {
            serde_json::json!("execed")
        } else {
            serde_json::json!({ "exited": { "code": 0 } })
        };
        let description = serde_json::json!({
            "format": 1, "memtrail": "0", "program": "/bin/x", "arguments": [], "pid": 7,
            "host": "h",
            "runtime": { "language": "C", "version": "", "word_bits": 64, "parameters": "" },
            "sampling": { "rate": 1e-4, "callstacks": "incremental" },
            "clock": { "start_unix_us": began * SECOND, "start_monotonic_ns": 1 },
            "ended_unix_us": ended * SECOND,
            "outcome": outcome,
            "trace": {
                "file": "trace.ctf", "state": "complete", "bytes": 1, "blocks": blocks, "lost": 0
            }
        });
        let folder = folder.join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("trace.ctf"), "").unwrap();
        fs::write(folder.join(DESCRIPTION_FILE), description.to_string()).unwrap();
    }

    fn after(path: &Path) -> Option<String> {
        let recording = Recording::open(path).unwrap();
        assert_eq!(recording.problem, None);
        let next = successor(&recording)?.path.canonicalize().unwrap();
        Some(next.file_name().unwrap().to_str().unwrap().to_owned())
    }

    #[test]
    fn the_last_program_that_did_something_is_meant() {
        let dir = tempfile::tempdir().unwrap();
        let add = |name, times, blocks, execed| add(dir.path(), name, times, blocks, execed);
        add("a-7.memtrail", [1, 2], 0, true);
        add("b-7-2.memtrail", [2, 3], 5, true);
        add("c-7-3.memtrail", [3, 4], 9, true);
        add("d-7-4.memtrail", [4, 5], 0, false);
        // Another process, to which the system gave the same number.
        add("e-7-5.memtrail", [50, 60], 9, false);
        let after = |name: &str| after(&dir.path().join(name));
        assert_eq!(after("a-7.memtrail").as_deref(), Some("c-7-3.memtrail"));
        assert_eq!(after("b-7-2.memtrail").as_deref(), Some("c-7-3.memtrail"));
        assert_eq!(after("c-7-3.memtrail").as_deref(), Some("d-7-4.memtrail"));
        assert_eq!((after("d-7-4.memtrail"), after("e-7-5.memtrail")), (None, None));
    }

    #[test]
    fn predecessors_lead_to_the_recording_that_they_are_in() {
        let dir = tempfile::tempdir().unwrap();
        let named = dir.path().join("p");
        add(&named, "", [3, 4], 9, false);
        let inside = named.join(PREDECESSORS);
        add(&inside, "a-7.memtrail", [1, 2], 3, true);
        add(&inside, "b-7-2.memtrail", [2, 3], 3, true);
        assert_eq!(after(&inside.join("a-7.memtrail")).as_deref(), Some("p"));
        assert_eq!(after(&inside.join("b-7-2.memtrail")).as_deref(), Some("p"));
        assert_eq!(after(&named), None);
    }

    #[test]
    fn one_without_a_later_recording_has_no_successor() {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path(), "a-7.memtrail", [1, 2], 3, true);
        assert_eq!(after(&dir.path().join("a-7.memtrail")), None);
    }
}
