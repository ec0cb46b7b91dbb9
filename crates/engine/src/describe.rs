//! What is known of a recording beside its trace. All of it may be missing: a bare trace has none.
//! Threads count from the next time on that something is read of the trace.
//!
//! The same object stands as JSON in an offline page, beside each trace.

use std::collections::BTreeMap;

use memtrail_profile::Caveats;
use memtrail_profile::threads::ThreadLog;
use memtrail_trace::rates::RateChanges;
use serde::{Deserialize, Serialize};

use crate::process::ProcessResponse;

/// A recording, as its keeper describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "facts that are independent of each other")]
#[serde(default)]
pub struct Description {
    /// What to call it: the folder's or the file's name.
    pub name: String,
    /// Path of the executable; the trace's own word if absent.
    pub program: Option<String>,
    /// Arguments, the program's own name first.
    pub args: Vec<String>,
    /// Version of memtrail that recorded.
    pub memtrail: Option<String>,
    /// The language runtime, as `OCaml 4.14`.
    pub runtime: Option<String>,
    /// Whether the program frees its memory itself: no collector does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_native: bool,
    /// Whether its calls of `malloc` are in the trace beside what the collector frees.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_malloc: bool,
    /// What the sampler's random numbers came from.
    pub seed: Option<u64>,
    /// Whether more will come.
    pub state: State,
    /// How the recording ended, in words; absent while it grows.
    pub outcome: Option<String>,
    /// The user's labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// True if a signal from outside ended the program, or it still runs: it would have gone on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_stopped: bool,
    /// True if the recording did not begin with the program, or the process was forked: it had memory before that nothing is known of.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_attached: bool,
    /// When the snapshot at the end was taken, in seconds since the start. The program waited for nothing after that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_snapshot: Option<f64>,
    /// Why samples are missing, in words: all figures are too low.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// What readers should know, in words.
    pub notes: Vec<String>,
    /// What the recorder reports of the figures.
    #[serde(skip_serializing_if = "Caveats::is_empty")]
    pub caveats: Caveats,
    /// Set when the trace holds only a part of the recorded blocks.
    pub subsampled: Option<Subsampled>,
    /// Whether it is a heap snapshot alone, without an allocation trace.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_trace: bool,
    /// Whether allocations could not be recorded at all; a note says why.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub impossible: bool,
    /// Whether its program can take heap snapshots, as long as it runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub can_snapshot: bool,
    /// Which thread allocated which blocks; absent if there is one only, or if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<ThreadList>,
    /// Units of installed libraries, as functions' names begin; empty if that is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub library_units: Vec<String>,
    /// At which rate blocks were sampled; absent if that never changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<RateList>,
    /// Of all processes of a family together: the numbers of the recordings of each alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<u32>,
    /// What was measured of the process besides its allocations.
    #[serde(skip_serializing_if = "ProcessResponse::is_empty")]
    pub process: ProcessResponse,
    /// The moment at which it was looked at, while its program ran; absent if it had ended, or if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub present: Option<Present>,
}

/// A moment of a program that runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Present {
    /// Since the recording began.
    pub seconds: f64,
    /// Seconds of CPU time that the process has used since, if it was recorded from its beginning.
    pub cpu_seconds: Option<f64>,
}

/// For each domain: from which block on the trace's rate was halved how often; ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateList(pub BTreeMap<u16, Vec<(u64, u8)>>);

impl From<RateList> for RateChanges {
    fn from(RateList(of_domain): RateList) -> Self {
        Self { of_domain }
    }
}

/// Whose blocks are whose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadList {
    /// The names of all threads, each different; empty for numbers that no thread has.
    pub names: Vec<String>,
    /// For each domain: from which block on they are whose, as an index in the names; ascending.
    pub switches: BTreeMap<u16, Vec<(u64, u16)>>,
}

impl From<ThreadList> for ThreadLog {
    fn from(list: ThreadList) -> Self {
        Self { names: list.names, switches: list.switches }
    }
}

/// State of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "RecordingState"))]
pub enum State {
    /// The target runs and writes.
    Growing,
    /// Everything is there, as far as is known.
    #[default]
    Ended,
    /// The target died without a word; what had been flushed is there.
    Cut,
    /// The recording cannot be read any more.
    Lost,
}

/// How much subsampling left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Subsampled {
    /// Recorded blocks that are left.
    pub kept: u64,
    /// Recorded blocks there were.
    pub of: u64,
}
