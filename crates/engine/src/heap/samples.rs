//! The answer to [`HeapSamples`], and what the allocation trace says of single blocks: the join of
//! both halves of a recording.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_heap::graph::SUPER_ROOT;
use memtrail_heap::query;
use memtrail_heap::{BlockIndex, Bytes};
use memtrail_order::SortRows as _;
use memtrail_profile::allocating_frame::allocating;
use memtrail_profile::blocks::Row;
use memtrail_profile::calls::Label;
use memtrail_profile::estimate::{Estimate, Sum};
use memtrail_trace::{BlockId, Site, StackId};
use serde::Serialize;

use super::coverage::{Coverage, coverage};
use super::join::{self, Sampled};
use super::loaded::LoadedSnapshot;
use super::parts::{Part, SitePart};
use super::rows::Rows;
use crate::names::{row, shown};
use crate::query::{By, HeapSamples, SiteOrder};
use crate::recording::Recording;

/// Maximum number of frames of a backtrace.
const MAX_FRAMES: usize = 300;
/// Maximum number of kinds of a row.
const MAX_KINDS: usize = 3;

/// Where and when a block was allocated.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BlockSample {
    /// Seconds since the start.
    pub time: f64,
    /// The calls that allocated it, innermost first.
    pub frames: Vec<BlockFrame>,
    /// How long it lived, in seconds, if it was collected later.
    pub lifetime: Option<f64>,
}

/// A call site of a backtrace.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BlockFrame {
    /// The function.
    pub name: Option<String>,
    /// What filters call it.
    pub key: Option<String>,
    /// Its module.
    pub module: Option<String>,
    /// The source file; empty if unknown.
    pub file: String,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// The first column, from 0.
    pub start: u32,
    /// The column after the last.
    pub end: u32,
}

/// The places in the program whose blocks take up or retain most.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SamplesResponse {
    /// How many blocks of the snapshot were sampled and are in the trace.
    pub sampled: usize,
    /// How many of them nothing retains: they are collected soon.
    pub unreachable: usize,
    /// How many blocks of the snapshot were sampled and are not in the trace.
    pub unknown: usize,
    /// Whether all blocks that are alive by the trace were found; absent if it is unknown when the snapshot was taken.
    pub coverage: Option<Coverage>,
    /// Bytes of all blocks that are alive, estimated from the sampled ones. The snapshot has the exact
    /// number, without those whose allocation was before the recording or was not sampled at all.
    pub alive: Estimate,
    /// The places.
    pub rows: Vec<SiteRow>,
    /// How many rows there are.
    pub count: usize,
    /// Rows that are left out.
    pub left_out: usize,
}

/// A place in the program, with its sampled blocks that are alive.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SiteRow {
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
    /// Bytes of all its blocks that are alive, sampled or not, and of memory off the heap that they own: an
    /// estimate.
    pub alive: Estimate,
    /// Number of all its blocks that are alive, sampled or not: an estimate. Memory off the heap counts as a block.
    pub alive_blocks: Estimate,
    /// Its bytes, of all that is alive, off-heap memory included.
    pub share: f64,
    /// How many sampled blocks.
    pub blocks: u64,
    /// Their own size.
    pub bytes: Bytes,
    /// Bytes that would be freed without them.
    pub retained: Bytes,
    /// The block that retains most.
    pub example: Option<BlockIndex>,
    /// The most frequent kinds of the blocks.
    pub kinds: Vec<String>,
    /// Its parts in the processes of a family, that of most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub processes: Vec<Part<SitePart>>,
}

/// Where and when a block was allocated, if the trace knows it.
pub(crate) fn sample(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    block: BlockIndex,
) -> Option<BlockSample> {
    let samples = &loaded.heap().snapshot.samples;
    let found = samples.iter().find(|sample| sample.block == block)?;
    let profile = recording.profile();
    let row = profile.find(BlockId(found.id))?;
    let allocated = profile.blocks.allocated(row);
    let frames = sites(recording, row).take(MAX_FRAMES).map(|site| {
        let entities = &recording.entities;
        let entity = entities.of_function(site.function);
        let module = entity.and_then(|entity| entities.module(entity));
        let place = profile.locations.resolve(site);
        BlockFrame {
            name: entity.map(|entity| shown(entities.name(entity))),
            key: entity.map(|entity| entities.key(entity).to_owned()),
            module: module.map(|module| shown(entities.module_name(module))),
            file: shown(entities.file_name(site.file)),
            line: place.line,
            start: place.start_col,
            end: place.end_col,
        }
    });
    let collected = profile.blocks.collected(row);
    Some(BlockSample {
        time: allocated.seconds(),
        frames: frames.collect(),
        lifetime: collected.map(|collected| collected.since(allocated).seconds()),
    })
}

/// The sites of a block's backtrace, innermost first.
pub(crate) fn sites(recording: &Recording, row: Row) -> impl Iterator<Item = Site> + '_ {
    let profile = recording.profile();
    let frames = profile.stacks.path(profile.blocks.stack(row));
    frames.flat_map(|frame| profile.locations.at(frame).iter().rev().copied())
}

