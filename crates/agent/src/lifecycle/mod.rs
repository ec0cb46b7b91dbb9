//! The process's life: how recording begins, and what becomes of it at `exec`, as threads end, and at the end.

pub(crate) mod attach;
pub(crate) mod attachment;
pub(crate) mod environment;
pub(crate) mod environment_array;
pub mod exec;
pub(crate) mod generation;
pub(crate) mod hooks;
pub(crate) mod injected;
mod leave;
pub(crate) mod load;
pub mod namespaces;
mod next_program;
pub(crate) mod pending_start;
pub(crate) mod recorded;
pub mod seccomp;
pub(crate) mod start;
pub(crate) mod thread_end;
pub mod waits;
