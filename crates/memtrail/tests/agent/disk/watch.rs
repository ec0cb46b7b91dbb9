//! The bytes of a recording, looked at again and again while the program runs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use memtrail_recording::thinned::{THINNED_FILE, UNFINISHED_FILE};

/// Bytes of all files, each once: one that is renamed meanwhile may be met under both names.
pub(super) fn bytes_in(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let known = files.filter_map(|file| file.metadata().ok());
    let by_number: BTreeMap<u64, u64> = known.map(|file| (file.ino(), file.len())).collect();
    by_number.values().sum()
}

/// True if a thinned trace is being written, or waits for the agent.
pub(super) fn is_being_thinned(folder: &Path) -> bool {
    [THINNED_FILE, UNFINISHED_FILE].iter().any(|name| folder.join(name).exists())
}

/// A thread that looks at a recording until it is asked what it saw.
pub(super) struct Watch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

/// Facts about all looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) looks: u64,
    /// The most bytes at any look.
    pub(super) most: u64,
    /// Looks at which a thinned trace was there beside the trace.
    pub(super) thinning: u64,
}

impl Watch {
    pub(super) fn start(folder: PathBuf) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut seen = Seen::default();
            while !told.load(Relaxed) {
                seen.looks += 1;
                seen.most = seen.most.max(bytes_in(&folder));
                seen.thinning += u64::from(is_being_thinned(&folder));
                thread::sleep(Duration::from_micros(500));
            }
            seen
        });
        Self { is_over, thread }
    }

    pub(super) fn finish(self) -> Seen {
        self.is_over.store(true, Relaxed);
        self.thread.join().expect("looks")
    }
}
