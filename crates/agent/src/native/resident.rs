//! What the process's resident memory is used for, measured by threads of the program's: after an allocation that was
//! looked at, when it is time, and as the process ends.
//!
//! `mallinfo2` takes the locks of `malloc`. A thread that was interrupted by a signal may hold one, so it is called
//! only where the whole callstack is known to have no handler; elsewhere its last figures count.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use memtrail_recording::memory::{Figure, HEADING, MemoryFigures};
use memtrail_sampler::{Registers, events, is_uninterrupted};

use crate::native::current::{Recording, own};
use crate::os::clock::{Clock, coarse, thread_cpu_time};
use crate::os::lock::Lock;
use crate::recording::figure_log::FigureLog;
use crate::recording::folder::Folder;
use crate::recording::memory::{Malloc, pace, process};
use crate::recording::output::FileKind;

/// What `malloc` counts.
const COUNTED: [Figure; 3] = [Figure::ArenasUsed, Figure::ArenasFree, Figure::MallocMapped];

/// The measurements of a recording.
pub(super) struct Resident {
    clock: Clock,
    /// When it is time, by the coarse clock.
    due: AtomicU64,
    state: Lock<State>,
}

struct State {
    malloc: Malloc,
    /// What `malloc` counted last.
    counted: MemoryFigures,
    log: FigureLog,
}

impl Resident {
    pub(super) fn new(clock: Clock) -> Self {
        let state = State {
            malloc: Malloc::find(),
            counted: MemoryFigures::default(),
            log: FigureLog::new(FileKind::Memory, HEADING),
        };
        let due = AtomicU64::new(coarse().saturating_add(pace::FIRST.as_nanos() as u64));
        Self { clock, due, state: Lock::new(state) }
    }

    /// Measures, and gives what that took. Nothing while another thread does.
    fn measure(&self, session: &Path, function: &Registers) -> Option<MemoryFigures> {
        let mut state = self.state.try_lock()?;
        let elapsed = self.clock.now().0.saturating_sub(self.clock.start.0);
        let mut figures = MemoryFigures::new(Duration::from_micros(elapsed));
        process::measure(session, &[], &mut figures);
        let state = &mut *state;
        if is_uninterrupted(function) {
            state.malloc.measure(&mut state.counted);
        }
        for figure in COUNTED {
            figures.set(figure, state.counted.get(figure));
        }
        Some(figures)
    }

    /// Appends a line to the file.
    pub(super) fn append(&self, folder: &Folder, figures: &MemoryFigures) {
        if let Some(mut state) = self.state.try_lock() {
            state.log.append(folder, &figures.line());
        }
    }
}

/// Measures, if that is to be done. `function` is one under way that the program called.
pub(super) fn measure_if_due(function: &Registers) {
    let Some(recording) = own() else { return };
    let resident = &recording.resident;
    let due = resident.due.load(Relaxed);
    // Once, whichever thread comes first.
    if coarse() < due
        || resident.due.compare_exchange(due, u64::MAX, Relaxed, Relaxed).is_err()
        || recording.has_ended()
    {
        return;
    }
    events::suspended(|| {
        let begun = thread_cpu_time();
        let elapsed = measure(recording, function);
        let cost = Duration::from_nanos(thread_cpu_time().saturating_sub(begun));
        let pause = pace::next(cost, elapsed.unwrap_or_default()).as_nanos() as u64;
        resident.due.store(coarse().saturating_add(pause), Relaxed);
    });
}

/// Measures and writes. Gives the age of the recording.
pub(super) fn measure(recording: &Recording, function: &Registers) -> Option<Duration> {
    let figures = recording.resident.measure(&recording.setting.session, function)?;
    recording.stream()?.append_memory(&recording.resident, &figures);
    Some(figures.elapsed)
}
