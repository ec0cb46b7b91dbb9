//! The shared library that the dynamic loader puts into the target process.
//!
//! It has what only such a library can have: the entry points ([`entry`]), functions that are
//! interposed before libc's ([`readlink`], [`exec`], [`leave`]), the table that programs find ([`table`]) and the
//! allocator. All else is in `memtrail_agent`, which is tested as a library.
#![expect(unsafe_code, reason = "lives in another program's process")]
#![allow(unreachable_pub, reason = "what is pub here is exported to the dynamic loader")]

mod attach;
mod entry;
mod exec;
mod leave;
mod namespaces;
mod own_calls;
mod readlink;
mod seccomp;
mod signals;
mod table;
mod wait;

use memtrail_agent::end_of_process;

#[global_allocator]
static HEAP: memtrail_agent::Heap = memtrail_agent::Heap;
