//! The trace that a command reads, and what is printed when it is damaged.

use std::path::Path;
use std::process::ExitCode;

use memtrail_map::MappedFile;
use memtrail_trace::{Anomalies, Reader};

use crate::damage;
use crate::error::{Failure, Kind};
use crate::recording_source::{Process, RecordingSource};

/// An opened trace.
pub(super) struct Input {
    pub(super) recording: RecordingSource,
    trace: MappedFile,
}

impl Input {
    /// Opens a recording or a bare trace.
    pub(super) fn open(path: &Path, process: Process) -> Result<Self, Failure> {
        let recording = process.open(path)?;
        let path = &recording.trace;
        let trace = MappedFile::open(path).map_err(|error| Failure::unreadable(path, &error))?;
        Ok(Self { recording, trace })
    }

    /// A reader at its beginning.
    pub(super) fn reader(&self) -> Result<Reader<'_>, Failure> {
        Reader::new(&self.trace).map_err(|error| {
            Failure::new(Kind::Input, format_args!("{}: {error}", self.recording.trace.display()))
                .hint("traces come from `memtrail run`, or from programs linked with memtrace")
        })
    }

    /// Reports what was wrong with the trace, after all that could be read has been put out.
    pub(super) fn verdict(&self, anomalies: &Anomalies) -> Result<ExitCode, Failure> {
        damage::verdict(&self.recording, anomalies)
    }
}
