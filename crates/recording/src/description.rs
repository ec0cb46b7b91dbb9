//! `recording.json`: what was recorded, how, and how it ended.

use std::collections::BTreeMap;

use memtrail_heap::SnapshotReason;
use serde::{Deserialize, Serialize};

/// Version of `recording.json`. A reader refuses a higher one.
pub const FORMAT: u32 = 1;

/// The content of `recording.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Version of memtrail that recorded.
    pub memtrail: String,
    /// Path of the executable.
    pub program: String,
    /// Arguments, the program's own name first. Bytes that are not UTF-8 are replaced.
    pub arguments: Vec<String>,
    /// Process id of the target.
    pub pid: u32,
    /// Process id of the recorded process it was forked from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<u32>,
    /// Process ids above it when it began, the nearest first, up to `memtrail run`. Recorded with
    /// `--children` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<u32>,
    /// Name of the machine.
    pub host: String,
    /// The language runtime inside the target.
    pub runtime: RecordedRuntime,
    /// How allocations were sampled.
    pub sampling: Sampling,
    /// How the trace's clock relates to the world's.
    pub clock: Clock,
    /// When its process ended, became another program, or made recording impossible, in microseconds since the Unix epoch;
    /// absent while it runs, if nobody saw its end, and in recordings of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_unix_us: Option<u64>,
    /// GNU build id of the executable in hexadecimal, when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// The user's labels (`--label KEY=VALUE`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The user's note (`--context`), which is in the trace, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Bytes that this recording and others of the same run may have together (`--disk`); absent if there is no limit, and
    /// in recordings of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<u64>,
    /// True if recordings beside this one share these bytes (`--children`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares_disk: bool,
    /// True if the recording did not begin with the program (`memtrail attach`): what was allocated before is not in the trace.
    /// Earlier versions wrote the note [`ATTACHED`] alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub attached: bool,
    /// The allocation trace.
    pub trace: TraceFile,
    /// Heap snapshots, if the program was started so that they can be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<Vec<Snapshot>>,
    /// What readers should know about the recording, in plain words. Mostly empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How the recording ended; absent while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// A note of a recording that did not begin with the program.
pub const ATTACHED: &str =
    "memtrail was attached to a program that ran: memory allocated before is not in the trace";

/// The runtime that was found in the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedRuntime {
    /// `OCaml`; `native code` for all other languages.
    pub language: String,
    /// Version as far as the layout tells, `4.13` or `5.3`; empty for native code.
    pub version: String,
    /// Bits in a word.
    pub word_bits: u8,
    /// The GC's settings, as `Sys.runtime_parameters` prints them.
    pub parameters: String,
}

/// The language of programs that are recorded by their calls of `malloc`.
const NATIVE: &str = "native code";

impl RecordedRuntime {
    /// That of a program of another language than OCaml.
    pub fn native(word_bits: u8) -> Self {
        Self {
            language: NATIVE.into(),
            version: String::new(),
            word_bits,
            parameters: String::new(),
        }
    }

    /// Whether the program is of another language than OCaml.
    pub fn is_native(&self) -> bool {
        self.language == NATIVE
    }

    /// The language with the version, if it has one.
    pub fn name(&self) -> String {
        format!("{} {}", self.language, self.version).trim_end().to_owned()
    }
}

/// Settings of the sampler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Samples per word.
    pub rate: f64,
    /// What the random numbers came from; `--seed` gives them again.
    #[serde(default)]
    pub seed: u64,
    /// Who walks the stack: `incremental` (the agent) or `runtime`. Both give the same callstacks.
    pub callstacks: String,
    /// Frames of the deepest callstack that is recorded as a whole. Of deeper ones, the middle is left
    /// out. Absent in recordings of earlier versions, which kept as much as fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callstack_depth: Option<u32>,
    /// Words of the minor heap, if it is so small that the runtime loses samples: all estimates are too
    /// low then. Of several, the first that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub small_minor_heap: Option<u64>,
    /// Why no allocations were recorded at all, as a fragment; absent where they were. [`Description::notes`] says
    /// so, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible: Option<String>,
    /// Of an OCaml program whose calls of `malloc` are recorded, too: samples per word of that memory. Its blocks are
    /// off-heap ones in the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malloc_rate: Option<f64>,
    /// Callstacks that were walked twice, and how many of them differed; absent unless asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<Checked>,
}

