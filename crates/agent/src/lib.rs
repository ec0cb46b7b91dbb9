//! The agent: what runs inside the target process, as a library. `crates/preload` makes the shared
//! library of it that the dynamic loader puts there.
//!
//! It gets control before the program's own code runs ([`lifecycle`]), starts the runtime's sampler
//! with callbacks of its own and captures callstacks ([`sampling`]), and writes events into the trace
//! ([`recording`]). When asked, it takes a heap snapshot ([`snapshot`]). Programs that are instrumented
//! can ask things of it ([`api`]).
//!
//! Each layer uses only those before it: [`os`], [`random`], [`references`], [`context`], [`recording`], [`sampling`], [`malloc`],
//! [`snapshot`], [`api`], [`lifecycle`]. Programs of other languages than OCaml are recorded by [`native`], which `crates/native`
//! makes a shared library of; it is above all layers, and uses those that know nothing of OCaml.
//!
//! Invariants, so that the target does what it would do alone:
//! - no OCaml code is run, and nothing is allocated on the OCaml heap after the start;
//! - this library has a heap of its own ([`os::heap`]): only libc and the runtime call the target's
//!   `malloc` on our behalf, for threads, missing symbols, the environment and the sampler's tables;
//! - no panic crosses the border ([`os::ffi_guard`]), and `errno` is as it was ([`os::errno`]);
//! - the program's stack is not ours to use up: our code has one of its own ([`os::private_stack`]);
//! - locks are held for the time of one event or of writing one packet, and never across calls into
//!   the runtime but one that sets flags ([`os::lock`]);
//! - no descriptor of ours stays open ([`os::append_file`]);
//! - it knows nothing of analysis: it writes what happened.
#![expect(unsafe_code, reason = "lives in another program's process")]

pub mod api;
mod context;
mod lifecycle;
pub mod malloc;
pub mod native;
mod os;
mod random;
mod recording;
mod references;
mod sampling;
mod snapshot;

pub use lifecycle::attach::attach;
pub use lifecycle::exec;
pub use lifecycle::load::{end_of_process, load, on_readlink};
pub use lifecycle::namespaces;
pub use lifecycle::seccomp;
pub use lifecycle::thread_end::exits_alone;
pub use lifecycle::waits;
pub use os::deadly_signal;
pub use os::ffi_guard::guarded;
pub use os::heap::Heap;
