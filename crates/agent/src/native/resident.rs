//! What the process's resident memory is used for, and when it is measured next.
//!
//! `mallinfo2` takes the locks of `malloc`. A thread that was interrupted by a signal may hold one, so it is called
//! only where the whole callstack is known to have no handler; elsewhere its last figures count.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use memtrail_recording::memory::{Figure, HEADING, MemoryFigures};
use memtrail_sampler::{Registers, is_uninterrupted, without_signals};

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
    malloc: Malloc,
    folder: Arc<Folder>,
    written: Lock<Written>,
}

/// What was measured before.
struct Written {
    log: FigureLog,
    /// When that was.
    elapsed: Duration,
    /// What `malloc` counted last.
    counted: MemoryFigures,
}

impl Resident {
    pub(super) fn new(clock: Clock, folder: Arc<Folder>) -> Self {
        let written = Written {
            log: FigureLog::new(FileKind::Memory, HEADING),
            elapsed: Duration::ZERO,
            counted: MemoryFigures::default(),
        };
        let due = AtomicU64::new(coarse().saturating_add(pace::FIRST.as_nanos() as u64));
        Self { clock, due, malloc: Malloc::find(), folder, written: Lock::new(written) }
    }

    /// Measures and writes. Gives the age of the recording.
    ///
    /// No lock is held while it measures: a handler of the program's may end the process meanwhile, in this very
    /// thread, and then measures, too. None runs while it writes, which is short.
    pub(super) fn measure(&self, session: &Path, function: &Registers) -> Duration {
        let mut figures = MemoryFigures::new(self.age());
        figures.cpu = Some(self.clock.cpu());
        process::measure(session, &[], &mut figures);
        let counted = is_uninterrupted(function).then(|| {
            let mut counted = MemoryFigures::default();
            self.malloc.measure(&mut counted);
            counted
        });
        without_signals(|| self.write(&mut figures, counted));
        figures.elapsed
    }

    /// The age of the recording.
    pub(super) fn age(&self) -> Duration {
        Duration::from_micros(self.clock.now().0.saturating_sub(self.clock.start.0))
    }

    fn write(&self, figures: &mut MemoryFigures, counted: Option<MemoryFigures>) {
        let Some(mut written) = self.written.try_lock_for() else { return };
        // Another thread has measured later, perhaps as the process ends.
        if written.elapsed > figures.elapsed {
            return;
        }
        written.elapsed = figures.elapsed;
        if let Some(counted) = counted {
            written.counted = counted;
        }
        for figure in COUNTED {
            figures.set(figure, written.counted.get(figure));
        }
        written.log.append(&self.folder, &figures.line());
    }
}
