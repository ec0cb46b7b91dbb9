//! `--metrics`: figures of recordings for Prometheus. They are read beside what is shipped, so that they are fresh while a
//! destination is away.
//!
//! | file | subject |
//! |---|---|
//! | `exposition` | the metrics, and Prometheus' text format |
//! | `figures` | figures of a recording |
//! | `judgement` | suspects and owners, from processes that are asked |
//! | `target` | the collector's file, or a socket |

mod exposition;
mod figures;
mod judgement;
mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::labels::Given;
use super::shipping::Shipping;
use crate::error::Failure;
use exposition::Exposition;
use figures::Figures;
pub(super) use figures::Wanted;
use target::Published;
pub(super) use target::Target;

/// Shortest and longest time between two updates.
const OFTEN: Duration = Duration::from_millis(250);
const SELDOM: Duration = Duration::from_secs(15);

/// The metrics of all recordings.
pub(super) struct Metrics {
    published: Published,
    wanted: Wanted,
    pause: Duration,
    last: Option<Instant>,
    recordings: BTreeMap<PathBuf, Figures>,
    /// Recordings without metrics: they cannot be read, or have ended.
    done: BTreeSet<PathBuf>,
    /// True if a failure to write was reported.
    has_failed: bool,
    code: Option<ExitCode>,
}

impl Metrics {
    pub(super) fn open(target: &Target, every: Duration, wanted: Wanted) -> Result<Self, Failure> {
        Ok(Self {
            published: Published::open(target)?,
            wanted,
            pause: (every / 4).clamp(OFTEN, SELDOM),
            last: None,
            recordings: BTreeMap::new(),
            done: BTreeSet::new(),
            has_failed: false,
            code: None,
        })
    }

    /// Time between two updates.
    pub(super) fn pause(&self) -> Duration {
        self.pause
    }

    /// Reads on, and publishes what is due.
    pub(super) fn update(
        &mut self,
        paths: &[PathBuf],
        given: Given<'_>,
        shipping: Option<&dyn Shipping>,
    ) -> Result<(), Failure> {
        if self.last.is_some_and(|last| last.elapsed() < self.pause) {
            return Ok(());
        }
        let mut exposition = Exposition::default();
        for path in paths {
            if self.done.contains(path) {
                continue;
            }
            let figures = self.recordings.entry(path.clone()).or_default();
            match figures.update(path, self.wanted) {
                // Programs in a folder have metrics while they run.
                Ok(()) if figures.has_ended() && self.wanted.is_folder && !self.wanted.is_once => {
                    self.recordings.remove(path);
                    self.done.insert(path.clone());
                }
                Ok(()) => figures.write(&mut exposition, given, shipping),
                Err(failure) => {
                    self.code = Some(failure.report());
                    self.recordings.remove(path);
                    self.done.insert(path.clone());
                }
            }
        }
        self.last = Some(Instant::now());
        match self.published.write(exposition.to_string()) {
            Ok(()) => self.has_failed = false,
            // A full disk may have room again.
            Err(failure) if !self.wanted.is_once => {
                if !std::mem::replace(&mut self.has_failed, true) {
                    failure.report();
                }
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// True if nothing more will come.
    pub(super) fn all_ended(&self) -> bool {
        self.recordings.values().all(Figures::has_ended)
    }

    /// Ends, with the exit code if a recording has no metrics. The file stays after --once, to be written anew later.
    pub(super) fn finish(mut self) -> Option<ExitCode> {
        for figures in self.recordings.values_mut() {
            figures.stop();
        }
        if !self.wanted.is_once {
            self.published.remove();
        }
        self.code
    }
}
