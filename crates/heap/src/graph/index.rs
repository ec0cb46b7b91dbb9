//! The result of the analysis as a file beside the snapshot, so that it is computed once.
//!
//! ```text
//! file   = "MTHIDX" version:u16 snapshot:u64 checksum:u64 column*, a frame and its content
//! column = length:u64 bytes[length] zeros, up to a multiple of 8
//! ```
//!
//! All numbers are little-endian. `snapshot` is the snapshot's checksum, as the one key of the frame
//! ([`file_frame`](crate::file_frame)). The columns, in order: dominators:u32, above:u32, kept sizes as bits:u64, sizes:u32,
//! large sizes as block and size:u64, held:u64, tree roots as bits:u64, via:u32, weights' lower half:u32,
//! their upper half where there is one as tree root and number:u64, the core's starts:u32 and targets:u32;
//! then of bytes outside the heap: kept sums as bits:u64, sums:u32, large sums as block and sum:u64,
//! held:u64, weights as node and sum:u64; then the edges of ephemerons and finalisers as key or value,
//! node, node of the data or function, 0 or 1:u32; then owners of tree roots:u32, and modules' blocks as block
//! and block that a field holds:u32.

#[cfg(feature = "mmap")]
use std::fs::File;
use std::io::{self, Write};
#[cfg(feature = "mmap")]
use std::path::Path;
use std::sync::OnceLock;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::analysis::Graph;
use super::bits::{Bits, Ranked};
use super::column::Column;
use super::core::{Conditional, Why};
use super::csr::Csr;
use super::external::External;
use super::nodes::{NO_BLOCK, RootNodes, SHARED};
use super::number::Number;
use super::retained::Sizes;
use super::weights::Weights;
use crate::file_frame::Frame;
use crate::read::Snapshot;

const MAGIC: [u8; 6] = *b"MTHIDX";
/// Raised whenever the columns or what they mean changes: an index of another version is not read.
const VERSION: u16 = 9;

fn frame(snapshot: &Snapshot<'_>) -> Frame<1> {
    Frame { magic: MAGIC, version: VERSION, keys: [snapshot.checksum()] }
}

