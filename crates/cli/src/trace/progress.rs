//! Says on a terminal that a long trace is still being read.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;

/// Reading that takes less is over before anyone wonders.
const PATIENCE: Duration = Duration::from_secs(1);
/// Events between two looks at the clock.
const STRIDE: u64 = 1 << 20;

/// Counts events; shows the count on standard error if that is a terminal.
pub(super) struct Progress {
    started: Instant,
    events: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { started: Instant::now(), events: 0, bar: None }
    }

    /// One more event.
    #[inline]
    pub(super) fn tick(&mut self) {
        self.events += 1;
        if self.events.is_multiple_of(STRIDE) {
            self.show();
        }
    }

    #[cold]
    fn show(&mut self) {
        if self.started.elapsed() > PATIENCE {
            let bar = self.bar.get_or_insert_with(ProgressBar::new_spinner);
            bar.set_message(format!("{} million events", self.events / 1_000_000));
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
