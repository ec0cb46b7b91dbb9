//! The answers to [`HeapRoots`](crate::query::HeapRoots),
//! [`HeapStack`](crate::query::HeapStack) and
//! [`HeapShared`](crate::query::HeapShared).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use memtrail_heap::graph::{Node, RootNode, RootNodeId, SUPER_ROOT};
use memtrail_heap::query::{self, label_path};
use memtrail_heap::{Bytes, LabelId, RootKind};
use memtrail_profile::calls::Pattern;
use serde_json::{Value, json};

use super::loaded::LoadedSnapshot;
use super::node;
use super::rows::{Rows, share};
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::{HeapRoots, HeapShared, HeapStack, RootSort};
use crate::response_body::ResponseBody;

/// What roots reach, of those that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Reach(Mutex<HashMap<RootNodeId, Bytes>>);

/// What the row of what several roots keep alive together is called.
const SEVERAL: &str = "jointly retained";
const SEVERAL_KINDS: &str = "jointly retained by several kinds of roots";
/// Bytes of a name that is shown, about.
const LONGEST_NAME: usize = 500;
/// Frames and slots that are told, at most.
const MOST_FRAMES: usize = 5000;

impl Reach {
    /// What each of these reaches.
    fn of(&self, loaded: &LoadedSnapshot, root_nodes: &[RootNodeId]) -> HashMap<RootNodeId, Bytes> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<RootNodeId> = {
            let known = lock();
            root_nodes.iter().filter(|root_node| !known.contains_key(root_node)).copied().collect()
        };
        let heap = loaded.heap();
        let found = heap.graph.reach_each(&missing, heap.threads);
        let mut known = lock();
        known.extend(missing.into_iter().zip(found.into_iter().map(memtrail_heap::Words::bytes)));
        root_nodes.iter().map(|root_node| (*root_node, known[root_node])).collect()
    }
}

/// A root with what is told of it, or what several parts of a holder keep alive together.
struct Root {
    id: RootNodeId,
    /// Absent if it is what several keep.
    label: Option<LabelId>,
    kind: &'static str,
    path: Vec<String>,
    retained: Bytes,
    external: Bytes,
}

impl Root {
    /// Bytes that it takes in an answer.
    fn size(&self) -> usize {
        300 + self.path.iter().map(|name| name.len().min(LONGEST_NAME) + 3).sum::<usize>()
    }

    /// What it reaches.
    fn reachable(&self, reach: &HashMap<RootNodeId, Bytes>) -> Bytes {
        // What several keep is reached by each of them.
        if self.label.is_none() { self.retained } else { reach[&self.id] }
    }
}

fn root(loaded: &LoadedSnapshot, label: LabelId) -> Option<Root> {
    let heap = loaded.heap();
    let root_node = heap.graph.root_nodes().label(label);
    Some(Root {
        id: root_node,
        label: Some(label),
        kind: heap.snapshot.labels.get(label)?.kind.name(),
        path: label_path(&heap.snapshot.labels, label),
        retained: heap.graph.held(root_node).bytes(),
        external: heap.graph.held_external(root_node),
    })
}

/// What several parts of a holder keep alive together, and none of them alone.
fn jointly_retained(loaded: &LoadedSnapshot, root_node: RootNodeId) -> Root {
    let graph = &loaded.heap().graph;
    let parts = (0..graph.root_nodes().len() as u32)
        .map(RootNodeId)
        .filter(|part| graph.dominator(Node::RootNode(*part)) == Some(Node::RootNode(root_node)));
    let (mut retained, mut external) =
        (graph.held(root_node).bytes(), graph.held_external(root_node));
    for part in parts {
        retained.0 = retained.0.saturating_sub(graph.held(part).bytes().0);
        external.0 = external.0.saturating_sub(graph.held_external(part).0);
    }
    let (kind, name) = match graph.root_nodes().get(root_node) {
        RootNode::Everything => ("several kinds", SEVERAL_KINDS),
        RootNode::Kind(kind) => (kind.name(), SEVERAL),
        RootNode::Label(label) => {
            let label = loaded.heap().snapshot.labels.get(label);
            (label.map_or("", |label| label.kind.name()), SEVERAL)
        }
    };
    Root { id: root_node, label: None, kind, path: vec![name.to_owned()], retained, external }
}