/// The result of walking stacks twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Stacks walked incrementally and from scratch.
    pub stacks: u64,
    /// Stacks read again from the trace.
    #[serde(default)]
    pub written: u64,
    /// Those that differed. Anything but 0 is a bug.
    pub different: u64,
}

/// One moment on two clocks. Times in the trace are `start_unix_us` plus monotonic time since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Microseconds since the Unix epoch.
    pub start_unix_us: u64,
    /// `CLOCK_MONOTONIC` at that moment, in nanoseconds.
    pub start_monotonic_ns: u64,
}

/// Name of the list of a native program's executable and libraries inside a recording: lines of `/proc/<pid>/maps`.
pub const MODULES_FILE: &str = "modules";

/// Name of the allocation trace inside a recording.
pub const TRACE_FILE: &str = "trace.ctf";

/// The trace file and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFile {
    /// File name inside the folder.
    pub file: String,
    /// Whether more will come.
    pub state: FileState,
    /// Bytes written when the state was noted.
    pub bytes: u64,
    /// Sampled blocks written when the state was noted.
    pub blocks: u64,
    /// Samples whose event could not be written (no memory, no room); 0 unless something is wrong.
    #[serde(default)]
    pub lost: u64,
}

impl TraceFile {
    /// One to which nothing is written yet.
    pub fn growing() -> Self {
        let file = TRACE_FILE.into();
        Self { file, state: FileState::Growing, bytes: 0, blocks: 0, lost: 0 }
    }
}

/// State of a file of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileState {
    /// The target runs and writes.
    Growing,
    /// Everything is there.
    Complete,
    /// The end is missing: the target died without a word, or writing failed, as the outcome says.
    Cut,
}

/// A heap snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Counts from 1.
    pub number: u64,
    /// File name inside the folder.
    pub file: String,
    /// What asked for it.
    pub reason: SnapshotReason,
    /// The name that the program gave it, if it asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Microseconds since the Unix epoch.
    pub taken_unix_us: u64,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: SnapshotOutcome,
}

/// What became of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum SnapshotOutcome {
    /// It is there.
    Complete {
        /// How long the program was paused, in nanoseconds.
        pause_ns: u64,
        /// How long writing took, beside the running program, in nanoseconds.
        write_ns: u64,
        /// Size of the file.
        bytes: u64,
        /// Blocks in the file.
        blocks: u64,
        /// Words that look like pointers and lead to no known block.
        outside: u64,
    },
    /// It could not be written; there is no file.
    Failed {
        /// Why, as a fragment. (`reason` is what asked for the snapshot.)
        #[serde(rename = "failure")]
        reason: String,
    },
}

impl Description {
    /// True if nothing was sampled, nothing was lost, and there is no snapshot. Of what is still written that is not
    /// known yet.
    pub fn did_nothing(&self) -> bool {
        let trace = &self.trace;
        trace.state != FileState::Growing
            && trace.blocks == 0
            && trace.lost == 0
            && !self.has_snapshots()
    }

    /// True if the recording did not begin with the program.
    pub fn is_attached(&self) -> bool {
        self.attached || self.notes.iter().any(|note| note == ATTACHED)
    }

    /// True if there is a snapshot.
    pub fn has_snapshots(&self) -> bool {
        let mut all = self.snapshots.iter().flatten();
        all.any(|snapshot| matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }))
    }
}

/// Why the recording ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The target came to its end; the exit code when the launcher saw it.
    Exited {
        /// Exit code.
        code: Option<i32>,
    },
    /// A signal ended the target.
    Killed {
        /// Signal number.
        signal: i32,
    },
    /// The target replaced itself with another program.
    Execed,
    /// The target started its own `Gc.Memprof` profile, and memtrail handed the sampler over.
    GaveWay,
    /// The trace could not be written any more.
    WriteFailed {
        /// The system's error number.
        errno: i32,
    },
}
