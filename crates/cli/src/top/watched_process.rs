//! A process that is watched, with its figures.

use std::time::{SystemTime, UNIX_EPOCH};

use memtrail_engine::query::By;
use memtrail_engine::{Engine, RecordingId};
use memtrail_recording::family::Member;

use super::figures::{Figures, Moment, Wanted};
use super::subject::Subject;
use crate::error::Failure;

/// A process that is watched, or one of the programs that a process was.
pub(super) struct Process {
    /// Its name among the others.
    pub(super) name: String,
    pub(super) subject: Subject,
    pub(super) id: RecordingId,
    /// Recorded processes above it.
    pub(super) generation: u32,
    /// When its memory was freed, in seconds since 1970, if that is to be counted.
    pub(super) freed: Option<f64>,
    pub(super) figures: Figures,
    /// By what its figures are that change no more, as it ended before the window.
    pub(super) settled: Option<By>,
}

impl Process {
    /// When it began, in seconds since a moment.
    pub(super) fn began_since(&self, start: f64) -> f64 {
        self.subject.began().map_or(0.0, |began| (began - start).max(0.0))
    }

    /// True if it may be asked for a snapshot.
    pub(super) fn can_snapshot(&self) -> bool {
        self.figures.no_snapshot.is_none() && self.subject.is_running()
    }
}

pub(super) fn begin(
    engine: &Engine,
    id: RecordingId,
    member: Member,
    wanted: Wanted,
) -> Result<Process, Failure> {
    let subject = Subject::of(member.recording?)?;
    // The moment of a process that has ended is its last event.
    let moment = (!subject.is_running()).then_some(Moment { at: 0.0, freed: Some(0.0) });
    let figures = Figures::new(engine, id, &subject, wanted, moment, None)?;
    Ok(Process {
        name: member.name,
        subject,
        id,
        generation: member.generation,
        freed: None,
        figures,
        settled: None,
    })
}

/// Moments of a family, in seconds since 1970.
#[derive(Clone, Copy)]
pub(super) struct Times {
    /// The first process began.
    pub(super) start: f64,
    /// The present while any runs; then the last end.
    pub(super) now: f64,
    pub(super) is_running: bool,
}

pub(super) fn times(processes: &[Process]) -> Times {
    let start = processes.iter().filter_map(|process| process.subject.began());
    let start = start.fold(f64::INFINITY, f64::min);
    let is_running = processes.iter().any(|process| process.subject.is_running());
    let present = SystemTime::now().duration_since(UNIX_EPOCH).ok().filter(|_| is_running);
    let last = processes.iter().map(end).fold(0.0, f64::max);
    let now = present.map_or(last, |present| present.as_secs_f64().max(last));
    Times { start: start.min(now), now, is_running }
}

/// When a process ended; of one that nobody saw ending, its last event.
fn end(process: &Process) -> f64 {
    let Process { subject, figures, .. } = process;
    subject.ended().unwrap_or_else(|| subject.began().unwrap_or(0.0) + figures.live.at)
}

/// A process of a family at the family's moment. What the last process had live stays, as when it is alone.
pub(super) fn look_at(
    engine: &Engine,
    process: &mut Process,
    wanted: Wanted,
    times: Times,
) -> Result<(), Failure> {
    if process.settled == Some(wanted.by) {
        return Ok(());
    }
    let is_running = process.subject.is_running();
    let ended = process.freed.unwrap_or_else(|| end(process));
    process.freed = (!is_running && (times.is_running || ended < times.now)).then_some(ended);
    let Process { subject, id, .. } = process;
    let began = subject.began().unwrap_or(times.start);
    let moment = Moment { at: times.now - began, freed: process.freed.map(|freed| freed - began) };
    let last = Some(&process.figures);
    process.figures = Figures::new(engine, *id, subject, wanted, Some(moment), last)?;
    let is_over = process.freed.is_some_and(|f| f + wanted.window.as_secs_f64() < times.now);
    process.settled = is_over.then_some(wanted.by);
    Ok(())
}
