//! The writer: walks a heap that is paused, and writes it as it goes.
//!
//! It is made to run inside a frozen copy of the target: one thread, no `unsafe`, memory of its
//! own of about a sixtieth of the heap and a few megabytes, whatever the blocks hold. What it walks is handed in as slices; what only the
//! runtime knows is asked through [`Details`].

mod block_starts;
mod blocks;
mod closures;
mod details;
mod edges;
mod emit;
mod find;
mod immediates;
mod marks;
mod objects;
pub(crate) mod sections;
mod source;
pub(crate) mod tables;

use std::io::{self, Write};

use immediates::Immediates;

pub use crate::facts::{Facts, SnapshotReason};
pub use crate::label::{LabelRole, Labels, PREDEFINED_EXCEPTIONS, RootKind, Strength};
pub use crate::space::Space;
pub use crate::units::LabelId;
pub use details::{Custom, Details, Function, Owned, Shared};
pub use emit::Written;
pub use source::{ClosureFormat, HeapRuntime, Layout, Region, Root, Sample, Source};

/// Writes a snapshot.
///
/// # Errors
/// Those of `out`, and [`io::ErrorKind::Unsupported`] for more than 2^32 - 2^20 blocks.
pub fn write<W: Write, D: Details>(
    out: W,
    source: &Source<'_>,
    details: &mut D,
) -> io::Result<Written> {
    write_up_to(out, source, details, find::MAX_BLOCKS)
}

fn write_up_to<W: Write, D: Details>(
    out: W,
    source: &Source<'_>,
    details: &mut D,
    max_blocks: u64,
) -> io::Result<Written> {
    let mut immediates = Immediates::new(details);
    let found = find::find(source, details, &mut immediates, max_blocks)?;
    immediates.settle();
    emit::emit(out, source, &found, details, immediates)
}
