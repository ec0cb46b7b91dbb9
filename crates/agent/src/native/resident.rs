//! What the process's resident memory is used for, and when it is measured next.
//!
//! `mallinfo2` takes the locks of `malloc`. A thread that was interrupted by a signal may hold one, so it is called
//! only where the whole callstack is known to have no handler; elsewhere its last figures count.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use memtrail_recording::memory::{Figure, HEADING, MemoryFigures};
use memtrail_sampler::{Registers, is_uninterrupted};

use crate::os::clock::{Clock, coarse};
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
    pub(super) due: AtomicU64,
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
    pub(super) fn measure(&self, session: &Path, function: &Registers) -> Option<MemoryFigures> {
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
