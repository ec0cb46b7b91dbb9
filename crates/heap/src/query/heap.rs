//! What queries are asked of.

use crate::block_types::BlockTypes;
use crate::contents::{ObjectTypes, types_by_contents_in};
use crate::graph::{Failed, Graph, Place};
use crate::read::{Error, Snapshot};

/// A snapshot and its analysis.
#[derive(Debug)]
pub struct Heap<'a> {
    /// The file.
    pub snapshot: Snapshot<'a>,
    /// What retains what in it.
    pub graph: Graph,
    /// How many threads may work on an answer.
    pub threads: usize,
    /// What is known of the types of its blocks.
    pub types: BlockTypes,
}

impl<'a> Heap<'a> {
    /// Analyses a snapshot.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn new(snapshot: Snapshot<'a>, threads: usize) -> Result<Self, Error> {
        let graph = Graph::new(&snapshot, threads)?;
        Ok(Self { snapshot, graph, threads, types: BlockTypes::default() })
    }

    /// Gives types by contents to blocks that have none.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn recognise(&mut self) -> Result<(), Error> {
        self.recognise_in(&Place::Memory).map_err(Failed::in_memory)
    }

    /// The same with columns at a place.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged, or there is no room for columns.
    pub fn recognise_in(&mut self, place: &Place) -> Result<(), Failed> {
        let Self { snapshot, types, threads, .. } = self;
        let ObjectTypes { by_class, by_methods } = ObjectTypes::new(place, snapshot, *threads)?;
        // A class is more exact than the methods that its type has.
        let known = by_class.or(std::mem::take(types)).or(by_methods);
        let recognised = types_by_contents_in(place, snapshot, &known, *threads)?;
        *types = known.or(recognised);
        Ok(())
    }
}
