//! Columns of numbers: in memory, or in files where memory is not to hold them all.

use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU32;

use super::number::Number;
#[cfg(feature = "mmap")]
use crate::mapped_arena::{MappedArena, MappedColumn, anonymous};

/// A column of numbers.
#[derive(Debug)]
pub enum Column<T> {
    /// In memory.
    Memory(Vec<T>),
    /// In a file, or in memory that goes back to the system at once.
    #[cfg(feature = "mmap")]
    Mapped(MappedColumn<T>),
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self::Memory(Vec::new())
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self::Memory(numbers)
    }
}

impl<T: Number> Deref for Column<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::Memory(numbers) => numbers,
            #[cfg(feature = "mmap")]
            Self::Mapped(numbers) => numbers,
        }
    }
}

impl<T: Number> DerefMut for Column<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Memory(numbers) => numbers,
            #[cfg(feature = "mmap")]
            Self::Mapped(numbers) => numbers,
        }
    }
}

impl<T> Column<T> {
    /// Gives pages that a file has back to the system.
    #[cfg(feature = "mmap")]
    pub(crate) fn give_back(&self) {
        if let Self::Mapped(numbers) = self {
            numbers.give_back();
        }
    }
}

/// A column that several threads may write to.
pub(crate) fn into_atomic(column: Column<u32>) -> Column<AtomicU32> {
    match column {
        Column::Memory(numbers) => {
            Column::Memory(numbers.into_iter().map(AtomicU32::new).collect())
        }
        #[cfg(feature = "mmap")]
        Column::Mapped(numbers) => Column::Mapped(numbers.into_atomic()),
    }
}

/// A column that nobody writes to any more.
pub(crate) fn into_plain(column: Column<AtomicU32>) -> Column<u32> {
    match column {
        Column::Memory(numbers) => {
            Column::Memory(numbers.into_iter().map(AtomicU32::into_inner).collect())
        }
        #[cfg(feature = "mmap")]
        Column::Mapped(numbers) => Column::Mapped(numbers.into_plain()),
    }
}

/// Where columns are made.
#[derive(Clone, Debug)]
pub enum Place {
    /// In memory.
    Memory,
    /// In files, of which no more is in memory than there is room for.
    #[cfg(feature = "mmap")]
    MappedArena(MappedArena),
}

/// A mapped snapshot of which no more is in memory than there is room for.
#[cfg(feature = "mmap")]
#[derive(Debug)]
pub struct WatchedSnapshot<'m> {
    _watched: Option<crate::mapped_arena::Watched>,
    map: std::marker::PhantomData<&'m memtrail_map::MappedFile>,
}

/// Columns of fewer bytes are not worth a mapping; in tests all are.
#[cfg(feature = "mmap")]
const WORTH_A_MAPPING: usize = if cfg!(test) { 1 } else { 1 << 20 };

#[cfg_attr(
    not(feature = "mmap"),
    allow(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "only files can fail to be made"
    )
)]
impl Place {
    /// In files without names in the folder `scratch`, while the process uses no more than about `memory`.
    ///
    /// # Errors
    /// If there is no thread for it.
    #[cfg(feature = "mmap")]
    pub fn bounded(scratch: &std::path::Path, memory: crate::units::Bytes) -> io::Result<Self> {
        MappedArena::new(scratch, memory).map(Self::MappedArena)
    }

    /// Counts a mapped snapshot among what need not be in memory, as long as the result is kept.
    #[cfg(feature = "mmap")]
    pub fn watch<'m>(&self, map: &'m memtrail_map::MappedFile) -> WatchedSnapshot<'m> {
        let watched = match self {
            Self::Memory => None,
            Self::MappedArena(arena) => Some(arena.snapshot(map)),
        };
        WatchedSnapshot { _watched: watched, map: std::marker::PhantomData }
    }

    /// A column of so many numbers.
    ///
    /// # Errors
    /// If there is no room in the folder of files.
    pub fn column<T: Number>(&self, count: usize, number: impl Fn() -> T) -> io::Result<Column<T>> {
        let mut column = self.room(count)?;
        match &mut column {
            Column::Memory(numbers) => numbers.resize_with(count, number),
            #[cfg(feature = "mmap")]
            Column::Mapped(numbers) => numbers.iter_mut().for_each(|place| *place = number()),
        }
        Ok(column)
    }

    /// A column of zeros.
    ///
    /// # Errors
    /// If there is no room in the folder of files.
    pub fn zeros<T: Number + Default + Clone>(&self, count: usize) -> io::Result<Column<T>> {
        let mut column = self.room(count)?;
        match &mut column {
            Column::Memory(numbers) => numbers.resize(count, T::default()),
            // What is mapped starts as zeros.
            #[cfg(feature = "mmap")]
            Column::Mapped(_) => {}
        }
        Ok(column)
    }

    /// Zeros, or an empty column that has the room.
    fn room<T: Number>(&self, count: usize) -> io::Result<Column<T>> {
        #[cfg(feature = "mmap")]
        if count * size_of::<T>() >= WORTH_A_MAPPING {
            match self {
                Self::MappedArena(scratch) => return scratch.column(count).map(Column::Mapped),
                // Where it fails, the allocator may still have some; it does not fail quietly.
                Self::Memory => {
                    if let Ok(column) = anonymous(count) {
                        return Ok(Column::Mapped(column));
                    }
                }
            }
        }
        Ok(Column::Memory(Vec::with_capacity(count)))
    }
}

