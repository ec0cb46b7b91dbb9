//! `memtrail attach` and `detach`: real programs at work, which do what they would do alone.
#![forbid(unsafe_code)]
#![cfg(target_arch = "x86_64")]

mod commands;
mod estimates;
mod kills;
mod moments;
mod native;
mod refusals;
mod rounds;
mod server;
