//! Ways from a root down to a block.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hashbrown::HashMap;
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::allocated_by::AllocatedBy;
use super::contained::FoldedContainer;
use super::heap::Heap;
use super::kind::{self, Kind};
use super::names::{label_path, root_name};
use super::path_text::{Part, Segment, text};
use crate::graph::{Node, RootNode, RootNodeId};
use crate::label::Variable;
use crate::read::{Columns, Error};
use crate::units::{BlockIndex, Bytes, Words};

/// A way from a root to a block.
#[derive(Clone, Debug, Serialize)]
pub struct Path {
    /// The same as programmers write it: `Cache.table.data.(17) → Cons.data → page`.
    pub text: String,
    /// From the root to the block.
    pub steps: Vec<Step>,
}

/// One block or root node on the way, or several alike that follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What it is.
    pub name: String,
    /// The variable's type, if it is one and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// Where the variable is defined: `cache.ml:12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// The block, if it is one; the first, of several.
    pub block: Option<BlockIndex>,
    /// The number of the root or the part of one, if it is that.
    pub root: Option<RootNodeId>,
    /// The field that leads on.
    pub field: Option<u64>,
    /// What that field is called, where the block's type is known: `.data`, `.(17)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_name: Option<String>,
    /// What the block is called among others of its type: a constructor, or the type without arguments.
    #[serde(skip)]
    pub(super) part: Option<Part>,
    /// What allocated most blocks that are where this one is, if it has no type; for those to say who have the samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated: Option<AllocatedBy>,
    /// The container that it is all steps in, if paths are folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<FoldedContainer>,
    /// Whether it has so many fields that they are elements, as those of an array or a hash table.
    pub elements: bool,
    /// How many there are.
    pub times: u64,
    /// Whether every way leads through it: it alone retains the block. Of several: through all.
    pub dominates: bool,
    /// What it retains; absent where steps are left out.
    pub retained: Option<Bytes>,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
}

/// Steps that are described one by one, from each end of a path; what is between is counted.
const MAX_DETAILED: usize = 2000;

/// A way as it is found: from the block upwards.
pub(super) struct RetainingPath {
    nodes: Vec<Node>,
    /// Where steps are left out, and how many.
    gap: Option<(usize, u64)>,
}

