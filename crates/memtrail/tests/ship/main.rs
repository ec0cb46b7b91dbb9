//! `memtrail ship` against a receiver on loopback that decodes what it gets.
#![forbid(unsafe_code)]

mod receiver;
mod windows;