#[cfg(all(test, feature = "mmap"))]
mod tests {
    use super::super::{Failed, Graph, Node, RootNodeId, SUPER_ROOT};
    use crate::model::{Heap, Made, Value};
    use crate::read::{Snapshot, Strength};
    use crate::{BlockIndex, Bytes, RootKind, tag};
    use proptest::prelude::*;

    /// A heap of random blocks, some of them custom.
    fn heap(blocks: &[Vec<usize>], roots: &[usize]) -> Vec<u8> {
        let mut heap = Heap::new();
        for (number, fields) in blocks.iter().enumerate() {
            let to = |to: &usize| Value::Block(Made(to % blocks.len()));
            match fields.as_slice() {
                [] => heap.block(tag::CUSTOM, &[Value::Raw(1), Value::Raw(number as u64)]),
                fields => heap.block(0, &fields.iter().map(to).collect::<Vec<_>>()),
            };
        }
        for root in roots {
            let value = Value::Block(Made(root % blocks.len()));
            heap.root(RootKind::Global, "root", value, Strength::Strong);
        }
        heap.bytes()
    }

    fn same(bytes: &[u8], memory: Bytes) {
        let snapshot = Snapshot::read(bytes).unwrap();
        let graph = Graph::new(&snapshot, 2).unwrap();
        let folder = std::env::temp_dir();
        let bounded = Graph::new_bounded(&snapshot, None, memory, &folder, 2).unwrap();
        for block in (0..snapshot.blocks()).map(BlockIndex) {
            assert_eq!(graph.dominator(Node::Block(block)), bounded.dominator(Node::Block(block)));
            assert_eq!(graph.retained(block), bounded.retained(block));
            assert_eq!(graph.external(block), bounded.external(block));
            assert_eq!(graph.toward_root(block), bounded.toward_root(block));
            assert_eq!(graph.owner(block), bounded.owner(block));
        }
        for root_node in (0..graph.root_nodes().len() as u32).map(RootNodeId) {
            assert_eq!(graph.held(root_node), bounded.held(root_node));
            assert_eq!(graph.reach(&[root_node]).words, bounded.reach(&[root_node]).words);
        }
        assert_eq!(graph.owned(), bounded.owned());
        assert!(graph.held(SUPER_ROOT).0 > 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn columns_in_files_give_the_same(
            blocks in proptest::collection::vec(proptest::collection::vec(0usize..60, 0..5), 1..60),
            roots in proptest::collection::vec(0usize..60, 1..6),
        ) {
            same(&heap(&blocks, &roots), Bytes(1 << 30));
        }
    }

    /// Less memory than the process has anyway: all pages are given back, again and again.
    #[test]
    fn pages_that_are_given_back_come_again() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize
        };
        let blocks: Vec<Vec<usize>> = (0..100_000)
            .map(|block| (0..random() % 4).map(|_| block + random() % 50).collect())
            .collect();
        same(&heap(&blocks, &[0, 5, 99]), Bytes(1));
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let bytes = heap(&[vec![0]], &[0]);
        let snapshot = Snapshot::read(&bytes).unwrap();
        let folder = std::path::Path::new("/nowhere at all");
        let failed = Graph::new_bounded(&snapshot, None, Bytes(1 << 30), folder, 1).unwrap_err();
        assert!(matches!(failed, Failed::MappedArena(_)), "{failed}");
    }
}
