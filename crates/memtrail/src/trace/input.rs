//! The trace that a command reads, and what the user is told when it is damaged.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_recording::Recording;
use memtrail_trace::{Anomalies, MappedTrace, Reader};

use crate::error::{Failure, Kind};

/// Anomalies that are spelled out.
const SHOWN: usize = 5;

/// An opened trace.
pub(super) struct Input {
    pub(super) path: PathBuf,
    trace: MappedTrace,
}

impl Input {
    /// Opens a recording or a bare trace.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let path = Recording::open(path)?.trace;
        let trace = MappedTrace::open(&path).map_err(|error| {
            Failure::new(Kind::Input, format_args!("cannot open {}: {error}", path.display()))
        })?;
        Ok(Self { path, trace })
    }

    /// A reader at its beginning.
    pub(super) fn reader(&self) -> Result<Reader<'_>, Failure> {
        Reader::new(&self.trace).map_err(|error| {
            Failure::new(Kind::Input, format_args!("{}: {error}", self.path.display()))
                .hint("traces come from `memtrail run`, or from programs linked with memtrace")
        })
    }

    /// Reports what was wrong with the trace, after all that could be read has been put out.
    pub(super) fn verdict(&self, anomalies: &Anomalies) -> Result<ExitCode, Failure> {
        if anomalies.serious() == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let serious: Vec<String> = anomalies
            .list()
            .iter()
            .filter(|anomaly| !anomaly.cause.is_harmless())
            .take(SHOWN)
            .map(ToString::to_string)
            .collect();
        let more = anomalies.serious() - serious.len() as u64;
        let more = if more == 0 { String::new() } else { format!("\n  … and {more} more") };
        let message =
            format!("{} is damaged\n  {}{more}", self.path.display(), serious.join("\n  "));
        Err(Failure::new(Kind::Input, message).hint("all that could be read was used"))
    }
}
