//! The answer to [`HeapContainers`].

use std::cmp::Reverse;

use memtrail_heap::Bytes;
use memtrail_heap::graph::{Node, SUPER_ROOT};
use memtrail_heap::query::Container;
use memtrail_order::SortRows as _;
use memtrail_profile::calls::Pattern;
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use super::node;
use super::rows::Rows;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::{ContainerSort, HeapContainers};

/// Hash tables, maps, arrays and the like.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ContainersResponse {
    /// The rows that were queried, in their order.
    pub rows: Vec<ContainerRow>,
    /// How many rows there are.
    pub count: usize,
    /// How many containers there are; those that retain least have no rows if there are very many.
    pub containers: u64,
}

/// A container.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ContainerRow {
    /// What is measured of it.
    #[serde(flatten)]
    pub container: Container,
    /// All that could be saved.
    pub wasted: Bytes,
    /// What it retains, of all that is retained.
    pub share: f64,
    /// What queries call its owner.
    pub owner_node: Option<String>,
}

pub(super) fn containers(
    loaded: &LoadedSnapshot,
    query: &HeapContainers,
) -> Result<ContainersResponse, ApiError> {
    let all = loaded.containers()?;
    let pattern = (!query.find.is_empty()).then(|| Pattern::text(&query.find));
    let is_wanted = |row: &&Container| {
        let texts = [&row.r#type, &row.owner, &row.path];
        pattern.as_ref().is_none_or(|pattern| texts.iter().any(|text| pattern.matches(text)))
    };
    let mut rows: Vec<&Container> = all.rows.iter().filter(is_wanted).collect();
    match query.sort {
        // They are in this order.
        ContainerSort::Retained => {}
        ContainerSort::Entries => rows.sort_rows_by_key(|row| Reverse(row.entries)),
        ContainerSort::Wasted => rows.sort_rows_by_key(|row| Reverse(row.waste.sum())),
        ContainerSort::External => rows.sort_rows_by_key(|row| Reverse(row.retained_external)),
        ContainerSort::Name => rows.sort_rows_by(|a, b| b.r#type.cmp(&a.r#type)),
    }
    if !query.descending {
        rows.reverse();
    }
    let count = rows.len();
    let mut bounds = Rows::new(query.limit);
    let size = |row: &&Container| 500 + row.r#type.len() + row.owner.len() + row.path.len();
    let rows = bounds.affordable(&rows[query.offset.min(count)..], size);
    let whole = loaded.heap().graph.held(SUPER_ROOT).bytes();
    let row = |container: &&Container| ContainerRow {
        wasted: container.waste.sum(),
        share: container.retained.share_of(whole),
        owner_node: container.owner_root.map(|root| node::text(loaded, Node::RootNode(root))),
        container: Container {
            r#type: shown(&container.r#type),
            path: shown(&container.path),
            owner: shown(&container.owner),
            owner_holds: container.owner_holds.as_deref().map(shown),
            ..(*container).clone()
        },
    };
    Ok(ContainersResponse { rows: rows.iter().map(row).collect(), count, containers: all.count })
}
