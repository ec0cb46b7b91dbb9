//! How much there is of each kind of block.

use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashMap;
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::allocated_by::AllocatedPart;
use super::function_place::FunctionPlace;
use super::heap::Heap;
use super::kind::{self, Kind};
use crate::graph::passes::{in_pieces, sweep};
use crate::graph::{Node, RootNodeId};
use crate::read::{Block, Detail, Error};
use crate::space::Space;
use crate::units::{BlockIndex, Bytes, Words};

/// All kinds of blocks, the largest sum first, off-heap memory included.
#[derive(Clone, Debug, Serialize)]
pub struct Histogram {
    /// The kinds.
    pub rows: Vec<KindRow>,
    /// Blocks that are reachable.
    pub blocks: u64,
    /// Their size.
    pub bytes: Bytes,
    /// Blocks that are unreachable and not freed yet. Unknown of a damaged snapshot:
    /// what keeps them may be in the part that is missing.
    pub unreachable_blocks: Option<u64>,
    /// Their size.
    pub unreachable_bytes: Option<Bytes>,
}

/// A kind of block. Unreachable blocks are not counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct KindRow {
    /// What sort of block: a type or a kind.
    pub kind: String,
    /// How the type was found, if it is one.
    pub derivation: Option<&'static str>,
    /// Of custom blocks, their identifier as the runtime has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub identifier: Option<String>,
    /// Of closures, where their function is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub function: Option<FunctionPlace>,
    /// How many.
    pub blocks: u64,
    /// Their own size, headers counted.
    pub bytes: Bytes,
    /// Bytes outside the heap that go with them.
    pub external: Bytes,
    /// Of memory outside the heap that blocks share: how many do, as all views of a bigarray do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub shared_by: Option<u64>,
    /// What they retain one by one: the sum over those that no other of the kind dominates, so that
    /// nothing counts twice, without what several of them retain jointly. Of the largest kinds.
    pub retained: Option<Bytes>,
    /// Of blocks without a type, what allocated them, the largest part first: what a caller that knows a
    /// trace has put here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<AllocatedPart>>"))]
    pub allocated: Vec<AllocatedPart>,
}

impl KindRow {
    /// Compares by size, off-heap memory included, then by name.
    pub fn largest_first(&self, other: &Self) -> std::cmp::Ordering {
        let size = |row: &Self| row.bytes + row.external;
        size(other).cmp(&size(self)).then_with(|| self.kind.cmp(&other.kind))
    }
}

/// What kinds are put in order by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindOrder {
    /// Own size.
    Bytes,
    /// Number of blocks.
    Blocks,
    /// What they retain.
    Retained,
    /// Bytes outside the heap.
    External,
    /// The name.
    Name,
}

impl Histogram {
    /// The kinds whose names are `wanted`, in order.
    pub fn select(
        &self,
        wanted: impl Fn(&str) -> bool,
        order: KindOrder,
        descending: bool,
    ) -> Vec<&KindRow> {
        let mut rows: Vec<&KindRow> = self.rows.iter().filter(|row| wanted(&row.kind)).collect();
        let compare = |a: &KindRow, b: &KindRow| match order {
            KindOrder::Bytes => a.bytes.cmp(&b.bytes),
            KindOrder::Blocks => a.blocks.cmp(&b.blocks),
            KindOrder::Retained => a.retained.cmp(&b.retained),
            KindOrder::External => a.external.cmp(&b.external),
            KindOrder::Name => a.kind.cmp(&b.kind),
        };
        rows.sort_rows_by(|a, b| if descending { compare(b, a) } else { compare(a, b) });
        rows
    }

    /// Bytes outside the heap, of all kinds.
    pub fn external(&self) -> Bytes {
        self.rows.iter().map(|row| row.external).sum()
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) blocks: u64,
    pub(super) words: u64,
    pub(super) external: u64,
    /// References to it from custom blocks, if it is memory that these share.
    shared_by: u64,
}

/// For so many kinds it is computed what they retain.
const RETAINED: usize = 16;

/// Counts blocks by kind.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn histogram(heap: &Heap<'_>) -> Result<Histogram, Error> {
    histogram_of(heap, &|block| heap.graph.is_reachable(block))
}

