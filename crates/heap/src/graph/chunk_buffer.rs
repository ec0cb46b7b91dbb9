//! Pieces of bytes put aside, in any order, and read again by their numbers.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::column::{Column, Place};

/// Bytes of a chunk, which many pieces share: so large that freeing one gives its memory back.
const CHUNK: usize = 64 << 20;

/// Pieces that are being put aside.
#[derive(Debug)]
pub(crate) struct ChunkBuffer {
    place: Place,
    /// At most this many bytes are asked for at a time.
    chunk: usize,
    filling: Mutex<Filling>,
}

#[derive(Debug, Default)]
struct Filling {
    pieces: Spooled,
    /// Bytes of the last chunk that are taken.
    taken: usize,
    failed: Option<io::Error>,
}

/// Pieces that were put aside.
#[derive(Debug, Default)]
pub(crate) struct Spooled {
    chunks: Vec<Column<u8>>,
    /// For each piece its chunk, and where it starts and ends in it.
    places: Vec<(u32, u32, u32)>,
}

impl ChunkBuffer {
    /// Room for so many pieces, that will have about `bytes` bytes together.
    pub(crate) fn new(place: &Place, pieces: usize, bytes: usize) -> Self {
        let places = vec![(0, 0, 0); pieces];
        Self {
            place: place.clone(),
            chunk: bytes.clamp(1 << 16, CHUNK),
            filling: Mutex::new(Filling {
                pieces: Spooled { chunks: Vec::new(), places },
                taken: 0,
                failed: None,
            }),
        }
    }

    /// Puts a piece aside.
    pub(crate) fn put(&self, piece: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut filling = self.filling.lock().unwrap_or_else(PoisonError::into_inner);
        let filling = &mut *filling;
        let room = filling.pieces.chunks.last().map_or(0, |chunk| chunk.len() - filling.taken);
        if room < bytes.len() {
            match self.place.zeros(bytes.len().max(self.chunk)) {
                Ok(chunk) => filling.pieces.chunks.push(chunk),
                Err(error) => {
                    filling.failed = Some(error);
                    return;
                }
            }
            filling.taken = 0;
        }
        let (start, end) = (filling.taken, filling.taken + bytes.len());
        let last = filling.pieces.chunks.len() - 1;
        filling.pieces.chunks[last][start..end].copy_from_slice(bytes);
        filling.pieces.places[piece] = (last as u32, start as u32, end as u32);
        filling.taken = end;
    }

    /// All that was put aside.
    ///
    /// # Errors
    /// If there was no room for a piece.
    pub(crate) fn finish(self) -> io::Result<Spooled> {
        let filling = self.filling.into_inner().unwrap_or_else(PoisonError::into_inner);
        match filling.failed {
            Some(error) => Err(error),
            None => Ok(filling.pieces),
        }
    }
}

impl Spooled {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// A piece; one that was never put aside is empty.
    pub(crate) fn get(&self, piece: usize) -> &[u8] {
        let place = self.places.get(piece).and_then(|(chunk, start, end)| {
            self.chunks.get(*chunk as usize)?.get(*start as usize..*end as usize)
        });
        place.unwrap_or_default()
    }
}
