//! Which roots retain how much.
//!
//! Roots are selected and put in order first; the rows of those that are shown are computed then,
//! as what a root reaches takes a search.

use std::cmp::Reverse;

use super::heap::Heap;
use super::joint::{Parts, beside_parts, held, parts};
use super::names::{SEVERAL_KINDS, joint_name, label_path};
use super::reach_cache::{ReachCache, Reached};
use crate::graph::{Node, RootNode, RootNodeId, SUPER_ROOT};
use crate::label::RootKind;
use crate::units::{Bytes, LabelId};
use memtrail_order::SortRows as _;

/// Which roots are wanted, and in which order.
#[derive(Clone, Copy)]
pub struct RootQuery<'q> {
    /// Which of them.
    pub scope: RootScope,
    /// Only roots of this kind.
    pub kind: Option<RootKind>,
    /// Only roots that retain at least so much …
    pub min_retained: Bytes,
    /// … and reach at least so much.
    pub min_reachable: Bytes,
    /// Whether off-heap memory counts for these, and for the order by size.
    pub with_external: bool,
    /// Only roots of which all names, joined by ` / `, are `Some` of this.
    pub name: Option<&'q dyn Fn(&str) -> bool>,
    /// What they are put in order by.
    pub order: RootOrder,
    /// Largest first.
    pub descending: bool,
}

/// Which roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootScope {
    /// Kinds of roots, and all labels.
    All,
    /// All labels.
    Labels,
    /// The labels that are no part of another, and what several of them retain jointly.
    Top,
    /// The labels that are parts of a root node, and what several of them retain jointly.
    PartsOf(RootNodeId),
}

/// What roots are put in order by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootOrder {
    /// What nothing else retains.
    Retained,
    /// All that is reachable from them.
    Reachable,
    /// What is reachable from others, too.
    Shared,
    /// The names.
    Name,
}

impl Default for RootQuery<'_> {
    /// All that retain something, largest first.
    fn default() -> Self {
        Self {
            scope: RootScope::All,
            kind: None,
            min_retained: Bytes(1),
            min_reachable: Bytes(0),
            with_external: true,
            name: None,
            order: RootOrder::Retained,
            descending: true,
        }
    }
}

/// A root, or what several parts of one retain jointly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its node; of what is retained jointly, the node that they are parts of.
    pub id: RootNodeId,
    /// Whether it is what several parts of the node retain jointly.
    pub is_joint: bool,
    /// Its label, if it is one.
    pub label: Option<LabelId>,
    /// The kind of root.
    pub kind: &'static str,
    /// Names from the coarsest to its own; empty for a whole kind.
    pub path: Vec<String>,
    /// What it retains.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
}

/// Selects roots and puts them in order. Takes a search for each root if it depends on what they
/// reach.
pub fn roots(heap: &Heap<'_>, query: &RootQuery<'_>, reach: &ReachCache) -> Vec<Root> {
    let size = |sizes: [Bytes; 2]| if query.with_external { sizes[0] + sizes[1] } else { sizes[0] };
    let mut roots = candidates(heap, query);
    roots.retain(|root| {
        let least = if root.is_joint { Bytes(1) } else { Bytes(0) };
        size([root.retained, root.retained_external]) >= query.min_retained.max(least)
            && query.name.is_none_or(|is_wanted| is_wanted(&root.path.join(" / ")))
    });
    match query.order {
        RootOrder::Name => roots.sort_rows_by(|a, b| a.path.cmp(&b.path).then(a.id.cmp(&b.id))),
        RootOrder::Retained if query.min_reachable.0 == 0 => roots.sort_rows_by_key(|root| {
            (size([root.retained, root.retained_external]), Reverse(root.id))
        }),
        order => {
            let reached = reach.of(heap, ids(&roots));
            let reachable = |root: &Root| root.reachable(&reached);
            roots.retain(|root| size(reachable(root)) >= query.min_reachable);
            roots.sort_rows_by_key(|root| {
                let sizes = match order {
                    RootOrder::Reachable => reachable(root),
                    RootOrder::Shared => {
                        [Bytes(reachable(root)[0].0.saturating_sub(root.retained.0)), Bytes(0)]
                    }
                    RootOrder::Retained | RootOrder::Name => {
                        [root.retained, root.retained_external]
                    }
                };
                (size(sizes), Reverse(root.id))
            });
        }
    }
    if query.descending {
        roots.reverse();
    }
    roots
}

