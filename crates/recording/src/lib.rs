//! The recording folder, and how a launcher and the agents it starts talk about it.
//!
//! A recording is a folder `<program>-<pid>.memtrail/` that is readable at any moment:
//!
//! | file | what |
//! |---|---|
//! | `recording.json` | [`Description`]: program, runtime, rate, clock, how it ended |
//! | `trace.ctf` | the allocation trace, in memtrace's format |
//! | `threads` | which thread allocated which blocks, if there were several ([`threads`]) |
//! | `rates` | at which rate blocks were sampled, if it changed ([`rates`]) |
//! | `memory` | what resident memory was used for, over time ([`memory`]) |
//! | `collections` | how often the garbage collector ran, and for how long ([`collections`]) |
//! | `0001.references` … | what refers to the blocks of a native program, if there are any (`memtrail-references`) |
//! | `0001.heap` … | heap snapshots, if there are any; each appears when it is whole |
//!
//! The recordings of one `memtrail run --children` are in one folder, a [`family`].
//!
//! While a program runs under `memtrail run`, launcher and agents share a private *session* folder
//! ([`session`]) that holds the options, one [`Status`](session::Status) a process, and the packets
//! that have not reached the trace yet.
//!
//! Invariants: everything is mode 0600 (folders 0700); `recording.json` is replaced whole, never
//! written in place; no reader needs the session.
#![forbid(unsafe_code)]

mod caveats;
pub mod collections;
mod description;
pub mod disk;
pub mod family;
mod figures;
mod folder;
pub mod fuzz;
mod images;
mod lines;
pub mod mappings;
pub mod memory;
pub mod preload;
mod process;
pub mod rates;
pub mod relay;
pub mod session;
mod small;
mod stretches;
pub mod thinned;
pub mod threads;
pub mod waiting;
mod written;

pub use caveats::too_low;
pub use description::{
    ATTACHED, Checked, Clock, Description, FORMAT, FileState, MODULES_FILE, Outcome,
    RecordedRuntime, Sampling, Snapshot, SnapshotOutcome, TRACE_FILE, TraceFile,
};
pub use folder::{
    DESCRIPTION_FILE, Error, REQUEST_FILE, Recording, drop_snapshot, family_name, folder_name,
    number_of_snapshot, number_of_unfinished_snapshot, snapshot_name, unfinished_name,
    unfinished_snapshot_name,
};
pub use images::{PREDECESSORS, successor};
pub use lines::LineError;
pub use memtrail_heap::SnapshotReason;
pub use process::{ancestors, cpu_time, is_alive, is_this_host, process_age, started_at};
pub use small::{NO_LAST_SNAPSHOT, SMALLEST_WITH_LAST_SNAPSHOT, has_no_last_snapshot};
pub use stretches::Stretches;
pub use written::mark_as_written;
