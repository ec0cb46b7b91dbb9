//! The recording under way: its files, the streams of the domains, live packets, forks.

pub(crate) mod describe;
pub(crate) mod flusher;
pub(crate) mod folder;
pub(crate) mod follow;
pub(crate) mod live_packet;
pub(crate) mod output;
pub(crate) mod rate_log;
pub(crate) mod recorder;
pub(crate) mod relay;
pub(crate) mod small_heap;
pub(crate) mod stream;
pub(crate) mod threads;
