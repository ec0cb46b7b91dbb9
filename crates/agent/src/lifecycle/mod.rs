//! The process's life: how recording begins, and what becomes of it at `exec` and at the end.

pub(crate) mod environment;
pub mod exec;
pub(crate) mod load;
pub(crate) mod pending_start;
pub(crate) mod start;
