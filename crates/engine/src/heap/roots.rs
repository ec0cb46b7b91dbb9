//! The answer to [`HeapRoots`].

use memtrail_heap::graph::{Node, SUPER_ROOT};
use memtrail_heap::query::{
    self, Root, RootKindRow, RootOrder, RootQuery, RootRow, RootScope, stored_root,
};
use memtrail_heap::{Bytes, RootKind};
use memtrail_profile::calls::Pattern;
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use super::node;
use super::rows::Rows;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::{HeapRoots, RootSort};

/// Bytes of a name that is shown, about.
const MAX_NAME: usize = 500;

/// Roots, by what they retain.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RootsResponse {
    /// The rows that were queried, in their order.
    pub rows: Vec<RootFigures>,
    /// How many rows there are.
    pub count: usize,
    /// All that is alive.
    pub total: Bytes,
    /// The kinds of roots that retain something.
    pub kinds: Vec<RootKindFigures>,
}

/// A root, or what several roots retain jointly.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RootFigures {
    /// What queries call it.
    pub node: String,
    /// `global`, `stack` and so on.
    pub kind: &'static str,
    /// Its own name.
    pub name: Option<String>,
    /// Names from the coarsest to its own.
    pub path: Vec<String>,
    /// What comparisons of snapshots call it; of what is retained jointly, the root whose parts retain it.
    pub stored_name: String,
    /// The variable's type, if it is one and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub r#type: Option<String>,
    /// Where the variable is defined: `cache.ml:12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub position: Option<String>,
    /// What it retains, of all that is alive.
    pub share: f64,
    /// Bytes that would be freed without it.
    pub retained: Bytes,
    /// Bytes outside the heap that go with what it retains.
    pub retained_external: Bytes,
    /// Bytes of all blocks that it leads to.
    pub reachable: Bytes,
    /// What is reachable from it and from others.
    pub shared: Bytes,
    /// Labels directly below it.
    pub below: u64,
    /// Whether it is what several parts of a root retain jointly.
    pub is_joint: bool,
}

/// Sums of all roots of a kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RootKindFigures {
    /// What queries call it.
    pub node: String,
    /// Its sums.
    #[serde(flatten)]
    pub kind: RootKindRow,
}

pub(super) fn roots(loaded: &LoadedSnapshot, query: &HeapRoots) -> Result<RootsResponse, ApiError> {
    let heap = loaded.heap();
    let under = query.under.as_deref().map(|under| node::root_node(loaded, under)).transpose()?;
    let kind = query.kind.as_deref().map(kind).transpose()?;
    let pattern = (!query.find.is_empty()).then(|| Pattern::text(&query.find));
    let matches = |name: &str| pattern.as_ref().is_none_or(|pattern| pattern.matches(name));
    let wanted = RootQuery {
        scope: match (under, &pattern) {
            (Some(under), _) => RootScope::PartsOf(under),
            (None, Some(_)) => RootScope::Labels,
            (None, None) => RootScope::Top,
        },
        kind,
        min_retained: Bytes(query.min),
        min_reachable: Bytes(0),
        with_external: false,
        name: Some(&matches),
        order: query.sort.into(),
        descending: query.descending,
    };
    let roots = query::roots(heap, &wanted, &loaded.reach);
    let count = roots.len();
    let mut bounds = Rows::new(query.limit);
    let affordable = bounds.affordable(&roots[query.offset.min(count)..], size);
    let rows = query::root_rows(heap, affordable, &loaded.reach);
    let kinds = query::root_kinds(heap, &loaded.reach)
        .into_iter()
        .map(|kind| RootKindFigures { node: node::text(loaded, Node::RootNode(kind.root)), kind });
    Ok(RootsResponse {
        rows: rows
            .iter()
            .zip(affordable)
            .map(|(row, root)| RootFigures { is_joint: root.is_joint, ..figures(loaded, row) })
            .collect(),
        count,
        total: heap.graph.held(SUPER_ROOT).bytes(),
        kinds: kinds.collect(),
    })
}

/// The kind of root of a name.
fn kind(name: &str) -> Result<RootKind, ApiError> {
    let known = RootKind::ALL.iter().find(|known| known.name() == name);
    known.copied().ok_or_else(|| {
        let names: Vec<&str> = RootKind::ALL.iter().map(|kind| kind.name()).collect();
        ApiError::bad(format_args!("no kind of root is called {name:?}"))
            .hint(format_args!("there are {}", names.join(", ")))
    })
}

/// Bytes that a root takes in a response.
pub(super) fn size(root: &Root) -> usize {
    300 + root.path.iter().map(|name| name.len().min(MAX_NAME) + 3).sum::<usize>()
}

pub(super) fn figures(loaded: &LoadedSnapshot, root: &RootRow) -> RootFigures {
    let all = loaded.heap().graph.held(SUPER_ROOT).bytes();
    let path: Vec<String> = root.path.iter().map(|name| shown(name)).collect();
    RootFigures {
        node: node::text(loaded, Node::RootNode(root.root)),
        kind: root.kind,
        name: path.last().cloned(),
        path,
        stored_name: shown(&stored_root(loaded.heap(), root.root).1),
        r#type: root.r#type.as_deref().map(shown),
        position: root.position.as_deref().map(shown),
        share: root.retained.share_of(all),
        retained: root.retained,
        retained_external: root.retained_external,
        reachable: root.reachable,
        shared: root.shared,
        below: root.parts,
        is_joint: false,
    }
}

impl From<RootSort> for RootOrder {
    fn from(sort: RootSort) -> Self {
        match sort {
            RootSort::Retained => Self::Retained,
            RootSort::Reachable => Self::Reachable,
            RootSort::Shared => Self::Shared,
            RootSort::Name => Self::Name,
        }
    }
}
