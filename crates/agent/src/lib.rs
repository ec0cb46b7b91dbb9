//! The agent: what runs inside the target process, as a library. `crates/preload` makes the shared
//! library of it that the dynamic loader puts there.
//!
//! It gets control before the program's own code runs ([`entry`]), starts the runtime's sampler with
//! callbacks of its own ([`sampling`], [`trampoline`]), captures callstacks ([`callstack`]), and
//! writes events into the trace ([`stream`], [`output`]). When asked, it writes the heap down
//! ([`snapshot`]). Programs that want to take part can ask things of it ([`program`]).
//!
//! Invariants, so that the target does what it would do alone:
//! - no OCaml code is run, nothing is allocated on the OCaml heap after the start, and the target's
//!   own `malloc` is never called: this library has a heap of its own;
//! - no panic and no `errno` crosses the border ([`ffi_guard`]);
//! - the program's stack is not ours to use up: our code has one of its own ([`private_stack`]);
//! - locks are held for the time of one event or of writing one packet, and never across calls into
//!   the runtime ([`lock`]);
//! - descriptors of ours lie high and are checked before each use ([`output`]);
//! - it knows nothing of analysis: it writes what happened.
#![expect(unsafe_code, reason = "lives in another program's process")]

mod callstack;
mod clock;
mod describe;
mod entry;
mod environment;
pub mod exec;
mod ffi_guard;
mod flusher;
mod folder;
mod follow;
mod forked;
mod handover;
mod heap;
mod live_packet;
mod lock;
mod output;
mod own_thread;
mod patch;
mod pending_start;
mod premature_dealloc;
mod private_stack;
pub mod program;
mod rate;
mod recorder;
mod relay;
mod runtime;
mod sampling;
mod seeding;
mod small_heap;
mod snapshot;
mod start;
mod static_profile;
mod stream;
mod symbolise;
mod thread;
mod threads;
mod tls;
mod trampoline;
mod trampoline_page;
mod value;

pub use entry::{end_of_process, load, on_readlink};
pub use ffi_guard::guarded;
pub use heap::Heap;
pub use program as api;
