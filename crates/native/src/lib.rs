//! The shared library that the dynamic loader puts into programs of other languages than OCaml.
//!
//! It has what only such a library can have: entry points ([`entry`]), functions before those of the program's
//! allocator ([`allocate`], [`resize`], [`operators`]), which is found by [`next`] before libc's that map memory ([`mappings`]), before those that unload code ([`unload`]), and functions before libc's that start or become
//! a program ([`exec`]) or end it ([`leave`]); these two are those of `crates/preload`. In a program that ran before
//! ([`mod@attach`]) none of these is called, until its objects are made to ([`imports`]). All else is in `memtrail_agent::native`,
//! which is checked as a library.
#![expect(unsafe_code, reason = "lives in another program's process")]
#![allow(unreachable_pub, reason = "what is pub here is exported to the dynamic loader")]

mod allocate;
mod attach;
mod definition;
mod entry;
#[path = "../../preload/src/exec.rs"]
mod exec;
mod imports;
#[path = "../../preload/src/leave.rs"]
mod leave;
mod library_operators;
mod loaded_later;
mod mappings;
#[path = "../../preload/src/namespaces.rs"]
mod namespaces;
mod next;
mod operator_definitions;
mod operators;
#[path = "../../preload/src/own_calls.rs"]
mod own_calls;
mod place;
mod resize;
mod scope;
#[path = "../../preload/src/seccomp.rs"]
mod seccomp;
#[path = "../../preload/src/signals.rs"]
mod signals;
mod unload;
#[path = "../../preload/src/wait.rs"]
mod wait;

use memtrail_agent::native::end_of_process;

#[global_allocator]
static HEAP: memtrail_agent::Heap = memtrail_agent::Heap;