/// The site that allocated a block.
pub(crate) fn allocating_site(recording: &Recording, row: Row) -> Option<Site> {
    let profile = recording.profile();
    let stack = profile.blocks.stack(row);
    let stack = allocating(&profile.locations, &profile.stacks, stack);
    if stack == StackId::ROOT {
        return None;
    }
    profile.locations.at(profile.stacks.frame(stack)).last().copied()
}

/// What a site is in a table by `by`.
pub(crate) fn label(recording: &Recording, by: By, site: Site) -> Option<Label> {
    let entities = &recording.entities;
    let function = entities.of_function(site.function)?;
    Some(match by {
        By::Function => Label::Entity(function),
        By::Site => Label::Entity(entities.of_site(site).unwrap_or(function)),
        By::Module => Label::Module(entities.module(function)?),
        By::File => Label::File(site.file),
    })
}

pub(crate) fn samples(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    query: &HeapSamples,
) -> SamplesResponse {
    let (heap, catalogue) = (loaded.heap(), &loaded.catalogue);
    let estimator = &recording.profile().estimator;
    let groups = Groups::new(loaded, recording, query.by);
    let sums = query::sampled(heap, catalogue, &groups.blocks, groups.labels.len());
    let kinds = query::group_kinds(catalogue, &groups.blocks, groups.labels.len(), MAX_KINDS);
    let order = groups.order(query.order, &sums);
    let all = heap.graph.held(SUPER_ROOT).bytes() + heap.graph.held_external(SUPER_ROOT);
    let entities = &recording.entities;
    let key = |group: usize| groups.labels[group].map_or("", |label| entities.label_key(label));
    let mut bounds = Rows::new(query.limit);
    let wanted = &order[query.offset.min(order.len())..];
    let affordable = bounds.affordable(wanted, |group| 600 + key(*group).len() * 2);
    let rows = affordable.iter().map(|group| {
        let (sum, alive) = (&sums[*group], estimator.bytes(&groups.alive[*group]));
        let name = groups.labels[*group].map(|label| row(entities, label));
        let kinds = kinds[*group].iter().map(|kind| shown(catalogue.name(*kind)));
        let figures = SiteRow {
            key: None,
            name: "(unknown)".to_owned(),
            module: None,
            file: None,
            line: None,
            entity: None,
            alive,
            alive_blocks: estimator.blocks(&groups.alive[*group]),
            share: if all.0 == 0 { 0.0 } else { alive.value / all.0 as f64 },
            blocks: sum.blocks,
            bytes: sum.own.bytes(),
            retained: sum.retained.bytes(),
            example: sum.example,
            kinds: kinds.collect(),
            processes: Vec::new(),
        };
        match name {
            None => figures,
            Some(name) => SiteRow {
                key: Some(name.key.to_owned()),
                name: name.label,
                module: name.module,
                file: name.file,
                line: name.line,
                entity: name.entity,
                ..figures
            },
        }
    });
    let mut alive = Sum::default();
    groups.alive.iter().for_each(|group| alive.add(group));
    let rows: Vec<SiteRow> = rows.collect();
    SamplesResponse {
        sampled: groups.blocks.len(),
        unreachable: groups.unreachable,
        unknown: groups.unknown,
        coverage: coverage(loaded, recording),
        alive: estimator.bytes(&alive),
        left_out: order.len() - rows.len(),
        rows,
        count: order.len(),
    }
}

/// The sampled blocks of a snapshot by what allocated them.
#[derive(Default)]
struct Groups {
    /// What each group is.
    labels: Vec<Option<Label>>,
    /// What is known of the blocks of each that are alive.
    alive: Vec<Sum>,
    /// The blocks with the numbers of their groups.
    blocks: Vec<(BlockIndex, u32)>,
    unreachable: usize,
    unknown: usize,
}

impl Groups {
    fn new(loaded: &LoadedSnapshot, recording: &Recording, by: By) -> Self {
        let profile = recording.profile();
        let mut numbers: HashMap<Option<Label>, u32> = HashMap::new();
        let mut groups = Self::default();
        for Sampled { block, row, is_alive } in join::sampled(loaded, recording) {
            let Some(found) = row else {
                groups.unknown += 1;
                continue;
            };
            let label =
                allocating_site(recording, found).and_then(|site| label(recording, by, site));
            let group = *numbers.entry(label).or_insert_with(|| {
                groups.labels.push(label);
                groups.alive.push(Sum::default());
                groups.labels.len() as u32 - 1
            });
            groups.blocks.push((block, group));
            if is_alive {
                let alive = &mut groups.alive[group as usize];
                profile.estimator.add_row(alive, &profile.blocks, found);
            } else {
                groups.unreachable += 1;
            }
        }
        groups
    }

    /// The groups that have blocks which are alive, largest first.
    fn order(&self, order: SiteOrder, sums: &[query::Sampled]) -> Vec<usize> {
        let mut groups: Vec<usize> =
            (0..sums.len()).filter(|group| sums[*group].blocks > 0).collect();
        let figure = |group: usize| match order {
            SiteOrder::Alive => self.alive[group].samples,
            SiteOrder::Retained => sums[group].retained.0,
        };
        groups.sort_rows_by_key(|group| (Reverse(figure(*group)), *group));
        groups
    }
}
