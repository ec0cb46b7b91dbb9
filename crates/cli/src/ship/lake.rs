//! Recordings as tables of a lake. A recording is exported whole, and its tables are replaced when it has grown.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use memtrail_recording::Recording;

use super::args::Args;
use super::shipping::Shipping;
use super::state::{ErrorNote, State, StateFile, now_unix_us};
use super::tail;
use super::taken::Taken;
use crate::error::Failure;
use crate::export::lake::{self, Options};
use crate::recording_source::Process;
use crate::snapshot_file::{self, MemoryArgs};
use crate::{recording_facts, shell_quote};

/// Growth of a trace by which it is exported again: reading all of it each time costs no more than ten times the whole.
const GROWTH: u64 = 10;

/// Recordings on their way into a lake.
pub(super) struct IntoLake<'a> {
    args: &'a Args,
    lake: PathBuf,
    taken: Taken<Exported>,
    exports: u64,
}

/// A recording and its last export.
struct Exported {
    file: StateFile,
    /// When it was exported by this command.
    last: Option<Instant>,
    snapshots: usize,
}

impl<'a> IntoLake<'a> {
    pub(super) fn new(args: &'a Args, lake: &Path) -> Result<Self, Failure> {
        Ok(Self { args, lake: std::path::absolute(lake)?, taken: Taken::new(), exports: 0 })
    }

    fn export_if_due(&mut self, path: &Path) -> Result<(), Failure> {
        let Some(exported) = self.taken.recordings.get_mut(path) else { return Ok(()) };
        let state = &mut exported.file.state;
        if state.is_over || exported.last.is_some_and(|last| last.elapsed() < self.args.every) {
            return Ok(());
        }
        // The state first: all is there once it shows that the recording is complete.
        let recording = Recording::open(path)?;
        let has_ended = !recording_facts::grows(&recording) || tail::is_abandoned(&recording);
        let size = std::fs::metadata(&recording.trace).map_or(0, |trace| trace.len());
        let snapshots = snapshot_file::of_recording(path).len();
        let has_grown = size > state.read_to + state.read_to / GROWTH;
        let is_shorter = size < state.read_to;
        let is_new = has_grown || is_shorter || snapshots > exported.snapshots;
        if size == 0 || !(is_new || has_ended) {
            return Ok(());
        }
        let options = Options {
            lake: &self.lake,
            blocks: false,
            redact: self.args.redact,
            memory: MemoryArgs::default(),
        };
        let result = lake::export(&[path.to_path_buf()], Process::default(), options);
        exported.last = Some(Instant::now());
        match result {
            // It was named, with the reason.
            Ok((report, code)) if report.is_empty() && code != ExitCode::SUCCESS => {
                let message = "the recording cannot be exported".to_owned();
                state.last_error = Some(ErrorNote::now(message));
                (state.read_to, state.is_over) = (size, has_ended);
                state.refused += 1;
                self.taken.code = Some(code);
            }
            Ok(_) => {
                let description = recording.description.as_ref();
                let start = description.map_or(0, |known| known.clock.start_unix_us);
                let ended = description.and_then(|known| known.ended_unix_us);
                let until = ended.unwrap_or_else(now_unix_us);
                (state.start_unix_us, state.read_to) = (start, size);
                state.shipped_to_us = until.saturating_sub(start);
                state.windows += 1;
                state.last_shipped_unix_us = Some(now_unix_us());
                state.is_over = has_ended;
                exported.snapshots = snapshots;
                self.exports += 1;
            }
            Err(failure) => {
                state.last_error = Some(ErrorNote::now(failure.message().to_owned()));
                exported.file.save()?;
                return Err(failure);
            }
        }
        exported.file.save()
    }
}

impl Shipping for IntoLake<'_> {
    fn destination(&self) -> String {
        format!("dir:{}", self.lake.display())
    }

    fn take_in(&mut self, recordings: &[PathBuf], is_folder: bool) -> Result<(), Failure> {
        let (destination, every) = (self.destination(), self.args.every.as_micros() as u64);
        self.taken.take_in(recordings, is_folder, |path| {
            let mut file = StateFile::open(path, &destination)?;
            file.state.every_us = every;
            Ok(Exported { file, last: None, snapshots: 0 })
        })
    }

    fn ship(&mut self) -> Option<Duration> {
        for path in self.taken.paths() {
            if let Err(failure) = self.export_if_due(&path) {
                self.taken.give_up(&path, &failure);
            }
        }
        None
    }

    fn all_ended(&self) -> bool {
        self.taken.recordings.values().all(|exported| exported.file.state.is_over)
    }

    fn state(&self, recording: &Path) -> Option<&State> {
        self.taken.recordings.get(recording).map(|exported| &exported.file.state)
    }

    fn finish(&self) -> Result<ExitCode, Failure> {
        let exports = if self.exports == 1 { "export" } else { "exports" };
        let lake = shell_quote::path(&self.lake);
        message!("memtrail: {} {exports} into {lake}", self.exports);
        Ok(self.taken.code.unwrap_or(ExitCode::SUCCESS))
    }
}
