//! Messages between memtrail and its tracer: lines of JSON.

use memtrail_ptrace::StopError;
use serde::{Deserialize, Serialize};

/// The line by which memtrail asks for another copy. The tracer ends when there is no more to read.
pub(super) const AGAIN: &str = "again";

/// The tracer's answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Report {
    Copied(CopyReport),
    Refused(TraceError),
}

/// A process whose memory can be read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CopyReport {
    /// The copy's number; the process's own if that itself is paused.
    pub(super) copy: u32,
    /// Why the process itself is paused until its memory has been read; `None` if it was copied.
    pub(super) held: Option<String>,
    pub(super) threads: Vec<ThreadReport>,
    /// Pause of the process until this report was written.
    pub(super) pause_ns: u64,
    /// Number of stops.
    pub(super) stops: u32,
    pub(super) work: Work,
}

/// A thread and its registers, in the order of `user_regs_struct`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ThreadReport {
    pub(super) id: u32,
    pub(super) registers: Vec<u64>,
}

/// Work of the threads at the stop: the most of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Work {
    None,
    Ocaml,
    InC,
}

/// Why the process was not copied.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TraceError {
    Ended,
    /// It has no runtime that can be read.
    NoRuntime(String),
    TracedBy(u32),
    NotPermitted,
    DoesNotStop(u32),
    /// It collected garbage at each of so many stops.
    Collects(u32),
    Failed(String),
}

impl From<StopError> for TraceError {
    fn from(error: StopError) -> Self {
        match error {
            StopError::Ended => Self::Ended,
            StopError::Traced(tracer) => Self::TracedBy(tracer),
            StopError::NotPermitted => Self::NotPermitted,
            StopError::DoesNotStop(thread) => Self::DoesNotStop(thread),
            error => Self::Failed(error.to_string()),
        }
    }
}

impl CopyReport {
    /// Facts that readers of the snapshot should know, as fragments.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.work == Work::InC {
            notes.push(format!(
                "a thread ran C code at each of {} stops: a block that it was writing may be \
                 missing or incomplete",
                self.stops
            ));
        }
        if let Some(why) = &self.held {
            notes.push(format!(
                "the process was paused while its memory was read, and was not copied: {why}"
            ));
        }
        notes
    }
}
