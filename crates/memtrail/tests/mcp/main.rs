//! `memtrail mcp` as assistants use it: with the official clients, and by its lines.
#![forbid(unsafe_code)]

mod answers;
mod clients;
mod confinement;
mod hostile;
mod lines;
mod session;
mod snapshots;
