//! The tool `recordings`: what there is in the folder, the newest first.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use memtrail_order::SortRows as _;
use memtrail_recording::family::Family;
use memtrail_recording::{DESCRIPTION_FILE, FileState, Recording, TRACE_FILE};
use serde::Serialize;

use super::folder::Folder;
use crate::answer::JsonAnswer;
use crate::error::Failure;
use crate::json::Versioned;
use crate::limit::Limit;
use crate::snapshot_file;

/// Folders below that are looked into.
const DEPTH: usize = 3;
/// Files and folders that are looked at, at most.
const MAX_ENTRIES: usize = 20_000;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Maximum number of recordings; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,
}

/// The answer.
#[derive(Serialize)]
struct Listed {
    recordings: Vec<Row>,
    left_out: usize,
    /// True if there are more files than were looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    incomplete: bool,
}

/// A recording, a family of them, or a file.
#[derive(Default, Serialize)]
struct Row {
    /// The path by which other tools take it.
    recording: String,
    /// `recording`, `family`, `snapshot` or `trace`.
    kind: &'static str,
    /// The file name of the program.
    program: Option<String>,
    pid: Option<u32>,
    runtime: Option<String>,
    /// When it began, as UTC.
    started: Option<String>,
    /// `running`, `ended` or `cut`.
    state: Option<&'static str>,
    heap_snapshots: Option<usize>,
    processes: Option<usize>,
    bytes: u64,
    problem: Option<String>,
    #[serde(skip)]
    started_unix_us: u64,
}

pub(super) fn json(folder: &Folder, args: &Args) -> Result<JsonAnswer, Failure> {
    let mut search = Search { folder, rows: Vec::new(), entries: 0 };
    search.look(Path::new("."), DEPTH);
    let Search { mut rows, entries, .. } = search;
    rows.sort_rows_by(|a, b| {
        b.started_unix_us.cmp(&a.started_unix_us).then_with(|| a.recording.cmp(&b.recording))
    });
    let left_out = rows.len().saturating_sub(args.limit.0);
    rows.truncate(args.limit.0);
    let found = Listed { recordings: rows, left_out, incomplete: entries > MAX_ENTRIES };
    let value = serde_json::to_value(Versioned::new(&found, None)).map_err(std::io::Error::from)?;
    Ok(JsonAnswer { value, problems: Vec::new() })
}

struct Search<'f> {
    folder: &'f Folder,
    rows: Vec<Row>,
    entries: usize,
}

impl Search<'_> {
    fn look(&mut self, path: &Path, depth: usize) {
        if may_be_recorded(path) {
            // Before anything is read: a pipe has no end, and what leads out of the folder is not there.
            if !self.folder.has(path) {
                return;
            }
            if let Some(row) = of_folder(path) {
                self.rows.push(row);
                return;
            }
        }
        let mut entries: Vec<PathBuf> =
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for entry in entries {
            self.entries += 1;
            let is_hidden =
                entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            let Ok(known) = fs::symlink_metadata(&entry) else { continue };
            if self.entries > MAX_ENTRIES || is_hidden || known.is_symlink() {
                continue;
            }
            if known.is_dir() {
                if depth > 0 {
                    self.look(&entry, depth - 1);
                }
            } else if known.is_file() {
                self.rows.extend(of_file(&entry));
            }
        }
    }
}

/// True if a folder looks like a recording, or a family.
fn may_be_recorded(path: &Path) -> bool {
    let mut files = [DESCRIPTION_FILE, TRACE_FILE].iter().map(|name| path.join(name));
    is_named_family(path) || files.any(|file| fs::symlink_metadata(file).is_ok())
}

/// The row of a folder that is a recording, or a family.
fn of_folder(path: &Path) -> Option<Row> {
    if let Ok(recording) = Recording::open(path) {
        return Some(of_recording(path, &recording));
    }
    if !is_named_family(path) {
        return None;
    }
    let family = Family::open(path).ok().flatten()?;
    let first = family
        .members
        .iter()
        .find_map(|member| Some((member.program(), member.recording.as_ref().ok()?)));
    let snapshots = family.members.iter().filter(|member| member.has_snapshots()).count();
    let mut row = first.map(|(_, recording)| of_recording(path, recording)).unwrap_or_default();
    row.kind = "family";
    row.program = first.map(|(program, _)| program.to_owned());
    row.processes = Some(family.members.len());
    row.heap_snapshots = Some(snapshots);
    row.bytes = family.members.iter().map(|member| size(&path.join(&member.name))).sum();
    Some(row)
}

/// A folder in which several recordings were put by the user is looked into; that of `memtrail run --children` is one thing.
fn is_named_family(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "family")
}

fn of_recording(path: &Path, recording: &Recording) -> Row {
    let known = recording.description.as_ref();
    let program = known.and_then(|known| known.program.rsplit('/').next());
    let started = known.map(|known| known.clock.start_unix_us);
    Row {
        recording: shown(path),
        kind: "recording",
        program: program.map(ToOwned::to_owned),
        pid: known.map(|known| known.pid),
        runtime: known.map(|known| known.runtime.name()),
        started: started.and_then(time),
        state: known.map(|known| match known.trace.state {
            FileState::Growing => "running",
            FileState::Complete => "ended",
            FileState::Cut => "cut",
        }),
        heap_snapshots: Some(snapshot_file::of_recording(path).len()),
        bytes: size(path),
        problem: recording.problem.clone(),
        started_unix_us: started.unwrap_or_else(|| modified(path)),
        ..Row::default()
    }
}

/// The row of a heap snapshot, or of a trace, outside a recording.
fn of_file(path: &Path) -> Option<Row> {
    let extension = path.extension()?.to_str()?;
    let kind = match extension {
        "heap" if snapshot_file::is_snapshot(path) => "snapshot",
        "ctf" => "trace",
        _ => return None,
    };
    let started = modified(path);
    Some(Row {
        recording: shown(path),
        kind,
        started: time(started),
        bytes: size(path),
        started_unix_us: started,
        ..Row::default()
    })
}

fn shown(path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path);
    if path.as_os_str().is_empty() { ".".to_owned() } else { path.to_string_lossy().into_owned() }
}

fn time(unix_us: u64) -> Option<String> {
    let at = jiff::Timestamp::from_microsecond(i64::try_from(unix_us).ok()?).ok()?;
    Some(at.strftime("%FT%TZ").to_string())
}

fn modified(path: &Path) -> u64 {
    let modified = fs::metadata(path).and_then(|known| known.modified()).ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_micros() as u64)
}

/// Bytes of a file, or of the files in a folder.
fn size(path: &Path) -> u64 {
    let Ok(known) = fs::metadata(path) else { return 0 };
    if !known.is_dir() {
        return known.len();
    }
    let files = fs::read_dir(path).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).filter(Metadata::is_file).map(|f| f.len()).sum()
}
