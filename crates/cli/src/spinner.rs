//! A spinner on the terminal, for work that takes long.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Work that takes less shows no spinner.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// A spinner that shows until it is dropped.
pub(crate) struct Spinner {
    /// Nothing is sent: it ends when this is gone.
    work: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    /// Shows one after a second.
    pub(crate) fn start(message: String) -> Self {
        let (work, wait) = mpsc::channel::<()>();
        let spin = move || {
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
            let _ = wait.recv();
            bar.finish_and_clear();
        };
        // Without a thread, there is no spinner.
        let thread = thread::Builder::new().name("spinner".into()).spawn(spin).ok();
        Self { work: Some(work), thread }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        drop(self.work.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Does something that may take long, and says so on a terminal if it does.
pub(crate) fn with_spinner<T>(message: String, work: impl FnOnce() -> T) -> T {
    let _spinner = Spinner::start(message);
    work()
}
