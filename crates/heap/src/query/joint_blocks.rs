//! What several roots retain jointly, opened: its largest blocks, who reaches each, and what has to be cut to free it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::allocated_by::AllocatedBy;
use super::heap::Heap;
use super::held_values::held_by_roots;
use super::joint::{beside_parts, held, parts};
use super::names::{joint_name, label_path};
use super::owners::Names;
use super::path::{PathDetails, read_details};
use crate::graph::{CutEdge, Failed, Place, RootNode, RootNodeId, SUPER_ROOT, Upwards};
use crate::label::RootKind;
use crate::read::Error;
use crate::units::{BlockIndex, Bytes};

/// What several parts of a root node retain jointly, and none of them alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JointShare {
    /// The root node whose parts they are: all roots, a kind of roots, a module and so on.
    pub root: RootNodeId,
    /// Its kind; none if it is all roots.
    pub kind: Option<&'static str>,
    /// Its names from the coarsest to its own; none if it is all roots, or a kind.
    pub path: Vec<String>,
    /// What they are, in words.
    pub parts: &'static str,
    /// How much they retain.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// What it is of all that is retained.
    pub share: f64,
    /// Its blocks that no other block retains, those that retain most first.
    pub blocks: Vec<JointBlock>,
    /// How many more there are.
    pub left_out: u64,
    /// What these retain.
    pub left_out_retained: Bytes,
}

/// A block that several roots reach, and that neither another block nor one of these roots retains alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JointBlock {
    /// Its number.
    pub block: BlockIndex,
    /// What sort of block: a type or a kind.
    pub kind: String,
    /// What allocated most blocks that are where this one is, if it has no type; for those to say who have the samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated: Option<AllocatedBy>,
    /// What it retains.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// The roots that reach it, the nearest first; not all of very many.
    pub reached_by: Vec<ReachingRoot>,
    /// How many reach it.
    pub reaching: u64,
    /// The fewest references that have to be removed for it to be freed; absent if there are more than the limit.
    pub cut: Option<Vec<CutReference>>,
}

/// A root that reaches a block. Those that hold the same are one, by the name of the definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReachingRoot {
    /// Its name.
    pub name: String,
    /// Of a global variable without a name, what it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// Its number.
    pub root: RootNodeId,
    /// Its kind.
    pub kind: &'static str,
}

/// A reference that has to be removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CutReference {
    /// The root that has to let go, or the owner of the block that has the reference.
    pub name: String,
    /// If that is a global variable without a name, what it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// Its number.
    pub root: Option<RootNodeId>,
    /// Its kind.
    pub kind: &'static str,
    /// The block that has the reference; none if the root has it.
    pub block: Option<BlockIndex>,
    /// What sort of block that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_kind: Option<String>,
    /// The field that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<u64>,
    /// What that field is called, where the block's type is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_name: Option<String>,
    /// The block that it refers to; none if all that the root holds has to go.
    pub to: Option<BlockIndex>,
}

/// Which shares are opened, and how far.
#[derive(Clone, Copy, Debug)]
pub struct JointLimits {
    /// The root node whose share is wanted; of all that have one otherwise.
    pub of: Option<RootNodeId>,
    /// Shares that are smaller are left out.
    pub min: Bytes,
    /// Blocks of a share, at most.
    pub blocks: usize,
    /// Roots that reach a block, at most.
    pub roots: usize,
    /// References to remove, at most.
    pub cut: usize,
}

/// What several parts of root nodes retain jointly, the largest first.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn joint_shares(heap: &Heap<'_>, limits: JointLimits) -> Result<Vec<JointShare>, Error> {
    joint_shares_in(&Place::Memory, heap, limits).map_err(Failed::in_memory)
}

