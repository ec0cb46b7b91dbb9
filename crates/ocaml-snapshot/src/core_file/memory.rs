//! The memory of a core file, with what the files have that were mapped and not written into it.

use std::cell::Cell;
use std::collections::HashMap;

use memtrail_ocaml::heap::Extent;
use memtrail_ocaml::{Address, Memory};
use zerocopy::FromBytes as _;

use super::parse::CoreFile;

/// Contents of the files that were mapped, by their paths in the core file.
pub type MappedFiles<'a> = HashMap<Vec<u8>, &'a [u8]>;

/// Memory in one piece.
#[derive(Clone, Copy, Debug)]
struct Piece<'a> {
    start: Address,
    bytes: &'a [u8],
}

impl Piece<'_> {
    fn end(&self) -> Address {
        self.start.saturating_add(self.bytes.len() as u64)
    }
}

/// The memory of a core file.
#[derive(Debug)]
pub struct CoreMemory<'a> {
    /// By address, without overlap.
    pieces: Vec<Piece<'a>>,
    /// The piece that was read last.
    last: Cell<usize>,
    /// Words that are read differently, by address.
    changed: Vec<(Address, u64)>,
    /// Names of symbols that were not loaded.
    names: Vec<u8>,
}

/// Names of symbols that were not loaded are taken to be here: no process of x86-64 has memory at such addresses.
const NAMES: Address = 0xffff_8000_0000_0000;

impl<'a> CoreMemory<'a> {
    /// The memory that was written into a core file, with the parts of mapped files that were not.
    ///
    /// The kernel and gdb leave out code and constants. The kernel lists such parts without contents, gdb does not list
    /// them; both list the files.
    pub fn new(core: &CoreFile<'a>, files: &MappedFiles<'a>) -> Self {
        let mut pieces: Vec<Piece<'a>> = Vec::new();
        let mut next = 0;
        for segment in core.segments.iter().filter(|segment| !segment.present.is_empty()) {
            let Some(bytes) = core.bytes.get(segment.present.clone()) else { continue };
            // Neighbours in memory that are neighbours in the file are one piece: a chunk of the heap may span both.
            match pieces.last_mut() {
                Some(last) if last.end() == segment.start && next == segment.present.start => {
                    let first = next - last.bytes.len();
                    last.bytes = core.bytes.get(first..segment.present.end).unwrap_or(last.bytes);
                }
                _ => pieces.push(Piece { start: segment.start, bytes }),
            }
            next = segment.present.end;
        }
        let written = core.segments.iter().filter(|segment| segment.written > 0);
        let written: Vec<(Address, Address)> = written
            .map(|segment| (segment.start, segment.start.saturating_add(segment.written)))
            .collect();
        for file in &core.files {
            let Some(content) = files.get(&file.path) else { continue };
            let mut add = |start: Address, end: Address| {
                let offset = file.offset.saturating_add(start - file.addresses.start);
                let content = content.get(usize::try_from(offset).unwrap_or(usize::MAX)..);
                let content = content.unwrap_or_default();
                let length = (end - start).min(content.len() as u64) as usize;
                if length > 0 {
                    pieces.push(Piece { start, bytes: content.get(..length).unwrap_or_default() });
                }
            };
            let mut at = file.addresses.start;
            let first = written.partition_point(|(_, end)| *end <= at);
            for &(start, end) in written.get(first..).unwrap_or_default() {
                if start >= file.addresses.end {
                    break;
                }
                if start > at {
                    add(at, start);
                }
                at = at.max(end);
            }
            if at < file.addresses.end {
                add(at, file.addresses.end);
            }
        }
        pieces.sort_by_key(|piece| piece.start);
        let mut end = 0;
        pieces.retain(|piece| {
            let is_apart = piece.start >= end;
            end = end.max(piece.end());
            is_apart
        });
        Self { pieces, last: Cell::new(0), changed: Vec::new(), names: Vec::new() }
    }

    /// Adds names that were not loaded, and returns the address of their first byte.
    pub(super) fn add_names(&mut self, names: Vec<u8>) -> Address {
        self.pieces.retain(|piece| piece.end() <= NAMES);
        self.names = names;
        NAMES
    }

    /// From now on, reads `value` at the address of a word.
    pub(super) fn change(&mut self, at: Address, value: u64) {
        let place = self.changed.partition_point(|(known, _)| *known < at);
        self.changed.insert(place, (at, value));
    }

    #[inline]
    fn piece(&self, at: Address) -> Option<&Piece<'a>> {
        let holds = |piece: &&Piece<'a>| at >= piece.start && at < piece.end();
        if let Some(piece) = self.pieces.get(self.last.get()).filter(holds) {
            return Some(piece);
        }
        let place = self.pieces.partition_point(|piece| piece.start <= at).checked_sub(1)?;
        self.last.set(place);
        self.pieces.get(place).filter(holds)
    }

    fn rest(&self, at: Address) -> Option<&'a [u8]> {
        let piece = self.piece(at)?;
        piece.bytes.get((at - piece.start) as usize..)
    }

    /// Bytes from an address on; `None` unless all are there.
    pub(super) fn slice(&self, start: Address, length: u64) -> Option<&'a [u8]> {
        self.rest(start)?.get(..usize::try_from(length).ok()?)
    }

    /// Words of an extent: all of them, or as many as are there before the first that is missing.
    pub fn words(&self, extent: Extent) -> Option<&'a [u64]> {
        let rest = self.rest(extent.start)?;
        let length = usize::try_from(extent.bytes).unwrap_or(usize::MAX).min(rest.len());
        <[u64]>::ref_from_bytes(rest.get(..length & !7)?).ok()
    }
}

impl Memory for CoreMemory<'_> {
    #[inline]
    fn bytes<const N: usize>(&self, at: Address) -> Option<[u8; N]> {
        if let (8, Some((first, _)), Some((last, _))) =
            (N, self.changed.first(), self.changed.last())
            && (*first..=*last).contains(&at)
            && let Ok(place) = self.changed.binary_search_by_key(&at, |(known, _)| *known)
        {
            return self.changed.get(place)?.1.to_le_bytes().first_chunk().copied();
        }
        if at >= NAMES {
            let names = self.names.get((at - NAMES) as usize..);
            return names?.first_chunk().copied();
        }
        self.rest(at)?.first_chunk().copied()
    }
}
