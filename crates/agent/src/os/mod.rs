//! What the operating system gives, for code that runs inside another program: code patching, locks,
//! memory, stacks and threads of our own, the clock. Knows nothing of OCaml.

pub(crate) mod append_file;
pub(crate) mod cancellation;
pub(crate) mod clock;
pub(crate) mod copies;
pub mod deadly_signal;
mod dlmalloc_heap;
pub(crate) mod errno;
pub(crate) mod escape;
pub(crate) mod far_jump;
pub(crate) mod ffi_guard;
pub(crate) mod forked;
pub(crate) mod frozen_copy;
pub(crate) mod function_hooks;
pub(crate) mod heap;
pub mod imports;
pub(crate) mod limits;
pub(crate) mod lock;
pub(crate) mod objects;
pub(crate) mod own_memory;
pub(crate) mod own_thread;
pub(crate) mod patch;
pub(crate) mod private_stack;
pub(crate) mod program;
pub(crate) mod prologue;
pub(crate) mod replaceable;
pub(crate) mod replaced_hook;
pub(crate) mod rest;
pub(crate) mod seccomp;
pub(crate) mod shared_memory;
pub(crate) mod symbol;
pub(crate) mod thread_exit;
pub(crate) mod tls;
pub(crate) mod trampoline_page;