/// The same with columns at a place.
///
/// # Errors
/// If a section of the snapshot is damaged, or there is no room for columns.
pub fn joint_shares_in(
    place: &Place,
    heap: &Heap<'_>,
    limits: JointLimits,
) -> Result<Vec<JointShare>, Failed> {
    let parts = parts(heap);
    let permanent = heap.graph.root_nodes().kind(RootKind::Static);
    let mut shares: Vec<(RootNodeId, [Bytes; 2])> = parts
        .keys()
        .filter(|root| limits.of.is_none_or(|of| of == **root) && **root != permanent)
        .map(|root| (*root, beside_parts(heap, &parts, *root)))
        .filter(|(_, size)| size[0] + size[1] >= limits.min.max(Bytes(1)))
        .collect();
    shares.sort_rows_by_key(|(root, size)| (Reverse(size[0] + size[1]), *root));
    if shares.is_empty() {
        return Ok(Vec::new());
    }
    let wanted: Vec<RootNodeId> = shares.iter().map(|(root, _)| *root).collect();
    let mut tops = tops(heap, &wanted, limits.blocks);
    let open = OpenBlocks::new(place, heap, limits, tops.values().flat_map(Tops::blocks))?;
    let all = held(heap, SUPER_ROOT)[0];
    let share = |(root, [retained, retained_external]): (RootNodeId, [Bytes; 2])| {
        let tops = tops.remove(&root).unwrap_or_default();
        let path = match heap.graph.root_nodes().get(root) {
            RootNode::Label(label) => label_path(&heap.snapshot.labels, label),
            RootNode::Everything | RootNode::Kind(_) => Vec::new(),
        };
        let blocks: Vec<JointBlock> = tops.blocks().filter_map(|block| open.block(block)).collect();
        let shown: Bytes = blocks.iter().map(|block| block.retained).sum();
        JointShare {
            root,
            kind: (root != SUPER_ROOT).then(|| open.names.own_kind(root)),
            path,
            parts: joint_name(heap.graph.root_nodes().get(root)),
            retained,
            retained_external,
            share: retained.share_of(all),
            left_out: tops.count - blocks.len() as u64,
            left_out_retained: Bytes(tops.bytes.0.saturating_sub(shown.0)),
            blocks,
        }
    };
    let mut shares: Vec<JointShare> = shares.into_iter().map(share).collect();
    add_held(heap, &mut shares)?;
    Ok(shares)
}

/// Adds what the variables without a name hold that reach blocks, or have references to cut.
fn add_held(heap: &Heap<'_>, shares: &mut [JointShare]) -> Result<(), Error> {
    let blocks = || shares.iter().flat_map(|share| &share.blocks);
    let reaching = blocks().flat_map(|block| &block.reached_by).map(|one| one.root);
    let cut = blocks().flat_map(|block| block.cut.iter().flatten()).filter_map(|cut| cut.root);
    let held = held_by_roots(heap, &reaching.chain(cut).collect::<Vec<_>>())?;
    for block in shares.iter_mut().flat_map(|share| &mut share.blocks) {
        for one in &mut block.reached_by {
            one.holds = held.get(&one.root).cloned();
        }
        for cut in block.cut.iter_mut().flatten() {
            cut.holds = cut.root.and_then(|root| held.get(&root).cloned());
        }
    }
    Ok(())
}

/// Blocks directly below a root node.
#[derive(Default)]
struct Tops {
    count: u64,
    bytes: Bytes,
    /// The largest, with their sizes.
    largest: BTreeSet<(Reverse<Bytes>, BlockIndex)>,
}

impl Tops {
    /// The largest, in order.
    fn blocks(&self) -> impl Iterator<Item = BlockIndex> + '_ {
        self.largest.iter().map(|(_, block)| *block)
    }
}

/// The blocks directly below some root nodes: at most `most` of each, those that retain most.
fn tops(
    heap: &Heap<'_>,
    wanted: &[RootNodeId],
    most: usize,
) -> HashMap<RootNodeId, Tops, FxBuildHasher> {
    let mut tops: HashMap<RootNodeId, Tops, FxBuildHasher> =
        wanted.iter().map(|root| (*root, Tops::default())).collect();
    for (block, root) in heap.graph.below_roots() {
        if let Some(tops) = tops.get_mut(&root) {
            let retained = heap.graph.retained_size(block).bytes();
            tops.count += 1;
            tops.bytes += retained;
            tops.largest.insert((Reverse(retained + heap.graph.external(block)), block));
            if tops.largest.len() > most {
                tops.largest.pop_last();
            }
        }
    }
    tops
}

