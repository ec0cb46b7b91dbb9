//! The private folder shared with the agents: made before the run, read and removed after it.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use memtrail_recording::session::{Options, Status};
use memtrail_types::trusted_folder;

use super::old_sessions;

/// One run in so many looks for sessions that are to be removed.
const RUNS_A_LOOK: u32 = 16;

/// The process that has it locked completes the recordings.
const COMPLETION_FILE: &str = "completion";

/// The right to complete the recordings of a session.
pub(super) struct Completion {
    _file: fs::File,
}

fn gone() -> io::Error {
    io::Error::from(io::ErrorKind::NotFound)
}

/// A session folder; removed with the value.
pub(super) struct Session {
    folder: PathBuf,
}

impl Session {
    /// Makes the folder in memory-backed storage if there is some, and leaves the options in it.
    pub(super) fn create(options: &Options) -> io::Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        for base in runtime.into_iter().chain([PathBuf::from("/dev/shm"), std::env::temp_dir()]) {
            // What other users could rename, agents would read.
            if let Err(error) = trusted_folder::check_shared(&base) {
                last = error;
                continue;
            }
            for attempt in 0..16u32 {
                let nanoseconds = std::time::SystemTime::now()
                    .duration_since(std::time::UNIX_EPOCH)
                    .map_or(0, |d| d.subsec_nanos());
                let unique = format!("{nanoseconds:x}{attempt:x}");
                let name = old_sessions::folder_name(std::process::id(), &unique);
                let folder = base.join(name);
                match fs::DirBuilder::new().mode(0o700).create(&folder) {
                    Ok(()) => {
                        // Each folder that killed launchers have left costs some microseconds. By the clock: in a container
                        // each launcher may have the same number.
                        if (nanoseconds / 1_000).is_multiple_of(RUNS_A_LOOK) {
                            old_sessions::remove(&base);
                        }
                        let session = Self { folder };
                        options.save(&session.folder)?;
                        return Ok(session);
                    }
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => {
                        last = error;
                        break;
                    }
                }
            }
        }
        Err(last)
    }

    /// Takes on the session of another launcher.
    pub(super) fn adopt(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Leaves it to somebody else.
    pub(super) fn leave(self) {
        std::mem::forget(self);
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits for the right to complete the recordings, which one process has at a time. The error is that the session is gone: they
    /// are complete.
    pub(super) fn claim_completion(&self) -> io::Result<Completion> {
        let file = self.completion_file()?;
        file.lock()?;
        self.is_there().then_some(Completion { _file: file }).ok_or_else(gone)
    }

    /// Takes that right if it is free. Gives nothing if another process completes the recordings.
    pub(super) fn try_claim_completion(&self) -> io::Result<Option<Completion>> {
        let file = self.completion_file()?;
        match file.try_lock() {
            Ok(()) => self.is_there().then_some(Some(Completion { _file: file })).ok_or_else(gone),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn completion_file(&self) -> io::Result<fs::File> {
        fs::File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.folder.join(COMPLETION_FILE))
    }

    fn is_there(&self) -> bool {
        self.folder.join(COMPLETION_FILE).exists()
    }

    /// What the agents have reported.
    pub(super) fn statuses(&self) -> Vec<Status> {
        Status::load_all(&self.folder).unwrap_or_default()
    }

    /// Packets that were being filled when their process ended: (its pid and image, the bytes).
    pub(super) fn live_packets(&self) -> Vec<(PathBuf, String)> {
        self.files_named("tail-")
    }

    /// Files with bytes that waited for room on the disk when their process ended, likewise.
    pub(super) fn waiting(&self) -> Vec<(PathBuf, String)> {
        self.files_named("waiting-")
    }

    fn files_named(&self, prefix: &str) -> Vec<(PathBuf, String)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut found: Vec<_> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                name.starts_with(prefix).then(|| (entry.path(), name))
            })
            .collect();
        found.sort();
        found
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Nothing but files of ours is in it, and nothing is lost if it stays.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
