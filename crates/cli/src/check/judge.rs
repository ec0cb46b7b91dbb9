//! Judges a recording.

use std::path::Path;

use memtrail_engine::gate::{Gate, GateResponse, Limit};
use memtrail_engine::heap::Outcome as Answer;
use memtrail_engine::{Engine, Setting, SnapshotFacts};
use memtrail_recording::{Outcome, Recording};

use super::gates::{self, BASELINE};
use crate::error::{Failure, Kind};
use crate::heap::joined::add_some_snapshots;
use crate::recording_facts;
use crate::recording_source::Process;
use crate::snapshot_file::MemoryArgs;
use crate::spinner::with_spinner;
use crate::{damage, loading, outcome, references};

/// Judges a recording by some gates, beside so many of others; `largest` are snapshots that are not its own.
pub(super) fn ask(
    recording: &Recording,
    memory: MemoryArgs,
    gates: &[Gate],
    baseline: Option<&Path>,
    largest: Vec<SnapshotFacts>,
    beside: usize,
) -> Result<GateResponse, Failure> {
    let engine = Engine::new(Setting::default());
    let id = add(&engine, recording)?;
    if gates.iter().any(gates::uses_snapshots) && !recording.is_merged() {
        add_some_snapshots(&engine, id, recording, memory);
    }
    if gates.iter().any(|gate| matches!(gate.limit, Limit::NoLeak(_))) && !recording.is_merged() {
        // Without them, unreachable memory cannot be told.
        if let Some(failure) = references::give(&engine, id, recording, None)? {
            return Err(unjudged(&recording.path, &failure.message()));
        }
    }
    for facts in largest {
        engine.add_snapshot(id, facts, None);
    }
    if let Some(baseline) = baseline {
        let baseline = Process::default().open(baseline)?;
        let other = add(&engine, &baseline)?;
        debug_assert_eq!(other.0, BASELINE);
    }
    with_spinner("judging".to_owned(), || {
        // Asking makes the engine want what it needs.
        loop {
            let judged = engine.judge(id, gates, beside);
            let judged = judged.map_err(|error| loading::refused(&error))?;
            let has_worked = engine.work().is_some();
            while engine.work().is_some() {}
            match judged {
                Answer::Ready(answer) if !has_worked => return Ok(answer.response),
                Answer::Analysing(number) if !has_worked => {
                    let message = format_args!("snapshot {number} cannot be analysed");
                    return Err(Failure::new(Kind::Unjudged, message));
                }
                _ => {}
            }
        }
    })
}

/// A recording that cannot be judged.
pub(super) fn unjudged(path: &Path, reason: &dyn std::fmt::Display) -> Failure {
    // Reports and JUnit files have it on one line.
    let reason = reason.to_string();
    let lines: Vec<&str> = reason.lines().map(str::trim).collect();
    Failure::new(Kind::Unjudged, format_args!("{}: {}", path.display(), lines.join("; ")))
}

/// Adds a recording of which nothing is missing.
fn add(engine: &Engine, recording: &Recording) -> Result<memtrail_engine::RecordingId, Failure> {
    if recording_facts::is_snapshot_alone(recording) {
        let path = recording.path.display();
        return Err(Failure::new(Kind::Usage, format_args!("{path} is a snapshot alone"))
            .hint("name the recording that it is in"));
    }
    let id = loading::add(engine, recording)?;
    let unjudged = |reason: &dyn std::fmt::Display| unjudged(&recording.path, reason);
    let anomalies = engine.damage(id).unwrap_or_default();
    damage::verdict(recording, &anomalies).map_err(|failure| unjudged(&failure.message()))?;
    check_whole(recording)?;
    Ok(id)
}

/// A recording of which something is missing makes all sums too low.
pub(super) fn check_whole(recording: &Recording) -> Result<(), Failure> {
    let known = recording.description.as_ref();
    if known.is_some_and(|known| known.outcome == Some(Outcome::Execed) && known.did_nothing()) {
        let reason = "the process became another program, which was not recorded";
        return Err(unjudged(&recording.path, &reason));
    }
    match known.and_then(outcome::incomplete) {
        Some(why) => {
            let reason = format_args!("the recording is not whole: {why}");
            Err(unjudged(&recording.path, &reason))
        }
        None => Ok(()),
    }
}
