//! Opens and updates recording folders.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::description::{Description, FORMAT, FileState, TRACE_FILE};
use crate::process::{is_alive, is_this_host};
use crate::rates::RATES_FILE;
use crate::threads::THREADS_FILE;

/// Name of the description inside a recording.
pub const DESCRIPTION_FILE: &str = "recording.json";
/// Who makes a file of this name in a recording asks its process for a snapshot.
pub const REQUEST_FILE: &str = "request";

/// The number of a snapshot, by its name.
pub fn number_of_snapshot(name: &str) -> Option<u64> {
    name.strip_suffix(".heap")?.parse().ok()
}

/// The number of a snapshot that is being written, by its name.
pub fn number_of_unfinished_snapshot(name: &str) -> Option<u64> {
    name.strip_prefix('.')?.strip_suffix(".heap.part")?.parse().ok()
}

/// Name of a snapshot inside a recording.
pub fn snapshot_name(number: u64) -> String {
    format!("{number:04}.heap")
}

/// Its name while it is being written.
pub fn unfinished_snapshot_name(number: u64) -> String {
    unfinished_name(&snapshot_name(number))
}

/// Name of a file of a snapshot while it is being written.
pub fn unfinished_name(name: &str) -> String {
    format!(".{name}.part")
}

/// Removes a snapshot from a recording: its file, and those of the same name beside it (its references, its index).
///
/// # Errors
/// The file of the snapshot cannot be removed.
pub fn drop_snapshot(folder: &Path, number: u64) -> std::io::Result<()> {
    let name = snapshot_name(number);
    fs::remove_file(folder.join(&name))?;
    let stem = name.strip_suffix("heap").unwrap_or(&name);
    for entry in fs::read_dir(folder)?.flatten() {
        let is_of_it = entry.file_name().to_str().is_some_and(|other| other.starts_with(stem));
        if is_of_it {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

/// Why a recording cannot be opened or updated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A folder without a description or a trace.
    #[error("{} is a folder, but not a recording: it has neither {DESCRIPTION_FILE} nor {TRACE_FILE}", path.display())]
    NotARecording {
        /// The folder.
        path: PathBuf,
    },
    /// `recording.json` does not parse.
    #[error("malformed {} at line {}, column {}: {source}", path.display(), source.line(), source.column())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The parser's reason.
        source: serde_json::Error,
    },
    /// Written by a later memtrail.
    #[error("{} has format {found}, this memtrail reads up to {FORMAT}", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
}

/// Time without a byte after which a recording is not written any more, if its process is gone: a launcher makes it whole sooner.
const ABANDONED: Duration = Duration::from_secs(30);

/// A recording on disk, or a bare trace taken as one.
#[derive(Debug)]
pub struct Recording {
    /// The folder or file that was named.
    pub path: PathBuf,
    /// Its allocation trace.
    pub trace: PathBuf,
    /// The list of the rates at which blocks were sampled; there may be none.
    pub rates: PathBuf,
    /// The list of threads; there may be none.
    pub threads: PathBuf,
    /// Its description; a bare trace has none.
    pub description: Option<Description>,
    /// Why it has none, although there is a file for it: what that says is unknown.
    pub problem: Option<String>,
}

impl Recording {
    /// Opens a recording folder, or a bare `.ctf` file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let io = |action, path: &Path| {
            let path = path.to_path_buf();
            move |source| Error::Io { action, path, source }
        };
        let meta = fs::metadata(path).map_err(io("open", path))?;
        if !meta.is_dir() {
            return Ok(Self {
                path: path.to_path_buf(),
                trace: path.to_path_buf(),
                rates: path.join(RATES_FILE),
                threads: path.join(THREADS_FILE),
                description: None,
                problem: None,
            });
        }
        let trace = path.join(TRACE_FILE);
        let file = path.join(DESCRIPTION_FILE);
        let description = match fs::read(&file) {
            Ok(text) => parse(&file, &text).map(Some),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(io("read", &file)(e)),
        };
        let has_trace = trace.exists();
        // A trace says most by itself.
        let (description, problem) = match description {
            Ok(None) if !has_trace => {
                return Err(Error::NotARecording { path: path.to_path_buf() });
            }
            Ok(description) => (description.map(|it| as_it_is_now(it, &[&trace, &file])), None),
            Err(error) if has_trace => (None, Some(error.to_string())),
            Err(error) => return Err(error),
        };
        let (rates, threads) = (path.join(RATES_FILE), path.join(THREADS_FILE));
        Ok(Self { path: path.to_path_buf(), trace, rates, threads, description, problem })
    }

    /// Whether it stands for several recordings: its trace is elsewhere, as one that was merged.
    pub fn is_merged(&self) -> bool {
        !self.trace.starts_with(&self.path)
    }
}

