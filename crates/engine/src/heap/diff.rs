//! The answer to `HeapDiff`.

use memtrail_heap::query::{self, Change, Difference, Summary};

use super::rows::Rows;
use super::snapshot_store::VariableNames;
use crate::names::shown;

/// Compares two snapshots, what changed most first. Each side's variables have the names that its own program gives them.
pub(super) fn diff(
    [before, after]: [&Summary; 2],
    limit: usize,
    [earlier_names, names]: [&VariableNames; 2],
) -> Difference {
    let named = |summary: &Summary, names: &VariableNames| {
        let mut summary = summary.clone();
        summary.name_owners(|kind, name| names.name(kind, name));
        summary
    };
    let mut difference = query::diff(&named(before, earlier_names), &named(after, names));
    difference.owners.truncate(limit);
    let owners = difference.owners.iter();
    let held = names.held(owners.map(|change| (change.kind.as_ref(), &change.name)));
    for owner in &mut difference.owners {
        owner.holds = held.get(&owner.name).map(|holds| shown(holds));
    }
    difference.roots.retain(|change| !change.is_joint);
    difference.kinds = shown_changes(difference.kinds, limit);
    difference.roots = shown_changes(difference.roots, limit);
    difference.joint = shown_changes(difference.joint, limit);
    difference.owners = shown_changes(difference.owners, limit);
    difference
}

/// Bytes that a row takes in a response, about.
fn size(change: &Change) -> usize {
    120 + change.name.len() + change.holds.as_ref().map_or(0, String::len)
}

fn shown_changes(mut changes: Vec<Change>, limit: usize) -> Vec<Change> {
    let mut bounds = Rows::new(limit);
    let count = bounds.affordable(&changes, size).len();
    changes.truncate(count);
    for change in &mut changes {
        change.name = shown(&change.name);
    }
    changes
}
