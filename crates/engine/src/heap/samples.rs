//! The answer to [`HeapSamples`](crate::query::HeapSamples), and what the allocation trace
//! says of single blocks: the join of both halves of a recording.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_heap::BlockIndex;
use memtrail_heap::graph::SUPER_ROOT;
use memtrail_heap::query::{self, KindId, Sampled};
use memtrail_profile::blocks::Row;
use memtrail_profile::calls::Label;
use memtrail_trace::{BlockId, Site};
use serde_json::{Value, json};

use super::loaded::LoadedSnapshot;
use super::rows::{Rows, share};
use crate::names::{row, shown};
use crate::query::{By, HeapSamples};
use crate::recording::Recording;
use crate::response_body::ResponseBody;

/// Frames of a backtrace that are told.
const MOST_FRAMES: usize = 300;
/// Kinds that are told of a row.
const FEW_KINDS: usize = 3;

/// Where and when a block was allocated, if the trace knows it.
pub(super) fn sample(loaded: &LoadedSnapshot, recording: &Recording, block: BlockIndex) -> Value {
    let samples = &loaded.heap().snapshot.samples;
    let found = samples.iter().find(|sample| sample.block == block);
    let profile = recording.profile();
    let Some(row) = found.and_then(|sample| profile.find(BlockId(sample.id))) else {
        return Value::Null;
    };
    let allocated = profile.blocks.allocated(row);
    let frames: Vec<Value> = sites(recording, row)
        .take(MOST_FRAMES)
        .map(|site| {
            let entities = &recording.entities;
            let entity = entities.of_function(site.function);
            let module = entity.and_then(|entity| entities.module(entity));
            let place = profile.locations.resolve(site);
            json!({
                "name": entity.map(|entity| shown(entities.name(entity))),
                "key": entity.map(|entity| entities.key(entity)),
                "module": module.map(|module| shown(entities.module_name(module))),
                "file": shown(entities.file_name(site.file)),
                "line": place.line,
                "start": place.start_col,
                "end": place.end_col,
            })
        })
        .collect();
    let collected = profile.blocks.collected(row);
    json!({
        "time": allocated.seconds(),
        "frames": frames,
        "lifetime": collected.map(|collected| collected.since(allocated).seconds()),
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
    ask: &HeapSamples,
) -> ResponseBody {
    let profile = recording.profile();
    let mut groups: HashMap<Option<Label>, u32> = HashMap::new();
    let mut labels: Vec<Option<Label>> = Vec::new();
    let mut blocks: Vec<(BlockIndex, u32)> = Vec::new();
    for sample in &loaded.heap().snapshot.samples {
        let Some(found) = profile.find(BlockId(sample.id)) else { continue };
        let innermost = sites(recording, found).next();
        let label = innermost.and_then(|site| label(recording, ask.by, site));
        let group = *groups.entry(label).or_insert_with(|| {
            labels.push(label);
            labels.len() as u32 - 1
        });
        blocks.push((sample.block, group));
    }
    let sums = query::sampled(loaded.heap(), &loaded.catalogue, &blocks, labels.len());
    let mut kinds: Vec<HashMap<KindId, u64>> = vec![HashMap::new(); labels.len()];
    for (block, group) in &blocks {
        *kinds[*group as usize].entry(loaded.catalogue.kind(*block)).or_insert(0) += 1;
    }
    let mut rows: Vec<(usize, &Sampled)> = sums.iter().enumerate().collect();
    rows.retain(|(_, sum)| sum.blocks > 0);
    rows.sort_by_key(|(group, sum)| (Reverse(sum.retained), *group));
    let count = rows.len();
    let all = loaded.heap().graph.held(SUPER_ROOT).bytes();
    let key =
        |group: usize| labels[group].map_or("", |label| recording.entities.label_key(label)).len();
    let mut bounds = Rows::new(ask.limit);
    let shown_rows =
        bounds.affordable(&rows[ask.offset.min(count)..], |(group, _)| 500 + key(*group) * 2);
    let rows: Vec<Value> = shown_rows
        .iter()
        .map(|(group, sum)| {
            let mut told = match labels[*group] {
                Some(label) => json!(row(&recording.entities, label)),
                None => json!({ "key": null, "label": "(unknown)", "file": null, "line": null }),
            };
            told["name"] = told["label"].take();
            let mut kinds: Vec<(KindId, u64)> =
                kinds[*group].iter().map(|(kind, count)| (*kind, *count)).collect();
            kinds.sort_by_key(|(kind, count)| (Reverse(*count), *kind));
            let kinds = kinds.iter().take(FEW_KINDS);
            told["kinds"] =
                kinds.map(|(kind, _)| json!(shown(loaded.catalogue.name(*kind)))).collect();
            told["blocks"] = json!(sum.blocks);
            told["bytes"] = json!(sum.own.bytes());
            told["retained"] = json!(sum.retained.bytes());
            told["share"] = json!(share(sum.retained.bytes().0, all.0));
            told["example"] = json!(sum.example);
            told
        })
        .collect();
    ResponseBody::new(json!({ "sampled": blocks.len(), "rows": rows, "count": count }))
}