/// The holders of which [`jointly_retained`] belongs to a level of the tree of roots.
fn parents(loaded: &LoadedSnapshot, ask: &HeapRoots, under: Option<RootNodeId>) -> Vec<RootNodeId> {
    let root_nodes = loaded.heap().graph.root_nodes();
    if let Some(under) = under {
        // All of a label would be itself once more.
        let has_parts = (0..root_nodes.len() as u32).map(RootNodeId).any(|part| {
            loaded.heap().graph.dominator(Node::RootNode(part)) == Some(Node::RootNode(under))
        });
        return if has_parts { vec![under] } else { Vec::new() };
    }
    if !ask.find.is_empty() {
        return Vec::new();
    }
    let is_asked = |kind: &RootKind| ask.kind.as_ref().is_none_or(|asked| asked == kind.name());
    let kinds = RootKind::ALL.iter().copied().filter(is_asked).map(|kind| root_nodes.kind(kind));
    let everything = ask.kind.is_none().then_some(SUPER_ROOT);
    kinds.chain(everything).collect()
}

/// How many labels are directly below each.
fn below(loaded: &LoadedSnapshot) -> HashMap<LabelId, u64> {
    let mut below = HashMap::new();
    for (_, label) in loaded.heap().snapshot.labels.iter() {
        if let Some(parent) = label.parent {
            *below.entry(parent).or_insert(0) += 1;
        }
    }
    below
}

fn row(loaded: &LoadedSnapshot, root: &Root, reachable: Bytes, below: u64) -> Value {
    let all = loaded.heap().graph.held(SUPER_ROOT).bytes();
    let node = Node::RootNode(root.id);
    let path: Vec<String> = root.path.iter().map(|name| shown(name)).collect();
    json!({
        "node": node::text(loaded, node),
        "kind": root.kind,
        "name": path.last(),
        "path": path,
        "share": share(root.retained.0, all.0),
        "retained": root.retained,
        "retained_external": root.external,
        "reachable": reachable,
        "shared": reachable.0.saturating_sub(root.retained.0),
        "below": below,
    })
}

