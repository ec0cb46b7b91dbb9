//! Commands that hints name: only those that work for the process or the recording that the hint is about.

use std::path::Path;

use memtrail_map::MappedFile;
use memtrail_ocaml::inspect::{Verdict, inspect};
use memtrail_recording::{Description, Recording, is_alive};

use crate::recording_facts;
use crate::shell_quote;
use crate::snapshot_file;

/// Kind of a program, on which the commands that work for it depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramKind {
    /// A program with an OCaml runtime, and so with a heap to read.
    Ocaml,
    /// A program of another language.
    Native,
}

impl ProgramKind {
    /// Kind of a process, by its executable. A process whose executable cannot be read counts as an OCaml program: commands
    /// take a program for one unless `--native` is given.
    pub(crate) fn of_process(pid: u32) -> Self {
        match MappedFile::open(format!("/proc/{pid}/exe").as_ref()) {
            Ok(executable) if matches!(inspect(&executable), Verdict::NotOcaml(_)) => Self::Native,
            _ => Self::Ocaml,
        }
    }

    /// Kind of a recorded program.
    pub(crate) fn of_recorded(description: &Description) -> Self {
        if description.runtime.is_native() { Self::Native } else { Self::Ocaml }
    }

    /// Command that records a process from now on.
    pub(crate) fn attach(self, pid: u32) -> String {
        match self {
            Self::Ocaml => format!("memtrail attach {pid}"),
            Self::Native => format!("memtrail attach --native {pid}"),
        }
    }

    /// Command that takes a heap snapshot of a process that is not recorded. A native program has no heap to read.
    pub(crate) fn snapshot(self, pid: u32) -> Option<String> {
        (self == Self::Ocaml).then(|| format!("memtrail snapshot {pid}"))
    }
}

/// Commands for a process that cannot be attached as a program of a kind.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "attach is for x86-64"))]
pub(crate) fn instead_of_attach(pid: u32, kind: ProgramKind) -> String {
    let option = if kind == ProgramKind::Native { " --native" } else { "" };
    let run = format!("record it from its start: memtrail run{option} -- PROGRAM");
    // `attach --native` may have been asked for an OCaml program.
    match ProgramKind::of_process(pid).snapshot(pid) {
        Some(snapshot) => format!("{run}; or take heap snapshots: {snapshot}"),
        None => run,
    }
}

/// Commands for a process that is recorded.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "attach is for x86-64"))]
pub(crate) fn while_recorded(pid: u32, folder: &Path) -> String {
    let shown = shell_quote::path(folder);
    let description = Recording::open(folder).ok().and_then(|recording| recording.description);
    let takes_none = description.is_some_and(|description| description.snapshots.is_none());
    let snapshot = if takes_none { String::new() } else { format!("memtrail snapshot {pid}, ") };
    format!("memtrail top {pid}, {snapshot}memtrail report {shown}")
}

/// Commands for a recording that was ended while its process runs on.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "attach is for x86-64"))]
pub(crate) fn after_detach(pid: u32, folder: &Path) -> String {
    let shown = shell_quote::path(folder);
    // Memory from `malloc` is judged without a snapshot; of OCaml's heap it is not known what retains memory.
    let is_judged = !snapshot_file::of_recording(folder).is_empty()
        || Recording::open(folder).is_ok_and(|recording| recording_facts::is_native(&recording));
    if is_judged {
        format!("memtrail report {shown}, memtrail leaks {shown}")
    } else {
        format!("memtrail report {shown}, memtrail snapshot {pid}")
    }
}

/// The way to a snapshot of a native program whose recording has none.
pub(crate) fn native_snapshot(recording: &Recording) -> String {
    let record = "record it with one: memtrail run --native --snapshot exit -- PROGRAM";
    of_running(Some(recording)).unwrap_or_else(|| record.to_owned())
}

/// The way to a heap snapshot of an OCaml program whose recording has none.
pub(crate) fn heap_snapshot(recording: Option<&Recording>) -> String {
    let record = "take some: memtrail run --snapshot every-major -- PROGRAM";
    of_running(recording).unwrap_or_else(|| record.to_owned())
}

/// The way to a snapshot of a program that runs and takes requests.
fn of_running(recording: Option<&Recording>) -> Option<String> {
    let known = recording?.description.as_ref()?;
    // `memtrail detach` ends a recording without an outcome.
    let is_recorded = known.outcome.is_none() && known.ended_unix_us.is_none();
    let is_running = is_recorded && is_alive(known.pid);
    (is_running && known.snapshots.is_some())
        .then(|| format!("its program runs; take one: memtrail snapshot {}", known.pid))
}

/// The way to a snapshot before a signal kills the program.
pub(crate) const fn before_a_kill(takes_requests: bool) -> &'static str {
    if takes_requests {
        "`memtrail snapshot PID` takes one before"
    } else {
        "to take one before, run it with `--snapshot exit,request` and call `memtrail snapshot PID`"
    }
}