/// Corrects a description of a process that writes no more: it is gone from this machine, and so is its launcher, as nobody has
/// written for a while.
fn as_it_is_now(mut description: Description, files: &[&Path]) -> Description {
    let age = |file: &&Path| fs::metadata(file).ok()?.modified().ok()?.elapsed().ok();
    if description.trace.state == FileState::Growing
        && is_this_host(&description.host)
        && !is_alive(description.pid)
        && files.iter().filter_map(age).min().is_some_and(|age| age > ABANDONED)
    {
        description.trace.state = FileState::Cut;
    }
    description
}

fn parse(file: &Path, text: &[u8]) -> Result<Description, Error> {
    #[derive(serde::Deserialize)]
    struct Version {
        format: u32,
    }
    let malformed = |source| Error::Malformed { path: file.to_path_buf(), source };
    let Version { format } = serde_json::from_slice(text).map_err(malformed)?;
    if format > FORMAT {
        return Err(Error::TooNew { path: file.to_path_buf(), found: format });
    }
    serde_json::from_slice(text).map_err(malformed)
}

impl Description {
    /// The text of `recording.json`.
    pub fn to_json(&self) -> Vec<u8> {
        // Maps with keys that are no strings could fail; there are none.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// Replaces `recording.json` in `folder` as a whole.
    pub fn save(&self, folder: &Path) -> Result<(), Error> {
        let file = folder.join(DESCRIPTION_FILE);
        let text = self.to_json();
        replace(folder, &file, &text)
            .or_else(|error| {
                use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
                match error.kind() {
                    StorageFull | QuotaExceeded | FileTooLarge => overwrite(&file, &text),
                    _ => Err(error),
                }
            })
            .map_err(|source| Error::Io { action: "write", path: file.clone(), source })
    }
}

fn replace(folder: &Path, file: &Path, text: &[u8]) -> std::io::Result<()> {
    let fresh = folder.join(".recording.json.new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let replaced = options
        .open(&fresh)
        .and_then(|mut open| open.write_all(text))
        .and_then(|()| fs::rename(&fresh, file));
    if replaced.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    replaced
}

/// On a full disk: the room that the file has already is enough, as long as no block is added.
fn overwrite(file: &Path, text: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};
    let open = fs::OpenOptions::new().write(true).open(file)?;
    if open.metadata()?.blocks() * 512 < text.len() as u64 {
        return Err(std::io::ErrorKind::StorageFull.into());
    }
    open.write_all_at(text, 0)?;
    open.set_len(text.len() as u64)
}

/// The default name of the folder of a family's recordings; `launcher` is the process id of `memtrail run`.
pub fn family_name(program: &str, launcher: u32) -> String {
    format!("{}-{launcher}.family", as_file_name(program))
}

fn as_file_name(program: &str) -> String {
    program.chars().map(|c| if c == '/' || c.is_control() { '_' } else { c }).take(80).collect()
}

/// The default name of a recording; `again` counts further images of one process (after `exec`).
pub fn folder_name(program: &str, pid: u32, again: u32) -> String {
    let program = as_file_name(program);
    match again {
        0 => format!("{program}-{pid}.memtrail"),
        n => format!("{program}-{pid}-{}.memtrail", n + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::{
        Clock, Outcome, RecordedRuntime, Sampling, Snapshot, SnapshotOutcome, TraceFile,
    };
    use memtrail_heap::SnapshotReason;

    fn sample() -> Description {
        Description {
            format: FORMAT,
            memtrail: "0.1.0".into(),
            program: "/usr/bin/coqc".into(),
            arguments: vec!["coqc".into(), "theory.v".into()],
            pid: 4711,
            forked_from: None,
            ancestors: vec![4700],
            host: "box".into(),
            runtime: RecordedRuntime {
                language: "OCaml".into(),
                version: "4.13".into(),
                word_bits: 64,
                parameters: "v=0x0".into(),
            },
            sampling: Sampling {
                small_minor_heap: None,
                malloc_rate: None,
                impossible: None,
                rate: 1e-4,
                seed: 1,
                callstacks: "incremental".into(),
                callstack_depth: None,
                checked: None,
            },
            clock: Clock { start_unix_us: 1, start_monotonic_ns: 2 },
            ended_unix_us: Some(3),
            build_id: None,
            labels: [("service.version".to_owned(), "1.4".to_owned())].into(),
            context: Some("night".into()),
            disk: Some(1 << 30),
            shares_disk: false,
            attached: false,
            trace: TraceFile::growing(),
            snapshots: None,
            notes: Vec::new(),
            outcome: Some(Outcome::Killed { signal: 9 }),
        }
    }

    #[test]
    fn saved_descriptions_come_back() {
        let dir = tempfile::tempdir().unwrap();
        sample().save(dir.path()).unwrap();
        let back = Recording::open(dir.path()).unwrap();
        assert_eq!(back.description, Some(sample()));
        assert_eq!(back.trace, dir.path().join(TRACE_FILE));
    }

    /// Launcher and program were killed: it was "running" for good.
    #[test]
    fn a_recording_that_nobody_writes_any_more_is_cut() {
        let dir = tempfile::tempdir().unwrap();
        let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let state = |host: &str, pid: u32, age: Duration| {
            let description = Description { host: host.to_owned(), pid, ..sample() };
            description.save(dir.path()).unwrap();
            let file = fs::File::options().append(true).open(dir.path().join(DESCRIPTION_FILE));
            let then = std::time::SystemTime::now() - age;
            file.unwrap().set_modified(then).unwrap();
            Recording::open(dir.path()).unwrap().description.unwrap().trace.state
        };
        let (here, gone, old) = (name.trim(), u32::MAX, 2 * ABANDONED);
        assert_eq!(state(here, gone, old), FileState::Cut);
        assert_eq!(state(here, gone, Duration::ZERO), FileState::Growing, "its launcher may write");
        assert_eq!(state(here, std::process::id(), old), FileState::Growing);
        assert_eq!(state("elsewhere", gone, old), FileState::Growing);
    }

    #[test]
    fn a_description_that_cannot_be_read_does_not_hide_the_trace() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(TRACE_FILE), "a trace").unwrap();
        for text in ["", "{", "{\"format\": 1}", r#"{"format": 99}"#, "\u{0}\u{0}"] {
            fs::write(dir.path().join(DESCRIPTION_FILE), text).unwrap();
            let recording = Recording::open(dir.path()).unwrap();
            assert_eq!(recording.description, None, "{text}");
            let problem = recording.problem.expect("a problem");
            assert!(problem.contains(DESCRIPTION_FILE), "{problem}");
        }
        sample().save(dir.path()).unwrap();
        assert_eq!(Recording::open(dir.path()).unwrap().problem, None);
        fs::remove_file(dir.path().join(DESCRIPTION_FILE)).unwrap();
        assert_eq!(Recording::open(dir.path()).unwrap().problem, None);
    }

    #[test]
    fn later_formats_are_refused_by_number_whatever_else_they_hold() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(DESCRIPTION_FILE), r#"{"format": 99, "new": []}"#).unwrap();
        let error = Recording::open(dir.path()).unwrap_err();
        assert!(matches!(error, Error::TooNew { found: 99, .. }), "{error}");
    }