pub(super) fn roots(loaded: &LoadedSnapshot, ask: &HeapRoots) -> Result<ResponseBody, ApiError> {
    let heap = loaded.heap();
    let labels = &heap.snapshot.labels;
    let under = ask.under.as_deref().map(|under| node::root_node(loaded, under)).transpose()?;
    if let Some(kind) = &ask.kind
        && !RootKind::ALL.iter().any(|known| known.name() == kind)
    {
        let names: Vec<&str> = RootKind::ALL.iter().map(|kind| kind.name()).collect();
        return Err(ApiError::bad(format_args!("no kind of root is called {kind:?}"))
            .hint(format_args!("there are {}", names.join(", "))));
    }
    let pattern = (!ask.find.is_empty()).then(|| Pattern::text(&ask.find));
    let mut rows: Vec<Root> = labels
        .iter()
        .filter(|(id, label)| {
            let of_kind = ask.kind.as_ref().is_none_or(|kind| label.kind.name() == kind);
            let placed = match under {
                Some(under) => {
                    let above =
                        heap.graph.dominator(Node::RootNode(heap.graph.root_nodes().label(*id)));
                    above == Some(Node::RootNode(under))
                }
                None => pattern.is_some() || label.parent.is_none(),
            };
            of_kind && placed
        })
        .filter_map(|(id, _)| root(loaded, id))
        .chain(
            parents(loaded, ask, under)
                .into_iter()
                .map(|root_node| jointly_retained(loaded, root_node)),
        )
        .filter(|root| root.retained.0 >= ask.min.max(u64::from(root.label.is_none())))
        .filter(|root| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches(&root.path.join(" / ")))
        })
        .collect();
    // Of all of them only where the order is by that.
    let by_reach = matches!(ask.sort, RootSort::Reachable | RootSort::Shared);
    if by_reach {
        let root_nodes: Vec<RootNodeId> = rows.iter().map(|root| root.id).collect();
        let reach = loaded.reach.of(loaded, &root_nodes);
        rows.sort_by_key(|root| {
            let reachable = root.reachable(&reach);
            let shared = Bytes(reachable.0.saturating_sub(root.retained.0));
            (if ask.sort == RootSort::Shared { shared } else { reachable }, Reverse(root.id))
        });
    } else if ask.sort == RootSort::Name {
        rows.sort_by(|a, b| a.path.cmp(&b.path).then(a.id.cmp(&b.id)));
    } else {
        rows.sort_by_key(|root| (root.retained, Reverse(root.id)));
    }
    if ask.descending {
        rows.reverse();
    }
    let count = rows.len();
    let mut shown_rows = Rows::new(ask.limit);
    let from = ask.offset.min(count);
    let affordable = shown_rows.affordable(&rows[from..], Root::size);
    let kinds: Vec<RootNodeId> = RootKind::ALL
        .iter()
        .map(|kind| heap.graph.root_nodes().kind(*kind))
        .filter(|root_node| heap.graph.held(*root_node).0 > 0)
        .collect();
    let root_nodes: Vec<RootNodeId> =
        affordable.iter().map(|root| root.id).chain(kinds.iter().copied()).collect();
    let reach = loaded.reach.of(loaded, &root_nodes);
    let below = below(loaded);
    let told: Vec<Value> = affordable
        .iter()
        .map(|root| {
            let below = root.label.and_then(|label| below.get(&label)).copied().unwrap_or(0);
            row(loaded, root, root.reachable(&reach), below)
        })
        .collect();
    let kinds: Vec<Value> = kinds
        .into_iter()
        .map(|root_node| {
            let RootNode::Kind(kind) = heap.graph.root_nodes().get(root_node) else {
                return Value::Null;
            };
            let (retained, reachable) = (heap.graph.held(root_node).bytes(), reach[&root_node]);
            json!({
                "kind": kind.name(),
                "node": node::text(loaded, Node::RootNode(root_node)),
                "retained": retained,
                "retained_external": heap.graph.held_external(root_node),
                "reachable": reachable,
                "shared": reachable.0.saturating_sub(retained.0),
                "labels": labels.iter().filter(|(_, label)| label.kind == kind).count(),
            })
        })
        .collect();
    let total = heap.graph.held(SUPER_ROOT).bytes();
    Ok(ResponseBody::new(json!({ "rows": told, "count": count, "total": total, "kinds": kinds })))
}

pub(super) fn stack(loaded: &LoadedSnapshot, _: &HeapStack) -> ResponseBody {
    let heap = loaded.heap();
    let labels = &heap.snapshot.labels;
    let frames: Vec<Root> = labels
        .iter()
        .filter(|(_, label)| label.kind == RootKind::Stack)
        .filter_map(|(id, _)| root(loaded, id))
        .collect();
    let mut rows = Rows::new(MOST_FRAMES);
    let affordable = rows.affordable(&frames, Root::size);
    let root_nodes: Vec<RootNodeId> = affordable.iter().map(|root| root.id).collect();
    let reach = loaded.reach.of(loaded, &root_nodes);
    let below = below(loaded);
    let told: Vec<Value> = affordable
        .iter()
        .map(|root| {
            let count = root.label.and_then(|label| below.get(&label)).copied().unwrap_or(0);
            let mut told = row(loaded, root, root.reachable(&reach), count);
            told["depth"] = json!(root.path.len().saturating_sub(1));
            told["opens"] = json!(count > 0 || root.retained.0 > 0);
            told
        })
        .collect();
    ResponseBody::new(json!({ "rows": told, "count": frames.len() }))
}

pub(super) fn shared(loaded: &LoadedSnapshot, ask: &HeapShared) -> Result<ResponseBody, ApiError> {
    let heap = loaded.heap();
    let (a, b) = (node::root_node(loaded, &ask.a)?, node::root_node(loaded, &ask.b)?);
    let shared = query::shared(heap, a, b);
    let held = [a, b].map(|root_node| heap.graph.held(root_node).bytes());
    Ok(ResponseBody::new(json!({
        "names": shared.names.map(|name| shown(&name)),
        "reachable": shared.reachable,
        "retained": held,
        "common": shared.common,
    })))
}
