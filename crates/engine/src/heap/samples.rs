//! The answer to [`HeapSamples`], and what the allocation trace says of single blocks: the join of
//! both halves of a recording.

use std::collections::HashMap;

use memtrail_heap::graph::SUPER_ROOT;
use memtrail_heap::query;
use memtrail_heap::{BlockIndex, Bytes};
use memtrail_profile::blocks::Row;
use memtrail_profile::calls::Label;
use memtrail_trace::{BlockId, Site};
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use super::rows::Rows;
use crate::names::{row, shown};
use crate::query::{By, HeapSamples};
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
    /// The line.
    pub line: u32,
    /// The first column, from 0.
    pub start: u32,
    /// The column after the last.
    pub end: u32,
}

/// The places in the program whose blocks retain most.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SamplesResponse {
    /// How many blocks of the snapshot were sampled.
    pub sampled: usize,
    /// The places.
    pub rows: Vec<SiteRow>,
    /// How many rows there are.
    pub count: usize,
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
    /// The line.
    pub line: Option<u32>,
    /// Number of the function or site, if it is one.
    pub entity: Option<u32>,
    /// How many blocks.
    pub blocks: u64,
    /// Their own size.
    pub bytes: Bytes,
    /// What they retain.
    pub retained: Bytes,
    /// That, of all that is alive.
    pub share: f64,
    /// The block that retains most.
    pub example: Option<BlockIndex>,
    /// The most frequent kinds of the blocks.
    pub kinds: Vec<String>,
}

/// Where and when a block was allocated, if the trace knows it.
pub(super) fn sample(
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
fn sites(recording: &Recording, row: Row) -> impl Iterator<Item = Site> + '_ {
    let profile = recording.profile();
    let frames = profile.stacks.path(profile.blocks.stack(row));
    frames.flat_map(|frame| profile.locations.at(frame).iter().rev().copied())
}

/// What a site is in a table by `by`.
fn label(recording: &Recording, by: By, site: Site) -> Option<Label> {
    let entities = &recording.entities;
    let function = entities.of_function(site.function)?;
    Some(match by {
        By::Function => Label::Entity(function),
        By::Site => Label::Entity(entities.of_site(site).unwrap_or(function)),
        By::Module => Label::Module(entities.module(function)?),
        By::File => Label::File(site.file),
    })
}

pub(super) fn samples(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    query: &HeapSamples,
) -> SamplesResponse {
    let (heap, catalogue) = (loaded.heap(), &loaded.catalogue);
    let (labels, blocks) = group(loaded, recording, query.by);
    let sums = query::sampled(heap, catalogue, &blocks, labels.len());
    let kinds = query::group_kinds(catalogue, &blocks, labels.len(), MAX_KINDS);
    let rows = query::largest_groups(&sums);
    let count = rows.len();
    let all = heap.graph.held(SUPER_ROOT).bytes();
    let key =
        |group: usize| labels[group].map_or("", |label| recording.entities.label_key(label)).len();
    let mut bounds = Rows::new(query.limit);
    let affordable =
        bounds.affordable(&rows[query.offset.min(count)..], |(group, _)| 500 + key(*group) * 2);
    let rows = affordable.iter().map(|(group, sum)| {
        let name = labels[*group].map(|label| row(&recording.entities, label));
        let kinds = kinds[*group].iter().map(|kind| shown(catalogue.name(*kind)));
        let figures = SiteRow {
            key: None,
            name: "(unknown)".to_owned(),
            module: None,
            file: None,
            line: None,
            entity: None,
            blocks: sum.blocks,
            bytes: sum.own.bytes(),
            retained: sum.retained.bytes(),
            share: sum.retained.bytes().share_of(all),
            example: sum.example,
            kinds: kinds.collect(),
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
    SamplesResponse { sampled: blocks.len(), rows: rows.collect(), count }
}

/// The sampled blocks of a snapshot with the numbers of their groups, and what each group is.
fn group(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    by: By,
) -> (Vec<Option<Label>>, Vec<(BlockIndex, u32)>) {
    let mut groups: HashMap<Option<Label>, u32> = HashMap::new();
    let mut labels: Vec<Option<Label>> = Vec::new();
    let mut blocks: Vec<(BlockIndex, u32)> = Vec::new();
    for sample in &loaded.heap().snapshot.samples {
        let Some(found) = recording.profile().find(BlockId(sample.id)) else { continue };
        let innermost = sites(recording, found).next();
        let label = innermost.and_then(|site| label(recording, by, site));
        let group = *groups.entry(label).or_insert_with(|| {
            labels.push(label);
            labels.len() as u32 - 1
        });
        blocks.push((sample.block, group));
    }
    (labels, blocks)
}
