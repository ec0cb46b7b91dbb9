//! Reads a recording's trace, and the figures of its process.

use std::time::{Duration, Instant};

use memtrail_profile::Profile;
use memtrail_recording::Recording;
use memtrail_recording::collections::summary::Summary;

use crate::error::Failure;
use crate::process::collections;
use crate::process::memory::ResidentMemory;
use crate::{loading, rates, trace_file};

/// Reading that takes less is over before anyone wonders.
const PATIENCE: Duration = Duration::from_secs(1);

/// Figures of the process besides its allocations.
pub(super) struct Process {
    pub(super) memory: Option<ResidentMemory>,
    pub(super) collections: Option<Summary>,
}

impl Process {
    pub(super) fn of(recording: &Recording, profile: &Profile) -> Self {
        let memory = ResidentMemory::of(recording);
        Self {
            memory: memory.map(|memory| memory.with_samples(recording, profile)),
            collections: collections::of(recording),
        }
    }
}

/// Reads the trace, and says so on a terminal if it takes long.
pub(super) fn read(recording: &Recording) -> Result<Profile, Failure> {
    let path = &recording.trace;
    let unreadable = |error: std::io::Error| Failure::unreadable(path, &error);
    let bytes = trace_file::open(recording).map_err(unreadable)?;
    let started = Instant::now();
    let mut bar: Option<indicatif::ProgressBar> = None;
    let rates = rates::list(recording).map(Into::into);
    let profile = Profile::read_with(&bytes, None, rates, &mut |events| {
        if started.elapsed() > PATIENCE {
            let bar = bar.get_or_insert_with(indicatif::ProgressBar::new_spinner);
            bar.set_message(format!("{} million events", events >> 20));
            bar.tick();
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    profile.map_err(|error| loading::no_trace(path, &error))
}
