//! Ways from a root down to a block.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::heap::Heap;
use super::kind::{self, Kind};
use super::names::holder_name;
use crate::graph::{Node, RootNode, RootNodeId};
use crate::read::{Columns, Error};
use crate::units::{BlockIndex, Bytes, Words};

/// A way from a root to a block.
#[derive(Clone, Debug, Serialize)]
pub struct Path {
    /// From the root to the block.
    pub steps: Vec<Step>,
}

/// One block or holder on the way, or several alike that follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What it is.
    pub name: String,
    /// The block, if it is one; the first, of several.
    pub block: Option<BlockIndex>,
    /// The number of the root or the part of one, if it is that.
    pub root: Option<RootNodeId>,
    /// The field that leads on.
    pub field: Option<u64>,
    /// Whether it has so many fields that they are elements, as those of an array or a hash table.
    pub elements: bool,
    /// How many there are.
    pub times: u64,
    /// Whether every way leads through it: it alone keeps the block alive. Of several: through all.
    pub dominates: bool,
    /// What it retains; absent where steps are left out.
    pub retained: Option<Bytes>,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
}

/// Steps that are told one by one, from each end of a way; what is between is counted.
const MAX_DETAILED: usize = 2000;

/// A way as it is found: from the block upwards.
pub(super) struct RetainingPath {
    nodes: Vec<Node>,
    /// Where steps are left out, and how many.
    gap: Option<(usize, u64)>,
}

fn retaining_path(heap: &Heap<'_>, block: BlockIndex) -> Option<RetainingPath> {
    if !heap.graph.is_reachable(block) {
        return None;
    }
    let nodes = std::iter::successors(Some(Node::Block(block)), |node| match node {
        Node::Block(block) => heap.graph.toward_root(*block),
        Node::RootNode(_) => None,
    });
    Some(RetainingPath::new(heap, nodes))
}

impl RetainingPath {
    /// A way from a block up to a holder; those above that are added.
    pub(super) fn new(heap: &Heap<'_>, path: impl Iterator<Item = Node>) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        let mut last: VecDeque<Node> = VecDeque::new();
        let mut left_out = 0;
        let mut add = |node| {
            if nodes.len() < MAX_DETAILED {
                nodes.push(node);
            } else {
                last.push_back(node);
                if last.len() > MAX_DETAILED {
                    last.pop_front();
                    left_out += 1;
                }
            }
        };
        for node in path {
            add(node);
            let mut at = node;
            while let (Node::RootNode(_), Some(above)) = (at, heap.graph.dominator(at)) {
                add(above);
                at = above;
            }
        }
        let gap = (left_out > 0).then_some((nodes.len(), left_out));
        nodes.extend(last);
        Self { nodes, gap }
    }

    /// What the node at a place leads on to.
    fn below(&self, place: usize) -> Option<Node> {
        if self.gap.is_some_and(|(at, _)| at == place) {
            return None;
        }
        self.nodes.get(place.checked_sub(1)?).copied()
    }
}

/// What has to be read of blocks to describe ways: their kinds and sizes, and which fields lead on.
#[derive(Default)]
pub(super) struct PathDetails {
    kinds: HashMap<u32, Kind, FxBuildHasher>,
    sizes: HashMap<u32, Words, FxBuildHasher>,
    fields: HashMap<(u32, u32), u64, FxBuildHasher>,
}

pub(super) fn details_of(heap: &Heap<'_>, paths: &[RetainingPath]) -> Result<PathDetails, Error> {
    let mut wanted: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for path in paths {
        for (place, node) in path.nodes.iter().enumerate() {
            let Node::Block(block) = node else { continue };
            let below = wanted.entry(block.0).or_default();
            if let Some(Node::Block(next)) = path.below(place)
                && !below.contains(&next.0)
            {
                below.push(next.0);
            }
        }
    }
    let mut details = PathDetails::default();
    let mut columns = Columns::new();
    let mut decoded = None;
    for (block, below) in wanted {
        let Some(section) = heap.snapshot.section_of(BlockIndex(block)) else { continue };
        if decoded != Some(section) {
            heap.snapshot.decode(section, &mut columns)?;
            decoded = Some(section);
        }
        let place = (block - columns.first.0) as usize;
        if let Some(kind) = kind::at(&columns, place) {
            details.kinds.insert(block, kind);
        }
        let Some(found) = columns.get(place) else { continue };
        details.sizes.insert(block, found.size());
        for (field, target) in columns.fields(place).zip(found.targets) {
            if below.contains(target) {
                details.fields.entry((block, *target)).or_insert(field);
            }
        }
    }
    Ok(details)
}

