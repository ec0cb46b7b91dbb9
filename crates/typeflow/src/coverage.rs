//! How far types reach, and why they end.

use std::cmp::Reverse;

use hashbrown::HashMap;
use memtrail_heap::graph::Graph;
use memtrail_heap::read::{Error, Strength};
use memtrail_heap::{BlockIndex, Bytes, Derivation, Words};
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use crate::flow::Flow;
use crate::names;
use crate::sections::Sections;
use crate::state::{Packed, State};
use crate::texts::TextId;

/// Contradictions that are listed.
const MAX_REJECTED: usize = 50;

/// How far types reach among the blocks that something retains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Reachable blocks.
    pub blocks: u64,
    /// Their size.
    pub bytes: Bytes,
    /// Of these, blocks with a type from a global variable along typed fields.
    pub by_variable: Bytes,
    /// … with a type through the environment of a closure.
    pub by_closure: Bytes,
    /// Of blocks with a type, those whose type has unknown parts.
    pub partly_unknown: Bytes,
    /// Where types end: the largest first.
    pub stops: Vec<Stop>,
    /// Pointers that were rejected: the block's tag or size is not one of their type.
    pub contradictions: u64,
    /// Some of them.
    pub rejected: Vec<Rejected>,
    /// Pointers whose type is another than that of the block they lead to.
    pub differing: u64,
    /// Some of them: those of the types with most pointers.
    pub differences: Vec<Difference>,
}

/// Two types of one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The type that stayed.
    pub r#type: String,
    /// The other.
    pub other: String,
    /// One of the blocks.
    pub block: BlockIndex,
    /// How many pointers are alike.
    pub count: u64,
}

/// Why types end somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stop {
    /// The reason.
    pub reason: String,
    /// Blocks without a type that are reached from there.
    pub blocks: u64,
    /// Their size.
    pub bytes: Bytes,
}

/// A pointer against its type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The type.
    pub r#type: String,
    /// A block that it leads to.
    pub block: BlockIndex,
    /// That block's tag.
    pub tag: u8,
    /// Its size without header.
    pub fields: u64,
    /// How many pointers are alike.
    pub count: u64,
}

impl Coverage {
    /// What part of the reachable bytes has a type.
    pub fn share(&self) -> f64 {
        (self.by_variable + self.by_closure).share_of(self.bytes)
    }
}

/// Counts; blocks without a type get the reason of those that lead to them.
pub(crate) fn coverage(
    flow: &mut Flow<'_>,
    sections: &mut Sections<'_, '_>,
    graph: &Graph,
) -> Result<Coverage, Error> {
    spread(flow, sections)?;
    let mut coverage = Coverage {
        contradictions: flow.contradiction_count,
        differing: flow.differences.values().flatten().map(|(count, _)| count).sum(),
        differences: differences(flow),
        rejected: rejected(flow),
        ..Coverage::default()
    };
    let mut stops: HashMap<Option<TextId>, (u64, u64), FxBuildHasher> = HashMap::default();
    for section in 0..sections.snapshot.sections() {
        let was_kept = sections.is_kept(section);
        let columns = sections.take(section)?;
        for block in columns.iter().filter(|block| graph.is_reachable(block.index)) {
            let size = block.size().bytes();
            coverage.blocks += 1;
            coverage.bytes += size;
            let mut stop = |reason| {
                let stop = stops.entry(reason).or_default();
                *stop = (stop.0 + 1, stop.1 + block.size().0);
            };
            match flow.states[block.index.0 as usize].get() {
                State::Untouched => stop(None),
                State::Unknown(reason) => stop(Some(reason)),
                State::Typed(shape, derivation) => {
                    match derivation {
                        Derivation::Variable => coverage.by_variable += size,
                        Derivation::Closure | Derivation::Contents => coverage.by_closure += size,
                    }
                    if flow.shapes.get(shape).unknowns > 0 {
                        coverage.partly_unknown += size;
                    }
                }
            }
        }
        sections.put(section, columns, was_kept);
    }
    let texts = &flow.shapes.instances.texts;
    let mut stops: Vec<Stop> = stops
        .into_iter()
        .map(|(reason, (blocks, words))| Stop {
            reason: reason.map_or("not reached from a typed field", |id| texts.get(id)).to_owned(),
            blocks,
            bytes: Words(words).bytes(),
        })
        .collect();
    stops.sort_rows_by(|a, b| (Reverse(a.bytes), &a.reason).cmp(&(Reverse(b.bytes), &b.reason)));
    coverage.stops = stops;
    Ok(coverage)
}

