//! Keeps how far a recording was shipped to a destination, in a file of the recording that is replaced as a whole.
//!
//! Each destination has a file of its own, and a lock, so that two commands do not send the same windows.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{Failure, Kind};
use crate::output::Output;

/// Version of the file. A reader refuses a higher one.
const FORMAT: u32 = 1;
const PREFIX: &str = "ship-";
const SUFFIX: &str = ".json";

/// The content of the file. Times without `unix` count from the recording's start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    format: u32,
    pub(super) destination: String,
    /// Start of the recording: another recording in the same folder begins anew.
    pub(super) start_unix_us: u64,
    pub(super) every_us: u64,
    /// The windows before this moment are done.
    pub(super) shipped_to_us: u64,
    /// Device and inode of the trace, and its bytes that the shipped windows are of.
    pub(super) trace: Option<(u64, u64)>,
    pub(super) read_to: u64,
    pub(super) windows: u64,
    /// Windows in which nothing was allocated or live: they are not sent.
    pub(super) empty: u64,
    /// Windows that the destination did not want.
    pub(super) refused: u64,
    /// Estimate of what was allocated in the shipped windows.
    pub(super) alloc_bytes: u64,
    pub(super) is_over: bool,
    pub(super) last_shipped_unix_us: Option<u64>,
    pub(super) last_error: Option<ErrorNote>,
}

/// An error of a destination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ErrorNote {
    pub(super) message: String,
    pub(super) unix_us: u64,
}

impl ErrorNote {
    pub(super) fn now(message: String) -> Self {
        Self { message, unix_us: now_unix_us() }
    }
}

/// The present by the wall clock. Windows do not depend on it.
pub(super) fn now_unix_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64)
}

/// A state, its file and its lock.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    pub(super) state: State,
    /// Held until the command ends.
    _lock: File,
}

impl StateFile {
    /// Reads the file for a destination, or begins it.
    pub(super) fn open(recording: &Path, destination: &str) -> Result<Self, Failure> {
        let mut first = [0; 8];
        first.copy_from_slice(&Sha256::digest(destination.as_bytes())[..8]);
        let name = format!("{:016x}", u64::from_be_bytes(first));
        let path = folder(recording).join(format!("{}{name}{SUFFIX}", prefix(recording)));
        let lock_path = path.with_extension("lock");
        let cannot = |error: &dyn std::fmt::Display| {
            Failure::new(Kind::Work, format_args!("cannot write {}: {error}", path.display()))
                .hint("memtrail ship keeps what it shipped in the recording: run it as a user who can write there")
        };
        let mut options = OpenOptions::new();
        options.write(true).create(true).mode(0o600);
        let lock = options.open(&lock_path).map_err(|error| cannot(&error))?;
        if lock.try_lock().is_err() {
            let message = format_args!(
                "another memtrail ship sends {} to {destination}",
                recording.display()
            );
            return Err(Failure::new(Kind::Work, message).hint(format_args!(
                "memtrail ship --status {}",
                crate::shell_quote::path(recording)
            )));
        }
        let state = match fs::read(&path) {
            Ok(text) => parse(&path, &text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => State::default(),
            Err(error) => return Err(cannot(&error)),
        };
        let state = State { format: FORMAT, destination: destination.to_owned(), ..state };
        Ok(Self { path, state, _lock: lock })
    }

    /// Replaces the file.
    pub(super) fn save(&self) -> Result<(), Failure> {
        let mut text = serde_json::to_vec_pretty(&self.state).map_err(io::Error::from)?;
        text.push(b'\n');
        let mut output = Output::create(&self.path)?;
        output
            .file
            .write_all(&text)
            .map_err(|error| output.failure(&error))
            .and_then(|()| output.keep())
            .map_err(|failure| failure.hint("windows that are sent again have the same ids"))
    }
}

fn parse(path: &Path, text: &[u8]) -> Result<State, Failure> {
    let bad = |error: &dyn std::fmt::Display| {
        Failure::new(Kind::Input, format_args!("malformed {}: {error}", path.display()))
            .hint("without the file, all windows are shipped again")
    };
    let state: State = serde_json::from_slice(text).map_err(|error| bad(&error))?;
    if state.format > FORMAT {
        return Err(bad(&format_args!(
            "format {}, this memtrail reads up to {FORMAT}",
            state.format
        )));
    }
    Ok(state)
}

/// The states of a recording, one for each destination.
pub(super) fn of_recording(recording: &Path) -> Result<Vec<State>, Failure> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder(recording))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.strip_prefix(&prefix(recording))
                .is_some_and(|name| name.strip_suffix(SUFFIX).is_some_and(|hash| hash.len() == 16))
        })
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read(&path).map_err(|error| Failure::unreadable(&path, &error))?;
        parse(&path, &text)
    };
    paths.into_iter().map(read).collect()
}

/// A bare trace has its file beside it.
fn folder(recording: &Path) -> &Path {
    if recording.is_dir() { recording } else { recording.parent().unwrap_or(recording) }
}

fn prefix(recording: &Path) -> String {
    if recording.is_dir() {
        return PREFIX.to_owned();
    }
    format!("{}.{PREFIX}", recording.file_name().unwrap_or_default().to_string_lossy())
}