impl Path {
    pub(super) fn new(
        heap: &Heap<'_>,
        block: BlockIndex,
        path: &RetainingPath,
        details: &PathDetails,
    ) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        let mut dominator = Some(Node::Block(block));
        for (place, node) in path.nodes.iter().copied().enumerate() {
            if let Some((at, times)) = path.gap
                && at == place
            {
                steps.push(Step {
                    name: "…".into(),
                    block: None,
                    root: None,
                    field: None,
                    elements: false,
                    times,
                    dominates: false,
                    retained: None,
                    retained_external: Bytes(0),
                });
                // The next dominator may have been left out.
                let rest: BTreeSet<Node> = path.nodes[at..].iter().copied().collect();
                while let Some(above) = dominator
                    && !rest.contains(&above)
                {
                    dominator = heap.graph.dominator(above);
                }
            }
            let dominates = Some(node) == dominator;
            if dominates {
                dominator = heap.graph.dominator(node);
            }
            let step = match node {
                Node::Block(block) => {
                    let field = match path.below(place) {
                        Some(Node::Block(next)) => details.fields.get(&(block.0, next.0)).copied(),
                        _ => None,
                    };
                    let kind = details.kinds.get(&block.0);
                    Step {
                        name: kind.map_or_else(String::new, |kind| kind.name(&heap.snapshot)),
                        block: Some(block),
                        root: None,
                        field,
                        elements: kind.is_some_and(|kind| kind.has_elements()),
                        times: 1,
                        dominates,
                        // What retains nothing else is known by its own size.
                        retained: heap
                            .graph
                            .retained(block)
                            .or_else(|| details.sizes.get(&block.0).copied())
                            .map(Words::bytes),
                        retained_external: heap.graph.external(block),
                    }
                }
                Node::RootNode(root_node) => {
                    if heap.graph.root_nodes().get(root_node) == RootNode::Everything {
                        continue;
                    }
                    Step {
                        name: holder_name(
                            &heap.snapshot.labels,
                            heap.graph.root_nodes(),
                            root_node,
                        ),
                        block: None,
                        root: Some(root_node),
                        field: None,
                        elements: false,
                        times: 1,
                        dominates,
                        retained: Some(heap.graph.held(root_node).bytes()),
                        retained_external: heap.graph.held_external(root_node),
                    }
                }
            };
            push(&mut steps, step);
        }
        steps.reverse();
        Self { steps }
    }
}

/// Adds a step, to the last one if that is alike. The target itself stays alone.
fn push(steps: &mut Vec<Step>, step: Step) {
    let alone = steps.len() < 2;
    if let Some(last) = steps.last_mut()
        && !alone
        && step.block.is_some()
        && last.block.is_some()
        && (&last.name, last.field, last.dominates) == (&step.name, step.field, step.dominates)
    {
        last.times += 1;
        last.block = step.block;
        last.retained = step.retained;
        last.retained_external = step.retained_external;
    } else {
        steps.push(step);
    }
}

/// A way from a root to a block over as few shared blocks as there can be; `None` if nothing keeps
/// it alive.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn path(heap: &Heap<'_>, block: BlockIndex) -> Result<Option<Path>, Error> {
    let Some(path) = retaining_path(heap, block) else { return Ok(None) };
    let paths = [path];
    let details = details_of(heap, &paths)?;
    Ok(paths.into_iter().next().map(|path| Path::new(heap, block, &path, &details)))
}

/// Ways of the same shape to several blocks.
#[derive(Clone, Debug, Serialize)]
pub struct MergedPath {
    /// The shape: names from the root to the block, with fields.
    pub shape: Vec<String>,
    /// How many of the blocks are kept alive this way.
    pub blocks: u64,
    /// What they retain together, one by one.
    pub retained: Bytes,
    /// One of them.
    pub example: BlockIndex,
}

