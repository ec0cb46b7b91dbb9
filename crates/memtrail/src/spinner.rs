//! A spinner on the terminal, for work that takes long.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Work that takes less shows no spinner.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// Does something that may take long, and says so on a terminal if it does.
pub(crate) fn with_spinner<T>(message: String, work: impl FnOnce() -> T) -> T {
    let (done, wait) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner().with_elapsed(PATIENCE);
            bar.set_style(
                ProgressStyle::with_template("{spinner} {msg}: {elapsed}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar.set_message(message);
            bar.enable_steady_tick(TICK);
            // It ends when the sender is gone: nothing is ever sent.
            let _ = wait.recv();
            bar.finish_and_clear();
        });
        let result = work();
        drop(done);
        result
    })
}
