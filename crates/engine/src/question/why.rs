//! Retainers of the blocks that a function allocated, over processes.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_heap::Bytes;
use memtrail_order::SortRows as _;
use serde::Serialize;

use super::family::Member;
use super::merge::{FamilyForm, Merge};
use super::selection::Selection;
use super::sites::{rounded, share, sum};
use super::summed::{SumRow, are_of_family, merge_rows, name_rows, order_parts};
use super::who::add_names;
use crate::heap::{AlivePart, OwnerShare, Part, PathShare, WhyResponse};
use crate::references::{ReferrersResponse, ReferringPath};

/// Retainers of the blocks that a function allocated: in OCaml's heap, in memory from `malloc`, or in both.
#[derive(Clone, Debug, Serialize)]
pub struct Retainers {
    /// Retainers of blocks in OCaml's heap.
    #[serde(flatten)]
    pub heap: Option<WhyResponse>,
    /// Referrers to memory from `malloc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub malloc: Option<ReferrersResponse>,
    /// True if the name that was asked for is that of a function, and not a part of one.
    #[serde(skip)]
    pub is_whole_name: bool,
}

impl Retainers {
    /// Bytes in memory from `malloc`, and in OCaml's heap.
    fn bytes(&self) -> f64 {
        let heap = self.heap.as_ref().map_or(0.0, |heap| heap.alive.bytes.value);
        heap + self.malloc.as_ref().map_or(0.0, |malloc| malloc.alive.bytes.value)
    }
}

impl Merge for Retainers {
    type Order = ();

    const OF_FAMILY: FamilyForm = FamilyForm::SumAndEach;

    fn name_process(&mut self, process: &Member) {
        if let Some(heap) = &mut self.heap {
            name_rows(&mut heap.owners, process);
            name_rows(&mut heap.paths, process);
            heap.owner_count = heap.owners.len();
            heap.share = None;
        }
    }

    fn merge(&mut self, other: Self) {
        match (&mut self.heap, other.heap) {
            (Some(known), Some(more)) => merge_retainers(known, more),
            (none, more) => *none = none.take().or(more),
        }
        match (&mut self.malloc, other.malloc) {
            (Some(known), Some(more)) => merge_referrers(known, more),
            (none, more) => *none = none.take().or(more),
        }
    }

    fn finish(&mut self, selection: &Selection) {
        if let Some(heap) = &mut self.heap {
            finish_retainers(heap, selection);
        }
        if let Some(malloc) = &mut self.malloc {
            malloc.paths.truncate(selection.limit);
        }
    }

    fn size(&self) -> Bytes {
        Bytes(self.bytes().round() as u64)
    }

    /// Blocks of the functions themselves come before blocks of their callees, and closures are last; the whole name comes
    /// before a part of others.
    fn rank(&self) -> u8 {
        let heap = self.heap.as_ref().map(|heap| (heap.are_closures, heap.are_callers));
        let malloc = self.malloc.as_ref().map(|malloc| (false, malloc.are_callers));
        let (are_closures, are_callers) = heap.or(malloc).unwrap_or_default();
        u8::from(are_closures) * 4 + u8::from(are_callers) * 2 + u8::from(!self.is_whole_name)
    }
}

/// Adds what retains blocks of OCaml's heap in another process.
fn merge_retainers(known: &mut WhyResponse, more: WhyResponse) {
    add_names(&mut known.names, more.names);
    known.alive += more.alive;
    known.coverage = sum(known.coverage, more.coverage);
    merge_rows(&mut known.owners, more.owners);
    known.owner_count = known.owners.len();
    merge_rows(&mut known.paths, more.paths);
}

fn finish_retainers(why: &mut WhyResponse, selection: &Selection) {
    let (owners, paths) = (&mut why.owners, &mut why.paths);
    if are_of_family(owners) {
        let all = why.alive.bytes;
        owners.sort_rows_by_cached_key(|row| (row.alive.descending(), row.name.clone()));
        paths.sort_rows_by_cached_key(|row| (row.alive.descending(), row.shape.clone()));
        for row in &mut *owners {
            row.share = share(row.alive.bytes, all);
        }
        for row in &mut *paths {
            row.share = share(row.alive.bytes, all);
        }
    }
    selection.cut(owners);
    why.left_out = why.owner_count - owners.len();
    selection.cut(paths);
    order_parts(owners);
    order_parts(paths);
}

/// Adds what refers to memory from `malloc` in another process.
fn merge_referrers(known: &mut ReferrersResponse, more: ReferrersResponse) {
    add_names(&mut known.names, more.names);
    known.at = known.at.min(more.at);
    known.alive += more.alive;
    known.unreachable += more.unreachable;
    let key = |path: &ReferringPath| (path.steps.clone(), path.is_reachable);
    let mut places: HashMap<_, usize> =
        known.paths.iter().enumerate().map(|(place, path)| (key(path), place)).collect();
    for path in more.paths {
        let place = *places.entry(key(&path)).or_insert(known.paths.len());
        match known.paths.get_mut(place) {
            Some(same) => same.blocks += path.blocks,
            None => known.paths.push(path),
        }
    }
    known.paths.sort_rows_by_key(|path| Reverse(rounded(path.blocks.bytes)));
    known.count = known.paths.len();
}

impl SumRow for OwnerShare {
    type Key = (&'static str, String, Option<String>);
    type Figures = AlivePart;

    fn key(&self) -> Self::Key {
        (self.kind, self.name.clone(), self.r#type.clone())
    }

    fn figures(&self) -> AlivePart {
        AlivePart { alive: self.alive.clone() }
    }

    fn size(figures: &AlivePart) -> u64 {
        rounded(figures.alive.bytes)
    }

    fn add(&mut self, other: Self) {
        self.alive += other.alive;
    }

    fn parts(&mut self) -> &mut Vec<Part<AlivePart>> {
        &mut self.processes
    }
}

impl SumRow for PathShare {
    type Key = Vec<String>;
    type Figures = AlivePart;

    fn key(&self) -> Vec<String> {
        self.shape.clone()
    }

    fn figures(&self) -> AlivePart {
        AlivePart { alive: self.alive.clone() }
    }

    fn size(figures: &AlivePart) -> u64 {
        rounded(figures.alive.bytes)
    }

    fn add(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.retained += other.retained;
        self.alive += other.alive;
    }

    fn parts(&mut self) -> &mut Vec<Part<AlivePart>> {
        &mut self.processes
    }
}
