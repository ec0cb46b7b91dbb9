//! Brings recordings into an engine, as all commands do that show what an engine answers.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use memtrail_engine::describe::State;
use memtrail_engine::{ApiError, Description, Engine, RecordingId, SnapshotFacts, Status};
use memtrail_recording::{FileState, Recording};

use crate::damage::UNKNOWN;
use crate::error::{Failure, Kind};
use crate::figure_files;
use crate::recording_facts;
use crate::snapshot_file::stored;
use crate::{caveats, outcome, process, rates, threads, trace_file};

/// Reading that takes less is over before anyone wonders.
const PATIENCE: Duration = Duration::from_secs(1);

/// Says on a terminal that reading takes long.
pub(crate) struct Progress {
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), bar: None }
    }

    /// There are so many events by now.
    pub(crate) fn tell(&mut self, events: u64) {
        if self.started.elapsed() > PATIENCE {
            let bar = self.bar.get_or_insert_with(ProgressBar::new_spinner);
            bar.set_message(format!("{} million events", events >> 20));
            bar.tick();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Reads a recording as it is now.
pub(crate) fn add(engine: &Engine, recording: &Recording) -> Result<RecordingId, Failure> {
    let unreadable = |error| Failure::unreadable(&recording.trace, &error);
    let bytes = trace_file::open(recording).map_err(unreadable)?;
    let mut progress = Progress::new();
    let read = engine.add(&bytes, describe(recording), &mut |events| progress.tell(events));
    read.map_err(|error| no_trace(&recording.trace, &error))
}

/// A heap snapshot alone, as the engine gets it.
pub(crate) fn describe_snapshot(path: &Path, facts: &SnapshotFacts) -> Description {
    Description {
        name: recording_facts::name(path),
        program: Some(facts.program.clone()).filter(|program| !program.is_empty()),
        runtime: Some(facts.runtime.clone()).filter(|runtime| !runtime.is_empty()),
        no_trace: true,
        ..Description::default()
    }
}

/// A file that is no trace.
pub(crate) fn no_trace(path: &Path, error: &memtrail_trace::Error) -> Failure {
    Failure::new(Kind::Input, format_args!("cannot read {}: {error}", path.display()))
        .hint("traces come from `memtrail run`, or from programs linked with memtrace")
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        refused(&error)
    }
}

/// A query that the command line made wrong: a condition, mostly.
pub(crate) fn refused(api_error: &ApiError) -> Failure {
    let mut failure = Failure::new(Kind::Usage, api_error);
    if api_error.status == Status::Absent {
        failure = failure.absent();
    }
    match &api_error.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// What the engine gets of a recording beside its trace.
pub(crate) fn describe(recording: &Recording) -> Description {
    let name = recording_facts::name(&recording.path);
    let Some(known) = &recording.description else {
        let notes = recording.problem.iter();
        let notes = notes.map(|problem| format!("{problem}; {UNKNOWN}")).collect();
        return Description { name, notes, ..Description::default() };
    };
    let state = match known.trace.state {
        FileState::Growing => State::Growing,
        FileState::Complete => State::Ended,
        FileState::Cut => State::Cut,
    };
    let mut notes = known.notes.clone();
    notes.extend(outcome::missing(known));
    notes.extend(outcome::unnamed(recording));
    notes.extend(figure_files::damaged(recording));
    Description {
        name,
        program: Some(known.program.clone()),
        args: known.arguments.clone(),
        memtrail: Some(known.memtrail.clone()),
        runtime: Some(known.runtime.name()),
        is_native: known.runtime.is_native(),
        has_malloc: known.sampling.malloc_rate.is_some(),
        seed: Some(known.sampling.seed),
        state,
        outcome: outcome::words(known.outcome.as_ref()),
        labels: known.labels.clone(),
        is_stopped: outcome::is_stopped(known.outcome.as_ref()),
        is_attached: known.is_attached() || known.forked_from.is_some(),
        exit_snapshot: recording_facts::exit_snapshot(known),
        incomplete: outcome::incomplete(known),
        notes,
        caveats: caveats::reported(recording),
        subsampled: None,
        no_trace: false,
        impossible: known.sampling.impossible.is_some(),
        can_snapshot: known.snapshots.is_some() && !known.runtime.is_native(),
        threads: threads::list(recording),
        rates: rates::list(recording),
        members: Vec::new(),
        library_units: stored::library_units(&recording.path),
        process: process::measured(recording),
        present: recording_facts::present(recording),
    }
}
