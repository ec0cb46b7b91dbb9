//! Source of a heap, and reasons why it has none to be read, with what helps.

use std::path::Path;

use memtrail_ocaml_snapshot::core_file::Unreadable;

use crate::error::{Failure, Kind};

/// Source of a heap.
#[derive(Clone, Copy, Debug)]
pub(in crate::snapshot) enum Source<'a> {
    /// A core file.
    CoreFile(&'a Path),
    /// The frozen copy of a process.
    Process(u32),
}

impl Source<'_> {
    /// The source in messages.
    pub(in crate::snapshot) fn name(self) -> String {
        match self {
            Self::CoreFile(path) => path.display().to_string(),
            Self::Process(pid) => format!("process {pid}"),
        }
    }
}

/// The failure for a process whose heap cannot be read.
pub(in crate::snapshot) fn no_heap(source: Source<'_>, error: Unreadable) -> Failure {
    let message = match source {
        Source::CoreFile(_) => format!("no heap in {}: {error}", source.name()),
        Source::Process(pid) => {
            format!("process {pid} is not recorded, and has no heap to read: {error}")
        }
    };
    let failure = Failure::new(Kind::Input, message);
    match (error, source) {
        (Unreadable::NoSymbols, Source::CoreFile(_)) => {
            failure.hint("name the executable before it was stripped: --core CORE EXE")
        }
        (Unreadable::NoSymbols, Source::Process(pid)) => failure.hint(format_args!(
            "if it is an OCaml program, name its executable before it was stripped: \
             gcore -o core {pid}; memtrail snapshot --core core.{pid} EXE"
        )),
        (Unreadable::NoExecutable, Source::CoreFile(_)) => {
            failure.hint("name the program that ran: --core CORE EXE")
        }
        (Unreadable::NoState, Source::CoreFile(_)) => failure.hint(
            "the file is cut off, or the kernel was told to leave private memory out \
             (/proc/PID/coredump_filter)",
        ),
        (Unreadable::NoState | Unreadable::NoFrameTable, Source::Process(pid)) => {
            failure.hint(format_args!("if it has just started, try again: memtrail snapshot {pid}"))
        }
        _ => {
            failure.hint("memtrail reads the heap of programs of OCaml 4.12 to 4.14 and 5.1 to 5.5")
        }
    }
}
