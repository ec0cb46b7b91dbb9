//! Exports of real and hostile traces: what they say adds up, and other tools' rules are kept.

mod invariants;
mod processes;
mod recorded;
mod snapshots;
mod windows;
mod written;
