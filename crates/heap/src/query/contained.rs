//! What containers hold: keys, values, and what a path through a container says of these.

use serde::Serialize;

use crate::units::Bytes;

/// The keys or values of a container. One that is there several times counts once, immediates do not
/// count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Contained {
    /// How many blocks.
    pub blocks: u64,
    /// Their own size, headers counted.
    pub bytes: Bytes,
    /// What they retain one by one.
    pub retained: Bytes,
}

/// A container that a path leads through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FoldedContainer {
    /// What it is: `hashtbl`, `map` and so on.
    pub structure: &'static str,
    /// How many entries or elements it has.
    pub entries: u64,
    /// Its keys, if it has any.
    pub keys: Option<Contained>,
    /// Its values or elements.
    pub values: Contained,
    /// How many blocks of it the path leads over.
    pub blocks: u64,
}
