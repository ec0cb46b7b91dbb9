//! Heap snapshots: what retains memory, written beside the running program.
//!
//! Something asks (`request.rs`): the user by a signal (`signal.rs`) or by a file in the recording
//! (`control.rs`), the end of a major collection, the size of the heap, memory that runs out
//! (`memory_pressure.rs`, `out_of_memory.rs`), the work that the program has done (`auto.rs`), its end, a signal that
//! ends it (`last_by_signal.rs`). The answer waits for a moment when
//! the whole heap holds still (`ocaml4.rs`, `ocaml5.rs`). At that moment the process is copied (`os/frozen_copy.rs`),
//! and goes on; the copy walks the heap and writes the file (`forked_view`), which appears under its name
//! when it is whole.
//!
//! Nothing of this is set up unless the user asked for snapshots.

mod auto;
mod auto_costs;
mod auto_watch;
mod control;
mod domain_stop;
mod domains;
mod forked_view;
pub(crate) mod generation;
pub(crate) mod guest;
mod last_by_signal;
pub(crate) mod lifecycle;
pub(crate) mod memory_pressure;
mod ocaml4;
mod ocaml5;
mod out_of_memory;
mod request;
mod safepoint;
mod setting;
mod share;
mod signal;
mod take;
mod writers;