/// What is found of blocks.
struct OpenBlocks<'o, 'h> {
    heap: &'o Heap<'h>,
    limits: JointLimits,
    names: Names<'o, 'h>,
    found: HashMap<BlockIndex, Found, FxBuildHasher>,
    details: PathDetails,
}

/// Who reaches a block, and where that can be cut.
struct Found {
    roots: Vec<RootNodeId>,
    cut: Option<Vec<CutEdge>>,
}

impl<'o, 'h> OpenBlocks<'o, 'h> {
    fn new(
        place: &Place,
        heap: &'o Heap<'h>,
        limits: JointLimits,
        blocks: impl Iterator<Item = BlockIndex>,
    ) -> Result<Self, Failed> {
        let names = Names::new(heap);
        let references = heap.graph.references(place, &heap.snapshot, heap.threads)?;
        let mut upwards = Upwards::new(place, &heap.graph, references)?;
        let mut found: HashMap<BlockIndex, Found, FxBuildHasher> = HashMap::default();
        let mut wanted: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for block in blocks {
            let mut known: HashSet<RootNodeId, FxBuildHasher> = HashSet::default();
            let roots = upwards.roots(block).into_iter();
            let roots = roots.map(|root| names.definition(names.owner_of(root)));
            let roots = roots.filter(|root| known.insert(*root)).collect();
            let cut = upwards.min_cut(block, limits.cut);
            for edge in cut.iter().flatten() {
                if let CutEdge::Field(from, to) = edge {
                    wanted.entry(from.0).or_default().push(to.0);
                }
            }
            wanted.entry(block.0).or_default();
            found.insert(block, Found { roots, cut });
        }
        let details = read_details(heap, wanted)?;
        Ok(Self { heap, limits, names, found, details })
    }

    fn block(&self, block: BlockIndex) -> Option<JointBlock> {
        let Found { roots, cut } = self.found.get(&block)?;
        let reached_by = roots.iter().take(self.limits.roots);
        let cut = cut.as_ref().map(|cut| cut.iter().map(|edge| self.reference(*edge)).collect());
        Some(JointBlock {
            block,
            kind: self.details.name(self.heap, block),
            allocated: None,
            retained: self.heap.graph.retained_size(block).bytes(),
            retained_external: self.heap.graph.external(block),
            reached_by: reached_by.map(|root| self.root(*root)).collect(),
            reaching: roots.len() as u64,
            cut,
        })
    }

    fn root(&self, root: RootNodeId) -> ReachingRoot {
        let (name, kind) = (self.names.own_name(root), self.names.own_kind(root));
        ReachingRoot { name, holds: None, root, kind }
    }

    fn reference(&self, edge: CutEdge) -> CutReference {
        let of_root = |root: RootNodeId, to: Option<BlockIndex>| CutReference {
            name: self.names.own_name(root),
            holds: None,
            root: Some(root),
            kind: self.names.own_kind(root),
            block: None,
            block_kind: None,
            field: None,
            field_name: None,
            to,
        };
        match edge {
            CutEdge::Root(root) => of_root(root, None),
            CutEdge::FromRoot(root, to) => of_root(root, Some(to)),
            CutEdge::Field(from, to) => {
                let field = self.details.field(from, to);
                let known = self.heap.types.of(from);
                let owner = self.heap.graph.owner(from).map(|owner| self.names.definition(owner));
                CutReference {
                    block: Some(from),
                    block_kind: Some(self.details.name(self.heap, from)),
                    field,
                    field_name: field.zip(known).map(|(field, known)| known.field(field)),
                    root: owner,
                    ..of_root(owner.unwrap_or(SUPER_ROOT), Some(to))
                }
            }
        }
    }
}
