//! Parents put aside while their column is used for heads: most stand near their children, so that a
//! byte or two does for each.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pieces::{PIECE, in_pieces};
use super::{NONE, SHARED};
use crate::wire::{Cursor, put, unzigzag, zigzag};

/// A column of parents, in pieces of as many: 0 is [`SHARED`], 1 is [`NONE`], all others are 2 more
/// than the difference to the block, in zigzag.
#[derive(Debug)]
pub(crate) struct Packed {
    pieces: Vec<OnceLock<Vec<u8>>>,
}

impl Packed {
    pub(crate) fn new(parents: &[AtomicU32], threads: usize) -> Self {
        let pieces: Vec<OnceLock<Vec<u8>>> =
            (0..parents.len().div_ceil(PIECE)).map(|_| OnceLock::new()).collect();
        in_pieces(parents.len(), threads, |range| {
            let mut bytes = Vec::with_capacity(range.len() * 3 / 2);
            for block in range.clone() {
                put(
                    &mut bytes,
                    match parents[block].load(Ordering::Relaxed) {
                        SHARED => 0,
                        NONE => 1,
                        parent => zigzag(i64::from(parent) - block as i64) + 2,
                    },
                );
            }
            bytes.shrink_to_fit();
            // Each piece is given out once.
            let _ = pieces[range.start / PIECE].set(bytes);
        });
        Self { pieces }
    }

    /// Hands out the blocks of a piece with their parents.
    #[inline]
    pub(crate) fn each(&self, range: Range<usize>, mut each: impl FnMut(usize, u32)) {
        let Some(bytes) = self.pieces[range.start / PIECE].get() else { return };
        let mut cursor = Cursor::new(bytes);
        for block in range {
            let parent = match cursor.number() {
                Some(0) => SHARED,
                None | Some(1) => NONE,
                Some(packed) => (block as i64 + unzigzag(packed - 2)) as u32,
            };
            each(block, parent);
        }
    }
}