    /// Both of a failed snapshot's reasons once had the same name.
    #[test]
    fn failed_snapshots_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let snapshot = |number, outcome| Snapshot {
            number,
            file: snapshot_name(number),
            reason: SnapshotReason::Exit,
            label: None,
            taken_unix_us: 3,
            outcome,
        };
        let complete =
            SnapshotOutcome::Complete { pause_ns: 1, write_ns: 2, bytes: 3, blocks: 4, outside: 5 };
        let failed = SnapshotOutcome::Failed { reason: "no room".into() };
        let both = vec![snapshot(1, complete), snapshot(2, failed)];
        let description = Description { snapshots: Some(both), ..sample() };
        description.save(dir.path()).unwrap();
        let back = Recording::open(dir.path()).unwrap();
        assert_eq!(back.description, Some(description));
    }

    #[test]
    fn names_of_snapshots_tell_their_numbers() {
        for number in [1, 42, 123_456] {
            let (whole, part) = (snapshot_name(number), unfinished_snapshot_name(number));
            assert_eq!(number_of_snapshot(&whole), Some(number));
            assert_eq!(number_of_unfinished_snapshot(&part), Some(number));
            assert_eq!(number_of_snapshot(&part), None);
            assert_eq!(number_of_unfinished_snapshot(&whole), None);
        }
        assert_eq!(number_of_snapshot("trace.ctf"), None);
    }

    #[test]
    fn an_empty_folder_is_not_a_recording() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(Recording::open(dir.path()), Err(Error::NotARecording { .. })));
    }

    #[test]
    fn folder_names_stay_inside_the_folder() {
        assert_eq!(folder_name("coqc", 4711, 0), "coqc-4711.memtrail");
        assert_eq!(folder_name("../x", 1, 1), ".._x-1-2.memtrail");
    }
}
