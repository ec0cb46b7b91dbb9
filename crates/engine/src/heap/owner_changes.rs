//! What owners have in the newest snapshot, and by how much that differs from the snapshots before: for those who watch a
//! program.

use std::collections::HashMap;

use memtrail_heap::Bytes;
use memtrail_heap::query::{OwnerRow, Summary};
use memtrail_order::SortRows as _;
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use super::over_time::taken_at;
use super::snapshot_store::Known;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::recording::Recording;

/// Maximum number of rows.
const MAX_ROWS: usize = 1000;

/// What owners have in a snapshot, and had before.
#[derive(Clone, Debug, Serialize)]
pub struct OwnerChanges {
    /// How many processes' snapshots these are sums of.
    pub processes: usize,
    /// The number of the snapshot; of several, of that taken last.
    pub snapshot: u64,
    /// When it was taken, in seconds since the recording's start.
    pub at: f64,
    /// When the snapshot before it was taken, if there is one that is analysed.
    pub before_at: Option<f64>,
    /// When the first one was, if that is another.
    pub first_at: Option<f64>,
    /// All that is alive.
    pub alive: Bytes,
    /// Bytes outside the heap that go with that.
    pub alive_external: Bytes,
    /// That of most first, off-heap memory included.
    pub rows: Vec<OwnerChange>,
    /// How many rows there are.
    pub count: usize,
}

impl OwnerChanges {
    /// The sum over several processes, each with the time at which its recording began on the clock of all. Owners of
    /// the same kind, name and type are one. `None` if there are none.
    pub fn sum<'a>(parts: impl Iterator<Item = (f64, &'a Self)>) -> Option<Self> {
        let mut sum: Option<Self> = None;
        for (began, part) in parts {
            let shifted =
                Self { at: began + part.at, before_at: None, first_at: None, ..part.clone() };
            match &mut sum {
                None => sum = Some(shifted),
                Some(sum) => sum.add(shifted),
            }
        }
        let mut sum = sum?;
        for row in &mut sum.rows {
            row.share = row.owned.share_of(sum.alive);
        }
        sum.rows.sort_rows_by_key(|row| std::cmp::Reverse(row.size()));
        Some(sum)
    }

    fn add(&mut self, other: Self) {
        self.processes += other.processes;
        if other.at > self.at {
            (self.snapshot, self.at) = (other.snapshot, other.at);
        }
        self.alive += other.alive;
        self.alive_external += other.alive_external;
        self.count += other.count - other.rows.len();
        let key = |row: &OwnerChange| (row.kind, row.name.clone(), row.r#type.clone());
        let mut places: HashMap<_, usize> =
            self.rows.iter().enumerate().map(|(place, row)| (key(row), place)).collect();
        for row in other.rows {
            let place = *places.entry(key(&row)).or_insert(self.rows.len());
            let Some(known) = self.rows.get_mut(place) else {
                self.count += 1;
                self.rows.push(row);
                continue;
            };
            known.owned += row.owned;
            known.owned_external += row.owned_external;
            known.since_before = both(known.since_before, row.since_before);
            known.since_first = both(known.since_first, row.since_first);
        }
    }
}

/// The sum of what is known.
fn both(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    a.zip(b).map(|(a, b)| a.saturating_add(b)).or(a).or(b)
}

/// What an owner has, and had before.
#[derive(Clone, Debug, Serialize)]
pub struct OwnerChange {
    /// The kind of root.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// The variable's type, if it is one and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// Where the variable is defined: `cache.ml:12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// Of a global variable without a name, what it holds: `class Shop.cart`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// What is attributed to it, memory outside the heap not counted.
    pub owned: Bytes,
    /// Bytes outside the heap that go with that.
    pub owned_external: Bytes,
    /// Of all that is alive.
    pub share: f64,
    /// By how many bytes that is more than in the snapshot before, off-heap memory included.
    pub since_before: Option<i64>,
    /// By how many it is more than in the first one.
    pub since_first: Option<i64>,
}

