//! The row of a recording.

use crate::error::Error;
use crate::files::RecordingFiles;
use crate::identity::Hasher;
use crate::schema::Table;
use crate::value::{Value, int, maybe};

/// Facts that identify a recording, wherever its folder is.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// Name of the machine.
    pub host: &'a str,
    /// The process.
    pub pid: u64,
    /// The program's path: a process may become several programs.
    pub program: &'a str,
    /// Microseconds since the Unix epoch at its start.
    pub start_unix_us: u64,
}

impl Identity<'_> {
    /// The recording's id.
    pub fn id(&self, hasher: &Hasher) -> i64 {
        let (pid, start) = (self.pid.to_string(), self.start_unix_us.to_string());
        hasher.of_texts(&[self.host, &pid, self.program, &start])
    }
}

/// A recording.
#[derive(Clone, Debug)]
pub struct RecordingRow<'a> {
    /// Its id.
    pub id: i64,
    /// Name of the machine, unless it is removed.
    pub host: Option<&'a str>,
    /// The process, unless it is removed.
    pub pid: Option<u64>,
    /// The program's path.
    pub program: &'a str,
    /// GNU build id of the executable.
    pub build_id: Option<&'a str>,
    /// Language of the program.
    pub runtime_name: Option<&'a str>,
    /// Version of its runtime.
    pub runtime_version: Option<&'a str>,
    /// Microseconds since the Unix epoch at its start.
    pub start_unix_us: u64,
    /// Microseconds from there to the last event.
    pub duration_us: u64,
    /// Bytes that a sample stands for.
    pub period: f64,
    /// Rate of the sampler.
    pub samples_per_word: f64,
    /// Samples that could not be written.
    pub lost: u64,
    /// True if all estimates are too low.
    pub is_too_low: bool,
    /// The user's labels.
    pub labels: Vec<(String, String)>,
}

impl RecordingRow<'_> {
    /// Writes the row.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, files: &mut RecordingFiles) -> Result<(), Error> {
        let row = [
            Value::Int(self.id),
            self.host.into(),
            maybe(self.pid),
            Value::Text(self.program),
            self.build_id.into(),
            self.runtime_name.into(),
            self.runtime_version.filter(|version| !version.is_empty()).into(),
            int(self.start_unix_us.saturating_mul(1000)),
            int(self.duration_us.saturating_mul(1000)),
            Value::Float(self.period),
            Value::Float(self.samples_per_word),
            int(self.lost),
            Value::Bool(self.is_too_low),
            Value::Texts(&self.labels),
        ];
        files.row(Table::Recordings, &row)
    }
}
