//! Parents put aside while their column is used for tree roots: most stand near their children, so that a
//! byte or two does for each.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use super::chunk_buffer::{ChunkBuffer, Spooled};
use super::column::Place;
use super::nodes::{NO_BLOCK, SHARED};
use super::passes::{PIECE, in_pieces};
use memtrail_leb128::{Cursor, put, unzigzag, zigzag};

/// A column of parents, in pieces of as many: 0 is [`SHARED`], 1 is [`NO_BLOCK`], all others are 2 more
/// than the difference to the block, in zigzag.
#[derive(Debug)]
pub(crate) struct Packed {
    pieces: Spooled,
}

impl Packed {
    /// # Errors
    /// If there is no room for it.
    pub(crate) fn new(place: &Place, parents: &[AtomicU32], threads: usize) -> io::Result<Self> {
        let chunk_buffer =
            ChunkBuffer::new(place, parents.len().div_ceil(PIECE), 2 * parents.len());
        in_pieces(parents.len(), threads, |range| {
            let mut bytes = Vec::with_capacity(range.len() * 3 / 2);
            for block in range.clone() {
                put(
                    &mut bytes,
                    match parents[block].load(Ordering::Relaxed) {
                        SHARED => 0,
                        NO_BLOCK => 1,
                        parent => zigzag(i64::from(parent) - block as i64) + 2,
                    },
                );
            }
            chunk_buffer.put(range.start / PIECE, &bytes);
        });
        Ok(Self { pieces: chunk_buffer.finish()? })
    }

    /// Hands out the blocks of a piece with their parents.
    #[inline]
    pub(crate) fn each(&self, range: Range<usize>, mut each: impl FnMut(usize, u32)) {
        let mut cursor = Cursor::new(self.pieces.get(range.start / PIECE));
        for block in range {
            let parent = match cursor.number() {
                Some(0) => SHARED,
                None | Some(1) => NO_BLOCK,
                Some(packed) => (block as i64 + unzigzag(packed - 2)) as u32,
            };
            each(block, parent);
        }
    }
}
