//! Types of blocks by what they and those around them look like, where nothing declares them.
//!
//! A rule looks at tags, sizes, which fields are pointers, and what these point to, over several blocks: size alone
//! means nothing. Where another structure of a usual program looks the same, a block gets no type: so the first
//! cell of a list and short lists have none, as a pair of a value and a list is the same in memory. What is
//! found says that it was found this way ([`Derivation::Contents`](crate::Derivation)). Nothing begins at a block whose
//! type is known already: what it begins has types, too.
//!
//! # How
//!
//! 1. One pass over the snapshot notes a byte for each block ([`form`]), and what the fields of small blocks of tag 0
//!    point to ([`facts`]).
//! 2. In these columns chains ([`chains`]) and balanced trees ([`trees`]) are found.
//! 3. A second pass over the sections that have blocks of many fields looks at their elements ([`arrays`]).
//!
//! Objects are named by their class ([`objects`]), which takes passes of its own where there are any.
//!
//! None of it recurses. While it runs, it takes a byte for each block, and eight to 16 for each block of tag 0 with
//! two to five fields, in columns that `--memory` bounds; the result has two for each block.

mod arrays;
mod block_form;
mod buffers;
mod chains;
mod facts;
mod hash_tables;
mod lists;
mod objects;
mod queues;
mod structures;
mod trees;
mod types;

use crate::block_types::BlockTypes;
use crate::graph::Failed;
use crate::graph::column::Place;
use crate::read::{Error, Snapshot};

pub(crate) use objects::{ObjectTypes, class_of};
pub use structures::{Entry, Structure, Structures};

/// The types of blocks of structures of OCaml's standard library.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn types_by_contents(snapshot: &Snapshot<'_>, threads: usize) -> Result<BlockTypes, Error> {
    Ok(Structures::new(snapshot, threads)?.into_types())
}

/// The same of blocks that have no type in `known`, with columns at a place.
///
/// # Errors
/// If a section of the snapshot is damaged, or there is no room for columns.
pub fn types_by_contents_in(
    place: &Place,
    snapshot: &Snapshot<'_>,
    known: &BlockTypes,
    threads: usize,
) -> Result<BlockTypes, Failed> {
    Ok(Structures::of_untyped(place, snapshot, known, threads)?.into_types())
}
