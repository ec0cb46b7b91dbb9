//! What is known of a recording at a moment.

use std::time::Duration;

use memtrail_engine::describe::State;
use memtrail_engine::heap::{Outcome, OwnerChanges, SnapshotRow};
use memtrail_engine::query::By;
use memtrail_engine::{Engine, LiveSites, LiveSitesQuery, RecordingId};
use serde::Serialize;

use super::process::ProcessFigures;
use super::subject::Subject;
use crate::error::Failure;
use crate::loading;
use crate::references;

/// All that is shown. This is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figures {
    /// The recording.
    pub(super) recording: String,
    /// The process.
    pub(super) pid: Option<u32>,
    /// What the system says of it; absent when it has ended.
    pub(super) process: Option<ProcessFigures>,
    /// What is live, by what allocated it.
    pub(super) live: LiveSites,
    /// What owners have in the newest snapshot.
    pub(super) owners: Option<OwnerChanges>,
    /// Why there is nothing about owners, or nothing newer.
    pub(super) no_owners: Option<String>,
    /// All snapshots.
    pub(super) snapshots: Vec<SnapshotRow>,
    /// Why no snapshot can be taken.
    pub(super) no_snapshot: Option<String>,
    /// True if the program is of another language than OCaml.
    #[serde(skip)]
    pub(super) is_native: bool,
    /// Number of the last snapshot with what refers to memory from `malloc`.
    #[serde(skip)]
    pub(super) references: Option<u64>,
}

/// The reason why there is nothing about owners.
pub(super) const fn without_snapshots(is_native: bool) -> &'static str {
    if is_native { "a native program has no owners" } else { "no heap snapshot yet" }
}

/// What of it is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) by: By,
    /// What changes are looked at.
    pub(super) window: Duration,
}

/// A moment of a family, in seconds since a process's recording began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) at: f64,
    /// When the process ended and its memory was freed.
    pub(super) freed: Option<f64>,
}

impl Figures {
    /// Asks the engine. The moment is the present, unless one of a family is asked for. Of owners, what `last` had is
    /// kept while a newer snapshot is analysed.
    pub(super) fn new(
        engine: &Engine,
        id: RecordingId,
        subject: &Subject,
        wanted: Wanted,
        moment: Option<Moment>,
        last: Option<&Self>,
    ) -> Result<Self, Failure> {
        let refused = |error| loading::refused(&error);
        let snapshots = engine.heap_snapshots(id).map_err(refused)?;
        // Of what has ended, the last event is the last moment that anything is known of.
        let present = || subject.is_running().then(|| subject.now()).flatten();
        let at = moment.map_or_else(present, |moment| Some(moment.at));
        let freed = moment.and_then(|moment| moment.freed);
        let Wanted { by, window } = wanted;
        let query = LiveSitesQuery { rec: id.0, by, window: window.as_secs_f64(), at, freed };
        let live = engine.live_sites(&query).map_err(refused)?;
        let kept = || last.and_then(|last| last.owners.clone());
        let owner_changes = || match engine.owner_changes(id) {
            Ok(Outcome::Ready(of)) => {
                let partial = of.partial.map(|damage| format!("the snapshot is damaged {damage}"));
                (Some(of.response), partial)
            }
            Ok(Outcome::Analysing(number)) => {
                (kept(), Some(format!("analysing snapshot {number}")))
            }
            Err(error) => (kept(), Some(error.to_string())),
        };
        let (owners, no_owners) = if snapshots.snapshots.is_empty() {
            (None, Some(without_snapshots(subject.is_native()).to_owned()))
        } else if freed.is_some() {
            // Nothing is owned any more: the snapshot is not analysed for that.
            (None, None)
        } else {
            owner_changes()
        };
        Ok(Self {
            recording: subject.recording.path.to_string_lossy().into_owned(),
            pid: subject.pid,
            // The number of one that has ended may be another's by now.
            process: (live.state == State::Growing).then(|| subject.process()).flatten(),
            live,
            owners,
            no_owners,
            snapshots: snapshots.snapshots,
            no_snapshot: subject.why_no_snapshot(snapshots.why_not),
            is_native: subject.is_native(),
            references: references::of_recording(&subject.recording.path)
                .last()
                .map(|(number, _)| *number),
        })
    }

    /// Something of a figure a second, over the window.
    pub(super) fn per_second(&self, bytes: f64) -> f64 {
        if self.live.window > 0.0 { bytes / self.live.window } else { 0.0 }
    }

    /// Whether the program runs, as far as the recording tells.
    pub(super) fn is_running(&self) -> bool {
        self.live.state == State::Growing
    }

    /// How the program is.
    pub(super) fn status(&self) -> String {
        let outcome = self.live.outcome.as_ref();
        let outcome = outcome.map_or_else(String::new, |outcome| format!(": {outcome}"));
        match self.live.state {
            State::Growing => "running".to_owned(),
            State::Ended => format!("ended{outcome}"),
            State::Cut => format!("ended{outcome}; the trace's end is missing"),
            State::Lost => "ended; the recording was not closed".to_owned(),
        }
    }

    /// The program's own name.
    pub(super) fn program(&self) -> &str {
        self.live.program.rsplit('/').next().unwrap_or_default()
    }
}
