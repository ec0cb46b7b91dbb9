//! Interns byte strings: equal ones get equal ids, numbered from 0.

use std::marker::PhantomData;

use rustc_hash::FxHashMap;

use crate::units::{FileId, FunctionId};

/// An id that [`Strings`] gives out.
pub trait StringId: Copy {
    /// Position in the table of strings.
    fn index(self) -> usize;
    /// The id at a position in the table.
    fn from_index(index: u32) -> Self;
}

impl StringId for FileId {
    fn index(self) -> usize {
        self.0 as usize
    }
    fn from_index(index: u32) -> Self {
        Self(index)
    }
}

impl StringId for FunctionId {
    fn index(self) -> usize {
        self.0 as usize
    }
    fn from_index(index: u32) -> Self {
        Self(index)
    }
}

/// A table of distinct byte strings. The format says nothing of their encoding.
#[derive(Clone, Debug)]
pub struct Strings<Id> {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    ids: FxHashMap<Box<[u8]>, u32>,
    kind: PhantomData<Id>,
}

impl<Id> Default for Strings<Id> {
    fn default() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), ids: FxHashMap::default(), kind: PhantomData }
    }
}

impl<Id: StringId> Strings<Id> {
    /// How many there are. Ids are below it.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string of an id; empty for an id of another table.
    pub fn get(&self, id: Id) -> &[u8] {
        let index = id.index();
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |&e| e);
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The id of a string that has been met.
    pub fn find(&self, string: &[u8]) -> Option<Id> {
        self.ids.get(string).map(|&index| Id::from_index(index))
    }

    /// All ids and their strings.
    pub fn iter(&self) -> impl Iterator<Item = (Id, &[u8])> + '_ {
        (0..self.ends.len() as u32).map(|index| {
            let id = Id::from_index(index);
            (id, self.get(id))
        })
    }

    pub(crate) fn intern(&mut self, string: &[u8]) -> Id {
        if let Some(id) = self.find(string) {
            return id;
        }
        let index = self.ends.len() as u32;
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
        self.ids.insert(string.into(), index);
        Id::from_index(index)
    }
}
