//! Allocation analysis over a trace: what was allocated where, when, and how much of it lives.
//!
//! A [`Profile`] holds one row a sampled block in columns ([`Blocks`]) and is made from a trace
//! once. Everything else is a pass over its columns:
//!
//! | module | gives |
//! |---|---|
//! | [`estimate`] | unbiased totals from samples, with their standard errors |
//! | [`live_series`] | live memory over time, and its peak |
//! | [`select`] | which blocks: allocated when, live when |
//! | [`filter`] | which blocks, by all that can be asked of them |
//! | [`selected`] | all that a view shows of the blocks that a filter keeps, in one pass |
//! | [`presets`] | filters that answer common questions |
//! | [`growing`] | a [`Profile`] of a trace that still grows |
//! | [`sites`] | totals of a selection by call site, function, module or file |
//! | [`calls`] | call trees, flame graphs, tables, points of interest, comparisons of what a filter keeps |
//! | [`source_lines`] | what each line of a source file allocates |
//! | [`malloc_use`] | what memory from `malloc` is in use for |
//! | [`processes`] | which processes a trace is of that several were merged into |
//! | [`callers`] | from where a place is called, cut down to what matters |
//! | [`report`] | all of these put together, ready to be printed |
//! | [`hotspots`], [`folded`], [`stats`] | what memtrace's tools show of a whole trace, without a [`Profile`] |
//!
//! Invariants: no module here knows files or terminals, nor of processes more than the names of their frames; results depend on the trace
//! alone; whatever a damaged trace says, nothing panics, and what cannot be made sense of is
//! counted ([`Inconsistencies`]).
#![forbid(unsafe_code)]

pub mod allocating_frame;
pub mod blocks;
pub mod build;
pub mod callers;
pub mod calls;
pub mod caveats;
pub mod density;
mod depth_first;
pub mod estimate;
pub mod filter;
pub mod folded;
mod forget;
#[doc(hidden)]
pub mod fuzz;
pub mod growing;
pub mod hotspots;
mod ids;
pub mod live_series;
pub mod malloc_use;
pub mod names;
pub mod presets;
pub mod processes;
pub mod profile;
pub mod report;
pub mod samples;
pub mod select;
pub mod selected;
pub mod sites;
pub mod source_lines;
pub mod stats;
pub mod threads;
pub mod time;

pub use blocks::Blocks;
pub use build::{Inconsistencies, ProfileBuilder};
pub use caveats::Caveats;
pub use profile::Profile;
