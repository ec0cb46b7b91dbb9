//! What a trace says of its process, its blocks and its call sites.

use crate::units::{SampleRate, Timestamp};

/// The first packet of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceInfo {
    /// Samples per word.
    pub sample_rate: SampleRate,
    /// Bits in a word of the traced process (64, or 32).
    pub word_bits: u8,
    /// Path of the executable.
    pub executable: String,
    /// Name of the machine.
    pub host: String,
    /// `Sys.runtime_parameters ()`, the GC settings.
    pub runtime_params: String,
    /// Process id; packets of other processes are skipped.
    pub pid: u64,
    /// When recording started.
    pub start: Timestamp,
    /// What the user called the run, from version 2 on.
    pub context: Option<String>,
}

/// Where a block was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Source {
    /// In the minor heap.
    Minor = 0,
    /// Directly in the major heap.
    Major = 1,
    /// Outside the OCaml heap (bigarrays, channels, memory that C code reported).
    External = 2,
}

/// The function of frames whose code makes partial applications: the runtime's, not the program's. In brackets, which
/// no function's name has.
pub const PARTIAL_APPLICATION: &[u8] = b"[partial application]";

/// One function at one source position. A call site has several when calls were inlined, the
/// caller first; it has none when there is no debug information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location<'a> {
    /// Function, as memtrace names it: `Stdlib.List.map`, `Cache.add.(fun)`.
    pub function: &'a [u8],
    /// Source file, bytes as the compiler wrote them.
    pub file: &'a [u8],
    /// Line, from 1.
    pub line: u32,
    /// First column, from 0.
    pub start_col: u32,
    /// Column after the last.
    pub end_col: u32,
}