impl OwnerChange {
    /// What is attributed to it, off-heap memory included.
    #[must_use]
    pub fn size(&self) -> Bytes {
        self.owned + self.owned_external
    }
}

/// A snapshot before the newest one: when it was taken, and what each owner had.
struct Earlier {
    at: f64,
    sizes: HashMap<(String, String), u64>,
}

impl Earlier {
    fn new(loaded: &LoadedSnapshot, at: f64, summary: &Summary) -> Self {
        let names = loaded.stored_names();
        let mut sizes: HashMap<(String, String), u64> = HashMap::new();
        for owner in &summary.owners {
            let key = (owner.kind.clone(), owner.name.clone());
            // The snapshot that is open knows the names that variables have in the sources.
            let name = names.get(&key).map_or(owner.name.clone(), Clone::clone);
            let size = sizes.entry((key.0, name)).or_default();
            *size = size.saturating_add((owner.owned + owner.owned_external).0);
        }
        Self { at, sizes }
    }
}

/// Compares the owners of a snapshot with those of the one before it and of the first.
pub(super) fn owner_changes(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    known: &[Known],
) -> Result<OwnerChanges, ApiError> {
    let number = loaded.heap().snapshot.facts.number;
    let start = recording.profile().info.start.0 as f64 / 1e6;
    let earlier = |known: &Known| {
        let summary = known.summary.as_ref().filter(|summary| summary.damage.is_none())?;
        Some(Earlier::new(loaded, (known.facts.taken_unix - start).max(0.0), summary))
    };
    let mut before = known.iter().filter(|known| known.facts.number < number);
    let first = before.clone().find_map(earlier);
    let last = before.by_ref().rev().find_map(earlier);
    let of_all = |size: fn(&OwnerRow) -> u64| {
        loaded.owners().rows.iter().map(size).fold(0, u64::saturating_add)
    };
    let [alive, alive_external] =
        [of_all(|row| row.owned.0), of_all(|row| row.owned_external.0)].map(Bytes);
    // Roots of the same name are one, as in summaries.
    let mut numbers: HashMap<(&'static str, String), usize> = HashMap::new();
    let held = loaded.held()?;
    let mut rows: Vec<OwnerChange> = Vec::new();
    for row in &loaded.owners().rows {
        let name = row.name();
        let place = *numbers.entry((row.kind, name.clone())).or_insert_with(|| {
            let is_unnamed = row.kind == "global" && row.variable.is_none();
            let holds = row.block.filter(|_| is_unnamed).and_then(|block| held.get(&block));
            rows.push(OwnerChange {
                kind: row.kind,
                name,
                r#type: row.r#type.as_deref().map(shown),
                position: row.position.as_deref().map(shown),
                holds: holds.map(|holds| shown(holds)),
                owned: Bytes(0),
                owned_external: Bytes(0),
                share: 0.0,
                since_before: None,
                since_first: None,
            });
            rows.len() - 1
        });
        rows[place].owned += row.owned;
        rows[place].owned_external += row.owned_external;
    }
    for row in &mut rows {
        let key = (row.kind.to_owned(), row.name.clone());
        let change = |earlier: &Earlier| {
            let size = earlier.sizes.get(&key).copied().unwrap_or(0);
            row.size().0 as i64 - size as i64
        };
        (row.since_before, row.since_first) =
            (last.as_ref().map(change), first.as_ref().map(change));
        row.share = row.owned.share_of(alive);
        row.name = shown(&row.name);
    }
    rows.sort_rows_by_key(|row| std::cmp::Reverse(row.size()));
    let count = rows.len();
    rows.truncate(MAX_ROWS);
    Ok(OwnerChanges {
        processes: 1,
        snapshot: number,
        at: taken_at(loaded, recording, known).0,
        before_at: last.map(|earlier| earlier.at),
        first_at: first.map(|earlier| earlier.at),
        alive,
        alive_external,
        rows,
        count,
    })
}