impl Graph {
    /// Writes the index of the snapshot that the graph is of.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_index(&self, snapshot: &Snapshot<'_>, out: impl Write) -> io::Result<()> {
        frame(snapshot).write(out, |each| self.each_column(each))
    }

    fn each_column(&self, each: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let large = pairs(&self.sizes.large);
        column(&self.dominators, u32::to_le_bytes, each)?;
        column(&self.root_parents, u32::to_le_bytes, each)?;
        column(self.sizes.kept.bits().words(), u64::to_le_bytes, each)?;
        column(&self.sizes.words, u32::to_le_bytes, each)?;
        column(&large, u64::to_le_bytes, each)?;
        column(&self.held, u64::to_le_bytes, each)?;
        column(self.tree_roots.bits().words(), u64::to_le_bytes, each)?;
        column(&self.predecessor, u32::to_le_bytes, each)?;
        column(&self.weights.low, u32::to_le_bytes, each)?;
        column(&pairs(&self.weights.over), u64::to_le_bytes, each)?;
        column(&self.core.starts, u32::to_le_bytes, each)?;
        column(&self.core.targets, u32::to_le_bytes, each)?;
        let external = &self.external;
        column(external.sizes.kept.bits().words(), u64::to_le_bytes, each)?;
        column(&external.sizes.words, u32::to_le_bytes, each)?;
        column(&pairs(&external.sizes.large), u64::to_le_bytes, each)?;
        column(&external.held, u64::to_le_bytes, each)?;
        column(&pairs(&external.weights), u64::to_le_bytes, each)?;
        let conditional: Vec<u32> =
            self.conditional.iter().flat_map(Conditional::numbers).collect();
        column(&conditional, u32::to_le_bytes, each)?;
        column(&self.owners, u32::to_le_bytes, each)?;
        let modules: Vec<u32> =
            self.modules.iter().flat_map(|(module, field)| [*module, *field]).collect();
        column(&modules, u32::to_le_bytes, each)
    }

    /// Reads the index of a snapshot. `None` if it is another's, of another version, or damaged:
    /// then it has to be computed again.
    pub fn read_index(snapshot: &Snapshot<'_>, bytes: &[u8]) -> Option<Self> {
        let mut columns = Reader {
            bytes,
            at: Frame::<1>::LENGTH,
            #[cfg(feature = "mmap")]
            file: None,
        };
        frame(snapshot).content(bytes, || Frame::<1>::checksum(bytes))?;
        Self::from_columns(snapshot, &mut columns)
    }

    /// The same of an index that is a file, of which no more than is needed is read into memory.
    #[cfg(feature = "mmap")]
    pub fn open_index(snapshot: &Snapshot<'_>, path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let map = memtrail_map::MappedFile::of(&file).ok()?;
        // Columns are little-endian.
        let columns = cfg!(target_endian = "little").then_some(&file);
        let mut columns = Reader { bytes: &map, at: Frame::<1>::LENGTH, file: columns };
        // Pages that were looked at in the mapping would be in memory twice: columns are mapped again.
        frame(snapshot).content(&map, || Frame::<1>::checksum_of_file(&file).ok())?;
        let graph = Self::from_columns(snapshot, &mut columns)?;
        Some(Self { index: Some(memtrail_map::Extent::of(&file).ok()?), ..graph })
    }

    /// Whether its columns are those of an index in a file.
    #[cfg(feature = "mmap")]
    pub fn is_of_index(&self) -> bool {
        self.index.is_some()
    }

    /// Gives the pages of the index back to the system: they are read again when a question needs them.
    #[cfg(feature = "mmap")]
    pub fn give_back(&self) {
        let Self { dominators, predecessor, weights, core, owners, sizes, external, .. } = self;
        let columns = [dominators, predecessor, &weights.low, &core.starts, &core.targets, owners];
        for column in columns.into_iter().chain([&sizes.words, &external.sizes.words]) {
            column.give_back();
        }
    }

    fn from_columns(snapshot: &Snapshot<'_>, columns: &mut Reader<'_>) -> Option<Self> {
        let root_nodes = RootNodes::new(&snapshot.labels);
        let graph = Self {
            root_nodes,
            dominators: columns.column(u32::from_le_bytes)?,
            root_parents: columns.take(u32::from_le_bytes)?,
            sizes: columns.sizes()?,
            held: columns.take(u64::from_le_bytes)?,
            tree_roots: columns.ranked()?,
            predecessor: columns.column(u32::from_le_bytes)?,
            weights: Weights { low: columns.column(u32::from_le_bytes)?, over: columns.pairs()? },
            core: Csr {
                starts: columns.column(u32::from_le_bytes)?,
                targets: columns.column(u32::from_le_bytes)?,
            },
            external: External {
                sizes: columns.sizes()?,
                held: columns.take(u64::from_le_bytes)?,
                weights: columns.pairs()?,
            },
            conditional: columns
                .take(u32::from_le_bytes)?
                .as_chunks()
                .0
                .iter()
                .map(Conditional::from_numbers)
                .collect(),
            owners: columns.column(u32::from_le_bytes)?,
            nodes_of_conditions: OnceLock::new(),
            modules: columns
                .take(u32::from_le_bytes)?
                .as_chunks()
                .0
                .iter()
                .map(|[module, field]| (*module, *field))
                .collect(),
            #[cfg(feature = "mmap")]
            index: None,
        };
        graph.fits(snapshot).then_some(graph)
    }

    /// Whether no number of any column leads outside another.
    fn fits(&self, snapshot: &Snapshot<'_>) -> bool {
        let blocks = snapshot.blocks() as usize;
        let root_nodes = self.root_nodes.len();
        let bits = blocks.div_ceil(64);
        let node = |number: &u32| (*number as usize) < blocks + root_nodes || *number >= SHARED;
        let tree_roots = self.tree_roots.len();
        let nodes = root_nodes + tree_roots;
        self.dominators.len() == blocks
            && self.dominators.iter().all(node)
            && self.root_parents.len() == root_nodes
            && (0u32..)
                .zip(&self.root_parents)
                .all(|(root_node, parent)| *parent < root_node || *parent >= SHARED)
            && self.sizes.kept.bits().words().len() == bits
            && self.sizes.words.len() == self.sizes.kept.len()
            && self.held.len() == root_nodes
            && self.tree_roots.bits().words().len() == bits
            && self.predecessor.len() == tree_roots
            && self.predecessor.iter().all(node)
            && self.weights.low.len() == tree_roots
            && self.core.starts.len() == nodes + 1
            && self.core.starts.first() == Some(&0)
            && self.core.starts.is_sorted()
            && self.core.starts.last().copied() == u32::try_from(self.core.targets.len()).ok()
            && self.core.targets.iter().all(|target| (*target as usize) < nodes)
            && (self.external.sizes.words.is_empty()
                || self.external.sizes.kept.bits().words().len() == bits)
            && self.external.sizes.words.len() == self.external.sizes.kept.len()
            && self.external.held.len() == root_nodes
            && self.owners.len() == tree_roots
            && self.owners.iter().all(|owner| (*owner as usize) < root_nodes || *owner == NO_BLOCK)
            && self.modules.is_sorted()
            && self.modules.iter().flat_map(|(a, b)| [a, b]).all(|block| (*block as usize) < blocks)
            && self.conditional.is_sorted_by_key(|edge| edge.node)
            && self.conditional.iter().all(|edge| {
                (edge.from as usize) < blocks
                    && (edge.node as usize) < nodes
                    && (root_nodes..nodes).contains(&(edge.to as usize))
            })
    }
}

