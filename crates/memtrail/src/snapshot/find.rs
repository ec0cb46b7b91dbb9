//! The process that a user means, and its recording.

use std::fs;
use std::path::{Path, PathBuf};

use memtrail_recording::{Recording, TRACE_FILE};

use crate::error::{Failure, Kind};

/// A process that is recorded.
pub(super) struct Target {
    pub(super) pid: u32,
    pub(super) folder: PathBuf,
}

/// The process that a number or a recording names.
pub(super) fn target(named: &Path) -> Result<Target, Failure> {
    match named.to_str().and_then(|text| text.parse().ok()) {
        Some(pid) if !named.exists() => of_process(pid),
        _ => of_recording(named),
    }
}

fn of_recording(folder: &Path) -> Result<Target, Failure> {
    let described = Recording::open(folder)?.description;
    let Some(description) = described else {
        let message = format_args!("{} is a trace, not a recording", folder.display());
        return Err(Failure::new(Kind::Input, message).hint("name the process or its recording"));
    };
    let pid = description.pid;
    if description.outcome.is_some() || !is_alive(pid) {
        return Err(Failure::new(Kind::Input, format_args!("process {pid} has ended")));
    }
    Ok(Target { pid, folder: folder.to_path_buf() })
}

/// By the trace that the process has open; of `memtrail run`, that of the program it started.
fn of_process(pid: u32) -> Result<Target, Failure> {
    if !is_alive(pid) {
        return Err(Failure::new(Kind::Input, format_args!("there is no process {pid}")));
    }
    for pid in [pid].into_iter().chain(children(pid)) {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).map_err(|error| {
            Failure::new(Kind::Input, format_args!("cannot look into process {pid}: {error}"))
        })?;
        let trace = open
            .flatten()
            .filter_map(|entry| fs::read_link(entry.path()).ok())
            .find(|path| path.file_name().is_some_and(|name| name == TRACE_FILE));
        if let Some(folder) = trace.as_deref().and_then(Path::parent) {
            return Ok(Target { pid, folder: folder.to_path_buf() });
        }
    }
    Err(Failure::new(Kind::Input, format_args!("process {pid} is not recorded"))
        .hint("start it with: memtrail run -- PROGRAM"))
}

fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<_>>())
        .collect()
}

/// Whether a process runs.
pub(super) fn is_alive(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
