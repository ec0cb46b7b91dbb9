//! The answer to [`HeapOwners`].

use std::cmp::Reverse;

use memtrail_heap::graph::Node;
use memtrail_heap::query::{self, OwnerRow};
use memtrail_heap::{BlockIndex, Bytes};
use memtrail_order::SortRows as _;
use memtrail_profile::calls::Pattern;
use serde::Serialize;

use super::loaded::{LoadedSnapshot, damaged};
use super::node;
use super::rows::Rows;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::{HeapOwners, OwnerSort};

/// Bytes of a name that is shown, about.
const MAX_NAME: usize = 500;
/// Aliases of an owner that are listed.
const MAX_ALIASES: usize = 20;

/// All that is reachable, by owner.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OwnersResponse {
    /// The owners.
    pub rows: Vec<OwnerFigures>,
    /// How many rows there are.
    pub count: usize,
    /// All that is reachable.
    pub total: Bytes,
    /// Kinds of roots that own something, those of most first.
    pub kinds: Vec<OwnerKind>,
}

/// A root and what is attributed to it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OwnerFigures {
    /// What queries call it.
    pub node: String,
    /// The kind of root.
    pub kind: &'static str,
    /// Its name, with those above it.
    pub name: String,
    /// The variable's type, if it is one and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub r#type: Option<String>,
    /// Where the variable is defined: `cache.ml:12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub position: Option<String>,
    /// Of a global variable without a name, what it holds: `class Shop.cart`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub holds: Option<String>,
    /// What of all that is reachable is attributed to it.
    pub share: f64,
    /// What is attributed to it.
    pub owned: Bytes,
    /// Bytes outside the heap that go with that.
    pub owned_external: Bytes,
    /// What would be freed without it and its aliases.
    pub retained: Bytes,
    /// The block that it holds, if it is one.
    pub block: Option<BlockIndex>,
    /// Other roots that hold the same block, and modules that it is a value of; not all of very many.
    pub aliases: Vec<String>,
}

/// What is attributed to all roots of a kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OwnerKind {
    /// Its name.
    pub kind: &'static str,
    /// What they own.
    pub owned: Bytes,
    /// Bytes outside the heap that go with that.
    pub owned_external: Bytes,
    /// How many there are.
    pub owners: u64,
}

pub(super) fn owners(
    loaded: &LoadedSnapshot,
    query: &HeapOwners,
) -> Result<OwnersResponse, ApiError> {
    let all = loaded.owners();
    let pattern = (!query.find.is_empty()).then(|| Pattern::text(&query.find));
    let is_wanted = |row: &&OwnerRow| {
        let matches = |name: &str| pattern.as_ref().is_none_or(|pattern| pattern.matches(name));
        query.kind.as_deref().is_none_or(|kind| kind == row.kind)
            && (matches(&row.name()) || row.aliases.iter().any(|alias| matches(alias)))
    };
    let mut rows: Vec<&OwnerRow> = all.rows.iter().filter(is_wanted).collect();
    match query.sort {
        // They are in this order.
        OwnerSort::Owned => {}
        OwnerSort::Retained => rows.sort_rows_by_key(|row| Reverse(row.retained)),
        OwnerSort::External => rows.sort_rows_by_key(|row| Reverse(row.owned_external)),
        OwnerSort::Name => rows.sort_rows_by_cached_key(|row| Reverse(row.name())),
    }
    if !query.descending {
        rows.reverse();
    }
    let count = rows.len();
    let mut bounds = Rows::new(query.limit);
    let rows = bounds.affordable(&rows[query.offset.min(count)..], |row| size(row));
    let mut rows: Vec<OwnerRow> = rows.iter().map(|row| (*row).clone()).collect();
    query::add_held_values(loaded.heap(), &mut rows).map_err(damaged)?;
    Ok(OwnersResponse {
        rows: rows.iter().map(|row| figures(loaded, row)).collect(),
        count,
        total: all.owned,
        kinds: kinds(&all.rows),
    })
}

/// Bytes that a row takes in a response, about.
fn size(row: &OwnerRow) -> usize {
    let names = row.path.iter().chain(row.aliases.iter().take(MAX_ALIASES));
    300 + names.map(|name| name.len().min(MAX_NAME) + 3).sum::<usize>()
}

fn figures(loaded: &LoadedSnapshot, row: &OwnerRow) -> OwnerFigures {
    OwnerFigures {
        node: node::text(loaded, Node::RootNode(row.root)),
        kind: row.kind,
        name: shown(&row.name()),
        r#type: row.r#type.as_deref().map(shown),
        position: row.position.as_deref().map(shown),
        holds: row.holds.as_deref().map(shown),
        share: row.share,
        owned: row.owned,
        owned_external: row.owned_external,
        retained: row.retained,
        block: row.block,
        aliases: row.aliases.iter().take(MAX_ALIASES).map(|alias| shown(alias)).collect(),
    }
}

fn kinds(rows: &[OwnerRow]) -> Vec<OwnerKind> {
    let mut kinds: Vec<OwnerKind> = Vec::new();
    for row in rows {
        match kinds.iter_mut().find(|known| known.kind == row.kind) {
            Some(known) => {
                known.owned += row.owned;
                known.owned_external += row.owned_external;
                known.owners += 1;
            }
            None => kinds.push(OwnerKind {
                kind: row.kind,
                owned: row.owned,
                owned_external: row.owned_external,
                owners: 1,
            }),
        }
    }
    kinds.sort_rows_by_key(|kind| Reverse(kind.owned + kind.owned_external));
    kinds
}
