//! A process whose memory is there to be read.

use std::path::Path;
use std::time::{Duration, Instant};

use memtrail_ocaml_snapshot::core_file::{CoreFile, CoreProcess};

use super::executables::Executables;
use super::source::Source;

/// A process whose memory is there to be read, and what a snapshot of it is to be like.
pub(in crate::snapshot) struct Taken<'a> {
    pub(in crate::snapshot) source: Source<'a>,
    pub(in crate::snapshot) core: &'a CoreFile<'a>,
    pub(in crate::snapshot) executables: &'a Executables,
    pub(in crate::snapshot) process: &'a CoreProcess<'a>,
    /// The file with the bytecode, if `ocamlrun` runs the program.
    pub(in crate::snapshot) bytecode: Option<&'a Path>,
    /// When its memory was as it is, in microseconds since 1970.
    pub(in crate::snapshot) at_unix_us: u64,
    /// When it began, where that is known.
    pub(in crate::snapshot) began_unix_us: Option<u64>,
    /// Pause of the process.
    pub(in crate::snapshot) pause: Option<Duration>,
    /// When the work of this command began.
    pub(in crate::snapshot) begun: Instant,
    /// A name for a snapshot that is not exact.
    pub(in crate::snapshot) label: Option<&'a str>,
    /// Facts that limit what the snapshot shows.
    pub(in crate::snapshot) notes: Vec<String>,
    /// The recording that `-o` names.
    pub(in crate::snapshot) output: Option<&'a Path>,
    pub(in crate::snapshot) contents: bool,
    pub(in crate::snapshot) json: bool,
}

impl Taken<'_> {
    /// Path of the program: its executable, or its file of bytecode.
    pub(super) fn program(&self) -> String {
        let bytecode = self.bytecode.map(|path| path.to_string_lossy().into_owned());
        bytecode.unwrap_or_else(|| self.executables.path())
    }
}