fn rejected(flow: &Flow<'_>) -> Vec<Rejected> {
    let mut alike: HashMap<(String, u8, u64), Rejected, FxBuildHasher> = HashMap::default();
    for found in &flow.contradictions {
        let key = (names::text(&flow.shapes, found.ty), found.tag, found.wosize);
        let rejected = alike.entry(key).or_insert_with_key(|(ty, tag, fields)| Rejected {
            r#type: ty.clone(),
            block: found.block,
            tag: *tag,
            fields: *fields,
            count: 0,
        });
        rejected.count += 1;
        rejected.block = rejected.block.min(found.block);
    }
    let mut rejected: Vec<Rejected> = alike.into_values().collect();
    rejected.sort_rows_by_key(|rejected| (Reverse(rejected.count), rejected.block, rejected.tag));
    rejected.truncate(MAX_REJECTED);
    rejected
}

fn differences(flow: &Flow<'_>) -> Vec<Difference> {
    let found = flow.differences.iter().filter_map(|((ty, other), found)| {
        let (count, block) = (*found)?;
        Some((Reverse(count), block, *ty, *other))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    found.truncate(MAX_REJECTED);
    let difference = |(Reverse(count), block, ty, other): &(Reverse<u64>, u32, _, _)| Difference {
        r#type: names::text(&flow.shapes, *ty),
        other: names::text(&flow.shapes, *other),
        block: BlockIndex(*block),
        count: *count,
    };
    found.iter().map(difference).collect()
}

/// Gives blocks without a type the reason of those that lead to them: first those below blocks where types end,
/// then those below roots that have no type.
fn spread(flow: &mut Flow<'_>, sections: &mut Sections<'_, '_>) -> Result<(), Error> {
    let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); sections.snapshot.sections()];
    for (block, state) in (0..).zip(flow.states.iter()) {
        if matches!(state.get(), State::Unknown(_)) {
            waiting[sections.of(block)].push(block);
        }
    }
    spread_from(flow, sections, &mut waiting)?;
    for root in &sections.snapshot.roots {
        let kind = sections.snapshot.labels.get(root.label).map(|label| label.kind);
        let state = &mut flow.states[root.block.0 as usize];
        if let Some(kind) = kind
            && matches!(root.strength, Strength::Strong | Strength::Finaliser)
            && state.get() == State::Untouched
        {
            let reason = format!("root without a type: {}", kind.name());
            *state = State::Unknown(flow.shapes.instances.texts.id(&reason)).into();
            waiting[sections.of(root.block.0)].push(root.block.0);
        }
    }
    spread_from(flow, sections, &mut waiting)?;
    let reason: Packed =
        State::Unknown(flow.shapes.instances.texts.id("data of an ephemeron")).into();
    for ephemeron in &sections.snapshot.ephemerons {
        if let Some(data) = ephemeron.data
            && flow.states[data.0 as usize].get() == State::Untouched
        {
            flow.states[data.0 as usize] = reason;
            waiting[sections.of(data.0)].push(data.0);
        }
    }
    spread_from(flow, sections, &mut waiting)
}

fn spread_from(
    flow: &mut Flow<'_>,
    sections: &mut Sections<'_, '_>,
    waiting: &mut [Vec<u32>],
) -> Result<(), Error> {
    while waiting.iter().any(|waiting| !waiting.is_empty()) {
        for section in 0..waiting.len() {
            if waiting[section].is_empty() {
                continue;
            }
            let was_kept = sections.is_kept(section);
            let columns = sections.take(section)?;
            while let Some(block) = waiting[section].pop() {
                let reason = flow.states[block as usize];
                sections.edges(&columns, (block - columns.first.0) as usize, |_, target| {
                    let state = &mut flow.states[target as usize];
                    if state.get() == State::Untouched {
                        *state = reason;
                        waiting[sections.of(target)].push(target);
                    }
                });
            }
            sections.put(section, columns, was_kept);
        }
    }
    Ok(())
}
