//! The agent: a shared library that the dynamic loader puts into the target process.
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
#![allow(unreachable_pub, reason = "what is pub here is exported to the dynamic loader")]

mod callstack;
mod clock;
mod describe;
mod entry;
mod environment;
mod exec;
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
mod program;
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

#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();