/// Counts the blocks that some roots own, by kind.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn owned_histogram(heap: &Heap<'_>, owners: &[RootNodeId]) -> Result<Histogram, Error> {
    let of_blocks = heap.graph.owners_of_blocks(heap.threads);
    histogram_of(heap, &|block| of_blocks.get(block).is_some_and(|owner| owners.contains(&owner)))
}

/// Which blocks are counted, of those that are reachable.
pub(super) type Counted<'c> = &'c (dyn Fn(BlockIndex) -> bool + Sync);

fn histogram_of(heap: &Heap<'_>, counted: Counted<'_>) -> Result<Histogram, Error> {
    let (sums, unreachable, _) = sums(heap, counted)?;
    let is_whole = heap.snapshot.damage.is_none();
    let mut kinds: Vec<(Kind, Sum)> = sums.into_iter().collect();
    kinds.sort_rows_by_key(|(kind, sum)| (std::cmp::Reverse(sum.words), *kind));
    let largest: Vec<Kind> = kinds.iter().map(|(kind, _)| *kind).take(RETAINED).collect();
    let mut retained = outermost(heap, &largest, counted)?.into_iter();
    let all = kinds.iter().fold(Sum::default(), |mut all, (_, sum)| {
        all.blocks += sum.blocks;
        all.words += sum.words;
        all
    });
    // Functions may share a name: those that differ by number only are one row.
    let mut rows: Vec<KindRow> = Vec::new();
    let mut known: HashMap<String, usize, FxBuildHasher> = HashMap::default();
    for (kind, sum) in kinds {
        let retained = retained.next();
        let name = kind.name(&heap.snapshot, &heap.types);
        let place = *known.entry(name.clone()).or_insert(rows.len());
        if let Some(row) = rows.get_mut(place) {
            row.blocks += sum.blocks;
            row.bytes += Words(sum.words).bytes();
            row.external += Bytes(sum.external);
            row.shared_by = row.shared_by.map(|known| known + sum.shared_by);
            row.retained = None;
        } else {
            rows.push(KindRow {
                identifier: kind::identifier_of(&name),
                kind: name,
                derivation: kind.derivation(&heap.types),
                function: kind.function_place(&heap.snapshot),
                blocks: sum.blocks,
                bytes: Words(sum.words).bytes(),
                external: Bytes(sum.external),
                shared_by: matches!(kind, Kind::OffHeap(_)).then_some(sum.shared_by),
                retained,
                allocated: Vec::new(),
            });
        }
    }
    rows.sort_rows_by(KindRow::largest_first);
    Ok(Histogram {
        rows,
        blocks: all.blocks,
        bytes: Words(all.words).bytes(),
        unreachable_blocks: is_whole.then_some(unreachable.blocks),
        unreachable_bytes: is_whole.then_some(Words(unreachable.words).bytes()),
    })
}

/// Memory outside the heap, and how many custom blocks point to each piece of it.
#[derive(Default)]
struct Sharing {
    memory: Vec<(u32, Kind)>,
    references: HashMap<u32, u64, FxBuildHasher>,
}