type Sums = HashMap<u32, u64, FxBuildHasher>;

/// Sums by number, in order.
fn pairs(sums: &Sums) -> Vec<u64> {
    let mut pairs: Vec<[u64; 2]> =
        sums.iter().map(|(number, sum)| [u64::from(*number), *sum]).collect();
    pairs.sort_unstable();
    pairs.concat()
}

impl Conditional {
    const fn numbers(&self) -> [u32; 4] {
        [self.from, self.node, self.to, self.why as u32]
    }

    const fn from_numbers([from, node, to, why]: &[u32; 4]) -> Self {
        let why = if *why == Why::Finaliser as u32 { Why::Finaliser } else { Why::Ephemeron };
        Self { from: *from, node: *node, to: *to, why }
    }
}

/// Columns, one after the other.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    /// The file, if its columns are to be mapped.
    #[cfg(feature = "mmap")]
    file: Option<&'b File>,
}

impl<'b> Reader<'b> {
    /// The next column's bytes and where they start.
    fn next(&mut self) -> Option<(usize, &'b [u8])> {
        let (length, _) = self.bytes.get(self.at..)?.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let start = self.at + 8;
        let column = self.bytes.get(start..start.checked_add(length)?)?;
        self.at = (start + length).checked_next_multiple_of(8)?;
        Some((start, column))
    }

    fn take<T, const N: usize>(&mut self, number: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
        let (_, column) = self.next()?;
        let (numbers, left) = column.as_chunks::<N>();
        left.is_empty().then(|| numbers.iter().map(|bytes| number(*bytes)).collect())
    }

    fn column<T: Number, const N: usize>(
        &mut self,
        number: impl Fn([u8; N]) -> T,
    ) -> Option<Column<T>> {
        #[cfg(feature = "mmap")]
        if let Some(file) = self.file {
            let (start, column) = self.next()?;
            if column.is_empty() || column.len() % N != 0 {
                return column.is_empty().then(Column::default);
            }
            let mapped = crate::mapped_arena::map_index(file, start, column.len() / N).ok()?;
            return Some(Column::Mapped(mapped));
        }
        Some(self.take(number)?.into())
    }

    fn ranked(&mut self) -> Option<Ranked> {
        Some(Ranked::new(Bits::from_words(self.take(u64::from_le_bytes)?)))
    }

    fn pairs(&mut self) -> Option<Sums> {
        let pairs: Vec<u64> = self.take(u64::from_le_bytes)?;
        Some(pairs.chunks_exact(2).map(|pair| (pair[0] as u32, pair[1])).collect())
    }

    fn sizes(&mut self) -> Option<Sizes> {
        Some(Sizes {
            kept: self.ranked()?,
            words: self.column(u32::from_le_bytes)?,
            large: self.pairs()?,
        })
    }
}

fn column<T: Copy, const N: usize>(
    numbers: &[T],
    bytes: impl Fn(T) -> [u8; N],
    each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let length = numbers.len() * N;
    each(&(length as u64).to_le_bytes())?;
    let mut buffer = Vec::with_capacity(N * 8192);
    for some in numbers.chunks(8192) {
        buffer.clear();
        for number in some {
            buffer.extend_from_slice(&bytes(*number));
        }
        each(&buffer)?;
    }
    each(&[0; 8][..length.next_multiple_of(8) - length])
}