/// Ways to several blocks, those of the same shape as one; the most frequent first. Repetitions are
/// part of the shape once, whatever their number, and so are elements of arrays.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn merged_paths(heap: &Heap<'_>, blocks: &[BlockIndex]) -> Result<Vec<MergedPath>, Error> {
    let found: Vec<(BlockIndex, RetainingPath)> =
        blocks.iter().filter_map(|block| Some((*block, retaining_path(heap, *block)?))).collect();
    let (blocks, paths): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let details = details_of(heap, &paths)?;
    let mut merged: HashMap<Vec<String>, Alike, FxBuildHasher> = HashMap::default();
    for (block, path) in blocks.into_iter().zip(paths) {
        let path = Path::new(heap, block, &path, &details);
        let retained = path.steps.last().and_then(|step| step.retained).unwrap_or_default();
        let (shape, repeated) = shape(&path.steps);
        let alike = merged.entry(shape).or_insert_with(|| Alike {
            blocks: 0,
            retained: Bytes(0),
            example: block,
            repeated: vec![false; repeated.len()],
        });
        alike.blocks += 1;
        alike.retained += retained;
        for (all, this) in alike.repeated.iter_mut().zip(repeated) {
            *all |= this;
        }
    }
    let mut merged: Vec<MergedPath> = merged
        .into_iter()
        .map(|(mut shape, alike)| {
            for (step, _) in shape.iter_mut().zip(&alike.repeated).filter(|(_, many)| **many) {
                step.push_str(" …");
            }
            let Alike { blocks, retained, example, .. } = alike;
            MergedPath { shape, blocks, retained, example }
        })
        .collect();
    merged.sort_by(|a, b| b.blocks.cmp(&a.blocks).then_with(|| a.shape.cmp(&b.shape)));
    Ok(merged)
}

/// Ways that have the same shape.
struct Alike {
    blocks: u64,
    retained: Bytes,
    example: BlockIndex,
    /// Which steps are several in one of the ways at least.
    repeated: Vec<bool>,
}

/// The shape of a way, and which of its steps are several. Blocks of a kind that follow each other
/// are one step, whatever fields lead on from one to the next: a search tree goes left and right.
/// That of the last one counts. The target stays alone.
fn shape(steps: &[Step]) -> (Vec<String>, Vec<bool>) {
    let mut shape: Vec<(&Step, bool)> = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        let is_target = place + 1 == steps.len();
        match shape.last_mut() {
            Some((last, many))
                if !is_target
                    && last.block.is_some()
                    && step.block.is_some()
                    && last.name == step.name =>
            {
                (*last, *many) = (step, true);
            }
            _ => shape.push((step, step.times > 1)),
        }
    }
    let text = |step: &Step| match step.field {
        Some(_) if step.elements => format!("{} .(…)", step.name),
        Some(field) => format!("{} .{field}", step.name),
        None => step.name.clone(),
    };
    shape.into_iter().map(|(step, many)| (text(step), many)).unzip()
}

/// At most `most` blocks of a kind that something keeps alive, from all over the heap; the kind is
/// told by its name.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn sample(heap: &Heap<'_>, kind: &str, most: usize) -> Result<(u64, Vec<BlockIndex>), Error> {
    let mut names: HashMap<Kind, bool, FxBuildHasher> = HashMap::default();
    let mut columns = Columns::new();
    let mut taken: Vec<BlockIndex> = Vec::new();
    let (mut seen, mut every) = (0u64, 1u64);
    for section in 0..heap.snapshot.sections() {
        heap.snapshot.decode(section, &mut columns)?;
        kind::each(&columns, |block, of, _| {
            let is = *names.entry(of).or_insert_with(|| of.name(&heap.snapshot) == kind);
            if !is || !heap.graph.is_reachable(block.index) {
                return;
            }
            if seen.is_multiple_of(every) {
                if taken.len() == most.max(1) {
                    // Too many: every other one, here and from now on.
                    let mut keep = false;
                    taken.retain(|_| {
                        keep = !keep;
                        keep
                    });
                    every *= 2;
                }
                if seen.is_multiple_of(every) {
                    taken.push(block.index);
                }
            }
            seen += 1;
        });
    }
    Ok((seen, taken))
}
