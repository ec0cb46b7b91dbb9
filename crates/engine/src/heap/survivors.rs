//! The answer to [`HeapSurvivors`]: what was alive in one snapshot and is still alive in a later one, by what allocated
//! it.
//!
//! Sampled blocks have the same number in all snapshots of a recording, so that those of two snapshots can be compared one
//! by one: no clock decides which block was there before.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use memtrail_order::SortRows as _;
use memtrail_profile::calls::Label;
use memtrail_trace::BlockId;
use serde::Serialize;

use super::join::{AliveEstimate, Live, Tally};
use super::loaded::LoadedSnapshot;
use super::parts::{Part, SurvivorPart};
use super::rows::Rows;
use super::samples::{allocating_site, label};
use crate::api_error::ApiError;
use crate::names::row;
use crate::query::{HeapSurvivors, SurvivorOrder};
use crate::recording::Recording;

/// What survived from one snapshot to another.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SurvivorsResponse {
    /// The number of the earlier snapshot; those of several processes have other numbers and times.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(as = "u64"))]
    pub from: Option<u64>,
    /// That of the later one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(as = "u64"))]
    pub to: Option<u64>,
    /// When the earlier one was taken, in seconds since the recording's start.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(as = "f64"))]
    pub from_at: Option<f64>,
    /// When the later one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(as = "f64"))]
    pub to_at: Option<f64>,
    /// All that was alive in the earlier one and is in the later one.
    pub survived: AliveEstimate,
    /// All that was alive in the earlier one and is not in the later one.
    pub freed: AliveEstimate,
    /// All that is alive in the later one and was not in the earlier one.
    pub added: AliveEstimate,
    /// Sampled blocks of both snapshots that the trace does not have.
    pub unknown: usize,
    /// The places that allocated it.
    pub rows: Vec<SurvivorRow>,
    /// How many rows there are.
    pub count: usize,
    /// Rows that are left out.
    pub left_out: usize,
}

/// What a place in the program allocated, and what became of it between the snapshots.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SurvivorRow {
    /// What filters call it.
    pub key: Option<String>,
    /// What it is shown as.
    pub name: String,
    /// Its module.
    pub module: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// From 1; 0 if unknown.
    pub line: Option<u32>,
    /// Number of the function or site, if it is one.
    pub entity: Option<u32>,
    /// Alive in both.
    pub survived: AliveEstimate,
    /// Alive in the earlier one alone.
    pub freed: AliveEstimate,
    /// Alive in the later one alone.
    pub added: AliveEstimate,
    /// What part of the bytes that were alive in the earlier one survived, from 0 to 1; none if there were none.
    pub survival: Option<f64>,
    /// Its parts in the processes of a family, that of most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub processes: Vec<Part<SurvivorPart>>,
}

/// What became of a sampled block.
#[derive(Clone, Copy)]
enum Fate {
    Survived,
    Freed,
    Added,
}

/// A place's blocks, by what became of them.
#[derive(Default)]
struct Group {
    survived: Tally,
    freed: Tally,
    added: Tally,
}

impl Group {
    fn of(&mut self, fate: Fate) -> &mut Tally {
        match fate {
            Fate::Survived => &mut self.survived,
            Fate::Freed => &mut self.freed,
            Fate::Added => &mut self.added,
        }
    }

    /// What part of the samples that were there survived.
    fn survival(&self) -> Option<f64> {
        let (survived, freed) = (self.survived.samples(), self.freed.samples());
        let before = survived.saturating_add(freed);
        (before > 0).then(|| survived as f64 / before as f64)
    }
}

/// Two snapshots of a recording; `at` is when they were taken, in seconds since its start.
pub(super) struct Between<'l> {
    pub(super) loaded: [&'l LoadedSnapshot; 2],
    pub(super) at: [f64; 2],
}

/// Compares the sampled blocks of two snapshots.
pub(super) fn survivors(
    between: &Between<'_>,
    recording: &Recording,
    query: &HeapSurvivors,
) -> SurvivorsResponse {
    let profile = recording.profile();
    let mut unknown = 0;
    let mut numbers: HashMap<Option<Label>, usize> = HashMap::new();
    let (mut labels, mut groups): (Vec<Option<Label>>, Vec<Group>) = (Vec::new(), Vec::new());
    let mut all = Group::default();
    for (live, fate) in fates(between.loaded, recording, &mut unknown) {
        let of = allocating_site(recording, live.row);
        let label = of.and_then(|site| label(recording, query.by, site));
        let number = *numbers.entry(label).or_insert_with(|| {
            labels.push(label);
            groups.push(Group::default());
            groups.len() - 1
        });
        groups[number].of(fate).add(profile, live);
        all.of(fate).add(profile, live);
    }
    let order = order(&groups, query.order);
    let entities = &recording.entities;
    let key = |number: usize| labels[number].map_or("", |label| entities.label_key(label));
    let mut bounds = Rows::new(query.limit);
    let wanted = &order[query.offset.min(order.len())..];
    let affordable = bounds.affordable(wanted, |number| 800 + key(*number).len() * 2);
    let rows = affordable.iter().map(|number| {
        let group = std::mem::take(&mut groups[*number]);
        let survival = group.survival();
        let name = labels[*number].map(|label| row(entities, label));
        SurvivorRow {
            key: name.as_ref().map(|name| name.key.to_owned()),
            module: name.as_ref().and_then(|name| name.module.clone()),
            file: name.as_ref().and_then(|name| name.file.clone()),
            line: name.as_ref().and_then(|name| name.line),
            entity: name.as_ref().and_then(|name| name.entity),
            name: name.map_or_else(|| "(unknown)".to_owned(), |name| name.label),
            survived: group.survived.finish(profile),
            freed: group.freed.finish(profile),
            added: group.added.finish(profile),
            survival,
            processes: Vec::new(),
        }
    });
    let rows: Vec<SurvivorRow> = rows.collect();
    let [before, after] = between.loaded;
    SurvivorsResponse {
        from: Some(before.heap().snapshot.facts.number),
        to: Some(after.heap().snapshot.facts.number),
        from_at: Some(between.at[0]),
        to_at: Some(between.at[1]),
        survived: all.survived.finish(profile),
        freed: all.freed.finish(profile),
        added: all.added.finish(profile),
        unknown,
        left_out: order.len() - rows.len(),
        count: order.len(),
        rows,
    }
}

