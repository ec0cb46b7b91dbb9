//! Findings on an executable.

use super::reason::Reason;
use crate::layout::Machine;
use crate::version::Version;

/// Kind of an executable file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// An OCaml program that can be recorded.
    Ocaml(Program),
    /// An OCaml program that cannot be recorded.
    Refused(Reason),
    /// No OCaml program, but it may start some: a script, a shell, anything else.
    NotOcaml(Other),
}

/// An OCaml program that can be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its runtime's version.
    pub version: Version,
    /// The machine that it was compiled for.
    pub machine: Machine,
    /// Linked with a library that samples on its own, so memtrail may have to give way.
    pub rival: Option<Rival>,
    /// True if the linker's local symbols were removed. Names are known all the same.
    pub stripped: bool,
}

/// A library that uses the runtime's sampler itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rival {
    /// Starts when `MEMTRACE` is set.
    Memtrace,
    /// Limits on memory by sampling.
    MemprofLimits,
}

impl Rival {
    /// The library's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memtrace => "memtrace",
            Self::MemprofLimits => "memprof-limits",
        }
    }
}

/// A file that is no OCaml program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Other {
    /// Begins with `#!`; the interpreter's path as it stands there.
    Script(String),
    /// Machine code.
    Executable,
    /// Neither; the kernel, or a shell, will know what to do with it.
    Unknown,
}
