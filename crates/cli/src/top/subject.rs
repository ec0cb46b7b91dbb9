//! The recording that is watched, and its process.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use memtrail_recording::{REQUEST_FILE, Recording, is_alive, is_this_host};

use super::process::ProcessFigures;
use crate::error::{Failure, Kind};
use crate::recording_facts;
use crate::recording_source::note_successor;
use crate::snapshot;

/// What is watched.
pub(super) struct Subject {
    pub(super) recording: Recording,
    /// The process, if the recording says which.
    pub(super) pid: Option<u32>,
    /// When the recording began, in seconds since 1970.
    start: Option<f64>,
    /// Whether the process is one of this machine.
    is_here: bool,
}

impl Subject {
    /// The recording that a path names, or that a process writes.
    pub(super) fn find(named: &Path) -> Result<Self, Failure> {
        let folder: PathBuf = match named.to_str().and_then(|text| text.parse().ok()) {
            Some(pid) if !named.exists() => snapshot::find::of_process(pid)?.folder,
            _ => named.to_path_buf(),
        };
        let recording = Recording::open(&folder)?;
        note_successor(&recording);
        Self::of(recording)
    }

    /// A recording and its process.
    pub(super) fn of(recording: Recording) -> Result<Self, Failure> {
        if recording_facts::is_snapshot_alone(&recording) {
            let message = format_args!("{} is a snapshot alone", recording.path.display());
            return Err(Failure::new(Kind::Usage, message)
                .hint("name the process or its recording; memtrail heap roots shows a snapshot"));
        }
        let description = recording.description.as_ref();
        Ok(Self {
            pid: description.map(|description| description.pid),
            start: description.map(|description| description.clock.start_unix_us as f64 / 1e6),
            is_here: description.is_some_and(|description| is_this_host(&description.host)),
            recording,
        })
    }

    /// The present in seconds since the recording's start, if the clock of this machine tells.
    pub(super) fn now(&self) -> Option<f64> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs_f64();
        self.is_here.then_some(now - self.start?)
    }

    /// When the recording began, in seconds since 1970.
    pub(super) const fn began(&self) -> Option<f64> {
        self.start
    }

    /// When the process ended, if that was seen, in seconds since 1970.
    pub(super) fn ended(&self) -> Option<f64> {
        let ended = self.recording.description.as_ref()?.ended_unix_us?;
        Some(ended as f64 / 1e6)
    }

    /// Whether the process runs and its recording grows, as far as can be told from this machine.
    pub(super) fn is_running(&self) -> bool {
        let is_gone = self.is_here && self.pid.is_some_and(|pid| !is_alive(pid));
        recording_facts::grows(&self.recording) && !is_gone
    }

    /// What the system says of the process, if it runs on this machine.
    pub(super) fn process(&self) -> Option<ProcessFigures> {
        let pid = self.pid.filter(|pid| self.is_here && is_alive(*pid))?;
        ProcessFigures::read(pid)
    }

    /// True if the program is of another language than OCaml: it has neither owners nor collections.
    pub(super) fn is_native(&self) -> bool {
        recording_facts::is_native(&self.recording)
    }

    /// The reason why no snapshot can be taken, or `None` if one can. `of_heap` is the engine's reason why none of OCaml's heap
    /// can.
    pub(super) fn why_no_snapshot(&self, of_heap: Option<String>) -> Option<String> {
        let of_heap = of_heap?;
        let description = self.recording.description.as_ref().filter(|_| self.is_running());
        let (Some(pid), Some(description)) = (self.pid, description) else { return Some(of_heap) };
        match (description.snapshots.is_some(), self.is_native()) {
            (true, true) => None,
            (true, false) => Some(of_heap),
            (false, _) => Some(snapshot::why_no_requests(pid, Some(&self.recording))),
        }
    }

    /// Asks the process for a snapshot.
    pub(super) fn request_snapshot(&self) -> std::io::Result<()> {
        snapshot::write_request(&self.recording.path.join(REQUEST_FILE))
    }
}
