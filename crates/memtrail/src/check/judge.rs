//! Judges a recording.

use memtrail_engine::gate::GateResponse;
use memtrail_engine::heap::Outcome;
use memtrail_engine::{Engine, Setting};
use memtrail_recording::{FileState, Recording};

use super::gates::{BASELINE, Resolved};
use crate::error::{Failure, Kind};
use crate::heap::input::with_spinner;
use crate::heap::joined::add_some_snapshots;
use crate::{damage, loading, outcome};

/// Judges a recording by gates. One that is not whole is not judged.
pub(super) fn judge(recording: &Recording, gates: &Resolved) -> Result<GateResponse, Failure> {
    let engine = Engine::new(Setting::default());
    let id = add(&engine, recording)?;
    if gates.use_snapshots() {
        add_some_snapshots(&engine, id, recording);
    }
    if let Some(baseline) = &gates.baseline {
        let baseline = Recording::open(baseline)?;
        let other = add(&engine, &baseline)?;
        debug_assert_eq!(other.0, BASELINE);
    }
    with_spinner("judging".to_owned(), || {
        // Asking makes the engine want what it needs.
        loop {
            let judged = engine.judge(id, &gates.gates);
            let judged = judged.map_err(|error| loading::refused(&error))?;
            let has_worked = engine.work().is_some();
            while engine.work().is_some() {}
            match judged {
                Outcome::Ready(answer) if !has_worked => return Ok(answer.response),
                Outcome::Analysing(number) if !has_worked => {
                    let message = format_args!("snapshot {number} cannot be analysed");
                    return Err(Failure::new(Kind::Unjudged, message));
                }
                _ => {}
            }
        }
    })
}

/// Adds a recording of which nothing is missing.
fn add(engine: &Engine, recording: &Recording) -> Result<memtrail_engine::RecordingId, Failure> {
    if loading::is_snapshot_alone(recording) {
        let path = recording.path.display();
        return Err(Failure::new(Kind::Usage, format_args!("{path} is a snapshot alone"))
            .hint("name the recording that it is in"));
    }
    let id = loading::add(engine, recording)?;
    let unjudged = |reason: &dyn std::fmt::Display| {
        Failure::new(Kind::Unjudged, format_args!("{}: {reason}", recording.path.display()))
    };
    let anomalies = engine.damage(id).unwrap_or_default();
    damage::verdict(recording, &anomalies).map_err(|failure| unjudged(&failure.message()))?;
    if let Some(known) = &recording.description {
        let is_cut = known.trace.lost > 0 || known.trace.state == FileState::Cut;
        if let Some(why) = outcome::words(known.outcome.as_ref()).filter(|_| is_cut) {
            return Err(unjudged(&format_args!("the recording is not whole: {why}")));
        }
        if is_cut {
            return Err(unjudged(&"the recording is not whole"));
        }
    }
    Ok(id)
}
