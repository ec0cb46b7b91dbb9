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
    Buffer,
    NestedBuffer,
    BufferBytes,
    Array,
}

impl Part {
    const ALL: [Self; 12] = [
        Self::ListCell,
        Self::Queue,
        Self::QueueCell,
        Self::MapNode,
        Self::SetNode,
        Self::HashTable,
        Self::Buckets,
        Self::Bucket,
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

/// The parts that blocks are recognised as.
#[derive(Debug)]
pub(super) struct Found {
    of: Column<u16>,
}

impl Found {
    /// None yet.
    ///
    /// # Errors
    /// If there is no room for the column.
    pub(super) fn new(place: &Place, blocks: u32) -> io::Result<Self> {
        Ok(Self { of: place.zeros(blocks as usize)? })
    }

    /// Marks a block, if it is not marked yet: whether it was not.
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

    /// Whether a block is not marked.
    pub(super) fn is_free(&self, block: u32) -> bool {
        self.of.get(block as usize) == Some(&0)
    }

    /// What was found.
    pub(super) fn into_types(self) -> BlockTypes {
        if self.of.iter().all(|of| *of == 0) {
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
            let mut found = Found::new(&Place::Memory, 1).unwrap();
            assert!(found.set(0, part) && !found.set(0, Part::Array) && !found.is_free(0));
            let types = found.into_types();
            assert_eq!(types.id(BlockIndex(0)), BlockTypeId(number));
            assert_eq!(types.of(BlockIndex(0)), Some(&part.block_type()));
        }
        assert!(Found::new(&Place::Memory, 3).unwrap().into_types().is_empty());
    }
}