impl Sharing {
    fn look(&mut self, block: &Block<'_>, kind: Kind) {
        match kind {
            Kind::OffHeap(_) => self.memory.push((block.index.0, kind)),
            Kind::Custom(_) => {
                for target in block.targets {
                    *self.references.entry(*target).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, more: Self) {
        self.memory.extend(more.memory);
        for (memory, references) in more.references {
            *self.references.entry(memory).or_default() += references;
        }
    }
}

pub(super) type Sums = HashMap<Kind, Sum, FxBuildHasher>;

/// Sums by kind, of what is unreachable, and of what is reachable and in the major heap.
pub(super) fn sums(heap: &Heap<'_>, counted: Counted<'_>) -> Result<(Sums, Sum, Words), Error> {
    let gathered = sweep(
        &heap.snapshot,
        heap.threads,
        Detail::Edges,
        || (Sums::default(), Sum::default(), 0, Sharing::default()),
        |(sums, unreachable, in_heap, sharing), _, columns| {
            let mut spaces = columns.spaces().peekable();
            let mut place = 0;
            kind::each(heap, columns, |block, kind, external| {
                while spaces.next_if(|(_, end)| *end <= place).is_some() {}
                let space = spaces.peek().map(|(space, _)| *space);
                place += 1;
                let is_reachable = heap.graph.is_reachable(block.index);
                if is_reachable {
                    sharing.look(&block, kind);
                }
                if is_reachable && !counted(block.index) {
                    return;
                }
                let sum = if is_reachable {
                    if matches!(space, Some(Space::Major | Space::Large)) {
                        *in_heap += block.size().0;
                    }
                    sums.entry(kind).or_default()
                } else {
                    &mut *unreachable
                };
                sum.blocks += 1;
                sum.words += block.size().0;
                sum.external += external;
            });
        },
    )?;
    let mut gathered = gathered.into_iter();
    let (mut sums, mut unreachable, mut in_heap, mut sharing) = gathered.next().unwrap_or_default();
    for (more, also, heap, shared) in gathered {
        sharing.add(shared);
        for (kind, sum) in more {
            let into = sums.entry(kind).or_default();
            into.blocks += sum.blocks;
            into.words += sum.words;
            into.external += sum.external;
        }
        unreachable.blocks += also.blocks;
        unreachable.words += also.words;
        in_heap += heap;
    }
    for (memory, kind) in sharing.memory {
        if counted(BlockIndex(memory))
            && let Some(sum) = sums.get_mut(&kind)
        {
            sum.shared_by += sharing.references.get(&memory).copied().unwrap_or_default();
        }
    }
    Ok((sums, unreachable, Words(in_heap)))
}

/// No kind of those that are looked at.
const NO_KIND: u8 = u8::MAX;
/// That it is known which kinds are above a block.
const KNOWN: u32 = 1 << 31;

/// For each of at most [`RETAINED`] kinds the sum of what its outermost blocks retain.
fn outermost(heap: &Heap<'_>, kinds: &[Kind], counted: Counted<'_>) -> Result<Vec<Bytes>, Error> {
    let blocks = heap.snapshot.blocks() as usize;
    let mut kind_of = vec![NO_KIND; blocks];
    let pieces =
        sweep(&heap.snapshot, heap.threads, Detail::Edges, Vec::new, |pieces, _, columns| {
            let mut piece = Vec::with_capacity(columns.len());
            kind::each(heap, columns, |block, kind, _| {
                let number = kinds.iter().position(|known| *known == kind);
                let number = number.filter(|_| counted(block.index));
                piece.push(number.map_or(NO_KIND, |number| number as u8));
            });
            pieces.push((columns.first.0 as usize, piece));
        })?;
    for (first, piece) in pieces.into_iter().flatten() {
        kind_of[first..first + piece.len()].copy_from_slice(&piece);
    }
    // Which kinds are among a block's dominators and itself. Threads that come over the same blocks
    // find the same.
    let masks: Vec<AtomicU32> = (0..blocks).map(|_| AtomicU32::new(0)).collect();
    in_pieces(blocks, heap.threads, |range| {
        let mut way: Vec<u32> = Vec::new();
        for start in range {
            if !heap.graph.is_reachable(BlockIndex(start as u32)) {
                continue;
            }
            let mut at = start as u32;
            let mut mask = loop {
                let known = masks[at as usize].load(Ordering::Relaxed);
                if known != 0 {
                    break known;
                }
                way.push(at);
                match heap.graph.dominator(Node::Block(BlockIndex(at))) {
                    Some(Node::Block(dominator)) => at = dominator.0,
                    _ => break KNOWN,
                }
            };
            while let Some(block) = way.pop() {
                let kind = kind_of[block as usize];
                if kind != NO_KIND {
                    mask |= 1 << kind;
                }
                masks[block as usize].store(mask, Ordering::Relaxed);
            }
        }
    });
    let start = || vec![0u64; kinds.len()];
    let sums = sweep(&heap.snapshot, heap.threads, Detail::Sizes, start, |own, _, columns| {
        for (block, size) in columns.sizes() {
            let kind = kind_of[block.0 as usize];
            let over = match heap.graph.dominator(Node::Block(block)) {
                Some(Node::Block(above_it)) => masks[above_it.0 as usize].load(Ordering::Relaxed),
                Some(Node::RootNode(_)) => 0,
                None => continue,
            };
            if kind != NO_KIND && over >> kind & 1 == 0 {
                let retained = heap.graph.retained(block).unwrap_or(size);
                own[usize::from(kind)] += retained.0;
            }
        }
    })?;
    let mut own = vec![0u64; kinds.len()];
    for more in sums {
        for (own, more) in own.iter_mut().zip(more) {
            *own += more;
        }
    }
    Ok(own.into_iter().map(|words| Words(words).bytes()).collect())
}
