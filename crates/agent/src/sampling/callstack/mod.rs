//! Callstacks of sampled allocations, as the runtime would capture them, at a fraction of the cost.
//!
//! The runtime captures a callstack by a function that it exports; a jump at its start makes it
//! arrive here instead (`capture_hook.rs`), at the very moment of the allocation, also for
//! allocations whose callback it postpones. What the runtime then carries to the callback is not
//! the callstack but a two-word [`token::CaptureToken`].

pub(crate) mod cached;
pub(crate) mod capturer;
mod check;
mod frames;
mod outermost;
mod pending;
mod segments;
mod shown;
pub(crate) mod site_cache;
pub(crate) mod token;
