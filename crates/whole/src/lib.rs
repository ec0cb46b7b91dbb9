//! The shared library that the dynamic loader puts into OCaml programs whose calls of `malloc` are recorded, too.
//!
//! It has the functions of `crates/preload`, which become part of any OCaml program, and those of `crates/native`
//! before the allocator's. All else is in `memtrail_agent`, which is checked as a library.
#![expect(unsafe_code, reason = "lives in another program's process")]
#![allow(unreachable_pub, reason = "what is pub here is exported to the dynamic loader")]

#[path = "../../native/src/allocate.rs"]
mod allocate;
#[path = "../../native/src/definition.rs"]
#[allow(
    dead_code,
    reason = "a part is for programs that run, which this library is not loaded into"
)]
mod definition;
mod entry;
#[path = "../../preload/src/exec.rs"]
mod exec;
#[path = "../../preload/src/leave.rs"]
mod leave;
#[path = "../../native/src/library_operators.rs"]
mod library_operators;
#[path = "../../native/src/loaded_later.rs"]
mod loaded_later;
#[path = "../../native/src/next.rs"]
#[allow(
    dead_code,
    reason = "a part is for programs that run, which this library is not loaded into"
)]
mod next;
#[path = "../../native/src/operator_definitions.rs"]
mod operator_definitions;
#[path = "../../native/src/operators.rs"]
#[allow(
    dead_code,
    reason = "a part is for programs that run, which this library is not loaded into"
)]
mod operators;
#[path = "../../preload/src/own_calls.rs"]
mod own_calls;
#[path = "../../native/src/place.rs"]
mod place;
#[path = "../../preload/src/readlink.rs"]
mod readlink;
#[path = "../../native/src/resize.rs"]
mod resize;
#[path = "../../native/src/scope.rs"]
#[allow(dead_code, reason = "as above")]
mod scope;
#[path = "../../preload/src/seccomp.rs"]
mod seccomp;
#[path = "../../preload/src/table.rs"]
mod table;
#[path = "../../native/src/unload.rs"]
mod unload;
#[path = "../../preload/src/wait.rs"]
mod wait;

use memtrail_agent::end_of_process;

#[global_allocator]
static HEAP: memtrail_agent::Heap = memtrail_agent::Heap;