/// The sampled blocks of two snapshots that are alive in one of them, each once. Of those that the trace does not have,
/// the number is added to `unknown`.
fn fates(
    loaded: [&LoadedSnapshot; 2],
    recording: &Recording,
    unknown: &mut usize,
) -> Vec<(Live, Fate)> {
    let alive = |loaded: &LoadedSnapshot| {
        let heap = loaded.heap();
        let samples = heap.snapshot.samples.iter();
        let reachable = samples.filter(|sample| heap.graph.is_reachable(sample.block));
        reachable.map(|sample| (sample.id, sample.block)).collect::<Vec<_>>()
    };
    let [before, after] = loaded.map(alive);
    let ids = |of: &[(u64, _)]| of.iter().map(|(id, _)| *id).collect::<HashSet<u64>>();
    let (ids_before, ids_after) = (ids(&before), ids(&after));
    let in_after = after.into_iter().map(|(id, block)| {
        let fate = if ids_before.contains(&id) { Fate::Survived } else { Fate::Added };
        (id, block, fate)
    });
    let gone = before.into_iter().filter(|(id, _)| !ids_after.contains(id));
    let mut found = Vec::new();
    for (id, block, fate) in in_after.chain(gone.map(|(id, block)| (id, block, Fate::Freed))) {
        match recording.profile().find(BlockId(id)) {
            Some(row) => found.push((Live { block, row }, fate)),
            None => *unknown += 1,
        }
    }
    found
}

/// The groups in the order that is wanted; those without survivors last.
fn order(groups: &[Group], order: SurvivorOrder) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..groups.len()).collect();
    let figure = |number: &usize| match order {
        SurvivorOrder::Survived => Reverse(groups[*number].survived.samples()),
        SurvivorOrder::Added => Reverse(groups[*number].added.samples()),
        // The smaller the moment, the older.
        SurvivorOrder::Oldest => {
            Reverse(u64::MAX - groups[*number].survived.median_moment().unwrap_or(u64::MAX))
        }
    };
    numbers.sort_rows_by_cached_key(|number| (figure(number), *number));
    numbers
}

/// The numbers of the two snapshots that are compared: the first and the last, unless named.
///
/// # Errors
/// If there are not two, or the first is not before the second.
pub(super) fn numbers(known: &[u64], query: &HeapSurvivors) -> Result<[u64; 2], ApiError> {
    let too_few = || {
        let there = if known.len() == 1 { "is one" } else { "are none" };
        ApiError::unknown(format_args!("two snapshots are needed, there {there}"))
            .hint("take some: memtrail run --snapshot every-major -- PROGRAM")
    };
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return Err(too_few()) };
    let from = query.from.unwrap_or(*first);
    let to = query.to.unwrap_or(*last);
    for number in [from, to] {
        if !known.contains(&number) {
            return Err(ApiError::unknown(format_args!("no snapshot {number}")));
        }
    }
    if known.len() < 2 {
        return Err(too_few());
    }
    if from >= to {
        let message = format_args!("snapshot {from} is not before snapshot {to}");
        return Err(ApiError::bad(message).hint("the earlier one comes first"));
    }
    Ok([from, to])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_snapshot_are_compared_unless_others_are_named() {
        let asked =
            |from, to| numbers(&[2, 5, 9], &HeapSurvivors { from, to, ..Default::default() });
        assert_eq!(asked(None, None).unwrap(), [2, 9]);
        assert_eq!(asked(Some(5), None).unwrap(), [5, 9]);
        assert_eq!(asked(None, Some(5)).unwrap(), [2, 5]);
        for wrong in [(Some(3), None), (Some(9), None), (Some(5), Some(2)), (None, Some(2))] {
            assert!(asked(wrong.0, wrong.1).is_err(), "{wrong:?}");
        }
        for few in [&[][..], &[1]] {
            assert!(numbers(few, &HeapSurvivors::default()).is_err());
        }
    }
}
