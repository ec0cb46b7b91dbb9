//! The recording under way: its files, the streams of the domains, live packets, forks.

pub(crate) mod active;
pub(crate) mod begin;
pub(crate) mod collection_hooks;
pub(crate) mod collections;
pub(crate) mod describe;
pub(crate) mod end;
pub(crate) mod figure_log;
pub(crate) mod files;
pub(crate) mod flusher;
pub(crate) mod folder;
pub(crate) mod hooks;
mod impossible;
pub(crate) mod installed;
pub(crate) mod live_packet;
pub(crate) mod memory;
pub(crate) mod memory_thread;
pub(crate) mod modules;
pub(crate) mod notes;
pub(crate) mod output;
pub(crate) mod rate_log;
pub(crate) mod recorder;
pub(crate) mod relay;
pub(crate) mod report;
pub(crate) mod small_heap;
pub(crate) mod stream;
pub(crate) mod threads;
pub(crate) mod written_check;
