//! The types that contents give.

use std::io;

use crate::block_types::{BlockType, BlockTypes, Derivation, FieldNames};
use crate::graph::column::{Column, Place};

/// A block of a structure that is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    ListCell,
    Queue,
    QueueCell,
    MapNode,
    SetNode,
    HashTable,
    Buckets,
    Bucket,
    EphemeronTable,
    EphemeronBuckets,
    EphemeronBucket,
    Buffer,
    NestedBuffer,
    BufferBytes,
    Array,
}

impl Part {
    const ALL: [Self; 15] = [
        Self::ListCell,
        Self::Queue,
        Self::QueueCell,
        Self::MapNode,
        Self::SetNode,
        Self::HashTable,
        Self::Buckets,
        Self::Bucket,
        Self::EphemeronTable,
        Self::EphemeronBuckets,
        Self::EphemeronBucket,
        Self::Buffer,
        Self::NestedBuffer,
        Self::BufferBytes,
        Self::Array,
    ];

    fn block_type(self) -> BlockType {
        let names =
            |names: &[&str]| FieldNames::Names(names.iter().map(|name| (*name).into()).collect());
        let (name, constructor, fields) = match self {
            Self::ListCell => ("list", Some("::"), FieldNames::None),
            Self::Queue => ("Queue.t", None, names(&["length", "first", "last"])),
            Self::QueueCell => ("Queue.t", Some("Cons"), names(&["content", "next"])),
            Self::MapNode => ("Map.t", Some("Node"), names(&["l", "v", "d", "r", "h"])),
            Self::SetNode => ("Set.t", Some("Node"), names(&["l", "v", "r", "h"])),
            Self::HashTable => {
                ("Hashtbl.t", None, names(&["size", "data", "seed", "initial_size"]))
            }
            Self::Buckets => ("Hashtbl.t", Some("buckets"), FieldNames::Elements),
            Self::Bucket => ("Hashtbl.t", Some("Cons"), names(&["key", "data", "next"])),
            Self::EphemeronTable => {
                ("Ephemeron.S.t", None, names(&["size", "data", "seed", "initial_size"]))
            }
            Self::EphemeronBuckets => ("Ephemeron.S.t", Some("buckets"), FieldNames::Elements),
            Self::EphemeronBucket => {
                ("Ephemeron.S.t", Some("Cons"), names(&["hash", "container", "next"]))
            }
            Self::Buffer => {
                ("Buffer.t", None, names(&["buffer", "position", "length", "initial_buffer"]))
            }
            Self::NestedBuffer => {
                ("Buffer.t", None, names(&["inner", "position", "initial_buffer"]))
            }
            Self::BufferBytes => ("Buffer.t", Some("inner"), names(&["buffer", "length"])),
            Self::Array => ("array", None, FieldNames::Elements),
        };
        BlockType {
            name: name.into(),
            constructor: constructor.map(Into::into),
            fields,
            derivation: Derivation::Contents,
        }
    }
}

/// Of a block that has a type already.
const TYPED: u16 = u16::MAX;

/// The parts that blocks are recognised as.
#[derive(Debug)]
pub(super) struct Found {
    of: Column<u16>,
}

impl Found {
    /// None yet. Those that have a type in `known` are no part of anything.
    ///
    /// # Errors
    /// If there is no room for the column.
    pub(super) fn new(place: &Place, blocks: u32, known: &BlockTypes) -> io::Result<Self> {
        let mut of: Column<u16> = place.zeros(blocks as usize)?;
        for (of, known) in of.iter_mut().zip(known.column()) {
            *of = if *known == 0 { 0 } else { TYPED };
        }
        Ok(Self { of })
    }

    /// Marks a block, if it is free: whether it was.
    pub(super) fn set(&mut self, block: u32, part: Part) -> bool {
        match self.of.get_mut(block as usize) {
            Some(of) if *of == 0 => {
                *of = part as u16 + 1;
                true
            }
            _ => false,
        }
    }

    /// How many blocks there are.
    pub(super) fn len(&self) -> usize {
        self.of.len()
    }

    /// What a block is marked as.
    pub(super) fn part(&self, block: u32) -> Option<Part> {
        let number = self.of.get(block as usize)?.checked_sub(1)?;
        Part::ALL.get(usize::from(number)).copied()
    }

    /// Whether a block is not marked, and has no type already.
    pub(super) fn is_free(&self, block: u32) -> bool {
        self.of.get(block as usize) == Some(&0)
    }

    /// What was found.
    pub(super) fn into_types(mut self) -> BlockTypes {
        let mut is_empty = true;
        for of in self.of.iter_mut() {
            *of = if *of == TYPED { 0 } else { *of };
            is_empty &= *of == 0;
        }
        if is_empty {
            return BlockTypes::default();
        }
        BlockTypes::from_column(self.of, Part::ALL.iter().map(|part| part.block_type()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_types::BlockTypeId;
    use crate::units::BlockIndex;

    #[test]
    fn parts_have_the_numbers_of_their_types() {
        for (number, part) in (1..).zip(Part::ALL) {
            let mut found = Found::new(&Place::Memory, 1, &BlockTypes::default()).unwrap();
            assert!(found.set(0, part) && !found.set(0, Part::Array) && !found.is_free(0));
            let types = found.into_types();
            assert_eq!(types.id(BlockIndex(0)), BlockTypeId(number));
            assert_eq!(types.of(BlockIndex(0)), Some(&part.block_type()));
        }
    }

    #[test]
    fn blocks_with_a_type_are_no_parts() {
        let ty = Part::ListCell.block_type();
        let known = BlockTypes::new([0, 1].map(BlockTypeId).into(), vec![ty]);
        let mut found = Found::new(&Place::Memory, 3, &known).unwrap();
        assert_eq!([0, 1, 2, 3].map(|block| found.is_free(block)), [true, false, true, false]);
        assert!(!found.set(1, Part::Array) && found.part(1).is_none());
        assert!(found.set(2, Part::Array));
        let types = found.into_types();
        assert_eq!([0, 1, 2].map(|block| types.id(BlockIndex(block)).0 > 0), [false, false, true]);
        assert!(Found::new(&Place::Memory, 3, &known).unwrap().into_types().is_empty());
    }
}
