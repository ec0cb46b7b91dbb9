//! Tables of recordings as Parquet files, which SQL engines read: a *lake*.
//!
//! | module | job |
//! |---|---|
//! | [`schema`] | tables and their columns: name, type, unit, meaning |
//! | [`identity`] | ids, which are hashes of content, so that files of different recordings fit together |
//! | [`place`] | the file of a table of a recording: partitions by service, version and date |
//! | [`value`] | values of rows |
//! | [`writer`] | rows into a Parquet file, in row groups of bounded size |
//! | [`files`] | the files of one recording: written under temporary names, renamed at the end |
//! | [`allocations`] | rows of a trace: frames, callstacks, samples, blocks, live memory over time |
//! | [`snapshot`] | rows of a heap snapshot: types, owners |
//! | [`graph`] | rows of its blocks, pointers and roots |
//! | [`suspects`] | rows of leak suspects |
//! | [`footer`] | the schema version of a file, checked before anything is read |
//! | [`compact`] | many files of a table and partition into one; retention |
//! | [`recording`] | the row of a recording |
//! | [`pseudonym`] | names for a lake that is given away |
//!
//! Invariants: this crate knows no process, no terminal and no SQL engine. It judges nothing: suspects, owners and types
//! are the engine's answers. Memory does not grow with the number of rows. A file is renamed when it is whole, so readers
//! see all of it or nothing.
#![forbid(unsafe_code)]

pub mod allocations;
mod buffer;
pub mod compact;
pub mod error;
pub mod files;
pub mod footer;
pub mod graph;
pub mod identity;
pub mod place;
pub mod pseudonym;
pub mod recording;
pub mod schema;
pub mod snapshot;
mod sources;
pub mod suspects;
pub mod value;
pub mod writer;
