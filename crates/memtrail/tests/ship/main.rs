//! `memtrail ship` against a receiver on loopback that decodes what it gets.
#![forbid(unsafe_code)]

mod connections;
mod metrics;
mod official;
mod protocols;
mod receiver;
mod recordings;
mod running;
mod thinned;
mod windows;
