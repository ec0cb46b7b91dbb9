//! Opens a snapshot: its index, the names of its variables, the types of its blocks. Every command and page opens
//! snapshots here, so that all of them keep to the same memory limit and read the same files.

use std::io;

use memtrail_heap::BlockTypes;
#[cfg(feature = "mmap")]
use memtrail_heap::graph::WatchedSnapshot;
use memtrail_heap::graph::{Failed, Graph, Place};
use memtrail_heap::query::Heap;
use memtrail_heap::read::Snapshot;

use super::file::{SnapshotFile, Source};

/// Options for opening a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Find the types of blocks.
    pub typed: bool,
    /// Leave the index and the types of blocks beside the snapshot, for the next time.
    pub keep: bool,
    /// Fail if the section of names or types is damaged. A page shows the rest of the snapshot.
    pub strict: bool,
}

/// Room for the columns of an analysis: in memory, or in files within a memory limit as long as this value lives.
#[derive(Debug)]
pub struct Room<'b> {
    /// The place of columns.
    pub place: Place,
    #[cfg(feature = "mmap")]
    _watched: Option<WatchedSnapshot<'b>>,
    #[cfg(not(feature = "mmap"))]
    bytes: std::marker::PhantomData<&'b ()>,
}

impl<'b> Room<'b> {
    /// Makes room for an analysis of an opened file.
    ///
    /// # Errors
    /// If there is no thread that watches the limit.
    #[cfg_attr(not(feature = "mmap"), allow(unused_variables, clippy::unnecessary_wraps))]
    pub fn of(file: &dyn SnapshotFile, bytes: &'b dyn Source) -> io::Result<Self> {
        #[cfg(feature = "mmap")]
        {
            let Some(limit) = file.memory_limit() else {
                return Ok(Self { place: Place::Memory, _watched: None });
            };
            let place = Place::bounded(&limit.folder, limit.memory)?;
            let watched = bytes.map().map(|map| place.watch(map));
            Ok(Self { place, _watched: watched })
        }
        #[cfg(not(feature = "mmap"))]
        Ok(Self { place: Place::Memory, bytes: std::marker::PhantomData })
    }
}

/// Opens a snapshot that was read from `bytes` of the file.
///
/// # Errors
/// If a section of the snapshot is damaged, or there is no room for columns.
pub fn open_heap<'b>(
    file: &dyn SnapshotFile,
    bytes: &'b dyn Source,
    snapshot: Snapshot<'b>,
    opening: Opening,
) -> Result<Heap<'b>, Failed> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let types = BlockTypes::default();
    let mut heap = if let Some(graph) = file.index(&snapshot) {
        Heap { snapshot, graph, threads, types }
    } else {
        let graph = graph(file, bytes, &snapshot, threads)?;
        let heap = Heap { snapshot, graph, threads, types };
        if opening.keep {
            file.keep_index(&|out| heap.graph.write_index(&heap.snapshot, out));
        }
        heap
    };
    let named = file.name_roots(&mut heap);
    if opening.strict {
        named?;
    }
    if opening.typed {
        find_types(&mut heap, file, bytes, opening)?;
        #[cfg(feature = "mmap")]
        heap.graph.give_back();
        bytes.give_back();
    }
    Ok(heap)
}

#[cfg_attr(not(feature = "mmap"), allow(unused_variables))]
fn graph(
    file: &dyn SnapshotFile,
    bytes: &dyn Source,
    snapshot: &Snapshot<'_>,
    threads: usize,
) -> Result<Graph, Failed> {
    #[cfg(feature = "mmap")]
    if let Some(limit) = file.memory_limit() {
        return Graph::new_bounded(snapshot, bytes.map(), limit.memory, &limit.folder, threads);
    }
    Ok(Graph::new(snapshot, threads)?)
}

/// Finds the types of blocks, or reads those that an earlier analysis left.
fn find_types(
    heap: &mut Heap<'_>,
    file: &dyn SnapshotFile,
    bytes: &dyn Source,
    opening: Opening,
) -> Result<(), Failed> {
    let room = Room::of(file, bytes)?;
    let source = file.types_source();
    if let Some(types) = file.block_types(&mut heap.snapshot, source, &room.place) {
        heap.types = types;
        return Ok(());
    }
    file.give_back(heap);
    let found = file.find_types(heap, &room.place);
    let is_found = match found {
        Err(Failed::Snapshot(_)) if !opening.strict => false,
        found => found.map(|()| true)?,
    };
    heap.recognise_in(&room.place)?;
    file.give_back(heap);
    if opening.keep && is_found {
        file.keep_block_types(&|out| heap.types.write_file(&heap.snapshot, source, out));
    }
    Ok(())
}
