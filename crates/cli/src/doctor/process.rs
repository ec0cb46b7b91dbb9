//! A process that runs.

use memtrail_ptrace::Status;
use memtrail_text::rounded::bytes;
use serde::Serialize;

use super::ability::Ability;
use super::draw::fact;
use crate::canvas::Canvas;
use crate::error::Failure;
use crate::snapshot;
use crate::snapshot::live::refusal;

const SNAPSHOT: &str = "memtrail snapshot PID";

/// Facts of a process.
#[derive(Debug, Serialize)]
pub(super) struct ProcessFacts {
    pid: u32,
    /// Effective user id.
    user: u32,
    /// Process that traces it; 0 if none does.
    traced_by: u32,
    /// True if it runs under a filter of system calls.
    seccomp: bool,
    /// Resident memory in bytes.
    resident: Option<u64>,
}

impl ProcessFacts {
    pub(super) fn look(pid: u32) -> Result<Self, Failure> {
        let status = Status::of_process(pid).map_err(|_| refusal::no_process(pid))?;
        Ok(Self {
            pid,
            user: status.user,
            traced_by: status.tracer,
            seccomp: status.is_filtered,
            resident: snapshot::resident(pid),
        })
    }

    pub(super) fn draw(&self, canvas: &mut Canvas) {
        let resident = self
            .resident
            .map_or_else(String::new, |size| format!(", {} resident", bytes(size as f64)));
        let filter = if self.seccomp { ", under a seccomp filter" } else { "" };
        let tracer = match self.traced_by {
            0 => String::new(),
            tracer => format!(", traced by process {tracer}"),
        };
        let text = format!("{} of user id {}{resident}{filter}{tracer}", self.pid, self.user);
        fact(canvas, "process", &text);
    }
}

/// Tells if a snapshot can be taken of it.
pub(super) fn snapshot(pid: u32) -> Ability {
    match snapshot::check_process(pid) {
        Ok(note) => match note {
            None => Ability::yes(SNAPSHOT, None),
            Some(note) => Ability::partly(SNAPSHOT, note, None),
        },
        Err(failure) => Ability::judge(SNAPSHOT, Err(failure), ""),
    }
}