/// The nodes of roots that are no sum of several.
pub(super) fn ids(roots: &[Root]) -> impl Iterator<Item = RootNodeId> + Clone {
    roots.iter().filter(|root| !root.is_joint).map(|root| root.id)
}

/// The roots of a scope and kind.
fn candidates(heap: &Heap<'_>, query: &RootQuery<'_>) -> Vec<Root> {
    let root_nodes = heap.graph.root_nodes();
    let dominator = |id| heap.graph.dominator(Node::RootNode(id));
    let wanted = |id: RootNodeId| match (query.scope, root_nodes.get(id)) {
        (RootScope::All, RootNode::Kind(kind)) => Some(kind),
        (_, RootNode::Everything | RootNode::Kind(_)) => None,
        (scope, RootNode::Label(label)) => {
            let label = heap.snapshot.labels.get(label)?;
            let is_in_scope = match scope {
                RootScope::All | RootScope::Labels => true,
                RootScope::Top => label.parent.is_none(),
                RootScope::PartsOf(parent) => dominator(id) == Some(Node::RootNode(parent)),
            };
            is_in_scope.then_some(label.kind)
        }
    };
    let is_of_kind = |kind: RootKind| query.kind.is_none_or(|wanted| wanted == kind);
    let ids = (0..root_nodes.len() as u32).map(RootNodeId);
    let mut roots: Vec<Root> =
        ids.filter(|id| wanted(*id).is_some_and(is_of_kind)).map(|id| Root::of(heap, id)).collect();
    let parents: Vec<RootNodeId> = match query.scope {
        RootScope::All | RootScope::Labels => Vec::new(),
        RootScope::PartsOf(parent) => vec![parent],
        RootScope::Top => {
            let kinds = RootKind::ALL.iter().filter(|kind| is_of_kind(**kind));
            let everything = query.kind.is_none().then_some(SUPER_ROOT);
            kinds.map(|kind| root_nodes.kind(*kind)).chain(everything).collect()
        }
    };
    if !parents.is_empty() {
        let parts = parts(heap);
        // All of a root that is no sum would be itself once more.
        let is_sum = |id: &RootNodeId| query.scope == RootScope::Top || parts.contains_key(id);
        let sums = parents.into_iter().filter(is_sum);
        roots.extend(sums.map(|parent| Root::joint(heap, &parts, parent)));
    }
    roots
}

impl Root {
    fn of(heap: &Heap<'_>, id: RootNodeId) -> Self {
        let labels = &heap.snapshot.labels;
        let label = match heap.graph.root_nodes().get(id) {
            RootNode::Label(label) => Some(label),
            RootNode::Everything | RootNode::Kind(_) => None,
        };
        let [retained, retained_external] = held(heap, id);
        Self {
            id,
            is_joint: false,
            label,
            kind: kind_name(heap, id),
            path: label.map_or_else(Vec::new, |label| label_path(labels, label)),
            retained,
            retained_external,
        }
    }

    /// What several parts of a root node retain, and none of them alone; all of one without parts.
    fn joint(heap: &Heap<'_>, parts: &Parts, id: RootNodeId) -> Self {
        let [retained, retained_external] = beside_parts(heap, parts, id);
        let path = vec![joint_name(heap.graph.root_nodes().get(id)).to_owned()];
        let kind = kind_name(heap, id);
        Self { id, is_joint: true, label: None, kind, path, retained, retained_external }
    }

    /// What it reaches, in the heap and outside.
    pub(super) fn reachable(&self, reached: &Reached) -> [Bytes; 2] {
        match reached.get(&self.id) {
            // Each of those that retain it jointly reaches it.
            Some(size) if !self.is_joint => [size.words.bytes(), size.external],
            _ => [self.retained, self.retained_external],
        }
    }
}

/// The kind of root that a node is of.
fn kind_name(heap: &Heap<'_>, id: RootNodeId) -> &'static str {
    match heap.graph.root_nodes().get(id) {
        RootNode::Everything => SEVERAL_KINDS,
        RootNode::Kind(kind) => kind.name(),
        RootNode::Label(label) => {
            heap.snapshot.labels.get(label).map_or("", |label| label.kind.name())
        }
    }
}

/// The frames of all stacks with their slots, in the order of the stacks.
pub fn stack(heap: &Heap<'_>) -> Vec<Root> {
    let kind = Some(RootKind::Stack);
    candidates(heap, &RootQuery { scope: RootScope::All, kind, ..RootQuery::default() })
}
