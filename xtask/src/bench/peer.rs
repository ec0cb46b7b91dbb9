//! Programs linked with memtrace, and memtrace's tools, where the user has built them.
//!
//! `MEMTRAIL_PEER_MEMTRACE` names a folder. A program in it that has the name of one of our
//! subjects is measured with and without `MEMTRACE`; `memtrace_hotspots` and
//! `memtrace_flamegraph` are measured beside ours. Nothing here builds them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::subjects::Subject;

/// The folder, if there is one.
pub(super) fn folder() -> Option<PathBuf> {
    std::env::var_os("MEMTRAIL_PEER_MEMTRACE").map(PathBuf::from).filter(|dir| dir.is_dir())
}

/// A program or tool of that name.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    Some(folder()?.join(name)).filter(|path| path.is_file())
}

/// The subject as its memtrace-linked twin, not recording.
pub(super) fn plain(subject: &Subject, twin: &Path) -> Command {
    let mut command = Command::new(twin);
    command.args(&subject.arguments).current_dir(&subject.folder).env_remove("MEMTRACE");
    command
}

/// The same, recording.
pub(super) fn recording(subject: &Subject, twin: &Path, rate: f64, trace: &Path) -> Command {
    let mut command = plain(subject, twin);
    command.env("MEMTRACE", trace).env("MEMTRACE_RATE", rate.to_string());
    command
}
