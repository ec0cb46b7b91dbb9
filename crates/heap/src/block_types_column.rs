//! The types of blocks in a file of them: compressed in chunks, so that no more than one is needed in memory to read or
//! write them.

use std::io;

use lz4_flex::block::{compress, decompress_into};

use crate::graph::Place;
use crate::graph::column::Column;

/// Blocks of a chunk, but for the last.
const CHUNK: usize = 1 << 16;
/// Bytes of a block's type.
const WIDTH: usize = size_of::<u16>();
/// What LZ4 can make of a byte at most.
pub(crate) const MAX_EXPANSION: usize = 255;

/// Writes all chunks.
pub(crate) fn write(of: &[u16], each: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut raw = Vec::with_capacity(CHUNK * WIDTH);
    for some in of.chunks(CHUNK) {
        raw.clear();
        raw.extend(some.iter().flat_map(|id| id.to_le_bytes()));
        let compressed = compress(&raw);
        each(&(compressed.len() as u32).to_le_bytes())?;
        each(&compressed)?;
    }
    Ok(())
}

/// Reads the types of so many blocks, which are numbers up to `types`, and what follows them.
pub(crate) fn read<'b>(
    place: &Place,
    blocks: usize,
    types: usize,
    mut bytes: &'b [u8],
) -> Option<(Column<u16>, &'b [u8])> {
    // Each chunk has a length and one byte at least.
    if blocks.div_ceil(CHUNK) > bytes.len() / (size_of::<u32>() + 1) {
        return None;
    }
    let mut of = place.zeros::<u16>(blocks).ok()?;
    let mut raw = vec![0; CHUNK.min(blocks) * WIDTH];
    for some in of.chunks_mut(CHUNK) {
        let raw = raw.get_mut(..some.len() * WIDTH)?;
        let compressed = chunk(&mut bytes)?;
        if decompress_into(compressed, raw).ok()? != raw.len() {
            return None;
        }
        for (id, two) in some.iter_mut().zip(raw.as_chunks().0) {
            *id = u16::from_le_bytes(*two);
            if usize::from(*id) > types {
                return None;
            }
        }
    }
    Some((of, bytes))
}

/// The next chunk.
pub(crate) fn chunk<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (chunk, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *bytes = rest;
    Some(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(of: &[u16]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(of, &mut |some| {
            bytes.extend_from_slice(some);
            Ok(())
        })
        .unwrap();
        bytes
    }

    #[test]
    fn several_chunks_are_read_again() {
        let of: Vec<u16> = (0..CHUNK * 2 + 3).map(|block| (block / 7 % 900) as u16).collect();
        let mut bytes = written(&of);
        assert!(bytes.len() < of.len());
        bytes.extend_from_slice(b"rest");
        let (read, rest) = super::read(&Place::Memory, of.len(), 899, &bytes).unwrap();
        assert_eq!((&*read, rest), (&*of, &b"rest"[..]));
        assert!(super::read(&Place::Memory, of.len(), 898, &bytes).is_none(), "no such type");
        assert!(super::read(&Place::Memory, usize::MAX / 4, 899, &bytes).is_none(), "too many");
    }

    proptest! {
        #[test]
        fn types_are_read_again(of in prop::collection::vec(0u16..900, 0..300)) {
            let bytes = written(&of);
            let (read, rest) = super::read(&Place::Memory, of.len(), 900, &bytes).unwrap();
            prop_assert_eq!((&*read, rest.len()), (&*of, 0));
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300), blocks in 0usize..400) {
            if let Some((read, _)) = super::read(&Place::Memory, blocks, 900, &bytes) {
                prop_assert_eq!(read.len(), blocks);
            }
        }
    }
}