pub(super) fn retaining_path(heap: &Heap<'_>, block: BlockIndex) -> Option<RetainingPath> {
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
    /// A way from a block up to a root node; those above that are added.
    fn new(heap: &Heap<'_>, path: impl Iterator<Item = Node>) -> Self {
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
            while let (Node::RootNode(_), Some(parent)) = (at, heap.graph.dominator(at)) {
                add(parent);
                at = parent;
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

impl PathDetails {
    /// What a block is; empty if that was not read.
    pub(super) fn name(&self, heap: &Heap<'_>, block: BlockIndex) -> String {
        let kind = self.kinds.get(&block.0);
        kind.map_or_else(String::new, |kind| kind.name(&heap.snapshot, &heap.types))
    }

    /// The field of a block that leads to another.
    pub(super) fn field(&self, from: BlockIndex, to: BlockIndex) -> Option<u64> {
        self.fields.get(&(from.0, to.0)).copied()
    }
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
    read_details(heap, wanted)
}

/// Details of blocks, by what each may refer to that is of interest.
pub(super) fn read_details(
    heap: &Heap<'_>,
    wanted: BTreeMap<u32, Vec<u32>>,
) -> Result<PathDetails, Error> {
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
        if let Some(kind) = kind::at(heap, &columns, place) {
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
                    r#type: None,
                    position: None,
                    block: None,
                    root: None,
                    field: None,
                    field_name: None,
                    part: None,
                    allocated: None,
                    container: None,
                    elements: false,
                    times,
                    dominates: false,
                    retained: None,
                    retained_external: Bytes(0),
                });
                // The next dominator may have been left out.
                let rest: BTreeSet<Node> = path.nodes[at..].iter().copied().collect();
                while let Some(parent) = dominator
                    && !rest.contains(&parent)
                {
                    dominator = heap.graph.dominator(parent);
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
                    let known = heap.types.of(block);
                    Step {
                        name: kind.map_or_else(String::new, |kind| {
                            kind.name(&heap.snapshot, &heap.types)
                        }),
                        r#type: None,
                        position: None,
                        block: Some(block),
                        root: None,
                        field,
                        field_name: field.zip(known).map(|(field, known)| known.field(field)),
                        part: known.map(Part::new),
                        allocated: None,
                        container: None,
                        elements: kind.is_some_and(|kind| kind.has_elements(&heap.types)),
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
                    let variable = variable_of(heap, root_node);
                    let ty = variable.map(|variable| variable.ty.clone());
                    Step {
                        name: root_name(&heap.snapshot.labels, heap.graph.root_nodes(), root_node),
                        r#type: ty.filter(|ty| !ty.is_empty()),
                        position: position_of(heap, root_node),
                        block: None,
                        root: Some(root_node),
                        field: None,
                        field_name: None,
                        part: None,
                        allocated: None,
                        container: None,
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
        Self::of_steps(heap, steps)
    }

    /// Adds to the steps that are blocks what allocated most blocks in the same place, where that is known. A step for
    /// all blocks inside a container has none.
    pub fn name_steps(&mut self, allocated: impl Fn(BlockIndex) -> Option<AllocatedBy>) {
        for step in &mut self.steps {
            let block = step.block.filter(|_| step.container.is_none());
            step.allocated = block.and_then(&allocated);
        }
    }

    /// The path with these steps.
    pub(super) fn of_steps(heap: &Heap<'_>, steps: Vec<Step>) -> Self {
        Self { text: path_text(heap, &steps), steps }
    }
}

/// A path in one line.
fn path_text(heap: &Heap<'_>, steps: &[Step]) -> String {
    let last_root = steps.iter().rposition(|step| step.root.is_some());
    let (roots, blocks) = steps.split_at(last_root.map_or(0, |place| place + 1));
    let root =
        roots.last().map(|step| match step.root.map(|root| heap.graph.root_nodes().get(root)) {
            Some(RootNode::Label(label)) => {
                let labels = &heap.snapshot.labels;
                let separator = if labels.variable(label).is_some() { "." } else { " / " };
                label_path(labels, label).join(separator)
            }
            _ => step.name.clone(),
        });
    let segments = blocks.iter().map(|step| Segment {
        kind: &step.name,
        part: step.part.as_ref(),
        field: match (&step.field_name, step.field, &step.container) {
            (.., Some(container)) => format!(".({} entries)", container.entries),
            (Some(name), ..) => name.clone(),
            (None, field, None) => field.map_or_else(String::new, |field| format!(".{field}")),
        },
        is_many: step.times > 1,
    });
    text(root, segments)
}

fn position_of(heap: &Heap<'_>, root_node: RootNodeId) -> Option<String> {
    match heap.graph.root_nodes().get(root_node) {
        RootNode::Label(label) => {
            heap.snapshot.labels.position(label).map(|position| position.text)
        }
        RootNode::Everything | RootNode::Kind(_) => None,
    }
}

fn variable_of<'h>(heap: &'h Heap<'_>, root_node: RootNodeId) -> Option<&'h Variable> {
    match heap.graph.root_nodes().get(root_node) {
        RootNode::Label(label) => heap.snapshot.labels.variable(label),
        RootNode::Everything | RootNode::Kind(_) => None,
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

/// A way from a root to a block over as few shared blocks as there can be; `None` if nothing
/// retains it.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn path(heap: &Heap<'_>, block: BlockIndex) -> Result<Option<Path>, Error> {
    let Some(path) = retaining_path(heap, block) else { return Ok(None) };
    let paths = [path];
    let details = details_of(heap, &paths)?;
    Ok(paths.into_iter().next().map(|path| Path::new(heap, block, &path, &details)))
}

/// Ways to a block that share no other block.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DisjointPaths {
    /// The ways.
    pub paths: Vec<Path>,
    /// Whether there are no more: so many links have to be cut for the block to be freed.
    pub all: bool,
}

/// As many ways to a block as there are, but at most `most`, that share no block but itself. None if
/// nothing retains it. The first is not always the one that [`path`] gives.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn disjoint_paths(
    heap: &Heap<'_>,
    block: BlockIndex,
    most: usize,
) -> Result<DisjointPaths, Error> {
    let graph = &heap.graph;
    let Some((edges, all)) = graph.disjoint(&heap.snapshot, block, most, heap.threads)? else {
        return Ok(DisjointPaths { paths: path(heap, block)?.into_iter().collect(), all: true });
    };
    let paths: Vec<RetainingPath> =
        edges.iter().map(|edges| RetainingPath::new(heap, graph.along(block, edges))).collect();
    let details = details_of(heap, &paths)?;
    let mut paths: Vec<Path> =
        paths.iter().map(|path| Path::new(heap, block, path, &details)).collect();
    paths.sort_rows_by_key(|path| path.steps.iter().map(|step| step.times).sum::<u64>());
    Ok(DisjointPaths { paths, all })
}
